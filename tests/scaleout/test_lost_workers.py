"""Workers, clients and schedulers that are killed: exact results, or a sentence within a bound that was given."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import possnet as pn
from possnet import scaleout
from possnet.errors import ClusterError
from tests.scaleout.clusters import Cluster, start_cluster

ASIA = pn.load_example("asia")
KILLS = int(os.environ.get("POSSNET_KILLED_WORKERS", "5"))
KILLED_CLIENTS = int(os.environ.get("POSSNET_KILLED_CLIENTS", "1"))
PARTS = 24


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Any:
    with start_cluster(tmp_path_factory.mktemp("cluster")) as both:
        yield both


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("rows")
    for k in range(PARTS):
        stream = pn.sample_batches(ASIA, 2_000, imprecision=0.5, process="traced", rng=1, start=2_000 * k)
        pn.write_data(stream, folder / f"part-{k:02d}.parquet")
    return folder


def kill_and_replace(cluster: Cluster) -> None:
    cluster.add_worker()
    cluster.kill_worker(0)


@pytest.mark.slow
def test_counts_are_exact_though_workers_are_killed(cluster: Any, rows: Path) -> None:
    processes, client = cluster
    expected = pn.count(ASIA.dag, pn.scan_data(rows))
    killed = 0

    def kill(done: int, _: int) -> None:
        nonlocal killed
        if done % 4 == 1 and killed < KILLS:
            killed += 1
            kill_and_replace(processes)

    while killed < KILLS:
        assert scaleout.count(ASIA.dag, rows, client=client, progress=kill) == expected


@pytest.mark.slow
def test_em_is_exact_though_a_worker_is_killed_between_its_steps(cluster: Any, rows: Path) -> None:
    processes, client = cluster
    options = pn.EmOptions(max_steps=12)
    expected = pn.fit_em(ASIA.dag, pn.scan_data(rows), options=options)

    def kill(step: int, _: int) -> None:
        if step == 4:
            kill_and_replace(processes)

    learned = scaleout.fit_em(ASIA.dag, rows, client=client, options=options, progress=kill)
    assert learned.network.is_close(expected.network, tolerance=1e-9)
    assert learned.log_likelihood == pytest.approx(expected.log_likelihood, rel=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("number", range(KILLED_CLIENTS))
def test_a_count_whose_client_was_killed_goes_on_from_its_ledger(
    cluster: Any, rows: Path, tmp_path: Path, number: int
) -> None:
    processes, client = cluster
    ledger = tmp_path / "ledger"
    script = (
        "import sys, distributed, possnet as pn; from possnet import scaleout\n"
        "client = distributed.Client(sys.argv[1], set_as_default=False)\n"
        "asia = pn.load_example('asia')\n"
        "while True: scaleout.count(asia.dag, sys.argv[2], client=client, ledger=sys.argv[3])\n"
    )
    child = subprocess.Popen(
        [sys.executable, "-c", script, processes.address, str(rows), str(ledger)], stderr=subprocess.PIPE
    )
    try:
        begun = time.monotonic()
        while len(list(ledger.rglob("*.json"))) < 2 + number and time.monotonic() - begun < 240:
            time.sleep(0.01)
    finally:
        os.kill(child.pid, signal.SIGKILL)
        _, errors = child.communicate()
    kept = {file: file.stat().st_mtime_ns for file in ledger.rglob("*.json")}
    assert len(kept) >= 2, errors.decode()
    assert scaleout.count(ASIA.dag, rows, client=client, ledger=ledger) == pn.count(ASIA.dag, pn.scan_data(rows))
    assert {file: file.stat().st_mtime_ns for file in kept} == kept
    assert len(list(ledger.rglob("*.json"))) == PARTS


@pytest.mark.slow
def test_a_poisoned_part_no_workers_and_no_scheduler_each_end_in_a_sentence(tmp_path: Path, rows: Path) -> None:
    environment = {"DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "0"}
    with start_cluster(tmp_path, environment=environment) as (cluster, client):
        executor = scaleout.ClusterExecutor(client, scaleout.Patience(tries=2))
        poisoned = executor.submit_named("part-07.parquet, row group 3", os._exit, 1)
        with pytest.raises(ClusterError, match=r"part-07.parquet, row group 3: workers died on it again and again"):
            poisoned.result(timeout=60)
        executor.shutdown()
        ledger = tmp_path / "ledger"
        begun = time.monotonic()
        with pytest.raises(ClusterError, match="no worker for .* seconds; start some, then this work again"):
            scaleout.count(
                ASIA.dag, rows, client=client, ledger=ledger, patience=scaleout.Patience(workers=2, scheduler=2)
            )
        cluster.add_worker()
        client.wait_for_workers(1, timeout=60)

        def kill(done: int, _: int) -> None:
            if done == 3:
                cluster.kill_scheduler()

        with pytest.raises(ClusterError, match="the scheduler has not answered|takes no tasks|the cluster"):
            scaleout.count(
                ASIA.dag, rows, client=client, ledger=ledger, patience=scaleout.Patience(scheduler=2), progress=kill
            )
        assert time.monotonic() - begun < 90
        assert len(list(ledger.rglob("*.json"))) >= 3


def test_an_address_without_a_scheduler_is_told() -> None:
    with pytest.raises(ClusterError, match="no scheduler answers"), scaleout.connect_cluster("tcp://127.0.0.1:9"):
        pass


def test_a_script_without_a_guard_is_told_of_it(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    lines = ["from possnet import scaleout", "with scaleout.connect_cluster('local', workers=1) as client:", "    pass"]
    script.write_text("\n".join(lines), encoding="utf-8")
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 1
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith("possnet.errors.ClusterError: cluster: its workers did not start")
    assert last.endswith('in a script, put what starts them under: if __name__ == "__main__":')

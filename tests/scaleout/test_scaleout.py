"""On a cluster of two processes every verb gives what one machine gives."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import possnet as pn
from possnet import scaleout
from possnet.errors import ClusterError
from possnet.scaleout import structure_counts
from possnet.scaleout.cluster_executor import WorkerInfo
from possnet.scaleout.em_checkpoint import EmCheckpoint
from possnet.scaleout.parts import list_parts, run_parts
from tests.scaleout.clusters import start_cluster

CLINIC = pn.load_example("clinic")
ROWS = 9_000


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Any:
    with start_cluster(tmp_path_factory.mktemp("cluster")) as (_, client):
        yield client


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three Parquet files of three row groups, and a CSV file."""
    folder = tmp_path_factory.mktemp("rows")
    for k in range(3):
        stream = pn.sample_batches(
            CLINIC, ROWS, imprecision=0.5, process="traced", rng=1, start=ROWS * k, batch=ROWS // 3
        )
        pn.write_data(stream, folder / f"a{k}.parquet")
    pn.write_data(pn.sample(CLINIC, 500, imprecision=0.5, process="traced", rng=2), folder / "b.csv")
    return folder


def scan(rows: Path) -> pn.DataStream:
    return pn.scan_data(rows, CLINIC)


def test_counts_are_those_of_one_machine(client: Any, rows: Path) -> None:
    seen: list[tuple[int, int]] = []
    progress = lambda done, total: seen.append((done, total))  # noqa: E731
    counts = scaleout.count(CLINIC.dag, rows, client=client, variables=CLINIC, focal=True, progress=progress)
    assert counts == pn.count(CLINIC.dag, scan(rows), focal=True)
    assert seen[-1][0] == seen[-1][1] == 4


def test_counts_of_fractional_weights_do_not_depend_on_who_counted(client: Any, tmp_path: Path) -> None:
    data = pn.sample(CLINIC, 600, imprecision=0.5, rng=3)
    weights = np.random.default_rng(0).random(600)
    for k in range(4):
        pn.write_data(
            data[150 * k : 150 * k + 150].with_weights(weights[150 * k : 150 * k + 150]), tmp_path / f"{k}.parquet"
        )
    first = scaleout.count(CLINIC.dag, tmp_path, client=client)
    parts = [pn.count(CLINIC.dag, pn.read_data(tmp_path / f"{k}.parquet")) for k in range(4)]
    assert first == parts[0] + parts[1] + parts[2] + parts[3]


def test_a_ledger_counts_nothing_twice_and_a_damaged_entry_again(client: Any, rows: Path, tmp_path: Path) -> None:
    ledger = tmp_path / "ledger"
    expected = pn.count(CLINIC.dag, scan(rows))
    assert scaleout.count(CLINIC.dag, scan(rows), client=client, ledger=ledger) == expected
    entries = sorted(ledger.rglob("*.json"))
    assert len(entries) == 4
    stamps = [entry.stat().st_mtime_ns for entry in entries]
    damaged = entries[0].read_bytes()
    entries[0].write_bytes(damaged.replace(b'"rows": ', b'"rows": 1', 1))
    assert scaleout.count(CLINIC.dag, scan(rows), client=client, ledger=ledger) == expected
    assert [entry.stat().st_mtime_ns for entry in entries[1:]] == stamps[1:]
    assert entries[0].read_bytes() == damaged
    smaller = pn.Dag({"fever": ()})
    assert scaleout.count(smaller, scan(rows), client=client, ledger=ledger) == pn.count(smaller, scan(rows))
    assert len(list(ledger.rglob("*.json"))) == 8


def test_a_file_that_changed_is_counted_anew(client: Any, tmp_path: Path) -> None:
    file = tmp_path / "a.parquet"
    pn.write_data(pn.sample(CLINIC, 100, rng=1), file)
    dag, ledger = CLINIC.dag, tmp_path / "ledger"
    assert scaleout.count(dag, file, client=client, ledger=ledger).rows == 100
    pn.write_data(pn.sample(CLINIC, 120, rng=1), file)
    assert scaleout.count(dag, file, client=client, ledger=ledger).rows == 120
    stream = pn.scan_data(file)
    os.utime(file, ns=(1, 1))
    part = replace(stream.split_parts()[0], modified=2)
    with pytest.raises(pn.InputError, match="changed while it was being read"):
        part.require_unchanged()


def test_tables_and_scores_are_those_of_one_machine(client: Any, rows: Path) -> None:
    for method in ("likelihood", "transform"):
        learned = scaleout.fit(CLINIC.dag, scan(rows), method, client=client)
        assert learned == pn.fit(CLINIC.dag, scan(rows), method=method)
    assert scaleout.log_likelihood(CLINIC, rows, client=client) == pn.log_likelihood(CLINIC, scan(rows))
    dag = CLINIC.dag
    assert scaleout.random_set_log_likelihood(dag, scan(rows), client=client) == pn.random_set_log_likelihood(
        dag, scan(rows)
    )


def test_em_is_that_of_one_machine_to_rounding(client: Any, rows: Path) -> None:
    here = pn.fit_em(CLINIC.dag, scan(rows), prior="marginal", pseudo=1)
    there = scaleout.fit_em(CLINIC.dag, scan(rows), client=client, prior="marginal", pseudo=1)
    assert there.steps == here.steps
    assert there.stopped == here.stopped
    assert there.log_likelihood == pytest.approx(here.log_likelihood, rel=1e-12)
    assert there.network.is_close(here.network, tolerance=1e-9)
    for name in CLINIC.dag.nodes:
        assert np.array_equal(there.confounded[name], here.confounded[name])
    again = scaleout.fit_em(CLINIC.dag, scan(rows), client=client, prior="marginal", pseudo=1)
    assert again.network == there.network


def test_em_goes_on_from_the_masses_of_a_run_that_was_killed(
    client: Any, rows: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("possnet.scaleout.em_checkpoint._EVERY", -1.0)

    class Killed(BaseException):
        """As if the client were killed here."""

    def kill(step: int, _: int) -> None:
        if step >= 6:
            raise Killed

    with pytest.raises(Killed):
        scaleout.fit_em(CLINIC.dag, scan(rows), client=client, ledger=tmp_path, progress=kill)
    here = pn.fit_em(CLINIC.dag, scan(rows))
    there = scaleout.fit_em(CLINIC.dag, scan(rows), client=client, ledger=tmp_path)
    assert there.steps < here.steps
    assert there.log_likelihood[0] > here.log_likelihood[0]
    assert there.log_likelihood[-1] == pytest.approx(here.log_likelihood[-1], abs=0.1)
    (kept,) = tmp_path.glob("em-*.npz")
    kept.write_bytes(kept.read_bytes()[:-1])
    assert EmCheckpoint._read_masses(_at(kept), {}) is None


def _at(file: Path) -> Any:
    checkpoint = EmCheckpoint.__new__(EmCheckpoint)
    checkpoint._file = file
    return checkpoint


def test_structures_are_those_of_one_machine(client: Any, rows: Path) -> None:
    for measure, method in (("random-set-bic", "greedy"), ("mdl", "greedy"), ("random-set-bic", "mwst")):
        here = pn.learn_structure(scan(rows), method, measure=measure)
        there = scaleout.learn_structure(scan(rows), method, client=client, measure=measure)
        assert there.dag == here.dag
        assert there.score == pytest.approx(here.score, rel=1e-12)


def test_a_search_goes_on_from_the_passes_in_its_ledger(
    client: Any, rows: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = tmp_path / "ledger"
    learned = scaleout.learn_structure(scan(rows), "mwst", measure="mdl", client=client, ledger=ledger)
    passes = sorted(ledger.glob("pass-*.npz"))
    assert passes
    asked: list[object] = []
    count_there = run_parts

    def watch(executor: Any, work: Any, tasks: Any, **how: Any) -> Any:
        asked.append(work)
        return count_there(executor, work, tasks, **how)

    monkeypatch.setattr(structure_counts, "run_parts", watch)
    again = scaleout.learn_structure(scan(rows), "mwst", measure="mdl", client=client, ledger=ledger)
    assert structure_counts.count_queries not in asked
    damaged = passes[0].read_bytes()
    passes[0].write_bytes(damaged[:-1] + bytes([damaged[-1] ^ 1]))
    third = scaleout.learn_structure(scan(rows), "mwst", measure="mdl", client=client, ledger=ledger)
    assert asked.count(structure_counts.count_queries) == 1
    assert passes[0].read_bytes() == damaged
    assert learned.dag == again.dag == third.dag
    assert learned.score == again.score == third.score


def test_a_written_part_that_changed_is_written_again_with_a_ledger(client: Any, tmp_path: Path) -> None:
    def draw() -> list[Path]:
        return scaleout.sample(
            CLINIC, 300, rng=5, part_rows=100, client=client, out=tmp_path / "drawn", ledger=tmp_path / "ledger"
        )

    files = draw()
    stamps = [file.stat().st_mtime_ns for file in files]
    whole = files[1].read_bytes()
    files[1].write_bytes(whole[: len(whole) // 2])
    assert draw() == files
    assert files[1].read_bytes() == whole
    assert [files[k].stat().st_mtime_ns for k in (0, 2)] == [stamps[0], stamps[2]]


def test_drawn_rows_are_those_of_one_machine(client: Any, tmp_path: Path) -> None:
    options: dict[str, Any] = {"imprecision": 0.5, "rng": 7}
    files = scaleout.sample(CLINIC, 1_000, out=tmp_path / "drawn", client=client, part_rows=300, **options)
    assert pn.Dataset.concatenate(pn.scan_data(files)) == pn.sample(CLINIC, 1_000, **options)
    stamps = [file.stat().st_mtime_ns for file in files[:3]]
    files[3].unlink()
    again = scaleout.sample(CLINIC, 1_000, out=tmp_path / "drawn", client=client, part_rows=300, **options)
    assert again == files
    assert [file.stat().st_mtime_ns for file in files[:3]] == stamps
    assert pn.Dataset.concatenate(pn.scan_data(files)) == pn.sample(CLINIC, 1_000, **options)
    with pytest.raises(pn.InputError, match="which is of other work; expected an empty folder"):
        scaleout.sample(CLINIC, 1_000, out=tmp_path / "drawn", client=client, part_rows=300, rng=8)


def test_completed_rows_and_answers_are_those_of_one_machine(client: Any, rows: Path, tmp_path: Path) -> None:
    data = pn.Dataset.concatenate(scan(rows))
    files = scaleout.complete(CLINIC, scan(rows), out=tmp_path / "completed", client=client)
    assert pn.Dataset.concatenate(pn.scan_data(files)) == pn.complete(CLINIC, data).resolved()
    answers = scaleout.query_many(CLINIC, "measles", scan(rows), out=tmp_path / "answers", client=client)
    import pyarrow.parquet as pq

    columns = [pq.read_table(file) for file in answers]
    table = np.concatenate([np.column_stack([part.column(s) for s in part.column_names]) for part in columns])
    assert np.array_equal(table, pn.Inference(CLINIC).query_many("measles", data), equal_nan=True)


def test_trials_are_those_of_one_machine(client: Any, tmp_path: Path) -> None:
    options: dict[str, Any] = {"rows": 50, "imprecision": 1, "repeats": 2, "learners": "likelihood", "rng": 3}
    there = scaleout.evaluate(["asia"], client=client, out=tmp_path / "there", **options)
    here = pn.evaluate(["asia"], out=tmp_path / "here", workers=1, **options)
    assert [outcome.metrics for outcome in there.outcomes] == [outcome.metrics for outcome in here.outcomes]
    assert (tmp_path / "there/results.csv").read_bytes() == (tmp_path / "here/results.csv").read_bytes()


def test_an_error_of_a_part_is_the_sentence_of_one_machine(client: Any, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("fever\nmild\nhihg\n", encoding="utf-8")
    with pytest.raises(pn.InputError, match="'hihg' is not a state"):
        scaleout.count(pn.Dag({"fever": ()}), tmp_path / "a.csv", client=client, variables=[CLINIC.variable("fever")])


def test_another_version_of_numpy_on_a_worker_is_refused(client: Any) -> None:
    executor = scaleout.ClusterExecutor(client)
    executor._versions = {**executor._versions, "numpy": "0.1"}
    with pytest.raises(ClusterError, match="has numpy .*, the client 0.1; install the same version"):
        executor.submit(abs, -1).result(timeout=60)
    executor.shutdown()


def test_a_row_group_that_no_worker_can_hold_is_refused_with_its_size(rows: Path) -> None:
    with pytest.raises(
        pn.TooLarge, match=r"a0.parquet, row group 1 needs about .* at once; a worker's thread has 1 KiB"
    ):
        list_parts(
            pn.scan_data(rows / "a0.parquet"), [WorkerInfo("tcp://a", 1, 1 << 30), WorkerInfo("tcp://b", 2, 2048)]
        )
    free = list_parts(pn.scan_data(rows / "a0.parquet"), [WorkerInfo("tcp://a", 1, 0)])
    assert [part.stream.rows for part in free] == [ROWS]


def test_what_is_no_client_is_refused(rows: Path) -> None:
    for hostile in (None, "tcp://nowhere", 3):
        with pytest.raises(pn.InputError, match="expected a distributed.Client"):
            scaleout.count(CLINIC.dag, rows, client=hostile)

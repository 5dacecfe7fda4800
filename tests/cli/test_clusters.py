"""Commands with --cluster write what they write on one machine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import possnet as pn
from tests.commands import run
from tests.scaleout.clusters import start_cluster

CLINIC = pn.load_example("clinic")


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Any:
    with start_cluster(tmp_path_factory.mktemp("cluster"), workers=1) as (cluster, _):
        yield cluster.address


@pytest.mark.slow
def test_commands_on_a_cluster_write_what_one_machine_writes(address: str, tmp_path: Path) -> None:
    sampled = run(
        "sample",
        "clinic",
        "--rows",
        "2000",
        "--imprecision",
        "0.5",
        "--process",
        "traced",
        "--seed",
        "7",
        "--cluster",
        address,
        "--out",
        str(tmp_path / "rows"),
    )
    assert sampled.returncode == 0, sampled.stderr
    assert "2,000 rows of 8 variables in 1 Parquet file" in sampled.stderr
    drawn = pn.Dataset.concatenate(pn.scan_data(tmp_path / "rows"))
    assert drawn == pn.sample(CLINIC, 2000, imprecision=0.5, process="traced", rng=7)
    rows = str(tmp_path / "rows")
    for learner in ("likelihood", "em"):
        there, here = tmp_path / f"there-{learner}.json", tmp_path / f"here-{learner}.json"
        common = ("fit", rows, "--structure", "clinic", "--learner", learner)
        assert (
            run(*common, "--cluster", address, "--ledger", str(tmp_path / "ledger"), "--out", str(there)).returncode
            == 0
        )
        assert run(*common, "--out", str(here)).returncode == 0
        assert pn.read_network(there).is_close(pn.read_network(here), tolerance=1e-9)
    completed = run("complete", "clinic", rows, "--cluster", address, "--out", str(tmp_path / "completed"))
    assert completed.returncode == 0, completed.stderr
    assert pn.Dataset.concatenate(pn.scan_data(tmp_path / "completed")) == pn.complete(CLINIC, drawn).resolved()
    learned = run(
        "learn",
        rows,
        "--method",
        "mwst",
        "--measure",
        "mdl",
        "--cluster",
        address,
        "--ledger",
        str(tmp_path / "ledger"),
        "--out",
        str(tmp_path / "tree.json"),
    )
    assert learned.returncode == 0, learned.stderr
    tree = pn.learn_structure(drawn, "mwst", measure="mdl").dag
    assert pn.read_network(tmp_path / "tree.json").is_close(pn.fit(tree, drawn), tolerance=1e-9)
    assert list((tmp_path / "ledger").glob("pass-*.npz"))


def test_what_a_cluster_cannot_do_is_a_sentence(tmp_path: Path) -> None:
    nowhere = ("--cluster", "tcp://127.0.0.1:9")
    asked = run("sample", "clinic", *nowhere, "--out", str(tmp_path / "rows"))
    assert asked.returncode == 1
    assert "no scheduler answers" in asked.stderr
    assert "Traceback" not in asked.stderr
    assert not list(tmp_path.glob("rows/*"))
    named = run("sample", "clinic", *nowhere, "--out", str(tmp_path / "rows.csv"))
    assert "writes a folder of Parquet files" in named.stderr

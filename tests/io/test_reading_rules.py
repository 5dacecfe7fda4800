"""Rules of readers and writers that are easily mistaken for their neighbours."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import possnet as pn
from possnet.io import read_columns
from possnet.io.json_files import choose_version
from possnet.variables import Bins


def test_one_variable_with_bins_makes_a_document_of_version_2() -> None:
    plain = pn.Variable("rash", ("yes", "no"))
    binned = pn.Variable("temp", ("low", "high"), ordered=True, bins=Bins((37.5,)))
    assert [choose_version(v) for v in ([plain], [binned, plain], [plain, binned], [binned])] == [1, 2, 2, 2]


def test_of_a_file_that_declares_its_variables_only_the_columns_asked_for_are_read(tmp_path: Path) -> None:
    pn.write_data(pn.sample(pn.load_example("asia"), 20, rng=1), tmp_path / "rows.parquet")
    assert [v.name for v in read_columns(tmp_path / "rows.parquet", ["xray", "lung"]).variables] == ["lung", "xray"]


def test_a_folder_of_data_is_its_data_files_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("fever\nmild\n", encoding="utf-8")
    (tmp_path / "notes.txt").write_text("not a table", encoding="utf-8")
    (tmp_path / "b.csv").mkdir()
    assert sum(map(len, pn.scan_data(tmp_path))) == 1


def test_the_transformation_of_a_network_survives_json(tmp_path: Path) -> None:
    asia = pn.load_example("asia")
    for network in (asia, asia.with_transform("ratio")):
        pn.write_network(network, tmp_path / "a.json")
        assert pn.read_network(tmp_path / "a.json").transform == network.transform
    assert asia.transform != asia.with_transform("ratio").transform


def test_one_state_that_is_counted_more_often_than_its_context_is_damage(tmp_path: Path) -> None:
    data = pn.Dataset.from_table({"fever": ["mild", "high", "high"]})
    pn.write_counts(pn.count(pn.Dag({"fever": ()}), data), tmp_path / "c.json")
    document = json.loads((tmp_path / "c.json").read_text(encoding="utf-8"))
    del document["checksum"]
    (tmp_path / "c.json").write_text(json.dumps(document), encoding="utf-8")
    assert pn.read_counts(tmp_path / "c.json").rows == 3
    (entry,) = document["variables"]
    entry["counts"][0] = [4, 0]
    (tmp_path / "c.json").write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(pn.InputError, match="a state is counted more often than its context"):
        pn.read_counts(tmp_path / "c.json")

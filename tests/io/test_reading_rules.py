"""Rules of readers and writers that are easily mistaken for their neighbours."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

import possnet as pn
from possnet.io import read_columns
from possnet.io.data_files import number_columns
from possnet.io.json_files import choose_version
from possnet.variables import Bins, CellWriting


def test_one_variable_with_bins_makes_a_document_of_version_2() -> None:
    plain = pn.Variable("rash", ("yes", "no"))
    binned = pn.Variable("temp", ("low", "high"), ordered=True, bins=Bins((37.5,)))
    assert [choose_version(v) for v in ([plain], [binned, plain], [plain, binned], [binned])] == [1, 2, 2, 2]


def test_one_variable_that_remembers_how_its_cells_are_written_survives_a_file(tmp_path: Path) -> None:
    """Beside another that remembers nothing: readers of before 6 would refuse what they do not know, and are told the version."""
    plain = pn.Variable("rash", ("yes", "no"))
    written = pn.Variable("fever", ("mild", "high"), cells=CellWriting("sets", ","))
    tables = {"rash": [1, 0.5], "fever": [1, 0.25]}
    for variables in ((plain, written), (written, plain)):
        network = pn.Network(variables, pn.Dag({"rash": (), "fever": ()}), tables)
        pn.write_network(network, tmp_path / "a.json")
        assert json.loads((tmp_path / "a.json").read_text(encoding="utf-8"))["version"] == 6
        assert pn.read_network(tmp_path / "a.json").variable("fever").cells == written.cells


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


def test_what_decides_a_doubt_may_stand_in_another_file(tmp_path: Path) -> None:
    """[1, 2] is an interval's text by itself, and a list where any file has lists: rows mean the same in one file or two."""
    rows = ['"[1, 2, 3]"\n1\n', '"[1, 2]"\n3\n']
    (tmp_path / "all.csv").write_text("x\n" + "".join(rows), encoding="utf-8")
    for name, text in zip("ab", rows, strict=True):
        (tmp_path / f"{name}.csv").write_text("x\n" + text, encoding="utf-8")
    with pytest.warns(pn.PossnetWarning, match="is read as the set of 1, 2"):
        whole = pn.read_data(tmp_path / "all.csv")
    assert whole.variables[0].states == ("1", "2", "3")
    for order in ("ab", "ba"):
        stream = pn.scan_data([tmp_path / f"{name}.csv" for name in order])
        assert tuple(stream.variables) == whole.variables


@pytest.mark.parametrize(("values", "numeric"), [(12, False), (20, False), (21, True)])
def test_few_whole_numbers_in_many_rows_are_grades_and_more_are_numbers(
    values: int, numeric: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.csv").write_text("x\n" + "".join(f"{k % values}\n" for k in range(60)), encoding="utf-8")
    assert number_columns(tmp_path / "a.csv") == ["x"]  # of few rows
    monkeypatch.setattr("possnet.io.automatic_bins._MANY_ROWS", 59)
    assert number_columns(tmp_path / "a.csv") == (["x"] if numeric else [])


def test_edges_by_a_target_of_files_lie_where_its_states_change(tmp_path: Path) -> None:
    """The second file has the colder half, so that the shares of the target have to stay beside their numbers."""
    for name, tenths in (("a", range(20, 40)), ("b", range(20))):
        lines = [f"{36 + k / 10:.1f},{'yes' if k >= 20 else 'no'}\n" for k in tenths]
        (tmp_path / f"{name}.csv").write_text("temp,flu\n" + "".join(lines), encoding="utf-8")
    data = pn.scan_data([tmp_path / "a.csv", tmp_path / "b.csv"], binnings={"temp": pn.Binning("mdl", target="flu")})
    bins = next(v for v in data.variables if v.name == "temp").bins
    assert bins is not None
    (edge,) = bins.edges
    assert 37.9 < edge <= 38.0


def test_a_packed_network_of_just_the_size_that_is_allowed_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pn.write_network(pn.load_example("asia"), tmp_path / "asia.json")
    content = (tmp_path / "asia.json").read_bytes()
    (tmp_path / "asia.json.gz").write_bytes(gzip.compress(content))
    monkeypatch.setenv("POSSNET_LIMIT_NETWORK_BYTES", str(len(content)))
    assert pn.read_network(tmp_path / "asia.json.gz") == pn.load_example("asia")
    monkeypatch.setenv("POSSNET_LIMIT_NETWORK_BYTES", str(len(content) - 1))
    with pytest.raises(pn.TooLarge):
        pn.read_network(tmp_path / "asia.json.gz")


def test_counts_of_no_rows_survive_a_file(tmp_path: Path) -> None:
    scope = [pn.Variable("rash", ("yes", "no")), pn.Variable("fever", ("none", "high"))]
    counts = pn.count(pn.Dag({"rash": (), "fever": ("rash",)}), pn.Dataset.from_rows(scope, []))
    pn.write_counts(counts, tmp_path / "c.json")
    assert pn.read_counts(tmp_path / "c.json") == counts


def test_counts_as_floats_have_the_bound_of_whole_numbers(tmp_path: Path) -> None:
    """From 2**62 on two of them might not fit a count: refused in either form, one step below accepted."""
    data = pn.Dataset.from_table({"rash": ["yes", "no"]})
    pn.write_counts(pn.count(pn.Dag({"rash": ()}), data), tmp_path / "c.json")
    document = json.loads((tmp_path / "c.json").read_text(encoding="utf-8"))
    del document["checksum"]
    (entry,) = document["variables"]
    below = 2.0**62 - 512  # the float before it
    for often, fits in ((below, True), (2.0**62, False)):
        document["rows"], entry["cell_sizes"] = below, below
        entry["counts"], entry["totals"] = [[often, 1.0]], [often]
        (tmp_path / "c.json").write_text(json.dumps(document), encoding="utf-8")
        if fits:
            assert pn.read_counts(tmp_path / "c.json").rows == below
        else:
            with pytest.raises(pn.InputError, match=r"numbers below 0 or above 2\*\*62"):
                pn.read_counts(tmp_path / "c.json")


@pytest.mark.parametrize("state", [-1, 2])
def test_one_state_out_of_many_that_the_target_lacks_is_damage(state: int, tmp_path: Path) -> None:
    clinic = pn.load_example("clinic")
    rows = pn.sample(clinic, 30, process="precise", rng=1)
    pn.write_calibration(pn.calibrate(clinic, rows, "flu", per_class=True), tmp_path / "c.json")
    document = json.loads((tmp_path / "c.json").read_text(encoding="utf-8"))
    del document["checksum"]
    (tmp_path / "c.json").write_text(json.dumps(document), encoding="utf-8")
    assert pn.read_calibration(tmp_path / "c.json").target.name == "flu"
    assert len(document["folds"][0]["states"]) > 1
    document["folds"][0]["states"][0] = state
    (tmp_path / "c.json").write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(pn.InputError, match="a weight and a state each; the file is damaged"):
        pn.read_calibration(tmp_path / "c.json")

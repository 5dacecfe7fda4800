"""Degrees in files: texts of CSV, the masks of Parquet, columns of certainties; what is written is read back."""

from __future__ import annotations

import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings, strategies as st

import possnet as pn
from possnet.cells import CellSyntax
from tests import strategies
from tests.commands import run
from tests.refused import refused

FEVER = pn.Variable("fever", ("none", "mild", "high"), ordered=True)
RASH = pn.Variable("rash", ("yes", "no"))


@st.composite
def named_rows(draw: st.DrawFn) -> pn.Dataset:
    """Data sets with odd names of states, and degrees of any size."""
    scope = [draw(strategies.variables(name=f"v{k}", max_states=4)) for k in range(draw(st.integers(1, 2)))]
    return draw(strategies.graded_rows(scope))


@settings(max_examples=40)
@given(named_rows(), st.sampled_from([".csv", ".parquet"]))
def test_what_is_written_is_read_back(data: pn.Dataset, suffix: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"rows{suffix}"
        pn.write_data(data, path)
        weights = "weight" if data.weights is not None else None
        again = pn.read_data(path, variables=data.variables, weights=weights)
        assert again == data
        batches = list(pn.scan_data(path, variables=data.variables, weights=weights))
        assert pn.Dataset.concatenate(batches) == data


@given(strategies.variables(max_states=5), st.data())
def test_degrees_are_written_so_that_they_are_read(variable: pn.Variable, drawn: st.DataObject) -> None:
    cell = drawn.draw(strategies.graded_cells(variable))
    degrees = {state: degree for state, degree in cell.items() if degree > 0.0}
    if all(degree == 1.0 for degree in degrees.values()):
        return
    text = CellSyntax().write_degrees(degrees, variable.states)
    parsed = CellSyntax().parse(text)
    assert parsed.resolve_states(variable)[1]
    assert parsed.resolve_degrees(variable) == (degrees, "")


def write_rows(folder: Path, *cells: str) -> Path:
    path = folder / "rows.csv"
    path.write_text("fever\n" + "\n".join(cells) + "\n", encoding="utf-8")
    return path


def test_degrees_are_read_where_states_are_declared(tmp_path: Path) -> None:
    path = write_rows(tmp_path, "high:1|mild:.4", "high | mild: .4", '"{high:1, mild:.4}"', "high;mild:0.40", "none")
    data = pn.read_data(path, variables=[FEVER])
    assert [data.degrees(k)["fever"] for k in range(4)] == [{"mild": 0.4, "high": 1.0}] * 4
    assert data.graded("fever").tolist() == [True] * 4 + [False]
    table = {"fever": ["high:1|mild:.4", {"high": 1, "mild": 0.4}, "none"]}
    assert pn.Dataset.from_table(table, variables=[FEVER]).degrees(0) == data.degrees(0)
    assert pn.Dataset.from_table(table, cells={"fever": "degrees"}).degrees(1) == {"fever": {"high": 1.0, "mild": 0.4}}


def test_degrees_that_nobody_asked_for_stay_states_and_are_said(tmp_path: Path) -> None:
    path = write_rows(tmp_path, "high:1|mild:.4", "none")
    with pytest.warns(pn.PossnetWarning, match="'mild:.4' looks like a state and its degree but is taken as a state"):
        data = pn.read_data(path)
    assert data.variables[0].states == ("high:1", "mild:.4", "none")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        asked = pn.read_data(path, cells={"fever": "degrees"})
        times = pn.read_data(write_rows(tmp_path, "12:30", "08:15|12:30", "1:0"))
    assert asked.variables[0].states == ("high", "mild", "none")
    assert asked.degrees(0) == {"fever": {"high": 1.0, "mild": 0.4}}
    assert times.variables[0].states == ("08:15", "12:30", "1:0")
    hours = pn.Variable("fever", ("12", "12:0.5", "13"))
    exact = pn.read_data(write_rows(tmp_path, "12:0.5", "13:1|12:0.5", "12:.50|13:1"), variables=[hours])
    assert [exact.degrees(k)["fever"] for k in range(3)] == [
        {"12:0.5": 1.0},
        {"12:0.5": 1.0, "13": 1.0},
        {"12": 0.5, "13": 1.0},
    ]


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        ("high:0|mild:0", "degrees that are all 0 leave no state possible"),
        ("high:1|mild:-.2", "degree -0.2 of 'mild'; expected a number from 0 to 1"),
        ("high:1.5", "degree 1.5 of 'high'; expected a number from 0 to 1"),
        ("high:nan", "degree nan of 'high'; expected a number from 0 to 1"),
        ("hihg:1|mild:.4", "'hihg' is not a state .none, mild, high.; did you mean 'high'"),
        ("high:1|high:.4", "'high' has two degrees, 1 and 0.4; expected one"),
        ("12:30", "'12:30' is not a state"),
        ("!high:.4", "'high:.4' is not a state"),
    ],
)
def test_bad_degrees_are_told(tmp_path: Path, cell: str, message: str) -> None:
    text = refused(message, pn.read_data, write_rows(tmp_path, "none", cell), variables=[FEVER])
    assert "rows.csv, row 2, column 'fever'" in text


def test_largest_degrees_below_1_are_said_once(tmp_path: Path) -> None:
    path = write_rows(tmp_path, "high:.8|mild:.4", "mild:.5|none:.25")
    with pytest.warns(pn.PossnetWarning, match="the largest degree of a cell is 0.5; expected 1") as warned:
        data = pn.read_data(path, variables=[FEVER])
    assert len(warned) == 1
    assert data.degrees(0) == {"fever": {"mild": 0.5, "high": 1.0}}


def test_certainties_come_from_a_column(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    path.write_text("fever,sure,rash\nhigh,6,yes\nmild|high,7,no\n?,,yes\n", encoding="utf-8")
    data = pn.read_data(path, variables=[FEVER, RASH], certainty={"fever": ("sure", 7)})
    table = {"fever": ["high", {"mild", "high"}, None], "sure": [6, 7, None], "rash": ["yes", "no", "yes"]}
    expected = pn.Dataset.from_table(table, variables=[FEVER, RASH], certainty={"fever": ("sure", 7)})
    assert data == expected
    assert pn.read_data(path, certainty={"fever": ("sure", 7)}).graded("fever").tolist() == [True, False, False]
    assert pn.Dataset.concatenate(list(pn.scan_data(path, [FEVER, RASH], certainty={"fever": ("sure", 7)}))) == data
    lists = pa.table({"fever": [["high"], ["mild", "high"], None], "sure": [6, 7, None], "rash": ["yes", "no", "yes"]})
    pq.write_table(lists, tmp_path / "labels.parquet")
    for kind in (pn.read_data, lambda *a, **o: pn.Dataset.concatenate(list(pn.scan_data(*a, **o)))):
        assert kind(tmp_path / "labels.parquet", [FEVER, RASH], certainty={"fever": ("sure", 7)}) == data
    refused("no column 'shure'", pn.read_data, path, certainty={"fever": "shure"})
    refused(
        "row 1, column 'sure': '6' as the certainty of 'fever'; expected a number from 0 to 5",
        pn.read_data,
        path,
        certainty={"fever": ("sure", 5)},
    )
    pn.write_data(data, tmp_path / "own.parquet")
    refused("possnet's own file", pn.read_data, tmp_path / "own.parquet", certainty={"fever": "rash"})


def test_degrees_come_back_from_arrow() -> None:
    data = pn.Dataset.from_rows([FEVER, RASH], [({"high": 1, "mild": 0.4}, "yes"), (None, "no"), ("none", "no")])
    table = data.to_arrow()
    assert table.column("fever").to_pylist() == [[("mild", 0.4), ("high", 1.0)], None, [("none", 1.0)]]
    assert pn.Dataset.from_table(table, variables=data.variables) == data


def damage(path: Path, change: Any) -> Path:
    """The same Parquet file with other degrees."""
    table = pq.read_table(path)
    column = table.column("fever degrees").to_pylist()
    changed = table.set_column(
        table.column_names.index("fever degrees"), "fever degrees", pa.array(change(column), pa.list_(pa.float64()))
    )
    pq.write_table(changed.replace_schema_metadata(table.schema.metadata), path.with_name("damaged.parquet"))
    return path.with_name("damaged.parquet")


@pytest.mark.parametrize(
    "change",
    [
        lambda cells: [[0.4, 1.0], *cells[1:]],
        lambda cells: [[0.0, 0.4, 0.9], *cells[1:]],
        lambda cells: [[0.1, 0.4, 1.0], *cells[1:]],
        lambda cells: [[0.0, -0.4, 1.0], *cells[1:]],
        lambda cells: [[0.0, float("nan"), 1.0], *cells[1:]],
    ],
)
def test_damaged_degrees_are_told(tmp_path: Path, change: Any) -> None:
    path = tmp_path / "rows.parquet"
    pn.write_data(pn.Dataset.from_rows([FEVER], [({"high": 1, "mild": 0.4},), ("none",)]), path)
    refused("column 'fever': degrees that are not .*; the file is damaged", pn.read_data, damage(path, change))


def test_layouts_that_cannot_hold_degrees_refuse_them(tmp_path: Path) -> None:
    graded = pn.Dataset.from_rows([FEVER], [({"high": 1, "mild": 0.4},)])
    refused("lists of states cannot hold", pn.write_data, graded, tmp_path / "a.parquet", layout="lists")
    assert not (tmp_path / "a.parquet").exists()
    first, other = tmp_path / "1.csv", tmp_path / "2.csv"
    first.write_text("fever\nnone\n", encoding="utf-8")
    other.write_text("fever\nhigh:1|mild:.4\n", encoding="utf-8")
    stream = pn.scan_data([first, other], variables=[FEVER])
    refused("later ones carry degrees; read the rows as a whole", pn.write_data, stream, tmp_path / "b.parquet")
    pn.write_data(stream, tmp_path / "c.csv")
    assert pn.read_data(tmp_path / "c.csv", variables=[FEVER]).graded("fever").tolist() == [False, True]
    halves = pn.Dataset.from_rows([FEVER], [("none",)], weights=[0.5])
    pn.write_data(halves, tmp_path / "d.parquet")
    assert pn.read_data(tmp_path / "d.parquet") == halves


def test_the_command_line_reads_degrees_and_certainties(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    path.write_text("fever,sure,rash\nhigh,6,yes:1|no:.5\nmild|high,7,no\n", encoding="utf-8")
    shown = run("info", path, "--certainty", "fever=sure/7", "--cells", "rash=degrees")
    assert "50.0 % have degrees" in shown.stdout
    assert "no:0.5|yes:1" in shown.stdout
    wrong = run("info", path, "--certainty", "fever")
    assert wrong.returncode == 1
    assert "label=sure/7" in wrong.stderr


def test_counts_of_a_stream_with_degrees_are_those_of_its_rows(tmp_path: Path) -> None:
    path = write_rows(tmp_path, *["high:1|mild:.4", "none", "mild|high"] * 50)
    dag = pn.Dag({"fever": ()})
    counts = pn.count(dag, pn.scan_data(path, variables=[FEVER]))
    assert counts["fever"].tolist() == pytest.approx([50.0, 70.0, 100.0])
    assert counts["fever"].dtype == np.float64


def test_variables_with_bins_carry_degrees_where_asked_for(tmp_path: Path) -> None:
    age = pn.Variable("age", ("young", "old"), ordered=True, bins=pn.Bins((40,)))
    data = pn.Dataset.from_rows([age], [({"young": 1, "old": 0.4},), (17,), ("old",)])
    assert data.degrees(0) == {"age": {"young": 1.0, "old": 0.4}}
    pn.write_data(data, tmp_path / "ages.csv")
    assert pn.read_data(tmp_path / "ages.csv", variables=[age], cells={"age": "degrees"}) == data
    table = {"age": ["young:1|old:.4", "young", "old"]}
    assert pn.Dataset.from_table(table, variables=[age], cells={"age": "degrees"}) == data
    mixed = {"age": [{"young": 1, "old": 0.4}, 17, "old"]}
    assert pn.Dataset.from_table(mixed, variables=[age]) == data
    pn.write_data(data, tmp_path / "ages.parquet")
    assert pn.read_data(tmp_path / "ages.parquet") == data

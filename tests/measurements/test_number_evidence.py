"""Plain numbers, once a variable remembers its bins: in evidence, in tables and files, and on the command line."""

from __future__ import annotations

import json
import re
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, strategies as st

import possnet as pn
from tests.commands import run

AGE = pn.Variable("age", ("young", "middle", "old"), ordered=True, bins=pn.Bins((20, 40), unit="years"))
HOURS = pn.Variable("hours", ("few", "many"), ordered=True, bins=pn.Bins((0, 35, 100), open_ended=False))
INCOME = pn.Variable("income", ("low", "high"))
NET = pn.Network(
    (AGE, HOURS, INCOME),
    pn.Dag({"age": (), "hours": (), "income": ("age", "hours")}),
    {
        "age": [0.6, 1, 0.8],
        "hours": [0.5, 1],
        "income": [[[1, 0.1], [1, 0.2]], [[1, 0.5], [0.7, 1]], [[1, 0.9], [0.3, 1]]],
    },
)
ENGINE = pn.Inference(NET)


@given(st.floats(-1e6, 1e6) | st.sampled_from([20, 40]), st.floats(0, 100))
def test_evidence_by_number_is_evidence_by_the_state_of_its_bin(age: float, hours: float) -> None:
    by_number = ENGINE.query("income", {"age": age, "hours": np.float64(hours)})
    states = {"age": AGE.states[(age >= 20) + (age >= 40)], "hours": HOURS.states[hours >= 35]}
    assert by_number == ENGINE.query("income", states)


@pytest.mark.parametrize(
    ("seen", "states"),
    [
        (30, {"middle"}),
        (np.int64(30), {"middle"}),
        (np.float32(30), {"middle"}),
        (30.0, {"middle"}),
        ("30", {"middle"}),
        ("old", {"old"}),
        (">40", {"old"}),
        (">39", {"middle", "old"}),
        ("<=20", {"young", "middle"}),
        ("<20", {"young"}),
        ("39±2", {"middle", "old"}),
        ("15..30", {"young", "middle"}),
        ((15, 30), {"young", "middle"}),
        ((None, 10), {"young"}),
        ((41, np.inf), {"old"}),
        ([10, 50], {"young", "old"}),
        ({10, "old"}, {"young", "old"}),
        (frozenset({"30", 50.5}), {"middle", "old"}),
    ],
)
def test_every_form_of_a_number_is_the_bins_that_it_meets(seen: Any, states: set[str]) -> None:
    assert ENGINE.query("income", {"age": seen}) == ENGINE.query("income", {"age": states})
    assert ENGINE.possibility_of({"age": seen}) == ENGINE.possibility_of({"age": states})


def test_numbers_may_be_uncertain() -> None:
    expected = ENGINE.query("income", {"age": {"young": 0.4, "middle": 1.0}})
    assert ENGINE.query("income", {"age": {25: 1.0, "<20": 0.4}}) == expected


@pytest.mark.parametrize(
    ("evidence", "message"),
    [
        (
            {"hours": 120},
            "evidence on 'hours': 120 lies outside 0..100; expected a reading inside, more edges, or open",
        ),
        ({"hours": (110, 120)}, "evidence on 'hours': 110..120 lies outside 0..100"),
        ({"hours": ">100"}, "evidence on 'hours': >100 lies outside 0..100"),
        ({"age": "twenty"}, "evidence on 'age': 'twenty' is not a reading; expected"),
        ({"age": "yuong"}, "or a state (young, middle, old); did you mean 'young'?"),
        ({"age": (40, 20)}, "evidence on 'age': the interval 40 to 20 runs backwards"),
        ({"age": True}, "evidence on 'age': a bool True; expected a state, a number, a reading such as"),
        ({"age": float("nan")}, "evidence on 'age': nan lies outside"),
        ({"age": []}, "evidence on 'age': nothing in it"),
        ({"income": 3}, "evidence on 'income': a int 3; expected a state"),
        ({"age": {25: 2.0}}, "evidence on 'age': degree of 25 2.0; expected a number from 0 to 1"),
    ],
)
def test_bad_numbers_in_evidence_are_refused_with_a_sentence(evidence: Any, message: str) -> None:
    with pytest.raises(pn.InputError) as caught:
        ENGINE.query("income", evidence)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_impossible_numbers_are_told_as_they_were_given() -> None:
    net = NET.with_table("age", [1, 0, 0])
    with pytest.raises(pn.ImpossibleEvidence, match=r"age=30"):
        pn.Inference(net).query("income", {"age": 30})
    with pytest.raises(pn.ImpossibleEvidence, match=r"age=30\|old"):
        pn.Inference(net).query("income", {"age": {30, "old"}})


def test_a_state_wins_over_a_number_of_its_spelling() -> None:
    plain = pn.Variable("size", ("30", "40"))
    net = pn.Network((plain,), pn.Dag({"size": ()}), {"size": [1, 0.5]})
    assert pn.Inference(net).possibility_of({"size": "40"}) == 0.5
    with pytest.raises(pn.InputError, match="'35' is not a state of 'size'"):
        pn.Inference(net).query("size", {"size": "35"})
    numbered = pn.Variable("size", ("30", "40"), ordered=True, bins=pn.Bins((100,)))
    engine = pn.Inference(pn.Network((numbered,), pn.Dag({"size": ()}), {"size": [1, 0.5]}))
    assert engine.possibility_of({"size": 40}) == engine.possibility_of({"size": "40"}) == 0.5
    assert engine.possibility_of({"size": 99}) == 1
    assert pn.Dataset.from_table({"size": [30, 40]}, numbered).row(1) == {"size": {"40"}}
    with pytest.raises(
        pn.InputError, match="row 2, column 'size': a state of 'size', and a number that lies in another bin"
    ):
        pn.Dataset.from_table({"size": [17, 40]}, numbered)


ROWS = [17.0, 25.5, None, 61.0]
CELLS = [{"young"}, {"middle"}, {"young", "middle", "old"}, {"old"}]
TABLES: dict[str, Any] = {
    "mapping": {"age": ROWS},
    "arrays": {"age": np.array([17, 25.5, np.nan, 61])},
    "whole numbers": {"age": pa.array([17, 25, None, 61])},
    "pandas": pd.DataFrame({"age": ROWS}),
    "pandas texts": pd.DataFrame({"age": ["17", "25.5", "?", ">=61"]}),
    "pandas categories": pd.DataFrame({"age": pd.Categorical(["young", "middle", None, "old"])}),
    "polars": pl.DataFrame({"age": ROWS}),
    "arrow": pa.table({"age": pa.array(ROWS)}),
    "decimals": {"age": pa.array([Decimal(17), Decimal("25.5"), None, Decimal(61)])},
    "mixed": {"age": [17, {"middle"}, None, "old"]},
    "states": {"age": ["young", "middle", None, "old"]},
    "sets": {"age": [{17, "young"}, [25.5], None, (50, 61)]},
}


@pytest.mark.parametrize("form", TABLES)
def test_tables_of_numbers_are_binned_by_the_variable(form: str) -> None:
    data = pn.Dataset.from_table(TABLES[form], AGE)
    assert [data.row(k)["age"] for k in range(4)] == CELLS
    assert data.missing("age").tolist() == [False, False, True, False]
    assert data.variables[0].bins == AGE.bins


def test_rows_of_numbers_are_binned_by_the_variable() -> None:
    data = pn.Dataset.from_rows((AGE, INCOME), [(17, "low"), ((10, 30), "high"), (None, "low")])
    assert data.row(1) == {"age": {"young", "middle"}, "income": {"high"}}
    with pytest.raises(pn.InputError, match="column 'hours', row 2: 120 lies outside 0..100"):
        pn.Dataset.from_rows((HOURS,), [(17,), (120,)])


def write_tables(folder: Path) -> list[Path]:
    (folder / "a.csv").write_text("age,income\n17,low\n25.5,high\n?,low|high\nyoung|old,low\n", encoding="utf-8")
    ages = pa.array([17, 25.5, None])
    pq.write_table(pa.table({"age": ages, "income": ["low", "high", None]}), folder / "b.parquet")
    pq.write_table(pa.table({"age": ["17", "middle", None], "income": ["low", "high", None]}), folder / "c.parquet")
    lists = pa.array([["young"], ["middle"], None])
    pq.write_table(pa.table({"age": lists, "income": ["low", "high", None]}), folder / "d.parquet")
    pn.write_data(
        pn.Dataset.from_table({"age": [17, 30, None], "income": ["low", "high", None]}, NET.variables[::2]),
        folder / "e.parquet",
    )
    return sorted(folder.iterdir())


def test_files_of_numbers_are_binned_by_the_network(tmp_path: Path) -> None:
    for path in write_tables(tmp_path):
        for data in (
            pn.read_data(path, NET.variables[::2]),
            pn.Dataset.concatenate(pn.scan_data(path, NET.variables[::2])),
        ):
            assert [data.row(k)["age"] for k in range(3)] == CELLS[:3], path.name
            assert data.missing("age")[2], path.name
    assert pn.read_data(tmp_path / "a.csv", AGE).row(3) == {"age": {"young", "old"}}


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        (
            "120",
            "row 2, column 'hours': lies outside 0..100; expected a reading inside, more edges, or open-ended bins",
        ),
        ("lots", "row 2, column 'hours': 'lots' is not a reading; expected a number"),
        ("lots", "or a state (few, many)"),
        ("40..20", "row 2, column 'hours': the interval '40..20' runs backwards; expected 20..40"),
    ],
)
def test_bad_numbers_in_a_column_are_told_with_their_row(tmp_path: Path, cell: str, message: str) -> None:
    (tmp_path / "a.csv").write_text(f"hours\n17\n{cell}\n", encoding="utf-8")
    with pytest.raises(pn.InputError) as from_file:
        pn.read_data(tmp_path / "a.csv", HOURS)
    with pytest.raises(pn.InputError) as from_table:
        pn.Dataset.from_table({"hours": ["17", cell]}, HOURS)
    assert message in str(from_file.value)
    assert message in str(from_table.value)


def test_two_units_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("age\n17\n", encoding="utf-8")
    months = pn.Binning([20, 40], unit="months", labels=AGE.states)
    with pytest.raises(
        pn.InputError, match=r"a.csv: 'age' has bins with edges 20, 40 years and with edges 20, 40 months"
    ):
        pn.read_data(tmp_path / "a.csv", AGE, binnings={"age": months})


@pytest.mark.parametrize(
    ("finding", "states"),
    [
        ("age=30", "middle"),
        ("age = 30", "middle"),
        ("age>40", "old"),
        ("age >= 40", "old"),
        ("age<20", "young"),
        ("age<=20", "young|middle"),
        ("age=15..30", "young|middle"),
        ("age=15-30", "young|middle"),
        ("age=[15,20)", "young"),
        ("age=39±2", "middle|old"),
        ("age=young|old", "young|old"),
        ("age=!old", "young|middle"),
        ("hours=30", "few"),
    ],
)
def test_the_command_line_takes_numbers_as_evidence(tmp_path: Path, finding: str, states: str) -> None:
    pn.write_network(NET, tmp_path / "net.json")
    name = finding.split("=", maxsplit=1)[0].split("<", maxsplit=1)[0].split(">", maxsplit=1)[0].strip()
    by_number = run("query", tmp_path / "net.json", "income", "--given", finding)
    by_state = run("query", tmp_path / "net.json", "income", "--given", f"{name}={states}")
    assert by_number.returncode == 0, by_number.stderr
    assert by_number.stdout.splitlines()[1:] == by_state.stdout.splitlines()[1:]


def test_numbers_outside_and_texts_that_are_none_are_refused_on_the_command_line(tmp_path: Path) -> None:
    pn.write_network(NET, tmp_path / "net.json")
    for finding, message in {
        "hours>100": "--given 'hours>100': >100 lies outside 0..100",
        "hours=lots": "'lots' is not a reading",
        "age": "expected VARIABLE=STATE",
        "age>": "expected VARIABLE=STATE",
    }.items():
        result = run("query", tmp_path / "net.json", "income", "--given", finding)
        assert result.returncode == 1
        assert message in result.stderr, finding


def test_commands_read_numbers_by_the_bins_of_the_network(tmp_path: Path) -> None:
    pn.write_network(NET, tmp_path / "net.json")
    (tmp_path / "n.csv").write_text("age,hours,income\n17,20,low\n25,50,?\n>=40,35,high\n", encoding="utf-8")
    (tmp_path / "s.csv").write_text("age,hours,income\nyoung,few,low\nmiddle,many,?\nold,many,high\n", encoding="utf-8")
    net = tmp_path / "net.json"
    for command in (["score", net], ["check", net], ["complete", net]):
        outputs: list[Any] = []
        for rows in ("n.csv", "s.csv"):
            out = ["--out", tmp_path / f"out-{rows}"] if command[0] == "complete" else []
            result = run(*command, tmp_path / rows, *out)
            assert result.returncode == 0, result.stderr
            shown = re.sub(r"[\d.]+ s\.", "", result.stdout).replace(str(tmp_path / rows), "rows")
            outputs.append(pn.read_data(tmp_path / f"out-{rows}", NET) if out else shown)
        assert outputs[0] == outputs[1]
    completed = (tmp_path / "out-n.csv").read_text(encoding="utf-8")
    assert completed == "age,hours,income\n17,20,low\n25,50,high\n>=40,35,high\n"  # the numbers as they were
    assert "young < middle < old (edges 20, 40 years)" in run("info", net).stdout
    bins = json.loads(run("info", net, "--json").stdout)["variables"]["age"]["bins"]
    assert bins == {"edges": [20, 40], "open_ended": True, "unit": "years"}
    for rows in ("n.csv", "s.csv"):
        result = run("fit", tmp_path / rows, "--structure", net, "--out", tmp_path / f"{rows}.json")
        assert result.returncode == 0, result.stderr
    assert pn.read_network(tmp_path / "n.csv.json") == pn.read_network(tmp_path / "s.csv.json")
    assert pn.read_network(tmp_path / "n.csv.json").variable("age").bins == AGE.bins

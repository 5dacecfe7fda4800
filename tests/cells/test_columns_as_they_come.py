"""Columns of texts: the same cells from every kind of table, what is ambiguous told, and what looks like sets said."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, strategies as st

import possnet as pn
from tests.commands import run
from tests.refused import refused
from tests.rows import rows_of

TEXTS = ["a|b", "c", "{a, c}", '["b","c"]', "['a', 'b']", "a;c", "!a", "?", "NA", None]
STATES: list[set[str] | None] = [
    {"a", "b"},
    {"c"},
    {"a", "c"},
    {"b", "c"},
    {"a", "b"},
    {"a", "c"},
    {"b", "c"},
    None,
    None,
    None,
]
WORDS: dict[str, Any] = {"unknown_words": ("NA", "ND")}


def cells_of(data: pn.Dataset, column: int = 0) -> list[Any]:
    return [row[column] for row in rows_of(data)]


def cells_from(texts: list[Any], **options: Any) -> list[Any]:
    return cells_of(pn.Dataset.from_table({"x": texts}, **options))


def test_one_grammar_for_every_kind_of_table(tmp_path: Path) -> None:
    frame = pd.DataFrame({"x": TEXTS, "y": "u"})
    arrow = pa.table({"x": TEXTS, "y": ["u"] * len(TEXTS)})
    pq.write_table(arrow, tmp_path / "a.parquet")
    pq.write_table(arrow, tmp_path / "b.parquet", row_group_size=3)
    frame.to_csv(tmp_path / "a.csv", index=False)
    frame.to_csv(tmp_path / "b.csv", index=False, sep=";", quotechar="'", encoding="utf-16")
    tables = [
        frame,
        arrow,
        pl.DataFrame(arrow),
        duckdb.sql("select * from arrow"),
        {"x": TEXTS, "y": ["u"] * len(TEXTS)},
    ]
    tables += [pl.DataFrame(arrow).lazy()]
    for table in tables:
        assert cells_of(pn.Dataset.from_table(table, **WORDS)) == STATES
    for name in ("a.parquet", "b.parquet", "a.csv", "b.csv"):
        assert cells_of(pn.read_data(tmp_path / name, **WORDS)) == STATES
        assert cells_of(pn.Dataset.concatenate(pn.scan_data(tmp_path / name, **WORDS))) == STATES


def test_texts_beside_sets_have_the_grammar_and_members_of_sets_have_not() -> None:
    with pytest.warns(pn.PossnetWarning, match="looks like a set"):
        assert cells_from(["a|b", {"a|b"}, ["a", "b"]]) == [{"a|b"}, {"a|b"}, {"a", "b"}]  # a name of a state wins
    assert cells_from(["a|c", {"a|b"}, "?"]) == [{"a", "c"}, {"a|b"}, None]
    assert cells_from([["a|b"], ["?"]]) == [{"a|b"}, {"?"}]


def test_plain_text_is_opaque() -> None:
    assert cells_from(["a|b", "?", "!a", "", None], cells="plain") == [{"a|b"}, {"?"}, {"!a"}, None, None]
    assert cells_from(["a|b", "c"], cells={"x": "plain"}) == [{"a|b"}, {"c"}]


def test_categories_are_states_and_those_that_look_like_sets_are_said() -> None:
    frame = pd.DataFrame({"x": pd.Categorical(["a|b", "a", "b"], categories=["b", "a", "a|b"], ordered=True)})
    with pytest.warns(pn.PossnetWarning, match="'a|b' looks like a set"):
        data = pn.Dataset.from_table(frame)
    assert data.variable("x").states == ("b", "a", "a|b")
    assert cells_of(pn.Dataset.from_table(frame, cells="sets")) == [{"a", "b"}, {"a"}, {"b"}]


def test_columns_that_write_their_sets_alike_are_said_at_once_with_one_option(tmp_path: Path) -> None:
    table = {
        "age": ["17", "17,19", "19"],
        "job": ["a,b", "a", "b"],
        "dog": ["x / y", "x", "y"],
        "own": ["p", "q", "q"],
    }
    with pytest.warns(pn.PossnetWarning) as caught:
        pn.Dataset.from_table(table)
    commas, slashes = (str(warning.message) for warning in caught)
    assert commas.startswith("table, columns 'age', 'job': texts such as '17,19' look like sets")
    assert "separator=',' (--separator ',')" in commas
    assert "(--cells 'age=range')" in commas
    assert slashes.startswith("table, column 'dog': 'x / y' looks like a set")
    pd.DataFrame(table).to_parquet(tmp_path / "t.parquet")
    arguments = ("info", tmp_path / "t.parquet", "--separator", ",", "--cells", "age=range, job=sets", "--json")
    states = json.loads(run(*arguments).stdout)["variables"]
    assert (states["age"]["states"], states["job"]["states"]) == (["17", "18", "19"], ["a", "b"])


@given(st.lists(st.lists(st.sampled_from("abcd"), min_size=1, unique=True), min_size=1, max_size=12))
def test_reading_again_with_the_states_that_were_inferred_changes_nothing(cells: list[list[str]]) -> None:
    for sign in ("|", ";", ", "):
        texts = [sign.join(cell) for cell in cells]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", pn.PossnetWarning)
            first = pn.Dataset.from_table({"x": texts})
            assert pn.Dataset.from_table({"x": texts}, first) == first
        told = pn.Dataset.from_table({"x": texts}, separator=sign)
        assert cells_of(told) == [set(cell) for cell in cells]


def test_a_comma_is_a_set_where_its_parts_are_states_and_that_is_told() -> None:
    fever = pn.Variable("x", ("none", "mild", "high"), ordered=True)
    with pytest.warns(
        pn.PossnetWarning, match="column 'x': 'mild,high' is read as the set of mild, high, which are states"
    ):
        data = pn.Dataset.from_table({"x": ["mild,high", "none"]}, [fever])
    assert cells_of(data) == [{"mild", "high"}, {"none"}]
    refused("row 1, column 'x': 'mild,hihg' is not a state", pn.Dataset.from_table, {"x": ["mild,hihg"]}, [fever])
    assert cells_from(["mild,high"], variables=[fever], separator=",") == [{"mild", "high"}]  # told already: no note


def test_numbers_in_square_brackets_are_settled_by_the_column() -> None:
    with pytest.warns(pn.PossnetWarning, match=r"'\[20,30\]' is taken as a state of its own.*cells=\{'x': 'range'\}"):
        assert cells_from(["[20,30]", "[30,40]"]) == [{"[20,30]"}, {"[30,40]"}]
    with pytest.warns(pn.PossnetWarning, match=r"'\[20,30\]' is read as the set of 20, 30.*cells=\{'x': 'range'\}"):
        assert cells_from(["[20,30]", "[20,30,40]"]) == [{"20", "30"}, {"20", "30", "40"}]
    assert cells_from(["[20,30]", "[30,40]"], cells="sets") == [{"20", "30"}, {"30", "40"}]
    assert cells_from(["[20,22]", "21"], cells="range") == [{"20", "21", "22"}, {"21"}]
    assert cells_from(["[20,30)", "[30,40]"]) == [{"[20,30)"}, {"[30,40]"}]  # labels of bins, and no note
    ages = pn.Variable("x", ("10", "20", "30"), ordered=True)
    with pytest.warns(pn.PossnetWarning, match="is read as the set of 10, 30"):
        assert cells_from(["[10,30]"], variables=[ages]) == [{"10", "30"}]


def test_a_bracket_without_its_partner_is_refused_beside_lists_only() -> None:
    assert cells_from(["[a", "b"]) == [{"[a"}, {"b"}]
    refused(
        r"row 2, column 'x': '\[a' has a bracket without its partner", pn.Dataset.from_table, {"x": ["[a, b]", "[a"]}
    )


def test_ranges_of_whole_numbers_are_ordered_by_size() -> None:
    table = {"age": ["9,12", "10", "[8, 9]", "100", "!9..12"]}
    data = pn.Dataset.from_table(table, cells={"age": "range"})
    assert data.variable("age") == pn.Variable("age", ("8", "9", "10", "11", "12", "100"), ordered=True)
    assert cells_of(data) == [{"9", "10", "11", "12"}, {"10"}, {"8", "9"}, {"100"}, {"8", "100"}]
    refused(
        "row 2, column 'age': the range '12,9' runs backwards",
        pn.Dataset.from_table,
        {"age": ["9", "12,9"]},
        cells="range",
    )
    refused(
        "row 1, column 'age': 'a,c' is a range of what has no known order",
        pn.Dataset.from_table,
        {"age": ["a,c"]},
        cells="range",
    )
    refused("at most 100,000 of them", pn.Dataset.from_table, {"age": ["1,99999999"]}, cells="range")
    refused("row 3, column 'age': '8..9' looks like a range", pn.Dataset.from_table, {"age": ["8", "9", "8..9"]})


@pytest.mark.parametrize(
    ("texts", "option"),
    [
        (["Male", "Female", "Male,Female"], "separator={'x': ','} (--separator 'x=,')"),
        (["a", "b", "a, b"], "separator={'x': ', '}"),
        (["a/b", "a", "b", "c"], "separator={'x': '/'}"),
        (["a or b", "a", "b"], "separator={'x': ' or '}"),
        (["17,24", "20,31", "17,20", "24,31", "17", "24", "20", "31"], "cells={'x': 'range'} (--cells 'x=range')"),
        (["Cuba,Iran,Peru", "Iran,Peru,India,Chad", "Peru,Cuba", "Iran,Cuba"], "separator={'x': ','}"),
    ],
)  # fmt: skip
def test_what_looks_like_sets_is_said_with_the_option_that_reads_it(texts: list[str], option: str) -> None:
    with pytest.warns(pn.PossnetWarning) as caught:
        data = pn.Dataset.from_table({"x": texts, "y": ["u"] * len(texts)})
    assert data.imprecise_share() == 0.0
    (message,) = [str(warning.message) for warning in caught]
    assert option in message
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pn.Dataset.from_table({"x": texts}, cells={"x": "plain"})


@pytest.mark.parametrize(
    "texts",
    [
        ["It rained, and we left.", "It rained, so we stayed.", "No, thanks.", "Well, no."],
        ["Smith, John", "Smith, Jane", "Doe, John", "Doe, Jane"],
        ["Austin, TX", "Dallas, TX", "Boston, MA"],
        ["<5", "5-9", "10+", "12+"],
        ["a", "b", "c"],
        ["1", "2", "3", "12"],
        ["km/h", "m/s", "mph"],
        ["[0,5)", "[5,10)", "[10,20]"],
    ],
)
def test_plain_data_are_not_nagged_about(texts: list[str]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert cells_from(texts) == [{text} for text in texts]


def test_bad_cells_are_told_with_their_row_and_column(tmp_path: Path) -> None:
    scope = [pn.Variable("x", ("a", "b", "c"), ordered=True)]
    for text, message in [
        ("{}", "{} is an empty set"),
        ("a||b", "an empty place beside '|'"),
        ("c..a", "the range 'c..a' runs backwards"),
        ("[a, b", "has a bracket without its partner"),
        ("[a, d]", "'d' is not a state (a, b, c)"),
    ]:
        (tmp_path / "a.csv").write_text(f'x\na\n"{text}"\n', encoding="utf-8")
        with pytest.raises(pn.InputError) as refusal:
            pn.read_data(tmp_path / "a.csv", scope)
        assert "a.csv, row 2, column 'x': " in str(refusal.value)
        assert message in str(refusal.value)
        with pytest.raises(pn.InputError) as refusal:
            pn.Dataset.from_table({"x": ["a", text]}, scope)
        assert str(refusal.value).startswith("table, row 2, column 'x': ")
        assert message in str(refusal.value)


def test_an_anonymised_table_is_read_with_one_option(tmp_path: Path) -> None:
    table = pa.table(
        {"age": ["39", "38,40", "17"], "job": ["clerk,nurse", "nurse", "driver,clerk"], "n": ["5,7", "6", "7"]}
    )
    pq.write_table(table, tmp_path / "a.parquet")
    options: dict[str, Any] = {"separator": ",", "cells": {"age": "range", "n": "range"}}
    data = pn.read_data(tmp_path / "a.parquet", **options)
    assert data.variable("age") == pn.Variable("age", ("17", "38", "39", "40"), ordered=True)
    assert rows_of(data)[1] == ({"38", "39", "40"}, {"nurse"}, {"6"}, 1)
    assert pn.Dataset.from_table(table, **options) == data
    shown = run(
        "info", tmp_path / "a.parquet", "--separator", ",", "--cells", "age=range", "--cells", "n=range", "--json"
    )
    assert shown.returncode == 0, shown.stderr
    assert '"ordered": true' in shown.stdout
    assert shown.stderr == ""
    page = run(
        "info", tmp_path / "a.parquet", "--separator", ",", "--cells", "age=range", "--unknown-words", "NA"
    ).stdout
    assert "cells read as asked: age: range at ','; job, n: at ','; unknown: NA" in page
    warned = run("info", tmp_path / "a.parquet")
    assert "Note: " in warned.stderr


def test_the_command_line_reads_cells_as_python_does(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text('x\ty\na, b\tND\nb\t"c, d"\nNA\tc\n', encoding="utf-8")
    shown = run("convert", tmp_path / "a.csv", "-", "--separator", ", ", "--unknown-words", "NA,ND")
    assert (shown.stdout, shown.returncode) == ("x,y\na|b,?\nb,c|d\n?,c\n", 0), shown.stderr
    one = run("convert", tmp_path / "a.csv", "-", "--separator", "x=, ", "--cells", "plain")
    assert '"a, b",ND' in one.stdout
    twice = run("info", tmp_path / "a.csv", "--cells", "x=plain", "--cells", "x=sets")
    assert twice.returncode == 1
    assert "--cells: 'x' is given twice" in twice.stderr
    wrong = run("info", tmp_path / "a.csv", "--cells", "z=plain")
    assert "cells for 'z', which is no column (x, y)" in wrong.stderr
    asked = run("query", "clinic", "flu", "--given", "fever={mild, high}", "--json")
    assert asked.stdout == run("query", "clinic", "flu", "--given", "fever=mild|high", "--json").stdout.replace(
        "mild|high", "{mild, high}"
    )


def test_the_remedy_for_many_columns_that_look_like_sets_is_whole() -> None:
    cells = ["17,19", "19,17", "17", "19"] * 5
    with pytest.warns(pn.PossnetWarning) as said:
        pn.Dataset.from_table({f"a column with a long name {k}": cells for k in range(12)})
    (note,) = [str(one.message) for one in said if "look like sets" in str(one.message)]
    assert "look like sets of states but are taken as states. Read them as sets with separator=','" in note

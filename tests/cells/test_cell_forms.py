"""Every form of a cell: what it means, that an exact name wins, and that it survives writing and reading."""

from __future__ import annotations

import csv
import json
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

import possnet as pn
from possnet.cells import CellSyntax
from tests.refused import refused
from tests.rows import rows_of

FEVER = pn.Variable("fever", ("none", "mild", "high"), ordered=True)
odd_names = st.one_of(
    st.text(st.sampled_from("ab|;,[]{}()'\"?!*.\\ :-20NA"), min_size=1, max_size=5),
    st.sampled_from(["NA", "ND", "?", "*", "..", "a..b", "[1,2]", "<5", "12+", "a|b", "a", "b", "{a}", "['a']", "[20,30)"]),
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=4),
)  # fmt: skip


@st.composite
def odd_cells(draw: st.DrawFn) -> tuple[pn.Variable, tuple[str, ...]]:
    """A variable of names that look like anything, and a set of its states."""
    states = tuple(draw(st.lists(odd_names, min_size=1, max_size=5, unique=True)))
    chosen = draw(st.sets(st.sampled_from(states), min_size=1))
    return pn.Variable("x", states, ordered=draw(st.booleans())), tuple(s for s in states if s in chosen)


def read(text: str, variable: pn.Variable, **options: Any) -> tuple[str, ...] | None:
    cell, finding = CellSyntax(**options).parse(text).resolve_states(variable)
    assert not finding, finding if isinstance(finding, str) else finding()
    return cell


@given(odd_cells(), st.sampled_from([None, "|", ";", ", ", "||", "/", " or ", " ", "and"]))
def test_a_written_cell_is_read_as_it_was_with_any_separator(
    drawn: tuple[pn.Variable, tuple[str, ...]], separator: str | None
) -> None:
    variable, cell = drawn
    words = ("NA", "ND")
    syntax = CellSyntax(separator, unknown_words=words)
    for states in (variable.states, None):
        text = syntax.write(cell, states)
        if (
            states is not None or text.strip() not in variable
        ):  # without the states the writer cannot see a name in its way
            assert read(text, variable, separator=separator, unknown_words=words) == cell
    assert read(syntax.write(None, variable.states), variable, separator=separator) is None


def quoted_list(cell: tuple[str, ...]) -> str:
    return repr(list(cell))


FORMS: dict[str, Callable[[tuple[str, ...]], str]] = {
    "json": lambda cell: json.dumps(list(cell)),
    "json as UTF-8": lambda cell: json.dumps(list(cell), ensure_ascii=False),
    "braces": lambda cell: "{" + ", ".join(json.dumps(state) for state in cell) + "}",
    "python": quoted_list,
}


@given(odd_cells(), st.sampled_from(sorted(FORMS)), st.sampled_from(["\\", "~", ""]))
def test_a_list_in_quotes_holds_any_names(drawn: tuple[pn.Variable, tuple[str, ...]], form: str, escape: str) -> None:
    variable, cell = drawn
    text = FORMS[form](cell)
    if text not in variable:
        assert read(text, variable, escape=escape) == cell


@given(odd_cells())
def test_the_exact_name_of_a_state_is_that_state(drawn: tuple[pn.Variable, tuple[str, ...]]) -> None:
    variable, _ = drawn
    for state in variable.states:
        assert read(state, variable, unknown_words=("NA",)) == (state,)
        for reading in ("sets", "range", "plain"):
            assert read(state, variable, reading=reading) == (state,)


@given(st.lists(odd_cells().map(lambda drawn: drawn[1]), min_size=1, max_size=5))
def test_a_file_of_odd_names_is_read_as_it_was_with_and_without_its_states(cells: list[tuple[str, ...]]) -> None:
    states = tuple(dict.fromkeys(state for cell in cells for state in cell))
    variable = pn.Variable("x", states)
    data = pn.Dataset.from_rows(
        [variable, pn.Variable("y", ("u",))], [*((set(cell), "u") for cell in cells), (None, "u")]
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.csv"
        pn.write_data(data, path, unknown_words=("NA",))
        assert pn.read_data(path, data, unknown_words=("NA",)) == data
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", pn.PossnetWarning)  # texts such as 'a,b' may look like sets
            inferred = pn.read_data(path, unknown_words=("NA",))
        assert rows_of(inferred) == rows_of(data)


@pytest.mark.parametrize(
    ("text", "options", "states"),
    [
        ("mild;high", {}, ("mild", "high")),
        ("{mild, high}", {}, ("mild", "high")),
        ("[ mild ,high ]", {}, ("mild", "high")),
        ('["mild","high"]', {}, ("mild", "high")),
        ("['mild', 'high']", {}, ("mild", "high")),
        ("{none..mild}", {}, ("none", "mild")),
        ("![none, mild]", {}, ("high",)),
        ("!{none}", {}, ("mild", "high")),
        ("[mild]", {}, ("mild",)),
        ("mild,high", {}, ("mild", "high")),
        ("!mild, high", {}, ("none",)),
        ("none, high", {"separator": ", "}, ("none", "high")),
        ("none or high", {"separator": " or "}, ("none", "high")),
        ("none/high", {"separator": "/"}, ("none", "high")),
        ("none high", {"separator": " "}, ("none", "high")),
        ("none,high", {"reading": "sets"}, ("none", "high")),
        ("none,high", {"reading": "range"}, ("none", "mild", "high")),
        ("[none, high]", {"reading": "range"}, ("none", "mild", "high")),
        ("none..high", {"reading": "range"}, ("none", "mild", "high")),
        ("none - high", {"reading": "range", "separator": "-"}, ("none", "mild", "high")),
        ("mild,mild", {"reading": "range"}, ("mild",)),
        ("NA", {"unknown_words": ("NA", "ND")}, None),
        (" ND ", {"unknown_words": ("NA", "ND")}, None),
        ("?", {"reading": "sets"}, None),
    ],
)  # fmt: skip
def test_the_forms_of_a_cell(text: str, options: dict[str, Any], states: tuple[str, ...] | None) -> None:
    assert read(text, FEVER, **options) == states


def test_escape_means_nothing_before_an_ordinary_letter() -> None:
    files = pn.Variable("file", ("C:\\temp", "a|b", "a"))
    assert read("C:\\temp|a", files) == ("C:\\temp", "a")
    assert read("a\\|b|a", files) == ("a|b", "a")


def test_brackets_keep_what_stands_inside_together() -> None:
    land = pn.Variable("land", ("Cuba", "Guam (East, West)", "Iran"))
    assert read("Cuba, Guam (East, West)", land, separator=",") == ("Cuba", "Guam (East, West)")
    bins = pn.Variable("age", ("[20,30)", "[30,40)", "(40;50]"), ordered=True)
    assert read("[20,30)|[30,40)", bins) == ("[20,30)", "[30,40)")
    assert read("[20,30)..(40;50]", bins) == bins.states


@pytest.mark.parametrize(
    ("text", "options", "finding"),
    [
        ("{}", {}, "{} is an empty set; expected a state in it, or ? where nothing is known"),
        ("[ ]", {}, "[ ] is an empty set"),
        ("[mild,]", {}, "[mild,] has an empty place; expected a state there"),
        ("mild||high", {}, "an empty place beside '|'; expected a state there"),
        ("mild;", {}, "an empty place beside ';'"),
        ("[mild, high", {}, "'[mild, high' has a bracket without its partner; expected a list such as [a, b]"),
        ("mild, high}", {"reading": "sets"}, "'mild, high}' has a bracket without its partner"),
        ("high..none", {}, "the range 'high..none' runs backwards; expected none..high"),
        ("high,none", {"reading": "range"}, "the range 'high,none' runs backwards; expected none..high"),
        ("24,17", {"reading": "range"}, "the range '24,17' runs backwards; expected 17 before 24"),
        ("1,2,3", {"reading": "range"}, "'1,2,3' is no range; expected a state, or its first and its last one"),
        ("[mild, hihg]", {}, "'hihg' is not a state (none, mild, high); did you mean 'high'?"),
        ("mild,hihg", {}, "'mild,hihg' is not a state"),
    ],
)  # fmt: skip
def test_a_cell_that_contradicts_itself_says_so(text: str, options: dict[str, Any], finding: str) -> None:
    cell, problem = CellSyntax(**options).parse(text).resolve_states(FEVER)
    assert cell == ()
    assert (problem if isinstance(problem, str) else problem()).startswith(finding)


def test_options_are_refused_with_a_sentence() -> None:
    refusals: list[tuple[dict[str, Any], str]] = [
        ({"separator": ""}, "separator ''; expected a text"),
        ({"separator": 3}, "separator 3; expected a text"),
        ({"separator": "{"}, "separator '{'; expected one without"),
        ({"escape": ";"}, "escape ';'; expected one character of its own"),
        ({"cells": "set"}, "cells 'set'; expected auto, plain, sets, range, degrees; did you mean 'sets'?"),
        ({"cells": {"x": "ranges"}}, "column 'x': cells 'ranges'; expected .*did you mean 'range'"),
        ({"unknown_words": "NA"}, "unknown_words 'NA'; expected several texts"),
        ({"unknown_words": (1,)}, "unknown_words: 1 among them; expected texts"),
    ]  # fmt: skip
    for options, message in refusals:
        table: dict[str, Any] = {"x": ["a"]}
        if "escape" not in options:
            refused(message, pn.Dataset.from_table, table, **options)
        refused(message, pn.read_data, "t.csv", **options)
    refused("table: cells for 'y', which is no column", pn.Dataset.from_table, {"x": ["a"]}, cells={"y": "plain"})


def test_a_file_with_quotes_holds_json_lists(tmp_path: Path) -> None:
    with (tmp_path / "a.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([["x"], ['["a, b", "c"]'], ["c"], ["[c, d]"]])
    data = pn.read_data(tmp_path / "a.csv")
    assert [row[0] for row in rows_of(data)] == [{"a, b", "c"}, {"c"}, {"c", "d"}]

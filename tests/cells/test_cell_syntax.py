"""The text of a set-valued cell: its grammar, round trips, and a sentence for every mistake."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, strategies as st

import possnet as pn
from possnet.cells import CellSyntax
from tests.dataset.test_dataset import FEVER, RASH
from tests.strategies import cells, variables


def told(finding: Any) -> str:
    return finding if isinstance(finding, str) else str(finding())


@given(variables(), st.data(), st.sampled_from("|;/+"), st.sampled_from("\\~"))
def test_a_cell_survives_its_text(variable: pn.Variable, data: st.DataObject, separator: str, escape: str) -> None:
    cell = data.draw(cells(variable))
    syntax = CellSyntax(separator, escape)
    states = (
        None if cell is None else tuple(s for s in variable.states if s in ({cell} if isinstance(cell, str) else cell))
    )
    assert syntax.parse(syntax.write(states)).resolve_states(variable) == (states, "")


@pytest.mark.parametrize(
    ("text", "states"),
    [
        ("mild|high", {"mild", "high"}),
        (" mild | high ", {"mild", "high"}),
        ("!none", {"mild", "high"}),
        ("! none|mild", {"high"}),
        ("none..mild", {"none", "mild"}),
        ("none .. high", {"none", "mild", "high"}),
        ("mild..mild|none", {"none", "mild"}),
        ("!none..mild", {"high"}),
        ("", None),
        ("  ", None),
        ("?", None),
        (" * ", None),
    ],
)
def test_the_grammar_of_a_cell(text: str, states: set[str] | None) -> None:
    cell, finding = CellSyntax().parse(text).resolve_states(FEVER)
    assert finding == ""
    assert (None if cell is None else set(cell)) == states


@pytest.mark.parametrize(
    ("text", "finding"),
    [
        ("hihg", "'hihg' is not a state (none, mild, high); did you mean 'high'?"),
        ("mild|", "an empty place beside '|'; expected a state there"),
        ("|", "an empty place beside '|'"),
        ("!", "an empty place beside '|'"),
        ("!none|mild|high", "leaves no state of none, mild, high; expected at least one"),
        ("high..none", "the range 'high..none' runs backwards; expected none..high"),
        ("none..hihg", "'hihg' is not a state (none, mild, high); did you mean 'high'?"),
        ("..high", "'..high' is not a state"),
        ("\\?", "'?' is not a state"),
        ("mild\\", "'mild\\\\' is not a state"),
    ],
)
def test_a_bad_cell_says_what_is_wrong(text: str, finding: str) -> None:
    assert told(CellSyntax().parse(text).resolve_states(FEVER)[1]).startswith(finding)


def test_a_range_needs_an_order_and_a_state_may_look_like_one() -> None:
    assert "have no order; list them, or order them" in told(CellSyntax().parse("yes..no").resolve_states(RASH)[1])
    bins = pn.Variable("bins", ("0..5", "5..9"))
    assert CellSyntax().parse("0..5|5..9").resolve_states(bins) == (("0..5", "5..9"), "")

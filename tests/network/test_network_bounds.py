"""Networks that carry bounds: checked when they are given, kept by everything that keeps the tables."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import possnet as pn

FEVER, RASH = pn.Variable("fever", ("none", "high")), pn.Variable("rash", ("yes", "no"))
DAG = pn.Dag({"fever": (), "rash": ("fever",)})
TABLES: dict[str, Any] = {"fever": [1, 0.4], "rash": [[0.1, 1], [1, 0.5]]}
LOWER: dict[str, Any] = {"fever": [1, 0.2], "rash": [[0.1, 1], [0, 0]]}
UPPER: dict[str, Any] = {"fever": [1, 0.5], "rash": [[0.1, 1], [1, 1]]}
NET = pn.Network(
    (FEVER, RASH), DAG, TABLES, name="clinic", description="two nodes", support={"fever": 9, "rash": [5, 4]}
)


def test_a_network_has_no_bounds_unless_it_is_given_some() -> None:
    assert NET.bounds is None
    bounded = NET.with_bounds(LOWER, UPPER)
    assert NET.bounds is None
    assert bounded.bounds is not None
    lower, upper = bounded.bounds
    assert lower["rash"].tolist() == [[0.1, 1.0], [0.0, 0.0]]
    assert upper["fever"].tolist() == [1.0, 0.5]
    assert not lower["rash"].flags.writeable
    assert not upper["rash"].flags.writeable
    assert (bounded.name, bounded.description) == ("clinic", "two nodes")
    assert bounded.support is not None
    assert repr(bounded) == "Network('clinic', 2 variables, 1 edge, 6 degrees, product; with bounds)"


def test_equality_and_copies_know_of_bounds() -> None:
    bounded = NET.with_bounds(LOWER, UPPER)
    assert bounded != NET
    assert bounded == NET.with_bounds(LOWER, UPPER)
    assert bounded != NET.with_bounds(LOWER, UPPER | {"fever": [1, 1]})
    assert pickle.loads(pickle.dumps(bounded)) == bounded  # noqa: S301


def test_another_table_is_its_own_bound_and_the_others_keep_theirs() -> None:
    edited = NET.with_bounds(LOWER, UPPER).with_table("fever", [0.3, 1])
    assert edited.bounds is not None
    for end in edited.bounds:
        assert end["fever"].tolist() == [0.3, 1.0]
    assert edited.bounds.lower["rash"].tolist() == [[0.1, 1.0], [0.0, 0.0]]
    assert NET.with_table("fever", [1, 1]).bounds is None


def test_bounds_within_rounding_of_the_table_are_taken_for_it() -> None:
    low = {"fever": [1, 0.4 + 5e-10], "rash": TABLES["rash"]}
    high = {"fever": [1 - 5e-10, 0.4 - 5e-10], "rash": TABLES["rash"]}
    bounded = NET.with_bounds(low, high)
    assert bounded.bounds is not None
    for end in bounded.bounds:
        assert np.array_equal(end["fever"], NET.table("fever"))


@pytest.mark.parametrize(
    ("lower", "upper", "message"),
    [
        ({"fever": [1, 0]}, UPPER, "network 'clinic': no lower bound for rash; expected one for every variable"),
        (LOWER, UPPER | {"rsah": 1}, "upper bound for 'rsah', which is not a variable .*did you mean 'rash'"),
        (
            LOWER | {"fever": [1, 0.6]},
            UPPER,
            r"lower bound of 'fever' at position 1: 0.6, and the table has 0.4 there;",
        ),
        (
            LOWER,
            UPPER | {"rash": [[0.1, 1], [1, 0.4]]},
            r"upper bound of 'rash' at position \(1, 1\): 0.4, .* at least that",
        ),
        (LOWER, UPPER | {"fever": [1, 0.5, 1]}, r"upper bound of 'fever': degrees have shape \(3,\); expected \(2,\)"),
        (LOWER | {"fever": [1, -0.1]}, UPPER, "lower bound of 'fever': degree -0.1 at position 1"),
        (LOWER, UPPER | {"fever": [1, "x"]}, "upper bound of 'fever': degrees are not a rectangular array of numbers"),
    ],
)
def test_bounds_that_are_none_are_refused_with_their_owner(lower: Any, upper: Any, message: str) -> None:
    with pytest.raises(pn.InputError, match=message):
        NET.with_bounds(lower, upper)


def test_a_subnormal_network_has_no_bounds() -> None:
    raw = pn.Network.subnormal((FEVER,), pn.Dag({"fever": ()}), {"fever": [0.5, 0.2]})
    with pytest.raises(
        pn.InputError, match="table of 'fever' has rows that do not peak at 1; expected a normalised network"
    ):
        raw.with_bounds({"fever": [0, 0]}, {"fever": [1, 1]})

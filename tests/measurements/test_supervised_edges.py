"""Edges by minimum description length, against their definition."""

from __future__ import annotations

from itertools import pairwise
from math import log2

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import possnet as pn
from possnet.measurements import find_mdl_edges, share_states

Rows = list[tuple[float, frozenset[str]]]


def weigh(rows: Rows) -> dict[str, float]:
    """The weight of every state: a row is shared by the states of its set."""
    weights: dict[str, float] = {}
    for _, states in rows:
        for state in states:
            weights[state] = weights.get(state, 0.0) + 1 / len(states)
    return weights


def entropy(rows: Rows) -> float:
    weights = weigh(rows)
    return -sum(w / len(rows) * log2(w / len(rows)) for w in weights.values())


def edges_by_definition(rows: Rows) -> list[float]:
    """Fayyad and Irani, word for word: the best cut of all, if it pays, and those of both parts."""
    numbers = sorted({number for number, _ in rows})
    best: tuple[float, float, Rows, Rows] | None = None
    for low, high in pairwise(numbers):
        cut = low + (high - low) / 2
        left, right = [row for row in rows if row[0] <= low], [row for row in rows if row[0] >= high]
        mean = (len(left) * entropy(left) + len(right) * entropy(right)) / len(rows)
        if best is None or mean < best[0] - 1e-9:
            best = (mean, cut, left, right)
    if best is None:
        return []
    mean, cut, left, right = best
    k, k1, k2 = (len(weigh(part)) for part in (rows, left, right))
    delta = log2(3**k - 2) - (k * entropy(rows) - k1 * entropy(left) - k2 * entropy(right))
    if entropy(rows) - mean <= (log2(len(rows) - 1) + delta) / len(rows):
        return []
    return [*edges_by_definition(left), cut, *edges_by_definition(right)]


labels = st.sampled_from(["a", "b", "ab", "abc", "c"]).map(frozenset)


@st.composite
def clustered_rows(draw: st.DrawFn) -> Rows:
    """Runs of numbers with a label that most of them share, so that some cuts pay."""
    rows: Rows = []
    for start in range(draw(st.integers(1, 4))):
        usual, size = draw(labels), draw(st.integers(1, 12))
        odd = draw(st.lists(labels, max_size=3))
        rows += [(10.0 * start + draw(st.integers(0, 9)), label) for label in [*[usual] * size, *odd]]
    return rows


def edges_of(rows: Rows) -> tuple[float, ...]:
    numbers = np.array([number for number, _ in rows])
    cells = [tuple(sorted(states)) for _, states in rows]
    return find_mdl_edges(numbers, share_states(np.arange(len(rows)), cells))


@settings(deadline=None)
@given(clustered_rows())
def test_edges_are_those_of_the_definition(rows: Rows) -> None:
    assert list(edges_of(rows)) == edges_by_definition(rows)


@given(clustered_rows(), st.integers(0, 5))
def test_rows_in_any_order_and_rows_that_say_nothing_change_no_edge(rows: Rows, seed: int) -> None:
    order = np.random.default_rng(seed).permutation(len(rows))
    numbers = [*(rows[k][0] for k in order), np.nan, 3.0]
    cells = [*(tuple(sorted(rows[k][1])) for k in order), ("a",), None]
    assert find_mdl_edges(np.array(numbers), share_states(np.arange(len(cells)), cells)) == edges_of(rows)


def test_very_many_numbers_are_grouped_and_cut_in_about_the_same_place(monkeypatch: pytest.MonkeyPatch) -> None:
    numbers = np.random.default_rng(1).normal(size=100_000)
    shares = np.stack([numbers < 0.3, numbers >= 0.3], axis=1).astype(float)
    (edge,) = find_mdl_edges(numbers, shares)
    assert numbers[numbers < 0.3].max() < edge < numbers[numbers >= 0.3].min()
    monkeypatch.setattr("possnet.measurements.supervised_edges._MOST_SHARES", 4000)
    edges = find_mdl_edges(numbers, shares)  # around the group that 0.3 lies in
    assert 1 <= len(edges) <= 2
    assert edges == pytest.approx([0.3] * len(edges), abs=0.01)


def test_no_rows_and_equal_rows_have_no_edges() -> None:
    assert find_mdl_edges(np.zeros(0), np.zeros((0, 2))) == ()
    assert find_mdl_edges(np.ones(9), np.eye(3)[[0, 1, 2] * 3]) == ()


def test_a_column_is_binned_by_its_target() -> None:
    values = [*range(20), *range(100, 120)]
    column = pn.bin_measurements(values, edges="mdl", target=[{"a", "b"}, *"a" * 19, None, *"b" * 19])
    assert column.variable.states == ("<60", ">=60")
    with pytest.warns(
        pn.PossnetWarning, match=r"no edge tells the states of 'target' apart, by mdl; \d bins by quantile"
    ):
        rest = pn.bin_measurements(values, edges="mdl", target=["a", "b"] * 20)
    assert rest.edges == pn.bin_measurements(values).edges


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"edges": "mdl"}, "edges by mdl tell the states of a target apart; expected target="),
        ({"edges": "mdl", "target": ["a"]}, "target: 1 labels for 2 values; expected one for each"),
        (
            {"edges": "mdl", "target": ["a", "b"], "bins": 3},
            "edges by mdl find themselves how many pay; expected no bins",
        ),
        ({"edges": "width", "target": ["a", "b"]}, "target 'target' is for edges by mdl; expected these, or no target"),
    ],
)
def test_options_of_mdl_that_make_no_sense_are_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(pn.InputError, match=message):
        pn.bin_measurements([1, 2], **options)  # type: ignore[arg-type]

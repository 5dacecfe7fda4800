"""Odd rows and impossible wishes: every method by every measure ends, with a structure or with one sentence."""

from __future__ import annotations

import numpy as np
import pytest

import possnet as pn
from possnet.dependence.cell_pairs import CellPairs
from possnet.structure import MEASURES, METHODS

GRID = [(method, name) for name, entry in MEASURES.items() for method in entry.methods if method in METHODS]
TREES = ("hidden-tree", "mwst", "hybrid-tree", "hybrid-dag")
STATES = ("0", "1", "2")


def noisy(column: list[str], seed: int) -> list[str]:
    rng = np.random.default_rng(seed)
    return [str((int(state) + int(rng.random() < 0.2)) % 3) for state in column]


def odd_rows() -> dict[str, pn.Dataset]:
    rng = np.random.default_rng(0)
    column = [str(k) for k in rng.integers(3, size=60)]
    other = noisy(column, 1)
    sets = [{str(k) for k in rng.integers(6, size=3)} for _ in column]
    a, b, unknown = (pn.Variable(name, STATES) for name in ("a", "b", "unknown"))
    return {
        "a constant column": pn.Dataset.from_table({"a": column, "b": other, "constant": ["one"] * 60}),
        "a constant set": pn.Dataset.from_table({"a": column, "b": other, "constant": [{"one", "two"}] * 60}),
        "copies": pn.Dataset.from_table({"a": column, "b": column, "c": [f"state {k}" for k in column], "d": other}),
        "copies of sets": pn.Dataset.from_table({"a": sets, "b": sets, "d": other}),
        "one row": pn.Dataset.from_table({"a": ["x"], "b": [{"u", "v"}], "c": ["z"]}),
        "one variable": pn.Dataset.from_table({"a": column}),
        "no rows": pn.Dataset.from_rows((a, b), []),
        "no weight": pn.Dataset.from_table({"a": column, "b": other}).with_weights([0] * 60),
        "an unknown column": pn.Dataset.from_rows((a, b, unknown), zip(column, other, [None] * 60, strict=True)),
        "nothing known": pn.Dataset.from_rows((a, b), [(None, None)] * 20),
        "many cells": pn.Dataset.from_table(
            {"a": [{str(k) for k in rng.choice(30, 4)} for _ in range(200)], "b": (column * 4)[:200]}
        ),
    }


ROWS = odd_rows()


@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize(("method", "measure"), GRID)
def test_odd_rows_give_a_structure_or_one_sentence(method: str, measure: str, rows: str) -> None:
    data = ROWS[rows]
    try:
        learned = pn.learn_structure(data, method, measure=measure)
    except pn.InputError as error:
        if measure == "cut-bic":
            assert "so these are not alpha-cut rows" in str(error)
            return
        assert not MEASURES[measure].takes_imprecise_rows  # the only reason to refuse them
        assert "expected precise rows" in str(error)
        return
    assert np.isfinite(learned.score)
    assert len(learned.dag.nodes) == len(data.variables)
    if data.total <= 1 or rows == "nothing known":
        assert learned.edges == () or not MEASURES[measure].penalised
    assert str(learned)


@pytest.mark.parametrize(
    ("method", "measure"), [pair for pair in GRID if not pair[0].startswith("hybrid") and pair[1] != "cut-bic"]
)
def test_copies_of_a_column_are_connected_and_a_constant_is_not(method: str, measure: str) -> None:
    learned = pn.learn_structure(ROWS["copies"], method, measure=measure)
    near = {name: {*learned.dag.parents(name), *learned.dag.children(name)} for name in learned.dag.nodes}
    assert near["a"] & {"b", "c"}
    assert near["b"] & {"a", "c"}
    if MEASURES[measure].penalised:
        learned = pn.learn_structure(ROWS["a constant column"], method, measure=measure)
        assert not any("constant" in edge for edge in learned.dag.edges)


@pytest.mark.parametrize(("method", "measure"), GRID)
def test_no_time_at_all_gives_the_best_so_far_or_one_sentence(method: str, measure: str) -> None:
    process = "traced" if MEASURES[measure].takes_imprecise_rows else "precise"
    process = "alpha-cut" if measure == "cut-bic" else process
    data = pn.sample(pn.load_example("clinic"), 200, process=process, rng=1)
    required = pn.Constraints(required=[("measles", "fever")])
    try:
        learned = pn.learn_structure(
            data, method, measure=measure, constraints=required, search=pn.Search(max_seconds=0.0)
        )
    except pn.TooLarge as error:
        assert method in TREES  # others have a structure from the first
        assert "takes more than max_seconds 0 and has no structure before its end" in str(error)
        return
    assert ("measles", "fever") in learned.dag.edges
    if method in {"greedy", "boss"}:
        assert learned.stopped == "max_seconds"


@pytest.mark.parametrize(("method", "measure"), GRID)
def test_a_search_of_many_columns_stops_in_time(method: str, measure: str) -> None:
    rng = np.random.default_rng(0)
    cells = ["a", {"a"} if measure == "cut-bic" else "b", {"a", "b"} if MEASURES[measure].takes_imprecise_rows else "a"]
    data = pn.Dataset.from_table({f"v{k}": [cells[cell] for cell in rng.integers(3, size=20)] for k in range(60)})
    try:
        learned = pn.learn_structure(data, method, measure=measure, search=pn.Search(max_seconds=0.1))
    except pn.TooLarge as error:
        assert "max_seconds 0.1" in str(error)
    else:
        assert len(learned.dag.nodes) == 60


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("constraints", "message"),
    [
        ({"required": [("a", "b")], "forbidden": [("a", "b")]}, "'a' -> 'b' is required, and forbidden"),
        (
            {"required": [("a", "b")], "tiers": [["b"], ["a"]]},
            "'a' -> 'b' is required, and forbidden or against the tiers",
        ),
        ({"required": [("a", "b"), ("b", "a")]}, "required edges: .*cycle"),
        ({"required": [("a", "b")], "max_parents": 0}, "'b' has more required parents than max_parents 0"),
        ({"tiers": [["a"], ["a", "b"]]}, "'a' stands in two tiers"),
        ({"required": [("a", "z")]}, "names 'z', which the data lacks"),
    ],
)
def test_constraints_that_contradict_each_other_are_refused(
    method: str, constraints: dict[str, object], message: str
) -> None:
    data = pn.Dataset.from_table({"a": ["x", "y"] * 5, "b": ["u", "v"] * 5})
    with pytest.raises(pn.InputError, match=message) as caught:
        pn.learn_structure(data, method, constraints=pn.Constraints(**constraints))  # type: ignore[arg-type]
    assert "\n" not in str(caught.value)


def test_constraints_that_leave_nothing_leave_no_edges() -> None:
    data = pn.Dataset.from_table({"a": ["x", "y"] * 50, "b": ["u", "v"] * 50})
    nothing = pn.Constraints(forbidden=[("a", "b"), ("b", "a")])
    for method in METHODS:
        assert pn.learn_structure(data, method, constraints=nothing).edges == ()


def test_counting_all_pairs_of_too_many_columns_is_refused_with_its_size() -> None:
    variables = [pn.Variable(f"v{k}", STATES) for k in range(60_000)]
    with pytest.raises(pn.TooLarge, match="counting the cells of all pairs of 60000 variables"):
        CellPairs(tuple(variables))

"""Spanning trees against the heaviest of all, their ties and the worth of their edges."""

from __future__ import annotations

from itertools import combinations, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

import possnet as pn
from possnet.dependence import CONTOUR_MEASURES, count_pairs, measure_dependence
from possnet.structure.chow_liu import spanning_tree
from possnet.structure.search_result import SearchResult
from tests import oracles
from tests.structure.cases import free, random_tree, skeleton

PAIRS = list(combinations(range(5), 2))


def tree_of(drawn: list[float]) -> tuple[SearchResult, dict[frozenset[str], float]]:
    """The tree of five variables, and the weights of their pairs."""
    weights = np.zeros((5, 5))
    for (a, b), weight in zip(PAIRS, drawn, strict=True):
        weights[a, b] = weights[b, a] = weight
    listed = {frozenset(("abcde"[a], "abcde"[b])): float(weights[a, b]) for a, b in PAIRS}
    return spanning_tree(weights, free(5, 4), -1.0, list("abcde")), listed


@given(st.lists(st.integers(0, 5), min_size=10, max_size=10))
def test_the_tree_is_the_heaviest_of_all(drawn: list[float]) -> None:
    tree, listed = tree_of(drawn)
    assert tree.score == oracles.heaviest_tree(listed, "abcde")
    assert tree.edges.sum() == 4
    assert tree.edges.sum(axis=0).max() == 1
    for (action, a, b), gain in tree.gains.items():
        if action == "add":  # a pair outside, exchanged for the weakest edge that it would make needless
            assert gain <= 0.0
            assert not tree.edges[a, b]


def test_edges_of_trees_are_worth_what_their_direction_is() -> None:
    data = pn.sample(pn.load_example("asia"), 2000, imprecision=0.5, rng=2)
    pairs = count_pairs(data)
    tree = pn.learn_structure(
        data,
        "mwst",
        measure="specificity-ratio",
        constraints=pn.Constraints(required=[("lung", "tub"), ("tub", "asia")]),
    )
    for edge in tree.edges:
        assert edge.value == pytest.approx(
            measure_dependence("specificity-ratio", pairs.contour(edge.parent, edge.child))
        )
    assert tree.score == pytest.approx(sum(edge.value for edge in tree.edges))


def test_an_edge_that_its_price_rules_out_is_worth_its_loss_if_it_is_required() -> None:
    rng = np.random.default_rng(1)
    data = pn.Dataset.from_table({n: [str(x) for x in rng.integers(30, size=40)] for n in "abc"})
    tree = pn.learn_structure(data, "mwst", measure="bic", constraints=pn.Constraints(required=[("a", "b")]))
    (edge,) = tree.edges
    empty = pn.learn_structure(data, "mwst", measure="bic", constraints=pn.Constraints(max_parents=0))
    assert edge.value == pytest.approx(tree.score - empty.score)
    assert edge.value < 0.0
    every = pn.learn_structure(data, "mwst", measure="bic", search=pn.Search(threshold=-1e9))
    assert len(every.edges) == 2
    assert np.isfinite(every.score)


def test_ties_of_a_tree_are_possible_pairs_whose_swap_keeps_it_a_tree() -> None:
    column = ["x", "y"] * 50
    data = pn.Dataset.from_table({"a": column, "b": column, "c": column, "d": ["u", "u", "v", "v"] * 25})
    free = pn.learn_structure(data, "mwst", measure="chi2")
    assert [set(step.ties) for step in free.trace] == [{("add", "b", "c")}, {("add", "b", "c")}]
    bound = pn.learn_structure(
        data, "mwst", measure="chi2", constraints=pn.Constraints(forbidden=[("a", "b"), ("b", "a")])
    )
    assert bound.ties == ()
    assert not {("a", "b"), ("b", "a")} & {miss[1:3] for miss in bound.near_misses}
    required = pn.learn_structure(data, "mwst", measure="chi2", constraints=pn.Constraints(required=[("a", "d")]))
    swaps = {
        miss[1:3]: miss.gain for miss in required.near_misses
    }  # b -> d for a - b: nothing takes the place of a -> d
    assert swaps == pytest.approx({("b", "c"): 0.0, ("b", "d"): -2.0, ("c", "d"): -2.0})
    one_way = pn.learn_structure(data, "mwst", measure="chi2", constraints=pn.Constraints(forbidden=[("b", "c")]))
    assert ("c", "b") in {miss[1:3] for miss in one_way.near_misses}
    assert ("b", "c") not in {miss[1:3] for miss in one_way.near_misses}


@given(st.lists(st.integers(0, 2), min_size=10, max_size=10))
def test_a_tie_of_a_tree_can_take_the_place_of_its_edge(drawn: list[int]) -> None:
    tree, listed = tree_of([weight / 3 for weight in drawn])
    edges = {frozenset((m.parent, m.child)) for m in tree.moves}
    for move in tree.moves:
        expected = set()
        for pair in set(map(frozenset, PAIRS)) - edges:
            swapped = edges - {frozenset((move.parent, move.child))} | {pair}
            total = sum(listed[frozenset("abcde"[k] for k in edge)] for edge in swapped)
            if _is_tree(swapped) and total == pytest.approx(tree.score):
                expected.add(pair)
        assert {frozenset(tie[1:]) for tie in move.ties} == expected


def _is_tree(edges: set[frozenset[int]]) -> bool:
    reached = {0}
    for _ in range(5):
        reached |= {k for edge in edges if edge & reached for k in edge}
    return reached == set(range(5))


@pytest.mark.parametrize("process", ["precise", "alpha-cut", "traced"])
def test_trees_by_contours_are_the_heaviest_under_the_exact_law(process: Any) -> None:
    """Each measure's tree, learned from many rows, is worth as much on the exact contours as the best of all trees."""
    net = random_tree(4, 2, 3)
    names = [v.name for v in net.variables]
    law = oracles.law_of_rows(net, dict.fromkeys(names, 1.0), process)
    contours = {}
    for first, second in combinations(names, 2):
        table = np.zeros((2, 2))
        for row, chance in law.items():
            cells = dict(row)
            for i, x in enumerate(net.variable(first).states):
                for j, y in enumerate(net.variable(second).states):
                    table[i, j] += chance * (x in cells[first] and y in cells[second])
        contours[first, second] = table
    data = pn.sample(net, 100_000, process=process, rng=1)
    for name, conjunction in product(CONTOUR_MEASURES, (pn.PRODUCT, pn.MIN)):
        weights = {}
        for pair, table in contours.items():
            values = [measure_dependence(name, way, conjunction) for way in (table, table.T)]
            weights[frozenset(pair)] = max(values)
        best = oracles.heaviest_tree(weights, names)
        tree = pn.learn_structure(data, "mwst", measure=name, conjunction=conjunction, search=pn.Search(threshold=-1.0))
        assert sum(weights[edge] for edge in skeleton(tree.dag)) == pytest.approx(best, abs=0.02)
        assert tree.score == pytest.approx(best, abs=0.05)


@pytest.mark.parametrize(("method", "name"), [("mwst", "mutual-information"), ("mwst", "random-set-bic"), ("hybrid-tree", None)])  # fmt: skip
def test_trees_keep_constraints_or_say_that_they_cannot(method: Any, name: Any) -> None:
    data = pn.sample(pn.load_example("asia"), 5000, process="precise", rng=1)
    tree = pn.learn_structure(data, method, measure=name, constraints=pn.Constraints(required=[("xray", "asia")], forbidden=[("bronc", "dysp"), ("dysp", "bronc")]))  # fmt: skip
    assert ("xray", "asia") in tree.dag.edges
    assert not {("bronc", "dysp"), ("dysp", "bronc")} & set(tree.dag.edges)
    with pytest.raises(pn.InputError, match="no root of the tree"):
        pn.learn_structure(
            data, method, measure=name, constraints=pn.Constraints(required=[("xray", "asia"), ("either", "asia")])
        )
    with pytest.raises(pn.InputError, match="close a cycle"):
        pn.learn_structure(
            data,
            method,
            measure=name,
            constraints=pn.Constraints(required=[("xray", "asia"), ("asia", "tub"), ("xray", "tub")]),
        )
    assert pn.learn_structure(data, method, measure=name, constraints=pn.Constraints(max_parents=0)).dag.edges == ()

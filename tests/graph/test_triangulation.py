"""Elimination orders against their definition."""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import permutations
from math import prod

import pytest
from hypothesis import given, strategies as st

from possnet.graph.triangulation import EliminationRule, eliminate, iterate_bits, triangulate
from tests.strategies import dags


def graph_of(dag_edges: tuple[tuple[str, str], ...], nodes: tuple[str, ...]) -> list[int]:
    place = {node: k for k, node in enumerate(nodes)}
    near = [0] * len(nodes)
    for a, b in dag_edges:
        near[place[a]] |= 1 << place[b]
        near[place[b]] |= 1 << place[a]
    return near


def cells_of_order(near: list[int], sizes: list[int], order: tuple[int, ...]) -> tuple[list[int], int]:
    """Cliques and cells of an order, with plain sets."""
    around = {k: set(iterate_bits(mask)) for k, mask in enumerate(near)}
    cliques, cells = [], 0
    for node in order:
        mine = around.pop(node)
        for other in mine:
            around[other] |= mine - {other}
            around[other].discard(node)
        cliques.append(sum(1 << k for k in mine | {node}))
        cells += prod(sizes[k] for k in mine | {node})
    return cliques, cells


@pytest.mark.parametrize("rule", ["fill", "weight", "weighted-fill"])
@given(dag=dags(max_nodes=7), data=st.data())
def test_cliques_and_cells_are_those_of_the_order(rule: EliminationRule, dag: object, data: st.DataObject) -> None:
    near = graph_of(dag.moral_graph().edges, dag.nodes)  # type: ignore[attr-defined]
    sizes = data.draw(st.lists(st.integers(1, 5), min_size=len(near), max_size=len(near)))
    found = eliminate(near, sizes, rule)
    assert sorted(found.order) == list(range(len(near)))
    assert (list(found.cliques), found.entries) == cells_of_order(near, sizes, found.order)
    first = found.order[0]
    prices: dict[str, Callable[[int], int]] = {
        "fill": lambda k: sum(
            1 for a in iterate_bits(near[k]) for b in iterate_bits(near[k]) if a < b and not near[a] >> b & 1
        ),
        "weight": lambda k: prod(sizes[j] for j in [k, *iterate_bits(near[k])]),
        "weighted-fill": lambda k: sum(
            sizes[a] * sizes[b]
            for a in iterate_bits(near[k])
            for b in iterate_bits(near[k])
            if a < b and not near[a] >> b & 1
        ),
    }
    price = prices[rule]
    assert prices["fill"](first) == 0 or price(first) == min(price(k) for k in range(len(near)))


@given(dags(max_nodes=5), st.integers(0, 3))
def test_the_cheapest_rule_wins_and_is_never_better_than_the_best_order(dag: object, seed: int) -> None:
    near = graph_of(dag.moral_graph().edges, dag.nodes)  # type: ignore[attr-defined]
    sizes = [2 + k % 3 for k in range(len(near))]
    found = triangulate(near, sizes)
    assert found.entries == min(eliminate(near, sizes, rule).entries for rule in ("fill", "weight", "weighted-fill"))
    best = min(cells_of_order(near, sizes, order)[1] for order in permutations(range(len(near))))
    for each in (found, eliminate(near, sizes, "fill", rng=random.Random(seed))):  # noqa: S311
        assert best <= each.entries
        assert cells_of_order(near, sizes, each.order)[1] == each.entries


def test_a_tree_needs_no_new_edge() -> None:
    star = [0b11110, 1, 1, 1, 1]
    assert {clique.bit_count() for clique in eliminate(star, [3] * 5, "fill").cliques} == {1, 2}

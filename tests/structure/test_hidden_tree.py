"""Hidden trees: found with their directions, within constraints, from streams."""

from __future__ import annotations

import numpy as np
import pytest

import possnet as pn
from tests.structure.cases import SmallBatches, random_tree, sharp_tree, with_missing


@pytest.mark.parametrize("imprecision", [0.5, 1.0])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_trees_of_15_are_found_with_their_directions(seed: int, imprecision: float) -> None:
    net = sharp_tree(15)
    data = pn.sample(net, 10_000, process="traced", imprecision=imprecision, rng=seed)
    learned = pn.learn_structure(data, "hidden-tree")
    assert set(learned.dag.edges) == set(net.dag.edges)
    assert learned.measure == "hidden-mutual-information"
    assert learned.score == pytest.approx(sum(edge.value for edge in learned.edges))
    assert learned.families == pytest.approx(
        {n: sum(edge.value for edge in learned.edges if edge.child == n) for n in learned.dag.nodes}
    )


def test_the_order_of_columns_a_stream_and_weights_change_nothing() -> None:
    net = sharp_tree(7)
    data = pn.sample(net, 6000, process="traced", rng=4)
    edges = set(pn.learn_structure(data, "hidden-tree").dag.edges)
    names = [v.name for v in data.variables]
    assert set(pn.learn_structure(data.select(names[::-1]), "hidden-tree").dag.edges) == edges
    streamed = pn.learn_structure(SmallBatches(data, 501), "hidden-tree")
    assert set(streamed.dag.edges) == edges
    assert streamed.rows == 6000
    assert set(pn.learn_structure(data.distinct(), "hidden-tree").dag.edges) == edges


def test_independent_columns_give_a_forest_without_edges() -> None:
    net = pn.Network(
        [pn.Variable(n, ("1", "2", "3")) for n in "abc"],
        pn.Dag(dict.fromkeys("abc", ())),
        {name: [1, 0.8, 0.5] for name in "abc"},
    )
    assert not pn.learn_structure(pn.sample(net, 3000, process="traced", rng=1), "hidden-tree").edges


def test_constraints_are_kept_and_a_required_edge_is_there_whatever_it_weighs() -> None:
    data = pn.sample(sharp_tree(7), 6000, process="traced", rng=4)
    known = pn.Constraints(required=[("v6", "v3")], forbidden=[("v1", "v4")], tiers=[["v0"], ["v1", "v2"]])
    learned = pn.learn_structure(data, "hidden-tree", constraints=known)
    assert ("v6", "v3") in learned.dag.edges
    assert ("v1", "v4") not in learned.dag.edges
    assert all(len(learned.dag.parents(n)) <= 1 for n in learned.dag.nodes)
    with pytest.raises(pn.InputError, match="'v3' has several required parents; expected one at most in a tree"):
        pn.learn_structure(data, "hidden-tree", constraints=pn.Constraints(required=[("v6", "v3"), ("v5", "v3")]))
    assert not pn.learn_structure(data, "hidden-tree", constraints=pn.Constraints(max_parents=0)).edges


def test_trees_are_found_where_cells_are_missing() -> None:
    net = sharp_tree(7)
    data = with_missing(pn.sample(net, 10_000, process="traced", rng=3), 0.2)
    assert set(pn.learn_structure(data, "hidden-tree").dag.edges) == set(net.dag.edges)


def test_on_precise_rows_it_is_the_tree_of_chow_and_liu() -> None:
    data = pn.sample(random_tree(7, 3, 5), 5000, process="precise", rng=1)
    hidden = pn.learn_structure(data, "hidden-tree")
    chow_liu = pn.learn_structure(data, "mwst", measure="bic")
    assert {frozenset(e) for e in hidden.dag.edges} == {frozenset(e) for e in chow_liu.dag.edges}
    assert np.isfinite(hidden.score)

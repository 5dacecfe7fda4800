"""Hill climbing against all structures, and its moves."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import possnet as pn
from possnet.structure.search_graph import SearchGraph
from tests import oracles, strategies
from tests.structure.cases import family_score, free, oracle, score_of, without


@settings(max_examples=30)
@given(strategies.seeds, st.sampled_from(["random-set-bic", "mdl"]), st.integers(0, 3))
def test_the_kept_score_never_falls_and_is_that_of_the_structure(seed: int, name: Any, restarts: int) -> None:
    net = pn.random_network(5, max_parents=2, states=(2, 3), rng=seed)
    data = pn.sample(net, 80, imprecision=0.5, rng=seed).distinct()
    one = pn.learn_structure(data, "greedy", measure=name, search=pn.Search(tabu=0))
    more = pn.learn_structure(data, "greedy", measure=name, search=pn.Search(tabu=8, restarts=restarts), rng=seed)
    assert more.score >= one.score - 1e-6
    assert all(step.gain > 0 for step in one.trace)
    for learned in (one, more):
        assert learned.score == pytest.approx(oracle(name)(learned.dag, data), rel=1e-9)
        assert sum((learned.families or {}).values()) == pytest.approx(learned.score, rel=1e-9)
        totals = [step.total for step in learned.trace]
        assert learned.score >= max(totals, default=learned.score) - 1e-6
        for before, step in pairwise(learned.trace):
            assert step.total == pytest.approx(before.total + step.gain, rel=1e-9)
        for edge in learned.edges:
            lower = oracle(name)(without(learned.dag, edge), data)
            assert edge.value == pytest.approx(learned.score - lower, rel=1e-9, abs=1e-6)
            assert edge.value > -1e-6


@settings(max_examples=30)
@given(strategies.seeds)
def test_greedy_finds_the_best_of_all_structures_of_three(seed: int) -> None:
    net = pn.random_network(3, max_parents=2, states=(2, 3), rng=seed)
    data = pn.sample(net, 400, process="precise", rng=seed)
    names = [v.name for v in data.variables]
    learned = pn.learn_structure(data, "greedy", measure="bic", search=pn.Search(restarts=3), rng=1)
    score = family_score(data, "bic")
    assert learned.score == pytest.approx(max(score_of(score, dag) for dag in oracles.all_dags(names)), abs=1e-6)


def test_moves_of_a_graph_keep_it_acyclic() -> None:
    rng = np.random.default_rng(1)
    graph = SearchGraph(free(6, 3))
    for _ in range(300):
        moves = [(kind, *edge) for kind, may in enumerate((graph.may_add(), graph.may_delete(), graph.may_reverse())) for edge in np.argwhere(may).tolist()]  # fmt: skip
        kind, parent, child = moves[int(rng.integers(len(moves)))]
        if kind == 2:
            graph.reverse_edge(parent, child)
        else:
            graph.set_edge(parent, child, present=kind == 0)
        dag = pn.Dag.from_edges([(str(p), str(c)) for p, c in np.argwhere(graph.edges)], nodes=list("012345"))
        for node in dag.nodes:
            assert dag.descendants(node) == {str(k) for k in np.flatnonzero(graph.reach[int(node)])}
        assert graph.edges.sum(axis=0).max() <= 3


def test_max_steps_counts_the_moves_of_each_climb() -> None:
    data = pn.sample(pn.load_example("asia"), 3000, process="precise", rng=2)
    whole = pn.learn_structure(data, "greedy", measure="bic")
    short = pn.learn_structure(data, "greedy", measure="bic", search=pn.Search(max_steps=6))
    again = pn.learn_structure(data, "greedy", measure="bic", search=pn.Search(max_steps=6, restarts=20), rng=1)
    assert len(short.trace) == 6
    assert short.score < again.score == pytest.approx(whole.score)
    few = data[:500].select(["smoke", "lung", "bronc", "either", "dysp"])
    tree = pn.learn_structure(few, "hidden-tree")
    climbs = [
        pn.learn_structure(few, "greedy", measure="traced-bic", search=pn.Search(max_steps=n, restarts=m), rng=1)
        for n, m in ((0, 0), (1, 0), (1, 8))
    ]
    assert climbs[0].dag == tree.dag
    assert climbs[0].stopped == short.stopped == "max_steps"
    assert climbs[2].score >= climbs[1].score >= climbs[0].score
    assert (
        len(pn.learn_structure(data, "greedy", measure="random-set-bic", search=pn.Search(max_steps=2)).dag.edges) == 2
    )

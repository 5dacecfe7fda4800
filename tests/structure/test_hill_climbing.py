"""Hill climbing against all structures, and its moves."""

from __future__ import annotations

from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import possnet as pn
from possnet.structure import contingency
from possnet.structure.hill_climbing import _FamilyClimber, list_best_additions
from possnet.structure.search_graph import SearchGraph, parents_of
from tests import oracles, strategies
from tests.structure.cases import SmallBatches, family_score, free, oracle, score_of, without


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


@settings(max_examples=40)
@given(strategies.seeds, st.integers(1, 3), st.sampled_from(["bic", "random-set-bic", "bdeu"]))
def test_the_gain_of_a_move_is_what_the_score_gains(seed: int, most: int, name: Any) -> None:
    """Of all moves: additions, deletions and reversals that keep the graph acyclic and within the bounds, and no others."""
    rng = np.random.default_rng(seed)
    data = pn.sample(pn.random_network(5, max_parents=2, states=(2, 3), rng=seed), 200, process="precise", rng=seed)
    constraints = free(5, most)
    order = rng.permutation(5)
    for place, child in enumerate(order):
        constraints.required[order[:place], child] = rng.random(place) < 0.15
    constraints.required[:, constraints.required.sum(axis=0) > most] = False
    score = family_score(data, name)
    climber = _FamilyClimber(score, SearchGraph(constraints))
    for _ in range(8):
        gains = np.full((3, 5, 5), -np.inf)
        for listed, move in climber.list_moves():
            gains[move] = listed
        nodes = [str(k) for k in range(5)]
        for action, parent, child in product(range(3), range(5), range(5)):
            edges = climber.graph.edges.copy()
            present = bool(edges[parent, child])
            edges[parent, child] = action == 0
            edges[child, parent] |= action == 2
            possible = (
                parent != child
                and present == (action > 0)
                and not (present and constraints.required[parent, child])
                and edges.sum(axis=0).max() <= most
                and _is_acyclic(edges, nodes)
            )
            gain = gains[action, parent, child]
            if not possible:
                assert gain == -np.inf
                continue
            after = sum(score.score_family(k, parents_of(edges, k)) for k in range(5))
            if np.isfinite(gain):
                assert gain == pytest.approx(after - climber.total, rel=1e-9, abs=1e-6)
            else:  # ruled out by its price alone
                assert after <= climber.total + 1e-6
        for number in (1, 4, 20):
            possible_gains = np.sort(gains[0][np.isfinite(gains[0])])[::-1]
            lowest = possible_gains[number - 1] if len(possible_gains) >= number else -np.inf
            listed_moves = [(int(p), int(c)) for p, c in np.argwhere(np.isfinite(gains[0]) & (gains[0] >= lowest))]
            assert [edge[1:] for edge in list_best_additions(score, climber.graph, number)] == listed_moves
        found = climber.best_move((), climber.total, upward=False)
        if found is None:
            return
        least = gains.max() - climber.margin
        assert {found[0], *found[1]} == {tuple(move) for move in np.argwhere(gains >= least).tolist()}
        moves = np.argwhere(np.isfinite(gains)).tolist()
        action, parent, child = moves[rng.integers(len(moves))]
        climber.apply_move((action, parent, child))


def _is_acyclic(edges: np.ndarray, nodes: list[str]) -> bool:
    try:
        pn.Dag.from_edges([(nodes[p], nodes[c]) for p, c in np.argwhere(edges).tolist()], nodes=nodes)
    except pn.InputError:
        return False
    return True


@settings(max_examples=25)
@given(strategies.seeds, st.sampled_from(["bic", "random-set-bic", "bdeu"]))
def test_the_structure_does_not_depend_on_how_rows_are_counted_or_ordered(seed: int, name: Any) -> None:
    net = pn.random_network(7, max_parents=2, states=(2, 4), rng=seed)
    process: Any = "alpha-cut" if name == "random-set-bic" else "precise"
    data = pn.sample(net, 150, process=process, imprecision=0.5, rng=seed)
    learned = pn.learn_structure(data, "greedy", measure=name)
    order = np.random.default_rng(seed).permutation(len(data))
    others = [pn.learn_structure(data[order], "greedy", measure=name)]
    if name != "bdeu":
        passes = pn.Search(in_passes=True)
        others.append(pn.learn_structure(SmallBatches(data, 40), "greedy", measure=name, search=passes))
    for row_price in (0.0, 1e9):
        with pytest.MonkeyPatch.context() as patch:  # each family, and each column of it, by itself
            patch.setattr(contingency, "_ROW", row_price)
            for constant in ("_KEYS", "_SMALL", "_MULTIPLIED"):
                patch.setattr(contingency, constant, 0)
            others.append(pn.learn_structure(data, "greedy", measure=name))
    for other in others:
        assert other.dag == learned.dag
        assert other.score == pytest.approx(learned.score, rel=1e-9)
        assert [step[:3] for step in other.trace] == [step[:3] for step in learned.trace]


def test_max_steps_counts_the_moves_of_each_climb() -> None:
    data = pn.sample(pn.load_example("asia"), 3000, process="precise", rng=2)
    whole = pn.learn_structure(data, "greedy", measure="bic")
    short = pn.learn_structure(data, "greedy", measure="bic", search=pn.Search(max_steps=6))
    again = pn.learn_structure(data, "greedy", measure="bic", search=pn.Search(max_steps=6, restarts=40), rng=1)
    assert len(short.trace) == 6
    assert short.score < whole.score <= again.score + 1e-6
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

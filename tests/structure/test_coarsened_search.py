"""BIC under coarsening at random: against its definition, and what structures it finds."""

from __future__ import annotations

from math import log
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

import possnet as pn
from possnet.structure.coarsened_pairs import CoarsenedPairs, fit_table
from possnet.structure.coarsened_search import CoarsenedScore
from possnet.structure.coded_rows import CodedRows
from tests import oracles, strategies
from tests.structure.cases import NAMES, SmallBatches, random_tables, random_tree, skeleton, with_missing


def edges_of(dag: pn.Dag, data: pn.Dataset) -> Any:
    names = [v.name for v in data.variables]
    edges = np.zeros((len(names), len(names)), dtype=np.bool_)
    for parent, child in dag.edges:
        edges[names.index(parent), names.index(child)] = True
    return edges


def price_of(dag: pn.Dag, data: pn.Dataset) -> float:
    sizes = {v.name: len(v) for v in data.variables}
    free = sum((sizes[n] - 1) * int(np.prod([sizes[p] for p in dag.parents(n)])) for n in dag.nodes)
    return log(data.total) / 2 * free


def coarsened(data: pn.Dataset, share: float, seed: int) -> pn.Dataset:
    """Precise rows whose cells, a share of them, have other states drawn beside their own."""
    rng = np.random.default_rng(seed)
    rows = []
    for number in range(len(data)):
        row = data.row(number)
        wider = {
            v.name: {x for x in v.states if rng.random() < 0.5} if rng.random() < share else set()
            for v in data.variables
        }
        rows.append(tuple(row[n] | wider[n] for n in row))
    return pn.Dataset.from_rows(data.variables, rows)


@given(strategies.seeds, st.sampled_from(oracles.all_dags(NAMES)))
def test_on_precise_rows_it_is_bic(seed: int, dag: pn.Dag) -> None:
    data = pn.sample(random_tables(dag, 2, seed), 30, process="precise", rng=seed)
    score = CoarsenedScore(CodedRows(data)).score_structure(edges_of(dag, data))
    assert score == pytest.approx(oracles.mdl(dag, data), abs=1e-6)  # which is BIC on precise rows


@given(strategies.seeds, st.sampled_from(oracles.all_dags(NAMES)))
def test_the_score_is_the_likelihood_at_its_maximum_less_a_price_by_states(seed: int, dag: pn.Dag) -> None:
    data = coarsened(pn.sample(random_tables(dag, 2, seed), 30, process="precise", rng=seed), 0.3, seed)
    score = CoarsenedScore(CodedRows(data)).score_structure(edges_of(dag, data))
    point: oracles.Tables = {
        v.name: {a: {x: 1 / len(v) for x in v.states} for a in oracles.contexts(dag, data, v.name)}
        for v in data.variables
    }
    value, before = 0.0, -np.inf
    for _ in range(3000):
        value, point = oracles.coarsened_step(dag, point, data)
        if value - before < 1e-7:
            break
        before = value
    assert score == pytest.approx(value - price_of(dag, data), abs=0.1)  # EM stops where Aitken's estimate leaves .01


@given(strategies.seeds)
def test_the_table_of_a_pair_raises_the_likelihood_of_its_cells_as_far_as_any_other(seed: int) -> None:
    rng = np.random.default_rng(seed)
    first, second = (np.maximum(rng.random((20, 3)) < 0.4, np.eye(3)[rng.integers(3, size=20)]) for _ in range(2))
    counts = rng.integers(1, 20, size=20).astype(np.float64)
    value, table = fit_table(first, second, counts)
    assert table.sum() == pytest.approx(1.0)
    assert value == pytest.approx(float(counts @ np.log(np.einsum("ri,ij,rj->r", first, table, second))), abs=0.6)
    for _ in range(20):
        other = 0.9 * table + 0.1 * rng.dirichlet(np.ones(9)).reshape(3, 3)
        assert float(counts @ np.log(np.einsum("ri,ij,rj->r", first, other, second))) <= value + 0.6


def test_pairs_of_precise_columns_gain_their_mutual_information() -> None:
    data = pn.sample(random_tree(3, 3, 1), 500, process="precise", rng=1)
    pairs = CoarsenedPairs(CodedRows(data))
    assert pairs.pair_gains(2.0) == pytest.approx(pairs.hidden_gains(2.0), abs=1e-6)


def test_the_reported_score_is_that_of_the_structure() -> None:
    data = with_missing(pn.sample(pn.load_example("clinic"), 1500, process="precise", rng=1), 0.2)
    learned = pn.learn_structure(data, measure="coarsened-bic")
    again = CoarsenedScore(CodedRows(data)).score_structure(edges_of(learned.dag, data))
    assert learned.score == pytest.approx(again, abs=0.1)
    assert learned.trace[-1].total == learned.score
    assert learned.families is None
    for structure in (pn.load_example("clinic").dag, pn.Dag.from_edges([], nodes=learned.dag.nodes)):
        assert learned.score >= CoarsenedScore(CodedRows(data)).score_structure(edges_of(structure, data)) - 0.5


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_structures_are_found_where_cells_are_missing_as_where_none_is(seed: int) -> None:
    data = pn.sample(random_tree(10, 3, seed), 5000, process="precise", rng=seed)
    complete = pn.learn_structure(data, measure="bic")
    learned = pn.learn_structure(with_missing(data, 0.15), measure="coarsened-bic")
    assert learned.essential == complete.essential


def test_many_distinct_cells_do_not_price_structure_out() -> None:
    net = random_tables(pn.Dag.from_edges([("a", "b"), ("b", "c")], nodes=NAMES), 6, 1)
    data = coarsened(pn.sample(net, 4000, process="precise", rng=1), 0.5, 1)
    assert pn.learn_structure(data, measure="random-set-bic").dag.edges == ()
    for method in ("greedy", "boss", "mwst", "k2"):
        learned = pn.learn_structure(data, method, measure="coarsened-bic")
        assert skeleton(learned.dag) == skeleton(net.dag), method


def test_a_label_of_candidates_is_connected_with_the_columns_that_tell_it() -> None:
    names = ["label", *(f"f{k}" for k in range(6))]
    dag = pn.Dag({n: ("label",) if n in {"f0", "f1", "f2"} else () for n in names})
    data = pn.sample(random_tables(dag, 4, 5), 800, process="precise", rng=5)
    cells = coarsened(data.select(["label"]), 0.8, 5)
    rows = [tuple((cells if n == "label" else data).row(k)[n] for n in names) for k in range(len(data))]
    learned = pn.learn_structure(pn.Dataset.from_rows(data.variables, rows), measure="coarsened-bic")
    assert skeleton(learned.dag) == skeleton(dag)


def test_weights_streams_and_seeds_change_nothing() -> None:
    data = with_missing(pn.sample(pn.load_example("clinic"), 300, process="precise", rng=1), 0.2)
    for method in ("greedy", "boss", "mwst", "k2"):
        one = pn.learn_structure(data, method, measure="coarsened-bic", rng=3)
        for other in (data, data.distinct(), SmallBatches(data, 100)):
            again = pn.learn_structure(other, method, measure="coarsened-bic", rng=3)
            assert again.dag == one.dag
            assert again.score == pytest.approx(one.score, abs=1e-6)


def test_constraints_are_kept() -> None:
    data = with_missing(pn.sample(pn.load_example("asia"), 2000, process="precise", rng=1), 0.3)
    constraints = pn.Constraints(
        required=[("asia", "smoke"), ("xray", "smoke")], forbidden=[("smoke", "bronc")], max_parents=2
    )
    learned = pn.learn_structure(data, measure="coarsened-bic", constraints=constraints)
    assert {("asia", "smoke"), ("xray", "smoke")} <= set(learned.dag.edges)
    assert ("smoke", "bronc") not in learned.dag.edges
    assert max(len(learned.dag.parents(n)) for n in learned.dag.nodes) <= 2


def test_a_search_whose_time_is_up_returns_what_it_has() -> None:
    data = with_missing(pn.sample(pn.load_example("asia"), 2000, process="precise", rng=1), 0.3)
    learned = pn.learn_structure(data, measure="coarsened-bic", search=pn.Search(max_seconds=0.0))
    assert learned.stopped == "max_seconds"
    again = CoarsenedScore(CodedRows(data)).score_structure(edges_of(learned.dag, data))
    assert learned.score == pytest.approx(again, abs=0.1)

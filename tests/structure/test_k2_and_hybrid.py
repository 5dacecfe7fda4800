"""K2 and the hybrid methods, and the measures on contours that they add up."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import possnet as pn
from possnet.dependence import CONTOUR_MEASURES, measure_dependence
from possnet.structure.coded_rows import CodedRows
from possnet.structure.contour_scorer import ContourScorer
from possnet.structure.hybrid import StateCounts
from tests import oracles, strategies
from tests.structure.cases import NAMES, SHAPES, oracle, problem_of, sharp_tree, skeleton, without


@settings(max_examples=40)
@given(strategies.seeds, st.sampled_from(list(CONTOUR_MEASURES)), st.sampled_from([pn.PRODUCT, pn.MIN]))
def test_gains_of_contours_are_measures_of_counts(seed: int, name: str, conjunction: Any) -> None:
    net = pn.random_network(4, states=(2, 3), rng=seed)
    data = pn.sample(net, 100, imprecision=0.5, rng=seed)
    names = [v.name for v in data.variables]
    gains = ContourScorer(problem_of(data, name, conjunction))
    nothing = np.zeros((4, 4), dtype=bool)
    alone = gains.parent_gains(0, (), ~nothing[0], nothing)
    assert alone[0] == -np.inf
    for k in (1, 2, 3):
        counts = np.array(oracles.pair_counts(data, names[k], names[0]))
        assert alone[k] == pytest.approx(measure_dependence(name, counts, conjunction), abs=1e-9)


@pytest.mark.parametrize("name", ["random-set-bic", "mdl"])
@pytest.mark.parametrize("method", ["k2", "mwst"])
def test_values_and_scores_by_k2_and_of_trees_are_those_of_the_structure(method: Any, name: Any) -> None:
    data = pn.sample(sharp_tree(6), 400, process="traced", imprecision=0.4, rng=2)
    learned = pn.learn_structure(data, method, measure=name, constraints=pn.Constraints(required=[("v5", "v0")]))
    assert learned.score == pytest.approx(oracle(name)(learned.dag, data), rel=1e-9)
    assert sum((learned.families or {}).values()) == pytest.approx(learned.score, rel=1e-9)
    assert learned.trace[-1].total == pytest.approx(learned.score, rel=1e-9)
    assert ("v5", "v0") in learned.dag.edges
    for edge in learned.edges:
        lower = oracle(name)(without(learned.dag, edge), data)
        assert edge.value == pytest.approx(learned.score - lower, abs=1e-6)


@pytest.mark.parametrize("method", ["k2", "hybrid-dag", "mwst"])
def test_measures_of_required_edges_count(method: Any) -> None:
    data = pn.sample(sharp_tree(6), 1500, process="traced", imprecision=0.4, rng=2)
    learned = pn.learn_structure(
        data, method, measure="specificity-gain", constraints=pn.Constraints(required=[("v5", "v0"), ("v0", "v3")])
    )
    assert {("v5", "v0"), ("v0", "v3")} <= {edge[:2] for edge in learned.edges if edge.value > 0.0}
    assert sum(edge.value for edge in learned.edges) == pytest.approx(learned.score, rel=1e-9)
    assert sum((learned.families or {}).values()) == pytest.approx(learned.score, rel=1e-9)


def test_k2_finds_the_parents_given_the_order() -> None:
    net = pn.load_example("asia")
    data = pn.sample(net, 50_000, process="precise", rng=2)
    for name in ("bic", "random-set-bic", "mdl"):
        learned = pn.learn_structure(data, "k2", measure=name, search=pn.Search(order=net.dag.topological_order()))
        assert {n: set(learned.dag.parents(n)) for n in net.dag.nodes} == {
            n: set(net.dag.parents(n)) for n in net.dag.nodes
        }
        assert learned.order == net.dag.topological_order()


def test_k2_keeps_the_best_of_several_orders() -> None:
    data = pn.sample(pn.load_example("asia"), 5000, process="precise", rng=3)
    data = data.select([v.name for v in reversed(data.variables)])
    first = pn.learn_structure(data, "k2", search=pn.Search(orders=1))
    many = pn.learn_structure(data, "k2", search=pn.Search(orders=20), rng=1)
    assert first.order == tuple(v.name for v in data.variables)
    assert many.score > first.score
    assert many == pn.learn_structure(data, "k2", search=pn.Search(orders=20), rng=1)


def test_hybrid_dag_directs_colliders() -> None:
    dag = pn.Dag.from_edges(SHAPES["collider"], nodes=NAMES)
    scope = [pn.Variable(n, (f"{n}0", f"{n}1")) for n in NAMES]
    degrees: dict[str, Any] = {"a": [1, 0.6], "b": [0.7, 1], "c": [[[1, 0.1], [0.2, 1]], [[0.3, 1], [1, 0.4]]]}
    data = pn.sample(pn.Network(scope, dag, degrees), 100_000, process="precise", rng=1)
    assert set(pn.learn_structure(data, "hybrid-dag").dag.edges) == set(dag.edges)


def test_hybrid_dag_takes_as_many_parents_as_k2_by_contours_unless_told() -> None:
    """Specificity gain has no price for parents: on imprecise cells every variable would take all that it may."""
    rng = np.random.default_rng(0)
    cells = np.zeros((2000, 8), dtype=np.int64)
    cells[:, 0] = rng.integers(4, size=2000)
    for k in range(1, 8):
        cells[:, k] = np.where(rng.random(2000) < 0.7, cells[:, (k - 1) // 3], rng.integers(4, size=2000))
    imprecise = {
        f"v{k}": [{str(x), str(y)} for x, y in zip(cells[:, k], rng.integers(4, size=2000), strict=True)]
        for k in range(8)
    }
    data = pn.Dataset.from_table(imprecise)
    plain = pn.learn_structure(data, "hybrid-dag")
    assert max(len(plain.dag.parents(n)) for n in plain.dag.nodes) == 2
    assert min(edge.value for edge in plain.edges) > 0.01
    more = pn.learn_structure(data, "hybrid-dag", constraints=pn.Constraints(max_parents=3))
    assert max(len(more.dag.parents(n)) for n in more.dag.nodes) == 3
    none = pn.learn_structure(data, "hybrid-dag", search=pn.Search(threshold=100.0))
    assert none.dag.edges == ()


@pytest.mark.parametrize("method", ["hybrid-tree", "hybrid-dag"])
@pytest.mark.parametrize("flipped", [0.0, 0.001, 0.01])
def test_copies_of_a_variable_do_not_part_each_other_from_the_rest(method: Any, flipped: float) -> None:
    rng = np.random.default_rng(0)
    rows = 20_000
    source = rng.integers(2, size=rows)
    table = {k: np.where(rng.random(rows) < flipped, 1 - source, source) for k in "pqr"}
    table["s"] = np.where(rng.random(rows) < 0.2, 1 - source, source)
    table["t"] = rng.integers(2, size=rows)
    data = pn.Dataset.from_table({name: [str(x) for x in column] for name, column in table.items()})
    learned = pn.learn_structure(data, method)
    assert len(learned.edges) == 3
    assert {name for edge in learned.dag.edges for name in edge} == set("pqrs")


def test_a_variable_that_others_determine_keeps_its_neighbours() -> None:
    """`either` is tub or lung: the two together must not part it from what depends on it."""
    data = pn.sample(pn.load_example("asia"), 50_000, process="precise", rng=1)
    counts = StateCounts(CodedRows(data))
    place = {v.name: k for k, v in enumerate(data.variables)}
    both = tuple(sorted((place["tub"], place["lung"])))
    assert counts.determines(both, place["either"])
    assert not counts.determines(both, place["xray"])
    joined = skeleton(pn.learn_structure(data, "hybrid-dag").dag)
    assert {frozenset(("either", "xray")), frozenset(("either", "dysp"))} <= joined

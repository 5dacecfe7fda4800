"""Cut-BIC: it is what its definition says, finds structures behind alpha-cut rows with directions, and refuses others."""

from __future__ import annotations

from math import log, prod

import numpy as np
import pytest
from hypothesis import given, strategies as st

import possnet as pn
from possnet.cuts import ContextDegrees, count_family, fit_family
from possnet.structure import cut_search, explain_edge
from possnet.structure.coded_rows import CodedRows
from possnet.structure.cut_score import CutScore
from possnet.structure.cut_search import CutStructures
from possnet.structure.search_graph import parent_sets_of
from tests.structure.cases import SHAPES, SmallBatches, random_tables, random_tree, with_missing

METHODS = ("greedy", "boss", "mwst", "k2")


def edges_of(dag: pn.Dag, names: list[str]) -> np.ndarray:
    edges = np.zeros((len(names), len(names)), dtype=bool)
    for parent, child in dag.edges:
        edges[names.index(parent), names.index(child)] = True
    return edges


def penalty_of(dag: pn.Dag, data: pn.Dataset) -> float:
    """(ln N / 2) sum of q (r - |core|), the core being the states in every cell."""
    sizes = {v.name: len(v) for v in data.variables}
    free = {v.name: int((~data.column(v.name).cell_sets.all(axis=0)).sum()) for v in data.variables}
    return log(len(data)) / 2 * sum(free[n] * prod(sizes[p] for p in dag.parents(n)) for n in dag.nodes)


def ceiling_by_definition(dag: pn.Dag, child: str, marginals: dict[str, np.ndarray]) -> np.ndarray:
    """The largest ρ(a), one configuration at a time: related parents by their least marginal, then the product."""
    parents = dag.parents(child)
    above = {p: {p, *dag.ancestors(p)} for p in parents}
    groups: list[set[str]] = []
    for p in parents:
        near = [g for g in groups if any(above[p] & above[q] for q in g)]
        groups = [g for g in groups if g not in near] + [{p}.union(*near)]
    shape = [len(marginals[p]) for p in parents]
    values = []
    for a in np.ndindex(*shape):
        degree = {p: marginals[p][k] for p, k in zip(parents, a, strict=True)}
        values.append(prod(min(degree[p] for p in group) for group in groups))
    return np.array(values, dtype=np.float64)


def score_by_definition(dag: pn.Dag, data: pn.Dataset, theta: float) -> float:
    """Families fitted one by one from the data set, parents first."""
    value = 0.0
    marginals: dict[str, np.ndarray] = {}
    for child in dag.topological_order():
        ceiling = ceiling_by_definition(dag, child, marginals)
        contexts = ContextDegrees(np.zeros_like(ceiling), ceiling, np.zeros_like(ceiling))
        fit = fit_family(count_family(data, child, dag.parents(child)), theta, contexts=contexts)
        marginals[child] = fit.marginal
        value += fit.log_likelihood
    return value - penalty_of(dag, data)


@given(st.integers(0, 10_000), st.integers(3, 5), st.sampled_from([0.5, 1.0]))
def test_the_score_is_its_definition(seed: int, size: int, theta: float) -> None:
    net = pn.random_network(size, max_parents=2, states=(2, 3), rng=seed)
    data = pn.sample(net, 200, imprecision=theta, rng=seed)
    names = [v.name for v in data.variables]
    families = CutScore(CodedRows(data, missing=True), imprecision=theta)
    for child, parents in enumerate(parent_sets_of(edges_of(net.dag, names))):
        slow = fit_family(count_family(data, names[child], [names[p] for p in parents]), theta).log_likelihood
        assert families.log_likelihood(child, parents) == pytest.approx(slow, rel=1e-12)
    score = CutStructures(families, pn.PRODUCT).score_structure(edges_of(net.dag, names))
    assert score == pytest.approx(score_by_definition(net.dag, data, theta), rel=1e-9)


@given(st.integers(0, 10_000))
def test_on_trees_it_is_the_likelihood_of_the_learner_minus_the_price(seed: int) -> None:
    net = random_tree(4, 3, seed)
    data = pn.sample(net, 300, rng=seed)
    names = [v.name for v in data.variables]
    score = CutStructures(CutScore(CodedRows(data, missing=True), imprecision=1.0), pn.PRODUCT)
    likelihood = pn.fit_cut(net.dag, data).log_likelihood
    assert score.score_structure(edges_of(net.dag, names)) == pytest.approx(
        likelihood - penalty_of(net.dag, data), rel=1e-9
    )


@given(st.integers(0, 10_000))
def test_additions_are_ruled_out_only_if_they_are_no_better(seed: int) -> None:
    data = pn.sample(pn.random_network(4, states=(2, 3), rng=seed), 300, rng=seed)
    score = CutScore(CodedRows(data, missing=True))
    for child in range(4):
        for parents in ((), tuple(k for k in range(4) if k != child)[:1]):
            current, values = score.score_family(child, parents), score.score_additions(child, parents)
            for k in set(range(4)) - {child, *parents}:
                exact = score.score_family(child, tuple(sorted((*parents, k))))
                assert values[k] == exact if np.isfinite(values[k]) else exact <= current + 1e-9


@pytest.mark.parametrize("method", METHODS)
def test_the_score_of_what_is_found_is_that_of_the_structure(method: str) -> None:
    net = pn.random_network(6, max_parents=2, states=(2, 3), rng=3)
    data = pn.sample(net, 3000, imprecision=0.6, rng=1)
    learned = pn.learn_structure(data, method, measure="cut-bic")
    names = [v.name for v in data.variables]
    families = CutScore(CodedRows(data, missing=True)).fit_imprecision(edges_of(learned.dag, names))
    score = CutStructures(families, pn.PRODUCT)
    assert learned.score == pytest.approx(score.score_structure(edges_of(learned.dag, names)), rel=1e-12)
    assert learned.score == pytest.approx(score_by_definition(learned.dag, data, families.imprecision.theta), rel=1e-9)
    assert learned.trace[-1].total == pytest.approx(learned.score, rel=1e-12)
    for edge in learned.edges:
        without = edges_of(learned.dag, names)
        without[names.index(edge.parent), names.index(edge.child)] = False
        assert edge.value == pytest.approx(learned.score - score.score_structure(without), abs=1e-6)
        worth = explain_edge(learned, data, edge.parent, edge.child)
        assert worth.value == pytest.approx(edge.value, abs=1e-6)
    if method == "mwst":
        assert max(len(learned.dag.parents(name)) for name in names) <= 1


@pytest.mark.parametrize("seed", range(3))
def test_looking_for_parents_in_markov_blankets_loses_nothing(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    data = pn.sample(pn.random_network(6, max_parents=2, states=(2, 3), rng=seed), 2000, imprecision=0.8, rng=seed)
    quick = pn.learn_structure(data, measure="cut-bic")
    monkeypatch.setattr(cut_search, "list_candidates", lambda families, _: ~np.eye(families.size, dtype=bool))
    whole = pn.learn_structure(data, measure="cut-bic", search=pn.Search(restarts=10))
    assert quick.score >= whole.score - 1e-6


def test_additions_are_restricted_to_candidates() -> None:
    data = pn.sample(pn.random_network(4, max_parents=2, states=(2, 3), rng=1), 2000, rng=1)
    score = CutScore(CodedRows(data, missing=True))
    candidates = np.zeros((4, 4), dtype=bool)
    candidates[:2] = True
    near = score.restrict_additions(candidates)
    for child in range(4):
        whole, part = score.score_additions(child, ()), near.score_additions(child, ())
        assert (part[:2] == whole[:2]).all()
        assert (part[2:] == -np.inf).all()


def test_where_no_root_tells_the_imprecision_the_families_of_the_structure_do() -> None:
    """The root is binary, and its children's cells alone look thinned, for they are mixtures over its cells."""
    dag = pn.Dag({"a": (), "b": ("a",), "c": ("a",)})
    child = [[1, 0.2, 0.1], [1, 0.1, 1]]
    scope = [pn.Variable("a", ("1", "2")), *(pn.Variable(n, ("1", "2", "3")) for n in "bc")]
    data = pn.sample(pn.Network(scope, dag, {"a": [1, 0.5], "b": child, "c": child}), 10_000, rng=1)
    score = CutScore(CodedRows(data, missing=True))
    assert score.imprecision.theta < 0.98
    assert score.fit_imprecision(edges_of(dag, ["a", "b", "c"])).imprecision.theta == 1.0
    assert "imprecision 1 by the rows" in pn.learn_structure(data, measure="cut-bic").reason


@pytest.mark.parametrize("states", [2, 3])
@pytest.mark.parametrize("shape", SHAPES)
def test_chains_forks_and_colliders_are_found_with_their_directions(shape: str, states: int) -> None:
    """A root is less certain than its child, and the child's degrees differ clearly with its parents' cells."""
    dag = pn.Dag.from_edges(SHAPES[shape], nodes=("a", "b", "c"))
    scope = [pn.Variable(name, tuple("123"[:states])) for name in dag.nodes]
    root = np.array([1.0, 0.6, 0.3])[:states]
    low = np.array([1.0, 0.1, 0.2])[:states]
    high = np.array([1.0, 0.9, 0.5])[:states]
    tables = {}
    for name in dag.nodes:
        parents = len(dag.parents(name))
        table = np.empty((states,) * (parents + 1))
        for context in np.ndindex(*table.shape[:-1]):
            table[context] = high if any(context) else low if parents else root
        tables[name] = table
    net = pn.Network(scope, dag, tables)
    data = pn.sample(net, 20_000, rng=1).select(["c", "a", "b"])
    for method in ("greedy", "boss"):
        learned = pn.learn_structure(data, method, measure="cut-bic")
        assert set(learned.dag.edges) == set(dag.edges), method
        assert not any(edge.reversible for edge in learned.edges)


def test_a_turned_edge_of_two_binary_variables_is_excluded() -> None:
    """x -> y needs s <= p p, y -> x needs s <= q q, and a visible edge has s > p q: both cannot be."""
    rng = np.random.default_rng(1)
    visible = 0
    for seed in range(30):
        net = random_tables(pn.Dag({"a": (), "b": ("a",)}), 2, int(rng.integers(1 << 30)))
        learned = pn.learn_structure(pn.sample(net, 20_000, rng=seed), measure="cut-bic")
        assert set(learned.dag.edges) <= {("a", "b")}
        visible += bool(learned.dag.edges)
    assert visible >= 5


@pytest.mark.parametrize("theta", [0.4, 0.7, 1.0])
def test_the_imprecision_is_estimated_once_and_said(theta: float) -> None:
    errors = []
    for seed in range(5):
        data = pn.sample(
            pn.random_network(6, max_parents=2, states=(3, 3), rng=seed), 10_000, imprecision=theta, rng=seed
        )
        estimate = CutScore(CodedRows(data, missing=True)).imprecision
        assert estimate.told
        errors.append(estimate.theta - theta)
    assert np.sqrt(np.mean(np.square(errors))) < 0.03
    assert (
        pn.learn_structure(data, measure="cut-bic").reason
        == str(estimate)
        == f"imprecision {estimate.theta:.3g} by the rows"
    )


def test_binary_rows_do_not_tell_the_imprecision_and_that_is_said() -> None:
    data = pn.sample(random_tables(pn.Dag({"a": (), "b": ("a",)}), 2, 1), 500, imprecision=0.5, rng=1)
    reason = pn.learn_structure(data, measure="cut-bic").reason
    assert reason == "imprecision taken as 1, for no cell has two states off the core"


def test_rows_without_a_common_state_are_refused_by_name() -> None:
    data = pn.sample(pn.load_example("clinic"), 300, process="traced", rng=1)
    with pytest.raises(pn.InputError, match=r"no state of '\w+' lies in all of its cells.*use 'traced-bic'"):
        pn.learn_structure(data, measure="cut-bic")


def test_a_few_misread_rows_are_left_out() -> None:
    net = random_tree(4, 3, 2)
    data = pn.sample(net, 4000, rng=1)
    names = [v.name for v in data.variables]
    common = {v.name: data.column(v.name).cell_sets.all(axis=0) for v in data.variables}
    other = {v.name: v.states[int(np.flatnonzero(~common[v.name])[0])] for v in data.variables}
    wrong = pn.Dataset.from_table({n: [other[n]] * 2 for n in names}, variables=net)
    both = pn.Dataset.concatenate([data, wrong])
    clean, dirty = (pn.learn_structure(rows, measure="cut-bic") for rows in (data, both))
    assert dirty.dag == clean.dag
    assert dirty.score == pytest.approx(clean.score, rel=1e-12)


def test_unknown_cells_neither_hide_nor_make_edges() -> None:
    net = pn.Network(
        [pn.Variable(name, ("1", "2", "3")) for name in "abc"],
        pn.Dag({"a": (), "b": ("a",), "c": ()}),
        {"a": [1, 0.9, 0.6], "b": [[1, 0.1, 0.2], [1, 0.9, 0.5], [1, 0.3, 0.9]], "c": [1, 0.5, 0.5]},
    )
    data = with_missing(pn.sample(net, 10_000, rng=1), 0.2)
    assert set(pn.learn_structure(data, measure="cut-bic").dag.edges) == {("a", "b")}


def test_streams_and_weights_give_the_same() -> None:
    net = random_tree(5, 3, 4)
    data = pn.sample(net, 3000, rng=1)
    learned = pn.learn_structure(data, measure="cut-bic")
    for rows in (SmallBatches(data, 500), data.distinct()):
        again = pn.learn_structure(rows, measure="cut-bic")
        assert again.dag == learned.dag
        assert again.score == pytest.approx(learned.score, rel=1e-9)


def test_constraints_are_kept() -> None:
    data = pn.sample(random_tree(5, 3, 4), 3000, rng=1)
    free = pn.learn_structure(data, measure="cut-bic")
    forbidden = free.dag.edges[:1]
    turned = [(b, a) for a, b in forbidden]
    for method in METHODS:
        limits = pn.Constraints(forbidden=forbidden, required=turned)
        edges = pn.learn_structure(data, method, measure="cut-bic", constraints=limits).dag.edges
        assert set(turned) <= set(edges)
        assert not set(forbidden) & set(edges)

"""Structure learning: scores against their definitions, searches against all structures, learners against exact laws."""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Callable
from itertools import combinations, pairwise, product
from math import log
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import possnet as pn
from possnet import limits
from possnet.dependence import CONTOUR_MEASURES, count_pairs, measure, specificity_ratio
from possnet.io import encode_network
from possnet.kernels import bitmaps
from possnet.structure import MEASURES, METHODS, SCORES, contingency, scores, structure_learning, traced_score
from possnet.structure.chow_liu import spanning_tree
from possnet.structure.coded_rows import CodedRows
from possnet.structure.contingency import ContingencyTables
from possnet.structure.contour_gains import ContourGains, StateCounts
from possnet.structure.scores import FamilyScore
from possnet.structure.search_graph import CompiledConstraints, SearchGraph
from possnet.structure.search_result import SearchResult
from possnet.structure.traced_score import TracedScore
from tests import oracles, strategies
from tests.commands import run

NAMES = ("a", "b", "c")
SHAPES = {
    "chain": [("a", "b"), ("b", "c")],
    "fork": [("b", "a"), ("b", "c")],
    "collider": [("a", "c"), ("b", "c")],
}


def numbered(dag: pn.Dag, names: list[str]) -> list[tuple[int, ...]]:
    return [tuple(sorted(names.index(p) for p in dag.parents(n))) for n in names]


def score_of(score: FamilyScore, dag: pn.Dag) -> float:
    names = [v.name for v in score.columns.variables]
    return sum(score.score_family(k, parents) for k, parents in enumerate(numbered(dag, names)))


def oracle(name: str) -> Callable[[pn.Dag, pn.Dataset], float]:
    """A score by its definition."""
    found: Callable[[pn.Dag, pn.Dataset], float] = getattr(oracles, name.replace("-", "_"))
    return found


def without(dag: pn.Dag, edge: tuple[Any, ...]) -> pn.Dag:
    return pn.Dag.from_edges([e for e in dag.edges if e != edge[:2]], nodes=dag.nodes)


def free(size: int, max_parents: int) -> CompiledConstraints:
    return CompiledConstraints(np.zeros((size, size), bool), ~np.eye(size, dtype=bool), max_parents)


def random_tables(dag: pn.Dag, states: int, seed: int) -> pn.Network:
    """Random degrees for a structure whose variables have the same number of states."""
    rng = np.random.default_rng(seed)
    scope = [pn.Variable(name, tuple(f"{name}{k}" for k in range(states))) for name in dag.nodes]
    degrees = {}
    for name in dag.nodes:
        table = rng.random((*(states for _ in dag.parents(name)), states))
        degrees[name] = table / table.max(axis=-1, keepdims=True)
    return pn.Network(scope, dag, degrees)


def random_tree(size: int, states: int, seed: int) -> pn.Network:
    rng = np.random.default_rng(seed)
    names = [f"v{k}" for k in range(size)]
    above = {name: (names[int(rng.integers(k))],) if k else () for k, name in enumerate(names)}
    return random_tables(pn.Dag(above), states, seed)


def skeleton(dag: pn.Dag) -> set[frozenset[str]]:
    return set(map(frozenset, dag.edges))


def with_missing(data: pn.Dataset, share: float) -> pn.Dataset:
    """The same rows with a share of their cells unknown."""
    rng = np.random.default_rng(1)
    unknown = {v.name: bitmaps.pack(rng.random(len(data)) < share) for v in data.variables}
    words = {v.name: data.bitmaps(v.name) | unknown[v.name] for v in data.variables}
    return pn.Dataset.unchecked(data.variables, words, len(data), unknown=unknown)


def sharp_tree(size: int, children: int = 2) -> pn.Network:
    """A tree whose variables answer sharply to their parents."""
    names = [f"v{k}" for k in range(size)]
    dag = pn.Dag({name: (names[(k - 1) // children],) if k else () for k, name in enumerate(names)})
    sharp = [[1, 0.2, 0.1], [0.1, 1, 0.3], [0.2, 0.1, 1]]
    scope = [pn.Variable(name, ("1", "2", "3")) for name in names]
    return pn.Network(scope, dag, {name: sharp if k else [1, 0.8, 0.7] for k, name in enumerate(names)})


def rounding(data: pn.Dataset) -> float:
    """How far scores may be apart: they are differences of sums of n ln n."""
    return 1e-6 + 1e-14 * data.total * log(max(data.total, 2))


# scores


@settings(max_examples=100)
@given(strategies.counted(), st.sampled_from([0.0, 1e9]))
def test_scores_are_their_definitions(given_data: tuple[pn.Dag, pn.Dataset], row_price: float) -> None:
    """Whichever kernel counts: a histogram that costs nothing, or one that costs everything."""
    dag, rows = given_data
    data = rows.select(dag.nodes)
    if data.total == 0:
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(contingency, "_ROW", row_price)
        for name in ("random-set-bic", "mdl"):
            found = score_of(FamilyScore(CodedRows(data), name), dag)
            assert found == pytest.approx(oracle(name)(dag, data), rel=1e-9, abs=rounding(data))


@settings(max_examples=100)
@given(
    strategies.counted(),
    st.sampled_from([0.0, 1e9]),
    st.sampled_from([0, 1 << 24]),
    st.sampled_from(["random-set-bic", "mdl"]),
    st.data(),
)
def test_additions_are_families_with_one_more_parent(
    given_data: tuple[pn.Dag, pn.Dataset], row_price: float, dense: int, name: Any, draw: st.DataObject
) -> None:
    """By tables of all cells, or by those that occur."""
    dag, rows = given_data
    data = rows.select(dag.nodes)
    names = list(dag.nodes)
    child = draw.draw(st.integers(0, len(names) - 1))
    parents = numbered(dag, names)[child]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(contingency, "_ROW", row_price)
        patch.setattr(scores, "DENSE", dense)
        fast = FamilyScore(CodedRows(data), name).score_additions(child, parents)
        slow = FamilyScore(CodedRows(data), name)
        now = slow.score_family(child, parents)
        for k in range(len(names)):
            if k == child or k in parents:
                assert fast[k] == -np.inf
            else:
                wider = slow.score_family(child, tuple(sorted((*parents, k))))
                assert fast[k] == pytest.approx(wider, rel=1e-9, abs=rounding(data)) or (
                    fast[k] == -np.inf and wider <= now + rounding(data)
                )


@given(strategies.counted(), st.sampled_from([0.0, 1e9]), st.sampled_from([0, 1 << 24]), st.data())
def test_state_tables_are_counts(
    given_data: tuple[pn.Dag, pn.Dataset], row_price: float, dense: int, draw: st.DataObject
) -> None:
    """By tables of cells, or by bitmaps of states, with weights too."""
    dag, rows = given_data
    data = rows.select(dag.nodes)
    names = list(dag.nodes)
    if len(names) < 2:
        return
    order = draw.draw(st.permutations(range(len(names))))
    *parents, child, last = order
    above = tuple(sorted(parents))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(contingency, "_ROW", row_price)
        patch.setattr(contingency, "DENSE", dense)
        (found,) = ContingencyTables(CodedRows(data)).contained(above, child, [last])
        counted = StateCounts(CodedRows(data)).of(*order)
    family = pn.Dag({**dict.fromkeys(names, ()), names[last]: [names[k] for k in (*above, child)]})
    expected = pn.count(family, data)[names[last]]
    np.testing.assert_array_equal(found.table(0).reshape(expected.shape), expected)
    places = [order.index(k) for k in (*above, child, last)]
    np.testing.assert_array_equal(counted, np.moveaxis(expected, range(len(names)), places))


@settings(max_examples=100)
@given(strategies.counted(), st.integers(1, 5))
def test_columns_of_a_stream_are_those_of_its_rows(given_data: tuple[pn.Dag, pn.Dataset], size: int) -> None:
    _, data = given_data
    whole, parts = CodedRows(data, missing=True), CodedRows(_Stream(data, size), missing=True)
    assert whole.masks == parts.masks
    assert whole.has_missing == parts.has_missing
    assert whole.total == parts.total == data.total

    def rows_of(columns: CodedRows) -> dict[tuple[int, ...], int]:
        found: dict[tuple[int, ...], int] = {}
        for r in range(columns.rows):
            key = tuple(int(codes[r]) for codes in columns.codes)
            found[key] = found.get(key, 0) + (1 if columns.weights is None else int(columns.weights[r]))
        return {key: n for key, n in found.items() if n}

    assert rows_of(whole) == rows_of(parts)


class _Stream:
    """A data set in small batches."""

    def __init__(self, data: pn.Dataset, size: int) -> None:
        self.data, self.size = data, size
        self.variables, self.rows, self.weighted = data.variables, len(data), data.weights is not None

    def __iter__(self) -> Any:
        return (self.data[start : start + self.size] for start in range(0, len(self.data), self.size))


@pytest.mark.parametrize("name", ["random-set-bic", "mdl", "bic"])
def test_scores_are_the_same_for_equivalent_structures(name: Any) -> None:
    net = random_tables(pn.Dag.from_edges(SHAPES["collider"], nodes=NAMES), 3, 4)
    process: Any = "precise" if name == "bic" else "alpha-cut"
    score = FamilyScore(CodedRows(pn.sample(net, 500, process=process, rng=1)), name)
    classes: dict[pn.EssentialGraph, float] = {}
    for dag in oracles.all_dags(NAMES):
        value = score_of(score, dag)
        assert classes.setdefault(dag.essential_graph(), value) == pytest.approx(value, abs=1e-6)
    assert len(classes) == 11


def test_on_precise_rows_all_scores_are_bic_and_otherwise_traced_bic_orients() -> None:
    net = random_tables(pn.Dag.from_edges(SHAPES["chain"], nodes=NAMES), 3, 1)
    precise = pn.sample(net, 2000, process="precise", rng=1)
    scores = [FamilyScore(CodedRows(precise), name) for name in ("bic", "random-set-bic", "mdl")]
    traced = TracedScore(CodedRows(precise, missing=True))
    chain, back = pn.Dag.from_edges(SHAPES["chain"]), pn.Dag.from_edges([("c", "b"), ("b", "a")], nodes=NAMES)
    for dag in (chain, back):
        values = [*(score_of(score, dag) for score in scores), traced.total(numbered(dag, list(NAMES)))]
        assert max(values) == pytest.approx(min(values), abs=1e-6)
    sets = TracedScore(CodedRows(pn.sample(net, 20_000, process="traced", rng=1), missing=True))
    assert sets.total(numbered(chain, list(NAMES))) > sets.total(numbered(back, list(NAMES))) + 10


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_traced_bic_is_the_likelihood_of_em_minus_its_price(missing: float) -> None:
    net = pn.load_example("clinic")
    data = pn.sample(net, 3000, process="traced", imprecision=0.7, rng=3)
    data = with_missing(data, missing)
    names = [v.name for v in net.variables]
    score = TracedScore(CodedRows(data, missing=True))
    families = numbered(net.dag, names)
    score.polish(families)
    fitted = pn.fit_em(pn.Dag({n: [names[p] for p in families[k]] for k, n in enumerate(names)}), data)
    price = sum(
        log(3000) / 2 * np.prod([len(net.variable(p)) for p in net.dag.parents(n)]) * (len(net.variable(n)) - 1)
        for n in names
    )
    assert score.log_likelihood(families) == pytest.approx(fitted.log_likelihood[-1], abs=1.0)
    assert score.total(families) == pytest.approx(fitted.log_likelihood[-1] - price, abs=1.0)


def test_local_likelihoods_are_those_of_em_on_the_family_alone() -> None:
    net = random_tables(pn.Dag.from_edges(SHAPES["collider"], nodes=NAMES), 2, 3)
    data = pn.sample(net, 2000, process="traced", rng=5)
    score = TracedScore(CodedRows(data, missing=True))
    alone = [pn.fit_em(pn.Dag({n: ()}), data).log_likelihood[-1] for n in "ab"]
    whole = pn.fit_em(net.dag, data, tolerance=1e-3).log_likelihood[-1]
    assert score.local(2, (0, 1)) == pytest.approx(whole - sum(alone), abs=0.7)
    cells = FamilyScore(CodedRows(data), "random-set-bic")
    assert score.local(2, (0, 1)) <= cells.log_likelihood(2, (0, 1)) + 1e-6


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_local_likelihoods_are_the_same_from_tables_and_from_the_cells_that_occur(missing: float) -> None:
    data = with_missing(pn.sample(sharp_tree(4), 400, process="traced", rng=1), missing)
    dense, listed = (TracedScore(CodedRows(data, missing=True)) for _ in range(2))
    for child, parents in ((1, ()), (0, (1,)), (2, (0, 3))):
        value, masses = dense._local_em((child, parents))
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(traced_score, "_DENSE", 0)
            again, others = listed._local_em((child, parents))
        assert again == pytest.approx(value, abs=1e-6)
        np.testing.assert_allclose(others, masses, atol=1e-6)


# memory


def many_cells(rows: int) -> pn.Dataset:
    """Two columns in which hardly any cell stands twice, and one of two states."""
    rng = np.random.default_rng(0)

    def column() -> list[set[str]]:
        return [{str(x) for x in rng.integers(60, size=6)} for _ in range(rows)]

    return pn.Dataset.from_table(
        {"one": column(), "other": column(), "s": [str(x) for x in rng.integers(2, size=rows)]}
    )


@pytest.mark.parametrize(
    ("method", "name"),
    [("greedy", "random-set-bic"), ("greedy", "mdl"), ("k2", "chi2"), ("hybrid-tree", None), ("k2", "traced-bic")],
)
def test_memory_does_not_grow_as_the_square_of_distinct_cells(method: Any, name: Any) -> None:
    data = many_cells(5000)
    tracemalloc.start()
    try:
        pn.learn_structure(data, method, measure=name, orders=1, max_parents=1)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 100e6  # a table of all pairs of cells would have 200 MB


def test_what_does_not_fit_is_refused_with_its_size_and_a_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    data = many_cells(200)
    coded = [CodedRows(data), CodedRows(data, missing=True)]
    for module, name, method, by in (
        (contingency, "DENSE", "mwst", "random-set-bic"),
        (contingency, "_WORDS", "hybrid-tree", None),
        (traced_score, "_DENSE", "greedy", "traced-bic"),
    ):
        with pytest.MonkeyPatch.context() as small:
            small.setattr(limits, "memory_limit", lambda: 1 << 10)
            small.setattr(structure_learning, "CodedRows", lambda _, *, missing: coded[missing])
            small.setattr(module, name, 0)
            with pytest.raises(pn.TooLarge, match=r"needs .*iB; the limit is 1 KiB; (use|set)"):
                pn.learn_structure(data, method, measure=by)  # type: ignore[arg-type]

    def out_of_memory(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr(structure_learning, "_learned", out_of_memory)
    with pytest.raises(pn.TooLarge, match="greedy by random-set-bic of 3 variables does not fit into memory"):
        pn.learn_structure(data)


@given(st.lists(st.integers(0, 9), max_size=150))
def test_bitmaps_of_codes_are_those_of_cells_of_one_state(codes: list[int]) -> None:
    numbers = np.array(codes, dtype=np.int64)
    np.testing.assert_array_equal(
        bitmaps.encode_codes(numbers, 10), bitmaps.encode_cells(numbers, np.eye(10, dtype=np.bool_))
    )


# searches


@settings(max_examples=30)
@given(strategies.seeds, st.sampled_from(["random-set-bic", "mdl"]), st.integers(0, 3))
def test_the_kept_score_never_falls_and_is_that_of_the_structure(seed: int, name: Any, restarts: int) -> None:
    net = pn.random_network(5, max_parents=2, states=(2, 3), rng=seed)
    data = pn.sample(net, 80, imprecision=0.5, rng=seed).distinct()
    one = pn.learn_structure(data, measure=name, tabu=0)
    more = pn.learn_structure(data, measure=name, tabu=8, restarts=restarts, rng=seed)
    assert more.score >= one.score - 1e-6
    assert all(step.gain > 0 for step in one.trace)
    for found in (one, more):
        assert found.score == pytest.approx(oracle(name)(found.dag, data), rel=1e-9)
        assert sum((found.families or {}).values()) == pytest.approx(found.score, rel=1e-9)
        totals = [step.total for step in found.trace]
        assert found.score >= max(totals, default=found.score) - 1e-6
        for before, step in pairwise(found.trace):
            assert step.total == pytest.approx(before.total + step.gain, rel=1e-9)
        for edge in found.edges:
            lower = oracle(name)(without(found.dag, edge), data)
            assert edge.value == pytest.approx(found.score - lower, rel=1e-9, abs=1e-6)
            assert edge.value > -1e-6


@settings(max_examples=30)
@given(strategies.seeds)
def test_greedy_finds_the_best_of_all_structures_of_three(seed: int) -> None:
    net = pn.random_network(3, max_parents=2, states=(2, 3), rng=seed)
    data = pn.sample(net, 400, process="precise", rng=seed)
    names = [v.name for v in data.variables]
    found = pn.learn_structure(data, measure="bic", restarts=3, rng=1)
    score = FamilyScore(CodedRows(data), "bic")
    assert found.score == pytest.approx(max(score_of(score, dag) for dag in oracles.all_dags(names)), abs=1e-6)


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
    found, listed = tree_of(drawn)
    assert found.score == oracles.heaviest_tree(listed, "abcde")
    assert found.edges.sum() == 4
    assert found.edges.sum(axis=0).max() == 1
    for (action, a, b), gain in found.gains.items():
        if action == "add":  # a pair outside, exchanged for the weakest edge that it would make needless
            assert gain <= 0.0
            assert not found.edges[a, b]


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
@given(strategies.seeds, st.sampled_from(CONTOUR_MEASURES), st.sampled_from(["product", "min"]))
def test_gains_of_contours_are_measures_of_counts(seed: int, name: Any, reading: Any) -> None:
    net = pn.random_network(4, states=(2, 3), rng=seed)
    data = pn.sample(net, 100, imprecision=0.5, rng=seed)
    names = [v.name for v in data.variables]
    gains = ContourGains(CodedRows(data), name, reading)
    nothing = np.zeros((4, 4), dtype=bool)
    alone = gains.gains(0, (), ~nothing[0], nothing)
    assert alone[0] == -np.inf
    for k in (1, 2, 3):
        counts = np.array(oracles.pair_counts(data, names[k], names[0]))
        assert alone[k] == pytest.approx(measure(name, counts, reading), abs=1e-9)


@pytest.mark.parametrize("name", ["random-set-bic", "mdl"])
@pytest.mark.parametrize("method", ["k2", "mwst"])
def test_values_and_scores_by_k2_and_of_trees_are_those_of_the_structure(method: Any, name: Any) -> None:
    data = pn.sample(sharp_tree(6), 400, process="traced", imprecision=0.4, rng=2)
    found = pn.learn_structure(data, method, measure=name, required=[("v5", "v0")])
    assert found.score == pytest.approx(oracle(name)(found.dag, data), rel=1e-9)
    assert sum((found.families or {}).values()) == pytest.approx(found.score, rel=1e-9)
    assert found.trace[-1].total == pytest.approx(found.score, rel=1e-9)
    assert ("v5", "v0") in found.dag.edges
    for edge in found.edges:
        lower = oracle(name)(without(found.dag, edge), data)
        assert edge.value == pytest.approx(found.score - lower, abs=1e-6)


@pytest.mark.parametrize("method", ["k2", "hybrid-dag", "mwst"])
def test_measures_of_required_edges_count(method: Any) -> None:
    data = pn.sample(sharp_tree(6), 1500, process="traced", imprecision=0.4, rng=2)
    found = pn.learn_structure(data, method, measure="specificity-gain", required=[("v5", "v0"), ("v0", "v3")])
    assert {("v5", "v0"), ("v0", "v3")} <= {edge[:2] for edge in found.edges if edge.value > 0.0}
    assert sum(edge.value for edge in found.edges) == pytest.approx(found.score, rel=1e-9)
    assert sum((found.families or {}).values()) == pytest.approx(found.score, rel=1e-9)


def test_traced_bic_has_no_families_and_its_score_is_that_of_em() -> None:
    net = sharp_tree(4, children=1)
    data = pn.sample(net, 2000, process="traced", rng=2)
    names = [v.name for v in data.variables]
    scores_found = []
    for method in ("greedy", "mwst", "k2"):
        found = pn.learn_structure(data, method, measure="traced-bic")
        score = TracedScore(CodedRows(data, missing=True))
        score.polish(numbered(found.dag, names))
        assert found.families is None
        assert found.score == pytest.approx(score.total(numbered(found.dag, names)), abs=0.5)
        scores_found.append(found.score)
        for edge in found.edges if method == "k2" else ():
            lower = score.total(numbered(without(found.dag, edge), names))
            assert edge.value == pytest.approx(found.score - lower, abs=1.0)
    assert scores_found == pytest.approx([scores_found[0]] * 3, abs=0.5)


def test_edges_of_trees_are_worth_what_their_direction_is() -> None:
    data = pn.sample(pn.load_example("asia"), 2000, imprecision=0.5, rng=2)
    pairs = count_pairs(data)
    found = pn.learn_structure(data, "mwst", measure="specificity-ratio", required=[("lung", "tub"), ("tub", "asia")])
    for edge in found.edges:
        assert edge.value == pytest.approx(specificity_ratio(pairs.contour(edge.parent, edge.child)))
    assert found.score == pytest.approx(sum(edge.value for edge in found.edges))


def test_an_edge_that_its_price_rules_out_is_worth_its_loss_if_it_is_required() -> None:
    rng = np.random.default_rng(1)
    data = pn.Dataset.from_table({n: [str(x) for x in rng.integers(30, size=40)] for n in "abc"})
    found = pn.learn_structure(data, "mwst", measure="bic", required=[("a", "b")])
    (edge,) = found.edges
    empty = pn.learn_structure(data, "mwst", measure="bic", max_parents=0)
    assert edge.value == pytest.approx(found.score - empty.score)
    assert edge.value < 0.0
    every = pn.learn_structure(data, "mwst", measure="bic", threshold=-1e9)
    assert len(every.edges) == 2
    assert np.isfinite(every.score)


def test_ties_of_a_tree_are_possible_pairs_whose_swap_keeps_it_a_tree() -> None:
    column = ["x", "y"] * 50
    data = pn.Dataset.from_table({"a": column, "b": column, "c": column, "d": ["u", "u", "v", "v"] * 25})
    free = pn.learn_structure(data, "mwst", measure="chi2")
    assert [set(step.ties) for step in free.trace] == [{("add", "b", "c")}, {("add", "b", "c")}]
    bound = pn.learn_structure(data, "mwst", measure="chi2", forbidden=[("a", "b"), ("b", "a")])
    assert bound.ties == ()
    assert not {("a", "b"), ("b", "a")} & {miss[1:3] for miss in bound.near_misses}
    required = pn.learn_structure(data, "mwst", measure="chi2", required=[("a", "d")])
    swaps = {
        miss[1:3]: miss.gain for miss in required.near_misses
    }  # b -> d for a - b: nothing takes the place of a -> d
    assert swaps == pytest.approx({("b", "c"): 0.0, ("b", "d"): -2.0, ("c", "d"): -2.0})
    one_way = pn.learn_structure(data, "mwst", measure="chi2", forbidden=[("b", "c")])
    assert ("c", "b") in {miss[1:3] for miss in one_way.near_misses}
    assert ("b", "c") not in {miss[1:3] for miss in one_way.near_misses}


@given(st.lists(st.integers(0, 2), min_size=10, max_size=10))
def test_a_tie_of_a_tree_can_take_the_place_of_its_edge(drawn: list[int]) -> None:
    found, listed = tree_of([weight / 3 for weight in drawn])
    edges = {frozenset((m.parent, m.child)) for m in found.moves}
    for move in found.moves:
        expected = set()
        for pair in set(map(frozenset, PAIRS)) - edges:
            swapped = edges - {frozenset((move.parent, move.child))} | {pair}
            total = sum(listed[frozenset("abcde"[k] for k in edge)] for edge in swapped)
            if _is_tree(swapped) and total == pytest.approx(found.score):
                expected.add(pair)
        assert {frozenset(tie[1:]) for tie in move.ties} == expected


def _is_tree(edges: set[frozenset[int]]) -> bool:
    reached = {0}
    for _ in range(5):
        reached |= {k for edge in edges if edge & reached for k in edge}
    return reached == set(range(5))


def test_max_steps_counts_the_moves_of_each_climb() -> None:
    data = pn.sample(pn.load_example("asia"), 3000, process="precise", rng=2)
    whole = pn.learn_structure(data, measure="bic")
    short = pn.learn_structure(data, measure="bic", max_steps=6)
    again = pn.learn_structure(data, measure="bic", max_steps=6, restarts=20, rng=1)
    assert len(short.trace) == 6
    assert short.score < again.score == pytest.approx(whole.score)
    few = data[:500].select(["smoke", "lung", "bronc", "either", "dysp"])
    climbs = [pn.learn_structure(few, measure="traced-bic", max_steps=2, restarts=n, rng=1) for n in (0, 6)]
    assert climbs[1].score > climbs[0].score + 1.0
    for name in ("random-set-bic", "traced-bic"):
        assert len(pn.learn_structure(data, measure=name, max_steps=2).dag.edges) == 2


# what learners find


def cell_information(net: pn.Network, parent: str, child: str, laws: dict[str, dict[frozenset[str], float]]) -> float:
    """Mutual information, in nats, of the cells of an edge under the exact law of `alpha-cut` rows of a tree."""
    return sum(
        chance * mass * log(mass / laws[child][cell])
        for above, chance in laws[parent].items()
        for cell, mass in pn.sampling_law(net, child, {parent: above}).masses.items()
        if chance * mass > 0
    )


def cell_laws(net: pn.Network) -> dict[str, dict[frozenset[str], float]]:
    """Exact law of every cell of a tree, from the root down."""
    laws: dict[str, dict[frozenset[str], float]] = {}
    for name in net.dag.topological_order():
        laws[name] = {}
        above = net.dag.parents(name)
        for given_cell, chance in laws[above[0]].items() if above else [(None, 1.0)]:
            found = pn.sampling_law(net, name, {above[0]: given_cell} if given_cell is not None else None)
            for cell, mass in found.masses.items():
                laws[name][cell] = laws[name].get(cell, 0.0) + chance * mass
    return laws


@pytest.mark.parametrize("seed", range(6))
def test_trees_of_alpha_cuts_are_found_as_far_as_the_law_shows_them(seed: int) -> None:
    """Edges whose cells carry enough information under the exact law must be found; no other pair may be."""
    rows = 50_000
    net = random_tree(6, 3, seed)
    laws = cell_laws(net)
    must = set()
    for parent, child in net.dag.edges:
        price = log(rows) / 2 * (len(laws[parent]) - 1) * (len(laws[child]) - 1)
        if rows * cell_information(net, parent, child, laws) > 2 * price + 20:
            must.add(frozenset((parent, child)))
    data = pn.sample(net, rows, rng=seed)
    for method, options in (("greedy", {}), ("mwst", {}), ("k2", {"order": net.dag.nodes})):
        found = skeleton(pn.learn_structure(data, method, measure="random-set-bic", **options).dag)  # type: ignore[arg-type]
        assert must <= found <= skeleton(net.dag), method


def test_some_edges_of_alpha_cuts_are_hidden_by_the_law() -> None:
    hidden = 0
    for seed in range(6):
        net = random_tree(6, 3, seed)
        laws = cell_laws(net)
        hidden += sum(cell_information(net, p, c, laws) < 1e-12 for p, c in net.dag.edges)
    assert hidden > 0


@pytest.mark.parametrize("seed", [1, 2, 3, 4, 5])
def test_trees_of_precise_rows_are_found_by_every_score_and_by_mutual_information(seed: int) -> None:
    net = random_tree(6, 3, seed)
    data = pn.sample(net, 50_000, process="precise", rng=seed)
    for method, name in [*product(("greedy", "mwst", "k2"), ("bic", "random-set-bic", "mdl")), ("mwst", "mutual-information"),
                         ("hybrid-tree", None), ("hybrid-dag", None)]:  # fmt: skip
        options = {"order": net.dag.nodes} if method == "k2" else {}
        found = pn.learn_structure(data, method, measure=name, **options)  # type: ignore[arg-type]
        assert skeleton(found.dag) == skeleton(net.dag), (method, name)


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
            reading = conjunction.name
            values = [measure(name, table, reading), measure(name, table.T, reading)]  # type: ignore[arg-type]
            weights[frozenset(pair)] = max(values)
        best = oracles.heaviest_tree(weights, names)
        found = pn.learn_structure(data, "mwst", measure=name, conjunction=conjunction, threshold=-1.0)  # type: ignore[arg-type]
        assert sum(weights[edge] for edge in skeleton(found.dag)) == pytest.approx(best, abs=0.02)
        assert found.score == pytest.approx(best, abs=0.05)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_traced_bic_finds_chains_forks_and_colliders(shape: str, seed: int) -> None:
    """The structure itself, directions included, from 100,000 traced rows; by K2 too, given an order."""
    dag = pn.Dag.from_edges(SHAPES[shape], nodes=NAMES)
    net = random_tables(dag, 3, seed)
    data = pn.sample(net, 100_000, process="traced", rng=seed)
    assert set(pn.learn_structure(data, measure="traced-bic", tabu=0).dag.edges) == set(dag.edges)
    ordered = pn.learn_structure(data, "k2", measure="traced-bic", order=dag.topological_order())
    assert set(ordered.dag.edges) == set(dag.edges)


@pytest.mark.parametrize("seed", [1, 2, 4])
def test_traced_bic_finds_trees_with_hubs(seed: int) -> None:
    net = random_tree(6, 3, seed)
    data = pn.sample(net, 40_000, process="traced", rng=seed)
    found = pn.learn_structure(data, measure="traced-bic", tabu=0)
    assert skeleton(found.dag) == skeleton(net.dag)
    totals = [step.total for step in found.trace]
    assert totals == sorted(totals)
    assert found.score >= totals[-1] - 0.5


@pytest.mark.parametrize("method", ["mwst", "k2", "greedy"])
def test_traced_bic_finds_trees_where_cells_are_missing(method: Any) -> None:
    net = sharp_tree(6, children=1 if method == "mwst" else 2)  # pairs alone cannot tell siblings from parents
    data = with_missing(pn.sample(net, 3000, process="traced", rng=3), 0.3)
    options: dict[str, Any] = {"order": net.dag.nodes} if method == "k2" else {}
    found = pn.learn_structure(data, method, measure="traced-bic", **options)
    assert skeleton(found.dag) == skeleton(net.dag)


def test_no_local_gain_of_a_child_with_missing_cells_passes_its_bound() -> None:
    data = with_missing(pn.sample(sharp_tree(5), 500, process="traced", rng=1), 0.3)
    score = TracedScore(CodedRows(data, missing=True))
    for child, parents in ((1, ()), (0, (1,)), (2, (0, 3))):
        here = score.local(child, parents) - score.penalty(child, parents)
        for k, gain in enumerate(score.additions(child, parents)):
            if np.isfinite(gain):
                wider = tuple(sorted((*parents, k)))
                exact = score.local(child, wider) - score.penalty(child, wider) - here
                assert gain == pytest.approx(exact) if exact > 0.0 else gain >= exact - 1e-6


def test_on_a_traced_fork_cells_of_siblings_stay_dependent() -> None:
    """Why traced BIC exists: random-set BIC joins the siblings, for the parent's cell does not tell its state."""
    dag = pn.Dag.from_edges(SHAPES["fork"], nodes=NAMES)
    data = pn.sample(random_tables(dag, 3, 0), 100_000, process="traced", rng=0)
    assert frozenset("ac") in skeleton(pn.learn_structure(data).dag)
    assert frozenset("ac") not in skeleton(pn.learn_structure(data, measure="traced-bic").dag)


def test_k2_finds_the_parents_given_the_order() -> None:
    net = pn.load_example("asia")
    data = pn.sample(net, 50_000, process="precise", rng=2)
    for name in ("bic", "random-set-bic", "mdl"):
        found = pn.learn_structure(data, "k2", measure=name, order=net.dag.topological_order())
        assert {n: set(found.dag.parents(n)) for n in net.dag.nodes} == {
            n: set(net.dag.parents(n)) for n in net.dag.nodes
        }
        assert found.order == net.dag.topological_order()


def test_k2_keeps_the_best_of_several_orders() -> None:
    data = pn.sample(pn.load_example("asia"), 5000, process="precise", rng=3)
    data = data.select([v.name for v in reversed(data.variables)])
    first = pn.learn_structure(data, "k2", orders=1)
    many = pn.learn_structure(data, "k2", orders=20, rng=1)
    assert first.order == tuple(v.name for v in data.variables)
    assert many.score > first.score
    assert many == pn.learn_structure(data, "k2", orders=20, rng=1)


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
    more = pn.learn_structure(data, "hybrid-dag", max_parents=3)
    assert max(len(more.dag.parents(n)) for n in more.dag.nodes) == 3
    none = pn.learn_structure(data, "hybrid-dag", threshold=100.0)
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
    found = pn.learn_structure(data, method)
    assert len(found.edges) == 3
    assert {name for edge in found.dag.edges for name in edge} == set("pqrs")


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


def test_independent_variables_are_left_alone() -> None:
    net = random_tables(pn.Dag({f"v{k}": () for k in range(5)}), 3, 1)
    for process in ("precise", "alpha-cut", "traced"):
        data = pn.sample(net, 20_000, process=process, imprecision=0.7, rng=1)
        for method, name in [*product(("greedy", "mwst", "k2"), ("random-set-bic", "mdl", "traced-bic")), ("k2", "chi2"),
                             ("k2", "mutual-information"), ("hybrid-tree", None), ("hybrid-dag", None)]:  # fmt: skip
            found = pn.learn_structure(data, method, measure=name)  # type: ignore[arg-type]
            assert found.dag.edges == (), (process, method, name)
            assert "no edges" in str(found)


# constraints


@pytest.mark.parametrize(("method", "name"), [*product(("greedy", "k2"), ("random-set-bic", "traced-bic")), ("hybrid-dag", None)])  # fmt: skip
def test_constraints_are_kept(method: Any, name: Any) -> None:
    net = pn.load_example("asia")
    data = pn.sample(net, 1000, process="traced", imprecision=0.3, rng=1)
    found = pn.learn_structure(
        data,
        method,
        measure=name,
        required=[("xray", "asia")],
        forbidden=[("bronc", "dysp"), ("dysp", "bronc")],
        tiers=[["either", "smoke"], ["lung", "bronc", "tub"]],
        max_parents=2,
        tabu=3,
        restarts=1,
        orders=3,
    )
    edges = set(found.dag.edges)
    assert ("xray", "asia") in edges
    assert not edges & {("bronc", "dysp"), ("dysp", "bronc")}
    assert not any(p in {"lung", "bronc", "tub"} and c in {"either", "smoke"} for p, c in edges)
    assert max(len(found.dag.parents(n)) for n in found.dag.nodes) <= 2


@pytest.mark.parametrize(("method", "name"), [("mwst", "mutual-information"), ("mwst", "random-set-bic"), ("hybrid-tree", None)])  # fmt: skip
def test_trees_keep_constraints_or_say_that_they_cannot(method: Any, name: Any) -> None:
    data = pn.sample(pn.load_example("asia"), 5000, process="precise", rng=1)
    found = pn.learn_structure(data, method, measure=name, required=[("xray", "asia")], forbidden=[("bronc", "dysp"), ("dysp", "bronc")])  # fmt: skip
    assert ("xray", "asia") in found.dag.edges
    assert not {("bronc", "dysp"), ("dysp", "bronc")} & set(found.dag.edges)
    with pytest.raises(pn.InputError, match="no root of the tree"):
        pn.learn_structure(data, method, measure=name, required=[("xray", "asia"), ("either", "asia")])
    with pytest.raises(pn.InputError, match="close a circle"):
        pn.learn_structure(data, method, measure=name, required=[("xray", "asia"), ("asia", "tub"), ("xray", "tub")])
    assert pn.learn_structure(data, method, measure=name, max_parents=0).dag.edges == ()


# the rest


def test_the_same_seed_gives_the_same_structure_and_a_stream_the_same_as_its_rows() -> None:
    net = pn.load_example("clinic")
    data = pn.sample(net, 2000, imprecision=0.6, rng=4)
    for method in METHODS:
        one = pn.learn_structure(data, method, restarts=2, rng=5)  # type: ignore[arg-type]
        assert one == pn.learn_structure(data, method, restarts=2, rng=5)  # type: ignore[arg-type]
        stream = pn.sample_batches(net, 2000, imprecision=0.6, rng=4, batch=300)
        assert one.dag == pn.learn_structure(stream, method, restarts=2, rng=5).dag  # type: ignore[arg-type]


@pytest.mark.parametrize("method", METHODS)
def test_weights_are_repeated_rows(method: Any) -> None:
    data = pn.sample(pn.load_example("clinic"), 700, imprecision=0.5, rng=4)
    weighted = data.distinct()
    assert len(weighted) < len(data)
    one, other = pn.learn_structure(data, method), pn.learn_structure(weighted, method)
    assert one.dag == other.dag
    assert one.score == pytest.approx(other.score, rel=1e-9)
    assert one.rows == other.rows == 700


def test_bootstrap_tells_how_often_an_edge_comes_out() -> None:
    data = pn.sample(pn.load_example("asia"), 2000, process="precise", rng=1)
    found = pn.learn_structure(data, bootstrap=10, rng=1)
    plain = pn.learn_structure(data, rng=1)
    assert found.dag == plain.dag
    assert all(edge.confidence is None for edge in plain.edges)
    shares = {(e.parent, e.child): (e.confidence, e.direction) for e in found.edges}
    assert shares["bronc", "dysp"][0] == 1.0
    assert all(0.0 <= so <= share <= 1.0 for share, so in shares.values() if share is not None and so is not None)
    assert found == pn.learn_structure(data, bootstrap=10, rng=1)
    assert "100 %" in str(found)
    with pytest.raises(pn.InputError, match="bootstrap of a stream"):
        pn.learn_structure(_Stream(data, 0), bootstrap=2)  # told before anything is read: batches of 0 rows cannot be


def test_results_say_how_they_came_about() -> None:
    data = pn.sample(pn.load_example("asia"), 5000, process="precise", rng=1)
    found = pn.learn_structure(data)
    assert found.trace[0].ties  # equivalent structures have equal scores, so the first edge may point either way
    assert found.ties[0] == found.trace[0]
    assert found.near_misses[0].gain <= 0.0
    text = str(found)
    for part in ("edge", "value", "near misses", "ties", "score"):
        assert part in text
    assert found.essential == found.dag.essential_graph()
    assert {(e.parent, e.child) for e in found.edges} == set(found.dag.edges)
    calls: list[tuple[int, int]] = []
    for method in METHODS:
        pn.learn_structure(data, method, progress=lambda done, total: calls.append((done, total)))  # type: ignore[arg-type]
    pn.learn_structure(
        data, "mwst", measure="chi2", bootstrap=2, progress=lambda done, total: calls.append((done, total))
    )
    assert (2, 2) in calls
    assert "k2" in str(pn.learn_structure(data, "k2", order=[v.name for v in data.variables]))


@pytest.mark.parametrize("method", METHODS)
def test_little_data_is_no_trouble(method: Any) -> None:
    one, many = pn.Variable("one", ("only",)), pn.Variable("many", tuple("abc"))
    other = pn.Variable("other", ("u", "v"))
    for rows in ([], [("only", None, {"u", "v"})], [("only", "a", "u")] * 3):
        data = pn.Dataset.from_rows((one, many, other), rows)
        for name in SCORES if method in {"greedy", "mwst", "k2"} else ("specificity-gain",):
            if name != "bic" or data.imprecise_share() == 0:
                found = pn.learn_structure(data, method, measure=name)  # type: ignore[arg-type]
                assert found.dag.edges == () or method == "hybrid-dag"
                assert found.rows == len(rows)
        assert pn.learn_structure(data.select(["many"]), method).dag.edges == ()


def test_sixty_imprecise_variables_are_learned() -> None:
    net = pn.random_network(60, max_parents=2, states=(2, 4), rng=5)
    data = pn.sample(net, 5000, process="traced", imprecision=0.7, rng=1)
    tried: Any = [
        ("greedy", "random-set-bic"),
        ("greedy", "mdl"),
        ("mwst", "mutual-information"),
        ("k2", "random-set-bic"),
    ]
    for method, name in tried:
        found = pn.learn_structure(data, method, measure=name, orders=2)
        both = skeleton(found.dag) & skeleton(net.dag)
        assert len(both) > 0.35 * len(net.dag.edges), (method, name)


def test_what_cannot_be_learned_is_refused() -> None:
    data = pn.sample(pn.load_example("clinic"), 50, imprecision=1.0, rng=1)
    names = [v.name for v in data.variables]
    refused: list[tuple[dict[str, Any], str]] = [
        ({"method": "gredy"}, "method 'gredy'; expected greedy.*did you mean 'greedy'"),
        ({"measure": "bick"}, "measure 'bick'.*did you mean 'bic'"),
        ({"measure": ""}, "measure ''; expected random-set-bic"),
        ({"measure": 0}, "measure 0; expected random-set-bic"),
        ({"measure": "bic"}, "not single states.*random-set-bic"),
        ({"measure": "chi2"}, "which nothing keeps from adding edges"),
        ({"method": "hybrid-tree", "measure": "chi2"}, "expected 'specificity-gain'"),
        ({"required": [("fevr", "rash")]}, "names 'fevr', which the data lacks.*did you mean 'fever'"),
        ({"required": [("fever", "fever")]}, "to itself"),
        ({"required": ["fever"]}, "expected a pair"),
        ({"required": "fever"}, "expected pairs"),
        ({"required": [("fever", "rash"), ("rash", "fever")]}, "required.*cycle"),
        ({"required": [("fever", "rash")], "forbidden": [("fever", "rash")]}, "is required, and forbidden"),
        ({"required": [("fever", "rash")], "tiers": [["rash"], ["fever"]]}, "against the tiers"),
        ({"required": [("fever", "rash")], "max_parents": 0}, "more required parents"),
        ({"tiers": [["fever"], ["fever"]]}, "two tiers"),
        ({"tiers": ["fever"]}, "expected a list of names"),
        ({"tiers": 3}, "expected lists of names"),
        ({"max_parents": -1}, "max_parents -1"),
        ({"threshold": 10**400}, "threshold 10+; expected a number"),
        ({"method": "k2", "order": names[:2]}, "expected every variable once"),
        (
            {"method": "k2", "order": names, "required": [(names[2], names[0])]},
            f"order has '{names[0]}' before '{names[2]}', but '{names[2]}' -> '{names[0]}' is required",
        ),
        ({"method": "k2", "order": "abc"}, "expected the names of all variables"),
        ({"orders": 0}, "orders 0"),
        ({"tabu": -1}, "tabu -1"),
        ({"restarts": 1.5}, "restarts 1.5"),
        ({"bootstrap": -1}, "bootstrap -1"),
        ({"max_steps": True}, "max_steps True"),
        ({"threshold": "high"}, "threshold 'high'"),
        ({"errors": float("nan")}, "errors nan"),
        ({"errors": None}, "errors None"),
        ({"errors": -1}, "errors -1; expected standard errors from 0 on"),
        ({"conjunction": "min"}, "expected possnet.PRODUCT or possnet.MIN"),
        ({"rng": -1}, "rng -1"),
    ]
    for options, message in refused:
        with pytest.raises(pn.InputError, match=message):
            pn.learn_structure(data, **options)
    with pytest.raises(pn.InputError, match="holds no rows"):
        pn.learn_structure("rows.csv")  # type: ignore[arg-type]


def test_every_measure_is_a_name_of_the_contract() -> None:
    assert set(METHODS) == {"mwst", "k2", "greedy", "hybrid-tree", "hybrid-dag"}
    assert set(MEASURES) == {*CONTOUR_MEASURES, *SCORES}
    assert set(SCORES) == {"bic", "random-set-bic", "traced-bic", "mdl"}


# the command


def test_the_command_learns_what_the_library_learns(tmp_path: Path) -> None:
    data = pn.sample(pn.load_example("asia"), 2000, process="precise", rng=1)
    rows, out = tmp_path / "rows.parquet", tmp_path / "learned.json"
    pn.write_data(data, rows)
    shown = run("learn", rows, "--out", out)
    found = pn.learn_structure(data)
    assert shown.returncode == 0, shown.stderr
    assert shown.stdout == f"{found}\n"
    learned = pn.read_network(out)
    assert learned.dag == found.dag
    np.testing.assert_allclose(learned.table("dysp"), pn.fit(found.dag, data).table("dysp"))
    pair = pn.learn_structure(data, "mwst", required=[("xray", "asia")], max_parents=1, threshold=1e9)
    assert "1 edge of 8 nodes" in str(pair)
    assert "8 variables, 1 edge," in repr(pair)
    required = run("learn", rows, "--method", "mwst", "--require", "xray->asia", "--json").stdout
    assert "Infinity" not in required
    assert "NaN" not in required
    document = json.loads(run("learn", rows, "--method", "k2", "--order", ",".join(data.row(0)), "--json", "--bootstrap", 3).stdout)  # fmt: skip
    assert document["order"] == list(data.row(0))
    assert {(e["parent"], e["child"]) for e in document["edges"]} == set(
        pn.learn_structure(data, "k2", order=list(data.row(0))).dag.edges
    )
    assert all(0 <= e["confidence"] <= 1 for e in document["edges"])


def test_the_command_fits_tables_by_em_for_traced_bic_and_keeps_constraints(tmp_path: Path) -> None:
    net = random_tables(pn.Dag.from_edges(SHAPES["chain"], nodes=NAMES), 2, 2)
    data = pn.sample(net, 3000, process="traced", rng=1)
    rows, out = tmp_path / "rows.csv", tmp_path / "learned.json"
    pn.write_data(data, rows)
    done = run("learn", rows, "--measure", "traced-bic", "--conjunction", "min", "--require", "c -> a", "--out", out)
    assert done.returncode == 0, done.stderr
    learned = pn.read_network(out)
    assert ("c", "a") in learned.dag.edges
    assert learned.conjunction is pn.MIN
    expected = pn.fit_em(learned.dag, pn.read_data(rows), conjunction=pn.MIN).network
    np.testing.assert_allclose(learned.table("a"), expected.table("a"), atol=1e-6)
    tiers = json.loads(run("learn", rows, "--tier", "c", "--tier", "a,b", "--forbid", "c->b", "--json").stdout)
    assert not {("a", "c"), ("b", "c"), ("c", "b")} & {(e["parent"], e["child"]) for e in tiers["edges"]}


def test_mistakes_of_the_command_get_one_line(tmp_path: Path) -> None:
    rows = tmp_path / "rows.csv"
    pn.write_data(pn.sample(pn.load_example("asia"), 20, rng=1), rows)
    for arguments, message in (
        (("--method", "gredy"), "method 'gredy'"),
        (("--measure", "chi2"), "which nothing keeps from adding edges"),
        (("--require", "smoke"), "expected parent->child"),
        (
            ("--forbid", "smok->lung"),
            "no 'smok' (asia, tub, smoke, lung, bronc, either, xray, dysp); did you mean 'smoke'?",
        ),
        (("--out", "learned.csv"), "unknown suffix '.csv'; expected .json"),
        (("--tier", "asia,nowhere"), "tier names 'nowhere'"),
    ):
        shown = run("learn", rows, *arguments)
        assert shown.returncode == 1, arguments
        assert shown.stderr.startswith("Error: ")
        assert message in shown.stderr
        assert shown.stdout == ""
    assert run("learn", tmp_path / "nowhere.csv").returncode == 1
    assert run("learn", rows, "--max-parents", "-1").returncode == 2


# experiments


def test_an_experiment_learns_the_structure_from_the_rows_too() -> None:
    net = pn.load_example("clinic")
    options: dict[str, Any] = {"rows": 400, "imprecision": 0.5, "process": "traced", "repeats": 1, "rng": 3}
    found = pn.evaluate({"c": net}, learners=["likelihood", "em"], learn=["given", "mwst:chi2", "greedy"], **options)
    assert [cell.learner for cell in found.trials] == [
        "likelihood", "em", "likelihood@mwst:chi2", "em@mwst:chi2", "likelihood@greedy", "em@greedy",
    ]  # fmt: skip
    assert not found.failed
    by_learner = dict(zip([c.learner for c in found.trials], found.outcomes, strict=True))
    assert by_learner["em"].measures["hamming"][0] == 0.0
    assert by_learner["likelihood@mwst:chi2"].measures["hamming"][2] is None
    cell = found.trials[2]
    data = pn.sample(net, 400, imprecision=0.5, process="traced", rng=cell.seed(3, encode_network(net)))
    learned = pn.fit(pn.learn_structure(data, "mwst", measure="chi2").dag, data)
    assert by_learner[cell.learner].measures["affinity"][0] == pn.compare(net, learned)["affinity"].value
    plain = pn.evaluate({"c": net}, learners=["likelihood", "em"], **options)
    assert plain.trials == found.trials[:2]
    assert [o.measures for o in plain.outcomes] == [o.measures for o in found.outcomes[:2]]


@pytest.mark.usefixtures("no_report")
def test_experiments_refuse_structures_that_they_do_not_know(tmp_path: Path) -> None:
    for learn, message in (("gredy", "learn 'gredy'; expected 'given', or a method.*did you mean 'greedy'"),
                           ("greedy:bick", "did you mean 'bic'"), ([], "no learn"), (3, "learn '3'"),
                           ("greedy:chi2", "evaluate: learn 'greedy:chi2': .*which nothing keeps from adding edges"),
                           ("hybrid-tree:bic", "evaluate: learn 'hybrid-tree:bic': .*expected 'specificity-gain'"),
                           ("k2:bic", "learn 'k2:bic' from alpha-cut rows, which are imprecise")):  # fmt: skip
        with pytest.raises(pn.InputError, match=message):
            pn.evaluate(["asia"], rows=10, learn=learn, repeats=1)  # type: ignore[arg-type]
    shown = run("evaluate", "asia", "--rows", 50, "--imprecision", 1, "--process", "precise", "--learner", "likelihood",
                "--learn", "given,greedy:bic", "--repeats", 1, "--metric", "hamming", "--out", tmp_path / "run")  # fmt: skip
    assert shown.returncode == 0, shown.stderr
    assert "likelihood@greedy:bic" in shown.stdout
    assert "likelihood@greedy:bic" in (tmp_path / "run" / "results.csv").read_text()


def test_a_climb_that_begins_on_some_of_the_rows_ends_at_the_same_structure(monkeypatch: pytest.MonkeyPatch) -> None:
    """Many rows: first a sample, then all. The structure kept is scored on all rows, and as good as a climb on all."""
    dag = pn.Dag({"a": (), "b": ("a",), "c": ("a",), "d": ("b",), "e": ("b",), "f": ("c",)})
    net = random_tables(dag, 3, 2)
    data = pn.sample(net, 6000, process="traced", imprecision=0.7, rng=2)
    whole = pn.learn_structure(data, measure="traced-bic", tabu=0)
    monkeypatch.setattr("possnet.structure.structural_em._SOME", 1500)
    found = pn.learn_structure(data, measure="traced-bic", tabu=0)
    assert set(found.dag.edges) == set(whole.dag.edges)
    assert found.score == pytest.approx(whole.score, abs=1.0)
    score = TracedScore(CodedRows(data, missing=True))
    families = numbered(found.dag, score.names)
    score.polish(families)
    assert score.total(families) == pytest.approx(found.score, abs=0.5)
    assert len(found.trace) >= 5
    assert all(np.isfinite(step.gain) for step in found.trace)

"""Best order score search against all structures, its trees against growing and shrinking, and its order against all."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import possnet as pn
from possnet.structure import DecomposableScore
from possnet.structure.best_order_search import _OrderSearch
from possnet.structure.bit_sets import bits_of
from possnet.structure.exact_orders import find_best_structure
from possnet.structure.grow_shrink_tree import GrowShrinkTree
from possnet.structure.search_graph import CompiledConstraints
from tests import oracles, strategies
from tests.structure.cases import family_score, free, oracle, problem_of, score_of, without

SHARP = [[1, 0.2, 0.1], [0.1, 1, 0.3], [0.2, 0.1, 1]]
DECOMPOSABLE = ["random-set-bic", "mdl", "bic", "bdeu"]


@pytest.fixture
def some_orders(monkeypatch: pytest.MonkeyPatch) -> None:
    """Some orders alone, as with many variables, where all could be compared."""
    monkeypatch.setattr(DecomposableScore, "tabulate_families", lambda *_: None)


def rows_for(name: str, net: pn.Network, rows: int, seed: int) -> pn.Dataset:
    precise = name in {"bic", "bdeu"}
    data = (
        pn.sample(net, rows, process="precise", rng=seed)
        if precise
        else pn.sample(net, rows, imprecision=0.5, rng=seed)
    )
    return data.distinct()


@settings(max_examples=40)
@given(strategies.seeds, st.sampled_from(DECOMPOSABLE), st.integers(0, 3), st.booleans())
def test_the_score_is_that_of_the_structure_and_not_below_hill_climbing(
    seed: int, name: Any, restarts: int, few: bool
) -> None:
    net = pn.random_network(5, max_parents=2, states=(2, 3), rng=seed)
    data = rows_for(name, net, 80, seed)
    slow = oracle("mdl" if name == "bic" else name)
    with pytest.MonkeyPatch.context() as patch:
        if not few:
            patch.setattr(DecomposableScore, "tabulate_families", lambda *_: None)
        learned = pn.learn_structure(data, "boss", measure=name, search=pn.Search(restarts=restarts), rng=seed)
    assert learned.score == pytest.approx(slow(learned.dag, data), rel=1e-9)
    assert learned.score >= pn.learn_structure(data, "greedy", measure=name).score - 1e-6
    assert sum((learned.families or {}).values()) == pytest.approx(learned.score, rel=1e-9)
    for edge in learned.edges:
        assert edge.value == pytest.approx(learned.score - slow(without(learned.dag, edge), data), rel=1e-9, abs=1e-6)
        assert edge.value > -1e-6


@settings(max_examples=40)
@given(strategies.seeds, st.booleans())
def test_the_moves_put_the_structure_together_along_its_order(seed: int, few: bool) -> None:
    net = pn.random_network(6, max_parents=2, states=(2, 3), rng=seed)
    data = pn.sample(net, 300, process="precise", rng=seed)
    required = net.dag.edges[:1]
    with pytest.MonkeyPatch.context() as patch:
        if not few:
            patch.setattr(DecomposableScore, "tabulate_families", lambda *_: None)
        learned = pn.learn_structure(data, "boss", measure="bic", constraints=pn.Constraints(required=required))
    assert learned.order is not None
    assert all(learned.order.index(parent) < learned.order.index(child) for parent, child in learned.dag.edges)
    assert {(step.parent, step.child) for step in learned.trace} == set(learned.dag.edges) - set(required)
    start = score_of(family_score(data, "bic"), pn.Dag.from_edges(required, nodes=net.dag.nodes))
    totals = [start, *(step.total for step in learned.trace)]
    for (before, after), step in zip(pairwise(totals), learned.trace, strict=True):
        assert after == pytest.approx(before + step.gain, rel=1e-9)
    assert totals[-1] == pytest.approx(learned.score, rel=1e-9)


@pytest.mark.usefixtures("some_orders")
@pytest.mark.parametrize("name", ["bic", "bdeu"])
def test_the_best_of_all_structures_of_four_is_found(name: str) -> None:
    best = []
    for seed in range(25):
        net = pn.random_network(4, max_parents=3, states=(2, 3), rng=seed)
        data = pn.sample(net, 2000, process="precise", rng=seed)
        score = family_score(data, name)
        top = max(score_of(score, dag) for dag in ALL_OF_FOUR)
        learned = pn.learn_structure(data, "boss", measure=name)
        assert learned.score <= top + 1e-6
        best.append(learned.score >= top - 1e-6)
    assert sum(best) >= 24, best


ALL_OF_FOUR = oracles.all_dags([v.name for v in pn.random_network(4, rng=0).variables])


def draw_constraints(names: list[str], rng: np.random.Generator) -> pn.Constraints:
    """Required and forbidden edges, tiers and a number of parents that do not contradict each other."""
    order = [names[k] for k in rng.permutation(len(names))]
    forward = [(a, b) for k, a in enumerate(order) for b in order[k + 1 :]]
    required = [forward[k] for k in rng.choice(len(forward), size=rng.integers(3), replace=False)]
    every = [edge for edge in [*forward, *((b, a) for a, b in forward)] if edge not in required]
    forbidden = [every[k] for k in rng.choice(len(every), size=rng.integers(5), replace=False)]
    tiers = [order[:2], order[2:]] if rng.random() < 0.5 else []
    return pn.Constraints(required, forbidden, tiers, max_parents=int(rng.integers(2, 4)))


def keeps_constraints(dag: pn.Dag, constraints: pn.Constraints) -> bool:
    levels = {name: level for level, tier in enumerate(constraints.tiers) for name in tier}
    return (
        set(constraints.required) <= set(dag.edges)
        and not set(constraints.forbidden) & set(dag.edges)
        and all(levels.get(a, 0) <= levels.get(b, 0) for a, b in dag.edges)
        and all(len(dag.parents(name)) <= (constraints.max_parents or 0) for name in dag.nodes)
    )


@settings(max_examples=40)
@given(strategies.seeds, st.sampled_from(["bic", "bdeu"]), st.booleans())
def test_no_structure_is_better_than_the_best_of_all_orders(seed: int, name: str, bound: bool) -> None:
    """Against every DAG of four variables, with constraints and without."""
    net = pn.random_network(4, max_parents=3, states=(2, 3), rng=seed)
    data = pn.sample(net, 1 + seed % 500, process="precise", rng=seed)
    constraints = draw_constraints([v.name for v in net.variables], np.random.default_rng(seed)) if bound else None
    score = family_score(data, name)
    assert score.tabulate_families() is not None
    learned = pn.learn_structure(data, "boss", measure=name, constraints=constraints)
    dags = [dag for dag in ALL_OF_FOUR if constraints is None or keeps_constraints(dag, constraints)]
    assert learned.dag in dags
    assert learned.score == pytest.approx(max(score_of(score, dag) for dag in dags), rel=1e-9)


ALL_OF_THREE = oracles.all_dags(["a", "copy", "few"])


@settings(max_examples=60)
@given(strategies.seeds, st.sampled_from(["bic", "bdeu"]))
def test_no_structure_is_better_where_a_column_is_a_copy_of_another(seed: int, name: str) -> None:
    """A column of fewer states that tells nearly as much of the copy may be the cheaper parent."""
    rng = np.random.default_rng(seed)
    few = rng.integers(2, size=rng.integers(20, 80))
    many = np.where(rng.random(len(few)) < 0.9, few * 2, rng.integers(4, size=len(few)))
    columns = {"a": [f"s{k}" for k in many], "copy": [f"t{k}" for k in many], "few": [f"u{k}" for k in few]}
    data = pn.Dataset.from_table(columns)
    score = family_score(data, name)
    learned = pn.learn_structure(data, "boss", measure=name)
    assert learned.score == pytest.approx(max(score_of(score, dag) for dag in ALL_OF_THREE), rel=1e-9)
    assert learned.score == pytest.approx(score_of(score, learned.dag), rel=1e-9)


def test_of_what_ties_the_best_of_all_orders_has_the_fewest_parents_and_the_last_columns_last() -> None:
    scores = np.full((3, 8), -1.0)  # no parents gain anything
    assert find_best_structure(scores, free(3, 2)) == ([0, 1, 2], [(), (), ()])
    scores[1, 1] = scores[0, 2] = 0.0  # an edge between the first two, in either direction
    assert find_best_structure(scores, free(3, 2)) == ([0, 1, 2], [(), (0,), ()])


@pytest.mark.usefixtures("some_orders")
def test_constraints_are_kept_and_the_best_structure_that_keeps_them_is_found() -> None:
    missed = 0
    for seed in range(40):
        net = pn.random_network(4, max_parents=3, states=(2, 3), rng=seed)
        data = pn.sample(net, 500, process="precise", rng=seed)
        constraints = draw_constraints([v.name for v in net.variables], np.random.default_rng(seed))
        learned = pn.learn_structure(data, "boss", measure="bic", constraints=constraints)
        assert keeps_constraints(learned.dag, constraints)
        score = family_score(data, "bic")
        top = max(score_of(score, dag) for dag in ALL_OF_FOUR if keeps_constraints(dag, constraints))
        assert learned.score <= top + 1e-6
        missed += learned.score < top - 1e-6
    assert missed <= 1


def grow_and_shrink(score: DecomposableScore, child: int, among: list[int]) -> tuple[float, tuple[int, ...]]:
    """By the definition: the best addition while the score rises, then the best deletion."""
    parents: tuple[int, ...] = ()
    for grow in (True, False):
        while True:
            changed = [tuple(sorted({*parents, k})) for k in among if k not in parents] if grow else [tuple(p for p in parents if p != k) for k in parents]  # fmt: skip
            scored = [(score.score_family(child, family), family) for family in changed]
            if not scored or max(scored)[0] <= score.score_family(child, parents) + 1e-6:
                break
            parents = max(scored)[1]
    return score.score_family(child, parents), parents


@given(strategies.seeds, st.lists(st.sets(st.integers(1, 5)), min_size=1, max_size=6))
def test_a_tree_grows_and_shrinks_and_never_forgets_a_better_family(seed: int, sets: list[set[int]]) -> None:
    net = pn.random_network(6, max_parents=3, states=(2, 3), rng=seed)
    data = pn.sample(net, 300, process="precise", rng=seed)
    score, tree = family_score(data, "bic"), GrowShrinkTree(family_score(data, "bic"), 0, free(6, 5))
    for place, among in enumerate(sets):
        value, parents = tree.best_family(bits_of(sorted(among)))
        assert value == pytest.approx(score.score_family(0, parents), rel=1e-9)
        assert set(parents) <= among
        least, grown = grow_and_shrink(score, 0, sorted(among))
        assert value >= least - 1e-6
        if place == 0:
            assert parents == grown
        for earlier in sets[:place]:
            if earlier <= among:
                assert value >= tree.best_family(bits_of(sorted(earlier)))[0] - 1e-6


def test_a_family_that_growing_misses_is_used_where_the_order_allows_it() -> None:
    """Neither of two fair coins tells anything of whether they agree."""
    coins = {"a": ["x", "x", "y", "y"] * 50, "b": ["x", "y"] * 100, "c": ["u", "v", "v", "u"] * 50}
    score = family_score(pn.Dataset.from_table(coins), "bic")
    tree = GrowShrinkTree(score, 2, free(3, 2))
    assert tree.best_family(0b011)[1] == ()
    tree.keep_family(score.score_family(2, (0, 1)), (0, 1))
    assert [tree.best_family(before)[1] for before in (0b011, 0b001, 0b010)] == [(0, 1), (), ()]


@given(strategies.seeds, st.permutations(range(5)), st.integers(0, 4))
def test_a_variable_is_put_at_the_place_whose_structure_is_best(seed: int, order: list[int], variable: int) -> None:
    net = pn.random_network(5, max_parents=3, states=(2, 3), rng=seed)
    data = pn.sample(net, 200, process="precise", rng=seed)
    search = _OrderSearch(family_score(data, "bic"), problem_of(data, "bic"))
    others = [k for k in order if k != variable]
    search.score_places(variable, others)  # families that are kept on the way may serve other places
    scores = search.score_places(variable, others)
    for place, score in enumerate(scores):
        edges = search.edges_of([*others[:place], variable, *others[place:]])
        assert score == pytest.approx(search.score.score_required(edges), rel=1e-9)  # type: ignore[attr-defined]
    placed = list(order)
    assert search.place_variable(variable, placed) == pytest.approx(max(scores), abs=1e-4)
    assert [k for k in placed if k != variable] == others


def test_required_edges_bound_the_places_of_a_variable() -> None:
    required = np.zeros((4, 4), dtype=bool)
    required[0, 1] = required[1, 2] = True
    data = pn.sample(pn.random_network(4, rng=1), 20, process="precise", rng=1)
    search = _OrderSearch(family_score(data, "bic"), problem_of(data, "bic"))
    search.problem.__dict__["constraints"] = CompiledConstraints(required, ~np.eye(4, dtype=bool), 3)
    assert search.allowed_places(1, [3, 0, 2]) == range(2, 3)
    assert search.allowed_places(0, [1, 2, 3]) == range(1)
    assert search.allowed_places(3, [0, 1, 2]) == range(4)


@pytest.mark.usefixtures("some_orders")
def test_the_order_of_the_columns_hardly_matters() -> None:
    """Of hill climbing, 16 of 80 such runs end with another score; see docs/structure.md."""
    apart = 0
    for seed in range(25):
        net = pn.random_network(5, max_parents=3, states=(2, 3), rng=seed)
        data = pn.sample(net, 300, process="precise", rng=seed)
        turned = data.select([v.name for v in reversed(data.variables)])
        one, other = (pn.learn_structure(rows, "boss", measure="bic") for rows in (data, turned))
        apart += abs(one.score - other.score) > 1e-6
    assert apart <= 1  # of the first 40 one was, when this was written


@pytest.mark.parametrize("few", [True, False], ids=["all orders", "some orders"])
def test_children_of_copies_of_a_column_are_those_of_the_first(few: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not few:
        monkeypatch.setattr(DecomposableScore, "tabulate_families", lambda *_: None)
    net = pn.Network(
        [pn.Variable(name, ("1", "2", "3")) for name in ("a", "b", "c", "d")],
        pn.Dag({"a": (), "b": ("a",), "c": ("a",), "d": ("a",)}),
        {"a": [1, 0.9, 0.8], "b": SHARP, "c": SHARP, "d": SHARP},
    )
    data = pn.sample(net, 500, process="precise", rng=1)
    copy = {"first": [row["a"] for row in map(data.row, range(len(data)))]}
    copy |= {v.name: [data.row(k)[v.name] for k in range(len(data))] for v in data.variables}
    learned = pn.learn_structure(pn.Dataset.from_table(copy), "boss", measure="bic")
    pairs = set(map(frozenset, learned.dag.edges))
    assert pairs == {frozenset(("first", name)) for name in "abcd"}


@pytest.mark.parametrize("rows", [1, 2])
def test_few_rows_and_constant_columns_have_no_edges(rows: int) -> None:
    data = pn.Dataset.from_table({"a": ["x"] * rows, "b": ["u"] * rows, "c": ["w"] * rows})
    assert pn.learn_structure(data, "boss", measure="bic").dag.edges == ()
    assert pn.learn_structure(data.select(["a"]), "boss", measure="bic").dag.nodes == ("a",)


@pytest.mark.usefixtures("some_orders")
def test_progress_is_reported_and_an_interrupt_returns_the_best_so_far() -> None:
    data = pn.sample(pn.load_example("asia"), 200, process="precise", rng=1)
    reports: list[int] = []

    def interrupt(done: int, _total: int) -> None:
        reports.append(done)
        if done == 20:
            raise KeyboardInterrupt

    learned = pn.learn_structure(data, "boss", measure="bic", progress=interrupt)
    assert reports == list(range(1, 21))
    assert learned.stopped == "interrupted"
    assert learned.score >= pn.learn_structure(data, "greedy", measure="bic").score - 1e-6
    late = pn.learn_structure(data, "boss", measure="bic", search=pn.Search(max_seconds=0.0))
    assert (late.stopped, late.dag.edges) == ("max_seconds", ())
    assert late.score == pytest.approx(score_of(family_score(data, "bic"), late.dag), rel=1e-9)


def test_all_orders_are_compared_in_one_step_that_the_clock_may_forbid() -> None:
    data = pn.sample(pn.load_example("asia"), 200, process="precise", rng=1)
    steps: list[tuple[int, int]] = []
    learned = pn.learn_structure(data, "boss", measure="bic", progress=lambda *step: steps.append(step))
    assert steps == [(1, 1)]
    assert learned.stopped == "converged"
    late = pn.learn_structure(data, "boss", measure="bic", search=pn.Search(max_seconds=0.0))
    assert (late.stopped, late.dag.edges) == ("max_seconds", ())
    assert late.score == pytest.approx(score_of(family_score(data, "bic"), late.dag), rel=1e-9)

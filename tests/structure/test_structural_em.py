"""Traced BIC against EM, and searches by it."""

from __future__ import annotations

from math import log
from typing import Any

import numpy as np
import pytest

import possnet as pn
from possnet.structure import (
    traced_score,
)
from possnet.structure.coded_rows import CodedRows
from possnet.structure.traced_score import TracedScore
from tests.structure.cases import (
    NAMES,
    SHAPES,
    family_score,
    numbered,
    random_tables,
    random_tree,
    score_of,
    sharp_tree,
    skeleton,
    with_missing,
    without,
)


def test_on_precise_rows_all_scores_are_bic_and_otherwise_traced_bic_orients() -> None:
    net = random_tables(pn.Dag.from_edges(SHAPES["chain"], nodes=NAMES), 3, 1)
    precise = pn.sample(net, 2000, process="precise", rng=1)
    scores = [family_score(precise, name) for name in ("bic", "random-set-bic", "mdl")]
    traced = TracedScore(CodedRows(precise, missing=True))
    chain, back = pn.Dag.from_edges(SHAPES["chain"]), pn.Dag.from_edges([("c", "b"), ("b", "a")], nodes=NAMES)
    for dag in (chain, back):
        values = [*(score_of(score, dag) for score in scores), traced.score_structure(numbered(dag, list(NAMES)))]
        assert max(values) == pytest.approx(min(values), abs=1e-6)
    sets = TracedScore(CodedRows(pn.sample(net, 20_000, process="traced", rng=1), missing=True))
    assert sets.score_structure(numbered(chain, list(NAMES))) > sets.score_structure(numbered(back, list(NAMES))) + 10


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_traced_bic_is_the_likelihood_of_em_minus_its_price(missing: float) -> None:
    net = pn.load_example("clinic")
    data = pn.sample(net, 3000, process="traced", imprecision=0.7, rng=3)
    data = with_missing(data, missing)
    names = [v.name for v in net.variables]
    score = TracedScore(CodedRows(data, missing=True))
    families = numbered(net.dag, names)
    score.refit(families)
    fitted = pn.fit_em(pn.Dag({n: [names[p] for p in families[k]] for k, n in enumerate(names)}), data)
    price = sum(
        log(3000) / 2 * np.prod([len(net.variable(p)) for p in net.dag.parents(n)]) * (len(net.variable(n)) - 1)
        for n in names
    )
    assert score.log_likelihood(families) == pytest.approx(fitted.log_likelihood[-1], abs=1.0)
    assert score.score_structure(families) == pytest.approx(fitted.log_likelihood[-1] - price, abs=1.0)


def test_local_likelihoods_are_those_of_em_on_the_family_alone() -> None:
    net = random_tables(pn.Dag.from_edges(SHAPES["collider"], nodes=NAMES), 2, 3)
    data = pn.sample(net, 2000, process="traced", rng=5)
    score = TracedScore(CodedRows(data, missing=True))
    alone = [pn.fit_em(pn.Dag({n: ()}), data).log_likelihood[-1] for n in "ab"]
    whole = pn.fit_em(net.dag, data, tolerance=1e-3).log_likelihood[-1]
    assert score.local_log_likelihood(2, (0, 1)) == pytest.approx(whole - sum(alone), abs=0.7)
    cells = family_score(data, "random-set-bic")
    assert score.local_log_likelihood(2, (0, 1)) <= cells.log_likelihood(2, (0, 1)) + 1e-6


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_local_likelihoods_are_the_same_from_tables_and_from_the_cells_that_occur(missing: float) -> None:
    data = with_missing(pn.sample(sharp_tree(4), 400, process="traced", rng=1), missing)
    dense, listed = (TracedScore(CodedRows(data, missing=True)) for _ in range(2))
    for child, parents in ((1, ()), (0, (1,)), (2, (0, 3))):
        value, masses = dense._fit_local((child, parents))
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(traced_score, "_DENSE", 0)
            again, others = listed._fit_local((child, parents))
        assert again == pytest.approx(value, abs=1e-6)
        np.testing.assert_allclose(others, masses, atol=1e-6)


def test_traced_bic_has_no_families_and_its_score_is_that_of_em() -> None:
    net = sharp_tree(4, children=1)
    data = pn.sample(net, 2000, process="traced", rng=2)
    names = [v.name for v in data.variables]
    scores_found = []
    for method in ("greedy", "mwst", "k2"):
        learned = pn.learn_structure(data, method, measure="traced-bic")
        score = TracedScore(CodedRows(data, missing=True))
        score.refit(numbered(learned.dag, names))
        assert learned.families is None
        assert learned.score == pytest.approx(score.score_structure(numbered(learned.dag, names)), abs=0.5)
        scores_found.append(learned.score)
        for edge in learned.edges if method == "k2" else ():
            lower = score.score_structure(numbered(without(learned.dag, edge), names))
            assert edge.value == pytest.approx(learned.score - lower, abs=1.0)
    assert scores_found == pytest.approx([scores_found[0]] * 3, abs=0.5)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_traced_bic_finds_chains_forks_and_colliders(shape: str, seed: int) -> None:
    """The structure itself, directions included, from 100,000 traced rows; by K2 too, given an order."""
    dag = pn.Dag.from_edges(SHAPES[shape], nodes=NAMES)
    net = random_tables(dag, 3, seed)
    data = pn.sample(net, 100_000, process="traced", rng=seed)
    assert set(pn.learn_structure(data, measure="traced-bic", search=pn.Search(tabu=0)).dag.edges) == set(dag.edges)
    ordered = pn.learn_structure(data, "k2", measure="traced-bic", search=pn.Search(order=dag.topological_order()))
    assert set(ordered.dag.edges) == set(dag.edges)


@pytest.mark.parametrize("seed", [1, 2, 4])
def test_traced_bic_finds_trees_with_hubs(seed: int) -> None:
    net = random_tree(6, 3, seed)
    data = pn.sample(net, 40_000, process="traced", rng=seed)
    learned = pn.learn_structure(data, measure="traced-bic", search=pn.Search(tabu=0))
    assert skeleton(learned.dag) == skeleton(net.dag)
    totals = [step.total for step in learned.trace]
    assert totals == sorted(totals)
    assert learned.score >= totals[-1] - 0.5


@pytest.mark.parametrize("method", ["mwst", "k2", "greedy"])
def test_traced_bic_finds_trees_where_cells_are_missing(method: Any) -> None:
    net = sharp_tree(6, children=1 if method == "mwst" else 2)  # pairs alone cannot tell siblings from parents
    data = with_missing(pn.sample(net, 3000, process="traced", rng=3), 0.3)
    search = pn.Search(order=net.dag.nodes if method == "k2" else None)
    learned = pn.learn_structure(data, method, measure="traced-bic", search=search)
    assert skeleton(learned.dag) == skeleton(net.dag)


def test_no_local_gain_of_a_child_with_missing_cells_passes_its_bound() -> None:
    data = with_missing(pn.sample(sharp_tree(5), 500, process="traced", rng=1), 0.3)
    score = TracedScore(CodedRows(data, missing=True))
    for child, parents in ((1, ()), (0, (1,)), (2, (0, 3))):
        here = score.local_log_likelihood(child, parents) - score.penalty(child, parents)
        for k, gain in enumerate(score.local_gains(child, parents)):
            if np.isfinite(gain):
                wider = tuple(sorted((*parents, k)))
                exact = score.local_log_likelihood(child, wider) - score.penalty(child, wider) - here
                assert gain == pytest.approx(exact) if exact > 0.0 else gain >= exact - 1e-6


def test_on_a_traced_fork_cells_of_siblings_stay_dependent() -> None:
    """Why traced BIC exists: random-set BIC joins the siblings, for the parent's cell does not tell its state."""
    dag = pn.Dag.from_edges(SHAPES["fork"], nodes=NAMES)
    data = pn.sample(random_tables(dag, 3, 0), 100_000, process="traced", rng=0)
    assert frozenset("ac") in skeleton(pn.learn_structure(data, measure="random-set-bic").dag)
    assert frozenset("ac") not in skeleton(pn.learn_structure(data, measure="traced-bic").dag)


def test_a_climb_that_begins_on_some_of_the_rows_ends_at_the_same_structure(monkeypatch: pytest.MonkeyPatch) -> None:
    """Many rows: first a sample, then all. The structure kept is scored on all rows, and as good as a climb on all."""
    dag = pn.Dag({"a": (), "b": ("a",), "c": ("a",), "d": ("b",), "e": ("b",), "f": ("c",)})
    net = random_tables(dag, 3, 2)
    data = pn.sample(net, 6000, process="traced", imprecision=0.7, rng=2)
    whole = pn.learn_structure(data, measure="traced-bic", search=pn.Search(tabu=0))
    monkeypatch.setattr("possnet.structure.structural_em._SAMPLES", (300, 1500))
    learned = pn.learn_structure(data, measure="traced-bic", search=pn.Search(tabu=0))
    assert set(learned.dag.edges) == set(whole.dag.edges)
    assert learned.score == pytest.approx(whole.score, abs=1.0)
    score = TracedScore(CodedRows(data, missing=True))
    families = numbered(learned.dag, score.names)
    score.refit(families)
    assert score.score_structure(families) == pytest.approx(learned.score, abs=0.5)
    assert len(learned.trace) >= 5
    assert all(np.isfinite(step.gain) for step in learned.trace)

"""Climbs over structures with hidden states: DAGs found, budgets and interrupts, scores recomputed from scratch."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import possnet as pn
from possnet.structure import DecomposableScore, structural_em
from possnet.structure.coded_rows import CodedRows
from possnet.structure.hidden_state_climb import HiddenStateClimber
from possnet.structure.structural_em import choose_candidates
from possnet.structure.traced_score import TracedScore
from tests.paths import ROOT
from tests.structure.cases import free, numbered, random_tables, sharp_tree


@pytest.fixture(scope="module")
def quality() -> Any:
    """The benchmark of structures, for its networks."""
    sys.path.insert(0, str(ROOT / "benchmarks"))
    try:
        return import_module("structure_quality")
    finally:
        sys.path.remove(str(ROOT / "benchmarks"))


@pytest.mark.parametrize(
    ("shape", "rows", "seed"),
    [
        ("DAG of 8", 2000, 0),
        ("DAG of 8", 2000, 2),
        ("colliders of 8", 5000, 0),
        ("colliders of 8", 5000, 1),
        ("colliders of 8", 50_000, 0),  # equal rows are merged, and the climb begins on a sample of them
    ],
)
def test_dags_and_colliders_are_found_with_their_directions(quality: Any, shape: str, rows: int, seed: int) -> None:
    """Where a climb from the empty structure ended up to 1,500 below the score of the true one."""
    net = quality.draw_network(quality.Trial(shape, 3, rows, 1.0, "traced", seed))
    data = pn.sample(net, rows, process="traced", rng=seed)
    learned = pn.learn_structure(data, measure="traced-bic")
    assert set(learned.dag.edges) == set(net.dag.edges)
    assert learned.stopped == "converged"
    score = TracedScore(CodedRows(data, missing=True))
    families = numbered(learned.dag, score.names)
    score.refit(families)
    assert learned.score == pytest.approx(score.score_structure(families), abs=0.5)
    for miss in learned.near_misses:  # moves that could be made, and none would have gained
        assert miss.parent not in learned.dag.descendants(miss.child)
        assert miss.gain <= 1.0


def test_a_sample_of_merged_rows_is_one_of_the_rows_of_the_data() -> None:
    common, rare = {"a": "x", "b": "u"}, [{"a": f"s{k}", "b": f"t{k}"} for k in range(200)]
    listed = [common] * 1800 + rare
    data = pn.Dataset.from_table({name: [row[name] for row in listed] for name in ("a", "b")})
    merged = CodedRows(data)
    assert (merged.n_rows, merged.total) == (201, 2000)
    sample = merged.sample_rows(150)
    assert sample is not None
    assert sample.weights is not None
    assert sample.total == 150
    place = next(v.states.index("x") for v in sample.variables if v.name == "a")
    states = sample.sets[0].argmax(axis=1)[sample.codes[0]]
    assert sample.weights[states == place].sum() == pytest.approx(135, abs=4 * np.sqrt(150 * 0.9 * 0.1))
    assert (sample.weights[states != place] == 1).all()
    assert merged.sample_rows(201) is None


def test_the_page_of_structures_is_made_of_the_runs_that_are_stored(quality: Any) -> None:
    assert Path(quality.PAGE).read_text(encoding="utf-8") == quality.make_page(), (
        "run: python benchmarks/structure_quality.py page"
    )


def test_the_time_of_a_search_is_bounded_and_what_it_has_is_returned() -> None:
    data = pn.sample(sharp_tree(7), 2000, process="traced", rng=1)
    ways: list[dict[str, Any]] = [
        {"measure": "traced-bic"},
        {"measure": "random-set-bic"},
        {"method": "k2", "measure": "bic"},
    ]
    for options in ways:
        rows = pn.sample(sharp_tree(7), 500, process="precise", rng=1) if options["measure"] == "bic" else data
        learned = pn.learn_structure(rows, search=pn.Search(max_seconds=0.0), **options)
        assert learned.stopped == "max_seconds"
        assert "stopped    by max_seconds: the best structure so far" in str(learned)
    with pytest.raises(pn.InputError, match="search: max_seconds -1; expected seconds from 0 on"):
        pn.Search(max_seconds=-1)


@pytest.mark.parametrize("measure", ["traced-bic", "random-set-bic"])
def test_an_interrupt_returns_the_best_structure_so_far(measure: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(DecomposableScore, "tabulate_families", lambda *_: None)  # some orders, step by step
    net = random_tables(pn.Dag({"a": (), "b": (), "c": ("a", "b"), "d": ("c",), "e": ("c", "a")}), 3, 4)
    data = pn.sample(net, 3000, process="traced", rng=1)
    steps = []

    def interrupt(done: int, total: int) -> None:
        steps.append((done, total))
        if done == 2:
            raise KeyboardInterrupt

    learned = pn.learn_structure(data, measure=measure, progress=interrupt)
    assert learned.stopped == "interrupted"
    assert "stopped    by Ctrl-C" in str(learned)
    assert np.isfinite(learned.score)
    assert steps[-1][0] == 2


def test_a_climb_never_returns_to_a_structure() -> None:
    net = random_tables(pn.Dag({"a": (), "b": (), "c": ("a", "b"), "d": ("c",)}), 3, 1)
    score = TracedScore(CodedRows(pn.sample(net, 600, process="traced", rng=1), missing=True))
    climber = HiddenStateClimber(score, free(4, 3), ((),) * 4, ~np.eye(4, dtype=bool), np.zeros((4, 4)))
    seen = {climber.families}
    while (step := climber.take_step()) is not None:
        assert step[0].families not in seen
        assert step[1] > 1.0
        seen.add(step[0].families)
    assert len(seen) > 1


def test_restarts_never_lower_the_score() -> None:
    net = random_tables(pn.Dag({"a": (), "b": (), "c": ("a", "b"), "d": ("c",)}), 3, 1)
    data = pn.sample(net, 300, process="traced", rng=2)
    once, again = (pn.learn_structure(data, measure="traced-bic", search=pn.Search(restarts=n), rng=3) for n in (0, 3))
    assert again.score >= once.score - 0.5


def test_pairs_that_do_not_depend_are_no_candidates_where_there_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(structural_em, "_FEW_VARIABLES", 3)
    monkeypatch.setattr(structural_em, "_MOST_CANDIDATES", 6)
    net = sharp_tree(10, children=3)
    data = pn.sample(net, 3000, process="traced", rng=1)
    names = [v.name for v in data.variables]
    laws = pn.dependence.fit_hidden_laws(pn.dependence.count_cell_pairs(data))
    constraints = free(10, 9)
    chosen = choose_candidates(laws, constraints)
    assert chosen.sum(axis=0).max() <= 6
    assert not chosen.diagonal().any()
    assert all(chosen[names.index(p), names.index(c)] for p, c in net.dag.edges)
    assert set(pn.learn_structure(data, measure="traced-bic").dag.edges) == set(net.dag.edges)


def test_required_edges_stay_and_the_rest_of_the_tree_is_found_around_them() -> None:
    net = sharp_tree(7)
    data = pn.sample(net, 3000, process="traced", rng=1)
    known = pn.Constraints(required=[("v5", "v3"), ("v6", "v3")], forbidden=[("v0", "v2")], max_parents=2)
    learned = pn.learn_structure(data, measure="traced-bic", constraints=known)
    assert {("v5", "v3"), ("v6", "v3")} <= set(learned.dag.edges)
    assert ("v0", "v2") not in learned.dag.edges
    assert max(len(learned.dag.parents(n)) for n in learned.dag.nodes) <= 2

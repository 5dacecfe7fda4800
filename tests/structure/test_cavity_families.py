"""Families under cavity posteriors: the likelihood of the whole structure with everything else fixed."""

from __future__ import annotations

import numpy as np
import pytest

import possnet as pn
from possnet.aliases import Floats
from possnet.em import EmAlgorithm, EmRows, HiddenStateModel
from possnet.structure.cavity_families import CavityFamily, RowPosteriors
from possnet.structure.coded_rows import CodedRows
from possnet.structure.family_moves import change_parents
from possnet.structure.hidden_state_climb import HiddenStateClimber
from possnet.structure.structural_em import TracedScorer
from possnet.structure.traced_score import TracedScore, _em_rows
from tests.structure.cases import free, numbered, random_tables

DAG = pn.Dag({"a": (), "b": (), "c": ("a", "b"), "d": ("b",), "e": ("c",), "f": ()})


def likelihood(score: TracedScore, families: tuple[tuple[int, ...], ...], masses: dict[str, Floats]) -> float:
    """Log-likelihood of a structure with given masses, over the whole graph at once."""
    names = score.names
    dag = pn.Dag({names[k]: [names[p] for p in parents] for k, parents in enumerate(families)})
    rows: EmRows = _em_rows(range(len(names)), score)
    algorithm = EmAlgorithm(HiddenStateModel(dag, rows), rows)
    return algorithm.expected_counts(masses)[0]


@pytest.fixture(scope="module")
def fitted() -> tuple[TracedScore, tuple[tuple[int, ...], ...], dict[str, Floats]]:
    data = pn.sample(random_tables(DAG, 3, 7), 700, process="traced", rng=1)
    score = TracedScore(CodedRows(data, missing=True))
    families = tuple(numbered(DAG, score.names))
    masses = {}
    for component in score.split_components(families):
        for (child, _), values in score.fit_component(component).masses.items():
            masses[score.names[child]] = values
    for k, name in enumerate(score.names):
        counts = score.cell_counts[k].astype(float)
        masses.setdefault(name, (counts / counts.sum())[np.newaxis])
    return score, families, masses


@pytest.mark.parametrize(
    ("child", "parents"),
    [
        ("c", "abd"),  # d is hidden nowhere: beyond the component
        ("c", "abf"),
        ("c", "a"),
        ("c", "b"),
        ("c", "bf"),
        ("d", "ab"),  # a is hidden in the same component
        ("d", "a"),
        ("d", ""),
        ("e", "bc"),  # b is hidden in another component
        ("e", "b"),
        ("f", "a"),
        ("f", "c"),
    ],
)
def test_the_gain_of_other_parents_is_that_of_the_whole_likelihood(
    fitted: tuple[TracedScore, tuple[tuple[int, ...], ...], dict[str, Floats]], child: str, parents: str
) -> None:
    score, families, masses = fitted
    number, wanted = score.place[child], tuple(score.place[p] for p in parents)
    climber = HiddenStateClimber(score, free(6, 6), families, ~np.eye(6, dtype=bool), np.zeros((6, 6)))
    gain, changed = climber.gain_family(number, wanted)
    gain += score.penalty(number, wanted) - score.penalty(number, families[number])
    after = change_parents(families, "add", 0, number, wanted).families
    exact = likelihood(score, after, {**masses, child: changed}) - likelihood(score, families, masses)
    assert gain == pytest.approx(exact, abs=1e-6)


def test_em_over_the_component_gains_no_less_than_the_bound(
    fitted: tuple[TracedScore, tuple[tuple[int, ...], ...], dict[str, Floats]],
) -> None:
    score, families, _ = fitted
    climber = HiddenStateClimber(score, free(6, 6), families, ~np.eye(6, dtype=bool), np.zeros((6, 6)))
    for child in range(6):
        for new in set(range(6)) - {child} - set(families[child]):
            parents = tuple(sorted((*families[child], new)))
            move = change_parents(families, "add", new, child, parents)
            if not has_cycle(move.families):
                assert climber.exact_gain(move) >= climber.gain_family(child, parents)[0] - 1.0


def has_cycle(families: tuple[tuple[int, ...], ...]) -> bool:
    try:
        pn.Dag({str(k): [str(p) for p in parents] for k, parents in enumerate(families)})
    except pn.InputError:
        return True
    return False


def test_a_child_that_is_never_observed_gains_nothing() -> None:
    data = pn.Dataset.from_table(
        {"a": ["x", "y", ["x", "y"]] * 4, "b": [None] * 12},
        variables=[pn.Variable("a", ("x", "y")), pn.Variable("b", ("u", "v"))],
    )
    score = TracedScore(CodedRows(data, missing=True))
    cavity = CavityFamily(score, (1, ()), frozenset())
    posteriors = RowPosteriors(score.tables.group_cells((0,))[0], np.full((3, 2), 0.5))
    assert cavity.gain_by_parents((0,), posteriors)[0] == 0.0


def test_far_hidden_states_are_left_out_and_change_little() -> None:
    """A long zigzag of colliders is one component; gains near one end hardly depend on the other."""
    n = 12
    names = [f"r{k:02d}" for k in range(n)] + [f"s{k:02d}" for k in range(n - 1)]
    above = {f"s{k:02d}": (f"r{k:02d}", f"r{k + 1:02d}") for k in range(n - 1)}
    dag = pn.Dag({name: above.get(name, ()) for name in names})
    data = pn.sample(random_tables(dag, 2, 3), 1500, process="traced", rng=1)
    scorer = TracedScorer(CodedRows(data, missing=True))
    families = tuple(numbered(dag, scorer.score.names))
    climber = scorer._make_climber(families)
    child = scorer.score.place["s05"]
    move = change_parents(families, "delete", families[child][0], child, families[child][1:])
    whole = scorer.score.score_structure(move.families) - scorer.score.score_structure(families)
    assert climber.exact_gain(move) == pytest.approx(whole, abs=max(2.0, 0.02 * abs(whole)))

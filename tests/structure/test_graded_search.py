"""Structures learned from rows with degrees or fractional weights: those of the alpha-cuts, of weights that add up."""

from __future__ import annotations

import numpy as np
import pytest

import possnet as pn
from tests.refused import refused

ASIA = pn.load_example("asia")


def grade_rows(data: pn.Dataset, share: float, rng: np.random.Generator) -> pn.Dataset:
    """Rows some of whose cells say less than they did: other states have a degree of .25 or .5."""
    rows = []
    for number in range(len(data)):
        row = []
        for variable in data.variables:
            states = data.row(number)[variable.name]
            low = float(rng.choice([0.25, 0.5]))
            graded = {state: 1.0 if state in states else low for state in variable.states}
            row.append(graded if rng.random() < share else states)
        rows.append(row)
    return pn.Dataset.from_rows(data.variables, rows)


@pytest.fixture(scope="module")
def rows() -> pn.Dataset:
    return grade_rows(pn.sample(ASIA, 500, process="precise", rng=5), 0.05, np.random.default_rng(1))


@pytest.mark.parametrize(
    ("method", "measure"),
    [
        ("greedy", "random-set-bic"),
        ("greedy", "mdl"),
        ("boss", "random-set-bic"),
        ("greedy", "coarsened-bic"),
        ("greedy", "traced-bic"),
        ("mwst", "specificity-gain"),
        ("mwst", "mutual-information"),
        ("k2", "chi2"),
        ("hidden-tree", None),
        ("hybrid-tree", None),
        ("auto", "auto"),
    ],
)
def test_structures_are_those_of_the_cuts(rows: pn.Dataset, method: str, measure: str | None) -> None:
    learned = pn.learn_structure(rows, method, measure=measure)
    expected = pn.learn_structure(rows.alpha_cuts(), method, measure=measure)
    assert learned.dag == expected.dag
    assert learned.score == pytest.approx(expected.score, rel=1e-9)
    assert learned.rows == pytest.approx(500)


@pytest.mark.parametrize("measure", ["random-set-bic", "bic", "bdeu", "mdl"])
def test_two_halves_are_a_row(measure: str) -> None:
    data = pn.sample(ASIA, 400, process="precise", rng=2)
    halves = pn.Dataset.concatenate([data, data]).with_weights(np.full(800, 0.5))
    whole = pn.learn_structure(data, "greedy", measure=measure)
    half = pn.learn_structure(halves, "greedy", measure=measure)
    assert half.dag == whole.dag
    assert half.score == pytest.approx(whole.score, rel=1e-9)


def test_samples_of_graded_rows_are_rows_and_fractional_weights_are_refused(rows: pn.Dataset) -> None:
    learned = pn.learn_structure(rows, "greedy", measure="random-set-bic", bootstrap=2, rng=1, workers=1)
    assert all(edge.confidence is not None for edge in learned.edges)
    weighted = rows.with_weights(np.full(len(rows), 0.5))
    refused("bootstrap of rows with fractional weights", pn.learn_structure, weighted, bootstrap=2)

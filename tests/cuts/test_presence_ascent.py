"""The maximum of the presence likelihood, against brute force on small problems."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from possnet.cuts.presence_ascent import PresenceProblem, ascend, find_needed, fit_levels
from tests import strategies


def draw_problem(rng: np.random.Generator, contexts: int, pseudo: float = 0.5) -> PresenceProblem:
    """Random sets of contexts with counts that fit some levels."""
    masks = rng.choice(np.arange(1, 2**contexts), rng.integers(1, 2**contexts), replace=False)
    inside = (masks[:, np.newaxis] >> np.arange(contexts) & 1).astype(np.bool_)
    inside = inside[:, inside.any(axis=0)]
    truth = rng.choice([0.0, 0.3, 0.5, 1.0], inside.shape[1]) * rng.random(inside.shape[1])
    rows = rng.integers(1, 200, len(inside))
    presence = rng.binomial(rows, [truth[members].max() for members in inside])
    ceiling = np.clip(truth + rng.choice([0.0, 0.2, 1.0]), 0.05, 1.0)[:, np.newaxis]
    counts = np.stack([rows, presence]).astype(np.float64)[:, :, np.newaxis]
    return PresenceProblem(inside, counts[0], counts[1], ceiling, pseudo)


def objective(problem: PresenceProblem, levels: tuple[float, ...]) -> float:
    """Straight from the definition, one set after the other."""
    value = problem.pseudo * sum(np.log(level) for level in levels)
    for members, (rows,), (present,) in zip(problem.inside, problem.rows, problem.presence, strict=True):
        share = max(level for level, there in zip(levels, members, strict=True) if there)
        value += present * np.log(share) if present else 0.0
        value += (rows - present) * np.log(1.0 - share) if rows > present else 0.0
    return float(value)


@settings(max_examples=25, deadline=None)
@given(strategies.seeds, st.integers(1, 3))
def test_the_maximum_is_that_of_brute_force(seed: int, contexts: int) -> None:
    """Up to a quarter of a nat: some problems have local maxima, all of them close."""
    problem = draw_problem(np.random.default_rng(seed), contexts)
    levels = fit_levels(problem)
    assert (levels <= problem.ceiling).all()
    grids = [np.minimum(np.linspace(0.001, 0.999, 17), top) for top in problem.ceiling[:, 0]]
    best = max(objective(problem, point) for point in product(*(grid.tolist() for grid in grids)))
    own = objective(problem, tuple(np.minimum(levels[:, 0], 0.999999).tolist()))
    assert own >= best - 0.25
    assert problem.objective(levels)[0] == pytest.approx(own, abs=1e-3)


@settings(max_examples=30, deadline=None)
@given(strategies.seeds, st.integers(2, 6))
def test_no_single_level_can_be_improved(seed: int, contexts: int) -> None:
    problem = draw_problem(np.random.default_rng(seed), contexts)
    levels = fit_levels(problem)
    value = problem.objective(levels)[0]
    for context, top in enumerate(problem.ceiling[:, 0]):
        for level in np.linspace(0.001, top, 40):
            moved = levels.copy()
            moved[context] = level
            assert problem.objective(moved)[0] <= value + 1e-4


@settings(max_examples=30, deadline=None)
@given(strategies.seeds, st.integers(2, 5))
def test_columns_do_not_influence_each_other(seed: int, contexts: int) -> None:
    rng = np.random.default_rng(seed)
    problem = draw_problem(rng, contexts)
    other = rng.binomial(problem.rows.astype(int), 0.4) * 1.0
    both = PresenceProblem(
        problem.inside,
        np.repeat(problem.rows, 2, axis=1),
        np.hstack([problem.presence, other]),
        np.repeat(problem.ceiling, 2, axis=1),
        problem.pseudo,
    )
    assert np.allclose(fit_levels(both)[:, :1], fit_levels(problem), atol=1e-4)


@settings(max_examples=30, deadline=None)
@given(strategies.seeds, st.integers(2, 4))
def test_an_entry_is_needed_if_the_likelihood_falls_without_it(seed: int, contexts: int) -> None:
    problem = draw_problem(np.random.default_rng(seed), contexts)
    levels, price = fit_levels(problem), 3.0
    needed = find_needed(problem, levels, price)
    full = problem.log_likelihood(levels)[0]
    for context in range(len(levels)):
        ceiling, start = problem.ceiling.copy(), levels.copy()
        ceiling[context] = start[context] = 0.0
        without = problem.take_columns(np.array([0]), ceiling)
        loss = full - without.log_likelihood(ascend(without, start))[0]
        if abs(loss - price) > 0.5:
            assert needed[context, 0] == (loss > price)


def test_nested_sets_are_pooled_where_they_disagree() -> None:
    """Isotonic regression: a larger set has the larger share; shares that disagree are put together."""
    inside = np.array([[True, False, False], [True, True, False], [True, True, True]])
    rows = np.array([[100.0], [100.0], [100.0]])
    for presence, shares in (
        ((20, 40, 60), (0.2, 0.4, 0.6)),
        ((50, 30, 60), (0.4, 0.4, 0.6)),
        ((60, 30, 30), (0.4,) * 3),
    ):
        problem = PresenceProblem(inside, rows, np.array(presence)[:, np.newaxis] * 1.0, np.ones((3, 1)), 0.0)
        assert problem.find_shares(fit_levels(problem))[:, 0] == pytest.approx(shares)

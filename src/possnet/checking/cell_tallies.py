"""Tallies of completed cells against what they were: sums that add over blocks of rows, folds and variables."""

from __future__ import annotations

from dataclasses import astuple, dataclass
from typing import TYPE_CHECKING

import numpy as np

from possnet.possibility import necessities

if TYPE_CHECKING:
    from possnet.aliases import Bools, Floats, Weights

_ROUNDING = 1.0 + 1e-12  # a degree that misses a level by rounding alone reaches it


_SAME_SUM = 1.0 + 1e-9  # frequencies are sums of shares such as 1/3, in any order


@dataclass(frozen=True, slots=True, eq=False)
class CheckScales:
    """The levels of cuts and the necessities at which cells are tallied, ascending."""

    levels: Floats
    claims: Floats


@dataclass(frozen=True, slots=True, eq=False)
class CheckTally:
    """Sums over cells, each counted with its row's weight.

    Attributes
    ----------
    precise, sets
        Cells whose truth is one state, and cells of which only a set is known that holds it.
    impossible
        Cells in rows whose evidence is impossible.
    inside
        Precise cells whose truth is among the states that compete.
    right, baseline, random
        Of the precise cells: how many the most possible state, the most frequent one and a random one get right.
    gain_squares
        Of the precise cells: the sum of (right - baseline)².
    held, sizes
        For every level: how many cuts hold the truth (or meet the set), and how many states they have in all.
    claimed, claimed_right
        For every necessity: how many precise cells have a state that is at least so necessary, and how many of these
        states are right.
    """

    precise: float
    sets: float
    impossible: float
    inside: float
    right: float
    baseline: float
    random: float
    gain_squares: float
    held: Floats
    sizes: Floats
    claimed: Floats
    claimed_right: Floats

    def __add__(self, other: CheckTally) -> CheckTally:
        return CheckTally(*(a + b for a, b in zip(astuple(self), astuple(other), strict=True)))


def empty_tally(scales: CheckScales) -> CheckTally:
    """A tally of no cells."""
    levels, claims = np.zeros(len(scales.levels)), np.zeros(len(scales.claims))
    return CheckTally(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, levels, levels, claims, claims)


def tally_cells(
    degrees: Floats,
    truth: Bools,
    precise: Bools,
    candidates: Bools,
    frequency: Floats,
    weights: Floats,
    scales: CheckScales,
) -> CheckTally:
    """The tally of some cells of one variable.

    Parameters
    ----------
    degrees
        Π(x | evidence), shape (cells, states), each row with a peak of 1; NaN where the evidence is impossible.
    truth
        The states that a cell may truly have, shape (cells, states): one for a ``precise`` cell, or none if its state is
        outside the domain.
    candidates
        The states that compete, shape (cells, states) or (1, states).
    frequency
        How often each state occurs in the rows that were learned from.

    Of k states that tie, one is drawn: such a cell counts 1/k if the truth is among them. A cell of impossible evidence is
    wrong, and no cut of it holds anything.
    """
    impossible = np.isnan(degrees[:, 0])
    degrees = np.where(impossible[:, np.newaxis], 0.0, degrees)
    right = _draw_from(degrees == 1.0, truth)
    most = np.where(candidates, frequency, -1.0)
    tops = most.max(axis=1, keepdims=True) / _SAME_SUM
    baseline = _draw_from(most >= tops, truth)
    weight = weights * precise
    necessity = np.where(impossible, -1.0, necessities(degrees).max(axis=1))
    return CheckTally(
        precise=float(weight.sum()),
        sets=float((weights * ~precise).sum()),
        impossible=float(weights @ impossible),
        inside=float(weight @ (candidates & truth).any(axis=1)),
        right=float(weight @ right),
        baseline=float(weight @ baseline),
        random=float(weight @ _draw_from(candidates, truth)),
        gain_squares=float(weight @ (right - baseline) ** 2),
        held=count_reached(np.where(truth, degrees, 0.0).max(axis=1), weights, scales.levels),
        sizes=count_reached(degrees.ravel(), np.repeat(weights, degrees.shape[1]), scales.levels),
        claimed=count_reached(necessity, weight, scales.claims),
        claimed_right=count_reached(necessity, weight * right, scales.claims),
    )


def _draw_from(chosen: Bools, truth: Bools) -> Floats:
    """Probability that a state drawn from those chosen is the truth: 1/k if it is one of k, else 0."""
    shares: Floats = (chosen & truth).any(axis=1) / np.maximum(chosen.sum(axis=1), 1)
    return shares


def count_reached(values: Floats, weights: Floats, levels: Floats) -> Floats:
    """Total weight of the values that reach each of some ascending levels.

    >>> count_reached(np.array([0.2, 0.5, 1.0]), np.ones(3), np.array([0.1, 0.5, 0.9]))
    array([3., 2., 1.])
    """
    passed = np.searchsorted(levels, values * _ROUNDING, side="right")
    return np.bincount(passed, weights, minlength=len(levels) + 1)[::-1].cumsum()[::-1][1:]


def as_weights(weights: Weights | None, rows: int) -> Floats:
    """Weights of rows as floats; 1 for each row without any."""
    return np.ones(rows) if weights is None else weights.astype(np.float64)

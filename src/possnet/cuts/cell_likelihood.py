"""The full law of a cell given its parents' cells: its likelihood, and the imprecision that fits it best.

With the degrees g_A of the states off the core in descending order h_1 >= ... >= h_s, the cut holds the first j of them
with probability h_j - h_(j+1), and thinning keeps one set of m of these with probability w(j, m) (see
`possnet.sampling.thinning_weights`). A cell whose least possible state has rank r therefore has probability

    P(S | A) = sum over j >= r of (h_j - h_(j+1)) w(j, |S off the core|).

The imprecision θ is identified as soon as some A has two states off the core: both are kept with probability θ² min(h),
each with θ h.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from possnet.sampling import Law, thinning_weights

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from possnet.aliases import Bools, Floats, Ints
    from possnet.cuts.family_cells import FamilyCells

_ENOUGH: Final = 20  # rows with two states off the core, from which the imprecision is estimated
_GOLDEN: Final = (5.0**0.5 - 1.0) / 2.0


def cell_probabilities(family: FamilyCells, degrees: Floats, core: Bools, theta: float, law: Law) -> Floats:
    """P(S | A) of every pair of cells that occurs, from the degrees g_A (combinations, states)."""
    free = np.flatnonzero(~core)
    levels = np.minimum(degrees[:, free], 1.0)
    order = np.argsort(-levels, axis=1, kind="stable")
    rank = np.empty_like(order)
    np.put_along_axis(rank, order, np.arange(1, len(free) + 1), axis=1)
    ends = np.ones((len(levels), 1)), np.zeros((len(levels), 1))
    steps = -np.diff(np.hstack([ends[0], np.take_along_axis(levels, order, axis=1), ends[1]]), axis=1)
    deep = (steps[:, :, np.newaxis] * thinning_weights(theta, law, len(free)))[:, ::-1].cumsum(axis=1)[:, ::-1]
    combinations, cells = family.pairs.T
    held = family.child_cells[cells][:, free]
    deepest = np.where(held, rank[combinations], 0).max(axis=1, initial=0)
    return np.asarray(deep[combinations, deepest, held.sum(axis=1)])


def cell_log_likelihood(family: FamilyCells, degrees: Floats, core: Bools, theta: float, law: Law) -> float:
    """Log-likelihood of the cells of a family given its parents' cells.

    Half a row in all is spread over all sets, so that a cell which the degrees exclude costs much but not everything.
    """
    spread = 0.5 / (family.total + 1.0)
    probabilities = cell_probabilities(family, degrees, core, theta, law)
    mixed = (1.0 - spread) * np.maximum(probabilities, 0.0) + spread * 0.5 ** min(int((~core).sum()), 900)
    return float(family.counts @ np.log(mixed))


def undo_inclusion(shares: Floats, theta: float, law: Law) -> Floats:
    """Degrees off the core, from the shares of rows whose cell contains each state (sets, states).

    By the independent law they are shares / θ. By the text's law a state of a cut with j states off the core is kept with
    probability i_j = (2θ - θ^j) / (1 + θ - θ^j), so that h_j - h_(j+1) = (c_j - c_(j+1)) / i_j, shares in descending order.

    >>> undo_inclusion(np.array([[0.3, 0.15]]), 0.5, "independent"), undo_inclusion(np.array([[0.33, 0.18]]), 0.5, "text")
    (array([[0.6, 0.3]]), array([[0.6, 0.3]]))
    """
    if law == "independent":
        return shares / theta
    order = np.argsort(-shares, axis=1, kind="stable")
    ordered = np.take_along_axis(shares, order, axis=1)
    sizes = np.arange(1, shares.shape[1] + 1)
    powers = theta**sizes
    steps = -np.diff(np.hstack([ordered, np.zeros((len(shares), 1))]), axis=1) * (1 + theta - powers)
    degrees = np.empty_like(shares)
    np.put_along_axis(degrees, order, (steps / (2 * theta - powers))[:, ::-1].cumsum(axis=1)[:, ::-1], axis=1)
    return degrees


def estimate_imprecision(families: Sequence[FamilyCells], law: Law) -> tuple[float, bool]:
    """The imprecision that maximises the likelihood of all cells, and whether the rows identify it; 1 if they do not.

    The degrees under each combination of the parents' cells are those of its own shares: no table is needed.
    """
    problems = []
    for family in families:
        core = family.core
        shares = family.presence[:, ~core] / np.maximum(family.rows, 1)[:, np.newaxis]
        if shares.shape[1] > 1:
            problems.append((family, core, shares))
    pairs = sum(float((np.sort(s, axis=1)[:, -2] * f.rows).sum()) for f, _, s in problems)
    if pairs < _ENOUGH:
        return 1.0, False

    def likelihood(theta: float) -> float:
        total = 0.0
        for family, core, shares in problems:
            degrees = np.ones((len(shares), len(core)))
            degrees[:, ~core] = np.minimum(undo_inclusion(shares, theta, law), 1.0)
            total += cell_log_likelihood(family, degrees, core, theta, law)
        return total

    return _maximise(likelihood), True


def _maximise(value: Callable[[float], float]) -> float:
    """The maximum over (0, 1]: the best of a grid, then golden sections around it; 1 itself is tried too."""
    grid: Ints = np.arange(1, 25)
    best = int(np.argmax([value(float(k) / 24) for k in grid]))
    low, high = max(best, 0.5) / 24, min(best + 2, 24) / 24
    while high - low > 1e-4:
        left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
        if value(left) >= value(right):
            high = right
        else:
            low = left
    middle = (low + high) / 2
    return 1.0 if value(1.0) >= value(middle) else middle

"""Estimates from counts, array by array; the last axis runs over the states of the child.

Proposition 1 of [HLB] maximises (9), the sum of N_k log π_k, among the π with sum_k π_k = S:

    π_k = N_k / sum_k N_k * S.

Dividing by the largest degree makes S cancel: N_k / max_k N_k. Kept as it is, the closed form may exceed 1; the true
maximum under π <= 1 is `capped_maximum`.

[HLB] M. Haddad, P. Leray, N. Ben Amor: Possibilistic networks: parameters learning from imprecise data and evaluation
strategy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from possnet.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from possnet.aliases import Floats


def proposition_1(counts: ArrayLike, total: ArrayLike = 1.0) -> Floats:
    """The closed form of Proposition 1: shares of the counts, times the total; nothing is capped or normalised.

    ``total`` is a number, or one for every state: then the maximum is under sum_k π_k / S_k = 1.

    >>> proposition_1([10, 4, 1], 2.5)
    array([1.66666667, 0.66666667, 0.16666667])
    >>> proposition_1([10, 4, 1], [1, 0.8, 0.5])
    array([0.66666667, 0.21333333, 0.03333333])
    """
    numbers = np.asarray(counts, dtype=np.float64)
    sums = numbers.sum(axis=-1, keepdims=True)
    shares: Floats = np.divide(numbers, sums, out=np.zeros_like(numbers), where=sums > 0)
    return shares * np.asarray(total, dtype=np.float64)


def capped_maximum(counts: ArrayLike, total: float) -> Floats:
    """The maximum of sum_k N_k log π_k under sum_k π_k = S and π_k <= 1.

    Degrees that the closed form puts above 1 are set to 1 and the rest of S is shared among the others in proportion to
    their counts, until none is above 1; if every counted state is at 1, the states of count 0 share the rest equally.

    >>> capped_maximum([10, 4, 1], 2.5)
    array([1. , 1. , 0.5])
    >>> capped_maximum([10, 4, 0, 0], 3)
    array([1. , 1. , 0.5, 0.5])
    """
    numbers = np.asarray(counts, dtype=np.float64)
    states = numbers.shape[-1]
    if not 0.0 < total <= states:
        raise InputError(
            f"capped_maximum: total {total!r} for {states} states; expected a number above 0 and at most {states}"
        )
    flat = numbers.reshape(-1, states)
    degrees = np.zeros_like(flat)
    capped = np.zeros(flat.shape, dtype=np.bool_)
    for _ in range(states):
        left = total - capped.sum(axis=1, keepdims=True)
        uncapped = np.where(capped, 0.0, flat)
        sums = uncapped.sum(axis=1, keepdims=True)
        degrees = np.where(capped, 1.0, np.divide(uncapped, sums, out=np.zeros_like(flat), where=sums > 0) * left)
        above = (degrees >= 1.0) & ~capped & (flat > 0)
        if not above.any():
            break
        capped |= above
    degrees = np.where(capped, 1.0, degrees)
    empty = flat == 0
    spare = total - degrees.sum(axis=1, keepdims=True)
    holders = empty.sum(axis=1, keepdims=True)
    shared = np.divide(spare, holders, out=np.zeros_like(spare), where=(holders > 0) & (spare > 1e-12))
    return np.clip(degrees + np.where(empty, shared, 0.0), 0.0, 1.0).reshape(numbers.shape)


def histogram(counts: ArrayLike, totals: ArrayLike) -> Floats:
    """Share of the rows of a context whose cell contains each state, N_ijk / N_ij: equation (5) of [HLB].

    It is Proposition 1 with S_ij = sum_k N_ijk / N_ij, and subnormal unless some state lies in every cell.

    >>> histogram([[8, 4], [1, 1]], [10, 1])
    array([[0.8, 0.4], [1. , 1. ]])
    """
    numbers = np.asarray(counts, dtype=np.float64)
    sums = np.asarray(totals, dtype=np.float64)[..., np.newaxis]
    shares: Floats = np.divide(numbers, sums, out=np.zeros_like(numbers), where=sums > 0)
    return shares


def undo_thinning(contour: ArrayLike, imprecision: float) -> Floats:
    """Degrees before thinning: min(1, c / theta), where c is the share of rows with a state and theta the imprecision.

    A state outside the core is kept with probability theta, so its share is theta times what it would be; a state of the
    core has share 1 either way. This undoes the thinning of ``law="independent"``, not the bias of counting.

    >>> undo_thinning([1.0, 0.3, 0.05], 0.5)
    array([1. , 0.6, 0.1])
    """
    if not 0.0 < imprecision <= 1.0:
        raise InputError(
            f"imprecision {imprecision!r} cannot be corrected for; expected a number above 0 and at most 1 "
            "(at 0 only the most possible states are left)"
        )
    return np.minimum(1.0, np.asarray(contour, dtype=np.float64) / imprecision)


def normalise_rows(degrees: Floats) -> Floats:
    """Degrees divided by the largest along the last axis, which becomes exactly 1; rows of zeros become ignorance, all 1.

    >>> normalise_rows(np.array([0.5, 0.25]))
    array([1. , 0.5])
    """
    tops = degrees.max(axis=-1, keepdims=True)
    divided: Floats = np.divide(degrees, tops, out=np.ones_like(degrees), where=tops > 0)
    return divided

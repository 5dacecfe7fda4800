"""Distances and agreements between distributions, row by row; the last axis runs over the states."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from possnet.doors import check_arguments, require_floats
from possnet.errors import InputError
from possnet.parameters import normalise_rows

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from possnet.aliases import Floats


_BLOCK = 1 << 19


@check_arguments
def information_affinity(first: ArrayLike, second: ArrayLike) -> Floats:
    """How alike distributions are: 1 - (d + Inc) / 2, from 0 (they exclude each other) to 1 (equal).

    d is the mean absolute difference, Inc = 1 - max min(π1, π2) their inconsistency (Jenhani et al. 2007); both are
    normalised first. Its floor is high: total ignorance scores .75 and more.

    Equation
    --------
    d = (1/n) ∑_x |π_1(x) - π_2(x)|, Inc = 1 - max_x min(π_1(x), π_2(x))
    affinity(π_1, π_2) = 1 - (d + Inc) / 2

    >>> information_affinity([1, 0], [0, 1]), information_affinity([1, 0], [1, 1]), information_affinity([0.1, 1], [1, 0.5])
    (array(0.), array(0.75), array(0.4))
    """
    return affinity_of_normalised(*map(normalise_rows, _broadcast_pair(first, second)))


def affinity_of_normalised(one: Floats, other: Floats) -> Floats:
    """The same for degrees that are known to be normalised."""
    apart = np.abs(one - other).mean(axis=-1)
    clash = 1.0 - np.minimum(one, other).max(axis=-1)
    return np.asarray(1.0 - (apart + clash) / 2.0)


def rank_agreement(first: ArrayLike, second: ArrayLike) -> Floats:
    """Kendall's tau-b between the orders of the states; 0 where one side is constant, 1 where both are.

    >>> rank_agreement([1, 0.6, 0.1], [1, 0.9, 0.8]), rank_agreement([1, 0.5], [0.5, 1]), rank_agreement([1, 1], [1, 0.5])
    (array(1.), array(-1.), array(0.))
    """
    one, other = _broadcast_pair(first, second)
    states = one.shape[-1]
    flat_one, flat_other = one.reshape(-1, states), other.reshape(-1, states)
    step = max(_BLOCK // states**2, 1)
    agreements = np.empty(len(flat_one))
    for start in range(0, len(agreements), step):
        part = slice(start, start + step)
        agreements[part] = _kendall_tau(flat_one[part], flat_other[part])
    return agreements.reshape(one.shape[:-1])


def _kendall_tau(one: Floats, other: Floats) -> Floats:
    left = np.sign(one[:, :, np.newaxis] - one[:, np.newaxis, :])
    right = np.sign(other[:, :, np.newaxis] - other[:, np.newaxis, :])
    agree = (left * right).sum(axis=(1, 2))
    lengths = np.sqrt((left**2).sum(axis=(1, 2)) * (right**2).sum(axis=(1, 2)))
    both_constant = ~left.any(axis=(1, 2)) & ~right.any(axis=(1, 2))
    tau = np.divide(agree, lengths, out=np.zeros_like(agree), where=lengths > 0)
    return np.where(both_constant, 1.0, tau)


def top_agreement(first: ArrayLike, second: ArrayLike) -> Floats:
    """Share of most possible states in common: size of the intersection of the two cores over the size of their union.

    >>> top_agreement([1, 0.5, 1], [1, 0.5, 0.2]), top_agreement([1, 0], [0, 1])
    (array(0.5), array(0.))
    """
    return core_overlap(*map(normalise_rows, _broadcast_pair(first, second)))


def core_overlap(first: Floats, second: Floats) -> Floats:
    """The same for degrees that are known to be normalised."""
    one, other = first == 1.0, second == 1.0
    return np.asarray((one & other).sum(axis=-1) / (one | other).sum(axis=-1))


def _broadcast_pair(first: ArrayLike, second: ArrayLike) -> tuple[Floats, Floats]:
    """Both as degrees of one shape."""
    try:
        one, other = np.broadcast_arrays(require_floats(first, "degrees"), require_floats(second, "degrees"))
    except ValueError:
        raise InputError(
            "distributions that are no numbers, or of unlike shapes; expected degrees of the same states"
        ) from None
    if not one.ndim or not one.shape[-1]:
        raise InputError(f"distributions of shape {one.shape}; expected a degree for each state")
    if not (np.isfinite(one).all() and np.isfinite(other).all()):
        raise InputError("distributions with degrees that are not finite; expected numbers from 0 to 1")
    return one, other

"""Probability to possibility, and back.

Five named ways to turn a probability distribution p into a possibility distribution π with the same order, and three of
them the other way. With probabilities descending, p_1 >= ... >= p_n > 0 (zeros stay 0):

========== ============================================================ ================================= ==========
name       π_i                                                          source                            P <= Π
========== ============================================================ ================================= ==========
optimal    sum of the p_j with p_j <= p_i                               Dubois and Prade 1982             yes
symmetric  sum over j of min(p_i, p_j)                                  Dubois and Prade 1983             yes
ratio      p_i / p_1                                                    (normalised frequencies)          no
klir       (p_i / p_1)^a, a in (0, 1] so that the uncertainty of π      Klir 1990, Geer and Klir 1992     yes
           equals the entropy of p
variable   (p_i / p_1)^(k (1 - p_i)), k such that π_n = p_n             Mouchaweh et al. 2006             no
========== ============================================================ ================================= ==========

"P <= Π" says whether every event is guaranteed to be at least as possible as it is probable. ``optimal`` is the most
specific transformation with that guarantee. Every possibility distribution comes of a probability distribution by
``symmetric`` and by ``ratio``, some come of one by ``optimal``: `to_probability` inverts these three.

Input is renormalised first, so counts are welcome. The largest output is exactly 1.0, and equal inputs of one
distribution give bit-equal outputs: all work is done on sorted values, one value for every group of ties.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, TypeAlias, get_args

import numpy as np

from possnet.doors import check_arguments, require_floats
from possnet.errors import InputError, among

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

    from possnet.aliases import Floats


__all__ = ["Inverse", "Transform", "to_possibility", "to_probability"]

Transform: TypeAlias = Literal["optimal", "symmetric", "ratio", "klir", "variable"]
Inverse: TypeAlias = Literal["symmetric", "ratio", "optimal"]
_SAME = 1e-9  # degrees that differ by less are the same up to the rounding of sums and differences


@check_arguments
def to_possibility(probabilities: ArrayLike, method: Transform = "optimal", *, axis: int = -1) -> Floats:
    """Possibility degrees of probability distributions along ``axis``.

    The methods are described at the head of `possnet.transforms`. ``optimal``, ``symmetric`` and ``klir`` guarantee that
    the possibility of an event is never below its probability; ``ratio`` and ``variable`` do not.

    Equation
    --------
    π_i = ∑_{j : p_j ≤ p_i} p_j (optimal)
    π_i = ∑_j min(p_i, p_j) (symmetric)
    π_i = p_i / max_j p_j (ratio)

    >>> to_possibility([0.5, 0.3, 0.2])
    array([1. , 0.5, 0.2])
    >>> to_possibility([[5, 3, 2], [0, 4, 4]], method="symmetric")
    array([[1. , 0.8, 0.6],
           [0. , 1. , 1. ]])
    """
    if method not in _METHODS:
        raise InputError(f"transform {method!r} is unknown{among(method, _METHODS)}")
    rows = _rows(probabilities, axis, "to_possibility", "probabilities")
    order = np.argsort(rows, axis=-1, kind="stable")
    ascending = np.take_along_axis(rows, order, axis=-1)
    ascending = ascending / ascending.sum(axis=-1, keepdims=True)
    degrees = _METHODS[method](ascending)
    degrees = np.minimum(np.maximum.accumulate(degrees, axis=-1), 1.0)
    return _restore(_one_value_per_tie(ascending, degrees), order, axis)


@check_arguments
def to_probability(degrees: ArrayLike, method: Inverse = "symmetric", *, axis: int = -1) -> Floats:
    """Probabilities of possibility distributions along ``axis``, by the inverse of a named transformation.

    Degrees are divided by their largest first. With degrees descending and π_(n+1) = 0:

    - ``symmetric`` gives the pignistic probability p_r = sum over j >= r of (π_j - π_(j+1)) / j: draw a level, then a
      state of the cut at that level (Dubois and Prade 1982; the law of Chanas and Nowakowski's sampling);
    - ``ratio`` divides by the sum of the degrees;
    - ``optimal`` gives p_r = (π_r - π_s) / m, where m states share the degree π_r and π_s is the next lower one. Only
      degrees whose steps shrink so are those of a probability; others are an `InputError`.

    Equation
    --------
    p_r = ∑_{j ≥ r} (π_j - π_{j+1}) / j (symmetric)
    p_r = π_r / ∑_j π_j (ratio)
    p_r = (π_r - π_s) / m (optimal)

    >>> to_probability([1, 0.8, 0.6])
    array([0.5, 0.3, 0.2])
    >>> to_probability([1, 0.5, 0.2], "optimal")
    array([0.5, 0.3, 0.2])
    """
    if method not in _INVERSES:
        raise InputError(f"to_probability: inverse of {method!r} is unknown{among(method, _INVERSES)}")
    rows = _rows(degrees, axis, "to_probability", "degrees", scale="always")
    order = np.argsort(rows, axis=-1, kind="stable")
    ascending = np.take_along_axis(rows, order, axis=-1)
    return _restore(_INVERSES[method](ascending), order, axis)


def _invert_symmetric(ascending: Floats) -> Floats:
    steps = np.diff(ascending, axis=-1, prepend=0.0)
    probabilities: Floats = np.cumsum(steps / np.arange(ascending.shape[-1], 0, -1), axis=-1)
    return probabilities


def _invert_ratio(ascending: Floats) -> Floats:
    probabilities: Floats = ascending / ascending.sum(axis=-1, keepdims=True)
    return probabilities


def _invert_optimal(ascending: Floats) -> Floats:
    """Share the step below every group of ties among its members; refuse degrees of which that is not the inverse."""
    width = ascending.shape[-1]
    steps = np.diff(ascending, axis=-1, prepend=0.0)
    starts = np.ones(ascending.shape, dtype=bool)
    starts[..., 1:] = ascending[..., 1:] != ascending[..., :-1]
    positions = np.broadcast_to(np.arange(width), ascending.shape)
    firsts = np.maximum.accumulate(np.where(starts, positions, 0), axis=-1)
    next_starts = np.concatenate([starts[..., 1:], np.ones_like(starts[..., :1])], axis=-1)
    ends = np.where(next_starts, positions + 1, width)[..., ::-1]
    sizes = np.minimum.accumulate(ends, axis=-1)[..., ::-1] - firsts
    shares: Floats = np.take_along_axis(steps, firsts, axis=-1) / sizes
    ordered = np.sort(shares, axis=-1)
    again = _one_value_per_tie(ordered, _optimal(ordered))
    wrong = np.argwhere((np.abs(again - ascending) > _SAME).any(axis=-1))
    if len(wrong):
        shown = ", ".join(f"{degree:.6g}" for degree in ascending[tuple(wrong[0])][::-1][:8])
        raise InputError(
            f"to_probability: no probability has the degrees {shown} by 'optimal'; expected steps that shrink towards "
            "lower degrees; use 'symmetric' or 'ratio'"
        )
    return shares


def _optimal(ascending: Floats) -> Floats:
    sums = np.cumsum(ascending, axis=-1)
    return sums / sums[..., -1:]


def _symmetric(ascending: Floats) -> Floats:
    sums = np.cumsum(ascending, axis=-1)
    above = np.arange(ascending.shape[-1] - 1, -1, -1)
    return (sums + ascending * above) / sums[..., -1:]


def _ratio(ascending: Floats) -> Floats:
    return ascending / ascending[..., -1:]


def _klir(ascending: Floats) -> Floats:
    """Bisect the exponent a until the uncertainty of π equals the entropy of p; a = 1 when p is uniform or degenerate."""
    ratios = _ratio(ascending)
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.where(ratios > 0.0, np.log(ratios), -np.inf)
        entropy = -np.where(ascending > 0.0, ascending * np.log2(ascending), 0.0).sum(axis=-1, keepdims=True)
    low, high = np.zeros_like(entropy), np.ones_like(entropy)
    for _ in range(60):
        middle = (low + high) / 2
        enough = _klir_uncertainty(np.exp(logs * middle)) >= entropy
        low, high = np.where(enough, middle, low), np.where(enough, high, middle)
    exponent = np.where((ratios == 1.0) | (ratios == 0.0), 1.0, high)
    return np.exp(np.where(ratios > 0.0, logs * exponent, -np.inf))


def _klir_uncertainty(ascending: Floats) -> Floats:
    """Sum over i >= 2 of (π_i - π_(i+1)) log2(i² / sum_(j<=i) π_j), degrees descending; here they ascend."""
    n = ascending.shape[-1]
    sizes = np.arange(n, 0, -1)
    steps = np.diff(ascending, axis=-1, prepend=0.0)
    sums = np.cumsum(ascending[..., ::-1], axis=-1)[..., ::-1]
    bits: Floats = (steps * np.log2(sizes**2 / sums))[..., : n - 1].sum(axis=-1, keepdims=True)
    return bits


def _variable(ascending: Floats) -> Floats:
    ratios = _ratio(ascending)
    smallest = np.where(ascending > 0.0, ascending, np.inf).min(axis=-1, keepdims=True)
    top = ascending[..., -1:]
    uniform = smallest == top
    with np.errstate(divide="ignore", invalid="ignore"):
        k = np.log(smallest) / ((1.0 - smallest) * np.log(smallest / top))
        exponents = np.where(uniform, 0.0, k * (1.0 - ascending))
        logs = np.where(ratios > 0.0, np.log(ratios), 0.0)
    return np.where(ratios > 0.0, np.exp(exponents * logs), 0.0)


_METHODS: Final[dict[str, Callable[[Floats], Floats]]] = dict(
    zip(get_args(Transform), (_optimal, _symmetric, _ratio, _klir, _variable), strict=True)
)


_INVERSES: Final[dict[str, Callable[[Floats], Floats]]] = dict(
    zip(get_args(Inverse), (_invert_symmetric, _invert_ratio, _invert_optimal), strict=True)
)


def _rows(
    values: ArrayLike, axis: int, owner: str, what: str, scale: Literal["always", "if needed"] = "if needed"
) -> Floats:
    """Finite values >= 0 with the wanted axis last, divided by their largest one if asked for or if sums might overflow."""
    array = require_floats(values, f"{owner}: {what}")
    if array.size == 0 or array.ndim == 0 or not -array.ndim <= axis < array.ndim:
        raise InputError(f"{owner}: {what} have shape {array.shape}; expected at least one value along axis {axis}")
    rows = np.moveaxis(array, axis, -1) + 0.0
    wrong = ~(np.isfinite(rows) & (rows >= 0.0))
    if wrong.any():
        raise InputError(f"{owner}: {what} contain {rows[wrong][0]!s}; expected numbers >= 0")
    tops = rows.max(axis=-1, keepdims=True)
    if not tops.all():
        raise InputError(f"{owner}: a distribution is zero everywhere; expected at least one positive value")
    if scale == "always" or tops.max() > 1e300 or tops.min() < 1e-290:
        return np.asarray(rows / tops)
    return rows


def _one_value_per_tie(ascending: Floats, degrees: Floats) -> Floats:
    """Give every member of a group of equal inputs the value of the group's last member."""
    positions = np.broadcast_to(np.arange(ascending.shape[-1]), ascending.shape)
    group_ends = np.ones(ascending.shape, dtype=bool)
    group_ends[..., :-1] = ascending[..., 1:] != ascending[..., :-1]
    ends = np.where(group_ends, positions, ascending.shape[-1])[..., ::-1]
    last = np.minimum.accumulate(ends, axis=-1)[..., ::-1]
    return np.take_along_axis(degrees, last, axis=-1)


def _restore(sorted_values: Floats, order: NDArray[np.intp], axis: int) -> Floats:
    restored = np.empty_like(sorted_values)
    np.put_along_axis(restored, order, sorted_values, axis=-1)
    return np.ascontiguousarray(np.moveaxis(restored, -1, axis))

"""Measures of dependence on contours.

The contour of a pair in imprecise data is π(x, y) = N(x, y) / N, the share of rows whose cells contain both states,
divided by its largest value. Its projections are π(x) = max over y and π(y) = max over x. (Borgelt projects the contour of
*all* variables by max; we divide the pair's own contour first: a deviation, in the ledger.)

*Independence* has two readings:

- ``product``, the default: q(x, y) = π(x) π(y). Every process of `possnet.sample` draws its level for each variable apart,
  so that the rows of unconnected variables have this contour, whatever the conjunction of the network.
- ``min``: q(x, y) = min(π(x), π(y)), the reading of Borgelt, Gebhardt and Kruse.

The measures, U being the non-specificity of Higashi and Klir, U(π) = integral over a in (0, 1] of log2 of the size of the
a-cut:

- specificity gain U(X) + U(Y) - U(X, Y) (Gebhardt and Kruse 1996). It is 0 for min-independent pairs and never negative,
  but .104 for the *product*-independent pair (1, .5) x (1, .5): on drawn rows it is never 0. Its ratio form divides by
  U(X), its symmetric form by U(X, Y) (Borgelt and Kruse 1997).
- chi2: sum of (π - q)^2; weighted: divided by q.
- mutual information: for min, -sum of π log2(π / q); for product, sum of π log2(π / q) - (π - q) / ln 2; never negative.

All functions take one array: the first axes are the parents (or the first variable), the last axis is the other variable.
An array of counts does as well, for each is divided by its largest value first. 0/0 counts as 0.

References: C. Borgelt, R. Kruse, *Graphical Models*, Wiley 2002; C. Borgelt, R. Kruse, *Evaluation measures for learning
probabilistic and possibilistic networks*, FUZZ-IEEE 1997; J. Gebhardt, R. Kruse, *Learning possibilistic networks from
data*, AISTATS 1995; M. Higashi, G. Klir, *Measures of uncertainty and information based on possibility distributions*, Int.
J. General Systems 1982.
"""

from __future__ import annotations

from math import log
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, get_args

import numpy as np

from possnet.errors import InputError, require_known

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from possnet.aliases import Floats


Reading: TypeAlias = Literal["product", "min"]
ContourMeasure: TypeAlias = Literal[
    "specificity-gain", "specificity-ratio", "specificity-symmetric", "chi2", "mutual-information"
]
CONTOUR_MEASURES: Final[tuple[str, ...]] = get_args(ContourMeasure)
_TINY: Final = 1e-15


def nonspecificity(contour: ArrayLike) -> float:
    """Non-specificity U of a contour of any shape, in bits: sum of (π_(i) - π_(i+1)) log2 i, degrees descending.

    >>> nonspecificity([1, 0.5]), round(nonspecificity([[1, 0.5], [0.5, 0.25]]), 6)
    (0.5, 0.896241)
    """
    ascending = np.sort(_divided(contour), axis=None)
    steps = np.diff(ascending, prepend=0.0)
    return float(steps @ np.log2(np.arange(len(steps), 0, -1, dtype=np.float64)))


def independent(contour: ArrayLike, reading: Reading = "product") -> Floats:
    """What the contour would be if its last variable were independent of the others: q.

    >>> independent([[1, 0.5], [0.5, 0]]), independent([[1, 0.5], [0.5, 0]], "min")
    (array([[1. , 0.5 ], [0.5 , 0.25]]), array([[1. , 0.5], [0.5, 0.5]]))
    """
    require_known(reading, get_args(Reading), "dependence: reading")
    degrees = _divided(contour)
    flat = degrees.reshape(-1, degrees.shape[-1])
    first, second = flat.max(axis=1, keepdims=True), flat.max(axis=0, keepdims=True)
    joined: Floats = first * second if reading == "product" else np.minimum(first, second)
    return joined.reshape(degrees.shape)


def specificity_gain(contour: ArrayLike) -> float:
    """Specificity gain U(X) + U(Y) - U(X, Y), at least 0; 0 for min-independent pairs.

    >>> round(specificity_gain([[1, 0.5], [0.5, 0.25]]), 3), specificity_gain([[1, 0.5], [0.5, 0.5]])
    (0.104, 0.0)
    """
    first, second, both = _parts(contour)
    return max(first + second - both, 0.0)


def specificity_ratio(contour: ArrayLike) -> float:
    """Specificity gain divided by the non-specificity of the first variable: against favouring many states.

    >>> round(specificity_ratio([[1, 0.5], [0.5, 0.25]]), 3)
    0.208
    """
    first, second, both = _parts(contour)
    return _ratio(first + second - both, first)


def specificity_symmetric(contour: ArrayLike) -> float:
    """Specificity gain divided by the non-specificity of the pair.

    >>> round(specificity_symmetric([[1, 0.5], [0.5, 0.25]]), 3)
    0.116
    """
    first, second, both = _parts(contour)
    return _ratio(first + second - both, both)


def nonspecificity_gain(contour: ArrayLike, reading: Reading = "product") -> float:
    """U(q) - U(π): how much less specific the pair would be if it were independent.

    In the min reading this is the specificity gain. In the product reading it may be negative, so no search uses it.

    >>> nonspecificity_gain([[1, 0.5], [0.5, 0.25]]), round(nonspecificity_gain([[1, 0.5], [0.5, 0.25]], "min"), 3)
    (0.0, 0.104)
    """
    return nonspecificity(independent(contour, reading)) - nonspecificity(contour)


def chi2(contour: ArrayLike, reading: Reading = "product", *, weighted: bool = False) -> float:
    """Sum of (π - q)^2, or weighted by 1/q.

    >>> chi2([[1, 0.5], [0.5, 0.25]]), chi2([[1, 0.5], [0.5, 0.25]], "min"), chi2([[1, 0], [0, 1]], weighted=True)
    (0.0, 0.0625, 2.0)
    """
    degrees, joined = _divided(contour), independent(contour, reading)
    squares = (degrees - joined) ** 2
    if weighted:
        squares = np.divide(squares, joined, out=np.zeros_like(squares), where=joined > 0.0)
    return float(squares.sum())


def mutual_information(contour: ArrayLike, reading: Reading = "product") -> float:
    """Possibilistic mutual information in bits, at least 0; 0 exactly for independent pairs in the reading asked for.

    For ``min`` it is -sum of π log2(π / q), for ``product`` the sum of π log2(π / q) - (π - q) / ln 2: the Bregman
    divergence of π log π, which does not ask the degrees to add up to 1. The min form does not see combinations of degree
    0, however surprising: of two variables that always agree, [[1, 0], [0, 1]], it is 0, and the product form 2.89.

    >>> mutual_information([[1, 0.5], [0.5, 0.25]]), mutual_information([[1, 0.5], [0.5, 0.25]], "min")
    (0.0, 0.25)
    """
    degrees, joined = _divided(contour), independent(contour, reading)
    logs = np.log2(np.divide(degrees, joined, out=np.ones_like(degrees), where=(degrees > 0.0) & (joined > 0.0)))
    if reading == "min":
        return max(0.0, float(-(degrees * logs).sum()))  # in this order: never -0
    return max(0.0, float((degrees * logs - (degrees - joined) / log(2.0)).sum()))


def measure(name: ContourMeasure, contour: ArrayLike, reading: Reading = "product") -> float:
    """A measure by its name; the specificity measures are of the min reading whatever is asked for.

    >>> round(measure("specificity-gain", [[1, 0.5], [0.5, 0.25]]), 3), measure("chi2", [[1, 0.5], [0.5, 0.25]])
    (0.104, 0.0)
    """
    require_known(name, CONTOUR_MEASURES, "dependence: measure")
    require_known(reading, get_args(Reading), "dependence: reading")
    if name == "chi2":
        return chi2(contour, reading)
    if name == "mutual-information":
        return mutual_information(contour, reading)
    if name == "specificity-gain":
        return specificity_gain(contour)
    return specificity_ratio(contour) if name == "specificity-ratio" else specificity_symmetric(contour)


def conditional(name: ContourMeasure, contour: ArrayLike, reading: Reading = "product") -> float:
    """A measure of X and Y given Z, for a contour with the axes Z, X, Y.

    Specificity gain is U(X, Z) + U(Y, Z) - U(Z) - U(X, Y, Z), its ratio divides by U(X, Z) - U(Z), its symmetric form by
    U(X, Y, Z) - U(Z). The other measures are taken in each context z, where the contour is divided by its largest value,
    and averaged with the weights π(z): an average of nothing but zeros where X and Y are independent in every context. (The
    measure of Y against the pair (Z, X) would grow with an X that has nothing to do with either.)

    >>> pair = np.array([[1, 0.5], [0.5, 0.25]])
    >>> conditional("chi2", np.array([pair, pair / 2])), conditional("chi2", np.array([pair, [[1, 0], [0, 1]]]))
    (0.0, 1.0)
    """
    require_known(name, CONTOUR_MEASURES, "dependence: measure")
    require_known(reading, get_args(Reading), "dependence: reading")
    cube = _divided(contour)
    if cube.ndim != 3:
        raise InputError(
            f"conditional: a contour of {cube.ndim} axes; expected 3: what is given, then the two variables"
        )
    if name in {"chi2", "mutual-information"}:
        weights = cube.max(axis=(1, 2))
        values = [w * measure(name, table, reading) for w, table in zip(weights, cube, strict=True) if w > 0.0]
        return float(sum(values) / weights.sum())
    given = nonspecificity(cube.max(axis=(1, 2)))
    first, second, every = nonspecificity(cube.max(axis=2)), nonspecificity(cube.max(axis=1)), nonspecificity(cube)
    gain = first + second - given - every
    if name == "specificity-gain":
        return max(gain, 0.0)
    return _ratio(gain, (first if name == "specificity-ratio" else every) - given)


def _divided(contour: ArrayLike) -> Floats:
    """Degrees divided by the largest; nothing at all, or all zeros, is ignorance."""
    try:
        degrees = np.asarray(contour, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(
            "contour that is no array of numbers; expected degrees, or counts, in rows of equal length"
        ) from None
    top = float(degrees.max(initial=0.0))
    if degrees.ndim == 0 or not degrees.size:
        raise InputError(f"contour of shape {degrees.shape}; expected an array with at least one degree")
    if not (np.isfinite(degrees).all() and degrees.min() >= 0.0):
        raise InputError("contour with degrees below 0 or not finite; expected degrees, or counts, from 0 on")
    return degrees / top if top > 0.0 else np.ones_like(degrees)


def _parts(contour: ArrayLike) -> tuple[float, float, float]:
    """U of the first variables, of the last, and of all."""
    degrees = _divided(contour)
    flat = degrees.reshape(-1, degrees.shape[-1])
    return nonspecificity(flat.max(axis=1)), nonspecificity(flat.max(axis=0)), nonspecificity(flat)


def _ratio(gain: float, whole: float) -> float:
    return max(gain, 0.0) / whole if whole > _TINY else 0.0

"""Measures of dependence on contours.

The contour of a pair in imprecise data is π(x, y) = N(x, y) / N, the share of rows whose cells contain both states,
divided by its largest value. Its projections are π(x) = max over y and π(y) = max over x. (Borgelt projects the contour of
*all* variables by max; we divide the pair's own contour first: a deviation, in the ledger.)

Independence depends on the conjunction:

- ``PRODUCT``, the default: q(x, y) = π(x) π(y). Every process of `possnet.sample` draws its level for each variable apart,
  so that the rows of unconnected variables have this contour, whatever the conjunction of the network.
- ``MIN``: q(x, y) = min(π(x), π(y)), the independence of Borgelt, Gebhardt and Kruse.

The measures, U being the non-specificity of Higashi and Klir, U(π) = integral over a in (0, 1] of log2 of the size of the
a-cut:

- specificity gain U(X) + U(Y) - U(X, Y) (Gebhardt and Kruse 1995). It is 0 for min-independent pairs and never negative,
  but .104 for the *product*-independent pair (1, .5) x (1, .5): on drawn rows it is never 0. Its ratio form divides by
  U(X), its symmetric form by U(X, Y) (Borgelt and Kruse 1997).
- chi2: sum of (π - q)^2; weighted: divided by q.
- mutual information: for min, -sum of π log2(π / q); for product, sum of π log2(π / q) - (π - q) / ln 2; never negative.

All functions take one array: the first axes are the parents (or the first variable), the last axis is the other variable.
Each array is divided by its largest value first, so that counts may be given instead of degrees. 0/0 counts as 0.

`CONTOUR_MEASURES` lists the measures by which a structure can be searched.

References: C. Borgelt, R. Kruse, *Graphical Models*, Wiley 2002; C. Borgelt, R. Kruse, *Evaluation measures for learning
probabilistic and possibilistic networks*, FUZZ-IEEE 1997; J. Gebhardt, R. Kruse, *Learning possibilistic networks from
data*, AISTATS 1995; M. Higashi, G. Klir, *Measures of uncertainty and information based on possibility distributions*, Int.
J. General Systems 1983.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log
from typing import TYPE_CHECKING, Final

import numpy as np

from possnet.errors import InputError
from possnet.possibility import MIN, PRODUCT, Conjunction, check_conjunction
from possnet.registries import Registry

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

    from possnet.aliases import Floats

_TINY: Final = 1e-15


@dataclass(frozen=True, slots=True)
class ContourMeasure:
    """A measure of dependence on contours, as `CONTOUR_MEASURES` lists it.

    ``compute`` takes a contour with the axes Z, X, Y, largest degree 1, and the conjunction of independence, and returns
    the measure of X and Y given Z, at least 0. ``symmetric`` says whether X and Y can change places.
    """

    name: str
    label: str
    compute: Callable[[Floats, Conjunction], float]
    symmetric: bool = True


CONTOUR_MEASURES: Final = Registry[ContourMeasure]("measure")


def measure_dependence(name: str, contour: ArrayLike, conjunction: Conjunction = PRODUCT) -> float:
    """A measure of `CONTOUR_MEASURES` by its name; the specificity measures take independence as min in any case.

    >>> pair = [[1, 0.5], [0.5, 0.25]]
    >>> round(measure_dependence("specificity-gain", pair), 3), measure_dependence("chi2", pair)
    (0.104, 0.0)
    >>> round(measure_dependence("specificity-ratio", pair), 3), round(measure_dependence("specificity-symmetric", pair), 3)
    (0.208, 0.116)
    """
    degrees = _normalise(contour)
    return _compute(name, degrees.reshape(1, -1, degrees.shape[-1]), conjunction)  # given a Z of one state


def conditional_dependence(name: str, contour: ArrayLike, conjunction: Conjunction = PRODUCT) -> float:
    """A measure of X and Y given Z, for a contour with the axes Z, X, Y.

    Specificity gain is U(X, Z) + U(Y, Z) - U(Z) - U(X, Y, Z), its ratio divides by U(X, Z) - U(Z), its symmetric form by
    U(X, Y, Z) - U(Z). The other measures are taken in each context z, where the contour is divided by its largest value,
    and averaged with the weights π(z): an average of nothing but zeros where X and Y are independent in every context. (The
    measure of Y against the pair (Z, X) would grow with an X that has nothing to do with either.)

    >>> pair = np.array([[1, 0.5], [0.5, 0.25]])
    >>> cubes = np.array([pair, pair / 2]), np.array([pair, [[1, 0], [0, 1]]])
    >>> [conditional_dependence("chi2", cube) for cube in cubes]
    [0.0, 1.0]
    """
    cube = _normalise(contour)
    if cube.ndim != 3:
        raise InputError(
            f"conditional_dependence: a contour of {cube.ndim} axes; expected 3: the condition, then the two variables"
        )
    return _compute(name, cube, conjunction)


def _compute(name: str, cube: Floats, conjunction: Conjunction) -> float:
    check_conjunction(conjunction)
    return CONTOUR_MEASURES.require(name, "dependence").compute(cube, conjunction)


def nonspecificity(contour: ArrayLike) -> float:
    """Non-specificity U of a contour of any shape, in bits: sum of (π_(i) - π_(i+1)) log2 i, degrees descending.

    >>> nonspecificity([1, 0.5]), round(nonspecificity([[1, 0.5], [0.5, 0.25]]), 6)
    (0.5, 0.896241)
    """
    return _nonspecificity(_normalise(contour))


def independent_contour(contour: ArrayLike, conjunction: Conjunction = PRODUCT) -> Floats:
    """The contour q that independence of the last variable from the others would give.

    >>> from possnet import MIN
    >>> independent_contour([[1, 0.5], [0.5, 0]]), independent_contour([[1, 0.5], [0.5, 0]], MIN)
    (array([[1. , 0.5 ], [0.5 , 0.25]]), array([[1. , 0.5], [0.5, 0.5]]))
    """
    return _with_independent(contour, conjunction)[1]


def nonspecificity_gain(contour: ArrayLike, conjunction: Conjunction = PRODUCT) -> float:
    """U(q) - U(π): how much less specific the pair would be if it were independent.

    With ``MIN`` this is the specificity gain. With ``PRODUCT`` it may be negative, so no search uses it.

    >>> from possnet import MIN
    >>> nonspecificity_gain([[1, 0.5], [0.5, 0.25]]), round(nonspecificity_gain([[1, 0.5], [0.5, 0.25]], MIN), 3)
    (0.0, 0.104)
    """
    return nonspecificity(independent_contour(contour, conjunction)) - nonspecificity(contour)


def chi2(contour: ArrayLike, conjunction: Conjunction = PRODUCT, *, weighted: bool = False) -> float:
    """Sum of (π - q)^2, or weighted by 1/q.

    >>> from possnet import MIN
    >>> chi2([[1, 0.5], [0.5, 0.25]]), chi2([[1, 0.5], [0.5, 0.25]], MIN), chi2([[1, 0], [0, 1]], weighted=True)
    (0.0, 0.0625, 2.0)
    """
    degrees, expected = _with_independent(contour, conjunction)
    squares = (degrees - expected) ** 2
    if weighted:
        squares = np.divide(squares, expected, out=np.zeros_like(squares), where=expected > 0.0)
    return float(squares.sum())


def mutual_information(contour: ArrayLike, conjunction: Conjunction = PRODUCT) -> float:
    """Possibilistic mutual information in bits, at least 0; 0 exactly for pairs that are independent by the conjunction.

    For ``MIN`` it is -sum of π log2(π / q), for ``PRODUCT`` the sum of π log2(π / q) - (π - q) / ln 2: the Bregman
    divergence of π log π, which does not ask the degrees to add up to 1. The min form does not see combinations of degree
    0, however surprising: of two variables that always agree, [[1, 0], [0, 1]], it is 0, and the product form 2.89.

    >>> from possnet import MIN
    >>> mutual_information([[1, 0.5], [0.5, 0.25]]), mutual_information([[1, 0.5], [0.5, 0.25]], MIN)
    (0.0, 0.25)
    """
    degrees, expected = _with_independent(contour, conjunction)
    logs = np.log2(np.divide(degrees, expected, out=np.ones_like(degrees), where=(degrees > 0.0) & (expected > 0.0)))
    if conjunction is MIN:
        return max(0.0, float(-(degrees * logs).sum()))  # in this order: never -0
    return max(0.0, float((degrees * logs - (degrees - expected) / log(2.0)).sum()))


def _normalise(contour: ArrayLike) -> Floats:
    """Degrees divided by the largest; all zeros become ignorance, all ones."""
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


def _with_independent(contour: ArrayLike, conjunction: Conjunction) -> tuple[Floats, Floats]:
    """The contour, largest degree 1, and the one that independence would give."""
    check_conjunction(conjunction)
    degrees = _normalise(contour)
    flat = degrees.reshape(-1, degrees.shape[-1])
    expected = conjunction.combine(flat.max(axis=1, keepdims=True), flat.max(axis=0, keepdims=True))
    return degrees, expected.reshape(degrees.shape)


def _nonspecificity(degrees: Floats) -> float:
    ascending = np.sort(degrees, axis=None)
    steps = ascending.copy()
    steps[1:] -= ascending[:-1]
    return float(steps @ np.log2(np.arange(len(steps), 0, -1, dtype=np.float64)))


def _specificity(cube: Floats) -> tuple[float, float, float]:
    """Specificity gain of X and Y given Z, at least 0, and U(X, Z) - U(Z) and U(X, Y, Z) - U(Z)."""
    given = _nonspecificity(cube.max(axis=(1, 2)))
    first, second, both = _nonspecificity(cube.max(axis=2)), _nonspecificity(cube.max(axis=1)), _nonspecificity(cube)
    return max(first + second - given - both, 0.0), first - given, both - given


def _divide(gain: float, nonspecificity_given: float) -> float:
    return gain / nonspecificity_given if nonspecificity_given > _TINY else 0.0


def _average_contexts(measure: Callable[[ArrayLike, Conjunction], float]) -> Callable[[Floats, Conjunction], float]:
    """Mean of a measure of X and Y over the contexts z, with the weights π(z)."""

    def compute(cube: Floats, conjunction: Conjunction) -> float:
        weights = cube.max(axis=(1, 2))
        values = [w * measure(table, conjunction) for w, table in zip(weights, cube, strict=True) if w > 0.0]
        return float(sum(values) / weights.sum())

    return compute


for _measure in (
    ContourMeasure("specificity-gain", "specificity gain", lambda cube, _: _specificity(cube)[0]),
    ContourMeasure(
        "specificity-ratio", "specificity gain ratio", lambda cube, _: _divide(*_specificity(cube)[:2]), symmetric=False
    ),
    ContourMeasure(
        "specificity-symmetric", "symmetric specificity gain ratio", lambda cube, _: _divide(*_specificity(cube)[::2])
    ),
    ContourMeasure("chi2", "possibilistic chi-square", _average_contexts(chi2)),
    ContourMeasure("mutual-information", "possibilistic mutual information", _average_contexts(mutual_information)),
):
    CONTOUR_MEASURES.register(_measure)

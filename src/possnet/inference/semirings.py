"""The operations that exact inference needs, as a value: how factors combine, and how a variable leaves a factor.

All five are commutative semirings whose combination distributes over their projection, which is all that a junction tree
asks for (Shenoy and Shafer 1990; Aji and McEliece 2000):

- ``MAX_PRODUCT`` and ``MAX_MIN``: possibilities of product-based and min-based networks;
- ``SUM_PRODUCT``: probabilities and counts;
- ``MAX_SUM`` and ``LOG_SUM``: the first and the third one on logarithms, for products that would underflow.

``divide`` takes a factor out of a combination again. For the minimum there is nothing to take out: combining twice is
combining once (``divide`` is None).

[HLB] M. Haddad, P. Leray, N. Ben Amor: Possibilistic networks: parameters learning from imprecise data and evaluation
strategy.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy import ufunc

    from possnet.aliases import Floats


ROUNDING: Final = 1e-12
"""Degrees that differ by less differ by rounding alone."""


@dataclass(frozen=True, slots=True)
class Semiring:
    """Combination, projection, division (or None), and the two neutral values.

    ``zero`` is neutral for projection and absorbs combination; ``one`` is neutral for combination.
    """

    name: str
    combine: ufunc
    project: ufunc
    divide: ufunc | None
    zero: float
    one: float

    @property
    def is_logarithmic(self) -> bool:
        """Whether values are logarithms."""
        return self.one == 0.0


MAX_PRODUCT: Final = Semiring("max-product", np.multiply, np.maximum, np.divide, 0.0, 1.0)
MAX_MIN: Final = Semiring("max-min", np.minimum, np.maximum, None, 0.0, 1.0)
SUM_PRODUCT: Final = Semiring("sum-product", np.multiply, np.add, np.divide, 0.0, 1.0)
MAX_SUM: Final = Semiring("max-sum", np.add, np.maximum, np.subtract, -np.inf, 0.0)
LOG_SUM: Final = Semiring("log-sum", np.add, np.logaddexp, np.subtract, -np.inf, 0.0)


def condition_degrees(
    values: Floats, tops: Floats | float, semiring: Semiring, rounding: Floats | float = ROUNDING
) -> Floats:
    """Degrees given evidence of the value ``tops``: (1) of [HLB], or (2) for the minimum.

    Degrees that only rounding keeps from 1 are 1.

    >>> condition_degrees(np.array([0.4, 0.1]), 0.4, MAX_PRODUCT), condition_degrees(np.array([0.4, 0.1]), 0.4, MAX_MIN)
    (array([1. , 0.25]), array([1. , 0.1]))
    """
    if semiring is MAX_MIN:
        return np.where(values == tops, 1.0, values)
    degrees: Floats = np.exp(values - tops) if semiring.is_logarithmic else values / tops
    degrees[degrees >= 1.0 - rounding] = 1.0
    return degrees

"""Conditional dependence by the similarity of possibility distributions.

The hybrid learners of Sangüesa, Cortés and Gisolfi (1998) ask how similar π(. | y, z) is to π(. | z). Their exact formula
is not at hand; this is ours. With the histograms of equation (5) of [HLB], h(x | y, z) = N(x, y, z) / N(y, z), X does not
depend on Y given Z where h(x | y, z) = h(x | z): this holds for cells that are independent in the rows. How far two
distributions are apart is the mean of |h(x | y, z) - h(x | z)| over x, of which only what passes a few standard errors
sqrt(h (1 - h) / N(y, z)) is counted, so that noise alone gives 0 at any number of rows. Contexts (y, z) are averaged with
their degrees N(y, z) / max N as weights, and the larger of the two directions is taken.

[HLB] M. Haddad, P. Leray, N. Ben Amor: Possibilistic networks: parameters learning from imprecise data and evaluation
strategy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from possnet.errors import InputError

if TYPE_CHECKING:
    from possnet.aliases import Ints


def similarity_dependence(both: Ints, first: Ints, second: Ints, rows: Ints, *, errors: float = 4.0) -> float:
    """Dependence of X and Y given Z: 0 (as far as the rows can tell, none) to 1.

    Parameters
    ----------
    both
        N(z, x, y), axes Z, X, Y; without Z an axis of length 1.
    first, second, rows
        N(z, x), N(z, y) and N(z). They cannot be had from ``both``: a row counts for every state of its cells.
    errors
        Standard errors of a share that count as noise.

    Examples
    --------
    >>> rows = np.array([400])
    >>> similarity_dependence(np.array([[[400, 200], [200, 100]]]), np.array([[400, 200]]), np.array([[400, 200]]), rows)
    0.0
    >>> similarity_dependence(np.array([[[200, 0], [0, 200]]]), np.array([[200, 200]]), np.array([[200, 200]]), rows) > 0.3
    True
    """
    if both.ndim != 3 or first.shape != both.shape[:2] or second.shape != (both.shape[0], both.shape[2]):
        raise InputError(
            f"similarity_dependence: counts of shapes {both.shape}, {first.shape}, {second.shape}; expected (z, x, y), "
            "(z, x) and (z, y)"
        )
    if not errors >= 0.0:
        raise InputError(f"similarity_dependence: errors {errors!r}; expected standard errors from 0 on")
    return max(
        _directed(both, first, second, rows, errors), _directed(both.transpose(0, 2, 1), second, first, rows, errors)
    )


def _directed(both: Ints, first: Ints, second: Ints, rows: Ints, errors: float) -> float:
    """How far the distributions of X given (y, z) are from those given z, for counts with the axes Z, X, Y."""
    total = rows[:, np.newaxis]
    middle = np.divide(first, total, out=np.zeros(first.shape), where=total > 0)[:, :, np.newaxis]
    number = second[:, np.newaxis]
    shares = np.divide(both, number, out=np.zeros(both.shape), where=number > 0)
    variance = np.maximum(middle * (1.0 - middle), 1.0 / (number + 1.0))  # never less than one row would change
    noise = errors * np.sqrt(variance / (number + 1.0))
    excess = np.maximum(np.abs(shares - middle) - noise, 0.0).mean(axis=1)
    weights = second / (second.max(initial=0) or 1)
    everything = float(weights.sum())
    return float((weights * excess).sum() / everything) if everything > 0.0 else 0.0

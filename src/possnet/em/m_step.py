"""The M-step: the masses that maximise the expected log-likelihood, given the expected counts of the E-step."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from possnet.em.squarem import Masses


def run_m_step(counts: Masses, masses: Masses) -> Masses:
    """m(A | a) = N(A, a) / N(a), with expected counts N; contexts without any keep their masses.

    >>> run_m_step({"x": np.array([[3.0, 1.0], [0.0, 0.0]])}, {"x": np.array([[0.5, 0.5], [0.9, 0.1]])})
    {'x': array([[0.75, 0.25], [0.9 , 0.1 ]])}
    """
    maximum = {}
    for name, values in counts.items():
        sums = values.sum(axis=1, keepdims=True)
        maximum[name] = np.divide(values, sums, out=masses[name].copy(), where=sums > 0.0)
    return maximum

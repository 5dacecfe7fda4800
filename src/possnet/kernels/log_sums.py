"""Logarithms of sums of exponentials, without overflow."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from possnet.aliases import Floats


_LOWEST = -200.0  # below, shares are 0: denormal numbers make matrix products many times slower


def normalise_logs(logs: Floats) -> Floats:
    """Turn rows of logarithms into shares with the sum 1, in place; returns the logarithm of every row's sum.

    >>> logs = np.log(np.array([[0.1, 0.3], [1e-200, 1e-200]]))
    >>> np.exp(normalise_logs(logs)).round(3).tolist(), logs.round(3).tolist()
    ([0.4, 0.0], [[0.25, 0.75], [0.5, 0.5]])
    """
    top = logs.max(axis=1, keepdims=True)
    logs -= np.where(np.isfinite(top), top, 0.0)
    logs[logs < _LOWEST] = -np.inf
    np.exp(logs, out=logs)
    sums = logs.sum(axis=1, keepdims=True)
    logs /= sums
    total: Floats = (np.log(sums) + top)[:, 0]
    return total

"""Kinds of values that annotations name again and again."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["Bools", "Codes", "Floats", "Ints", "Progress", "Weights", "Words"]

Bools: TypeAlias = NDArray[np.bool_]
Codes: TypeAlias = NDArray[np.integer]
Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]
Weights: TypeAlias = Ints | Floats
"""Row weights, and what is counted with them: int64, and exact, if all weights are whole numbers; else float64."""

Words: TypeAlias = NDArray[np.uint64]
"""Bitmaps, 64 rows a word (see `possnet.kernels.bitmaps`)."""

Progress: TypeAlias = Callable[[int, int], None]
"""Called now and then with what is done and what there is in all (0 if unknown)."""

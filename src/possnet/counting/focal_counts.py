"""Focal counts: the numbers of rows whose cells equal given sets."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from possnet.kernels import bitmaps
from possnet.kernels.grouping import sum_weights

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from possnet.aliases import Weights


class Focal(NamedTuple):
    """Distinct combinations of a family's cells, as masks (combinations, bytes) in sorted order, and their counts.

    The masks of the parents and then of the child follow each other, each of whole bytes, low bits first.
    """

    octets: NDArray[np.uint8]
    counts: Weights


def merge_focal(parts: Iterable[Focal]) -> Focal:
    """One sorted list of the combinations of several lists, without those that only rows of weight 0 have."""
    octets, counts = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    codes, distinct = bitmaps.distinct_rows(octets)
    totals = sum_weights(codes, counts, len(distinct))
    return Focal(distinct[totals > 0], totals[totals > 0])

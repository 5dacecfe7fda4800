"""Focal counts as numbers of cells: for every variable of a family its distinct cells, and which one each row has."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from possnet.kernels import bitmaps

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from possnet.counting import Counts

    Bools: TypeAlias = NDArray[np.bool_]
    Numbers: TypeAlias = NDArray[np.int64]

__all__ = ["cell_codes"]


def cell_codes(counts: Counts, name: str) -> tuple[list[Numbers], list[Bools], Numbers]:
    """For a family (parents, then the variable itself): cell numbers, the cells behind them, and how often each row stands.

    >>> import possnet as pn
    >>> data = pn.Dataset.from_table({"a": ["x", {"x", "y"}, "x"]})
    >>> cell_codes(pn.count(pn.Dag({"a": ()}), data, focal=True), "a")
    ([array([0, 1])], [array([[ True, False], [ True,  True]])], array([2, 1]))
    """
    octets, numbers = counts.focal_arrays(name)
    columns, sets, start = [], [], 0
    for variable in (counts.variable(n) for n in (*counts.dag.parents(name), name)):
        width = -(-len(variable) // 8)
        codes, masks = bitmaps.distinct_rows(octets[:, start : start + width])
        columns.append(codes)
        sets.append(np.unpackbits(masks, axis=1, count=len(variable), bitorder="little").view(np.bool_))
        start += width
    return columns, sets, numbers

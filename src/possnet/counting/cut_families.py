"""A family some of whose cells carry degrees, counted as the alpha-cuts of its rows.

What a family counts depends on its own cells alone: the levels at which cells of other columns change only split the
weight of a row. So it is the distinct combinations of the family's cells that are cut, not the rows. A combination of cells
pi_1 ... pi_m counts for a configuration (x_1 ... x_m) with the measure of the levels whose cuts contain it, which is
min_i pi_i(x_i).
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from possnet.counting.focal_counts import Focal
from possnet.dataset import group_rows
from possnet.kernels import bitmaps, tally
from possnet.kernels.graded_cells import cut_rows
from possnet.kernels.grouping import sum_weights

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from possnet.aliases import Bools, Codes, Floats, Weights
    from possnet.counting.row_blocks import RowBlock
    from possnet.kernels.tally import Tally


_DENSE: Final = 1 << 22
"""Degrees of all combinations of cells in all configurations that are computed at once."""
_TABLE: Final = 1 << 17
"""Entries of a histogram of all combinations that stays in the cache."""


class CutFamily:
    """The rows of a block with a graded cell in a family, as distinct combinations of its cells.

    A row is listed with the first column whose cell is graded.

    Parameters
    ----------
    names
        The family: parents, then the child.
    """

    def __init__(self, block: RowBlock, names: Sequence[str]) -> None:
        columns = [block.degree_codes(name) for name in names]
        self._degrees = [column.degrees for column in columns]
        self._shape = tuple(degrees.shape[1] for degrees in self._degrees)
        sizes, combinations, weights = [len(degrees) for degrees in self._degrees], [], []
        for place, name in enumerate(names):
            cells = block.graded_cells(name)
            if cells is None:
                continue
            codes: list[Codes] = [
                (cells.codes + column.n_sets).astype(column.codes.dtype)
                if k == place
                else np.take(column.codes, cells.rows, mode="clip")
                for k, column in enumerate(columns)
            ]
            listed, numbers = _group_cells(codes, sizes, None if block.weights is None else block.weights[cells.rows])
            first = np.ones(len(listed), dtype=np.bool_)
            for before in range(place):
                first &= listed[:, before] < columns[before].n_sets
            combinations.append(listed[first])
            weights.append(numbers[first])
        self._combinations, self._weights = np.concatenate(combinations), np.concatenate(weights)

    def tally_cuts(self, refuse: Callable[[int], None]) -> Tally:
        """Counts of the alpha-cuts, as floats: sums of the smallest degrees, or of the cuts where that is too large."""
        if len(self._combinations) * prod(self._shape) > _DENSE:
            combinations, weights, sets = self._cut_combinations()
            return tally.by_cells(combinations, weights, sets, refuse)
        parents = least = np.ones((len(self._combinations), 1))
        for column, table in zip(self._combinations.T, self._degrees, strict=True):
            parents = least
            least = np.minimum(parents[:, :, np.newaxis], table[column][:, np.newaxis]).reshape(len(parents), -1)
        numbers = self._weights.astype(np.float64)
        # not by @: its threads cost more than these sums
        counts, totals = (np.einsum("c,ce->e", numbers, entries) for entries in (least, parents))
        return tally.keep_occurring(counts.reshape(-1, self._shape[-1]), totals, self._shape[:-1])

    def count_focal(self) -> Focal:
        """Distinct combinations of alpha-cuts, and their counts."""
        combinations, weights, sets = self._cut_combinations()
        packed = [
            np.packbits(inside, axis=1, bitorder="little")[numbers]
            for inside, numbers in zip(sets, combinations.T, strict=True)
        ]
        return Focal(np.hstack(packed), weights)

    def _cut_combinations(self) -> tuple[NDArray[np.int32], Floats, list[Bools]]:
        """Cuts of every combination: numbers of sets (cuts, columns), their weights, and these sets of every column."""
        columns = list(self._combinations.T.astype(np.int64))
        cuts = cut_rows(columns, self._degrees, len(self._combinations))
        numbers, sets = [], []
        for column, degrees in zip(columns, self._degrees, strict=True):
            inside = degrees[column[cuts.origins]] >= cuts.levels[:, np.newaxis]
            codes, octets = bitmaps.distinct_rows(np.packbits(inside, axis=1, bitorder="little"))
            numbers.append(codes.astype(np.int32))
            sets.append(bitmaps.unpack_sets(octets, degrees.shape[1]))
        return np.column_stack(numbers), self._weights[cuts.origins] * cuts.shares, sets


def _group_cells(
    columns: Sequence[Codes], sizes: Sequence[int], weights: Weights | None
) -> tuple[NDArray[np.int32], NDArray[Any]]:
    """Combinations of codes that occur, and the weight of each: by a histogram of all of them if it is small."""
    size = prod(sizes)
    if size > _TABLE:
        groups = group_rows(columns, sizes, len(columns[0]))
        return groups.combinations, groups.counts(weights)
    key_type = np.min_scalar_type(size)
    keys = columns[0].astype(key_type)
    for column, width in zip(columns[1:], sizes[1:], strict=True):
        keys *= key_type.type(width)
        keys += column
    sums = sum_weights(keys, weights, size)
    kept = np.flatnonzero(sums)
    digits = [place.astype(np.int32) for place in np.unravel_index(kept, tuple(sizes))]
    return np.column_stack(digits), sums[kept]

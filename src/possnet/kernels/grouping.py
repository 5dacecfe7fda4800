"""Equal rows grouped: rows of codes to group numbers, and sums over groups.

A row of codes (c_1, ..., c_m), c_k below the size s_k of its column, is a mixed-radix number, the last column fastest.
Columns are taken up until the numbers outgrow a table of reasonable length; then the numbers that occur are numbered
afresh, and so on. Groups are therefore in lexicographic order of their codes, whatever the path.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, overload

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from possnet.aliases import Codes, Ints


_TABLE_LIMIT: Final = 1 << 22  # entries of a look-up table: beyond the caches a sort is no slower
_GROUP_LIMIT: Final = 1 << 16  # mixed-radix numbers of a few rows are compressed from here on
_KEY_LIMIT: Final = 1 << 62


class RowGroups:
    """Groups of equal rows, in lexicographic order of their codes.

    Attributes
    ----------
    inverse
        Number of every row's group.
    combinations
        The codes of every group, (groups, columns).
    first
        The first row of every group.

    Examples
    --------
    >>> groups = group_rows([np.array([1, 0, 1]), np.array([2, 0, 2])], [2, 3], 3)
    >>> groups.inverse, groups.combinations, groups.first
    (array([1, 0, 1]), array([[0, 0], [1, 2]], dtype=int32), array([1, 0]))
    >>> len(groups), groups.counts(), groups.counts(np.array([5, 1, 2]))
    (2, array([1, 2]), array([1, 7]))
    """

    def __init__(self, keys: Ints, limit: int, stages: Sequence[tuple[Ints, Sequence[int]]]) -> None:
        self._keys, self._limit, self._stages = keys, limit, stages

    def __len__(self) -> int:
        return len(self._stages[-1][0])

    @cached_property
    def inverse(self) -> Ints:
        """Number of every row's group."""
        distinct = self._stages[-1][0]
        if len(distinct) == self._limit:  # numbered without gaps
            return self._keys
        return np.take(_number_keys(distinct, self._limit), self._keys, mode="clip")

    @cached_property
    def combinations(self) -> NDArray[np.int32]:
        """The codes of every group, shape (groups, columns)."""
        combinations = np.zeros((1, 0), dtype=np.int32)
        for keys, sizes in self._stages:
            digits, before = np.empty((len(keys), len(sizes)), dtype=np.int32), keys
            for place in range(len(sizes) - 1, -1, -1):
                before, digits[:, place] = np.divmod(before, sizes[place])
            combinations = np.hstack([combinations[before], digits])
        return combinations

    @cached_property
    def first(self) -> Ints:
        """The first row of every group."""
        first = np.empty(len(self), dtype=np.int64)
        first[self.inverse[::-1]] = np.arange(len(self.inverse) - 1, -1, -1)  # of equal rows the first one writes last
        return first

    def counts(self, weights: NDArray[Any] | None = None) -> NDArray[Any]:
        """Rows in every group, or the sum of their weights."""
        if (
            len(self) < self._limit <= len(self._keys)
        ):  # sums of all possible keys cost less than numbering the rows' groups
            return sum_weights(self._keys, weights, self._limit)[self._stages[-1][0]]
        return sum_weights(self.inverse, weights, len(self))


@overload
def group_rows(columns: Sequence[Codes], sizes: Sequence[int], rows: int) -> RowGroups: ...
@overload
def group_rows(columns: Sequence[Codes], sizes: Sequence[int], rows: int, *, most: int) -> RowGroups | None: ...
def group_rows(
    columns: Sequence[Codes], sizes: Sequence[int], rows: int, *, most: int | None = None
) -> RowGroups | None:
    """Groups of the rows that have the same codes in all columns; the codes of a column are below its size.

    Parameters
    ----------
    most
        Return None if there are more groups than this.

    Examples
    --------
    >>> group_rows([np.array([1, 0, 1])], [2], 3).inverse
    array([1, 0, 1])
    >>> len(group_rows([], [], 3)), group_rows([np.array([0, 1, 2])], [3], 3, most=2)
    (1, None)
    """
    most = rows if most is None else most
    bound = max(_GROUP_LIMIT, 4 * rows)
    keys: Ints = np.zeros(rows, dtype=np.int64)
    limit, pending = 1, list[int]()
    stages: list[tuple[Ints, Sequence[int]]] = []
    for column, size in zip(columns, sizes, strict=True):
        # below the bound renumbering is cheap; above it, a sort waits until it cannot wait any longer
        if pending and limit * size > bound and (limit <= bound or limit * size > _KEY_LIMIT):
            keys, kept = compress_keys(keys, limit)
            stages.append((kept, pending))
            if len(kept) > most:
                return None
            limit, pending = len(kept), []
        if limit > 1:
            keys = keys * size
            keys += column
        else:
            keys = column.astype(np.int64)
        limit *= size
        pending.append(size)
    if limit <= bound:
        distinct = _find_keys(keys, limit)
    else:
        keys, distinct = compress_keys(keys, limit)
        limit = len(distinct)
    stages.append((distinct, pending))
    return RowGroups(keys, limit, stages) if len(distinct) <= most else None


def compress_keys(keys: Ints, limit: int) -> tuple[Ints, Ints]:
    """Keys from 0 to ``limit`` as codes into the sorted distinct keys: by look-up where the table is small, else by sort.

    >>> compress_keys(np.array([7, 3, 7]), 10)
    (array([1, 0, 1]), array([3, 7]))
    """
    if limit <= max(_TABLE_LIMIT, 4 * len(keys)):
        distinct = _find_keys(keys, limit)
        return np.take(_number_keys(distinct, limit), keys, mode="clip"), distinct
    distinct, codes = np.unique(keys, return_inverse=True)
    return codes, distinct


def _find_keys(keys: Ints, limit: int) -> Ints:
    if limit <= len(keys):  # twice as fast
        return np.flatnonzero(np.bincount(keys, minlength=limit))
    occurs = np.zeros(limit, dtype=np.bool_)
    occurs[keys] = True
    return np.flatnonzero(occurs)


def _number_keys(distinct: Ints, limit: int) -> Ints:
    numbers = np.zeros(limit, dtype=np.int64)
    numbers[distinct] = np.arange(len(distinct))
    return numbers


def sum_weights(codes: Codes, weights: NDArray[Any] | None, size: int) -> NDArray[Any]:
    """Sum of the weights (or number) of the rows of every code; exact for whole numbers, floats for floats.

    >>> sum_weights(np.array([0, 2, 2]), np.array([1, 2**61, 5]), 3)
    array([                  1,                   0, 2305843009213693957])
    """
    if weights is None:
        return np.bincount(codes, minlength=size)
    if weights.dtype.kind == "f" or weights.sum(dtype=np.float64) < 2.0**52:
        return np.bincount(codes, weights, minlength=size).astype(weights.dtype)
    total = np.zeros(size, dtype=np.int64)
    for shift in (0, 21, 42):  # sums of 21 bits each are exact as floats
        part = weights >> shift & 0x1FFFFF
        total += np.bincount(codes, part, minlength=size).astype(np.int64) << shift
    return total

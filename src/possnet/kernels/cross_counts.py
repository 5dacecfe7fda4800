"""Cross tables of a few contexts with every state of many columns, in one call.

All kernels compute the same: of the rows in a context, how many have each state of each of the other columns, as a table
(contexts, states of all columns side by side).

- `by_bitmaps`: ANDs and population counts; columns may be set-valued, a row then counts for every state of its cell.
- `by_partitions`: the same for columns whose states part the rows, one state a column less.
- `by_codes`: one number a row and column, and a histogram for each column, or for a few together; rows may have weights.
- `by_weights`: as `by_bitmaps` for rows with weights, by a matrix product.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from possnet.kernels import bitmaps
from possnet.kernels.grouping import sum_weights

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from possnet.aliases import Codes, Ints, Weights, Words


_CACHED: Final = 1 << 15  # words that stay in the cache
_JOINT_ENTRIES: Final = 1 << 12  # of a table of several columns


def by_bitmaps(contexts: Words, states: Words) -> Ints:
    """Rows of every context (contexts, words) that have each state (states, words), shape (contexts, states).

    >>> by_bitmaps(np.array([[7]], dtype=np.uint64), np.array([[1], [6], [8]], dtype=np.uint64))
    array([[1, 2, 0]])
    """
    number, length = states.shape
    counts = np.empty((len(contexts), number), dtype=np.int64)
    if not counts.size:
        return counts
    width = min(max(_CACHED // max(length, 1), 1), number)
    depth = max(_CACHED // max(width * length, 1), 1)
    both = np.empty((min(depth, len(contexts)), width, length), dtype=bitmaps.WORD)
    ones = np.empty(both.shape, dtype=np.uint8)
    for first in range(0, number, width):
        part = states[first : first + width]
        for start in range(0, len(contexts), depth):
            few_contexts = contexts[start : start + depth]
            room = both[: len(few_contexts), : len(part)]
            np.bitwise_and(few_contexts[:, np.newaxis], part, out=room)
            counted = np.bitwise_count(room, out=ones[: len(few_contexts), : len(part)])
            counts[start : start + depth, first : first + width] = bitmaps.add_up(counted)
    return counts


def by_partitions(contexts: Words, states: Words, sizes: Sequence[int]) -> Ints:
    """The same where the states of a column part the rows, and ``states`` lacks the last of each: all other rows have it.

    >>> by_partitions(np.array([[7], [3]], dtype=np.uint64), np.array([[1]], dtype=np.uint64), [2])
    array([[1, 2],
           [1, 1]])
    """
    lasts = np.cumsum(np.asarray(sizes, dtype=np.int64)) - 1
    counts = np.zeros((len(contexts), sum(sizes)), dtype=np.int64)
    is_counted = np.ones(counts.shape[1], dtype=np.bool_)
    is_counted[lasts] = False
    counts[:, is_counted] = by_bitmaps(contexts, states)
    totals = bitmaps.count_bits(contexts)
    counts[:, lasts] = totals[:, np.newaxis] - np.add.reduceat(counts, lasts - np.asarray(sizes) + 1, axis=1)
    return counts


def by_codes(
    codes: Codes, contexts: int, columns: Sequence[Codes], sizes: Sequence[int], weights: Weights | None = None
) -> Weights:
    """The same for a context number and a state number of every row, with the rows' weights: floats if these are.

    >>> by_codes(np.array([0, 0, 1]), 2, [np.array([0, 1, 1]), np.array([2, 2, 0])], [2, 3])
    array([[1, 1, 0, 0, 2], [0, 1, 1, 0, 0]])
    """
    counts: Weights = np.empty((contexts, sum(sizes)), dtype=np.int64 if weights is None else weights.dtype)
    place = 0
    base = codes.astype(np.int64, copy=False)
    keys = np.empty(len(base), dtype=np.int64)
    for pack in _pack_columns(sizes, contexts):
        previous = base
        for k in pack:
            np.multiply(previous, sizes[k], out=keys)
            np.add(keys, columns[k], out=keys)
            previous = keys
        shape = [sizes[k] for k in pack]
        joint = sum_weights(keys, weights, contexts * prod(shape)).reshape(contexts, *shape)
        for axis, size in enumerate(shape, start=1):
            others = tuple(other for other in range(1, joint.ndim) if other != axis)
            counts[:, place : place + size] = joint.sum(axis=others) if others else joint
            place += size
    return counts


def _pack_columns(sizes: Sequence[int], contexts: int) -> Iterator[list[int]]:
    """Neighbouring columns whose joint table is small: one histogram of all costs less than one of each.

    >>> list(_pack_columns([2, 3, 5000, 2, 2], 4))
    [[0, 1], [2], [3, 4]]
    """
    pack: list[int] = []
    entries = contexts
    for k, size in enumerate(sizes):
        if pack and entries * size > _JOINT_ENTRIES:
            yield pack
            pack, entries = [], contexts
        pack.append(k)
        entries *= size
    if pack:
        yield pack


def by_weights(contexts: Words, states: Words, rows: int, weights: Weights) -> Weights:
    """The same as `by_bitmaps` with the rows' weights: a matrix product; of whole ones in parts that floats hold exactly.

    >>> by_weights(np.array([[7]], dtype=np.uint64), np.array([[1], [6]], dtype=np.uint64), 3, np.array([2**60, 1, 2]))
    array([[1152921504606846976,                   3]])
    """
    counts: NDArray[Any] = np.zeros((len(contexts), len(states)), dtype=weights.dtype)
    step = 64 * max((_CACHED * 16) // (64 * max(len(states) + len(contexts), 1)), 1)
    for start in range(0, rows, step):
        part = slice(start // 64, -(-min(start + step, rows) // 64))
        size = min(step, rows - start)
        left = bitmaps.unpack(contexts[:, part], size).astype(np.float64)
        right = bitmaps.unpack(states[:, part], size).astype(np.float64)
        row_weights: NDArray[Any] = weights[start : start + size]
        if row_weights.dtype.kind == "f":
            counts += (left * row_weights) @ right.T
            continue
        # Digits of 21 bits: their sums over the rows of a part stay below 2**53, where floats are exact.
        for shift in range(0, max(int(row_weights.max(initial=0)).bit_length(), 1), 21):
            digits = (row_weights >> shift & 0x1FFFFF).astype(np.float64)
            counts += ((left * digits) @ right.T).astype(np.int64) << shift
    return counts

"""Counting combinations of cells on bitmaps, 64 rows at a time: for columns with few distinct cells.

Alpha-cut rows of a variable with few states have few distinct cells. Each is a bitmap of the rows that have it, and rows
with a combination of cells are counted by an AND and a population count, without decoding the columns.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from possnet.kernels import bitmaps

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from possnet.aliases import Bools, Ints, Words
    from possnet.dataset import Dataset

_MOST_CELLS: Final = 32  # of a column
_BLOCK: Final = 1 << 14  # words: the bitmaps of a family then stay in the cache


class CellBitmaps(NamedTuple):
    """The distinct cells of a column as masks (cells, bytes), and for each the bitmap of the rows that have it."""

    octets: NDArray[np.uint8]
    words: Words


def split_cells(batch: Dataset, name: str) -> CellBitmaps | None:
    """The distinct cells of a column; None if there are many. A cell that was given as unknown has an empty mask.

    >>> import possnet as pn
    >>> cells = split_cells(pn.Dataset.from_table({"a": ["x", {"x", "y"}, None, "x"]}), "a")
    >>> cells.octets, cells.words
    (array([[0], [1], [3]], dtype=uint8), array([[4], [9], [2]], dtype=uint64))
    """
    words = batch.bitmaps(name)
    unknown = bitmaps.pack(batch.missing(name))
    members: list[tuple[list[bool], Words]] = [([], bitmaps.ones(len(batch)) ^ unknown)]
    for state in words:
        grown = []
        for held, rows in members:
            inside = rows & state
            outside = rows ^ inside
            grown += [([*held, there], part) for there, part in ((False, outside), (True, inside)) if part.any()]
        if len(grown) > _MOST_CELLS:
            return None
        members = grown
    if unknown.any():
        members.append(([False] * len(words), unknown))
    sets: Bools = np.array([held for held, _ in members], dtype=np.bool_).reshape(len(members), len(words))
    parts = np.stack([rows for _, rows in members]) if members else np.zeros((0, words.shape[1]), dtype=words.dtype)
    octets = np.packbits(sets, axis=1, bitorder="little")
    order = np.lexsort(octets.T)
    return CellBitmaps(octets[order], parts[order])


def count_bitmaps(columns: Sequence[Words]) -> tuple[Ints, Ints]:
    """Combinations of cells that occur (combinations, columns), and their rows; the last column fastest.

    >>> column = np.array([[9], [2]], dtype=np.uint64)
    >>> count_bitmaps([column, column])
    (array([[0, 0], [1, 1]]), array([2, 1]))
    """
    sizes = [len(words) for words in columns]
    counts = np.zeros(sizes, dtype=np.int64)
    if not counts.size:
        return np.zeros((0, len(sizes)), dtype=np.int64), np.zeros(0, dtype=np.int64)
    for start in range(0, columns[0].shape[1], _BLOCK):
        _add_block([words[:, start : start + _BLOCK] for words in columns], counts)
    present = np.argwhere(counts)
    return present, counts[tuple(present.T)]


def _add_block(columns: list[Words], counts: Ints) -> None:
    """Add the rows of a block: combinations of all columns but the last, each against the cells of the last."""
    *above, own = columns
    prefixes: list[tuple[tuple[int, ...], Words | None]] = [((), None)]
    for words in above:
        grown = []
        for numbers, rows in prefixes:
            for cell, bits in enumerate(words):
                both = bits if rows is None else rows & bits
                if both.any():
                    grown.append(((*numbers, cell), both))
        prefixes = grown
    for numbers, rows in prefixes:
        counts[numbers] += bitmaps.count_bits(own if rows is None else own & rows)

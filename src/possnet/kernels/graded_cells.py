"""Graded cells: degrees of the states of some cells of a column, and their alpha-cuts.

A graded cell is a possibility distribution over the states of its variable; its largest degree is 1 and at least one
degree lies strictly between 0 and 1 (cells of degrees 0 and 1 alone are sets). The alpha-cut of a cell at level a is the
set {x : pi(x) >= a}. A row with graded cells stands for its cuts at one common level a, drawn uniformly from (0, 1]: the
sets change only at the degrees d_1 < ... < d_n = 1 that occur in the row, so that it becomes n rows of sets with weights
d_k - d_(k-1), however many of its cells are graded. A configuration x lies in the cuts with weight min_i pi_i(x_i).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from possnet.aliases import Bools, Codes, Floats, Ints


class GradedCells(NamedTuple):
    """The graded cells of a column: their rows, ascending, and codes into distinct distributions (cells, states).

    The distributions are sorted and each of them occurs; made by `grade_cells`.
    """

    rows: Ints
    codes: Ints
    degrees: Floats


class CutRows(NamedTuple):
    """Rows of sets that stand for rows with graded cells: where each comes from, its level, and its share of the weight."""

    origins: Ints
    levels: Floats
    shares: Floats


def grade_cells(rows: Ints, codes: Codes, degrees: Floats) -> GradedCells | None:
    """Graded cells of codes into any list of distributions; None if all of them are sets.

    Rows are ascending. Cells whose degrees are all 0 or 1 are left out, equal distributions become one.

    >>> degrees = np.array([[1.0, 0.5], [0.0, 1.0], [1.0, 0.5]])
    >>> grade_cells(np.array([2, 5, 7]), np.array([0, 1, 2]), degrees)
    GradedCells(rows=array([2, 7]), codes=array([0, 0]), degrees=array([[1. , 0.5]]))
    """
    is_graded: Bools = np.any((degrees > 0.0) & (degrees < 1.0), axis=1)
    kept = is_graded[codes] if len(is_graded) else np.zeros(0, dtype=np.bool_)
    if not kept.any():
        return None
    if not kept.all():
        rows, codes = rows[kept], codes[kept]
    occurs = np.flatnonzero(np.bincount(codes, minlength=len(degrees)))
    distinct, numbers = np.unique(degrees[occurs], axis=0, return_inverse=True)
    table = np.zeros(len(degrees), dtype=np.int64)
    table[occurs] = numbers.reshape(-1)
    return GradedCells(rows, table[codes], distinct)


def take_graded(graded: GradedCells, wanted: slice | Ints, size: int) -> GradedCells | None:
    """Graded cells of chosen rows, by their new numbers; ``size`` is the number of rows in all.

    >>> graded = GradedCells(np.array([2, 7]), np.array([0, 0]), np.array([[1.0, 0.5]]))
    >>> take_graded(graded, np.array([7, 0, 7, 2]), 9).rows
    array([0, 2, 3])
    """
    if isinstance(wanted, slice):
        first, last = np.searchsorted(graded.rows, (wanted.start, wanted.stop))
        return grade_cells(graded.rows[first:last] - wanted.start, graded.codes[first:last], graded.degrees)
    codes = spread_codes(graded, size)[wanted]
    rows = np.flatnonzero(codes >= 0)
    return grade_cells(rows, codes[rows], graded.degrees)


def spread_codes(graded: GradedCells, size: int) -> Ints:
    """For every row the code of its graded cell, -1 where the cell is a set."""
    codes = np.full(size, -1, dtype=np.int64)
    codes[graded.rows] = graded.codes
    return codes


def concatenate_graded(parts: Sequence[tuple[GradedCells | None, int]]) -> GradedCells | None:
    """Graded cells of several parts, each with the number of rows before it.

    >>> graded = GradedCells(np.array([1]), np.array([0]), np.array([[1.0, 0.5]]))
    >>> concatenate_graded([(graded, 0), (None, 2), (graded, 5)]).rows
    array([1, 6])
    """
    listed = [(graded, start) for graded, start in parts if graded is not None]
    if not listed:
        return None
    sizes = np.cumsum([0, *(len(graded.degrees) for graded, _ in listed)])
    return grade_cells(
        np.concatenate([graded.rows + start for graded, start in listed]),
        np.concatenate([graded.codes + size for (graded, _), size in zip(listed, sizes, strict=False)]),
        np.concatenate([graded.degrees for graded, _ in listed]),
    )


def cut_rows(codes: Sequence[Ints], degrees: Sequence[Floats], size: int) -> CutRows:
    """The levels of every row, highest first: ``codes`` of each column into its ``degrees``, -1 where the cell is a set.

    >>> cuts = cut_rows([np.array([-1, 0]), np.array([-1, 0])], [np.array([[1.0, 0.5]]), np.array([[0.25, 1.0]])], 2)
    >>> cuts.origins, cuts.levels, cuts.shares
    (array([0, 1, 1, 1]), array([1.  , 1.  , 0.5 , 0.25]), array([1.  , 0.5 , 0.25, 0.25]))
    """
    values = np.unique(np.concatenate([np.ones(1), *(table[table > 0.0] for table in degrees)]))[::-1]  # 1 comes first
    keys = [np.arange(size) * len(values)]  # every row has a level 1
    for column, table in zip(codes, degrees, strict=True):
        cell, state = np.nonzero((table > 0.0) & (table < 1.0))
        ranks = np.searchsorted(-values, -table[cell, state])
        starts, rows = np.searchsorted(cell, np.arange(len(table) + 1)), np.flatnonzero(column >= 0)
        number = np.diff(starts)[column[rows]]
        within = np.arange(number.sum()) - np.repeat(np.cumsum(number) - number, number)
        rank = ranks[np.repeat(starts[column[rows]], number) + within]
        keys.append(np.repeat(rows, number) * len(values) + rank)
    origins, ranks = np.divmod(np.unique(np.concatenate(keys)), len(values))
    levels = values[ranks]
    below = np.append(levels[1:], 0.0)
    below[np.append(np.diff(origins) > 0, True)] = 0.0
    return CutRows(origins, levels, levels - below)


def cut_cells(degrees: Floats, codes: Ints, levels: Floats) -> Bools:
    """The cuts (rows, states) of graded cells at a level each.

    >>> cut_cells(np.array([[1.0, 0.5]]), np.array([0, 0]), np.array([1.0, 0.5]))
    array([[ True, False], [ True,  True]])
    """
    return degrees[codes] >= levels[:, np.newaxis]

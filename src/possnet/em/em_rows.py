"""The rows of EM: for every variable its distinct cells, and distinct rows as numbers of cells.

Cells are numbered per variable in the order of their masks; an unknown cell that counts as missing has the number after the
last. Rows are kept once, with their weights added, and only over the columns that are asked for: components of the model
that share no hidden state have their own distinct rows, which are far fewer.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from possnet.aliases import Weights
from possnet.counting import nodes_in
from possnet.dataset import Dataset, batches_of, cut_batches, group_rows
from possnet.kernels import bitmaps

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from possnet.aliases import Bools, Codes
    from possnet.dataset import Batches, CodedColumn
    from possnet.graph import Dag
    from possnet.variables import Variable


Unknown: TypeAlias = Literal["missing", "focal"]
DistinctRows: TypeAlias = tuple[NDArray[np.int32], Weights]
"""Distinct rows as numbers of cells (rows, columns), and how many rows of the data each stands for."""

_PIECE: Final = 1 << 16  # rows; the codes of a few columns then stay in the caches


@dataclass(frozen=True, slots=True)
class EmRows:
    """The rows of a data set for EM: distinct cells of every variable, and distinct rows as numbers of cells.

    Attributes
    ----------
    variables
        Name -> variable.
    n_rows
        Number of rows: the sum of their weights.
    masks
        Name -> the distinct cells as bit masks, ascending; their positions are the cells' numbers.
    cell_counts
        Name -> rows with each of these cells.
    n_missing
        Name -> rows whose cell is missing; its number is the one after the last cell.
    group_rows
        For every list of columns its distinct rows, and how many rows of the data each stands for.
    """

    variables: dict[str, Variable]
    n_rows: int | float
    masks: dict[str, list[int]]
    cell_counts: dict[str, Weights]
    n_missing: dict[str, int | float]
    group_rows: Callable[[Sequence[Sequence[str]]], list[DistinctRows]]

    def cell_sets(self, name: str) -> Bools:
        """The distinct cells of a variable, shape (cells, states)."""
        return bitmaps.sets_of(self.masks[name], len(self.variables[name]))


CellCounts: TypeAlias = dict[str, dict[int, int | float]]
"""Name -> rows with each cell, by its mask; 0 stands for a missing cell."""


def code_em_rows(dag: Dag, data: Dataset | Batches, unknown: Unknown, *, whole_domains: bool = False) -> EmRows:
    """Rows of a data set or stream; with ``whole_domains`` the whole domain is a cell even where no row has it.

    Rows with graded cells are their alpha-cuts, so that weights, and what they add up to, are floats.
    """
    variables = nodes_in(dag, data, "fit_em")
    data = cut_batches(data.select(variables) if isinstance(data, Dataset) and data.has_degrees else data)
    n_rows, counts = count_em_cells(variables, data, unknown)
    masks = number_cells(variables, counts, whole_domains=whole_domains)
    return join_em_rows(variables, n_rows, counts, masks, lambda columns: group_em_rows(data, columns, masks, unknown))


def count_em_cells(
    variables: Mapping[str, Variable], data: Dataset | Batches, unknown: Unknown
) -> tuple[int | float, CellCounts]:
    """Number of rows, and of rows with each cell of every variable; those of several parts of the data add up."""
    n_rows: int | float = 0
    counts: CellCounts = {name: {} for name in variables}
    for batch in batches_of(data):
        n_rows += batch.total
        for name in variables:
            column = _code_column(batch, name, missing=unknown == "missing")
            for mask, count in zip(column.cell_masks, column.count_cells(batch.weights).tolist(), strict=True):
                if count:
                    counts[name][mask] = counts[name].get(mask, 0) + count
    return n_rows, counts


def number_cells(
    variables: Mapping[str, Variable], counts: CellCounts, *, whole_domains: bool = False
) -> dict[str, list[int]]:
    """The distinct cells of every variable as masks, ascending: their positions are the cells' numbers."""
    masks = {}
    for name, variable in variables.items():
        # A variable that is never observed may have any of its states.
        cells = set(counts[name]) - {0} or {1 << k for k in range(len(variable))}
        masks[name] = sorted(cells | {(1 << len(variable)) - 1} if whole_domains else cells)
    return masks


def join_em_rows(
    variables: dict[str, Variable],
    n_rows: float,
    counts: CellCounts,
    masks: dict[str, list[int]],
    group: Callable[[Sequence[Sequence[str]]], list[DistinctRows]],
) -> EmRows:
    """The rows of EM of what was counted, and of a function that groups them."""
    cell_counts = {name: _to_numbers([counts[name].get(mask, 0) for mask in cells]) for name, cells in masks.items()}
    return EmRows(variables, n_rows, masks, cell_counts, {name: counts[name].get(0, 0) for name in variables}, group)


def group_em_rows(
    data: Dataset | Batches, parts: Sequence[Sequence[str]], masks: dict[str, list[int]], unknown: Unknown
) -> list[DistinctRows]:
    """Distinct rows over each list of columns as numbers of cells, in one pass over the data."""
    return _group_rows(data, parts, masks, missing=unknown == "missing")


def merge_em_rows(
    groups: Sequence[list[DistinctRows]], parts: Sequence[Sequence[str]], masks: dict[str, list[int]]
) -> list[DistinctRows]:
    """The distinct rows of several parts of the data together, from those of each."""
    sizes = [[len(masks[name]) + 1 for name in part] for part in parts]
    return [_merge_groups(list(same), size) for same, size in zip(zip(*groups, strict=True), sizes, strict=True)]


def _group_rows(
    data: Dataset | Batches, parts: Sequence[Sequence[str]], masks: dict[str, list[int]], *, missing: bool
) -> list[DistinctRows]:
    """Distinct rows over each list of columns, in one pass over the data."""
    numbers = {name: {0: len(cells), **{mask: k for k, mask in enumerate(cells)}} for name, cells in masks.items()}
    sizes = [[len(masks[name]) + 1 for name in part] for part in parts]
    needed = {name for part in parts for name in part}
    groups: list[list[DistinctRows]] = [[] for _ in parts]
    for batch, piece in _split_rows(data):
        ids: dict[str, Codes] = {}
        for name in needed:
            column = _code_column(batch, name, missing=missing)
            table = np.array([numbers[name].get(mask, 0) for mask in column.cell_masks] or [0], dtype=np.int64)
            in_order = np.array_equal(table, np.arange(len(table)))
            ids[name] = column.codes[piece] if in_order else np.take(table, column.codes[piece])
        weights = None if batch.weights is None else batch.weights[piece]
        for part, size, merged in zip(parts, sizes, groups, strict=True):
            merged.append(_group_columns([ids[name] for name in part], size, weights, piece.stop - piece.start))
            # Only groups of like sizes are merged, so that a row moves log n times.
            while len(merged) > 1 and len(merged[-2][1]) <= 2 * len(merged[-1][1]):
                merged[-2:] = [_merge_groups(merged[-2:], size)]
    return [_merge_groups(merged, size) for merged, size in zip(groups, sizes, strict=True)]


def _to_numbers(counts: list[int | float]) -> Weights:
    numbers: Weights = np.array(counts, dtype=np.float64)
    return np.array(counts, dtype=np.int64) if all(isinstance(count, int) for count in counts) else numbers


def _group_columns(columns: Sequence[Codes], sizes: list[int], weights: Weights | None, rows: int) -> DistinctRows:
    groups = group_rows(columns, sizes, rows)
    counts = groups.counts(weights)
    return groups.combinations[counts > 0], counts[counts > 0]


def _merge_groups(groups: list[DistinctRows], sizes: list[int]) -> DistinctRows:
    if len(groups) == 1:
        return groups[0]
    rows = np.concatenate([np.zeros((0, len(sizes)), dtype=np.int32), *(distinct for distinct, _ in groups)])
    counts = np.concatenate([np.zeros(0, dtype=np.int64), *(counts for _, counts in groups)])
    return _group_columns(list(rows.T), sizes, counts, len(rows))


def _code_column(batch: Dataset, name: str, *, missing: bool) -> CodedColumn:
    """The cells of a variable; one that was given as unknown is the whole domain unless such count as missing."""
    column = batch.column(name)
    return column if missing else column.fill_unknown()


def _split_rows(data: Dataset | Batches) -> Iterator[tuple[Dataset, slice]]:
    """Every batch and the slices of it that are grouped at a time."""
    for batch in batches_of(data):
        for start in range(0, len(batch), _PIECE):
            yield batch, slice(start, min(start + _PIECE, len(batch)))

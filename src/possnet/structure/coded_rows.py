"""The rows while a structure is searched: every column as numbers of its distinct cells, equal rows once where that pays.

A cell that was given as unknown is the whole domain, or (``missing=True``) a kind of its own, numbered last.
"""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING, Final

import numpy as np

from possnet.dataset import batches_of, group_rows
from possnet.em import code_cells
from possnet.kernels import bitmaps, grouping
from possnet.limits import refuse_over

if TYPE_CHECKING:
    from possnet.aliases import Bools, Codes, Ints
    from possnet.dataset import Batches, Dataset
    from possnet.variables import Variable


_TRY_AGAIN: Final = 1 << 20
_MISSING: Final = 0


class CodedRows:
    """Coded rows of a data set or a stream.

    Attributes
    ----------
    codes
        For every variable the number of every row's cell among ``sets``.
    sets
        For every variable its distinct cells (cells, states), in the order of their masks; a missing cell, where these are
        apart, is the last and shows as the whole domain.
    masks
        The same cells as masks, missing ones left out.
    weights
        How often each row stands, or None.
    total
        Rows in all.

    >>> import possnet as pn
    >>> found = CodedRows(pn.Dataset.from_table({"a": ["x", {"x", "y"}, "x", "x"] * 2}))
    >>> found.codes[0], found.weights, found.total, found.masks
    (array([0, 1], dtype=uint8), array([6, 2]), 8, [[1, 3]])
    """

    def __init__(self, data: Dataset | Batches, *, missing: bool = False) -> None:
        self.variables: tuple[Variable, ...] = tuple(data.variables)
        known: list[dict[int, int]] = [{} for _ in self.variables]
        parts: list[tuple[list[Codes], Ints | None]] = []
        held = last = 0
        for batch in batches_of(data):
            if not len(batch):
                continue
            codes = [
                _coded(batch, variable.name, found, missing=missing)
                for variable, found in zip(self.variables, known, strict=True)
            ]
            parts.append(_compact(codes, known, batch.weights))
            held += len(parts[-1][0][0])
            refuse_over(
                held * sum(column.itemsize for column in parts[-1][0]),
                f"learning a structure from {held:,} distinct rows of {len(codes)} variables",
                "use fewer rows or variables",
            )
            if held > max(_TRY_AGAIN, 4 * last):
                parts = [_joined(parts, known)]
                held = last = len(parts[0][0][0])
        columns, weights = _joined(parts, known)
        self._number(columns or [np.zeros(0, dtype=np.uint8) for _ in self.variables], weights, known)

    def _number(self, columns: list[Codes], weights: Ints | None, known: list[dict[int, int]]) -> None:
        """Number cells in the order of their masks, whatever order they came in."""
        self.sets: list[Bools] = []
        self.masks: list[list[int]] = []
        numbered: list[Codes] = []
        for column, found, variable in zip(columns, known, self.variables, strict=True):
            order = sorted(found, key=lambda mask: (mask == _MISSING, mask))
            rank = np.empty(max(len(order), 1), dtype=np.min_scalar_type(max(len(order), 1)))
            rank[[found[mask] for mask in order]] = np.arange(len(order))
            in_order = order == list(found)
            numbered.append(column.astype(rank.dtype, copy=False) if in_order else np.take(rank, column))
            shown = [mask or (1 << len(variable)) - 1 for mask in order]
            self.sets.append(bitmaps.sets_of(shown, len(variable)))
            self.masks.append([mask for mask in order if mask != _MISSING])
        self.has_missing = [_MISSING in found for found in known]
        self._hold(numbered, weights)

    def _hold(self, codes: list[Codes], weights: Ints | None) -> None:
        self.codes, self.weights = codes, weights
        self.n_rows = len(codes[0])
        self.total = self.n_rows if weights is None else int(weights.sum())

    @property
    def n_cells(self) -> list[int]:
        """Number of distinct cells of every variable."""
        return [len(found) for found in self.sets]

    @property
    def imprecise(self) -> list[str]:
        """Variables that have cells of several states."""
        return [v.name for v, found in zip(self.variables, self.sets, strict=True) if (found.sum(axis=1) != 1).any()]

    def sample_rows(self, most: int) -> CodedRows | None:
        """Some of the rows, drawn without replacement and always the same ones; None if there are no more than that."""
        if self.n_rows <= most:
            return None
        chosen = np.sort(np.random.default_rng(0).permutation(self.n_rows)[:most])
        found = copy(self)
        found._hold([codes[chosen] for codes in self.codes], None if self.weights is None else self.weights[chosen])
        return found

    def cell_counts(self, number: int) -> Ints:
        """How often each cell of a variable stands."""
        return grouping.sum_weights(self.codes[number], self.weights, len(self.sets[number]))


def _coded(batch: Dataset, name: str, known: dict[int, int], *, missing: bool) -> Codes:
    """Number of every row's cell; cells not seen before get the next numbers, unless only rows of weight 0 have them."""
    codes, masks, cell_counts = code_cells(batch, name, missing=missing)
    numbers = [
        known.setdefault(mask, len(known)) if amount else 0
        for mask, amount in zip(masks, cell_counts.tolist(), strict=True)
    ]
    if numbers == list(range(len(numbers))):
        return codes.astype(np.min_scalar_type(max(len(numbers), 1)), copy=False)
    table = np.array(numbers, dtype=np.min_scalar_type(max(len(known), 1)))
    return np.take(table, codes)


def _compact(
    columns: list[Codes], known: list[dict[int, int]], weights: Ints | None
) -> tuple[list[Codes], Ints | None]:
    """Equal rows once, with their weights, if that leaves less than a quarter of them; rows of weight 0 never."""
    if weights is not None and not weights.all():
        kept = weights > 0
        columns, weights = [column[kept] for column in columns], weights[kept]
    rows = len(columns[0])
    groups = group_rows(columns, [len(found) for found in known], rows, most=rows // 4)
    if groups is None:
        return columns, weights
    return [column[groups.first] for column in columns], groups.counts(weights)


def _joined(
    parts: list[tuple[list[Codes], Ints | None]], known: list[dict[int, int]]
) -> tuple[list[Codes], Ints | None]:
    """The rows of several parts, equal ones put together again."""
    if len(parts) <= 1:
        return parts[0] if parts else ([], None)
    columns = [np.concatenate(columns) for columns in zip(*(codes for codes, _ in parts), strict=True)]
    weights = None
    if any(found is not None for _, found in parts):
        weights = np.concatenate([np.ones(len(c[0]), dtype=np.int64) if w is None else w for c, w in parts])
    return _compact(columns, known, weights)

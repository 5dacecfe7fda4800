"""The rows of a structure search: every column as codes of its distinct cells; equal rows are merged where that pays."""

from __future__ import annotations

from copy import copy
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from possnet.dataset import Dataset, batches_of, cut_batches, group_rows
from possnet.kernels import grouping
from possnet.limits import refuse_over

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from possnet.aliases import Bools, Codes, Weights
    from possnet.dataset import Batches

_MERGE_FROM: Final = 1 << 20  # rows of a stream from which equal ones of several batches are looked for


class CodedRows:
    """Coded rows of a data set or a stream.

    A cell that was given as unknown is the whole domain, or (``missing=True``) a cell of its own, numbered last.

    Attributes
    ----------
    codes
        For every variable the number of every row's cell among ``sets``.
    sets
        For every variable its distinct cells (cells, states), in the order of their masks; a missing cell, where these are
        apart, is the last and shows as the whole domain.
    masks, n_cells
        The same cells as masks, missing ones left out; and how many cells there are.
    weights
        How many rows of the data each row stands for, or None if every one stands for itself. They are floats where rows
        have fractional weights or graded cells, which are learned from as their alpha-cuts.
    n_rows, total
        Number of coded rows, and of rows of the data.

    Examples
    --------
    >>> import possnet as pn
    >>> rows = CodedRows(pn.Dataset.from_table({"a": ["x", {"x", "y"}, "x", "x"] * 2}))
    >>> rows.codes[0], rows.weights, rows.total, rows.masks
    (array([0, 1], dtype=uint8), array([6, 2]), 8, [[1, 3]])
    """

    def __init__(self, data: Dataset | Batches, *, missing: bool = False) -> None:
        rows = data.alpha_cuts() if isinstance(data, Dataset) else collect_rows(data)
        _refuse_rows(rows)
        self.variables, weights = rows.variables, rows.weights
        columns = [rows.column(variable.name) for variable in self.variables]
        if not missing:
            columns = [column.fill_unknown() for column in columns]
        if weights is not None and not weights.all():  # cells of rows that count for nothing do not occur
            kept = np.flatnonzero(weights)
            weights = weights[kept]
            columns = [column.take_rows(kept) for column in columns]
        self._columns = columns
        self.n_cells = [len(column) for column in columns]
        self.masks = [[mask for mask in column.cell_masks if mask] for column in columns]
        self.has_missing = [column.unknown is not None for column in columns]
        codes: list[Codes] = [column.codes for column in columns]
        # weights make counting slower, which pays where at most a quarter of the rows is left
        groups = group_rows(codes, self.n_cells, len(codes[0]), most=len(codes[0]) // 4)
        if groups is not None:
            codes, weights = [column[groups.first] for column in codes], groups.counts(weights)
        self._hold_rows(codes, weights)

    def _hold_rows(self, codes: list[Codes], weights: Weights | None) -> None:
        self.codes, self.weights = codes, weights
        self.n_rows = len(codes[0])
        # shares of alpha-cuts add up to whole rows but for rounding
        self.total = self.n_rows if weights is None else round(weights.sum().item(), 6)

    @cached_property
    def sets(self) -> list[Bools]:
        """For every variable its distinct cells (cells, states); made when they are first asked for."""
        return [column.cell_sets for column in self._columns]

    @property
    def imprecise(self) -> list[str]:
        """Variables that have cells of several states."""
        columns = zip(self.variables, self.masks, self.has_missing, strict=True)
        return [
            v.name
            for v, masks, missing in columns
            if (missing and len(v) > 1) or any(mask & mask - 1 for mask in masks)
        ]

    def sample_rows(self, most: int) -> CodedRows | None:
        """Some rows of the data, drawn without replacement and always the same ones; None if there are no more than that.

        Merged rows are drawn as often as they stand in the data: a sample of the *distinct* rows would have most of the
        weight on the few frequent ones that it happens to hold, and dependences that the data lack.
        """
        if self.n_rows <= most:
            return None
        rng = np.random.default_rng(0)
        sample, weights = copy(self), None
        if self.weights is None:
            chosen = np.sort(rng.permutation(self.n_rows)[:most])
        else:
            drawn = rng.choice(self.total, most, replace=False, shuffle=False)
            chosen, weights = np.unique(
                np.searchsorted(np.cumsum(self.weights), drawn, side="right"), return_counts=True
            )
        sample._hold_rows([codes[chosen] for codes in self.codes], weights)
        return sample

    def keep_rows(self, kept: Bools) -> CodedRows:
        """Some of the rows; the numbers of their cells stay."""
        fewer = copy(self)
        weights = None if self.weights is None else self.weights[kept]
        fewer._hold_rows([codes[kept] for codes in self.codes], weights)
        return fewer

    def with_states(self, codes: list[Codes], weights: Weights) -> CodedRows:
        """Precise rows of the same variables: the number of every row's state, and the rows' weights."""
        states = copy(self)
        states.sets = [np.eye(len(variable), dtype=np.bool_) for variable in self.variables]
        states.n_cells = [len(variable) for variable in self.variables]
        states.masks = [[1 << k for k in range(len(variable))] for variable in self.variables]
        states.has_missing = [False] * len(codes)
        whole = weights.dtype.kind != "f"
        repeated = whole and int(weights.sum()) <= 4 * len(weights)  # weights make counting slower
        states._hold_rows(
            [np.repeat(column, weights.astype(np.int64, copy=False)) for column in codes] if repeated else codes,
            None if repeated else weights,
        )
        return states

    def cell_counts(self, number: int) -> NDArray[Any]:
        """Number of rows with each cell of a variable."""
        return grouping.sum_weights(self.codes[number], self.weights, self.n_cells[number])


def collect_rows(stream: Batches) -> Dataset:
    """The rows of a stream; equal rows are merged in each batch while that pays, and across batches when there are many."""
    parts, held, limit, merging = [Dataset.from_rows(stream.variables, [])], 0, _MERGE_FROM, True
    for batch in batches_of(cut_batches(stream)):
        part = _merge_equal(batch) if merging else batch
        merging = part is not batch
        parts.append(part)
        held += len(part)
        if held > limit:
            rows = Dataset.concatenate(parts)
            _refuse_rows(rows)
            parts = [_merge_equal(rows)]
            held = len(parts[0])
            limit = max(_MERGE_FROM, 4 * held)
    return Dataset.concatenate(parts)


def _merge_equal(rows: Dataset) -> Dataset:
    """Equal rows once, with their weights, if that leaves no more than a quarter of them."""
    distinct = rows.distinct()
    return distinct if 4 * len(distinct) <= len(rows) else rows


def _refuse_rows(rows: Dataset) -> None:
    refuse_over(
        len(rows) * len(rows.variables),
        f"learning a structure from {len(rows):,} rows of {len(rows.variables)} variables",
        "use fewer rows or variables",
    )

"""Sufficient statistics of the cut likelihood: how often each combination of a family's cells occurs.

A stream is read once. Rows in which a cell of the family was given as unknown are left out of that family (available
cases); so are, up to a stated share, rows that lack a state which nearly every other row has.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING, Final

import numpy as np

from possnet.counting import nodes_in
from possnet.cuts.cell_bitmaps import CellBitmaps, count_bitmaps, split_cells
from possnet.dataset import Dataset, batches_of, group_rows, require_sets
from possnet.kernels import bitmaps
from possnet.kernels.grouping import sum_weights
from possnet.limits import refuse_over

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from possnet.aliases import Bools, Floats, Ints, Progress, Weights
    from possnet.dataset import Batches, CodedColumn
    from possnet.graph import Dag
    from possnet.variables import Variable

_TABLE: Final = 1 << 16  # combinations that are counted in a table; beyond, rows are grouped
_BITMAPS: Final = 600  # combinations that are counted on bitmaps: as fast as decoding the columns, measured
_MERGE_AT: Final = 16  # batches whose counts are kept before they are merged
_BYTES_A_COMBINATION: Final = 200  # of codes, counts and degrees, while a family is fitted


@dataclass(frozen=True)
class FamilyCells:
    """How often the cells of a family occur together; made by `count_cells`, or for one family by `count_family`.

    Attributes
    ----------
    child, parents
        The variables.
    parent_cells
        For every parent its cells as sets of states, (cells, states).
    combinations
        The combinations A of the parents' cells that occur, as numbers into ``parent_cells``, (combinations, parents).
    child_cells, child_rows
        The cells of the child as sets of states, (cells, states), and the rows that have each, whatever the parents' cells.
    pairs
        The pairs (number of a combination, number of a cell of the child) that occur, (pairs, 2), in sorted order.
    counts
        How many rows each pair has.
    left_out
        Rows with an unknown cell in the family.
    wrong
        Rows that lack a state of a core.

    Examples
    --------
    >>> import possnet as pn
    >>> data = pn.Dataset.from_table({"a": ["x", {"x", "y"}, "x"], "b": ["u", {"u", "v"}, None]})
    >>> family = count_family(data, "b", ["a"])
    >>> family.rows, family.presence, family.left_out
    (array([1, 1]), array([[1, 0], [1, 1]]), 1)
    """

    child: Variable
    parents: tuple[Variable, ...]
    parent_cells: tuple[Bools, ...]
    combinations: Ints
    child_cells: Bools
    child_rows: Ints
    pairs: Ints
    counts: Ints
    left_out: int = 0
    wrong: int = 0

    @cached_property
    def rows(self) -> Ints:
        """n_A: rows of every combination of the parents' cells."""
        return sum_weights(self.pairs[:, 0], self.counts, len(self.combinations))

    @cached_property
    def presence(self) -> Ints:
        """k_A(x): rows of every combination whose cell contains x, (combinations, states)."""
        held = self.child_cells[self.pairs[:, 1]]
        numbers = [sum_weights(self.pairs[inside, 0], self.counts[inside], len(self.combinations)) for inside in held.T]
        return np.stack(numbers, axis=1)

    @property
    def total(self) -> int:
        """Rows in all."""
        return int(self.counts.sum())

    @property
    def absence(self) -> Floats:
        """Share of the child's cells that lack each state; NaN if there is no cell."""
        rows = self.child_rows.astype(np.float64)
        return (
            np.asarray(1.0 - rows @ self.child_cells / rows.sum()) if rows.any() else np.full(len(self.child), np.nan)
        )

    @property
    def core(self) -> Bools:
        """States that lie in every cell of the child."""
        return np.asarray(self.child_cells.all(axis=0)) & bool(len(self.child_cells))

    def require_states(self, child: Bools, parents: Sequence[Bools]) -> FamilyCells:
        """The family without the rows in which a cell lacks one of the states that it must have."""
        fits = np.asarray((self.child_cells | ~child).all(axis=1))
        kept = fits[self.pairs[:, 1]]
        for place, states in enumerate(parents):
            above = np.asarray((self.parent_cells[place] | ~states).all(axis=1))
            kept &= above[self.combinations[self.pairs[:, 0], place]]
        if kept.all() and fits.all():
            return self
        numbers, first = np.unique(self.pairs[kept, 0], return_inverse=True)
        cells = np.cumsum(fits) - 1
        return replace(
            self,
            combinations=self.combinations[numbers],
            child_cells=self.child_cells[fits],
            child_rows=self.child_rows[fits],
            pairs=np.stack([first.reshape(-1), cells[self.pairs[kept, 1]]], axis=1),
            counts=self.counts[kept],
            wrong=self.wrong + int(self.counts[~kept].sum()),
        )


def count_family(data: Dataset | Batches, child: str, parents: Sequence[str]) -> FamilyCells:
    """Count the cells of one family: the sufficient statistics of its cut likelihood.

    >>> import possnet as pn
    >>> count_family(pn.Dataset.from_table({"a": ["x", {"x", "y"}]}), "a", []).counts
    array([1, 1])
    """
    variables = {variable.name: variable for variable in data.variables}
    counter = _CellCounter(variables[child], tuple(variables[parent] for parent in parents))
    for batch in batches_of(data):
        counter.add_batch(_BatchColumns(batch))
    return counter.to_cells()


def count_cells(
    dag: Dag, data: Dataset | Batches, owner: str, *, progress: Progress | None = None
) -> dict[str, FamilyCells]:
    """Count the cells of every family of a structure, in one pass over the rows."""
    variables = nodes_in(dag, data, owner)
    counters = [_CellCounter(v, tuple(variables[p] for p in dag.parents(name))) for name, v in variables.items()]
    total = len(data) if isinstance(data, Dataset) else data.rows or 0
    done = 0
    for batch in batches_of(data):
        columns = _BatchColumns(batch)
        for number, counter in enumerate(counters, start=1):
            counter.add_batch(columns)
            if progress is not None:
                progress(done + len(batch) * number // len(counters), total)
        done += len(batch)
    return {counter.child.name: counter.to_cells() for counter in counters}


class _BatchColumns:
    """The columns of a batch, as bitmaps of cells where these are few."""

    def __init__(self, batch: Dataset) -> None:
        self.batch = batch
        self._cells: dict[str, CellBitmaps | None] = {}

    def cell_bitmaps(self, names: Sequence[str]) -> list[CellBitmaps] | None:
        """Bitmaps of the columns of a family; None where codes are faster."""
        if self.batch.weights is not None:
            return None
        columns = []
        for name in names:
            if name not in self._cells:
                self._cells[name] = split_cells(self.batch, name)
            column = self._cells[name]
            if column is None:
                return None
            columns.append(column)
        return columns if prod(len(column.octets) for column in columns) <= _BITMAPS else None


class _CellCounter:
    """Counts of one family, added up batch by batch: combinations of cells as masks, unknown cells as empty ones."""

    def __init__(self, child: Variable, parents: tuple[Variable, ...]) -> None:
        self.child, self._parents = child, parents
        self._scope = (*parents, child)
        self._widths = [-(-len(variable) // 8) for variable in self._scope]
        self._octets = [np.zeros((0, sum(self._widths)), dtype=np.uint8)]
        self._counts = [np.zeros(0, dtype=np.int64)]
        self._rows = 0

    def add_batch(self, columns: _BatchColumns) -> None:
        batch, names = columns.batch, [variable.name for variable in self._scope]
        require_sets(batch.select(names), "cut likelihood")
        self._rows += int(batch.total)
        cells = columns.cell_bitmaps(names)
        if cells is not None:
            combinations, counts = count_bitmaps([column.words for column in cells])
            octets = [column.octets for column in cells]
        else:
            coded = [batch.column(name) for name in names]
            combinations, counts = _count_combinations(coded, batch.weights, len(batch))
            octets = [_known_octets(column) for column in coded]
        masks = [own[codes] for own, codes in zip(octets, combinations.T, strict=True)]
        self._octets.append(np.hstack(masks))
        self._counts.append(counts)
        if len(self._counts) > _MERGE_AT:
            self._merge()

    def _merge(self) -> None:
        octets, counts = np.concatenate(self._octets), np.concatenate(self._counts)
        what = f"cut likelihood: the {len(octets):,} combinations of cells of {self.child.name!r} and its parents"
        refuse_over(len(octets) * _BYTES_A_COMBINATION, what, "use fewer parents or states")
        if len(self._counts) > 2:
            codes, octets = bitmaps.distinct_rows(octets)
            counts = sum_weights(codes, counts, len(octets))
        self._octets, self._counts = [octets], [counts]

    def to_cells(self) -> FamilyCells:
        self._merge()
        positive = self._counts[0] > 0
        octets, counts = self._octets[0][positive], self._counts[0][positive]
        *above, own = np.split(octets, np.cumsum(self._widths)[:-1], axis=1)
        observed = own.any(axis=1)
        cells, masks = bitmaps.distinct_rows(own[observed])
        known = np.all([column.any(axis=1) for column in (*above, own)], axis=0)
        coded = [bitmaps.distinct_rows(column[known]) for column in above]
        rows = int(known.sum())
        groups = group_rows([codes for codes, _ in coded], [len(sets) for _, sets in coded], rows)
        combinations = groups.combinations.astype(np.int64) if rows else np.zeros((0, len(above)), dtype=np.int64)
        pairs = np.stack([groups.inverse, cells[known[observed]]], axis=1)
        order = np.lexsort(pairs.T[::-1])
        return FamilyCells(
            self.child,
            self._parents,
            tuple(bitmaps.unpack_sets(sets, len(v)) for v, (_, sets) in zip(self._parents, coded, strict=True)),
            combinations,
            bitmaps.unpack_sets(masks, len(self.child)),
            sum_weights(cells, counts[observed], len(masks)),
            pairs[order],
            counts[known][order],
            self._rows - int(counts[known].sum()),
        )


def _known_octets(column: CodedColumn) -> NDArray[np.uint8]:
    """Masks of the cells; empty for the unknown one."""
    if column.unknown is None:
        return column.octets
    octets = column.octets.copy()
    octets[column.unknown] = 0
    return octets


def _count_combinations(columns: Sequence[CodedColumn], weights: Weights | None, rows: int) -> tuple[Ints, Ints]:
    """Combinations of codes that occur (combinations, columns), and their rows."""
    sizes = [len(column) for column in columns]
    size = prod(sizes)
    if not rows or size > _TABLE:
        groups = group_rows([column.codes for column in columns], sizes, rows)
        counts = groups.counts(weights)
        return groups.combinations.astype(np.int64)[: len(counts) if rows else 0], counts[: len(counts) if rows else 0]
    # Small numbers are added and counted several times as fast as those of eight bytes.
    keys: NDArray[np.unsignedinteger] = columns[0].codes
    if len(columns) > 1:
        keys = keys.astype(np.min_scalar_type(size - 1))
        for column in columns[1:]:
            keys *= keys.dtype.type(len(column))
            keys += column.codes
    counts = sum_weights(keys, weights, size)
    present = np.flatnonzero(counts)
    return np.stack(np.unravel_index(present, sizes), axis=1), counts[present]

"""Rows of features around a class, coded so that all classes of all rows come from a matrix product.

A *feature* is a column of cells beside a class. In a naive structure its only parent is the class, in a tree-augmented
one it may have one other feature as a parent too. Given a class y, the probability of the cells of a row is a product
over families of entries of their tables; which entries depends on the row alone, and a row is a 0/1 vector that chooses
them. The logarithms for all classes are then one product of matrices,

    log P(cells | y)  =  sum over families of  L[entry, y],

and the expected counts of EM's M-step are the product with the transposed matrix. Families of many entries are looked up
instead. A cell that is a set has an entry of its own where the class is the only parent: the sum over its states. In trees,
rows with imprecise cells are computed by passing messages (`possnet.em.tree_passes`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np

from possnet.em.tree_passes import TreePasses

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from possnet.aliases import Bools, Codes, Floats, Ints

_WIDE: Final = 64  # entries of a family from which a look-up is faster than a product
_BLOCK: Final = 1 << 21  # numbers of a block of rows as floats
_SMALLEST: Final = 1e-300


@dataclass(frozen=True, slots=True, eq=False)
class FeatureCells:
    """The cells of a feature in some rows: ``codes`` below the number of states are states, others stand for ``sets``.

    ``sets`` is (codes, states); its first rows are the single states. States that are narrow bins of a number may be
    blurred: a share ``blur`` of a row goes to the two neighbouring states when tables are estimated.

    >>> cells = FeatureCells.from_states(np.array([0, 1, -1]), 2)
    >>> cells.codes.tolist(), cells.sets.astype(int).tolist(), cells.is_imprecise.tolist()
    ([0, 1, 2], [[1, 0], [0, 1], [1, 1]], [False, False, True])
    """

    codes: Codes
    sets: Bools
    blur: float = 0.0

    @classmethod
    def from_states(cls, states: Codes, n_states: int, blur: float = 0.0) -> FeatureCells:
        """Single states by their numbers; a number below 0 is an unknown cell."""
        unknown = states < 0
        sets = np.eye(n_states, dtype=np.bool_)
        if not unknown.any():
            return cls(states, sets, blur)
        whole = np.ones((1, n_states), dtype=np.bool_)
        return cls(np.where(unknown, n_states, states), np.concatenate([sets, whole]), blur)

    @property
    def n_states(self) -> int:
        """Number of states of the feature."""
        return int(self.sets.shape[1])

    @property
    def is_imprecise(self) -> Bools:
        """Which rows have a cell of several states."""
        imprecise: Bools = self.codes >= self.n_states
        return imprecise

    def take_rows(self, rows: Ints) -> FeatureCells:
        """The cells of some rows."""
        return FeatureCells(self.codes[rows], self.sets, self.blur)


Tree = dict[int, int]
"""Feature -> the feature that is its parent beside the class, or -1; features that are left out have no entry."""


class FeatureRows:
    """Rows of features by the families of a structure around a class.

    >>> features = [FeatureCells.from_states(np.array([0, 1, 1]), 2), FeatureCells.from_states(np.array([0, 0, -1]), 2)]
    >>> rows = FeatureRows(features, {0: -1, 1: -1})
    >>> tables = {0: np.array([[[0.9, 0.1]], [[0.2, 0.8]]]), 1: np.array([[[0.5, 0.5]], [[0.5, 0.5]]])}
    >>> np.exp(rows.log_likelihoods(tables)).round(3).tolist()
    [[0.45, 0.1], [0.05, 0.4], [0.1, 0.8]]
    """

    def __init__(self, features: Sequence[FeatureCells], tree: Mapping[int, int]) -> None:
        self.features, self.tree = features, dict(tree)
        self.n_rows = len(features[0].codes) if features else 0
        joined = {f for f, above in tree.items() if above >= 0} | {above for above in tree.values() if above >= 0}
        self._joined = joined
        imprecise = [features[f].is_imprecise for f in joined]
        self._rest: Ints = np.flatnonzero(np.logical_or.reduce(imprecise)) if imprecise else np.zeros(0, np.int64)
        self._codes: dict[int, Codes] = {}
        self._widths: dict[int, int] = {}
        for f, above in tree.items():
            self._codes[f], self._widths[f] = self._code_family(f, above)
        self._narrow = [f for f in tree if self._widths[f] <= _WIDE]
        self._wide = [f for f in tree if self._widths[f] > _WIDE]
        starts = np.cumsum([0, *(self._widths[f] for f in self._narrow)]).tolist()
        self._starts, self._width = dict(zip(self._narrow, starts, strict=False)), int(starts[-1])
        self._choices: NDArray[np.uint8] | None = None
        self._passes = (
            TreePasses(
                [
                    self.features[f].sets[self.features[f].codes[self._rest]] if f in joined else None
                    for f in range(len(features))
                ],
                {f: above for f, above in tree.items() if f in joined},
            )
            if len(self._rest)
            else None
        )

    @property
    def _chosen(self) -> NDArray[np.uint8]:
        """The 0/1 matrix of the entries that rows choose; made when it is first needed."""
        if self._choices is None:
            self._choices = np.zeros((self.n_rows, self._width), dtype=np.uint8)
            flat, offset = self._choices.reshape(-1), np.arange(self.n_rows) * self._width
            for f in self._narrow:
                flat[offset + (self._starts[f] + self._codes[f])] = 1
        return self._choices

    def _code_family(self, f: int, above: int) -> tuple[Codes, int]:
        """The entry of a family that every row chooses, and how many there are."""
        cells = self.features[f]
        if f not in self._joined:
            return cells.codes, len(cells.sets)
        codes, width = cells.codes, cells.n_states
        if above >= 0:
            codes = self.features[above].codes.astype(np.int64) * width + codes
            width *= self.features[above].n_states
        if len(self._rest):
            codes = codes.copy()
            codes[self._rest] = width  # chooses nothing: the messages of the tree say it
            width += 1
        return codes, width

    @property
    def is_flat(self) -> bool:
        """Whether all tables can be computed side by side: no wide family, and no sets but unknown cells."""
        return not self._wide and self.is_precise

    @cached_property
    def kept_entries(self) -> Ints:
        """Columns of the 0/1 matrix that stand for entries of tables, and not for unknown cells."""
        sizes = [self._table_size(f) for f in self._narrow]
        parts = [self._starts[f] + np.arange(size) for f, size in zip(self._narrow, sizes, strict=True)]
        return np.concatenate(parts) if parts else np.zeros(0, dtype=np.int64)

    def _table_size(self, f: int) -> int:
        above = self.tree[f]
        return self.features[f].n_states * (self.features[above].n_states if above >= 0 else 1)

    def flat_likelihoods(self, logs: Floats) -> Floats:
        """Logarithms of P(cells | class) from the logarithms of all entries of all tables, (classes, entries)."""
        whole = np.zeros((self._width, len(logs)))
        whole[self.kept_entries] = logs.T
        return self._multiply(whole)

    def flat_counts(self, shares: Floats) -> Floats:
        """Expected counts of all entries of all tables, (classes, entries)."""
        return np.asarray(self._sum_shares(shares)[:, self.kept_entries])

    def take_rows(self, rows: Ints) -> FeatureRows:
        """Some of the rows."""
        return FeatureRows([cells.take_rows(rows) for cells in self.features], self.tree)

    def log_likelihoods(self, tables: Mapping[int, Floats]) -> Floats:
        """Log P(cells | class), (rows, classes); a table is (classes, states of the parent or 1, states)."""
        entries = {f: np.log(np.maximum(self._spread_table(f, tables[f]), _SMALLEST)) for f in self.tree}
        n_classes = len(next(iter(tables.values()))) if tables else 0
        logs = np.zeros((self.n_rows, n_classes))
        if self._narrow:
            logs = self._multiply(np.concatenate([entries[f] for f in self._narrow], axis=1).T)
        for f in self._wide:
            logs += np.ascontiguousarray(entries[f].T)[self._codes[f]]
        if self._passes is not None:
            logs[self._rest] += self._passes.log_likelihoods(tables)
        return logs

    def expected_counts(self, shares: Floats, tables: Mapping[int, Floats] | None) -> dict[int, Floats]:
        """Expected number of rows by class, state of the parent and state; ``shares`` are those of classes in the rows.

        Cells of several states are shared in proportion to the ``tables`` (equally without any); unknown cells tell
        nothing, and are left out.
        """
        sums = self._sum_shares(shares)
        counts = {}
        for f in self.tree:
            if f in self._starts:
                start = self._starts[f]
                entries = sums[:, start : start + self._widths[f]]
            else:
                entries = _sum_wide(self._codes[f], shares, self._widths[f])
            counts[f] = self._gather_entries(f, entries, None if tables is None else tables[f])
        if self._passes is not None:
            tables = tables or {f: _equal_table(counts[f]) for f in self.tree}
            for f, more in self._passes.expected_counts(tables, shares[self._rest]).items():
                counts[f] = counts[f] + more
        return counts

    def count_labels(self, labels: Codes, n_classes: int, weights: Floats) -> dict[int, Floats]:
        """The same where every row has one class: counting. Only for rows of single states."""
        counts = {}
        for f in self.tree:
            codes = labels * self._widths[f] + self._codes[f]
            entries: Floats = np.bincount(codes, weights, minlength=n_classes * self._widths[f]).astype(np.float64)
            counts[f] = self._gather_entries(f, entries.reshape(n_classes, -1), None)
        return counts

    @property
    def is_precise(self) -> bool:
        """Whether every cell is a single state, or unknown where the class is the only parent."""
        sets = (self.features[f].sets for f in self.tree if f not in self._joined)
        return self._passes is None and all(own[own.shape[1] :].all() for own in sets)

    def _multiply(self, table: Floats) -> Floats:
        """The 0/1 matrix times a table (entries, classes)."""
        table = np.ascontiguousarray(table)
        logs = np.empty((self.n_rows, table.shape[1]))
        step = self._block_rows()
        for start in range(0, self.n_rows, step):
            block = self._chosen[start : start + step].astype(np.float64)
            np.matmul(block, table, out=logs[start : start + step])
        return logs

    def _sum_shares(self, shares: Floats) -> Floats:
        """The transposed shares times the 0/1 matrix, (classes, entries)."""
        sums = np.zeros((shares.shape[1], self._width))
        step = self._block_rows()
        for start in range(0, self.n_rows, step):
            sums += shares[start : start + step].T @ self._chosen[start : start + step].astype(np.float64)
        return sums

    def _block_rows(self) -> int:
        return max(_BLOCK // max(self._width, 1), 1)

    def _spread_table(self, f: int, table: Floats) -> Floats:
        """Probabilities of the entries of a family, (classes, entries)."""
        flat = table.reshape(len(table), -1)
        if f not in self._joined:
            sets = self.features[f].sets
            if len(sets) == sets.shape[1]:
                return flat
            more: Floats = np.minimum(flat @ sets[sets.shape[1] :].T, 1.0)
            return np.concatenate([flat, more], axis=1)
        return np.pad(flat, ((0, 0), (0, self._widths[f] - flat.shape[1])), constant_values=1.0)

    def _gather_entries(self, f: int, entries: Floats, table: Floats | None) -> Floats:
        """Expected counts by class, state of the parent and state, from those of the entries."""
        cells, above = self.features[f], self.tree[f]
        shape = (len(entries), self.features[above].n_states if above >= 0 else 1, cells.n_states)
        size = shape[1] * shape[2]
        counts = entries[:, :size].copy()
        if f not in self._joined:
            for code in range(size, len(cells.sets)):
                inside = cells.sets[code]
                if not inside.all():
                    own = np.ones(counts.shape) if table is None else table.reshape(counts.shape)
                    own = own * inside
                    total = own.sum(axis=1, keepdims=True)
                    counts += entries[:, [code]] * np.divide(own, total, out=np.zeros_like(own), where=total > 0.0)
        return counts.reshape(shape)


def _equal_table(counts: Floats) -> Floats:
    return np.full(counts.shape, 1.0 / counts.shape[-1])


def _sum_wide(codes: Codes, shares: Floats, width: int) -> Floats:
    """Sums of the shares of every class by entry, (classes, entries)."""
    return np.stack([np.bincount(codes, column, minlength=width) for column in shares.T])

"""Contours of families: what a further parent adds by the measures of `possnet.dependence`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from possnet.dependence import conditional, nonspecificity, similarity_dependence
from possnet.structure.contingency import ContingencyTables
from possnet.structure.search_graph import parents_of
from possnet.structure.sized_cache import SizedCache

if TYPE_CHECKING:
    from possnet.aliases import Bools, Floats, Ints
    from possnet.dependence import ContourMeasure, Reading
    from possnet.structure.coded_rows import CodedRows
    from possnet.structure.search_result import SearchResult

_KEPT: Final = 1 << 24  # entries


class StateCounts:
    """N of sets of variables: rows whose cells contain each configuration; the last ones are kept.

    >>> import possnet as pn
    >>> from possnet.structure.coded_rows import CodedRows
    >>> data = pn.Dataset.from_table({"a": ["x", {"x", "y"}, "y"], "b": ["u", "v", "v"]})
    >>> counts = StateCounts(CodedRows(data))
    >>> counts.of(1, 0).tolist(), counts.of(0).tolist(), counts.of().tolist()
    ([[1, 0], [1, 2]], [2, 2], 3)
    """

    def __init__(self, columns: CodedRows) -> None:
        self.columns, self.tables = columns, ContingencyTables(columns)
        self._known: SizedCache[Ints] = SizedCache(_KEPT, lambda counts: counts.size)

    def of(self, *chosen: int) -> Ints:
        """Counts with the axes as named."""
        key = tuple(sorted(chosen))
        found = self._known.get_or_compute(key, lambda: self._counted(key))
        return found.transpose([key.index(k) for k in chosen])

    def _counted(self, key: tuple[int, ...]) -> Ints:
        if not key:
            return np.array(self.columns.total)
        if len(key) == 1:
            return self.columns.cell_counts(key[0]) @ self.columns.sets[key[0]].astype(np.int64)
        *parents, child, last = key
        (found,) = self.tables.contained(tuple(parents), child, [last])
        shape = tuple(self.tables.states[k] for k in key)
        return np.rint(found.counts).astype(np.int64).reshape(shape)

    def nonspecificity(self, *chosen: int) -> float:
        """Non-specificity U of the contour of a set; of nothing it is 0."""
        return nonspecificity(self.of(*chosen)) if chosen else 0.0

    def dependence(self, first: int, second: int, given: tuple[int, ...], errors: float) -> float:
        """Dependence of two variables given others, by similarity (see `possnet.dependence.similarity`)."""
        sizes = self.tables.states
        both = self.of(*given, first, second).reshape(-1, sizes[first], sizes[second])
        ones = self.of(*given, first).reshape(-1, sizes[first])
        others = self.of(*given, second).reshape(-1, sizes[second])
        return similarity_dependence(both, ones, others, self.of(*given).reshape(-1), errors=errors)

    def determines(self, given: tuple[int, ...], one: int) -> bool:
        """Whether a variable has the same cell, as far as states show it, in all rows of each configuration of others."""
        rows = self.of(*given).reshape(-1, 1)
        both = self.of(*given, one).reshape(-1, self.tables.states[one])
        return bool(((both == 0) | (both == rows)).all())


class ContourGains:
    """What each variable would add as one more parent, by a measure on contours, given the parents there are."""

    def __init__(self, columns: CodedRows, name: ContourMeasure, reading: Reading) -> None:
        self.size = len(columns.variables)
        self.tables = ContingencyTables(columns)
        self._name, self._reading = name, reading
        self._known: dict[tuple[int, tuple[int, ...]], Floats] = {}

    def gains(self, child: int, parents: tuple[int, ...], among: Bools, edges: Bools) -> Floats:  # noqa: ARG002
        """Measure of child and candidate given the parents; -inf for the child and its parents."""
        key = child, parents
        if key not in self._known:
            others = [k for k in range(self.size) if k != child and k not in parents]
            found = np.full(self.size, -np.inf)
            for crossed in self.tables.contained(parents, child, others) if others else ():
                for place, k in enumerate(crossed.candidates):
                    found[k] = conditional(self._name, crossed.table(place).transpose(0, 2, 1), self._reading)
            self._known[key] = found
        return self._known[key]

    def begin(self, required: Bools) -> float:
        """Sum of the measures of the required edges."""
        return float(sum(self._required(required).values()))

    def finish(self, found: SearchResult, required: Bools) -> None:
        """Measures of the required edges."""
        for (parent, child), value in self._required(required).items():
            found.gains["delete", parent, child] = -value

    def _required(self, required: Bools) -> dict[tuple[int, int], float]:
        """Measure of every required edge given the required parents before it."""
        values = {}
        for child in range(self.size):
            parents = parents_of(required, child)
            for place, parent in enumerate(parents):
                values[parent, child] = float(self.gains(child, parents[:place], required[:, child], required)[parent])
        return values

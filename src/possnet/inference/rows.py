"""All marginals for every row of a data set.

The same idea as in `possnet.inference.batch`, in both directions. On the way up every clique numbers the combinations of
its own cells and its children's messages that occur, and computes a message once for each. On the way down a clique's
belief is its table combined with what comes from above; combinations of both are numbered again. A variable's marginal is
read from the clique that eliminates it, and only for the rows that ask for it. Branches that hold nothing that is asked
for are not entered.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod, sqrt
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from possnet.inference.algebra import MAX_MIN, MAX_SUM, ROUNDING, conditioned
from possnet.inference.batch import cell_degrees, clique_potentials, clique_tables, on_separator, pieces_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from possnet.arrow import CodedColumn
    from possnet.inference.algebra import Algebra
    from possnet.inference.batch import Known
    from possnet.inference.plan import Clique, Plan
    from possnet.variables import Variable

    Table: TypeAlias = NDArray[np.float64]
    Codes: TypeAlias = NDArray[np.int64]
    Rows: TypeAlias = NDArray[np.bool_]

__all__ = ["RowMarginals"]

_ROWS = 1 << 15


@dataclass(slots=True)
class _Message:
    """A table (cells, combinations) of a separator, and for every row the number of its combination."""

    table: Table
    keys: Codes


class RowMarginals:
    """A plan with tables and an algebra, ready for any number of rows of evidence.

    Parameters
    ----------
    budget
        Bytes that the messages of one block of rows may take.
    """

    def __init__(
        self,
        plan: Plan,
        scopes: Sequence[tuple[int, ...]],
        tables: Sequence[Table],
        algebra: Algebra,
        variables: Sequence[Variable],
        budget: int,
    ) -> None:
        self._plan, self._algebra, self._variables = plan, algebra, variables
        self._potentials = clique_potentials(plan, scopes, tables, algebra)
        self._factors = len(tables)
        separators = sum(prod(clique.shape[clique.residual :]) for clique in plan.cliques)
        self.rows_at_once = max(min(budget // (16 * max(separators, 1)), _ROWS), 1)

    def blocks(
        self, columns: Mapping[int, CodedColumn], rows: int, wanted: Mapping[int, Rows]
    ) -> Iterator[tuple[int, int, dict[int, Table], Rows]]:
        """First row, end, the degrees (wanted rows of the block, states) of every wanted variable, the possible rows.

        Degrees are conditioned on the row; those of an impossible row are NaN.
        """
        vectors = {v: cell_degrees(column, self._variables[v], self._algebra) for v, column in columns.items()}
        for start in range(0, rows, self.rows_at_once):
            stop = min(start + self.rows_at_once, rows)
            codes = {v: np.asarray(column.codes[start:stop], dtype=np.int64) for v, column in columns.items()}
            asked = {v: np.flatnonzero(mask[start:stop]) for v, mask in wanted.items()}
            run = _Block(self._plan, self._potentials, self._algebra, vectors, codes, np.arange(stop - start))
            total = run.collect()
            found = run.distribute({v: chosen for v, chosen in asked.items() if len(chosen)})
            empty = {v: np.zeros((0, self._plan.sizes[v])) for v, chosen in asked.items() if not len(chosen)}
            conditioned = {v: self._conditioned(table, total[asked[v]]) for v, table in found.items()}
            yield start, stop, conditioned | empty, total > self._algebra.zero

    def _conditioned(self, rows: Table, total: Table) -> Table:
        """Degrees of every row conditioned on the row, whose own possibility is ``total``."""
        if self._algebra is MAX_MIN:
            tops = total[:, np.newaxis]
            rows = np.minimum(rows, tops)  # what lies in other components
        else:
            tops = rows.max(axis=1, keepdims=True)
        rounding: float | Table = ROUNDING
        if self._algebra is MAX_SUM:
            rounding = np.maximum(ROUNDING, 1e-15 * np.abs(total) * sqrt(self._factors))[:, np.newaxis]
        degrees = conditioned(rows, tops, self._algebra, rounding)
        degrees[total <= self._algebra.zero] = np.nan
        return degrees


class _Block:
    """Both passes for some rows."""

    def __init__(
        self,
        plan: Plan,
        potentials: Sequence[Table],
        algebra: Algebra,
        vectors: Mapping[int, Table],
        codes: Mapping[int, Codes],
        identity: Codes,
    ) -> None:
        self.plan, self.potentials, self.algebra = plan, potentials, algebra
        self.vectors, self.codes, self.identity = vectors, codes, identity
        self.up: list[_Message] = []

    def collect(self) -> Table:
        """Messages up to the roots; the value of every row."""
        total = np.full(len(self.identity), self.algebra.one)
        for number, clique in enumerate(self.plan.cliques):
            message = np.zeros((0, 0))
            keys, count, pieces = self._pieces(clique, None)
            for chosen, parts in pieces:
                table = clique_tables(
                    self.potentials[number], parts, clique.shape, chosen.stop - chosen.start, self.algebra
                )
                said = on_separator(table, clique, self.algebra)
                if not message.size:
                    message = np.empty((len(said), count))
                message[:, chosen] = said
            self.up.append(_Message(message, keys))
            if clique.parent < 0:
                total = self.algebra.combine(total, message[0][keys])
        return total

    def distribute(self, asked: Mapping[int, Codes]) -> dict[int, Table]:
        """Marginals (asked rows, states), unnormalised, of the variables asked for."""
        reads: dict[int, list[int]] = {}
        for v in asked:
            reads.setdefault(self.plan.home[v], []).append(v)
        needed = [bool(reads.get(number)) for number in range(len(self.plan.cliques))]
        for number, clique in enumerate(self.plan.cliques):
            needed[number] = needed[number] or any(needed[child] for child in clique.children)
        found: dict[int, Table] = {}
        down: dict[int, _Message] = {}
        for number in range(len(self.plan.cliques) - 1, -1, -1):
            if needed[number]:
                self._descend(
                    number,
                    down,
                    reads.get(number, []),
                    [k for k in self.plan.cliques[number].children if needed[k]],
                    asked,
                    found,
                )
        return found

    def _descend(
        self,
        number: int,
        down: dict[int, _Message],
        read: list[int],
        children: list[int],
        asked: Mapping[int, Codes],
        found: dict[int, Table],
    ) -> None:
        """A clique's beliefs: its variables' marginals, and what its children need to hear."""
        clique, algebra = self.plan.cliques[number], self.algebra
        keys, count, pieces = self._pieces(clique, down.pop(number, None))
        marginals = {v: np.empty((self.plan.sizes[v], count)) for v in read}
        above = {
            k: np.empty((prod(self.plan.cliques[k].shape[self.plan.cliques[k].residual :]), count)) for k in children
        }
        theirs = {k: self._numbers_of_child(keys, count, self.up[k]) for k in children}
        for chosen, parts in pieces:
            width = chosen.stop - chosen.start
            belief = clique_tables(self.potentials[number], parts, clique.shape, width, algebra)
            for v in read:
                marginals[v][:, chosen] = self._kept(belief, clique, (v,))
            for k in children:
                said = self._kept(belief, clique, self.plan.cliques[k].separator)
                if algebra.divide is not None:  # what the child has not said itself; the minimum need not take it out
                    own = np.take(self.up[k].table, theirs[k][chosen], axis=1, mode="clip")
                    said = np.fmax(algebra.divide(said, own), algebra.zero)
                above[k][:, chosen] = said
        for v in read:
            found[v] = marginals[v][:, keys[asked[v]]].T
        for k in children:
            down[k] = _Message(above[k], keys)

    def _numbers_of_child(self, keys: Codes, count: int, said: _Message) -> Codes:
        """The child's message in every combination of its parent's, which determines it."""
        if keys is self.identity:
            return said.keys
        theirs = np.zeros(count, dtype=np.int64)
        theirs[keys] = said.keys
        return theirs

    def _pieces(
        self, clique: Clique, above: _Message | None
    ) -> tuple[Codes, int, Iterator[tuple[slice, list[tuple[tuple[int, ...], Table]]]]]:
        """Number of every row's combination, how many there are, and the parts of the table, some at a time."""
        mine = [v for v in clique.variables[: clique.residual] if v in self.vectors]
        known: list[Known] = [((v,), self.vectors[v], self.codes[v]) for v in mine]
        known += [(self.plan.cliques[k].separator, self.up[k].table, self.up[k].keys) for k in clique.children]
        if above is not None:
            known.append((clique.separator, above.table, above.keys))
        return pieces_of(clique, known, self.identity)

    def _kept(self, table: Table, clique: Clique, kept: Sequence[int]) -> Table:
        """Table on some of a clique's variables, (cells, combinations); one axis at a time, the longest runs first."""
        for axis in range(len(clique.variables)):
            if clique.variables[axis] not in kept:
                table = self.algebra.project.reduce(table, axis=axis, keepdims=True)
        return table.reshape(-1, table.shape[-1])

"""Questions for every row of a data set.

Messages are computed for many rows at once, the rows along the last axis. A message depends only on the evidence in its
part of the tree, and rows that agree there share it: on the way up every clique numbers the combinations of its own cells
and its children's messages that occur, and computes each once. One target needs no more than that, if the tree is rooted
at it. For many targets a clique's belief on the way down is its table combined with what comes from above; combinations of
both are numbered again, and a variable's marginal is read from the clique that eliminates it, only for the rows that ask
for it. Branches that hold nothing that is asked for are not entered. Blocks of rows bound the memory.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod, sqrt
from typing import TYPE_CHECKING, TypeAlias, TypeVar

import numpy as np

from possnet.inference.junction_tree import merge_parts
from possnet.inference.semirings import MAX_MIN, MAX_SUM, ROUNDING, conditioned
from possnet.kernels.grouping import compress_keys
from possnet.threads import cores, in_order

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from possnet.aliases import Bools, Floats, Ints
    from possnet.dataset import CodedColumn
    from possnet.inference.plan import Clique, Plan
    from possnet.inference.semirings import Semiring
    from possnet.variables import Variable

    Known: TypeAlias = tuple[tuple[int, ...], Floats, Ints]

T = TypeVar("T")
_PIECE_BYTES = 1 << 20  # tables that stay in the processor's cache: twice as fast as those of 32 MB
_ROWS = 1 << 15
_FEW = 1 << 15  # cells of a table for all combinations, occurring or not
_THREADS = 4


@dataclass(slots=True)
class _Message:
    """A table (cells, combinations) of a separator, and for every row the number of its combination."""

    table: Floats
    keys: Ints


class RowInference:
    """A plan with tables and an semiring, ready for any number of rows of evidence.

    Parameters
    ----------
    budget
        Bytes that the messages of one block of rows may take.
    """

    def __init__(
        self,
        plan: Plan,
        scopes: Sequence[tuple[int, ...]],
        tables: Sequence[Floats],
        semiring: Semiring,
        variables: Sequence[Variable],
        budget: int,
    ) -> None:
        self.semiring = semiring
        self._plan, self._variables = plan, variables
        self._potentials = _clique_potentials(plan, scopes, tables, semiring)
        self._factors = len(tables)
        self._threads = min(cores(), _THREADS)
        separators = sum(prod(clique.shape[clique.residual :]) for clique in plan.cliques)
        self._most = max(min(budget // (16 * max(separators, 1) * self._threads), _ROWS), 1)

    def answers(self, target: int, columns: Mapping[int, CodedColumn], rows: int) -> Floats:
        """Unnormalised table of one variable for every row, shape (rows, states); the plan eliminates it last."""
        found = np.empty((rows, self._plan.sizes[target]))
        for start, stop, table in self._run(columns, rows, lambda block, _: block.collect(target)):
            found[start:stop] = table
        return found

    def blocks(
        self, columns: Mapping[int, CodedColumn], rows: int, wanted: Mapping[int, Bools]
    ) -> Iterator[tuple[int, int, dict[int, Floats], Bools]]:
        """First row, end, the degrees (wanted rows of the block, states) of every wanted variable, the possible rows.

        Degrees are conditioned on the row; those of an impossible row are NaN.
        """

        def answer(block: _Block, rows: slice) -> tuple[dict[int, Floats], Bools]:
            asked = {v: np.flatnonzero(mask[rows]) for v, mask in wanted.items()}
            total = block.collect()[:, 0]
            found = block.distribute({v: chosen for v, chosen in asked.items() if len(chosen)})
            told = {v: self._conditioned(table, total[asked[v]]) for v, table in found.items()}
            none = {v: np.zeros((0, self._plan.sizes[v])) for v, chosen in asked.items() if not len(chosen)}
            return told | none, total > self.semiring.zero

        for start, stop, (told, possible) in self._run(columns, rows, answer):
            yield start, stop, told, possible

    def _run(
        self, columns: Mapping[int, CodedColumn], rows: int, answer: Callable[[_Block, slice], T]
    ) -> Iterator[tuple[int, int, T]]:
        """First row, end and answer of every block of rows, in order; threads run some at a time."""
        vectors = {v: _cell_degrees(column, self._variables[v], self.semiring) for v, column in columns.items()}

        def run(start: int) -> tuple[int, int, T]:
            stop = min(start + self._most, rows)
            codes = {v: np.asarray(column.codes[start:stop], dtype=np.int64) for v, column in columns.items()}
            block = _Block(self._plan, self._potentials, self.semiring, vectors, codes, stop - start)
            with np.errstate(divide="ignore", invalid="ignore"):
                return start, stop, answer(block, slice(start, stop))

        return in_order(run, range(0, rows, self._most), self._threads)

    def _conditioned(self, rows: Floats, total: Floats) -> Floats:
        """Degrees of every row conditioned on the row, whose own possibility is ``total``."""
        if self.semiring is MAX_MIN:
            tops = total[:, np.newaxis]
            rows = np.minimum(rows, tops)  # what lies in other components
        else:
            tops = rows.max(axis=1, keepdims=True)
        rounding: float | Floats = ROUNDING
        if self.semiring is MAX_SUM:
            rounding = np.maximum(ROUNDING, 1e-15 * np.abs(total) * sqrt(self._factors))[:, np.newaxis]
        degrees = conditioned(rows, tops, self.semiring, rounding)
        degrees[total <= self.semiring.zero] = np.nan
        return degrees


class _Block:
    """Both passes for some rows."""

    def __init__(
        self,
        plan: Plan,
        potentials: Sequence[Floats],
        semiring: Semiring,
        vectors: Mapping[int, Floats],
        codes: Mapping[int, Ints],
        rows: int,
    ) -> None:
        self.plan, self.potentials, self.semiring = plan, potentials, semiring
        self.vectors, self.codes, self.identity = vectors, codes, np.arange(rows)
        largest = max((prod(clique.shape) for clique in plan.cliques), default=0)
        self.room = np.empty(max(_PIECE_BYTES // 8, largest))  # used again and again, so that it stays in the cache
        self.up: list[_Message] = []

    def collect(self, target: int | None = None) -> Floats:
        """Messages up to the roots; the value of every row (rows, 1), or a table of the target, (rows, states).

        The target is among the variables of a root. Its table is all that is kept.
        """
        home = -1 if target is None else self.plan.root_of(target)
        total = np.full((len(self.identity), 1 if target is None else self.plan.sizes[target]), self.semiring.one)
        for number, clique in enumerate(self.plan.cliques):
            message = np.zeros((0, 0))
            keys, count, tables = self._tables(number)
            for chosen, table in tables:
                if number == home:
                    axes = tuple(axis for axis, v in enumerate(clique.variables) if v != target)
                    said = self.semiring.project.reduce(table, axis=axes) if axes else table
                else:
                    said = _on_separator(table, clique, self.semiring)
                if not message.size:
                    message = np.empty((len(said), count))
                message[:, chosen] = said
            self.up.append(_Message(message, keys))
            if target is not None:
                for child in clique.children:
                    self.up[child].table = message[:0]
            if clique.parent < 0:
                values = message if keys is self.identity else message[:, keys]
                total = self.semiring.combine(total, values.T)
        return total

    def distribute(self, asked: Mapping[int, Ints]) -> dict[int, Floats]:
        """Marginals (asked rows, states), unnormalised, of the variables asked for."""
        reads: dict[int, list[int]] = {}
        for v in asked:
            reads.setdefault(self.plan.home[v], []).append(v)
        needed = [bool(reads.get(number)) for number in range(len(self.plan.cliques))]
        for number, clique in enumerate(self.plan.cliques):
            needed[number] = needed[number] or any(needed[child] for child in clique.children)
        found: dict[int, Floats] = {}
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
        asked: Mapping[int, Ints],
        found: dict[int, Floats],
    ) -> None:
        """A clique's beliefs: its variables' marginals, and what its children need to hear."""
        clique, semiring = self.plan.cliques[number], self.semiring
        keys, count, beliefs = self._tables(number, down.pop(number, None))
        marginals = {v: np.empty((self.plan.sizes[v], count)) for v in read}
        above = {
            k: np.empty((prod(self.plan.cliques[k].shape[self.plan.cliques[k].residual :]), count)) for k in children
        }
        theirs = {k: self._numbers_of_child(keys, count, self.up[k]) for k in children}
        for chosen, belief in beliefs:
            for v in read:
                marginals[v][:, chosen] = self._kept(belief, clique, (v,))
            for k in children:
                said = self._kept(belief, clique, self.plan.cliques[k].separator)
                if semiring.divide is not None:  # what the child has not said itself; the minimum need not take it out
                    own = np.take(self.up[k].table, theirs[k][chosen], axis=1, mode="clip")
                    said = np.fmax(semiring.divide(said, own), semiring.zero)
                above[k][:, chosen] = said
        for v in read:
            found[v] = marginals[v][:, keys[asked[v]]].T
        for k in children:
            down[k] = _Message(above[k], keys)

    def _numbers_of_child(self, keys: Ints, count: int, said: _Message) -> Ints:
        """The child's message in every combination of its parent's, which determines it."""
        if keys is self.identity:
            return said.keys
        theirs = np.zeros(count, dtype=np.int64)
        theirs[keys] = said.keys
        return theirs

    def _tables(self, number: int, above: _Message | None = None) -> tuple[Ints, int, Iterator[tuple[slice, Floats]]]:
        """Number of every row's combination of what is known, how many there are, and a clique's tables for them.

        The combinations lie along the last axis, some at a time; a table is good until the next one. What has few
        combinations is combined with the clique's potential for all of them, whether they occur or not; what has many is
        looked up for the combinations that occur.
        """
        clique = self.plan.cliques[number]
        mine = [v for v in clique.variables[: clique.residual] if v in self.vectors]
        known: list[Known] = [((v,), self.vectors[v], self.codes[v]) for v in mine]
        known += [(self.plan.cliques[k].separator, self.up[k].table, self.up[k].keys) for k in clique.children]
        if above is not None:
            known.append((clique.separator, above.table, above.keys))
        known.sort(key=lambda part: part[1].shape[1])
        axes = list(zip(clique.variables, clique.shape, strict=True))
        few, codes = self.potentials[number], None
        many: list[tuple[tuple[int, ...], Floats]] = []
        parts: list[tuple[int, Ints]] = []
        for scope, table, own in known:
            inside, size = tuple([size if v in scope else 1 for v, size in axes]), table.shape[1]
            if not many and few.size * size <= _FEW:
                both = self.semiring.combine(few.reshape(*clique.shape, -1, 1), table.reshape(*inside, 1, size))
                few = both.reshape(len(few), -1)
                codes = own if codes is None else codes * size + own
                parts = [(few.shape[1], codes)]
            else:
                many.append((inside, table))
                parts.append((size, own))
        keys, members = _combinations(parts, self.identity)
        count = len(members[0]) if members else 1
        return keys, count, self._filled(clique, count, few, many, members)

    def _filled(
        self, clique: Clique, count: int, few: Floats, many: list[tuple[tuple[int, ...], Floats]], members: list[Ints]
    ) -> Iterator[tuple[slice, Floats]]:
        """Tables of some combinations at a time: of the few, times what is looked up of the many."""
        cells = len(few)
        most = max(_PIECE_BYTES // (8 * cells), 1)
        for start in range(0, count, most):
            chosen = slice(start, min(start + most, count))
            width = chosen.stop - start
            room = self.room[: cells * width].reshape(cells, width)
            if not many:
                table = few[:, chosen]
            elif len(members) > len(many):
                table = _picked(few, members[0], chosen, self.identity, room)
            else:
                table = few
            found = members[len(members) - len(many) :]
            parts = []
            for (inside, values), member in zip(many, found, strict=True):
                picked = _picked(values, member, chosen, self.identity)
                parts.append(((*inside, width), picked.reshape(*inside, width)))
            table, full = table.reshape(*clique.shape, -1), room.reshape(*clique.shape, width)
            for _, part in merge_parts(parts, self.semiring, cells * width):
                table = self.semiring.combine(table, part, out=full)
            yield chosen, table

    def _kept(self, table: Floats, clique: Clique, kept: Sequence[int]) -> Floats:
        """Table on some of a clique's variables, (cells, combinations); one axis at a time, the longest runs first."""
        for axis in range(len(clique.variables)):
            if clique.variables[axis] not in kept:
                table = self.semiring.project.reduce(table, axis=axis, keepdims=True)
        return table.reshape(-1, table.shape[-1])


def _cell_degrees(column: CodedColumn, variable: Variable, semiring: Semiring) -> Floats:
    """Degrees (states, distinct cells) of the cells as evidence; an unknown cell is none."""
    return np.where(column.sets.T, semiring.one, semiring.zero).reshape(len(variable), -1)


def _clique_potentials(
    plan: Plan, scopes: Sequence[tuple[int, ...]], tables: Sequence[Floats], semiring: Semiring
) -> list[Floats]:
    """Factors of every clique combined, as (cells, 1)."""
    combined = []
    for clique in plan.cliques:
        table = np.full(clique.shape, semiring.one)
        for factor in clique.factors:
            scope = scopes[factor]
            order = sorted(range(len(scope)), key=lambda k: plan.position[scope[k]])
            shape = [size if v in scope else 1 for v, size in zip(clique.variables, clique.shape, strict=True)]
            semiring.combine(table, tables[factor].transpose(order).reshape(shape), out=table)
        combined.append(table.reshape(-1, 1))
    return combined


def _on_separator(table: Floats, clique: Clique, semiring: Semiring) -> Floats:
    """A clique's table on its separator, with the rows last."""
    leading = table.reshape(prod(table.shape[: clique.residual]), -1)
    separator: Floats = semiring.project.reduce(leading, axis=0)
    return separator.reshape(-1, table.shape[-1])


def _picked(table: Floats, member: Ints, chosen: slice, identity: Ints, room: Floats | None = None) -> Floats:
    """Columns of a table; all numbers are in range: "clip" only spares numpy a check."""
    return table[:, chosen] if member is identity else np.take(table, member[chosen], axis=1, mode="clip", out=room)


def _combinations(parts: list[tuple[int, Ints]], identity: Ints) -> tuple[Ints, list[Ints]]:
    """Number a row for the combination of its codes, and, for every part, its code in each combination.

    Parts are pairs (number of codes, code of every row). ``identity`` holds the row numbers, and stands for itself
    wherever every row is a combination of its own.
    """
    if not parts:
        return np.zeros(len(identity), dtype=np.int64), []
    (size, keys), *others = parts
    members = [identity if keys is identity else np.arange(size)]
    for radix, part in others:
        if 2 * len(members[0]) > len(identity):  # nearly every row is a combination of its own: let each be one
            members = [
                *(member if member is identity else np.take(member, keys, mode="clip") for member in members),
                part,
            ]
            keys = identity
        else:
            keys, found = compress_keys(keys * radix + part, len(members[0]) * radix)
            members = [*(member[found // radix] for member in members), found % radix]
    return keys, members

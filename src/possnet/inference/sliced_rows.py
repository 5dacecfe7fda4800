"""Marginals given rows of evidence, by one junction tree whose tables hold only what a row leaves open.

Rows of the same pattern at a node have slices of one shape (see `possnet.inference.slice_layout`) and are computed
together; of rows that agree in all that matters at and below a node one is computed for all. A message over no open
variable is a number and goes to the value of its rows at once, so that what evidence separates stays apart without being
looked for. Where the patterns of a node are too many, rows that leave the same variables open are computed together:
a family or a message that is of no account in some of them is 1 there.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from possnet.inference.code_columns import mix_codes, number_combinations
from possnet.inference.elimination_steps import run_steps
from possnet.inference.factor_graph import to_semiring
from possnet.inference.observed_rows import RowObserver
from possnet.inference.row_passes import rows_at_a_time
from possnet.inference.shared_columns import Scratch, SharedTable, order_for_sharing, run_sharing_steps, share_codes
from possnet.inference.slice_layout import bits_of, open_variables

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from possnet.aliases import Bools, Floats, Ints
    from possnet.dataset import CodedColumn
    from possnet.inference.batched import RowBlock
    from possnet.inference.code_columns import CodeColumn
    from possnet.inference.factor_graph import FactorGraph
    from possnet.inference.observed_rows import ObservedRows
    from possnet.inference.semirings import Semiring
    from possnet.inference.slice_layout import Pattern, SliceLayout, SliceTree

_ROWS = 1 << 15  # of a block, at most
_FEW_PATTERNS = 16  # that are not worth merging
_FEWER = 2  # times as few patterns are worth a product with 1
_LARGE = 1 << 20  # entries of all rows; below, what rows share is not looked for
_LONG_AXIS = 16  # entries along which a table of its own is computed as fast as those of many rows
_SMALL = 1 << 14  # entries of all rows; below, steps of an elimination cost more than they save
# Measured on one machine; compared with the estimates of the other ways.
_SECONDS_A_NODE = 2e-4
_SECONDS_A_SLICE = 4e-5
_SECONDS_AN_ENTRY = 5e-9
_SECONDS_A_CODE = 1.2e-7  # of a row at a node


@dataclass(slots=True)
class _Messages:
    """What a node sends: for every pattern of its separator a table (entries, columns), whose first column is 1.

    ``bits`` and ``columns`` say where every row finds its message; 0 and 0 where it has none.
    """

    bits: Ints
    columns: Ints
    widths: dict[int, int]
    tables: dict[int, Floats]

    @property
    def count(self) -> int:
        """Columns of the widest table."""
        return max(self.widths.values())


@dataclass(slots=True)
class _Slices:
    """Combinations of one pattern, from ``begin`` to ``end``, and the first column of their messages (-1: numbers)."""

    pattern: Pattern
    begin: int
    end: int
    column: int


@dataclass(slots=True)
class _NodeWork:
    """The rows that matter at a node, the combination of each, and the code of every part in every combination."""

    rows: Ints
    keys: Ints
    codes: list[Ints]
    groups: list[_Slices]
    count: int
    vectors: tuple[int, ...]
    children: list[int]
    is_merged: bool


class SlicePasses:
    """Both passes for some rows.

    Parameters
    ----------
    vectors
        Variable -> table (states, cells) of the degrees of its column's cells, where some are neither precise nor unknown.
    is_open
        Which variables are open, and matter, in which row.
    """

    def __init__(
        self,
        tree: SliceTree,
        tables: LineTables,
        vectors: Mapping[int, Floats],
        observed: ObservedRows,
        is_open: Bools,
        semiring: Semiring,
    ) -> None:
        self._tree, self._tables, self._vectors, self._semiring = tree, tables, vectors, semiring
        self._codes, self._opens = observed.codes, is_open.astype(np.int64)
        self._is_open = is_open
        self._n_rows = is_open.shape[1]
        known = np.where(is_open, 0, observed.states)
        self._bases: list[Ints] = []
        self._bits: list[Ints] = []
        for family, scope in enumerate(tree.scopes):
            base = known[scope[-1]].copy()
            bits = self._opens[scope[-1]] << len(scope) - 1
            for place, v in enumerate(scope[:-1]):
                base += known[v] * tree.strides[family][v]
                bits += self._opens[v] << place
            bits *= observed.is_kept[family]
            base *= bits > 0
            self._bases.append(base)
            self._bits.append(bits)
        self._works: dict[int, _NodeWork] = {}
        self._sent: dict[int, _Messages] = {}
        self._scratch = Scratch()
        self._buffer = np.empty(0)  # used again and again, so that it stays in the cache

    def schedule(self) -> None:
        """Find the patterns and combinations of every node, without a number of any table."""
        for number in range(len(self._tree.nodes)):
            work = self._schedule_node(number)
            if work is not None:
                self._works[number] = work

    @property
    def bytes_sent(self) -> int:
        """Bytes that the messages of the collect pass take."""
        sizes, nodes = self._tree.sizes, self._tree.nodes
        return 8 * sum(
            width * prod(sizes[v] for v in open_variables(nodes[number].separator, bits))
            for number, sent in self._sent.items()
            for bits, width in sent.widths.items()
        )

    def count_work(self) -> tuple[int, int]:
        """How many slices have shapes of their own, and the entries of all."""
        groups, entries = 0, 0
        for number, work in self._works.items():
            variables = list(self._tree.nodes[number].variables)
            rows = np.empty(work.count, dtype=np.int64)
            rows[work.keys] = work.rows
            sizes = np.array([self._tree.sizes[v] for v in variables])[:, np.newaxis]
            opened = self._is_open[variables][:, rows[[group.begin for group in work.groups]]]
            counts = [group.end - group.begin for group in work.groups]
            groups += len(counts)
            entries += int(np.where(opened, sizes, 1).prod(axis=0) @ np.array(counts))
        return groups, entries

    def _schedule_node(self, number: int) -> _NodeWork | None:
        tree, node = self._tree, self._tree.nodes[number]
        children = [k for k in node.children if k in self._sent]
        vectors = tuple([v for v in node.variables[: node.residual] if v in self._vectors])
        patterns: list[CodeColumn] = [(self._bits[f], 1 << len(tree.scopes[f])) for f in node.factors]
        patterns += [(self._opens[v], 2) for v in vectors]
        patterns += [(self._sent[k].bits, 1 << len(tree.nodes[k].separator)) for k in children]
        if not patterns:
            return None
        codes: list[CodeColumn] = [(self._bases[f], len(self._tables.flat[f])) for f in node.factors]
        codes += [(self._codes[v] * self._opens[v], self._vectors[v].shape[1]) for v in vectors]
        codes += [(self._sent[k].columns, self._sent[k].count) for k in children]
        matters = patterns[0][0] > 0
        for column, _ in patterns[1:]:
            matters |= column > 0
        rows = np.flatnonzero(matters)
        if not len(rows):
            return None
        patterns.insert(0, (self._number_open(node.separator), 1 << len(node.separator)))
        if len(rows) < self._n_rows:
            patterns = [(column[rows], size) for column, size in patterns]
            codes = [(column[rows], size) for column, size in codes]
        merged, opened = self._merge_patterns(number, rows, patterns, codes)
        pattern = merged if opened is not None else mix_codes(patterns)
        keys, first = number_combinations([pattern, *codes])
        numbers = pattern[0][first]
        starts = np.flatnonzero(np.concatenate([[True], numbers[1:] != numbers[:-1]]))
        if opened is None:
            names = list(zip(*[column[first[starts]].tolist() for column, _ in patterns], strict=True))
        else:
            names = [self._name_open(number, opened[k], vectors, children) for k in numbers[starts].tolist()]
        return self._lay_out(
            number,
            rows,
            keys,
            [column[first] for column, _ in codes],
            names,
            starts,
            (vectors, children, opened is not None),
        )

    def _lay_out(
        self,
        number: int,
        rows: Ints,
        keys: Ints,
        codes: list[Ints],
        names: list[Pattern],
        starts: Ints,
        about: tuple[tuple[int, ...], list[int], bool],
    ) -> _NodeWork:
        """The slices of every pattern, and the columns of their messages."""
        count = int(keys.max()) + 1
        ends = [*starts[1:].tolist(), count]
        widths: dict[int, int] = {}
        columns = np.zeros(count, dtype=np.int64)
        bits = np.zeros(count, dtype=np.int64)
        groups = []
        for name, begin, end in zip(names, starts.tolist(), ends, strict=True):
            column = -1
            if name[0] and number != self._tree.root:
                column = widths.get(name[0], 1)
                widths[name[0]] = column + end - begin
                columns[begin:end] = np.arange(column, column + end - begin)
                bits[begin:end] = name[0]
            groups.append(_Slices(name, begin, end, column))
        if widths:
            sent = [np.zeros(self._n_rows, dtype=np.int64) for _ in range(2)]
            sent[0][rows], sent[1][rows] = bits[keys], columns[keys]
            self._sent[number] = _Messages(sent[0], sent[1], widths, {})
        return _NodeWork(rows, keys, codes, groups, count, *about)

    def _number_open(self, variables: Sequence[int]) -> Ints:
        """Which of some variables are open, as the bits of a number for every row."""
        bits = np.zeros(self._n_rows, dtype=np.int64)
        for place, v in enumerate(variables):
            bits += self._opens[v] << place
        return bits

    def _merge_patterns(
        self, number: int, rows: Ints, patterns: list[CodeColumn], codes: list[CodeColumn]
    ) -> tuple[CodeColumn, list[int] | None]:
        """Where patterns are too many, a number for every row by its open variables alone, and these as bits; else None.

        Families that are of no account in a row get the code of a table of ones, then.
        """
        node = self._tree.nodes[number]
        if not node.is_joint:
            if prod(size for _, size in patterns) <= _FEW_PATTERNS:
                return patterns[0], None
            mixed, _ = mix_codes(patterns)
            count = len(np.unique(mixed))
            if count <= _FEW_PATTERNS:
                return patterns[0], None
        distinct, numbers = np.unique(self._number_open(node.variables)[rows], return_inverse=True)
        if not node.is_joint and len(distinct) * _FEWER > count:
            return patterns[0], None
        for part in range(len(node.factors)):
            (code, size), (bits, _) = codes[part], patterns[1 + part]
            codes[part] = np.where(bits > 0, code, size), size + 1
        return (numbers, len(distinct)), distinct.tolist()

    def _name_open(self, number: int, opened: int, vectors: tuple[int, ...], children: list[int]) -> Pattern:
        """The pattern of rows that leave some variables of a node open, as if every part were of account."""
        tree, node = self._tree, self._tree.nodes[number]
        held = set(open_variables(node.variables, opened))
        messages = [bits_of(tree.nodes[k].separator, held) for k in children]
        return (
            bits_of(node.separator, held),
            *(bits_of(tree.scopes[f], held) for f in node.factors),
            *(int(v in held) for v in vectors),
            *(bits if bits in self._sent[k].widths else 0 for k, bits in zip(children, messages, strict=True)),
        )

    def collect(self, total: Floats) -> Floats | None:
        """The collect pass: combines rows' values with ``total``; returns a table (rows, states) of the target, if any."""
        tree, semiring = self._tree, self._semiring
        answer = None
        for number, work in self._works.items():
            is_root = number == tree.root
            sent = self._sent.get(number)
            if sent is not None:
                self._allocate(sent, tree.nodes[number].separator)
            values = np.full(work.count, semiring.one)
            results = np.empty((tree.sizes[tree.target] if tree.target is not None and is_root else 0, work.count))
            for group in work.groups:
                for begin, end, projected in self._eliminate(number, work, group):
                    if is_root:
                        results[:, begin:end] = projected
                    elif group.column < 0:
                        values[begin:end] = projected[0]
                    elif sent is not None:
                        shift = group.column - group.begin
                        sent.tables[group.pattern[0]][:, begin + shift : end + shift] = projected
            if is_root:
                answer = results.T[work.keys]
                values = semiring.project.reduce(results, axis=0)
            if is_root or any(group.column < 0 for group in work.groups):
                total[work.rows] = semiring.combine(total[work.rows], values[work.keys])
        return answer

    def _allocate(self, messages: _Messages, separator: Sequence[int]) -> None:
        for bits, width in messages.widths.items():
            entries = prod(self._tree.sizes[v] for v in open_variables(separator, bits))
            messages.tables[bits] = np.empty((entries, width))
            messages.tables[bits][:, 0] = self._semiring.one

    def _eliminate(self, number: int, work: _NodeWork, group: _Slices) -> Iterator[tuple[int, int, Floats]]:
        """Some combinations at a time, (begin, end, message (entries, combinations)) of the slices of one pattern."""
        layout, semiring = self._tree.lay_out(number, group.pattern, work.vectors, work.children), self._semiring
        eliminated, count = layout.eliminated, group.end - group.begin
        if self._tree.nodes[number].is_joint:
            yield group.begin, group.end, self._combine_joint(work, group, layout)
            return
        codes = [work.codes[part][group.begin : group.end] for part in layout.parts]
        if not eliminated or layout.entries * count <= _SMALL:
            most = rows_at_a_time(layout.entries)
            for begin in range(0, count, most):
                end = min(begin + most, count)
                parts = self._take_parts(layout, [column[begin:end] for column in codes], is_merged=work.is_merged)
                table = self._combine(parts, layout)
                if eliminated:
                    table = semiring.project.reduce(table.reshape(prod(layout.shape[:eliminated]), -1), axis=0)
                yield group.begin + begin, group.begin + end, table.reshape(-1, end - begin)
            return
        if layout.shape[-1] >= _LONG_AXIS and layout.entries * count > _LARGE:
            messages = self._eliminate_shared(layout, codes, is_merged=work.is_merged)
            if messages is not None:
                yield group.begin, group.end, messages
                return
        varies = tuple([bool((column != column[0]).any()) for column in codes])
        steps = layout.steps(varies)
        widest = max(prod(step.shape[:-1]) for step in steps)
        most = min(rows_at_a_time(widest), count)
        if self._buffer.size < widest * most:
            self._buffer = np.empty(widest * most)
        for begin in range(0, count, most):
            end = min(begin + most, count)
            taken = [column[begin : end if moves else begin + 1] for column, moves in zip(codes, varies, strict=True)]
            parts = self._take_parts(layout, taken, is_merged=work.is_merged)
            left = run_steps(steps, parts, layout.shape, semiring, self._buffer)
            whole = np.broadcast_to(left.reshape(left.shape[eliminated:]), (*layout.kept, end - begin))
            yield group.begin + begin, group.begin + end, whole.reshape(-1, end - begin)

    def _eliminate_shared(self, layout: SliceLayout, codes: Sequence[Ints], *, is_merged: bool) -> Floats | None:
        """The messages (entries, combinations) of slices whose parts are shared by many combinations; None if by few."""
        distinct, places = zip(*[share_codes(column) for column in codes], strict=True)
        steps = layout.steps(tuple([column is not None for column in places]))
        order = order_for_sharing(steps, places)
        if order is None:
            return None
        parts = [
            np.ascontiguousarray(np.moveaxis(part, -1, 0))
            for part in self._take_parts(layout, distinct, is_merged=is_merged)
        ]
        messages = np.empty((prod(layout.kept), len(order.rows)))
        for begin, end in pairwise(order.ends):
            rows = order.rows[begin:end]
            shared = [SharedTable(part, column).choose(rows) for part, column in zip(parts, places, strict=True)]
            result = run_sharing_steps(steps, shared, layout.shape, self._semiring, self._scratch)
            left = result.values.reshape(len(result.values), *result.values.shape[1 + layout.eliminated :])
            whole = np.broadcast_to(left, (len(left), *layout.kept)).reshape(len(left), -1)
            messages[:, rows] = (whole if result.codes is None else whole[result.codes]).T
        return messages

    def _take_parts(self, layout: SliceLayout, codes: Sequence[Ints], *, is_merged: bool) -> list[Floats]:
        """The slices of all parts for some codes of each, which are the last axis."""
        taken: list[Floats] = []
        left = iter(codes)
        for _, family, shape, offsets in layout.families:
            table = self._tables.with_ones(family) if is_merged else self._tables.flat[family]
            taken.append(table.take(next(left) + offsets, mode="clip").reshape(*shape, -1))
        for _, v, shape in layout.vectors:
            taken.append(self._vectors[v].take(next(left), axis=1, mode="clip").reshape(*shape, -1))
        for _, child, bits, shape, turn in layout.children:
            message = self._sent[child].tables[bits].take(next(left), axis=1, mode="clip")
            if turn is not None:
                message = message.reshape(*turn[0], -1).transpose(*turn[1], len(turn[1]))
            taken.append(message.reshape(*shape, -1))
        return taken

    def _combine(self, parts: list[Floats], layout: SliceLayout) -> Floats:
        """The combination of parts as a table of all open variables, and of rows."""
        parts.sort(key=lambda part: part.size)
        table = parts[0]
        for part in parts[1:]:
            table = self._semiring.combine(table, part)
        whole = (*layout.shape, table.shape[-1])
        return table if table.shape == whole else np.broadcast_to(table, whole)

    def _combine_joint(self, work: _NodeWork, group: _Slices, layout: SliceLayout) -> Floats:
        """The combination of the messages of a joint's children, (entries, combinations), most of which may be 1."""
        semiring = self._semiring
        table = np.full((layout.entries, group.end - group.begin), semiring.one)
        for part, child, bits, _, _ in layout.children:
            codes = work.codes[part][group.begin : group.end]
            (some,) = np.nonzero(codes)
            message = self._sent[child].tables[bits]
            if 2 * len(some) > len(codes):
                semiring.combine(table, message.take(codes, axis=1, mode="clip"), out=table)
            elif len(some):
                both = semiring.combine(table.take(some, axis=1), message.take(codes[some], axis=1, mode="clip"))
                table[:, some] = both
        return table

    def distribute(self, wanted: Collection[int], tables: Mapping[int, Floats]) -> None:
        """The distribute pass down to the wanted variables, whose tables (rows, states) it fills where they are open."""
        tree = self._tree
        asked: dict[int, list[int]] = {}
        for v in wanted:
            asked.setdefault(tree.home[v], []).append(v)
        needed = [number in asked for number in range(len(tree.nodes))]
        for number, node in enumerate(tree.nodes):
            needed[number] = needed[number] or any(needed[child] for child in node.children)
        above: dict[int, _Messages] = {}
        for number in reversed(self._works):
            if needed[number]:
                below = [k for k in self._works[number].children if needed[k]]
                self._believe(number, above, below, {v: tables[v] for v in asked.get(number, ())})

    def _believe(
        self, number: int, above: dict[int, _Messages], below: list[int], tables: Mapping[int, Floats]
    ) -> None:
        """The beliefs of a node: marginals of its variables, and messages to the nodes below."""
        work, received, semiring = self._works[number], above.pop(number, None), self._semiring
        columns = received.columns[work.rows] if received is not None else np.zeros(len(work.rows), dtype=np.int64)
        keys, first = number_combinations(
            [(work.keys, work.count), (columns, received.count if received is not None else 1)]
        )
        of_combination, columns = work.keys[first], columns[first]
        marginals = {v: np.empty((self._tree.sizes[v], len(first))) for v in tables}
        sent = {k: _Answers(len(first)) for k in below}
        for group in work.groups:
            layout = self._tree.lay_out(number, group.pattern, work.vectors, work.children)
            start, stop = np.searchsorted(of_combination, [group.begin, group.end]).tolist()
            most = rows_at_a_time(layout.entries)
            for begin in range(start, stop, most):
                end = min(begin + most, stop)
                chosen = of_combination[begin:end]
                codes = [work.codes[part][chosen] for part in layout.parts]
                parts = self._take_parts(layout, codes, is_merged=work.is_merged)
                if received is not None and group.pattern[0]:
                    message = received.tables[group.pattern[0]].take(columns[begin:end], axis=1, mode="clip")
                    parts.append(message.reshape(*(1,) * layout.eliminated, *layout.kept, -1))
                belief = self._combine(parts, layout)
                for v, marginal in marginals.items():
                    if v in layout.variables:
                        marginal[:, begin:end] = layout.project_on((v,)).project_rows(belief, semiring)
                for part, child, bits, _, _ in layout.children:
                    if child in sent:
                        asking = work.codes[part][chosen]
                        (some,) = np.nonzero(asking)  # the others wait for no answer
                        if len(some):
                            answer = self._answer(layout, belief, child, bits, asking, some)
                            sent[child].append(bits, begin + some, answer)
        for v, marginal in marginals.items():
            (opened,) = np.nonzero(self._is_open[v, work.rows])
            tables[v][work.rows[opened]] = marginal[:, keys[opened]].T
        for k, answers in sent.items():
            if answers.widths:
                above[k] = answers.join(work.rows, keys, self._n_rows)

    def _answer(self, layout: SliceLayout, belief: Floats, child: int, bits: int, codes: Ints, some: Ints) -> Floats:
        """The messages to a child, for some of the combinations of a belief: what it sent is taken out again."""
        semiring = self._semiring
        scope = tuple([v for v in self._tree.nodes[child].separator if v in layout.variables])
        projected = layout.project_on(scope).project_rows(belief, semiring)
        if len(some) < len(codes):
            projected, codes = projected[:, some], codes[some]
        if semiring.divide is None:  # the minimum need not: it is idempotent
            return projected
        sent = self._sent[child].tables[bits].take(codes, axis=1, mode="clip")
        answer: Floats = np.fmax(semiring.divide(projected, sent), semiring.zero)
        return answer


class _Answers:
    """Messages to a node below, collected pattern by pattern."""

    def __init__(self, count: int) -> None:
        self._columns = np.zeros(count, dtype=np.int64)
        self._pieces: dict[int, list[Floats]] = {}
        self.widths: dict[int, int] = {}

    def append(self, bits: int, places: Ints, messages: Floats) -> None:
        """Take up the messages of some combinations."""
        width = self.widths.get(bits, 0)
        self.widths[bits] = width + len(places)
        self._columns[places] = np.arange(width, width + len(places))
        self._pieces.setdefault(bits, []).append(messages)

    def join(self, rows: Ints, keys: Ints, n_rows: int) -> _Messages:
        """All of them, for rows whose combinations are given as keys."""
        columns = np.zeros(n_rows, dtype=np.int64)
        columns[rows] = self._columns[keys]
        tables = {bits: np.concatenate(pieces, axis=1) for bits, pieces in self._pieces.items()}
        return _Messages(columns, columns, self.widths, tables)


class LineTables:
    """The tables of all families, each in a line; and with as many ones behind it, for rows where it is of no account."""

    def __init__(self, tables: Sequence[Floats], one: float) -> None:
        self.flat = [np.ascontiguousarray(table).reshape(-1) for table in tables]
        self._one = one
        self._with_ones: dict[int, Floats] = {}

    def with_ones(self, family: int) -> Floats:
        """A table with ones behind it, made when first asked for."""
        if family not in self._with_ones:
            table = self.flat[family]
            self._with_ones[family] = np.concatenate([table, np.full(len(table), self._one)])
        return self._with_ones[family]


class SlicedInference:
    """Inference for rows of evidence, by one tree of slices.

    Parameters
    ----------
    budget
        Bytes that the messages of a block of rows may take.
    """

    def __init__(self, tree: SliceTree, graph: FactorGraph, semiring: Semiring, budget: int) -> None:
        self._tree, self._target, self._graph, self._semiring = tree, tree.target, graph, semiring
        self._observer = RowObserver(graph, semiring)
        self._tables = LineTables(graph.tables_in(semiring), semiring.one)
        self._budget = budget

    def least_seconds(self, rows: int) -> float:
        """Time that no rows can be scheduled in less."""
        return len(self._tree.nodes) * (_SECONDS_A_NODE + _SECONDS_A_CODE * rows)

    def schedule(
        self, columns: Mapping[int, CodedColumn], rows: int, wanted: Mapping[int, Bools], start: int = 0
    ) -> SlicedBlock:
        """The next rows, as many as may be computed together, with all their slices found."""
        stop = min(start + _ROWS, rows)
        while True:
            observed = self._observer.observe(columns, np.arange(start, stop), wanted)
            passes = self._prepare(columns, observed)
            if passes.bytes_sent <= self._budget or stop - start == 1:
                break
            stop = start + (stop - start) // 2
        groups, entries = passes.count_work()
        seconds = _SECONDS_A_SLICE * groups + _SECONDS_AN_ENTRY * entries
        seconds = (1 if self._target is not None else 4) * seconds + self.least_seconds(stop - start)
        return SlicedBlock(slice(start, stop), observed, passes, seconds * rows / (stop - start))

    def run_blocks(
        self, columns: Mapping[int, CodedColumn], rows: int, wanted: Mapping[int, Bools], first: SlicedBlock
    ) -> Iterator[RowBlock]:
        """Blocks of rows, the tables (wanted rows of the block, states) of every wanted variable, the values of rows."""
        block = first
        while True:
            yield self._run_block(block, wanted)
            if block.rows.stop == rows:
                break
            block = self.schedule(columns, rows, wanted, block.rows.stop)

    def _run_block(self, block: SlicedBlock, wanted: Collection[int]) -> RowBlock:
        observed, semiring = block.observed, self._semiring
        total = self._observer.combine_precise(observed)
        with np.errstate(divide="ignore", invalid="ignore"):
            answer = block.passes.collect(total)
            if self._target is not None and answer is not None:
                return block.rows, {self._target: answer}, total
            tables = {v: np.full((len(total), self._graph.sizes[v]), semiring.zero) for v in wanted}
            for v, table in tables.items():
                (precise,) = np.nonzero(~observed.is_open[v])
                table[precise, observed.states[v, precise]] = semiring.one
            block.passes.distribute([v for v in tables if observed.wanted[v].any()], tables)
        return block.rows, {v: table[observed.wanted[v]] for v, table in tables.items()}, total

    def _prepare(self, columns: Mapping[int, CodedColumn], observed: ObservedRows) -> SlicePasses:
        is_open = self._observer.find_relevant(observed)
        vectors = {}
        for v, column in columns.items():
            if ((column.cell_sizes != 1) & ~column.is_whole).any():
                vectors[v] = to_semiring(np.ascontiguousarray(column.degrees.T), self._semiring)
        passes = SlicePasses(self._tree, self._tables, vectors, observed, is_open, self._semiring)
        passes.schedule()
        return passes


@dataclass(frozen=True, slots=True)
class SlicedBlock:
    """Some rows with their slices found, and the time that as many as all rows are estimated to take."""

    rows: slice
    observed: ObservedRows
    passes: SlicePasses
    seconds: float

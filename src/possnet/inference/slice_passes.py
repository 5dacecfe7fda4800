"""Both passes of a junction tree of slices for some rows; see `possnet.inference.sliced_rows`."""

from __future__ import annotations

from contextlib import nullcontext
from itertools import pairwise
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from possnet.inference.code_columns import mix_codes, number_combinations
from possnet.inference.elimination_steps import run_steps
from possnet.inference.row_passes import rows_at_a_time
from possnet.inference.shared_columns import KeptMemory, SharedTable, order_for_sharing, run_sharing_steps, share_codes
from possnet.inference.slice_layout import bits_of, open_variables
from possnet.inference.slice_messages import (
    AnswerTables,
    AskedColumns,
    NodeWork,
    PatternSlices,
    ReceivedMessages,
    SliceMessages,
)
from possnet.threads import cores, in_order

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from possnet.aliases import Bools, Floats, Ints
    from possnet.inference.code_columns import CodeColumn
    from possnet.inference.observed_rows import ObservedRows
    from possnet.inference.semirings import Semiring
    from possnet.inference.slice_layout import Pattern, SliceLayout, SliceTree
    from possnet.inference.slice_messages import LineTables

_FEW_PATTERNS = 16  # that are not worth merging
_FEWER = 2  # times as few patterns are worth a product with 1
_LARGE = 1 << 20  # entries of all rows; below, what rows share is not looked for
_LONG_AXIS = 16  # entries along which a table of its own is computed as fast as those of many rows
_WORTH_THREADS = 1 << 23  # entries of all rows; below, threads take longer to start than they save
_THREADS = 2  # more wait for memory
_SMALL = 1 << 14  # entries of all rows; below, steps of an elimination cost more than they save


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
        self._works: dict[int, NodeWork] = {}
        self._sent: dict[int, SliceMessages] = {}
        self._memory = KeptMemory()
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
        return 8 * sum(
            width * self._count_entries(number, bits)
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

    def _schedule_node(self, number: int) -> NodeWork | None:
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
    ) -> NodeWork:
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
            groups.append(PatternSlices(name, begin, end, column))
        if widths:
            sent = [np.zeros(self._n_rows, dtype=np.int64) for _ in range(2)]
            sent[0][rows], sent[1][rows] = bits[keys], columns[keys]
            self._sent[number] = SliceMessages(sent[0], sent[1], widths, {})
        return NodeWork(rows, keys, codes, groups, count, *about)

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
                self._allocate(sent, number)
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

    def _allocate(self, messages: SliceMessages, number: int) -> None:
        for bits, width in messages.widths.items():
            messages.tables[bits] = np.empty((self._count_entries(number, bits), width))
            messages.tables[bits][:, 0] = self._semiring.one

    def _eliminate(self, number: int, work: NodeWork, group: PatternSlices) -> Iterator[tuple[int, int, Floats]]:
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
            result = run_sharing_steps(steps, shared, layout.shape, self._semiring, self._memory)
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
            message = _take_columns(self._sent[child].tables[bits], next(left))
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

    def _combine_joint(self, work: NodeWork, group: PatternSlices, layout: SliceLayout) -> Floats:
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
        above: dict[int, SliceMessages] = {}
        for number in reversed(self._works):
            if needed[number]:
                below = [k for k in self._works[number].children if needed[k]]
                self._believe(number, above, below, {v: tables[v] for v in asked.get(number, ())})

    def _believe(
        self, number: int, above: dict[int, SliceMessages], below: list[int], tables: Mapping[int, Floats]
    ) -> None:
        """The beliefs of a node: marginals of its variables, and what the nodes below need to know of it.

        That is the belief projected on a child's separator; what the child itself sent is taken out again there.
        """
        work, semiring = self._works[number], self._semiring
        received = self._receive(number, above.pop(number, None))
        if self._tree.nodes[number].is_joint:
            above.update(dict.fromkeys(below, self._believe_joint(number, received)))  # all of them need the same
            return
        marginals = {v: np.empty((self._tree.sizes[v], len(received.columns))) for v in tables}
        answers = {k: AnswerTables(len(received.columns)) for k in below}
        asked = [self._prepare_answers(number, group, received, answers) for group in work.groups]
        for k, answer in answers.items():
            answer.allocate({bits: self._count_entries(k, bits) for bits in answer.widths})
        pieces, entries = [], 0
        for group, asking in zip(work.groups, asked, strict=True):
            layout = self._tree.lay_out(number, group.pattern, work.vectors, work.children)
            start, stop = received.find(group)
            most = rows_at_a_time(layout.entries)
            pieces += [
                (group, asking, layout, slice(begin, min(begin + most, stop))) for begin in range(start, stop, most)
            ]
            entries += layout.entries * (stop - start)

        threads = 1 if entries < _WORTH_THREADS else min(cores(), _THREADS)

        def project_piece(piece: tuple[PatternSlices, dict[int, AskedColumns], SliceLayout, slice]) -> None:
            group, asking, layout, chosen = piece
            # the caller's settings are not those of a thread
            with np.errstate(divide="ignore", invalid="ignore") if threads > 1 else nullcontext():
                belief = self._believe_piece(number, group, layout, received, chosen)
            held = [v for v in marginals if v in layout.variables]
            scopes = [(v,) for v in held] + [ask.scope for ask in asking.values()]
            reduced = layout.project_on(tuple(scopes)).project_rows(belief, semiring)
            for v, marginal in zip(held, reduced, strict=False):
                marginals[v][:, chosen] = marginal
            for (child, ask), message in zip(asking.items(), reduced[len(held) :], strict=True):
                ask.fill(answers[child].tables, message, chosen.start)

        for _ in in_order(project_piece, pieces, threads):
            pass
        for v, marginal in marginals.items():
            (opened,) = np.nonzero(self._is_open[v, work.rows])
            tables[v][work.rows[opened]] = marginal[:, received.keys[opened]].T
        for k, answer in answers.items():
            if answer.widths:
                above[k] = answer.join(work.rows, received.keys, self._n_rows)

    def _believe_piece(
        self, number: int, group: PatternSlices, layout: SliceLayout, received: ReceivedMessages, chosen: slice
    ) -> Floats:
        """The belief of a node as tables of all open variables, for some combinations of one pattern."""
        work, width = self._works[number], chosen.stop - chosen.start
        codes = [work.codes[part][received.combinations[chosen]] for part in layout.parts]
        if layout.entries * width > _SMALL:
            codes = [_shorten(column) for column in codes]
        parts = self._take_parts(layout, codes, is_merged=work.is_merged)
        if group.pattern[0] in received.tables:
            message = self._divide(number, group, received, chosen)
            parts.append(message.reshape(*(1,) * layout.eliminated, *layout.kept, -1))
        belief = self._combine(parts, layout)
        return belief if belief.shape[-1] == width else np.broadcast_to(belief, (*belief.shape[:-1], width))

    def _receive(self, number: int, messages: SliceMessages | None) -> ReceivedMessages:
        """The combinations of a node's own and of the columns of what it received from above."""
        work = self._works[number]
        if messages is None:
            return ReceivedMessages(work.keys, np.arange(work.count), np.zeros(work.count, dtype=np.int64), {})
        columns = messages.columns[work.rows] * (self._sent[number].bits[work.rows] > 0)
        keys, first = number_combinations([(work.keys, work.count), (columns, messages.count)])
        return ReceivedMessages(keys, work.keys[first], columns[first], messages.tables)

    def _divide(self, number: int, group: PatternSlices, received: ReceivedMessages, chosen: slice) -> Floats:
        """What some combinations received, without what they sent themselves."""
        semiring, bits = self._semiring, group.pattern[0]
        message = _take_columns(received.tables[bits], received.columns[chosen])
        if semiring.divide is None:  # the minimum need not: it is idempotent
            return message
        own = received.combinations[chosen] + (group.column - group.begin)
        answer: Floats = semiring.divide(message, _take_columns(self._sent[number].tables[bits], own))
        np.fmax(answer, semiring.zero, out=answer)
        return answer

    def _believe_joint(self, number: int, received: ReceivedMessages) -> SliceMessages:
        """The belief of a joint, which is what all its children need to know."""
        work, semiring = self._works[number], self._semiring
        tables: dict[int, Floats] = {}
        bits = np.zeros(len(received.columns), dtype=np.int64)
        columns = np.zeros(len(received.columns), dtype=np.int64)
        for group in work.groups:
            layout = self._tree.lay_out(number, group.pattern, work.vectors, work.children)
            start, stop = received.find(group)
            table = self._combine_joint(work, group, layout)
            if group.pattern[0] in received.tables:
                table = table.take(received.combinations[start:stop] - group.begin, axis=1, mode="clip")
                semiring.combine(table, self._divide(number, group, received, slice(start, stop)), out=table)
            tables[group.pattern[0]] = table
            bits[start:stop], columns[start:stop] = group.pattern[0], np.arange(stop - start)
        sent = [np.zeros(self._n_rows, dtype=np.int64) for _ in range(2)]
        sent[0][work.rows], sent[1][work.rows] = bits[received.keys], columns[received.keys]
        return SliceMessages(sent[0], sent[1], {key: table.shape[1] for key, table in tables.items()}, tables)

    def _prepare_answers(
        self, number: int, group: PatternSlices, received: ReceivedMessages, answers: Mapping[int, AnswerTables]
    ) -> dict[int, AskedColumns]:
        """What children need to know of the slices of one pattern, with columns of its own for every combination."""
        work = self._works[number]
        layout = self._tree.lay_out(number, group.pattern, work.vectors, work.children)
        start, stop = received.find(group)
        asked = {}
        for part, child, bits, _, _ in layout.children:
            if child in answers:
                (some,) = np.nonzero(work.codes[part][received.combinations[start:stop]])  # others wait for no answer
                if len(some):
                    scope = tuple([v for v in self._tree.nodes[child].separator if v in layout.variables])
                    asked[child] = AskedColumns(bits, scope, start + some, answers[child].reserve(bits, start + some))
        return asked

    def _count_entries(self, number: int, bits: int) -> int:
        """Entries of a message over some of a node's separator."""
        return prod(self._tree.sizes[v] for v in open_variables(self._tree.nodes[number].separator, bits))


def _take_columns(table: Floats, columns: Ints) -> Floats:
    """Some columns of a table; many neighbours in their order are a view of it.

    >>> _take_columns(np.array([[1.0, 2.0, 3.0]]), np.array([1, 2])).tolist()
    [[2.0, 3.0]]
    """
    if table.shape[0] * len(columns) > _SMALL:  # else a copy is quicker than to look
        first, last = int(columns[0]), int(columns[-1])
        if last - first == len(columns) - 1 and (columns[1:] > columns[:-1]).all():
            return table[:, first : last + 1]
    return table.take(columns, axis=1, mode="clip")


def _shorten(codes: Ints) -> Ints:
    """The first of some codes alone where all are equal: a table of one column stands for many.

    >>> _shorten(np.array([2, 2])).tolist(), _shorten(np.array([2, 3])).tolist()
    ([2], [2, 3])
    """
    return codes if (codes != codes[0]).any() else codes[:1]

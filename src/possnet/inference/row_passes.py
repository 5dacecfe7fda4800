"""Both passes over a junction tree for many rows at once, which lie along the last axis of every table.

Every combination of codes that occurs at a clique is computed once (see `possnet.inference.row_schedule`). Messages may be
scaled row by row, for sums of products of any length: the E-step of EM.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

import numpy as np

from possnet.inference.elimination_steps import run_steps, schedule_elimination, schedule_merges
from possnet.inference.message_passing import Projection, share_projections

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from possnet.aliases import Floats, Ints
    from possnet.inference.message_passing import Part, Potential
    from possnet.inference.row_schedule import Combinations, RowSchedule
    from possnet.inference.semirings import Semiring

_PIECE_BYTES = 1 << 20  # tables that stay in the processor's cache: twice as fast as those of 32 MB
_WIDTH, _MOST_BYTES = 32, 1 << 24  # rows in a piece of a large table: numpy's inner loops run along them
_SMALL = 1 << 8  # entries; below, steps cost more than they save
_SCALE_EVERY = 8  # products of so many masses of EM are far from the smallest float


class RowPasses:
    """Both passes for the rows of a schedule.

    Parameters
    ----------
    potentials
        For every clique what is the same for all rows.
    tables
        For every factor a table (entries, codes), axes in elimination order.
    """

    def __init__(
        self, schedule: RowSchedule, potentials: Sequence[Potential], tables: Sequence[Floats], semiring: Semiring
    ) -> None:
        self.schedule, self._potentials, self._tables, self._semiring = schedule, potentials, tables, semiring
        self._messages: list[Floats] = []
        self._kept: list[Floats] = []
        self._buffer = np.empty(0)  # used again and again, so that it stays in the cache

    def collect(self, target: int | None = None) -> Floats:
        """The collect pass; returns the value of every row (rows, 1), or a table of the target, (rows, states).

        The value is a logarithm if messages are scaled. The target is among the variables of a root, and its table is all
        that is kept.
        """
        schedule, semiring = self.schedule, self._semiring
        plan, scaled = schedule.plan, schedule.scaled
        root = -1 if target is None else plan.root_of(target)
        total = np.full(
            (len(schedule.identity), 1 if target is None else plan.sizes[target]), 0.0 if scaled else semiring.one
        )
        for number, layout in enumerate(schedule.layouts):
            up, clique = schedule.up[number], plan.cliques[number]
            if not scaled and layout.entries > _SMALL and up.n_dense < len(up.order):
                kept = clique.separator if number != root else (target,)
                message = self._eliminate_residual(number, up, len(clique.variables) - len(kept))
                self._receive_message(number, message, total, target)
                continue
            projection = Projection(clique.shape, clique.separator if number != root else (target,), clique.variables)
            message = np.empty((layout.separator if number != root else total.shape[1], up.count))
            logs = np.zeros(up.count if scaled else 0)
            if scaled:
                self._kept.append(np.empty((layout.entries, up.count)))
            for chosen, table in self._fill_tables(
                number, up, self._potentials[number].table, self._clique_parts(number), logs
            ):
                message[:, chosen] = projection.project_rows(table, semiring)
                if scaled:
                    scale = message[:, chosen].sum(axis=0)
                    logs[chosen] += np.log(scale)
                    scale[scale == 0.0] = 1.0  # of a combination that does not occur
                    message[:, chosen] /= scale
                    np.divide(table.reshape(layout.entries, -1), scale, out=self._kept[number][:, chosen])
            if scaled:
                total[:, 0] += logs[up.keys]
            self._receive_message(number, message, total, target)
        return total

    def _receive_message(self, number: int, message: Floats, total: Floats, target: int | None) -> None:
        """Keep the message of a clique, drop those that it was made of if they are not needed, and add up the roots'."""
        schedule, up = self.schedule, self.schedule.up[number]
        self._messages.append(message)
        if target is not None:
            for child in schedule.layouts[number].children:
                self._messages[child] = message[:0]
        if schedule.layouts[number].parent < 0 and not schedule.scaled:
            values = message if up.keys is schedule.identity else message[:, up.keys]
            self._semiring.combine(total, values.T, out=total)

    def _eliminate_residual(self, number: int, up: Combinations, eliminated: int) -> Floats:
        """The message of a clique, (entries, combinations): its first axes leave, each with the parts that hold it."""
        shape, parts = self.schedule.layouts[number].shape, self._clique_parts(number)
        looked_up = [parts[part] for part in up.order[up.n_dense :]]
        members: list[Ints | None] = list(up.members[len(up.members) - len(looked_up) :])
        if up.n_dense:
            first = up.members[0] if len(up.members) > len(looked_up) else None
            looked_up.append((shape, self._combine_dense(number, up, self._potentials[number].table, parts)))
            members.append(first)
        else:
            looked_up += self._potentials[number].parts
            members += [None] * len(self._potentials[number].parts)
        steps = schedule_elimination([inside for inside, _ in looked_up], eliminated)
        kept = shape[eliminated:]
        message = np.empty((*kept, up.count))
        widest = max(prod(step.shape) for step in steps)
        most = min(rows_at_a_time(widest), up.count)
        if self._buffer.size < widest * most:
            self._buffer = np.empty(widest * most)
        for start in range(0, up.count, most):
            chosen = slice(start, min(start + most, up.count))
            values = []
            for (inside, value), member in zip(looked_up, members, strict=True):
                taken = value if member is None else _take_columns(value, member, chosen, self.schedule.identity)
                values.append(taken.reshape(*inside, -1))
            result = run_steps(steps, values, shape, self._semiring, self._buffer)
            message[..., chosen] = result.reshape(result.shape[eliminated:])
        return message.reshape(-1, up.count)

    def distribute(self, wanted: Collection[int], read: Callable[[int, slice, Floats], None]) -> None:
        """The distribute pass down to the wanted cliques, whose beliefs are read; after `collect`.

        ``read`` gets a clique's number, some of its combinations (see `RowSchedule.belief_combinations`) and their
        beliefs, which have the axes of the clique and then these combinations, and are good until it returns.
        """
        schedule, semiring = self.schedule, self._semiring
        needed = [number in wanted for number in range(len(schedule.layouts))]
        for number, layout in enumerate(schedule.layouts):
            needed[number] = needed[number] or any(needed[child] for child in layout.children)
        above: dict[int, Floats] = {}
        for number in range(len(needed) - 1, -1, -1):
            if not needed[number]:
                continue
            combinations, senders = schedule.belief_combinations(number)
            clique = schedule.plan.cliques[number]
            children = [k for k in clique.children if needed[k]]
            separators = tuple([schedule.plan.cliques[k].separator for k in children])
            shared = share_projections(clique.shape, clique.variables, separators)
            for k in children:
                above[k] = np.empty((schedule.layouts[k].separator, combinations.count))
            base = self._kept[number] if schedule.scaled else self._potentials[number].table
            parts = [] if schedule.scaled else self._clique_parts(number)
            if number in above:
                parts.append((schedule.shapes[number][-1], above.pop(number)))
            for chosen, belief in self._fill_tables(number, combinations, base, parts):
                if number in wanted:
                    read(number, chosen, belief)
                reduced = shared.project_rows(belief, semiring)
                for k, projected in zip(children, reduced, strict=True):
                    message = projected
                    if semiring.divide is not None:  # the minimum need not: it is idempotent
                        sent = np.take(self._messages[k], senders[k][chosen], axis=1, mode="clip")
                        message = np.fmax(semiring.divide(projected, sent), semiring.zero)
                    above[k][:, chosen] = message

    def read_marginals(self, asked: Mapping[int, Ints]) -> dict[int, Floats]:
        """Distribute, and the unnormalised marginals (asked rows, states) of the variables asked for; after `collect`."""
        plan, schedule = self.schedule.plan, self.schedule
        reads: dict[int, list[tuple[Floats, Projection]]] = {}
        marginals: dict[int, Floats] = {}
        for v in asked:
            clique, (combinations, _) = plan.cliques[plan.home[v]], schedule.belief_combinations(plan.home[v])
            marginals[v] = np.empty((plan.sizes[v], combinations.count))
            projection = Projection(clique.shape, (v,), clique.variables)
            reads.setdefault(plan.home[v], []).append((marginals[v], projection))

        def read(number: int, chosen: slice, belief: Floats) -> None:
            for marginal, projection in reads[number]:
                marginal[:, chosen] = projection.project_rows(belief, self._semiring)

        self.distribute(reads, read)
        return {
            v: marginals[v][:, schedule.belief_combinations(plan.home[v])[0].keys[rows]].T for v, rows in asked.items()
        }

    def _clique_parts(self, number: int) -> list[Part]:
        """What a clique combines on the way up: the tables of its factors, and its children's messages."""
        schedule = self.schedule
        values = [self._tables[f] for f in schedule.factors[number]]
        values += [self._messages[k] for k in schedule.layouts[number].children]
        return list(zip(schedule.shapes[number], values, strict=False))

    def _combine_dense(self, number: int, combinations: Combinations, base: Floats, parts: list[Part]) -> Floats:
        """A table combined with the parts of few codes, for all of these, whether they occur or not."""
        layout = self.schedule.layouts[number]
        for part in combinations.order[: combinations.n_dense]:
            inside, values = parts[part]
            both = self._semiring.combine(base.reshape(*layout.shape, -1, 1), values.reshape(*inside, 1, -1))
            base = both.reshape(layout.entries, -1)
        return base

    def _fill_tables(
        self, number: int, combinations: Combinations, base: Floats, parts: list[Part], logs: Floats | None = None
    ) -> Iterator[tuple[slice, Floats]]:
        """A clique's tables, some combinations at a time along the last axis; each is good until the next.

        A long product of parts is scaled on its way, and what it was scaled by added to the logarithms.
        """
        shape, entries = self.schedule.layouts[number].shape, self.schedule.layouts[number].entries
        semiring, identity = self._semiring, self.schedule.identity
        dense = self._combine_dense(number, combinations, base, parts)
        looked_up = [parts[part] for part in combinations.order[combinations.n_dense :]]
        members = combinations.members[len(combinations.members) - len(looked_up) :]
        most = rows_at_a_time(entries)
        is_long = logs is not None and len(logs) > 0 and len(looked_up) > _SCALE_EVERY
        together = _SCALE_EVERY if is_long else max(len(looked_up), 1)
        shapes, merges, rest = [inside for inside, _ in looked_up], [], []
        for begin in range(0, len(looked_up), together):
            merged, left = schedule_merges(shapes, range(begin, min(begin + together, len(looked_up))))
            merges += merged
            rest += left
        for start in range(0, combinations.count, most):
            chosen = slice(start, min(start + most, combinations.count))
            if not looked_up:
                yield chosen, dense[:, chosen].reshape(*shape, -1)
                continue
            width = chosen.stop - start
            if self._buffer.size < entries * width:
                self._buffer = np.empty(entries * width)
            buffer = self._buffer[: entries * width].reshape(entries, width)
            table = dense
            if len(combinations.members) > len(looked_up):
                table = _take_columns(dense, combinations.members[0], chosen, identity, buffer)
            pieces = []
            for (inside, values), member in zip(looked_up, members, strict=True):
                pieces.append(_take_columns(values, member, chosen, identity).reshape(*inside, width))
            for first, second in merges:
                pieces.append(semiring.combine(pieces[first], pieces[second]))
            table = table.reshape(*shape, -1)
            for count, part in enumerate(rest, start=1):
                table = semiring.combine(table, pieces[part], out=buffer.reshape(*shape, width))
                if logs is not None and is_long and count < len(rest):
                    peak = table.reshape(entries, width).max(axis=0)
                    peak[peak == 0.0] = 1.0
                    logs[chosen] += np.log(peak)
                    table /= peak
            yield chosen, table


def rows_at_a_time(entries: int) -> int:
    """How many tables of some entries are worked on together."""
    return max(_PIECE_BYTES // (8 * entries), min(_WIDTH, _MOST_BYTES // (8 * entries)), 1)


def _take_columns(table: Floats, member: Ints, chosen: slice, identity: Ints, out: Floats | None = None) -> Floats:
    """Columns of a table; all numbers are in range: "clip" only spares numpy a check."""
    return table[:, chosen] if member is identity else np.take(table, member[chosen], axis=1, mode="clip", out=out)

"""Message passing on a junction tree, for any semiring: what a single piece of evidence, rows of evidence and EM share.

In the *collect* pass every clique combines its potentials with the messages of its children; projected on the separator
that is its message to the parent. In the *distribute* pass a clique's *belief* is its table combined with the message
from above; projected on a child's separator and divided by what the child sent (the minimum need not: it is idempotent)
that is the message to the child (Shenoy and Shafer 1990; Lauritzen and Spiegelhalter 1988).

Axes of every table are in elimination order, so that a message upward is a reduction over the leading axes, and an axis of
rows may follow as the last one. `possnet.inference.junction_tree` runs the passes for one piece of evidence, without it.
`RowMessagePassing` runs them for many rows at once. A message depends only on the evidence in its part of the tree, and
rows that agree there share it: at every clique the combinations of codes that occur in the rows are numbered, and each is
computed once. The numbers depend on the rows alone, so that EM, whose tables change with every step, finds them only once.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from possnet.kernels.grouping import group_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from possnet.aliases import Floats, Ints
    from possnet.inference.plan import Clique, Plan
    from possnet.inference.semirings import Semiring

    Part: TypeAlias = tuple[tuple[int, ...], Floats]
    """A table, and its shape among the axes of a clique."""

_SMALL = 1 << 9  # cells; below, one call of numpy costs more than the work in it
_PIECE_BYTES = 1 << 20  # tables that stay in the processor's cache: twice as fast as those of 32 MB
_DENSE = 1 << 15  # cells of a table for all combinations, occurring or not
_SCALE_EVERY = 8  # products of so many masses of EM are far from the smallest float


class Projection:
    """How to reduce a table of some shape to some of its axes; rows may follow as one more axis.

    A small table is reduced over all dropped axes in one call. A large one goes step by step, (outer, dropped, inner) sizes
    each, outermost first: long runs of whole slices are what numpy does best.
    """

    __slots__ = ("_steps", "axes", "shape")

    def __init__(self, shape: tuple[int, ...], kept: Collection[int | None], variables: Sequence[int]) -> None:
        self.shape = shape
        self.axes = tuple([axis for axis, v in enumerate(variables) if v not in kept])
        self._steps: list[tuple[int, int, int]] | None = None

    def plan_steps(self) -> list[tuple[int, int, int]]:
        """Steps over runs of neighbouring dropped axes, worked out when first asked for."""
        if self._steps is None:
            self._steps = []
            outer, run, inner = 1, 1, prod(self.shape)
            for axis, size in enumerate(self.shape):
                inner //= size
                if axis in self.axes:
                    run *= size
                    continue
                if run > 1:
                    self._steps.append((outer, run, inner * size))
                outer, run = outer * size, 1
            if run > 1:
                self._steps.append((outer, run, inner))
        return self._steps

    def __call__(self, table: Floats, semiring: Semiring) -> Floats:
        """The reduced table of one piece of evidence, flat if it was large."""
        if table.size <= _SMALL:
            small: Floats = semiring.project.reduce(table.reshape(self.shape), axis=self.axes)
            return small
        for outer, dropped, inner in self.plan_steps():
            cube = table.reshape(outer, dropped, inner)
            if inner >= 16 or dropped > 24:
                table = semiring.project.reduce(cube, axis=1)
            else:  # short runs: a few passes over whole slices beat many reductions of a few numbers
                table = semiring.project(cube[:, 0, :], cube[:, 1, :])
                for k in range(2, dropped):
                    semiring.project(table, cube[:, k, :], out=table)
        return table

    def project_rows(self, table: Floats, semiring: Semiring) -> Floats:
        """The reduced tables of some rows, which are the last axis, as (cells, rows)."""
        width = table.shape[-1]
        for outer, dropped, inner in self.plan_steps():
            table = semiring.project.reduce(table.reshape(outer, dropped, inner * width), axis=1)
        return table.reshape(-1, width)


class CliqueLayout:
    """Sizes and shapes of a clique's tables and messages."""

    __slots__ = ("cells", "children", "inside_parent", "parent", "residual", "separator", "shape", "to_separator")

    def __init__(self, plan: Plan, clique: Clique) -> None:
        self.shape, self.parent, self.children = clique.shape, clique.parent, clique.children
        self.residual = prod(clique.shape[: clique.residual])
        self.separator = prod(clique.shape[clique.residual :])
        self.cells = self.residual * self.separator
        self.inside_parent: tuple[int, ...] = ()
        self.to_separator: Projection | None = None
        if clique.parent >= 0:
            above = plan.cliques[clique.parent]
            self.inside_parent = shape_in_clique(above, clique.separator)
            self.to_separator = Projection(above.shape, clique.separator, above.variables)


def shape_in_clique(clique: Clique, scope: Collection[int]) -> tuple[int, ...]:
    """Shape of a table over some variables among the axes of a clique."""
    return tuple([size if v in scope else 1 for v, size in zip(clique.variables, clique.shape, strict=True)])


def order_axes(plan: Plan, scope: Sequence[int], table: Floats) -> Floats:
    """A table over a scope with its axes in elimination order; further axes stay behind."""
    order = sorted(range(len(scope)), key=lambda k: plan.position[scope[k]])
    return table.transpose(*order, *range(len(scope), table.ndim))


def factor_parts(plan: Plan, number: int, scopes: Sequence[Sequence[int]], tables: Sequence[Floats]) -> list[Part]:
    """The factors of a clique, shaped for it."""
    clique = plan.cliques[number]
    parts = []
    for factor in clique.factors:
        scope = scopes[factor]
        shape = shape_in_clique(clique, scope)
        table = order_axes(plan, scope, tables[factor]) if len(scope) > 1 else tables[factor]
        parts.append((shape, table.reshape(shape)))
    return parts


def merge_parts(parts: list[Part], semiring: Semiring, cells: int) -> list[Part]:
    """Parts combined with each other as long as the result stays far below the clique's size."""
    if cells <= _SMALL:
        return parts
    limit = max(cells // 8, 1)
    while len(parts) > 1:
        parts.sort(key=lambda part: part[1].size)
        (shape, table), rest = parts[0], parts[1:]
        unions = [prod(map(max, shape, other)) for other, _ in rest]
        nearest = min(range(len(rest)), key=unions.__getitem__)
        if unions[nearest] > max(limit, rest[nearest][1].size):
            break
        union = semiring.combine(table, rest[nearest][1])
        parts = [(union.shape, union), *(part for k, part in enumerate(rest) if k != nearest)]
    return parts


def combine_parts(parts: list[Part], shape: tuple[int, ...], semiring: Semiring) -> Floats:
    """Combination of parts, each shaped for the clique, as a full table; few of the passes are full ones."""
    shaped = [(inside, table.reshape(inside)) for inside, table in parts]
    cells = prod(shape)
    if len(shaped) > 2 and cells > _SMALL:
        shaped = merge_parts(shaped, semiring, cells)
        shaped.sort(key=lambda part: -part[1].size)
    if not shaped:
        return np.full(shape, semiring.one)
    table = shaped[0][1]
    owned = False
    for _, other in shaped[1:]:
        if owned and table.shape == shape:
            semiring.combine(table, other, out=table)
        else:
            table = semiring.combine(table, other)
            owned = True
    if table.shape != shape:
        table = np.broadcast_to(table, shape)
    return np.ascontiguousarray(table)


@dataclass(slots=True)
class Combinations:
    """Which combinations of its parts' codes occur in the rows at a clique.

    ``keys`` is the number of every row's combination. The first ``n_dense`` parts in ``order`` are combined for all of
    their codes; ``members`` are, for these together and for every other part, the codes in each combination.
    """

    keys: Ints
    count: int
    order: list[int]
    n_dense: int
    members: list[Ints]


class RowSchedule:
    """The combinations that occur at every clique: found once for some rows, good for any tables and semiring.

    A row has chosen one column of every factor's table by a code.

    Parameters
    ----------
    scopes, codes, n_codes
        Of every factor: its variables, the code of every row, and the number of codes.
    scaled
        Whether the passes scale every row's messages, for sums of products of any length; the tables of the collect pass
        are then kept, and the distribute pass need not combine them again.
    """

    def __init__(
        self,
        plan: Plan,
        layouts: Sequence[CliqueLayout],
        scopes: Sequence[Sequence[int]],
        codes: Sequence[Ints],
        n_codes: Sequence[int],
        rows: int,
        *,
        scaled: bool = False,
    ) -> None:
        self.plan, self.layouts, self.scaled = plan, layouts, scaled
        self.identity = np.arange(rows)
        self.factors: list[list[int]] = [[] for _ in layouts]
        for factor, scope in enumerate(scopes):
            self.factors[plan.home[min(scope, key=plan.position.__getitem__)]].append(factor)
        self.shapes: list[
            list[tuple[int, ...]]
        ] = []  # of what every clique combines: factors, messages, that from above
        self._coded: list[list[tuple[int, Ints]]] = []  # the same: number of codes, and every row's
        self.up: list[Combinations] = []
        self._down: dict[int, tuple[Combinations, dict[int, Ints]]] = {}
        for number, clique in enumerate(plan.cliques):
            own, messages = self.factors[number], [self.up[k] for k in clique.children]
            inside = [shape_in_clique(clique, scopes[f]) for f in own] + [
                layouts[k].inside_parent for k in clique.children
            ]
            self.shapes.append([*inside, shape_in_clique(clique, clique.separator)])
            self._coded.append([(n_codes[f], codes[f]) for f in own] + [(up.count, up.keys) for up in messages])
            self.up.append(self._combine_codes(number, 1, None, self._coded[number]))

    def _combine_codes(
        self, number: int, count: int, codes: Ints | None, parts: list[tuple[int, Ints]]
    ) -> Combinations:
        """Number the combinations of a table of ``count`` columns, chosen by codes, with some parts.

        What has few codes is combined for all of them, whether they occur or not; what has many is looked up for the
        combinations that occur.
        """
        order = sorted(range(len(parts)), key=lambda k: parts[k][0])
        n_dense = 0
        for part in order:
            size, own = parts[part]
            if self.layouts[number].cells * count * size > _DENSE or count * size > 4 * len(self.identity):
                break
            codes = own if codes is None else codes * size + own
            count *= size
            n_dense += 1
        columns = [] if codes is None else [(count, codes)]
        keys, members = _number_rows([*columns, *(parts[part] for part in order[n_dense:])], self.identity)
        return Combinations(keys, len(members[0]) if members else 1, order, n_dense, members)

    def belief_combinations(self, number: int) -> tuple[Combinations, dict[int, Ints]]:
        """The combinations of a clique's belief, and for every child the combination of its message in each of them."""
        if number not in self._down:
            layout, up = self.layouts[number], self.up[number]
            above = [self.belief_combinations(layout.parent)[0]] if layout.parent >= 0 else []
            parts = [(combinations.count, combinations.keys) for combinations in above]
            if self.scaled:
                combinations = self._combine_codes(number, up.count, up.keys, parts)
            else:
                combinations = self._combine_codes(number, 1, None, self._coded[number] + parts)
            senders = {k: self.number_in(combinations, self.up[k].keys) for k in layout.children}
            self._down[number] = combinations, senders
        return self._down[number]

    def number_in(self, combinations: Combinations, codes: Ints) -> Ints:
        """A code of every row as one of every combination, which determines it."""
        if combinations.keys is self.identity:
            return codes
        numbers = np.zeros(combinations.count, dtype=np.int64)
        numbers[combinations.keys] = codes
        return numbers

    def sum_rows(self, combinations: Combinations, weights: Floats) -> Floats:
        """The sum of the rows' weights in every combination."""
        if combinations.keys is self.identity:
            return weights
        sums: Floats = np.bincount(combinations.keys, weights, minlength=combinations.count)  # type: ignore[assignment]
        return sums


class RowPasses:
    """Both passes for the rows of a schedule.

    Parameters
    ----------
    potentials
        Of every clique, the same for all rows: (cells, 1).
    tables
        Of every factor: (cells, codes), axes in elimination order.
    """

    def __init__(
        self, schedule: RowSchedule, potentials: Sequence[Floats], tables: Sequence[Floats], semiring: Semiring
    ) -> None:
        self.schedule, self._potentials, self._tables, self._semiring = schedule, potentials, tables, semiring
        self._messages: list[Floats] = []
        self._kept: list[Floats] = []
        self._buffer = np.empty(0)  # used again and again, so that it stays in the cache

    def collect(self, target: int | None = None) -> Floats:
        """Messages up to the roots; the value of every row (rows, 1), or a table of the target, (rows, states).

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
            projection = Projection(clique.shape, clique.separator if number != root else (target,), clique.variables)
            message = np.empty((layout.separator if number != root else total.shape[1], up.count))
            logs = np.zeros(up.count if scaled else 0)
            if scaled:
                self._kept.append(np.empty((layout.cells, up.count)))
            for chosen, table in self._fill_tables(
                number, up, self._potentials[number], self._clique_parts(number), logs
            ):
                message[:, chosen] = projection.project_rows(table, semiring)
                if scaled:
                    scale = message[:, chosen].sum(axis=0)
                    logs[chosen] += np.log(scale)
                    scale[scale == 0.0] = 1.0  # of a combination that does not occur
                    message[:, chosen] /= scale
                    np.divide(table.reshape(layout.cells, -1), scale, out=self._kept[number][:, chosen])
            self._messages.append(message)
            if target is not None:
                for child in layout.children:
                    self._messages[child] = message[:0]
            if scaled:
                total[:, 0] += logs[up.keys]
            elif layout.parent < 0:
                values = message if up.keys is schedule.identity else message[:, up.keys]
                total = semiring.combine(total, values.T)
        return total

    def distribute(self, wanted: Collection[int], read: Callable[[int, slice, Floats], None]) -> None:
        """Messages down to the wanted cliques, whose beliefs are read; after `collect`.

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
            children = [k for k in schedule.layouts[number].children if needed[k]]
            for k in children:
                above[k] = np.empty((schedule.layouts[k].separator, combinations.count))
            base = self._kept[number] if schedule.scaled else self._potentials[number]
            parts = [] if schedule.scaled else self._clique_parts(number)
            if number in above:
                parts.append((schedule.shapes[number][-1], above.pop(number)))
            for chosen, belief in self._fill_tables(number, combinations, base, parts):
                if number in wanted:
                    read(number, chosen, belief)
                for k in children:
                    projection = schedule.layouts[k].to_separator
                    projected = projection.project_rows(belief, semiring)  # type: ignore[union-attr]
                    if semiring.divide is not None:  # the minimum need not: it is idempotent
                        sent = np.take(self._messages[k], senders[k][chosen], axis=1, mode="clip")
                        projected = np.fmax(semiring.divide(projected, sent), semiring.zero)
                    above[k][:, chosen] = projected

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

    def _fill_tables(
        self, number: int, combinations: Combinations, base: Floats, parts: list[Part], logs: Floats | None = None
    ) -> Iterator[tuple[slice, Floats]]:
        """A clique's tables, some combinations at a time along the last axis; each is good until the next.

        A long product of parts is scaled on its way, and what it was scaled by added to the logarithms.
        """
        shape, cells = self.schedule.layouts[number].shape, self.schedule.layouts[number].cells
        semiring, identity = self._semiring, self.schedule.identity
        dense = base
        for part in combinations.order[: combinations.n_dense]:
            inside, values = parts[part]
            both = semiring.combine(dense.reshape(*shape, -1, 1), values.reshape(*inside, 1, -1))
            dense = both.reshape(cells, -1)
        looked_up = [parts[part] for part in combinations.order[combinations.n_dense :]]
        members = combinations.members[len(combinations.members) - len(looked_up) :]
        most = max(_PIECE_BYTES // (8 * cells), 1)
        for start in range(0, combinations.count, most):
            chosen = slice(start, min(start + most, combinations.count))
            if not looked_up:
                yield chosen, dense[:, chosen].reshape(*shape, -1)
                continue
            width = chosen.stop - start
            if self._buffer.size < cells * width:
                self._buffer = np.empty(cells * width)
            buffer = self._buffer[: cells * width].reshape(cells, width)
            table = dense
            if len(combinations.members) > len(looked_up):
                table = _take_columns(dense, combinations.members[0], chosen, identity, buffer)
            pieces = []
            for (inside, values), member in zip(looked_up, members, strict=True):
                taken = _take_columns(values, member, chosen, identity)
                pieces.append(((*inside, width), taken.reshape(*inside, width)))
            table = table.reshape(*shape, -1)
            for count, (_, piece) in enumerate(merge_parts(pieces, semiring, cells * width), start=1):
                table = semiring.combine(table, piece, out=buffer.reshape(*shape, width))
                if logs is not None and len(logs) and count % _SCALE_EVERY == 0:
                    peak = table.reshape(cells, width).max(axis=0)
                    peak[peak == 0.0] = 1.0
                    logs[chosen] += np.log(peak)
                    table /= peak
            yield chosen, table


def _take_columns(table: Floats, member: Ints, chosen: slice, identity: Ints, out: Floats | None = None) -> Floats:
    """Columns of a table; all numbers are in range: "clip" only spares numpy a check."""
    return table[:, chosen] if member is identity else np.take(table, member[chosen], axis=1, mode="clip", out=out)


def _number_rows(parts: list[tuple[int, Ints]], identity: Ints) -> tuple[Ints, list[Ints]]:
    """Number a row for the combination of its codes, and, for every part, its code in each combination.

    Parts are pairs (number of codes, code of every row). ``identity`` holds the row numbers, and stands for itself
    wherever every row is a combination of its own.
    """
    if len(parts) <= 1:
        size, keys = parts[0] if parts else (0, np.zeros(len(identity), dtype=np.int64))
        return keys, [identity if keys is identity else np.arange(size)] * len(parts)
    codes = [own for _, own in parts]
    groups = None
    if not any(own is identity for own in codes):
        # where nearly every row is a combination of its own, each may as well be one
        groups = group_rows(codes, [size for size, _ in parts], len(identity), most=3 * len(identity) // 4)
    if groups is None:
        return identity, codes
    return groups.inverse, list(np.ascontiguousarray(groups.combinations.T, dtype=np.int64))

"""Message passing on a junction tree, for any semiring: what a single piece of evidence, rows of evidence and EM share.

In the *collect* pass every clique combines its potentials with the messages of its children; projected on the separator
that is its message to the parent. In the *distribute* pass a clique's *belief* is its table combined with the message
from above; projected on a child's separator and divided by what the child sent (the minimum need not: it is idempotent)
that is the message to the child (Shenoy and Shafer 1990; Lauritzen and Spiegelhalter 1988).

Axes of every table are in elimination order, so that a message upward is a reduction over the leading axes, and an axis of
rows may follow as the last one. `possnet.inference.junction_tree` runs the passes for one piece of evidence, without that
axis; `possnet.inference.row_passes` runs them for many rows at once, for questions and for the E-step of EM.
"""

from __future__ import annotations

from functools import lru_cache
from math import prod
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from possnet.aliases import Floats
    from possnet.inference.plan import Clique, Plan
    from possnet.inference.semirings import Semiring

    Part: TypeAlias = tuple[tuple[int, ...], Floats]
    """A table, and its shape among the axes of a clique."""

_KEPT_PROJECTIONS = 1 << 12
_SMALL = 1 << 9  # entries; below, one call of numpy costs more than the work in it


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
            steps: list[tuple[int, int, int]] = []
            outer, run, inner = 1, 1, prod(self.shape)
            for axis, size in enumerate(self.shape):
                inner //= size
                if axis in self.axes:
                    run *= size
                    continue
                if run > 1:
                    steps.append((outer, run, inner * size))
                outer, run = outer * size, 1
            if run > 1:
                steps.append((outer, run, inner))
            self._steps = steps  # whole at once: another thread may ask meanwhile
        return self._steps

    def __call__(self, table: Floats, semiring: Semiring) -> Floats:
        """The reduced table of one piece of evidence, flat if it was large; never a view of the table itself."""
        if not self.axes:
            return table.copy()
        if table.size <= _SMALL:
            small: Floats = semiring.project.reduce(table.reshape(self.shape), axis=self.axes)
            return small
        steps = self.plan_steps()
        if not steps:  # all dropped axes have length 1
            return table.copy()
        for outer, dropped, inner in steps:
            cube = table.reshape(outer, dropped, inner)
            if inner >= 16 or dropped > 24:
                table = semiring.project.reduce(cube, axis=1)
            else:  # short runs: a few passes over whole slices beat many reductions of a few numbers
                table = semiring.project(cube[:, 0, :], cube[:, 1, :])
                for k in range(2, dropped):
                    semiring.project(table, cube[:, k, :], out=table)
        return table

    def project_rows(self, table: Floats, semiring: Semiring) -> Floats:
        """The reduced tables of some rows, which are the last axis, as (entries, rows)."""
        width = table.shape[-1]
        for outer, dropped, inner in self.plan_steps():
            table = semiring.project.reduce(table.reshape(outer, dropped, inner * width), axis=1)
        return table.reshape(-1, width)


class SharedProjections:
    """How to reduce a table to each of several scopes: each from the smallest of those before that holds it.

    A belief is needed once for each child, on separators that often have much in common. What all of them have is
    projected on first, where that is smaller: a large table is then read once, and not for each.
    """

    __slots__ = ("_places", "_steps")

    def __init__(
        self,
        shape: tuple[int, ...],
        variables: tuple[int, ...],
        scopes: Sequence[tuple[int, ...]],
        *,
        for_rows: bool = True,
    ) -> None:
        self._steps: list[tuple[int, Projection]] = []  # of which reduced table, or -1: of the table itself
        if len(scopes) < 2 or (not for_rows and prod(shape) <= _SMALL):  # of a small table there is nothing to save
            self._places = list(range(len(scopes)))
            self._steps = [(-1, Projection(shape, scope, variables)) for scope in scopes]
            return
        size = dict(zip(variables, shape, strict=True))
        asked = [tuple([v for v in variables if v in scope]) for scope in scopes]
        needed = set(asked)
        union = tuple([v for v in variables if any(v in scope for scope in needed)])
        if len(needed) > 1 and 2 * prod([size[v] for v in union]) <= prod(shape):
            needed.add(union)
        order = sorted(needed, key=lambda scope: (-prod([size[v] for v in scope]), -len(scope), scope))
        self._places = [order.index(scope) for scope in asked]
        for step, kept in enumerate(order):
            holding = [k for k in range(step) if set(kept) <= set(order[k])]
            source = holding[-1] if holding else -1  # the smallest: they become ever smaller
            axes = variables if source < 0 else order[source]
            self._steps.append((source, Projection(tuple([size[v] for v in axes]), kept, axes)))

    def __call__(self, table: Floats, semiring: Semiring) -> list[Floats]:
        """The reduced tables of one piece of evidence, scope by scope, each as `Projection` returns it."""
        reduced: list[Floats] = []
        for source, projection in self._steps:
            reduced.append(projection(table if source < 0 else reduced[source], semiring))
        return [reduced[place] for place in self._places]

    def project_rows(self, table: Floats, semiring: Semiring) -> list[Floats]:
        """The reduced tables (entries, rows), scope by scope, with axes in the order of the table's own."""
        reduced: list[Floats] = []
        for source, projection in self._steps:
            reduced.append(projection.project_rows(table if source < 0 else reduced[source], semiring))
        return [reduced[place] for place in self._places]


@lru_cache(maxsize=_KEPT_PROJECTIONS)
def share_projections(
    shape: tuple[int, ...], variables: tuple[int, ...], scopes: tuple[tuple[int, ...], ...]
) -> SharedProjections:
    """The projections of a table with some axes, kept for the next table of the same."""
    return SharedProjections(shape, variables, scopes)


class Potential:
    """What a clique combines whatever the evidence is: parts, each shaped for it, and their combination as a table."""

    __slots__ = ("_layout", "_semiring", "_table", "parts")

    def __init__(self, parts: list[Part], layout: CliqueLayout, semiring: Semiring) -> None:
        self.parts, self._layout, self._semiring = parts, layout, semiring
        self._table: Floats | None = None

    @property
    def table(self) -> Floats:
        """The combination, (entries, 1), made when first asked for."""
        if self._table is None:
            layout = self._layout
            self._table = combine_parts(self.parts, layout.shape, layout.entries, self._semiring).reshape(-1, 1)
        return self._table


class CliqueLayout:
    """Sizes and shapes of a clique's tables and messages."""

    __slots__ = (
        "children",
        "entries",
        "inside_parent",
        "parent",
        "residual",
        "separator",
        "separator_shape",
        "shape",
    )

    def __init__(self, plan: Plan, clique: Clique) -> None:
        self.shape, self.parent, self.children = clique.shape, clique.parent, clique.children
        self.residual = prod(clique.shape[: clique.residual])
        self.separator = prod(clique.shape[clique.residual :])
        self.entries = self.residual * self.separator
        self.separator_shape = (1,) * clique.residual + clique.shape[clique.residual :]
        self.inside_parent: tuple[int, ...] = ()
        if clique.parent >= 0:
            self.inside_parent = shape_in_clique(plan.cliques[clique.parent], clique.separator)


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


def merge_parts(parts: list[Part], semiring: Semiring, entries: int) -> list[Part]:
    """Parts combined with each other as long as the result stays far below the clique's size."""
    if entries <= _SMALL or len(parts) < 2:
        return parts
    limit = max(entries // 8, 1)
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


def combine_parts(
    parts: list[Part], shape: tuple[int, ...], entries: int, semiring: Semiring, buffer: Floats | None = None
) -> Floats:
    """Combination of parts, each shaped for the clique, as a full table; few of the passes are full ones.

    A large table may be written into a buffer, which stays in the processor's cache when it is used again and again.
    """
    if entries <= _SMALL:
        return _combine_small(parts, shape, semiring)
    if len(parts) > 2:
        parts = merge_parts(parts, semiring, entries)
        parts.sort(key=lambda part: -part[1].size)
    if len(parts) == 1 and parts[0][0] == shape:
        return np.ascontiguousarray(parts[0][1])
    table: Floats = np.empty(shape) if buffer is None else buffer[:entries].reshape(shape)
    if len(parts) < 2:
        table[...] = parts[0][1] if parts else semiring.one
        return table
    semiring.combine(parts[0][1], parts[1][1], out=table)
    for _, other in parts[2:]:
        semiring.combine(table, other, out=table)
    return table


def _combine_small(parts: list[Part], shape: tuple[int, ...], semiring: Semiring) -> Floats:
    if not parts:
        return np.full(shape, semiring.one)
    table = parts[0][1]
    for _, other in parts[1:]:
        table = semiring.combine(table, other)
    return table if table.shape == shape else np.broadcast_to(table, shape)

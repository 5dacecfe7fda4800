"""How the tables of a junction tree are cut for rows of evidence: trees of slices, and the layout of each pattern.

A row that observes some variables of a clique needs one state of each of them: a *slice* of every table. What shape it has
is told by a row's *pattern* at the clique, a tuple of bits: which variables of the separator are open, which of each
family (0: the family is of no account), whether a vector of degrees comes in, and which of each child's separator (0: the
child sends nothing). All of it follows from the sizes and scopes, and is kept for networks of equal structure.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from math import prod
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from possnet.inference.elimination_steps import EliminationStep, schedule_elimination
from possnet.inference.message_passing import SharedProjections
from possnet.inference.plan import make_plan

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from possnet.aliases import Ints
    from possnet.inference.plan import Plan

Pattern: TypeAlias = tuple[int, ...]

_KEPT = 32  # trees that are kept, each with this many layouts
_KEPT_LAYOUTS = 1 << 14
_ROWS = 64  # as which the axis of rows counts when steps are chosen


@dataclass(frozen=True, slots=True)
class SliceNode:
    """A clique of the tree, or a *joint*: the separator of several children, whose messages are combined there once.

    Variables are in elimination order; the first ``residual`` of them are eliminated here, which are none in a joint.
    """

    variables: tuple[int, ...]
    residual: int
    children: tuple[int, ...]
    factors: tuple[int, ...]

    @property
    def separator(self) -> tuple[int, ...]:
        """Variables shared with the node above."""
        return self.variables[self.residual :]

    @property
    def is_joint(self) -> bool:
        """Whether it has nothing of its own."""
        return not self.residual and not self.factors


@dataclass(slots=True)
class SliceLayout:
    """The slices of one pattern at a node.

    Attributes
    ----------
    variables
        The open variables, which are the axes of the slices: first those that are eliminated.
    families
        (part, family, shape, offsets (entries, 1) into its flat table).
    vectors, children
        (part, variable, shape), and (part, child, its open variables as bits, shape, how its axes are turned or None).
    """

    variables: tuple[int, ...]
    shape: tuple[int, ...]
    eliminated: int
    families: list[tuple[int, int, tuple[int, ...], Ints]] = field(default_factory=list)
    vectors: list[tuple[int, int, tuple[int, ...]]] = field(default_factory=list)
    children: list[tuple[int, int, int, tuple[int, ...], tuple[tuple[int, ...], tuple[int, ...]] | None]] = field(
        default_factory=list
    )
    _steps: dict[tuple[bool, ...], list[EliminationStep]] = field(default_factory=dict)
    _projections: dict[tuple[tuple[int, ...], ...], SharedProjections] = field(default_factory=dict)

    @property
    def entries(self) -> int:
        """Entries of the slice of a table over all open variables."""
        return prod(self.shape)

    @property
    def kept(self) -> tuple[int, ...]:
        """Shape of what is left when the first axes are eliminated."""
        return self.shape[self.eliminated :]

    @property
    def parts(self) -> list[int]:
        """The parts that are combined, in the order of `steps`."""
        return [
            *(part[0] for part in self.families),
            *(part[0] for part in self.vectors),
            *(part[0] for part in self.children),
        ]

    def steps(self, varies: tuple[bool, ...]) -> list[EliminationStep]:
        """Steps of an elimination in which some parts differ from row to row and others do not."""
        if varies not in self._steps:
            parts = [part[2] for part in self.families] + [part[2] for part in self.vectors]
            parts += [part[3] for part in self.children]
            shapes = [(*shape, _ROWS if moves else 1) for shape, moves in zip(parts, varies, strict=True)]
            self._steps[varies] = schedule_elimination(shapes, self.eliminated)
        return self._steps[varies]

    def project_on(self, scopes: tuple[tuple[int, ...], ...]) -> SharedProjections:
        """The projections of a table of all open variables on each of some scopes."""
        if scopes not in self._projections:
            self._projections[scopes] = SharedProjections(self.shape, self.variables, scopes)
        return self._projections[scopes]


class SliceTree:
    """A junction tree whose tables will be slices.

    Parameters
    ----------
    dropped
        Variables (as bits) that are open in no row.
    target
        The only variable that will be asked for, which is eliminated last; or None.
    """

    def __init__(
        self, sizes: tuple[int, ...], scopes: tuple[tuple[int, ...], ...], dropped: int, target: int | None
    ) -> None:
        last = 0 if target is None else 1 << target
        kept = [scope if not dropped >> scope[-1] & 1 else () for scope in scopes]
        plan = make_plan(sizes, kept, dropped=dropped, last=last)
        self.sizes, self.scopes, self.target, self.plan = sizes, scopes, target, plan
        self.nodes, self.home = _join_children(plan)
        self.root = -1 if target is None else self.home[plan.cliques[plan.root_of(target)].variables[0]]
        self.strides = [_row_major(scope, sizes) for scope in scopes]
        self._layouts: dict[tuple[int, Pattern, tuple[int, ...]], SliceLayout] = {}

    def lay_out(self, number: int, pattern: Pattern, vectors: tuple[int, ...], children: Sequence[int]) -> SliceLayout:
        """The layout of a pattern; ``vectors`` are the variables, ``children`` the nodes, that its bits are about."""
        key = number, pattern, (*vectors, -1, *children)
        layout = self._layouts.get(key)
        if layout is None:
            if len(self._layouts) >= _KEPT_LAYOUTS:
                self._layouts.clear()
            layout = self._layouts[key] = self._make_layout(number, pattern, vectors, children)
        return layout

    def _make_layout(
        self, number: int, pattern: Pattern, vectors: tuple[int, ...], children: Sequence[int]
    ) -> SliceLayout:
        node, sizes = self.nodes[number], self.sizes
        bits = iter(pattern)
        separator = open_variables(node.separator, next(bits))
        scopes = [open_variables(self.scopes[f], next(bits)) for f in node.factors]
        scopes += [(v,) if next(bits) else () for v in vectors]
        messages = [open_variables(self.nodes[k].separator, next(bits)) for k in children]
        held = set(separator).union(*scopes, *messages)
        residual = [v for v in node.variables[: node.residual] if v in held and v != self.target]
        if self.target is not None and len(residual) > 1:  # a table of all is not asked for: the order is free
            residual = self._order_residual(residual, [set(scope) for scope in (*scopes, *messages)])
        eliminated = len(residual)
        opened = (*residual, *(v for v in node.variables if v in held and v not in residual))
        layout = SliceLayout(opened, tuple([sizes[v] for v in opened]), eliminated)

        def shape_of(scope: tuple[int, ...]) -> tuple[int, ...]:
            return tuple([sizes[v] if v in scope else 1 for v in opened])

        for part, (f, scope) in enumerate(zip(node.factors, scopes, strict=False)):
            if scope:
                offsets = np.zeros(1, dtype=np.int64)
                for v in opened:
                    if v in scope:
                        steps = np.arange(sizes[v]) * self.strides[f][v]
                        offsets = (offsets[:, np.newaxis] + steps).reshape(-1)
                layout.families.append((part, f, shape_of(scope), offsets[:, np.newaxis]))
        for part, v in enumerate(vectors, start=len(node.factors)):
            if scopes[part]:
                layout.vectors.append((part, v, shape_of((v,))))
        for part, (k, scope) in enumerate(zip(children, messages, strict=True), start=len(scopes)):
            if scope:
                order = [scope.index(v) for v in opened if v in scope]
                turn = None if order == sorted(order) else (tuple([sizes[v] for v in scope]), tuple(order))
                layout.children.append((part, k, pattern[1 + part], shape_of(scope), turn))
        return layout

    def _order_residual(self, residual: list[int], scopes: list[set[int]]) -> list[int]:
        """The variables, each time that whose parts have the smallest union."""
        order, left = [], list(residual)
        while left:
            unions = [set().union(*(scope for scope in scopes if v in scope)) for v in left]
            prices = [prod([self.sizes[v] for v in union]) for union in unions]
            cheapest = min(range(len(left)), key=prices.__getitem__)
            v = left.pop(cheapest)
            order.append(v)
            scopes = [scope for scope in scopes if v not in scope] + [unions[cheapest] - {v}]
        return order


def bits_of(variables: Sequence[int], opened: Iterable[int]) -> int:
    """Which of some variables are open, as bits.

    >>> bits_of((4, 7, 9), {4, 9})
    5
    """
    return sum(1 << place for place, v in enumerate(variables) if v in opened)


def open_variables(variables: Sequence[int], bits: int) -> tuple[int, ...]:
    """The variables whose bits are set, the first one's first.

    >>> open_variables((4, 7, 9), 5)
    (4, 9)
    """
    return tuple([v for place, v in enumerate(variables) if bits >> place & 1])


def _row_major(scope: Sequence[int], sizes: Sequence[int]) -> dict[int, int]:
    """By how much a state more of every variable moves in a flat table.

    >>> _row_major((1, 0), (2, 3))
    {0: 1, 1: 2}
    """
    strides, stride = {}, 1
    for v in reversed(scope):
        strides[v] = stride
        stride *= sizes[v]
    return strides


def _join_children(plan: Plan) -> tuple[list[SliceNode], list[int]]:
    """The cliques of a plan, children of equal separator under a joint; and the node that eliminates each variable."""
    nodes: list[SliceNode] = []
    numbers: list[int] = []
    for clique in plan.cliques:
        sharing: dict[tuple[int, ...], list[int]] = {}
        for child in clique.children:
            sharing.setdefault(plan.cliques[child].separator, []).append(numbers[child])
        children = []
        for separator, members in sharing.items():
            if len(members) > 1:
                nodes.append(SliceNode(separator, 0, tuple(members), ()))
                children.append(len(nodes) - 1)
            else:
                children += members
        numbers.append(len(nodes))
        nodes.append(SliceNode(clique.variables, clique.residual, tuple(children), tuple(clique.factors)))
    return nodes, [numbers[home] if home >= 0 else -1 for home in plan.home]


@lru_cache(maxsize=_KEPT)
def tree_of_structure(
    sizes: tuple[int, ...], scopes: tuple[tuple[int, ...], ...], dropped: int, target: int | None
) -> SliceTree:
    """The tree of some families, kept for the next ones of the same structure."""
    return SliceTree(sizes, scopes, dropped, target)

"""Running a plan: messages up a junction tree, messages down again, and marginals read off where they are cheapest.

Every clique keeps the combination of its factors, its evidence and the messages of its children. A message upward
projects that table on the separator. On the way down a clique's *belief* is its table combined with the message from
above; projecting the belief on a child's separator and dividing by what the child said (not needed for the minimum,
which is idempotent) gives the message to the child. Beliefs live only while they are used.

All shapes, axes and sources are worked out once, when the tree is compiled; the two passes make no decisions.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from possnet.aliases import Floats
    from possnet.inference.plan import Clique, Plan
    from possnet.inference.semirings import Semiring

    Part: TypeAlias = tuple[tuple[int, ...], Floats]

_SMALL = 1 << 9


class Projection:
    """How to reduce a table of some shape to some of its axes.

    A small table is reduced over all dropped axes in one call. A large one goes step by step, (outer, dropped, inner) sizes
    each, outermost first: long runs of whole slices are what numpy does best.
    """

    __slots__ = ("axes", "shape", "steps")

    def __init__(self, shape: tuple[int, ...], dropped: tuple[int, ...], cells: int) -> None:
        self.shape, self.axes = shape, dropped
        self.steps: list[tuple[int, int, int]] | None = None if cells <= _SMALL else _steps(shape, dropped)

    def __call__(self, table: Floats, semiring: Semiring) -> Floats:
        """The reduced table, flat if it was large."""
        if self.steps is None:
            small: Floats = semiring.project.reduce(table.reshape(self.shape), axis=self.axes)
            return small
        for outer, dropped, inner in self.steps:
            cube = table.reshape(outer, dropped, inner)
            if inner >= 16 or dropped > 24:
                table = semiring.project.reduce(cube, axis=1)
            else:  # short runs: a few passes over whole slices beat many reductions of a few numbers
                table = semiring.project(cube[:, 0, :], cube[:, 1, :])
                for k in range(2, dropped):
                    semiring.project(table, cube[:, k, :], out=table)
        return table


def _steps(shape: tuple[int, ...], dropped: tuple[int, ...]) -> list[tuple[int, int, int]]:
    """Steps over runs of neighbouring dropped axes."""
    steps: list[tuple[int, int, int]] = []
    outer, run = 1, 1
    inner = prod(shape)
    gone = set(dropped)
    for axis, size in enumerate(shape):
        inner //= size
        if axis in gone:
            run *= size
            continue
        if run > 1:
            steps.append((outer, run, inner * size))
        outer, run = outer * size, 1
    if run > 1:
        steps.append((outer, run, inner))
    return steps


class _Node:
    """A compiled clique."""

    __slots__ = ("cells", "children", "inside_parent", "parent", "reads", "residual", "separator", "shape", "to_parent")

    def __init__(self, plan: Plan, clique: Clique) -> None:
        self.shape = clique.shape
        self.residual = prod(clique.shape[: clique.residual])
        self.separator = prod(clique.shape[clique.residual :])
        self.cells = self.residual * self.separator
        self.parent, self.children = clique.parent, clique.children
        self.reads: list[tuple[int, Projection]] = []
        self.inside_parent: tuple[int, ...] = ()
        self.to_parent: Projection | None = None
        if clique.parent >= 0:
            above = plan.cliques[clique.parent]
            members = clique.variables[clique.residual :]
            pairs = [(size, v in members) for v, size in zip(above.variables, above.shape, strict=True)]
            self.inside_parent = tuple([size if kept else 1 for size, kept in pairs])
            dropped = tuple([axis for axis, (_, kept) in enumerate(pairs) if not kept])
            self.to_parent = Projection(above.shape, dropped, prod(above.shape))


class JunctionTree:
    """A plan with tables and an semiring: the state of inference under some evidence.

    Parameters
    ----------
    scopes, tables
        Factors: an axis for every variable of the scope, in the order of the scope.
    """

    def __init__(
        self, plan: Plan, scopes: Sequence[Sequence[int]], tables: Sequence[Floats], semiring: Semiring
    ) -> None:
        self.plan, self.semiring = plan, semiring
        self._nodes = [_Node(plan, clique) for clique in plan.cliques]
        self._potentials = [self._potential(k, scopes, tables) for k in range(len(plan.cliques))]
        self._evidence: dict[int, Floats] = {}
        self._tables: list[Floats | None] = [None] * len(self._nodes)
        self._up: list[Floats | None] = [None] * len(self._nodes)
        self._stale = set(range(len(self._nodes)))
        self._reads_planned = False

    def _potential(self, number: int, scopes: Sequence[Sequence[int]], tables: Sequence[Floats]) -> list[Part]:
        """Factors of a clique, shaped for it; combined beforehand where their union is small."""
        clique = self.plan.cliques[number]
        place = self.plan.position.__getitem__
        factors = []
        for factor in clique.factors:
            scope, table = scopes[factor], tables[factor]
            if len(scope) > 1:
                places = [place(v) for v in scope]
                order = sorted(range(len(places)), key=places.__getitem__)
                table = table.transpose(order)
            shape = tuple([size if v in scope else 1 for v, size in zip(clique.variables, clique.shape, strict=True)])
            factors.append((shape, table.reshape(shape)))
        return factors if len(factors) < 2 else merge_parts(factors, self.semiring, self._nodes[number].cells)

    def set_evidence(self, evidence: Mapping[int, Floats]) -> None:
        """Degrees for the states of some variables; what they do not touch is kept."""
        changed = {
            v
            for v in evidence.keys() | self._evidence.keys()
            if v not in evidence or v not in self._evidence or not np.array_equal(evidence[v], self._evidence[v])
        }
        self._evidence = dict(evidence)
        for variable in changed:
            node = self.plan.home[variable]
            while node >= 0 and node not in self._stale:
                self._stale.add(node)
                node = self._nodes[node].parent

    def collect(self, *, keep: bool = True) -> float:
        """Messages up to the roots; the combined value of everything (a degree, a sum, a logarithm)."""
        semiring = self.semiring
        observed: dict[int, list[int]] = {}
        for variable in self._evidence:
            observed.setdefault(self.plan.home[variable], []).append(variable)
        total = semiring.one
        for number, node in enumerate(self._nodes):
            if number in self._stale:
                parts = list(self._potentials[number])
                parts += [(self._nodes[k].inside_parent, self._up[k]) for k in node.children]  # type: ignore[misc]
                for v in observed.get(number, ()):
                    variables = self.plan.cliques[number].variables
                    parts.append((tuple(len(self._evidence[v]) if u == v else 1 for u in variables), self._evidence[v]))
                table = _combined(parts, node.shape, semiring)
                self._up[number] = _reduced(table.reshape(node.residual, node.separator), semiring)
                self._tables[number] = table if keep or node.parent < 0 else None
                if not keep:
                    for child in node.children:
                        self._up[child] = None
            if node.parent < 0:
                total = semiring.combine(total, self._up[number][0])  # type: ignore[index]
        self._stale = set() if keep else set(range(len(self._nodes)))
        return float(total)

    def table(self, number: int) -> Floats:
        """Table of a clique after `collect`: its factors, evidence and all below it. Only roots are there if not kept."""
        table = self._tables[number]
        assert table is not None  # noqa: S101
        return table

    def root_value(self, number: int) -> float:
        """Value of a component, after `collect`."""
        message = self._up[number]
        assert message is not None  # noqa: S101
        return float(message[0])

    def shape_inside_parent(self, number: int) -> tuple[int, ...]:
        """Shape of a clique's message among the axes of its parent."""
        return self._nodes[number].inside_parent

    def _descend(self) -> Iterator[tuple[int, Floats, list[tuple[int, Floats]]]]:
        """Every clique's belief, parents first, and what it says on the separators of its children; after `collect`."""
        semiring = self.semiring
        down: list[Floats | None] = [None] * len(self._nodes)
        for number in range(len(self._nodes) - 1, -1, -1):
            node = self._nodes[number]
            belief = self.table(number)
            if down[number] is not None:
                belief = semiring.combine(belief.reshape(node.residual, node.separator), down[number])
                down[number] = None
            said = [(child, self._above(child, belief)) for child in node.children]
            yield number, belief, said
            for child, above in said:
                down[child] = self._message_down(child, above)

    def beliefs(self) -> Iterator[tuple[int, Floats]]:
        """Every clique's belief, parents first, each good until the next is asked for; after `collect`."""
        for number, belief, _ in self._descend():
            yield number, belief

    def factor_marginals(self, scopes: Sequence[Sequence[int]]) -> Iterator[tuple[int, Floats]]:
        """Every factor's number and the joint marginal of its variables, in the order of its scope; after `collect`."""
        if not self._reads_planned:
            self._plan_reads()
        rest = self._rest()
        for number, belief in self.beliefs():
            clique = self.plan.cliques[number]
            for factor in clique.factors:
                scope = scopes[factor]
                inside = [v for v in clique.variables if v in scope]
                dropped = tuple([axis for axis, v in enumerate(clique.variables) if v not in scope])
                small = Projection(clique.shape, dropped, self._nodes[number].cells)(belief, self.semiring)
                joint = small.reshape([self.plan.sizes[v] for v in inside]).transpose([inside.index(v) for v in scope])
                yield factor, np.array(self.semiring.combine(joint, rest[self._component[number]]), order="C")

    def _rest(self) -> dict[int, float]:
        """For every root the combined value of all other components."""
        roots = [k for k, node in enumerate(self._nodes) if node.parent < 0]
        return dict(zip(roots, _combination_of_others([self.root_value(k) for k in roots], self.semiring), strict=True))

    def _above(self, child: int, belief: Floats) -> Floats:
        """A parent's belief on the separator of a child."""
        projection = self._nodes[child].to_parent
        assert projection is not None  # noqa: S101
        return projection(belief, self.semiring)

    def _message_down(self, child: int, above: Floats) -> Floats:
        """What a child has not said itself."""
        if self.semiring.divide is None:
            return above.reshape(-1)
        message: Floats = np.fmax(self.semiring.divide(above.reshape(-1), self._up[child]), self.semiring.zero)
        return message

    def distribute(self) -> list[Floats]:
        """Messages down, and the marginal of every variable (unnormalised, in the order of the variables; after `collect`).

        Variables that are not in the plan have an empty marginal.
        """
        if not self._reads_planned:
            self._plan_reads()
        found: list[Floats] = [_NOTHING] * len(self.plan.sizes)
        for number, belief, said in self._descend():
            for variable, projection in self._nodes[number].reads:
                found[variable] = projection(belief, self.semiring)
            for child, above in said:
                for variable, projection in self._separator_reads.get(child, ()):
                    found[variable] = projection(above, self.semiring)
        return self._others(found)

    def _others(self, found: list[Floats]) -> list[Floats]:
        """Every component's marginals, combined with the values of the other components."""
        rest = self._rest()
        if len(rest) == 1:
            return found
        component = self._component
        return [
            self.semiring.combine(table, rest[component[self.plan.home[v]]]) if table.size else table
            for v, table in enumerate(found)
        ]

    def _plan_reads(self) -> None:
        """For every variable the smallest table that holds it: a separator, or its own clique."""
        best: dict[int, tuple[int, int]] = {}
        for number, node in enumerate(self._nodes):
            if node.parent >= 0:
                for variable in self.plan.cliques[number].separator:
                    if variable not in best or node.separator < best[variable][0]:
                        best[variable] = (node.separator, number)
        self._separator_reads: dict[int, list[tuple[int, Projection]]] = {}
        self._component = list(range(len(self._nodes)))
        for number in range(len(self._nodes) - 1, -1, -1):
            node = self._nodes[number]
            if node.parent >= 0:
                self._component[number] = self._component[node.parent]
        for variable, number in enumerate(self.plan.home):
            if number < 0:
                continue
            if variable in best:
                source = best[variable][1]
                separator = self.plan.cliques[source].separator
                shape = tuple([self.plan.sizes[v] for v in separator])
                dropped = tuple([axis for axis, v in enumerate(separator) if v != variable])
                projection = Projection(shape, dropped, best[variable][0])
                self._separator_reads.setdefault(source, []).append((variable, projection))
            else:
                clique = self.plan.cliques[number]
                dropped = tuple([axis for axis, v in enumerate(clique.variables) if v != variable])
                projection = Projection(clique.shape, dropped, self._nodes[number].cells)
                self._nodes[number].reads.append((variable, projection))
        self._reads_planned = True


_NOTHING: Floats = np.zeros(0)


def _reduced(table: Floats, semiring: Semiring) -> Floats:
    reduced: Floats = semiring.project.reduce(table, axis=0)
    return reduced


def merge_parts(factors: list[Part], semiring: Semiring, cells: int) -> list[Part]:
    """Factors combined with each other as long as the result stays far below the clique's size."""
    if cells <= _SMALL:
        return factors
    limit = max(cells // 8, 1)
    while len(factors) > 1:
        factors.sort(key=lambda factor: factor[1].size)
        (shape, table), rest = factors[0], factors[1:]
        unions = [prod(map(max, shape, other)) for other, _ in rest]
        nearest = min(range(len(rest)), key=unions.__getitem__)
        if unions[nearest] > max(limit, rest[nearest][1].size):
            break
        joined = semiring.combine(table, rest[nearest][1])
        factors = [(joined.shape, joined), *(f for k, f in enumerate(rest) if k != nearest)]
    return factors


def _combined(parts: list[Part], shape: tuple[int, ...], semiring: Semiring) -> Floats:
    """Combination of factors, each shaped for the clique, as a full table; few of the passes are full ones."""
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


def _combination_of_others(values: list[float], semiring: Semiring) -> list[float]:
    """For every value the combination of all the others, without division."""
    before = [semiring.one]
    for value in values[:-1]:
        before.append(float(semiring.combine(before[-1], value)))
    after = [semiring.one]
    for value in values[:0:-1]:
        after.append(float(semiring.combine(after[-1], value)))
    return [float(semiring.combine(a, b)) for a, b in zip(before, reversed(after), strict=True)]

"""What the passes over a junction tree need to know besides numbers: shapes, axes, and where marginals are read.

All of it follows from the sizes of the variables and the scopes of the factors. Engines of networks of equal structure
share it, as learning, evaluating and editing make many of them (`layout_of_structure`).
"""

from __future__ import annotations

from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

import numpy as np

from possnet.inference.message_passing import CliqueLayout, Projection, SharedProjections, shape_in_clique
from possnet.inference.plan import Plan, make_plan

if TYPE_CHECKING:
    from collections.abc import Sequence

    from possnet.aliases import Floats
    from possnet.inference.message_passing import Part

_KEPT = 32  # structures whose layouts are kept


class TreeLayout:
    """A plan, and for every clique and factor the shapes of its tables."""

    def __init__(self, plan: Plan, scopes: Sequence[Sequence[int]]) -> None:
        self.plan, self._scopes = plan, scopes
        self.cliques = [CliqueLayout(plan, clique) for clique in plan.cliques]

    @cached_property
    def _factor_axes(self) -> list[tuple[tuple[int, ...] | None, tuple[int, ...]]]:
        """Of every factor the order of its axes in its clique (None if it has it already), and its shape there."""
        position = self.plan.position
        axes: list[tuple[tuple[int, ...] | None, tuple[int, ...]]] = [(None, ())] * len(self._scopes)
        for clique in self.plan.cliques:
            for factor in clique.factors:
                scope = self._scopes[factor]
                order = tuple(sorted(range(len(scope)), key=lambda k, scope=scope: position[scope[k]]))  # type: ignore[misc]
                ordered = None if order == tuple(range(len(scope))) else order
                axes[factor] = ordered, shape_in_clique(clique, scope)
        return axes

    @cached_property
    def to_separators(self) -> list[SharedProjections]:
        """Of every clique the projections of its belief on its children's separators."""
        cliques = self.plan.cliques
        return [
            SharedProjections(
                clique.shape, clique.variables, [cliques[k].separator for k in clique.children], for_rows=False
            )
            for clique in cliques
        ]

    @cached_property
    def home_of_factor(self) -> dict[int, int]:
        """The clique of every factor."""
        return {factor: number for number, clique in enumerate(self.plan.cliques) for factor in clique.factors}

    def factor_parts(self, number: int, tables: Sequence[Floats]) -> list[Part]:
        """The factors of a clique, shaped for it."""
        parts = []
        for factor in self.plan.cliques[number].factors:
            order, shape = self._factor_axes[factor]
            table = tables[factor] if order is None else np.ascontiguousarray(tables[factor].transpose(order))
            parts.append((shape, table.reshape(shape)))
        return parts

    def unit_cliques(self, normalised: Sequence[bool]) -> frozenset[int]:
        """Cliques whose messages are 1 everywhere as long as no evidence lies in them or below.

        ``normalised`` says of every factor whether projecting it on all but the last variable of its scope gives 1
        everywhere, as tables of degrees that peak at 1 and of probabilities do. If the factors of a clique and of all
        below it are the families of just the variables that are eliminated there, then eliminating these, children
        first, gives 1 for every value of the separator.
        """
        if all(normalised):
            return self._units_if_normalised
        return self._find_units([k for k, is_so in enumerate(normalised) if not is_so])

    @cached_property
    def _units_if_normalised(self) -> frozenset[int]:
        return self._find_units(())

    def _find_units(self, others: Sequence[int]) -> frozenset[int]:
        eliminated, described = [0] * len(self.cliques), [0] * len(self.cliques)
        units = set()
        for number, clique in enumerate(self.plan.cliques):
            for v in clique.variables[: clique.residual]:
                eliminated[number] |= 1 << v
            for factor in clique.factors:
                if factor in others:
                    eliminated[number] |= 1 << len(self.plan.sizes)  # a bit that nothing describes
                described[number] |= 1 << self._scopes[factor][-1]
            if eliminated[number] == described[number]:
                units.add(number)
            if clique.parent >= 0:
                eliminated[clique.parent] |= eliminated[number]
                described[clique.parent] |= described[number]
        return frozenset(units)

    @cached_property
    def reads(self) -> MarginalReads:
        """Where the marginals of all variables are read."""
        return MarginalReads(self.plan, self.cliques)


class MarginalReads:
    """For every variable the smallest table that holds it: a separator, or the clique that eliminates it."""

    def __init__(self, plan: Plan, layouts: Sequence[CliqueLayout]) -> None:
        self.of_cliques: list[list[tuple[int, Projection]]] = [[] for _ in layouts]
        self.of_separators: list[list[tuple[int, Projection]]] = [[] for _ in layouts]
        smallest: dict[int, int] = {}
        for number, layout in enumerate(layouts):
            for variable in plan.cliques[number].separator:
                if variable not in smallest or layout.separator < layouts[smallest[variable]].separator:
                    smallest[variable] = number
        for variable, home in enumerate(plan.home):
            if variable in smallest:
                scope = plan.cliques[smallest[variable]].separator
                projection = Projection(tuple([plan.sizes[v] for v in scope]), (variable,), scope)
                self.of_separators[smallest[variable]].append((variable, projection))
            elif home >= 0:
                clique = plan.cliques[home]
                self.of_cliques[home].append((variable, Projection(clique.shape, (variable,), clique.variables)))


@lru_cache(maxsize=_KEPT)
def layout_of_structure(sizes: tuple[int, ...], scopes: tuple[tuple[int, ...], ...], dropped: int = 0) -> TreeLayout:
    """The layout of some factors, kept for the next ones of the same structure; ``dropped`` as in `make_plan`."""
    return TreeLayout(make_plan(sizes, scopes, dropped=dropped), scopes)

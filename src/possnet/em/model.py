"""The model of EM as factors: which hidden states each family's factor joins, and which parts of the model never meet.

Model of a row d, with a hidden state w_i in every cell:

    P(d) = sum over w in d of  prod_i m_i(d_i | w_parents(i)) / |d_i|.

Only variables that are parents of something have a hidden state that matters (*active* ones). The factor of a family is a
function of its parents' hidden states; of an active variable with missing cells, of its own hidden state too: there the
factor of a missing cell is the pignistic probability sum_A m_i(A | .) [w_i in A] / |A|. Families with one parent leave the
hidden states apart, so that every parent is a *component* of its own; families with several join them.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from possnet.inference import Plan, make_plan
from possnet.limits import refuse_over

if TYPE_CHECKING:
    from collections.abc import Iterable

    from possnet.aliases import Bools, Floats
    from possnet.em.observed import Observed
    from possnet.graph import Dag


T = TypeVar("T")


def joined(sets: Iterable[set[T]]) -> list[set[T]]:
    """Sets put together that have a member in common; empty ones are left out.

    >>> joined([{1}, {2}, set(), {3, 1}])
    [{2}, {1, 3}]
    """
    groups: list[set[T]] = []
    for members in sets:
        if members:
            meeting = [group for group in groups if group & members]
            groups = [group for group in groups if not group & members]
            groups.append(members.union(*meeting))
    return groups


@dataclass(frozen=True, slots=True)
class Family:
    """One variable's masses: sizes of its parents, its cells, and whether its own hidden state takes part."""

    name: str
    parents: tuple[str, ...]
    shape: tuple[int, ...]
    cells: Bools
    wide: bool
    has_missing: bool

    @property
    def contexts(self) -> int:
        """Number of configurations of the parents."""
        return prod(self.shape)

    def factor_table(self, masses: Floats) -> Floats:
        """The factor of every cell, shape (hidden configurations, cells and, if there are any, the missing cell)."""
        states = self.cells.shape[1]
        if not self.wide:
            return np.column_stack([masses, np.ones(len(masses))]) if self.has_missing else masses
        inside = self.cells.T[np.newaxis]  # (1, states, cells)
        known = masses[:, np.newaxis, :] * inside
        pignistic = (masses / self.cells.sum(axis=1)) @ self.cells
        return np.concatenate([known, pignistic[:, :, np.newaxis]], axis=2).reshape(self.contexts * states, -1)

    def expected_cells(self, sums: Floats, masses: Floats) -> Floats:
        """Expected number of rows for every context and cell, from the posterior sums of the factor's entries.

        The share of a missing cell that falls to a cell A is m(A | a) / |A| times the sum over its states x of the
        posterior of (a, x) divided by the pignistic probability of x.
        """
        if not self.wide:
            return sums[:, : len(self.cells)]
        states = self.cells.shape[1]
        cube = sums.reshape(self.contexts, states, -1)
        counts: Floats = cube[:, :, : len(self.cells)].sum(axis=1)
        pignistic = (masses / self.cells.sum(axis=1)) @ self.cells
        hidden = np.divide(cube[:, :, -1], pignistic, out=np.zeros_like(pignistic), where=pignistic > 0)
        shared: Floats = masses / self.cells.sum(axis=1) * (hidden @ self.cells.T)
        return counts + shared


@dataclass(frozen=True, slots=True)
class Factor:
    """A factor of a component: the column that chooses it, its hidden variables, and whose masses it holds.

    ``family`` is None for the indicator that a hidden state lies in its cell.
    """

    column: str
    scope: tuple[int, ...]
    family: str | None


@dataclass(frozen=True, slots=True)
class Component:
    """Hidden states that meet: their sizes, the factors over them, the join tree, and the columns of the data."""

    sizes: tuple[int, ...]
    factors: tuple[Factor, ...]
    plan: Plan
    columns: tuple[str, ...]

    def arranged(self, factor: int, table: Floats) -> Floats:
        """A factor's values with its hidden variables in elimination order."""
        scope = self.factors[factor].scope
        order = sorted(range(len(scope)), key=lambda k: self.plan.position[scope[k]])
        cube = table.reshape(*(self.sizes[v] for v in scope), -1)
        return np.ascontiguousarray(cube.transpose(*order, len(scope))).reshape(table.shape)

    def restored(self, factor: int, table: Floats) -> Floats:
        """The inverse of `arranged`."""
        scope = self.factors[factor].scope
        order = sorted(range(len(scope)), key=lambda k: self.plan.position[scope[k]])
        cube = table.reshape(*(self.sizes[scope[k]] for k in order), -1)
        back = [order.index(k) for k in range(len(scope))]
        return np.ascontiguousarray(cube.transpose(*back, len(scope))).reshape(table.shape)


class Model:
    """Families, components, and what is left: families whose masses the data give at once."""

    def __init__(self, dag: Dag, observed: Observed, limit: int | None) -> None:
        active = dict.fromkeys(parent for name in dag.nodes for parent in dag.parents(name))  # sums keep their order
        self.families: dict[str, Family] = {}
        self.sets = {name: observed.sets(name) for name in dag.nodes}
        self.active = active
        for name in dag.nodes:
            shape = tuple(len(observed.variables[p]) for p in dag.parents(name))
            has_missing = observed.missing[name] > 0
            wide = has_missing and name in active
            self._refuse_table(name, shape, len(self.sets[name]), len(observed.variables[name]) if wide else 1, limit)
            self.families[name] = Family(name, dag.parents(name), shape, self.sets[name], wide, has_missing)
        self.components = self._components(observed, limit)
        self.alone = [n for n, f in self.families.items() if not f.parents and not f.wide]

    @staticmethod
    def _refuse_table(name: str, shape: tuple[int, ...], cells: int, states: int, limit: int | None) -> None:
        what = f"fit_em: the table of masses of {name!r} ({prod(shape):,} contexts, {cells:,} cells)"
        refuse_over(8 * prod(shape) * (cells + 1) * states * 4, what, "use fewer parents or states", limit=limit)

    def _components(self, observed: Observed, limit: int | None) -> list[Component]:
        scopes = {name: {*family.parents, *((name,) if family.wide else ())} for name, family in self.families.items()}
        alone = [{name} for name in self.families if name in self.active]
        return [self._component(group, scopes, observed, limit) for group in joined([*alone, *scopes.values()])]

    def _component(
        self, group: set[str], scopes: dict[str, set[str]], observed: Observed, limit: int | None
    ) -> Component:
        hidden = [name for name in self.families if name in group]
        place = {name: k for k, name in enumerate(hidden)}
        factors = []
        for name, family in self.families.items():
            if scopes[name] and scopes[name] <= group:
                scope = (*family.parents, *((name,) if family.wide else ()))
                factors.append(Factor(name, tuple(place[v] for v in scope), name))
            if name in group and not family.wide:
                factors.append(Factor(name, (place[name],), None))
        sizes = tuple(len(observed.variables[name]) for name in hidden)
        plan = make_plan(sizes, [factor.scope for factor in factors])
        plan.refuse_if_large(hidden, limit)
        columns = tuple(dict.fromkeys(factor.column for factor in factors))
        return Component(sizes, tuple(factors), plan, columns)

"""The model of EM: factors over the hidden states of a row (its trace), split into components that share none.

A row d has a hidden true state w_i in every cell d_i, drawn uniformly from it:

    P(d) = sum over w in d of  prod_i m_i(d_i | w_parents(i)) / |d_i|.

Only the hidden states of variables with children matter (*active* variables). The factor of a family is a function of its
parents' hidden states; if the variable is active and has missing cells, also of its own: the factor of a missing cell is
then the pignistic probability sum_A m_i(A | .) [w_i in A] / |A|. Hidden states that occur in one factor belong to the same
*component*, so that a parent whose children have no other parents is a component of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from possnet.inference import Plan, make_plan, order_axes
from possnet.limits import refuse_over

if TYPE_CHECKING:
    from collections.abc import Iterable

    from possnet.aliases import Bools, Floats
    from possnet.em.em_rows import EmRows
    from possnet.graph import Dag


T = TypeVar("T")


def merge_overlapping(sets: Iterable[set[T]]) -> list[set[T]]:
    """Unions of the sets that overlap, directly or through others; empty sets are left out.

    >>> merge_overlapping([{1}, {2}, set(), {3, 1}])
    [{2}, {1, 3}]
    """
    groups: list[set[T]] = []
    for members in sets:
        if members:
            overlapping = [group for group in groups if group & members]
            groups = [group for group in groups if not group & members]
            groups.append(members.union(*overlapping))
    return groups


@dataclass(frozen=True, slots=True)
class FamilyMasses:
    """The masses m(A | a) of one family: its shape, its distinct cells, and whether its own hidden state takes part."""

    name: str
    parents: tuple[str, ...]
    shape: tuple[int, ...]
    cells: Bools
    has_own_state: bool
    has_missing: bool

    @property
    def n_contexts(self) -> int:
        """Number of configurations of the parents."""
        return prod(self.shape)

    def factor_table(self, masses: Floats) -> Floats:
        """The factor of every cell, shape (hidden configurations, cells and, if there are any, the missing cell)."""
        states = self.cells.shape[1]
        if not self.has_own_state:
            return np.column_stack([masses, np.ones(len(masses))]) if self.has_missing else masses
        inside = self.cells.T[np.newaxis]  # (1, states, cells)
        known = masses[:, np.newaxis, :] * inside
        pignistic = (masses / self.cells.sum(axis=1)) @ self.cells
        return np.concatenate([known, pignistic[:, :, np.newaxis]], axis=2).reshape(self.n_contexts * states, -1)

    def expected_counts(self, sums: Floats, masses: Floats) -> Floats:
        """Expected number of rows for every context and cell, from the posterior sums of the factor's entries.

        The share of a missing cell that falls to a cell A is m(A | a) / |A| times the sum over its states x of the
        posterior of (a, x) divided by the pignistic probability of x.
        """
        if not self.has_own_state:
            return sums[:, : len(self.cells)]
        states = self.cells.shape[1]
        cube = sums.reshape(self.n_contexts, states, -1)
        counts: Floats = cube[:, :, : len(self.cells)].sum(axis=1)
        pignistic = (masses / self.cells.sum(axis=1)) @ self.cells
        hidden = np.divide(cube[:, :, -1], pignistic, out=np.zeros_like(pignistic), where=pignistic > 0)
        shared: Floats = masses / self.cells.sum(axis=1) * (hidden @ self.cells.T)
        return counts + shared


@dataclass(frozen=True, slots=True)
class HiddenFactor:
    """A factor of a component: the column that chooses it, its hidden variables, and whose masses it holds.

    ``family`` is None for the indicator that a hidden state lies in its cell.
    """

    column: str
    scope: tuple[int, ...]
    family: str | None


@dataclass(frozen=True, slots=True)
class HiddenComponent:
    """Hidden states joined by families: sizes, the factors over them, the junction tree, the data's columns, and names."""

    sizes: tuple[int, ...]
    factors: tuple[HiddenFactor, ...]
    plan: Plan
    columns: tuple[str, ...]
    hidden: tuple[str, ...] = ()

    def to_elimination_order(self, factor: int, table: Floats) -> Floats:
        """A factor's values with its hidden variables in elimination order."""
        scope = self.factors[factor].scope
        cube = table.reshape(*(self.sizes[v] for v in scope), -1)
        return np.ascontiguousarray(order_axes(self.plan, scope, cube)).reshape(table.shape)

    def to_scope_order(self, factor: int, table: Floats) -> Floats:
        """The inverse of `to_elimination_order`."""
        scope = self.factors[factor].scope
        order = sorted(range(len(scope)), key=lambda k: self.plan.position[scope[k]])
        cube = table.reshape(*(self.sizes[scope[k]] for k in order), -1)
        inverse = [order.index(k) for k in range(len(scope))]
        return np.ascontiguousarray(cube.transpose(*inverse, len(scope))).reshape(table.shape)


class HiddenStateModel:
    """The families of a DAG, its components, and ``alone``: roots whose masses are the shares of their cells.

    Parameters
    ----------
    limit
        Bytes that the tables may take; by default half of the free memory.
    """

    def __init__(self, dag: Dag, rows: EmRows, limit: int | None = None) -> None:
        self.dag = dag
        self.active = dict.fromkeys(parent for name in dag.nodes for parent in dag.parents(name))  # keeps its order
        self.families: dict[str, FamilyMasses] = {}
        for name in dag.nodes:
            shape = tuple(len(rows.variables[p]) for p in dag.parents(name))
            cells, has_missing = rows.cell_sets(name), rows.n_missing[name] > 0
            has_own_state = has_missing and name in self.active
            refuse_over(
                8 * prod(shape) * (len(cells) + 1) * (len(rows.variables[name]) if has_own_state else 1) * 4,
                f"fit_em: the table of masses of {name!r} ({prod(shape):,} contexts, {len(cells):,} cells)",
                "use fewer parents or states",
                limit=limit,
            )
            self.families[name] = FamilyMasses(name, dag.parents(name), shape, cells, has_own_state, has_missing)
        scopes = {
            name: (*family.parents, *((name,) if family.has_own_state else ()))
            for name, family in self.families.items()
        }
        groups = merge_overlapping([*({name} for name in dag.nodes if name in self.active), *map(set, scopes.values())])
        self.components = [self._build_component(group, scopes, rows, limit) for group in groups]
        self.alone = [name for name, scope in scopes.items() if not scope]

    def _build_component(
        self, group: set[str], scopes: dict[str, tuple[str, ...]], rows: EmRows, limit: int | None
    ) -> HiddenComponent:
        hidden = [name for name in self.families if name in group]
        place = {name: k for k, name in enumerate(hidden)}
        factors = []
        for name, family in self.families.items():
            if scopes[name] and group.issuperset(scopes[name]):
                factors.append(HiddenFactor(name, tuple(place[v] for v in scopes[name]), name))
            if name in group and not family.has_own_state:
                factors.append(HiddenFactor(name, (place[name],), None))
        sizes = tuple(len(rows.variables[name]) for name in hidden)
        plan = make_plan(sizes, [factor.scope for factor in factors])
        plan.refuse_if_large(hidden, limit)
        columns = tuple(dict.fromkeys(factor.column for factor in factors))
        return HiddenComponent(sizes, tuple(factors), plan, columns, tuple(hidden))

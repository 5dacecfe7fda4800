"""What every table entry contributes to the possibility of evidence, all entries in one collect and one distribute pass.

The possibility of evidence depends on one table entry t as max(a, b ⊗ t), ⊗ being the network's conjunction: a is the
best configuration that does not use the entry, b the best one that does, without the entry itself. For sum-product and
smooth semirings b is the partial derivative of Darwiche (2003); Park (2002) and Sandholm and others use its max-product
twin. Here it is called the *derivative* for every semiring.

For every factor the table of all b is the combination of everything in the factor's clique but the factor, projected on
its scope. Nothing is divided, because the entry may be 0 and the minimum has no inverse: what a clique sends leaves out
what it got from there (the architecture of Shenoy and Shafer 1990), by products of the parts before and after each. Rows
of evidence lie along the last axis.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

import numpy as np

from possnet.errors import TooLarge
from possnet.inference.message_passing import factor_parts, shape_in_clique
from possnet.limits import memory_limit, readable_bytes

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from possnet.aliases import Floats
    from possnet.inference.plan import Plan
    from possnet.inference.semirings import Semiring


def differentiate_factors(
    plan: Plan,
    scopes: Sequence[tuple[int, ...]],
    tables: Sequence[Floats],
    semiring: Semiring,
    evidence: Mapping[int, Floats],
    n_rows: int,
) -> tuple[list[Floats], Floats]:
    """For every factor its derivatives, shaped (its scope, rows), and the value of every row.

    ``evidence`` maps variables to degrees (states, rows), or (states, 1) where all rows agree; all in the semiring.
    """
    _refuse_if_large(plan, n_rows)
    passes = _TwoPasses(plan, scopes, tables, semiring, evidence, n_rows)
    with np.errstate(invalid="ignore", over="ignore"):
        values = passes.collect()
        return passes.distribute(scopes), values


def _refuse_if_large(plan: Plan, n_rows: int) -> None:
    parts = max((len(c.factors) + len(c.children) + 2 for c in plan.cliques), default=0)
    needed = 8 * n_rows * (2 * parts * plan.largest + plan.entries)
    if needed > 1 << 26 and needed > memory_limit():
        raise TooLarge(
            f"derivatives of all table entries need {readable_bytes(needed)}; the limit is "
            f"{readable_bytes(memory_limit())}. Fewer parents or states, or evidence, would help"
        )


class _TwoPasses:
    """Messages up, then everything but one part for every part of a clique on the way down."""

    def __init__(
        self,
        plan: Plan,
        scopes: Sequence[tuple[int, ...]],
        tables: Sequence[Floats],
        semiring: Semiring,
        evidence: Mapping[int, Floats],
        n_rows: int,
    ) -> None:
        self._plan, self._semiring, self._n_rows = plan, semiring, n_rows
        self._factors = [
            [table.reshape(*shape, 1) for shape, table in factor_parts(plan, k, scopes, tables)]
            for k in range(len(plan.cliques))
        ]
        self._fixed: list[list[Floats]] = [[] for _ in plan.cliques]  # evidence, which is not differentiated
        for v, degrees in evidence.items():
            if plan.home[v] >= 0:
                clique = plan.cliques[plan.home[v]]
                self._fixed[plan.home[v]].append(degrees.reshape(*shape_in_clique(clique, (v,)), degrees.shape[-1]))
        self._messages: list[Floats] = []

    def collect(self) -> Floats:
        """Messages from the leaves to the roots; the value of every row."""
        combine, project, plan = self._semiring.combine, self._semiring.project, self._plan
        total: Floats = np.full(self._n_rows, self._semiring.one)
        for number, clique in enumerate(plan.cliques):
            parts = [*self._fixed[number], *self._factors[number], *self._from_children(number)]
            table = parts[0]
            for part in parts[1:]:
                table = combine(table, part)
            rows = table.shape[-1]
            table = _fill_shape(table, (*clique.shape, rows))
            residual = prod(clique.shape[: clique.residual])
            message = project.reduce(table.reshape(residual, -1, rows), axis=0)
            self._messages.append(_fill_shape(message, (message.shape[0], self._n_rows)))
            if clique.parent < 0:
                total = combine(total, self._messages[number][0])
        return total

    def _from_children(self, number: int) -> list[Floats]:
        """The messages of a clique's children, shaped for it."""
        clique, plan = self._plan.cliques[number], self._plan
        return [
            self._messages[k].reshape(*shape_in_clique(clique, plan.cliques[k].separator), self._n_rows)
            for k in clique.children
        ]

    def distribute(self, scopes: Sequence[tuple[int, ...]]) -> list[Floats]:
        """The derivatives of every factor."""
        plan, semiring = self._plan, self._semiring
        outside: list[Floats | None] = [None] * len(plan.cliques)
        others = self._values_of_other_roots()
        derivatives: list[Floats] = [np.zeros(0)] * len(scopes)
        for number in range(len(plan.cliques) - 1, -1, -1):
            clique = plan.cliques[number]
            above = others[number] if clique.parent < 0 else outside[number]
            assert above is not None  # noqa: S101
            fixed = [*self._fixed[number], above]
            parts = [*self._factors[number], *self._from_children(number)]
            targets = [scopes[factor] for factor in clique.factors]
            targets += [plan.cliques[k].separator for k in clique.children]
            for place, table in enumerate(_leave_one_out(fixed, parts, semiring)):
                scope = targets[place]
                dropped = tuple([axis for axis, v in enumerate(clique.variables) if v not in scope])
                whole = _fill_shape(table, (*clique.shape, self._n_rows))
                small = semiring.project.reduce(whole, axis=dropped) if dropped else whole
                if place < len(clique.factors):
                    inside = [v for v in clique.variables if v in scope]
                    order = [inside.index(v) for v in scope]
                    derivatives[clique.factors[place]] = small.transpose(*order, len(order))
                else:
                    child = clique.children[place - len(clique.factors)]
                    below = plan.cliques[child]
                    outside[child] = small.reshape(*shape_in_clique(below, below.separator), self._n_rows)
        return derivatives

    def _values_of_other_roots(self) -> dict[int, Floats]:
        """For every root the combined value of the other components, row by row."""
        combine = self._semiring.combine
        roots = [k for k, clique in enumerate(self._plan.cliques) if clique.parent < 0]
        neutral: Floats = np.full(self._n_rows, self._semiring.one)
        before, after = [neutral], [neutral]
        for root in roots[:-1]:
            before.append(combine(before[-1], self._messages[root][0]))
        for root in roots[:0:-1]:
            after.append(combine(after[-1], self._messages[root][0]))
        return {root: combine(left, right) for root, left, right in zip(roots, before, reversed(after), strict=True)}


def _fill_shape(table: Floats, shape: tuple[int, ...]) -> Floats:
    """The table repeated along axes that it lacks; most tables lack none, and then `np.broadcast_to` is the slow part."""
    return table if table.shape == shape else np.broadcast_to(table, shape)


def _leave_one_out(fixed: list[Floats], parts: list[Floats], semiring: Semiring) -> list[Floats]:
    """For every part the combination of all fixed tables and all other parts."""
    combine = semiring.combine
    base = fixed[0]
    for table in fixed[1:]:
        base = combine(base, table)
    before = [base]
    for part in parts[:-1]:
        before.append(combine(before[-1], part))
    results = list(before)
    after: Floats | None = None
    for place in range(len(parts) - 1, -1, -1):
        if after is not None:
            results[place] = combine(before[place], after)
        after = parts[place] if after is None else combine(after, parts[place])
    return results

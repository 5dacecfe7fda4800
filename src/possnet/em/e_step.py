"""The E-step: posteriors of hidden states by sum-product over a junction tree, many rows at a time.

Tables have the rows as their last axis, so that every operation runs over long contiguous lines, and the hidden variables
before it in elimination order, so that a message upward is a sum over the first axis. Messages are scaled row by row.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from possnet.aliases import Floats, Ints
    from possnet.em.hidden_states import HiddenComponent
    from possnet.inference import Plan


_PART_BYTES: Final = 1 << 22
_ONE_HOT: Final = 1 << 23
_SCALE_EVERY: Final = 8


@dataclass(slots=True)
class ComponentRows:
    """Some distinct rows of a component: for every factor the number of its cell in every row, and the rows' weights."""

    component: HiddenComponent
    ids: list[NDArray[np.int32]]
    weights: Floats
    n_cells: list[int]


def split_rows(
    component: HiddenComponent, rows: NDArray[np.int32], weights: Ints, n_cells: dict[str, int]
) -> list[ComponentRows]:
    """Rows in parts of a few megabytes of tables."""
    place = {name: k for k, name in enumerate(component.columns)}
    size = max(_PART_BYTES // (8 * max(component.plan.cells, 1)), 1)
    parts = []
    for start in range(0, len(rows), size):
        chunk = rows[start : start + size]
        ids = [np.ascontiguousarray(chunk[:, place[factor.column]]) for factor in component.factors]
        counts = weights[start : start + size].astype(np.float64)
        parts.append(ComponentRows(component, ids, counts, [n_cells[factor.column] for factor in component.factors]))
    return parts


def run_e_step(part: ComponentRows, tables: list[Floats]) -> tuple[float, list[Floats | None]]:
    """Log-likelihood of the rows, and for every factor of masses the posterior sums of its entries, by cell.

    ``tables`` hold every factor's values, shape (hidden configurations, cells), hidden variables in elimination order.
    """
    plan = part.component.plan
    rows = len(part.weights)
    logs = np.zeros(rows)
    beliefs: list[Floats] = []
    ups: list[Floats] = []
    for number, clique in enumerate(plan.cliques):
        table = _clique_table(part, tables, number, ups, logs)
        separator = prod(clique.shape[clique.residual :])
        up = table.reshape(-1, separator, rows).sum(axis=0)
        scale = up.sum(axis=0)
        logs += np.log(scale)
        table /= scale
        up /= scale
        beliefs.append(table)
        ups.append(up)
    sums: list[Floats | None] = [None] * len(part.component.factors)
    for number in range(len(plan.cliques) - 1, -1, -1):
        clique = plan.cliques[number]
        belief = beliefs[number]
        for factor in clique.factors:
            if part.component.factors[factor].family is not None:
                sums[factor] = _sum_by_cell(part, factor, belief, number)
        for child in clique.children:
            _send_down(plan, number, child, beliefs, ups, rows)
    return float(part.weights @ logs), sums


def _clique_table(part: ComponentRows, tables: list[Floats], number: int, ups: list[Floats], logs: Floats) -> Floats:
    """Product of a clique's factors and its children's messages; every few of them it is scaled, row by row, into logs."""
    plan = part.component.plan
    rows = len(logs)
    clique = plan.cliques[number]
    pieces = []
    for factor in clique.factors:
        scope = part.component.factors[factor].scope
        shape = tuple(plan.sizes[v] if v in scope else 1 for v in clique.variables)
        pieces.append(np.take(tables[factor], part.ids[factor], axis=1).reshape(*shape, rows))
    for child in clique.children:
        separator = plan.cliques[child].separator
        shape = tuple(plan.sizes[v] if v in separator else 1 for v in clique.variables)
        pieces.append(ups[child].reshape(*shape, rows))
    full = (*clique.shape, rows)
    table = pieces[0] if clique.factors else pieces[0].copy()  # a child's message is read again on the way down
    for count, piece in enumerate(pieces[1:], start=1):
        table = np.multiply(table, piece, out=table if table.shape == full else None)
        if count % _SCALE_EVERY == 0:
            peak = table.reshape(-1, rows).max(axis=0)
            logs += np.log(peak)
            table = table / peak
    if table.shape != full:
        table = np.broadcast_to(table, full).copy()
    return table


def _sum_by_cell(part: ComponentRows, factor: int, belief: Floats, number: int) -> Floats:
    """Posterior of a factor's hidden variables, summed over the rows of each of its cells."""
    plan = part.component.plan
    clique = plan.cliques[number]
    scope = part.component.factors[factor].scope
    dropped = tuple(axis for axis, v in enumerate(clique.variables) if v not in scope)
    marginal = belief.sum(axis=dropped) if dropped else belief
    flat = marginal.reshape(-1, len(part.weights))
    n_cells = part.n_cells[factor]
    if n_cells * len(part.weights) <= _ONE_HOT:
        one_hot = (part.ids[factor][:, np.newaxis] == np.arange(n_cells)) * part.weights[:, np.newaxis]
        products: Floats = flat @ one_hot
        return products
    order = np.argsort(part.ids[factor], kind="stable")
    present, starts = np.unique(part.ids[factor][order], return_index=True)
    sums = np.zeros((len(flat), n_cells))
    sums[:, present] = np.add.reduceat((flat * part.weights)[:, order], starts, axis=1)
    return sums


def _send_down(plan: Plan, number: int, child: int, beliefs: list[Floats], ups: list[Floats], rows: int) -> None:
    """Bring a child's table to its belief: times what its parent says of the separator, divided by what it said itself."""
    cliques = plan.cliques
    separator = cliques[child].separator
    dropped = tuple(axis for axis, v in enumerate(cliques[number].variables) if v not in separator)
    above = (beliefs[number].sum(axis=dropped) if dropped else beliefs[number]).reshape(-1, rows)
    message = np.divide(above, ups[child], out=np.zeros_like(above), where=ups[child] > 0)
    shape = beliefs[child].shape
    beliefs[child] = (beliefs[child].reshape(-1, *message.shape) * message).reshape(shape)

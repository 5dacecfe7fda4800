"""The E-step: posteriors of hidden states by scaled sum-product over a junction tree, many rows at a time.

A row selects a column of each factor by the number of its cell, so that the collect and distribute passes are those of rows
of evidence (see `possnet.inference.message_passing`). Which rows agree in a part of the tree is computed once, before the
first step.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from possnet.inference import SUM_PRODUCT, CliqueLayout, Potential, Projection, RowPasses, RowSchedule

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from possnet.aliases import Floats, Ints, Weights
    from possnet.em.hidden_states import HiddenComponent


_PART_BYTES: Final = 1 << 23  # bytes of the clique tables of rows that are run together
_ONE_HOT: Final = 1 << 23  # entries of a one-hot matrix (64 MB) up to which sums by cell are one matrix product


@dataclass(slots=True)
class ComponentRows:
    """A part of the distinct rows of a component, with all that the E-step needs to know of them in advance.

    Attributes
    ----------
    schedule
        The schedule of the collect and distribute passes for these rows.
    reads
        Clique -> the factors of masses that it holds, and how its belief is projected on each.
    ids, n_cells
        For every factor the number of its cell in every row, and how many distinct cells there are.
    weights
        How many rows of the data each distinct row stands for.
    """

    component: HiddenComponent
    schedule: RowSchedule
    reads: dict[int, list[tuple[int, Projection]]]
    ids: list[Ints]
    weights: Floats
    n_cells: list[int]


def split_rows(
    component: HiddenComponent, rows: NDArray[np.int32], weights: Weights, n_cells: dict[str, int]
) -> list[ComponentRows]:
    """Split the distinct rows of a component into parts whose tables take a few megabytes."""
    plan, factors = component.plan, component.factors
    place = {name: k for k, name in enumerate(component.columns)}
    layouts = [CliqueLayout(plan, clique) for clique in plan.cliques]
    scopes, sizes = [factor.scope for factor in factors], [n_cells[factor.column] for factor in factors]
    reads: dict[int, list[tuple[int, Projection]]] = {}
    for number, clique in enumerate(plan.cliques):
        for factor in clique.factors:
            if factors[factor].family is not None:
                projection = Projection(clique.shape, scopes[factor], clique.variables)
                reads.setdefault(number, []).append((factor, projection))
    most = max(_PART_BYTES // (8 * max(plan.entries, 1)), 1)
    parts = []
    for start in range(0, len(rows), most):
        chunk = rows[start : start + most].astype(np.int64)
        ids = [np.ascontiguousarray(chunk[:, place[factor.column]]) for factor in factors]
        schedule = RowSchedule(plan, layouts, scopes, ids, sizes, len(chunk), scaled=True)
        chunk_weights = weights[start : start + most].astype(np.float64)
        parts.append(ComponentRows(component, schedule, reads, ids, chunk_weights, sizes))
    return parts


def run_e_step(part: ComponentRows, tables: list[Floats]) -> tuple[float, list[Floats | None]]:
    """Log-likelihood of the rows, and the expected counts of every factor of masses: posteriors summed over rows, by cell.

    ``tables`` hold every factor's values, shape (hidden configurations, cells), hidden variables in elimination order.
    """
    potentials = [Potential([], layout, SUM_PRODUCT) for layout in part.schedule.layouts]
    passes = RowPasses(part.schedule, potentials, tables, SUM_PRODUCT)
    sums: list[Floats | None] = [None] * len(tables)

    def read(number: int, chosen: slice, belief: Floats) -> None:
        combinations, _ = part.schedule.belief_combinations(number)
        weights = part.schedule.sum_rows(combinations, part.weights)[chosen]
        for factor, projection in part.reads[number]:
            ids = part.schedule.number_in(combinations, part.ids[factor])[chosen]
            posterior = projection.project_rows(belief, SUM_PRODUCT)
            entries = _sum_by_cell(posterior, ids, weights, part.n_cells[factor])
            known = sums[factor]
            sums[factor] = entries if known is None else known + entries

    with np.errstate(divide="ignore", invalid="ignore"):
        logs = passes.collect()[:, 0]
        passes.distribute(part.reads, read)
    return float(part.weights @ logs), sums


def find_posteriors(
    part: ComponentRows, tables: list[Floats], clamped: Mapping[int, int]
) -> tuple[Floats, dict[int, Floats]]:
    """Ln P(row, clamped states) of every row, and P(state | row, clamped states) of every hidden variable (rows, states).

    ``tables`` are those of `run_e_step`; ``clamped`` gives hidden variables their states. Where a row cannot have the
    clamped states, its logarithm is -inf and its posteriors are 0.
    """
    plan, factors = part.component.plan, part.component.factors
    values = list(tables)
    for variable, state in clamped.items():
        factor = next(k for k, other in enumerate(factors) if variable in other.scope)
        scope = sorted(factors[factor].scope, key=plan.position.__getitem__)
        cube = np.zeros((*(plan.sizes[v] for v in scope), values[factor].shape[-1]))
        kept = (slice(None),) * scope.index(variable) + (state,)
        cube[kept] = values[factor].reshape(cube.shape)[kept]
        values[factor] = cube.reshape(values[factor].shape)
    potentials = [Potential([], layout, SUM_PRODUCT) for layout in part.schedule.layouts]
    passes = RowPasses(part.schedule, potentials, values, SUM_PRODUCT)
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = passes.collect()[:, 0]
        beliefs = passes.read_marginals(dict.fromkeys(range(len(plan.sizes)), part.schedule.identity))
    posteriors = {}
    for variable, belief in beliefs.items():
        sums = belief.sum(axis=1, keepdims=True)
        posteriors[variable] = np.divide(belief, sums, out=np.zeros_like(belief), where=sums > 0.0)
    return logs, posteriors


def _sum_by_cell(posterior: Floats, ids: Ints, weights: Floats, n_cells: int) -> Floats:
    """Posteriors (hidden configurations, combinations), weighted and summed over the combinations of every cell."""
    if n_cells * len(ids) <= _ONE_HOT:
        one_hot = np.zeros((len(ids), n_cells))
        one_hot[np.arange(len(ids)), ids] = weights
        products: Floats = posterior @ one_hot
        return products
    order = np.argsort(ids, kind="stable")
    present, starts = np.unique(ids[order], return_index=True)
    sums = np.zeros((len(posterior), n_cells))
    sums[:, present] = np.add.reduceat((posterior * weights)[:, order], starts, axis=1)
    return sums

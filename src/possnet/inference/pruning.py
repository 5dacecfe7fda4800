"""A single query on the pruned network: known variables fixed, excluded states, barren and separated factors left out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from possnet.inference.conditioning import Budget, ConditionedTree, require_cutset
from possnet.inference.factor_graph import to_semiring
from possnet.inference.junction_tree import JunctionTree
from possnet.inference.plan import make_plan
from possnet.inference.semirings import MAX_MIN

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from possnet.aliases import Floats
    from possnet.inference.factor_graph import Factor, FactorGraph
    from possnet.inference.semirings import Semiring


def query_pruned(
    graph: FactorGraph, targets: list[int], known: dict[int, Floats], semiring: Semiring, budget: Budget
) -> tuple[float, Floats | None]:
    """Combined value of all relevant factors, and the table over the targets (unnormalised, in their order).

    ``known`` are degrees of the states of observed variables.
    """
    if not all(degrees.any() for degrees in known.values()):
        return semiring.zero, None
    relevant = graph.relevant_factors((*targets, *known))
    left = {v: np.flatnonzero(d) for v, d in known.items() if v not in targets}  # the states that are still possible
    hard = {v: int(states[0]) for v, states in left.items() if len(states) == 1 and known[v][states[0]] == 1.0}
    sizes = [len(left[v]) if v in left else size for v, size in enumerate(graph.sizes)]
    kept = [_slice_factor(graph.scopes[k], graph.tables[k], hard, left) for k in relevant]
    kept += [((v,), d[left[v]] if v in left else d) for v, d in known.items() if v not in hard]
    if semiring is not MAX_MIN and targets and known:  # conditioning divides by what lies apart
        kept = _keep_connected(kept, targets)
    value = semiring.one
    scopes, tables = [], []
    for scope, degrees in kept:
        table = to_semiring(degrees, semiring)
        if scope:
            scopes.append(scope)
            tables.append(table)
        else:
            value = float(semiring.combine(value, float(table)))
    present = {v for scope in scopes for v in scope} | set(targets)
    absent = sum(1 << v for v in range(len(sizes)) if v not in present)
    plan = make_plan(sizes, scopes, dropped=absent, last=sum(1 << target for target in targets), together=targets)
    if not plan.cliques:
        return value, None
    if not plan.fits_lean(budget.limit, collect=True):
        cutset = require_cutset(sizes, scopes, graph.names, budget, plan, dropped=absent, targets=targets)
        return _query_in_turn(ConditionedTree(cutset, scopes, tables, semiring), targets, value, budget)
    tree = JunctionTree(plan, scopes, tables, semiring)
    with np.errstate(divide="ignore", invalid="ignore"):
        total = float(semiring.combine(value, tree.collect(keep=False)))
        return total, read_targets(tree, targets, value) if targets else None


def _query_in_turn(
    conditioned: ConditionedTree, targets: list[int], value: float, budget: Budget
) -> tuple[float, Floats | None]:
    """The value and the table over the targets, projected over all configurations of a cutset."""
    tree = conditioned.tree
    semiring = tree.semiring
    best, table = semiring.zero, None
    for _, constant in conditioned.configurations(budget.progress):
        with np.errstate(divide="ignore", invalid="ignore"):
            scaled = float(semiring.combine(value, constant))
            best = float(semiring.project(best, float(semiring.combine(scaled, tree.collect()))))
            if targets:
                degrees = read_targets(tree, targets, scaled)
                table = degrees if table is None else semiring.project(table, degrees)
    return best, table


def _slice_factor(
    scope: tuple[int, ...], table: Floats, hard: dict[int, int], left: dict[int, NDArray[np.intp]]
) -> Factor:
    """A factor with the known variables fixed, and without the states that the evidence excludes."""
    if not any(v in left for v in scope):
        return scope, table
    for axis, v in enumerate(scope):
        if v in left and v not in hard and len(left[v]) < table.shape[axis]:
            table = table.take(left[v], axis=axis)
    cut = table[tuple([hard.get(v, slice(None)) for v in scope])]
    return tuple([v for v in scope if v not in hard]), np.asarray(cut)


def _keep_connected(factors: list[Factor], targets: list[int]) -> list[Factor]:
    """Factors connected with the targets, and those that might make the evidence impossible (they have zeros)."""
    kept = find_connected([scope for scope, _ in factors], targets)
    if any(scope and k not in kept and not table.all() for k, (scope, table) in enumerate(factors)):
        return factors
    return [factor for k, factor in enumerate(factors) if k in kept or not factor[0]]


def find_connected(scopes: Sequence[tuple[int, ...]], targets: Iterable[int]) -> set[int]:
    """Numbers of the scopes that are connected with some variables, by variables that they share.

    >>> find_connected([(0, 1), (2,), (1, 3)], [3])
    {0, 2}
    """
    reached = set(targets)
    waiting = [(set(scope), k) for k, scope in enumerate(scopes) if scope]
    kept = set()
    grown = True
    while grown:
        grown = False
        rest = []
        for scope, k in waiting:
            if scope & reached:
                kept.add(k)
                grown = grown or not scope <= reached
                reached |= scope
            else:
                rest.append((scope, k))
        waiting = rest
    return kept


def read_targets(tree: JunctionTree, targets: list[int], value: float) -> Floats:
    """Table over the targets, from the root that eliminates them, combined with a value and all that lies elsewhere."""
    plan, semiring = tree.plan, tree.semiring
    root = plan.root_of(targets[-1])
    clique = plan.cliques[root]
    table = tree.table(root).reshape(clique.shape)
    dropped = tuple(axis for axis, v in enumerate(clique.variables) if v not in targets)
    if dropped:
        table = semiring.project.reduce(table, axis=dropped)
    kept = [v for v in clique.variables if v in targets]
    table = table.transpose([kept.index(t) for t in targets])
    for number, other in enumerate(plan.cliques):
        if other.parent < 0 and number != root:
            value = float(semiring.combine(value, tree.root_value(number)))
    return np.array(semiring.combine(table, value), order="C")

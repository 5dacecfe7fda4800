"""A single query on the pruned network: known variables fixed, excluded states, barren and separated factors left out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from possnet.inference.conditioning import Budget, ConditionedTree, require_cutset
from possnet.inference.factor_graph import to_semiring
from possnet.inference.junction_tree import JunctionTree
from possnet.inference.plan import make_plan
from possnet.inference.semirings import MAX_MIN

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from possnet.aliases import Floats
    from possnet.inference.factor_graph import Factor, FactorGraph
    from possnet.inference.plan import Plan
    from possnet.inference.semirings import Semiring


@dataclass(frozen=True, slots=True)
class PrunedFactors:
    """What is left of a network for some question: factors in a semiring, and the value of those that are wholly known.

    Attributes
    ----------
    left
        States that are still possible of every known variable but the targets; tables and ``sizes`` hold these alone.
    hard
        The state of those with a single one, which are gone from all scopes.
    relevant
        Numbers of the factors that are not barren.
    absent
        Variables that no factor holds any more, as bits.
    """

    value: float
    sizes: tuple[int, ...]
    scopes: list[tuple[int, ...]]
    tables: list[Floats]
    left: dict[int, NDArray[np.intp]]
    hard: dict[int, int]
    relevant: list[int]
    absent: int


def prune_factors(
    graph: FactorGraph, targets: Sequence[int], known: Mapping[int, Floats], semiring: Semiring
) -> PrunedFactors:
    """Leave out what cannot matter for some targets, given degrees of the states of observed variables."""
    relevant = graph.relevant_factors((*targets, *known))
    left = {v: np.flatnonzero(d) for v, d in known.items() if v not in targets}
    hard = {v: int(states[0]) for v, states in left.items() if len(states) == 1 and known[v][states[0]] == 1.0}
    sizes = tuple([len(left[v]) if v in left else size for v, size in enumerate(graph.sizes)])
    all_tables = graph.tables_in(semiring)
    kept = [slice_factor(graph.scopes[k], all_tables[k], hard, left) for k in relevant]
    soft = {v: to_semiring(d[left[v]] if v in left else d, semiring) for v, d in known.items() if v not in hard}
    kept += [((v,), table) for v, table in soft.items()]
    if semiring is not MAX_MIN and targets and known:  # conditioning divides by what lies apart
        kept = _keep_connected(kept, targets, semiring)
    value = semiring.one
    scopes, tables = [], []
    for scope, table in kept:
        if scope:
            scopes.append(scope)
            tables.append(table)
        else:
            value = float(semiring.combine(value, float(table)))
    present = {v for scope in scopes for v in scope} | set(targets)
    absent = sum(1 << v for v in range(len(sizes)) if v not in present)
    return PrunedFactors(value, sizes, scopes, tables, left, hard, relevant, absent)


def plan_pruned(left: PrunedFactors, targets: Sequence[int]) -> Plan:
    """The tree for what is left of a network; its last root holds the targets."""
    last = sum(1 << target for target in targets)
    return make_plan(left.sizes, left.scopes, dropped=left.absent, last=last, together=targets)


def query_pruned(
    graph: FactorGraph, targets: list[int], known: dict[int, Floats], semiring: Semiring, budget: Budget
) -> tuple[float, Floats | None]:
    """Combined value of all relevant factors, and the table over the targets (unnormalised, in their order).

    ``known`` are degrees of the states of observed variables.
    """
    if not all(degrees.any() for degrees in known.values()):
        return semiring.zero, None
    left = prune_factors(graph, targets, known, semiring)
    return run_pruned(graph, targets, left, plan_pruned(left, targets), semiring, budget)


def run_pruned(
    graph: FactorGraph, targets: list[int], left: PrunedFactors, plan: Plan, semiring: Semiring, budget: Budget
) -> tuple[float, Floats | None]:
    """The value and the table over the targets, by a plan for what is left of the network."""
    if not plan.cliques:
        return left.value, None
    if not plan.fits_lean(budget.limit, collect=True):
        cutset = require_cutset(
            left.sizes, left.scopes, graph.names, budget, plan, dropped=left.absent, targets=targets
        )
        return _query_in_turn(ConditionedTree(cutset, left.scopes, left.tables, semiring), targets, left.value, budget)
    tree = JunctionTree(plan, left.scopes, left.tables, semiring)
    with np.errstate(divide="ignore", invalid="ignore"):
        total = float(semiring.combine(left.value, tree.collect(keep=False)))
        return total, read_targets(tree, targets, left.value) if targets else None


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


def slice_factor(
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


def _keep_connected(factors: list[Factor], targets: Sequence[int], semiring: Semiring) -> list[Factor]:
    """Factors connected with the targets, and those that might make the evidence impossible (they have zeros)."""
    kept = find_connected([scope for scope, _ in factors], targets)
    apart = (table for k, (scope, table) in enumerate(factors) if scope and k not in kept)
    if any((table == semiring.zero).any() for table in apart):
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

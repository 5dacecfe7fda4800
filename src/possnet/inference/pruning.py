"""Leaving out what cannot matter to a question: known states, excluded states, factors that lie apart."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from possnet.aliases import Floats
    from possnet.inference.junction_tree import JunctionTree
    from possnet.inference.plan import Plan
    from possnet.inference.semirings import Semiring


def sliced(
    scope: tuple[int, ...], table: Floats, hard: dict[int, int], left: dict[int, NDArray[np.intp]]
) -> tuple[tuple[int, ...], Floats]:
    """A factor with the known variables fixed, and without the states that the evidence excludes."""
    if not any(v in left for v in scope):
        return scope, table
    for axis, v in enumerate(scope):
        if v in left and v not in hard and len(left[v]) < table.shape[axis]:
            table = table.take(left[v], axis=axis)
    cut = table[tuple([hard.get(v, slice(None)) for v in scope])]
    return tuple([v for v in scope if v not in hard]), np.asarray(cut)


def connected(
    factors: list[tuple[tuple[int, ...], Floats]], targets: list[int]
) -> list[tuple[tuple[int, ...], Floats]]:
    """Factors connected with the targets, and those that might make the evidence impossible (they have zeros)."""
    reached = set(targets)
    waiting = [(set(scope), k) for k, (scope, _) in enumerate(factors) if scope]
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
    if any(not factors[k][1].all() for _, k in waiting):
        return factors
    return [factor for k, factor in enumerate(factors) if k in kept or not factor[0]]


def target_table(tree: JunctionTree, plan: Plan, targets: list[int], value: float, semiring: Semiring) -> Floats:
    """Table over the targets, from the root that eliminates them, combined with all that lies elsewhere."""
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

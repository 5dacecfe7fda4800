"""Hybrid learners: tests of conditional dependence, then a search that lowers conditional non-specificity.

After R. Sangüesa, U. Cortés and A. Gisolfi (1998), whose exact formulas are not at hand; the definitions are ours.

1. *Tests.* Two variables are dependent given others when their distributions are not similar enough (see
   `possnet.dependence.similarity`). Pairs start joined if they are dependent given nothing, and are parted when a set of
   one (trees) or up to two (DAGs) of their neighbours makes them independent: the neighbours at the beginning of each
   round, so that the order of the variables does not matter (Colombo and Maathuis 2014). A set that determines one of the
   two parts nothing: what does not vary shows no dependence. Parts between which a pair is dependent given nothing are
   joined again by the pair that is most so; near-copies of a variable would else part each other from all the rest.
2. *Search.* The conditional non-specificity of a variable is U(X, parents) - U(parents). A tree's sum of these is the same
   from every root, and lowest for the heaviest spanning tree by specificity gain among the pairs still joined. For a DAG,
   a - c - b becomes a collider where c did not help to part a and b; Meek's first two rules follow; then every variable
   takes from its neighbours before it, best first, those that lower its conditional non-specificity by more than a
   threshold, as K2 by contours does: specificity gain has no price for parents, so that their number is bounded too.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from possnet.structure.orders import k2
from possnet.structure.trees import spanning_tree

if TYPE_CHECKING:
    from possnet.aliases import Bools, Floats, Progress
    from possnet.structure.contours import ContourGains, StateCounts
    from possnet.structure.graphs import Constraints
    from possnet.structure.walks import Found


class Tested(NamedTuple):
    """What the tests left: pairs still joined, and what parted the others."""

    joined: Bools
    parted: dict[tuple[int, int], tuple[int, ...]]


def tested(
    counts: StateCounts,
    constraints: Constraints,
    *,
    deepest: int,
    errors: float,
    progress: Progress,
) -> Tested:
    """Pairs that no set of up to ``deepest`` neighbours makes independent; required pairs stay."""
    size = len(constraints.required)
    must = constraints.required | constraints.required.T
    possible = constraints.allowed | constraints.allowed.T
    strength = np.zeros((size, size))
    for a, b in combinations(range(size), 2):
        strength[a, b] = strength[b, a] = counts.dependence(a, b, (), errors)
    joined: Bools = (strength > 0.0) & possible | must
    parted: dict[tuple[int, int], tuple[int, ...]] = {
        (a, b): () for a, b in combinations(range(size), 2) if not joined[a, b]
    }
    for depth in range(1, deepest + 1):
        before = joined.copy()
        pairs = np.argwhere(np.triu(before)).tolist()
        for done, (a, b) in enumerate(pairs):
            if not must[a, b]:
                found = _parting(counts, before, a, b, depth, errors)
                if found is not None:
                    joined[a, b] = joined[b, a] = False
                    parted[a, b] = found
            progress(done + 1, len(pairs))
    _rejoin(joined, strength, possible, parted)
    return Tested(joined, parted)


def _rejoin(joined: Bools, strength: Floats, possible: Bools, parted: dict[tuple[int, int], tuple[int, ...]]) -> None:
    """Join parts by their most dependent pairs, as far as there are any."""
    part = list(range(len(joined)))

    def merge(a: int, b: int) -> None:
        old, new = part[b], part[a]
        part[:] = [new if k == old else k for k in part]

    for a, b in np.argwhere(np.triu(joined)).tolist():
        merge(a, b)
    dependent = np.argwhere(np.triu((strength > 0.0) & possible)).tolist()
    for a, b in sorted(dependent, key=lambda pair: (-strength[pair[0], pair[1]], pair)):
        if part[a] != part[b]:
            merge(a, b)
            joined[a, b] = joined[b, a] = True
            parted.pop((a, b), None)


def _parting(
    counts: StateCounts, joined: Bools, first: int, second: int, depth: int, errors: float
) -> tuple[int, ...] | None:
    """Neighbours of one of two variables that make them independent and determine neither, if there are."""
    tried = set()
    for end, other in ((first, second), (second, first)):
        around = [k for k in np.flatnonzero(joined[end]).tolist() if k != other]
        for chosen in combinations(around, depth):
            if chosen not in tried:
                tried.add(chosen)
                if counts.dependence(first, second, chosen, errors) == 0.0 and not any(
                    counts.determines(chosen, one) for one in (first, second)
                ):
                    return chosen
    return None


def hybrid_tree(counts: StateCounts, constraints: Constraints, names: list[str], left: Tested) -> Found:
    """The spanning forest of lowest non-specificity among the pairs that the tests left."""
    size = len(names)
    weights = np.full((size, size), -np.inf)
    alone = [counts.nonspecificity(k) for k in range(size)]
    for a, b in np.argwhere(np.triu(left.joined)).tolist():
        weights[a, b] = weights[b, a] = max(alone[a] + alone[b] - counts.nonspecificity(a, b), 0.0)
    return spanning_tree(weights, constraints, -np.inf, names)


def hybrid_dag(gains: ContourGains, constraints: Constraints, left: Tested, threshold: float) -> Found:
    """Parents that lower conditional non-specificity, among the pairs that the tests left, in the order they suggest."""
    order = _order(_directed(constraints, left), left.joined, constraints)
    found = k2(gains, order, replace(constraints, allowed=constraints.allowed & left.joined), threshold)
    gains.finish(found, constraints.required)
    return found


def _directed(constraints: Constraints, left: Tested) -> Bools:
    """Edges that the constraints, the colliders and Meek's first two rules direct; what would contradict is left open."""
    size = len(left.joined)
    arrows: Bools = left.joined & constraints.allowed & ~constraints.allowed.T | constraints.required

    def direct(parent: int, child: int) -> bool:
        if arrows[parent, child] or arrows[child, parent] or not constraints.allowed[parent, child]:
            return False
        arrows[parent, child] = True
        return True

    for child in range(size):
        for a, b in combinations(np.flatnonzero(left.joined[:, child]).tolist(), 2):
            if not left.joined[a, b] and child not in left.parted.get((a, b), (child,)):
                direct(a, child)
                direct(b, child)
    changed = True
    while changed:
        changed = False
        for a, b in np.argwhere(left.joined & ~arrows & ~arrows.T).tolist():
            new_collider = (arrows[:, a] & ~left.joined[:, b]).any()
            circle = (arrows[a] & arrows[:, b]).any()
            if new_collider or circle:
                changed = direct(a, b) or changed
    return arrows


def _order(arrows: Bools, joined: Bools, constraints: Constraints) -> list[int]:
    """Variables such that arrows point forward, by taking away sinks (Dor and Tarsi 1992); in doubt the last one."""
    left = list(range(len(arrows)))
    order: list[int] = []
    while left:
        sinks = [k for k in left if not arrows[k, left].any()]
        quiet = [k for k in sinks if _makes_no_collider(k, left, arrows, joined)]
        ready = quiet or sinks or [k for k in left if not constraints.required[k, left].any()]
        order.append(ready[-1])
        left.remove(ready[-1])
    return order[::-1]


def _makes_no_collider(sink: int, left: list[int], arrows: Bools, joined: Bools) -> bool:
    """Whether all open neighbours of a sink are joined to all its other neighbours."""
    near = [k for k in left if k != sink and joined[sink, k]]
    opened = [k for k in near if not arrows[k, sink]]
    return all(joined[a, b] for a in opened for b in near if a != b)

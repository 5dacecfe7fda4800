"""Slow definitions, straight from the paper or the textbook, that the library is compared with."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations, pairwise, product
from math import log2, prod

import possnet as pn


def possibility(degrees: dict[str, float], event: Iterable[str]) -> float:
    """Largest degree inside the event."""
    return max((degrees[state] for state in event), default=0.0)


def product_conditioning(degrees: dict[str, float], event: frozenset[str]) -> dict[str, float]:
    """Equation (1)."""
    top = possibility(degrees, event)
    return {state: degree / top if state in event else 0.0 for state, degree in degrees.items()}


def min_conditioning(degrees: dict[str, float], event: frozenset[str]) -> dict[str, float]:
    """Equation (2)."""
    top = possibility(degrees, event)

    def revised(state: str, degree: float) -> float:
        if state not in event:
            return 0.0
        return 1.0 if degree == top else degree

    return {state: revised(state, degree) for state, degree in degrees.items()}


def chain_rule(net: pn.Network, configuration: dict[str, str]) -> float:
    """Equation (4), one factor after the other."""
    factors = []
    for variable in net.variables:
        table = net.table(variable.name)
        for parent in net.dag.parents(variable.name):
            table = table[net.variable(parent).states.index(configuration[parent])]
        factors.append(float(table[variable.states.index(configuration[variable.name])]))
    return prod(factors) if net.conjunction is pn.PRODUCT else min(factors)


def configurations(net: pn.Network) -> list[dict[str, str]]:
    names = [v.name for v in net.variables]
    return [dict(zip(names, states, strict=True)) for states in product(*(v.states for v in net.variables))]


def nonspecificity(degrees: Sequence[float]) -> float:
    """U-uncertainty as the integral over levels of log2 of the size of the cut (all of it above the largest degree)."""
    levels = sorted({0.0, *degrees, 1.0})
    n = len(degrees)
    return sum((high - low) * log2(sum(d >= high for d in degrees) or n) for low, high in pairwise(levels))


def d_separated(dag: pn.Dag, first: set[str], second: set[str], known: set[str]) -> bool:
    """Every simple path blocked, path by path."""
    arrows = set(dag.edges)
    near = {n: set(dag.parents(n)) | set(dag.children(n)) for n in dag.nodes}
    opened = {n for n in dag.nodes if n in known or dag.descendants(n) & known}

    def blocked(path: list[str]) -> bool:
        for before, node, after in zip(path, path[1:], path[2:], strict=False):
            collider = (before, node) in arrows and (after, node) in arrows
            if (collider and node not in opened) or (not collider and node in known):
                return True
        return False

    def paths(path: list[str]) -> Iterable[list[str]]:
        if path[-1] in second:
            yield path
            return
        for node in near[path[-1]] - set(path):
            yield from paths([*path, node])

    return all(blocked(path) for start in first for path in paths([start]))


def equivalence_class(dag: pn.Dag) -> list[set[tuple[str, str]]]:
    """Edge sets of all DAGs with the same skeleton and v-structures, by trying every direction of every edge."""

    def v_structures(edges: set[tuple[str, str]]) -> set[tuple[frozenset[str], str]]:
        adjacent = {frozenset(e) for e in edges}
        return {
            (frozenset((a, b)), c)
            for (a, c), (b, d) in combinations(sorted(edges), 2)
            if c == d and frozenset((a, b)) not in adjacent
        }

    wanted = v_structures(set(dag.edges))
    found = []
    for turned in product((False, True), repeat=len(dag.edges)):
        edges = {(b, a) if turn else (a, b) for (a, b), turn in zip(dag.edges, turned, strict=True)}
        try:
            pn.Dag.from_edges(sorted(edges))
        except pn.InputError:
            continue
        if v_structures(edges) == wanted:
            found.append(edges)
    return found

"""Most possible configurations on the pruned network: known variables fixed, excluded states and barren variables left out.

Barren variables, which are neither observed nor ancestors of observed ones, cost nothing: whatever their parents are, some
state of theirs has degree 1. A configuration of the others is continued family by family, parents first, each choice with
an exact bound; without evidence there is nothing else to do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from possnet.inference.junction_tree import JunctionTree
from possnet.inference.most_possible import FamilyStep, best_configurations
from possnet.inference.pruning import prune_factors, slice_factor
from possnet.inference.tree_layout import layout_of_structure

if TYPE_CHECKING:
    from collections.abc import Mapping

    from possnet.aliases import Floats
    from possnet.inference.factor_graph import FactorGraph
    from possnet.inference.semirings import Semiring


def best_pruned(
    graph: FactorGraph, known: Mapping[int, Floats], semiring: Semiring, k: int, limit: int | None
) -> list[tuple[float, dict[int, int]]] | None:
    """The k best values and complete configurations; None if the tree of what is left does not fit into the limit."""
    if not all(degrees.any() for degrees in known.values()):
        return []
    pruned = prune_factors(graph, (), known, semiring)
    layout = layout_of_structure(pruned.sizes, tuple(pruned.scopes), pruned.absent)
    if not layout.plan.fits_lean(limit):
        return None
    relevant = set(pruned.relevant)
    barren = [v for v in graph.order if v not in relevant]
    tables = graph.tables_in(semiring)
    families = [FamilyStep(*slice_factor(graph.scopes[v], tables[v], pruned.hard, pruned.left)) for v in barren]
    with np.errstate(divide="ignore", invalid="ignore"):
        tree = JunctionTree(layout.plan, pruned.scopes, pruned.tables, semiring, layout=layout)
        best = best_configurations(tree, k, families)
        return [
            (float(semiring.combine(pruned.value, value)), _in_all_states(states, pruned.left))
            for value, states in best
        ]


def _in_all_states(states: dict[int, int], left: Mapping[int, np.ndarray]) -> dict[int, int]:
    """States by their numbers among all of a variable, those of known variables included."""
    return states | {v: int(possible[states.get(v, 0)]) for v, possible in left.items()}

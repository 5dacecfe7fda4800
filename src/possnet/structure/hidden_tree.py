"""The hidden tree: the heaviest branching by hidden mutual information, edges with their directions.

An ordered pair (u, v) may be an edge if the law of v's cell can be a mixture over u's hidden state (it is not *refuted*;
see `possnet.dependence.hidden_laws`), less refuted than the other way round, and if it pays its price by BIC. Weighted by
the mutual information of u's hidden state and v's cell, the heaviest branching (Edmonds 1967) is the tree behind traced
rows if there is one: information falls along paths, so that a parent beats a grandparent, and siblings are refuted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from possnet.dependence import count_cell_pairs, fit_hidden_laws
from possnet.errors import InputError
from possnet.graph import heaviest_branching
from possnet.structure.search_result import MoveRecord, SearchResult

if TYPE_CHECKING:
    from possnet.aliases import Floats
    from possnet.dependence import HiddenLaws
    from possnet.structure.score_registry import SearchProblem
    from possnet.structure.search_graph import CompiledConstraints

_REFUTED: Final = 3.3  # standard errors: one true edge in two thousand is refuted


class HiddenTreeScorer:
    """The tree search by hidden mutual information."""

    def grow_tree(self, problem: SearchProblem) -> SearchResult:
        """The hidden tree of the data, in one pass over the rows; a forest where nothing pays."""
        pairs = count_cell_pairs(problem.data, progress=problem.progress)
        laws = fit_hidden_laws(pairs, check=problem.clock.check)
        result = branch_by_information(laws, problem.constraints, problem.threshold, problem.names)
        result.rows = pairs.rows
        return result


def branch_by_information(
    laws: HiddenLaws, constraints: CompiledConstraints, threshold: float, names: list[str]
) -> SearchResult:
    """The heaviest branching that keeps the constraints; the value of an edge is its information, their sum the score."""
    information, required = laws.information, constraints.required
    weights = np.where(constraints.allowed & (information > threshold), weigh_edges(laws, constraints), -np.inf)
    size = len(weights)
    for child in np.flatnonzero(required.any(axis=0)).tolist():
        if required[:, child].sum() > 1:
            raise InputError(
                f"learn_structure: {names[child]!r} has several required parents; expected one at most in a tree, or "
                "another method"
            )
        weights[~required[:, child], child] = -np.inf
    bonus = 1.0 + float(weights[np.isfinite(weights)].sum())  # no sum of other edges outweighs a required one
    parents = heaviest_branching(np.where(required, bonus + information, weights))
    if constraints.max_parents < 1:
        parents = np.full(size, -1)
    edges = np.zeros((size, size), dtype=np.bool_)
    children = np.flatnonzero(parents >= 0)
    edges[parents[children], children] = True
    result = SearchResult(edges, 0.0, [])
    for child in sorted(children.tolist(), key=lambda child: -float(information[parents[child], child])):
        parent, value = int(parents[child]), float(information[parents[child], child])
        result.score += value
        result.moves.append(MoveRecord("add", parent, child, value, result.score, ()))
        result.gains["delete", parent, child] = -value
    for parent, child in np.argwhere(np.isfinite(weights) & ~edges).tolist():
        present = information[parents[child], child] if parents[child] >= 0 else 0.0
        if not edges[child, parent] and not required[:, child].any():
            result.gains["add", parent, child] = float(weights[parent, child] - present)
    return result


def weigh_edges(laws: HiddenLaws, constraints: CompiledConstraints) -> Floats:
    """The information of the pairs that may be edges; -inf for those that are refuted or do not pay."""
    misfit = np.where(constraints.allowed, laws.misfit, np.inf)
    may_be = (misfit <= _REFUTED) & (misfit <= misfit.T) & (laws.gain > laws.price)
    np.fill_diagonal(may_be, val=False)
    weights: Floats = np.where(may_be, laws.information, -np.inf)
    return weights

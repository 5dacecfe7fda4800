"""What one edge is worth by a measure, all other edges staying: the score, the likelihood and the price."""

from __future__ import annotations

from typing import TYPE_CHECKING

from possnet.dataset import Dataset
from possnet.dependence import count_cell_pairs, fit_hidden_laws
from possnet.structure.coarsened_search import CoarsenedScore
from possnet.structure.contour_scorer import ContourScorer
from possnet.structure.decomposable_scores import DecomposableScore
from possnet.structure.score_registry import EdgeWorth
from possnet.structure.search_graph import parent_sets_of, parents_of
from possnet.structure.traced_score import TracedScore

if TYPE_CHECKING:
    from possnet.aliases import Bools
    from possnet.structure.hill_climbing import FamilyScorer
    from possnet.structure.score_registry import SearchProblem


class FamilyWeigher:
    """Edges by a score that is a sum over families.

    >>> import numpy as np, possnet as pn
    >>> from possnet.structure.coded_rows import CodedRows
    >>> data = pn.Dataset.from_table({"a": ["x", "y"] * 50, "b": ["u", "v"] * 50})
    >>> weigher = FamilyWeigher(DecomposableScore(CodedRows(data)))
    >>> [round(number, 2) for number in weigher.weigh_edge(np.zeros((2, 2), bool), 0, 1)]
    [67.01, 69.31, 2.3]
    """

    def __init__(self, score: FamilyScorer) -> None:
        self._score = score

    def weigh_edge(self, rest: Bools, parent: int, child: int) -> EdgeWorth:
        """What the score of the child's family gains."""
        score, parents = self._score, parents_of(rest, child)
        wider = tuple(sorted((*parents, parent)))
        value = score.score_family(child, wider) - score.score_family(child, parents)
        if not isinstance(score, DecomposableScore):
            return EdgeWorth(value)
        price = score.penalty(child, wider) - score.penalty(child, parents)
        return EdgeWorth(value, value + price, price)


class TracedWeigher:
    """Edges by traced BIC: EM over the components that the edge changes."""

    def __init__(self, problem: SearchProblem) -> None:
        self._score = TracedScore(problem.rows)

    def weigh_edge(self, rest: Bools, parent: int, child: int) -> EdgeWorth:
        """The score with the edge, minus that without, both after EM has converged."""
        score, without = self._score, parent_sets_of(rest)
        wider = list(without)
        wider[child] = tuple(sorted((*without[child], parent)))
        before, after = (set(score.split_components(families)) for families in (without, wider))
        changed = {k for component in before ^ after for k, _ in component}
        values = []
        for families in (wider, without):
            near = [parents if k in changed else () for k, parents in enumerate(families)]
            score.refit(near)
            values.append(score.log_likelihood(near))
        likelihood = values[0] - values[1]
        price = score.penalty(child, wider[child]) - score.penalty(child, without[child])
        return EdgeWorth(likelihood - price, likelihood, price)


class CoarsenedWeigher:
    """Edges by BIC under coarsening at random: EM over the whole structure."""

    def __init__(self, problem: SearchProblem) -> None:
        self._score = CoarsenedScore(problem.rows)
        self._scores: dict[bytes, float] = {}

    def weigh_edge(self, rest: Bools, parent: int, child: int) -> EdgeWorth:
        """The score with the edge, minus that without."""
        wider = rest.copy()
        wider[parent, child] = True
        value = self._score_structure(wider) - self._score_structure(rest)
        price = self._score.penalty(wider) - self._score.penalty(rest)
        return EdgeWorth(value, value + price, price)

    def _score_structure(self, edges: Bools) -> float:
        key = edges.tobytes()
        if key not in self._scores:
            self._scores[key] = self._score.score_structure(edges)
        return self._scores[key]


class ContourWeigher:
    """Edges by a measure on contours, which has no likelihood and no price."""

    def __init__(self, problem: SearchProblem) -> None:
        self._scorer = ContourScorer(problem)

    def weigh_edge(self, rest: Bools, parent: int, child: int) -> EdgeWorth:
        """The measure of the pair given the child's other parents."""
        return EdgeWorth(float(self._scorer.parent_gains(child, parents_of(rest, child), rest[:, child], rest)[parent]))


class HiddenPairWeigher:
    """Edges by hidden mutual information, which looks at pairs alone."""

    def __init__(self, problem: SearchProblem) -> None:
        self._data, self._names = problem.data, problem.names

    def weigh_edge(self, rest: Bools, parent: int, child: int) -> EdgeWorth:  # noqa: ARG002
        """Information of the pair, and what its law gains and costs; no information where it could not pay."""
        assert isinstance(self._data, Dataset)  # noqa: S101 - explain_edge collects streams
        pair = self._data.select([self._names[parent], self._names[child]])
        laws = fit_hidden_laws(count_cell_pairs(pair))
        gain, price, information = (float(table[0, 1]) for table in (laws.gain, laws.price, laws.information))
        return EdgeWorth(information if information > 0.0 else None, gain, price)

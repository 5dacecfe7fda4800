r"""Scores of the states of a variable given every row: logarithms, of degrees or of probabilities.

A degree that is a product of hundreds of others says little between 0 and 1: nearly all states of a class with many
features have the degree 0.000, and a table with zeros makes the rest 0 altogether. The logarithm still tells them
apart, and an entry of 0 counts as :math:`10^{-300}`: a state that needs fewer impossible steps has a larger score.

The *probability* of a state is that of the Bayesian network whose tables are the network's own, each row divided by its
sum. For a network that was learned by counting or by EM these are the relative frequencies that its degrees came from.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, TypeAlias

import numpy as np

from possnet.errors import require_known
from possnet.inference.engine import Inference
from possnet.inference.factor_graph import FactorGraph
from possnet.inference.row_queries import RowQueries
from possnet.inference.semirings import LOG_SUM, MAX_SUM, Semiring
from possnet.possibility import PRODUCT

if TYPE_CHECKING:
    from collections.abc import Mapping

    from possnet.aliases import Floats
    from possnet.dataset import Dataset
    from possnet.network import Network

ScoredBy: TypeAlias = Literal["possibility", "probability"]
SCORED_BY: Final[tuple[ScoredBy, ...]] = ("possibility", "probability")
LOWEST_SCORE: Final = -1e9
_ZERO: Final = 1e-300


def score_rows(
    network: Network, target: str, data: Dataset, *, by: ScoredBy = "possibility", limit: int | None = None
) -> Floats:
    """Logarithms of the degrees of a variable's states given every row, or of their probabilities, (rows, states).

    As in `Inference.query_many` the target's own cell is ignored, sets are disjunctions, and unknown cells say nothing.
    Degrees are conditioned, so that the largest score is 0; probabilities of a row have the sum 1.

    >>> import possnet as pn
    >>> asia = pn.load_example("asia")
    >>> data = pn.Dataset.from_rows([asia.variable("dysp")], [("yes",), (None,)])
    >>> np.exp(score_rows(asia, "bronc", data)).round(3).tolist()
    [[1.0, 0.1], [1.0, 1.0]]
    >>> np.exp(score_rows(asia, "bronc", data, by="probability")).round(3).tolist()
    [[0.863, 0.137], [0.473, 0.527]]
    """
    require_known(by, SCORED_BY, "score_rows: by")
    if by == "possibility" and network.conjunction.name != PRODUCT.name:
        with np.errstate(divide="ignore"):
            degrees = np.log(np.nan_to_num(Inference(network, limit=limit).query_many(target, data)))
        return np.asarray(np.maximum(degrees, LOWEST_SCORE))
    return _RowScores(network, by, limit).score_rows(target, data)


class _RowScores(RowQueries):
    """Queries on logarithms, by tables whose zeros are as good as zero, and which may be those of a Bayesian network."""

    def __init__(self, network: Network, by: ScoredBy, limit: int | None) -> None:
        super().__init__(_ScoreGraph(network, probabilities=by == "probability"), limit)

    def score_rows(self, target: str, data: Dataset) -> Floats:
        """Logarithms (rows, states)."""
        number = self._graph.find_number(target)
        data = self._align_rows(data, "score_rows", target)
        columns = {self._graph.numbers[v.name]: data.column(v.name) for v in data.variables if v.name != target}
        scores = np.empty((len(data), self._graph.sizes[number]))
        wanted = {number: np.ones(len(data), dtype=np.bool_)}
        semiring = self._graph.choose_semiring()
        with np.errstate(invalid="ignore"):
            for block, tables, _ in self._run_blocks(columns, len(data), wanted, number, semiring):
                table = tables[number]
                scores[block] = table - semiring.project.reduce(table, axis=1, keepdims=True)
        return np.asarray(np.maximum(np.nan_to_num(scores, nan=LOWEST_SCORE), LOWEST_SCORE))


class _ScoreGraph(FactorGraph):
    """Tables without zeros, whose products are taken on logarithms."""

    def __init__(self, network: Network, *, probabilities: bool) -> None:
        super().__init__(network, probabilities=probabilities)
        self.tables = [np.maximum(table, _ZERO) for table in self.tables]

    def choose_semiring(self, known: Mapping[int, Floats] | None = None) -> Semiring:
        """Logarithms throughout."""
        del known
        return LOG_SUM if self.probabilities else MAX_SUM

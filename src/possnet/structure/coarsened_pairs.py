"""Pairs of variables under coarsening at random: the table of their hidden states, and what it gains.

The cells (A, B) of two variables have the likelihood theta(A x B), the sum of theta over the states that they contain,
whatever the law that made cells of states (see `possnet.em.coarsening`). EM finds theta, from rows that are shared equally.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Final

import numpy as np

from possnet.em import run_squarem
from possnet.structure.contingency import ContingencyTables

if TYPE_CHECKING:
    from collections.abc import Callable

    from possnet.aliases import Floats
    from possnet.structure.coded_rows import CodedRows

_TOLERANCE: Final = 0.5  # nats: prices of an edge are several
_STEPS: Final = 200
_LEAST: Final = 1e-300


class CoarsenedPairs:
    """All pairs of variables: what each gains, and the mutual information between the hidden states.

    ``check`` is called before every pair; it may raise an exception to stop.

    >>> import possnet as pn
    >>> from possnet.structure.coded_rows import CodedRows
    >>> data = pn.Dataset.from_table({"a": ["x", "y", {"x", "y"}, None] * 25, "b": ["u", "v", "v", "v"] * 25})
    >>> pairs = CoarsenedPairs(CodedRows(data))
    >>> pairs.pair_gains(price=1.0)[0].round(1), pairs.hidden_gains(price=1.0)[0].round(1)
    (array([-inf, 33.7]), array([-inf, 55.2]))
    """

    def __init__(self, rows: CodedRows, check: Callable[[], None] = lambda: None) -> None:
        self._total, self._tables = rows.total, ContingencyTables(rows)
        self._sets = [sets.astype(np.float64) for sets in rows.sets]
        self._states = np.array(self._tables.states)
        size = len(rows.variables)
        alone = [self._fit(k)[0] for k in range(size)]
        self._gains, self._information = (np.full((size, size), -np.inf) for _ in range(2))
        for first, second in combinations(range(size), 2):
            check()
            value, table = self._fit(first, second)
            self._gains[first, second] = self._gains[second, first] = value - alone[first] - alone[second]
            information = mutual_information(table)
            self._information[first, second] = self._information[second, first] = information

    def pair_gains(self, price: float) -> Floats:
        """What the log-likelihood of the cells of two variables gains if they depend, less the price of that."""
        return self._gains - self._prices(price)

    def hidden_gains(self, price: float) -> Floats:
        """What it would gain if the hidden states were known: N times their mutual information, less the price.

        Unlike what cells gain, it falls along paths (the data-processing inequality), however imprecise a variable is.
        """
        return self._total * self._information - self._prices(price)

    def _prices(self, price: float) -> Floats:
        prices: Floats = price * np.multiply.outer(self._states - 1.0, self._states - 1.0)
        return prices

    def _fit(self, *chosen: int) -> tuple[float, Floats]:
        """Largest log-likelihood of the cells of one or two variables, and the table of probabilities there."""
        _, occurring = self._tables.group_cells(chosen)
        counts = self._tables.cell_counts(chosen).astype(np.float64)
        first = self._sets[chosen[0]][occurring[:, 0]]
        second = self._sets[chosen[1]][occurring[:, 1]] if len(chosen) > 1 else np.ones((len(first), 1))
        return fit_table(first, second, counts)


def mutual_information(table: Floats) -> float:
    """Mutual information of a joint distribution, in nats.

    >>> mutual_information(np.full((2, 2), 0.25)), round(mutual_information(np.eye(2) / 2), 3)
    (0.0, 0.693)
    """
    apart = table.sum(axis=1, keepdims=True) * table.sum(axis=0)
    ratios = np.divide(table, apart, out=np.ones_like(table), where=table > 0.0)
    return float((table * np.log(ratios)).sum())


def fit_table(first: Floats, second: Floats, counts: Floats) -> tuple[float, Floats]:
    """Largest sum of n ln theta(A x B) over theta, and theta there; cells are rows of 0 and 1.

    >>> cells = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    >>> fit_table(cells, np.ones((3, 1)), np.array([75.0, 25.0, 10.0]))[1].ravel().round(2)
    array([0.75, 0.25])
    """
    shares = counts / (first.sum(axis=1) * second.sum(axis=1))
    start = first.T @ (second * shares[:, np.newaxis])
    if not counts.sum() > 0.0:
        return 0.0, np.full(start.shape, 1.0 / start.size)

    def step(point: dict[str, Floats]) -> tuple[float, dict[str, Floats]]:
        table = point["table"].reshape(start.shape)
        likelihoods = np.maximum(((first @ table) * second).sum(axis=1), _LEAST)
        expected = table * (first.T @ (second * (counts / likelihoods)[:, np.newaxis]))
        return float(counts @ np.log(likelihoods)), {"table": (expected / expected.sum()).reshape(1, -1)}

    run = run_squarem({"table": (start / start.sum()).reshape(1, -1)}, step, tolerance=_TOLERANCE, max_steps=_STEPS)
    return run.log_likelihood[-1], run.masses["table"].reshape(start.shape)

"""BDeu: the probability of the rows under a structure, its tables averaged over a prior that knows nothing.

ln P(rows | structure) is a sum over families (Buntine 1991; Heckerman, Geiger and Chickering 1995). With a prior that is
worth ``sample_size`` rows, spread evenly over all configurations, the term of a family is G(P, i) - G(P), where G of a set
of variables with q configurations is the sum over them of ln Gamma(n + sample_size / q) - ln Gamma(sample_size / q). So it
is computed from the same counts of sets as BIC, and is score-equivalent too. Configurations are those of states that occur:
by states that never do, BDeu would join columns that are constant.

A structure with few edges is more probable beforehand: each of a variable's n - 1 possible parents is one with
probability 1 / (n - 1), one parent on average. So a parent costs ln(n - 2), or nothing if n < 4. Distances to the truth
beside those by BIC, whose price for parents with many configurations is too high for few rows, stand in docs/benchmarks.md.
"""

from __future__ import annotations

from math import log, pi, prod
from typing import TYPE_CHECKING

import numpy as np

from possnet.structure.decomposable_scores import DecomposableScore
from possnet.structure.set_sums import SetSums

if TYPE_CHECKING:
    from possnet.aliases import Floats
    from possnet.structure.coded_rows import CodedRows
    from possnet.structure.contingency import CandidateTables, Counted


class BdeuScore(DecomposableScore):
    """BDeu with a price for edges, on precise rows.

    Parameters
    ----------
    rows
        The coded rows.
    sample_size
        How many rows the prior is worth (the equivalent sample size).

    Examples
    --------
    >>> import possnet as pn
    >>> from possnet.structure.coded_rows import CodedRows
    >>> rows = CodedRows(pn.Dataset.from_table({"a": ["x", "y", "x"]}))
    >>> float(np.exp(BdeuScore(rows).score_family(0, ())).round(9))  # P(x) P(y | x) P(x | x, y) = 1/2 1/4 1/2
    0.0625
    """

    def __init__(self, rows: CodedRows, *, sample_size: float = 1.0) -> None:
        super().__init__(rows, counting="cells")
        self._sizes = [max(size, 1) for size in self._sizes]  # without rows nothing occurs
        self._sample_size = sample_size
        self._edge_price = log(max(self.size - 2, 1))
        self._sums = SetSums(self.size, float(self._log_marginals(np.array([rows.total]), np.ones(1)).sum()))

    def penalty(self, child: int, parents: tuple[int, ...]) -> float:  # noqa: ARG002
        """What the edges of a family cost."""
        return self._edge_price * len(parents)

    def penalties_with(self, child: int, parents: tuple[int, ...]) -> Floats:  # noqa: ARG002
        """What the family costs with each variable as one more parent."""
        return np.full(self.size, self._edge_price * (len(parents) + 1))

    def _tabulate_penalties(self) -> Floats:
        parents = np.bitwise_count(np.arange(1 << self.size))
        return np.broadcast_to(self._edge_price * parents, (self.size, len(parents)))

    def _sum_terms(self, cube: Floats) -> Floats:
        configurations = np.ones(1)
        for size in self._sizes[::-1]:
            configurations = np.multiply.outer(configurations, [float(size)] * size + [1.0]).ravel()
        return self._log_marginals(cube, configurations)

    def _sum_one(self, chosen: tuple[int, ...]) -> float:
        configurations = np.array([prod(self._sizes[k] for k in chosen)], dtype=np.float64)
        return float(self._log_marginals(self.tables.cell_counts(chosen), configurations).sum())

    def _sum_columns(self, tables: CandidateTables, base: tuple[int, ...]) -> Floats:
        columns = prod(self._sizes[k] for k in base) * np.array([self._sizes[k] for k in tables.candidates])
        counts = tables.counts.reshape(-1, tables.counts.shape[-1])
        sums: Floats = self._log_marginals(counts, np.repeat(columns, tables.sizes).astype(np.float64)).sum(axis=0)
        return sums

    def _log_marginals(self, counts: Counted, configurations: Floats) -> Floats:
        """Terms ln Gamma(n + s) - ln Gamma(s) of counts whose last axis has s = sample_size / configurations."""
        shares = np.broadcast_to(self._sample_size / configurations, counts.shape)
        values = np.zeros(counts.shape)
        occurring = np.nonzero(counts)
        below = np.broadcast_to(log_gamma(1.0 + self._sample_size / configurations), counts.shape)[occurring]
        shares = shares[occurring]
        values[occurring] = log_gamma(counts[occurring] + shares) - below + np.log(shares)
        return values


def log_gamma(numbers: Floats) -> Floats:
    """The logarithm ln Gamma(x) for x from 1 on, by Stirling's series for x + 7.

    >>> np.exp(log_gamma(np.array([1.0, 2.0, 5.0]))).round(9)
    array([ 1.,  1., 24.])
    """
    product = numbers.copy()
    for k in range(1, 7):
        product *= numbers + k
    x = numbers + 7.0
    square = 1.0 / (x * x)
    series = (1.0 / 12.0 - square * (1.0 / 360.0 - square * (1.0 / 1260.0 - square / 1680.0))) / x
    return (x - 0.5) * np.log(x) - x + 0.5 * log(2.0 * pi) + series - np.log(product)

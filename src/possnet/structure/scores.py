"""Scores that fall apart into families.

All three are L(P, i) - L(P) - (ln N / 2) times the number of free parameters, where L of a set of variables is the sum of
n ln n over its configurations, so that what is known of a set serves every family that it is part of:

- ``random-set-bic``: n counts rows whose cells *equal* given cells; (K_i - 1) prod K_p parameters, K_v being the number of
  distinct cells of v that occur. L(P, i) - L(P) is mLL, equation (8) of [HLB], at its maximum. Right where cells are Markov
  to the structure: precise rows, ``alpha-cut`` rows whose children see what was observed, ``traced`` rows without forks.
- ``bic``: the same on precise rows, with the sizes r of the domains for K (Schwarz 1978).
- ``mdl``: n shares each row equally among the configurations that it contains; (r_i - 1) prod r_p parameters. It is
  piLL, equation (9), at the maximum of Proposition 1 with S = 1. On precise rows it is ``bic``; otherwise a heuristic.

All three are score-equivalent: structures with the same essential graph have the same score.
"""

from __future__ import annotations

from math import inf, log, prod
from typing import TYPE_CHECKING, Final

import numpy as np

from possnet.errors import InputError
from possnet.kernels import tally
from possnet.limits import refuse_over
from possnet.structure.contingency import DENSE, ContingencyTables

if TYPE_CHECKING:
    from possnet.aliases import Floats
    from possnet.structure.coded_rows import CodedRows
    from possnet.structure.contingency import CandidateTables, Counted

_LOOKED_UP: Final = 1 << 21


class FamilyScore:
    """``bic``, ``random-set-bic`` or ``mdl``; everything that was ever computed is kept.

    Variables are numbers, parents sorted tuples of them.

    >>> import possnet as pn
    >>> from possnet.structure.coded_rows import CodedRows
    >>> data = pn.Dataset.from_table({"a": ["x", "y"] * 50, "b": ["u", "v"] * 50})
    >>> score = FamilyScore(CodedRows(data), "bic")
    >>> round(score.score_family(1, ()), 6), round(score.score_family(1, (0,)), 6), score.score_additions(1, ()).round(6)
    (-71.617303, -4.60517, array([-4.60517, -inf]))
    """

    def __init__(self, columns: CodedRows, name: str) -> None:
        if name == "bic" and columns.imprecise:
            raise InputError(
                f"learn_structure: measure 'bic' with cells of {columns.imprecise[0]!r} that are not single states; "
                "expected precise rows: use 'random-set-bic', 'traced-bic' or 'mdl'"
            )
        self.tables = ContingencyTables(columns)
        self.size = len(columns.variables)
        self.columns = columns
        self._sizes = self.tables.n_cells if name == "random-set-bic" else self.tables.states
        self._shared = name == "mdl" and bool(columns.imprecise)
        self._price = log(max(columns.total, 2)) / 2.0
        self._sums: dict[int, float] = {0: columns.total * log(max(columns.total, 1))}
        self._found: dict[tuple[int, tuple[int, ...]], Floats] = {}
        counted = columns.weights is None and columns.total < _LOOKED_UP
        self._logs = logged(np.arange(columns.total + 1)) if counted else None

    def penalty(self, child: int, parents: tuple[int, ...]) -> float:
        """What the free parameters of a family cost."""
        return self._price * max(self._sizes[child] - 1, 0) * prod(self._sizes[p] for p in parents)

    def log_likelihood(self, child: int, parents: tuple[int, ...]) -> float:
        """Log-likelihood of a family at its maximum: the score without its price."""
        return self._sum((*parents, child)) - self._sum(parents)

    def score_family(self, child: int, parents: tuple[int, ...]) -> float:
        """Score of a family."""
        return self.log_likelihood(child, parents) - self.penalty(child, parents)

    def score_additions(self, child: int, parents: tuple[int, ...]) -> Floats:
        """Score of the family with each variable as one more parent; -inf where that cannot be, or surely not be better.

        A likelihood is at most 1, so many are ruled out by their price.
        """
        key = child, parents
        if key not in self._found:
            now = self.score_family(child, parents)
            price = self.penalty(child, parents)
            candidates = [
                k for k in range(self.size) if k != child and k not in parents and -price * self._sizes[k] > now
            ]
            self.prepare(child, parents, candidates)
            scores = np.full(self.size, -inf)
            family, above = self._mask((*parents, child)), self._mask(parents)
            for k in candidates:
                known = self._sums.get(above | 1 << k)
                known = self._sum((*parents, k)) if known is None else known
                scores[k] = self._sums.get(family | 1 << k, 0.0) - known - price * self._sizes[k]
            self._found[key] = scores
        return self._found[key]

    def prepare(self, child: int, parents: tuple[int, ...], candidates: list[int]) -> None:
        """Count the family with each candidate, all at once, unless that is known."""
        base = self._mask((*parents, child))
        lacking = [k for k in candidates if base | 1 << k not in self._sums]
        if lacking and self.columns.rows:
            self._fill(child, parents, lacking)

    @staticmethod
    def _mask(chosen: tuple[int, ...]) -> int:
        mask = 0
        for k in chosen:
            mask |= 1 << k
        return mask

    def _sum(self, chosen: tuple[int, ...]) -> float:
        """L of a set."""
        mask = self._mask(chosen)
        if mask not in self._sums:
            self._sums[mask] = self._alone(tuple(sorted(chosen)))
        return self._sums[mask]

    def _alone(self, chosen: tuple[int, ...]) -> float:
        if not self._shared:
            return float(self._logged(self.tables.cell_counts(chosen)).sum())
        _, combinations = self.tables.group(chosen)
        cells = [self.columns.sets[k] for k in chosen]
        cell_counts = self.tables.cell_counts(chosen)
        return float(self._logged(tally.share_rows(list(combinations.T), cell_counts, cells, _refuse).counts).sum())

    def _fill(self, child: int, parents: tuple[int, ...], candidates: list[int]) -> None:
        """L of the family and of the parents, with each candidate."""
        states = self.tables.states
        configurations = prod(states[p] for p in (*parents, child)) if self._shared else 0
        dense = [
            k
            for k in candidates
            if self.tables.cells(parents, child, k) <= DENSE and configurations * states[k] <= DENSE
        ]
        for k in candidates:
            if k not in dense:
                self._sum((*parents, child, k))
        tables = self.tables.shared if self._shared else self.tables.focal
        for found in tables(parents, child, dense) if dense else ():
            self._keep(found, (*parents, child))
            above = found._replace(counts=found.counts.sum(axis=1, keepdims=True))
            self._keep(above, parents)

    def _keep(self, found: CandidateTables, base: tuple[int, ...]) -> None:
        contexts, states, width = found.counts.shape
        columns = self._logged(found.counts.reshape(contexts * states, width)).sum(axis=0)
        values = np.add.reduceat(columns, found.starts)
        mask = self._mask(base)
        for k, value in zip(found.candidates, values.tolist(), strict=True):
            self._sums.setdefault(mask | 1 << k, value)

    def _logged(self, counts: Counted) -> Floats:
        if self._logs is not None and counts.dtype == np.int64:
            return np.take(self._logs, counts.astype(np.int64, copy=False))
        return logged(counts)


def logged(counts: Counted) -> Floats:
    """The numbers n ln n.

    >>> logged(np.array([0, 1, 2])).round(3)
    array([0.   , 0.   , 1.386])
    """
    numbers = counts.astype(np.float64, copy=False)
    return numbers * np.log(np.where(numbers > 0.0, numbers, 1.0))


def _refuse(entries: int) -> None:
    refuse_over(32 * entries, f"sharing rows among {entries:,} configurations", "use fewer rows, or set max_parents")

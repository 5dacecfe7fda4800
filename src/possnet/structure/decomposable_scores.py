"""Scores that are sums over families: random-set BIC, MDL and BIC.

All three are L(P, i) - L(P) - (ln N / 2) times the number of free parameters, where L of a set of variables is the sum of
n ln n over its configurations; the sum of a set is computed once for all families that contain it:

- ``random-set-bic``: n counts rows whose cells *equal* given cells; (K_i - 1) prod K_p parameters, K_v being the number of
  distinct cells of v that occur. L(P, i) - L(P) is mLL, equation (8) of [HLB], at its maximum. It is consistent where
  the cells satisfy the Markov condition: precise rows, ``alpha-cut`` rows with ``parents="observed"``, ``traced`` rows of
  structures without forks.
- ``bic``: the same on precise rows, with the sizes r of the domains for K (Schwarz 1978).
- ``mdl``: n shares each row equally among the configurations that it contains; (r_i - 1) prod r_p parameters. It is
  piLL, equation (9) of [HLB], at the maximum of Proposition 1 with S = 1. On precise rows it is ``bic``; otherwise a
  heuristic.

All three are score-equivalent: structures with the same CPDAG have the same score.

[HLB] M. Haddad, P. Leray, N. Ben Amor: Possibilistic networks: parameters learning from imprecise data and evaluation
strategy.
"""

from __future__ import annotations

from functools import cache, cached_property
from math import inf, log, prod
from typing import TYPE_CHECKING, Final, Literal

import numpy as np

from possnet.kernels import data_cube, tally
from possnet.limits import refuse_over
from possnet.structure.bit_sets import bits_of
from possnet.structure.chow_liu import spanning_tree
from possnet.structure.contingency import DENSE, ContingencyTables, FamilyQuery
from possnet.structure.family_table import FamilyTable
from possnet.structure.hill_climbing import climb_families
from possnet.structure.search_graph import parent_sets_of, parents_of
from possnet.structure.set_sums import SetSums

if TYPE_CHECKING:
    from collections.abc import Sequence

    from possnet.aliases import Bools, Floats, Ints
    from possnet.structure.coded_rows import CodedRows
    from possnet.structure.contingency import CandidateTables, Counted
    from possnet.structure.score_registry import SearchProblem
    from possnet.structure.search_result import SearchResult

_LOOKED_UP: Final = 1 << 21  # rows up to which n ln n is looked up in a table
_FEW: Final = 10  # variables of which all families may be scored at once
_CUBE: Final = 1 << 15  # cells of their data cube, beyond which a climb counts the families that it meets faster
_FEW_ROWS: Final = 1 << 14  # the same where equal rows are merged, so that there are few numbers to look up


class DecomposableScore:
    """A penalised log-likelihood that is a sum over families; all terms that were computed are cached.

    Variables are numbers, parents sorted tuples of them.

    Parameters
    ----------
    rows
        The coded rows.
    counting
        What the sufficient statistics count: rows by their ``cells``, or by their ``states`` (precise rows), or rows
        ``shared`` equally among the configurations that they contain.
    price
        Price of a free parameter; without it (ln N) / 2, that of BIC.
    tables
        Contingency tables of the rows, where these are held elsewhere (see `possnet.structure.streamed_tables`).

    Examples
    --------
    >>> import possnet as pn
    >>> from possnet.structure.coded_rows import CodedRows
    >>> data = pn.Dataset.from_table({"a": ["x", "y"] * 50, "b": ["u", "v"] * 50})
    >>> score = DecomposableScore(CodedRows(data))
    >>> round(score.score_family(1, ()), 6), round(score.score_family(1, (0,)), 6), score.score_additions(1, ()).round(6)
    (-71.617303, -4.60517, array([-4.60517, -inf]))
    """

    def __init__(
        self,
        rows: CodedRows,
        *,
        counting: Literal["cells", "states", "shared"] = "states",
        price: float | None = None,
        tables: ContingencyTables | None = None,
    ) -> None:
        self.rows, self.tables = rows, ContingencyTables(rows) if tables is None else tables
        self.size = len(rows.variables)
        self._sizes = self.tables.n_cells if counting == "cells" else self.tables.states
        self._shared = counting == "shared" and bool(rows.imprecise)
        self._price = log(max(rows.total, 2)) / 2.0 if price is None else price
        self._widths = np.array(self._sizes, dtype=np.float64)
        self._sums = SetSums(self.size, rows.total * log(rows.total or 1))  # L
        self._pairs_counted = False
        self._scores: dict[tuple[int, tuple[int, ...]], float] = {}
        self._additions: dict[tuple[int, tuple[int, ...]], Floats] = {}
        looked_up = isinstance(rows.total, int) and rows.total < (_LOOKED_UP if rows.weights is None else _FEW_ROWS)
        self._looked_up = looked_up

    def prepare_families(self, families: Sequence[tuple[int, tuple[int, ...]]]) -> None:
        """Count all that the scores of some families (child, parents) need, their additions and deletions too, at once.

        Tables of rows in memory are counted when they are needed, but those of pairs at once where there are few; those of
        a stream in one pass for all families.
        """
        if not self.tables.is_streamed:
            if sum(not parents for _, parents in families) > 1 and not self._shared:
                self._count_pairs()
            return
        sets: dict[int, tuple[int, ...]] = {}
        for child, parents in families:
            rests = [tuple(p for p in parents if p != parent) for parent in parents]
            for chosen in (parents, (*parents, child), *rests, *((*rest, child) for rest in rests)):
                sets.setdefault(bits_of(chosen), tuple(sorted(chosen)))
        lacking = [chosen for chosen in sets.values() if self._sums.find(chosen) is None]
        self.tables.prefetch([FamilyQuery(chosen, None, ()) for chosen in lacking])
        for chosen in lacking:
            self._sum_logs(chosen)
        queries = [
            FamilyQuery(parents, child, tuple(wanted))
            for child, parents in families
            if (child, parents) not in self._additions
            and (wanted := self._list_lacking(self._find_candidates(child, parents), *self._sums_with(child, parents)))
        ]
        self.tables.prefetch(queries)
        for query in queries:
            assert query.child is not None  # noqa: S101 - as asked
            self._count_with(query.child, query.parents, list(query.candidates))

    def _find_candidates(self, child: int, parents: tuple[int, ...]) -> Bools:
        """Variables that one more parent can be, unless their penalty alone rules them out."""
        return self._rule_out(child, parents, self.penalties_with(child, parents))

    def _rule_out(self, child: int, parents: tuple[int, ...], penalties: Floats) -> Bools:
        worthwhile: Bools = penalties < -self.score_family(child, parents)
        worthwhile[[*parents, child]] = False
        return worthwhile

    def _sums_with(self, child: int, parents: tuple[int, ...]) -> tuple[Floats, Floats]:
        """L of the family, and of the parents alone, with each variable; NaN where that was not counted yet."""
        above = bits_of(parents)
        return self._sums.wider(above | 1 << child), self._sums.wider(above)

    @staticmethod
    def _list_lacking(wanted: Bools, family: Floats, above: Floats) -> list[int]:
        """Candidates for one more parent whose family, or parents alone, were not counted yet."""
        lacking: list[int] = (wanted & np.isnan(family - above)).nonzero()[0].tolist()
        return lacking

    def penalty(self, child: int, parents: tuple[int, ...]) -> float:
        """What the free parameters of a family cost."""
        return self._price * max(self._sizes[child] - 1, 0) * prod(self._sizes[p] for p in parents)

    def penalties_with(self, child: int, parents: tuple[int, ...]) -> Floats:
        """What the free parameters of a family cost with each variable as one more parent."""
        return self.penalty(child, parents) * self._widths

    def log_likelihood(self, child: int, parents: tuple[int, ...]) -> float:
        """Log-likelihood of a family at its maximum: the score without its price."""
        return self._sum_logs((*parents, child)) - self._sum_logs(parents)

    def score_family(self, child: int, parents: tuple[int, ...]) -> float:
        """Score of a family."""
        key = child, parents
        known = self._scores.get(key)
        if known is None:
            known = self._scores[key] = self.log_likelihood(child, parents) - self.penalty(child, parents)
        return known

    def score_additions(self, child: int, parents: tuple[int, ...]) -> Floats:
        """Score of the family with each variable as one more parent; -inf if that is impossible or cannot be better.

        A likelihood is at most 1, so that many candidates are ruled out by their penalty alone.
        """
        key = child, parents
        if key not in self._additions:
            penalties = self.penalties_with(child, parents)
            wanted = self._rule_out(child, parents, penalties)
            family, above = self._sums_with(child, parents)  # filled in where something is lacking
            lacking = self._list_lacking(wanted, family, above)
            if lacking:
                self._count_with(child, parents, lacking)
            scores = np.where(wanted, family - above - penalties, -inf)
            self._additions[key] = scores
        return self._additions[key]

    def parent_gains(self, child: int, parents: tuple[int, ...], among: Bools, edges: Bools) -> Floats:  # noqa: ARG002
        """Score with one more parent, minus the score without."""
        return self.score_additions(child, parents) - self.score_family(child, parents)

    def score_required(self, required: Bools) -> float:
        """Score of the required edges alone."""
        return float(sum(self.score_family(k, parents) for k, parents in enumerate(parent_sets_of(required))))

    def fill_values(self, result: SearchResult) -> None:
        """What the score would lose without each edge, and the score of every family."""
        families = [self.score_family(k, parents) for k, parents in enumerate(parent_sets_of(result.edges))]
        result.families, result.score = families, float(sum(families))
        for parent, child in np.argwhere(result.edges).tolist():
            rest = tuple(k for k in parents_of(result.edges, child) if k != parent)
            result.gains["delete", parent, child] = self.score_family(child, rest) - families[child]

    def grow_tree(self, problem: SearchProblem) -> SearchResult:
        """The tree by what each variable gains as the only parent of each other, and its score."""
        self.prepare_families([(k, ()) for k in range(self.size)])
        alone = [self.score_family(k, ()) for k in range(self.size)]
        weights = np.full((self.size, self.size), -inf)
        for k in range(self.size):
            problem.clock.check()
            weights[:, k] = self.score_additions(k, ()) - alone[k]
        needed = problem.constraints.required | np.isfinite(weights.T) | (problem.threshold < 0.0)
        for parent, child in np.argwhere(needed & np.isneginf(weights)).tolist():  # ruled out by its price alone
            if parent != child:
                weights[parent, child] = self.score_family(child, (parent,)) - alone[child]
        result = spanning_tree(weights, problem.constraints, problem.threshold, problem.names, float(sum(alone)))
        self.fill_values(result)
        return result

    def climb_structures(self, problem: SearchProblem) -> SearchResult:
        """The best structure of a hill climbing."""
        return climb_families(self.tabulate_families() or self, problem)

    def tabulate_families(self, most: int = _CUBE) -> FamilyTable | None:
        """The scores of all families, where the variables are few and their data cube has at most so many cells."""
        is_small = 1 < self.size <= _FEW and prod(size + 1 for size in self.tables.n_cells) <= most
        if not is_small or self._shared or self.tables.is_streamed or not self.rows.n_rows:
            return None
        sizes = self.tables.n_cells[::-1]
        joint = self.tables.joint_counts().astype(np.float64)
        sums = data_cube.sum_by_subset(self._sum_terms(data_cube.marginal_counts(joint, sizes)), sizes)
        penalties = self._tabulate_penalties()
        scores = sums.take(_list_with_child(self.size))
        scores -= sums
        scores -= penalties
        return FamilyTable(scores, penalties)

    def _sum_terms(self, cube: Floats) -> Floats:
        """What each cell of the data cube adds to L of its variables."""
        return n_log_n(cube)

    def _tabulate_penalties(self) -> Floats:
        """What the free parameters of every family cost (children, sets of parents)."""
        own = self._price * np.maximum(self._widths - 1.0, 0.0)
        return own[:, np.newaxis] * data_cube.subset_products(self._sizes)

    def count_families(self, child: int, parents: tuple[int, ...], candidates: list[int]) -> None:
        """Count the family with each candidate, all at once, unless that is known."""
        known = self._sums.wider(bits_of((*parents, child)))
        lacking = [k for k in candidates if np.isnan(known[k])]
        if lacking and self.rows.n_rows:
            self._count_with(child, parents, lacking)

    def family_table(self, child: int, parents: tuple[int, ...]) -> Floats:
        """Probabilities (contexts, states) of a child in precise rows; every context has one more row, shared equally."""
        states = self.tables.states
        _, occurring = self.tables.group_cells((*parents, child))
        counts = np.full([states[k] for k in (*parents, child)], 1.0 / states[child])
        counts[tuple(occurring.T)] += self.tables.cell_counts((*parents, child))
        table = counts.reshape(-1, states[child])
        shares: Floats = table / table.sum(axis=1, keepdims=True)
        return shares

    def _sum_logs(self, chosen: tuple[int, ...]) -> float:
        """Sum of n ln n over the configurations of a set of variables."""
        known = self._sums.find(chosen)
        return self._sums.keep(chosen, self._sum_one(tuple(sorted(chosen)))) if known is None else known

    def _sum_one(self, chosen: tuple[int, ...]) -> float:
        if not self._shared:
            return float(self._n_log_n(self.tables.cell_counts(chosen)).sum())
        _, combinations = self.tables.group_cells(chosen)
        cells = [self.rows.sets[k] for k in chosen]
        _, shares = tally.share_rows(combinations, self.tables.cell_counts(chosen), cells, _refuse_entries)
        return float(self._n_log_n(shares).sum())

    def _count_with(self, child: int, parents: tuple[int, ...], candidates: list[int]) -> None:
        """L of the family and of the parents, with each candidate."""
        if not self.rows.n_rows:
            for base in ((*parents, child), parents):
                self._sums.keep_wider(base, candidates, np.zeros(len(candidates)))
            return
        states = self.tables.states
        configurations = prod(states[p] for p in (*parents, child)) if self._shared else 0

        def is_dense(cells: int, number_of_states: int) -> bool:
            return self.tables.table_size(parents, child, cells) <= DENSE and configurations * number_of_states <= DENSE

        dense, n_cells = candidates, self.tables.n_cells
        if not is_dense(max(n_cells), max(states)):
            dense = [k for k in candidates if is_dense(n_cells[k], states[k])]
        for k in candidates if len(dense) < len(candidates) else ():
            if k not in dense:
                for base in ((*parents, child), parents):
                    self._sums.keep_wider(base, [k], np.array([self._sum_logs((*base, k))]))
        tables = self.tables.share_states if self._shared else self.tables.count_cells
        above_known = not np.isnan(self._sums.wider(bits_of(parents))[dense]).any()
        for counted in tables(parents, child, dense) if dense else ():
            self._keep_sums(counted, (*parents, child))
            if not above_known:
                self._keep_sums(counted._replace(counts=counted.counts.sum(axis=1, keepdims=True)), parents)

    def _count_pairs(self) -> None:
        """L of all pairs of variables, where their tables are small enough to be made by one matrix product."""
        if self._pairs_counted:
            return
        self._pairs_counted = True
        for child, counted in enumerate(self.tables.count_pairs()):
            self._keep_sums(counted, (child,))
            if child == 0:
                self._keep_sums(counted._replace(counts=counted.counts.sum(axis=1, keepdims=True)), ())

    def _keep_sums(self, tables: CandidateTables, base: tuple[int, ...]) -> None:
        sums = np.add.reduceat(self._sum_columns(tables, base), tables.starts)
        self._sums.keep_wider(base, tables.candidates, sums)

    def _sum_columns(self, tables: CandidateTables, base: tuple[int, ...]) -> Floats:  # noqa: ARG002
        """Sums of n ln n over the columns of tables side by side."""
        contexts, states, width = tables.counts.shape
        sums: Floats = self._n_log_n(tables.counts.reshape(contexts * states, width)).sum(axis=0)
        return sums

    def _n_log_n(self, counts: Counted) -> Floats:
        if self._looked_up and counts.dtype == np.int64:
            looked_up: Floats = self._logs[counts]
            return looked_up
        return n_log_n(counts)

    @cached_property
    def _logs(self) -> Floats:
        """The number n ln n of every number of rows."""
        return n_log_n(np.arange(int(self.rows.total) + 1))


@cache
def _list_with_child(size: int) -> Ints:
    """Every set of variables with each child (children, sets)."""
    return np.arange(1 << size) | 1 << np.arange(size)[:, np.newaxis]


def n_log_n(counts: Counted) -> Floats:
    """The numbers n ln n.

    >>> n_log_n(np.array([0, 1, 2])).round(3)
    array([0.   , 0.   , 1.386])
    """
    numbers = counts.astype(np.float64, copy=False)
    return numbers * np.log(np.where(numbers > 0.0, numbers, 1.0))


def _refuse_entries(entries: int) -> None:
    refuse_over(32 * entries, f"sharing rows among {entries:,} configurations", "use fewer rows, or set max_parents")

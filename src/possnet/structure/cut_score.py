"""Cut-BIC: the BIC of a structure behind alpha-cut rows, by the law of these rows (see `possnet.cuts`).

In rows of Algorithm 1 of [HLB] the cell of a child is an alpha-cut, perhaps thinned, of g_A(x) = max over a in A of
J(x, a), A being its parents' cells and J(x, a) the joint degree of its state and their configuration. The score of a family
is the log-likelihood of its cells at its maximum over J (as `possnet.cuts.fit_family` finds it), minus

    (ln N / 2) q (r - |core|),

q being the number of configurations of the parents and r of states; those of the core, which lie in every cell, are known.
It asks more than `random-set-bic`: g must grow with the parents' cells, and be decided by one of their configurations. A
turned edge rarely has such a law, so that directions are found too.

J(x, a) is at most ρ(a), the joint possibility of the parents' configuration, which depends on the parents' own families. A
family alone leaves that out; `possnet.structure.cut_search` then takes it in. For binary variables it is all that tells
directions: with p and q the shares of rows in which the second state of x and of y lies in the cell, and s that of both,
x -> y needs s / p <= p, y -> x needs s / q <= q, and an edge that is visible has s > p q.

The imprecision θ is the same for all variables, and first estimated without a structure. A variable's cells alone are a
mixture over its parents' cells: two states are both kept in at most θ times the rows that keep the rarer one, so that each
variable gives at most θ. Roots give θ itself. So the largest estimate is taken; 1, where no cell has two states off the
core. Where no root has two states off the core that is too little; a structure's own families then give more, and the
search is repeated with that.

Unknown cells: rows in which the child's is unknown are left out; parents are weighed against none in the rows where all of
their cells are known.

[HLB] is cited in full in `possnet.sampling`.
"""

from __future__ import annotations

from copy import copy
from math import inf, prod
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from possnet.cuts import CellFit, FamilyCells, estimate_imprecision, fit_cells
from possnet.errors import InputError
from possnet.kernels.grouping import sum_weights
from possnet.structure.decomposable_scores import DecomposableScore
from possnet.structure.search_graph import parent_sets_of

if TYPE_CHECKING:
    from possnet.aliases import Bools, Floats
    from possnet.structure.coded_rows import CodedRows

_CLEAR: Final = 10.0  # nats by which another imprecision must be better
_MISREAD: Final = 1e-3  # share of the rows that may lack a state which all others have: those are left out


class EstimatedImprecision(NamedTuple):
    """The imprecision, and whether the rows tell it."""

    theta: float
    told: bool

    def __str__(self) -> str:
        if self.told:
            return f"imprecision {self.theta:.3g} by the rows"
        return "imprecision taken as 1, for no cell has two states off the core"


class CutScore(DecomposableScore):
    """Cut-BIC of families on their own; fits are kept.

    Parameters
    ----------
    rows
        The coded rows, unknown cells apart. An `InputError` if a variable has no state that lies in all of its cells.
    imprecision
        Theta; by default it is estimated.

    Examples
    --------
    >>> import possnet as pn
    >>> from possnet.structure.coded_rows import CodedRows
    >>> x, y = pn.Variable("x", ("1", "2")), pn.Variable("y", ("1", "2", "3"))
    >>> net = pn.Network((x, y), pn.Dag({"x": (), "y": ("x",)}), {"x": [1, 0.5], "y": [[1, 0.2, 0.4], [1, 0.9, 0.1]]})
    >>> score = CutScore(CodedRows(pn.sample(net, 5000, rng=1), missing=True))
    >>> score.score_family(1, (0,)) > score.score_family(1, ())
    True
    """

    def __init__(self, rows: CodedRows, *, imprecision: float | None = None) -> None:
        self.cores = [find_core(rows, k) for k in range(len(rows.variables))]
        rows = leave_out_misread(rows, self.cores)
        super().__init__(rows, counting="cells")
        self.states = self.tables.states
        self.freedom = [int((~core).sum()) for core in self.cores]
        self._candidates: Bools = ~np.eye(self.size, dtype=np.bool_)
        self._families: dict[tuple[int, tuple[int, ...]], FamilyCells] = {}
        self._fits: dict[tuple[int, tuple[int, ...], bytes], CellFit] = {}
        told = imprecision is not None
        self.imprecision = EstimatedImprecision(imprecision, told) if imprecision is not None else self._find_theta()
        self._column_imprecision = self.imprecision

    def restrict_additions(self, candidates: Bools) -> CutScore:
        """The same score, with the same cached fits, by which parents are only added among candidates (parent, child)."""
        restricted = copy(self)
        restricted._candidates, restricted._additions = candidates & self._candidates, {}
        return restricted

    def fit_imprecision(self, edges: Bools) -> CutScore:
        """The score by the imprecision that the families of a structure tell, if that is clearly more than columns tell."""
        families = list(enumerate(parent_sets_of(edges)))
        theta, told = estimate_imprecision([self.count_family(*family) for family in families], "independent")
        alone = self._with_imprecision(self._column_imprecision)
        if not told or theta <= self._column_imprecision.theta:
            return alone
        raised = self._with_imprecision(EstimatedImprecision(theta, told))
        gain = sum(raised.log_likelihood(*family) - alone.log_likelihood(*family) for family in families)
        return raised if gain > _CLEAR else alone

    def measure_misfit(self, edges: Bools) -> float:
        """By how much the law of cuts explains the cells of a structure worse than one free probability for every cell.

        The difference of the log-likelihoods, divided by (ln N / 2) times the number of free probabilities of cells that
        occur: above 1, BIC says that these are no alpha-cut rows. Contexts may be as possible as they like.
        """
        lost, freedom = 0.0, 0
        for child, parents in enumerate(parent_sets_of(edges)):
            family = self.count_family(child, parents)
            whole = float(family.counts @ np.log(family.counts / family.rows[family.pairs[:, 0]]))
            lost += whole - self._fit_cells(family, child, None).log_likelihood
            freedom += len(family.pairs) - len(family.combinations)
        return lost / max(self._price * freedom, self._price)

    def _with_imprecision(self, imprecision: EstimatedImprecision) -> CutScore:
        if imprecision == self.imprecision:
            return self
        score = copy(self)
        score.imprecision, score._fits, score._scores, score._additions = imprecision, {}, {}, {}
        return score

    def penalty(self, child: int, parents: tuple[int, ...]) -> float:
        """(ln N / 2) q (r - |core|)."""
        return self._price * self.freedom[child] * prod(self.states[p] for p in parents)

    def penalties_with(self, child: int, parents: tuple[int, ...]) -> Floats:
        """What a family costs with each variable as one more parent."""
        return self.penalty(child, parents) * np.array(self.states, dtype=np.float64)

    def log_likelihood(self, child: int, parents: tuple[int, ...]) -> float:
        """Log-likelihood of a family, whatever the possibility of its contexts."""
        return self.fit_family(child, parents).log_likelihood

    def tabulate_families(self, most: int = 0) -> None:
        """No table of all families, however small: they are fitted, not counted."""

    def score_additions(self, child: int, parents: tuple[int, ...]) -> Floats:
        """Score of the family with each variable as one more parent; -inf if that is impossible or cannot be better.

        A law of cuts is a law of cells: its likelihood is at most that of the child's cell given its parents' cells, which
        is counted for all candidates at once. Only candidates that could be better are fitted.
        """
        key = child, parents
        if key not in self._additions:
            current, penalties = self.score_family(child, parents), self.penalties_with(child, parents)
            payable = self._candidates[:, child] & (-penalties > current)
            candidates = [k for k in np.flatnonzero(payable).tolist() if k not in parents]
            whole = not any(self.rows.has_missing)
            if whole:
                self.count_families(child, parents, candidates)
            scores = np.full(self.size, -inf)
            for k in candidates:
                wider = tuple(sorted((*parents, k)))
                if not whole or super().log_likelihood(child, wider) - penalties[k] > current:
                    scores[k] = self.log_likelihood(child, wider) - penalties[k]
            self._additions[key] = scores
        return self._additions[key]

    def fit_family(self, child: int, parents: tuple[int, ...], ceiling: Floats | None = None) -> CellFit:
        """The cut likelihood of a family, joint degrees being at most the ceiling of each context (by default 1)."""
        key = child, parents, b"" if ceiling is None else ceiling.tobytes()
        if key not in self._fits:
            family = self.count_family(child, parents)
            fit = self._fit_cells(family, child, ceiling)
            if family.total < (alone := self.count_family(child, ())).total:
                gain = fit.log_likelihood - self._fit_cells(_join_contexts(family), child, None).log_likelihood
                fit = fit._replace(log_likelihood=gain + self._fit_cells(alone, child, None).log_likelihood)
            self._fits[key] = fit
        return self._fits[key]

    def count_family(self, child: int, parents: tuple[int, ...]) -> FamilyCells:
        """Rows by the cells of a family, all of them known, as `possnet.cuts.count_family` counts them in the data."""
        key = child, parents
        if key not in self._families:
            rows, scope = self.rows, (*parents, child)
            known = [len(rows.masks[k]) for k in scope]
            _, combinations = self.tables.group_cells(scope)
            observed = (combinations < known).all(axis=1)
            counts = self.tables.cell_counts(scope)[observed]
            above, cells = combinations[observed, :-1].astype(np.int64), combinations[observed, -1].astype(np.int64)
            first = np.ones(len(above), dtype=np.bool_)
            first[1:] = (above[1:] != above[:-1]).any(axis=1)
            pairs = np.stack([np.cumsum(first) - 1, cells], axis=1)
            sets = [rows.sets[k][:size] for k, size in zip(scope, known, strict=True)]
            variables = [rows.variables[k] for k in scope]
            totals = sum_weights(cells, counts, known[-1])
            self._families[key] = FamilyCells(
                variables[-1], tuple(variables[:-1]), tuple(sets[:-1]), above[first], sets[-1], totals, pairs, counts
            )
        return self._families[key]

    def _fit_cells(self, family: FamilyCells, child: int, ceiling: Floats | None) -> CellFit:
        return fit_cells(family, self.imprecision.theta, ceiling=ceiling, core=self.cores[child])

    def _find_theta(self) -> EstimatedImprecision:
        """The largest of the variables' own estimates, those that are less sure counting less.

        It is no less than the share of cells that have any state off the core.
        """
        estimates, shares = [], [0.0]
        for child, core in enumerate(self.cores):
            family = self.count_family(child, ()).require_states(core, ())
            if not family.total or not self.freedom[child]:
                continue
            held = np.sort(family.presence[0, ~core])
            shares.append(float(held[-1] / family.total))
            theta, told = estimate_imprecision([family], "independent")
            if told:
                error = np.sqrt(theta * (1.0 - theta) / max(float(held[-2]), 1.0))
                estimates.append((theta - 3.0 * error, theta))
        if not estimates:
            return EstimatedImprecision(1.0, told=False)
        return EstimatedImprecision(max(max(estimates)[1], *shares), told=True)


def find_core(rows: CodedRows, number: int) -> Bools:
    """States that lie in all known cells of a variable but for a few misread ones; an `InputError` if there is none."""
    sets = rows.sets[number][: len(rows.masks[number])]
    counts = rows.cell_counts(number)[: len(sets)].astype(np.float64)
    core: Bools = counts @ sets >= (1.0 - _MISREAD) * counts.sum()
    if not core.any():
        raise InputError(
            f"learn_structure: no state of {rows.variables[number].name!r} lies in all of its cells, so these are not "
            "alpha-cut rows; expected them for measure 'cut-bic'; use 'traced-bic' for rows of measuring devices"
        )
    return core


def leave_out_misread(rows: CodedRows, cores: list[Bools]) -> CodedRows:
    """The rows in which every known cell holds its core."""
    kept = np.ones(rows.n_rows, dtype=np.bool_)
    for sets, codes, core in zip(rows.sets, rows.codes, cores, strict=True):
        kept &= np.asarray((sets | ~core).all(axis=1))[codes]
    return rows if kept.all() else rows.keep_rows(kept)


def _join_contexts(family: FamilyCells) -> FamilyCells:
    """The same rows without the parents."""
    totals = sum_weights(family.pairs[:, 1], family.counts, len(family.child_cells))
    cells = np.flatnonzero(totals)
    pairs = np.stack([np.zeros_like(cells), cells], axis=1)
    combinations = np.zeros((1 if len(cells) else 0, 0), dtype=np.int64)
    return FamilyCells(family.child, (), (), combinations, family.child_cells, totals, pairs, totals[cells])

"""Traced BIC: the BIC of a structure in which each child depends on its parents' *hidden true states* (the trace).

The score is the log-likelihood of `possnet.fit_em` at its maximum, minus (ln N / 2) times the sum of q_i (r_i - 1), q_i
being the number of configurations of the parents and r_i of states. It orients edges: structures with the same CPDAG
differ in it, unless the rows are precise; then it is BIC.

The likelihood is a product over *components*: parents whose hidden states meet in a family, with all their children. A move
changes one or two components; the likelihood, the masses and so the E-steps of all others are reused as they are, which is
exact. The changed component starts from the masses it had, and from a *local* EM for the family that changed, in which the
parents' hidden states are equally possible given their cells. That local likelihood is exact while no parent has another
child; otherwise it ignores the information of the other children on the hidden states. It also ranks the moves, so that EM
over whole components runs only for the most promising ones: this approximates. While structures are compared EM stops
within half a nat, by Aitken's estimate; the structure that is kept is fitted again until a tenth is left, as
`possnet.fit_em` does: from the masses of the search and, unless there are many distinct rows, from equal ones; the better
score counts.
"""

from __future__ import annotations

from math import log, prod
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

import numpy as np

from possnet.em import EmAlgorithm, EmRows, HiddenStateModel, merge_overlapping, run_m_step, run_squarem
from possnet.graph import Dag
from possnet.limits import refuse_over
from possnet.structure.decomposable_scores import DecomposableScore, n_log_n
from possnet.structure.sized_cache import SizedCache

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from possnet.aliases import Codes, Floats, Ints, Weights
    from possnet.structure.coded_rows import CodedRows

    Family: TypeAlias = tuple[int, tuple[int, ...]]

_TOLERANCE: Final = 0.5  # nats, while structures are compared
_MOST_STEPS: Final = 200  # E-steps
_LAST_TOLERANCE: Final = 0.1  # nats, for the structure that is kept: that of `possnet.fit_em`
_LAST_STEPS: Final = 1000
_MANY_ROWS: Final = 20_000  # from here on the structure that is kept is not fitted a second time
_MANY_FAMILIES: Final = 40  # nor a component of more families
_LOCAL_TOLERANCE: Final = 0.3
_LOCAL_STEPS: Final = 60
LEAST_MASS: Final = 1e-12
"""None is 0 at the start, where EM would leave it, nor less in posteriors, where products would vanish."""
_DENSE: Final = 1 << 22  # entries of a table of cells
_ALGORITHMS: Final = 32  # components whose rows are kept ready for EM
_KEPT: Final = 1 << 23  # masses


class FittedComponent(NamedTuple):
    """The log-likelihood of a component, and the masses m(A | a) of its families, contexts in table order."""

    log_likelihood: float
    masses: dict[Family, Floats]


def _em_rows(nodes: Iterable[int], score: TracedScore) -> EmRows:
    """The rows of some variables for EM."""
    rows = score.rows
    variables, masks, counts, missing = {}, {}, {}, {}
    for k in nodes:
        name, cell_counts = score.names[k], score.cell_counts[k]
        variables[name] = rows.variables[k]
        masks[name] = rows.masks[k] or [1 << s for s in range(len(rows.variables[k]))]
        missing[name] = cell_counts[-1].item() if rows.has_missing[k] else 0
        seen = cell_counts[: len(rows.masks[k])]
        counts[name] = seen if len(seen) else np.zeros(len(masks[name]), dtype=np.int64)

    def group_rows(parts: Sequence[Sequence[str]]) -> list[tuple[NDArray[np.int32], Weights]]:
        groups = []
        for part in parts:
            chosen = tuple(score.place[name] for name in part)
            distinct = score.tables.group_cells(chosen)[1].copy()
            for column, name in zip(distinct.T, part, strict=True):
                if not rows.masks[score.place[name]]:  # never observed
                    column[:] = len(masks[name])
            groups.append((distinct, score.tables.cell_counts(chosen)))
        return groups

    return EmRows(variables, rows.total, masks, counts, missing, group_rows)


class TracedScore:
    """Traced BIC of structures over the same rows; components and local likelihoods are kept.

    >>> import possnet as pn
    >>> from possnet.structure.coded_rows import CodedRows
    >>> x, y = pn.Variable("x", ("1", "2")), pn.Variable("y", ("1", "2"))
    >>> net = pn.Network((x, y), pn.Dag({"x": (), "y": ("x",)}), {"x": [1, 0.5], "y": [[1, 0.2], [0.1, 1]]})
    >>> score = TracedScore(CodedRows(pn.sample(net, 1000, process="traced", rng=1), missing=True))
    >>> score.score_structure([(), (0,)]) > score.score_structure([(1,), ()]) > score.score_structure([(), ()])
    True
    """

    def __init__(self, rows: CodedRows) -> None:
        self._cells = DecomposableScore(rows, counting="cells")
        self.rows, self.tables = rows, self._cells.tables
        self._gains: dict[Family, Floats] = {}
        self.names = [variable.name for variable in rows.variables]
        self.place = {name: k for k, name in enumerate(self.names)}
        self.size = len(self.names)
        self.states = self.tables.states
        self.cell_counts = [rows.cell_counts(k) for k in range(self.size)]
        self.price = log(max(rows.total, 2)) / 2.0
        self._alone = [self._marginal_log_likelihood(k) for k in range(self.size)]
        self._components: SizedCache[FittedComponent] = SizedCache(
            _KEPT, lambda fitted: sum(m.size for m in fitted.masses.values()) + 1
        )
        self._local: SizedCache[tuple[float, Floats]] = SizedCache(_KEPT, lambda fitted: fitted[1].size + 1)
        self._algorithms: SizedCache[tuple[EmAlgorithm, tuple[int, ...]]] = SizedCache(_ALGORITHMS, lambda _: 1)

    def sample_rows(self, most: int) -> TracedScore | None:
        """The same score on some of the rows, drawn once and for all; None if there are not more."""
        chosen = self.rows.sample_rows(most)
        return None if chosen is None else TracedScore(chosen)

    def free_masses(self, child: int, parents: tuple[int, ...]) -> int:
        """Number of masses that a family is priced by: q (r - 1)."""
        return prod(self.states[p] for p in parents) * (self.states[child] - 1)

    def penalty(self, child: int, parents: tuple[int, ...]) -> float:
        """(ln N / 2) q (r - 1)."""
        return self.price * self.free_masses(child, parents)

    def score_structure(self, families: Sequence[tuple[int, ...]]) -> float:
        """Traced BIC of a structure, given the parents of every variable."""
        return self.log_likelihood(families) - sum(self.penalty(k, parents) for k, parents in enumerate(families))

    def log_likelihood(
        self, families: Sequence[tuple[int, ...]], start: Mapping[Family, Floats] | None = None
    ) -> float:
        """Log-likelihood at the maximum of EM, which starts from the masses given where a component is not yet fitted."""
        inside: set[int] = set()
        value = 0.0
        for component in self.split_components(families):
            inside.update(child for child, _ in component)
            value += self.fit_component(component, start).log_likelihood
        return value + sum(alone for k, alone in enumerate(self._alone) if k not in inside)

    def split_components(self, families: Sequence[tuple[int, ...]]) -> list[frozenset[Family]]:
        """Families whose hidden states meet."""
        scopes = self.hidden_scopes(families)
        return [
            frozenset((k, tuple(families[k])) for k, scope in enumerate(scopes) if scope and scope <= group)
            for group in merge_overlapping(scopes)
        ]

    def hidden_scopes(self, families: Sequence[tuple[int, ...]]) -> list[set[int]]:
        """Hidden states that meet in every family: the parents', and that of an active variable with missing cells."""
        active = {p for parents in families for p in parents}
        return [
            {*parents, *((k,) if self.rows.has_missing[k] and k in active else ())}
            for k, parents in enumerate(families)
        ]

    def fit_component(
        self, families: frozenset[Family], start: Mapping[Family, Floats] | None = None
    ) -> FittedComponent:
        """The component fitted by EM, which starts from the masses given, or else from those of every family alone."""
        fitted = self._components.get(families)
        if fitted is None:
            fitted = self._components.put(families, self._run_em(families, start or {}))
        return fitted

    def improve_component(self, families: frozenset[Family], start: Mapping[Family, Floats]) -> None:
        """Fit a component once more, from other masses; the better fit is kept."""
        again, known = self._run_em(families, start), self._components.get(families)
        if known is None or again.log_likelihood > known.log_likelihood:
            self._components.put(families, again)

    def observed_cells(self, number: int) -> int:
        """Number of distinct cells of a variable, missing ones apart; 1 if it is never observed."""
        return max(len(self.rows.masks[number]), 1)

    def hidden_posteriors(
        self, component: frozenset[Family], clamped: dict[int, int] | None = None
    ) -> tuple[Floats, dict[int, Floats]]:
        """Log-probabilities with clamped hidden states, up to a constant, and the posteriors of the hidden states.

        They are for the combinations of cells that occur in the columns of the component (see `component_columns`), which
        has its fitted masses; ``clamped`` gives some hidden variables their states.
        """
        algorithm, _ = self._algorithms.get_or_compute(component, lambda: self._prepare_em(component))
        fitted = self.fit_component(component).masses
        masses = {self.names[child]: np.maximum(values, LEAST_MASS) for (child, _), values in fitted.items()}
        fixed = {self.names[k]: state for k, state in (clamped or {}).items()}
        logs, posteriors = algorithm.state_posteriors(masses, fixed)
        return logs, {self.place[name]: values for name, values in posteriors.items()}

    def component_columns(self, component: frozenset[Family]) -> tuple[int, ...]:
        """The columns whose cells a component depends on."""
        return self._algorithms.get_or_compute(component, lambda: self._prepare_em(component))[1]

    def _prepare_em(self, families: frozenset[Family]) -> tuple[EmAlgorithm, tuple[int, ...]]:
        """EM for a component, and its columns."""
        parents = dict(families)
        nodes = sorted({*parents, *(p for above in parents.values() for p in above)})
        dag = Dag({self.names[k]: [self.names[p] for p in parents.get(k, ())] for k in nodes})
        rows = _em_rows(nodes, self)
        algorithm = EmAlgorithm(HiddenStateModel(dag, rows), rows)
        return algorithm, tuple(self.place[name] for name in algorithm.model.components[0].columns)

    def refit(self, families: Sequence[tuple[int, ...]]) -> None:
        """Run EM to convergence, and keep the best of several starts.

        They are the current masses, equal ones like those of `possnet.fit_em`, and those of every family alone.
        """
        for component in self.split_components(families):
            ends = [self._run_em(component, self.fit_component(component).masses, last=True)]
            if self.rows.n_rows <= _MANY_ROWS and len(component) <= _MANY_FAMILIES:
                ends += [self._run_em(component, None, last=True), self._run_em(component, {}, last=True)]
            self._components.put(component, max(ends, key=lambda end: end.log_likelihood))

    def local_log_likelihood(self, child: int, parents: tuple[int, ...]) -> float:
        """Log-likelihood of a child's cells given its parents' cells, by EM over this family alone."""
        return self._fit_local((child, parents))[0]

    def local_gains(self, child: int, parents: tuple[int, ...]) -> Floats:
        """Local gain of every variable as one more parent; where its upper bound is no gain, that bound.

        The bound is the likelihood of the child's cell given its parents' *cells* (``random-set-bic`` without its penalty),
        in rows where the child is observed.
        """
        key = child, parents
        if key not in self._gains:
            others = [k for k in range(self.size) if k != child and k not in parents]
            if not self.rows.has_missing[child]:
                self._cells.count_families(child, parents, others)
            current = self.local_log_likelihood(child, parents) - self.penalty(child, parents)
            gains = np.full(self.size, -np.inf)
            for k in others:
                wider = tuple(sorted((*parents, k)))
                price = self.penalty(child, wider)
                gains[k] = self._bound_local(child, wider) - price - current
                if gains[k] > 0.0:
                    gains[k] = self.local_log_likelihood(child, wider) - price - current
            self._gains[key] = gains
        return self._gains[key]

    def _bound_local(self, child: int, parents: tuple[int, ...]) -> float:
        """Upper bound of the local log-likelihood: that of the child's cell given its parents' cells.

        Rows whose cell of the child is missing are left out.
        """
        if not self.rows.has_missing[child]:
            return self._cells.log_likelihood(child, parents)
        counted = self._count_family(child, parents)
        sums = np.bincount(counted.contexts, counted.cell_counts)
        return float(n_log_n(counted.cell_counts).sum() - n_log_n(sums).sum())

    def _count_family(self, child: int, parents: tuple[int, ...]) -> _FamilyCounts:
        """Rows by the cells of the parents and of the child; those where the child is missing are left out."""
        _, combinations = self.tables.group_cells((*parents, child))  # in the order of the parents' cells
        seen = combinations[:, -1] < max(len(self.rows.masks[child]), 1)
        cell_counts = self.tables.cell_counts((*parents, child))[seen]
        above, cells = combinations[seen, :-1], combinations[seen, -1]
        first = np.ones(len(above), dtype=np.bool_)
        first[1:] = (above[1:] != above[:-1]).any(axis=1)
        return _FamilyCounts(np.cumsum(first) - 1, cells, cell_counts, above[first])

    def _marginal_log_likelihood(self, child: int) -> float:
        """Log-likelihood of a variable's own cells, missing ones apart."""
        cell_counts = self.cell_counts[child][: len(self.rows.masks[child])]
        return float(n_log_n(cell_counts).sum() - n_log_n(cell_counts.sum()))

    def _fit_local(self, family: Family) -> tuple[float, Floats]:
        return self._local.get_or_compute(family, lambda: self._run_local_em(family))

    def _run_local_em(self, family: Family) -> tuple[float, Floats]:
        child, parents = family
        family_counts = self._count_family(child, parents)
        width = prod(self.states[p] for p in parents)
        n_cells = max(len(self.rows.masks[child]), 1)
        dense = len(family_counts.parents) * n_cells <= _DENSE
        size = width * (len(family_counts.parents) + n_cells if dense else 2 * len(family_counts.cell_counts) + n_cells)
        if size > _DENSE:
            self._refuse_size(4 * size, [family])
        shares = self.tables.spread_cells(parents, family_counts.parents, shared=True)
        return (_fit_dense if dense else _fit_sparse)(family_counts, shares, n_cells)

    def _refuse_size(self, numbers: int, families: Iterable[Family]) -> None:
        widest = max(families, key=lambda family: prod(self.states[p] for p in family[1]))
        refuse_over(
            8 * numbers,
            f"EM for {self.names[widest[0]]!r} with {len(widest[1])} parents",
            "set max_parents, or use fewer rows, or states that give fewer distinct cells",
        )

    def _run_em(
        self, families: frozenset[Family], start: Mapping[Family, Floats] | None, *, last: bool = False
    ) -> FittedComponent:
        """EM from the masses given, from those of the family alone where there are none; from equal masses without any."""
        masses_in_all = sum(prod(self.states[p] for p in above) * len(self.rows.masks[k]) for k, above in families)
        if masses_in_all > _DENSE:
            self._refuse_size(8 * masses_in_all, families)
        algorithm, _ = self._algorithms.get_or_compute(families, lambda: self._prepare_em(families))
        point = algorithm.equal_masses()
        for family in () if start is None else families:
            name = self.names[family[0]]
            masses = start[family] if start is not None and family in start else self._fit_local(family)[1]
            if masses.shape == point[name].shape:
                mixed = masses + LEAST_MASS + 1e-3 * point[name]
                point[name] = mixed / mixed.sum(axis=1, keepdims=True)
        run = run_squarem(
            point,
            algorithm.take_step,
            tolerance=_LAST_TOLERANCE if last else _TOLERANCE,
            max_steps=_LAST_STEPS if last else _MOST_STEPS,
        )
        alone = sum(self._alone[self.place[name]] for name in algorithm.model.alone)
        value = run.log_likelihood[-1] - alone
        return FittedComponent(value, {family: run.masses[self.names[family[0]]] for family in families})


class _FamilyCounts(NamedTuple):
    """Rows by the parents' cells (a number among those that occur) and the child's cell; and these cells of the parents."""

    contexts: Codes
    cells: Codes
    cell_counts: Ints
    parents: NDArray[np.int32]


def _fit_dense(family_counts: _FamilyCounts, shares: Floats, n_cells: int) -> tuple[float, Floats]:
    """Largest sum of n(A, B) ln sum_a W(A, a) m(B | a), and the masses m there."""
    counts = np.zeros((len(shares), n_cells))
    counts[family_counts.contexts, family_counts.cells] = family_counts.cell_counts
    observed = counts > 0.0

    def step(point: dict[str, Floats]) -> tuple[float, dict[str, Floats]]:
        masses = point["m"]
        likelihoods = shares @ masses
        value = float((counts * np.log(np.where(observed, np.maximum(likelihoods, 1e-300), 1.0))).sum())
        expected = masses * (shares.T @ np.where(observed, counts / np.maximum(likelihoods, 1e-300), 0.0))
        return value, run_m_step({"m": expected}, point)

    return _maximise(step, shares.shape[1], n_cells)


def _fit_sparse(family_counts: _FamilyCounts, shares: Floats, n_cells: int) -> tuple[float, Floats]:
    """The same maximum as `_fit_dense`, over the pairs of cells that occur, where these are few of many."""
    order = np.argsort(family_counts.cells, kind="stable")
    cells, cell_counts = family_counts.cells[order], family_counts.cell_counts[order]
    listed = shares[family_counts.contexts[order]]
    present, starts = np.unique(cells, return_index=True)

    def step(point: dict[str, Floats]) -> tuple[float, dict[str, Floats]]:
        masses = point["m"]
        likelihoods = np.maximum(np.einsum("es,se->e", listed, masses[:, cells]), 1e-300)
        value = float(cell_counts @ np.log(likelihoods))
        expected = np.zeros_like(masses)
        sums = np.add.reduceat(listed * (cell_counts / likelihoods)[:, np.newaxis], starts, axis=0)
        expected[:, present] = masses[:, present] * sums.T
        return value, run_m_step({"m": expected}, point)

    return _maximise(step, shares.shape[1], n_cells)


def _maximise(
    step: Callable[[dict[str, Floats]], tuple[float, dict[str, Floats]]], contexts: int, n_cells: int
) -> tuple[float, Floats]:
    start = np.full((contexts, n_cells), 1.0 / n_cells)
    run = run_squarem({"m": start}, step, tolerance=_LOCAL_TOLERANCE, max_steps=_LOCAL_STEPS)
    return run.log_likelihood[-1], run.masses["m"]

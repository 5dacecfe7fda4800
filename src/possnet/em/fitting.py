"""Learning the tables of a network from imprecise data by EM over the hidden trace.

The *trace* of a row is the true state behind each of its cells; it is hidden, for only the cells (sets of states) are
observed. Counting cannot recover a child's degrees from such rows, because a row counts for every context that its
parents' cells contain (see `possnet.sampling_limit`). In the model of EM a child depends on its parents' true states: given
their configuration a, the cell A of child i is observed with probability m_i(A | a) (see `possnet.em.hidden_states`).

EM (Dempster, Laird and Rubin 1977) maximises the likelihood of the rows over these masses. The E-step computes the expected
counts of every context and cell under the posterior of the trace (`possnet.em.e_step`), the M-step divides them by their
sum in each context (`possnet.em.m_step`), and SQUAREM accelerates the iteration (`possnet.em.squarem`). The contour of the
masses, sum over A containing x of m_i(A | a), divided by its largest degree, is the learned π(x | a).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Final, get_args

import numpy as np

from possnet.doors import check_arguments, check_fields, checks_itself
from possnet.em.algorithm import EmAlgorithm, HeldPosteriors
from possnet.em.em_result import CellMasses, EmResult
from possnet.em.em_rows import Unknown, code_em_rows
from possnet.em.hidden_states import HiddenStateModel
from possnet.em.identifiability import find_identified_contexts
from possnet.em.squarem import run_squarem
from possnet.errors import InputError, require_known, require_number, require_whole
from possnet.network import Network
from possnet.parameters import PriorName, back_off, normalise_rows, read_prior, read_thetas, undo_thinning
from possnet.possibility import PRODUCT, Conjunction, check_conjunction, snap_tops
from possnet.seeds import seed_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from concurrent.futures import Executor

    from possnet.aliases import Bools, Floats, Progress
    from possnet.dataset import Batches, Dataset
    from possnet.em.squarem import EmRun
    from possnet.graph import Dag
    from possnet.parameters import Prior

NO_ROW: Final = 1e-6  # expected rows up to which a context counts as never visited


@check_fields
@checks_itself("start")
@dataclass(frozen=True, slots=True)
class EmOptions:
    """Starting points, limits and output of `fit_em`; the defaults suit most data.

    Attributes
    ----------
    max_steps
        Stop after this many E-steps, converged or not.
    starts, rng
        Number of runs, the first from equal masses and the others from random ones drawn by ``rng``; the run with the
        highest log-likelihood is kept.
    start
        An earlier result whose masses are the starting point of the first run, instead of equal masses.
    accelerate
        Extrapolate between steps where that raises the likelihood (see `possnet.em.squarem`).
    pooled
        Give contexts that the rows visit but do not identify the degrees that EM ended with, instead of all 1.
    limit
        Bytes that the tables may take; more is refused before they are allocated.
    name
        Name of the learned network.

    Examples
    --------
    >>> EmOptions(starts=5, rng=1).max_steps
    10000
    """

    max_steps: int = 10_000
    starts: int = 1
    rng: np.random.Generator | int | None = None
    start: EmResult | None = None
    accelerate: bool = True
    pooled: bool = False
    limit: int | None = None
    name: str = ""

    def __post_init__(self) -> None:
        limit = 1 if self.limit is None else self.limit
        for value, what in ((self.max_steps, "max_steps"), (self.starts, "starts"), (limit, "limit")):
            require_whole(value, 1, f"fit_em: {what}")


@check_arguments
def fit_em(
    dag: Dag,
    data: Dataset | Batches,
    *,
    tolerance: float = 0.1,
    unknown: Unknown = "missing",
    prior: PriorName | None = None,
    pseudo: float | None = None,
    imprecision: float | Mapping[str, float] | None = None,
    conjunction: Conjunction = PRODUCT,
    options: EmOptions | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> EmResult:
    """Learn the tables of a network by EM over the hidden trace: the true states behind the cells of a row.

    Every child depends on the true states of its parents, of which only the cells are observed. Unlike counting
    (`possnet.fit`), this recovers the degrees of the network that the rows were drawn from by ``process="traced"``.

    Equation
    --------
    P(d) = ∑_{ω ∈ d} ∏_i m_i(d_i | ω_{pa(i)}) / |d_i|
    π(x | a) = ∑_{A ∋ x} m_i(A | a) / max_y ∑_{A ∋ y} m_i(A | a)

    Parameters
    ----------
    dag
        The structure whose tables are learned.
    data
        A data set, or a stream of batches with its columns; it has a column for every node of the DAG, and others are
        ignored. Only distinct rows are kept.
    tolerance
        Stop when the estimated remaining gain in total log-likelihood (Aitken), in nats, is below this.
    unknown
        Cells that were given as unknown are ``missing`` (not observed; with the other cells precise this is EM for Bayesian
        networks with missing data) or ``focal`` (the whole domain is what was observed).
    prior, pseudo
        Imagined rows added to every context, and their number (1 for a prior without it; a number alone is of
        ``marginal`` rows). EM then maximises the likelihood plus the sum over contexts a and cells A of
        pseudo * M(A) ln m(A | a). ``marginal``: M(A) is the share of the variable's observed cells that are A; a context
        without rows takes the expected rows of the next smaller context that has some, the least telling parents dropped
        first (``EmResult.backed_off``), and contexts that the rows confound keep what EM ended with. ``ignorance``: M is 1
        for the whole domain, and contexts that the rows do not identify are all 1. ``none``: no such rows.
    imprecision
        Theta of the rows, if known: degrees are divided by it before they are normalised (see `possnet.fit`).
    conjunction
        Conjunction of the learned network; the tables do not depend on it.
    options
        Starting points, number of steps, and limits: see `EmOptions`.
    executor
        A ``concurrent.futures`` executor that shares the rows of each E-step among workers.
    progress
        Called with the number of steps so far and ``max_steps``.

    Returns
    -------
    EmResult
        The learned network, its masses, the log-likelihood at every step, and which contexts the rows identify.

    Examples
    --------
    >>> import possnet as pn
    >>> x, y = pn.Variable("x", ("1", "2")), pn.Variable("y", ("1", "2"))
    >>> net = pn.Network((x, y), pn.Dag({"x": (), "y": ("x",)}), {"x": [1, 0.5], "y": [[1, 0.2], [0.1, 1]]})
    >>> data = pn.sample(net, 100_000, process="traced", rng=1)
    >>> pn.fit(net.dag, data).table("y").round(1)
    array([[1. , 0.5], [0.9, 1. ]])
    >>> result = fit_em(net.dag, data)
    >>> result.network.table("y").round(1)
    array([[1. , 0.2], [0.1, 1. ]])
    >>> result.stopped
    'converged'
    """
    settings = EmSettings.from_options(tolerance, unknown, prior, pseudo, imprecision, conjunction, options)
    rows = code_em_rows(dag, data, unknown, whole_domains=settings.whole_domains)
    model = HiddenStateModel(dag, rows, settings.options.limit)
    return run_em(
        EmAlgorithm(model, rows, prior=settings.prior, posteriors=HeldPosteriors(model, rows, executor)),
        settings,
        progress,
    )


@dataclass(frozen=True, slots=True)
class EmSettings:
    """The checked options of `fit_em`."""

    tolerance: float
    unknown: Unknown
    prior: Prior
    imprecision: float | Mapping[str, float] | None
    conjunction: Conjunction
    options: EmOptions

    @classmethod
    def from_options(
        cls,
        tolerance: float = 0.1,
        unknown: Unknown = "missing",
        prior: PriorName | None = None,
        pseudo: float | None = None,
        imprecision: float | Mapping[str, float] | None = None,
        conjunction: Conjunction = PRODUCT,
        options: EmOptions | None = None,
    ) -> EmSettings:
        """The options of `fit_em`, or an `InputError` that says which cannot be used."""
        require_number(tolerance, "fit_em: tolerance", "a number >= 0", 0.0)
        imagined = read_prior(prior, pseudo, "fit_em")
        if 0.0 < imagined.weight < 1e-9:
            raise InputError(f"fit_em: pseudo {pseudo!r}; expected 0, or a number from 1e-9 on")
        require_known(unknown, get_args(Unknown), "fit_em: unknown")
        check_conjunction(conjunction)
        chosen = EmOptions() if options is None else options
        return cls(tolerance, unknown, imagined, imprecision, conjunction, chosen)

    @property
    def whole_domains(self) -> bool:
        """Whether the whole domain is a cell of every variable, seen or not: imagined rows have it."""
        return self.prior.kind == "ignorance" and self.prior.weight > 0.0


def run_em(algorithm: EmAlgorithm, settings: EmSettings, progress: Progress | None = None) -> EmResult:
    """Run EM from every starting point that the options ask for; the result of the best run."""
    chosen = settings.options
    thetas = read_thetas(settings.imprecision, algorithm.rows.variables.values(), "fit_em")
    rng = np.random.default_rng(0 if chosen.rng is None else seed_of(chosen.rng))
    runs = []
    for number in range(chosen.starts):
        if number > 0:
            masses = algorithm.random_masses(rng)
        else:
            masses = algorithm.equal_masses() if chosen.start is None else algorithm.continue_from(chosen.start)
        runs.append(
            run_squarem(
                masses,
                algorithm.take_step,
                tolerance=settings.tolerance,
                max_steps=chosen.max_steps,
                accelerate=chosen.accelerate,
                progress=progress,
            )
        )
    best = max(runs, key=lambda run: run.log_likelihood[-1])
    steps = sum(run.steps for run in runs)
    return _to_result(algorithm, best, steps, thetas, settings.conjunction, chosen, settings.prior)


def _to_result(
    algorithm: EmAlgorithm,
    run: EmRun,
    steps: int,
    thetas: Mapping[str, float],
    conjunction: Conjunction,
    options: EmOptions,
    prior: Prior,
) -> EmResult:
    """The network, masses and diagnostics of a finished run."""
    rows = algorithm.rows
    _, counts = algorithm.expected_counts(run.masses)
    contexts = _classify_contexts(algorithm)
    tables, masses, support, unvisited, confounded, consonant, backed_off = {}, {}, {}, {}, {}, {}, {}
    for name, family in algorithm.model.families.items():
        variable, values = rows.variables[name], run.masses[name]
        visited, identified = contexts[name]
        support[name] = np.asarray(counts[name].sum(axis=1).reshape(family.shape))
        backed_off[name] = np.zeros(family.shape, dtype=np.bool_)
        if prior.backs_off:
            visited_here = visited.reshape(family.shape) & (support[name] > NO_ROW)
            values = _back_off_masses(counts[name], values, visited_here, algorithm.imagined.get(name))
            backed_off[name] = ~visited_here & visited_here.any()
            support[name] = np.where(backed_off[name], 0.0, support[name])
        degrees = values @ family.cells
        if name in thetas:
            degrees = undo_thinning(np.minimum(degrees, 1.0), thetas[name])
        degrees = np.minimum(normalise_rows(degrees), 1.0)
        known = backed_off[name].ravel() | visited if prior.backs_off else visited if options.pooled else identified
        degrees[~known] = 1.0
        snap_tops(degrees, axis=-1)
        tables[name] = degrees.reshape(*family.shape, len(variable))
        cells = tuple(variable.states_in(mask) for mask in rows.masks[name])
        masses[name] = CellMasses(cells, values.reshape(*family.shape, len(cells)))
        unvisited[name] = np.asarray(~visited.reshape(family.shape))
        confounded[name] = np.asarray((visited & ~identified).reshape(family.shape))
        consonant[name] = np.asarray(_find_consonant(values, family.cells).reshape(family.shape))
    network = Network.unchecked(
        tuple(rows.variables.values()),
        algorithm.model.dag,
        tables,
        conjunction=conjunction,
        support=support,
        name=options.name,
    )
    trace = tuple(run.log_likelihood)
    return EmResult(network, masses, trace, steps, run.stopped, support, unvisited, confounded, consonant, backed_off)


def _back_off_masses(counts: Floats, masses: Floats, seen: Bools, imagined: Floats | None) -> Floats:
    """Masses, contexts that were not seen with those of the next smaller one that was; all (contexts, cells)."""
    smaller = back_off(counts.reshape(*seen.shape, -1), seen).reshape(masses.shape)
    smaller = smaller + (0.0 if imagined is None else imagined)
    sums = smaller.sum(axis=1, keepdims=True)
    shares = np.divide(smaller, sums, out=masses.copy(), where=sums > 0.0)
    return np.where(seen.reshape(-1, 1), masses, shares)


def _classify_contexts(algorithm: EmAlgorithm) -> dict[str, tuple[Bools, Bools]]:
    """Visited and identified contexts of every family, from the rows that show the variable and all its parents."""
    families, rows = algorithm.model.families, algorithm.rows
    scopes = {name: (*family.parents, name) for name, family in families.items()}
    contexts = {}
    for name, (distinct, _) in zip(scopes, rows.group_rows(list(scopes.values())), strict=True):
        shown = distinct[(distinct < [len(rows.masks[n]) for n in scopes[name]]).all(axis=1)]
        parent_cells = np.unique(shown[:, :-1], axis=0)
        sets = [families[parent].cells for parent in families[name].parents]
        contexts[name] = find_identified_contexts(parent_cells, sets, families[name].shape)
    return contexts


def _find_consonant(masses: Floats, cells: Bools) -> Bools:
    """In which contexts the cells with mass are nested; masses up to 1e-9 are what EM leaves of a vanishing one."""
    by_size = np.argsort(cells.sum(axis=1), kind="stable")
    consonant = np.ones(len(masses), dtype=np.bool_)
    for context, row in enumerate(masses):
        focal = by_size[row[by_size] > 1e-9]
        consonant[context] = all(not (cells[small] & ~cells[large]).any() for small, large in pairwise(focal))
    return consonant

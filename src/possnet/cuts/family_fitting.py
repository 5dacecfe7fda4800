"""The cut likelihood of one family: from counts of its cells to bounds of its table."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from possnet.cuts.ancestor_bounds import ContextDegrees
from possnet.cuts.cell_likelihood import cell_log_likelihood, undo_inclusion
from possnet.cuts.family_bounds import TableBounds, bound_table, contexts_in_cells, find_forced, greatest_solution
from possnet.cuts.presence_ascent import PresenceProblem, find_alone, find_needed, fit_levels, slice_sets
from possnet.possibility import PRODUCT, Conjunction, snap_tops

if TYPE_CHECKING:
    from possnet.aliases import Bools, Floats
    from possnet.cuts.family_cells import FamilyCells
    from possnet.sampling import Law

_SMALLEST: Final = 1e-12


@dataclass(frozen=True, slots=True)
class FamilyFit:
    """The table of one family, as far as the cut likelihood tells it.

    Attributes
    ----------
    bounds
        Lower and upper end of every degree, and which are identified, (contexts, states).
    error
        Standard error of the ends of every degree that are estimated, (contexts, states); 0 for states of the core.
    support
        Rows whose parents' cells contain each context.
    core
        States that lie in every cell.
    degrees
        g_A, the degrees that the cell is cut from under every combination of the parents' cells, (combinations, states).
    joint
        J̄, the greatest joint degrees of state and context, (contexts, states).
    marginal, marginal_error
        Marginal possibility of every state, max over A of g_A, and its standard error.
    log_likelihood
        Of the family's cells given its parents' cells, by the full law of a cell (see `possnet.cuts.cell_likelihood`).
    """

    bounds: TableBounds
    error: Floats
    support: Floats
    core: Bools
    degrees: Floats
    joint: Floats
    marginal: Floats
    marginal_error: Floats
    log_likelihood: float


def fit_family(
    family: FamilyCells,
    imprecision: float = 1.0,
    *,
    law: Law = "independent",
    contexts: ContextDegrees | None = None,
    pseudo: float = 0.5,
    conjunction: Conjunction = PRODUCT,
    core: Bools | None = None,
) -> FamilyFit:
    """Bounds of a conditional table, and its log-likelihood, from counts of the cells of a family.

    Parameters
    ----------
    contexts
        How possible each context is. Nothing is known by default: that suits comparing likelihoods, but leaves the upper
        ends at 1.
    core
        States that lie in every cell, if known.

    Examples
    --------
    >>> import possnet as pn
    >>> from possnet.cuts import count_family
    >>> data = pn.Dataset.from_table({"a": ["x", {"x", "y"}] * 50, "b": ["u", "u", "u", {"u", "v"}] * 25})
    >>> half = np.array([1.0, 0.5])
    >>> fit = fit_family(count_family(data, "b", ["a"]), contexts=ContextDegrees(half, half, np.zeros(2)), pseudo=0.0)
    >>> fit.bounds.lower.round(2), fit.bounds.upper.round(2)
    (array([[1., 0.], [0., 1.]]), array([[1., 0.], [1., 1.]]))
    >>> round(fit.log_likelihood, 1)
    -34.8
    """
    inside = contexts_in_cells(family.parent_cells, family.combinations)
    known = ContextDegrees.unknown(inside.shape[1]) if contexts is None else contexts
    top = family.core if core is None else core
    counts = count_states(family, top, imprecision, law)
    fit = fit_states(inside, counts, top, known, pseudo, conjunction)
    value = cell_log_likelihood(family, fit.degrees, top, imprecision, law)
    return replace(fit, log_likelihood=value, support=inside.T.astype(np.float64) @ family.rows)


class CellFit(NamedTuple):
    """What a score of structures needs of a family: its log-likelihood, and the marginal possibility of its states.

    ``marginal`` and ``marginal_error`` are those of `FamilyFit`.
    """

    log_likelihood: float
    marginal: Floats
    marginal_error: Floats


def fit_cells(
    family: FamilyCells,
    imprecision: float = 1.0,
    *,
    law: Law = "independent",
    ceiling: Floats | None = None,
    pseudo: float = 0.5,
    core: Bools | None = None,
) -> CellFit:
    """The log-likelihood of `fit_family`, without the bounds of the table, which take most of its time.

    ``ceiling`` is the largest possibility of every context, in table order; without it, 1.

    >>> import possnet as pn
    >>> from possnet.cuts import count_family
    >>> data = pn.Dataset.from_table({"a": ["x", {"x", "y"}] * 50, "b": ["u", "u", "u", {"u", "v"}] * 25})
    >>> family = count_family(data, "b", ["a"])
    >>> fit_cells(family).log_likelihood == fit_family(family).log_likelihood
    True
    """
    inside = contexts_in_cells(family.parent_cells, family.combinations)
    top = family.core if core is None else core
    highest = np.ones(inside.shape[1]) if ceiling is None else ceiling
    fitted = fit_degrees(inside, count_states(family, top, imprecision, law), top, highest, pseudo)
    value = cell_log_likelihood(family, fitted.degrees, top, imprecision, law)
    return CellFit(value, *find_marginal(fitted))


class PresenceCounts(NamedTuple):
    """Presence of the states off the core: n_A and k_A(x), (combinations, states), k_A(x) ~ Bin(n_A, kept g_A(x))."""

    rows: Floats
    presence: Floats
    kept: float


def count_states(family: FamilyCells, core: Bools, imprecision: float, law: Law) -> PresenceCounts:
    """Presence of every state off the core under each combination of the parents' cells.

    By the text's law how often a state is kept depends on the others of its cut: n_A then counts the rows in which it
    would have been kept, which are known up to the shares themselves.
    """
    presence = family.presence[:, ~core].astype(np.float64)
    rows = np.repeat(family.rows.astype(np.float64)[:, np.newaxis], presence.shape[1], axis=1)
    if law == "independent" or imprecision == 1.0:
        return PresenceCounts(rows, presence, imprecision)
    degrees = np.minimum(undo_inclusion(presence / rows, imprecision, law), 1.0)
    return PresenceCounts(np.divide(presence, degrees, out=imprecision * rows, where=degrees > 0.0), presence, 1.0)


def fit_states(
    inside: Bools, counts: PresenceCounts, core: Bools, known: ContextDegrees, pseudo: float, conjunction: Conjunction
) -> FamilyFit:
    """Bounds of a table from the presence of its states; support and log-likelihood are left at 0.

    Contexts that no combination contains have bounds 0 and 1. An entry is forced if leaving it out, all others fitted
    again, costs more than (ln N) / 2 of log-likelihood.
    """
    seen = np.asarray(inside.any(axis=0))
    fitted = fit_degrees(inside, counts, core, known.ceiling, pseudo)
    degrees, errors, problem = fitted.degrees, fitted.errors, fitted.problem
    needed = np.zeros((inside.shape[1], len(core)), dtype=np.bool_)
    least, own_errors = np.full(needed.shape, np.inf), np.zeros(needed.shape)
    if problem is not None:
        price = 0.5 * np.log(max(float(counts.rows.sum(axis=0).max()), 2.0))
        slack = 3.0 * counts.kept * known.error[seen, np.newaxis]
        places = np.ix_(seen, ~core)
        needed[places] = find_needed(problem, fitted.levels, price, slack)
        own, spread = estimate_alone(problem, fitted.shares, slack)
        least[places], own_errors[places] = own / counts.kept, spread / counts.kept
    solution = greatest_solution(inside, degrees, known.ceiling)
    needed[:, core] = find_forced(inside, degrees[:, core], solution[:, core])
    joint_error = spread_errors(inside, degrees, errors, solution, known.error)
    joint_error = np.where(needed, np.maximum(joint_error, own_errors), joint_error)
    slack = 3.0 * np.hypot(joint_error, known.error[:, np.newaxis])
    lowest = np.where(least + 2.0 * own_errors < solution, least, solution)
    bounds = bound_table(solution, needed, known.floor, known.ceiling, conjunction, seen, slack, lowest)
    snap_tops(bounds.upper, axis=-1)
    return FamilyFit(
        bounds,
        np.where(core | ~seen[:, np.newaxis], 0.0, _conditional_errors(solution, joint_error, known, conjunction)),
        np.zeros(inside.shape[1]),
        core,
        degrees,
        solution,
        *find_marginal(fitted),
        0.0,
    )


class FittedDegrees(NamedTuple):
    """g_A and its standard error, (combinations, states); the problem behind them, if a state is off the core; λ, c_A."""

    degrees: Floats
    errors: Floats
    problem: PresenceProblem | None
    levels: Floats
    shares: Floats


def fit_degrees(inside: Bools, counts: PresenceCounts, core: Bools, highest: Floats, pseudo: float) -> FittedDegrees:
    """The degrees g_A that fit the presence of the states best; joint degrees are at most the ``highest`` of a context."""
    free, seen = np.flatnonzero(~core), np.asarray(inside.any(axis=0))
    degrees, errors = np.ones((len(inside), len(core))), np.zeros((len(inside), len(core)))
    if not len(free) or not len(inside):
        return FittedDegrees(degrees, errors, None, np.zeros((0, 0)), np.zeros((0, 0)))
    ceiling = np.maximum(counts.kept * highest[seen], _SMALLEST)
    caps = np.repeat(ceiling[:, np.newaxis], len(free), axis=1)
    problem = PresenceProblem(inside[:, seen], counts.rows, counts.presence, caps, pseudo)
    levels = fit_levels(problem)
    shares, share_errors = estimate_shares(problem, levels)
    degrees[:, free], errors[:, free] = np.minimum(shares / counts.kept, 1.0), share_errors / counts.kept
    return FittedDegrees(degrees, errors, problem, levels, shares)


def find_marginal(fitted: FittedDegrees) -> tuple[Floats, Floats]:
    """Marginal possibility of every state, max over A of g_A, and its standard error.

    The largest of many estimates is too large: those that are less sure count less.
    """
    degrees, errors = fitted.degrees, fitted.errors
    if not len(degrees):
        return np.ones(degrees.shape[1]), np.zeros(degrees.shape[1])
    best, each = (degrees - 2.0 * errors).argmax(axis=0), np.arange(degrees.shape[1])
    return degrees[best, each], errors[best, each]


def estimate_shares(problem: PresenceProblem, levels: Floats) -> tuple[Floats, Floats]:
    """c_A of every set, and its standard error: binomial, over the rows of all sets that the same context decides."""
    which, shares = problem.find_deciding(levels)
    pooled = np.zeros_like(levels)
    np.add.at(pooled, (which, np.arange(levels.shape[1])), problem.rows)
    rows = np.take_along_axis(pooled, which, axis=0)
    smoothed = (shares * rows + 0.5) / (rows + 1.0)
    return shares, np.sqrt(smoothed * (1.0 - smoothed) / (rows + 1.0))


def estimate_alone(problem: PresenceProblem, shares: Floats, slack: Floats) -> tuple[Floats, Floats]:
    """Every λ_a from the sets that a alone can explain, and its standard error; (contexts, columns).

    The other contexts are at their greatest levels, ceilings raised by the ``slack`` of their estimates. Sets that another
    one could explain as well say nothing of λ_a: there the fit may have put it higher than need be. Infinite where a alone
    explains none.
    """
    inside, columns = problem.inside, shares.shape[1]
    greatest = np.minimum(problem.ceiling + slack, 1.0)
    for part in slice_sets(inside, columns):
        around = np.where(inside[part, :, np.newaxis], shares[part, np.newaxis, :], np.inf)
        np.minimum(greatest, around.min(axis=0), out=greatest)
    rows, presence = np.zeros_like(greatest), np.zeros_like(greatest)
    for part in slice_sets(inside, columns):
        alone = find_alone(inside[part], shares[part], greatest, relative=1e-6)
        rows += (alone * problem.rows[part, np.newaxis, :]).sum(axis=0)
        presence += (alone * problem.presence[part, np.newaxis, :]).sum(axis=0)
    smoothed = (presence + 0.5) / (rows + 1.0)
    errors = np.where(rows > 0.0, np.sqrt(smoothed * (1.0 - smoothed) / (rows + 1.0)), 0.0)
    pseudo = problem.pseudo
    return np.where(rows > 0.0, (presence + pseudo) / np.maximum(rows + pseudo, 1e-300), np.inf), errors


def spread_errors(inside: Bools, degrees: Floats, errors: Floats, solution: Floats, context_error: Floats) -> Floats:
    """Standard error of every J̄(x, a): that of the set which decides it, or of ρ(a) where that does."""
    spread = np.repeat(context_error[:, np.newaxis], degrees.shape[1], axis=1)
    for part in slice_sets(inside, degrees.shape[1]):
        decides = inside[part, :, np.newaxis] & (solution == degrees[part, np.newaxis, :])
        decides &= errors[part, np.newaxis, :] > 0.0
        largest = np.where(decides, errors[part, np.newaxis, :], 0.0).max(axis=0)
        spread = np.where(decides.any(axis=0), largest, spread)
    return spread


def _conditional_errors(
    solution: Floats, joint_error: Floats, known: ContextDegrees, conjunction: Conjunction
) -> Floats:
    """Standard errors of the ends: for the product those of J / ρ (delta method), at most 1."""
    if conjunction is not PRODUCT:
        return joint_error
    whole = np.maximum(known.ceiling, _SMALLEST)[:, np.newaxis]
    ratio = np.minimum(solution / whole, 1.0)
    return np.minimum(np.hypot(joint_error, ratio * known.error[:, np.newaxis]) / whole, 1.0)

"""Families whose children saw their parents' whole cuts, of which the rows show only what thinning left.

The cells D of the parents are thinned cuts A, and the child's cell is cut from g_A. The law of the cells determines that of
the cuts (T1): Q_cells(B) = θ^|B off the core| Q_cuts(B) for the probability Q(B) that a set contains B. So the rows tell
what whole cells would tell, only with more noise. Three steps, each an EM or part of one:

1. The cuts that a learned parent can make are those of its degrees; their joint probabilities P(A) are a mixture that
   explains the parents' cells, with components P(D | A) known from the imprecision.
2. Given P(A | D), the presence of a state is a mixture too: P(x in S | D) = sum over A of P(A | D) θ g_A(x). The E-step
   gives expected counts n_A and k_A(x), the M-step is the maximisation of `possnet.cuts.presence_ascent`.
3. Bounds are made from the expected counts. A row whose cut is uncertain counts as part of a row.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Final

import numpy as np

from possnet.cuts.cell_likelihood import cell_probabilities
from possnet.cuts.family_bounds import contexts_in_cells
from possnet.cuts.family_fitting import FamilyFit, PresenceCounts, count_states, fit_states
from possnet.cuts.presence_ascent import PresenceProblem, ascend
from possnet.limits import refuse_over
from possnet.sampling import Law, thinning_weights

if TYPE_CHECKING:
    from collections.abc import Sequence

    from possnet.aliases import Bools, Floats, Ints
    from possnet.cuts.ancestor_bounds import ContextDegrees
    from possnet.cuts.family_cells import FamilyCells
    from possnet.possibility import Conjunction

_MIXTURE_STEPS: Final = 2_000
_PRESENCE_STEPS: Final = 1_000
_TOLERANCE: Final = 1e-6
_FEW_ROWS: Final = 0.5  # combinations of cuts that explain fewer rows are left out


def possible_cuts(degrees: Floats, core: Bools) -> Bools:
    """The distinct cuts of some rows of degrees, (cuts, states); each holds the core.

    >>> possible_cuts(np.array([[1.0, 0.5, 0.2], [1.0, 0.1, 0.3]]), np.array([True, False, False])).astype(int)
    array([[1, 0, 0], [1, 0, 1], [1, 1, 0], [1, 1, 1]])
    """
    levels = np.where(core, 1.0, degrees)
    cuts = (levels[:, np.newaxis, :] >= levels[:, :, np.newaxis])[levels > 0.0]
    return np.unique(np.vstack([cuts | core, core]), axis=0)


def thinning_probabilities(cells: Bools, cuts: Bools, core: Bools, theta: float, law: Law) -> Floats:
    """P(cell | cut), (cells, cuts).

    >>> core = np.array([True, False])
    >>> thinning_probabilities(np.array([[True, False]]), np.array([[True, True]]), core, 0.25, "independent")
    array([[0.75]])
    """
    free = ~core
    weights = thinning_weights(theta, law, int(free.sum()))
    inside = (~cells[:, np.newaxis, :] | cuts).all(axis=-1)
    sizes = (cells & free).sum(axis=1)[:, np.newaxis], (cuts & free).sum(axis=1)[np.newaxis, :]
    return np.where(inside, weights[sizes[1], sizes[0]], 0.0)


def fit_hidden_family(
    family: FamilyCells,
    parents: Sequence[tuple[FamilyFit, float]],
    theta: float,
    contexts: ContextDegrees,
    law: Law,
    pseudo: float,
    conjunction: Conjunction,
) -> FamilyFit:
    """Bounds of a table whose child saw its parents' cuts; ``parents`` are their fits and imprecisions."""
    cuts, combinations, likelihoods = _list_cuts(family, parents, law)
    posterior = _fit_mixture(likelihoods, family.rows.astype(np.float64))
    kept = family.rows @ posterior >= _FEW_ROWS
    posterior = posterior[:, kept] / np.maximum(posterior[:, kept].sum(axis=1, keepdims=True), 1e-300)
    combinations = combinations[kept]
    inside = contexts_in_cells(cuts, combinations)
    observed = count_states(family, family.core, theta, law)
    expected = _expect_presence(inside, observed, posterior, contexts, pseudo)
    fit = fit_states(inside, expected, family.core, contexts, pseudo, conjunction)
    own = contexts_in_cells(family.parent_cells, family.combinations).T.astype(np.float64) @ family.rows
    hidden = replace(family, parent_cells=cuts, combinations=combinations)
    return replace(fit, support=own, log_likelihood=_log_likelihood(family, hidden, fit, posterior, theta, law))


def _list_cuts(
    family: FamilyCells, parents: Sequence[tuple[FamilyFit, float]], law: Law
) -> tuple[tuple[Bools, ...], Ints, Floats]:
    """Cuts of every parent, their combinations, and the probabilities of the observed combinations given each of them."""
    cuts = tuple(
        np.unique(cells, axis=0) if theta == 1.0 else possible_cuts(fit.degrees, fit.core)
        for cells, (fit, theta) in zip(family.parent_cells, parents, strict=True)
    )
    size = prod(len(sets) for sets in cuts)
    what = f"cut likelihood: {size:,} combinations of cuts of the parents of {family.child.name!r}"
    refuse_over(24 * size * max(len(family.combinations), 1), what, "use fewer parents or states")
    combinations = np.array(list(product(*(range(len(sets)) for sets in cuts))), dtype=np.int64).reshape(
        size, len(cuts)
    )
    likelihoods = np.ones((len(family.combinations), size))
    for place, (fit, theta) in enumerate(parents):
        single = thinning_probabilities(family.parent_cells[place], cuts[place], fit.core, theta, law)
        likelihoods *= single[np.ix_(family.combinations[:, place], combinations[:, place])]
    some = likelihoods.any(axis=0)
    return cuts, combinations[some], likelihoods[:, some]


def _fit_mixture(likelihoods: Floats, rows: Floats) -> Floats:
    """P(A | D) of the mixture that explains the parents' cells best, (observed combinations, combinations of cuts)."""
    shares = np.full(likelihoods.shape[1], 1.0 / max(likelihoods.shape[1], 1))
    total = rows.sum()
    for _ in range(_MIXTURE_STEPS):
        weights = rows / np.maximum(likelihoods @ shares, 1e-300)
        renewed = shares * (likelihoods.T @ weights) / total
        moved = np.abs(renewed - shares).max(initial=0.0)
        shares = renewed
        if moved < _TOLERANCE:
            break
    joint = likelihoods * shares
    return np.asarray(joint / np.maximum(joint.sum(axis=1, keepdims=True), 1e-300))


def _expect_presence(
    inside: Bools, observed: PresenceCounts, posterior: Floats, contexts: ContextDegrees, pseudo: float
) -> PresenceCounts:
    """Expected counts of every combination of cuts, each times how surely rows are known to belong to it."""
    seen = np.asarray(inside.any(axis=0))
    ceiling = np.maximum(observed.kept * contexts.ceiling[seen], 1e-12)[:, np.newaxis]
    caps = np.repeat(ceiling, observed.presence.shape[1], axis=1)
    rows, presence = posterior.T @ observed.rows, posterior.T @ observed.presence
    if not presence.size:
        return PresenceCounts(rows, presence, observed.kept)
    problem = PresenceProblem(inside[:, seen], rows, presence, caps, pseudo)
    levels = problem.starting_levels()[0]
    for _ in range(_PRESENCE_STEPS):
        shares = np.clip(problem.find_shares(levels), 1e-12, 1.0 - 1e-12)
        present = posterior @ shares
        presence = shares * (posterior.T @ (observed.presence / present))
        absence = (1.0 - shares) * (posterior.T @ ((observed.rows - observed.presence) / (1.0 - present)))
        problem = PresenceProblem(inside[:, seen], presence + absence, presence, caps, pseudo)
        renewed = ascend(problem, levels, sweeps=1)
        moved = np.abs(renewed - levels).max(initial=0.0)
        levels = renewed
        if moved < _TOLERANCE:
            break
    known = _known_shares(problem, levels, observed, posterior)
    return PresenceCounts(problem.rows * known, problem.presence * known, observed.kept)


def _known_shares(problem: PresenceProblem, levels: Floats, observed: PresenceCounts, posterior: Floats) -> Floats:
    """Which share of its expected rows each combination of cuts would need to tell as much if the cuts were seen.

    With G[D, a] the posterior probability of the cuts in which context a has the largest level, the information on the
    levels of a state is G' diag(n / p(1 - p)) G; its inverse gives their variances, to be compared with binomial ones.
    """
    which, largest = problem.find_deciding(levels)
    shares = np.clip(largest, 1e-9, 1.0 - 1e-9)
    known = np.ones_like(problem.rows)
    present = posterior @ shares
    for state in range(levels.shape[1]):
        deciding, place = np.unique(which[:, state], return_inverse=True)
        members = np.eye(len(deciding))[place.reshape(-1)]
        mixed = posterior @ members
        precision = observed.rows[:, state] / (present[:, state] * (1.0 - present[:, state]))
        variances = np.diag(np.linalg.pinv(mixed.T @ (precision[:, np.newaxis] * mixed), hermitian=True))
        level = levels[deciding, state].clip(1e-9, 1.0 - 1e-9)
        full = members.T @ problem.rows[:, state]
        share = level * (1.0 - level) / np.maximum(variances * full, 1e-300)
        known[:, state] = members @ np.clip(share, 1e-3, 1.0)
    return known


def _log_likelihood(
    family: FamilyCells, hidden: FamilyCells, fit: FamilyFit, posterior: Floats, theta: float, law: Law
) -> float:
    """Log-likelihood of the cells given the parents' cells: the law of a cell, averaged over the hidden cuts."""
    shape = len(hidden.combinations), len(family.child_cells)
    every = replace(hidden, pairs=np.indices(shape).reshape(2, -1).T)
    given_cuts = cell_probabilities(every, fit.degrees, family.core, theta, law).reshape(shape)
    probabilities = (posterior @ given_cuts)[family.pairs[:, 0], family.pairs[:, 1]]
    spread = 0.5 / (family.total + 1.0)
    mixed = (1.0 - spread) * probabilities + spread * 0.5 ** min(int((~family.core).sum()), 900)
    return float(family.counts @ np.log(mixed))

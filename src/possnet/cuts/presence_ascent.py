"""Maximising the presence likelihood of one family: how often each state lies in the cell, given the parents' cells.

For a state x off the core, k_A of the n_A rows whose parents' cells are A have a cell that contains x, with probability
c_A = max over a in A of λ_a, where λ_a = θ J(x, a). The log-likelihood, with pseudo-observations that hold λ above 0,

    sum over A of [k_A log c_A + (n_A - k_A) log(1 - c_A)] + p sum over a of log λ_a,      λ_a <= θ ρ(a),

is maximised one λ_a at a time, each exactly: with the largest of the other λ of every A sorted, the sets that λ_a decides
are the first ones, and between two of them the maximum is (K + p) / (N + p), clipped. Only the two largest λ of every A
are kept, so that a step costs no more than the sets that contain a.

Arrays have one column for each problem that shares the sets: states, starting points, entries that are left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from possnet.aliases import Bools, Floats, Ints

_SMALLEST: Final = 1e-300
_LARGEST: Final = 1.0 - 1e-12
_SLICE: Final = 1 << 19  # entries of such an array
_BATCH: Final = 256  # entries that are left out at a time
_ROUNDS: Final = 20  # of one sweep each
_SURE: Final = 20.0  # a loss so many times the price does not fall below it in later sweeps


def slice_sets(inside: Bools, columns: int) -> Iterator[slice]:
    """Slices of the sets whose arrays over (sets, contexts, columns) take a few megabytes: most problems are one slice.

    >>> list(slice_sets(np.ones((3, 2), dtype=np.bool_), 5))
    [slice(0, 3, None)]
    """
    step = max(_SLICE // max(inside.shape[1] * columns, 1), 1)
    for start in range(0, len(inside), step):
        yield slice(start, min(start + step, len(inside)))


def find_alone(inside: Bools, shares: Floats, levels: Floats, *, relative: float = 0.0, absolute: float = 0.0) -> Bools:
    """Which contexts are the only ones of a set that reach its share, (sets, contexts, columns), up to a tolerance."""
    edges = shares * (1.0 - relative) - absolute
    reached = inside[:, :, np.newaxis] & (levels >= edges[:, np.newaxis, :])
    return np.asarray(reached & (reached.sum(axis=1, keepdims=True) == 1))


def presence_log_likelihood(rows: Floats, presence: Floats, shares: Floats) -> Floats:
    """Sum over A of k log c + (n - k) log(1 - c), for every column.

    >>> presence_log_likelihood(np.array([[2.0, 2.0]]), np.array([[1.0, 0.0]]), np.array([[0.5, 0.0]]))
    array([-1.38629436,  0.        ])
    """
    return np.asarray(_log_terms(rows, presence, shares).sum(axis=0))


def _log_terms(rows: Floats, presence: Floats, shares: Floats) -> Floats:
    present: Floats = presence * np.log(np.maximum(shares, _SMALLEST))
    absent: Floats = (rows - presence) * np.log1p(-np.minimum(shares, _LARGEST))
    return present + absent


@dataclass(frozen=True)
class PresenceProblem:
    """Columns of counts over the same sets of contexts.

    Attributes
    ----------
    inside
        Which contexts each set A contains, (sets, contexts); every context is in some set.
    rows, presence
        n_A and k_A, (sets, columns).
    ceiling
        The largest λ_a, (contexts, columns); 0 leaves an entry out.
    pseudo
        p, the weight of log λ_a.
    """

    inside: Bools
    rows: Floats
    presence: Floats
    ceiling: Floats
    pseudo: float

    @cached_property
    def sets_of_context(self) -> list[Ints]:
        """For every context the sets that contain it."""
        return [np.flatnonzero(column) for column in self.inside.T]

    @cached_property
    def counts_of_context(self) -> list[tuple[Floats, Floats]]:
        """For every context k_A and n_A - k_A of these sets, (sets, columns)."""
        return [(self.presence[sets], self.rows[sets] - self.presence[sets]) for sets in self.sets_of_context]

    def take_columns(self, columns: Ints, ceiling: Floats) -> PresenceProblem:
        """Some of the columns, with other ceilings."""
        problem = PresenceProblem(self.inside, self.rows[:, columns], self.presence[:, columns], ceiling, self.pseudo)
        problem.__dict__["sets_of_context"] = self.sets_of_context
        return problem

    def find_shares(self, levels: Floats) -> Floats:
        """c_A = max over a in A of λ_a, (sets, columns)."""
        return self.find_deciding(levels)[1]

    def find_deciding(self, levels: Floats) -> tuple[Ints, Floats]:
        """The context with the largest level of every set, and that level, (sets, columns)."""
        which = np.zeros((len(self.inside), levels.shape[1]), dtype=np.int64)
        shares = np.zeros(which.shape)
        for part in slice_sets(self.inside, levels.shape[1]):
            held = np.where(self.inside[part, :, np.newaxis], levels, -1.0)
            which[part], shares[part] = held.argmax(axis=1), held.max(axis=1)
        return which, shares

    def log_likelihood(self, levels: Floats) -> Floats:
        """Log-likelihood of every column, without the pseudo-observations."""
        return presence_log_likelihood(self.rows, self.presence, self.find_shares(levels))

    def objective(self, levels: Floats) -> Floats:
        """What is maximised."""
        prior = np.where(self.ceiling > 0.0, np.log(np.maximum(levels, _SMALLEST)), 0.0).sum(axis=0)
        return np.asarray(self.log_likelihood(levels) + self.pseudo * prior)

    def starting_levels(self) -> tuple[Floats, Floats]:
        """Two starting points: the share of a's rows that hold x (counting), and the smallest share of any A around a."""
        weights = self.inside.astype(np.float64)
        held, total = weights.T @ self.presence, weights.T @ self.rows
        shares = (self.presence + self.pseudo) / np.maximum(self.rows + self.pseudo, _SMALLEST)
        smallest = np.stack([shares[sets].min(axis=0) for sets in self.sets_of_context])
        counted = (held + self.pseudo) / np.maximum(total + self.pseudo, _SMALLEST)
        return np.minimum(counted, self.ceiling), np.minimum(smallest, self.ceiling)


class _LargestTwo:
    """The largest two levels of every set, and which context has the largest; (sets, columns)."""

    def __init__(self, inside: Bools, levels: Floats) -> None:
        self._inside, self._levels = inside, levels
        shape = len(inside), levels.shape[1]
        self.which = np.zeros(shape, dtype=np.int64)
        self.first, self.second = np.zeros(shape), np.zeros(shape)
        sets, columns = np.indices(shape).reshape(2, -1)
        for start in range(0, len(sets), 1 << 16):
            self._scan(sets[start : start + (1 << 16)], columns[start : start + (1 << 16)])

    def _scan(self, sets: Ints, columns: Ints) -> None:
        held = np.where(self._inside[sets], self._levels[:, columns].T, -1.0)
        top = held.argmax(axis=1)
        place = np.arange(len(sets))
        self.which[sets, columns], self.first[sets, columns] = top, held[place, top]
        held[place, top] = -1.0
        self.second[sets, columns] = np.maximum(held.max(axis=1), 0.0)

    def others(self, context: int, sets: Ints) -> Floats:
        """The largest level of each set apart from the context's own."""
        return np.where(self.which[sets] == context, self.second[sets], self.first[sets])

    def update(self, context: int, sets: Ints, before: Floats, others: Floats) -> None:
        """Take in the new level of a context."""
        level = self._levels[context]
        was_first = self.which[sets] == context
        is_first = level >= others
        stays = was_first & is_first
        rises = ~was_first & is_first
        first, second, which = self.first[sets], self.second[sets], self.which[sets]
        second = np.where(rises, first, second)
        below = ~was_first & ~is_first
        # A second that was perhaps this context's own, or a first that fell, has to be looked for again.
        lost = (was_first & ~is_first) | (below & (before >= second) & (level < second))
        second = np.where(below & (level > second), level, second)
        self.first[sets] = np.where(stays | rises, level, first)
        self.second[sets], self.which[sets] = second, np.where(rises, context, which)
        if lost.any():
            numbers, columns = np.nonzero(lost)
            self._scan(sets[numbers], columns)


def ascend(problem: PresenceProblem, start: Floats, *, sweeps: int = 100, tolerance: float = 1e-6) -> Floats:
    """Levels λ (contexts, columns) after coordinate ascent from a start, until none moves by more than the tolerance."""
    levels = start.copy()
    tops = _LargestTwo(problem.inside, levels)
    decided: list[Floats | None] = [None] * len(levels)
    for _ in range(1 if len(levels) == 1 else sweeps):  # one context does not depend on others
        moved = 0.0
        for context, sets in enumerate(problem.sets_of_context):
            before = levels[context].copy()
            others = tops.others(context, sets)
            last = decided[context]
            if last is not None and (others == last).all():
                continue  # nothing has changed since its level was chosen
            decided[context] = others
            best = _best_level(
                others, *problem.counts_of_context[context], problem.ceiling[context], before, problem.pseudo
            )
            change = float(np.abs(best - before).max())
            if change > 0.0:
                levels[context] = best
                tops.update(context, sets, before, others)
                moved = max(moved, change)
        if moved <= tolerance:
            break
    return levels


def _best_level(
    others: Floats, presence: Floats, absence: Floats, ceiling: Floats, current: Floats, pseudo: float
) -> Floats:
    """The best λ of one context in every column, given the largest other level of each set that contains it.

    Of equal points the greatest; of levels that differ by rounding alone, the current one. Problems are small, so that
    the number of calls decides: sorted arrays are read by flat indices.
    """
    width = others.shape[1]
    columns = np.arange(width)
    order = others.argsort(axis=0) * width + columns
    edges, present, absent = others.ravel()[order], presence.ravel()[order], absence.ravel()[order]
    decided, against = present.cumsum(axis=0), absent.cumsum(axis=0)
    fixed = present * np.log(np.maximum(edges, _SMALLEST)) + absent * np.log1p(-np.minimum(edges, _LARGEST))
    rest = fixed.sum(axis=0) - fixed.cumsum(axis=0)
    upper = np.empty_like(edges)
    upper[:-1], upper[-1] = edges[1:], np.inf
    decided += pseudo
    levels = decided / np.maximum(decided + against, _SMALLEST)
    levels = np.minimum(np.minimum(np.maximum(levels, edges), upper), ceiling)
    values = decided * np.log(np.maximum(levels, _SMALLEST)) + against * np.log1p(-np.minimum(levels, _LARGEST)) + rest
    values[edges > ceiling] = -np.inf
    last = (len(values) - 1 - values[::-1].argmax(axis=0)) * width + columns
    best = np.where(values.ravel()[last] == -np.inf, ceiling, levels.ravel()[last])
    return np.where(np.abs(best - current) <= 1e-12, current, best)


def fit_levels(problem: PresenceProblem) -> Floats:
    """The better of the maxima from both starting points, for every column.

    >>> inside = np.array([[True, False], [True, True]])
    >>> rows, presence = np.array([[50.0], [50.0]]), np.array([[10.0], [25.0]])
    >>> fit_levels(PresenceProblem(inside, rows, presence, np.ones((2, 1)), 0.0))
    array([[0.2], [0.5]])
    """
    columns = problem.presence.shape[1]
    both = problem.take_columns(np.tile(np.arange(columns), 2), np.tile(problem.ceiling, 2))
    levels = ascend(both, np.hstack(problem.starting_levels()))
    values = both.objective(levels).reshape(2, columns)
    return np.where(values[0] >= values[1], levels[:, :columns], levels[:, columns:])


def find_needed(problem: PresenceProblem, levels: Floats, price: float, slack: Floats | float = 0.0) -> Bools:
    """Entries (contexts, columns) that the counts need: without them, all others fitted again, the likelihood falls.

    Ceilings are estimates themselves: others may exceed theirs by the ``slack`` (contexts, 1) before an entry is needed.
    Only an entry that alone reaches c_A in some set can be needed. A fit without it never falls from one sweep to the
    next, so that an entry is decided as soon as its loss is below the price, or the gains have become small beside it.

    >>> inside = np.array([[True, False], [True, True]])
    >>> problem = PresenceProblem(inside, np.array([[50.0], [50.0]]), np.array([[10.0], [25.0]]), np.ones((2, 1)), 0)
    >>> find_needed(problem, np.array([[0.2], [0.5]]), 2.0).ravel()
    array([ True,  True])
    """
    shares = problem.find_shares(levels)
    alone = np.zeros(levels.shape, dtype=np.bool_)
    for part in slice_sets(problem.inside, levels.shape[1]):
        alone |= find_alone(problem.inside[part], shares[part], levels, relative=1e-6).any(axis=0)
    contexts, columns = np.nonzero(alone)
    full = presence_log_likelihood(problem.rows, problem.presence, shares)
    needed = np.zeros(levels.shape, dtype=np.bool_)
    for start in range(0, len(contexts), _BATCH):
        part = slice(start, start + _BATCH)
        lost = _lose_entries(problem, levels, contexts[part], columns[part], full, price, slack)
        needed[contexts[part], columns[part]] = lost > price
    return needed


def _lose_entries(
    problem: PresenceProblem,
    levels: Floats,
    contexts: Ints,
    columns: Ints,
    full: Floats,
    price: float,
    slack: Floats | float,
) -> Floats:
    """By how much the log-likelihood of a column falls without an entry; near the price exactly, else roughly."""
    waiting = np.arange(len(contexts))
    start, ceiling = levels[:, columns], np.minimum(problem.ceiling[:, columns] + slack, 1.0)
    start[contexts, waiting] = ceiling[contexts, waiting] = 0.0
    part = problem.take_columns(columns, ceiling)
    lost = full[columns] - part.log_likelihood(start)
    for _ in range(_ROUNDS):
        if len(waiting) < part.presence.shape[1]:
            part = problem.take_columns(columns[waiting], ceiling[:, waiting])
        start[:, waiting] = ascend(part, start[:, waiting], sweeps=1)
        loss = full[columns[waiting]] - part.log_likelihood(start[:, waiting])
        gain, lost[waiting] = lost[waiting] - loss, loss
        waiting = waiting[(loss > price) & (loss - price < 4.0 * gain) & (loss < _SURE * price)]
        if not len(waiting):
            break
    return lost

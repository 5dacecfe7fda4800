"""Exact laws of one cell: alpha-cuts of a distribution, thinned by the imprecision.

Let the degrees of a normalised distribution, apart from its core C = {x : degree 1}, be h_1 >= ... >= h_s > 0, and
h_0 = 1, h_(s+1) = 0. The level alpha is uniform on (0, 1], so the cut is C and the j most possible other states with
probability h_j - h_(j+1). The imprecision theta then keeps every state of the cut outside C with probability theta,
each by itself (``law="independent"``):

    p(S | cut) = theta^(|S| - |C|) (1 - theta)^(|cut| - |S|)        for C <= S <= cut.

The text of [HLB] gives the whole cut the weight theta instead; the weights then add up to 1 + theta - theta^j and are
divided by that (``law="text"``).

[HLB] is cited in full in `possnet.sampling`.

A law over many contexts is computed at once: the probability of a subset depends on its size and on the rank of its
least possible member alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from possnet.kernels import bitmaps, grouping
from possnet.transforms import to_probability

if TYPE_CHECKING:
    from collections.abc import Iterator

    from possnet.aliases import Bools, Floats, Ints
    from possnet.sampling.processes import Law, Process


@dataclass(frozen=True, slots=True)
class Outcomes:
    """The law of a variable in every context: the outcomes and their probabilities.

    An outcome is a cell and a *signal*, on which the children depend: the cell itself, the cut before thinning, or a state.

    Attributes
    ----------
    cells
        Cell of every outcome, shape (outcomes, states).
    signals
        Signal of every outcome, a number into ``alphabet``.
    alphabet
        The signals as sets of states, shape (signals, states).
    starts
        Where each context's entries begin in ``ids`` and ``probabilities``; one more than there are contexts.
    ids, probabilities
        Outcome and probability of every entry; all probabilities are above 0.
    """

    cells: Bools
    signals: Ints
    alphabet: Bools
    starts: Ints
    ids: Ints
    probabilities: Floats

    @property
    def n_contexts(self) -> int:
        """Number of contexts."""
        return len(self.starts) - 1

    def to_dense(self) -> Floats:
        """Probabilities of shape (contexts, outcomes)."""
        table = np.zeros((self.n_contexts, len(self.cells)))
        np.add.at(table, (np.repeat(np.arange(self.n_contexts), np.diff(self.starts)), self.ids), self.probabilities)
        return table


def context_degrees(table: Floats, alphabets: list[Bools]) -> Floats:
    """Degrees of the states in every combination of the parents' signals, shape (contexts, states): equation (6).

    The largest degree of the family's joint possibility over the parents' sets; contexts run through the signals of the
    parents in order, the last one fastest.
    """
    degrees = table[np.newaxis]
    for alphabet in alphabets:
        parts = [degrees[:, inside].max(axis=1) for inside in alphabet]
        degrees = np.stack(parts, axis=1).reshape(-1, *degrees.shape[2:])
    return degrees


def count_entries(degrees: Floats, theta: float, process: Process) -> int:
    """Upper bound of the number of entries that `compute_outcomes` enumerates."""
    contexts, states = degrees.shape
    if not process.imprecise:
        return int(contexts * states)
    cut = process.signal == "cut"
    entries, each = 0, 1
    for rows in _group_by_core(degrees):
        free = int(((degrees[rows] > 0.0) & (degrees[rows] < 1.0)).any(axis=0).sum())
        if theta == 0.0 and not cut:
            each = 1
        elif 0.0 < theta < 1.0:
            each = (1 << free) * (free + 1 if cut else 1)
        else:
            each = (free + 1) * max(free, 1)
        entries += len(rows) * each
    return entries * int(states if process.signal == "state" else 1)


def full_cut_bonus(theta: float, free: int) -> Floats:
    """Probability of taking the whole cut before any thinning that turns ``independent`` into ``text``, by cut size.

    With j free states in the cut the text's law is: the whole cut with probability (theta - theta^j) / (1 + theta -
    theta^j), else thin independently. For j = 0 and j = 1 that is thinning alone, up to scale.
    """
    powers: Floats = theta ** np.arange(1, free + 1, dtype=np.float64)
    return np.concatenate([[0.0], (theta - powers) / (1.0 + theta - powers)])


def thinning_weights(theta: float, law: Law, free: int) -> Floats:
    """Probability w[j, m] of one subset of size m when j states are free, m <= j."""
    sizes = np.arange(free + 1)
    kept = theta ** sizes[np.newaxis, :]
    left = np.where(sizes[:, np.newaxis] >= sizes, (1.0 - theta) ** np.maximum(sizes[:, np.newaxis] - sizes, 0), 0.0)
    weights: Floats = (kept * left).astype(np.float64)
    if law == "text":
        bonus = full_cut_bonus(theta, free)
        weights *= (1.0 - bonus)[:, np.newaxis]
        weights[sizes, sizes] += bonus
    return weights


def compute_outcomes(degrees: Floats, theta: float, process: Process) -> Outcomes:
    """Law of the outcomes in every context, from the degrees (contexts, states) that the cell is cut from."""
    contexts, states = degrees.shape
    if not process.imprecise:
        probabilities = to_probability(degrees)
        rows, ids = np.nonzero(probabilities)
        singles = np.eye(states, dtype=np.bool_)
        return _sort_outcomes(contexts, rows, ids, ids, probabilities[rows, ids], singles, singles, keep_states=True)
    cut_matters = process.signal == "cut"
    parts = [
        _enumerate_outcomes(degrees, inside, theta, process.law, cut_matters) for inside in _group_by_core(degrees)
    ]
    rows, cuts, cells, probabilities, sets = _merge_groups(parts)
    if process.signal != "state":
        signals = cuts if cut_matters else cells
        return _sort_outcomes(contexts, rows, signals, cells, probabilities, sets, sets)
    sizes = sets.sum(axis=1)
    entry, state = np.nonzero(sets[cells])
    shared = probabilities[entry] / sizes[cells[entry]]
    singles = np.eye(states, dtype=np.bool_)
    return _sort_outcomes(contexts, rows[entry], state, cells[entry], shared, singles, sets, keep_states=True)


def _group_by_core(degrees: Floats) -> Iterator[Ints]:
    """Contexts grouped by their core."""
    codes, cores = bitmaps.distinct_rows(np.packbits(degrees == 1.0, axis=1))
    order = np.argsort(codes, kind="stable")
    yield from np.split(order, np.cumsum(np.bincount(codes, minlength=len(cores)))[:-1])


def _enumerate_outcomes(
    degrees: Floats,
    rows: Ints,
    theta: float,
    law: Law,
    cut_matters: bool,  # noqa: FBT001
) -> tuple[Ints, Ints, Ints, Floats, Bools]:
    """Entries (row, cut, cell, probability) and the sets that cuts and cells index."""
    core = degrees[rows[0]] == 1.0
    free = np.flatnonzero(((degrees[rows] > 0.0) & ~core).any(axis=0))
    levels = degrees[np.ix_(rows, free)]
    order = np.argsort(-levels, axis=1, kind="stable")
    rank = np.empty_like(order)
    np.put_along_axis(rank, order, np.arange(len(free)), axis=1)
    bounds = np.hstack([np.ones((len(rows), 1)), np.take_along_axis(levels, order, axis=1), np.zeros((len(rows), 1))])
    steps = bounds[:, :-1] - bounds[:, 1:]  # probability that j free states are in the cut
    if theta in {0.0, 1.0}:
        if theta == 0.0 and not cut_matters:
            return rows, np.zeros_like(rows), np.zeros_like(rows), np.ones(len(rows)), core[np.newaxis]
        row, size = np.nonzero(steps)
        inside = rank[row] < size[:, np.newaxis]
        codes, distinct = _distinct_sets(inside)
        sets = _add_core(distinct, free, core)
        if theta == 0.0:
            sets = np.vstack([sets, core])
            return rows[row], codes, np.full(len(row), len(sets) - 1), steps[row, size], sets
        return rows[row], codes, codes, steps[row, size], sets
    subsets = (np.arange(1 << len(free))[:, np.newaxis] >> np.arange(len(free)) & 1).astype(np.bool_)
    deepest = np.zeros((len(rows), len(subsets)), dtype=np.int64)
    for k in range(len(free)):
        np.maximum(deepest, np.where(subsets[:, k], rank[:, k : k + 1] + 1, 0), out=deepest)
    sets, sizes = _add_core(subsets, free, core), subsets.sum(axis=1)
    weights = thinning_weights(theta, law, len(free))
    if not cut_matters:
        weighted = (steps[:, :, np.newaxis] * weights)[:, ::-1]
        deep = np.cumsum(weighted, axis=1)[:, ::-1]  # sum over the cuts that reach so deep
        probabilities = deep[np.arange(len(rows))[:, np.newaxis], deepest, sizes]
        row, cell = np.nonzero(probabilities)
        return rows[row], cell, cell, probabilities[row, cell], sets
    entries: list[tuple[Ints, Ints, Ints, Floats]] = []
    for taken in range(len(free) + 1):
        probabilities = steps[:, taken : taken + 1] * np.where(deepest <= taken, weights[taken, sizes], 0.0)
        row, cell = np.nonzero(probabilities)
        whole = ((rank < taken) << np.arange(len(free))).sum(axis=1, dtype=np.int64)
        entries.append((rows[row], whole[row], cell, probabilities[row, cell]))
    entry_rows, cuts, cells, shares = (np.concatenate(part) for part in zip(*entries, strict=True))
    return entry_rows, cuts, cells, shares, sets


def _add_core(inside: Bools, free: Ints, core: Bools) -> Bools:
    sets = np.tile(core, (len(inside), 1))
    sets[:, free] = inside
    return sets


def _distinct_sets(sets: Bools) -> tuple[Ints, Bools]:
    """Codes and distinct rows of truth values."""
    if not sets.shape[1]:
        return np.zeros(len(sets), dtype=np.int64), np.zeros((1, 0), dtype=np.bool_)
    codes, octets = bitmaps.distinct_rows(np.packbits(sets, axis=1, bitorder="little"))
    return codes, bitmaps.unpack_sets(octets, sets.shape[1])


def _merge_groups(
    parts: list[tuple[Ints, Ints, Ints, Floats, Bools]],
) -> tuple[Ints, Ints, Ints, Floats, Bools]:
    """Entries of all groups over one list of sets."""
    codes, sets = _distinct_sets(np.vstack([part[4] for part in parts]))
    starts = np.cumsum([0, *[len(part[4]) for part in parts]])
    cuts = np.concatenate([codes[part[1] + start] for part, start in zip(parts, starts, strict=False)])
    cells = np.concatenate([codes[part[2] + start] for part, start in zip(parts, starts, strict=False)])
    return np.concatenate([part[0] for part in parts]), cuts, cells, np.concatenate([part[3] for part in parts]), sets


def _sort_outcomes(
    contexts: int,
    rows: Ints,
    signals: Ints,
    cells: Ints,
    probabilities: Floats,
    signal_sets: Bools,
    cell_sets: Bools,
    *,
    keep_states: bool = False,
) -> Outcomes:
    """Entries sorted by context; outcomes and sets that never occur are left out. Single states are all kept, in order."""
    used = np.arange(len(signal_sets)) if keep_states else np.unique(signals)
    number = np.zeros(len(signal_sets), dtype=np.int64)
    number[used] = np.arange(len(used))
    ids, pairs = grouping.compress_keys(signals * len(cell_sets) + cells, len(signal_sets) * len(cell_sets))
    order = np.argsort(rows, kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=contexts))])
    return Outcomes(
        cell_sets[pairs % len(cell_sets)],
        number[pairs // len(cell_sets)],
        signal_sets[used],
        starts,
        ids[order],
        probabilities[order],
    )

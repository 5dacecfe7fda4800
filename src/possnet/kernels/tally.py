"""Counting kernels: how many rows contain each configuration, and each configuration with each state of a child.

Every kernel gets one block of rows and returns the configurations of the parents that occur, in lexicographic order, as
states (configurations, parents), with two counts: of the rows that contain the configuration (totals), and of those that
contain a state of the child too (configurations, states). Counts are exact integers, or floats where weights are.

- `by_codes`: precise cells; one mixed-radix number a row, and a histogram.
- `by_bitmaps`: any cells, whole weights; ANDs and population counts, 64 rows at a time, prefixes shared between
  configurations.
- `by_cells`: any cells; equal rows once, then their cells are expanded parent by parent, equal results merged.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from possnet.kernels import bitmaps
from possnet.kernels.grouping import group_rows, sum_weights

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from possnet.aliases import Bools, Codes, Floats, Ints, Weights, Words


_BROADCAST: Final = 1 << 15  # words of an AND of all contexts with all states that stay in the cache
_TABLE: Final = 1 << 12  # entries of a histogram that is worth it however few the rows


class Tally(NamedTuple):
    """Counts of one family: configurations of the parents that occur, rows with them, rows with them and a state."""

    contexts: NDArray[np.int32]
    counts: Weights
    totals: Weights


def merge_tallies(parts: Sequence[Tally], sizes: Sequence[int]) -> Tally:
    """One tally of several.

    >>> one = Tally(np.array([[1]], dtype=np.int32), np.array([[2, 3]]), np.array([4]))
    >>> merge_tallies([one, one], [2])
    Tally(contexts=array([[1]], dtype=int32), counts=array([[4, 6]]), totals=array([8]))
    """
    number_type = np.result_type(*{part.totals.dtype for part in parts})
    parts = [part for part in parts if len(part.contexts)] or parts[:1]
    first = parts[0]
    if len(parts) == 1 and first.totals.dtype == number_type:
        return first
    if all(np.array_equal(part.contexts, first.contexts) for part in parts[1:]):
        counts, totals = sum(p.counts for p in parts), sum(p.totals for p in parts)
        return Tally(first.contexts, *(np.asarray(numbers, dtype=number_type) for numbers in (counts, totals)))
    states = np.concatenate([part.contexts for part in parts])
    groups = group_rows(list(states.T), sizes, len(states))
    counts = np.zeros((len(groups), first.counts.shape[1]), dtype=number_type)
    totals = np.zeros(len(groups), dtype=number_type)
    start = 0
    for part in parts:
        rows = groups.inverse[start : start + len(part.contexts)]
        counts[rows] += part.counts
        totals[rows] += part.totals
        start += len(part.contexts)
    return Tally(groups.combinations, counts, totals)


def by_codes(
    parents: Sequence[Codes],
    sizes: Sequence[int],
    child: Codes,
    states: int,
    weights: Weights | None,
    refuse: Callable[[int], None],
) -> Tally:
    """Tally of precise rows, given as state numbers; ``refuse`` gets the size of the table before it is made."""
    rows, table = len(child), prod(sizes) * states
    if table <= max(_TABLE, 2 * rows):
        key_type = np.min_scalar_type(table)
        keys: Codes = np.zeros((), dtype=key_type)
        for column, size in zip((*parents, child), (*sizes, states), strict=True):
            keys = keys * key_type.type(size) + column if keys.ndim else column.astype(key_type)
        counts = sum_weights(keys, weights, table).reshape(-1, states)
        return keep_occurring(counts, counts.sum(axis=1), sizes)
    groups = group_rows(parents, sizes, rows)
    refuse(len(groups) * states)
    counts = sum_weights(groups.inverse * states + child, weights, len(groups) * states).reshape(-1, states)
    return Tally(groups.combinations, counts, counts.sum(axis=1))


def keep_occurring(counts: Weights, totals: Weights, sizes: Sequence[int]) -> Tally:
    """The part of a dense table that occurs."""
    kept = np.flatnonzero(totals)
    contexts = np.empty((len(kept), len(sizes)), dtype=np.int32)
    if sizes:
        for place, digits in enumerate(np.unravel_index(kept, tuple(sizes))):
            contexts[:, place] = digits
    return Tally(contexts, counts[kept], totals[kept])


class Scratch:
    """Memory that the bitmap kernel reuses, so that it stays in the cache; not for two threads at once."""

    def __init__(self) -> None:
        self._words = np.empty(0, dtype=bitmaps.WORD)
        self._ones = np.empty(0, dtype=np.uint8)

    def get_buffers(self, *shape: int) -> tuple[Words, NDArray[np.uint8]]:
        """Room for bitmaps of a shape and for the population counts of their words."""
        size = prod(shape)
        if size > len(self._words):
            self._words, self._ones = np.empty(size, dtype=bitmaps.WORD), np.empty(size, dtype=np.uint8)
        return self._words[:size].reshape(shape), self._ones[:size].reshape(shape)

    def count_crossed(self, inside: Words, child: Words) -> Ints:
        """Population counts of every AND of a context (contexts, words) with a state (states, words)."""
        both, ones = self.get_buffers(len(inside), *child.shape)
        np.bitwise_and(inside[:, np.newaxis], child, out=both)
        return bitmaps.add_up(np.bitwise_count(both, out=ones))

    def count_context(self, prefix: Words | None, parent: Words, child: Words) -> Ints:
        """Population counts of a context, prefix and parent's state together, and of its ANDs with states of the child."""
        both, ones = self.get_buffers(len(child) + 1, len(parent))
        if prefix is None:
            both[0] = parent
        else:
            np.bitwise_and(prefix, parent, out=both[0])
        np.bitwise_and(both[0], child, out=both[1:])
        return bitmaps.add_up(np.bitwise_count(both, out=ones))


def by_bitmaps(
    parents: Sequence[Words],
    child: Words,
    rows: int,
    weights: Sequence[Words] | None,
    *,
    precise: bool,
    scratch: Scratch,
) -> Tally:
    """Tally by ANDs and population counts.

    ``weights`` are the binary digits of the rows' weights, lowest first, as bitmaps. Where the child's cells are single
    states (``precise``) the totals are sums.
    """
    sizes = [len(words) for words in parents]
    states, length = child.shape
    if parents and sizes[-1] * states * length > _BROADCAST and weights is None and states * length <= 4 * _BROADCAST:
        return _long_bitmaps(parents, child, precise=precise, scratch=scratch)
    tail, width = len(parents), 1
    while tail > 0 and width * sizes[tail - 1] * states * length <= _BROADCAST:
        tail -= 1
        width *= sizes[tail]
    last = bitmaps.cross_columns(parents[tail:], bitmaps.ones(rows))
    shape = (prod(sizes[:tail]), width)
    counts = np.empty((*shape, states), dtype=np.int64)
    totals = np.empty(shape, dtype=np.int64)
    chunk = max(2 * _BROADCAST // max(length, 1), 1)
    for number, prefix in enumerate(_iterate_prefixes(parents[:tail], length)):
        inside = last if prefix is None else prefix & last if tail < len(parents) else prefix[np.newaxis]
        if weights is not None:
            counts[number] = _weigh_bits(inside[:, np.newaxis] & child, weights)
        else:
            for first in range(0, states, chunk):
                part = child[first : first + chunk]
                counts[number, :, first : first + chunk] = scratch.count_crossed(inside, part)
        if not precise:
            totals[number] = bitmaps.count_bits(inside) if weights is None else _weigh_bits(inside, weights)
    if precise:
        totals = counts.sum(axis=-1)
    return keep_occurring(counts.reshape(-1, states), totals.reshape(-1), sizes)


def _long_bitmaps(parents: Sequence[Words], child: Words, *, precise: bool, scratch: Scratch) -> Tally:
    """One context at a time; if the child is precise its last state has what the others leave."""
    sizes = [len(words) for words in parents]
    shown = child[:-1] if precise else child
    counts = np.empty((prod(sizes), 1 + len(shown)), dtype=np.int64)
    number = 0
    for prefix in _iterate_prefixes(parents[:-1], child.shape[1]):
        for state in parents[-1]:
            counts[number] = scratch.count_context(prefix, state, shown)
            number += 1
    totals, inside = counts[:, 0], counts[:, 1:]
    if precise:
        inside = np.column_stack([inside, totals - inside.sum(axis=1)])
    return keep_occurring(inside, totals, sizes)


def by_difference(parent: Words, child: Words, parent_counts: Ints, child_counts: Ints, scratch: Scratch) -> Tally:
    """Tally of precise, unweighted rows with one parent: the last states have what the others leave.

    >>> column = np.array([[1], [2], [4]], dtype=np.uint64)
    >>> by_difference(column, column, np.array([1, 1, 1]), np.array([1, 1, 1]), Scratch()).counts
    array([[1, 0, 0], [0, 1, 0], [0, 0, 1]])
    """
    counts = np.zeros((len(parent), len(child)), dtype=np.int64)
    if len(child) > 1:
        for state, inside in enumerate(parent[:-1]):
            counts[state, :-1] = scratch.count_crossed(inside[np.newaxis], child[:-1])[0]
    counts[:-1, -1] = (parent_counts - counts.sum(axis=1))[:-1]
    counts[-1] = child_counts - counts[:-1].sum(axis=0)
    return keep_occurring(counts, parent_counts, [len(parent)])


def _iterate_prefixes(parents: Sequence[Words], length: int) -> Iterator[Words | None]:
    """Bitmaps of the configurations of the first parents in order; None if there are none."""
    if not parents:
        yield None
        return
    stack = [np.empty(length, dtype=bitmaps.WORD) for _ in parents]

    def below(depth: int, prefix: Words | None) -> Iterator[Words]:
        for words in parents[depth]:
            inside = words if prefix is None else np.bitwise_and(prefix, words, out=stack[depth])
            if depth == len(parents) - 1:
                yield inside
            else:
                yield from below(depth + 1, inside)

    yield from below(0, None)


def _weigh_bits(words: Words, planes: Sequence[Words]) -> Ints:
    total: Ints = bitmaps.count_bits(words & planes[0])
    for bit, plane in enumerate(planes[1:], start=1):
        total = total + (bitmaps.count_bits(words & plane) << bit)
    return total


def by_cells(
    combinations: NDArray[np.int32],
    weights: NDArray[Any],
    cells: Sequence[Bools],
    refuse: Callable[[int], None],
) -> Tally:
    """Tally of distinct rows, given as numbers of cells (rows, parents and child), by expanding the parents' cells.

    ``cells`` are the sets behind the numbers, (cells, states) each, the child's last. ``refuse`` gets the number of
    entries before they are made.
    """
    *parents, child = cells
    columns, entry_weights = list(combinations.T), weights
    contained = np.ones(len(combinations))
    for column, sets in zip(columns, parents, strict=False):
        contained *= sets.sum(axis=1)[column]
    refuse(int(contained.max(initial=0.0)))  # a row alone may hold too many
    for place, sets in enumerate(parents):
        columns, entry_weights = _expand_cells(columns, entry_weights, place, sets, refuse)
        total = len(entry_weights)
        if place < len(parents) - 1 and total > len(weights):
            limits = [s.shape[1] if k <= place else len(s) for k, s in enumerate(cells)]
            groups = group_rows(columns, limits, total)
            if len(groups) < 0.7 * total:
                columns, entry_weights = list(groups.combinations.T), groups.counts(entry_weights)
    contexts = group_rows(columns[:-1], [sets.shape[1] for sets in parents], len(columns[-1]))
    totals = contexts.counts(entry_weights)
    states = child.shape[1]
    refuse(len(contexts) * states)
    members = int(child.sum(axis=1)[columns[-1]].sum())
    if len(contexts) * len(child) * states <= max(1 << 22, 64 * members):
        keys = contexts.inverse * len(child) + columns[-1]
        per_cell = sum_weights(keys, entry_weights, len(contexts) * len(child)).reshape(len(contexts), len(child))
        return Tally(contexts.combinations, _exact_product(per_cell, child), totals)
    refuse(members)
    entry, state = np.nonzero(child[columns[-1]])
    counts = sum_weights(contexts.inverse[entry] * states + state, entry_weights[entry], len(contexts) * states)
    return Tally(contexts.combinations, counts.reshape(len(contexts), states), totals)


def share_rows(
    combinations: NDArray[np.int32],
    weights: Weights,
    cells: Sequence[Bools],
    refuse: Callable[[int], None] = lambda _: None,
) -> tuple[NDArray[np.int32], Floats]:
    """Every row shared equally among the configurations that its cells (parents, then child) contain.

    Returns the contexts that occur, and the shares (contexts, states).

    >>> both, one = np.array([[True, True]]), np.array([[True, False]])
    >>> share_rows(np.array([[0, 0]]), np.array([4]), [both, one])
    (array([[0], [1]], dtype=int32), array([[2., 0.], [2., 0.]]))
    """
    shares = weights.astype(np.float64)
    for column, sets in zip(combinations.T, cells, strict=True):
        shares = shares / sets.sum(axis=1)[column]
    contexts, counts, _ = by_cells(combinations, shares, cells, refuse)
    return contexts, counts.astype(np.float64, copy=False)


def _expand_cells(
    columns: list[Codes], weights: NDArray[Any], place: int, sets: Bools, refuse: Callable[[int], None]
) -> tuple[list[Codes], NDArray[Any]]:
    """Entries with one column's cells replaced by their states, an entry for each."""
    sizes = sets.sum(axis=1)
    repeats = sizes[columns[place]]
    total = int(repeats.sum())
    refuse(total)
    starts = np.cumsum(sizes) - sizes
    members = np.nonzero(sets)[1]
    source = np.repeat(np.arange(len(repeats)), repeats)
    within = np.arange(total) - np.repeat(np.cumsum(repeats) - repeats, repeats)
    state = members[starts[columns[place]][source] + within]
    return [state if k == place else column[source] for k, column in enumerate(columns)], weights[source]


def _exact_product(numbers: NDArray[Any], sets: Bools) -> NDArray[Any]:
    """Exact matrix product; as floats, which are fast, where no sum can pass what floats hold exactly."""
    if numbers.dtype.kind == "f" or numbers.sum(dtype=np.float64) < 2.0**52:
        return (numbers.astype(np.float64) @ sets.astype(np.float64)).astype(numbers.dtype)
    return numbers @ sets.astype(np.int64)

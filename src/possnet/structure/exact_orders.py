r"""The best structure of few variables, by dynamic programming over sets of variables (Silander and Myllymäki 2006).

The best structure of a set of variables has a last one, without children in the set: its best parents among the others,
and the best structure of these. So the best score of every set follows from those of the sets with one variable less:

    R(S) = max over v in S of R(S \\ v) + best(v, S \\ v),    best(v, S) = max over P within S of score(v, P).

All n 2^(n-1) scores of families must be known, which is so where a `FamilyTable` is made. Then it takes a few products of
arrays, and less time than hill climbing.

T. Silander, P. Myllymäki: A simple approach for finding the globally optimal Bayesian network structure. UAI 2006.
"""

from __future__ import annotations

from functools import cache, lru_cache
from math import inf
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from possnet.structure.bit_sets import list_bits
from possnet.structure.hill_climbing import rounding_of

if TYPE_CHECKING:
    from possnet.aliases import Bools, Floats, Ints
    from possnet.structure.search_graph import CompiledConstraints


class OrderedStructure(NamedTuple):
    """An order of the variables, and the parents of each: before it in the order."""

    order: list[int]
    parents: list[tuple[int, ...]]


class _Layer(NamedTuple):
    """All sets of one size, of which the ordered sets are the slice from ``first`` to ``stop``.

    Without each of their variables (sets, variables) they are at ``rest`` in that order; what these variables add to the
    scores of the rest begins at ``start`` among all additions.
    """

    first: int
    stop: int
    start: int
    rest: Ints


class _OrderedSets(NamedTuple):
    """All sets of some variables, by their size; where each is in that order; and the layers but for the empty set.

    ``families`` is for every layer, set and variable in it where the variable with the rest of the set stands in a table of
    families (children, sets).
    """

    sets: Ints
    places: list[int]
    layers: list[_Layer]
    families: Ints


def find_best_structure(scores: Floats, constraints: CompiledConstraints) -> OrderedStructure:
    """A structure whose score no other exceeds; of parents that tie the fewest.

    ``scores`` are those of every child with every set of parents (children, sets); sets are bits of a number.

    >>> from possnet.structure.search_graph import CompiledConstraints
    >>> free = CompiledConstraints(np.zeros((2, 2), bool), ~np.eye(2, dtype=bool), 1)
    >>> find_best_structure(np.array([[-4.0, 0.0, -3.0, 0.0], [-4.0, -1.0, 0.0, 0.0]]), free)
    OrderedStructure(order=[0, 1], parents=[(), (0,)])
    """
    size = len(scores)
    bounds = tuple(constraints.allowed_bits), tuple(constraints.required_bits), constraints.max_parents
    allowed = scores + _list_exclusions(*bounds)
    best = allowed.copy()  # of every child, the score of the best parents within a set
    for k in range(size):
        halves = best.reshape(size, -1, 2, 1 << k)
        np.maximum(halves[:, :, 0], halves[:, :, 1], out=halves[:, :, 1])
    ordered = _order_sets(size)
    added = best.take(ordered.families)
    totals = np.zeros(1 << size)
    for first, stop, start, rest in ordered.layers:
        sums = totals.take(rest)
        sums += added[start : start + rest.size].reshape(rest.shape)
        np.maximum.reduce(sums, axis=1, out=totals[first:stop])
    margin = rounding_of(float(scores[:, 0].sum()))  # rounding does not choose among what ties
    order: list[int] = []
    before, least = [0] * size, [0.0] * size
    left = (1 << size) - 1
    while left:
        total = totals.item(ordered.places[left]) - margin
        for child in reversed(list_bits(left)):
            rest_of_set = left ^ 1 << child
            own = best.item(child, rest_of_set)
            if totals.item(ordered.places[rest_of_set]) + own >= total:
                break
        before[child], least[child] = rest_of_set, own - margin
        order.append(child)
        left = rest_of_set
    return OrderedStructure(order[::-1], _find_smallest_sets(allowed, np.array(least), np.array(before)))


def _find_smallest_sets(scores: Floats, least: Floats, within: Ints) -> list[tuple[int, ...]]:
    """For every child the smallest of the sets within another that have a score of at least so much."""
    by_size = _order_sets(len(scores)).sets
    fits = scores.take(by_size, axis=1) >= least[:, np.newaxis]
    fits &= by_size & ~within[:, np.newaxis] == 0
    return [tuple(list_bits(bits)) for bits in by_size.take(fits.argmax(axis=1)).tolist()]


@lru_cache(maxsize=16)
def _list_exclusions(allowed: tuple[int, ...], required: tuple[int, ...], max_parents: int) -> Floats:
    """-inf for every set of parents that a child may not have, else 0 (children, sets)."""
    sets = np.arange(1 << len(allowed))
    may: Bools = (sets & ~np.array(allowed)[:, np.newaxis] == 0) & (np.array(required)[:, np.newaxis] & ~sets == 0)
    may &= np.bitwise_count(sets) <= max_parents
    exclusions = np.where(may, 0.0, -inf)
    exclusions.setflags(write=False)
    return exclusions


@cache
def _order_sets(size: int) -> _OrderedSets:
    """Sets of 0, 1, 2, ... variables."""
    sets = np.bitwise_count(np.arange(1 << size)).argsort(kind="stable")
    places = sets.argsort()
    layers, families, first, start = [], [], 1, 0
    for number in range(1, size + 1):
        chosen = np.array([bits for bits in sets.tolist() if bits.bit_count() == number])
        last = np.array([list_bits(bits) for bits in chosen.tolist()])
        rest = chosen[:, np.newaxis] ^ (1 << last)
        layers.append(_Layer(first, first + len(chosen), start, places[rest]))
        families.append(((last << size) + rest).ravel())
        first, start = first + len(chosen), start + rest.size
    return _OrderedSets(sets, places.tolist(), layers, np.concatenate(families))

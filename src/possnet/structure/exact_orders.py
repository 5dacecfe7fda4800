r"""The best structure of few variables, by dynamic programming over sets of variables (Silander and Myllymäki 2006).

The best structure of a set of variables has a last one, without children in the set: its best parents among the others,
and the best structure of these. So the best score of every set follows from those of the sets with one variable less:

    R(S) = max over v in S of R(S \\ v) + best(v, S \\ v),    best(v, S) = max over P within S of score(v, P).

All n 2^(n-1) scores of families must be known, which is so where a `FamilyTable` is made. Then it takes a few products of
arrays, and less time than hill climbing.

T. Silander, P. Myllymäki: A simple approach for finding the globally optimal Bayesian network structure. UAI 2006.
"""

from __future__ import annotations

from functools import cache
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
    """All sets of one size; without each of their variables (sets, variables), and where its family with these is."""

    sets: Ints
    rest: Ints
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
    allowed = np.where(_list_allowed(constraints), scores, -inf)
    best = allowed.copy()  # of every child, the score of the best parents within a set
    for k in range(size):
        halves = best.reshape(size, -1, 2, 1 << k)
        np.maximum(halves[:, :, 0], halves[:, :, 1], out=halves[:, :, 1])
    totals = np.zeros(1 << size)
    for layer in _list_layers(size):
        totals[layer.sets] = (totals.take(layer.rest) + best.take(layer.families)).max(axis=1)
    margin = rounding_of(float(scores[:, 0].sum()))  # rounding does not choose among what ties
    order: list[int] = []
    parents: list[tuple[int, ...]] = [()] * size
    left = (1 << size) - 1
    while left:
        least = totals.item(left) - margin
        child = next(
            k for k in reversed(list_bits(left)) if totals.item(left ^ 1 << k) + best.item(k, left ^ 1 << k) >= least
        )
        left ^= 1 << child
        parents[child] = tuple(list_bits(_smallest_set(allowed[child], best.item(child, left) - margin, left)))
        order.append(child)
    return OrderedStructure(order[::-1], parents)


def _smallest_set(scores: Floats, least: float, within: int) -> int:
    """The smallest of the sets within another that have a score of at least so much."""
    by_size = _sort_by_size(len(scores))
    fits = (scores[by_size] >= least) & (by_size & ~within == 0)
    return int(by_size[fits.argmax()])


def _list_allowed(constraints: CompiledConstraints) -> Bools:
    """Which sets of parents each child may have (children, sets)."""
    sets = np.arange(1 << len(constraints.allowed))
    allowed, required = (
        np.array(bits)[:, np.newaxis] for bits in (constraints.allowed_bits, constraints.required_bits)
    )
    may: Bools = (sets & ~allowed == 0) & (required & ~sets == 0)
    if constraints.max_parents < len(constraints.allowed) - 1:
        may &= np.bitwise_count(sets) <= constraints.max_parents
    return may


@cache
def _list_layers(size: int) -> list[_Layer]:
    """Sets of 1, 2, ... variables."""
    sets = np.arange(1 << size)
    inside = (sets[:, np.newaxis] >> np.arange(size) & 1).astype(bool)
    layers = []
    for number in range(1, size + 1):
        chosen = sets[inside.sum(axis=1) == number]
        last = np.nonzero(inside[chosen])[1].reshape(len(chosen), number)
        rest = chosen[:, np.newaxis] ^ (1 << last)
        layers.append(_Layer(chosen, rest, (last << size) + rest))
    return layers


@cache
def _sort_by_size(count: int) -> Ints:
    """All sets, by the number of their variables."""
    return np.bitwise_count(np.arange(count)).argsort(kind="stable")

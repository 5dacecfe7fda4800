"""What a structure must and must not have, from names to matrices."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import permutations
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from possnet.errors import InputError, among, listing, require_whole
from possnet.graph import Dag
from possnet.structure.search_graph import CompiledConstraints

if TYPE_CHECKING:
    from possnet.aliases import Bools

    Edges: TypeAlias = Iterable[tuple[str, str]]

_OWNER = "learn_structure"


def constraints_of(
    names: list[str],
    *,
    required: Edges = (),
    forbidden: Edges = (),
    tiers: Iterable[Iterable[str]] = (),
    max_parents: int | None = None,
) -> CompiledConstraints:
    """CompiledConstraints over named variables, checked for contradictions.

    >>> found = constraints_of(["a", "b", "c"], required=[("a", "b")], tiers=[["a"], ["c"]])
    >>> found.allowed.astype(int).tolist(), found.max_parents
    ([[0, 1, 1], [1, 0, 1], [0, 1, 0]], 2)
    """
    place = {name: k for k, name in enumerate(names)}
    must = _matrix(required, place, "required")
    allowed = ~_matrix(forbidden, place, "forbidden") & ~np.eye(len(names), dtype=np.bool_)
    levels = _levels(tiers, place)
    for later, earlier in permutations(levels, 2):
        if levels[later] > levels[earlier]:
            allowed[later, earlier] = False
    most = len(names) - 1
    if max_parents is not None:
        most = require_whole(max_parents, 0, f"{_OWNER}: max_parents")
    for parent, child in np.argwhere(must & ~allowed).tolist():
        raise InputError(
            f"{_OWNER}: {names[parent]!r} -> {names[child]!r} is required, and forbidden or against the tiers; expected "
            "one or the other"
        )
    for child in np.flatnonzero(must.sum(axis=0) > most).tolist():
        raise InputError(
            f"{_OWNER}: {names[child]!r} has more required parents than max_parents {most}; expected fewer"
        )
    try:
        Dag.from_edges([(names[p], names[c]) for p, c in np.argwhere(must).tolist()], nodes=names)
    except InputError as error:
        raise InputError(f"{_OWNER}: required edges: {error}") from None
    return CompiledConstraints(must, allowed, most)


def order_of(order: Iterable[str], names: list[str], required: Bools) -> list[int]:
    """An order of the variables as numbers; an `InputError` if a required child stands before its parent.

    >>> order_of(["b", "a"], ["a", "b"], np.zeros((2, 2), dtype=bool))
    [1, 0]
    >>> order_of(["b", "a"], ["a", "b"], constraints_of(["a", "b"], required=[("a", "b")]).required)
    Traceback (most recent call last):
        ...
    possnet.errors.InputError: learn_structure: order has 'b' before 'a', but 'a' -> 'b' is required; expected parents
    before their children
    """
    listed = _listed(order, "order", "the names of all variables, first to last")
    place = {name: k for k, name in enumerate(names)}
    found = [_known(name, place, "order") for name in listed]
    if sorted(found) != list(range(len(names))):
        lacking = [name for name in names if name not in listed]
        raise InputError(
            f"{_OWNER}: order of {len(listed)} names{f' without {listing(lacking)}' if lacking else ''}; expected every "
            "variable once"
        )
    for parent, child in np.argwhere(required).tolist():
        if found.index(child) < found.index(parent):
            raise InputError(
                f"{_OWNER}: order has {names[child]!r} before {names[parent]!r}, but {names[parent]!r} -> "
                f"{names[child]!r} is required; expected parents before their children"
            )
    return found


def _matrix(edges: object, place: dict[str, int], what: str) -> Bools:
    matrix = np.zeros((len(place), len(place)), dtype=np.bool_)
    for edge in _listed(edges, what, "pairs (parent, child)"):
        pair = _listed(edge, f"{what} edge", "a pair (parent, child)")
        if len(pair) != 2:
            raise InputError(f"{_OWNER}: {what} edge {edge!r}; expected a pair (parent, child)")
        parent, child = (_known(name, place, f"{what} edge") for name in pair)
        if parent == child:
            raise InputError(f"{_OWNER}: {what} edge from {pair[0]!r} to itself; expected two variables")
        matrix[parent, child] = True
    return matrix


def _levels(tiers: object, place: dict[str, int]) -> dict[int, int]:
    found: dict[int, int] = {}
    for level, names in enumerate(_listed(tiers, "tiers", "lists of names, causes first")):
        for name in _listed(names, "tier", "a list of names"):
            number = _known(name, place, "tier")
            if number in found:
                raise InputError(f"{_OWNER}: {name!r} stands in two tiers; expected one")
            found[number] = level
    return found


def _listed(given: object, what: str, expected: str) -> list[Any]:
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise InputError(f"{_OWNER}: {what} {given!r}; expected {expected}")
    return list(given)


def _known(name: object, place: dict[str, int], what: str) -> int:
    if not isinstance(name, str) or name not in place:
        raise InputError(f"{_OWNER}: {what} names {name!r}, which the data lacks{among(name, place)}")
    return place[name]

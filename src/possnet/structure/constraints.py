"""Constraints on a structure: required and forbidden edges, tiers, the number of parents."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations
from typing import TYPE_CHECKING

import numpy as np

from possnet.doors import check_fields, checks_itself
from possnet.errors import InputError, among, describe_value, require_several, require_whole
from possnet.graph import Dag
from possnet.structure.search_graph import CompiledConstraints

if TYPE_CHECKING:
    from collections.abc import Iterable

    from possnet.aliases import Bools


@check_fields
@checks_itself("required", "forbidden", "tiers")
@dataclass(frozen=True, slots=True)
class Constraints:
    """Required and forbidden edges, tiers, and the number of parents; checked for contradictions.

    Attributes
    ----------
    required, forbidden
        Edges (parent, child) that must, or must not, be in the structure. A tree gets a root that respects them.
    tiers
        Lists of names, causes first: no edge leads from a later list to an earlier one.
    max_parents
        Maximum number of parents of a variable; by default unbounded, or 2 where the measure has no penalty for parents.

    Examples
    --------
    >>> Constraints(required=[("smoke", "lung")], tiers=[["smoke"], ["lung", "xray"]]).tiers
    (('smoke',), ('lung', 'xray'))
    >>> Constraints(required=[("smoke", "lung")], forbidden=[("smoke", "lung")])
    Traceback (most recent call last):
        ...
    possnet.errors.InputError: constraints: 'smoke' -> 'lung' is required, and forbidden or against the tiers; expected one
    or the other
    """

    required: Iterable[tuple[str, str]] = ()
    forbidden: Iterable[tuple[str, str]] = ()
    tiers: Iterable[Iterable[str]] = ()
    max_parents: int | None = None

    def __post_init__(self) -> None:
        required, forbidden = _read_edges(self.required, "required"), _read_edges(self.forbidden, "forbidden")
        listed = _read_list(self.tiers, "constraints: tiers", "lists of names, causes first")
        tiers = tuple(read_names(tier, "constraints: tier", "a list of names") for tier in listed)
        levels = _number_tiers(tiers)
        for parent, child in required:
            backward = parent in levels and child in levels and levels[parent] > levels[child]
            if backward or (parent, child) in forbidden:
                raise InputError(
                    f"constraints: {parent!r} -> {child!r} is required, and forbidden or against the tiers; expected one "
                    "or the other"
                )
        try:
            Dag.from_edges(required)
        except InputError as error:
            raise InputError(f"constraints: required edges: {error}") from None
        if self.max_parents is not None:
            require_whole(self.max_parents, 0, "constraints: max_parents")
        for name, value in (("required", required), ("forbidden", forbidden), ("tiers", tiers)):
            object.__setattr__(self, name, value)


def compile_constraints(constraints: Constraints, names: list[str], max_parents: int) -> CompiledConstraints:
    """The constraints over the variables of the data, as matrices; ``max_parents`` where they set none.

    >>> compiled = compile_constraints(Constraints(required=[("a", "b")], tiers=[["a"], ["c"]]), ["a", "b", "c"], 2)
    >>> compiled.allowed.astype(int).tolist(), compiled.max_parents
    ([[0, 1, 1], [1, 0, 1], [0, 1, 0]], 2)
    """
    required = _edge_matrix(constraints.required, names, "required edge")
    allowed = ~_edge_matrix(constraints.forbidden, names, "forbidden edge") & ~np.eye(len(names), dtype=np.bool_)
    levels = _number_tiers(constraints.tiers)
    numbers = {name: number_of(name, names, "tier") for name in levels}
    for later, earlier in permutations(levels, 2):
        if levels[later] > levels[earlier]:
            allowed[numbers[later], numbers[earlier]] = False
    most = max_parents if constraints.max_parents is None else constraints.max_parents
    for child in np.flatnonzero(required.sum(axis=0) > most).tolist() if constraints.required else ():
        raise InputError(
            f"learn_structure: {names[child]!r} has more required parents than max_parents {most}; expected fewer"
        )
    return CompiledConstraints(required, allowed, most)


def _read_edges(edges: object, what: str) -> tuple[tuple[str, str], ...]:
    pairs = []
    for edge in _read_list(edges, f"constraints: {what}", "pairs (parent, child)"):
        pair = read_names(edge, f"constraints: {what} edge", "a pair (parent, child)")
        if len(pair) != 2:
            raise InputError(f"constraints: {what} edge {describe_value(edge)}; expected a pair (parent, child)")
        if pair[0] == pair[1]:
            raise InputError(f"constraints: {what} edge from {pair[0]!r} to itself; expected two variables")
        pairs.append((pair[0], pair[1]))
    return tuple(pairs)


def _number_tiers(tiers: Iterable[Iterable[str]]) -> dict[str, int]:
    """Name -> the number of its tier."""
    levels: dict[str, int] = {}
    for level, names in enumerate(tiers):
        for name in names:
            if name in levels:
                raise InputError(f"constraints: {name!r} stands in two tiers; expected one")
            levels[name] = level
    return levels


def _edge_matrix(edges: Iterable[tuple[str, str]], names: list[str], what: str) -> Bools:
    matrix = np.zeros((len(names), len(names)), dtype=np.bool_)
    for parent, child in edges:
        matrix[number_of(parent, names, what), number_of(child, names, what)] = True
    return matrix


def _read_list(given: object, what: str, expected: str) -> list[object]:
    try:
        return require_several(given, what)
    except InputError:
        raise InputError(f"{what} {describe_value(given)}; expected {expected}") from None


def read_names(given: object, what: str, expected: str) -> tuple[str, ...]:
    """Several names as a tuple; an `InputError` that says what is expected for anything else.

    >>> read_names("ab", "search: order", "a list of names")
    Traceback (most recent call last):
        ...
    possnet.errors.InputError: search: order 'ab'; expected a list of names
    """
    listed = _read_list(given, what, expected)
    names = tuple(name for name in listed if isinstance(name, str))
    if len(names) < len(listed):
        raise InputError(f"{what} {describe_value(given)}; expected {expected}")
    return names


def number_of(name: str, names: list[str], what: str) -> int:
    """Number of a variable; an `InputError` for a name that the data lacks.

    >>> number_of("b", ["a", "b"], "order")
    1
    """
    if name not in names:
        raise InputError(f"learn_structure: {what} names {name!r}, which the data lacks{among(name, names)}")
    return names.index(name)

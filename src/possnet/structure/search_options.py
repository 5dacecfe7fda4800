"""Options of a search over structures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from possnet.doors import check_fields, checks_itself
from possnet.errors import InputError, listing, require_number, require_whole
from possnet.structure.constraints import number_of, read_names

if TYPE_CHECKING:
    from collections.abc import Iterable

    from possnet.aliases import Bools


@check_fields
@checks_itself("order")
@dataclass(frozen=True, slots=True)
class Search:
    """Options of a search over structures. Each is for the methods named; other methods ignore it.

    Attributes
    ----------
    order, orders
        For ``k2``: the order of the variables; without it, the number of orders of which the best is taken: that of the
        data, and random ones.
    tabu
        For ``greedy`` and ``boss``: length of the tabu list, and number of downhill moves from a local maximum.
    restarts
        For ``greedy``: further climbs, by default 0; in turns from the beginning, with ties drawn, and from random
        perturbations of the best structure (with hidden states from these alone). For ``boss``: random orders, by
        default 10.
    max_steps, max_seconds
        For ``greedy``: maximum number of moves of a climb; for ``greedy``, ``boss`` and ``k2``: seconds after which
        the search stops and returns the best structure so far, as on Ctrl-C. Trees and hybrids, which have none before
        their end, are refused if they take longer.
    threshold
        For ``mwst``, ``k2`` and ``hybrid-dag``: what an edge must gain; by default 0, or 0.01 where a variable may
        have several parents and the measure has no penalty for them.
    in_passes
        Of a stream: whether families are counted in passes over it, one for every move, instead of holding its rows; by
        default where these would not fit in memory. For ``greedy`` and ``mwst`` by ``random-set-bic``, ``bic`` or ``mdl``.
    errors
        For the hybrid methods: standard errors that count as noise in a test of dependence.

    Examples
    --------
    >>> Search(restarts=5).tabu
    10
    >>> Search(tabu=-1)
    Traceback (most recent call last):
        ...
    possnet.errors.InputError: search: tabu -1; expected a whole number from 0 on
    """

    order: Iterable[str] | None = None
    orders: int = 10
    tabu: int = 10
    restarts: int | None = None
    max_steps: int | None = None
    max_seconds: float | None = None
    threshold: float | None = None
    errors: float = 4.0
    in_passes: bool | None = None

    def __post_init__(self) -> None:
        if self.order is not None:
            names = read_names(self.order, "search: order", "the names of all variables, first to last")
            object.__setattr__(self, "order", names)
        require_whole(self.orders, 1, "search: orders")
        require_whole(self.tabu, 0, "search: tabu")
        for name in ("restarts", "max_steps"):
            if getattr(self, name) is not None:
                require_whole(getattr(self, name), 0, f"search: {name}")
        if self.max_seconds is not None:
            require_number(self.max_seconds, "search: max_seconds", "seconds from 0 on", 0.0)
        if self.threshold is not None:
            require_number(self.threshold, "search: threshold", "a number")
        require_number(self.errors, "search: errors", "standard errors from 0 on", 0.0)
        if self.in_passes not in {None, True, False}:
            raise InputError(f"search: in_passes {self.in_passes!r}; expected True, False or None")


def number_order(order: Iterable[str], names: list[str], required: Bools) -> list[int]:
    """An order of the variables as numbers; an `InputError` if a required child stands before its parent.

    >>> number_order(["b", "a"], ["a", "b"], np.zeros((2, 2), dtype=bool))
    [1, 0]
    >>> number_order(["b", "a"], ["a", "b"], np.array([[False, True], [False, False]]))
    Traceback (most recent call last):
        ...
    possnet.errors.InputError: learn_structure: order has 'b' before 'a', but 'a' -> 'b' is required; expected parents
    before their children
    """
    listed = list(order)
    numbers = [number_of(name, names, "order") for name in listed]
    if sorted(numbers) != list(range(len(names))):
        lacking = [name for name in names if name not in listed]
        raise InputError(
            f"learn_structure: order of {len(listed)} names{f' without {listing(lacking)}' if lacking else ''}; expected "
            "every variable once"
        )
    for parent, child in np.argwhere(required).tolist():
        if numbers.index(child) < numbers.index(parent):
            raise InputError(
                f"learn_structure: order has {names[child]!r} before {names[parent]!r}, but {names[parent]!r} -> "
                f"{names[child]!r} is required; expected parents before their children"
            )
    return numbers

"""Texts that look like sets of states but are taken as states: said, with the option that reads them.

A text with a comma may be a sentence, a name (``Smith, John``), or a set. Members of sets move: they stand alone in one
cell and beside others in another, first here and last there. Parts of sentences and names do not.
"""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING

from possnet.cells.bracketed_lists import split_outside
from possnet.cells.cell_syntax import WHOLE_NUMBER

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_SEPARATORS = (", ", ",", " / ", "/", " & ", " + ", " or ", "|", ";")
_FEWEST = 0.2  # share of the joined texts all of whose parts move


def describe_disguise(states: Sequence[str], separators: Iterable[str] = _SEPARATORS) -> tuple[str, str] | None:
    """A state that looks like a set of others, and what stands between its parts; None if there is none.

    >>> describe_disguise(["a", "b", "c", "a,b", "b,c"])
    ('a,b', ',')
    >>> describe_disguise(["Smith, John", "Smith, Jane", "Doe, John", "Doe, Jane"])
    >>> describe_disguise(["It rained, and we left", "It rained, and we stayed"])
    """
    for separator in separators:
        between = re.compile(re.escape(separator))
        joined = {s: parts for s in states if separator in s and len(parts := split_outside(s, between)) > 1}
        if joined:
            movable = _movable_parts(states, joined)
            disguised = [state for state, parts in joined.items() if movable.issuperset(parts)]
            if disguised and len(disguised) >= _FEWEST * len(joined):
                return min(disguised, key=len), separator
    return None


def _movable_parts(states: Sequence[str], joined: dict[str, list[str]]) -> set[str]:
    """Parts that stand alone in one cell and beside others in another, or at different places from both ends."""
    places: dict[str, set[int]] = defaultdict(set)
    places_from_end: dict[str, set[int]] = defaultdict(set)
    for parts in joined.values():
        for place, part in enumerate(parts):
            places[part].add(place)
            places_from_end[part].add(place - len(parts))
    alone = set(states)
    return {p for p in places if p and (p in alone or (len(places[p]) > 1 and len(places_from_end[p]) > 1))}


def looks_like_ranges(states: Sequence[str], separator: str) -> bool:
    """Whether all joined texts are two whole numbers, the larger one last.

    >>> looks_like_ranges(["17", "17,24", "20,31"], ","), looks_like_ranges(["17,20,24"], ",")
    (True, False)
    """
    joined = [state.split(separator) for state in states if separator in state]
    numbers = all(WHOLE_NUMBER.fullmatch(part.strip()) for parts in joined for part in parts)
    return numbers and all(len(parts) == 2 and int(parts[0]) < int(parts[1]) for parts in joined)

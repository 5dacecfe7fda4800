"""Degrees in the text of a cell: ``high:1|mild:.4``, a state and its degree in every part.

A part is taken apart at its last colon, and only if a number follows and the part is not the name of a state itself: times
such as ``12:30`` stay what they are wherever they are states.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

_NUMBER = re.compile(r"\s*[+-]?(?:(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|nan|inf)")


def split_degree(text: str) -> tuple[str, float] | None:
    """State and degree of a part, whatever the number is; None if it has no degree. Blanks of the state are left.

    >>> split_degree("mild: .4"), split_degree("12:30:0.5"), split_degree("mild")
    (('mild', 0.4), ('12:30', 0.5), None)
    """
    state, _, number = text.rpartition(":")
    return (state, float(number)) if state and _NUMBER.fullmatch(number) else None


def write_degree(state: str, text: str, degree: float, states: Collection[str]) -> str:
    """A state, escaped as a ``text``, with its degree: the shortest number that is read back, and no name of a state.

    >>> write_degree("mild", "mild", 0.4, ()), write_degree("high", "high", 1.0, ("high", "high:1"))
    ('mild:0.4', 'high:1.0')
    """
    number = "1" if degree == 1.0 else repr(degree)
    while f"{state}:{number}" in states:
        number += "0" if "." in number else ".0"
    return f"{text}:{number}"


def describe_degrees(states: Iterable[str]) -> str:
    """A state that looks like a state with its degree, if several do: a degree of 1 and one between 0 and 1 among them.

    >>> describe_degrees(["none", "high:1", "mild:.4"]), describe_degrees(["12:30", "0:1"])
    ('mild:.4', '')
    """
    degrees = {state: part[1] for state in states if (part := split_degree(state)) and 0.0 <= part[1] <= 1.0}
    between = [state for state, degree in degrees.items() if 0.0 < degree < 1.0]
    return between[0] if between and 1.0 in degrees.values() else ""

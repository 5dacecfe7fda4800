"""Variables: a name and its states.

A variable has any number of states, from one to thousands, ordered (``none < mild < high``) or not. A set of states is
a Python `frozenset` for people and an integer for machines: bit *k* is set when state *k* belongs to the set, so that
sets of a 1,000-state variable work as well as sets of a binary one.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from possnet.errors import InputError, among, listing

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

__all__ = ["Variable", "check_text", "for_every_variable"]

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Variable:
    """A named variable and its states.

    Parameters
    ----------
    name
        Any non-empty text.
    states
        Distinct, non-empty texts; their order is the order of every table axis.
    ordered
        Whether the order of the states means something (``none < mild < high``).

    >>> fever = Variable("fever", ("none", "mild", "high"), ordered=True)
    >>> fever
    Variable('fever', ('none', 'mild', 'high'), ordered=True)
    >>> len(fever), "mild" in fever, list(fever)
    (3, True, ['none', 'mild', 'high'])
    """

    name: str
    states: tuple[str, ...]
    ordered: bool = field(default=False, kw_only=True)
    _positions: dict[str, int] = field(init=False, repr=False, compare=False, hash=False)

    def __post_init__(self) -> None:
        check_text(self.name, "variable name")
        given: object = self.states
        if isinstance(given, str):
            raise InputError(
                f"variable {self.name!r}: states are one text {self.states!r}; expected several, "
                f"for example ({self.states!r},)"
            )
        states = tuple(self.states)
        if not states:
            raise InputError(f"variable {self.name!r}: no states; expected at least one")
        for state in states:
            check_text(state, f"variable {self.name!r}: state")
        positions = {state: position for position, state in enumerate(states)}
        if len(positions) < len(states):
            twice = next(state for position, state in enumerate(states) if positions[state] != position)
            raise InputError(f"variable {self.name!r}: state {twice!r} appears twice; expected distinct states")
        object.__setattr__(self, "states", states)
        object.__setattr__(self, "ordered", bool(self.ordered))
        object.__setattr__(self, "_positions", positions)

    def __repr__(self) -> str:
        return f"Variable({self.name!r}, {self.states!r}{', ordered=True' if self.ordered else ''})"

    def __len__(self) -> int:
        return len(self.states)

    def __iter__(self) -> Iterator[str]:
        return iter(self.states)

    def __contains__(self, state: object) -> bool:
        return state in self._positions

    def index(self, state: str) -> int:
        """Position of a state.

        >>> Variable("rash", ("yes", "no")).index("no")
        1
        """
        try:
            return self._positions[state]
        except (KeyError, TypeError):
            raise InputError(self.unknown_state(state)) from None

    def unknown_state(self, state: object) -> str:
        """The sentence that says a state does not exist, what does, and which one was probably meant.

        >>> Variable("fever", ("none", "mild", "high")).unknown_state("hihg")
        "'hihg' is not a state of 'fever' (none, mild, high); did you mean 'high'?"
        """
        return f"{state!r} is not a state of {self.name!r}{among(state, self.states)}"

    def mask(self, states: str | Iterable[str]) -> int:
        """Set of states as an integer: bit k stands for state k. A bare text is one state.

        >>> Variable("fever", ("none", "mild", "high")).mask({"mild", "high"})
        6
        """
        if isinstance(states, str):
            return 1 << self.index(states)
        mask = 0
        for state in states:
            mask |= 1 << self.index(state)
        return mask

    def states_in(self, mask: int) -> frozenset[str]:
        """Set of states of an integer; the inverse of `mask`.

        >>> sorted(Variable("fever", ("none", "mild", "high")).states_in(6))
        ['high', 'mild']
        """
        if not 0 <= mask < 1 << len(self.states):
            raise InputError(f"variable {self.name!r}: mask {mask} is outside 0 ... 2**{len(self.states)} - 1")
        members = []
        while mask:
            lowest = mask & -mask
            members.append(self.states[lowest.bit_length() - 1])
            mask ^= lowest
        return frozenset(members)


def check_text(text: object, owner: str) -> None:
    """Raise an `InputError` for anything but text that can be written as UTF-8."""
    if not isinstance(text, str):
        raise InputError(f"{owner} {text!r} is of type {type(text).__name__}; expected text")
    if not text:
        raise InputError(f"{owner} is empty; expected at least one character")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InputError(f"{owner} {text!r} cannot be written as UTF-8; remove its lone surrogates") from None


def for_every_variable(given: Mapping[str, T], names: Collection[str], owner: str, what: str) -> dict[str, T]:
    """The mapping, in the order of the names; an `InputError` unless it has every variable and nothing else.

    >>> for_every_variable({"fever": 0.5}, ["fever", "rash"], "sample", "imprecision")
    Traceback (most recent call last):
        ...
    possnet.errors.InputError: sample: no imprecision for rash; expected one for every variable
    """
    for name in given:
        if name not in names:
            raise InputError(f"{owner}: {what} for {name!r}, which is not a variable{among(name, names)}")
    lacking = [name for name in names if name not in given]
    if lacking:
        raise InputError(f"{owner}: no {what} for {listing(lacking)}; expected one for every variable")
    return {name: given[name] for name in names}

"""Variables: a name and its states.

A variable has any number of states, from one to thousands, ordered (``none < mild < high``) or not. A set of states is
a Python `frozenset` for people and an integer for machines: bit *k* is set when state *k* belongs to the set, so that
sets of a 1,000-state variable work as well as sets of a binary one.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from numbers import Integral
from typing import TYPE_CHECKING, TypeVar

from possnet.doors import check_arguments, check_fields, checks_itself
from possnet.errors import InputError, among, describe_value, listing, require_several
from possnet.variables.bins import Bins
from possnet.variables.cell_writing import CellWriting

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

T = TypeVar("T")


@check_fields
@checks_itself("bins", "cells", "states", "name")
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
    bins
        Where numbers were cut if the states are bins of them, one state for each bin, from the lowest on. Knowledge about
        the states, not part of their identity: variables of the same name, states and order are equal, and
        `require_same_bins` refuses those whose bins contradict each other where they meet.
    cells
        How the cells that the variable was made from were written, if options said so: tables that are read for it later
        are read alike, unless options say otherwise. No part of its identity either.

    Examples
    --------
    >>> fever = Variable("fever", ("none", "mild", "high"), ordered=True)
    >>> fever
    Variable('fever', ('none', 'mild', 'high'), ordered=True)
    >>> len(fever), "mild" in fever, list(fever)
    (3, True, ['none', 'mild', 'high'])
    >>> Variable("temperature", ("low", "high"), ordered=True, bins=Bins((37.5,), unit="°C"))
    Variable('temperature', ('low', 'high'), ordered=True, bins=Bins((37.5,), unit='°C'))
    """

    name: str
    states: tuple[str, ...]
    ordered: bool = field(default=False, kw_only=True)
    bins: Bins | None = field(default=None, kw_only=True, compare=False)
    cells: CellWriting | None = field(default=None, kw_only=True, compare=False)
    _positions: dict[str, int] = field(init=False, repr=False, compare=False, hash=False)

    def __post_init__(self) -> None:
        check_text(self.name, "variable name")
        given: object = self.states
        if isinstance(given, str):
            raise InputError(
                f"variable {self.name!r}: states are one text {self.states!r}; expected several, "
                f"for example ({self.states!r},)"
            )
        states = tuple(require_several(self.states, f"variable {self.name!r}: states"))
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
        if self.bins is not None:
            self._check_bins(self.bins)
        writing: object = self.cells
        if writing is not None and not isinstance(writing, CellWriting):
            raise InputError(
                f"variable {self.name!r}: cells {describe_value(writing)}; expected CellWriting, such as "
                "CellWriting('range', ',')"
            )

    def _check_bins(self, bins: object) -> None:
        if not isinstance(bins, Bins):
            raise InputError(
                f"variable {self.name!r}: bins {describe_value(bins)}; expected Bins, such as Bins((36, 37.5))"
            )
        if len(bins) != len(self.states) or not self.ordered:
            order = "" if self.ordered else ", in no order"
            raise InputError(
                f"variable {self.name!r}: {len(bins)} bins ({listing(bins.labels)}) for {len(self.states)} states "
                f"({listing(self.states)}{order}); expected ordered states, one for each bin"
            )

    def __repr__(self) -> str:
        order, bins = ", ordered=True" * self.ordered, f", bins={self.bins!r}" if self.bins is not None else ""
        return f"Variable({self.name!r}, {self.states!r}{order}{bins})"

    def __len__(self) -> int:
        return len(self.states)

    def __iter__(self) -> Iterator[str]:
        return iter(self.states)

    def __contains__(self, state: object) -> bool:
        try:
            return state in self._positions
        except TypeError:  # it has no hash, so that it is no text
            return False

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
        return f"{describe_value(state)} is not a state of {self.name!r}{among(state, self.states)}"

    def mask(self, states: str | Iterable[str]) -> int:
        """Set of states as an integer: bit k stands for state k. A bare text is one state.

        >>> Variable("fever", ("none", "mild", "high")).mask({"mild", "high"})
        6
        """
        if isinstance(states, str):
            return 1 << self.index(states)
        mask = 0
        for state in require_several(states, f"variable {self.name!r}: states"):
            mask |= 1 << self.index(state)
        return mask

    def states_in(self, mask: int) -> frozenset[str]:
        """Set of states of an integer; the inverse of `mask`.

        >>> sorted(Variable("fever", ("none", "mild", "high")).states_in(6))
        ['high', 'mild']
        """
        given: object = mask
        if not isinstance(given, int | Integral) or not 0 <= mask < 1 << len(self.states):
            shown = describe_value(given)
            raise InputError(f"variable {self.name!r}: mask {shown} is outside 0 ... 2**{len(self.states)} - 1")
        members, mask = [], int(mask)
        while mask:
            lowest = mask & -mask
            members.append(self.states[lowest.bit_length() - 1])
            mask ^= lowest
        return frozenset(members)

    @check_arguments
    def follows_order(self, other: Variable) -> bool:
        """Whether the states of both stand in one order, as far as both have them and both orders mean something.

        >>> dose = Variable("dose", ("low", "middle", "high"), ordered=True)
        >>> dose.follows_order(Variable("dose", ("low", "high"), ordered=True))
        True
        >>> dose.follows_order(Variable("dose", ("high", "low"), ordered=True))
        False
        >>> dose.follows_order(Variable("dose", ("high", "low")))
        True
        """
        if not (self.ordered and other.ordered):
            return True
        return [s for s in self.states if s in other] == [s for s in other.states if s in self]


def require_same_bins(given: Variable, expected: Variable, owner: str) -> None:
    """Raise an `InputError` if two variables of the same states were cut at other edges, or measured in other units.

    What is known on one side only is no contradiction.

    >>> celsius = Variable("temp", ("low", "high"), ordered=True, bins=Bins((37.5,), unit="°C"))
    >>> require_same_bins(celsius, Variable("temp", ("low", "high"), ordered=True), "fit")
    >>> require_same_bins(celsius, Variable("temp", ("low", "high"), ordered=True, bins=Bins((99.5,), unit="°F")), "fit")
    Traceback (most recent call last):
        ...
    possnet.errors.InputError: fit: 'temp' has bins with edges 37.5 °C and with edges 99.5 °F; expected one unit, ...
    """
    left, right = given.bins, expected.bins
    if left is None or right is None or left == right:
        return
    units = left.unit and right.unit and left.unit != right.unit
    if not units and (left.edges, left.open_ended) == (right.edges, right.open_ended):
        return
    remedy = "one unit, with numbers converted to it" if units else "the same edges"
    raise InputError(
        f"{owner}: {given.name!r} has bins with {left.describe()} and with {right.describe()}; expected {remedy}"
    )


def join_bins(given: Variable, other: Variable, owner: str) -> Variable:
    """The variable with what is known of its bins on either side; an `InputError` if that is contradictory.

    >>> temperature = Variable("temp", ("low", "high"), ordered=True)
    >>> join_bins(temperature, Variable("temp", ("low", "high"), ordered=True, bins=Bins((37.5,))), "data").bins
    Bins((37.5,))
    """
    if other.bins is None or given.bins == other.bins or given != other:
        return given
    require_same_bins(given, other, owner)
    return given if given.bins is not None and given.bins.unit else replace(given, bins=other.bins)


def check_text(text: object, owner: str) -> None:
    """Raise an `InputError` for anything but text that can be written as UTF-8."""
    if not isinstance(text, str):
        raise InputError(f"{owner} {describe_value(text)} is of type {type(text).__name__}; expected text")
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


def list_differences(
    first: Iterable[Variable], second: Iterable[Variable], sides: tuple[str, str] = ("the first", "the second")
) -> list[str]:
    """What keeps two lists of variables from being matched by name; empty if the order of names or states is all.

    Names and states that only one side has are differences, and so are two orders of states that both mean something and
    contradict each other. ``sides`` is what the two are called.

    >>> list_differences([Variable("rash", ("yes", "no"))], [Variable("rash", ("no", "yes"))])
    []
    >>> list_differences([Variable("rash", ("yes", "no"))], [Variable("rash", ("no", "maybe")), Variable("age", ("old",))])
    ["'age' only in the second", "'rash' is yes only in the first", "'rash' is maybe only in the second"]
    """
    left, right = ({variable.name: variable for variable in given} for given in (first, second))
    found = []
    for own_names, other_names, side in ((left, right, sides[0]), (right, left, sides[1])):
        lonely = [repr(name) for name in own_names if name not in other_names]
        found += [f"{listing(lonely, 4)} only in {side}"] if lonely else []
    for name, one in left.items():
        if name not in right:
            continue
        other = right[name]
        for own, foreign, side in ((one, other, sides[0]), (other, one, sides[1])):
            strangers = [state for state in own.states if state not in foreign]
            found += [f"{name!r} is {listing(strangers, 4)} only in {side}"] if strangers else []
        if not one.follows_order(other):
            orders = " and ".join(" < ".join(variable.states) for variable in (one, other))
            found.append(f"{name!r} is ordered {orders}")
    return found

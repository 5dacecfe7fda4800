"""Where the variables of a data set come from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from possnet.cells import describe_degrees, describe_disguise, looks_like_ranges, name_option
from possnet.errors import (
    InputError,
    UnusableColumns,
    among,
    describe_value,
    listing,
    require_several,
    warn_user,
)
from possnet.variables import Variable

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from possnet.arrow import DomainHints

_MOST_INFERRED = 10_000


def variables_of(given: object) -> tuple[Variable, ...]:
    """Variables given as such, or by anything that has variables (a network, a data set, a stream).

    >>> variables_of([Variable("rash", ("yes", "no"))])
    (Variable('rash', ('yes', 'no')),)
    """
    listed = getattr(given, "variables", given)
    try:
        variables: tuple[Any, ...] = (listed,) if isinstance(listed, Variable) else tuple(require_several(listed, ""))
    except InputError:
        raise InputError(
            f"variables: {describe_value(given)}; expected variables, or something that has them"
        ) from None
    wrong = [v for v in variables if not isinstance(v, Variable)]
    if wrong or not variables:
        what = f"{describe_value(wrong[0])} among them" if wrong else "none"
        raise InputError(f"variables: {what}; expected at least one Variable")
    if len({v.name for v in variables}) < len(variables):
        raise InputError("variables: two have the same name; expected distinct names")
    return variables


def infer_variables(seen: Iterable[tuple[str, DomainHints]], owner: str) -> list[Variable]:
    """Variables made from data: declared states in their order, or else the states that occur, sorted.

    States are sorted as text; whole numbers of ranges by their size. Texts that look like sets of states, but are taken as
    states, are warned of.
    """
    variables, disguised = [], []
    unusable: dict[str, str] = {}
    for name, hints in seen:
        states = hints.declared or _order_states(hints.states | settle_doubts(name, hints, owner), hints)
        if hints.declared is None and len(states) > _MOST_INFERRED:
            unusable[name] = (
                f"{owner}: column {name!r} has {len(states):,} distinct states, which looks like an identifier; "
                "leave it out, or give its domain, with variables="
            )
            continue
        if name and not states:
            unusable[name] = (
                f"{owner}: column {name!r} holds no state at all; expected some, or its domain in variables= (--variables)"
            )
            continue
        try:
            variables.append(Variable(name, states, ordered=hints.ordered or hints.numbers, bins=hints.bins))
        except InputError as error:
            raise InputError(f"{owner}: {error}") from None
        if hints.guessed and len(states) <= _MOST_INFERRED:
            if warning := describe_opaque(name, states, hints):
                warn_user(f"{owner}, column {name!r}: {warning}")
            elif disguise := describe_disguise(states):
                disguised.append(_Disguise(name, *disguise, looks_like_ranges(states, disguise[1])))
    if unusable:
        raise UnusableColumns(unusable)
    if not variables:
        raise InputError(f"{owner}: no columns; expected at least one")
    for separator in dict.fromkeys(column.separator for column in disguised):
        warn_user(f"{owner}, {_describe_disguises([c for c in disguised if c.separator == separator])}")
    return variables


def _order_states(states: frozenset[str], hints: DomainHints) -> tuple[str, ...]:
    return tuple(sorted(states, key=int) if hints.numbers else sorted(states))


def settle_doubts(name: str, hints: DomainHints, owner: str) -> set[str]:
    """States that doubtful texts name, or are, once all cells of the column are known; refused where both are wrong."""
    states: set[str] = set()
    for kind, text, names, row in sorted(hints.doubtful, key=lambda doubtful: doubtful.row):
        place = f"{owner}, row {row}, column {name!r}: {text!r}"
        if kind == "range" and hints.states.issuperset(names):
            raise InputError(
                f"{place} looks like a range, which needs an ordered variable, given in variables=, whole numbers with "
                f"{name_option('cells', name, 'range')}, or numbers that are binned first (Binning; --bin)"
            )
        if kind == "order":
            raise InputError(
                f"{place} is a range of what has no known order; expected whole numbers, at most 100,000 of them, or an "
                "ordered variable in variables="
            )
        if kind == "unclosed" and hints.lists:
            raise InputError(f"{place} has a bracket without its partner; expected a list such as [a, b]")
        states |= set(names) if kind == "interval" and hints.lists else {text}
    return states


def describe_opaque(name: str, states: tuple[str, ...], hints: DomainHints) -> str:
    """What a user should know of states that look like sets, and the option that reads them; empty if there are none."""
    intervals = sorted(d.text for d in hints.doubtful if d.kind == "interval" and d.text in states)
    if intervals and not any(state[-1] == ")" or state[0] == "(" for state in states):
        options = " or as lists with ".join(name_option("cells", name, word) for word in ("range", "sets"))
        return (
            f"{intervals[0]!r} is taken as a state of its own. Read such texts as everything from one number to the other "
            f"with {options}, or bin them (Binning; --bin)"
        )
    if graded := describe_degrees(states):
        return (
            f"{graded!r} looks like a state and its degree but is taken as a state. Read degrees with variables=, or with "
            f"{name_option('cells', name, 'degrees')}; {name_option('cells', name, 'plain')} keeps it without this note"
        )
    return ""


class _Disguise(NamedTuple):
    """A column of states that look like sets: one of them, what stands between its parts, whether they are ranges."""

    column: str
    state: str
    separator: str
    ranges: bool


def _describe_disguises(columns: Sequence[_Disguise]) -> str:
    """One sentence for all columns whose sets are written alike, with the option that reads them."""
    name, state, separator, ranges = columns[0]
    if len(columns) == 1:
        between = f"separator={{{name!r}: {separator!r}}} (--separator '{name}={separator}')"
        as_ranges = f", or as everything between with {name_option('cells', name, 'range')} beside it" if ranges else ""
        return (
            f"column {name!r}: {state!r} looks like a set of states but is taken as one state. Read such texts as sets "
            f"with {between}{as_ranges}; {name_option('cells', name, 'plain')} keeps them without this note"
        )
    listed = listing([repr(column.column) for column in columns], most=3)  # so that the remedy is never cut
    numbers = [column.column for column in columns if column.ranges]
    as_ranges = ""
    if numbers:
        words = ", ".join(f"{column!r}: 'range'" for column in numbers)
        as_ranges = (
            f", and {listing([repr(column) for column in numbers])} as everything between two numbers with "
            f"cells={{{words}}} (--cells '{','.join(f'{column}=range' for column in numbers)}') beside it"
        )
    return (
        f"columns {listed}: texts such as {state!r} look like sets of states but are taken as states. Read them as sets "
        f"with separator={separator!r} (--separator '{separator}'){as_ranges}; cells='plain' (--cells plain) keeps "
        "them without this note"
    )


def require_columns(columns: Iterable[str], variables: Iterable[Variable], owner: str) -> None:
    """Raise an `InputError` if a variable has no column."""
    names = list(columns)
    for variable in variables:
        if variable.name not in names:
            raise InputError(f"{owner}: no column {variable.name!r}{among(variable.name, names)}")

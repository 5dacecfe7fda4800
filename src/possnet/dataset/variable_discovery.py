"""Where the variables of a data set come from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from possnet.errors import InputError, among
from possnet.variables import Variable

if TYPE_CHECKING:
    from collections.abc import Iterable

    from possnet.arrow import DomainHints

_MOST_INFERRED = 10_000


def variables_of(given: object) -> tuple[Variable, ...]:
    """Variables given as such, or by anything that has variables (a network, a data set, a stream).

    >>> variables_of([Variable("rash", ("yes", "no"))])
    (Variable('rash', ('yes', 'no')),)
    """
    listed = getattr(given, "variables", given)
    try:
        variables: tuple[Any, ...] = (listed,) if isinstance(listed, Variable) else tuple(listed)  # type: ignore[arg-type]
    except TypeError:
        raise InputError(f"variables: {given!r}; expected variables, or something that has them") from None
    wrong = [v for v in variables if not isinstance(v, Variable)]
    if wrong or not variables:
        what = f"{wrong[0]!r} among them" if wrong else "none"
        raise InputError(f"variables: {what}; expected at least one Variable")
    if len({v.name for v in variables}) < len(variables):
        raise InputError("variables: two have the same name; expected distinct names")
    return variables


def infer_variables(seen: Iterable[tuple[str, DomainHints]], owner: str) -> list[Variable]:
    """Variables made from data: declared states in their order, or else the states that occur, sorted as text."""
    variables = []
    for name, hints in seen:
        states = hints.declared or tuple(sorted(hints.states | resolved_ranges(name, hints, owner)))
        if hints.declared is None and len(states) > _MOST_INFERRED:
            raise InputError(
                f"{owner}: column {name!r} has {len(states):,} distinct states, which looks like an identifier; "
                "leave it out, or give its domain, with variables="
            )
        if name and not states:
            raise InputError(
                f"{owner}: column {name!r} holds no state at all; expected some, or its domain in variables= (--variables)"
            )
        try:
            variables.append(Variable(name, states, ordered=hints.ordered, bins=hints.bins))
        except InputError as error:
            raise InputError(f"{owner}: {error}") from None
    if not variables:
        raise InputError(f"{owner}: no columns; expected at least one")
    return variables


def resolved_ranges(name: str, hints: DomainHints, owner: str) -> set[str]:
    """Texts with ``..`` as states of their own; refused where they look like ranges of other states."""
    for first, last, text, row in sorted(hints.ranges, key=lambda text: text[3]):
        if first in hints.states and last in hints.states:
            raise InputError(
                f"{owner}, row {row}, column {name!r}: {text!r} looks like a range, which needs an ordered variable, "
                "given in variables=, or numbers that are binned first (Binning; --bin)"
            )
    return {text for _, _, text, _ in hints.ranges}


def require_columns(columns: Iterable[str], variables: Iterable[Variable], owner: str) -> None:
    """Raise an `InputError` if a variable has no column."""
    names = list(columns)
    for variable in variables:
        if variable.name not in names:
            raise InputError(f"{owner}: no column {variable.name!r}{among(variable.name, names)}")

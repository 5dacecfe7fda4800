"""Domains of files: given, declared by the files themselves, or inferred from their cells."""

from __future__ import annotations

from typing import TYPE_CHECKING

from possnet.arrow import DomainHints
from possnet.dataset import infer_variables, require_columns
from possnet.errors import InputError, listing

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from possnet.io.data_source import ColumnBatch, DataSource
    from possnet.variables import Variable


def known_domain(sources: Sequence[DataSource], given: tuple[Variable, ...] | None) -> tuple[Variable, ...] | None:
    """Variables that are given, or that every file declares alike; otherwise None."""
    if given is not None:
        for source in sources:
            require_columns(source.state_columns(), given, source.owner)
        return given
    first = sources[0]
    if not first.state_columns():
        raise InputError(f"{first.owner}: no columns; expected at least one")
    for source in sources[1:]:
        odd = sorted(set(source.state_columns()) ^ set(first.state_columns()))
        if odd:
            raise InputError(
                f"{source.owner}: columns differ from those of {first.owner} ({listing(odd)}); expected the same"
            )
    declared = first.declared_variables()
    return declared if all(source.declared_variables() == declared for source in sources) else None


def infer_domain(files: Sequence[tuple[DataSource, Iterable[ColumnBatch]]]) -> tuple[Variable, ...]:
    """Variables made from the cells of all files, read once.

    A column that declares its states (a category), the same in every batch, has these; any other has all states that occur.
    """
    first, _ = files[0]
    seen: dict[str, set[DomainHints]] = {name: set() for name in first.state_columns()}
    for _, batches in files:
        for batch in batches:
            for read in batch.columns:
                column = read()
                seen[column.name].add(column.domain_hints())
    owner = first.owner if len(files) == 1 else f"{len(files)} files"
    return tuple(infer_variables(((name, _merge_hints(name, hints, owner)) for name, hints in seen.items()), owner))


def _merge_hints(name: str, hints: Iterable[DomainHints], owner: str) -> DomainHints:
    """One hint of many: the declared states if all declare the same, or if the order of one extends all others.

    Ordered domains that contradict each other are refused; any others become all states that occur.
    """
    listed = list(hints)
    states = frozenset().union(*(hint.states | set(hint.declared or ()) for hint in listed))
    ranges = frozenset().union(*(hint.ranges for hint in listed))
    declared = {(hint.declared, hint.ordered) for hint in listed}
    if len(declared) == 1:
        return DomainHints(states, *declared.pop(), ranges=ranges)
    orders = sorted((d for d, ordered in declared if d is not None and ordered), key=len)
    if len(orders) == len(declared):
        longest = orders[-1]
        for order in orders:
            if [state for state in longest if state in order] != list(order):
                raise InputError(
                    f"{owner}: column {name!r} is ordered as {' < '.join(order)} and as {' < '.join(longest)}; "
                    "expected one order, or variables="
                )
        return DomainHints(states, longest, ordered=True, ranges=ranges)
    return DomainHints(states, ranges=ranges)

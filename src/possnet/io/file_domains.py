"""What the columns of files mean, before rows are read: domains, and the bins of measurements.

Domains are given, declared by the files themselves, or inferred from their cells.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from possnet.arrow import DomainHints
from possnet.dataset import infer_variables, require_columns
from possnet.errors import InputError, among, did_you_mean, listing
from possnet.io.file_access import prefix_errors
from possnet.io.measured_columns import read_measurements
from possnet.measurements import Binning
from possnet.variables import join_bins

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from possnet.aliases import Floats
    from possnet.io.data_source import ColumnBatch, DataSource
    from possnet.variables import Variable


def known_domain(sources: Sequence[DataSource], given: tuple[Variable, ...] | None) -> tuple[Variable, ...] | None:
    """Variables that are given, or that every file declares alike; otherwise None."""
    if given is not None:
        for source in sources:
            require_columns(source.state_columns(), given, source.owner)
            known = {v.name: v for v in source.declared_variables() or ()}
            known |= {name: binning.variable(name) for name, binning in source.binnings.items()}
            given = tuple(join_bins(v, known[v.name], source.owner) if v.name in known else v for v in given)
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
    if declared is None or any(source.declared_variables() != declared for source in sources):
        return None
    for source in sources[1:]:
        others = source.declared_variables() or ()
        declared = tuple(join_bins(*pair, source.owner) for pair in zip(declared, others, strict=True))
    return declared


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
    variables = infer_variables(((name, _merge_hints(name, hints, owner)) for name, hints in seen.items()), owner)
    return tuple(_join_hints(variable, seen[variable.name], owner) for variable in variables)


def _join_hints(variable: Variable, hints: Iterable[DomainHints], owner: str) -> Variable:
    """The variable with the bins that some columns of its states know."""
    for hint in hints:
        if hint.bins is not None and hint.declared == variable.states:
            variable = join_bins(variable, replace(variable, bins=hint.bins), owner)
    return variable


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


def settle_binnings(
    binnings: Mapping[str, Binning], sources: Sequence[DataSource], variables: Sequence[Variable] | None
) -> dict[str, Binning]:
    """Binnings with their edges known, computed from all rows of all files where they are to be; columns are checked.

    Bins without names of their own take the states of an ordered variable of as many states, if variables are given.
    """
    known = {variable.name: variable for variable in variables or ()}
    settled = {}
    for name, binning in binnings.items():
        given: object = binning
        if not isinstance(given, Binning):
            raise InputError(
                f"binning of {name!r}: {binning!r}; expected a Binning, such as Binning([36, 37.5], error=0.2)"
            )
        for source in sources:
            for column in (name, binning.error):
                if isinstance(column, str) and column not in source.header:
                    raise InputError(f"{source.owner}: no column {column!r} to bin{among(column, source.header)}")
            if source.declared_variables() is not None:
                raise InputError(
                    f"{source.owner}: possnet's own file, whose cells are states already; expected numbers to bin"
                )
        if variables is not None and name not in known:
            raise InputError(
                f"binning of {name!r}: not among the variables ({listing(known)}); expected one of these"
                f"{did_you_mean(name, known)}"
            )
        if isinstance(binning.edges, str):
            numbers = np.concatenate([_read_numbers(name, source) for source in sources])
            binning = binning.settle_edges(numbers, f"{sources[0].owner}, column {name!r}")  # noqa: PLW2901
        settled[name] = _take_labels(binning, name, known.get(name))
    return settled


def _read_numbers(name: str, source: DataSource) -> Floats:
    """The measurements in all rows of a file (middles of intervals), from which edges are computed."""
    middles = []
    for table in source.read_tables([name]):
        with prefix_errors(source.owner):
            middles.append(read_measurements(name, table.column(name)).midpoints())
    return np.concatenate(middles)


def _take_labels(binning: Binning, name: str, variable: Variable | None) -> Binning:
    if variable is None or binning.labels is not None:
        return binning
    bins = binning.variable(name)
    if set(bins.states) == set(variable.states):
        return binning
    if variable.ordered and len(variable) == len(bins):
        return replace(binning, labels=variable.states)
    order = "" if variable.ordered else ", in no order"
    raise InputError(
        f"binning of {name!r}: {len(bins)} bins ({listing(bins.states)}), and the variable has {len(variable)} states "
        f"({listing(variable.states)}{order}); expected as many, or labels that name its states"
    )

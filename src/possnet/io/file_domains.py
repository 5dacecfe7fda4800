"""What the columns of files mean, before rows are read: domains, and the bins of measurements.

Domains are given, declared by the files themselves, or inferred from their cells.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from possnet.arrow import DomainHints
from possnet.dataset import infer_variables, require_columns
from possnet.errors import InputError, among, describe_value, did_you_mean, listing
from possnet.io.automatic_bins import expand_binnings, settle_automatic
from possnet.measurements import Binning
from possnet.variables import join_bins

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

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
    declared = [source.declared_variables() for source in sources]
    complete = [variables for variables in declared if variables is not None]
    return _merge_declared(complete, f"{len(sources)} files") if len(complete) == len(sources) else None


def _merge_declared(files: Sequence[tuple[Variable, ...]], owner: str) -> tuple[Variable, ...]:
    """Variables that files declare, matched by name, in the order of the first file.

    A domain that has the states of all others stands for them, whatever their order; see `_merge_hints`.
    """
    by_name = [{variable.name: variable for variable in variables} for variables in files]
    merged = []
    for name, variable in by_name[0].items():
        domains = [domain[name] for domain in by_name]
        joined = variable
        if any(other != variable for other in domains):
            hint = _merge_hints(name, [DomainHints(frozenset(), v.states, v.ordered) for v in domains], owner)
            (joined,) = infer_variables([(name, hint)], owner)
        for other in domains:
            joined = join_bins(joined, other, owner)
        merged.append(joined)
    return tuple(merged)


def infer_domain(
    files: Sequence[tuple[DataSource, Iterable[ColumnBatch]]], names: Sequence[str] | None = None
) -> tuple[Variable, ...]:
    """Variables made from the cells of all files, read once; of all columns, or of those that were read.

    A column that declares its states (a category), the same in every batch, has these; any other has all states that occur.
    """
    first, _ = files[0]
    seen: dict[str, dict[DomainHints, None]] = {name: {} for name in names or first.state_columns()}
    rows = 0
    for _, batches in files:
        for batch in batches:
            for read in batch.columns:
                column = read()
                rows += column.rows
                seen[column.name][column.domain_hints()] = None
    owner = first.owner if len(files) == 1 else f"{len(files)} files"
    silent = [name for name, hints in seen.items() if not any(hint.declared or hint.states for hint in hints)]
    if not rows and silent:
        raise InputError(
            f"{owner}: no rows, so that nothing says which states {silent[0]!r} has; expected rows, or domains in "
            "variables= (--variables)"
        )
    variables = infer_variables(((name, _merge_hints(name, hints, owner)) for name, hints in seen.items()), owner)
    return tuple(_join_hints(variable, seen[variable.name], owner) for variable in variables)


def _join_hints(variable: Variable, hints: Iterable[DomainHints], owner: str) -> Variable:
    """The variable with the bins that some columns of its states know."""
    for hint in hints:
        if hint.bins is not None and hint.declared == variable.states:
            variable = join_bins(variable, replace(variable, bins=hint.bins), owner)
    return variable


def _merge_hints(name: str, hints: Iterable[DomainHints], owner: str) -> DomainHints:
    """One hint of many: the first declared domain that has all states, an ordered one before others.

    Ordered domains that contradict each other are refused; without a domain that has all states, those that occur are it.
    """
    listed = list(hints)
    states = frozenset().union(*(hint.states | set(hint.declared or ()) for hint in listed))
    merged = replace(
        listed[0],
        states=states,
        declared=None,
        ordered=False,
        doubtful=frozenset().union(*(hint.doubtful for hint in listed)),
        lists=any(hint.lists for hint in listed),
        numbers=all(hint.numbers for hint in listed),
        bins=None,
    )
    declared = {(hint.declared, hint.ordered) for hint in listed if hint.declared is not None}
    orders = sorted((domain for domain, ordered in declared if ordered), key=len)
    for order in orders:
        if [state for state in orders[-1] if state in order] != [state for state in order if state in orders[-1]]:
            raise InputError(
                f"{owner}: column {name!r} is ordered as {' < '.join(order)} and as {' < '.join(orders[-1])}; "
                "expected one order, or variables="
            )
    complete = [(h.declared, h.ordered) for h in listed if h.declared is not None and states <= set(h.declared)]
    if not complete:
        return merged
    declared_states, ordered = max(complete, key=lambda domain: domain[1])
    return replace(merged, declared=declared_states, ordered=ordered)


def remember_writing(variables: Iterable[Variable], sources: Sequence[DataSource]) -> tuple[Variable, ...]:
    """Variables that remember how their cells are written; those of possnet's own files are not written at all."""
    written = [source for source in sources if source.declared_variables() is None]
    return tuple(written[0].cells.remember_writing(v) if written else v for v in variables)


def settle_binnings(
    binnings: Mapping[str, Binning], sources: Sequence[DataSource], variables: Sequence[Variable] | None
) -> dict[str, Binning]:
    """Binnings with their edges known, computed from all rows of all files where they are to be; columns are checked.

    ``*`` stands for all columns of numbers; edges that are to be computed are those of a given variable if it remembers
    them. Bins without names of their own take the states of an ordered variable of as many states, if variables are given.
    """
    known = {variable.name: variable for variable in variables or ()}
    mapping: object = binnings
    if not isinstance(mapping, Mapping):
        raise InputError(f"binnings {describe_value(mapping)}; expected a mapping from names of columns to Binnings")
    for name, binning in binnings.items():
        given: object = binning
        if not isinstance(given, Binning):
            raise InputError(
                f"binning of {name!r}: {describe_value(binning)}; "
                "expected a Binning, such as Binning([36, 37.5], error=0.2)"
            )
    settled = {}
    for name, binning in expand_binnings(binnings, sources, variables).items():
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
            binning = settle_automatic(name, binning, sources, known, _merge_hints)  # noqa: PLW2901
        settled[name] = _take_labels(binning, name, known.get(name))
    return settled


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

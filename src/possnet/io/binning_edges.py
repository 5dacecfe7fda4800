"""Binnings of the columns of files: edges computed from their rows, bins named after given states, columns checked."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from possnet.errors import InputError, among, did_you_mean, listing
from possnet.io.file_access import prefix_errors
from possnet.io.measured_columns import read_measurements
from possnet.measurements import Binning

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from possnet.aliases import Floats
    from possnet.io.data_source import DataSource
    from possnet.variables import Variable


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
    """What edges are computed from, of all rows of a file."""
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

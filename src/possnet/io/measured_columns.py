"""Columns of measurements in files: numbers and texts of a column, and of the column of its errors, to cells."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from possnet.errors import InputError, among, did_you_mean, listing
from possnet.measurements import Binning, Readings, read_numbers, read_texts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from possnet.aliases import Floats
    from possnet.io.data_source import DataSource
    from possnet.measurements import BinnedColumn
    from possnet.variables import Variable


_NOT_AN_ERROR = 1 << 41


def measured_column(name: str, binning: Binning, table: Any) -> BinnedColumn:
    """Cells of a column of an Arrow table that holds it and, if the binning names one, the column of its errors."""
    readings = _readings(name, table.column(name))
    if not isinstance(binning.error, str):
        return binning.cells(readings, name=name)
    errors = _readings(binning.error, table.column(binning.error))
    column = binning.cells(readings, np.where(errors.plain, errors.lower, np.nan), name=name)
    wrong = (errors.issues > 0) | (~errors.plain & ~np.isnan(errors.lower))
    if column.issues is None or not wrong.any():
        return column
    finding = f"its error, in column {binning.error!r}, is not a number; expected a number from 0 on"
    issues = np.where(wrong, _NOT_AN_ERROR, column.issues)
    return replace(column, issues=issues, findings={**column.findings, _NOT_AN_ERROR: finding})


def _readings(name: str, values: Any) -> Readings:
    """Readings of an Arrow column: numbers as they are; of texts only the distinct ones are read."""
    import pyarrow as pa
    import pyarrow.types as kinds

    values = values.chunk(0) if values.num_chunks == 1 else values.unify_dictionaries().combine_chunks()
    kind = values.type
    if kinds.is_integer(kind) or kinds.is_floating(kind) or kinds.is_decimal(kind) or kinds.is_null(kind):
        short = kinds.is_float32(kind) or kinds.is_float16(kind)
        return read_numbers((values if short else values.cast(pa.float64(), safe=False)).to_numpy(zero_copy_only=False))
    if kinds.is_string(kind) or kinds.is_large_string(kind) or str(kind) == "string_view":
        values = values.cast(pa.large_string()).dictionary_encode()
    if not kinds.is_dictionary(values.type) or not (
        kinds.is_string(values.type.value_type) or kinds.is_large_string(values.type.value_type)
    ):
        raise InputError(f"column {name!r} holds {kind}; expected numbers, or texts such as <5, >=10 and 3..7")
    texts = ["" if text is None else text for text in values.dictionary.to_pylist()]
    codes = values.indices.cast(pa.int64()).fill_null(len(texts)).to_numpy(zero_copy_only=False)
    return read_texts([*texts, ""]).take(codes)


def settle_bins(
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
            numbers = np.concatenate([_numbers(name, source) for source in sources])
            binning = binning.settled(numbers, f"{sources[0].owner}, column {name!r}")  # noqa: PLW2901
        settled[name] = _named_after(binning, name, known.get(name))
    return settled


def _numbers(name: str, source: DataSource) -> Floats:
    """What edges are computed from, of all rows of a file."""
    found = []
    for table in source.read_tables([name]):
        try:
            found.append(_readings(name, table.column(name)).middles())
        except InputError as error:
            raise InputError(f"{source.owner}: {error}") from None
    return np.concatenate(found)


def _named_after(binning: Binning, name: str, variable: Variable | None) -> Binning:
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

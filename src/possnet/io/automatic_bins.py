"""Which columns of files hold numbers, and what computing their edges needs: the numbers, and the shares of a target."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from possnet.arrow import ProblemReport, numbers_of_array
from possnet.dataset import Dataset, infer_variables
from possnet.errors import InputError, among
from possnet.io.file_access import prefix_errors
from possnet.measurements import Binning, read_measurements, share_states

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from possnet.aliases import Floats
    from possnet.arrow import DomainHints
    from possnet.io.data_source import DataSource
    from possnet.measurements import MeasuredIntervals
    from possnet.variables import Variable

    Merge = Callable[[str, Iterable[DomainHints], str], DomainHints]

ALL_COLUMNS = "*"
_FEWEST = 10  # distinct numbers that may well be states
_MOST_GRADES = 20  # the same of whole numbers, where there are rows for as many states
_MANY_ROWS = 10_000


def expand_binnings(
    binnings: Mapping[str, Binning], sources: Sequence[DataSource], variables: Sequence[Variable] | None
) -> dict[str, Binning]:
    """Binnings with every numeric column in the place of ``*``.

    A column is numeric if all its known cells are readings, of more than ten distinct numbers, or of several that are
    stored as numbers with fractions; in files of more than 10,000 rows, of more than twenty if all are whole numbers:
    grades and months are better states than bins there. Of given variables those with bins are numeric: the states
    of others say what their columns hold.
    """
    named = {name: binning for name, binning in binnings.items() if name != ALL_COLUMNS}
    if ALL_COLUMNS not in binnings:
        return named
    usual = binnings[ALL_COLUMNS]
    beside = {column for binning in binnings.values() for column in (binning.error, binning.target)}
    if variables is not None:
        columns = [v.name for v in variables if v.bins is not None]
    else:
        columns = [name for name in sources[0].state_columns() if name not in {*named, *beside}]
        columns = [name for name in columns if is_numeric(name, sources)]
    if not columns and not named:
        raise InputError(
            f"{sources[0].owner}: no column of numbers to bin; expected one whose cells are all readings, of more than "
            f"{_FEWEST} different ones"
        )
    return named | {name: usual for name in columns if name not in named}


def is_numeric(name: str, sources: Sequence[DataSource]) -> bool:
    """Whether a column of files holds numbers; see `expand_binnings`."""
    numbers, ends, rows, states_too = np.zeros(0), np.zeros(0), 0, True
    for source in sources:
        if name not in source.header or source.declared_variables() is not None:
            return False
        ranges = source.cells.column_syntax(name).reading == "range"
        try:
            for readings in _read_readings(name, source):
                if readings.issues.any():
                    return False
                rows += len(readings)
                known = np.isfinite(readings.lower) | np.isfinite(readings.upper)
                states_too = states_too and (ranges or bool(readings.plain[known].all()))
                numbers = np.unique(np.concatenate([numbers, readings.midpoints()]))
                ends = np.unique(np.concatenate([ends, readings.lower[known], readings.upper[known]]))
        except InputError:  # neither numbers nor texts
            return False
    if rows > _MANY_ROWS and states_too and (ends == np.round(ends)).all() and len(ends) <= _MOST_GRADES:
        return False
    return len(numbers) > _FEWEST or (len(numbers) > 1 and any(has_fractions(name, source) for source in sources))


def has_fractions(name: str, source: DataSource) -> bool:
    """Whether a column is stored as numbers, some of them with fractions, which cannot be states."""
    for table in source.read_tables([name]):
        column = table.column(name)
        if str(column.type) not in {"halffloat", "float", "double"}:
            return False
        for chunk in column.chunks:
            numbers = numbers_of_array(chunk, np.nan)
            if (np.isfinite(numbers) & (numbers != np.round(numbers))).any():
                return True
    return False


def settle_automatic(
    name: str, binning: Binning, sources: Sequence[DataSource], known: Mapping[str, Variable], merge: Merge
) -> Binning:
    """The binning with its edges: those that the variable remembers, or computed from all rows of all files."""
    variable = known.get(name)
    if variable is not None and variable.bins is not None:
        unit = binning.unit or variable.bins.unit
        return replace(Binning.from_variable(variable, binning.error, binning.relative), unit=unit)
    readings = [part for source in sources for part in _read_readings(name, source, strict=binning.labels is None)]
    numbers = np.concatenate([part.middles() for part in readings])
    date_unit = next((part.date_unit for part in readings if part.date_unit), "")
    owner = f"{sources[0].owner}, column {name!r}"
    shares = None if binning.target is None else _share_target(binning.target, name, sources, known, merge)
    return binning.settle_edges(numbers, owner, shares, date_unit=date_unit)


def _read_readings(name: str, source: DataSource, *, strict: bool = False) -> Iterator[MeasuredIntervals]:
    """The measurements in all rows of a file; if this is to be strict, texts that are no readings are refused.

    Otherwise they may be names of bins.
    """
    report = ProblemReport(source.owner)
    spell = source.cells.column_syntax(name).spell_reading
    for table in source.read_tables([name]):
        with prefix_errors(source.owner):
            readings = read_measurements(name, table.column(name), source.cells.unknown_words, spell)
        if strict:
            report.add_problems(name, readings.issues, readings.findings)
        report.first_row += len(readings)
        yield readings
    report.raise_if_any()


def _share_target(
    target: str, name: str, sources: Sequence[DataSource], known: Mapping[str, Variable], merge: Merge
) -> Floats:
    """The shares of the states of the target in all rows of all files (rows, states)."""
    for source in sources:
        if target not in source.state_columns() or target == name:
            columns = [column for column in source.state_columns() if column != name]
            raise InputError(f"{source.owner}: no target {target!r} to bin {name!r} by{among(target, columns)}")
    read = [
        (source.owner, read())
        for source in sources
        for batch in source.read_batches({target})
        for read in batch.columns
    ]
    owner = sources[0].owner
    variables = [known[target]] if target in known else None
    if variables is None:
        variables = infer_variables(
            [(target, merge(target, [column.domain_hints() for _, column in read], owner))], owner
        )
    parts = [Dataset.from_columns([column], variables=variables, owner=place) for place, column in read]
    column = Dataset.concatenate(parts).column(target)
    return share_states(column.codes, column.cells)

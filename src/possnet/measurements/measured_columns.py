"""Columns of measurements, and of the errors beside them, to cells.

A text is a reading, or a state of that name; where the states were known before (a variable that remembers its bins) the
name of a state wins over a number of the same spelling. What is neither may still be a set of states as the source writes
them. Only the distinct texts of a column are looked at.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from possnet.arrow import TextColumn, python_column, scalar_values
from possnet.errors import InputError, listing
from possnet.measurements.measured_intervals import MeasuredIntervals, read_numbers, read_texts
from possnet.measurements.number_cells import states_of_value
from possnet.variables import number_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from possnet.arrow import Cell, Finding, RawColumn
    from possnet.measurements.binned_column import BinnedColumn
    from possnet.measurements.binning import Binning
    from possnet.variables import Variable

    Resolve: TypeAlias = Callable[[str, Variable], tuple[Cell, Finding]]

_NOT_AN_ERROR = 1 << 41  # issues that no reading of a number has
_STATE_OR_NUMBER = 1 << 42
_EXPECTED = "expected numbers, or texts such as <5, >=10 and 3..7"


def measured_column(
    name: str,
    binning: Binning,
    values: Any,
    errors: Any = None,
    resolve: Resolve | None = None,
    *,
    known: bool = False,
    unknown_words: Sequence[str] = (),
    spell: Callable[[str], str] = str,
) -> RawColumn | None:
    """Cells of an Arrow column of numbers or texts, and of the column of their errors, if there is one.

    ``resolve`` reads texts that are neither states nor readings; ``known`` says that names of states win over numbers;
    ``spell`` writes the texts of a column that has its own way to write readings.
    None if the column holds neither numbers nor texts.

    >>> import pyarrow as pa
    >>> from possnet.measurements.binning import Binning
    >>> list(measured_column("age", Binning([20], labels=("young", "old")), pa.array(["17", "old", None])))
    [frozenset({'young'}), frozenset({'old'}), None]
    """
    found = scalar_values(values)
    if found is None:
        return None
    if not isinstance(found, tuple):
        column = _with_errors(binning, read_numbers(found, unknown_words), errors, name)
        return _take_number_states(column, found) if known else column
    codes, texts = found
    readings = read_texts([spell(text) for text in texts], unknown_words)
    if errors is not None:
        column = _take_states(_with_errors(binning, readings.take_rows(codes), errors, name), texts, codes, known)
        return replace(column, findings=_add_states(column, readings))
    column = _take_states(binning.bin_intervals(readings, name=name), texts, np.arange(len(texts)), known)
    column = replace(column, findings=_add_states(column, readings))
    if resolve is not None and column.issues.any():
        return _resolve_rest(column, codes, texts, resolve)
    return replace(column, first=column.first[codes], last=column.last[codes], issues=column.issues[codes])


def measured_cells(name: str, values: Iterable[Any], variable: Variable) -> RawColumn:
    """Cells of Python values of a variable with bins: states, numbers, readings, pairs of numbers, or sets of these.

    A mapping is from states to degrees.

    >>> import possnet as pn
    >>> age = pn.Variable("age", ("young", "middle", "old"), ordered=True, bins=pn.Bins((20, 40)))
    >>> measured_cells("age", [17.5, {"young", 25}, None, "old"], age).cells
    [('young',), ('middle', 'young'), None, ('old',)]
    """

    def read_cell(value: Any) -> Any:
        if value is None or type(value).__name__ == "NAType" or (isinstance(value, float) and np.isnan(value)):
            return None
        if isinstance(value, Mapping):
            return value
        members = value if isinstance(value, set | frozenset | list) else [value]
        cells = [states_of_value(member, variable) for member in members]
        return None if None in cells else {state for cell in cells for state in cell or ()}

    def read_row(row: int, value: Any) -> Any:
        try:
            return read_cell(value)
        except InputError as error:
            raise InputError(f"column {name!r}, row {row}: {error}") from None

    return python_column(name, [read_row(row, value) for row, value in enumerate(values, start=1)])


def read_measurements(
    name: str, values: Any, unknown_words: Sequence[str] = (), spell: Callable[[str], str] = str
) -> MeasuredIntervals:
    """Intervals of an Arrow column: numbers as they are; of texts only the distinct ones are read."""
    found = scalar_values(values)
    if found is None:
        raise refuse_values(name, values)
    if isinstance(found, tuple):
        return read_texts([spell(text) for text in found[1]], unknown_words).take_rows(found[0])
    return read_numbers(found, unknown_words)


def refuse_values(name: str, values: Any) -> InputError:
    """The error for a column that holds neither numbers nor texts."""
    return InputError(f"column {name!r} holds {values.type}; {_EXPECTED}")


def _with_errors(binning: Binning, readings: MeasuredIntervals, errors: Any, name: str) -> BinnedColumn:
    if errors is None:
        return binning.bin_intervals(readings, name=name)
    widths = read_measurements(str(binning.error), errors)
    column = binning.bin_intervals(readings, np.where(widths.plain, widths.lower, np.nan), name=name)
    wrong = (widths.issues > 0) | (~widths.plain & ~np.isnan(widths.lower))
    if not wrong.any():
        return column
    finding = f"its error, in column {binning.error!r}, is not a number; expected a number from 0 on"
    issues = np.where(wrong, _NOT_AN_ERROR, column.issues)
    return replace(column, issues=issues, findings={**column.findings, _NOT_AN_ERROR: finding})


def _take_states(column: BinnedColumn, texts: list[str], codes: NDArray[np.int64], known: bool) -> BinnedColumn:  # noqa: FBT001
    """The column with the states that texts name; where they are not known, only of texts that are no readings."""
    if not known and not column.issues.any():
        return column
    states = np.array(
        [column.variable.index(bare) if (bare := text.strip()) in column.variable else -1 for text in texts]
    )
    if not len(states) or states.max() < 0:
        return column
    named = np.where(known | (column.issues > 0), states[codes], -1)
    return replace(
        column,
        first=np.where(named >= 0, named, column.first),
        last=np.where(named >= 0, named, column.last),
        issues=np.where(named >= 0, 0, column.issues),
    )


def _take_number_states(column: BinnedColumn, numbers: NDArray[Any]) -> BinnedColumn:
    """The column with the states that are spelled like its numbers, refused beside numbers that are no states."""
    variable = column.variable
    states = {state: place for place, state in enumerate(variable.states) if _is_plain_number(state)}
    if not states:
        return column
    named = np.full(len(numbers), -1)
    for state, place in states.items():
        named[numbers == float(state)] = place
    first, last, issues = column.first.copy(), column.last.copy(), column.issues.copy()
    chosen = named >= 0
    moved = chosen & ((first != named) | (last != named))
    first[chosen] = last[chosen] = named[chosen]
    issues[chosen] = 0
    if (~chosen & ~np.isnan(numbers)).any():
        issues[moved] = _STATE_OR_NUMBER
    finding = (
        f"a state of {variable.name!r}, and a number that lies in another bin; expected states or numbers, not both"
    )
    return replace(
        column, first=first, last=last, issues=issues, findings={**column.findings, _STATE_OR_NUMBER: finding}
    )


def _is_plain_number(text: str) -> bool:
    try:
        return number_text(float(text)) == text
    except ValueError:
        return False


def _add_states(column: BinnedColumn, readings: MeasuredIntervals) -> dict[int, str]:
    """Findings of the column; those of texts that are no readings name the states too."""
    states = f"; or a state ({listing(column.variable.states)})"
    return {issue: text + states * (issue in readings.findings) for issue, text in column.findings.items()}


def _resolve_rest(column: BinnedColumn, codes: NDArray[np.int64], texts: list[str], resolve: Resolve) -> TextColumn:
    """The column as codes into its distinct texts, those that are neither states nor readings read by the source."""
    cells: list[Cell] = [None if cell is None else tuple(sorted(cell)) for cell in column]
    findings: dict[int, Finding] = {}
    for number in np.flatnonzero(column.issues).tolist():
        cells[number], problem = resolve(texts[number], column.variable)
        if problem:
            findings[number] = column.findings[int(column.issues[number])]
    return TextColumn(column.name, codes, cells, findings=findings)

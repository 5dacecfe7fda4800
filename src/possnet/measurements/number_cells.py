"""Numbers, intervals and readings as cells of a variable that has bins.

A name of a state always wins over a number of the same spelling. Any other text is a reading (see
`possnet.measurements.measured_intervals`), and a reading is the run of bins that its interval meets, exactly as
`possnet.measurements.Binning` of the same edges makes it.
"""

from __future__ import annotations

from functools import partial
from numbers import Real
from typing import TYPE_CHECKING

import numpy as np

from possnet.errors import InputError, among, describe_value
from possnet.measurements.binning import Binning
from possnet.measurements.measured_intervals import MeasuredIntervals, read_numbers, read_texts
from possnet.variables import number_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from possnet.arrow import Cell, Finding
    from possnet.variables import Variable


def bin_texts(
    texts: Sequence[str], variable: Variable, binning: Binning | None = None
) -> tuple[list[Cell], dict[int, Finding]]:
    """Cells of texts that are states of a variable with bins, or readings; and what is wrong with those that are neither.

    >>> import possnet as pn
    >>> age = pn.Variable("age", ("young", "middle", "old"), ordered=True, bins=pn.Bins((20, 40)))
    >>> bin_texts(["old", "17", ">30", "?"], age)
    ([('old',), ('young',), ('middle', 'old'), None], {})
    """
    bare = [text.strip() for text in texts]
    cells: list[Cell] = [(text,) if text in variable else () for text in bare]
    strangers = [number for number, text in enumerate(bare) if text not in variable]
    readings = read_texts([bare[number] for number in strangers])
    column = (binning or Binning.from_variable(variable)).bin_intervals(readings, name=variable.name)
    findings: dict[int, Finding] = {}
    runs = zip(strangers, column.first.tolist(), column.last.tolist(), (column.issues > 0).tolist(), strict=True)
    for place, (number, first, last, wrong) in enumerate(runs):
        if not wrong:
            cells[number] = None if first < 0 else variable.states[first : last + 1]
        elif readings.issues[place]:
            finding = readings.findings[int(readings.issues[place])]
            findings[number] = partial(_describe_stranger, finding, bare[number], variable)
        else:
            findings[number] = f"{bare[number]} {column.findings[int(column.issues[place])]}"
    return cells, findings


def _describe_stranger(finding: str, text: str, variable: Variable) -> str:
    return f"{finding}; or a state{among(text, variable.states)}"


def states_of_value(value: object, variable: Variable) -> Cell:
    """States that a value speaks of: a state, the text of a reading, a number, or an interval as a pair of numbers.

    None if it says nothing, as ``?`` does. The ends of an interval are in it; None stands for no end.

    >>> import possnet as pn
    >>> age = pn.Variable("age", ("young", "middle", "old"), ordered=True, bins=pn.Bins((20, 40)))
    >>> states_of_value(30, age), states_of_value((30, None), age), states_of_value("<=20", age)
    (('middle',), ('middle', 'old'), ('young', 'middle'))
    """
    if variable.bins is None or (isinstance(value, str) and value in variable):
        return (variable.states[variable.index(value)],)  # type: ignore[arg-type]
    if isinstance(value, str):
        (cell,), findings = bin_texts([value], variable)
        for finding in findings.values():
            raise InputError(finding if isinstance(finding, str) else finding())
        return cell
    if _is_number(value):
        name = number_text(float(value))  # type: ignore[arg-type]
        if name in variable:
            return (name,)
        return (variable.states[variable.bins.index(float(value))],)  # type: ignore[arg-type]
    if isinstance(value, tuple) and len(value) == 2 and all(end is None or _is_number(end) for end in value):
        return _states_between(*value, variable)
    kind = type(value).__name__
    raise InputError(
        f"a {kind} {describe_value(value)}; expected a state, a number, a reading such as '>40' or '35±2', "
        "or a pair of numbers"
    )


def _states_between(low: float | None, high: float | None, variable: Variable) -> Cell:
    lower, upper = (-np.inf if low is None else float(low)), (np.inf if high is None else float(high))
    if not lower <= upper:
        raise InputError(
            f"the interval {describe_value(low)} to {describe_value(high)} runs backwards, or has no number for an end"
        )
    point = read_numbers(np.array([lower]))
    no = np.array([False])
    interval = MeasuredIntervals(point.lower, np.array([upper]), no, no, no, np.zeros(1), np.zeros(1, dtype=np.int64))
    column = Binning.from_variable(variable).bin_intervals(interval, name=variable.name)
    if column.issues.any():
        raise InputError(f"{number_text(lower)}..{number_text(upper)} {column.findings[int(column.issues[0])]}")
    return variable.states[int(column.first[0]) : int(column.last[0]) + 1]


def _is_number(value: object) -> bool:
    return isinstance(value, Real | np.number) and not isinstance(value, bool | np.bool_)

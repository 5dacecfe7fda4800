"""Columns of cells with degrees: a mapping from states to degrees in a cell, and a column of certainties beside the cells.

A cell with degrees is a possibility distribution over the states. Degrees are divided by the largest of their cell. A
certainty c of a cell, on a scale from 0 to s, discounts it: every state is possible to 1 - c / s at least
(Dubois and Prade 1988), so that a cell of certainty s stays what it is, and one of certainty 0 says nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from math import isfinite
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, runtime_checkable

import numpy as np

from possnet.arrow.raw_columns import TextColumn, describe_misfit
from possnet.arrow.reading_notes import ReadingNote
from possnet.errors import InputError, among, describe_value
from possnet.kernels import bitmaps
from possnet.kernels.graded_cells import GradedCells, grade_cells
from possnet.kernels.grouping import group_rows

if TYPE_CHECKING:
    from possnet.aliases import Bools, Floats, Words
    from possnet.arrow.raw_columns import DomainHints, Finding, ProblemReport, RawColumn
    from possnet.variables import Variable

ReadCells: TypeAlias = "tuple[Words, Words | None, GradedCells | None]"
"""Bitmaps of the supports, of the unknown cells if there are any, and the graded cells if there are any."""
Certainty: TypeAlias = Mapping[str, "str | tuple[str, float]"]
"""Column of cells -> column of its certainties, from 0 to 1; or that column and the largest certainty."""


def read_cells(column: RawColumn, variable: Variable, report: ProblemReport) -> ReadCells:
    """Bitmaps of a column in its domain, with the graded cells of those columns that have some.

    >>> from possnet.arrow import ProblemReport, python_column
    >>> from possnet.variables import Variable
    >>> column = python_column("rash", ["yes", {"yes": 1, "no": 0.4}])
    >>> read_cells(column, Variable("rash", ("yes", "no")), ProblemReport("rows"))[2].degrees
    array([[1. , 0.4]])
    """
    if not isinstance(column, TextColumn) and isinstance(column, DegreeColumn):  # protocols are slow to ask for
        return column.read_degrees(variable, report)
    return *column.to_bitmaps(variable, report), None


@runtime_checkable
class DegreeColumn(Protocol):
    """A column whose cells may carry degrees."""

    def read_degrees(self, variable: Variable, report: ProblemReport) -> ReadCells:
        """Bitmaps of the supports, and the graded cells; misfits go to the report."""


@dataclass(frozen=True, slots=True)
class GradedColumn:
    """A column some of whose distinct cells carry degrees: number of the cell -> state -> degree.

    ``sets`` are the cells with the states that they name.
    """

    sets: TextColumn
    degrees: Mapping[int, Mapping[str, Any]]

    @property
    def name(self) -> str:
        """Name of the column."""
        return self.sets.name

    @property
    def rows(self) -> int:
        """Number of rows."""
        return self.sets.rows

    def domain_hints(self) -> DomainHints:
        """States that the cells name, and the declared ones."""
        return self.sets.domain_hints()

    def to_bitmaps(self, variable: Variable, report: ProblemReport) -> tuple[Words, Words | None]:
        """Bitmaps of the supports."""
        return self.read_degrees(variable, report)[:2]

    def read_degrees(self, variable: Variable, report: ProblemReport) -> ReadCells:
        """Bitmaps of the supports, and the degrees, divided by the largest of their cell."""
        if not self.degrees:
            return *self.sets.to_bitmaps(variable, report), None
        cells, findings = list(self.sets.cells), dict(self.sets.findings)
        numbers = sorted(self.degrees)
        table = np.zeros((len(cells), len(variable)))
        divided = 1.0
        for number in numbers:
            degrees = self.degrees[number]
            finding = find_fault(degrees, variable)
            if finding:
                findings.setdefault(number, finding)
                continue
            for state, degree in degrees.items():
                table[number, variable.index(state)] = degree
            largest = float(table[number].max())
            divided = min(divided, largest)
            table[number] /= largest
            cells[number] = tuple(state for state, degree in degrees.items() if degree > 0.0)
        if divided < 1.0:
            sentence = (
                f"the largest degree of a cell is {divided:.6g}; expected 1 for the most possible states. Degrees are "
                "divided by the largest of their cell"
            )
            report.notes[self.name] = ReadingNote("", sentence)
        words, absent = replace(self.sets, cells=cells, findings=findings).to_bitmaps(variable, report)
        has_degrees = np.zeros(len(cells), dtype=np.bool_)
        has_degrees[numbers] = True
        rows = np.flatnonzero(has_degrees.take(self.sets.codes))
        return words, absent, grade_cells(rows, self.sets.codes[rows].astype(np.int64), table)


def find_fault(degrees: Mapping[str, Any], variable: Variable) -> Finding:
    """What is wrong with the degrees of a cell, or nothing.

    >>> from possnet.variables import Variable
    >>> find_fault({"yes": 0, "no": 0.0}, Variable("rash", ("yes", "no")))
    'degrees that are all 0 leave no state possible; expected 1 for the most possible states'
    """
    strangers = tuple(state for state in degrees if state not in variable)
    if strangers or not degrees:
        return partial(describe_misfit, strangers, variable)
    for state, degree in degrees.items():
        given: object = degree
        is_number = isinstance(given, int | float | np.integer | np.floating) and not isinstance(given, bool)
        if not is_number or not isfinite(degree) or not 0.0 <= degree <= 1.0:
            return f"degree {describe_value(degree)} of {state!r}; expected a number from 0 to 1"
    if not any(degrees.values()):
        return "degrees that are all 0 leave no state possible; expected 1 for the most possible states"
    return ""


@dataclass(frozen=True, slots=True)
class DiscountedColumn:
    """Cells and, in a column of numbers beside them, how certain each is: from 0 to ``scale``."""

    cells: RawColumn
    certainty: TextColumn
    scale: float

    @property
    def name(self) -> str:
        """Name of the column of cells."""
        return self.cells.name

    @property
    def rows(self) -> int:
        """Number of rows."""
        return self.cells.rows

    def domain_hints(self) -> DomainHints:
        """What the cells say of their domain."""
        return self.cells.domain_hints()

    def to_bitmaps(self, variable: Variable, report: ProblemReport) -> tuple[Words, Words | None]:
        """Bitmaps of the supports."""
        return self.read_degrees(variable, report)[:2]

    def read_degrees(self, variable: Variable, report: ProblemReport) -> ReadCells:
        """Bitmaps of the supports, and the degrees: 1 - certainty / scale for every state at least."""
        words, absent, graded = read_cells(self.cells, variable, report)
        unknown = np.zeros(self.rows, dtype=np.bool_) if absent is None else bitmaps.unpack(absent, self.rows)
        least = self._least_degrees(unknown, report)
        codes, octets = bitmaps.decode_cells(words, self.rows)
        degrees: Floats = bitmaps.unpack_sets(octets, len(variable)).astype(np.float64)
        if graded is not None:
            codes = codes.astype(np.int64)
            codes[graded.rows] = len(degrees) + graded.codes
            degrees = np.vstack([degrees, graded.degrees])
        groups = group_rows([codes, self.certainty.codes], [len(degrees), max(len(least), 1)], self.rows)
        if not len(groups):
            return words, absent, graded
        cells, certainties = groups.combinations.T
        table = np.maximum(degrees[cells], least[certainties][:, np.newaxis])
        known = np.flatnonzero(~unknown)
        supports = bitmaps.encode_cells(groups.inverse, table > 0.0)
        if absent is not None:
            supports |= absent
        return supports, absent, grade_cells(known, groups.inverse[known], table)

    def _least_degrees(self, unknown: Bools, report: ProblemReport) -> Floats:
        """1 - certainty / scale of every distinct certainty; what is no certainty is reported where a cell needs it."""
        findings: dict[int, Finding] = {}
        least = np.zeros(len(self.certainty.cells))
        for number, cell in enumerate(self.certainty.cells):
            certainty = _read_number(cell)
            if certainty is None or not 0.0 <= certainty <= self.scale:
                text = "nothing" if cell is None else repr("|".join(cell))
                findings[number] = (
                    f"{text} as the certainty of {self.name!r}; expected a number from 0 to {self.scale:g}"
                )
            else:
                least[number] = 1.0 - certainty / self.scale
        report.add_problems(self.certainty.name, np.where(unknown, -1, self.certainty.codes), findings)
        return least


def _read_number(cell: tuple[str, ...] | None) -> float | None:
    try:
        return float(cell[0]) if cell is not None and len(cell) == 1 else None
    except ValueError:
        return None


def read_certainty(certainty: Certainty | None, owner: str) -> dict[str, tuple[str, float]]:
    """Checked certainties: column of cells -> column of certainties and the largest certainty.

    >>> read_certainty({"label": ("certainty", 7), "rash": "sure"}, "table")
    {'label': ('certainty', 7.0), 'rash': ('sure', 1.0)}
    """
    checked = {}
    given: object = certainty
    if given is not None and not isinstance(given, Mapping):
        raise InputError(
            f"{owner}: certainty {describe_value(certainty)}; expected a mapping such as {{'label': ('certainty', 7)}}"
        )
    for name, option in (certainty or {}).items():
        column, scale = (option, 1.0) if isinstance(option, str) else _split_option(option, name, owner)
        if column == name:
            raise InputError(f"{owner}: certainty of {name!r} in {column!r} itself; expected another column")
        checked[name] = column, scale
    return checked


def _split_option(option: object, name: str, owner: str) -> tuple[str, float]:
    if isinstance(option, tuple | list) and len(option) == 2:
        column, scale = option
        number = isinstance(scale, int | float) and not isinstance(scale, bool)
        if isinstance(column, str) and number and isfinite(scale) and scale > 0.0:
            return column, float(scale)
    raise InputError(
        f"{owner}: certainty of {name!r} is {describe_value(option)}; "
        "expected a column, or a column and its largest certainty, such as "
        "('certainty', 7)"
    )


def discount_columns(columns: list[RawColumn], certainty: Certainty | None, owner: str) -> list[RawColumn]:
    """Columns with those that have certainties discounted, and the columns of certainties left out."""
    checked = read_certainty(certainty, owner)
    by_name = {column.name: column for column in columns}
    discounted: list[RawColumn] = []
    beside = {column for column, _ in checked.values()}
    for name, (column_name, _) in checked.items():
        for wanted in (name, column_name):
            if wanted not in by_name:
                raise InputError(f"{owner}: no column {wanted!r}{among(wanted, by_name)}")
    for column in columns:
        if column.name in checked:
            column_name, scale = checked[column.name]
            discounted.append(discount_column(column, by_name[column_name], scale, owner))
        elif column.name not in beside:
            discounted.append(column)
    return discounted


def discount_column(cells: RawColumn, certainty: RawColumn, scale: float, owner: str) -> RawColumn:
    """A column with the column of its certainties."""
    if not isinstance(certainty, TextColumn):
        raise InputError(
            f"{owner}: certainty column {certainty.name!r} holds lists; expected numbers from 0 to {scale:g}"
        )
    return DiscountedColumn(cells, certainty, scale)

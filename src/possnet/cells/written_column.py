"""A column of texts that are cells, parsed once for every distinct text."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from possnet.arrow import (
    DomainHints,
    DoubtfulText,
    GradedColumn,
    ReadingNote,
    TextColumn,
    name_options,
    read_cells,
)
from possnet.cells.cell_syntax import WHOLE_NUMBER
from possnet.cells.parsed_cell import CellPart, ParsedCell
from possnet.cells.recalled_cells import recall_cell
from possnet.errors import listing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from numpy.typing import NDArray

    from possnet.aliases import Words
    from possnet.arrow import Cell, ProblemReport, ReadCells
    from possnet.cells.cell_syntax import CellReading, CellSyntax
    from possnet.variables import Variable

_WIDEST = 100_000  # whole numbers of a range; far more than a variable made from data may have


@dataclass(frozen=True, slots=True)
class WrittenColumn:
    """A column of texts: for every row the number of its text, and the distinct texts, read as far as they can be.

    ``first_row`` is the number of rows before these; ``states`` is the domain if the source declares one, in which case
    every name of a state is a state, however it looks. ``degrees`` are those of cells that are mappings, not texts.
    ``recalled`` is how the variable remembers that its cells are written, if it does.

    >>> from possnet.cells import CellSyntax
    >>> texts = TextColumn("rash", np.array([0, 1, 0]), [("yes",), ("no|yes",)])
    >>> sorted(WrittenColumn.parse_column(texts, CellSyntax()).domain_hints().states)
    ['no', 'yes']
    """

    name: str
    codes: NDArray[np.integer[Any]]
    parsed_cells: list[ParsedCell]
    first_row: int = 0
    reading: CellReading = "auto"
    states: tuple[str, ...] | None = None
    ordered: bool = False
    degrees: Mapping[int, Mapping[str, Any]] = field(default_factory=dict)
    recalled: CellSyntax | None = None

    @classmethod
    def parse_column(
        cls,
        column: TextColumn | GradedColumn,
        syntax: CellSyntax,
        *,
        first_row: int = 0,
        parse: Callable[[str], ParsedCell] | None = None,
        recalled: CellSyntax | None = None,
    ) -> WrittenColumn:
        """The texts of a column, parsed; sets and lists are cells already, and null is unknown.

        A reader of many tables hands over a function that remembers what it has parsed.
        """
        degrees: Mapping[int, Mapping[str, Any]] = {}
        if isinstance(column, GradedColumn):
            degrees, column = column.degrees, column.sets
        parse = parse or syntax.parse
        parsed = [
            ParsedCell(unknown=True)
            if cell is None
            else parse(cell[0])
            if number not in column.sets
            else ParsedCell(parts=tuple(map(CellPart, cell)), finding="" if cell or number in degrees else _EMPTY_SET)
            for number, cell in enumerate(column.cells)
        ]
        codes = column.codes.astype(np.min_scalar_type(max(len(parsed) - 1, 0)), copy=False)
        keeps = syntax.reading in {"auto", "plain"}  # other readings make states of their own from the texts
        states, ordered = (column.states, column.ordered) if keeps else (None, False)
        return cls(column.name, codes, parsed, first_row, syntax.reading, states, ordered, degrees, recalled)

    @property
    def rows(self) -> int:
        """Number of rows."""
        return len(self.codes)

    def domain_hints(self) -> DomainHints:
        """States that the texts name, those of "everything but" included, and texts that may be states."""
        if self.states is not None:
            return DomainHints(frozenset(), self.states, self.ordered, guessed=self.reading == "auto")
        states = set().union(*(parsed.named_states() for parsed in self.parsed_cells))
        doubtful = set(self._doubtful_texts(states))
        numbers = self.reading == "range" and all(WHOLE_NUMBER.fullmatch(state) for state in states)
        return DomainHints(
            frozenset(states),
            doubtful=frozenset(doubtful),
            lists=any(parsed.is_list for parsed in self.parsed_cells),
            numbers=numbers,
            guessed=self.reading == "auto",
        )

    def _doubtful_texts(self, states: set[str]) -> Iterator[DoubtfulText]:
        """Texts that only all cells of the column tell; whole numbers of ranges are added to the states."""
        for number, parsed in enumerate(self.parsed_cells):
            ranges = parsed.possible_ranges()
            if not ranges and not parsed.doubt:
                continue
            row = self.first_row + int(np.argmax(self.codes == number)) + 1
            if parsed.doubt:
                names = tuple(part.text for part in parsed.parts) if parsed.doubt == "interval" else ()
                yield DoubtfulText(parsed.doubt, parsed.text.strip(), names, row)
            for text, ends in ranges:
                first, last = ends or (text, text)
                if self.reading != "range":
                    yield DoubtfulText("range", text, (first, last), row)
                elif (
                    WHOLE_NUMBER.fullmatch(first) and WHOLE_NUMBER.fullmatch(last) and int(last) - int(first) < _WIDEST
                ):
                    states.update(map(str, range(int(first), int(last) + 1)))
                else:
                    yield DoubtfulText("order", text, (first, last), row)

    def to_bitmaps(self, variable: Variable, report: ProblemReport) -> tuple[Words, Words | None]:
        """Bitmaps by look-up, after the distinct texts are read in the domain; of cells with degrees the supports."""
        return self.read_degrees(variable, report)[:2]

    def read_degrees(self, variable: Variable, report: ProblemReport) -> ReadCells:
        """Bitmaps by look-up, after the distinct texts are read in the domain, and the degrees of those that have some."""
        cells_read = self._recall_cells(variable, report)
        read = [parsed.resolve_states(variable) for parsed in cells_read]
        findings = {number: finding for number, (_, finding) in enumerate(read) if finding}
        degrees = dict(self.degrees)
        for number in [number for number in findings if number not in degrees]:
            resolved = cells_read[number].resolve_degrees(variable)
            if resolved is not None:
                degrees[number], findings[number] = resolved
                if findings[number]:
                    del degrees[number]
        findings = {n: finding for n, finding in findings.items() if finding and n not in degrees}
        cells: list[Cell] = [cell for cell, _ in read]
        for parsed in cells_read:
            if (choice := parsed.describe_choice(variable)) and self.name not in report.notes:
                other = "range" if parsed.doubt or parsed.may_be_range(variable) else "plain"
                report.notes[self.name] = ReadingNote(parsed.text.strip(), choice, other)
        return read_cells(
            GradedColumn(TextColumn(self.name, self.codes, cells, findings=findings), degrees), variable, report
        )

    def _recall_cells(self, variable: Variable, report: ProblemReport) -> list[ParsedCell]:
        """The cells as the variable remembers that they are written, where it does; what is a choice is noted."""
        if self.recalled is None:
            return self.parsed_cells
        cells = []
        for parsed in self.parsed_cells:
            cell, chosen = recall_cell(parsed, self.recalled, variable)
            cells.append(cell)
            if chosen and self.name not in report.notes:
                states, other = (
                    cell.resolve_states(variable)[0],
                    "auto" if cell is not parsed else self.recalled.reading,
                )
                sentence = f"{parsed.text.strip()!r} is read as the set of {listing(states or ())}"
                report.notes[self.name] = ReadingNote(parsed.text.strip(), sentence, other)
        return cells


_EMPTY_SET = "an empty set; expected at least one state, or nothing at all where nothing is known"


def name_option(option: str, column: str, value: str) -> str:
    """An option for one column, as it is given in Python and on the command line.

    >>> name_option("cells", "age", "range")
    "cells={'age': 'range'} (--cells 'age=range')"
    """
    return name_options(option, {column: value})

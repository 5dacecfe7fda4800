"""A column of texts that are cells, parsed once for every distinct text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from possnet.arrow import DomainHints, TextColumn

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from possnet.aliases import Words
    from possnet.arrow import Cell, ProblemReport
    from possnet.cells.cell_syntax import ParsedCell
    from possnet.variables import Variable


@dataclass(frozen=True, slots=True)
class WrittenColumn:
    """A column of texts: for every row the number of its text, and the distinct texts, read as far as they can be.

    ``first_row`` is the number of rows before these.
    """

    name: str
    codes: NDArray[np.integer[Any]]
    parsed_cells: list[ParsedCell]
    first_row: int

    @property
    def rows(self) -> int:
        """Number of rows."""
        return len(self.codes)

    def domain_hints(self) -> DomainHints:
        """States that the texts name, those of "everything but" included.

        A text with ``..`` names a state, unless it looks like a range of others; that is decided when all are known.
        """
        states = set().union(*(parsed.named_states() for parsed in self.parsed_cells))
        ranges = set()
        for number, parsed in enumerate(self.parsed_cells):
            if parsed.possible_ranges():
                row = self.first_row + int(np.flatnonzero(self.codes == number)[:1].sum()) + 1
                ranges |= {(*part, row) for part in parsed.possible_ranges()}
        return DomainHints(frozenset(states), ranges=frozenset(ranges))

    def to_bitmaps(self, variable: Variable, report: ProblemReport) -> tuple[Words, Words | None]:
        """Bitmaps by look-up, after the distinct texts are read in the domain."""
        read = [parsed.resolve_states(variable) for parsed in self.parsed_cells]
        findings = {number: finding for number, (_, finding) in enumerate(read) if finding}
        cells: list[Cell] = [cell for cell, _ in read]
        return TextColumn(self.name, self.codes, cells, findings=findings).to_bitmaps(variable, report)

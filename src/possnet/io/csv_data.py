"""CSV files of set-valued cells (see `possnet.io.cell_syntax` for how a cell is written).

Columns are dictionary-encoded while they are parsed, and only the distinct texts are looked at: a million rows of a column
cost as many parses as the column has different cells.
"""

from __future__ import annotations

import csv
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from possnet.arrow import Cell, DomainHints, ProblemReport, TextColumn, first_line, require_distinct
from possnet.dataset import Dataset, weights_of_column
from possnet.errors import InputError
from possnet.io.data_source import ColumnBatch, DataSource
from possnet.io.file_access import file_error
from possnet.io.measured_columns import measured_column

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from possnet.aliases import Words
    from possnet.arrow import RawColumn
    from possnet.io.cell_syntax import CellSyntax, ParsedCell
    from possnet.variables import Variable


_BLOCK = 1 << 23
_PIECE = 1 << 25
_ROWS = 1 << 16


class CsvSource(DataSource):
    """A CSV file: columns named by its first line, one set-valued cell a field; ``whole``: read as one batch."""

    def __init__(self, path: Path, weight_column: str | None, syntax: CellSyntax, *, whole: bool) -> None:
        super().__init__(path, weight_column)
        self.syntax, self.whole = syntax, whole
        self._readings: dict[str, ParsedCell] = {}
        self.header = self._read_header()
        self.require_weights()

    def raw(self, names: Sequence[str]) -> Iterator[Any]:
        """Arrow tables of some columns as they are written."""
        return self._tables(list(names))

    def batches(self, wanted: Collection[str]) -> Iterator[ColumnBatch]:
        """Batches of columns; the whole file as one batch if the source was made for that."""
        names = [name for name in self.names() if name in wanted]
        included = [column for name in names for column in self.needed(name)]
        included += [self.weight_column] if self.weight_column else []
        first_row = 0
        for table in self._tables(list(dict.fromkeys(included))):
            weights = None
            if self.weight_column:
                codes, texts = _coded(table.column(self.weight_column))
                column = TextColumn(self.weight_column, codes, [(text.strip(),) for text in texts])
                weights = weights_of_column([column], self.weight_column, self.owner, first_row)
            yield ColumnBatch([partial(self._column, name, table, first_row) for name in names], weights)
            first_row += table.num_rows

    def _column(self, name: str, table: Any, first_row: int) -> RawColumn:
        if name in self.binnings:
            return measured_column(name, self.binnings[name], table)
        codes, texts = _coded(table.column(name))
        return CsvColumn(name, codes, [self._read(text) for text in texts], first_row)

    def _read(self, text: str) -> ParsedCell:
        reading = self._readings.get(text)
        if reading is None:
            reading = self.syntax.parse(text)
            if len(self._readings) < 100_000:
                self._readings[text] = reading
        return reading

    def _lines(self) -> Iterator[list[str]]:
        """Rows of fields, read plainly; a byte that is not UTF-8 becomes a lone surrogate."""
        try:
            with self.path.open(encoding="utf-8-sig", errors="surrogateescape", newline="") as lines:
                yield from csv.reader(lines, delimiter=self.syntax.delimiter)
        except (OSError, ValueError) as error:
            raise file_error(self.path, error) from None

    def _read_header(self) -> list[str]:
        try:
            header = next(self._lines(), None)
        except csv.Error as error:
            raise InputError(f"{self.owner}, line 1: {error}; expected a line of column names") from None
        if any(_undecodable(name) for name in header or ()):
            raise InputError(f"{self.owner}, line 1: not UTF-8 text; expected a CSV file, saved as UTF-8")
        if not header:
            found = "the file is empty" if header is None else "its first line is blank"
            raise InputError(f"{self.owner}: {found}; expected a line of column names, then rows")
        if "" in header:
            raise InputError(
                f"{self.owner}, line 1: column {header.index('') + 1} has no name; expected a name for every column"
            )
        require_distinct(header, f"{self.owner}, line 1")
        return header

    def _tables(self, included: list[str]) -> Iterator[Any]:
        """Arrow tables of dictionary-encoded text: the whole file, or a block at a time."""
        import pyarrow as pa
        import pyarrow.csv as arrow_csv

        text = pa.dictionary(pa.int32(), pa.string())
        try:
            quotes = self._has_quotes()
            options = {
                "parse_options": arrow_csv.ParseOptions(
                    delimiter=self.syntax.delimiter,
                    newlines_in_values=quotes,
                    ignore_empty_lines=len(self.header) > 1,
                ),
                "convert_options": arrow_csv.ConvertOptions(
                    column_types=dict.fromkeys(included, text), include_columns=included, strings_can_be_null=False
                ),
            }
            if not self._has_rows():
                yield pa.schema([(name, text) for name in included]).empty_table()
            elif self.whole:
                yield arrow_csv.read_csv(self.path, read_options=arrow_csv.ReadOptions(block_size=_BLOCK), **options)
            elif quotes:
                reading = arrow_csv.ReadOptions(block_size=_BLOCK)
                for batch in arrow_csv.open_csv(self.path, read_options=reading, **options):
                    yield pa.Table.from_batches([batch])
            else:
                for number, piece in enumerate(self._pieces()):
                    reading = arrow_csv.ReadOptions(
                        column_names=self.header, skip_rows=int(number == 0), block_size=_BLOCK
                    )
                    yield arrow_csv.read_csv(pa.BufferReader(piece), read_options=reading, **options)
        except (pa.ArrowException, OSError, KeyError) as error:
            raise self._explained(error) from None

    def _has_rows(self) -> bool:
        """Whether anything but blank lines follows the header (a blank line is a row of a single column)."""
        rows = self._lines()
        next(rows, None)
        try:
            return any(row or len(self.header) == 1 for row in rows)
        except csv.Error:
            return True

    def _pieces(self) -> Iterator[memoryview]:
        """The file in pieces of whole lines, for two threads to parse; without quotes a line break ends a row.

        Every piece is a view of one buffer, good until the next is asked for.
        """
        buffer = bytearray(_PIECE)
        filled = 0
        with self.path.open("rb") as content:
            while read := content.readinto(memoryview(buffer)[filled:]):
                filled += read
                end = buffer.rfind(b"\n", 0, filled) + 1
                if end:
                    yield memoryview(buffer)[:end]
                    buffer[: filled - end] = buffer[end:filled]
                    filled -= end
                elif filled == len(buffer):
                    buffer = buffer + bytes(filled)
        if filled:
            yield memoryview(buffer)[:filled]

    def _has_quotes(self) -> bool:
        """Whether a field may hold a line break; looking is quicker than parsing as if it did."""
        with self.path.open("rb") as content:
            return any(b'"' in block for block in iter(partial(content.read, 1 << 20), b""))

    def _explained(self, error: Exception) -> InputError:
        """What is wrong with a file that cannot be parsed, found by reading it plainly; at most ten findings."""
        findings = self._findings()
        told = list(islice(findings, 10))
        if not told:
            return InputError(f"{self.owner}: {first_line(error)}; expected a CSV file")
        more = sum(1 for _ in findings)
        return InputError("\n".join([*told, *([f"... and {more:,} more like these"] if more else [])]))

    def _findings(self) -> Iterator[str]:
        """Rows of too few or too many fields, and cells that are no text, as far as the file can be read."""
        wanted = len(self.header)
        with suppress(csv.Error):
            rows = (row for row in self._lines() if row or wanted == 1)
            next(rows, None)
            for number, row in enumerate(rows, start=1):
                if len(row) != wanted and (row or wanted > 1):
                    yield (
                        f"{self.owner}, row {number}: {len(row)} fields; expected {wanted}, as in the first line. "
                        f"Quote a field that holds {self.syntax.delimiter!r}"
                    )
                for name, cell in zip(self.header, row, strict=False):
                    if _undecodable(cell):
                        found = f"{cell.encode(errors='surrogateescape')!r} is not UTF-8 text; save the file as UTF-8"
                        yield f"{self.owner}, row {number}, column {name!r}: {found}"


def _coded(column: Any) -> tuple[NDArray[np.integer[Any]], list[str]]:
    """For every row of a dictionary-encoded column the number of its text, and the distinct texts."""
    chunks = column.unify_dictionaries().chunks
    texts = chunks[0].dictionary.to_pylist() if chunks else []
    indices = [chunk.indices.to_numpy() for chunk in chunks]
    codes = indices[0] if len(indices) == 1 else np.concatenate(indices or [np.zeros(0, dtype=np.int32)])
    return codes, texts


def _undecodable(text: str) -> bool:
    return any("\udc80" <= character <= "\udcff" for character in text)


@dataclass(frozen=True, slots=True)
class CsvColumn:
    """A column of a CSV file: for every row the number of its text, and the distinct texts, read as far as they can be.

    ``first_row`` is the number of rows before these.
    """

    name: str
    codes: NDArray[np.integer[Any]]
    readings: list[ParsedCell]
    first_row: int

    @property
    def rows(self) -> int:
        """Number of rows."""
        return len(self.codes)

    def domain_hints(self) -> DomainHints:
        """States that the texts name, those of "everything but" included.

        A text with ``..`` names a state, unless it looks like a range of others; that can be told when all are known.
        """
        states = set().union(*(reading.states() for reading in self.readings))
        ranges = set()
        for number, reading in enumerate(self.readings):
            if reading.ranges():
                row = self.first_row + int(np.flatnonzero(self.codes == number)[:1].sum()) + 1
                ranges |= {(*part, row) for part in reading.ranges()}
        return DomainHints(frozenset(states), ranges=frozenset(ranges))

    def to_bitmaps(self, variable: Variable, report: ProblemReport) -> tuple[Words, Words | None]:
        """Bitmaps by look-up, after the distinct texts are read in the domain."""
        found = [reading.cell(variable) for reading in self.readings]
        findings = {number: finding for number, (_, finding) in enumerate(found) if finding}
        cells: list[Cell] = [cell for cell, _ in found]
        return TextColumn(self.name, self.codes, cells, findings=findings).to_bitmaps(variable, report)


def csv_header(variables: Iterable[Variable], syntax: CellSyntax, weight_column: str | None) -> bytes:
    """The first line of a CSV file."""
    names = [*(v.name for v in variables), *([weight_column] if weight_column else [])]
    return (syntax.delimiter.join(_quoted(name, syntax.delimiter) for name in names) + "\n").encode()


def csv_blocks(data: Dataset, syntax: CellSyntax, *, weighted: bool) -> Iterable[bytes]:
    """The rows of a CSV file, a block at a time."""
    import pyarrow as pa
    import pyarrow.compute as pc

    delimiter = syntax.delimiter
    for start in range(0, len(data), _ROWS):
        part = data[start : start + _ROWS]
        fields = []
        for variable in part.variables:
            column = part.column(variable.name)
            written = [_quoted(syntax.write(cell, variable.states), delimiter) for cell in column.cells]
            texts = pa.array(written, type=pa.large_string())
            fields.append(texts.take(pa.array(column.codes)))
        if weighted:
            weights = np.ones(len(part), dtype=np.int64) if part.weights is None else part.weights
            fields.append(pa.array(weights).cast(pa.large_string()))
        fields[-1] = pc.binary_join_element_wise(
            fields[-1], pa.scalar("\n", pa.large_string()), pa.scalar("", pa.large_string())
        )
        lines = pc.binary_join_element_wise(*fields, pa.scalar(delimiter, pa.large_string()))
        _, offsets, content = lines.buffers()
        ends = np.frombuffer(offsets, dtype=np.int64)[lines.offset : lines.offset + len(lines) + 1]
        yield memoryview(content)[ends[0] : ends[-1]].tobytes()


def _quoted(text: str, delimiter: str) -> str:
    if text.startswith("\ufeff") or text != text.strip() or any(mark in text for mark in (delimiter, '"', "\n", "\r")):
        return '"' + text.replace('"', '""') + '"'
    return text

"""CSV files of set-valued cells (see `possnet.cells` for how a cell is written).

Columns are dictionary-encoded while they are parsed, and only the distinct texts are looked at: a million rows of a column
cost as many parses as the column has different cells.
"""

from __future__ import annotations

import csv
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from possnet.arrow import array_of_numbers, array_of_texts, columns_of_table, first_line, require_distinct
from possnet.cells import CellSyntax
from possnet.errors import InputError, keep_findings, warn_user
from possnet.io.atomic_files import replace_file
from possnet.io.csv_codes import CodedFields
from possnet.io.csv_dialect import (
    CsvDialect,
    bound_lines,
    check_signs,
    detect_dialect,
    fallback_encoding,
    is_utf8_file,
    read_head,
)
from possnet.io.csv_states import code_states
from possnet.io.data_source import ARROW_NEEDS, ColumnBatch, DataSource, changed_file, explicit_weights
from possnet.io.file_access import file_error
from possnet.io.formats import DataFormat
from possnet.io.state_columns import encode_states, read_state_columns
from possnet.limits import (
    current_limit,
    describe_shortage,
    explain_shortage,
    readable_bytes,
    refuse_above,
    require_free,
)
from possnet.threads import run_beside, uses_threads

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from possnet.arrow import RawColumn
    from possnet.dataset import Dataset
    from possnet.io.passthrough_columns import PlainColumns
    from possnet.io.state_columns import StateBitmaps
    from possnet.variables import Variable


_BLOCK = 1 << 23  # bytes that a thread of Arrow parses at a time
_PIECE = 1 << 25  # bytes of a table of a stream: a few blocks, so that two threads have work, in little memory
_SMALL_BLOCK = 1 << 20  # the same where little address space is left
_SMALL_PIECE = 1 << 22
_SMALL_FILE = 1 << 22  # bytes that Arrow parses as quickly as texts are learned
_ROWS = 1 << 16  # rows that are written at a time


class CsvSource(DataSource):
    """A CSV file: columns named by its first line, one set-valued cell a field."""

    def __init__(
        self,
        path: Path,
        weight_column: str | None,
        *,
        delimiter: str = "auto",
        quote: str = "auto",
        encoding: str = "auto",
    ) -> None:
        super().__init__(path, weight_column)
        try:
            check_signs(delimiter, quote)
            head = read_head(path)
            self.dialect = detect_dialect(path, delimiter, quote, encoding, head=head)
        except (OSError, ValueError) as error:
            raise error if isinstance(error, InputError) else file_error(path, error) from None
        self._guess_encoding = encoding == "auto" and self.dialect.is_utf8
        if encoding == "auto" and self.dialect.encoding in {"cp1252", "latin-1"}:
            self._warn_of_encoding()
        self._has_rows = False
        self.header = self._split_header(head) or self._read_header()
        self.require_weights()

    def decode_column(self, name: str, table: Any) -> RawColumn:
        """A column of texts; that they are dictionary-encoded declares nothing."""
        (column,) = columns_of_table(table.select([name]), [name], is_sound=True)
        return replace(column, states=None, ordered=False)  # type: ignore[type-var]

    def read_batches(self, wanted: Collection[str]) -> Iterator[ColumnBatch]:
        """Batches of the wanted columns; of a small file of nothing but names of states, without a parser."""
        chosen = set(wanted)
        variables = [variable for variable in self.expected if variable.name in chosen]
        codes = self._code_small_file(variables) if variables else None
        if codes is None:
            yield from super().read_batches(wanted)
            return

        def read_named(domains: Mapping[str, Variable]) -> dict[str, StateBitmaps]:
            return encode_states([domains[variable.name] for variable in variables], codes)

        names, rows = [variable.name for variable in variables], codes.shape[1]
        yield ColumnBatch((), None, is_small=True, read_named=read_named, names=names, rows=rows)

    def _code_small_file(self, variables: Sequence[Variable]) -> NDArray[np.uint8] | None:
        """The states of all rows of a small file (variables, rows); None if its fields are anything but names of states."""
        others = {*self.binnings, *self.certainty, *self.recalled}
        if self.weight_column or not self.dialect.is_utf8 or any(v.name in others for v in variables):
            return None
        if not all(variable.name in self.header for variable in variables):
            return None
        before, quote = self._describe_state(), self.dialect.quote.encode()
        content = self._read_small_file()
        # names of states are UTF-8, but other columns may be anything
        is_utf8 = len(variables) == len(self.header) or content.isascii()
        rows = _skip_header(memoryview(content)) if is_utf8 and not (quote and quote in content) else None
        if rows is None:
            return None
        codes = code_states(rows, self.header, self.dialect.delimiter, variables, current_limit("cell"))
        self._require_state(before)
        return codes

    def _read_small_file(self) -> bytes:
        """The bytes of a small file; nothing of a large one, or of one that cannot be read: the parser says why."""
        with suppress(OSError):
            if self.path.stat().st_size < _SMALL_FILE:
                return self.path.read_bytes()
        return b""

    def read_named(self, table: Any, names: Sequence[str], domains: Mapping[str, Variable]) -> dict[str, StateBitmaps]:
        """Those columns that hold nothing but names of states; measurements and the like are left out."""
        others = {*self.binnings, *self.certainty, *self.recalled}
        return read_state_columns(table, [name for name in names if name not in others], domains, current_limit("cell"))

    def _settle_encoding(self) -> None:
        """Look through the whole file, once, whether it is the UTF-8 that its beginning is."""
        if self._guess_encoding:
            self._guess_encoding = False
            if not is_utf8_file(self.path):
                self.dialect = replace(self.dialect, encoding=fallback_encoding(self.path))
                self._warn_of_encoding()

    def _warn_of_encoding(self) -> None:
        label = {"cp1252": "Windows-1252 (cp1252)", "latin-1": "Latin-1"}[self.dialect.encoding]
        warn_user(f"{self.owner}: not UTF-8, so it is read as {label}; if letters look wrong, save it as UTF-8")

    def _read_rows(self) -> Iterator[list[str]]:
        """Rows of fields, read plainly."""
        try:
            with self.dialect.open_text(self.path) as lines:
                yield from self.dialect.read_fields(bound_lines(lines, self.owner))
        except UnicodeDecodeError:
            raise InputError(f"{self.owner}: not {self.dialect.encoding} text; expected it, or UTF-8") from None
        except (OSError, ValueError) as error:
            raise file_error(self.path, error) from None

    def _split_header(self, head: bytes) -> list[str]:
        """Names of the columns, if the first bytes begin with a plain line of distinct names and go on; else nothing."""
        line, ended, rest = head.partition(b"\n")
        plain = line.removesuffix(b"\r")
        if not (ended and rest.strip() and plain.isascii() and self.dialect.is_utf8):
            return []
        others = (b"\r", b"\0", *([self.dialect.quote.encode()] if self.dialect.quote else []))
        if any(sign in plain for sign in others) or len(head) > current_limit("line"):
            return []
        names = plain.decode().split(self.dialect.delimiter)
        if "" in names or len(set(names)) < len(names) or len(names) > current_limit("columns"):
            return []
        self._has_rows = True
        return names

    def _read_header(self) -> list[str]:
        """Names of the columns; and whether anything but blank lines follows (one is a row, if there is one column)."""
        rows = self._read_rows()
        try:
            header = next(rows, None)
        except csv.Error as error:
            raise InputError(f"{self.owner}, line 1: {error}; expected a line of column names") from None
        if any(map(_is_undecodable, header or ())):
            raise InputError(f"{self.owner}, line 1: not UTF-8 text; expected a CSV file, saved as UTF-8")
        if not header:
            finding = "the file is empty" if header is None else "its first line is blank"
            raise InputError(f"{self.owner}: {finding}; expected a line of column names, then rows")
        refuse_above("columns", len(header), self.owner)
        if "" in header:
            raise InputError(
                f"{self.owner}, line 1: column {header.index('') + 1} has no name; expected a name for every column"
            )
        require_distinct(header, f"{self.owner}, line 1")
        try:
            self._has_rows = any(row or len(header) == 1 for row in rows)
        except csv.Error:
            self._has_rows = True  # Arrow will find what is wrong
        return header

    def read_tables(self, names: Sequence[str]) -> Iterator[Any]:
        """Arrow tables of dictionary-encoded text; a file that changes meanwhile is an `InputError`."""
        before = self._describe_state()
        try:
            for table in self._parse_tables(names):
                self._require_state(before)
                yield table
        except InputError:
            self._require_state(before)  # what is wrong with a file that is being written will pass
            raise
        self._require_state(before)

    def _describe_state(self) -> tuple[int, ...]:
        """What changes when somebody writes to the file or replaces it; nothing where that cannot be seen."""
        with suppress(OSError, ValueError):
            status = self.path.stat()
            return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns
        return ()

    def _require_state(self, before: tuple[int, ...]) -> None:
        if self._describe_state() != before:
            raise changed_file(self.owner) from None

    def _parse_tables(self, names: Sequence[str]) -> Iterator[Any]:
        """Arrow tables of dictionary-encoded text: one for every piece of whole lines.

        From the first quote on, where lines may break inside a field, one for every block, or one for all if the file is
        read as a whole, which Arrow then does with several threads.
        """
        import pyarrow as pa
        import pyarrow.csv as arrow_csv

        included, text = list(names), pa.dictionary(pa.int32(), pa.string())
        columns = arrow_csv.ConvertOptions(
            column_types=dict.fromkeys(included, text), include_columns=included, strings_can_be_null=False
        )
        parse = arrow_csv.ParseOptions(
            delimiter=self.dialect.delimiter,
            quote_char=self.dialect.quote or False,
            ignore_empty_lines=len(self.header) > 1,
        )
        blocks = arrow_csv.ReadOptions(block_size=self._block_size(), use_threads=uses_threads())
        try:
            self._settle_encoding()
            if not self._has_rows:
                self._read_header()  # rows may have been added since
            if not self._has_rows:
                yield pa.schema([(name, text) for name in included]).empty_table()
                return
            is_small = self.path.stat().st_size < _SMALL_FILE
            coded = CodedFields(self.header, included, self.dialect.delimiter)

            def parse_piece(piece: memoryview, names: list[str], *, skipped: int = 0) -> Any:
                columns.include_columns, blocks.skip_rows = names, skipped
                columns.check_utf8 = not _is_ascii(piece)  # Arrow looks at every character, one by one
                return run_beside(partial(arrow_csv.read_csv, pa.BufferReader(piece), blocks, parse, columns))

            for start, piece in self._split_lines():
                # a header with quotes may have line breaks, which Arrow itself must find
                if start or piece is not None:
                    blocks.column_names, blocks.skip_rows = self.header, 0
                self._require_memory(start, piece)
                if piece is not None:
                    rows = piece if start else _skip_header(piece)
                    table = None if rows is None or is_small else coded.read_table(rows, partial(parse_piece, rows))
                    yield parse_piece(piece, included, skipped=int(start == 0)) if table is None else table
                    continue
                parse.newlines_in_values = columns.check_utf8 = True
                columns.include_columns = included
                with self._open_rest(start) as rest:
                    if self.whole:
                        yield run_beside(partial(arrow_csv.read_csv, rest, blocks, parse, columns))
                    else:
                        for batch in arrow_csv.open_csv(rest, blocks, parse, columns):
                            yield pa.Table.from_batches([batch])
        except (pa.ArrowException, OSError, KeyError, UnicodeDecodeError) as error:
            with explain_shortage(self.owner, "read it from smaller files, or allow more memory"):
                raise self._explain_error(error) if describe_shortage(error) is None else error from None

    def _block_size(self) -> int:
        """Bytes that a thread of Arrow parses at a time; a row must fit."""
        longest = 8 * sum(len(name) + 1 for name in self.header)
        return max(_BLOCK if uses_threads() else _SMALL_BLOCK, min(longest, (1 << 31) - 1))

    def _require_memory(self, start: int, piece: memoryview | None) -> None:
        """Raise `TooLarge` where memory is too short for what Arrow parses next: it would end the program."""
        size = len(piece) if piece is not None else self.path.stat().st_size - start
        needed = 3 * size if piece is not None or self.whole else 4 * self._block_size()
        require_free(
            needed + ARROW_NEEDS, f"{self.owner}: reading it", "read it from a smaller file, or allow more memory"
        )

    def _open_rest(self, start: int) -> Any:
        """The bytes of the file from a place on, for Arrow."""
        import pyarrow as pa

        if self.dialect.is_utf8:
            rest = pa.OSFile(str(self.path))
            rest.seek(start)
            return rest
        content = self.dialect.open_bytes(self.path)
        while start:
            start -= len(content.read(min(start, _PIECE)))
        return pa.PythonFile(content, mode="r")

    def _split_lines(self) -> Iterator[tuple[int, memoryview | None]]:
        """The file in pieces of whole lines, for two threads to parse, and where they start.

        Without quotes a line break ends a row; the first piece with a quote in it is given as None, and is the last.
        Every piece is a view of one buffer, good until the next is asked for.
        """
        most = _PIECE if uses_threads() else _SMALL_PIECE
        longest = current_limit("line")
        buffer = bytearray(min(most, self.path.stat().st_size + 1))  # a small file needs no 32 MB
        start = filled = 0
        quote = self.dialect.quote.encode()
        with self.dialect.open_bytes(self.path) as content:
            while read := content.readinto(memoryview(buffer)[filled:]):  # type: ignore[attr-defined]
                if quote and buffer.find(quote, filled, filled + read) >= 0:
                    yield start, None
                    return
                filled += read
                end = buffer.rfind(b"\n", 0, filled) + 1
                if end:
                    yield start, memoryview(buffer)[:end]
                    buffer[: filled - end] = buffer[end:filled]
                    start, filled = start + end, filled - end
                elif filled == len(buffer):
                    refuse_above("line", filled if filled > longest else 0, self.owner)
                    buffer = buffer + bytes(filled)
        if filled:
            yield start, memoryview(buffer)[:filled]

    def _explain_error(self, error: Exception) -> InputError:
        """What is wrong with a file that cannot be parsed, by reading it plainly; at most ten findings."""
        if "straddling object" in str(error):
            return InputError(
                f"{self.owner}: a row of more than {readable_bytes(self._block_size())}, or a quote that is not closed; "
                "expected shorter rows"
            )
        findings = self._find_errors()
        first = list(islice(findings, 10))
        if not first:
            return InputError(f"{self.owner}: {first_line(error)}; expected a CSV file")
        return InputError(*keep_findings(first, len(first) + sum(1 for _ in findings), "like these"))

    def _find_errors(self) -> Iterator[str]:
        """Rows of too few or too many fields, and cells that are no text, as far as the file can be read."""
        wanted = len(self.header)
        with suppress(csv.Error):
            rows = (row for row in self._read_rows() if row or wanted == 1)
            next(rows, None)
            for number, row in enumerate(rows, start=1):
                if len(row) != wanted and (row or wanted > 1):
                    yield (
                        f"{self.owner}, row {number}: {len(row)} fields; expected {wanted}, as in the first line. "
                        f"Quote a field that holds {self.dialect.delimiter!r}"
                    )
                for name, cell in zip(self.header, row, strict=False):
                    if _is_undecodable(cell):
                        finding = f"{cell.encode(errors='surrogateescape')!r} is not UTF-8 text; save the file as UTF-8"
                        yield f"{self.owner}, row {number}, column {name!r}: {finding}"


def _skip_header(piece: memoryview) -> memoryview | None:
    """The lines that follow the first, if there are any; None where returns alone end lines."""
    header, ended, _ = bytes(piece[: 1 << 16]).partition(b"\n")
    if not ended or not len(piece) > len(header) + 1 or b"\r" in header.removesuffix(b"\r"):
        return None
    return piece[len(header) + 1 :]


def _is_ascii(piece: memoryview) -> bool:
    return bool(np.frombuffer(piece, dtype=np.uint8).max() < 128)


def _is_undecodable(text: str) -> bool:
    return any("\udc80" <= character <= "\udcff" for character in text)


def write_csv(
    batches: Iterable[Dataset],
    path: Path,
    variables: Iterable[Variable],
    weight_column: str | None,
    *,
    plain: PlainColumns | None = None,
    delimiter: str = ",",
    separator: str = "|",
    escape: str = "\\",
    unknown_words: Sequence[str] = (),
) -> None:
    """Write rows, with plain columns of other files beside them if there are any."""
    # the usual separators are all escaped, so that the file is read the same without being told the separator
    cell_syntax = CellSyntax(None if separator == "|" else separator, escape, unknown_words=tuple(unknown_words))
    CsvDialect(delimiter)
    names = [*(v.name for v in variables), *([weight_column] if weight_column else [])]
    order = names if plain is None else plain.order_columns(names)
    with replace_file(path) as out:
        out.write((delimiter.join(_quote_field(name, delimiter) for name in order) + "\n").encode())
        for batch in batches:
            for start in range(0, len(batch), _ROWS):
                fields = _encode_fields(batch[start : start + _ROWS], cell_syntax, delimiter, weight_column, plain)
                out.write(_join_lines([fields[name] for name in order], delimiter))


def _encode_fields(
    data: Dataset, syntax: CellSyntax, delimiter: str, weight_column: str | None, plain: PlainColumns | None
) -> dict[str, Any]:
    """Arrow arrays of the texts of all fields, by the names of their columns."""
    import pyarrow as pa
    import pyarrow.compute as pc

    fields = {}
    for variable in data.variables:
        column = data.column(variable.name)
        cells = [syntax.write(cell, variable.states) for cell in column.cells]
        for number in np.flatnonzero(column.graded_numbers() >= 0).tolist():
            cells[number] = syntax.write_degrees(column.cell_degrees[number], variable.states)
        written = [_quote_field(text, delimiter) for text in cells]
        fields[variable.name] = array_of_texts(written, large=True).take(array_of_numbers(column.codes))
    if weight_column:
        fields[weight_column] = array_of_numbers(explicit_weights(data)).cast(pa.large_string())
    if plain is not None:
        parts = plain.take_rows(len(data))
        for name in (*plain.names, *plain.numbers):
            values = (value for part in parts for value in part.column(name).to_pylist())
            texts = (_quote_field("" if value is None else str(value), delimiter) for value in values)
            carried = array_of_texts(texts, large=True)
            if name in plain.numbers:
                carried = pc.if_else(array_of_numbers(plain.take_kept(name, len(data))), carried, fields[name])
            fields[name] = carried
    return fields


def _join_lines(fields: list[Any], delimiter: str) -> memoryview:
    """The bytes of lines: arrays of texts joined by the delimiter, each line with its end."""
    import pyarrow.compute as pc

    end, nothing, between = array_of_texts(["\n", "", delimiter], large=True)
    fields[-1] = pc.binary_join_element_wise(fields[-1], end, nothing)
    lines = pc.binary_join_element_wise(*fields, between)
    _, offsets, content = lines.buffers()
    ends = np.frombuffer(offsets, dtype=np.int64)[lines.offset : lines.offset + len(lines) + 1]
    return memoryview(content)[ends[0] : ends[-1]]


def write_csv_tables(tables: Iterable[Any], schema: Any, path: Path) -> None:
    """Write Arrow tables of plain values, such as results."""
    import pyarrow.csv as arrow_csv

    # The header is written here: older versions of Arrow quote all of it.
    style = arrow_csv.WriteOptions(include_header=False, quoting_style="needed")
    with replace_file(path) as out:
        out.write((",".join(_quote_field(name, ",") for name in schema.names) + "\n").encode())
        with arrow_csv.CSVWriter(out, schema, write_options=style) as writer:
            for table in tables:
                writer.write_table(table)


def _quote_field(text: str, delimiter: str) -> str:
    if text.startswith("\ufeff") or text != text.strip() or any(mark in text for mark in (delimiter, '"', "\n", "\r")):
        return '"' + text.replace('"', '""') + '"'
    return text


def _looks_like_csv(head: bytes) -> bool:
    """Commas, semicolons or tabs in each of the first lines, of which there are two at least."""
    lines = head.splitlines()[:3]
    if len(lines) < 2 or head[:1] in {b"{", b"<"}:
        return False
    return any(all(sign in line for line in lines) for sign in (b",", b";", b"\t"))


FORMAT = DataFormat(
    name="csv",
    label="CSV",
    suffixes=(".csv",),
    sniff=_looks_like_csv,
    options=("separator", "escape", "unknown_words", "delimiter", "quote", "encoding"),
    open=CsvSource,
    write=write_csv,
    write_tables=write_csv_tables,
    plain_columns=True,
    texts=True,
)

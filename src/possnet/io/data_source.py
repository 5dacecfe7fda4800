"""A file of rows as its reader sees it: names of columns, a declared domain if there is one, and batches of columns.

A new data format derives a class from `DataSource` that sets ``header`` and says how tables are read; the rest, from
cells to weights and measurements, is here.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from possnet.arrow import GradedColumn, TextColumn, columns_of_table, discount_column, number_reader
from possnet.cells import CellOptions, WrittenColumn, recall_cell, spell_recalled
from possnet.dataset import weights_of_column
from possnet.errors import InputError, among
from possnet.limits import refuse_above
from possnet.measurements import measured_column, refuse_values
from possnet.threads import in_order

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
    from pathlib import Path

    from possnet.aliases import Weights
    from possnet.arrow import Cell, Finding, RawColumn
    from possnet.cells import CellSyntax, ParsedCell
    from possnet.dataset import Dataset
    from possnet.io.state_columns import StateBitmaps
    from possnet.measurements import Binning
    from possnet.variables import Variable


T = TypeVar("T")

SMALL = 20_000  # rows of a batch whose columns are read one after the other
_REMEMBERED = 100_000
_USUAL_CELLS = CellOptions()
ARROW_NEEDS = 24 << 20  # bytes that Arrow takes to start its threads and for small objects, measured


@dataclass(frozen=True, slots=True)
class ColumnBatch:
    """Rows of a file: for every column a function that reads it, in any thread, and weights if there are any.

    ``is_small`` says that threads cost more than they save. ``read_named`` reads those columns of a small batch whose texts
    are all names of states, and leaves the others out.
    """

    columns: Sequence[Callable[[], RawColumn]]
    weights: Weights | None = None
    is_small: bool = False
    read_named: Callable[[Mapping[str, Variable]], Mapping[str, StateBitmaps]] | None = None
    names: Sequence[str] = ()
    rows: int = 0

    def run_columns(self, work: Callable[[Callable[[], RawColumn]], T]) -> list[T]:
        """The results of some work on every column, in their order."""
        return list(in_order(work, self.columns, 1 if self.is_small else 2))


class Block(NamedTuple):
    """A piece of a file that can be read on its own: its rows and its bytes, as far as the file says."""

    rows: int | None
    size: int


class DataSource(ABC):
    """One file of rows.

    Attributes
    ----------
    header
        Names of all columns of the file.
    rows
        Number of rows, if the file says so.
    binnings
        How columns of numbers become cells.
    remembered
        Those that nobody asked for: variables that remember their bins, whose columns may hold states as well.
    cells
        How the texts of its cells are read.
    recalled
        Columns whose variables remember how such cells are written, where no option says otherwise.
    certainty
        Columns of cells -> the column that says how certain they are, and its largest certainty.
    whole
        Whether all rows will be kept at once, so that tables may be large.
    expected
        The variables, where they are known before anything is read.
    """

    header: list[str]
    rows: int | None = None
    whole: bool = False
    expected: Sequence[Variable] = ()

    def __init__(self, path: Path, weight_column: str | None) -> None:
        self.path, self.owner, self.weight_column = path, str(path), weight_column
        self.binnings: Mapping[str, Binning] = {}
        self.remembered: Collection[str] = ()
        self.cells = _USUAL_CELLS
        self.recalled: Mapping[str, CellSyntax] = {}
        self.certainty: Mapping[str, tuple[str, float]] = {}
        self.warned: set[str] = set()  # columns that a user has been warned of
        self._parsed: dict[CellSyntax, dict[str, ParsedCell]] = {}

    def require_weights(self) -> None:
        """Raise an `InputError` if the file lacks its weight column."""
        if self.weight_column and self.weight_column not in self.header:
            raise InputError(
                f"{self.owner}: no weight column {self.weight_column!r}{among(self.weight_column, self.header)}"
            )

    def state_columns(self) -> list[str]:
        """Names of the columns of states, those of weights, certainties and errors of measurements left out."""
        errors = {column for name in self.binnings for column in self.needed_columns(name)} - self.binnings.keys()
        beside = errors | {column for column, _ in self.certainty.values()} | {self.weight_column}
        return [name for name in self.header if name not in beside]

    def needed_columns(self, name: str) -> list[str]:
        """Columns that a column of states is made from: itself, that of its errors, and that of its certainties."""
        binning, columns = self.binnings.get(name), [name]
        columns += [binning.error] if binning is not None and isinstance(binning.error, str) else []
        return [*columns, self.certainty[name][0]] if name in self.certainty else columns

    def declared_variables(self) -> tuple[Variable, ...] | None:
        """Variables that the file itself declares, all of them, or None."""
        return None

    def describe_reading(self) -> str:
        """How cells are read, as a text."""
        return repr((self.weight_column, self.cells, sorted(self.binnings.items()), sorted(self.certainty.items())))

    def list_blocks(self) -> list[Block]:
        """The pieces of the file that can be read on their own; a file that has none is one piece."""
        return [Block(self.rows, self.path.stat().st_size)]

    def take_blocks(self, first: int, stop: int) -> DataSource:  # noqa: ARG002
        """The same file, with some of its pieces alone."""
        return self

    @abstractmethod
    def read_tables(self, names: Sequence[str]) -> Iterator[Any]:
        """Arrow tables of the columns as they are written, a few million rows each; at least one, be it empty."""

    def read_batches(self, wanted: Collection[str]) -> Iterator[ColumnBatch]:
        """Batches of the wanted columns."""
        chosen = set(wanted)
        names = [name for name in self.state_columns() if name in chosen]
        included = [column for name in names for column in self.needed_columns(name)]
        included += [self.weight_column] if self.weight_column else []
        first_row = 0
        for table in self.read_tables(list(dict.fromkeys(included))):
            weights = self.read_weights(table, first_row)
            columns = [partial(self.read_column, name, table, first_row) for name in names]
            rows = table.num_rows
            plain = partial(self.read_named, table, names) if rows < SMALL else None
            yield ColumnBatch(columns, weights, is_small=rows < SMALL, read_named=plain, names=names, rows=rows)
            first_row += rows

    def read_named(
        self, _table: Any, _names: Sequence[str], _domains: Mapping[str, Variable]
    ) -> dict[str, StateBitmaps]:
        """Those columns that hold nothing but names of states, as far as that is quickly seen."""
        return {}

    def read_column(self, name: str, table: Any, first_row: int) -> RawColumn:
        """A column of states of a table whose rows follow ``first_row`` others, discounted by its certainties."""
        column = self._read_cells(name, table, first_row)
        if name not in self.certainty:
            return column
        beside, scale = self.certainty[name]
        (numbers,) = columns_of_table(table.select([beside]), [beside], {beside: number_reader(beside)})
        return discount_column(column, numbers, scale, self.owner)

    def _read_cells(self, name: str, table: Any, first_row: int) -> RawColumn:
        self._require_short(name, table.column(name))
        syntax = self.recalled.get(name) or self.cells.column_syntax(name)
        if name in self.binnings and syntax.reading != "degrees":
            binning, values = self.binnings[name], table.column(name)
            errors = table.column(binning.error) if isinstance(binning.error, str) else None
            known, resolve = name in self.remembered, partial(self._resolve_text, name)
            measured = measured_column(
                name,
                binning,
                values,
                errors,
                resolve,
                known=known,
                unknown_words=syntax.unknown_words,
                spell=partial(spell_recalled, recalled=syntax) if name in self.recalled else syntax.spell_reading,
            )
            if measured is not None:
                return measured
            if not known:
                raise refuse_values(name, values)
        column = self.decode_column(name, table)
        return self._parse_texts(column, first_row) if isinstance(column, TextColumn | GradedColumn) else column

    def _require_short(self, name: str, values: Any) -> None:
        """Raise `TooLarge` for a text of a column that is longer than the limit for cells."""
        import pyarrow as pa
        import pyarrow.compute as pc

        for chunk in values.chunks:
            texts = chunk.dictionary if isinstance(chunk, pa.DictionaryArray) else chunk
            if len(texts) and (pa.types.is_string(texts.type) or pa.types.is_large_string(texts.type)):
                longest = pc.max(pc.binary_length(texts)).as_py() or 0
                refuse_above("cell", longest, f"{self.owner}, column {name!r}")

    def _resolve_text(self, name: str, text: str, variable: Variable) -> tuple[Cell, Finding]:
        """States of a text that is neither a state nor a reading: a set of states, as other columns have them."""
        parsed = self.cells.column_syntax(name).parse(text)
        if name in self.recalled:
            parsed, _ = recall_cell(parsed, self.recalled[name], variable)
        return parsed.resolve_states(variable)

    def decode_column(self, name: str, table: Any) -> RawColumn:
        """A column of cells: a text, which has a grammar, a list of states, or null where nothing is known."""
        return columns_of_table(table.select([name]), [name])[0]  # of a wide table no other column is touched

    def _parse_texts(self, column: TextColumn | GradedColumn, first_row: int) -> WrittenColumn:
        """The texts of a column, parsed; texts are remembered, up to a number that costs a few megabytes."""
        syntax = self.cells.column_syntax(column.name)
        known = self._parsed.setdefault(syntax, {})

        def parse(text: str) -> ParsedCell:
            parsed = known.get(text)
            if parsed is None:
                parsed = syntax.parse(text)
                if len(known) < _REMEMBERED:
                    known[text] = parsed
            return parsed

        recalled = self.recalled.get(column.name)
        return WrittenColumn.parse_column(column, syntax, first_row=first_row, parse=parse, recalled=recalled)

    def read_weights(self, table: Any, first_row: int) -> Weights | None:
        """The weights of the rows of a table, if the file has any."""
        if not self.weight_column:
            return None
        alone = table.select([self.weight_column])
        own = {self.weight_column: number_reader(self.weight_column)}
        try:
            columns = columns_of_table(alone, [self.weight_column], own)
        except InputError as error:
            raise InputError(f"{self.owner}: {error}") from None
        return weights_of_column(columns, self.weight_column, self.owner, first_row)


def explicit_weights(data: Dataset) -> Weights:
    """Weights of rows to be written, 1 each if they have none."""
    return np.ones(len(data), dtype=np.int64) if data.weights is None else data.weights


def changed_file(owner: str) -> InputError:
    """`InputError` for a file that is not what it was when its reading began."""
    return InputError(
        f"{owner}: the file was changed or replaced while it was read; read it again when nobody writes to it"
    )

"""Plain columns that are carried from the files that rows come from to the file that they are written to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from possnet.errors import InputError, among

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from possnet.aliases import Bools
    from possnet.io.data_source import DataSource


class PlainColumns:
    """Columns of files as they are written: text and numbers of any kind, never read as cells.

    A writer takes as many rows as it writes (`take_rows`), in the order of the files. ``schema`` is the Arrow schema of
    the columns in the first of them.

    Of ``numbers``, which the rows hold as states, the values stand where `keep_cells` says so; other cells are states.
    """

    def __init__(self, sources: Sequence[DataSource], names: Sequence[str], numbers: Sequence[str] = ()) -> None:
        for source in sources:
            for name in (*names, *numbers):
                if name not in source.header:
                    raise InputError(f"{source.owner}: no column {name!r}{among(name, source.header)}")
            if source.declared_variables() is not None:
                raise InputError(
                    f"{source.owner}: possnet's own file, whose columns are all set-valued; expected columns of plain "
                    "values to carry along. Convert it to CSV first"
                )
        self.owner, self.names, self._header = sources[0].owner, tuple(names), sources[0].header
        self.numbers = tuple(numbers)
        self._kept: dict[str, Bools] = {name: np.zeros(0, dtype=np.bool_) for name in numbers}
        self._tables = (table for source in sources for table in source.read_tables([*names, *numbers]))
        self._waiting = next(self._tables)
        self.schema = _without_categories(self._waiting.select(list(names)).schema)

    def keep_cells(self, kept: Mapping[str, Bools]) -> None:
        """Say of the next rows in which of them the numbers stand as they were; for every column of ``numbers``."""
        for name in self.numbers:
            self._kept[name] = np.concatenate([self._kept[name], kept[name]])

    def take_kept(self, name: str, count: int) -> Bools:
        """In which of the next rows the numbers of a column stand as they were."""
        kept, self._kept[name] = self._kept[name][:count], self._kept[name][count:]
        return kept

    def order_columns(self, own: Sequence[str]) -> list[str]:
        """These columns and the writer's own, in the order of the first file; then those that it lacks."""
        everything = [*own, *self.names]
        listed = [name for name in self._header if name in everything]
        return [*listed, *(name for name in everything if name not in listed)]

    def take_rows(self, count: int) -> list[Any]:
        """The next rows, as Arrow tables, each as its file has it."""
        parts = []
        while count:
            if not len(self._waiting):
                table = next(self._tables, None)
                if table is None:
                    raise InputError(f"{self.owner}: fewer rows than are written; expected a file that nobody changes")
                self._waiting = table
            part = self._waiting.slice(0, count)
            parts.append(part)
            self._waiting = self._waiting.slice(len(part))
            count -= len(part)
        return parts

    def take_all(self) -> list[Any]:
        """All rows that are left, as Arrow tables, each as its file has it."""
        parts = [self._waiting, *self._tables]
        self._waiting = self._waiting.slice(len(self._waiting))
        return parts


def _without_categories(schema: Any) -> Any:
    """The same Arrow schema with texts in place of categories."""
    import pyarrow as pa

    kinds = {field.name: field.type for field in schema}
    return pa.schema({n: kind.value_type if pa.types.is_dictionary(kind) else kind for n, kind in kinds.items()})

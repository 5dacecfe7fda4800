"""What a reader of tables gives: a declared domain, if there is one, and batches of columns."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from possnet.errors import InputError, among

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
    from pathlib import Path

    from possnet.aliases import Ints
    from possnet.arrow import RawColumn
    from possnet.measurements import Binning
    from possnet.variables import Variable


@dataclass(frozen=True, slots=True)
class ColumnBatch:
    """Some rows of a file: for every column a function that reads it, in any thread, and weights if there are any."""

    columns: Sequence[Callable[[], RawColumn]]
    weights: Ints | None = None


class DataSource(ABC):
    """One file of rows: the names of all its columns, and the number of its rows if the file says so."""

    header: list[str]
    rows: int | None = None

    def __init__(self, path: Path, weight_column: str | None) -> None:
        self.path, self.owner, self.weight_column = path, str(path), weight_column
        self.binnings: Mapping[str, Binning] = {}

    def require_weights(self) -> None:
        """Raise an `InputError` if the file lacks its weight column."""
        if self.weight_column and self.weight_column not in self.header:
            raise InputError(
                f"{self.owner}: no weight column {self.weight_column!r}{among(self.weight_column, self.header)}"
            )

    def names(self) -> list[str]:
        """Names of the columns of states, those of weights and of errors of measurements left out."""
        errors = {column for name in self.binnings for column in self.needed(name)} - self.binnings.keys()
        return [name for name in self.header if name not in errors and name != self.weight_column]

    def needed(self, name: str) -> list[str]:
        """Columns that a column of states is made from: itself and, of measurements, that of their errors."""
        binning = self.binnings.get(name)
        return [name, binning.error] if binning is not None and isinstance(binning.error, str) else [name]

    def declared(self) -> tuple[Variable, ...] | None:
        """Variables that the file itself declares, all of them, or None."""
        return None

    @abstractmethod
    def raw(self, names: Sequence[str]) -> Iterator[Any]:
        """Arrow tables of some columns as they are written, one at least."""

    @abstractmethod
    def batches(self, wanted: Collection[str]) -> Iterator[ColumnBatch]:
        """Batches of the wanted columns."""

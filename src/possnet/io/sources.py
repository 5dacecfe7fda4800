"""What a reader of tables gives: a declared domain, if there is one, and batches of columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from possnet.arrow import Column
    from possnet.measurements import Measure
    from possnet.variables import Variable

__all__ = ["Batch", "Source", "error_columns"]


@dataclass(frozen=True, slots=True)
class Batch:
    """Some rows of a file: for every column a function that reads it, in any thread, and weights if there are any."""

    columns: Sequence[Callable[[], Column]]
    weights: NDArray[np.int64] | None = None


class Source(Protocol):
    """One file of rows."""

    owner: str
    weight_column: str | None
    measures: Mapping[str, Measure]

    def header(self) -> Sequence[str]:
        """Names of all columns."""
        ...

    def names(self) -> Sequence[str]:
        """Names of the columns of states, those of weights and of errors of measurements left out."""
        ...

    def raw(self, names: Sequence[str]) -> Iterator[Any]:
        """Arrow tables of some columns as they are written."""
        ...

    def declared(self) -> tuple[Variable, ...] | None:
        """Variables that the file itself declares, all of them, or None."""
        ...

    def rows(self) -> int | None:
        """Number of rows, if the file says so."""
        ...

    def batches(self, wanted: Collection[str]) -> Iterator[Batch]:
        """Batches of the wanted columns."""
        ...


def error_columns(measures: Mapping[str, Measure]) -> set[str]:
    """Columns that hold errors of measurements and nothing else."""
    return {measure.error for measure in measures.values() if isinstance(measure.error, str)} - measures.keys()

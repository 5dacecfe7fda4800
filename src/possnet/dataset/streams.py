"""Rows in batches: what a reader of files and a sampler have in common."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING, Protocol

from possnet.dataset.dataset import Dataset
from possnet.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from possnet.variables import Variable


class Batches(Protocol):
    """Data sets over the same variables, one after the other, as often as it is iterated."""

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The variables, the same in every batch."""

    @property
    def rows(self) -> int | None:
        """Number of rows in all, if known."""

    @property
    def weighted(self) -> bool:
        """Whether rows may have weights."""

    def __iter__(self) -> Iterator[Dataset]: ...


def batches_of(data: Dataset | Batches) -> Iterable[Dataset]:
    """The batches of a stream; a data set is one batch.

    >>> [len(batch) for batch in batches_of(Dataset.from_table({"a": ["x", "y"]}))]
    [2]
    """
    return [data] if isinstance(data, Dataset) else data


def require_rows(given: object, owner: str) -> None:
    """Raise an `InputError` for anything but a data set or a stream of them.

    >>> require_rows("rows.csv", "count")
    Traceback (most recent call last):
        ...
    possnet.errors.InputError: count: 'rows.csv' holds no rows; expected a Dataset or a stream: read files with
    read_data(...) or scan_data(...), frames with Dataset.from_table(...)
    """
    if not isinstance(given, Dataset) and not all(hasattr(given, name) for name in ("variables", "rows", "__iter__")):
        what = repr(given) if isinstance(given, str | PathLike) else f"a {type(given).__name__}"
        raise InputError(
            f"{owner}: {what} holds no rows; expected a Dataset or a stream: read files with read_data(...) or "
            "scan_data(...), frames with Dataset.from_table(...)"
        )

"""Rows in batches: what a reader of files and a sampler have in common."""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING, Protocol, overload

from possnet.dataset.aligned_columns import require_order
from possnet.dataset.dataset import Dataset
from possnet.errors import InputError
from possnet.variables import require_same_bins

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
    """The batches of a stream, each over the variables of the stream; a data set is one batch.

    >>> [len(batch) for batch in batches_of(Dataset.from_table({"a": ["x", "y"]}))]
    [2]
    """
    return [data] if isinstance(data, Dataset) else AlignedBatches(data, tuple(data.variables), "stream")


@overload
def align_rows(data: Dataset, variables: Iterable[Variable], owner: str) -> Dataset: ...
@overload
def align_rows(data: Batches, variables: Iterable[Variable], owner: str) -> Batches: ...
def align_rows(data: Dataset | Batches, variables: Iterable[Variable], owner: str) -> Dataset | Batches:
    """Rows, or a stream of them, over given variables where the names are the same; see `Dataset.with_domains`.

    >>> from possnet.variables import Variable
    >>> align_rows(Dataset.from_table({"fever": ["mild"]}), [Variable("fever", ("none", "high"))], "score")
    Traceback (most recent call last):
        ...
    possnet.errors.InputError: score, row 1, column 'fever': 'mild' is not a state (none, high)
    """
    if isinstance(data, Dataset):
        given = {variable.name: variable for variable in data.variables}
        others = [
            variable
            for variable in variables
            if (before := given.get(variable.name, variable)) is not variable
            and (before != variable or before.bins is not variable.bins)
        ]
        return data.with_domains(others, owner) if others else data
    known = {variable.name: variable for variable in variables}
    own = tuple(known.get(variable.name, variable) for variable in data.variables)
    for before, after in zip(data.variables, own, strict=True):
        require_order(before, after, owner)
        require_same_bins(before, after, owner)
    return data if own == tuple(data.variables) else AlignedBatches(data, own, owner)


@dataclass(frozen=True, slots=True)
class AlignedBatches:
    """A stream whose batches are aligned one by one, as `Batches` describes them."""

    stream: Batches
    variables: tuple[Variable, ...]
    owner: str

    @property
    def rows(self) -> int | None:
        """Number of rows in all, if known."""
        return self.stream.rows

    @property
    def weighted(self) -> bool:
        """Whether rows may have weights."""
        return self.stream.weighted

    def __iter__(self) -> Iterator[Dataset]:
        first_row = 0
        for batch in self.stream:
            yield batch.with_domains(self.variables, self.owner, first_row)
            first_row += len(batch)


def cut_batches(data: Dataset | Batches) -> Dataset | Batches:
    """The same rows with every row that has graded cells as its alpha-cuts; a stream batch by batch.

    >>> cut_batches(Dataset.from_table({"a": ["x", {"x": 1, "y": 0.4}]})).weights
    array([1. , 0.6, 0.4])
    """
    if isinstance(data, Dataset):
        return data.alpha_cuts()
    return data if isinstance(data, _CutBatches) else _CutBatches(data)


@dataclass(frozen=True, slots=True)
class _CutBatches:
    """The batches of a stream as their alpha-cuts."""

    stream: Batches

    @property
    def variables(self) -> tuple[Variable, ...]:
        return self.stream.variables

    @property
    def rows(self) -> int | None:
        return self.stream.rows

    @property
    def weighted(self) -> bool:
        return True

    def __iter__(self) -> Iterator[Dataset]:
        for batch in self.stream:
            yield batch.alpha_cuts()


def require_sets(data: Dataset, owner: str) -> None:
    """Raise an `InputError` for rows with degrees or fractional weights, where only sets and whole rows have a meaning.

    >>> require_sets(Dataset.from_table({"a": ["x", {"x": 1, "y": 0.4}]}), "fit_cut")
    Traceback (most recent call last):
        ...
    possnet.errors.InputError: fit_cut: cells of 'a' carry degrees; expected sets
    """
    for variable in data.variables:
        if data.graded_cells(variable.name) is not None:
            raise InputError(f"{owner}: cells of {variable.name!r} carry degrees; expected sets")
    if isinstance(data.total, float):
        raise InputError(f"{owner}: rows with fractional weights; expected whole weights")


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

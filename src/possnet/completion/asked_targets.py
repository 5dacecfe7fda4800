"""Targets of a completion: columns that are predicted in every row, whether the data have them or not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, overload

import numpy as np

from possnet.dataset import Dataset, code_column
from possnet.errors import InputError, among

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from possnet.dataset import Batches, CodedColumn
    from possnet.network import Network
    from possnet.variables import Variable


def unknown_column(variable: Variable, rows: int) -> CodedColumn:
    """A column of unknown cells.

    >>> import possnet as pn
    >>> unknown_column(pn.Variable("rash", ("yes", "no")), 2).cells
    [None]
    """
    octets = np.packbits(np.ones((1, len(variable)), dtype=np.bool_), axis=1, bitorder="little")
    return code_column(variable, np.zeros(rows, dtype=np.int64), octets, 0)


@overload
def add_targets(network: Network, data: Dataset, targets: Sequence[str], *, hide: bool) -> Dataset: ...
@overload
def add_targets(network: Network, data: Batches, targets: Sequence[str], *, hide: bool) -> Batches: ...
def add_targets(network: Network, data: Dataset | Batches, targets: Sequence[str], *, hide: bool) -> Dataset | Batches:
    """Rows with a column for every target: unknown where the data have none, or everywhere if given cells are hidden.

    >>> import possnet as pn
    >>> clinic = pn.load_example("clinic")
    >>> data = pn.Dataset.from_rows([clinic.variable("rash")], [("spots",)])
    >>> sorted(add_targets(clinic, data, ["flu"], hide=False).row(0)["flu"])
    ['no', 'yes']
    """
    given: object = targets
    if isinstance(given, str):
        raise InputError(f"complete: targets {given!r}; expected several names, such as targets=({given!r},)")
    known = {variable.name: variable for variable in network.variables}
    for name in targets:
        if name not in known:
            raise InputError(f"complete: target {name!r} is no variable of the network{among(name, known)}")
    given_names = {variable.name for variable in data.variables}
    masked = tuple(known[name] for name in dict.fromkeys(targets) if hide or name not in given_names)
    if not masked:
        return data
    if isinstance(data, Dataset):
        return _mask_columns(data, masked)
    own = {variable.name: variable for variable in (*data.variables, *masked)}
    return _MaskedBatches(tuple(own.values()), data.rows, data.weighted, data, masked)


def _mask_columns(data: Dataset, masked: Sequence[Variable]) -> Dataset:
    return data.with_columns(unknown_column(variable, len(data)) for variable in masked)


@dataclass(frozen=True, slots=True)
class _MaskedBatches:
    """Batches with unknown cells in some columns, as `possnet.dataset.Batches` describes them."""

    variables: tuple[Variable, ...]
    rows: int | None
    weighted: bool
    stream: Batches
    masked: tuple[Variable, ...]

    def __iter__(self) -> Iterator[Dataset]:
        for batch in self.stream:
            yield _mask_columns(batch, self.masked)

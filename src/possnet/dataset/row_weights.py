"""Row weights: a row of weight 3 stands for three equal rows, one of weight .5 for half a row.

Whole weights are int64, so that everything counted with them is an exact integer; as soon as one of them has a fraction all
are float64, and so is what is counted.
"""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING

import numpy as np

from possnet.arrow import TextColumn
from possnet.errors import InputError, among, listing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from possnet.aliases import Weights
    from possnet.arrow import RawColumn

_LARGEST = 10**18


def weights_of_column(columns: Sequence[RawColumn], name: str, owner: str, first_row: int = 0) -> Weights:
    """Weights held by a column whose cells are single numbers: int64 if all are whole, else float64."""
    by_name = {column.name: column for column in columns}
    if name not in by_name:
        raise InputError(f"{owner}: no weight column {name!r}{among(name, by_name)}")
    column = by_name[name]
    if not isinstance(column, TextColumn):
        raise InputError(f"{owner}: weight column {name!r} holds lists; expected numbers >= 0")
    occurs = np.bincount(column.codes, minlength=len(column.cells)) > 0
    numbers: list[int | float] = []
    for code, cell in enumerate(column.cells):
        number = _read_weight(cell[0].strip()) if cell is not None and len(cell) == 1 else None
        if number is None and occurs[code]:
            text = "nothing" if cell is None else repr("|".join(cell))
            row = first_row + int(np.flatnonzero(column.codes == code)[0]) + 1
            raise InputError(
                f"{owner}, row {row}, weight column {name!r}: {text}; expected a number from 0 to 10**18 - 1"
            )
        numbers.append(0 if number is None or not occurs[code] else number)
    whole = all(isinstance(number, int) for number in numbers)
    table = np.array(numbers or [0], dtype=np.int64 if whole else np.float64)
    return checked_weights(np.take(table, column.codes), column.rows, owner)


def _read_weight(text: str) -> int | float | None:
    """The number of a text, whole if it can be; None if there is none."""
    if text.isascii() and text.isdigit():
        return int(text) if len(text) < 19 else None
    try:
        number = float(text) if text.isascii() and "_" not in text else -1.0
    except ValueError:
        return None
    if not isfinite(number) or not 0.0 <= number < _LARGEST:
        return None
    return int(number) if number.is_integer() else number


def checked_weights(weights: ArrayLike, rows: int, owner: str) -> Weights:
    """One number >= 0 for every row: int64 if all are whole numbers, however they are given, else float64.

    >>> checked_weights([2.0, 1.0], 2, "data"), checked_weights([0.5, 2], 2, "data")
    (array([2, 1]), array([0.5, 2. ]))
    """
    try:
        given = np.asarray(weights)
    except ValueError:
        given = np.zeros(0)
    if given.shape != (rows,):
        raise InputError(f"{owner}: weights of shape {given.shape}; expected one for each of {rows} rows")
    checked = _to_numbers(given)
    with np.errstate(over="ignore"):
        is_large = checked is not None and float(checked.sum(dtype=np.float64)) >= 2.0**62
    if is_large:
        raise InputError(f"{owner}: weights add up to more than 2**62; expected a smaller total")
    if checked is None:
        raise InputError(f"{owner}: weights {listing(given[:3].tolist())} ...; expected numbers >= 0")
    return checked


def _to_numbers(given: np.ndarray[tuple[int, ...], np.dtype[np.generic]]) -> Weights | None:
    """Numbers as int64 if all are whole, else as float64; None if one is negative or no number."""
    try:
        with np.errstate(invalid="ignore"):
            whole = given.astype(np.int64)
        if bool((whole == given).all()):
            return whole if bool((whole >= 0).all()) else None
        numbers = given.astype(np.float64) if given.dtype.kind in "biufO" else None
    except (TypeError, ValueError, OverflowError):
        return None
    sound = numbers is not None and bool((np.isfinite(numbers) & (numbers >= 0.0)).all())
    return numbers if sound else None

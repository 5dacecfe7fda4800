"""Integer row weights: a row of weight 3 stands for three equal rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from possnet.arrow import TextColumn
from possnet.errors import InputError, among, listing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from possnet.aliases import Ints
    from possnet.arrow import RawColumn


def weights_of_column(columns: Sequence[RawColumn], name: str, owner: str, first_row: int = 0) -> Ints:
    """Integer weights held by a column whose cells are single whole numbers."""
    by_name = {column.name: column for column in columns}
    if name not in by_name:
        raise InputError(f"{owner}: no weight column {name!r}{among(name, by_name)}")
    column = by_name[name]
    if not isinstance(column, TextColumn):
        raise InputError(f"{owner}: weight column {name!r} holds lists; expected whole numbers >= 0")
    numbers = []
    for code, cell in enumerate(column.cells):
        text = cell[0].strip() if cell is not None and len(cell) == 1 else ""
        if not (text.isascii() and text.isdigit() and len(text) < 19):
            rows = np.flatnonzero(column.codes == code)
            if len(rows):
                text = "nothing" if cell is None else repr("|".join(cell))
                place = f"{owner}, row {first_row + rows[0] + 1}, weight column {name!r}"
                raise InputError(f"{place}: {text}; expected a whole number from 0 to 10**18 - 1")
            text = "0"
        numbers.append(int(text))
    return checked_weights(np.take(np.array(numbers or [0], dtype=np.int64), column.codes), column.rows, owner)


def checked_weights(weights: ArrayLike, rows: int, owner: str) -> Ints:
    """Weights as int64: one whole number >= 0 for every row."""
    try:
        given = np.asarray(weights)
    except ValueError:
        given = np.zeros(0)
    if given.shape != (rows,):
        raise InputError(f"{owner}: weights of shape {given.shape}; expected one for each of {rows} rows")
    try:
        with np.errstate(invalid="ignore"):
            numbers = given.astype(np.int64)
        fits = bool((numbers == given).all() and (numbers >= 0).all())
    except (TypeError, ValueError, OverflowError):
        fits = False
    if fits and float(numbers.sum(dtype=np.float64)) >= 2.0**62:
        raise InputError(f"{owner}: weights add up to more than 2**62; expected a smaller total")
    if not fits:
        raise InputError(f"{owner}: weights {listing(given[:3].tolist())} ...; expected whole numbers >= 0")
    return numbers

"""Columns of a small table whose texts are all names of states, read together.

An exact name of a state is that state, however texts are written (see `possnet.cells.parsed_cell`): such columns need no
parsing. All of them become bitmaps in a few calls, where each on its own would cost a few dozen. A column with any other
text is left to the reader that explains what it finds.
"""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from possnet.arrow import numbers_of_array
from possnet.dataset import CodedColumn
from possnet.kernels import bitmaps

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from possnet.aliases import Words
    from possnet.variables import Variable


_CODES = 1 << 8  # of one byte


class StateBitmaps(NamedTuple):
    """Bitmaps of a column of single states, and the same as codes."""

    words: Words
    coded: CodedColumn


def read_state_columns(
    table: Any, names: Sequence[str], domains: Mapping[str, Variable], longest: int
) -> dict[str, StateBitmaps]:
    """The columns that hold nothing but names of states, none of them longer than ``longest`` bytes.

    >>> import pyarrow as pa
    >>> from possnet.variables import Variable
    >>> table = pa.table({"rash": pa.array(["no", "yes", "no"]).dictionary_encode()})
    >>> read_state_columns(table, ["rash"], {"rash": Variable("rash", ("yes", "no"))}, 100)["rash"].words
    array([[2], [5]], dtype=uint64)
    >>> read_state_columns(table, ["rash"], {"rash": Variable("rash", ("yes", "?"))}, 100)
    {}
    """
    coded = [column for name in names if (column := _code_states(table.column(name), domains[name], longest))]
    if not coded:
        return {}
    sizes = [len(column) for column in coded]
    cells = np.concatenate([np.arange(size) for size in sizes])
    occurring = bitmaps.pack(
        np.repeat(np.stack([column.codes for column in coded]), sizes, axis=0) == cells[:, np.newaxis]
    )
    # states that do not occur have no bit set
    starts = list(accumulate((len(column.variable) for column in coded), initial=0))
    places = np.concatenate([start + column.first_states for start, column in zip(starts, coded, strict=False)])
    words = np.zeros((starts[-1], occurring.shape[1]), dtype=occurring.dtype)
    words[places] = occurring
    return {
        column.variable.name: StateBitmaps(words[start : start + len(column.variable)], column)
        for start, column in zip(starts, coded, strict=False)
    }


def _code_states(column: Any, variable: Variable, longest: int) -> CodedColumn | None:
    """The codes of a column; None unless it is one array of names of states, not too many for codes of one byte."""
    if column.num_chunks != 1 or column.null_count:
        return None
    (chunk,) = column.chunks
    texts = chunk.dictionary.to_pylist()
    if (
        not 0 < len(texts) <= _CODES
        or 4 * max(map(len, texts)) > longest
        or not all(text in variable for text in texts)
    ):
        return None
    states = [variable.index(text) for text in texts]
    occurring = sorted(states)
    numbers = np.array([occurring.index(state) for state in states], dtype=np.uint8)
    codes: NDArray[np.uint8] = numbers[numbers_of_array(chunk.indices, -1)]
    width = -(-len(variable) // 8)
    octets = np.frombuffer(b"".join((1 << state).to_bytes(width, "little") for state in occurring), dtype=np.uint8)
    return CodedColumn(variable, codes, octets.reshape(-1, width), None)

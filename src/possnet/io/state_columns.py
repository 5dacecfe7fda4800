"""Columns of a small table whose texts are all names of states, read together.

An exact name of a state is that state, however texts are written (see `possnet.cells.parsed_cell`): such columns need no
parsing. All of them become bitmaps in a few calls, where each on its own would cost a few dozen. A column with any other
text is left to the reader that explains what it finds.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import accumulate
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from possnet.arrow import numbers_of_array
from possnet.dataset import CodedColumn
from possnet.kernels import bitmaps

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from possnet.aliases import Bools, Ints, Words
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
    coded = {
        name: codes for name in names if (codes := _code_states(table.column(name), domains[name], longest)) is not None
    }
    return encode_states([domains[name] for name in coded], np.stack(list(coded.values()))) if coded else {}


def encode_states(variables: Sequence[Variable], codes: NDArray[np.uint8]) -> dict[str, StateBitmaps]:
    """Bitmaps of columns of single states, from the number of each row's state (columns, rows).

    >>> from possnet.variables import Variable
    >>> encode_states([Variable("rash", ("yes", "no", "unclear"))], np.array([[1, 1, 0]], dtype=np.uint8))["rash"].words
    array([[4], [3], [0]], dtype=uint64)
    """
    sizes = tuple([len(variable) for variable in variables])
    starts, columns_of_states, states = _number_states(sizes)
    words = bitmaps.pack(codes.take(columns_of_states, axis=0) == states)
    occurs: Bools = np.asarray(words.any(axis=1))
    if not occurs.all():  # codes number the states that occur
        numbers = np.concatenate([np.cumsum(part) for part in np.split(occurs, starts[1:-1])]).astype(np.uint8) - 1
        codes = numbers[codes + np.array(starts[:-1])[:, np.newaxis]]
    columns = {}
    for variable, start, stop, column in zip(variables, starts, starts[1:], codes, strict=False):
        octets = _state_octets(stop - start)
        kept = occurs[start:stop]
        coded = CodedColumn(variable, column, octets if kept.all() else octets[kept], None)
        columns[variable.name] = StateBitmaps(words[start:stop], coded)
    return columns


@lru_cache(maxsize=16)
def _number_states(sizes: tuple[int, ...]) -> tuple[list[int], Ints, NDArray[np.uint8]]:
    """Where the states of every column begin among those of all, and end; of each its column and its number."""
    states = np.concatenate([np.arange(size, dtype=np.uint8) for size in sizes])[:, np.newaxis]
    return list(accumulate(sizes, initial=0)), np.repeat(np.arange(len(sizes)), sizes), states


@lru_cache(maxsize=256)
def _state_octets(size: int) -> NDArray[np.uint8]:
    """Every state alone as a mask (states, bytes)."""
    octets = np.packbits(np.eye(size, dtype=np.bool_), axis=1, bitorder="little")
    octets.flags.writeable = False
    return octets


def _code_states(column: Any, variable: Variable, longest: int) -> NDArray[np.uint8] | None:
    """The state of each row; None unless the column is one array of names of states, not too many for codes of one byte."""
    if column.num_chunks != 1 or column.null_count or len(variable) > _CODES:
        return None
    (chunk,) = column.chunks
    texts = chunk.dictionary.to_pylist()
    if not texts or 4 * max(map(len, texts)) > longest or not all(text in variable for text in texts):
        return None
    states = np.array([variable.index(text) for text in texts], dtype=np.uint8)
    codes: NDArray[np.uint8] = states[numbers_of_array(chunk.indices, -1)]
    return codes

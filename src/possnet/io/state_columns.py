"""Columns of a small table whose texts are all names of states, read together.

An exact name of a state is that state, however texts are written (see `possnet.cells.parsed_cell`): such columns need no
parsing. All of them become bitmaps in a few calls, where each on its own would cost a few dozen. A column with any other
text is left to the reader that explains what it finds.
"""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING, Any

import numpy as np

from possnet.kernels import bitmaps

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from possnet.aliases import Words
    from possnet.variables import Variable


def read_state_columns(
    table: Any, names: Sequence[str], domains: Mapping[str, Variable], longest: int
) -> dict[str, Words]:
    """Bitmaps of the columns that hold nothing but names of states, none of them longer than ``longest`` bytes.

    >>> import pyarrow as pa
    >>> from possnet.variables import Variable
    >>> table = pa.table({"rash": pa.array(["no", "yes", "no"]).dictionary_encode()})
    >>> read_state_columns(table, ["rash"], {"rash": Variable("rash", ("yes", "no"))}, 100)
    {'rash': array([[2], [5]], dtype=uint64)}
    >>> read_state_columns(table, ["rash"], {"rash": Variable("rash", ("yes", "?"))}, 100)
    {}
    """
    found = {
        name: codes for name in names if (codes := _read_codes(table.column(name), domains[name], longest)) is not None
    }
    if not found:
        return {}
    sizes = [len(domains[name]) for name in found]
    states = np.concatenate([np.arange(size, dtype=np.int32) for size in sizes])
    words = bitmaps.pack(np.repeat(np.stack(list(found.values())), sizes, axis=0) == states[:, np.newaxis])
    starts = accumulate(sizes[:-1], initial=0)
    return {name: words[start : start + size] for name, start, size in zip(found, starts, sizes, strict=True)}


def _read_codes(column: Any, variable: Variable, longest: int) -> NDArray[np.int32] | None:
    """The number of every row's state; None unless the column is one array of such names."""
    if column.num_chunks != 1 or column.null_count:
        return None
    (chunk,) = column.chunks
    texts = chunk.dictionary.to_pylist()
    if not texts or 4 * max(map(len, texts)) > longest or not all(text in variable for text in texts):
        return None
    numbers = np.array([variable.index(text) for text in texts], dtype=np.int32)
    codes: NDArray[np.int32] = numbers[chunk.indices.to_numpy()]
    return codes

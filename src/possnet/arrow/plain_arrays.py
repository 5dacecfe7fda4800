"""Arrow arrays of numbers and texts, and back, by their buffers.

``pa.array``, ``pa.scalar`` and conversions with a copy load pandas, if it is installed, to look for objects of its own: a
fifth of a second, half of what a command takes with a small file. What is a plain array already has no need of that.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from possnet.errors import TooLarge

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pyarrow as pa
    from numpy.typing import NDArray

    from possnet.aliases import Bools

_MOST_OCTETS: Final = (1 << 31) - 1  # of texts whose offsets have 32 bits


def array_of_numbers(values: NDArray[Any], missing: Bools | None = None) -> pa.Array:
    """An Arrow array of numbers or truth values, null where they are ``missing``; memory is shared, not copied.

    >>> array_of_numbers(np.array([1, 2]), np.array([False, True])).to_pylist()
    [1, None]
    """
    import pyarrow as pa

    valid = None if missing is None or not missing.any() else _pack_bits(~missing)
    if values.dtype == bool:
        return pa.Array.from_buffers(pa.bool_(), len(values), [valid, _pack_bits(values)])
    content = pa.py_buffer(np.ascontiguousarray(values))
    return pa.Array.from_buffers(pa.from_numpy_dtype(values.dtype), len(values), [valid, content])


def array_of_texts(texts: Iterable[str | None], *, large: bool = False) -> pa.Array:
    """An Arrow array of texts, null where there is none; ``large`` is for more than two gigabytes.

    >>> array_of_texts(["é", None, ""]).to_pylist()
    ['é', None, '']
    """
    import pyarrow as pa

    listed = list(texts)
    valid = None
    if None in listed:
        valid = _pack_bits(np.fromiter((text is not None for text in listed), dtype=bool, count=len(listed)))
    plain = [text or "" for text in listed]
    content = "".join(plain).encode()
    sizes = map(len, plain) if content.isascii() else (len(text.encode()) for text in plain)
    offsets = np.fromiter(accumulate(sizes, initial=0), dtype=np.int64, count=len(plain) + 1)
    if not large and len(content) > _MOST_OCTETS:
        raise TooLarge(f"texts of {len(content):,} bytes in one column; expected at most {_MOST_OCTETS:,}")
    kind, ends = (pa.large_string(), offsets) if large else (pa.string(), offsets.astype(np.int32))
    return pa.Array.from_buffers(kind, len(plain), [valid, pa.py_buffer(ends), pa.py_buffer(content)])


def numbers_of_array(array: pa.Array, missing: float) -> NDArray[Any]:
    """Numbers of an Arrow array; ``missing`` stands where it is null, among whole numbers as such.

    >>> import pyarrow as pa
    >>> numbers_of_array(pa.array([7, None, 8])[1:], -1), numbers_of_array(pa.array([0.5]), np.nan)
    (array([-1,  8]), array([0.5]))
    """
    content, end = array.buffers()[1], array.offset + len(array)
    kind = _number_type(array.type)
    numbers = np.zeros(end, kind) if content is None else np.frombuffer(content, dtype=kind, count=end)
    numbers = numbers[array.offset :]
    if array.null_count:
        numbers = numbers.astype(np.int64) if kind.kind in "iu" else numbers.copy()
        numbers[nulls_of_array(array)] = missing
    return numbers


def nulls_of_array(array: pa.Array) -> Bools:
    """Where an Arrow array is null.

    >>> import pyarrow as pa
    >>> nulls_of_array(pa.array([7, None, 8])[1:])
    array([ True, False])
    """
    if not array.null_count:
        return np.zeros(len(array), dtype=bool)
    marks = array.is_null()
    bits = np.frombuffer(marks.buffers()[1], dtype=np.uint8)
    return np.unpackbits(bits, count=marks.offset + len(marks), bitorder="little")[marks.offset :].astype(bool)


@lru_cache(maxsize=32)
def _number_type(kind: pa.DataType) -> np.dtype[Any]:
    """The dtype of Arrow's numbers; ``to_pandas_dtype`` of older releases needs pandas itself."""
    import pyarrow as pa

    letter = "f" if pa.types.is_floating(kind) else "u" if pa.types.is_unsigned_integer(kind) else "i"
    return np.dtype(f"{letter}{kind.bit_width // 8}")


def _pack_bits(truths: Bools) -> pa.Buffer:
    import pyarrow as pa

    return pa.py_buffer(np.packbits(truths, bitorder="little"))

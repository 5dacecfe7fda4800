"""Checks of Arrow arrays that came from somewhere else: a file, or the memory of another library.

Arrow trusts the offsets and indices of an array, and reads whatever memory they point to. Its own full validation looks at
every character too, and takes a third of the time of reading a table of text; what is checked here is what can lead to
other cells than those that are meant, in a few milliseconds for a million rows.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from possnet.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator


def require_sound_array(name: str, values: Any) -> None:
    """Raise an `InputError` for an array, chunked or not, whose buffers, offsets or indices contradict each other.

    >>> import pyarrow as pa
    >>> bad = pa.DictionaryArray.from_arrays(pa.array([0, 7]), pa.array(["x", "y"]), safe=False)
    >>> require_sound_array("rash", bad)
    Traceback (most recent call last):
        ...
    possnet.errors.InputError: column 'rash': index 7 of a dictionary of 2 texts; the table is damaged
    """
    import pyarrow as pa

    for array in values.chunks if isinstance(values, pa.ChunkedArray) else [values]:
        with decoding_errors(name):
            array.validate()
        _check_parts(name, array)


@contextmanager
def decoding_errors(name: str) -> Iterator[None]:
    """Turn what Arrow says of a column that it cannot decode into an `InputError`."""
    import pyarrow as pa

    try:
        yield
    except InputError:
        raise
    except (pa.ArrowException, UnicodeDecodeError) as error:
        finding = (str(error).splitlines() or [type(error).__name__])[0].rstrip(".")[:160]
        raise InputError(f"column {name!r}: {finding}; the table is damaged") from None


def _check_parts(name: str, array: Any) -> None:
    """Check bitmaps, indices and offsets of an array and of the arrays inside it."""
    import pyarrow as pa
    import pyarrow.compute as pc

    _check_bitmap(name, array)
    if isinstance(array, pa.DictionaryArray):
        ends = pc.min_max(array.indices).as_py()
        for index in (ends["min"], ends["max"]):
            if index is not None and not 0 <= index < len(array.dictionary):
                raise InputError(
                    f"column {name!r}: index {index} of a dictionary of {len(array.dictionary)} texts; the table is damaged"
                )
        _check_parts(name, array.dictionary)
        return
    kind = array.type
    is_list = pa.types.is_list(kind) or pa.types.is_large_list(kind)
    short = pa.types.is_string(kind) or pa.types.is_binary(kind) or pa.types.is_list(kind)
    long = pa.types.is_large_string(kind) or pa.types.is_large_binary(kind) or pa.types.is_large_list(kind)
    if len(array) and (short or long):
        width = np.dtype(np.int32 if short else np.int64)
        offsets = np.frombuffer(array.buffers()[1], dtype=width)[array.offset : array.offset + len(array) + 1]
        if not (offsets[1:] >= offsets[:-1]).all():
            raise InputError(f"column {name!r}: a cell that ends before it begins; the table is damaged")
    if is_list or pa.types.is_fixed_size_list(kind):
        _check_parts(name, array.values)
    elif not (short or long or pa.types.is_primitive(kind) or pa.types.is_null(kind)):
        with decoding_errors(name):  # views, maps, structs, run ends: rare, and each with parts of its own
            array.validate(full=True)


def _check_bitmap(name: str, array: Any) -> None:
    """Check that as many cells are null as the array says: those who ask the number first would read others."""
    import pyarrow as pa

    kind = array.type
    if pa.types.is_null(kind) or pa.types.is_union(kind) or pa.types.is_run_end_encoded(kind):
        return  # these have no bitmap
    content, nulls = array.buffers()[0], array.null_count
    if content is not None and len(array):
        first, last = array.offset // 8, -(-(array.offset + len(array)) // 8)
        bits = np.unpackbits(np.frombuffer(content, dtype=np.uint8)[first:last], bitorder="little")
        valid = int(bits[array.offset - 8 * first :][: len(array)].sum())
        if valid + nulls != len(array):
            raise InputError(
                f"column {name!r}: {nulls} nulls, of which its bitmap has {len(array) - valid}; the table is damaged"
            )

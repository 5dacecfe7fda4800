"""Arrow columns of one value a row as plain arrays: numbers, or codes into distinct texts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from possnet.arrow.plain_arrays import numbers_of_array

if TYPE_CHECKING:
    from numpy.typing import NDArray


def scalar_values(values: Any) -> NDArray[Any] | tuple[NDArray[np.int64], list[str]] | None:
    """Numbers of an Arrow column (NaN where there is none), or codes into its distinct texts (empty where there is none).

    None if it holds something else, such as lists. Numbers of half and single precision stay as they are.

    >>> import pyarrow as pa
    >>> scalar_values(pa.array([1, None, 3]))
    array([ 1., nan,  3.])
    >>> scalar_values(pa.array(["<5", None, "<5"]))
    (array([0, 1, 0]), ['<5', ''])
    """
    import pyarrow as pa
    from pyarrow import types

    if isinstance(values, pa.ChunkedArray):
        values = values.chunk(0) if values.num_chunks == 1 else values.unify_dictionaries().combine_chunks()
    if not isinstance(values, pa.Array):
        return None
    kind = values.type
    if types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind) or types.is_null(kind):
        short = types.is_float32(kind) or types.is_float16(kind)
        return numbers_of_array(values if short else values.cast(pa.float64(), safe=False), np.nan)
    if types.is_date(kind) or types.is_timestamp(kind):
        values = values.cast(pa.string())  # as ISO 8601, in UTC if there is a time zone
        kind = values.type
    if types.is_string(kind) or types.is_large_string(kind) or str(kind) == "string_view":
        values = values.cast(pa.large_string()).dictionary_encode()
    if not types.is_dictionary(values.type) or not (
        types.is_string(values.type.value_type) or types.is_large_string(values.type.value_type)
    ):
        return None
    texts = ["" if text is None else text for text in values.dictionary.to_pylist()]
    if values.indices.null_count:
        texts.append("")
    return numbers_of_array(values.indices.cast(pa.int64()), len(texts) - 1), texts

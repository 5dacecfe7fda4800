"""Columns of measurements in files: numbers and texts of a column, and of the column of its errors, to cells."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from possnet.errors import InputError
from possnet.measurements import read_numbers, read_texts

if TYPE_CHECKING:
    from possnet.measurements import BinnedColumn, Binning, MeasuredIntervals

_NOT_AN_ERROR = 1 << 41  # an issue that no reading of a number has


def measured_column(name: str, binning: Binning, table: Any) -> BinnedColumn:
    """Cells of a column of an Arrow table that holds it and, if the binning names one, the column of its errors."""
    readings = read_measurements(name, table.column(name))
    if not isinstance(binning.error, str):
        return binning.bin_intervals(readings, name=name)
    errors = read_measurements(binning.error, table.column(binning.error))
    column = binning.bin_intervals(readings, np.where(errors.plain, errors.lower, np.nan), name=name)
    wrong = (errors.issues > 0) | (~errors.plain & ~np.isnan(errors.lower))
    if not wrong.any():
        return column
    finding = f"its error, in column {binning.error!r}, is not a number; expected a number from 0 on"
    issues = np.where(wrong, _NOT_AN_ERROR, column.issues)
    return replace(column, issues=issues, findings={**column.findings, _NOT_AN_ERROR: finding})


def read_measurements(name: str, values: Any) -> MeasuredIntervals:
    """MeasuredIntervals of an Arrow column: numbers as they are; of texts only the distinct ones are read."""
    import pyarrow as pa
    from pyarrow import types

    values = values.chunk(0) if values.num_chunks == 1 else values.unify_dictionaries().combine_chunks()
    kind = values.type
    if types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind) or types.is_null(kind):
        short = types.is_float32(kind) or types.is_float16(kind)
        return read_numbers((values if short else values.cast(pa.float64(), safe=False)).to_numpy(zero_copy_only=False))
    if types.is_string(kind) or types.is_large_string(kind) or str(kind) == "string_view":
        values = values.cast(pa.large_string()).dictionary_encode()
    if not types.is_dictionary(values.type) or not (
        types.is_string(values.type.value_type) or types.is_large_string(values.type.value_type)
    ):
        raise InputError(f"column {name!r} holds {kind}; expected numbers, or texts such as <5, >=10 and 3..7")
    texts = ["" if text is None else text for text in values.dictionary.to_pylist()]
    codes = values.indices.cast(pa.int64()).fill_null(len(texts)).to_numpy(zero_copy_only=False)
    return read_texts([*texts, ""]).take_rows(codes)

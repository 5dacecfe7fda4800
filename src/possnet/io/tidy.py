"""Plain tables of results: text, whole numbers and real ones, as Parquet."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from possnet.io.files import replacing

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

__all__ = ["write_tidy"]


def write_tidy(columns: Mapping[str, type], rows: Sequence[Sequence[Any]], path: str | Path) -> None:
    """Write rows as a Parquet file, whole or not at all; ``columns`` maps names to ``str``, ``int`` or ``float``.

    >>> import tempfile, pathlib, pyarrow.parquet as pq
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_tidy({"name": str, "value": float}, [("a", 0.5), ("b", None)], pathlib.Path(folder) / "t.parquet")
    ...     pq.read_table(pathlib.Path(folder) / "t.parquet").to_pylist()
    [{'name': 'a', 'value': 0.5}, {'name': 'b', 'value': None}]
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    kinds = {str: pa.string(), int: pa.int64(), float: pa.float64()}
    arrays = [pa.array([row[k] for row in rows], type=kinds[kind]) for k, kind in enumerate(columns.values())]
    with replacing(path) as beside:
        pq.write_table(pa.table(arrays, names=list(columns)), beside, compression="zstd")

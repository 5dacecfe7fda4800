"""Columns that are carried along as they are written: text of any kind, never read as cells."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import TYPE_CHECKING, Any

from possnet.errors import InputError, among
from possnet.io.files import replacing

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from possnet.io.sources import Source

__all__ = ["attach_columns"]


def attach_columns(written: str | Path, sources: Sequence[Source], names: Sequence[str]) -> None:
    """Write a ``.csv`` or ``.parquet`` file again with columns of other files beside its own, row by row.

    Columns stand in the order of the other files.
    """
    for source in sources:
        header = source.header()
        for name in names:
            if name not in header:
                raise InputError(f"{source.owner}: no column {name!r}{among(name, header)}")
    tables = (table for source in sources for table in source.raw(names))
    attach = _attach_csv if str(written).lower().endswith(".csv") else _attach_parquet
    attach(Path(written), tables, names, list(sources[0].header()))


def _ordered(own: Sequence[str], names: Sequence[str], header: Sequence[str]) -> list[str]:
    """All columns: those of the other files in their order, then the rest."""
    everything = [*own, *names]
    return [*(name for name in header if name in everything), *(name for name in everything if name not in header)]


def _attach_csv(file: Path, tables: Iterator[Any], names: Sequence[str], header: Sequence[str]) -> None:
    def values() -> Iterator[tuple[object, ...]]:
        for table in tables:
            yield from zip(*(table.column(name).to_pylist() for name in names), strict=True)

    with (
        replacing(file) as beside,
        file.open(encoding="utf-8", newline="") as left,
        beside.open("w", encoding="utf-8", newline="") as out,
    ):
        rows, writer = csv.reader(left), csv.writer(out, lineterminator="\n")
        own = next(rows)
        order = _ordered(own, names, header)
        place = [[*own, *names].index(name) for name in order]
        writer.writerow(order)
        for row, more in zip(rows, values(), strict=True):
            whole = [*row, *("" if value is None else value for value in more)]
            writer.writerow([whole[k] for k in place])


def _attach_parquet(written: Path, tables: Iterator[Any], names: Sequence[str], header: Sequence[str]) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    with replacing(written) as beside, pq.ParquetFile(written) as file:
        writer = None
        waiting: list[Any] = []
        for group in range(file.num_row_groups):
            own = file.read_row_group(group)
            while sum(map(len, waiting)) < len(own):
                waiting.append(next(tables))
            more = pa.concat_tables(waiting, promote_options="permissive")
            for name in names:
                column = more.column(name)
                plain = column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column
                own = own.append_column(name, plain.slice(0, len(own)).combine_chunks())
            own = own.select(_ordered([n for n in own.column_names if n not in names], names, header))
            waiting = [more.slice(len(own))]
            if writer is None:
                writer = pq.ParquetWriter(beside, own.schema)
            writer.write_table(own.cast(writer.schema))
        if writer is not None:
            writer.close()

"""Columns that are carried along as they are written: text of any kind, never read as cells."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING, Any

from possnet.arrow import first_line
from possnet.errors import InputError, among, listing
from possnet.io.file_access import replace_file

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from possnet.io.data_source import DataSource


def attach_columns(written: Path, sources: Sequence[DataSource], names: Sequence[str]) -> None:
    """Write a ``.csv`` or ``.parquet`` file again with columns of other files beside its own, row by row.

    Columns stand in the order of the other files.
    """
    for source in sources:
        for name in names:
            if name not in source.header:
                raise InputError(f"{source.owner}: no column {name!r}{among(name, source.header)}")
        if source.declared() is not None:
            raise InputError(
                f"{source.owner}: possnet's own file, whose columns are all set-valued; expected columns of plain "
                "values to carry along. Convert it to CSV first"
            )
    tables = (table for source in sources for table in source.raw(names))
    attach = _attach_csv if written.suffix.lower() == ".csv" else _attach_parquet
    attach(written, tables, names, sources[0].header)


def _ordered(own: Sequence[str], names: Sequence[str], header: Sequence[str]) -> list[str]:
    """All columns: those of the other files in their order, then the rest."""
    everything = [*own, *names]
    return [*(name for name in header if name in everything), *(name for name in everything if name not in header)]


def _attach_csv(written: Path, tables: Iterator[Any], names: Sequence[str], header: Sequence[str]) -> None:
    def values() -> Iterator[tuple[object, ...]]:
        for table in tables:
            yield from zip(*(table.column(name).to_pylist() for name in names), strict=True)

    with (
        replace_file(written) as beside,
        written.open(encoding="utf-8", newline="") as left,
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

    with replace_file(written) as beside, pq.ParquetFile(written) as file:
        own, waiting = file.schema_arrow, next(tables)
        kinds = {name: waiting.schema.field(name).type for name in names}
        plain = {name: kind.value_type if pa.types.is_dictionary(kind) else kind for name, kind in kinds.items()}
        fields = {
            **{name: pa.field(name, kind) for name, kind in plain.items()},
            **{field.name: field for field in own},
        }
        schema = pa.schema([fields[name] for name in _ordered(own.names, names, header)], own.metadata)
        with pq.ParquetWriter(beside, schema) as writer:
            for number in range(file.num_row_groups):
                group = file.read_row_group(number)
                try:
                    while len(waiting) < len(group):
                        waiting = pa.concat_tables([waiting, next(tables)], promote_options="permissive")
                    kept = {name: waiting.column(name).slice(0, len(group)) for name in names}
                    columns = {**kept, **dict(zip(own.names, group.columns, strict=True))}
                    whole = pa.table({name: columns[name] for name in schema.names}).cast(schema)
                except pa.ArrowException as error:
                    found = f"{listing(names)} cannot be carried along ({first_line(error)})"
                    raise InputError(f"{written}: {found}; expected columns of one type in all files") from None
                writer.write_table(whole)
                waiting = waiting.slice(len(group))

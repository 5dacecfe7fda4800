"""Parquet files of set-valued cells.

Two layouts. ``masks`` is possnet's own: each cell an unsigned integer whose bit k stands for state k (a few bytes
where there are more than 64 states), null where unknown. ``lists`` is for others: lists of strings. Both keep the
domains and the name of the weight column as JSON in the schema's metadata under ``possnet``. Any file of strings,
categories, whole numbers, truth values, or lists of these can be read.

A file is read one row group and one column at a time, so that memory holds little more than the result.
"""

from __future__ import annotations

import base64
import json
import threading
from contextlib import ExitStack, contextmanager, suppress
from copy import copy
from dataclasses import replace
from functools import partial
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from possnet.arrow import (
    GradedMasks,
    ListColumn,
    MaskColumn,
    TextColumn,
    array_of_numbers,
    category_lists,
    first_line,
    nulls_of_array,
    numbers_of_array,
    require_distinct,
)
from possnet.dataset import variables_of
from possnet.errors import InputError, PossnetError, TooLarge, listing, require_known
from possnet.io.atomic_files import replace_file
from possnet.io.data_source import ARROW_NEEDS, SMALL, Block, ColumnBatch, DataSource, explicit_weights
from possnet.io.file_access import file_error, prefix_errors
from possnet.io.formats import DataFormat
from possnet.io.json_files import decode_variables, encode_variables
from possnet.io.parquet_seal import FileIdentity, ParquetBytes, SealingFile
from possnet.kernels import bitmaps
from possnet.limits import describe_shortage, refuse_above, require_free
from possnet.threads import one_ahead
from possnet.variables import check_text

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
    from pathlib import Path

    import pyarrow as pa

    from possnet.arrow import RawColumn
    from possnet.dataset import Dataset
    from possnet.io.passthrough_columns import PlainColumns
    from possnet.variables import Variable

Layout = Literal["masks", "lists"]
_KEY = b"possnet"
_NAME = "possnet-data"
_GROUP = 1 << 18  # rows of a row group: streams read these one at a time
_INDEX_PREFIX = "__index_level_"


class ParquetSource(DataSource):
    """A Parquet file of set-valued cells, in any layout."""

    def __init__(self, path: Path, weight_column: str | None) -> None:
        super().__init__(path, weight_column)
        self._domains: dict[str, Variable] | None = None
        self._layout = ""
        self._degrees: dict[str, str] = {}  # columns of masks -> columns of their degrees
        self._identity: FileIdentity | None = None
        self._is_sealed = False
        with self._open_file() as opened, self._decoding_errors("", "expected a Parquet file of states"):
            refuse_above("columns", opened.metadata.num_columns, self.owner)
            self._schema = schema = opened.schema_arrow
            self.rows = opened.metadata.num_rows
            self._group_rows = [opened.metadata.row_group(k).num_rows for k in range(opened.num_row_groups)]
            self._group_bytes = [opened.metadata.row_group(k).total_byte_size for k in range(opened.num_row_groups)]
            leaves = [opened.schema.column(leaf).path for leaf in range(len(opened.schema))]
        if sum(self._group_rows) != self.rows or min(self._group_rows, default=0) < 0:
            raise InputError(
                f"{self.owner}: {self.rows} rows in all, and {sum(self._group_rows)} in its row groups; "
                "the file is damaged"
            )
        self._groups = range(len(self._group_rows))
        metadata = schema.metadata or {}
        has_index = b"pandas" in metadata and _KEY not in metadata
        self.header = [name for name in schema.names if not (has_index and name.startswith(_INDEX_PREFIX))]
        require_distinct(self.header, self.owner)
        paths = iter(leaves)  # those of a column follow one another; names alone do not tell dots from nesting
        self._leaves = {column.name: list(islice(paths, _count_leaves(column.type))) for column in schema}
        numbers = iter(range(len(leaves)))
        self._leaf_numbers = {name: list(islice(numbers, len(paths))) for name, paths in self._leaves.items()}
        kinds = {name: str(schema.field(name).type) for name in self.header}
        self._categories = {name for name in self.header if "dictionary" in kinds[name]}
        self._texts = {name for name in self.header if "string" in kinds[name]} - self._categories
        if _KEY in metadata:
            self._domains, own_weights, self._layout, self._degrees = _read_metadata(metadata[_KEY], self.owner)
            self.weight_column = self.weight_column or own_weights
            if self.weight_column in self._domains:
                raise InputError(f"{self.owner}: {self.weight_column!r} is a variable; expected another weight column")
            lacking = [name for name in (*self._domains, *self._degrees.values()) if name not in self.header]
            if lacking:
                raise InputError(
                    f"{self.owner}: no column {lacking[0]!r}, which its metadata describe; the file is damaged"
                )
        self.require_weights()

    def __getstate__(self) -> dict[str, Any]:
        identity = self._identity  # another machine may have a copy of the file, of another age
        return {**self.__dict__, "_identity": identity and identity.without_age()}

    def state_columns(self) -> list[str]:
        """Names of the columns of states: those of the domains in the metadata, if there are any."""
        return super().state_columns() if self._domains is None else list(self._domains)

    def needed_columns(self, name: str) -> list[str]:
        """Columns that a column of states is made from: that of its degrees among them."""
        columns = super().needed_columns(name)
        return [*columns, self._degrees[name]] if name in self._degrees else columns

    def list_blocks(self) -> list[Block]:
        """The row groups: rows, and bytes before compression."""
        return [Block(self._group_rows[k], self._group_bytes[k]) for k in self._groups]

    def take_blocks(self, first: int, stop: int) -> ParquetSource:
        """The same file, with some of its row groups alone."""
        part = copy(self)
        part._groups = self._groups[first:stop]
        part.rows = sum(self._group_rows[k] for k in part._groups)
        return part

    def read_tables(self, names: Sequence[str]) -> Iterator[Any]:
        """Arrow tables of the columns as they are written, a row group at a time."""
        if not self._groups:
            yield self._schema.empty_table().select(names)
        with self._open_file() as opened:
            for group in self._groups:
                yield self._read_group(opened, group, names)

    def declared_variables(self) -> tuple[Variable, ...] | None:
        """The domains in the metadata of possnet's own layout, otherwise None."""
        return None if self._domains is None else tuple(self._domains.values())

    def read_batches(self, wanted: Collection[str]) -> Iterator[ColumnBatch]:
        """One batch for every row group, its columns read one at a time, each thread with a file handle of its own."""
        import pyarrow as pa

        chosen = set(wanted)
        names = [name for name in self.state_columns() if name in chosen]
        # text is handed over as dictionaries, so that no string is hashed twice
        leaves = [leaf for name in names if name in self._texts for leaf in self._leaves[name]]
        handles: dict[int, Any] = {}
        files = ExitStack()

        def handle() -> Any:
            thread = threading.get_ident()
            if thread not in handles:
                handles[thread] = files.enter_context(self._open_file(read_dictionary=leaves))
            return handles[thread]

        first_row = sum(self._group_rows[: self._groups.start])
        with files:
            for group in self._groups:
                weights = None
                if self.weight_column:
                    weights = self.read_weights(self._read_group(handle(), group, [self.weight_column]), first_row)
                columns = [partial(self._read_column, handle, group, name, first_row) for name in names]
                yield ColumnBatch(columns, weights, is_small=self._group_rows[group] < SMALL)
                first_row += self._group_rows[group]
                pa.default_memory_pool().release_unused()  # so that memory stays flat, however many groups follow
            if not self._groups:
                none = np.zeros(0, dtype=np.int64)
                empty = [partial(TextColumn, name, none, []) for name in names]
                yield ColumnBatch(empty, none if self.weight_column else None)

    def _read_column(self, handle: Callable[[], Any], group: int, name: str, first_row: int) -> RawColumn:
        table = self._read_group(handle(), group, self.needed_columns(name))
        with prefix_errors(f"{self.owner}, row group {group + 1}"):
            return self.read_column(name, table, first_row)

    def decode_column(self, name: str, table: Any) -> RawColumn:
        """A column of masks, of lists of states, or of states."""
        if self._domains is not None and self._layout == "masks":
            masks = _read_masks(self._domains[name], table.column(name))
            return masks if name not in self._degrees else _read_degrees(masks, table.column(self._degrees[name]))
        column = super().decode_column(name, table)
        if name in self._categories or not isinstance(column, TextColumn | ListColumn):
            return column
        return replace(column, states=None, ordered=False)

    @contextmanager
    def _open_file(self, **options: Any) -> Iterator[Any]:
        """The file as Arrow sees it, read through `ParquetBytes`; always the same file in the same state."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        with ExitStack() as stack:
            try:
                content = stack.enter_context(ParquetBytes(self.path, self.owner, self._identity))
                # the checksums of the seal cover those of pages
                opened = pq.ParquetFile(content, page_checksum_verification=not content.is_sealed, **options)
                content.expect_chunks(opened.metadata)
            except PossnetError:
                raise
            except (pa.ArrowException, OSError, ValueError, MemoryError) as error:
                if (shortage := describe_shortage(error)) is not None:
                    raise TooLarge(f"{self.owner}: {shortage}; allow more memory") from None
                if isinstance(error, FileNotFoundError | IsADirectoryError | PermissionError):
                    raise file_error(self.path, error) from None
                finding = "the file is empty" if _is_empty(self.path) else first_line(error)
                raise InputError(f"{self.owner}: {finding}; expected a Parquet file") from None
            self._identity, self._is_sealed = content.identity, content.is_sealed
            yield opened

    @contextmanager
    def _decoding_errors(self, place: str, expected: str) -> Iterator[None]:
        """Turn whatever the decoder says of a damaged file into an `InputError`."""
        import pyarrow as pa

        try:
            yield
        except PossnetError:
            raise
        except (pa.ArrowException, OSError, ValueError, LookupError, TypeError, RuntimeError, MemoryError) as error:
            if (finding := describe_shortage(error)) is not None:
                raise TooLarge(f"{self.owner}{place}: {finding}; {expected}, or it needs more memory") from None
            raise InputError(f"{self.owner}{place}: {first_line(error)}; {expected}") from None

    def _read_group(self, opened: Any, group: int, names: Sequence[str]) -> Any:
        """Table of some columns of a row group, each as long as the file says that it is."""
        import pyarrow as pa

        columns, rows = {}, self._group_rows[group]
        for name in names:
            place = f", row group {group + 1}, column {name!r}"
            with self._decoding_errors(place, "the file is damaged, or holds something else than states"):
                self._require_memory(opened.metadata, group, name)
                table = opened.read_row_group(group, columns=self._leaves[name], use_threads=False)
                table.validate(full=self._layout != "masks")
                columns[name] = table.column(name)
            if len(columns[name]) != rows:
                raise InputError(
                    f"{self.owner}{place}: {len(columns[name])} cells; expected {rows}, one for each row; "
                    "the file is damaged"
                )
        return pa.table(columns)

    def _require_memory(self, metadata: Any, group: int, name: str) -> None:
        """Raise `TooLarge` where memory is too short for a column of a row group: Arrow would end the program."""
        leaves = self._leaf_numbers[name]
        if self._is_sealed:
            chunks = metadata.row_group(group)
            size = sum(chunks.column(leaf).total_uncompressed_size for leaf in leaves)
        else:  # Arrow ends the program if it is asked for the chunk of a damaged footer: a share of the row group has to do
            size = self._group_bytes[group] * min(4 * len(leaves), metadata.num_columns) // metadata.num_columns
        require_free(
            2 * size + 8 * self._group_rows[group] + ARROW_NEEDS,
            f"{self.owner}, row group {group + 1}, column {name!r}:",
            "leave the column out, write smaller row groups, or allow more memory",
        )


def _is_empty(path: Path) -> bool:
    with suppress(OSError, ValueError):
        return path.stat().st_size == 0
    return False


def _count_leaves(kind: Any) -> int:
    """Number of columns of the file that hold a column of this type."""
    if kind.num_fields == 0 or str(kind).startswith("dictionary"):
        return 1
    return sum(_count_leaves(kind.field(k).type) for k in range(kind.num_fields))


def _read_masks(variable: Variable, values: pa.ChunkedArray) -> MaskColumn:

    array = values.combine_chunks() if values.num_chunks != 1 else values.chunk(0)
    expected = _mask_type(len(variable))
    if array.type != expected:
        raise InputError(
            f"column {variable.name!r} holds {array.type}; expected masks of {expected}; the file is damaged"
        )
    width = expected.bit_width // 8
    start = array.offset * width
    content = np.frombuffer(array.buffers()[1] or b"", dtype=np.uint8)[start : start + len(array) * width]
    unknown = nulls_of_array(array) if array.null_count else None
    return MaskColumn(variable, content.reshape(-1, width), unknown)


def _read_degrees(masks: MaskColumn, values: pa.ChunkedArray) -> RawColumn:
    """Masks with the degrees of some cells: lists of as many numbers as there are states, null where a cell is a set."""
    import pyarrow as pa
    import pyarrow.compute as pc

    array, size = values.combine_chunks() if values.num_chunks != 1 else values.chunk(0), len(masks.variable)
    rows = np.flatnonzero(~nulls_of_array(array))
    sound = array.type == pa.list_(pa.float64()) and len(array) == masks.rows
    lengths = numbers_of_array(pc.list_value_length(array), size) if sound else None
    if lengths is None or (lengths != size).any():
        raise InputError(f"column {masks.name!r}: degrees that are not {size} numbers a cell; the file is damaged")
    table = numbers_of_array(array.drop_null().flatten(), np.nan).reshape(-1, size)
    supports = bitmaps.unpack_sets(masks.octets[rows], size)
    fits = bool((table.max(axis=1, initial=0.0) == 1.0).all() and ((table > 0.0) == supports).all())
    if not fits or not bool(((table >= 0.0) & (table <= 1.0)).all()):
        raise InputError(f"column {masks.name!r}: degrees that are not those of its cells; the file is damaged")
    return GradedMasks(masks, rows, table)


def _mask_type(states: int) -> Any:
    import pyarrow as pa

    for bits, kind in ((8, pa.uint8()), (16, pa.uint16()), (32, pa.uint32()), (64, pa.uint64())):
        if states <= bits:
            return kind
    return pa.binary(-(-states // 8))


def _write_masks(data: Dataset, name: str) -> pa.Array:
    """Arrow array of a column of a data set as bit masks, null where the cell is unknown."""
    import pyarrow as pa

    words, rows = data.bitmaps(name), len(data)
    kind = _mask_type(len(words))
    octets = np.ascontiguousarray(bitmaps.decode_masks(words, rows, kind.bit_width // 8))
    missing = data.missing(name)
    valid = array_of_numbers(~missing).buffers()[1] if missing.any() else None
    return pa.Array.from_buffers(kind, rows, [valid, pa.py_buffer(octets.tobytes())])


def _read_metadata(content: bytes, owner: str) -> tuple[dict[str, Variable], str | None, str, dict[str, str]]:
    """Domains, name of the weight column, layout, and columns of degrees of a file of our own."""
    try:
        document, listed = decode_variables(content, _NAME, 1, 2)
        variables = variables_of(listed)
        weights, layout, degrees = document["weights"], document["layout"], document.get("degrees", {})
        require_known(layout, get_args(Layout), "layout")
        if weights is not None:
            check_text(weights, "weight column")
        for name, column in dict(degrees).items():
            require_known(name, [v.name for v in variables], "degrees of")
            check_text(column, "column of degrees")
    except (InputError, KeyError, TypeError, ValueError) as error:
        raise InputError(
            f"{owner}: its possnet metadata cannot be read ({first_line(error)}); update possnet, or the file is damaged"
        ) from None
    return {v.name: v for v in variables}, weights, layout, degrees


def write_parquet(
    batches: Iterable[Dataset],
    path: Path,
    variables: Sequence[Variable],
    weight_column: str | None,
    *,
    layout: Layout = "masks",
    plain: PlainColumns | None = None,
) -> None:
    """Write rows in a layout, with plain columns of other files beside them if there are any."""
    require_known(layout, get_args(Layout), f"{path}: layout")
    groups = (batch[start : start + _GROUP] for batch in batches for start in range(0, len(batch), _GROUP))
    first = list(islice(groups, 1))  # it says whether weights have fractions, and which cells carry degrees
    whole = not first or explicit_weights(first[0]).dtype.kind == "i"
    graded = [v.name for v in variables if first and first[0].graded_cells(v.name) is not None]
    schema = _layout_schema(variables, weight_column, layout, plain, whole=whole, graded=graded)
    written = schema if layout == "masks" else _with_categories(schema, variables)
    tables = (_layout_table(group, written, layout, weight_column, plain) for group in chain(first, groups))
    write_parquet_tables(one_ahead(tables), written, path, stored=schema)


def _name_degrees(name: str, taken: Collection[str]) -> str:
    """A name for the column of a variable's degrees that no other column has."""
    column = f"{name} degrees"
    while column in taken:
        column += "_"
    return column


def _write_degrees(data: Dataset, schema: Any) -> dict[str, pa.Array]:
    """Lists of the degrees of all states for cells that carry some, null for sets, in the columns that the schema has."""
    import pyarrow as pa

    columns = json.loads(schema.metadata[_KEY]).get("degrees", {})
    arrays = {}
    for variable in data.variables:
        cells = data.graded_cells(variable.name)
        if cells is not None and variable.name not in columns:
            raise InputError(
                f"the first cells of {variable.name!r} are sets and later ones carry degrees; read the rows as a whole "
                "first, with read_data(...), or write CSV"
            )
        if variable.name in columns:
            lengths = np.zeros(len(data), dtype=np.int64)
            degrees = np.zeros((0, len(variable)))
            if cells is not None:
                lengths[cells.rows] = len(variable)
                degrees = cells.degrees[cells.codes]
            offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
            arrays[columns[variable.name]] = pa.ListArray.from_arrays(
                array_of_numbers(offsets), array_of_numbers(degrees.reshape(-1)), mask=array_of_numbers(lengths == 0)
            )
    return arrays


def _write_weights(data: Dataset, kind: Any) -> pa.Array:
    import pyarrow as pa

    weights = array_of_numbers(explicit_weights(data))
    if pa.types.is_floating(weights.type) and pa.types.is_integer(kind):
        raise InputError(
            "the first weights are whole and later ones have fractions, which a column of one type cannot hold; read the "
            "rows as a whole first, with read_data(...), or write CSV"
        )
    return weights.cast(kind)


def _with_categories(schema: Any, variables: Sequence[Variable]) -> Any:
    """A schema with lists of categories for the variables, which are written in less time than lists of strings."""
    import pyarrow as pa

    kind = pa.list_(pa.dictionary(pa.int32(), pa.string()))
    for variable in variables:
        schema = schema.set(schema.get_field_index(variable.name), pa.field(variable.name, kind))
    return schema


def write_parquet_tables(tables: Iterable[Any], schema: Any, path: Path, *, stored: Any = None) -> None:
    """Write Arrow tables of plain values, such as results; each becomes a row group.

    ``stored`` is the schema that readers are told of, if it is another one: the same columns, with categories as text.
    """
    import pyarrow.parquet as pq

    options = {"compression": "zstd", "write_page_checksum": True}
    is_other = stored is not None and not stored.equals(schema)
    with replace_file(path) as out:
        sealed = SealingFile(out)
        with pq.ParquetWriter(sealed, schema, store_schema=not is_other, **options) as writer:
            if is_other:
                encoded = base64.b64encode(stored.serialize().to_pybytes())
                writer.add_key_value_metadata({b"ARROW:schema": encoded, **(stored.metadata or {})})
            for table in tables:
                writer.write_table(table)
            sealed.hold_back()  # all that follows is the footer
        sealed.write_seal()


def _layout_schema(
    variables: Sequence[Variable],
    weight_column: str | None,
    layout: Layout,
    plain: PlainColumns | None,
    *,
    whole: bool,
    graded: Sequence[str],
) -> Any:
    """Arrow schema of a layout, with the domains in its metadata."""
    import pyarrow as pa

    kinds = [_mask_type(len(v)) if layout == "masks" else pa.list_(pa.string()) for v in variables]
    fields = {v.name: pa.field(v.name, kind) for v, kind in zip(variables, kinds, strict=True)}
    if weight_column:
        fields[weight_column] = pa.field(weight_column, pa.int64() if whole else pa.float64(), nullable=False)
    beside = {name: _name_degrees(name, {*fields, *(plain.names if plain else ())}) for name in graded}
    fields |= {column: pa.field(column, pa.list_(pa.float64())) for column in beside.values()}
    for name in fields if layout == "lists" else ():
        if "\0" in name:
            raise InputError(f"{name!r} holds a NUL character, which others cannot read; rename it")
    order = list(fields)
    if plain is not None:
        order = plain.order_columns(order)
        fields |= {field.name: field for field in plain.schema if field.name not in fields}
    others: dict[str, object] = {"layout": layout, "weights": weight_column}
    others |= {"degrees": beside} if beside else {}
    metadata = encode_variables(variables, _NAME, 2 if beside else 1, others).encode()
    return pa.schema([fields[name] for name in order], metadata={_KEY: metadata})


def _layout_table(
    data: Dataset, schema: Any, layout: Layout, weight_column: str | None, plain: PlainColumns | None
) -> Any:
    """Arrow table of rows in a layout."""
    import pyarrow as pa

    if layout == "lists" and data.has_degrees:
        raise InputError("cells with degrees, which lists of states cannot hold; expected layout='masks', or CSV")
    if layout == "masks":
        columns = {v.name: _write_masks(data, v.name) for v in data.variables}
        columns |= _write_degrees(data, schema)
    else:
        coded = (data.column(v.name) for v in data.variables)
        columns = {
            c.variable.name: category_lists(TextColumn(c.variable.name, c.codes, c.cells, c.variable.states))
            for c in coded
        }
    if weight_column:
        columns[weight_column] = _write_weights(data, schema.field(weight_column).type)
    if plain is not None:
        try:
            parts = [part.cast(plain.schema) for part in plain.take_rows(len(data))]
        except pa.ArrowException as error:
            finding = f"{listing(plain.names)} cannot be carried along ({first_line(error)})"
            raise InputError(f"{plain.owner}: {finding}; expected columns of one type in all files") from None
        carried = pa.concat_tables(parts)
        columns = {**{name: carried.column(name) for name in plain.names}, **columns}
    return pa.table([columns[name] for name in schema.names], schema=schema)


FORMAT = DataFormat(
    name="parquet",
    label="Parquet",
    suffixes=(".parquet",),
    sniff=lambda head: head.startswith(b"PAR1"),
    options=("layout",),
    open=ParquetSource,
    write=write_parquet,
    write_tables=write_parquet_tables,
    declares_domains=True,
    plain_columns=True,
)

"""Tables that speak Arrow, and Python cells, to columns; and columns to tables.

Anything that speaks Arrow becomes columns (pandas, polars, duckdb, pyarrow), and so do frames and mappings whose cells are
Python sets and lists. A null is an unknown cell.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from possnet.arrow.array_checks import decoding_errors, require_sound_array
from possnet.arrow.arrow_loading import require_arrow
from possnet.arrow.graded_columns import GradedColumn
from possnet.arrow.plain_arrays import array_of_numbers, array_of_texts, nulls_of_array, numbers_of_array
from possnet.arrow.raw_columns import Cell, ListColumn, RawColumn, TextColumn
from possnet.errors import InputError, among, describe_value

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import pyarrow as pa

Reader: TypeAlias = "Callable[[Any], RawColumn | None]"
"""From an Arrow array, or a list of Python cells, to a column."""
_INDEX_COLUMN = re.compile(r"__index_level_\d+__")


def columns_of_table(
    frame: object,
    wanted: Iterable[str] | None = None,
    readers: Mapping[str, Reader] | None = None,
    *,
    is_sound: bool = False,
) -> list[RawColumn]:
    """Columns of anything that speaks Arrow, or of a mapping or frame of Python cells.

    ``readers`` make columns of their own from the values of some; from a reader that makes none they are columns of states.
    ``is_sound`` says that Arrow itself has just made the arrays, so that they need no check.

    >>> columns_of_table({"rash": ["yes", {"yes", "no"}, None]})[0].rows
    3
    """
    require_arrow()
    asked = None if wanted is None else set(wanted)
    columns = [c for c in _arrow_columns(_as_frame(frame)) if not _INDEX_COLUMN.match(c[0]) or c[0] in (asked or ())]
    names = [name for name, _ in columns]
    require_distinct(names, "table")
    chosen = set(names) if asked is None else asked
    for name in sorted(chosen.difference(names)):
        raise InputError(f"table: no column {name!r}{among(name, names)}")
    own = readers or {}
    return [
        _decode_column(name, values, own.get(name), is_sound=is_sound) for name, values in columns if name in chosen
    ]


def _decode_column(name: str, values: Any, reader: Reader | None, *, is_sound: bool) -> RawColumn:
    """A column of an Arrow array, which is checked first, or of Python cells; by a reader of its own if that takes it."""
    if isinstance(values, list) or hasattr(values, "to_bitmaps"):
        return (reader(values) if reader is not None else None) or _to_raw_column(name, values)
    if not is_sound:
        require_sound_array(name, values)
    with decoding_errors(name):
        column = (reader(values) if reader is not None else None) or _to_raw_column(name, values)
    if column.rows != len(values):
        raise InputError(f"column {name!r}: {column.rows} cells in {len(values)} rows; the table is damaged")
    return column


def _as_frame(frame: object) -> object:
    """A frame that can be asked for its columns; lazy ones are collected."""
    type_name = type(frame).__name__
    if type_name in {"Series", "Index", "ndarray", "str"}:
        raise InputError(f"table: a {type_name}; expected a frame of named columns, or a mapping from names to cells")
    if _comes_from("polars", frame) and type_name == "LazyFrame":
        return frame.collect()  # type: ignore[attr-defined]
    if _comes_from("pandas", frame):
        require_distinct([str(name) for name in frame.columns], "table")  # type: ignore[attr-defined]
    return frame


def require_distinct(names: Sequence[str], owner: str) -> None:
    """Raise an `InputError` for columns of the same name.

    >>> require_distinct(["a", "b", "a"], "table")
    Traceback (most recent call last):
        ...
    possnet.errors.InputError: table: column 'a' appears twice; expected distinct names
    """
    if len(set(names)) < len(names):
        seen: set[str] = set()
        twice = next(name for name in names if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        raise InputError(f"{owner}: column {twice!r} appears twice; expected distinct names")


def _arrow_columns(frame: object) -> list[tuple[str, Any]]:
    """Pairs (name, Arrow array or Python list); a column that Arrow cannot hold comes as a list."""
    import pyarrow as pa

    if isinstance(frame, Mapping):
        return [(str(name), _arrow_or_list(values)) for name, values in frame.items()]
    if isinstance(frame, pa.Table):  # pa.table would load pandas to tell
        return list(zip(frame.column_names, frame.columns, strict=True))
    try:
        table = pa.Table.from_pandas(frame, preserve_index=False) if _comes_from("pandas", frame) else pa.table(frame)
    except (pa.ArrowException, TypeError, ValueError, NotImplementedError) as error:
        names = getattr(frame, "columns", None)
        if names is None or not hasattr(frame, "__getitem__"):
            raise InputError(
                f"table: {type(frame).__name__} does not speak Arrow ({first_line(error)}); expected pandas, polars, "
                "duckdb or pyarrow, or a mapping from names to cells"
            ) from None
        return [(str(name), _arrow_or_list(frame[name])) for name in names]
    # polars hands over columns of Python objects as bare pointers, which only polars itself can follow
    column_types = getattr(frame, "schema", {}) if _comes_from("polars", frame) else {}
    objects = {name for name, column_type in column_types.items() if str(column_type) == "Object"}
    # Arrow fills mappings of degrees up to structs of one form; only pandas still has the mappings themselves
    if _comes_from("pandas", frame):
        objects |= {field.name for field in table.schema if pa.types.is_struct(field.type)}
    return [
        (name, frame[name].to_list() if name in objects else column)  # type: ignore[index]
        for name, column in zip(table.column_names, table.columns, strict=True)
    ]


def _comes_from(library: str, frame: object) -> bool:
    return type(frame).__module__.split(".")[0] == library


def _arrow_or_list(values: Any) -> Any:
    import pyarrow as pa

    if hasattr(values, "to_bitmaps"):  # a column already, such as binned measurements
        return values
    if isinstance(values, str):
        raise InputError(f"table: the cells of a column are one text {values[:40]!r}; expected a list of cells")
    try:
        array = pa.array(values, from_pandas=True)
        return list(values) if pa.types.is_struct(array.type) else array
    except (pa.ArrowException, TypeError, ValueError, NotImplementedError):
        if not isinstance(values, Iterable):
            type_name = type(values).__name__
            raise InputError(f"table: the cells of a column are one {type_name}; expected a list of cells") from None
        return list(values)


def _to_raw_column(name: str, values: Any) -> RawColumn:
    import pyarrow as pa

    if hasattr(values, "to_bitmaps"):
        return values.with_name(name)  # type: ignore[no-any-return]
    if isinstance(values, list):
        return python_column(name, values)
    if isinstance(values, pa.ChunkedArray):
        values = values.unify_dictionaries().combine_chunks() if values.num_chunks != 1 else values.chunk(0)
    value_type = values.type
    if pa.types.is_null(value_type):
        return TextColumn(name, np.zeros(len(values), dtype=np.int8), [None])
    has_degrees = pa.types.is_map(value_type) or pa.types.is_struct(value_type)
    if has_degrees or "list_view" in str(value_type):  # Arrow's own conversion of list views loses members
        return python_column(name, map(_to_mapping, values.to_pylist()) if has_degrees else values.to_pylist())
    if pa.types.is_list(value_type) or pa.types.is_large_list(value_type) or pa.types.is_fixed_size_list(value_type):
        return _list_column(name, values)
    return _scalar_column(name, values)


def _to_mapping(value: Any) -> dict[str, Any] | None:
    """Degrees of an Arrow cell: pairs of a map, or a struct, in which a null is a state that is not named."""
    if value is None:
        return None
    return {state: degree for state, degree in dict(value).items() if degree is not None}


def number_reader(name: str) -> Reader:
    """Reader of a column of numbers, weights or certainties, which may have fractions: the distinct ones as texts.

    >>> number_reader("n")([0.5, 2, None]).cells
    [('0.5',), ('2.0',), None]
    """

    def read_numbers(values: Any) -> RawColumn | None:
        import pyarrow as pa

        if isinstance(values, list) and all(value is None or isinstance(value, int | float) for value in values):
            values = pa.array(values, type=pa.float64(), from_pandas=True)
        if isinstance(values, pa.ChunkedArray):
            values = values.combine_chunks()
        if isinstance(values, list) or not (pa.types.is_floating(values.type) or pa.types.is_decimal(values.type)):
            return None
        numbers = numbers_of_array(values.cast(pa.float64(), safe=False), np.nan)
        distinct, codes = np.unique(numbers, return_inverse=True)
        return TextColumn(name, codes, [None if np.isnan(number) else (repr(number),) for number in distinct.tolist()])

    return read_numbers


def _scalar_column(name: str, values: pa.Array) -> TextColumn:
    """One state a cell: text, categories, whole numbers, truth values; null is unknown."""
    import pyarrow as pa

    declares = isinstance(values, pa.DictionaryArray)
    encoded = values if declares else _to_texts(name, values).dictionary_encode()
    texts, indices = _to_texts(name, encoded.dictionary).to_pylist(), encoded.indices
    states = tuple(text for text in texts if text is not None) if declares else None
    codes = numbers_of_array(indices, len(texts))
    cells: list[Cell] = [None if text is None else (text,) for text in texts]
    if indices.null_count:
        cells.append(None)
    return TextColumn(name, codes, cells, states, ordered=declares and bool(values.type.ordered))


def _list_column(name: str, values: pa.Array) -> ListColumn:
    """A list of states a cell; null is unknown, an empty list stays an empty cell (reported later)."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not pa.types.is_large_list(values.type):
        values = values.cast(pa.large_list(values.type.value_type))
    flat = _scalar_column(name, pc.list_flatten(values))
    lengths = numbers_of_array(pc.list_value_length(values), 0)
    holes = [number for number, cell in enumerate(flat.cells) if cell is None]
    if holes and (places := np.flatnonzero(np.isin(flat.codes, holes))).size:
        row = np.searchsorted(np.cumsum(lengths), places[0], side="right")
        raise InputError(
            f"column {name!r}, row {row + 1}: a null among the states; expected states only, "
            "or null for the whole cell where nothing is known"
        )
    texts = [cell[0] for cell in flat.cells if cell is not None]
    unknown = nulls_of_array(values) if values.null_count else None
    return ListColumn(name, flat.codes, texts, lengths, unknown, flat.states, flat.ordered)


def _to_texts(name: str, values: pa.Array) -> pa.Array:
    """Values as text: strings as they are, whole numbers and truth values by their usual spelling."""
    import pyarrow as pa

    value_type = values.type
    if isinstance(values, pa.DictionaryArray):
        return _to_texts(name, values.dictionary_decode())
    if pa.types.is_float16(value_type):
        values, value_type = values.cast(pa.float32()), pa.float32()
    if pa.types.is_floating(value_type):
        numbers = numbers_of_array(values, np.nan)
        missing = np.isnan(numbers)
        if np.isinf(numbers).any() or (~missing & (numbers != np.floor(numbers))).any():
            raise InputError(
                f"column {name!r}: numbers with fractions; expected states. Bin measurements into states: "
                f"binnings={{{name!r}: possnet.Binning()}} (--bin {name}); where files are read also '*', for all columns "
                "of numbers"
            )
        try:
            values = array_of_numbers(numbers, missing).cast(pa.int64())
        except pa.ArrowInvalid:
            raise InputError(
                f"column {name!r}: numbers too large for states. Bin measurements into states: "
                f"binnings={{{name!r}: possnet.Binning()}} (--bin {name})"
            ) from None
        return values.cast(pa.string())
    known = (pa.types.is_string, pa.types.is_large_string, pa.types.is_integer, pa.types.is_boolean, pa.types.is_null)
    if any(test(value_type) for test in known) or str(value_type) in {"string_view", "date32[day]", "date64[ms]"}:
        return values.cast(pa.large_string())
    raise InputError(
        f"column {name!r}: cells of type {value_type}; expected text, lists of text, categories, whole numbers or truth "
        "values"
    )


def python_column(name: str, values: Iterable[Any]) -> RawColumn:
    """RawColumn of Python cells: states, sets or lists of states, mappings from states to degrees, None.

    >>> python_column("rash", ["yes", {"yes", "no"}, "yes"]).codes
    array([0, 1, 0])
    """
    by_text: dict[str | frozenset[str], int] = {}  # cells of nothing but text, which need not be looked at twice
    # a set of one text is not that text, which may have a grammar
    by_cell: dict[tuple[Cell | _Degrees, bool], int] = {}
    codes = []
    for row, value in enumerate(values):
        key = value if isinstance(value, str) else _set_of_texts(value)
        number = -1 if key is None else by_text.get(key, -1)
        if number < 0:
            try:
                cell = _to_degrees(value) if isinstance(value, Mapping) else _to_cell(value)
            except InputError as error:
                raise InputError(f"column {name!r}, row {row + 1}: {error}") from None
            number = by_cell.setdefault((cell, not isinstance(value, str)), len(by_cell))
            if key is not None:
                by_text[key] = number
        codes.append(number)
    sets = frozenset(number for (_, as_set), number in by_cell.items() if as_set)
    degrees = {number: dict(cell.pairs) for (cell, _), number in by_cell.items() if isinstance(cell, _Degrees)}
    cells = [tuple(degrees[k]) if isinstance(cell, _Degrees) else cell for k, (cell, _) in enumerate(by_cell)]
    column = TextColumn(name, np.array(codes, dtype=np.int64), cells, sets=sets)
    return GradedColumn(column, degrees) if degrees else column


class _Degrees(NamedTuple):
    """States and their degrees, in the order of the states."""

    pairs: tuple[tuple[str, Any], ...]


def _to_degrees(value: Mapping[Any, Any]) -> _Degrees:
    """A Python mapping as degrees; a state may be named once."""
    pairs: dict[str, Any] = {}
    for member, degree in value.items():
        state = _to_state(member)
        if state in pairs:
            raise InputError(f"{state!r} has two degrees; expected one")
        try:
            hash(degree)
        except TypeError:
            raise InputError(f"degree {degree!r} of {state!r}; expected a number from 0 to 1") from None
        pairs[state] = degree
    return _Degrees(tuple(sorted(pairs.items(), key=lambda pair: pair[0])))


def _set_of_texts(value: object) -> frozenset[str] | None:
    if isinstance(value, set | frozenset | list | tuple) and all(isinstance(member, str) for member in value):
        return frozenset(value)
    return None


def _to_cell(value: Any) -> Cell:
    """A Python cell as a sorted tuple of states: a state, a set or list of states, or None (also NaN) for unknown.

    >>> [_to_cell(value) for value in ("yes", {"yes", "no"}, ["no"], None, float("nan"))]
    [('yes',), ('no', 'yes'), ('no',), None, None]
    """
    if value is None or type(value).__name__ == "NAType" or (isinstance(value, float) and np.isnan(value)):
        return None
    if isinstance(value, Iterable) and not isinstance(value, str | bytes | Mapping):
        return tuple(sorted({_to_state(member) for member in value}))
    return (_to_state(value),)


def _to_state(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bool | np.bool_):
        return str(bool(value)).lower()
    if isinstance(value, int | np.integer) or (isinstance(value, float | np.floating) and float(value).is_integer()):
        return str(int(value))
    raise InputError(
        f"{describe_value(value)} is of type {type(value).__name__}; expected a state, a set of states, or None"
    )


def table_of_columns(columns: Iterable[TextColumn | GradedColumn], *, as_lists: bool = False) -> pa.Table:
    """Arrow table of columns that carry their domain.

    A column whose cells are single states (or unknown) becomes a category; a set-valued one a list of strings; unknown is
    null. With ``as_lists`` every column becomes a list of strings.
    """
    import pyarrow as pa

    arrays = {}
    for column in columns:
        if isinstance(column, GradedColumn):
            kind = pa.map_(pa.string(), pa.float64())
            pairs = [None if c is None else list(column.degrees[k].items()) for k, c in enumerate(column.sets.cells)]
            arrays[column.name] = pa.array(pairs, type=kind).take(array_of_numbers(column.sets.codes))
        elif as_lists or any(cell is not None and len(cell) > 1 for cell in column.cells):
            arrays[column.name] = category_lists(column).cast(pa.list_(pa.string()))
        else:
            states = column.states or ()
            place = {state: k for k, state in enumerate(states)}
            numbers = np.array([-1 if c is None else place[c[0]] for c in column.cells] or [-1], dtype=np.int32)
            indices = numbers[column.codes]
            arrays[column.name] = pa.DictionaryArray.from_arrays(
                array_of_numbers(indices, indices < 0), array_of_texts(states), ordered=column.ordered
            )
    return pa.table(arrays)


def category_lists(column: TextColumn) -> pa.Array:
    """Arrow array of lists of categories, null where a cell is unknown.

    >>> category_lists(TextColumn("x", np.array([1, 0, 2]), [("b",), ("a", "b"), None], ("a", "b"))).to_pylist()
    [['a', 'b'], ['b'], None]
    """
    import pyarrow as pa

    states = column.states or tuple(dict.fromkeys(state for cell in column.cells for state in cell or ()))
    place = {state: k for k, state in enumerate(states)}
    numbers = [place[state] for cell in column.cells for state in cell or ()]
    sizes = np.fromiter((len(cell or ()) for cell in column.cells), dtype=np.int32, count=len(column.cells))
    missing = np.fromiter((cell is None for cell in column.cells), dtype=bool, count=len(column.cells))
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)
    distinct = pa.ListArray.from_arrays(
        array_of_numbers(offsets), array_of_numbers(np.array(numbers, dtype=np.int32)), mask=array_of_numbers(missing)
    )
    lists = distinct.take(array_of_numbers(column.codes))
    values = pa.DictionaryArray.from_arrays(lists.values, array_of_texts(states))
    unknown = lists.is_null() if lists.null_count else None
    return pa.ListArray.from_arrays(lists.offsets, values, mask=unknown)


def list_array(
    members: np.ndarray[Any, Any],
    lengths: np.ndarray[Any, Any],
    unknown: np.ndarray[Any, Any],
    states: tuple[str, ...],
    *,
    ordered: bool,
) -> pa.Array:
    """Arrow array of lists of categories: ``members`` numbers into the states, one list after the other; null is unknown.

    >>> unknown = np.array([False, False, True])
    >>> list_array(np.array([0, 0, 1]), np.array([1, 2, 0]), unknown, ("a", "b"), ordered=True).to_pylist()
    [['a'], ['a', 'b'], None]
    """
    import pyarrow as pa

    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    indices = array_of_numbers(members.astype(np.int32))
    values = pa.DictionaryArray.from_arrays(indices, array_of_texts(states), ordered=ordered)
    return pa.LargeListArray.from_arrays(array_of_numbers(offsets), values, mask=array_of_numbers(unknown))


def table_of_arrays(columns: Mapping[str, Any]) -> pa.Table:
    """Arrow table of plain columns: arrays of numbers or truth values, or pairs (codes, texts), which become categories.

    >>> table_of_arrays({"n": np.array([1, 2]), "t": (np.array([1, 0]), ("a", "b"))}).to_pylist()
    [{'n': 1, 't': 'b'}, {'n': 2, 't': 'a'}]
    """
    import pyarrow as pa

    arrays = {}
    for name, column in columns.items():
        if isinstance(column, tuple):
            codes, texts = column
            indices = array_of_numbers(np.asarray(codes, dtype=np.int32))
            arrays[name] = pa.DictionaryArray.from_arrays(indices, array_of_texts(texts))
        else:
            arrays[name] = array_of_numbers(column)
    return pa.table(arrays)


def first_line(error: Exception) -> str:
    r"""What an error of another library says, short.

    >>> first_line(ValueError("It broke.\nHere is why."))
    'It broke'
    """
    return (str(error).splitlines() or [type(error).__name__])[0].rstrip(".")[:160]

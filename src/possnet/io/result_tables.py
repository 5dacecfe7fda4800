"""Plain tables of results: text, whole numbers and real ones, as Parquet or CSV."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from possnet.arrow import array_of_numbers, array_of_texts, require_arrow
from possnet.io.format_registries import DATA_FORMATS, choose_writer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from possnet.completion import Completion


def write_result_table(columns: Mapping[str, type], rows: Sequence[Sequence[Any]], path: str | Path) -> None:
    """Write rows as a ``.csv`` or ``.parquet`` file, whole or not at all; ``columns`` gives names, and the types of values.

    A type is ``str``, ``int`` or ``float``.

    >>> import tempfile, pathlib, pyarrow.parquet as pq
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_result_table({"name": str, "value": float}, [("a", 0.5), ("b", None)], pathlib.Path(folder) / "t.parquet")
    ...     pq.read_table(pathlib.Path(folder) / "t.parquet").to_pylist()
    [{'name': 'a', 'value': 0.5}, {'name': 'b', 'value': None}]
    """
    require_arrow()
    import pyarrow as pa

    kinds = {str: pa.string(), int: pa.int64(), float: pa.float64()}
    schema = pa.schema({name: kinds[kind] for name, kind in columns.items()})
    arrays = [_make_array([row[k] for row in rows], kind) for k, kind in enumerate(columns.values())]
    choose_writer(path, DATA_FORMATS, {}, "write_tables")([pa.table(arrays, schema=schema)], schema, path)


def _make_array(values: list[Any], kind: type) -> Any:
    """An Arrow array of texts or numbers, null where there is none."""
    if kind is str:
        return array_of_texts(values)
    missing = np.fromiter((value is None for value in values), dtype=bool, count=len(values))
    numbers = np.array(
        [0 if value is None else value for value in values], dtype=np.int64 if kind is int else np.float64
    )
    return array_of_numbers(numbers, missing)


def write_long_form(
    completion: Completion | Iterable[Completion],
    path: str | Path,
    *,
    watch: Callable[[Completion], None] | None = None,
) -> None:
    """Write the long form of a completion, or of a stream of them, to a ``.csv`` or ``.parquet`` file, whole or not at all.

    A line for every state of every ambiguous cell; see `possnet.Completion.long_form`. In the file rows are numbered from
    1, as in every message about a file.

    Parameters
    ----------
    watch
        Called with the completion of every batch on its way, to add up summaries without a second pass.

    Examples
    --------
    >>> import tempfile, possnet as pn
    >>> from pathlib import Path
    >>> asia = pn.load_example("asia")
    >>> data = pn.Dataset.from_rows([asia.variable("bronc"), asia.variable("dysp")], [(None, "yes")])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_long_form(pn.complete(asia, data), Path(folder) / "long.csv")
    ...     print((Path(folder) / "long.csv").read_text())
    row,variable,state,possibility,necessity,most_possible,tied,impossible
    1,"bronc","yes",1,0.9,true,false,false
    1,"bronc","no",0.1,0,false,false,false
    <BLANKLINE>
    """
    require_arrow()
    import pyarrow as pa
    import pyarrow.compute as pc

    from possnet.completion import Completion

    kinds = {"row": pa.int64(), "variable": pa.string(), "state": pa.string(), "possibility": pa.float64()}
    kinds |= {"necessity": pa.float64(), "most_possible": pa.bool_(), "tied": pa.bool_(), "impossible": pa.bool_()}
    schema = pa.schema(kinds)

    def number_rows() -> Iterator[Any]:
        for part in (completion,) if isinstance(completion, Completion) else completion:
            if watch is not None:
                watch(part)
            table = part.to_arrow()
            yield table.set_column(0, "row", pc.add(table.column("row"), 1)).cast(schema)

    choose_writer(path, DATA_FORMATS, {}, "write_tables")(number_rows(), schema, path)

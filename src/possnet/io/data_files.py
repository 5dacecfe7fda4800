"""Reading, scanning and writing data, by the suffix of the file's name."""

from __future__ import annotations

import glob
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar, get_args

from possnet.arrow import PackedColumn, ProblemReport
from possnet.dataset import Dataset, batches_of, require_rows, variables_of
from possnet.errors import InputError, require_known
from possnet.io.cell_syntax import CellSyntax
from possnet.io.csv_data import CsvColumn, CsvSource, csv_blocks, csv_header
from possnet.io.data_source import ColumnBatch
from possnet.io.file_access import DATA_SUFFIXES, file_error, replace_file, require_suffix
from possnet.io.file_domains import infer_domain, known_domain
from possnet.io.measured_columns import settle_bins
from possnet.io.parquet_data import Layout, ParquetSource, parquet_schema, parquet_table
from possnet.io.passthrough_columns import attach_columns
from possnet.threads import in_order

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from possnet.aliases import Progress, Words
    from possnet.arrow import RawColumn
    from possnet.dataset import Batches
    from possnet.io.data_source import DataSource
    from possnet.measurements import Binning
    from possnet.variables import Variable


_GROUP = 1 << 18
T = TypeVar("T")


def read_data(
    path: str | Path,
    variables: object | None = None,
    *,
    weights: str | None = None,
    separator: str = "|",
    escape: str = "\\",
    delimiter: str = ",",
    binnings: Mapping[str, Binning] | None = None,
) -> Dataset:
    r"""Data set of a ``.csv`` or ``.parquet`` file, in memory.

    Domains come from ``variables`` (variables, or something that has them, such as a network; other columns are left out),
    or from the file (possnet's own Parquet layout, categories), or else from the cells: those that occur, sorted as text.

    Parameters
    ----------
    weights
        Name of the column of integer row weights, if there is one. possnet's own Parquet layout knows it by itself.
    separator, escape, delimiter
        How a CSV file separates states in a cell, escapes special characters, and separates fields;
        see `possnet.io.cell_syntax`.
    binnings
        Columns that hold measurements, and how each becomes cells: name -> `possnet.Binning`. Bins take the states of an
        ordered variable of as many states in ``variables``, unless they have labels. Edges by quantile or width are
        computed from the whole file (of several files: from all of them) in a pass of its own, with 8 bytes a row.

    >>> import possnet as pn, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "patients.csv"
    ...     _ = path.write_text("fever,rash\nmild|high,no\n?,!yes\n")
    ...     pn.read_data(path)
    Dataset(2 rows, 2 variables, 50 % of the cells imprecise, 25 % unknown)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "readings.csv"
    ...     _ = path.write_text("temperature,rash\n37.4,no\n>39,yes\n")
    ...     data = pn.read_data(path, binnings={"temperature": pn.Binning([37.5, 38.5], error=0.2)})
    >>> sorted(data.row(0)["temperature"]), sorted(data.row(1)["temperature"])
    (['37.5..38.5', '<37.5'], ['>=38.5'])
    """
    syntax = CellSyntax(separator, escape, delimiter)
    (source,), domain = _opened([path], variables, weights, syntax, binnings, whole=True)
    batches: Iterable[ColumnBatch] = source.batches({v.name for v in domain} if domain else source.names())
    if domain is None:
        batches = list(_kept(source, batches))
        domain = infer_domain([(source, batches)])
    parts = list(_datasets(source, batches, domain, at_once=True))
    return parts[0] if len(parts) == 1 else Dataset.concatenate(parts)


def scan_data(
    paths: str | Path | Iterable[str | Path],
    variables: object | None = None,
    *,
    weights: str | None = None,
    separator: str = "|",
    escape: str = "\\",
    delimiter: str = ",",
    binnings: Mapping[str, Binning] | None = None,
) -> DataStream:
    """Stream of batches of one or many files: a file, a folder, a glob pattern, or a list of these.

    Without ``variables``, and unless every file declares its domains, the files are read once just to find the states.
    Options are those of `read_data`.

    >>> import possnet as pn, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     pn.write_data(pn.Dataset.from_table({"rash": ["yes", "no"]}), Path(folder) / "a.parquet")
    ...     pn.write_data(pn.Dataset.from_table({"rash": ["no", "yes"]}), Path(folder) / "b.parquet")
    ...     stream = pn.scan_data(folder)
    ...     [len(batch) for batch in stream], [len(batch) for batch in stream]
    ([2, 2], [2, 2])
    """
    syntax = CellSyntax(separator, escape, delimiter)
    sources, domain = _opened(_files(paths), variables, weights, syntax, binnings, whole=False)
    if domain is None:
        domain = infer_domain([(source, source.batches(source.names())) for source in sources])
    return DataStream(sources, domain)


def carry_columns(
    written: str | Path, paths: str | Path | Iterable[str | Path], names: Sequence[str], delimiter: str = ","
) -> None:
    r"""Write a file again with columns of the files that its rows came from, value by value; see `attach_columns`.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     source, written = Path(folder) / "a.csv", Path(folder) / "b.csv"
    ...     _ = source.write_text("note,fever\n!urgent,?\n"), written.write_text("fever\nmild\n")
    ...     carry_columns(written, source, ["note"])
    ...     written.read_text()
    'note,fever\n!urgent,mild\n'
    """
    syntax = CellSyntax(delimiter=delimiter)
    attach_columns(Path(written), [_source(path, None, syntax, whole=False) for path in _files(paths)], names)


def column_names(paths: str | Path | Iterable[str | Path], delimiter: str = ",") -> tuple[str, ...]:
    """Names of the columns of the first of one or many data files.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = (Path(folder) / "a.csv").write_text("fever,rash")
    ...     column_names(Path(folder) / "a.csv")
    ('fever', 'rash')
    """
    return tuple(_source(_files(paths)[0], None, CellSyntax(delimiter=delimiter), whole=False).names())


class DataStream:
    """Batches of rows, as often as it is iterated; while one batch is used, the next is read.

    >>> import possnet as pn, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     pn.write_data(pn.Dataset.from_table({"rash": ["yes", "no"]}), Path(folder) / "a.csv")
    ...     pn.scan_data(Path(folder) / "a.csv")
    DataStream(1 file, 1 variable)
    """

    __slots__ = ("_sources", "_variables")

    def __init__(self, sources: Sequence[DataSource], variables: Sequence[Variable]) -> None:
        self._sources = tuple(sources)
        self._variables = tuple(variables)

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The variables, the same in every batch."""
        return self._variables

    @property
    def weighted(self) -> bool:
        """Whether any of the files has row weights."""
        return any(source.weight_column is not None for source in self._sources)

    @property
    def rows(self) -> int | None:
        """Number of rows of all files, if all of them say so (Parquet does, CSV does not)."""
        counts = [source.rows for source in self._sources]
        return None if None in counts else sum(count for count in counts if count is not None)

    def __iter__(self) -> Iterator[Dataset]:
        wanted = {variable.name for variable in self._variables}
        return _prefetched(
            batch for source in self._sources for batch in _datasets(source, source.batches(wanted), self._variables)
        )

    def __repr__(self) -> str:
        files, variables = len(self._sources), len(self._variables)
        rows = "" if self.rows is None else f", {self.rows} rows"
        return f"DataStream({files} file{'s' * (files != 1)}{rows}, {variables} variable{'s' * (variables != 1)})"


def write_data(
    data: Dataset | Batches,
    path: str | Path,
    *,
    layout: Layout = "masks",
    weights: str = "weight",
    separator: str = "|",
    escape: str = "\\",
    delimiter: str = ",",
    progress: Progress | None = None,
) -> None:
    r"""Write a data set or a stream to a ``.csv`` or ``.parquet`` file, whole or not at all.

    Parameters
    ----------
    layout
        For Parquet: ``masks`` keeps the domains and is fastest to read; ``lists`` (lists of strings) is for other programs.
    weights
        Name of the column for row weights, if the rows have any.
    progress
        Called with the rows written and the rows in all (0 if unknown).

    >>> import possnet as pn, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     pn.write_data(pn.Dataset.from_table({"rash": ["yes", {"yes", "no"}, None]}), Path(folder) / "a.csv")
    ...     (Path(folder) / "a.csv").read_text()
    'rash\nyes\nno|yes\n?\n'
    """
    suffix = require_suffix(path, DATA_SUFFIXES)
    require_rows(data, "write_data")
    require_known(layout, get_args(Layout), f"{path}: layout")
    weighted = data.weights is not None if isinstance(data, Dataset) else data.weighted
    if weighted and (not weights or weights in {v.name for v in data.variables}):
        raise InputError(f"{path}: {weights!r} cannot name the weights; expected a name that no variable has, weights=")
    batches = _counted(data, progress)
    if suffix == ".csv":
        syntax = CellSyntax(separator, escape, delimiter)
        with replace_file(path) as beside, beside.open("wb") as out:
            out.write(csv_header(data.variables, syntax, weights if weighted else None))
            for batch in batches:
                for block in csv_blocks(batch, syntax, weighted=weighted):
                    out.write(block)
    else:
        import pyarrow.parquet as pq

        schema = parquet_schema(data.variables, weights if weighted else None, layout)
        with replace_file(path) as beside, pq.ParquetWriter(beside, schema, compression="zstd") as writer:
            for batch in batches:
                for start in range(0, len(batch), _GROUP):
                    writer.write_table(parquet_table(batch[start : start + _GROUP], schema, layout))


def _counted(data: Dataset | Batches, progress: Progress | None) -> Iterator[Dataset]:
    total = len(data) if isinstance(data, Dataset) else data.rows or 0
    done = 0
    for batch in batches_of(data):
        yield batch
        done += len(batch)
        if progress is not None:
            progress(done, total)


def _source(path: str | Path, weights: str | None, syntax: CellSyntax, *, whole: bool) -> DataSource:
    if require_suffix(path, DATA_SUFFIXES) == ".csv":
        return CsvSource(Path(path), weights, syntax, whole=whole)
    return ParquetSource(Path(path), weights)


def _opened(
    paths: Sequence[str | Path],
    variables: object | None,
    weights: str | None,
    syntax: CellSyntax,
    binnings: Mapping[str, Binning] | None,
    *,
    whole: bool,
) -> tuple[list[DataSource], tuple[Variable, ...] | None]:
    """Sources that know which of their columns are measurements, and the variables if they are given or declared."""
    sources = [_source(path, weights, syntax, whole=whole) for path in paths]
    given = None if variables is None else variables_of(variables)
    if binnings:
        settled = settle_bins(binnings, sources, given)
        for source in sources:
            source.binnings = settled
    return sources, known_domain(sources, given)


def _files(paths: str | Path | Iterable[str | Path]) -> list[Path]:
    """Files of a name, a folder, a glob pattern, or a list of these; folders and patterns in sorted order."""
    if not isinstance(paths, str | Path | Iterable):
        raise InputError(f"{paths!r} is no file; expected a name, a folder, a pattern, or a list of these")
    if not isinstance(paths, str | Path):
        return [file for path in paths for file in _files(path)] or _none(paths)
    path = Path(paths)
    try:
        if path.is_dir():
            found = [p for p in path.iterdir() if p.suffix.lower() in DATA_SUFFIXES and p.is_file()]
        elif path.exists() or not glob.has_magic(str(paths)):
            return [path]
        else:
            found = [Path(name) for name in glob.glob(str(paths), recursive=True)]  # noqa: PTH207
    except (OSError, ValueError) as error:
        raise file_error(path, error) from None
    return sorted(found) or _none(paths)


def _none(paths: object) -> list[Path]:
    raise InputError(f"{paths}: no {' or '.join(DATA_SUFFIXES)} file there; expected at least one")


def _kept(source: DataSource, batches: Iterable[ColumnBatch]) -> Iterator[ColumnBatch]:
    """The same batches with their columns read once and kept, packed if their cells do not need the domain to be read."""
    report = ProblemReport(source.owner)
    for batch in batches:
        columns = list(in_order(partial(_keep, report=report), batch.columns, 2))
        yield ColumnBatch([partial(lambda column: column, column) for column in columns], batch.weights)
        report.first_row += columns[0].rows
    report.raise_if_any()


def _keep(read: Callable[[], RawColumn], report: ProblemReport) -> RawColumn:
    column = read()
    if isinstance(column, CsvColumn):
        return column
    try:
        return PackedColumn.of(column, report)
    except InputError as error:
        raise InputError(f"{report.owner}: {error}") from None


def _datasets(
    source: DataSource, batches: Iterable[ColumnBatch], variables: Sequence[Variable], *, at_once: bool = False
) -> Iterator[Dataset]:
    """Data sets of batches; cells that do not fit are told batch by batch, or all at once after the last one."""
    domains = {variable.name: variable for variable in variables}
    report = ProblemReport(source.owner)
    for batch in batches:
        columns = list(in_order(partial(_bits, domains=domains, report=report), batch.columns, 2))
        if not at_once:
            report.raise_if_any()
        rows = columns[0][1]
        yield Dataset.unchecked(
            variables,
            {name: words for name, _, words, _ in columns},
            rows,
            unknown={name: absent for name, _, _, absent in columns if absent is not None},
            weights=batch.weights,
        )
        report.first_row += rows
    report.raise_if_any()


def _bits(
    read: Callable[[], RawColumn], domains: dict[str, Variable], report: ProblemReport
) -> tuple[str, int, Words, Words | None]:
    column = read()
    return column.name, column.rows, *column.to_bitmaps(domains[column.name], report)


def _prefetched(batches: Iterator[Dataset]) -> Iterator[Dataset]:
    """The same batches, each read by a thread while the one before is in use."""
    with ThreadPoolExecutor(max_workers=1, thread_name_prefix="possnet-prefetch") as pool:
        coming = pool.submit(next, batches, None)
        while (batch := coming.result()) is not None:
            coming = pool.submit(next, batches, None)
            yield batch

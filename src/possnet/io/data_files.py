"""Reading, scanning and writing data, in the format that the suffix of the file's name stands for."""

from __future__ import annotations

import glob
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from possnet.arrow import DegreeColumn, PackedColumn, ProblemReport, read_cells, read_certainty, require_arrow
from possnet.cells import CellOptions
from possnet.dataset import Dataset, batches_of, require_rows, variables_of
from possnet.doors import check_arguments, checks_itself
from possnet.errors import InputError, among, describe_value, listing, require_several
from possnet.io.automatic_bins import has_fractions, is_numeric
from possnet.io.data_source import ColumnBatch
from possnet.io.file_access import file_error, prefix_errors
from possnet.io.file_domains import infer_domain, known_domain, remember_writing, settle_binnings
from possnet.io.format_registries import (
    DATA_FORMATS,
    choose_format,
    choose_writer,
    join_suffixes,
    known_suffixes,
    select_options,
)
from possnet.io.passthrough_columns import PlainColumns
from possnet.io.special_files import require_plain
from possnet.io.stream_parts import split_sources
from possnet.measurements import Binning
from possnet.threads import one_ahead

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from possnet.aliases import Progress
    from possnet.arrow import Certainty, RawColumn, ReadCells
    from possnet.cells import CellReading, CellSyntax
    from possnet.dataset import Batches
    from possnet.io.data_source import DataSource
    from possnet.io.state_columns import StateBitmaps
    from possnet.io.stream_parts import StreamPart
    from possnet.variables import Variable


@check_arguments
@checks_itself("binnings", "unknown_words", "separator")
def read_data(
    path: str | Path,
    variables: object | None = None,
    *,
    weights: str | None = None,
    binnings: Mapping[str, Binning] | None = None,
    certainty: Certainty | None = None,
    separator: str | Mapping[str, str] | None = None,
    cells: CellReading | Mapping[str, CellReading] = "auto",
    unknown_words: Sequence[str] = (),
    escape: str = "\\",
    **options: object,
) -> Dataset:
    r"""Data set of a ``.csv`` or ``.parquet`` file, or of any other format in `possnet.io.DATA_FORMATS`, in memory.

    Domains come from ``variables`` (variables, or something that has them, such as a network; other columns are left out),
    or from the file (possnet's own Parquet layout, categories), or else from the cells: those that occur, sorted as text.

    Parameters
    ----------
    weights
        Name of the column of integer row weights, if there is one. possnet's own Parquet layout knows it by itself.
    binnings
        Columns that hold measurements, and how each becomes cells: name -> `possnet.Binning`. Bins take the states of an
        ordered variable of as many states in ``variables``, unless they have labels. Edges by quantile, width or mdl are
        computed from the whole file (of several files: from all of them) in a pass of its own, with 8 bytes a row, unless
        ``variables`` remember theirs. The name ``*`` stands for all columns of numbers: those whose known cells are all
        readings, of more than ten different numbers (twenty whole ones, beyond 10,000 rows).
    separator
        What stands between the states of a text, of one character or several; one for all columns or a mapping from columns
        to texts. ``|`` and ``;`` by default.
    certainty
        Columns of certainties, as in `Dataset.from_table`: ``{"label": ("sure", 7)}``.
    cells
        How texts are read, for all columns or for each: ``auto`` (by the grammar of `possnet.cells.CellSyntax`; what is
        ambiguous by the states, if these are known), ``plain`` (a text is a state), ``sets`` (commas separate too, and
        brackets are always lists) or ``range`` (two parts are the ends of a range of states, or of whole numbers).
    unknown_words
        Texts that mean unknown, such as ``NA``, besides ``?``, ``*`` and nothing.
    escape
        What takes the special meaning from the next character of a text; nothing does if it is empty.
    options
        Options of the format. CSV takes ``delimiter`` between fields, ``quote`` around them and ``encoding``; all three are
        found by looking (``auto``) if they are not given.

    Examples
    --------
    >>> import possnet as pn, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "patients.csv"
    ...     _ = path.write_text("fever,rash\nmild|high,no\n?,!yes\n")
    ...     pn.read_data(path)
    Dataset(2 rows, 2 variables, 50 % of the cells imprecise, 25 % unknown)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "survey.csv"
    ...     _ = path.write_text('age;job\n"17,24";nurse, driver\n20;NA\n')
    ...     survey = pn.read_data(path, separator=", ", cells={"age": "range"}, unknown_words=("NA",))
    >>> survey.variable("age").states, sorted(survey.row(0)["job"]), survey.missing("job")
    (('17', '18', '19', '20', '21', '22', '23', '24'), ['driver', 'nurse'], array([False, True]))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "readings.csv"
    ...     _ = path.write_text("temperature,rash\n37.4,no\n>39,yes\n")
    ...     data = pn.read_data(path, binnings={"temperature": pn.Binning([37.5, 38.5], error=0.2)})
    >>> sorted(data.row(0)["temperature"]), sorted(data.row(1)["temperature"])
    (['37.5..38.5', '<37.5'], ['>=38.5'])
    """
    reading = CellOptions(separator, cells, unknown_words, escape)
    (source,), domain = _open_sources([path], variables, weights, binnings, certainty, reading, options)
    source.whole, source.expected = True, domain or ()
    batches: Iterable[ColumnBatch] = source.read_batches({v.name for v in domain} if domain else source.state_columns())
    if domain is None:
        batches = list(_pack_batches(source, batches))
        domain = infer_domain([(source, batches)])
    domain = remember_writing(domain, [source])
    parts = list(_to_datasets(source, batches, domain, at_once=True))
    return parts[0] if len(parts) == 1 else Dataset.concatenate(parts)


@check_arguments
@checks_itself("binnings", "unknown_words", "separator", "paths")
def scan_data(
    paths: str | Path | Iterable[str | Path],
    variables: object | None = None,
    *,
    weights: str | None = None,
    binnings: Mapping[str, Binning] | None = None,
    certainty: Certainty | None = None,
    separator: str | Mapping[str, str] | None = None,
    cells: CellReading | Mapping[str, CellReading] = "auto",
    unknown_words: Sequence[str] = (),
    escape: str = "\\",
    **options: object,
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
    reading = CellOptions(separator, cells, unknown_words, escape)
    sources, domain = _open_sources(_list_files(paths), variables, weights, binnings, certainty, reading, options)
    if domain is None:
        domain = infer_domain([(source, source.read_batches(source.state_columns())) for source in sources])
    return DataStream(sources, remember_writing(domain, sources))


def plain_columns(
    paths: str | Path | Iterable[str | Path], names: Sequence[str], numbers: Sequence[str] = (), **options: object
) -> PlainColumns:
    r"""Columns of files for `write_data` to carry along, value by value, beside the rows that were read from them.

    Of ``numbers``, columns that were binned, only the cells are carried that `PlainColumns.keep_cells` names.

    >>> import possnet as pn, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     source, written = Path(folder) / "a.csv", Path(folder) / "b.csv"
    ...     _ = source.write_text("note,fever\n!urgent,mild\n")
    ...     data = pn.read_data(source, variables=[pn.Variable("fever", ("mild", "high"))])
    ...     pn.write_data(data, written, plain=plain_columns(source, ["note"]))
    ...     written.read_text()
    'note,fever\n!urgent,mild\n'
    """
    return PlainColumns([_open_source(path, None, options) for path in _list_files(paths)], names, numbers)


def column_names(paths: str | Path | Iterable[str | Path], **options: object) -> tuple[str, ...]:
    """Names of the columns of the first of one or many data files.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = (Path(folder) / "a.csv").write_text("fever,rash")
    ...     column_names(Path(folder) / "a.csv")
    ('fever', 'rash')
    """
    return tuple(_open_source(_list_files(paths)[0], None, options).state_columns())


def fraction_columns(paths: str | Path | Iterable[str | Path], **options: object) -> list[str]:
    """Names of the columns of data files that hold numbers with fractions, which have to be binned before they are states.

    >>> import pyarrow as pa, pyarrow.parquet as pq, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     pq.write_table(pa.table({"temp": [36.9, 38.0], "ward": [1.0, 2.0]}), Path(folder) / "a.parquet")
    ...     fraction_columns(Path(folder) / "a.parquet")
    ['temp']
    """
    sources = [_open_source(path, None, options) for path in _list_files(paths)]
    if known_domain(sources, None) is not None:
        return []
    return [
        name for name in sources[0].state_columns() if any(has_fractions(name, s) for s in sources if name in s.header)
    ]


def number_columns(paths: str | Path | Iterable[str | Path], **options: object) -> list[str]:
    r"""Names of the columns of data files that hold numbers: those that the name ``*`` of binnings stands for.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = (Path(folder) / "a.csv").write_text("age,ward\n" + "".join(f"{age},north\n" for age in range(20, 40)))
    ...     number_columns(Path(folder) / "a.csv")
    ['age']
    """
    sources = [_open_source(path, None, options) for path in _list_files(paths)]
    return [name for name in sources[0].state_columns() if is_numeric(name, sources)]


def read_columns(
    path: str | Path,
    names: Sequence[str],
    *,
    binnings: Mapping[str, Binning] | None = None,
    unknown_words: Sequence[str] = (),
) -> Dataset:
    r"""Data set of some columns of a file, as `read_data` reads them; other columns are not read.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = (Path(folder) / "a.csv").write_text("fever,note\nmild|high,?\n")
    ...     read_columns(Path(folder) / "a.csv", ["fever"])
    Dataset(1 row, 1 variable, 100 % of the cells imprecise)
    """
    reading = CellOptions(None, "auto", unknown_words, "\\")
    (source,), domain = _open_sources([path], None, None, binnings, None, reading, {})
    source.whole = True
    batches: Iterable[ColumnBatch] = source.read_batches(names)
    if domain is None:
        batches = list(_pack_batches(source, batches))
        domain = infer_domain([(source, batches)], names)
    parts = list(_to_datasets(source, batches, [v for v in domain if v.name in set(names)], at_once=True))
    return parts[0] if len(parts) == 1 else Dataset.concatenate(parts)


def column_domains(
    paths: str | Path | Iterable[str | Path], names: Sequence[str], **options: object
) -> tuple[Variable, ...]:
    r"""Variables of some columns of one or many data files, made from their cells; other columns are not read.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = (Path(folder) / "a.csv").write_text("fever,rash,temp\nmild|high,no,36.9\n")
    ...     column_domains(Path(folder) / "a.csv", ["fever"])
    (Variable('fever', ('high', 'mild')),)
    """
    sources = [_open_source(path, None, options) for path in _list_files(paths)]
    for source in sources:
        for name in names:
            if name not in source.header:
                raise InputError(f"{source.owner}: no column {name!r}{among(name, source.header)}")
    declared = known_domain(sources, None)
    if declared is not None:
        return tuple(variable for variable in declared if variable.name in names)
    return infer_domain([(source, source.read_batches(names)) for source in sources], names)


class DataStream:
    """Batches of rows, as often as it is iterated; while one batch is used, the next is read.

    >>> import possnet as pn, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     pn.write_data(pn.Dataset.from_table({"rash": ["yes", "no"]}), Path(folder) / "a.csv")
    ...     pn.scan_data(Path(folder) / "a.csv")
    DataStream(1 file, 1 variable)
    """

    __slots__ = ("_sources", "_variables")

    @check_arguments
    def __init__(self, sources: Sequence[DataSource], variables: Sequence[Variable]) -> None:
        self._sources = tuple(sources)
        self._variables = tuple(variables)

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The variables, the same in every batch."""
        return self._variables

    @property
    def cells(self) -> CellOptions:
        """How the texts of the files are read."""
        return self._sources[0].cells

    @property
    def recalled(self) -> dict[str, CellSyntax]:
        """Columns that are read as their variables remember that such cells are written, and how that is."""
        return {name: syntax for source in self._sources for name, syntax in source.recalled.items()}

    @property
    def weighted(self) -> bool:
        """Whether any of the files has row weights."""
        return any(source.weight_column is not None for source in self._sources)

    @property
    def binnings(self) -> dict[str, Binning]:
        """How columns of numbers become cells, with the edges that were computed."""
        return dict(self._sources[0].binnings)

    @property
    def numbers(self) -> tuple[str, ...]:
        """Columns of numbers that were binned, and whose bins are not called by numbers: both can stand in a column."""
        if any(source.declared_variables() is not None for source in self._sources):
            return ()
        binned = [v for v in self._variables if all(v.name in source.binnings for source in self._sources)]
        return tuple(v.name for v in binned if not any(_is_number(state) for state in v.states))

    @property
    def rows(self) -> int | None:
        """Number of rows of all files, if all of them say so (Parquet does, CSV does not)."""
        counts = [source.rows for source in self._sources]
        return None if None in counts else sum(count for count in counts if count is not None)

    def split_parts(self, rows: int = 1 << 20, size: int = 1 << 28) -> list[StreamPart]:
        """Streams of parts of the files, in order: row groups of a Parquet file, or a whole CSV file.

        Parameters
        ----------
        rows, size
            Row groups are put together up to so many rows, and so many bytes before compression.

        Examples
        --------
        >>> import possnet as pn, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = Path(folder) / "a.parquet"
        ...     pn.write_data(pn.sample_batches(pn.load_example("asia"), 150_000, rng=1), file)
        ...     [part.stream.rows for part in pn.scan_data(file).split_parts(rows=131_072)]
        [131072, 18928]
        """
        return split_sources(self._sources, rows, size, lambda source: DataStream([source], self._variables))

    def __iter__(self) -> Iterator[Dataset]:
        wanted = {variable.name for variable in self._variables}
        return one_ahead(
            batch
            for source in self._sources
            for batch in _to_datasets(source, source.read_batches(wanted), self._variables)
        )

    def __repr__(self) -> str:
        files, variables = len(self._sources), len(self._variables)
        rows = "" if self.rows is None else f", {self.rows} rows"
        return f"DataStream({files} file{'s' * (files != 1)}{rows}, {variables} variable{'s' * (variables != 1)})"


@check_arguments
def write_data(
    data: Dataset | Batches,
    path: str | Path,
    *,
    weights: str = "weight",
    plain: PlainColumns | None = None,
    progress: Progress | None = None,
    **options: object,
) -> None:
    r"""Write a data set or a stream to a ``.csv`` or ``.parquet`` file, whole or not at all.

    Parameters
    ----------
    weights
        Name of the column for row weights, if the rows have any.
    plain
        Columns of other files to write beside the rows; see `possnet.io.plain_columns`.
    progress
        Called with the rows written and the rows in all (0 if unknown).
    options
        Options of the format. Parquet takes ``layout``: ``masks`` keeps the domains and is fastest to read; ``lists``
        (lists of strings) is for other programs. CSV takes ``separator``, ``escape``, ``unknown_words`` (which a
        reader will take for unknown, so that a state of that name is written otherwise) and ``delimiter``.

    Examples
    --------
    >>> import possnet as pn, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     pn.write_data(pn.Dataset.from_table({"rash": ["yes", {"yes", "no"}, None]}), Path(folder) / "a.csv")
    ...     (Path(folder) / "a.csv").read_text()
    'rash\nyes\nno|yes\n?\n'
    """
    write = choose_writer(path, DATA_FORMATS, options)
    require_arrow()
    require_rows(data, "write_data")
    weighted = data.weights is not None if isinstance(data, Dataset) else data.weighted
    if weighted and (not weights or weights in {v.name for v in data.variables}):
        raise InputError(f"{path}: {weights!r} cannot name the weights; expected a name that no variable has, weights=")
    if plain is not None:
        choose_format(path, DATA_FORMATS, "plain_columns")
        write = partial(write, plain=plain)
    write(_report_progress(data, progress), Path(path), data.variables, weights if weighted else None)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _report_progress(data: Dataset | Batches, progress: Progress | None) -> Iterator[Dataset]:
    total = len(data) if isinstance(data, Dataset) else data.rows or 0
    done = 0
    for batch in batches_of(data):
        yield batch
        done += len(batch)
        if progress is not None:
            progress(done, total)


def _open_source(path: str | Path, weights: str | None, options: Mapping[str, object]) -> DataSource:
    entry = choose_format(path, DATA_FORMATS)
    require_plain(path)
    require_arrow()
    return entry.open(Path(path), weights, **select_options(options, entry, DATA_FORMATS, str(path)))


def _open_sources(
    paths: Sequence[str | Path],
    variables: object | None,
    weights: str | None,
    binnings: Mapping[str, Binning] | None,
    certainty: Certainty | None,
    cells: CellOptions,
    options: Mapping[str, object],
) -> tuple[list[DataSource], tuple[Variable, ...] | None]:
    """Sources that know which of their columns are measurements, and the variables if they are given or declared."""
    sources = [_open_source(path, weights, options) for path in paths]
    warned: set[str] = set()  # of columns of the same name in several files the user is told once
    for source in sources:
        source.certainty = _find_certainty(certainty, source)
        cells.require_columns(source.state_columns(), source.owner)
        source.cells, source.warned = cells, warned
    given = None if variables is None else variables_of(variables)
    settled = settle_binnings({} if binnings is None else binnings, sources, given)
    remembered = {v.name: Binning.from_variable(v) for v in given or () if v.bins is not None and v.name not in settled}
    for source in sources:
        declared = {v.name for v in source.declared_variables() or ()}
        source.remembered = remembered.keys() & set(source.header) - declared
        source.binnings = settled | {name: remembered[name] for name in source.remembered}
        unread = [v for v in given or () if v.name in set(source.header) - declared]
        source.recalled = {v.name: syntax for v in unread if (syntax := cells.recall_syntax(v)) is not None}
    return sources, known_domain(sources, given)


def _find_certainty(certainty: Certainty | None, source: DataSource) -> dict[str, tuple[str, float]]:
    """Checked columns of certainties of a source."""
    checked = read_certainty(certainty, source.owner)
    for name, (column, _) in checked.items():
        for wanted in (name, column):
            if wanted not in source.header:
                raise InputError(f"{source.owner}: no column {wanted!r}{among(wanted, source.header)}")
    if checked and source.declared_variables() is not None:
        raise InputError(
            f"{source.owner}: possnet's own file, which has no columns of certainties; leave certainty out"
        )
    return checked


def _list_files(paths: str | Path | Iterable[str | Path]) -> list[Path]:
    """Files of a name, a folder, a glob pattern, or a list of these; folders and patterns in sorted order."""
    if not isinstance(paths, str | Path | Iterable):
        raise InputError(
            f"{describe_value(paths)} is no file; expected a name, a folder, a pattern, or a list of these"
        )
    if not isinstance(paths, str | Path):
        return [file for path in require_several(paths, "files") for file in _list_one(path)] or _refuse_none(paths)
    return _list_one(paths)


def _list_one(paths: object) -> list[Path]:
    """Files of a name, a folder or a glob pattern."""
    if not isinstance(paths, str | Path):
        raise InputError(f"{describe_value(paths)} is no file; expected a name, a folder or a pattern")
    path = Path(paths)
    try:
        if path.is_dir():
            suffixes = known_suffixes(DATA_FORMATS)
            files = [p for p in path.iterdir() if p.name.lower().endswith(suffixes) and p.is_file()]
        elif path.exists() or not glob.has_magic(str(paths)):
            return [path]
        else:
            files = [Path(name) for name in glob.glob(str(paths), recursive=True)]  # noqa: PTH207
    except (OSError, ValueError) as error:
        raise file_error(path, error) from None
    return sorted(files) or _refuse_none(paths)


def _refuse_none(paths: object) -> list[Path]:
    shown = paths if isinstance(paths, str | Path) else describe_value(paths)
    raise InputError(f"{shown}: no {join_suffixes(known_suffixes(DATA_FORMATS))} file there; expected at least one")


def _pack_batches(source: DataSource, batches: Iterable[ColumnBatch]) -> Iterator[ColumnBatch]:
    """The same batches with their columns read once and kept, packed if their cells do not need the domain to be read."""
    report = ProblemReport(source.owner)
    for batch in batches:
        columns = batch.run_columns(partial(_pack_column, source=source, report=report))
        kept = [partial(lambda column: column, column) for column in columns]
        yield ColumnBatch(kept, batch.weights, is_small=batch.is_small)
        report.first_row += columns[0].rows
    report.raise_if_any()


def _pack_column(read: Callable[[], RawColumn], source: DataSource, report: ProblemReport) -> RawColumn:
    column = read()
    if isinstance(column, DegreeColumn):  # what its cells mean depends on the domain
        return column
    with prefix_errors(source.owner):
        return PackedColumn.pack_column(column, report)


def _to_datasets(
    source: DataSource, batches: Iterable[ColumnBatch], variables: Sequence[Variable], *, at_once: bool = False
) -> Iterator[Dataset]:
    """Data sets of batches; cells that do not fit are reported batch by batch, or all at once after the last one."""
    domains = {variable.name: variable for variable in variables}
    report = ProblemReport(source.owner, warned=source.warned)
    for batch in batches:
        plain = {} if batch.read_named is None else batch.read_named(domains)
        columns = _read_columns(batch, plain, domains, report)
        if not at_once:
            report.raise_if_any()
        rows = _require_length(source.owner, [size for _, size, _ in columns], batch)
        yield Dataset.unchecked(
            variables,
            {name: words for name, _, (words, _, _) in columns},
            rows,
            unknown={name: absent for name, _, (_, absent, _) in columns if absent is not None},
            weights=batch.weights,
            graded={name: graded for name, _, (_, _, graded) in columns if graded is not None},
            columns={name: column.coded for name, column in plain.items()},
        )
        report.first_row += rows
    report.raise_if_any()


def _require_length(owner: str, sizes: Sequence[int], batch: ColumnBatch) -> int:
    """The number of rows of a batch; an `InputError` if its columns and weights do not have as many each."""
    lengths = {*sizes, *([] if batch.weights is None else [len(batch.weights)])}
    if len(lengths) > 1:
        raise InputError(
            f"{owner}: columns of {listing(sorted(lengths))} rows; expected columns of one length; the file is damaged"
        )
    return sizes[0]


def _read_columns(
    batch: ColumnBatch, plain: Mapping[str, StateBitmaps], domains: dict[str, Variable], report: ProblemReport
) -> list[tuple[str, int, ReadCells]]:
    """Names, numbers of rows and cells of the columns of a batch, some of which were read already."""
    if not plain:
        return batch.run_columns(partial(_to_bitmaps, domains=domains, report=report))
    if not batch.columns:
        return [(name, batch.rows, (plain[name].words, None, None)) for name in batch.names]
    return [
        (name, batch.rows, (plain[name].words, None, None)) if name in plain else _to_bitmaps(read, domains, report)
        for name, read in zip(batch.names, batch.columns, strict=True)
    ]


def _to_bitmaps(
    read: Callable[[], RawColumn], domains: dict[str, Variable], report: ProblemReport
) -> tuple[str, int, ReadCells]:
    column = read()
    return column.name, column.rows, read_cells(column, domains[column.name], report)

"""The data set: one packed bitmap for every state of every variable.

A cell is a set of states. Row r of a variable with states 0 ... S-1 is S bits, one in each of S bitmaps, so that a million
rows of a 105-state table take 13 MB and counting is an AND and a population count, 64 rows at a time. Cells that were given
as unknown are marked in one more bitmap, which exists only where there are such cells; they count as the whole domain.
A cell may carry degrees (see `possnet.kernels.graded_cells`): its bitmaps then show its support, and its degrees are kept
beside them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from itertools import compress
from typing import TYPE_CHECKING, Any

import numpy as np

from possnet.arrow import (
    GradedColumn,
    ProblemReport,
    TextColumn,
    columns_of_table,
    discount_columns,
    number_reader,
    python_column,
    read_cells,
    read_certainty,
    table_of_columns,
)
from possnet.cells import CellOptions, WrittenColumn
from possnet.dataset.aligned_columns import align_degrees, align_words, find_strangers, require_order, widest_variables
from possnet.dataset.coded_column import decode_column
from possnet.dataset.measured_tables import bin_values, check_binnings, read_numbers
from possnet.dataset.row_weights import checked_weights, weights_of_column
from possnet.dataset.variable_discovery import infer_variables, require_columns, variables_of
from possnet.doors import check_arguments, checks_itself
from possnet.errors import InputError, among, describe_value, keep_findings, listing, require_several
from possnet.kernels import bitmaps, graded_cells
from possnet.kernels.grouping import group_rows
from possnet.measurements import measured_cells
from possnet.seeds import seed_of
from possnet.variables import join_bins, require_same_bins

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from possnet.aliases import Bools, Floats, Ints, Weights, Words
    from possnet.arrow import Certainty, RawColumn, Reader
    from possnet.cells import CellReading
    from possnet.dataset.coded_column import CodedColumn
    from possnet.kernels.graded_cells import CutRows, GradedCells
    from possnet.kernels.grouping import RowGroups
    from possnet.measurements import Binning
    from possnet.variables import Variable


class Dataset:
    """Rows of set-valued cells; a cell is a state, a set of states, degrees of states, or unknown.

    Build one with `from_rows`, `from_table` or `possnet.read_data`. Rows may carry weights: a row of weight 3 stands for
    three equal rows, and every summary counts it three times. Cells with degrees show as their support here and wherever
    sets are summarised; `degrees` and `graded` tell them, and `alpha_cuts` is what is learned from.

    >>> import possnet as pn
    >>> fever, rash = pn.Variable("fever", ("none", "mild", "high")), pn.Variable("rash", ("yes", "no"))
    >>> data = Dataset.from_rows((fever, rash), [({"mild", "high"}, "no"), ("none", None)])
    >>> data
    Dataset(2 rows, 2 variables, 50 % of the cells imprecise, 25 % unknown)
    >>> data.row(1)
    {'fever': frozenset({'none'}), 'rash': frozenset({...})}
    >>> data.missing("rash")
    array([False,  True])
    """

    __slots__ = ("_bitmaps", "_columns", "_graded", "_rows", "_source", "_unknown", "_variables", "_weights")
    _variables: dict[str, Variable]
    _bitmaps: dict[str, Words]
    _unknown: dict[str, Words]
    _rows: int
    _weights: Weights | None
    _graded: dict[str, GradedCells]
    _columns: dict[str, CodedColumn]  # those that were asked for
    _source: tuple[dict[str, CodedColumn], slice | Ints] | None  # coded columns that these are rows of

    @classmethod
    def unchecked(
        cls,
        variables: Iterable[Variable],
        words: dict[str, Words],
        rows: int,
        *,
        unknown: dict[str, Words] | None = None,
        weights: Weights | None = None,
        graded: dict[str, GradedCells] | None = None,
        columns: dict[str, CodedColumn] | None = None,
    ) -> Dataset:
        """Data set of bitmaps known to be right (see `possnet.kernels.bitmaps`); nothing is checked or copied.

        ``columns`` are those that are decoded already.

        >>> import possnet as pn
        >>> rash = pn.Variable("rash", ("yes", "no"))
        >>> Dataset.unchecked((rash,), {"rash": np.array([[3], [2]], dtype=np.uint64)}, 2)
        Dataset(2 rows, 1 variable, 50 % of the cells imprecise)
        """
        self = object.__new__(cls)
        self._variables = {variable.name: variable for variable in variables}
        self._bitmaps = {name: words[name] for name in self._variables}
        self._unknown = {name: bits for name, bits in (unknown or {}).items() if name in self._variables and bits.any()}
        self._graded = {name: cells for name, cells in (graded or {}).items() if name in self._variables}
        self._rows, self._weights = rows, weights
        self._columns = {name: column for name, column in (columns or {}).items() if name in self._variables}
        self._source = None
        for array in (*self._bitmaps.values(), *self._unknown.values(), *(() if weights is None else (weights,))):
            array.flags.writeable = False
        for cells in self._graded.values():
            for numbers in cells:
                numbers.flags.writeable = False
        return self

    @classmethod
    @check_arguments
    @checks_itself("variables", "rows")
    def from_rows(
        cls, variables: Sequence[Variable], rows: Iterable[Sequence[Any]], weights: ArrayLike | None = None
    ) -> Dataset:
        """Data set of rows of Python cells: a state, a set of states, a mapping from states to degrees, or None.

        >>> import possnet as pn
        >>> rash = pn.Variable("rash", ("yes", "no"))
        >>> Dataset.from_rows((rash,), [("yes",), ({"yes", "no"},)], weights=[3, 1]).imprecise_share()
        0.25
        """
        listed = variables_of(variables)
        columns: list[list[Any]] = [[] for _ in listed]
        for number, row in enumerate(require_several(rows, "rows"), start=1):
            known = isinstance(row, list | tuple) or (isinstance(row, Iterable) and not isinstance(row, str | bytes))
            if known and not isinstance(row, list | tuple):
                row = require_several(row, f"row {number}:")  # noqa: PLW2901
            if not known or len(row) != len(listed):
                raise InputError(
                    f"row {number}: {describe_value(row)}; expected {len(listed)} cells ({listing(v.name for v in listed)})"
                )
            for column, cell in zip(columns, row, strict=True):
                column.append(cell)
        plain = [
            python_column(v.name, column) if v.bins is None else measured_cells(v.name, column, v)
            for v, column in zip(listed, columns, strict=True)
        ]
        return cls.from_columns(plain, variables=listed, weights=weights, owner="rows")

    @classmethod
    @check_arguments
    @checks_itself("unknown_words", "separator", "binnings")
    def from_table(
        cls,
        frame: object,
        variables: object | None = None,
        *,
        weights: str | None = None,
        separator: str | Mapping[str, str] | None = None,
        cells: CellReading | Mapping[str, CellReading] = "auto",
        unknown_words: Sequence[str] = (),
        certainty: Certainty | None = None,
        binnings: Mapping[str, Binning] | None = None,
    ) -> Dataset:
        """Data set of anything that speaks Arrow: pandas, polars, duckdb, pyarrow; or a mapping from names to cells.

        A cell is text, a category, a whole number or a truth value, a list or set of states, or null (unknown). A text that
        is not the name of a known state is read like a cell of a file: ``a|b``, ``{a, b}``, ``!a``, ``b..d`` and ``?`` are
        sets (see `possnet.cells.CellSyntax`); members of lists and sets are states as they stand. A mapping from states to
        degrees, ``{"high": 1, "mild": 0.4}``, is a cell with degrees: they are divided by the largest, and are 0 where none
        is given.

        Domains come from ``variables`` (variables, or something that has them, such as a network; other columns are left
        out), or else from the data: categories in their order, otherwise the states that occur, sorted as text.

        Parameters
        ----------
        weights
            Name of the column that holds row weights.
        separator
            What stands between the states of a text, one for all columns or one for each; ``|`` and ``;`` by default.
        cells
            How texts are read, for all columns or for each: ``auto``, ``plain`` (a text is a state), ``sets`` (commas
            separate too), ``range`` (two parts are the ends of a range) or ``degrees`` (``high:1|mild:.4``; by itself where
            ``variables`` are given).
        unknown_words
            Texts that mean unknown, besides ``?``, ``*`` and nothing.
        certainty
            Columns of certainties: ``{"label": ("sure", 7)}`` says that column ``sure`` tells from 0 to 7 how certain the
            cell of ``label`` is; states outside the cell then have degree 1 - certainty / 7. A name alone: from 0 to 1.
        binnings
            Columns that hold measurements, and how each becomes cells: name -> `possnet.Binning`. Edges that are not given
            are computed from the column. Columns of variables that remember their bins need none.

        Examples
        --------
        >>> Dataset.from_table({"rash": ["yes", {"yes", "no"}], "n": [3, 1]}, weights="n").variables
        (Variable('rash', ('no', 'yes')),)
        >>> data = Dataset.from_table({"rash": ["yes", "no|yes", "NA"]}, unknown_words=("NA",))
        >>> data
        Dataset(3 rows, 1 variable, 66.7 % of the cells imprecise, 33.3 % unknown)
        >>> Dataset.from_table({"rash": ["yes", "no|yes"]}, cells="plain").variables
        (Variable('rash', ('no|yes', 'yes')),)
        >>> import possnet as pn
        >>> binnings = {"temp": pn.Binning([37, 39], error=0.2)}
        >>> data = Dataset.from_table({"temp": [36.9, 38.2, 39.5]}, binnings=binnings)
        >>> [sorted(data.row(k)["temp"]) for k in range(3)]
        [['37..39', '<37'], ['37..39'], ['>=39']]
        """
        options = CellOptions(separator, cells, unknown_words)
        wanted = None if variables is None else variables_of(variables)
        numeric = {column for column, _ in read_certainty(certainty, "table").values()}
        numeric |= {weights} if weights else set()
        measured = [v for v in wanted or () if v.bins and options.column_syntax(v.name).reading != "degrees"]
        binned = {v.name for v in measured}
        readers: dict[str, Reader] = {v.name: partial(read_numbers, v, options) for v in measured}
        readers |= {name: number_reader(name) for name in numeric}
        asked = check_binnings(binnings, {v.name: v for v in wanted or ()})
        readers |= {name: partial(bin_values, name, binning, options) for name, binning in asked.items()}
        binned |= asked.keys()
        columns = columns_of_table(frame, None if wanted is None else {v.name for v in wanted} | numeric, readers)
        for name in asked:
            if name not in {column.name for column in columns}:
                raise InputError(f"table: no column {name!r} to bin{among(name, [column.name for column in columns])}")
        numbers = None
        if weights is not None:
            numbers = weights_of_column(columns, weights, "table")
            columns = [column for column in columns if column.name != weights]
        options.require_columns([column.name for column in columns], "table")
        recalled = {v.name: options.recall_syntax(v) for v in wanted or ()}
        written = [
            column
            if column.name in binned | numeric
            else WrittenColumn.parse_column(
                column, options.column_syntax(column.name), recalled=recalled.get(column.name)
            )
            if isinstance(column, TextColumn | GradedColumn)
            else column
            for column in columns
        ]
        written = discount_columns(written, certainty, "table")
        data = cls.from_columns(written, variables=wanted, weights=numbers, owner="table")
        data._variables = {v.name: options.remember_writing(v) for v in data.variables}
        return data

    @classmethod
    @check_arguments
    def from_columns(
        cls,
        columns: Iterable[RawColumn],
        *,
        variables: Sequence[Variable] | None = None,
        weights: ArrayLike | None = None,
        owner: str = "data",
    ) -> Dataset:
        """Data set of columns (see `possnet.arrow`); cells that do not fit are reported, ten at a time.

        >>> column = TextColumn("rash", np.array([0, 1]), [("yes",), ("no", "yes")])
        >>> Dataset.from_columns([column]).row(0)
        {'rash': frozenset({'yes'})}
        """
        if variables is None:
            columns = list(columns)
            variables = infer_variables(((column.name, column.domain_hints()) for column in columns), owner)
        wanted = {variable.name: variable for variable in variables}
        report = ProblemReport(owner)
        words, unknown, graded, sizes = {}, {}, {}, {}
        for column in columns:
            if column.name in wanted:
                own = getattr(column, "variable", None)
                if own is not None:
                    wanted[column.name] = join_bins(wanted[column.name], own, owner)
                words[column.name], absent, degrees = read_cells(column, wanted[column.name], report)
                sizes[column.name] = column.rows
                if absent is not None:
                    unknown[column.name] = absent
                if degrees is not None:
                    graded[column.name] = degrees
        require_columns(words, variables, owner)
        if len(set(sizes.values())) > 1:
            raise InputError(
                f"{owner}: columns of {listing(sorted(set(sizes.values())))} rows; expected columns of one length"
            )
        report.raise_if_any()
        rows = next(iter(sizes.values()), 0)
        checked = None if weights is None else checked_weights(weights, rows, owner)
        return cls.unchecked(wanted.values(), words, rows, unknown=unknown, weights=checked, graded=graded)

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The variables, one column each."""
        return tuple(self._variables.values())

    @property
    def weights(self) -> Weights | None:
        """Read-only weight of every row: int64 if all are whole, else float64; None when every row counts once."""
        return self._weights

    def __len__(self) -> int:
        return self._rows

    def variable(self, name: str) -> Variable:
        """Variable of a name.

        >>> Dataset.from_table({"rash": ["yes", "no"]}).variable("rash")
        Variable('rash', ('no', 'yes'))
        """
        try:
            return self._variables[name]
        except (KeyError, TypeError):
            raise InputError(f"data: no variable {describe_value(name)}{among(name, self._variables)}") from None

    def bitmaps(self, name: str) -> Words:
        """Read-only bitmaps of a variable, shape (states, words): bit r of row k says that cell r contains state k.

        >>> Dataset.from_table({"rash": ["yes", "no", {"yes", "no"}]}).bitmaps("rash")
        array([[6], [5]], dtype=uint64)
        """
        return self._bitmaps[self.variable(name).name]

    def missing(self, name: str) -> Bools:
        """Which cells of a variable were given as unknown.

        >>> Dataset.from_table({"rash": ["yes", None, {"yes", "no"}]}, ).missing("rash")
        array([False,  True, False])
        """
        words = self._unknown.get(self.variable(name).name)
        return np.zeros(self._rows, dtype=np.bool_) if words is None else bitmaps.unpack(words, self._rows)

    def column(self, name: str) -> CodedColumn:
        """The distinct cells of a variable that occur, and for every row the number of its cell.

        Decoded from the bitmaps when first asked for, and kept, for this data set and for what `select` makes of it.

        >>> column = Dataset.from_table({"rash": ["yes", None, {"yes", "no"}, "yes"]}).column("rash")
        >>> column.codes, column.cells
        (array([0, 2, 1, 0], dtype=uint8), [('yes',), ('no', 'yes'), None])
        """
        variable = self.variable(name)
        if name not in self._columns:
            if self._source is not None and name in self._source[0]:
                column = self._source[0][name].take_rows(self._source[1])
            else:
                absent, graded = self._unknown.get(name), self._graded.get(name)
                column = decode_column(variable, self._bitmaps[name], self._rows, absent, graded)
            self._columns[name] = column
        return self._columns[name]

    def is_coded(self, name: str) -> bool:
        """Whether the column of a variable was asked for already.

        >>> Dataset.from_table({"rash": ["yes", "no"]}).is_coded("rash")
        False
        """
        return self.variable(name).name in self._columns

    @property
    def has_degrees(self) -> bool:
        """Whether any cell carries degrees between 0 and 1."""
        return bool(self._graded)

    def graded(self, name: str) -> Bools:
        """Which cells of a variable carry degrees between 0 and 1.

        >>> Dataset.from_table({"rash": ["yes", {"yes": 1, "no": 0.4}, {"yes": 1, "no": 0}]}).graded("rash")
        array([False,  True, False])
        """
        marks = np.zeros(self._rows, dtype=np.bool_)
        if self.variable(name).name in self._graded:
            marks[self._graded[name].rows] = True
        return marks

    def graded_cells(self, name: str) -> GradedCells | None:
        """The graded cells of a variable as arrays, or None if there are none (see `possnet.kernels.graded_cells`).

        >>> Dataset.from_table({"rash": ["yes", {"yes": 1, "no": 0.4}]}).graded_cells("rash").degrees
        array([[0.4, 1. ]])
        """
        return self._graded.get(self.variable(name).name)

    def degrees(self, number: int) -> dict[str, dict[str, float]]:
        """One row as degrees: name -> state -> degree, states of degree 0 left out. `Inference.query` takes it as evidence.

        >>> Dataset.from_table({"rash": ["yes", {"yes": 1, "no": 0.4}]}).degrees(1)
        {'rash': {'no': 0.4, 'yes': 1.0}}
        """
        row = self.row(number)
        degrees = {}
        for name, states in row.items():
            degrees[name] = {state: 1.0 for state in self._variables[name].states if state in states}
            graded = self._graded.get(name)
            place = 0 if graded is None else int(np.searchsorted(graded.rows, number % self._rows))
            if graded is not None and place < len(graded.rows) and graded.rows[place] == number % self._rows:
                of_states = zip(self._variables[name].states, graded.degrees[graded.codes[place]].tolist(), strict=True)
                degrees[name] = {state: degree for state, degree in of_states if degree > 0.0}
        return degrees

    def alpha_cuts(self) -> Dataset:
        """Rows of plain sets that stand for these: every row with graded cells as its alpha-cuts, one level for all cells.

        A row whose degrees are d_1 < ... < d_n = 1 becomes n rows: at level d_k every graded cell is {x : π(x) >= d_k},
        and the row has weight d_k - d_(k-1), times the weight it had. Cuts follow each other, the highest level first;
        other rows stay as they are. Weights are floats if there is a graded cell. `cut_levels` says where every row comes
        from.

        >>> cells = {"fever": ["none", {"high": 1, "mild": 0.4}], "rash": ["no", {"yes": 1, "no": 0.7}]}
        >>> cuts = Dataset.from_table(cells).alpha_cuts()
        >>> [sorted(cuts.row(k)["fever"]) for k in range(4)], [sorted(cuts.row(k)["rash"]) for k in range(4)], cuts.weights
        ([['none'], ['high'], ['high'], ['high', 'mild']], [['no'], ['yes'], ['no', 'yes'], ['no', 'yes']],
         array([1. , 0.3, 0.3, 0.4]))
        """
        if not self._graded:
            return self
        cuts = self._cut_rows()
        weights = cuts.shares if self._weights is None else cuts.shares * self._weights[cuts.origins]
        part = self._take_rows(cuts.origins, weights)
        words = dict(part._bitmaps)
        for name, cells in part._graded.items():
            inside = bitmaps.unpack(part._bitmaps[name], len(part))
            inside[:, cells.rows] = graded_cells.cut_cells(cells.degrees, cells.codes, cuts.levels[cells.rows]).T
            words[name] = bitmaps.pack(inside)
        return Dataset.unchecked(self.variables, words, len(part), unknown=part._unknown, weights=weights)

    def cut_levels(self) -> tuple[Ints, Floats]:
        """For every row of `alpha_cuts` the number of the row that it comes from, and its level.

        >>> Dataset.from_table({"rash": ["yes", {"yes": 1, "no": 0.4}]}).cut_levels()
        (array([0, 1, 1]), array([1. , 1. , 0.4]))
        """
        cuts = self._cut_rows()
        return cuts.origins, cuts.levels

    def _cut_rows(self) -> CutRows:
        listed = list(self._graded.values())
        codes = [graded_cells.spread_codes(cells, self._rows) for cells in listed]
        return graded_cells.cut_rows(codes, [cells.degrees for cells in listed], self._rows)

    def row(self, number: int) -> dict[str, frozenset[str]]:
        """One row: name -> set of states; an unknown cell shows as the whole domain (see `missing`).

        A cell with degrees shows its support, the states of degree above 0 (see `degrees`).

        >>> Dataset.from_table({"rash": ["yes", {"yes", "no"}]}).row(-2)
        {'rash': frozenset({'yes'})}
        """
        given: object = number
        if not isinstance(given, int | np.integer) or not -self._rows <= number < self._rows:
            raise InputError(
                f"data: row {describe_value(number)} of {self._rows}; "
                f"expected a number from {-self._rows} to {self._rows - 1}"
            )
        word, bit = divmod(number % self._rows, 64)
        row = {}
        for name, words in self._bitmaps.items():
            inside = words[:, word] >> np.uint64(bit) & np.uint64(1)
            row[name] = frozenset(compress(self._variables[name].states, inside))
        return row

    def __getitem__(self, rows: slice | NDArray[Any] | Sequence[int]) -> Dataset:
        """Some of the rows: a slice, row numbers, or an array of booleans."""
        if isinstance(rows, slice):
            try:
                start, stop, step = rows.indices(self._rows)
            except (TypeError, ValueError):
                raise InputError(f"data: rows {describe_value(rows)}; expected a slice of whole numbers") from None
            if step == 1:
                return self._take_rows(
                    slice(start, max(stop, start)), None if self._weights is None else self._weights[start:stop].copy()
                )
            wanted = np.arange(start, stop, step)
        else:
            wanted = _row_numbers(rows, self._rows)
        return self._take_rows(wanted, None if self._weights is None else self._weights[wanted])

    @check_arguments
    def select(self, names: Iterable[str]) -> Dataset:
        """Some of the variables, in the order named.

        >>> Dataset.from_table({"a": ["x"], "b": ["y"], "c": ["z"]}).select(["c", "a"]).row(0)
        {'c': frozenset({'z'}), 'a': frozenset({'x'})}
        """
        chosen = variables_of([self.variable(name) for name in names])
        part = self._with_bitmaps(chosen, self._bitmaps, self._unknown, self._graded, self._weights)
        part._columns, part._source = self._columns, self._source
        return part

    @check_arguments
    def with_weights(self, weights: ArrayLike | None) -> Dataset:
        """The same rows with other weights; coded columns are shared.

        >>> Dataset.from_table({"a": ["x", "y"]}).with_weights([3, 0]).total
        3
        """
        checked = None if weights is None else checked_weights(weights, self._rows, "data")
        data = self._with_bitmaps(self.variables, self._bitmaps, self._unknown, self._graded, checked)
        data._columns, data._source = self._columns, self._source
        return data

    @check_arguments
    def with_columns(self, columns: Iterable[CodedColumn]) -> Dataset:
        """The same rows with other cells in some columns; columns of new variables come last.

        >>> data = Dataset.from_table({"a": ["x", "y"], "b": ["u", "v"]})
        >>> data.with_columns([data[:1].column("a").take_rows([0, 0])]).row(1)
        {'a': frozenset({'x'}), 'b': frozenset({'v'})}
        >>> data.select(["a"]).with_columns([data.column("b")]) == data
        True
        """
        changed = {column.variable.name: column for column in columns}
        words = {name: bitmaps.encode_cells(column.codes, column.cell_sets) for name, column in changed.items()}
        unknown = {name: absent for name, absent in self._unknown.items() if name not in changed}
        for name, column in changed.items():
            if column.unknown is not None:
                unknown[name] = bitmaps.encode_cells(column.codes, column.unknown_cells[:, np.newaxis])[0]
        variables = (self._variables | {name: column.variable for name, column in changed.items()}).values()
        graded = {name: cells for name, cells in self._graded.items() if name not in changed}
        for name, column in changed.items():
            cells = column.graded_cells()
            graded |= {} if cells is None else {name: cells}
        data = self._with_bitmaps(variables, self._bitmaps | words, unknown, graded, self._weights)
        data._columns = self._columns | changed
        return data

    @check_arguments
    def with_domains(self, variables: Iterable[Variable], owner: str = "data", first_row: int = 0) -> Dataset:
        """The same rows over given variables, such as a network's, where the names of columns and states are the same.

        A column may have its states in another order, or lack some, as the column of a small file lacks a rare state; an
        unknown cell is the whole of the new domain, and any other cell keeps the states that it names. A cell with a
        state that the variable lacks is refused, by row and column. Other columns are left as they are.

        >>> import possnet as pn
        >>> data = Dataset.from_table({"fever": ["mild", None]})
        >>> fever = pn.Variable("fever", ("none", "mild", "high"))
        >>> [sorted(data.with_domains([fever]).row(k)["fever"]) for k in (0, 1)]
        [['mild'], ['high', 'mild', 'none']]
        """
        wanted = {variable.name: variable for variable in variables}
        domains = {name: wanted.get(name, own) for name, own in self._variables.items()}
        for name, variable in domains.items():
            require_same_bins(self._variables[name], variable, owner)
        changed = {name: v for name, v in domains.items() if v != self._variables[name]}
        if not changed:
            return self
        words, strangers, graded = {}, [], dict(self._graded)
        for name, variable in changed.items():
            own = self._variables[name]
            require_order(own, variable, owner)
            if own.states != variable.states:
                column = self._bitmaps[name], self._unknown.get(name)
                strangers += find_strangers(*column, self._rows, own, variable)
                words[name] = align_words(*column, own, variable)
                if name in graded:
                    graded[name] = align_degrees(graded[name], own, variable)
        if strangers:
            lines = [f"{owner}, row {first_row + row + 1}, {finding}" for row, finding in sorted(strangers)[:10]]
            raise InputError(*keep_findings(lines, len(strangers), "states"))
        return self._with_bitmaps(domains.values(), self._bitmaps | words, self._unknown, graded, self._weights)

    @check_arguments
    def split(self, share: float, *, rng: np.random.Generator | int | None = None) -> tuple[Dataset, Dataset]:
        """Two parts, the first with the given share of the rows; drawn with ``rng``, or cut in order without it.

        >>> train, test = Dataset.from_table({"a": list("xyxyxyxyxy")}).split(0.8, rng=1)
        >>> len(train), len(test)
        (8, 2)
        """
        if not 0.0 <= share <= 1.0:
            raise InputError(f"split: share {share!r}; expected a number from 0 to 1")
        first = round(self._rows * share)
        if rng is None:
            return self[:first], self[first:]
        generator = rng if isinstance(rng, np.random.Generator) else np.random.default_rng(seed_of(rng))
        order = generator.permutation(self._rows)
        return self[np.sort(order[:first])], self[np.sort(order[first:])]

    @classmethod
    @check_arguments
    @checks_itself("parts")
    def concatenate(cls, parts: Iterable[Dataset]) -> Dataset:
        """Rows of several data sets over the same variables, one after the other.

        Variables and states are matched by name; a domain may lack states that another one has. Columns stand in
        the order of the first data set, and states in that of the largest domain.

        >>> data = Dataset.from_table({"a": ["x", "y"]})
        >>> len(Dataset.concatenate([data, data[:1]]))
        3
        """
        listed = require_several(parts, "concatenate: data sets")
        if not listed:
            raise InputError("concatenate: no data sets; expected at least one")
        for part in listed:
            if not isinstance(part, Dataset):
                raise InputError(f"concatenate: {describe_value(part)} is no data set; expected data sets")
        first = listed[0]
        if any(part._variables != first._variables for part in listed[1:]):
            domains = widest_variables([part.variables for part in listed], "concatenate")
            listed = [part.with_domains(domains, "concatenate") for part in listed]
            first = listed[0]
        variables = dict(first._variables)
        for part in listed[1:]:
            for name, variable in part._variables.items():
                variables[name] = join_bins(variables[name], variable, "concatenate")
        rows = sum(len(part) for part in listed)
        words = {name: bitmaps.concatenate([(p._bitmaps[name], len(p)) for p in listed]) for name in first._variables}
        unknown = {
            name: bitmaps.concatenate([(p._unknown.get(name, bitmaps.zeros(len(p))), len(p)) for p in listed])
            for name in first._variables
            if any(name in part._unknown for part in listed)
        }
        starts = np.cumsum([0, *map(len, listed)]).tolist()
        graded = {
            name: cells
            for name in first._variables
            if any(name in part._graded for part in listed)
            and (
                cells := graded_cells.concatenate_graded(
                    [(p._graded.get(name), n) for p, n in zip(listed, starts[:-1], strict=True)]
                )
            )
        }
        weights = None
        if any(part._weights is not None for part in listed):
            weights = np.concatenate(
                [np.ones(len(p), dtype=np.int64) if p._weights is None else p._weights for p in listed]
            )
            if sum(part.total for part in listed) >= 2**62:
                raise InputError("concatenate: weights add up to more than 2**62; expected a smaller total")
        return cls.unchecked(variables.values(), words, rows, unknown=unknown, weights=weights, graded=graded)

    def distinct(self) -> Dataset:
        """Every distinct row once, in order of first appearance, weighted by how often it stands.

        Unknown cells and cells that list every state are different, and so are cells of different degrees.

        >>> Dataset.from_table({"a": ["x", "y", "x"]}).distinct().weights
        array([2, 1])
        """
        groups = self.group_rows()
        order = np.argsort(groups.first)
        return self._take_rows(groups.first[order], groups.counts(self._weights)[order])

    def group_rows(self) -> RowGroups:
        """Groups of equal rows; unknown cells and cells that list every state are different.

        >>> Dataset.from_table({"a": ["x", "y", "x"]}).group_rows().inverse
        array([0, 1, 0])
        """
        columns = [self.column(name) for name in self._variables]
        return group_rows([column.codes for column in columns], [len(column) for column in columns], self._rows)

    @property
    def total(self) -> int | float:
        """Number of rows, each counted with its weight; a float if weights have fractions."""
        return self._rows if self._weights is None else self._weights.sum().item()

    @check_arguments
    def imprecise_share(self, name: str | None = None) -> float:
        """Share of cells with two states or more, unknown ones included; of one variable or of all.

        >>> Dataset.from_table({"a": ["x", {"x", "y"}, None, "y"]}).imprecise_share()
        0.5
        """
        return self._cell_share(name, lambda n: self._weigh_rows(bitmaps.mark_imprecise(self._bitmaps[n])))

    @check_arguments
    def unknown_share(self, name: str | None = None) -> float:
        """Share of cells that were given as unknown, of one variable or of all.

        >>> Dataset.from_table({"a": ["x", {"x", "y"}, None, "y"]}).unknown_share("a")
        0.25
        """
        return self._cell_share(name, lambda n: self._weigh_rows(self._unknown[n]) if n in self._unknown else 0)

    @check_arguments
    def graded_share(self, name: str | None = None) -> float:
        """Share of cells that carry degrees between 0 and 1, of one variable or of all; they are imprecise ones.

        >>> Dataset.from_table({"a": ["x", {"x": 1, "y": 0.4}, None, "y"]}).graded_share("a")
        0.25
        """
        return self._cell_share(
            name, lambda n: self._weigh_rows(bitmaps.pack(self.graded(n))) if n in self._graded else 0
        )

    @check_arguments
    def mean_cell_size(self, name: str | None = None) -> float:
        """Mean number of states in a cell, of one variable or of all; an unknown cell has the whole domain.

        >>> Dataset.from_table({"a": ["x", {"x", "y"}, None, "y"]}).mean_cell_size()
        1.5
        """
        return self._cell_share(name, lambda n: sum(self._weigh_rows(words) for words in self._bitmaps[n]))

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Arrow capsule of the cells, for pandas, polars and others; weights are not part of it."""
        for name in self._variables:
            if "\0" in name:
                raise InputError(
                    f"data: {name!r} holds a NUL character, which Arrow's interface cannot carry; rename it"
                )
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    @check_arguments
    def to_arrow(self, *, lists: bool = False) -> Any:
        """Arrow table of the cells: categories where every cell is a single state, else lists of strings; null is unknown.

        A column that has cells with degrees is a map from states to degrees, or with ``lists`` a list of the supports.

        >>> Dataset.from_table({"a": ["x", None, {"x", "y"}]}).to_arrow().column("a").to_pylist()
        [['x'], None, ['x', 'y']]
        """
        columns = map(self.column, self._variables)
        return table_of_columns(
            (
                TextColumn(c.variable.name, c.codes, c.cells, c.variable.states, c.variable.ordered)
                if lists or c.grades is None
                else GradedColumn(TextColumn(c.variable.name, c.codes, c.cells), dict(enumerate(c.cell_degrees)))
                for c in columns
            ),
            as_lists=lists,
        )

    def __eq__(self, other: object) -> bool:
        """Same variables in the same order, same cells, same unknown marks, same weights."""
        if not isinstance(other, Dataset):
            return NotImplemented
        return (
            self.variables == other.variables
            and self._rows == other._rows
            and _same_bitmaps(self._bitmaps, other._bitmaps)
            and _same_bitmaps(self._unknown, other._unknown)
            and self._graded.keys() == other._graded.keys()
            and all(
                np.array_equal(a, b)
                for n, own in self._graded.items()
                for a, b in zip(own, other._graded[n], strict=True)
            )
            and (self._weights is None) == (other._weights is None)
            and (self._weights is None or np.array_equal(self._weights, other._weights))  # type: ignore[arg-type]
        )

    def __hash__(self) -> int:
        return hash((self.variables, self._rows))

    def __reduce__(self) -> tuple[object, ...]:
        rebuild = partial(Dataset.unchecked, unknown=self._unknown, weights=self._weights, graded=self._graded)
        return rebuild, (self.variables, self._bitmaps, self._rows)

    def _repr_html_(self) -> str:
        """The first rows as a table, for notebooks, and which sets every variable has how often, folded."""
        from possnet.dataset.dataset_display import display_dataset

        return display_dataset(self)

    def __repr__(self) -> str:
        variables = len(self._variables)
        text = f"{self._rows} row{'s' * (self._rows != 1)}, {variables} variable{'s' * (variables != 1)}"
        text += f", {100 * self.imprecise_share():.3g} % of the cells imprecise"
        if self._unknown:
            text += f", {100 * self.unknown_share():.3g} % unknown"
        if self._graded:
            text += f", {100 * self.graded_share():.3g} % with degrees"
        return f"Dataset({text}{', weighted' if self._weights is not None else ''})"

    def _with_bitmaps(
        self,
        variables: Iterable[Variable],
        words: dict[str, Words],
        unknown: dict[str, Words],
        graded: dict[str, GradedCells],
        weights: Weights | None,
    ) -> Dataset:
        return Dataset.unchecked(variables, words, self._rows, unknown=unknown, weights=weights, graded=graded)

    def _take_rows(self, rows: slice | Ints, weights: Weights | None) -> Dataset:
        """Some of the rows, in the order of their numbers; columns that are coded need not be decoded again."""

        def take(words: Words) -> Words:
            if isinstance(rows, slice):
                return bitmaps.slice_rows(words, rows.start, rows.stop)
            return bitmaps.take_rows(words, self._rows, rows)

        part = Dataset.unchecked(
            self.variables,
            {name: take(words) for name, words in self._bitmaps.items()},
            rows.stop - rows.start if isinstance(rows, slice) else len(rows),
            unknown={name: take(words) for name, words in self._unknown.items()},
            weights=weights,
            graded={
                name: taken
                for name, cells in self._graded.items()
                if (taken := graded_cells.take_graded(cells, rows, self._rows)) is not None
            },
        )
        part._source = (dict(self._columns), rows) if self._columns else None
        return part

    def _weigh_rows(self, words: Words) -> int | float:
        """Total weight of the rows of a bitmap."""
        if self._weights is None:
            return int(bitmaps.count_bits(words))
        return self._weights[bitmaps.unpack(words, self._rows)].sum().item()  # type: ignore[no-any-return]

    def _cell_share(self, name: str | None, weigh: Any) -> float:
        names = self._variables if name is None else (self.variable(name).name,)
        cells = self.total * len(names)
        return sum(weigh(n) for n in names) / cells if cells else 0.0


def _row_numbers(wanted: NDArray[Any] | Sequence[int], rows: int) -> Ints:
    try:
        chosen = np.asarray(wanted)
    except (TypeError, ValueError, OverflowError):
        chosen = np.array(None)
    if chosen.size == 0:
        return np.zeros(0, dtype=np.int64)
    if chosen.dtype == np.bool_ and chosen.shape == (rows,):
        return np.flatnonzero(chosen)
    if chosen.ndim != 1 or not np.issubdtype(chosen.dtype, np.integer):
        shown = describe_value(wanted)
        raise InputError(f"data: rows {shown}; expected a slice, row numbers, or one truth value for each row")
    if chosen.min() < -rows or chosen.max() >= rows:
        raise InputError(
            f"data: row {chosen.min() if chosen.min() < -rows else chosen.max()} of {rows}; expected row numbers"
        )
    return chosen.astype(np.int64) % rows


def _same_bitmaps(left: dict[str, Words], right: dict[str, Words]) -> bool:
    return left.keys() == right.keys() and all(np.array_equal(left[name], right[name]) for name in left)

"""The completion of some rows: degrees of the states of their ambiguous cells.

For every ambiguous or unknown cell of a row r the degrees Π(x | r) of its states given the whole row, its own cell
included: states outside the cell have degree 0, and the most possible ones degree 1. Where several states have degree 1
they are *tied*: the network and the row cannot tell them apart, and saying so is part of the answer.
"""

from __future__ import annotations

from dataclasses import astuple, dataclass, field
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from possnet.arrow import table_of_arrays
from possnet.dataset import code_column
from possnet.doors import check_arguments
from possnet.errors import InputError, among, listing, require_number
from possnet.possibility import Possibility, necessities

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from possnet.aliases import Bools, Floats, Ints
    from possnet.dataset import CodedColumn, Dataset


SURE_NECESSITY: Final = 0.5  # the next state is at most half as possible
_ROUNDING = 1.0 - 1e-12  # a degree that misses a threshold by rounding alone reaches it


def check_threshold(threshold: float) -> None:
    """Raise an `InputError` for anything but a degree above 0."""
    expected = "a degree above 0, up to 1 (the most possible states only)"
    require_number(threshold, "threshold", expected, float(np.nextafter(0.0, 1.0)), 1.0)


class CellDegrees(NamedTuple):
    """Degrees of the ambiguous cells of a variable in possible rows; equal rows have the same, once.

    ``rows`` are the positions of the cells, ``numbers`` says which degrees of ``table`` (distinct degrees, states) each
    has, and ``cells`` has the code of the cell behind each of these in the data's column.
    """

    rows: Ints
    numbers: Ints
    table: Floats
    cells: NDArray[np.unsignedinteger]


@dataclass(frozen=True, slots=True)
class CellTally:
    """How many cells were ambiguous, and how many were resolved, narrowed, unchanged or tied; tallies add.

    ``resolved``: one state is left. ``narrowed``: several, but fewer than before. ``unchanged``: all of them. ``tied``:
    several states are most possible. What is ambiguous and none of the first three stands in an impossible row.
    ``certainty`` is the sum of the necessities of the single states, and ``sure`` counts those of at least
    `SURE_NECESSITY`: a state may be the only one of degree 1 and yet hardly more possible than the next.

    >>> CellTally(ambiguous=3, resolved=1, unchanged=2, tied=2) + CellTally(ambiguous=1, narrowed=1, tied=1)
    CellTally(ambiguous=4, resolved=1, narrowed=1, unchanged=2, tied=3, certainty=0.0, sure=0)
    """

    ambiguous: int = 0
    resolved: int = 0
    narrowed: int = 0
    unchanged: int = 0
    tied: int = 0
    certainty: float = 0.0
    sure: int = 0

    def __add__(self, other: CellTally) -> CellTally:
        return CellTally(*(a + b for a, b in zip(astuple(self), astuple(other), strict=True)))

    @property
    def in_impossible_rows(self) -> int:
        """Ambiguous cells in impossible rows, left as they were."""
        return self.ambiguous - self.resolved - self.narrowed - self.unchanged

    @property
    def mean_necessity(self) -> float | None:
        """Mean necessity of the single states that cells were resolved to; None without any."""
        return self.certainty / self.resolved if self.resolved else None


@dataclass(frozen=True, slots=True)
class CompletionSummary:
    """How many cells of every variable were resolved, and which rows are impossible; summaries of batches add.

    ``impossible_rows`` are counted from 0; ``lacking`` are the network's variables without a column, which were not asked
    for.

    >>> import possnet as pn
    >>> clinic = pn.load_example("clinic")
    >>> data = pn.Dataset.from_rows([clinic.variable("measles"), clinic.variable("rash")], [(None, "spots"), ("no", None)])
    >>> summary = pn.complete(clinic, data).summary()
    >>> summary.rows, summary.cells
    (2, CellTally(ambiguous=2, resolved=2, narrowed=0, unchanged=0, tied=0, certainty=..., sure=2))
    """

    rows: int = 0
    impossible_rows: tuple[int, ...] = ()
    variables: Mapping[str, CellTally] = field(default_factory=dict)
    lacking: tuple[str, ...] = ()

    def __add__(self, other: CompletionSummary) -> CompletionSummary:
        given: object = other
        if not isinstance(given, CompletionSummary):
            return NotImplemented
        names = dict.fromkeys((*self.variables, *other.variables))
        none = CellTally()
        return CompletionSummary(
            self.rows + other.rows,
            (*self.impossible_rows, *other.impossible_rows),
            {name: self.variables.get(name, none) + other.variables.get(name, none) for name in names},
            tuple(dict.fromkeys((*self.lacking, *other.lacking))),
        )

    @property
    def n_impossible(self) -> int:
        """Number of rows that the network calls impossible."""
        return len(self.impossible_rows)

    @property
    def cells(self) -> CellTally:
        """All variables together."""
        return sum(self.variables.values(), CellTally())

    @check_arguments
    def describe_unasked(self, option: str = "targets=") -> str:
        """A sentence if nothing was asked, or not all that the network could say; else nothing.

        Parameters
        ----------
        option
            What asks for a variable without a column, put before its name.

        Examples
        --------
        >>> CompletionSummary(rows=3, lacking=("income",)).describe_unasked("--target ")
        'nothing to complete: every cell is a single state; columns that the network has and the data lack: income; ask for
        them with --target income'
        """
        parts = []
        if not self.cells.ambiguous:
            parts.append(f"nothing to complete: {'every cell is a single state' if self.rows else 'there are no rows'}")
        if self.lacking:
            shown = ",".join(self.lacking) if len(self.lacking) <= 8 else self.lacking[0]
            parts.append(f"columns that the network has and the data lack: {listing(self.lacking)}")
            parts.append(f"ask for them with {option}{shown}")
        return "; ".join(parts)


@dataclass(frozen=True, slots=True, eq=False)
class Completion:
    """Degrees of the states of every ambiguous cell of some rows, and the cells and tables that follow from them.

    Made by `possnet.complete`. ``data`` are the rows as they were given; ``impossible`` the positions of the rows that the
    network calls impossible, which stay as they were; ``first_row`` is the number of the first row within a stream.
    ``degrees`` maps a variable to the degrees of its ambiguous cells, and ``ambiguous`` to how many there are, those in
    impossible rows included. ``lacking`` are the network's variables without a column: ``complete(..., targets=...)``
    predicts them.

    >>> import possnet as pn
    >>> asia = pn.load_example("asia")
    >>> data = pn.Dataset.from_rows([asia.variable("smoke"), asia.variable("bronc")], [(None, "no"), (None, None)])
    >>> completion = pn.complete(asia, data)
    >>> completion
    Completion(2 rows, 1 of 3 ambiguous cells resolved (mean necessity 0.6), 2 tied)
    >>> completion.resolved().row(0)["smoke"], completion.of(0, "smoke")
    (frozenset({'no'}), Possibility(smoke: yes 0.4, no 1))
    """

    data: Dataset
    degrees: Mapping[str, CellDegrees]
    impossible: Ints
    ambiguous: Mapping[str, int]
    first_row: int = 0
    lacking: tuple[str, ...] = ()

    @check_arguments
    def of(self, row: int, name: str) -> Possibility:
        """Degrees of the states of one ambiguous cell given its whole row, Π(x | row).

        >>> import possnet as pn
        >>> asia = pn.load_example("asia")
        >>> data = pn.Dataset.from_rows([asia.variable("bronc"), asia.variable("dysp")], [(None, "yes")])
        >>> pn.complete(asia, data).of(0, "bronc")
        Possibility(bronc: yes 1, no 0.1)
        """
        variable = self.data.variable(name)
        if name not in self.degrees:
            raise InputError(f"of: {name!r} has no ambiguous cell{among(name, self.degrees)}")
        rows, numbers, table, _ = self.degrees[name]
        place = int(np.searchsorted(rows, row))
        if place == len(rows) or rows[place] != row:
            what = "impossible in this network" if row in self.impossible else "precise there"
            raise InputError(f"of: row {row} is {what}; expected a row whose cell of {name!r} was ambiguous")
        return Possibility.unchecked((variable,), table[numbers[place]])

    def resolved(self) -> Dataset:
        """The rows with every ambiguous cell cut down to its most possible states: one, or those that tie.

        >>> import possnet as pn
        >>> asia = pn.load_example("asia")
        >>> data = pn.Dataset.from_rows([asia.variable("smoke"), asia.variable("bronc")], [(None, "no"), (None, None)])
        >>> resolved = pn.complete(asia, data).resolved()
        >>> resolved.row(0)["smoke"], sorted(resolved.row(1)["smoke"])
        (frozenset({'no'}), ['no', 'yes'])
        """
        return self.narrowed(1.0)

    @check_arguments
    def narrowed(self, threshold: float = 0.5) -> Dataset:
        """The rows with every ambiguous cell cut down to {x : Π(x | row) >= threshold}.

        A cell that was unknown and from which nothing is cut stays unknown.

        >>> import possnet as pn
        >>> clinic = pn.load_example("clinic")
        >>> data = pn.Dataset.from_rows([clinic.variable("measles"), clinic.variable("rash")], [("yes", None)])
        >>> completion = pn.complete(clinic, data)
        >>> [sorted(completion.narrowed(level).row(0)["rash"]) for level in (0.1, 0.5)]
        [['none', 'spots', 'widespread'], ['spots', 'widespread']]
        """
        check_threshold(threshold)
        changed = [name for name, degrees in self.degrees.items() if len(degrees.rows)]
        return self.data.with_columns(self._narrow_column(name, threshold) for name in changed)

    def given_cells(self, name: str) -> Bools:
        """Rows in which a cell says one state, which stands: it was neither ambiguous nor hidden.

        >>> import possnet as pn
        >>> asia = pn.load_example("asia")
        >>> data = pn.Dataset.from_rows([asia.variable("smoke"), asia.variable("bronc")], [(None, "no"), ("yes", "no")])
        >>> pn.complete(asia, data).given_cells("smoke")
        array([False,  True])
        """
        column = self.data.column(name)
        given: Bools = ((column.cell_sizes == 1) & ~column.unknown_cells)[column.codes]
        if name in self.degrees:
            given[self.degrees[name].rows] = False
        return given

    def _narrow_column(self, name: str, threshold: float) -> CodedColumn:
        column, (rows, numbers, table, before) = self.data.column(name), self.degrees[name]
        kept = table >= threshold * _ROUNDING
        codes = column.codes.astype(np.int64)
        codes[rows] = len(column) + numbers  # cells of the column, then what is kept of those that were ambiguous
        octets = np.vstack([column.octets, np.packbits(kept, axis=1, bitorder="little")])
        still_unknown = column.unknown_cells[before] & kept.all(axis=1) & (len(column.variable) > 1)
        unknown = np.concatenate([column.unknown_cells, still_unknown])
        grades = np.concatenate([column.graded_numbers(), np.full(len(kept), -1)])  # of cells in impossible rows
        return code_column(column.variable, codes, octets, unknown, grades=grades, table=column.grades)

    @check_arguments
    def summary(self, threshold: float = 1.0) -> CompletionSummary:
        """How many ambiguous cells were resolved or narrowed, with sets cut at a threshold.

        >>> import possnet as pn
        >>> asia = pn.load_example("asia")
        >>> data = pn.Dataset.from_rows([asia.variable("smoke"), asia.variable("bronc")], [(None, "no"), (None, None)])
        >>> pn.complete(asia, data).summary().variables["smoke"]
        CellTally(ambiguous=2, resolved=1, narrowed=0, unchanged=1, tied=1, certainty=0.6, sure=1)
        """
        check_threshold(threshold)
        tallies = {}
        for name, (_, numbers, table, before) in self.degrees.items():
            n_cells = np.bincount(numbers, minlength=len(table))
            left = (table >= threshold * _ROUNDING).sum(axis=1)
            resolved, changed = left == 1, left < self.data.column(name).cell_sizes[before]
            tied = (table == 1.0).sum(axis=1) > 1
            certainty = necessities(table[resolved]).max(axis=1)
            tallies[name] = CellTally(
                ambiguous=self.ambiguous[name],
                resolved=int(n_cells[resolved].sum()),
                narrowed=int(n_cells[changed & ~resolved].sum()),
                unchanged=int(n_cells[~changed & ~resolved].sum()),
                tied=int(n_cells[tied].sum()),
                certainty=float(certainty @ n_cells[resolved]),
                sure=int(n_cells[resolved][certainty >= SURE_NECESSITY * _ROUNDING].sum()),
            )
        impossible = tuple((self.impossible + self.first_row).tolist())
        return CompletionSummary(len(self.data), impossible, tallies, self.lacking)

    def long_form(self) -> dict[str, NDArray[Any]]:
        """Every state of every ambiguous cell on a line of its own, as plain arrays.

        ``row`` (counted from 0, through all batches of a stream), ``variable``, ``state``, ``possibility`` Π(x | row),
        ``necessity`` N(x | row) = 1 - the largest possibility of another state, ``most_possible``, and ``tied``: the cell
        has several most possible states. States outside the cell have no line. The cells of an impossible row are marked
        ``impossible``, with degrees of 0.

        >>> import possnet as pn
        >>> asia = pn.load_example("asia")
        >>> data = pn.Dataset.from_rows([asia.variable("bronc"), asia.variable("dysp")], [(None, "yes")])
        >>> {name: column.tolist() for name, column in pn.complete(asia, data).long_form().items()}
        {'row': [0, 0], 'variable': ['bronc', 'bronc'], 'state': ['yes', 'no'], 'possibility': [1.0, 0.1],
         'necessity': [0.9, 0.0], 'most_possible': [True, False], 'tied': [False, False], 'impossible': [False, False]}
        """
        columns = self._long_lines()
        for name in ("variable", "state"):
            codes, texts = columns[name]
            columns[name] = np.array(texts, dtype=object)[codes]
        return columns

    def to_arrow(self) -> Any:
        """The long form as an Arrow table; see `long_form`.

        >>> import possnet as pn
        >>> asia = pn.load_example("asia")
        >>> data = pn.Dataset.from_rows([asia.variable("bronc"), asia.variable("dysp")], [(None, "yes")])
        >>> pn.complete(asia, data).to_arrow().column_names
        ['row', 'variable', 'state', 'possibility', 'necessity', 'most_possible', 'tied', 'impossible']
        """
        return table_of_arrays(self._long_lines())

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Arrow capsule of the long form, for pandas, polars and others."""
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def _repr_html_(self) -> str:
        """What became of the ambiguous cells of every variable, for notebooks."""
        from possnet.drawing import draw_table

        summary = self.summary()
        rows = [
            [name, *(f"{n:,}" for n in (t.ambiguous, t.sure, t.resolved, t.narrowed, t.unchanged, t.tied))]
            for name, t in summary.variables.items()
            if t.ambiguous
        ]
        head = ["variable", "ambiguous", f"N ≥ {SURE_NECESSITY}", "resolved", "narrowed", "left", "tied"]
        return draw_table(head, rows[:60], caption=repr(self)[11:-1], note=summary.describe_unasked())

    def __repr__(self) -> str:
        summary, rows = self.summary(), len(self.data)
        cells = summary.cells
        text = f"{rows} row{'s' * (rows != 1)}, {cells.resolved} of {cells.ambiguous} ambiguous cells resolved"
        text += f" (mean necessity {cells.mean_necessity:.2g})" if cells.resolved else ""
        text += f", {cells.tied} tied" if cells.tied else ""
        bad = len(self.impossible)
        text += f", {bad} impossible row{'s' * (bad != 1)}" if bad else ""
        return f"Completion({text}{'' if cells.ambiguous else f'; {summary.describe_unasked()}'})"

    def _long_lines(self) -> dict[str, Any]:
        """Columns of the long form; texts as pairs (codes, texts)."""
        names = list(self.degrees)
        texts = list(dict.fromkeys(state for name in names for state in self.data.variable(name).states))
        place = {text: k for k, text in enumerate(texts)}
        blocks = []
        for number, (name, (rows, numbers, table, _)) in enumerate(self.degrees.items()):
            column = self.data.column(name)
            impossible = self.impossible[column.is_ambiguous[self.impossible]]
            row = np.concatenate([rows, impossible])
            cell, state = np.nonzero(column.cell_sets[column.codes[row]])
            no_degrees = np.zeros((1, table.shape[1]))  # for cells of impossible rows
            degrees, necessity = np.vstack([table, no_degrees]), np.vstack([necessities(table), no_degrees])
            entry = np.concatenate([numbers, np.full(len(impossible), len(table))])[cell]
            block = {
                "row": row[cell] + self.first_row,
                "variable": np.full(len(cell), number),
                "state": np.array([place[text] for text in column.variable.states])[state],
                "possibility": degrees[entry, state],
                "necessity": necessity[entry, state],
                "most_possible": degrees[entry, state] == 1.0,
                "tied": ((degrees == 1.0).sum(axis=1) > 1)[entry],
                "impossible": entry == len(table),
            }
            blocks.append(block)
        order = np.argsort(np.concatenate([block["row"] for block in blocks]), kind="stable")
        lines: dict[str, Any] = {name: np.concatenate([b[name] for b in blocks])[order] for name in blocks[0]}
        return lines | {"variable": (lines["variable"], names), "state": (lines["state"], texts)}

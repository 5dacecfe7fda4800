"""Bins of an ordered variable, and the cells that readings make in them.

Edges e1 < ... < ek part the line into k + 1 bins, each closed below and open above: ``<e1``, ``e1..e2``, ..., ``>=ek``. The
cell of an interval is the run of bins that it meets, from one bin to another; a column of cells is two arrays of numbers.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from possnet.arrow import DomainHints, ProblemReport, TextColumn, list_array
from possnet.doors import check_arguments
from possnet.errors import InputError
from possnet.kernels.grouping import compress_keys
from possnet.variables import number_text, require_same_bins

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from possnet.aliases import Floats, Ints, Words
    from possnet.variables import Variable


@dataclass(frozen=True, slots=True, eq=False)
class BinnedColumn:
    """A column of set-valued cells made from measurements: every cell a run of neighbouring bins, or unknown.

    It goes straight into a data set, as a column of `possnet.Dataset.from_table`, or one by one as sets. ``first`` and
    ``last`` number the bins of every cell, -1 where nothing is known.

    >>> import possnet as pn
    >>> temperature = pn.bin_measurements([36.9, 37.4, None], edges=[37.5, 38.5], error=0.2)
    >>> temperature
    BinnedColumn('measurement': <37.5 < 37.5..38.5 < >=38.5; 3 cells, 1 of several bins, 1 unknown)
    >>> pn.Dataset.from_table({"fever": temperature, "rash": ["no", "yes", "no"]}).row(1)
    {'fever': frozenset({...}), 'rash': frozenset({'yes'})}
    """

    variable: Variable
    first: Ints
    last: Ints
    issues: Ints
    findings: Mapping[int, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Name of the column."""
        return self.variable.name

    @property
    def rows(self) -> int:
        """Number of rows."""
        return len(self.first)

    @property
    def edges(self) -> tuple[float, ...]:
        """The edges of the bins."""
        return () if self.variable.bins is None else self.variable.bins.edges

    def __len__(self) -> int:
        return len(self.first)

    def __iter__(self) -> Iterator[frozenset[str] | None]:
        """The cells, one after the other: a set of states, or None where nothing is known."""
        states = self.variable.states
        for first, last in zip(self.first.tolist(), self.last.tolist(), strict=True):
            yield None if first < 0 else frozenset(states[first : last + 1])

    def domain_hints(self) -> DomainHints:
        """The bins, all declared.

        >>> import possnet as pn
        >>> pn.bin_measurements([1], edges=[5]).domain_hints().declared
        ('<5', '>=5')
        """
        return DomainHints(frozenset(), self.variable.states, self.variable.ordered, bins=self.variable.bins)

    @check_arguments
    def to_bitmaps(self, variable: Variable, report: ProblemReport) -> tuple[Words, Words | None]:
        """Bitmaps of the states, and of the unknown cells if there are any; misfits go to the report.

        >>> import possnet as pn
        >>> column = pn.bin_measurements([4, "3..7", None], edges=[5])
        >>> column.to_bitmaps(column.variable, ProblemReport("file"))
        (array([[7], [6]], dtype=uint64), array([4], dtype=uint64))
        """
        require_same_bins(self.variable, variable, report.owner)
        report.add_problems(self.name, self.issues, self.findings)
        return self.to_text_column().to_bitmaps(variable, report)

    def to_text_column(self) -> TextColumn:
        """The same column as codes into its distinct cells.

        >>> import possnet as pn
        >>> pn.bin_measurements([4, "3..7", None], edges=[5]).to_text_column().cells
        [None, ('<5',), ('<5', '>=5')]
        """
        states = self.variable.states
        radix = len(states) + 1
        codes, distinct = compress_keys((self.first + 1) * radix + self.last + 1, radix * radix)
        cells = [None if key == 0 else states[key // radix - 1 : key % radix] for key in distinct.tolist()]
        return TextColumn(self.name, codes, cells, states, ordered=True)

    @check_arguments
    def with_name(self, name: str) -> BinnedColumn:
        """The same column under another name.

        >>> import possnet as pn
        >>> pn.bin_measurements([4, "3..7"], edges=[5]).with_name("dose").variable
        Variable('dose', ('<5', '>=5'), ordered=True, bins=Bins((5.0,)))
        """
        return replace(self, variable=replace(self.variable, name=name))

    def __arrow_array__(self, type: object = None) -> Any:  # noqa: A002 - Arrow's own name
        """Arrow array of lists of ordered categories."""
        del type
        unknown = self.first < 0
        lengths = np.where(unknown, 0, self.last - self.first + 1)
        starts = np.cumsum(lengths) - lengths
        members = np.repeat(self.first - starts, lengths) + np.arange(int(lengths.sum()))
        return list_array(members, lengths, unknown, self.variable.states, ordered=True)

    def __repr__(self) -> str:
        several, unknown = int((self.last > self.first).sum()), int((self.first < 0).sum())
        states = " < ".join(self.variable.states)
        text = f"{self.rows} cell{'s' * (self.rows != 1)}, {several} of several bins, {unknown} unknown"
        return f"BinnedColumn({self.name!r}: {states}; {text})"


def compute_edges(numbers: Floats, how: Literal["quantile", "width"], bins: int, owner: str) -> tuple[float, ...]:
    """Edges of bins with equally many numbers, or of equal width, rounded so that they can be read.

    Rounding takes the fewest decimals that move no edge by more than a hundredth of the narrowest bin, and no number to
    another bin. Numbers that occur very often can make quantiles coincide; then there are fewer bins.

    >>> compute_edges(np.arange(101.0), "quantile", 4, "temp"), compute_edges(np.array([0.0, 1.0]), "width", 3, "temp")
    ((25.0, 50.0, 75.0), (0.333, 0.667))
    >>> compute_edges(np.array([0.0] * 9 + [2.0, 5.0]), "quantile", 3, "temp")
    (2.0,)
    """
    numbers = numbers[np.isfinite(numbers)]
    if not len(numbers) or numbers.min() == numbers.max():
        what = f"only the number {number_text(float(numbers[0]))}" if len(numbers) else "no number at all"
        raise InputError(f"{owner}: {what} to make {bins} bins from; expected different numbers, or edges given")
    low, high = float(numbers.min()), float(numbers.max())
    edges: Floats
    if how == "quantile":
        edges = np.asarray(np.quantile(numbers, np.arange(1, bins) / bins), dtype=np.float64)
    else:
        edges = low + (high / bins - low / bins) * np.arange(1.0, bins)
    edges = np.array(sorted(set(edges[edges > low].tolist())))
    if not len(edges):  # most numbers are the smallest: it is a bin, and all others are one
        edges = np.array([numbers[numbers > low].min()])
    return round_edges(edges, numbers)


def round_edges(edges: Floats, numbers: Floats) -> tuple[float, ...]:
    """Edges with the fewest decimals that move none by more than a hundredth of the narrowest bin, and no number.

    >>> round_edges(np.array([19.4987]), np.array([10.0, 19.0, 20.0]))
    (19.5,)
    """
    narrowest = float(np.diff(edges, prepend=min(float(numbers.min()), float(edges[0]) - 1e-300)).min())
    place = np.searchsorted(edges, numbers, side="right")
    for decimals in range(-12, 16):
        rounded = np.round(edges, decimals)
        near = np.abs(rounded - edges).max() <= narrowest / 100
        if near and np.array_equal(np.searchsorted(rounded, numbers, side="right"), place):
            return tuple(float(edge) for edge in rounded)
    return tuple(float(edge) for edge in edges)

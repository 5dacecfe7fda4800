r"""From measurements to cells.

A reading v of a device with error e says that the true value lies in [v - e, v + e]. Its cell is the set of bins that this
interval meets: a reading near an edge belongs to the bins on both sides. This is the paper's "imprecision due to the
physical measurement itself".

Conventions:

- bins are closed below and open above: with an edge at 5, the number 5 lies in ``>=5``;
- an interval contains its ends: v + e = 5 meets ``>=5``, and v - e = 5 does not meet ``<5``. Sums that miss an edge by
  rounding alone (0.3 - 0.1 and 0.2) hit it;
- the error widens plain numbers only. Bounds, intervals and ``5±1`` already say how far they can be trusted;
- the outer bins have no end, and nothing lies outside; with ``open_ended=False`` the first and the last edge are ends, the
  last bin contains its upper end, and a reading wholly outside is refused;
- no number (NaN, None, ``?``), or a number whose error is missing, is an unknown cell.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass, replace
from datetime import date
from numbers import Real
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import numpy as np

from possnet.arrow import ProblemReport, TextColumn, python_column
from possnet.doors import check_arguments, check_fields, checks_itself, require_floats
from possnet.errors import InputError, describe_value, did_you_mean, listing, require_several, warn_user
from possnet.measurements.binned_column import BinnedColumn, compute_edges, round_edges
from possnet.measurements.measured_intervals import MeasuredIntervals, parse_measurements
from possnet.measurements.supervised_edges import find_mdl_edges, share_states
from possnet.variables import DATE_UNITS, DAY, Bins, Variable, parse_date

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from possnet.aliases import Floats


Way: TypeAlias = Literal["quantile", "width", "mdl"]
_WAYS: tuple[str, ...] = get_args(Way)
_USUAL_BINS = ((5_000, 3), (100_000, 5))  # up to so many numbers, so many bins; why is told in docs/data.md
_MANY_BINS = 7
_OUTSIDE = 1 << 40  # issue numbers of our own, far from those of the readings
_NEGATIVE = _OUTSIDE + 1
_OTHER_KIND = _OUTSIDE + 2
_EXPECTED_KINDS = {
    DATE_UNITS[0]: "a number, or a time zone, which the edges lack; expected a date without a time zone",
    DATE_UNITS[1]: "a number, or no time zone, which the edges have; expected a date and time with one, such as Z",
}


@check_arguments
@checks_itself("labels", "error", "edges", "relative", "bins", "target")
def bin_measurements(
    values: object,
    *,
    edges: Sequence[float] | Sequence[date] | ArrayLike | Way = "quantile",
    error: ArrayLike = 0.0,
    relative: float = 0.0,
    bins: int | None = None,
    target: Iterable[object] | None = None,
    labels: Sequence[str] | None = None,
    open_ended: bool = True,
    unit: str = "",
    name: str = "measurement",
) -> BinnedColumn:
    """Set-valued cells of numbers with a known error: {bins that meet [v - e, v + e]}, e = error + relative abs(v).

    Equation
    --------
    cell(v) = {B : B ∩ [v - e, v + e] ≠ ∅}, e = error + relative · |v|

    Parameters
    ----------
    values
        Numbers, or texts such as ``<5``, ``>=10``, ``3..7`` and ``5±1``, or both; None, NaN and ``?`` are unknown.
    edges
        Increasing numbers, or dates (ISO 8601, or Python's); or ``"quantile"`` or ``"width"``, for ``bins`` of equally many
        values or of equal width; or ``"mdl"``, for the edges that tell the states of ``target`` apart and are worth their
        description.
    target
        For ``"mdl"``: a state for each value, a set of states (each has an equal share), or None.
    error
        The absolute error: a number, or one for each value.
    relative
        The relative error, for example 0.05 for 5 %; added to the absolute one.
    labels
        Names of the bins, from the lowest on; by default ``<5``, ``5..10``, ``>=10``.
    open_ended
        Whether a bin below the first edge and one above the last are added.
    unit
        What the numbers are measured in, for people. The variable remembers it with the edges; see `possnet.Bins`.

    Examples
    --------
    >>> import possnet as pn
    >>> fever = bin_measurements([36.9, 37.4, "<37"], edges=[37.5, 38.5], error=0.2, labels=("none", "mild", "high"))
    >>> [sorted(cell) for cell in fever]
    [['none'], ['mild', 'none'], ['none']]
    >>> list(bin_measurements([1, 2, 3, 4], edges="quantile", bins=2))[0]
    frozenset({'<2.5'})
    >>> list(bin_measurements([1, 2, 3, 4, 5, 6], edges="mdl", target=list("aaabbb")))[2]
    frozenset({'<3.5'})
    """
    binning = Binning(
        edges,  # type: ignore[arg-type]
        bins=bins,
        relative=relative,
        target=None if target is None else "target",
        labels=labels,
        open_ended=open_ended,
        unit=unit,
    )
    readings = parse_measurements(values, "bin_measurements")
    shares = None if target is None else _share_target(target, len(readings))
    settled = binning.settle_edges(readings.middles(), "bin_measurements", shares, date_unit=readings.date_unit)
    column = settled.bin_intervals(readings, error, name=name)
    report = ProblemReport("bin_measurements")
    report.add_problems(name, column.issues, column.findings)
    report.raise_if_any()
    return column


@check_fields
@checks_itself("labels", "edges", "target", "error", "relative", "bins")
@dataclass(frozen=True, slots=True)
class Binning:
    """How a column of measurements becomes cells: edges, errors, names. See `bin_measurements` for what they mean.

    ``error`` may name a column that holds an error for every row, and ``target`` that of the states that edges by mdl tell
    apart, in files. Without edges they are quantiles. ``way`` says how edges were computed, once they are.

    >>> Binning([36, 37.5], error=0.2)
    Binning(edges=(36.0, 37.5), bins=None, error=0.2, ...)
    >>> Binning("mdl")
    Traceback (most recent call last):
        ...
    possnet.errors.InputError: edges by mdl tell the states of a target apart; expected target=, the column that holds them
    """

    edges: Sequence[float] | Sequence[date] | Sequence[str] | Way = "quantile"
    _: KW_ONLY
    bins: int | None = None
    error: float | str = 0.0
    relative: float = 0.0
    labels: Sequence[str] | None = None
    open_ended: bool = True
    unit: str = ""
    target: str | None = None
    way: Way | None = None

    def __post_init__(self) -> None:
        if isinstance(self.edges, str):
            self._check_way(self.edges)
        else:
            edges, unit = _read_edges(self.edges)
            object.__setattr__(self, "edges", edges)
            object.__setattr__(self, "unit", unit or self.unit)
            object.__setattr__(self, "edges", self._check_edges().edges)
            if self.bins is not None:
                raise InputError(f"bins={describe_value(self.bins)} beside given edges; expected one or the other")
        if self.target is not None and self.edges != "mdl":
            raise InputError(f"target {describe_value(self.target)} is for edges by mdl; expected these, or no target")
        if not isinstance(self.error, str):
            object.__setattr__(self, "error", _check_error(self.error, "error"))
        object.__setattr__(self, "relative", _check_error(self.relative, "relative error"))
        if self.labels is not None:
            labels: object = self.labels
            if isinstance(labels, str) or not isinstance(labels, Iterable):
                raise InputError(f"labels {describe_value(self.labels)}; expected a name for each bin, in a list")
            object.__setattr__(self, "labels", tuple(require_several(self.labels, "labels")))
        if not isinstance(self.edges, str):
            self.variable("measurement")

    @classmethod
    @check_arguments
    def from_variable(cls, variable: Variable, error: float | str = 0.0, relative: float = 0.0) -> Binning:
        """The binning that a variable with bins was made by, with an error of its own.

        >>> Binning.from_variable(Binning([36, 37.5], unit="°C").variable("temperature"))
        Binning(edges=(36.0, 37.5), ..., labels=('<36', '36..37.5', '>=37.5'), ..., unit='°C', target=None, way=None)
        """
        bins = variable.bins
        if bins is None:
            raise InputError(f"binning of {variable.name!r}: it has no bins; expected a variable made from numbers")
        labels = variable.states
        options: dict[str, Any] = {"labels": labels, "open_ended": bins.open_ended, "unit": bins.unit}
        return cls(bins.edges, error=error, relative=relative, **options)

    def _check_edges(self) -> Bins:
        try:
            edges = require_floats(self.edges, "edges")  # type: ignore[arg-type]
        except InputError:
            edges = np.zeros((0, 0))
        if edges.ndim != 1:
            raise InputError(
                f"edges {describe_value(self.edges)}; expected increasing numbers, or {' or '.join(_WAYS)}"
            )
        return Bins(tuple(edges.tolist()), open_ended=self.open_ended, unit=self.unit)

    def _check_way(self, way: str) -> None:
        if way not in _WAYS:
            raise InputError(
                f"edges {describe_value(way)}; expected numbers, or {' or '.join(_WAYS)}{did_you_mean(way, _WAYS)}"
            )
        if way == "mdl":
            if self.bins is not None:
                raise InputError(
                    f"edges by mdl find themselves how many pay; expected no bins, found {describe_value(self.bins)}"
                )
            if not isinstance(self.target, str):
                raise InputError(
                    "edges by mdl tell the states of a target apart; expected target=, the column that holds them"
                )
        number: object = _MANY_BINS if self.bins is None else self.bins
        if not isinstance(number, int) or isinstance(number, bool) or not 2 <= number <= 10_000:
            raise InputError(f"edges by {way} for {describe_value(self.bins)} bins; expected a whole number from 2 on")
        if not self.open_ended:
            raise InputError(f"edges by {way} are inner edges; expected open_ended=True, or edges given as numbers")

    @check_arguments
    def settle_edges(
        self, numbers: Floats, owner: str = "measurements", shares: Floats | None = None, *, date_unit: str = ""
    ) -> Binning:
        """The same with its edges computed, if they were to be; numbers of a unit of dates get whole days or seconds.

        ``shares`` are those of the states of the target, for edges by mdl; if no edge pays, they are quantiles.

        >>> Binning("width", bins=2).settle_edges(np.array([0.0, 10.0])).edges
        (5.0,)
        """
        if not isinstance(self.edges, str):
            return self
        step = DAY if date_unit and (numbers[np.isfinite(numbers)] % DAY == 0).all() else 1.0
        edges, way = self._compute_edges(numbers / step, owner, shares)
        if date_unit:
            edges = tuple(dict.fromkeys((np.ceil(edges) * step).tolist()))
        return replace(self, edges=edges, bins=None, target=None, way=way, unit=date_unit or self.unit)

    def _compute_edges(self, numbers: Floats, owner: str, shares: Floats | None) -> tuple[tuple[float, ...], Way]:
        bins = self.bins or usual_bins(len(numbers))
        if self.edges == "mdl" and shares is not None:
            cuts = find_mdl_edges(numbers, shares)
            if cuts:
                return round_edges(np.array(cuts), numbers[np.isfinite(numbers)]), "mdl"
            finding = f"no edge tells the states of {self.target!r} apart, by mdl"
            warn_user(f"{owner}: {finding}; {bins} bins by quantile instead")
        way: Literal["quantile", "width"] = "width" if self.edges == "width" else "quantile"
        return compute_edges(numbers, way, bins, owner), way

    def describe(self) -> str:
        """How many bins there are, and where their edges are.

        >>> Binning("width", bins=3, unit="years").settle_edges(np.array([0.0, 90.0])).describe()
        '3 bins by width at 30, 60 years'
        """
        if isinstance(self.edges, str):
            return f"edges by {self.edges}"
        bins = Bins(tuple(self.edges), open_ended=self.open_ended, unit=self.unit)  # type: ignore[arg-type]
        way = f" by {self.way}" if self.way else ""
        return f"{len(bins)} bins{way} at {bins.describe().removeprefix('edges ')}"

    @check_arguments
    def variable(self, name: str) -> Variable:
        """The ordered variable of the bins; edges must be known.

        >>> Binning([36, 37.5]).variable("temperature")
        Variable('temperature', ('<36', '36..37.5', '>=37.5'), ordered=True, bins=Bins((36.0, 37.5)))
        """
        if isinstance(self.edges, str):
            raise InputError(f"binning of {name!r}: edges by {self.edges} are not known yet; expected settled ones")
        bins = Bins(tuple(self.edges), open_ended=self.open_ended, unit=self.unit)  # type: ignore[arg-type]
        names = bins.labels
        if self.labels is not None and len(self.labels) != len(names):
            raise InputError(
                f"labels {listing(self.labels)}: {len(self.labels)} for {len(names)} bins ({listing(names)}); "
                "expected one for each"
            )
        return Variable(name, tuple(self.labels or names), ordered=True, bins=bins)

    @check_arguments
    def bin_intervals(self, readings: MeasuredIntervals, error: ArrayLike | None = None, *, name: str) -> BinnedColumn:
        """Cells of readings; ``error`` (a number, or one for each) stands in for the binning's own.

        Readings that cannot be used are noted in the column and reported when it is packed.

        >>> from possnet.measurements.measured_intervals import read_numbers
        >>> list(Binning([5]).bin_intervals(read_numbers(np.array([4.0, 4.9])), [0.0, 0.2], name="x"))
        [frozenset({'<5'}), frozenset({...})]
        """
        variable = self.variable(name)
        errors = _error_array(self.error if error is None else error, len(readings))
        half = np.where(readings.plain, errors + self._share_of(readings.lower), readings.own)
        lower, upper, slack = _widen_intervals(readings, half)
        bins = Bins(tuple(self.edges), open_ended=self.open_ended, unit=self.unit)  # type: ignore[arg-type]
        edges = np.array(bins.inner_edges, dtype=np.float64)
        first = np.searchsorted(edges, lower, side="right")
        last = np.searchsorted(edges, upper, side="right")
        below = np.flatnonzero(readings.below)
        last[below] = np.searchsorted(edges, upper[below], side="left")
        issues = readings.issues.copy()
        if readings.kinds is not None or self.unit in DATE_UNITS:
            issues[(issues == 0) & _is_other_kind(readings, self.unit)] = _OTHER_KIND
        issues[(errors < 0) & readings.plain] = _NEGATIVE
        unknown = np.isnan(lower) | np.isnan(upper) | (issues > 0)
        if not self.open_ended:
            start, end = bins.span
            outside = (upper < start) | (lower - 2.0 * slack > end)
            outside |= (readings.below & (upper <= start)) | (readings.above & (lower >= end))
            issues[outside & ~unknown] = _OUTSIDE
            unknown |= outside
        first[unknown] = last[unknown] = -1
        return BinnedColumn(variable, first, last, issues, _describe_findings(readings, bins))

    def _share_of(self, numbers: Floats) -> Floats:
        """The relative error as an absolute one; none for what is infinite."""
        finite = np.isfinite(numbers)
        return np.where(finite, self.relative * np.abs(np.where(finite, numbers, 0.0)), 0.0)


def usual_bins(numbers: int) -> int:
    """How many bins so many numbers get, if nobody says: more where there are rows to fill them.

    >>> usual_bins(1_000), usual_bins(30_000), usual_bins(1_000_000)
    (3, 5, 7)
    """
    return next((bins for most, bins in _USUAL_BINS if numbers <= most), _MANY_BINS)


def _describe_findings(readings: MeasuredIntervals, bins: Bins) -> dict[int, str]:
    return {
        **readings.findings,
        _NEGATIVE: "a negative error; expected a number from 0 on",
        _OUTSIDE: bins.outside,
        _OTHER_KIND: _EXPECTED_KINDS.get(bins.unit, "a date, where the edges are numbers; expected a number"),
    }


def _read_edges(given: Any) -> tuple[Any, str]:
    """Edges, and the unit of dates if they are dates (texts or Python's): seconds since 1970 then."""
    listed = list(given) if isinstance(given, list | tuple) else []
    texts = [edge.isoformat() if isinstance(edge, date) else edge for edge in listed]
    dates = [parse_date(text.strip()) if isinstance(text, str) else None for text in texts]
    if not any(dates):
        return given, ""
    units = {edge[2] for edge in dates if edge is not None}
    if None in dates or len(units) > 1:
        raise InputError(f"edges {listing(texts)}; expected dates, all with a time zone or all without one")
    return [edge[0] for edge in dates if edge is not None], units.pop()


def _is_other_kind(readings: MeasuredIntervals, unit: str) -> Any:
    """Which readings are numbers where the edges are dates, dates where they are numbers, or of other time zones."""
    kinds = np.zeros(len(readings), dtype=np.int8) if readings.kinds is None else readings.kinds
    expected = DATE_UNITS.index(unit) + 1 if unit in DATE_UNITS else 0
    return (kinds != expected) & ~np.isnan(readings.lower)


def _share_target(target: Iterable[object], size: int) -> Floats:
    column = python_column("target", target)
    if column.rows != size:
        raise InputError(f"target: {column.rows} labels for {size} values; expected one for each")
    if not isinstance(column, TextColumn):
        raise InputError("target: labels with degrees; expected states, sets of states, or None")
    return share_states(column.codes, column.cells)


def _widen_intervals(readings: MeasuredIntervals, half: Floats) -> tuple[Floats, Floats, Floats]:
    """Both ends of the intervals, widened by an error, and moved up a little, so that rounding alone misses no number."""
    with np.errstate(invalid="ignore", over="ignore"):
        lower, upper = readings.lower - half, readings.upper + half
        # an infinite reading with an infinite error: anything
        unbounded = np.isnan(lower) & ~np.isnan(readings.lower) & ~np.isnan(half)
        lower[unbounded], upper[unbounded] = -np.inf, np.inf
        slack = 8 * np.finfo(np.float64).eps * (np.abs(readings.lower) + half)
        slack = np.where((half > 0) & np.isfinite(slack), slack, 0.0)
    return lower + slack, upper + slack, slack


def _check_error(given: object, what: str) -> float:
    number = np.nan
    if type(given) is not bool and isinstance(given, Real | np.number):
        with suppress(OverflowError):
            number = float(given)
    if not number >= 0:
        raise InputError(f"{what} {describe_value(given)}; expected a number from 0 on")
    return number


def _error_array(given: object, size: int) -> Floats:
    """One error for every reading; NaN where it is missing."""
    if isinstance(given, str):
        raise InputError(
            f"error {describe_value(given)} names a column, which only files have; expected a number, or one for each value"
        )
    if isinstance(given, Real | np.number):
        return np.full(size, _check_error(given, "error"))
    errors = parse_measurements(given, "error")
    if len(errors) != size:
        raise InputError(f"error: {len(errors)} numbers for {size} values; expected one number, or one for each value")
    wrong = np.flatnonzero((errors.issues > 0) | (~errors.plain & ~np.isnan(errors.lower)))
    if len(wrong):
        raise InputError(f"error, row {wrong[0] + 1}: not a number; expected a number from 0 on for every value")
    return errors.lower

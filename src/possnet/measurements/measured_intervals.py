"""Readings: what a person or a device wrote down, as intervals.

Numbers are readings as they are, and of texts `possnet.measurements.reading_texts` says what they mean. All become
intervals of real numbers; a date is a number of seconds. The upper end of ``<5`` and ``[3,5)`` is left out. (A lower end
that is left out makes no difference, but at the end of closed bins: bins are closed below.)
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import date
from decimal import Decimal
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from possnet.errors import InputError, describe_value, listing
from possnet.measurements.reading_texts import Reading, parse_reading
from possnet.variables import DATE_UNITS, DAY

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from possnet.aliases import Bools, Floats, Ints
_KINDS = {"": 0} | {unit: k for k, unit in enumerate(DATE_UNITS, start=1)}


@dataclass(frozen=True, slots=True)
class MeasuredIntervals:
    """Intervals from ``lower`` to ``upper``, NaN where nothing is known.

    ``below`` marks intervals without their upper end (``<5``), ``above`` those without their lower one, ``plain`` single
    numbers, which a known error widens; ``own`` is the error that a reading names itself (``5±1``). ``kinds`` tells numbers
    (0) from dates without a time zone (1) and with one (2); None if all are numbers.
    ``issues`` numbers the readings that cannot be used (0: fine), ``findings`` says why.
    """

    lower: Floats
    upper: Floats
    below: Bools
    above: Bools
    plain: Bools
    own: Floats
    issues: Ints
    findings: Mapping[int, str] = field(default_factory=dict)
    kinds: NDArray[np.int8] | None = None

    def __len__(self) -> int:
        return len(self.lower)

    def take_rows(self, codes: NDArray[np.integer[Any]]) -> MeasuredIntervals:
        """The readings of some numbers into these.

        >>> read_texts(["<5", "7"]).take_rows(np.array([1, 1, 0])).upper
        array([7., 7., 5.])
        """
        names = (
            "lower",
            "upper",
            "below",
            "above",
            "plain",
            "own",
            "issues",
            *(["kinds"] if self.kinds is not None else []),
        )
        return replace(self, **{name: getattr(self, name)[codes] for name in names})

    @property
    def date_unit(self) -> str:
        """The unit of dates that the first date has; empty if there is none.

        >>> read_texts(["2024-05-31", "?"]).date_unit
        'ISO date'
        """
        dates = [] if self.kinds is None else self.kinds[self.kinds > 0].tolist()
        return DATE_UNITS[dates[0] - 1] if dates else ""

    def midpoints(self) -> Floats:
        """The numbers, and the middles of the intervals with two ends: what edges are computed from.

        >>> read_texts(["5", "<5", "6..8", "?"]).midpoints()
        array([5., 7.])
        """
        middles = self.middles()
        return middles[np.isfinite(middles)]

    def middles(self) -> Floats:
        """The same for every row, NaN where there is none.

        >>> read_texts(["5", "<5", "6..8", "?"]).middles()
        array([ 5., nan,  7., nan])
        """
        with np.errstate(invalid="ignore"):
            width = self.upper - self.lower
            if self.kinds is not None:  # a day is told by its beginning
                width = np.where(width == DAY, 0.0, width)
            middles = self.lower + width / 2
        return np.where(np.isfinite(self.lower) & np.isfinite(self.upper), middles, np.nan)


def parse_measurements(values: object, owner: str = "measurements") -> MeasuredIntervals:
    """Intervals of numbers, texts, or both: an array, a series, or a list; None and NaN are unknown.

    >>> parse_measurements([37.2, "<36", None]).lower
    array([37.2, -inf,  nan])
    """
    if isinstance(values, str | bytes) or not hasattr(values, "__len__"):
        raise InputError(f"{owner}: {describe_value(values)}; expected a list or an array of readings")
    if isinstance(values, np.ma.MaskedArray):
        values = [
            None if hidden else value for value, hidden in zip(values.data, np.ma.getmaskarray(values), strict=True)
        ]
    try:
        array = np.asarray(values)
    except ValueError:
        array = np.zeros((0, 0))
    if array.ndim != 1:
        raise InputError(f"{owner}: not a row of readings (lists inside lists?); expected one reading after the other")
    if array.dtype.kind in "iuf":
        return read_numbers(array)
    if array.dtype.kind == "M":
        array = np.datetime_as_string(array).astype(object)
    if array.dtype.kind not in "OUTS" and type(array.dtype).__name__ != "StringDType":
        raise InputError(f"{owner}: values of type {array.dtype}; expected numbers, or texts such as <5, >=10 and 3..7")
    texts = [value if isinstance(value, str) else _to_text(value) for value in array.tolist()]
    codes: dict[str, int] = {}
    numbers = np.array([codes.setdefault(text, len(codes)) for text in texts], dtype=np.int64)
    return read_texts(list(codes)).take_rows(numbers)


def _to_text(value: object) -> str:
    if value is None or type(value).__name__ in {"NAType", "NaTType"}:
        return ""
    if isinstance(value, date):
        return value.isoformat()
    if type(value) is bool or not isinstance(value, Real | Decimal):
        return describe_value(value)
    try:
        return repr(float(value))
    except OverflowError:  # beyond the largest float; its digits may be too many to be written
        return "-inf" if value < 0 else "inf"
    except ValueError:  # a signalling NaN
        return listing([value])


def read_numbers(numbers: NDArray[Any], unknown_words: Sequence[str] = ()) -> MeasuredIntervals:
    """Intervals of readings that are all plain numbers; NaN is unknown, and so are numbers among the words for it.

    >>> read_numbers(np.array([1.5, np.nan])).plain
    array([ True,  True])
    """
    values = _as_written(numbers)
    for word in unknown_words:
        with suppress(ValueError):
            values[values == float(word)] = np.nan
    no, yes = np.zeros(len(values), dtype=np.bool_), np.ones(len(values), dtype=np.bool_)
    return MeasuredIntervals(values, values, no, no, yes, np.zeros(len(values)), np.zeros(len(values), dtype=np.int64))


def read_texts(texts: Sequence[str], unknown_words: Sequence[str] = ()) -> MeasuredIntervals:
    """Intervals of texts, one each; ``unknown_words`` mean unknown too.

    >>> intervals = read_texts(["<5", "3..7", "5±1", "?", "7..3"])
    >>> intervals.lower, intervals.upper
    (array([-inf,   3.,   5.,  nan,  nan]), array([ 5.,  7.,  5., nan, nan]))
    >>> intervals.findings[1]
    "the interval '7..3' runs backwards; expected 3..7"
    """
    words = {word.strip() for word in unknown_words}
    texts = ["" if text.strip() in words else text for text in texts]
    with suppress(ValueError):
        return read_numbers(np.array([float(text) for text in texts], dtype=np.float64))
    findings: dict[int, str] = {}
    issues = np.zeros(len(texts), dtype=np.int64)
    readings = []
    for k, text in enumerate(texts):
        parsed = _parse_text(text, words)
        if isinstance(parsed, str):
            issues[k] = len(findings) + 1
            findings[len(findings) + 1] = parsed
        readings.append(Reading(np.nan, np.nan) if isinstance(parsed, str) else parsed)
    lower, upper, below, above, own, plain, units = zip(*readings, strict=True)
    return MeasuredIntervals(
        np.array(lower),
        np.array(upper),
        np.array(below),
        np.array(above),
        np.array(plain),
        np.array(own),
        issues,
        findings,
        np.array([_KINDS[unit] for unit in units], dtype=np.int8) if any(units) else None,
    )


def _parse_text(text: str, words: set[str]) -> Reading | str:
    try:
        number = float(text)
    except ValueError:
        return parse_reading(text, words)
    return Reading(number, number, plain=True)


def _as_written(numbers: NDArray[Any]) -> Floats:
    """Numbers as double precision; shorter floats as the decimals that they stand for, so that .7 stays .7."""
    values = numbers.astype(np.float64)
    if numbers.dtype.kind != "f" or numbers.dtype.itemsize >= 8:
        return values
    finite = np.isfinite(values) & (values != 0.0)
    left = np.flatnonzero(finite)
    for digits in (3, 4, 6, 7, 8):
        scale = 10.0 ** (digits - 1 - np.floor(np.log10(np.abs(values[left]))))
        decimals = np.round(values[left] * scale) / scale
        same = decimals.astype(numbers.dtype) == numbers[left]
        values[left[same]] = decimals[same]
        left = left[~same]
    return values

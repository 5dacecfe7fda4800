"""Readings: what a person or a device wrote down, as intervals.

A reading is a number (``37.2``), a bound (``<5``, ``<=5``, ``>10``, ``>=10``), an interval with both ends (``3..7``), a
number with an error of its own (``5±1``, ``5+-1``), or nothing (empty, ``?``, ``*``, ``na``, ``n/a``, ``nan``, ``null``,
``none``). All become an interval of real numbers; the upper end of ``<5`` is left out, every other finite end is in. (A
lower end that is left out makes no difference: bins are closed below.)
"""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass, field, replace
from decimal import Decimal
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from possnet.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from possnet.aliases import Bools, Floats, Ints


_UNKNOWN = {"", "?", "*", "na", "n/a", "nan", "null", "none", "<na>"}
_NUMBER = r"([+-]?(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d+)?)"
_BOUND = re.compile(rf"(<=|>=|<|>|≤|≥)\s*{_NUMBER}")
_INTERVAL = re.compile(rf"{_NUMBER}\s*\.\.\s*{_NUMBER}")
_WITH_ERROR = re.compile(rf"{_NUMBER}\s*(?:±|\+-|\+/-)\s*{_NUMBER.replace('[+-]?', '', 1)}")


@dataclass(frozen=True, slots=True)
class MeasuredIntervals:
    """Intervals from ``lower`` to ``upper``, NaN where nothing is known.

    ``below`` marks intervals without their upper end (``<5``), ``above`` those without their lower one, ``plain`` single
    numbers, which a known error widens; ``own`` is the error that a reading names itself (``5±1``).
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

    def __len__(self) -> int:
        return len(self.lower)

    def take_rows(self, codes: NDArray[np.integer[Any]]) -> MeasuredIntervals:
        """The readings of some numbers into these.

        >>> read_texts(["<5", "7"]).take_rows(np.array([1, 1, 0])).upper
        array([7., 7., 5.])
        """
        names = ("lower", "upper", "below", "above", "plain", "own", "issues")
        return replace(self, **{name: getattr(self, name)[codes] for name in names})

    def midpoints(self) -> Floats:
        """The numbers, and the middles of the intervals with two ends: what edges are computed from.

        >>> read_texts(["5", "<5", "6..8", "?"]).midpoints()
        array([5., 7.])
        """
        finite = np.isfinite(self.lower) & np.isfinite(self.upper)
        return self.lower[finite] + (self.upper[finite] - self.lower[finite]) / 2


def parse_measurements(values: object, owner: str = "measurements") -> MeasuredIntervals:
    """Intervals of numbers, texts, or both: an array, a series, or a list; None and NaN are unknown.

    >>> parse_measurements([37.2, "<36", None]).lower
    array([37.2, -inf,  nan])
    """
    if isinstance(values, str | bytes) or not hasattr(values, "__len__"):
        raise InputError(f"{owner}: {values!r}; expected a list or an array of readings")
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
    if array.dtype.kind not in "OUTS" and type(array.dtype).__name__ != "StringDType":
        raise InputError(f"{owner}: values of type {array.dtype}; expected numbers, or texts such as <5, >=10 and 3..7")
    texts = [value if isinstance(value, str) else _to_text(value) for value in array.tolist()]
    codes: dict[str, int] = {}
    numbers = np.array([codes.setdefault(text, len(codes)) for text in texts], dtype=np.int64)
    return read_texts(list(codes)).take_rows(numbers)


def _to_text(value: object) -> str:
    if value is None or type(value).__name__ in {"NAType", "NaTType"}:
        return ""
    if type(value) is bool or not isinstance(value, Real | Decimal):
        return repr(value)
    try:
        return repr(float(value))
    except (OverflowError, ValueError):  # beyond the largest float, or a signalling NaN
        return str(value)


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
    size = len(texts)
    lower, upper, own = np.full(size, np.nan), np.full(size, np.nan), np.zeros(size)
    below, above, plain = (np.zeros(size, dtype=np.bool_) for _ in range(3))
    issues = np.zeros(size, dtype=np.int64)
    findings: dict[int, str] = {}
    for k, text in enumerate(texts):
        try:
            lower[k] = upper[k] = float(text)
            plain[k] = True
        except ValueError:
            parsed = _parse_reading(text.strip())
            if isinstance(parsed, str):
                issues[k] = len(findings) + 1
                findings[len(findings) + 1] = parsed
            else:
                lower[k], upper[k], own[k] = parsed
                below[k], above[k] = text.strip().startswith("<") and "=" not in text, re.match(r"\s*>\s*[^=\s]", text)
    return MeasuredIntervals(lower, upper, below, above, plain, own, issues, findings)


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


def _parse_reading(text: str) -> tuple[float, float, float] | str:
    """Lower end, upper end, own error; or what is wrong with the text."""
    if text.lower() in _UNKNOWN:
        return np.nan, np.nan, 0.0
    if match := _BOUND.fullmatch(text):
        number = float(match[2])
        return (-np.inf, number, 0.0) if match[1] in "<=≤" else (number, np.inf, 0.0)
    if match := _INTERVAL.fullmatch(text):
        first, last = float(match[1]), float(match[2])
        backwards = f"the interval {text!r} runs backwards; expected {match[2]}..{match[1]}"
        return (first, last, 0.0) if first <= last else backwards
    if match := _WITH_ERROR.fullmatch(text):
        return float(match[1]), float(match[1]), float(match[2])
    hint = "; write decimals with a point" if "," in text else ""
    return (
        f"{text!r} is not a reading; expected a number, a bound such as <5 or >=10, an interval such as 3..7, "
        f"a number with its error such as 5±1, or nothing{hint}"
    )

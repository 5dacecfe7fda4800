"""The text of a reading: what a person or a device wrote down.

A number (``37.2``), a bound (``<5``, ``<=5``, ``>10``, ``>=10``, ``90+``, ``ND<0.5``), an interval (``3..7``, ``20-30``,
``[20,30)``, ``(20;30]``), a number with an error of its own (``5±1``, ``5+-1``) or with its interval (``5 (4-6)``), or
nothing. Ends may be dates instead (`possnet.variables.parse_date`): a date without a time is its whole day. Decimals have a
point, and thousands no sign: ``1,5`` is refused rather than guessed.
"""

from __future__ import annotations

import re
from math import inf, nan
from typing import TYPE_CHECKING, NamedTuple

from possnet.variables import DATE_PATTERN, parse_date

if TYPE_CHECKING:
    from collections.abc import Collection

_UNKNOWN = {"", "?", "*", "na", "n/a", "nan", "null", "none", "<na>", "nat", "nd", "n.d."}
_NUMBER = r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?"
_END = rf"(?:{DATE_PATTERN}|{_NUMBER}|[+-]?inf)"
_VALUE = re.compile(_END)
_BOUND = re.compile(rf"(<=|>=|<|>|≤|≥)\s*({_END})")
_NOT_DETECTED = re.compile(r"(.*?\S)\s*(\()?\s*(?=[<≤])(.*?)(?(2)\s*\))", re.DOTALL)
_AT_LEAST = re.compile(rf"({_END})\s*\+")
_INTERVAL = re.compile(rf"({_END})\s*(\.\.|[-–—/])\s*({_END})")  # a slash between dates only
_BRACKETS = re.compile(rf"([\[(])\s*({_END})\s*[,;]\s*({_END})\s*([\])])")
_WITH_INTERVAL = re.compile(rf"({_END})\s*[\[(]\s*({_END})\s*(?:\.\.|[-–—,;])\s*({_END})\s*[\])]")
_WITH_ERROR = re.compile(rf"({_NUMBER})\s*(?:±|\+-|\+/-)\s*({_NUMBER})")


class Reading(NamedTuple):
    """An interval, which of its ends are left out, the error that it names, and the unit if its ends are dates."""

    lower: float
    upper: float
    below: bool = False
    above: bool = False
    own: float = 0.0
    plain: bool = False
    unit: str = ""


class _End(NamedTuple):
    """An end of an interval: the first and the last number that it may stand for, and the unit if it is a date."""

    first: float
    last: float
    unit: str

    @property
    def is_day(self) -> bool:
        return self.first < self.last


def parse_reading(text: str, unknown_words: Collection[str] = ()) -> Reading | str:
    """The interval of a text, or what is wrong with it.

    >>> parse_reading("20-30")
    Reading(lower=20.0, upper=30.0, below=False, above=False, own=0.0, plain=False, unit='')
    >>> parse_reading("-5--3")[:2], parse_reading("[20,30)")[:4], parse_reading("ND<0.5")[:3]
    ((-5.0, -3.0), (20.0, 30.0, True, False), (-inf, 0.5, True))
    >>> parse_reading("30-20")
    "the interval '30-20' runs backwards; expected 20..30"
    """
    text = text.strip()
    if text.lower() in _UNKNOWN or text in unknown_words:
        return Reading(nan, nan)
    reading = _parse_point(text) or _parse_bound(text, unknown_words) or _parse_interval(text)
    if reading is not None:
        return reading
    hint = "; write decimals with a point, or have it read as a range (cells='range')" if "," in text else ""
    return (
        f"{text!r} is not a reading; expected a number, a bound such as <5 or >=10, an interval such as 3..7, "
        f"a number with its error such as 5±1, a date such as 2024-05-31, or nothing{hint}"
    )


def _parse_point(text: str) -> Reading | None:
    if _VALUE.fullmatch(text) and (end := _parse_end(text)):
        return Reading(end.first, end.last, below=end.is_day, plain=not end.is_day, unit=end.unit)
    if (match := _WITH_ERROR.fullmatch(text)) and float(match[2]) >= 0:
        return Reading(float(match[1]), float(match[1]), own=float(match[2]))
    return None


def _parse_bound(text: str, unknown_words: Collection[str]) -> Reading | None:
    """What lies on one side of an end; a word such as ND may stand before ``<``."""
    prefixed = _NOT_DETECTED.fullmatch(text)
    if prefixed and (prefixed[1].lower() in _UNKNOWN or prefixed[1] in unknown_words):
        text = prefixed[3]
    if (match := _AT_LEAST.fullmatch(text)) and (end := _parse_end(match[1])):
        return Reading(end.first, inf, unit=end.unit)
    match = _BOUND.fullmatch(text)
    if match is None or (end := _parse_end(match[2])) is None:
        return None
    sign = {"≤": "<=", "≥": ">="}.get(match[1], match[1])
    if sign in {"<", "<="}:
        # a day ends where the next one begins
        return Reading(-inf, end.first if sign == "<" else end.last, below=sign == "<" or end.is_day, unit=end.unit)
    return Reading(end.last if sign == ">" else end.first, inf, above=sign == ">" and not end.is_day, unit=end.unit)


def _parse_interval(text: str) -> Reading | str | None:
    value, opening, closing = None, "[", "]"
    if match := _BRACKETS.fullmatch(text):
        opening, first_text, last_text, closing = match.groups()
    elif match := _INTERVAL.fullmatch(text):
        first_text, last_text = match[1], match[3]
    elif match := _WITH_INTERVAL.fullmatch(text):
        first_text, last_text, value = match[2], match[3], _parse_end(match[1])
    else:
        return None
    first, last = _parse_end(first_text), _parse_end(last_text)
    if first is None or last is None or (match.re is _INTERVAL and match[2] == "/" and not first.unit):
        return None
    if first.unit != last.unit or (value and value.unit != first.unit):
        return f"the ends of {text!r} are of different kinds; expected two numbers, or two dates of one kind of time"
    reading = Reading(
        first.last if opening == "(" else first.first,
        last.first if closing == ")" else last.last,
        below=closing == ")" or last.is_day,
        above=opening == "(" and not first.is_day,
        unit=first.unit,
    )
    if first.first > last.first:
        return f"the interval {text!r} runs backwards; expected {last_text}..{first_text}"
    return _describe_emptiness(text, reading, value) or reading


def _describe_emptiness(text: str, reading: Reading, value: _End | None) -> str:
    """What is wrong with an interval that holds nothing, or not its own value."""
    if reading.lower > reading.upper or (reading.lower == reading.upper and (reading.below or reading.above)):
        return f"the interval {text!r} holds nothing; expected one with something in it"
    if value and not reading.lower <= value.first <= reading.upper:
        return f"{text!r}: the number lies outside its interval; expected it inside"
    return ""


def _parse_end(text: str) -> _End | None:
    date = parse_date(text)
    if date is not None:
        return _End(*date)
    try:
        return _End(float(text), float(text), "")
    except ValueError:  # what looks like a date and is none, such as 2024-02-31
        return None

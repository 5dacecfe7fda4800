"""Every error that possnet raises on purpose.

::

    PossnetError
    ├── InputError           a value, a file or an option of the user's is wrong (also a ValueError)
    ├── ImpossibleEvidence   the question conditions on something of possibility 0
    ├── TooLarge             the answer would not fit; refused before anything is allocated (also a MemoryError)
    └── ClusterError         a cluster cannot go on; what was done is kept
    PossnetWarning           the answer stands, but not for all that was asked (a UserWarning)

A message has four parts: whose value it is, what was found, what was expected, what to do. Catch `PossnetError` to
catch them all; anything else that escapes from possnet is a defect of possnet, except what a given object itself raises
when it is looked at. What does not stop the work is told by `warn_user`, as a `PossnetWarning` through `warnings`; the
command line prints it as one ``Note:`` line.

Whatever a message quotes, it stays below `LONGEST` characters, since long parts are cut in their middle and the remedy
at the end stays, and it can be printed: control characters, which could move the cursor or hide text, are escaped.
"""

from __future__ import annotations

import re
from itertools import islice
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "LONGEST",
    "ClusterError",
    "ImpossibleEvidence",
    "InputError",
    "PossnetError",
    "PossnetWarning",
    "TooLarge",
    "among",
    "describe_value",
    "did_you_mean",
    "escape_controls",
    "keep_findings",
    "listing",
    "require_known",
    "require_number",
    "require_several",
    "require_whole",
    "shorten_text",
    "warn_user",
]

_MOST_COMPARED = 10_000  # names that a wrong one is compared with, a few microseconds each
LONGEST: Final = 499
"""Characters of the longest message."""

_LARGEST = 2**63 - 1
_LONGEST_PART = 80
_CONTROLS = re.compile("[\\x00-\\x1f\\x7f-\\x9f\\u2028\\u2029\\u202a-\\u202e\\u2066-\\u2069\\ud800-\\udfff]")
_QUOTED = re.compile(r"'[^']{70,}'|\"[^\"]{70,}\"|[^\s'\"]{70,}")


def escape_controls(text: str) -> str:
    r"""A text that is safe to print on one line: what moves the cursor or reorders the line is shown as its escape.

    These are the control characters (also newline and tab), separators of lines, bidirectional overrides and lone
    surrogates. Letters of any script stay.

    >>> escape_controls("rash\x1b[31m\n") == "rash\\x1b[31m\\n", escape_controls("fièvre 熱")
    (True, 'fièvre 熱')
    """
    if text.isascii() and text.isprintable():
        return text
    return _CONTROLS.sub(lambda match: repr(match[0])[1:-1], text)


def shorten_text(text: str, most: int = _LONGEST_PART) -> str:
    """A text cut in its middle, so that its beginning and its end stay.

    >>> shorten_text("a" * 50 + "b" * 50, 20)
    'aaaaaaa ... bbbbbbbb'
    """
    if len(text) <= most:
        return text
    kept = most - 5
    return f"{text[: kept // 2]} ... {text[len(text) - (kept - kept // 2) :]}"


def describe_value(value: object) -> str:
    """A value as a message names it: its `repr` in short, whatever it is; its type if it has no `repr`.

    >>> describe_value(None), describe_value([1, 2]), len(describe_value("x" * 1000))
    ('None', '[1, 2]', 80)
    >>> describe_value(10**5000)
    'an int of 16610 bits'
    """
    kind = type(value)
    if isinstance(value, str) and len(value) > 1000:
        value = value[:500] + value[-500:]
    elif isinstance(value, int) and value.bit_length() > 256:
        return f"an int of {value.bit_length()} bits"
    elif kind in {list, tuple, set, frozenset, dict} and len(value) > 100:  # type: ignore[arg-type]
        return f"a {kind.__name__} of {len(value):,}"  # type: ignore[arg-type]
    try:
        return shorten_text(" ".join(escape_controls(repr(value)).split()))
    except Exception:  # noqa: BLE001 - any error of a foreign repr
        return shorten_text(f"an object of type {kind.__name__}")


def _shorten_message(text: str, most: int = LONGEST) -> str:
    """A message below a length: first its long words and quotations are cut, then the message in its middle."""
    text = escape_controls(text if len(text) <= 20_000 else shorten_text(text, 20_000))
    if len(text) > most:
        text = _QUOTED.sub(lambda match: shorten_text(match[0], 60), text)
    return shorten_text(text, most)


class PossnetError(Exception):
    """The root of all errors that possnet raises on purpose.

    >>> import possnet as pn
    >>> try:
    ...     pn.load_example("asai")
    ... except pn.PossnetError as error:
    ...     print(error)
    no bundled network 'asai' (asia, clinic, pump, survey); did you mean 'asia'?

    Several parts are the lines of one message, each a finding of its own: see `keep_findings`.
    """

    def __init__(self, *lines: str) -> None:
        room = LONGEST if sum(map(len, lines)) + len(lines) <= LONGEST else LONGEST // len(lines)
        super().__init__(*(_shorten_message(line, room) for line in lines))

    def __str__(self) -> str:
        return "\n".join(self.args)


class InputError(PossnetError, ValueError):
    """A value, a file or an option that the user gave cannot be used.

    >>> import possnet as pn
    >>> pn.Variable("fever", ())
    Traceback (most recent call last):
        ...
    possnet.errors.InputError: variable 'fever': no states; expected at least one
    """


class UnusableColumns(InputError):
    """Columns of a table that hold no state, or so many that they look like identifiers; the message speaks of the first.

    >>> UnusableColumns({"note": "t.csv: column 'note' holds no state at all"}).columns
    {'note': "t.csv: column 'note' holds no state at all"}
    """

    def __init__(self, columns: dict[str, str]) -> None:
        super().__init__(next(iter(columns.values())))
        self.columns = columns


class ImpossibleEvidence(PossnetError):
    """A question conditions on an event of possibility 0.

    >>> import possnet as pn
    >>> rash = pn.Variable("rash", ("yes", "no"))
    >>> pn.Possibility(rash, [1, 0]).condition("no", pn.PRODUCT)
    Traceback (most recent call last):
        ...
    possnet.errors.ImpossibleEvidence: 'rash' in {no} has possibility 0; nothing can be concluded from an impossible event
    """


class TooLarge(PossnetError, MemoryError):
    """The answer would not fit in memory; refused before anything is allocated.

    >>> import possnet as pn
    >>> issubclass(pn.TooLarge, MemoryError)
    True
    """


class ClusterError(PossnetError):
    """A cluster cannot go on: no workers, no scheduler, a part on which workers die, other versions there.

    >>> import possnet as pn
    >>> issubclass(ClusterError, pn.PossnetError)
    True
    """


class PossnetWarning(UserWarning):
    """Something that the user should know of an answer that stands all the same.

    >>> import warnings
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     warn_user("fit: 3 contexts have no rows; their degrees are all 1")
    >>> caught[0].category.__name__, str(caught[0].message)
    ('PossnetWarning', 'fit: 3 contexts have no rows; their degrees are all 1')
    """


def warn_user(message: str) -> None:
    """Warn, in the name of the first caller outside possnet."""
    import sys
    import warnings
    from pathlib import Path

    room = str(Path(__file__).parent)
    level = 1
    frame = sys._getframe(0)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(room):
        frame, level = frame.f_back, level + 1
    warnings.warn(_shorten_message(message), PossnetWarning, stacklevel=level)


def keep_findings(findings: Iterable[str], total: int, noun: str) -> list[str]:
    """The first findings, as many as one message has room for, and how many ``noun`` more there are.

    >>> keep_findings(["row 1: 'hihg'", "row 7: 'hgih'"], 9, "cells")
    ["row 1: 'hihg'", "row 7: 'hgih'", '... and 7 more cells']
    """
    lines: list[str] = []
    room = LONGEST - 20 - len(noun)
    for finding in findings:
        line = _shorten_message(finding, room if not lines else LONGEST)
        room -= len(line) + 1
        if room < -1:
            break
        lines.append(line)
    return [*lines, *([f"... and {total - len(lines):,} more {noun}"] if total > len(lines) else [])]


def did_you_mean(name: object, known: Iterable[str]) -> str:
    """Ending of an error message that proposes the nearest known name, or nothing.

    >>> did_you_mean("hihg", ("none", "mild", "high"))
    "; did you mean 'high'?"
    >>> did_you_mean("tomorrow", ("none", "mild", "high"))
    ''
    """
    from difflib import get_close_matches

    candidates = [str(candidate) for candidate in islice(known, _MOST_COMPARED)]
    lowered = {candidate.lower(): candidate for candidate in reversed(candidates)}
    nearest = get_close_matches(name.lower()[:200], lowered, n=1, cutoff=0.6) if isinstance(name, str) else []
    return f"; did you mean {lowered[nearest[0]]!r}?" if nearest else ""


def _spell(value: object) -> str:
    try:
        return str(value)
    except Exception:  # noqa: BLE001 - any error of a foreign object, and of numbers of thousands of digits
        return describe_value(value)


def listing(names: Iterable[object], most: int = 8) -> str:
    """Names in a row, cut short after ``most`` of them.

    >>> listing(["none", "mild", "high"])
    'none, mild, high'
    >>> listing(range(100), most=3)
    '0, 1, 2, ... (100 in all)'
    """
    listed = list(names)
    shown = ", ".join(shorten_text(_spell(name), 80) for name in listed[:most])
    return shown if len(listed) <= most else f"{shown}, ... ({len(listed)} in all)"


def count_noun(number: float, noun: str) -> str:
    """A number and what is counted, in the plural where that is due.

    >>> count_noun(1, "row"), count_noun(2000, "row"), count_noun(2.5, "row")
    ('1 row', '2,000 rows', '2.5 rows')
    """
    text = f"{int(number):,}" if float(number).is_integer() else f"{number:,.6g}"
    return f"{text} {noun}{'s' * (number != 1)}"


def among(name: object, known: Iterable[str]) -> str:
    """Ending of an error message about an unknown name: the known ones, and the nearest of them.

    >>> f"no variable 'fevr'{among('fevr', ('fever', 'rash'))}"
    "no variable 'fevr' (fever, rash); did you mean 'fever'?"
    """
    names = list(known)
    return f" ({listing(names)}){did_you_mean(name, names)}"


def require_known(value: object, known: Iterable[str], owner: str) -> None:
    """Raise an `InputError` for anything but one of the names.

    >>> require_known("gredy", ("greedy", "mwst"), "learn_structure: method")
    Traceback (most recent call last):
        ...
    possnet.errors.InputError: learn_structure: method 'gredy'; expected greedy, mwst; did you mean 'greedy'?
    """
    names = list(known)
    if not isinstance(value, str) or value not in names:
        near = did_you_mean(value, names)
        raise InputError(f"{owner} {describe_value(value)}; expected {listing(names, len(names))}{near}")


def require_several(given: object, owner: str) -> list[Any]:
    """What an iterable holds, read once; an `InputError` for a single text and for what cannot be iterated.

    >>> require_several(7, "variable 'fever': states")
    Traceback (most recent call last):
        ...
    possnet.errors.InputError: variable 'fever': states 7; expected several
    """
    if not isinstance(given, str | bytes):
        try:
            return [value for value in given]  # type: ignore[attr-defined]  # noqa: C416 - list(...) asks for the length
        except TypeError:
            pass
    raise InputError(f"{owner} {describe_value(given)}; expected several")


def require_whole(value: object, least: int, owner: str) -> int:
    """The number as it is; an `InputError` for anything but a whole number that is large enough.

    >>> require_whole(0, 1, "sample: batch")
    Traceback (most recent call last):
        ...
    possnet.errors.InputError: sample: batch 0; expected a whole number from 1 on
    """
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise InputError(f"{owner} {describe_value(value)}; expected a whole number from {least} on")
    if int(value) > _LARGEST:
        raise InputError(f"{owner} {describe_value(value)}; expected a whole number below 2**63")
    return int(value)


def require_number(value: object, owner: str, expected: str, least: float = -1e300, most: float = 1e300) -> float:
    """The number as a float; an `InputError` for anything but a real number from ``least`` to ``most``.

    >>> require_number(1.5, "sample: imprecision", "a number from 0 to 1", 0.0, 1.0)
    Traceback (most recent call last):
        ...
    possnet.errors.InputError: sample: imprecision 1.5; expected a number from 0 to 1
    """
    number: Any = value
    if isinstance(value, bool) or not isinstance(value, Real) or not least <= number <= most:
        raise InputError(f"{owner} {describe_value(value)}; expected {expected}")
    return float(value)

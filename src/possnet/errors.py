"""Every error that possnet raises on purpose.

::

    PossnetError
    ├── InputError           a value, a file or an option of the user's is wrong (also a ValueError)
    ├── ImpossibleEvidence   the question conditions on something of possibility 0
    ├── TooLarge             the answer would not fit; refused before anything is allocated (also a MemoryError)
    └── ClusterError         a cluster cannot go on; what was done is kept
    PossnetWarning           the answer stands, but not for all that was asked (a UserWarning)

A message has four parts: whose value it is, what was found, what was expected, what to do. Catch `PossnetError` to
catch them all; anything else that escapes from possnet is a defect of possnet. What does not stop the work is told by
`warn_user`, as a `PossnetWarning` through `warnings`; the command line prints it as one ``Note:`` line.
"""

from __future__ import annotations

from itertools import islice
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "ClusterError",
    "ImpossibleEvidence",
    "InputError",
    "PossnetError",
    "PossnetWarning",
    "TooLarge",
    "among",
    "did_you_mean",
    "listing",
    "require_known",
    "require_number",
    "require_whole",
    "warn_user",
]

_MOST_COMPARED = 10_000  # names that a wrong one is compared with, a few microseconds each


class PossnetError(Exception):
    """The root of all errors that possnet raises on purpose.

    >>> import possnet as pn
    >>> try:
    ...     pn.load_example("asai")
    ... except pn.PossnetError as error:
    ...     print(error)
    no bundled network 'asai' (asia, clinic, pump, survey); did you mean 'asia'?
    """


class InputError(PossnetError, ValueError):
    """A value, a file or an option that the user gave cannot be used.

    >>> import possnet as pn
    >>> pn.Variable("fever", ())
    Traceback (most recent call last):
        ...
    possnet.errors.InputError: variable 'fever': no states; expected at least one
    """


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
    warnings.warn(message, PossnetWarning, stacklevel=level)


def did_you_mean(name: object, known: Iterable[str]) -> str:
    """Ending of an error message that proposes the nearest known name, or nothing.

    >>> did_you_mean("hihg", ("none", "mild", "high"))
    "; did you mean 'high'?"
    >>> did_you_mean("tomorrow", ("none", "mild", "high"))
    ''
    """
    from difflib import get_close_matches

    candidates = list(islice(known, _MOST_COMPARED))
    lowered = {candidate.lower(): candidate for candidate in reversed(candidates)}
    nearest = get_close_matches(str(name).lower()[:200], lowered, n=1, cutoff=0.6)
    return f"; did you mean {lowered[nearest[0]]!r}?" if nearest else ""


def listing(names: Iterable[object], most: int = 8) -> str:
    """Names in a row, cut short after ``most`` of them.

    >>> listing(["none", "mild", "high"])
    'none, mild, high'
    >>> listing(range(100), most=3)
    '0, 1, 2, ... (100 in all)'
    """
    shown = [str(name) for name in names]
    if len(shown) <= most:
        return ", ".join(shown)
    return f"{', '.join(shown[:most])}, ... ({len(shown)} in all)"


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
    if value not in names:
        raise InputError(f"{owner} {value!r}; expected {listing(names, len(names))}{did_you_mean(value, names)}")


def require_whole(value: object, least: int, owner: str) -> int:
    """The number as it is; an `InputError` for anything but a whole number that is large enough.

    >>> require_whole(0, 1, "sample: batch")
    Traceback (most recent call last):
        ...
    possnet.errors.InputError: sample: batch 0; expected a whole number from 1 on
    """
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise InputError(f"{owner} {value!r}; expected a whole number from {least} on")
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
        raise InputError(f"{owner} {value!r}; expected {expected}")
    return float(value)

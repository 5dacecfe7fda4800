"""The ``--bin`` option: how a column of numbers becomes cells, in a line of text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from possnet.errors import InputError, did_you_mean, listing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from possnet.measurements import Binning

_KEYS = ("edges", "bins", "error", "relative", "labels", "ends")
_EXAMPLE = "'temp: edges=36,37.5,38.5 error=.2'"
BINNING_HELP = (
    f"A column of measurements and how to bin it, for example {_EXAMPLE}. "
    "edges=NUMBERS, or edges=quantile or edges=width with bins=N; error=NUMBER, error=5% or error=COLUMN; "
    "labels=a,b,c; ends=closed. May be repeated."
)


def read_binnings(given: Sequence[str]) -> dict[str, Binning]:
    """Binnings of texts such as ``temp: edges=36,37.5 error=.2``.

    >>> read_binnings(["temp: edges=36,37.5 error=5%", "dose: edges=quantile bins=4 error=dose_error"])["temp"]
    Binning(edges=(36.0, 37.5), bins=None, error=0.0, relative=0.05, labels=None, open_ended=True)
    """
    found: dict[str, Binning] = {}
    for text in given:
        name, colon, rest = text.partition(":")
        name = name.strip()
        if not colon or not name or "=" in name:
            raise InputError(f"--bin {text!r}; expected COLUMN: edges=..., for example {_EXAMPLE}")
        if name in found:
            raise InputError(f"--bin {text!r}: {name!r} is given twice; expected once")
        try:
            found[name] = _binning(rest)
        except InputError as error:
            raise InputError(f"--bin {text!r}: {error}") from None
    return found


def _binning(text: str) -> Binning:
    from possnet.measurements import Binning

    options: dict[str, str] = {}
    for part in re.sub(r"\s*([=,])\s*", r"\1", text).split():
        key, equals, value = part.partition("=")
        if not equals or key not in _KEYS:
            raise InputError(
                f"{part!r}; expected one of {listing(_KEYS)}, each with = and a value{did_you_mean(key, _KEYS)}"
            )
        if key in options:
            raise InputError(f"{key!r} appears twice; expected once")
        options[key] = value
    if "edges" not in options:
        raise InputError("no edges=; expected numbers, or quantile or width with bins=")
    edges = options["edges"]
    named: dict[str, Any] = {"edges": edges if edges[:1].isalpha() else [_number(x, "edges") for x in edges.split(",")]}
    if "bins" in options:
        if not options["bins"].isdecimal():
            raise InputError(f"bins={options['bins']}; expected a whole number from 2 on")
        named["bins"] = int(options["bins"])
    error = options.get("error", "0")
    if error.endswith("%"):
        named["relative"] = _number(error[:-1], "error") / 100
    else:
        named["error"] = float(error) if _is_number(error) else error
    if "relative" in options:
        relative = options["relative"]
        share = _number(relative.removesuffix("%"), "relative") / (100 if relative.endswith("%") else 1)
        named["relative"] = named.get("relative", 0.0) + share
    if "labels" in options:
        named["labels"] = options["labels"].split(",")
    ends = options.get("ends", "open")
    if ends not in {"open", "closed"}:
        raise InputError(f"ends={ends}; expected open or closed")
    return Binning(**named, open_ended=ends == "open")


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _number(text: str, key: str) -> float:
    if not _is_number(text):
        raise InputError(f"{key}: {text!r} is not a number; expected numbers, with commas between them")
    return float(text)

"""How large an input may be: one table of limits, each of which a user can raise.

A limit is looked up when it is needed, in the environment first: ``POSSNET_LIMIT_COLUMNS=2000000`` allows two million
columns, for a command, for its worker processes, and in Python with ``os.environ``. ``docs/limits.md`` has the same table.
"""

from __future__ import annotations

import os
from typing import NamedTuple

from possnet.errors import InputError, TooLarge
from possnet.limits.memory import readable_bytes

_PREFIX = "POSSNET_LIMIT_"


class InputLimit(NamedTuple):
    """A limit: its name, its default, the unit, what it bounds, and what to do instead of raising it."""

    name: str
    default: int
    unit: str
    bounds: str
    remedy: str

    @property
    def variable(self) -> str:
        """Name of the environment variable that sets it."""
        return _PREFIX + self.name.upper()

    def format(self, number: int) -> str:
        """A number with its unit.

        >>> LIMITS["columns"].format(5), LIMITS["network_bytes"].format(1 << 30)
        ('5 columns', '1 GiB')
        """
        return readable_bytes(number) if self.unit == "bytes" else f"{number:,} {self.unit}"


LIMITS = {
    limit.name: limit
    for limit in (
        InputLimit(
            "network_bytes",
            1 << 30,
            "bytes",
            "a file of a network, of counts, of a calibration or of evidence, unpacked; also what a pipe gives of one",
            "store fewer or smaller tables",
        ),
        InputLimit(
            "gzip_ratio",
            250,
            "times its size",
            "how far a `.gz` file may unpack, once it has unpacked to more than 64 MiB",
            "unpack it first, if it is what it should be",
        ),
        InputLimit("variables", 1_000_000, "variables", "a network that is read", "split the network"),
        InputLimit(
            "states", 1_000_000, "states", "all variables of a network that is read, taken together", "merge states"
        ),
        InputLimit(
            "columns", 100_000, "columns", "a data file", "keep the columns that are needed, or write rows as columns"
        ),
        InputLimit(
            "stream_bytes",
            1 << 40,
            "bytes",
            "what a command copies from standard input or a pipe, if half of the free disk is not less",
            "give the name of a file",
        ),
        InputLimit("line", 1 << 28, "characters", "a line of a CSV file", "break it into rows, or keep fewer columns"),
        InputLimit("cell", 1_000_000, "characters", "a cell of a data file that is a text", "leave the column out"),
        InputLimit(
            "wait",
            10,
            "seconds",
            "how long a pipe that nobody has opened for writing is waited for",
            "start what writes to it first",
        ),
    )
}


def format_limits() -> str:
    """The table of limits as Markdown, for ``docs/limits.md``."""
    lines = ["| limit | default | bounds | environment variable |", "|---|--:|---|---|"]
    lines += [f"| `{m.name}` | {m.format(m.default)} | {m.bounds} | `{m.variable}` |" for m in LIMITS.values()]
    return "\n".join(lines) + "\n"


def current_limit(name: str) -> int:
    """The limit of a name: that of the environment, or its default.

    >>> current_limit("columns")
    100000
    """
    limit = LIMITS[name]
    text = os.environ.get(limit.variable, "").strip()
    if not text:
        return limit.default
    if not text.isascii() or not text.isdigit() or len(text) > 18 or int(text) < 1:
        raise InputError(f"{limit.variable}={text[:40]!r}; expected a whole number from 1 on, such as {limit.default}")
    return int(text)


def refuse_above(name: str, number: int, owner: str, *, at_least: bool = False) -> None:
    """Raise `TooLarge` if a number is above the limit of a name; ``at_least`` says that only so much was looked at.

    >>> refuse_above("columns", 2_000_000, "wide.csv")
    Traceback (most recent call last):
        ...
    possnet.errors.TooLarge: wide.csv: 2,000,000 columns; the limit is 100,000 columns; keep the columns that are
    needed, or write rows as columns; or raise the limit: POSSNET_LIMIT_COLUMNS=2000000
    """
    allowed = current_limit(name)
    if number > allowed:
        limit = LIMITS[name]
        more = "more than " if at_least else ""
        needed = "..." if at_least else str(number)
        figure = allowed if at_least else number
        raise TooLarge(
            f"{owner}: {more}{limit.format(figure)}; the limit is {limit.format(allowed)}; {limit.remedy}; "
            f"or raise the limit: {limit.variable}={needed}"
        )

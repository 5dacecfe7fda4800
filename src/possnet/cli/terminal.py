"""The terminal: its width, whether it has colour, and how lines are folded, painted and printed."""

from __future__ import annotations

import re
import sys
import textwrap
from os import environ
from typing import TYPE_CHECKING, NamedTuple

import click

from possnet.errors import escape_controls

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import IO

    from rich.console import Console
    from rich.text import Text

UNLIMITED = 1 << 15
_COLOUR = "possnet.colour"
_STYLES = {"headline": "bold", "head": "bold cyan", "text": ""}
_MARKS = (
    ("█+", "blue"),
    ("▒+", "cyan"),
    ("░+", "bright_black"),
    ("^Wrote", "green"),
    ("^Note:", "yellow"),
    ("^Error:", "bold red"),
)


class PageLine(NamedTuple):
    """A line as it is printed: its text, and whether it is a ``headline``, the ``head`` of a table, or ``text``."""

    text: str
    role: str = "text"


def show_line(text: str, *, err: bool = True) -> None:
    """Print a sentence that is no result, folded to the terminal: a note, an error, or what was written and where."""
    stream = sys.stderr if err else sys.stdout
    if stream is not None:
        width = get_width() if stream.isatty() else UNLIMITED
        lines = [line for sentence in text.split("\n") for line in fold_line(escape_controls(sentence), width)]
        print_lines([PageLine(line) for line in lines], stream, err=err)


def print_lines(lines: Sequence[PageLine], stream: IO[str], *, err: bool) -> None:
    """Print lines, with colour if the terminal has some and nobody has asked for none.

    Names come from files, and a terminal obeys what they hold: control characters are printed as their escapes.
    """
    lines = [PageLine(escape_controls(line.text), line.role) for line in lines]
    if wants_colour(stream):
        console = make_console(stream)
        for line in lines:
            console.print(_paint(line), soft_wrap=True)
    else:
        click.echo("\n".join(line.text for line in lines), err=err)


def keep_colour(ctx: click.Context, colour: bool | None) -> None:  # noqa: FBT001 - the value of an option
    """Keep whether colour was asked for, or asked not to be."""
    ctx.meta[_COLOUR] = colour


def wants_colour(stream: IO[str]) -> bool:
    """Whether to write colour: as asked for, else on terminals unless NO_COLOR is set or TERM is dumb."""
    asked = _asked_colour()
    if asked is not None:
        return asked
    return stream.isatty() and not environ.get("NO_COLOR") and environ.get("TERM") != "dumb"


def make_console(stream: IO[str]) -> Console:
    """The console of rich that writes to a stream."""
    from rich.console import Console

    colour = wants_colour(stream)
    return Console(
        file=stream,
        force_terminal=True if colour else None,
        color_system="standard" if colour else None,
        highlight=False,
        markup=False,
        emoji=False,
    )


def _asked_colour() -> bool | None:
    ctx = click.get_current_context(silent=True)
    return None if ctx is None else ctx.find_root().meta.get(_COLOUR)


def _paint(line: PageLine) -> Text:
    from rich.text import Text

    text = Text(line.text, style=_STYLES[line.role])
    for pattern, style in _MARKS:
        text.highlight_regex(pattern, style)
    return text


def get_width() -> int:
    """Columns of the terminal; 100 if there is none."""
    from shutil import get_terminal_size

    return get_terminal_size((100, 24)).columns


def fold_line(line: str, width: int) -> list[str]:
    """Lines that fit a terminal: a sentence is folded between words, a line of columns (two blanks apart) is cut.

    >>> fold_line("one sentence that is long", 14), fold_line("  one  long row", 14)
    (['one sentence', '  that is long'], ['  one  long r…'])
    """
    if len(line) <= width:
        return [line]
    if re.search(r"\S  +\S", line):
        return [cut_line(line, width)]
    margin = line[: len(line) - len(line.lstrip())]
    return fold_words(line.strip(), width, margin, margin or "  ")


def fold_words(text: str, width: int, first: str = "", others: str = "") -> list[str]:
    """Lines that break between words only, with something before the first of them and the others.

    >>> fold_words("rows: alpha-cut,traced", 12), fold_words("in all 5 %", 9)
    (['rows:', 'alpha-cut,traced'], ['in all', '5 %'])
    """
    lines = textwrap.wrap(
        text.replace(" %", "\xa0%"),
        width,
        initial_indent=first,
        subsequent_indent=others,
        break_on_hyphens=False,
        break_long_words=False,
    )
    return [line.replace("\xa0%", " %") for line in lines]


def cut_line(line: str, width: int) -> str:
    """A line cut to a width, with a mark where it was."""
    return line if len(line) <= width else f"{line[: width - 1]}…"

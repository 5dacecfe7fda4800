"""How commands print: pages of sentences and tables for people, documents for machines.

A page is a list of lines and of tables (`make_table`). It is laid out when it is printed: on a terminal sentences are
folded and tables made as narrow as it is; elsewhere nothing is cut or folded.
"""

from __future__ import annotations

import json
import sys
import textwrap
from collections.abc import Mapping
from typing import TYPE_CHECKING, TypeAlias

import click

from possnet.cli.notes import list_notes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.padding import Padding

Page: TypeAlias = "list[str | Padding]"
_MOST_ROWS = 60
_UNLIMITED = 1 << 15


def show(page: Page | Mapping[str, object], *, err: bool = False) -> None:
    """Print a page, or a document as JSON with what possnet warned of as ``notes``."""
    stream = sys.stderr if err else sys.stdout
    if stream is None:
        return
    if isinstance(page, Mapping):
        document = {**page, "notes": list_notes(click.get_current_context())}
        text = json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False)
    else:
        text = render_page(page, get_width() if stream.isatty() else _UNLIMITED)
    click.echo(text, err=err)


def get_width() -> int:
    """Columns of the terminal; 100 if there is none."""
    from shutil import get_terminal_size

    return get_terminal_size((100, 24)).columns


def make_table(
    rows: Sequence[Sequence[str]], head: Sequence[str] = (), *, texts: int | None = None, indent: int = 2
) -> Padding:
    """A table without lines: the first ``texts`` columns (all, if None) to the left, numbers to the right.

    Texts are folded where there is no room. A very long table is cut short.

    >>> print(render_page([make_table([("rash", "1.50"), ("fever", "10.00")], ("variable", "size"), texts=1)]))
      variable   size
      rash       1.50
      fever     10.00
    """
    from rich.padding import Padding
    from rich.table import Table

    shown = [tuple(head), *rows[:_MOST_ROWS]] if head else rows[:_MOST_ROWS]
    table = Table(*[""] * len(shown[0]), box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    for number, (column, cells) in enumerate(zip(table.columns, zip(*shown, strict=True), strict=True)):
        column.no_wrap = texts is not None and number >= texts
        column.justify = "right" if column.no_wrap else "left"
        words = cells if column.no_wrap else " ".join(cells).split() or [""]
        # Words and numbers stay whole: rich would shrink text columns to nothing. What then lacks room, render_page cuts.
        column.min_width = max(map(len, words))
    for row in shown:
        table.add_row(*row)
    if len(rows) > _MOST_ROWS:
        table.add_row(f"... and {len(rows) - _MOST_ROWS} more")
    return Padding.indent(table, indent)


def render_page(page: Page, width: int = _UNLIMITED) -> str:
    """The text of a page for a terminal of a given width.

    >>> print(render_page(["one sentence that is long", make_table([("two", "columns of words")])], 16))
    one sentence
      that is long
      two  columns
           of words
    """
    lines: list[str] = []
    for part in page:
        if isinstance(part, str):
            lines += (folded for line in part.splitlines() or [""] for folded in _fold_line(line, width))
        else:
            lines += _draw_table(part, width)
    return "\n".join(lines)


def _draw_table(table: Padding, width: int) -> list[str]:
    """Lines of a table, as narrow as it can be made and then cut."""
    from rich.console import Console

    console = Console(width=_UNLIMITED, color_system=None, markup=False, highlight=False, emoji=False)
    with console.capture() as drawn:
        console.print(table, width=max(width, console.measure(table).minimum), crop=False)
    return [_cut_line(line.rstrip(), width) for line in drawn.get().splitlines()]


def _fold_line(line: str, width: int) -> list[str]:
    """Lines that fit a terminal: a sentence is folded, a line of columns (which are two blanks apart) is cut.

    >>> _fold_line("one sentence that is long", 14), _fold_line("  one  long row", 14)
    (['one sentence', '  that is long'], ['  one  long r…'])
    """
    if len(line) <= width or "  " in line.strip():
        return [_cut_line(line, width)]
    return textwrap.wrap(line, width, subsequent_indent="  ", break_on_hyphens=False)


def _cut_line(line: str, width: int) -> str:
    return line if len(line) <= width else f"{line[: width - 1]}…"

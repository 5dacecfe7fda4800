"""How commands print: pages of sentences and tables for people, documents for machines.

A page is a list of lines and of tables (`make_table`); its first line is the headline. It is laid out when it is printed:
on a terminal sentences are folded, and tables made as narrow as it is or continued below with their first columns again;
elsewhere nothing is folded. Colour is put on the finished text, so that it never changes the layout.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import click

from possnet.cli.notes import list_notes
from possnet.cli.terminal import UNLIMITED, PageLine, cut_line, fold_line, fold_words, get_width, print_lines
from possnet.errors import escape_controls

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Sequence

    from possnet.network import Network

Page: TypeAlias = "list[str | PageTable]"
_MOST_ROWS = 60
_GAP = 2


@dataclass(frozen=True, slots=True)
class PageTable:
    """A table of texts: see `make_table`."""

    rows: tuple[tuple[str, ...], ...]
    head: tuple[str, ...]
    numbers: frozenset[int]
    keys: int
    indent: int

    def pick_columns(self, chosen: Sequence[int]) -> PageTable:
        """The table of some of its columns; the keys come first."""
        rows = tuple(tuple(row[k] for k in chosen) for row in self.rows)
        head = tuple(self.head[k] for k in chosen) if self.head else ()
        numbers = frozenset(new for new, old in enumerate(chosen) if old in self.numbers)
        return PageTable(rows, head, numbers, self.keys, self.indent)


def show(page: Page | Mapping[str, object], *, err: bool = False) -> None:
    """Print a page, or a document as JSON with what possnet warned of as ``notes``."""
    stream = sys.stderr if err else sys.stdout
    if stream is None:
        return
    if isinstance(page, Mapping):
        document = {**page, "notes": list_notes(click.get_current_context())}
        click.echo(_write_json(document, stream.encoding), err=err)
        return
    lines = lay_out_page(page, get_width() if stream.isatty() else UNLIMITED)
    print_lines(lines, stream, err=err)


def _write_json(document: Mapping[str, object], encoding: str | None = None) -> str:
    """A document as JSON that is read back as it was: what a terminal would obey, or a stream lacks, is an escape.

    >>> print(_write_json({"fièvre": "熱"}, "latin-1"))
    {
      "fièvre": "\\u71b1"
    }
    """
    text = json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False)
    return re.sub(r"[^ -~\n]", lambda match: _escape_character(match[0], encoding or "utf-8"), text)


def _escape_character(character: str, encoding: str) -> str:
    lacking = character.encode(encoding, "ignore") == b""
    return json.dumps(character)[1:-1] if lacking or escape_controls(character) != character else character


def escape_names(text: str, network: Network) -> str:
    """A text of several lines, in which names and states that hold line breaks are shown with their escapes."""
    for variable in network.variables:
        for name in (variable.name, *variable.states):
            if escape_controls(name) != name:
                text = text.replace(name, escape_controls(name))
    return text


def make_table(
    rows: Sequence[Sequence[str]],
    head: Sequence[str] = (),
    *,
    texts: int | None = None,
    numbers: Iterable[int] = (),
    total: Sequence[str] = (),
    keys: int = 1,
    indent: int = 2,
) -> PageTable:
    """A table without lines: the first ``texts`` columns (all but ``numbers``, if None) to the left, numbers to the right.

    Where there is no room, heads and texts are folded between words; then the table goes on below, with its first ``keys``
    columns again. Columns without any entry are left out, and a very long table is cut short before its ``total``.

    >>> print(render_page([make_table([("rash", "1.50"), ("fever", "10.00")], ("variable", "size"), texts=1)]))
      variable   size
      rash       1.50
      fever     10.00
    """
    count = len(head or rows[0])
    shown = [tuple(map(escape_controls, row)) for row in rows[:_MOST_ROWS]]
    if len(rows) > _MOST_ROWS:
        shown.append((f"... and {len(rows) - _MOST_ROWS} more", *[""] * (count - 1)))
    shown += [tuple(total)] if total else []
    right = frozenset(numbers if texts is None else range(texts, count))
    table = PageTable(tuple(shown), tuple(map(escape_controls, head)), right, keys, indent)
    filled = [k for k in range(count) if k < keys or not shown or any(row[k] for row in shown)]
    return table if len(filled) == count else table.pick_columns(filled)


def draw_bar(possibility: float, necessity: float, length: int) -> str:
    """A degree as a bar of characters: as long as it is possible, filled as far as it is certain.

    >>> draw_bar(1.0, 0.25, 8), draw_bar(0.5, 0.0, 8)
    ('██▒▒▒▒▒▒', '▒▒▒▒    ')
    """
    full, half = round(necessity * length), round(possibility * length)
    return ("█" * full + "▒" * (half - full)).ljust(length)


def render_page(page: Page, width: int = UNLIMITED) -> str:
    """The text of a page for a terminal of a given width.

    >>> print(render_page(["one sentence that is long", make_table([("two", "columns of words")])], 16))
    one sentence
      that is long
      two  columns
           of words
    """
    return "\n".join(line.text for line in lay_out_page(page, width))


def lay_out_page(page: Page, width: int = UNLIMITED) -> list[PageLine]:
    """The lines of a page for a terminal of a given width.

    >>> lay_out_page(["rash", make_table([("yes", "1")], ("state", "Π"), texts=1)])[1]
    PageLine(text='  state  Π', role='head')
    """
    lines: list[PageLine] = []
    for number, part in enumerate(page):
        if isinstance(part, str):
            role = "text" if number else "headline"
            lines += (PageLine(line, role) for line in fold_line(escape_controls(part), width))
        else:
            lines += _draw_table(part, width)
    return lines


def _draw_table(table: PageTable, width: int) -> list[PageLine]:
    """Lines of a table; if it is too wide even when folded, of several with some of its columns each."""
    natural, least = _measure_columns(table)
    blocks = _split_columns(least, table.keys, width - table.indent)
    if len(blocks) > 1:
        lines: list[PageLine] = []
        for block in blocks:
            lines += [*([PageLine("")] if lines else []), *_draw_table(table.pick_columns(block), width)]
        return lines
    widths = _tighten(table, _fit_widths(natural, least, table.numbers, width - table.indent))
    drawn = [PageLine(line, "head") for line in _draw_row(table.head, widths, table)] if table.head else []
    drawn += [PageLine(line) for row in table.rows for line in _draw_row(row, widths, table)]
    return [PageLine(cut_line(line.text, width), line.role) for line in drawn]


def _measure_columns(table: PageTable) -> tuple[list[int], list[int]]:
    """How wide every column would be, and how narrow it can be: a word of a text or of a head, a whole number."""
    natural, least = [], []
    for k, head in enumerate(table.head or [""] * len(table.rows[0])):
        cells = [row[k] for row in table.rows]
        parts = [word for cell in cells for word in cell.split()] if k not in table.numbers else cells
        natural.append(max(map(len, [*cells, head])))
        least.append(max(map(len, [*parts, *head.split(), ""])))
    return natural, least


def _split_columns(least: Sequence[int], keys: int, room: int) -> list[list[int]]:
    """Columns in blocks that fit, each with the keys and at least one more.

    >>> _split_columns([5, 4, 4, 4], 1, 17)
    [[0, 1, 2], [0, 3]]
    """
    blocks = [list(range(min(keys, len(least))))]
    for k in range(len(blocks[0]), len(least)):
        wide = sum(least[j] + _GAP for j in blocks[-1]) + least[k]
        if wide > room and len(blocks[-1]) > keys:
            blocks.append([*range(keys), k])
        else:
            blocks[-1].append(k)
    return blocks


def _fit_widths(natural: Sequence[int], least: Sequence[int], numbers: Container[int], room: int) -> list[int]:
    """Widths that fit: the heads of numbers are folded first, then the widest texts."""
    widths, room = list(natural), room - _GAP * (len(natural) - 1)
    every = range(len(widths))
    for columns in ([k for k in every if k in numbers], [k for k in every if k not in numbers]):
        while sum(widths) > room:
            loose = [k for k in columns if widths[k] > least[k]]
            if not loose:
                break
            widths[max(loose, key=widths.__getitem__)] -= 1
    return widths


def _tighten(table: PageTable, widths: Sequence[int]) -> list[int]:
    """Widths without the room that is left over where texts and heads are folded."""
    return [
        max(len(line) for row in (table.head, *table.rows) if row for line in fold_words(row[k], w) or [""])
        for k, w in enumerate(widths)
    ]


def _draw_row(row: Sequence[str], widths: Sequence[int], table: PageTable) -> list[str]:
    """The lines of a row of a table, its cells folded between words."""
    cells = [fold_words(text, w) or [""] for text, w in zip(row, widths, strict=True)]
    lines = []
    for k in range(max(map(len, cells))):
        parts = [cell[k] if k < len(cell) else "" for cell in cells]
        pairs = zip(parts, widths, strict=True)
        sides = [text.rjust(w) if j in table.numbers else text.ljust(w) for j, (text, w) in enumerate(pairs)]
        lines.append((" " * table.indent + (" " * _GAP).join(sides)).rstrip())
    return lines

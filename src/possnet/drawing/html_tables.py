"""Tables: as plain text for terminals, as HTML for notebooks and reports, on light pages and dark ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

from possnet.drawing.svg import Picture, escape_markup
from possnet.errors import escape_controls

if TYPE_CHECKING:
    from collections.abc import Container, Sequence

_CELL = "padding:.15em .9em .15em 0;border-bottom:1px solid rgba(128,128,128,.25);font-variant-numeric:tabular-nums"
_MARK = ";background:rgba(94,193,232,.28)"


def text_table(rows: Sequence[Sequence[str]], *, texts: int | None = None, indent: str = "  ") -> list[str]:
    """Lines of columns, two spaces apart; the first ``texts`` columns (all, if None) to the left, others to the right.

    >>> text_table([("a", "bb"), ("ccc", "d")], texts=1)
    ['  a    bb', '  ccc   d']
    """
    rows = [tuple(map(escape_controls, row)) for row in rows]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        cells = [
            cell.ljust(width) if texts is None or number < texts else cell.rjust(width)
            for number, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append((indent + "  ".join(cells)).rstrip())
    return lines


def draw_table(
    head: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    caption: str = "",
    note: str = "",
    marked: Container[tuple[int, int]] = (),
) -> Picture:
    """A table with its caption above and a note below; columns of numbers to the right, others to the left.

    Entries (row, column) that are ``marked`` have a background.

    >>> draw_table(["state", "degree"], [["mild", "0.6"]], caption="fever").count("<td")
    2
    """
    sides = ["left" if any(not _is_number(row[k]) for row in rows) else "right" for k in range(len(head))]
    tops = "".join(
        f'<th scope="col" style="{_CELL};text-align:{side}">{escape_markup(text)}</th>'
        for text, side in zip(head, sides, strict=True)
    )
    body = "".join(
        "<tr>"
        + "".join(
            f'<td style="{_CELL};text-align:{side}{_MARK * ((k, j) in marked)}">{escape_markup(text)}</td>'
            for j, (text, side) in enumerate(zip(row, sides, strict=True))
        )
        + "</tr>"
        for k, row in enumerate(rows)
    )
    above = f'<div style="font-weight:600;margin:.3em 0">{escape_markup(caption)}</div>' if caption else ""
    below = f'<div style="opacity:.75;margin:.3em 0">{escape_markup(note)}</div>' if note else ""
    return Picture(
        f'{above}<table class="possnet" style="border-collapse:collapse;margin:0"><thead><tr>{tops}</tr></thead>'
        f"<tbody>{body}</tbody></table>{below}"
    )


def draw_details(summary: str, body: str, *, opened: bool = False) -> Picture:
    """Mark-up behind a line that opens and closes it by a click, without any script.

    >>> draw_details("2 rows", "<p>yes</p>")
    '<details><summary style="cursor:pointer;margin:.3em 0">2 rows</summary><p>yes</p></details>'
    """
    mark = ' open="open"' if opened else ""
    title = f'<summary style="cursor:pointer;margin:.3em 0">{escape_markup(summary)}</summary>'
    return Picture(f"<details{mark}>{title}{body}</details>")


def _is_number(text: str) -> bool:
    return (
        not text or text.replace(",", "").replace(" ", "").strip("±-+%.").replace(".", "", 2).replace("±", "").isdigit()
    )

"""Help pages that break lines between words only: ``alpha-cut,traced`` and ``--max-parents`` stay whole."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Iterable

_HYPHEN = "\u2011"  # click breaks lines after a hyphen, but not after this one


class HelpFormatter(click.HelpFormatter):
    """click's formatter, without breaks at hyphens.

    >>> page = HelpFormatter(width=24)
    >>> page.write_text("by default alpha-cut,traced")
    >>> print(page.getvalue())
    by default
    alpha-cut,traced
    """

    def write_text(self, text: str) -> None:
        """Write a paragraph."""
        super().write_text(text.replace("-", _HYPHEN))

    def write_dl(self, rows: Iterable[tuple[str, str]], col_max: int = 30, col_spacing: int = 2) -> None:
        """Write options or commands and their help."""
        super().write_dl([(name, text.replace("-", _HYPHEN)) for name, text in rows], col_max, col_spacing)

    def getvalue(self) -> str:
        """The page, with ordinary hyphens."""
        return super().getvalue().replace(_HYPHEN, "-")


class HelpContext(click.Context):
    """A context whose help pages are formatted so."""

    formatter_class = HelpFormatter

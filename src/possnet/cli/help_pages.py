"""Help pages and usage errors that break lines between words only: ``alpha-cut,traced``, ``--max-parents`` stay whole."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from possnet.cli.terminal import show_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import IO, Any

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


class UsageRefusal(click.UsageError):
    """A command that cannot be understood: how it is used, where its help is, and the error, folded to the terminal."""

    def show(self, file: IO[Any] | None = None) -> None:
        """Print it on standard error."""
        del file
        if self.ctx is None:
            show_line(f"Error: {self.format_message()}")
            return
        with self.ctx.scope(cleanup=False):
            click.echo(self.ctx.get_usage(), err=True)
            show_line(f"Try '{self.ctx.command_path} --help' for help.")
            click.echo(err=True)
            show_line(f"Error: {self.format_message()}")


@contextmanager
def fold_usage_errors() -> Iterator[None]:
    """Turn click's usage errors, which a terminal would break anywhere, into folded ones.

    >>> with fold_usage_errors():
    ...     raise click.BadParameter("'tracd' is no process", param_hint="--process")
    Traceback (most recent call last):
    possnet.cli.help_pages.UsageRefusal: Invalid value for --process: 'tracd' is no process
    """
    try:
        yield
    except (click.exceptions.NoArgsIsHelpError, UsageRefusal):
        raise
    except click.UsageError as error:
        raise UsageRefusal(error.format_message(), error.ctx) from None


class HelpContext(click.Context):
    """A context whose help pages are formatted so."""

    formatter_class = HelpFormatter

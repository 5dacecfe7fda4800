"""The ``possnet`` command: parse, call one function, print, exit code.

Results go to standard output, everything else to standard error. Exit codes: 0 done, 1 an input cannot be used, 2 the
command line cannot be understood, 130 stopped with Ctrl-C. Nothing heavy is imported before a command needs it.
"""

from __future__ import annotations

import errno
import os
import sys
from contextlib import suppress
from importlib import import_module
from typing import IO, Any

import click

import possnet as pn
from possnet.cli.help_pages import HelpContext, fold_usage_errors
from possnet.cli.notes import catch_notes
from possnet.cli.plain_letters import spare_letters
from possnet.cli.spooling import name_input
from possnet.cli.terminal import keep_colour, show_line
from possnet.errors import PossnetError
from possnet.limits import describe_shortage

__all__ = ["main", "spare_letters"]

_SMALLER = "take fewer rows, columns, states or parents, or allow more memory (free it, or ulimit -v)"
_COMMANDS = (
    *("info", "query", "ask", "explore", "sample", "fit", "learn", "complete"),
    *("check", "classify", "score", "compare", "evaluate", "report", "convert", "completion"),
)


class _Refusal(click.ClickException):
    """An error in one sentence, folded to the terminal."""

    def __init__(self, message: str, ctx: click.Context) -> None:
        super().__init__(message)
        self.ctx = ctx

    def show(self, file: IO[Any] | None = None) -> None:
        """Print it on standard error."""
        del file
        with self.ctx.scope(cleanup=False):
            show_line(f"Error: {self.format_message()}")


class _Program(click.Group):
    """A group of commands that turns an error of possnet into one line and exit code 1, and its warnings into notes."""

    def invoke(self, ctx: click.Context) -> object:
        try:
            with catch_notes(ctx), fold_usage_errors():
                return super().invoke(ctx)
        except PossnetError as error:
            raise _Refusal(name_input(str(error), ctx), ctx) from None
        except OSError as error:
            if error.errno == errno.EPIPE:
                raise
            with suppress(OSError):  # what was not written cannot be written at the end either
                os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            where = f"{error.filename}: " if error.filename else ""
            raise _Refusal(f"{where}{(error.strerror or str(error)).lower()}", ctx) from None
        except (MemoryError, RecursionError, RuntimeError, ImportError, SyntaxError, SystemError) as error:
            finding = describe_shortage(error)
            if finding is None:
                raise
            raise _Refusal(f"{finding}; {_SMALLER}", ctx) from None
        except KeyboardInterrupt:
            show_line("Stopped.")
            sys.exit(130)

    def make_context(self, *arguments: Any, **options: Any) -> click.Context:
        """Understand the options before the command."""
        with fold_usage_errors():
            return super().make_context(*arguments, **options)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Commands in the order in which a newcomer needs them."""
        del ctx
        return list(self.commands)


@click.group(
    cls=_Program,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100, "show_default": True},
    epilog="Exit codes: 0 done, 1 an input cannot be used, 2 the command cannot be understood, 130 stopped with Ctrl-C.",
)
@click.option(
    "--colour/--no-colour",
    "--color/--no-color",
    default=None,
    show_default=False,
    expose_value=False,
    callback=lambda ctx, _, value: keep_colour(ctx, value),
    is_eager=True,
    help="Print in colour, or not; by default on a terminal, unless NO_COLOR is set.",
)
@click.version_option(pn.__version__, prog_name="possnet")
def main() -> None:
    """Possibilistic networks: reason and learn from data whose cells are sets.

    NET is a network's file (such as .json or .bif) or the name of a bundled network (asia, clinic, pump, survey). DATA
    is a file of data (such as .csv or .parquet), a folder of them, or a pattern. - is standard input or output.

    \b
    With a table of your own (cells such as mild|high, ?):
      possnet info patients.csv
      possnet learn patients.csv --out learned.json
      possnet complete learned.json patients.csv --out resolved.csv

    \b
    Without one:
      possnet explore clinic
      possnet query clinic measles --given 'fever=mild|high' --given rash=spots
      possnet evaluate --out my-run
    """


main.context_class = HelpContext
for _name in _COMMANDS:
    _command: click.Command = getattr(import_module(f"possnet.cli.commands.{_name}_command"), f"{_name}_command")
    _command.context_class = HelpContext
    main.add_command(_command)

"""The ``possnet`` command: parse, call one function, print, exit code.

Results go to standard output, everything else to standard error. Exit codes: 0 done, 1 an input cannot be used, 2 the
command line cannot be understood, 130 stopped with Ctrl-C. Nothing heavy is imported before a command needs it.
"""

from __future__ import annotations

import errno
import os
import signal
import sys
import threading
from contextlib import suppress
from importlib import import_module

import click

import possnet as pn
from possnet.cli.inputs import name_input
from possnet.cli.notes import catch_notes
from possnet.errors import PossnetError

__all__ = ["main"]

_COMMANDS = (
    *("info", "query", "ask", "explore", "sample", "fit", "learn", "complete"),
    *("check", "classify", "score", "compare", "evaluate", "report", "convert", "completion"),
)


class _Program(click.Group):
    """A group of commands that turns an error of possnet into one line and exit code 1, and its warnings into notes."""

    def invoke(self, ctx: click.Context) -> object:
        _end_on_signals()
        try:
            with catch_notes(ctx):
                return super().invoke(ctx)
        except PossnetError as error:
            raise click.ClickException(name_input(str(error), ctx)) from None
        except OSError as error:
            if error.errno == errno.EPIPE:
                raise
            with suppress(OSError):  # what was not written cannot be written at the end either
                os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            where = f"{error.filename}: " if error.filename else ""
            raise click.ClickException(f"{where}{(error.strerror or str(error)).lower()}") from None
        except KeyboardInterrupt:
            click.echo("Stopped.", err=True)
            sys.exit(130)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Commands in the order in which a newcomer needs them."""
        del ctx
        return list(self.commands)


def _end_on_signals() -> None:
    """Exit in order on SIGHUP and SIGTERM, so that files begun are removed and nothing is left half-written."""
    if threading.current_thread() is threading.main_thread():
        for name in ("SIGHUP", "SIGTERM"):
            number = getattr(signal, name, None)
            if number is not None and signal.getsignal(number) is signal.SIG_DFL:
                signal.signal(number, lambda number, _: sys.exit(128 + number))


@click.group(
    cls=_Program,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100, "show_default": True},
    epilog="Exit codes: 0 done, 1 an input cannot be used, 2 the command cannot be understood, 130 stopped with Ctrl-C.",
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


for _name in _COMMANDS:
    main.add_command(getattr(import_module(f"possnet.cli.commands.{_name}_command"), f"{_name}_command"))

"""The ``possnet`` command: parse, call one function, print, exit code.

Results go to standard output, everything else to standard error. Exit codes: 0 done, 1 an input cannot be used, 2 the
command line cannot be understood. Nothing heavy is imported before a command needs it.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

import possnet as pn
from possnet.errors import InputError, PossnetError, did_you_mean, listing

if TYPE_CHECKING:
    from possnet.network import Network

__all__ = ["main"]


class _Program(click.Group):
    """A group of commands that turns a possnet error into one line and exit code 1, and proposes near names."""

    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except PossnetError as error:
            raise click.ClickException(str(error)) from None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            commands = self.list_commands(ctx)
            hint = did_you_mean(args[0], commands) or f" ({listing(commands)})"
            raise click.UsageError(f"no command {args[0]!r}{hint}", ctx) from error


@click.group(cls=_Program, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(pn.__version__, prog_name="possnet")
def main() -> None:
    """Possibilistic networks: reason and learn from data whose cells are sets.

    NET is a file or the name of a bundled network (asia, clinic, pump, survey).
    """


@main.command()
@click.argument("net")
def info(net: str) -> None:
    """Show what a network holds.

    Example: possnet info asia
    """
    from possnet.cli.pages import network_page

    click.echo(network_page(_network(net)))


def _network(name: str) -> Network:
    """A file, or a bundled network."""
    from possnet.io import example_names

    if Path(name).suffix:
        return pn.read_network(name)
    if name in example_names():
        return pn.load_example(name)
    if Path(name).exists():
        return pn.read_network(name)
    raise InputError(
        f"{name}: no such file and no bundled network of that name ({listing(example_names())})"
        f"{did_you_mean(name, example_names())}"
    )

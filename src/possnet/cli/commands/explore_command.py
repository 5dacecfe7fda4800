"""``possnet explore``: a network to touch, on a page of this machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from possnet.cli.parse import NET

if TYPE_CHECKING:
    import possnet as pn


@click.command(short_help="Touch a network on a page in your browser.")
@click.argument("net", metavar="NET", type=NET)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    help="The port to use; 0 for any free one. By default 8642 if it is free, or else any free one.",
)
@click.option("--no-browser", is_flag=True, help="Print the address only; open no browser.")
def explore_command(net: pn.Network, port: int | None, no_browser: bool) -> None:  # noqa: FBT001
    """Open a page on which a network is touched: click states, watch every bar move, edit its tables.

    A click says that a state is so; a click on a second one, that it is one or the other. The page is served to this
    machine only, until Ctrl-C. Edits stay in memory: download the edited network from the page to keep it.

    \b
    Examples:
      possnet explore clinic
      possnet explore alarm.bif.gz --port 8000 --no-browser
    """
    from possnet.explorer import explore

    def announce(address: str) -> None:
        click.echo(address)
        click.echo("Open this address in a browser on this machine; Ctrl-C ends it.", err=True)

    explore(net, port=port, open_browser=not no_browser, announce=announce)

"""``possnet explore``: a network on a local web page, with evidence by clicks."""

from __future__ import annotations

from pathlib import Path

import click

from possnet.cli.inputs import read_net
from possnet.cli.parse import NET_NAME


@click.command(short_help="Explore a network in your browser.")
@click.argument("net", metavar="[NET]", required=False, type=NET_NAME)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    metavar="N",
    help="The port to use; 0 for any free one. By default 8642 if it is free, or else any free one.",
)
@click.option("--no-browser", is_flag=True, help="Only print the address.")
def explore_command(net: str | None, port: int | None, no_browser: bool) -> None:  # noqa: FBT001
    """Explore a network in your browser, or build one: enter evidence by clicks, watch every bar move, edit its tables.

    A click on a state observes it; a click on a second one says that it is one or the other. Without a network the page
    offers the bundled ones, the files of this folder, and an empty canvas. The page is served to this machine only, and
    only to those who have its address with the token, until Ctrl-C. Changes stay in memory: save or download the network
    from the page to keep it.

    \b
    Examples:
      possnet explore
      possnet explore clinic
      possnet explore alarm.bif.gz --port 8000 --no-browser
    """
    from possnet.explorer import explore
    from possnet.io import example_names

    def announce(address: str) -> None:
        click.echo(address)
        click.echo("Open this address in a browser on this machine; Ctrl-C ends it.", err=True)

    network = None if net is None else read_net(net)
    file = net if net is not None and Path(net).is_file() and net not in example_names() else None
    explore(network, file=file, port=port, open_browser=not no_browser, announce=announce)

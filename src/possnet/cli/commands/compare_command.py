"""``possnet compare``: how far one network is from another."""

from __future__ import annotations

import click

import possnet as pn
from possnet.cli.parse import NET
from possnet.cli.render import show
from possnet.cli.shared_options import json_option


@click.command(short_help="How far one network is from another.")
@click.argument("truth", metavar="NET", type=NET)
@click.argument("learned", metavar="NET", type=NET)
@json_option("Print JSON instead of a table.")
def compare_command(truth: pn.Network, learned: pn.Network, as_json: bool) -> None:  # noqa: FBT001
    """Show how far the second network is from the first, beside total ignorance.

    \b
    Examples:
      possnet compare clinic learned.json
      possnet compare asia asia.json --json
    """
    comparison = pn.compare(truth, learned)
    document = {name: {"value": m.value, "vacuous": m.vacuous} for name, m in comparison.items()}
    show(document if as_json else [str(comparison)])

"""``possnet compare``: how far one network is from another."""

from __future__ import annotations

import click

import possnet as pn
from possnet.cli import shared_options as shared
from possnet.cli.parse import NET
from possnet.cli.render import make_table, show


@click.command(short_help="How far one network is from another.")
@click.argument("truth", metavar="NET", type=NET)
@click.argument("learned", metavar="NET", type=NET)
@shared.json_option("Print JSON instead of a table.")
def compare_command(truth: pn.Network, learned: pn.Network, as_json: bool) -> None:  # noqa: FBT001
    """Show how far the second network is from the first, beside total ignorance.

    Variables, states and parents are matched by name, in whatever order they stand; networks over other variables or
    states are refused.

    \b
    Examples:
      possnet compare clinic learned.json
      possnet compare asia asia.json --json
    """
    from possnet.metrics import METRICS

    comparison = pn.compare(truth, learned)
    document = {name: {"value": m.value, "vacuous": m.vacuous} for name, m in comparison.items()}
    rows = [(METRICS[name].label, f"{m.value:.4g}", f"{m.vacuous:.4g}") for name, m in comparison.items()]
    show(document if as_json else [make_table(rows, ("metric", "learned", "ignorance"), texts=1, indent=0)])

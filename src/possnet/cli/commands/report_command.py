"""``possnet report``: the report of an experiment."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

import possnet as pn
from possnet.cli.outputs import show_progress

if TYPE_CHECKING:
    from possnet.experiment import Experiment


@click.command(short_help="Write the report of an experiment again.")
@click.argument("folder", metavar="DIR")
def report_command(folder: str) -> None:
    """Write the report of a finished experiment again: report.html, and figures/ as SVG and PDF.

    DIR is what possnet evaluate --out wrote.

    \b
    Examples:
      possnet report clinic-run
    """
    write_report(folder, err=False)


def write_report(experiment: Experiment | str, *, err: bool) -> None:
    """Write the report, and print where it is."""
    with show_progress() as advance:
        page = pn.write_report(experiment, progress=advance)
    click.echo(
        f"\nReport: {page}\nAll metrics: {page.parent / 'results.csv'}; figures for papers: {page.parent / 'figures'}",
        err=err,
    )

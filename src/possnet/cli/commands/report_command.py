"""``possnet report``: the report of an experiment."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

import possnet as pn
from possnet.cli import shared_options as shared
from possnet.cli.outputs import announce_file, show_progress

if TYPE_CHECKING:
    from possnet.executors import WorkerPool
    from possnet.experiment import Experiment


@click.command(short_help="Write the report of an experiment again.")
@click.argument("folder", metavar="DIR")
@shared.number_option("--workers", "Processes that draw; by default one for each core.", least=1)
def report_command(folder: str, workers: int | None) -> None:
    """Write the report of a finished experiment again: report.html, and figures/ as SVG and PDF.

    DIR is what possnet evaluate --out wrote.

    \b
    Examples:
      possnet report clinic-run
      possnet report results/2026-clinic
    """
    write_report(folder, workers)


def write_report(experiment: Experiment | str, workers: int | WorkerPool | None) -> None:
    """Write the report, and say what was written and where."""
    with show_progress("writing the report", "figures") as advance:
        page = pn.write_report(experiment, workers=workers, progress=advance)
    announce_file(page, "the report, a page to show to others")
    announce_file(page.parent / "results.csv", "every metric of every trial")
    figures = page.parent / "figures"
    if figures.is_dir() and any(figures.iterdir()):
        announce_file(figures, "every figure as SVG and PDF")

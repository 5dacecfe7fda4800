"""``possnet evaluate`` and ``report``: how well networks are learned back."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

import possnet as pn
from possnet.cli.inputs import NET, complete_list, progress_bar, read_net, show
from possnet.cli.options import json_option
from possnet.errors import InputError, require_known

if TYPE_CHECKING:
    from possnet.network import Network


@click.command(short_help="How well networks are learned back.")
@click.argument("networks", metavar="[NET]...", nargs=-1, type=NET)
@click.option("--rows", metavar="N,N,...", default="100,1000,10000", show_default=True, help="Numbers of rows.")
@click.option("--imprecision", metavar="T,T,...", default="0.5,1", show_default=True, help="Thetas, from 0 to 1.")
@click.option(
    "--process",
    metavar="P,P,...",
    default="alpha-cut,traced",
    show_default=True,
    help="alpha-cut, precise, traced; alpha-cut-text, alpha-cut-cuts, traced-text.",
    shell_complete=complete_list("possnet.sampling", "PROCESSES"),
)
@click.option(
    "--learner",
    metavar="L,L,...",
    default="likelihood,em",
    show_default=True,
    help="likelihood, histogram, capped, transform, symmetric, em; likelihood-corrected, em-corrected.",
    shell_complete=complete_list("possnet.learners", "LEARNERS"),
)
@click.option(
    "--learn",
    metavar="S,S,...",
    default="given",
    show_default=True,
    help="Structures: given (the true one), or learned from the rows too, such as greedy:random-set-bic.",
)
@click.option("--random", metavar="N", type=click.IntRange(min=1), help="A random network of N variables as well.")
@click.option("--repeats", type=click.IntRange(min=1), default=5, show_default=True, help="Runs of every setting.")
@click.option("--seed", type=click.IntRange(min=0), default=1, show_default=True, help="Same seed, same results.")
@click.option("--workers", type=click.IntRange(min=1), help="Processes; by default one for each core.")
@click.option(
    "--metric",
    default="child_affinity",
    show_default=True,
    help="The metric of the printed table.",
    shell_complete=complete_list("possnet.metrics", "METRICS"),
)
@json_option("a table")
@click.option("--out", metavar="DIR", help="Keep every result there; a run that was killed goes on from there.")
def evaluate(
    networks: tuple[str, ...],
    rows: str,
    imprecision: str,
    process: str,
    learner: str,
    learn: str,
    random: int | None,
    repeats: int,
    seed: int,
    workers: int | None,
    metric: str,
    as_json: bool,  # noqa: FBT001
    out: str | None,
) -> None:
    """Evaluate how well networks are learned back from imprecise data drawn from them.

    Draw rows with a process and an imprecision, learn, compare with the original; over all combinations, several times.
    Every measure stands beside total ignorance and, where it can be computed, what counting converges to with endless
    rows. Without arguments: bundled networks, in under a minute. With --out, a report to show to others: DIR/report.html.

    \b
    Examples:
      possnet evaluate
      possnet evaluate clinic --rows 100,1000,10000 --imprecision 0,.5,1 --learner likelihood,em --out clinic-run
    """
    from possnet.cli.pages import evaluation_page, read_names, read_numbers
    from possnet.experiment import DEFAULT_NETWORKS
    from possnet.metrics import METRICS

    require_known(metric, METRICS, "--metric")
    chosen: dict[str, Network] = {}
    for file in networks or (() if random else DEFAULT_NETWORKS):
        name = Path(file).name.split(".")[0] if Path(file).suffix else file
        if name in chosen:
            raise InputError(f"two networks are called {name!r}; expected files of different names")
        chosen[name] = read_net(file)
    if random is not None:
        chosen[f"random {random}"] = pn.random_network(random, rng=seed)
    try:
        with progress_bar(None) as advance:
            found = pn.evaluate(
                chosen,
                rows=read_numbers(rows, int, "--rows", "whole numbers, for example 100,1000"),
                imprecision=read_numbers(imprecision, float, "--imprecision", "numbers, for example 0,.5,1"),
                process=read_names(process),
                learners=read_names(learner),
                learn=read_names(learn),
                repeats=repeats,
                rng=seed,
                out=out,
                workers=workers,
                progress=advance,
            )
    except KeyboardInterrupt:
        told = (
            f"Run the same command again to go on: {out} keeps what is done." if out else "Nothing was kept (no --out)."
        )
        click.echo(f"Stopped. {told}", err=True)
        sys.exit(130)
    show(evaluation_page(found, metric, out, as_json=as_json))
    if out is not None:
        _write_report(out, err=as_json)


def _write_report(folder: str, *, err: bool) -> None:
    with progress_bar(None) as advance:
        page = pn.write_report(folder, progress=advance)
    click.echo(
        f"\nReport: {page}\nAll measures: {page.parent / 'results.csv'}; figures for papers: {page.parent / 'figures'}",
        err=err,
    )


@click.command(short_help="Write the report of an experiment again.")
@click.argument("folder", metavar="DIR")
def report(folder: str) -> None:
    """Write the report of a finished experiment again: report.html, and figures/ as SVG and PDF.

    DIR is what possnet evaluate --out wrote.

    \b
    Examples:
      possnet report clinic-run
    """
    _write_report(folder, err=False)

"""``possnet score``: both likelihoods of a network on data."""

from __future__ import annotations

from math import inf
from typing import Any

import click

import possnet as pn
from possnet.cli import shared_options as shared
from possnet.cli.inputs import DataFile, scan_file
from possnet.cli.outputs import show_progress
from possnet.cli.parse import DATA, NET
from possnet.cli.render import Page, make_table, show
from possnet.errors import count_noun


@click.command(short_help="Both likelihoods of a network on data.")
@click.argument("net", type=NET)
@click.argument("data", type=DATA)
@shared.columns_options
@shared.json_option("Print JSON instead of a table.")
def score_command(net: pn.Network, data: DataFile, as_json: bool, **columns: Any) -> None:  # noqa: FBT001
    """Show how well a network fits data: both likelihoods of the paper, by variable and in all.

    piLL is the score of the network's degrees, sum of N log pi; at most 0, and 0 for a network that knows nothing. mLL is
    the log-likelihood of its structure over the cells as they stand, at its maximum.

    \b
    Examples:
      possnet score clinic patients.csv
      possnet score learned.json test.parquet --json
    """
    from possnet.likelihood import log_likelihood_by_family, random_set_log_likelihood_by_family

    stream = scan_file(data, net, **columns)
    with show_progress("counting", "rows", stream.rows) as advance:
        counts = pn.count(net.dag, stream, focal=True, progress=advance)
    degrees, masses = log_likelihood_by_family(net, counts), random_set_log_likelihood_by_family(net.dag, counts)
    scores = {name: (degrees[name], masses[name]) for name in degrees}
    show(score_document(scores, counts.rows) if as_json else score_page(scores, counts.rows, data.name))


def score_document(scores: dict[str, tuple[float, float]], rows: int | float) -> dict[str, Any]:
    """Both likelihoods for machines; an impossible row makes the first one null."""
    finite = {name: None if first == -inf else first for name, (first, _) in scores.items()}
    return {
        "rows": rows,
        "possibilistic_log_likelihood": None if None in finite.values() else sum(first for first, _ in scores.values()),
        "random_set_log_likelihood": sum(second for _, second in scores.values()),
        "by_variable": {name: {"possibilistic": finite[name], "random_set": scores[name][1]} for name in scores},
    }


def score_page(scores: dict[str, tuple[float, float]], rows: int | float, name: str) -> Page:
    """Both likelihoods by variable, in all, and of a row.

    >>> from possnet.cli.render import render_page
    >>> print(render_page(score_page({"rash": (-1.386, -3.296)}, 3, "rows.csv")))
    rows.csv, 3 rows: piLL -0.462 and mLL -1.099 for each row
    <BLANKLINE>
      variable    piLL     mLL
      rash      -1.386  -3.296
      all       -1.386  -3.296
    <BLANKLINE>
      piLL: the score of the network's degrees, at most 0; 0 for knowing nothing
      mLL: the log-likelihood of its structure over the cells as they stand
    """
    total = [sum(pair[k] for pair in scores.values()) for k in (0, 1)]
    *lines, last = [(v, *(f"{n:.3f}" for n in pair)) for v, pair in [*scores.items(), ("all", total)]]
    title = f"{name}, {count_noun(rows, 'row')}"
    if rows:
        title += f": piLL {total[0] / rows:.3f} and mLL {total[1] / rows:.3f} for each row"
    return [
        title,
        "",
        make_table(lines, ("variable", "piLL", "mLL"), texts=1, total=last),
        "",
        "  piLL: the score of the network's degrees, at most 0; 0 for knowing nothing",
        "  mLL: the log-likelihood of its structure over the cells as they stand",
    ]

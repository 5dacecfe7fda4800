"""``possnet compare``: how far one network is from another."""

from __future__ import annotations

import click

import possnet as pn
from possnet.cli import shared_options as shared
from possnet.cli.parse import NET
from possnet.cli.render import Page, make_table, show
from possnet.drawing import format_number
from possnet.errors import count_noun


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
    comparison = pn.compare(truth, learned)
    document = {name: {"value": m.value, "vacuous": m.vacuous} for name, m in comparison.items()}
    show(document if as_json else comparison_page(comparison))


def comparison_page(comparison: pn.Comparison) -> Page:
    """How far a network is from another: the affinity, the mean error and the edges first, then every metric in groups.

    >>> from possnet.cli.render import render_page
    >>> asia = pn.load_example("asia")
    >>> print(render_page(comparison_page(pn.compare(asia, asia))[:1]).partition("; ")[2])
    mean error of a degree 0 (ignorance ...); 0 edges to mend (8 if it had none)
    """
    from possnet.metrics import METRICS, SUBJECTS, group_metrics

    closeness = "child_affinity" if "child_affinity" in comparison else "affinity"
    headline = [
        f"{METRICS[name].label} {format_number(value)} (ignorance {format_number(ignorance)})"
        for name, (value, ignorance, _) in ((name, comparison[name]) for name in (closeness, "mean_error"))
    ]
    edges = comparison["hamming"]
    headline.append(f"{count_noun(round(edges.value), 'edge')} to mend ({edges.vacuous:.0f} if it had none)")
    page: Page = ["; ".join(headline)]
    for subject, metrics in group_metrics(comparison).items():
        rows = []
        for name, metric in metrics.items():
            value, ignorance, _ = comparison[name]
            beside = format_number(ignorance) if metric.has_baselines else ""
            rows.append((metric.label, format_number(value), beside, metric.description))
        page += ["", make_table(rows, (SUBJECTS[subject], "learned", "ignorance", "meaning"), numbers=(1, 2))]
    return page

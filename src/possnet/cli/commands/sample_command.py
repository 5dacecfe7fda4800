"""``possnet sample``: rows of set-valued cells, drawn from a network."""

from __future__ import annotations

from typing import Any

import click

import possnet as pn
from possnet.cli import shared_options as shared
from possnet.cli.clusters import cluster_option, ledger_option, require_cluster, sample_on_cluster
from possnet.cli.outputs import announce_file, open_output, show_progress
from possnet.cli.parse import IMPRECISION, NET, parse_evidence
from possnet.cli.terminal import show_line
from possnet.errors import count_noun


@click.command(short_help="Draw rows of set-valued cells from a network.")
@click.argument("net", type=NET)
@shared.number_option("--rows", "Number of rows.", default=1000)
@shared.pairs_option(
    "--imprecision",
    type=IMPRECISION,
    help="From 0 (precise) to 1 (the whole cut; the default), or X=NUMBER for one variable; may be repeated.",
)
@shared.registry_option("possnet.sampling:PROCESSES", "--process", closed=True, default="alpha-cut")
@shared.choice_option("--law", ("independent", "text"), "How the non-core states of a cut are left out.")
@shared.choice_option(
    "--parents", ("observed", "cut"), "In alpha-cut a child answers to its parents' cells, or their whole cuts."
)
@shared.given_option("Draw given this (alpha-cut only).")
@shared.number_option("--seed", "Same seed, same rows. By default a new one, which is printed.")
@cluster_option
@ledger_option
@shared.out_option("A data file such as .parquet or .csv, or - (CSV on standard output); with --cluster a folder.")
def sample_command(
    net: pn.Network,
    rows: int,
    imprecision: dict[str, float],
    given: dict[str, str],
    seed: int | None,
    cluster: str | None,
    ledger: str | None,
    out: str,
    **process: Any,
) -> None:
    """Draw rows of set-valued cells from a network.

    \b
    Examples:
      possnet sample asia --rows 10000 --imprecision 0.5 --out asia.parquet
      possnet sample asia --rows 5 --out -
      possnet sample clinic --process traced --imprecision fever=0.2 --out -
    """
    from secrets import randbits

    require_cluster(cluster, ledger)
    number = randbits(32) if seed is None else seed
    degrees, evidence = spread_imprecision(imprecision, net), parse_evidence(given, net)
    if cluster is not None:
        options = {"imprecision": degrees, "evidence": evidence, "rng": number, **process}
        sample_on_cluster(cluster, ledger, net, rows, out, options)
        return
    stream = pn.sample_batches(net, rows, imprecision=degrees, evidence=evidence, rng=number, batch=1 << 18, **process)
    with open_output(out, "data") as file, show_progress("drawing", "rows", rows) as advance:
        pn.write_data(stream, file, progress=advance)
    drawn = f"{count_noun(rows, 'row')} of {count_noun(len(net.variables), 'variable')}"
    chosen = "" if seed is not None else f", drawn with --seed {number}"
    announce_file(out, f"{drawn}{chosen}")
    if chosen and out == "-":
        show_line(f"Drawn with --seed {number}.")


def spread_imprecision(given: dict[str, float], network: pn.Network) -> dict[str, float]:
    """Imprecision of every variable: its own, that of all (named ``""``), or 1.

    >>> spread_imprecision({"fever": 0.2, "": 0.5}, pn.load_example("clinic"))["rash"]
    0.5
    """
    own = {network.variable(name).name: number for name, number in given.items() if name}
    return dict.fromkeys((v.name for v in network.variables), given.get("", 1.0)) | own

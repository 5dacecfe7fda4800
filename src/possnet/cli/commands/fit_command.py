"""``possnet fit``: the tables of a network from data."""

from __future__ import annotations

from typing import Any

import click

import possnet as pn
from possnet.cli.inputs import DataFile, scan_file
from possnet.cli.outputs import open_output, show_progress
from possnet.cli.parse import DATA, NET, TOTAL
from possnet.cli.shared_options import (
    bin_option,
    choice_option,
    number_option,
    out_option,
    transform_option,
    weights_option,
)
from possnet.errors import InputError, listing, warn_user


@click.command(short_help="Learn the tables of a given structure.")
@click.argument("data", type=DATA)
@click.option("--structure", required=True, type=NET, help="The network whose graph and domains are used.")
@choice_option(
    "--method",
    ("likelihood", "capped", "histogram", "transform", "em"),
    "The estimator: by counting (see possnet.fit), or em, over the hidden true states (see possnet.fit_em).",
)
@click.option("--total", type=TOTAL, help="Sum of the degrees of a context: a number, or 'data' (the mean cell size).")
@click.option("--normalise/--as-it-stands", default=None, help="Divide by the largest degree or not; by method.")
@click.option("--imprecision", type=float, help="Undo a known imprecision of the cells.")
@click.option("--pseudo", type=float, default=0.0, help="Imagined rows of ignorance in every context.")
@transform_option("For --method transform.")
@choice_option(
    "--unknown", ("missing", "focal"), "For em: unknown cells were not observed, or observed as whole domains."
)
@number_option("--starts", "For em: runs, each from another start.", least=1, default=1)
@number_option("--seed", "For em: of further starts.", default=0)
@weights_option
@bin_option
@out_option("A network file such as .json, or - (standard output).")
def fit_command(
    data: DataFile,
    structure: pn.Network,
    method: Any,
    total: Any,
    normalise: bool | None,  # noqa: FBT001
    transform: Any,
    unknown: Any,
    starts: int,
    seed: int,
    weights: str | None,
    binnings: dict[str, pn.Binning],
    out: str,
    **shared: Any,
) -> None:
    """Learn the tables of a network from data, by counting or by EM; files larger than memory work.

    \b
    Examples:
      possnet fit patients.parquet --structure clinic --out learned.json
      possnet fit patients.csv --structure clinic --method em --out learned.json
      possnet sample clinic --out - | possnet fit - --structure clinic --out learned.json
      possnet fit 'parts/*.parquet' --structure asia --method histogram --out raw.json
    """
    dag, stream = structure.dag, scan_file(data, structure, weights, binnings)
    shared["conjunction"] = structure.conjunction
    if method == "em" and (total is not None or normalise is not None):
        raise InputError("--total and --normalise are for learning by counting; expected --method em without them")
    with open_output(out, "network") as file, show_progress(None if method == "em" else stream.rows) as advance:
        if method == "em":
            options = pn.EmOptions(starts=starts, rng=seed, name=structure.name)
            result = pn.fit_em(dag, stream, unknown=unknown, options=options, progress=advance, **shared)
            network = result.network
        else:
            shared |= {"method": method, "total": total, "normalise": normalise, "transform": transform}
            network = pn.fit(dag, stream, name=structure.name, progress=advance, **shared)
        pn.write_network(network, file)
    if method == "em":
        click.echo(
            f"{result.steps} steps, {result.stopped.replace('_', ' ')}; log-likelihood {result.log_likelihood[-1]:.3f}",
            err=True,
        )
        warn_of_em(result)


def warn_of_em(result: pn.EmResult) -> None:
    """Warn of steps that did not suffice, and of contexts that the data could not determine."""
    if result.stopped != "converged":
        warn_user(f"EM has not converged within {result.steps} steps")
    for flags, reason in ((result.unvisited, "never seen"), (result.confounded, "not told apart from others")):
        counts = [f"{name} ({flag.sum()})" for name, flag in flags.items() if flag.any()]
        if counts:
            warn_user(f"contexts {reason}, left ignorant: {listing(counts)}")

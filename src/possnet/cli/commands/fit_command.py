"""``possnet fit``: the tables of a network from data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

import possnet as pn
from possnet.cli import shared_options as shared
from possnet.cli.clusters import cluster_option, fit_on_cluster, ledger_option, require_cluster
from possnet.cli.inputs import DataFile, scan_file
from possnet.cli.outputs import announce_file, describe_network, name_steps, open_output, show_progress
from possnet.cli.parse import DATA, NET, TOTAL
from possnet.cli.terminal import show_line
from possnet.errors import InputError, listing, warn_user

if TYPE_CHECKING:
    from possnet.io import DataStream
    from possnet.learners import Learner


@click.command(short_help="Learn the tables of a given structure.")
@click.argument("data", type=DATA)
@click.option("--structure", required=True, type=NET, help="The network whose graph and domains are used.")
@shared.registry_option(
    "possnet.learners:LEARNERS", "--learner", "--method", "method", closed=True, default="likelihood"
)
@click.option("--total", type=TOTAL, help="Sum of the degrees of a context: a number, or 'data' (the mean cell size).")
@click.option(
    "--normalise/--as-it-stands",
    default=None,
    help="Divide every row by its largest degree, or not; by default as the learner does.",
)
@click.option(
    "--imprecision",
    type=float,
    metavar="NUMBER",
    help="Undo a known imprecision of the cells; estimated by cut if not given.",
)
@shared.prior_options
@shared.transform_option("For --learner transform.")
@shared.choice_option(
    "--unknown", ("missing", "focal"), "For em: unknown cells were not observed, or observed as whole domains."
)
@shared.number_option("--starts", "For em: number of runs, each from another start.", least=1, default=1)
@shared.number_option("--seed", "For em: seed of further starts.", default=0)
@shared.columns_options
@cluster_option
@ledger_option
@shared.out_option("A network file such as .json, or - (standard output).")
def fit_command(
    data: DataFile,
    structure: pn.Network,
    method: str,
    total: float | str | None,
    normalise: bool | None,  # noqa: FBT001
    imprecision: float | None,
    starts: int,
    seed: int,
    weights: str | None,
    binnings: dict[str, pn.Binning],
    cluster: str | None,
    ledger: str | None,
    out: str,
    **others: Any,
) -> None:
    """Learn the tables of a network from data, by counting, EM or the cut likelihood; data may be larger than memory.

    \b
    Examples:
      possnet fit patients.parquet --structure clinic --out learned.json
      possnet fit patients.csv --structure clinic --learner em --out learned.json
      possnet fit patients.csv --structure clinic --learner auto --out net.json
      possnet sample clinic --out - | possnet fit - --structure clinic --out -
      possnet fit 'parts/*.parquet' --structure asia --out learned.json
    """
    from possnet.learners import LEARNERS

    learner = LEARNERS[method]
    options: dict[str, Any] = {"total": total, "normalise": normalise, "imprecision": imprecision}
    for option, value in options.items():
        if value is not None and option not in learner.options:
            takers = [name for name, entry in LEARNERS.items() if option in entry.options]
            raise InputError(
                f"--{option} is not for --learner {method}; expected --learner {method} without it, or {', '.join(takers)}"
            )
    if learner.needs_imprecision and imprecision is None and not learner.estimates_imprecision:
        raise InputError(f"--learner {method} corrects for a known imprecision; expected --imprecision too, such as .5")
    require_cluster(cluster, ledger)
    stream = scan_file(data, structure, weights, binnings)
    em = pn.EmOptions(starts=starts, rng=seed, name=structure.name)
    options |= {**others, "options": em, "name": structure.name}
    with open_output(out, "network") as file:
        if cluster is not None:
            result = fit_on_cluster(cluster, ledger, structure.dag, structure.conjunction, stream, learner, options)
        else:
            result = fit_here(structure, stream, learner, options)
        write_fitted(result, file)
    if isinstance(result, pn.EmResult):
        stopped = result.stopped.replace("_", " ")
        show_line(f"EM: {result.steps} steps, {stopped}; log-likelihood {result.log_likelihood[-1]:.3f}")
    if isinstance(result, pn.AutoResult):
        show_line(result.reason)
        result = result.result
    if isinstance(result, pn.CutResult):
        show_line(describe_cuts(result))
    network = result if isinstance(result, pn.Network) else result.network
    announce_file(out, f"{describe_network(network)}, tables by {learner.label}")


def fit_here(structure: pn.Network, stream: DataStream, learner: Learner, options: dict[str, Any]) -> Any:
    """What a learner makes of the rows of a stream, behind a bar."""
    from possnet.learners import network_of

    with show_progress("learning tables", name_steps(learner)) as advance:
        options = {**options, "progress": advance}
        taken = {option: value for option, value in options.items() if option in learner.options}
        rows = stream if learner.takes_streams else pn.Dataset.concatenate(stream)
        result = learner.fit(structure.dag, rows, conjunction=structure.conjunction, **taken)
    network_of(result, f"learner {learner.name!r}")
    return result


def describe_cuts(result: pn.CutResult) -> str:
    """What the cut likelihood learned, in a line.

    >>> data = pn.Dataset.from_table({"a": ["x", {"x", "y"}]})
    >>> describe_cuts(pn.fit_cut(pn.Dag({"a": ()}), data))
    '100 % of the degrees are identified, the others bounded; log-likelihood -1.414'
    """
    text = f"{100 * result.share:.0f} % of the degrees are identified, the others bounded"
    if result.imprecision_identified and isinstance(result.imprecision, float):
        text += f"; imprecision {result.imprecision:.3f} (estimated)"
    return f"{text}; log-likelihood {result.log_likelihood:.3f}"


def write_fitted(result: Any, file: str) -> None:
    """Write the network that a learner gave; warn of EM's steps that did not suffice, and contexts left undetermined."""
    pn.write_network(result if isinstance(result, pn.Network) else result.network, file)
    if isinstance(result, pn.AutoResult):
        result = result.result
    if isinstance(result, pn.CutResult) and any(result.left_out.values()):
        counts = [f"{name} ({rows:,})" for name, rows in result.left_out.items() if rows]
        warn_user(f"rows with unknown cells, left out of the families of: {listing(counts)}")
    if isinstance(result, pn.CutResult) and any(result.wrong.values()):
        counts = [f"{name} ({rows:,})" for name, rows in result.wrong.items() if rows]
        warn_user(f"rows that lack a state which all others have, left out of the families of: {listing(counts)}")
    if not isinstance(result, pn.EmResult):
        return
    if result.stopped != "converged":
        warn_user(f"EM has not converged within {result.steps} steps")
    smoothed = any(flag.any() for flag in result.backed_off.values())
    for flags, reason in (
        (result.backed_off, "without rows, taken from smaller contexts"),
        ({} if smoothed else result.unvisited, "never seen, left ignorant"),
        ({} if smoothed else result.confounded, "that the rows do not distinguish from others, left ignorant"),
    ):
        counts = [f"{name} ({flag.sum()})" for name, flag in flags.items() if flag.any()]
        if counts:
            warn_user(f"contexts {reason}: {listing(counts)}")

"""Commands on a cluster: the option, the connection, and what is done there instead of here."""

from __future__ import annotations

from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from possnet.cli.outputs import announce_file, show_progress
from possnet.cli.terminal import show_line
from possnet.errors import InputError, count_noun, listing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import possnet as pn
    from possnet.io import DataStream
    from possnet.learners import Learner

_BY_COUNTS = ("likelihood", "histogram", "transform")


def cluster_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """Where the work is done."""
    return click.option(
        "--cluster",
        metavar="ADDRESS",
        help="Work on a Dask cluster: the address of its scheduler, or local (processes of this machine).",
    )(function)


def ledger_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """Where a cluster keeps what is done."""
    return click.option(
        "--ledger",
        metavar="DIR",
        help="With --cluster: keep there what every part gave; a run that was killed goes on from it.",
    )(function)


def require_cluster(cluster: str | None, ledger: str | None) -> None:
    """A ledger is for a cluster alone."""
    if ledger is not None and cluster is None:
        raise InputError(f"--ledger {ledger} is for --cluster; expected both, or neither")


@contextmanager
def open_cluster(address: str) -> Iterator[Any]:
    """A client of the cluster; where it shows its work is printed on standard error, if it does."""
    from possnet.scaleout import connect_cluster, dashboard_address

    with connect_cluster(address) as client:
        dashboard = dashboard_address(client)
        if dashboard:
            show_line(f"Dashboard of the cluster: {dashboard}")
        yield client


def require_parts_folder(out: str, command: str) -> Path:
    """The folder for the parts that workers write; an `InputError` for the name of a file."""
    if out == "-" or Path(out).suffix:
        raise InputError(
            f"--out {out}: with --cluster, possnet {command} writes a folder of Parquet files; expected its name"
        )
    return Path(out)


def fit_on_cluster(
    cluster: str,
    ledger: str | None,
    dag: pn.Dag,
    conjunction: pn.Conjunction,
    stream: DataStream,
    learner: Learner,
    options: dict[str, Any],
) -> Any:
    """What a learner makes of rows that workers count, or over which they share the steps of EM."""
    from possnet import scaleout

    taken = {name: value for name, value in options.items() if name in learner.options and name != "progress"}
    with open_cluster(cluster) as client:
        if learner.name == "em":
            taken.pop("name", None)
            with show_progress("learning tables", "steps of EM") as advance:
                return scaleout.fit_em(
                    dag, stream, client=client, ledger=ledger, progress=advance, conjunction=conjunction, **taken
                )
        if learner.name not in _BY_COUNTS:
            learners = listing((*_BY_COUNTS, "em"))
            raise InputError(
                f"--learner {learner.name} works on one machine; expected --learner {learners} with --cluster"
            )
        with show_progress("counting", "parts") as advance:
            counts = scaleout.count(
                dag, stream, client=client, ledger=ledger, focal=learner.name == "transform", progress=advance
            )
    rows: Any = counts
    return learner.fit(dag, rows, conjunction=conjunction, **taken)


def learn_on_cluster(
    cluster: str, ledger: str | None, stream: DataStream, method: str, how: dict[str, Any]
) -> pn.LearnedStructure:
    """A structure from counts of a cluster, by hill climbing or a tree."""
    from possnet import scaleout

    if how.pop("bootstrap", 0):
        raise InputError("--bootstrap draws rows again on one machine; expected --cluster without it")
    how.pop("workers", None)
    how["measure"] = how["measure"] or "random-set-bic"
    with open_cluster(cluster) as client, show_progress("searching for a structure", "moves") as advance:
        chosen = "greedy" if method == "auto" else method
        return scaleout.learn_structure(stream, chosen, client=client, ledger=ledger, progress=advance, **how)


def sample_on_cluster(
    cluster: str, ledger: str | None, network: pn.Network, rows: int, out: str, options: dict[str, Any]
) -> None:
    """Rows that workers draw into Parquet files of a folder."""
    from possnet import scaleout

    folder = require_parts_folder(out, "sample")
    with open_cluster(cluster) as client, show_progress("drawing", "parts") as advance:
        files = scaleout.sample(network, rows, out=folder, client=client, ledger=ledger, progress=advance, **options)
    drawn = f"{count_noun(rows, 'row')} of {count_noun(len(network.variables), 'variable')}"
    announce_file(out, f"{drawn} in {count_noun(len(files), 'Parquet file')}, drawn with --seed {options['rng']}")


def complete_on_cluster(
    cluster: str,
    ledger: str | None,
    network: pn.Network,
    stream: DataStream,
    out: str,
    threshold: float,
    asked: dict[str, Any],
) -> None:
    """Rows that workers complete into Parquet files of a folder."""
    from possnet import scaleout

    folder = require_parts_folder(out, "complete")
    with open_cluster(cluster) as client, show_progress("completing", "parts") as advance:
        files = scaleout.complete(
            network, stream, out=folder, client=client, ledger=ledger, threshold=threshold, progress=advance, **asked
        )
    announce_file(out, f"completed rows in {count_noun(len(files), 'Parquet file')}")


def evaluate_with(client: Any) -> Callable[..., pn.Results]:
    """`possnet.evaluate` with its trials on a cluster."""
    from possnet.scaleout import evaluate

    return partial(evaluate, client=client)

"""``possnet learn``: the structure of a network from data, then its tables."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import click

import possnet as pn
from possnet.cli import shared_options as shared
from possnet.cli.commands.fit_command import write_fitted
from possnet.cli.inputs import DataFile, scan_columns
from possnet.cli.outputs import open_output, show_progress
from possnet.cli.parse import COLUMN, COLUMNS, DATA, EDGE
from possnet.cli.render import show
from possnet.errors import InputError, among


@click.command(short_help="Learn a structure and its tables.")
@click.argument("data", type=DATA)
@shared.registry_option("possnet.structure:METHODS", "--method", default="greedy")
@shared.registry_option("possnet.structure:MEASURES", "--measure", help="{names}. By default that of the method.")
@shared.choice_option(
    "--conjunction", ("product", "min"), "Of the network, and of independence in measures on contours."
)
@click.option("--require", "required", multiple=True, type=EDGE, help="An edge that must be there; may be repeated.")
@click.option(
    "--forbid", "forbidden", multiple=True, type=EDGE, help="An edge that must not be there; may be repeated."
)
@click.option("--tier", "tiers", multiple=True, type=COLUMNS, help="Causes first: no edge to an earlier tier.")
@shared.number_option("--max-parents", "Largest number of parents of a variable.")
@click.option("--order", type=COLUMNS, help="For k2: the order of the variables; by default the best of several.")
@shared.number_option(
    "--restarts",
    "For greedy: further climbs from perturbed structures, by default 0. For boss: random orders, by default 10.",
)
@shared.number_option("--bootstrap", "Bootstrap samples, for the confidence of every edge.", default=0)
@shared.number_option("--seed", "Same seed, same structure.", default=0)
@shared.variables_option
@shared.weights_option
@click.option("--without", multiple=True, type=COLUMN, help="A column to leave out, such as names; may be repeated.")
@shared.bin_option
@shared.json_option("Print JSON instead of a page.")
@shared.out_option("Learn the tables too and write the network: a file such as .json, or -.", required=False)
def learn_command(
    data: DataFile,
    method: str,
    measure: str | None,
    conjunction: str,
    required: list[list[tuple[str, str]]],
    forbidden: list[list[tuple[str, str]]],
    tiers: list[list[str]],
    max_parents: int | None,
    order: list[str] | None,
    restarts: int | None,
    bootstrap: int,
    seed: int,
    as_json: bool,  # noqa: FBT001
    out: str | None,
    **columns: Any,
) -> None:
    """Learn which variables depend on which, and the tables, from data whose cells may be sets.

    The tables are learned by counting, or by EM over hidden states if the measure is traced-bic or coarsened-bic.

    \b
    Examples:
      possnet learn patients.csv --out learned.json
      possnet learn wards.csv --without name --bin 'temp: edges=37.5,38.5 error=.2' --out learned.json
      possnet learn patients.parquet --measure traced-bic --out learned.json
      possnet learn patients.csv --method k2 --measure mutual-information --order measles,fever,rash
      possnet learn patients.csv --tier contact,vaccinated --tier measles --tier fever,rash --bootstrap 20
    """
    from possnet.learners import LEARNERS
    from possnet.structure import MEASURES

    stream = scan_columns(data, **columns)
    rows = pn.Dataset.concatenate(stream) if bootstrap else stream
    names = [variable.name for variable in rows.variables]
    kind = pn.PRODUCT if conjunction == "product" else pn.MIN
    with nullcontext() if out is None else open_output(out, "network") as file, show_progress() as advance:
        result = pn.learn_structure(
            rows,
            method,
            measure=measure,
            conjunction=kind,
            constraints=pn.Constraints(
                choose_edges(required, names, "--require"),
                choose_edges(forbidden, names, "--forbid"),
                tiers,
                max_parents,
            ),
            search=pn.Search(order=order, restarts=restarts),
            bootstrap=bootstrap,
            rng=seed,
            progress=advance,
        )
        if file is not None:
            learner = LEARNERS[MEASURES[result.measure].learner]
            reported = {"progress": advance} if "progress" in learner.options else {}
            write_fitted(learner.fit(result.dag, rows, conjunction=kind, **reported), file)
    show(structure_document(result) if as_json else [str(result)], err=out == "-")


def choose_edges(edges: list[list[tuple[str, str]]], names: list[str], option: str) -> list[tuple[str, str]]:
    """Of the ways to read each edge, the one that names two variables.

    >>> choose_edges([[("a", "b->c"), ("a->b", "c")]], ["a->b", "c"], "--require")
    [('a->b', 'c')]
    """
    chosen = []
    for ways in edges:
        edge = next((way for way in ways if set(way).issubset(names)), None)
        if edge is None:
            lacking = next(name for name in ways[0] if name not in names)
            text = "->".join(ways[0])
            raise InputError(f"{option} {text!r} names {lacking!r}, which the data lacks{among(lacking, names)}")
        chosen.append(edge)
    return chosen


def structure_document(result: pn.LearnedStructure) -> dict[str, object]:
    """A learned structure, for machines."""
    plain = {
        name: getattr(result, name) for name in ("method", "measure", "reason", "rows", "score", "families", "order")
    }
    moves = {name: getattr(result, name) for name in ("edges", "trace", "near_misses")}
    return plain | {name: [move._asdict() for move in listed] for name, listed in moves.items()}

"""The command ``possnet learn``: the structure of a network from data, then its tables."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING

import click

import possnet as pn
from possnet.cli.inputs import DATA, NET, complete_list, progress_bar, read_stream, show, writing
from possnet.cli.options import bin_option, choice_option, json_option, weights_option
from possnet.errors import InputError, among

if TYPE_CHECKING:
    from collections.abc import Iterable

    from possnet.structure import LearnedStructure


@click.command(short_help="Learn a structure and its tables.")
@click.argument("data", metavar="DATA", type=DATA)
@click.option(
    "--method",
    default="greedy",
    show_default=True,
    help="greedy, mwst, k2, hybrid-tree, hybrid-dag.",
    shell_complete=complete_list("possnet.structure", "METHODS"),
)
@click.option(
    "--measure",
    help="random-set-bic (the default), traced-bic, mdl, bic; for mwst and k2 also specificity-gain, specificity-ratio, "
    "specificity-symmetric, chi2, mutual-information.",
    shell_complete=complete_list("possnet.structure", "MEASURES"),
)
@choice_option(
    "--conjunction",
    words=("product", "min"),
    help="Of the network that is learned; measures on contours read independence in the same way.",
)
@click.option(
    "--require", "required", multiple=True, metavar="A->B", help="An edge that must be there; may be repeated."
)
@click.option("--forbid", "forbidden", multiple=True, metavar="A->B", help="An edge that must not; may be repeated.")
@click.option("--tier", "tiers", multiple=True, metavar="A,B,...", help="Causes first: no edge to an earlier tier.")
@click.option("--max-parents", type=click.IntRange(min=0), help="Most parents of a variable.")
@click.option("--order", metavar="A,B,...", help="For k2: the order of the variables; else the best of several.")
@click.option(
    "--restarts", type=click.IntRange(min=0), default=0, show_default=True, help="For greedy: further climbs."
)
@click.option("--bootstrap", type=click.IntRange(min=0), default=0, show_default=True, help="Samples for confidence.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Same seed, same structure.")
@click.option("--variables", "domain", metavar="NET", type=NET, help="Take the domains from a network.")
@weights_option
@click.option(
    "--without", multiple=True, metavar="COLUMN", help="A column to leave out, such as names; may be repeated."
)
@bin_option
@json_option("a page")
@click.option("--out", metavar="NET", help="Learn the tables too and write the network: a .json file, or -.")
def learn(
    data: str,
    method: str,
    measure: str | None,
    conjunction: str,
    required: tuple[str, ...],
    forbidden: tuple[str, ...],
    tiers: tuple[str, ...],
    max_parents: int | None,
    order: str | None,
    restarts: int,
    bootstrap: int,
    seed: int,
    domain: str | None,
    weights: str | None,
    without: tuple[str, ...],
    binnings: tuple[str, ...],
    as_json: bool,  # noqa: FBT001
    out: str | None,
) -> None:
    """Learn which variables depend on which, and the tables, from data whose cells may be sets.

    The tables are learned by counting; by EM over hidden states if the measure is traced-bic.

    \b
    Examples:
      possnet learn patients.csv --out learned.json
      possnet learn wards.csv --without name --bin 'temp: edges=37.5,38.5 error=.2' --out learned.json
      possnet learn patients.parquet --measure traced-bic --out learned.json
      possnet learn patients.csv --method k2 --measure mutual-information --order measles,fever,rash
      possnet learn patients.csv --tier contact,vaccinated --tier measles --tier fever,rash --bootstrap 20
    """
    from possnet.cli.pages import read_names
    from possnet.structure import MEASURES

    stream = read_stream(data, domain, weights, binnings, without)
    rows = pn.Dataset.concatenate(stream) if bootstrap else stream
    names = [variable.name for variable in rows.variables]
    kind = pn.PRODUCT if conjunction == "product" else pn.MIN
    with nullcontext() if out is None else writing(out, (".json",)) as file, progress_bar(None) as advance:
        found = pn.learn_structure(
            rows,
            method,
            measure=measure,
            conjunction=kind,
            constraints=pn.Constraints(
                _edges(required, names, "--require"),
                _edges(forbidden, names, "--forbid"),
                [read_names(tier) for tier in tiers],
                max_parents,
            ),
            search=pn.Search(order=None if order is None else read_names(order), restarts=restarts),
            bootstrap=bootstrap,
            rng=seed,
            progress=advance,
        )
        if file is not None:
            if MEASURES[found.measure].learner == "em":
                network = pn.fit_em(found.dag, rows, conjunction=kind, progress=advance).network
            else:
                network = pn.fit(found.dag, rows, conjunction=kind)
            pn.write_network(network, file)
    show(_document(found) if as_json else str(found), err=out == "-")


def _edges(texts: Iterable[str], names: list[str], option: str) -> list[tuple[str, str]]:
    """Edges written as a->b; names may hold an arrow themselves, so every place to cut is tried."""
    found = []
    for text in texts:
        parts = text.split("->")
        cuts = [("->".join(parts[:k]).strip(), "->".join(parts[k:]).strip()) for k in range(1, len(parts))]
        if not cuts:
            raise InputError(f"{option} {text!r}; expected parent->child, such as {names[0]}->{names[-1]}")
        known = [cut for cut in cuts if cut[0] in names and cut[1] in names]
        if not known:
            lacking = next(name for name in cuts[0] if name not in names)
            raise InputError(f"{option} {text!r}: the data has no {lacking!r}{among(lacking, names)}")
        found.append(known[0])
    return found


def _document(found: LearnedStructure) -> dict[str, object]:
    return {
        "method": found.method,
        "measure": found.measure,
        "rows": found.rows,
        "score": found.score,
        "edges": [edge._asdict() for edge in found.edges],
        "families": found.families,
        "trace": [step._asdict() for step in found.trace],
        "near_misses": [miss._asdict() for miss in found.near_misses],
        "order": found.order,
    }

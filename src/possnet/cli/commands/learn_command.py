"""``possnet learn``: the structure of a network from data, then its tables."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import asdict
from math import isnan
from typing import TYPE_CHECKING, Any

import click

import possnet as pn
from possnet.cli import shared_options as shared
from possnet.cli.clusters import cluster_option, fit_on_cluster, learn_on_cluster, ledger_option, require_cluster
from possnet.cli.commands.fit_command import write_fitted
from possnet.cli.inputs import DataFile, scan_columns
from possnet.cli.outputs import announce_file, name_steps, open_output, show_progress
from possnet.cli.parse import COLUMN, COLUMNS, DATA, EDGE
from possnet.cli.render import Page, make_table, show
from possnet.cli.terminal import show_line
from possnet.drawing import format_number
from possnet.errors import InputError, among, count_noun

if TYPE_CHECKING:
    from possnet.io import DataStream

_STOPPED = {"max_steps": "the number of steps", "max_seconds": "--max-seconds", "interrupted": "Ctrl-C"}


@click.command(short_help="Learn a structure and its tables.")
@click.argument("data", type=DATA)
@shared.registry_option("possnet.structure:METHODS", "--method", default="auto")
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
    "For greedy: further climbs, ties drawn or perturbed structures, by default 0. For boss: random orders, by default 10.",
)
@click.option(
    "--max-seconds",
    type=click.FloatRange(min=0.0),
    metavar="SECONDS",
    help="Stop the search after so long, with the best structure so far; reading and the tables come on top.",
)
@shared.number_option("--bootstrap", "Bootstrap samples, for the confidence of every edge.", default=0)
@shared.number_option("--workers", "Processes that share the bootstrap samples; by default one for each core.", least=1)
@click.option(
    "--explain", "explained", multiple=True, type=EDGE, help="Say why an edge is there, or is not; may be repeated."
)
@shared.number_option("--seed", "Same seed, same structure.", default=0)
@shared.prior_options
@shared.variables_option
@shared.weights_option
@click.option(
    "--without", multiple=True, type=COLUMN, help="A column to leave out, or some: '*_true'; may be repeated."
)
@shared.bin_option
@shared.cells_options
@cluster_option
@ledger_option
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
    max_seconds: float | None,
    bootstrap: int,
    workers: int | None,
    explained: list[list[tuple[str, str]]],
    seed: int,
    prior: str | None,
    pseudo: float | None,
    cluster: str | None,
    ledger: str | None,
    as_json: bool,  # noqa: FBT001
    out: str | None,
    **columns: Any,
) -> None:
    """Learn which variables depend on which, and the tables, from data whose cells may be sets.

    The tables are learned by counting; by EM over hidden states if the measure is traced-bic or coarsened-bic, by the
    latter with a marginal prior of one row, unless --prior says otherwise; by the law of alpha-cuts if it is cut-bic.
    Ctrl-C ends the search: the best structure so far is printed and written, and the exit code is 130. Once more, it ends
    the command.

    \b
    Examples:
      possnet learn patients.csv --out learned.json
      possnet learn wards.csv --without name --bin 'temp: edges=37,39 error=.2'
      possnet learn patients.csv --measure traced-bic --out learned.json
      possnet learn patients.csv --method k2 --order measles,fever,rash
      possnet learn patients.csv --tier contact --tier measles --tier fever,rash
      possnet learn patients.csv --bootstrap 20 --explain 'measles->fever'
    """
    from possnet.learners import LEARNERS
    from possnet.structure import MEASURES

    require_cluster(cluster, ledger)
    stream = scan_columns(data, **columns)
    rows = pn.Dataset.concatenate(stream) if bootstrap else stream
    names = [variable.name for variable in rows.variables]
    questions = choose_edges(explained, names, "--explain")
    kind = pn.PRODUCT if conjunction == "product" else pn.MIN
    with nullcontext() if out is None else open_output(out, "network") as file:
        how: dict[str, Any] = {
            "measure": measure,
            "conjunction": kind,
            "constraints": pn.Constraints(
                choose_edges(required, names, "--require"),
                choose_edges(forbidden, names, "--forbid"),
                tiers,
                max_parents,
            ),
            "search": pn.Search(order=order, restarts=restarts, max_seconds=max_seconds),
            "bootstrap": bootstrap,
            "rng": seed,
            "workers": workers,
        }
        if cluster is not None:
            result = learn_on_cluster(cluster, ledger, stream, method, how)
        else:
            result = search_structure(rows, method, **how)
        if file is not None:
            chosen: dict[str, Any] = {"conjunction": kind, "prior": prior, "pseudo": pseudo}
            write_fitted(fit_tables(result, rows, cluster=cluster, ledger=ledger, **chosen), file)
        reasons = [pn.explain_edge(result, rows, *edge) for edge in questions]
    page = [*structure_page(result), *(part for reason in reasons for part in explanation_page(reason))]
    document = structure_document(result) | {"explanations": [asdict(reason) for reason in reasons]}
    show(document if as_json else page, err=out == "-")
    if out is not None:
        variables, edges = count_noun(len(names), "variable"), count_noun(len(result.edges), "edge")
        learner = LEARNERS[MEASURES[result.measure].learner]
        announce_file(out, f"a network of {variables} and {edges}, tables by {learner.label}")
    if result.stopped == "interrupted":
        show_line("Stopped: this is the best structure so far.")
        click.get_current_context().exit(130)


def search_structure(rows: pn.Dataset | DataStream, method: str, **how: Any) -> pn.LearnedStructure:
    """Learn a structure behind a bar that counts the moves of the search, or the samples of the bootstrap."""
    unit = "bootstrap samples" if how["bootstrap"] else "moves"
    with show_progress("searching for a structure", unit) as advance:
        return pn.learn_structure(rows, method, progress=advance, **how)


def fit_tables(
    result: pn.LearnedStructure,
    rows: pn.Dataset | DataStream,
    *,
    conjunction: pn.Conjunction,
    prior: str | None,
    pseudo: float | None,
    cluster: str | None = None,
    ledger: str | None = None,
) -> Any:
    """What the learner that suits the measure of a structure makes of its tables."""
    from possnet.learners import LEARNERS
    from possnet.structure import MEASURES

    measure = MEASURES[result.measure]
    learner = LEARNERS[measure.learner]
    by_default = prior is None and pseudo is None
    options = {"prior": measure.prior if by_default else prior, "pseudo": pseudo}
    if cluster is not None and not isinstance(rows, pn.Dataset):
        return fit_on_cluster(cluster, ledger, result.dag, conjunction, rows, learner, options)
    with show_progress("learning tables", name_steps(learner)) as advance:
        taken = {
            option: value for option, value in (options | {"progress": advance}).items() if option in learner.options
        }
        return learner.fit(result.dag, rows, conjunction=conjunction, **taken)


def structure_page(result: pn.LearnedStructure) -> Page:
    """A learned structure: how many edges, what each is worth, why and how they were searched, and what came close.

    >>> from possnet.cli.render import render_page
    >>> data = pn.Dataset.from_table({"a": ["x", "y"] * 20, "b": ["u", "v"] * 20})
    >>> print(render_page(structure_page(pn.learn_structure(data, "mwst", measure="bic"))))
    1 edge of 2 variables, learned from 40 rows (mwst by bic)
    <BLANKLINE>
      edge   value
      a - b  25.88
    <BLANKLINE>
      score -33.26 after 1 step
    """
    edges, variables = count_noun(len(result.edges), "edge"), count_noun(len(result.dag.nodes), "variable")
    rows = count_noun(result.rows, "row")
    page: Page = [f"{edges} of {variables}, learned from {rows} ({result.method} by {result.measure})", ""]
    head, *lines = result.edge_rows()
    page += [make_table(lines, head, texts=1) if lines else "  no edges", ""]
    page += [f"  {result.reason}"] if result.reason else []
    page.append(f"  score {format_number(result.score)} after {count_noun(len(result.trace), 'step')}")
    if result.stopped != "converged":
        page.append(f"  stopped by {_STOPPED[result.stopped]}: the best structure so far")
    if result.ties:
        step = result.ties[0]
        action, parent, child = step.ties[0]
        page.append(
            f"  ties: {len(result.ties)}, the first: {step.action} {step.parent} -> {step.child}, or {action} {parent} -> "
            f"{child}"
        )
    if result.order is not None:
        page.append(f"  order: {', '.join(result.order)}")
    if result.near_misses:
        moves = [(f"{m.action} {m.parent} -> {m.child}", format_number(m.gain)) for m in result.near_misses[:5]]
        page += ["", make_table(moves, ("near misses", "gain"), texts=1)]
    return page


def explanation_page(reason: pn.EdgeExplanation) -> Page:
    """Why an edge is there, or is not: sentences, and the law of the child's cells."""
    if not reason.law.cells:
        return ["", reason.words]
    head, *rows = reason.law_rows(longest=60)
    return ["", reason.words, "", f"  {reason.caption}", make_table(rows, head, texts=1)]


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
        name: getattr(result, name)
        for name in ("method", "measure", "reason", "rows", "score", "families", "order", "stopped", "bootstrap")
    }
    moves = {name: getattr(result, name) for name in ("edges", "trace", "near_misses")}
    document = plain | {name: [move._asdict() for move in listed] for name, listed in moves.items()}
    return {name: _drop_nan(value) for name, value in document.items()}


def _drop_nan(value: object) -> object:
    """None for numbers that a search that was stopped has not computed."""
    if isinstance(value, list):
        return [{name: _drop_nan(part) for name, part in entry.items()} for entry in value]
    return None if isinstance(value, float) and isnan(value) else value

"""``possnet check``: hide known cells, complete them, and see how often that is right."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import possnet as pn
from possnet.cli import shared_options as shared
from possnet.cli.inputs import DataFile, infer_variables_of, match_columns, read_net, scan_columns, scan_file
from possnet.cli.outputs import announce_file, show_progress
from possnet.cli.parse import COLUMN, COLUMNS, DATA, NET, NUMBERS, SOURCE, TRUTH
from possnet.cli.render import Page, make_table, show
from possnet.errors import InputError, among, listing

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from possnet.io import DataStream

_RECIPE_OPTIONS = ("structure", "method", "measure", "learner", "prior", "pseudo", "folds", "groups", "seed", "without")


@click.command(short_help="Hide known cells, complete them, and see how often that is right.")
@click.argument("source", type=SOURCE, metavar="[NET]")
@click.argument("data", type=DATA, required=False, metavar="DATA")
@click.option(
    "--target",
    "--targets",
    "targets",
    cls=shared.RenamedOption,
    type=COLUMNS,
    help="Columns whose cells are hidden, one at a time; by default all.",
)
@shared.pairs_option(
    "--truth", type=TRUTH, help="The column with the truth of an ambiguous one; '*=*_true' for all. May be repeated."
)
@click.option("--levels", type=NUMBERS, default=".5,.2,.1,.05", help="Levels of the cuts.")
@click.option("--structure", type=NET, help="Without NET: the network whose graph and domains are used.")
@shared.registry_option("possnet.structure:METHODS", "--method", default="auto", help="Without NET, to learn: {names}.")
@shared.registry_option("possnet.structure:MEASURES", "--measure", help="{names}. By default that of the method.")
@shared.registry_option(
    "possnet.learners:LEARNERS",
    "--learner",
    closed=True,
    help="Of the tables, by default that of the measure: {names}.",
)
@shared.prior_options
@shared.reading_option
@shared.number_option("--folds", "Without NET: parts, each checked by what is learned from the others.", default=5)
@click.option("--groups", type=COLUMN, help="Rows that share a value of this column are in one fold.")
@shared.number_option("--seed", "Same seed, same folds.", default=0)
@click.option(
    "--without", multiple=True, type=COLUMN, help="A column to leave out, or some: '*_true'; may be repeated."
)
@shared.columns_options
@shared.json_option("Print JSON instead of tables.")
@shared.out_option("Write a page with reliability curves: a file such as check.html.", required=False)
def check_command(
    source: DataFile | str,
    data: DataFile | None,
    targets: list[str] | None,
    truth: dict[str, str],
    levels: list[float],
    as_json: bool,  # noqa: FBT001
    out: str | None,
    **options: Any,
) -> None:
    """Check how well hidden cells are completed: accuracy beside baselines, what cuts hold, whether necessity is right.

    With NET and DATA the network is checked on all rows; they should be rows that it was not learned from. With DATA alone
    a network is learned inside folds, as by possnet learn (or fit, with --structure), and each fold is checked by the
    network that is learned from the others. The output says which it was.

    \b
    Examples:
      possnet check learned.json new-rows.csv
      possnet check learned.json new-rows.csv --target income --out check.html
      possnet check rows.csv --folds 10 --target income,occupation
      possnet check rows.csv --structure clinic --learner em
      possnet check answers.csv --truth label=label_true --groups picture
    """
    if out is not None:
        require_page(out)
    arguments: dict[str, Any] = {"targets": targets, "levels": levels, "truth": {}, "reading": options["reading"]}
    groups = options["groups"]
    if isinstance(source, DataFile):
        if data is not None:
            raise InputError(f"{source.name} holds data; expected a network before DATA, or one file of data alone")
        subject: pn.Network | pn.Recipe = make_recipe(**options)
        arguments |= {
            "truth": match_truth(truth, source.list_columns()),
            "folds": options["folds"],
            "rng": options["seed"],
        }
        table = pn.Dataset.concatenate(scan_recipe_rows(source, arguments["truth"].values(), **options))
        rows: DataStream | pn.Dataset = table
        if groups is not None:
            arguments["groups"] = read_labels(source, groups, len(table))
    else:
        subject, rows, arguments["truth"] = read_network_rows(source, data, truth, options)
    with show_progress("checking", "rows") as advance:
        result = replace(pn.check(subject, rows, **arguments, progress=advance), groups=groups)
    show(asdict(result) | {"verdict": result.verdict} if as_json else check_page(result))
    if out is not None:
        pn.write_check(result, out)
        announce_file(out, "the page of this check, with reliability curves")


def check_page(result: pn.Check) -> Page:
    """The verdict, every table with its note, and how the check was made."""
    page: Page = [result.sentence]
    for title, (head, rows, note) in result.list_tables():
        page += ["", *([f"  {title}"] if title else []), make_table(rows, head, texts=1)]
        page += [f"  {note}"] if note else []
    return [*page, "", *(f"  {line}" for line in result.method)]


def require_page(out: str) -> None:
    """Refuse a name that is no HTML file, or a folder that does not exist, before any work."""
    if Path(out).suffix.lower() not in {".html", ".htm"}:
        raise InputError(f"--out {out}: unknown suffix {Path(out).suffix!r}; expected .html")
    if not Path(out).resolve().parent.is_dir():
        raise InputError(f"--out {out}: the folder does not exist; make it first, or check the name")


def make_recipe(
    structure: pn.Network | None, method: str, measure: str | None, learner: str | None, **others: Any
) -> pn.Recipe:
    """The recipe that the options describe.

    >>> make_recipe(None, "greedy", "traced-bic", "em", prior=None, pseudo=None).describe()
    'structure by greedy, traced-bic, tables by EM'
    """
    chosen = {name: others[name] for name in ("prior", "pseudo") if others[name] is not None}
    if structure is None:
        return pn.Recipe(method, measure, learner, options=chosen)
    return pn.Recipe(learner=learner, dag=structure.dag, conjunction=structure.conjunction, options=chosen)


def match_truth(truth: Mapping[str, str], columns: Sequence[str]) -> dict[str, str]:
    """Every target and the column of its truth; ``*`` stands for every column that has one.

    >>> match_truth({"*": "*_true"}, ["age", "age_true", "sex"])
    {'age': 'age_true'}
    """
    matched: dict[str, str] = {}
    for name, column in truth.items():
        if "*" in name and "*" in column:
            pairs = {own: column.replace("*", own) for own in columns}
            found = {own: other for own, other in pairs.items() if other in columns and own != other}
            if not found:
                raise InputError(f"--truth {name}={column}: no column has such another ({listing(columns)})")
            matched |= found
        elif column not in columns:
            raise InputError(f"--truth {name}={column}: no column {column!r}{among(column, columns)}")
        else:
            matched[name] = column
    return matched


def scan_recipe_rows(
    data: DataFile,
    truths: Any,
    *,
    structure: pn.Network | None,
    groups: str | None,
    without: tuple[str, ...],
    **options: Any,
) -> DataStream:
    """The rows that a recipe learns from, and the columns of truth beside them."""
    columns = {"weights": options["weights"], "binnings": options["binnings"]}
    if groups is not None and groups not in data.list_columns():
        raise InputError(f"--groups {groups}: no such column{among(groups, data.list_columns())}")
    aside = [*without, *([groups] if groups is not None and groups not in without else [])]
    if structure is None:
        return scan_columns(data, None, without=aside, **columns)
    return scan_file(data, list_variables(data, structure, truths, aside), **columns)


def read_network_rows(
    source: str, data: DataFile | None, truth: dict[str, str], options: dict[str, Any]
) -> tuple[pn.Network, DataStream, dict[str, str]]:
    """A network, rows in its domains, and where the truth stands; options of recipes are refused."""
    network = read_net(source)
    if data is None:
        raise InputError(f"{source} is a network; expected rows that it has not seen too: possnet check {source} DATA")
    ctx = click.get_current_context()
    for name in _RECIPE_OPTIONS:
        if ctx.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE:
            raise InputError(
                f"--{name} is for learning inside folds, and {source} is a network; expected DATA alone with it"
            )
    matched = match_truth(truth, data.list_columns())
    variables = list_variables(data, network, matched.values(), ())
    return network, scan_file(data, variables, options["weights"], options["binnings"]), matched


def list_variables(data: DataFile, network: pn.Network, truths: Any, without: Sequence[str]) -> list[pn.Variable]:
    """The network's variables that the file has, and those of the columns of truth, as their cells make them."""
    names = data.list_columns()
    left_out = match_columns(without, names)
    own = [v for v in network.variables if v.name in names and v.name not in left_out]
    if not own:
        raise InputError(
            f"{data.name}: no column ({listing(names)}) is a variable of the network "
            f"({listing(v.name for v in network.variables)}); expected at least one"
        )
    others = [name for name in dict.fromkeys(truths) if name not in {v.name for v in own}]
    return [*own, *(infer_variables_of(data, others) if others else ())]


def read_labels(data: DataFile, name: str, rows: int) -> list[object]:
    """The values of a column, as they stand in the file."""
    from possnet.io import plain_columns

    tables = plain_columns(data.path, [name]).take_rows(rows)
    return [value for table in tables for value in table.column(0).to_pylist()]

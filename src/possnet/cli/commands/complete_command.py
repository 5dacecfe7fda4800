"""``possnet complete``: what the rest of every row says about its ambiguous cells."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

import possnet as pn
from possnet.cli import shared_options as shared
from possnet.cli.clusters import cluster_option, complete_on_cluster, ledger_option, require_cluster
from possnet.cli.inputs import DataFile, find_data, match_columns, scan_file
from possnet.cli.outputs import announce_file, open_output, show_progress
from possnet.cli.parse import COLUMN, DATA, NET, VARIABLES, Choice
from possnet.cli.render import Page, make_table, show
from possnet.errors import InputError, among, count_noun, did_you_mean, listing, warn_user

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from possnet.cli.outputs import Ability
    from possnet.completion import CellTally
    from possnet.inference import Reading
    from possnet.io import DataStream, PlainColumns

_FORMS = {
    "resolved": "ambiguous cells resolved to their most possible states",
    "narrowed": "ambiguous cells narrowed",
    "long": "a line for every state of every ambiguous cell",
}


@click.command(short_help="Fill the ambiguous cells of a table.")
@click.argument("net", type=NET)
@click.argument("data", type=DATA)
@shared.out_option("A data file such as .csv or .parquet, or - (CSV on standard output).")
@click.option(
    "--as",
    "form",
    type=Choice(("resolved", "narrowed", "long")),
    default="resolved",
    help="resolved: the most possible states only; narrowed: those of at least --threshold; long: a line for every state.",
)
@click.option(
    "--threshold", type=float, metavar="NUMBER", help="For narrowed: a degree from above 0 to 1; 0.5 by default."
)
@click.option("--target", "targets", multiple=True, type=VARIABLES, help="Predict it in every row, column or none.")
@click.option("--hide", is_flag=True, help="Predict the targets even where their own cells are given.")
@shared.reading_option
@click.option("--check", "checked", is_flag=True, help="Say how often known cells of DATA are told right when hidden.")
@click.option(
    "--calibrate",
    metavar="ROWS",
    help="Rows that NET was not learned from (or a saved calibration): degrees of the one --target become valid.",
)
@click.option("--seen", is_flag=True, help="With --calibrate: use the rows even if NET was probably learned from them.")
@click.option(
    "--keep",
    multiple=True,
    type=COLUMN,
    help="A column that NET lacks, copied to FILE, or some: '*_true'; may be repeated.",
)
@shared.columns_options
@cluster_option
@ledger_option
@shared.json_option("Print the summary as JSON.")
def complete_command(
    net: pn.Network,
    data: DataFile,
    out: str,
    form: str,
    threshold: float | None,
    targets: tuple[list[str], ...],
    hide: bool,  # noqa: FBT001
    reading: Reading,
    checked: bool,  # noqa: FBT001
    calibrate: str | None,
    seen: bool,  # noqa: FBT001
    keep: tuple[str, ...],
    binnings: dict[str, pn.Binning],
    weights: str | None,
    cluster: str | None,
    ledger: str | None,
    as_json: bool,  # noqa: FBT001
) -> None:
    """Complete a table: what is most possible in every ambiguous or unknown cell, given the rest of its row.

    Where several states are equally possible the row cannot tell, and all of them stay. Rows that NET calls impossible
    are reported and stay as they are. In the long form rows are numbered from 1. Numbers whose bins NET
    remembers stand as they are in a CSV file where they lie in one bin; a Parquet file, or a cluster's, has the bins.

    --target predicts a variable in every row; if DATA lacks its column, that is added. A state that DATA gives stands, and
    of a set its own states compete, unless --hide hides the cells of the targets: then every one is predicted from the
    other columns.

    A network that possnet learn made from lists of candidates or unknown cells holds probabilities, each divided by the
    largest of its context; cells are then completed by the probabilities themselves, unless --reading says otherwise.

    --calibrate makes the degrees of a target valid: of rows like those that it names, the truth has a degree of a or less
    in at most a. So narrowed sets of a threshold of .1 hold it in nine rows of ten or more.

    \b
    Examples:
      possnet complete clinic patients.csv --out resolved.csv
      possnet complete learned.json new-rows.csv --target income --out new.csv
      possnet complete learned.json patients.csv --check --out resolved.csv
      possnet complete clinic patients.csv --as narrowed --out narrowed.csv
      possnet sample clinic --out - | possnet complete clinic - --out -
      possnet complete learned.json new.csv --target x --calibrate k.csv --out -
      possnet complete clinic patients.csv --as long --out degrees.parquet
      possnet complete clinic wards.csv --keep ward --out resolved.csv
    """
    require_cluster(cluster, ledger)
    if keep and form == "long":
        raise InputError(f"--keep {keep[0]} is for whole rows; expected --as resolved or --as narrowed with it")
    if threshold is not None and form != "narrowed":
        raise InputError(f"--threshold {threshold:g} is for --as narrowed; expected it there, or no threshold")
    level = 1.0 if form != "narrowed" else 0.5 if threshold is None else threshold
    asked: Any = {"targets": [name for listed in targets for name in listed], "hide": hide, "reading": reading}
    variables, keep, left_out = choose_columns(data, net, keep, binnings, weights, out)
    stream = scan_file(data, variables, weights, binnings)
    if cluster is not None:
        others = {
            "--as long": form == "long",
            "--keep": keep,
            "--calibrate": calibrate,
            "--check": checked,
            "--json": as_json,
        }
        for option in (name for name, given in others.items() if given):
            raise InputError(f"{option} works on one machine; expected --cluster without it")
        complete_on_cluster(cluster, ledger, net, stream, out, level, asked)
        return
    calibration = read_calibration(net, calibrate, asked, seen=seen) if calibrate is not None else None
    columns = {"keep": keep, "weights": weights, "calibration": calibration}
    summary = write_completed(net, data, stream, out, form, level, asked, **columns)
    warn_of_rest(summary, left_out, "" if form == "long" else "; name those to keep with --keep")
    lines = describe_targets(summary, asked["targets"], hide=hide)
    if reading == "auto" and net.transform and net.conjunction is pn.PRODUCT and summary.cells.ambiguous:
        lines.append("  By probabilities, as the tables were learned; --reading possibility takes maxima instead.")
    document = completion_document(summary, form, level) | asked
    if calibration is not None:
        lines.append(f"  {calibration.target.name}: degrees calibrated on {calibration!r}.")
        document["calibration"] = repr(calibration)
    if checked:
        verdict = check_known_cells(net, stream, reading)
        lines.append(f"  Check: {verdict['verdict']}.")
        document["check"] = verdict
    page = [*completion_page(summary, data.name), *lines]
    show(document if as_json else page, err=out == "-")
    announce_file(out, f"{count_noun(summary.rows, 'row')}, {_FORMS[form]}")


def choose_columns(
    data: DataFile,
    network: pn.Network,
    keep: Sequence[str],
    binnings: Mapping[str, pn.Binning],
    weights: str | None,
    out: str,
) -> tuple[list[pn.Variable], tuple[str, ...], list[str]]:
    """Variables of the network in the order of the file's columns, the columns to keep, and those that are left out.

    A pattern stands for columns that the network lacks; a variable of the network is refused where it is named.
    """
    names = data.list_columns()
    known = {variable.name: variable for variable in network.variables}
    variables = [known[name] for name in names if name in known]
    if not variables:
        raise InputError(
            f"{data.name}: no column ({listing(names)}) is a variable of the network ({listing(known)}); "
            f"expected at least one{did_you_mean(names[0], known)}"
        )
    if weights in known:
        raise InputError(f"--weights {weights}: a variable of the network; expected a column that holds weights alone")
    for name in keep:
        if name in names and name in known:
            bins = known[name].bins is not None and out != "-" and not keeps_numbers(out)
            finding = (
                f"whose bins {out} has in place of numbers; expected a .csv file, which has the numbers"
                if bins
                else "which is kept anyway; expected another column"
            )
            raise InputError(f"--keep {name}: a variable of the network, {finding}")
    matched = match_columns(keep, [name for name in names if name not in known], "--keep")
    kept = tuple(name for name in matched if name != weights or name in keep)
    used = {*known, *kept, weights, *(b.error for b in binnings.values() if isinstance(b.error, str))}
    return variables, kept, [name for name in names if name not in used]


def write_completed(
    network: pn.Network,
    data: DataFile,
    stream: DataStream,
    out: str,
    form: str,
    level: float,
    asked: Mapping[str, Any],
    **columns: Any,
) -> pn.CompletionSummary:
    """Write the completed rows a batch at a time, and sum up what became of their cells.

    Numbers stand as they were in cells that said one bin, where the format has texts and the network remembers the bins.
    """
    from possnet.io import plain_columns, write_long_form

    keep, weights = columns["keep"], columns["weights"] or "weight"
    summaries: list[pn.CompletionSummary] = []
    plain: PlainColumns | None = None

    def watch(part: pn.Completion) -> None:
        summaries.append(part.summary(level))
        if plain is not None:
            plain.keep_cells({name: part.given_cells(name) for name in plain.numbers})

    ability: Ability = "write_tables" if form == "long" else "plain_columns" if keep else "write"
    with open_output(out, "data", ability=ability) as file, show_progress("completing", "rows", stream.rows) as advance:
        calibration = columns["calibration"]
        binned = [name for name in stream.numbers if network.variable(name).bins is not None]
        numbers = binned if form != "long" and keeps_numbers(file) else ()
        plain = plain_columns(data.path, keep, numbers) if keep or numbers else None
        completion: Any = (
            pn.complete(network, stream, progress=advance, **asked)
            if calibration is None
            else calibration.complete(pn.Dataset.concatenate(stream), hide=asked["hide"])
        )
        if calibration is not None:
            watch(completion)
            if form == "long":
                write_long_form(completion, file)
            else:
                pn.write_data(completion.narrowed(level), file, weights=weights, plain=plain)
        elif form == "long":
            write_long_form(completion, file, watch=watch)
        else:
            pn.write_data(completion.narrowed(level, watch=watch), file, weights=weights, plain=plain)
    return sum(summaries, pn.CompletionSummary())


def keeps_numbers(file: str) -> bool:
    """Whether numbers can stand beside the names of bins in a file, as they can in CSV."""
    from possnet.io import DATA_FORMATS, choose_format

    entry = choose_format(file, DATA_FORMATS)
    return entry.texts and entry.plain_columns


def read_calibration(network: pn.Network, name: str, asked: Mapping[str, Any], *, seen: bool) -> pn.Calibration:
    """A saved calibration, or one by rows that the network was not learned from."""
    from possnet.io import sniff_kind

    targets = list(dict.fromkeys(asked["targets"]))
    if sniff_kind(name) == "calibration":
        saved = pn.read_calibration(name)
        if targets and targets != [saved.target.name]:
            raise InputError(
                f"--calibrate {name}: it is of {saved.target.name!r}; expected --target {saved.target.name}"
            )
        return saved
    if len(targets) != 1:
        raise InputError(
            f"--calibrate {name}: {len(targets)} targets; expected one --target, whose degrees become valid"
        )
    file = find_data(name)
    known = {variable.name: variable for variable in network.variables}
    variables = [known[column] for column in file.list_columns() if column in known]
    if targets[0] not in {variable.name for variable in variables}:
        raise InputError(f"--calibrate {file.name}: no column {targets[0]!r}{among(targets[0], file.list_columns())}")
    ratio = network.transform and network.conjunction is pn.PRODUCT
    by: Any = (
        "probability" if asked["reading"] == "probability" or (asked["reading"] == "auto" and ratio) else "possibility"
    )
    rows = scan_file(file, variables, None, {})
    try:
        return pn.calibrate(network, rows, targets[0], by=by, seen=True if seen else None)
    except InputError as error:
        message = str(error).replace(
            "seen=False if they are others, or a recipe, which is learned inside folds", "--seen"
        )
        raise InputError(message) from None


def check_known_cells(network: pn.Network, stream: DataStream, reading: Reading) -> dict[str, Any]:
    """The verdict of `possnet.check` on the cells that are known, and whether the network may have seen these rows."""
    from dataclasses import asdict

    try:
        result = pn.check(network, stream, reading=reading)
    except InputError as error:  # nothing can be hidden; the table is complete all the same
        return {"verdict": str(error)}
    root = next(variable.name for variable in network.variables if not network.dag.parents(variable.name))
    learned = None if network.support is None else round(float(network.support[root].sum()))
    if learned is None:
        seen = "rows that the network may have been learned from; it does not say"
    elif learned == result.rows:
        seen = "as many rows as the network was learned from, so probably the same, which flatters it"
    else:
        seen = f"rows that the network may have been learned from; it was learned from {count_noun(learned, 'row')}"
    return {"verdict": f"{result.verdict}; on {seen}", "seen": seen, "overall": asdict(result.overall)}


def warn_of_rest(summary: pn.CompletionSummary, left_out: list[str], remedy: str) -> None:
    """Warn of columns that were left out, and of rows that the network calls impossible, numbered from 1."""
    if left_out:
        warn_user(f"columns that the network lacks were left out: {listing(left_out)}{remedy}")
    if summary.n_impossible:
        numbers = ", ".join(f"{row + 1:,}" for row in summary.impossible_rows[:10])
        more = ", ... (all of them with --json)" if summary.n_impossible > 10 else ""
        rows = f"{count_noun(summary.n_impossible, 'row')} {'is' if summary.n_impossible == 1 else 'are'}"
        warn_user(f"{rows} impossible in this network, left as given: {numbers}{more}")


def completion_document(summary: pn.CompletionSummary, form: str, level: float) -> dict[str, Any]:
    """What became of the ambiguous cells, for machines; rows are numbered from 1."""
    return {
        "rows": summary.rows,
        "as": form,
        "threshold": level,
        **_tally_document(summary.cells),
        "impossible_rows": [row + 1 for row in summary.impossible_rows],
        "lacking": list(summary.lacking),
        "unasked": summary.describe_unasked("--target ") or None,
        "variables": {variable: _tally_document(tally) for variable, tally in summary.variables.items()},
    }


def completion_page(summary: pn.CompletionSummary, name: str) -> Page:
    """What became of the ambiguous cells, for people: how sure it is comes first.

    >>> from possnet.cli.render import render_page
    >>> asia = pn.load_example("asia")
    >>> data = pn.Dataset.from_rows([asia.variable("smoke"), asia.variable("bronc")], [(None, "no"), (None, None)])
    >>> print(render_page(completion_page(pn.complete(asia, data).summary(), "rows.csv")))
    rows.csv: 2 rows, 3 ambiguous cells; 1 (33 %) resolved to one state, 1 of these with necessity 0.5 or more
    <BLANKLINE>
      variable  ambiguous  resolved  with N >= 0.5  mean N  narrowed  left  tied
      smoke             2         1              1    0.60         0     1     1
      bronc             1         0              0                 0     1     1
      all               3         1              1    0.60         0     2     2
    <BLANKLINE>
      resolved: to one state; narrowed: to fewer states; left: as they were; tied: the row cannot tell
      N, necessity: how certain the one state left is, from 0 (others are as possible) to 1 (nothing else is)
      Columns that the network has and the data lack: asia, tub, lung, either, xray, dysp; ask for them with --target
      asia,tub,lung,either,xray,dysp.
    """
    from possnet.completion import SURE_NECESSITY as SURE

    cells, unasked = summary.cells, summary.describe_unasked("--target ")
    title = f"{name}: {count_noun(summary.rows, 'row')}, {count_noun(cells.ambiguous, 'ambiguous cell')}"
    if not cells.ambiguous:
        return [f"{title}; {unasked}"]
    resolved = f"{cells.resolved:,} ({100 * cells.resolved / cells.ambiguous:.0f} %)"
    head = (
        "variable",
        "ambiguous",
        "resolved",
        f"with N >= {SURE}",
        "mean N",
        "narrowed",
        "left",
        "tied",
        "impossible",
    )
    tallies = [_tally_row(name, tally) for name, tally in summary.variables.items() if tally.ambiguous]
    total = _tally_row("all", cells) if len(tallies) > 1 else ()
    impossible = "; impossible: in rows that the network calls so" if cells.in_impossible_rows else ""
    return [
        f"{title}; {resolved} resolved to one state, {cells.sure:,} of these with necessity {SURE} or more",
        "",
        make_table(tallies, head, texts=1, total=total),
        "",
        f"  resolved: to one state; narrowed: to fewer states; left: as they were; tied: the row cannot tell{impossible}",
        "  N, necessity: how certain the one state left is, from 0 (others are as possible) to 1 (nothing else is)",
        *([f"  {unasked[0].upper()}{unasked[1:]}."] if unasked else []),
    ]


def describe_targets(summary: pn.CompletionSummary, targets: Sequence[str], *, hide: bool) -> list[str]:
    """What was done where a target's own cell is given, a line for every target that has such cells.

    >>> describe_targets(pn.CompletionSummary(rows=3), ["income"], hide=False)
    ['  income: given in 3 of 3 rows and kept; --hide predicts it there too.']
    """
    if hide:  # the command refuses it without targets
        return [f"  {listing(dict.fromkeys(targets))}: own cells hidden, every one predicted from the other columns."]
    given = dict.fromkeys(targets, summary.rows)
    given |= {name: summary.rows - tally.ambiguous for name, tally in summary.variables.items() if name in given}
    return [
        f"  {name}: given in {number:,} of {count_noun(summary.rows, 'row')} and kept; --hide predicts it there too."
        for name, number in given.items()
        if number
    ]


def _tally_row(name: str, tally: CellTally) -> tuple[str, ...]:
    mean = "" if tally.mean_necessity is None else f"{tally.mean_necessity:.2f}"
    before, after = (tally.ambiguous, tally.resolved, tally.sure), (tally.narrowed, tally.unchanged, tally.tied)
    impossible = f"{tally.in_impossible_rows:,}" if tally.in_impossible_rows else ""
    return name, *(f"{n:,}" for n in before), mean, *(f"{n:,}" for n in after), impossible


def _tally_document(tally: CellTally) -> dict[str, float | None]:
    return {
        "ambiguous": tally.ambiguous,
        "resolved": tally.resolved,
        "sure": tally.sure,
        "narrowed": tally.narrowed,
        "left": tally.unchanged,
        "in_impossible_rows": tally.in_impossible_rows,
        "tied": tally.tied,
        "mean_necessity": tally.mean_necessity,
    }

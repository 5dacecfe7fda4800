"""``possnet complete``: what the rest of every row says about its ambiguous cells."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import click

import possnet as pn
from possnet.cli.binnings import read_binnings
from possnet.cli.inputs import DATA, NET, data_file, progress_bar, read_net, show, writing
from possnet.cli.options import bin_option, choice_option, weights_option
from possnet.errors import InputError, among, did_you_mean, listing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from possnet.completion import CellTally, Completion, CompletionSummary
    from possnet.io import DataStream
    from possnet.measurements import Binning
    from possnet.network import Network


@click.command(short_help="Fill the ambiguous cells of a table.")
@click.argument("net", metavar="NET", type=NET)
@click.argument("data", metavar="DATA", type=DATA)
@click.option("--out", required=True, metavar="FILE", help="A .csv or .parquet file, or - (CSV on standard output).")
@choice_option(
    "--as",
    "form",
    words=("resolved", "narrowed", "long"),
    help="resolved: the most possible states only; narrowed: those of at least --threshold; long: a line for every state.",
)
@click.option("--threshold", type=float, metavar="DEGREE", help="For narrowed: from above 0 to 1; 0.5 by default.")
@click.option(
    "--keep", multiple=True, metavar="COLUMN", help="A column that NET lacks, copied to FILE; may be repeated."
)
@bin_option
@weights_option
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON.")
def complete(
    net: str,
    data: str,
    out: str,
    form: Literal["resolved", "narrowed", "long"],
    threshold: float | None,
    keep: tuple[str, ...],
    binnings: tuple[str, ...],
    weights: str | None,
    as_json: bool,  # noqa: FBT001
) -> None:
    """Complete a table: what is most possible in every ambiguous or unknown cell, given the rest of its row.

    Where several states are equally possible the row cannot tell, and all of them stay. Rows that NET calls impossible
    are reported and stay as they are. In the long form rows are numbered from 1.

    \b
    Examples:
      possnet complete clinic patients.csv --out resolved.csv
      possnet complete clinic patients.csv --as narrowed --threshold 0.3 --out narrowed.csv
      possnet sample clinic --out - | possnet complete clinic - --out -
      possnet complete clinic patients.csv --as long --out degrees.parquet
      possnet complete clinic wards.csv --bin 'fever: edges=37.5,38.5 error=.2' --keep ward --out resolved.csv
    """
    from possnet.io import plain_columns, write_long_form

    if keep and form == "long":
        raise InputError(f"--keep {keep[0]} is for whole rows; expected --as resolved or --as narrowed with it")
    if threshold is not None and form != "narrowed":
        raise InputError(f"--threshold {threshold:g} is for --as narrowed; expected it there, or no threshold")
    level = 1.0 if form != "narrowed" else 0.5 if threshold is None else threshold
    network = read_net(net)
    file_of_data, delimiter = data_file(data)
    stream, left_out = _stream(file_of_data, delimiter, network, keep, read_binnings(binnings), weights)
    summaries: list[CompletionSummary] = []

    def watch(part: Completion) -> None:
        summaries.append(part.summary(level))

    with writing(out, (".csv", ".parquet")) as file, progress_bar(stream.rows) as advance:
        found = pn.complete(network, stream, progress=advance)
        if form == "long":
            write_long_form(found, file, watch=watch)
        else:
            plain = plain_columns(file_of_data, keep, delimiter=delimiter) if keep else None
            pn.write_data(found.narrowed(level, watch=watch), file, weights=weights or "weight", plain=plain)
    if left_out:
        told = f"Columns that {net} lacks were left out: {listing(left_out)}."
        click.echo(told if form == "long" else f"{told} Name those to keep with --keep.", err=True)
    name = "standard input" if data == "-" else data
    page = completion_page(sum(summaries, pn.CompletionSummary()), name, form, level, as_json=as_json)
    show(page, err=out == "-")


def _stream(
    data: str, delimiter: str, network: Network, keep: Sequence[str], binnings: dict[str, Binning], weights: str | None
) -> tuple[DataStream, list[str]]:
    """Rows with the network's domains, in the order of the file's columns, and the columns that are left out."""
    from possnet.io import column_names

    names = column_names(data, delimiter=delimiter)
    known = {variable.name: variable for variable in network.variables}
    variables = [known[name] for name in names if name in known]
    if not variables:
        raise InputError(
            f"{data}: no column ({listing(names)}) is a variable of the network ({listing(known)}); expected at least one"
            f"{did_you_mean(names[0], known)}"
        )
    if weights in known:
        raise InputError(f"--weights {weights}: a variable of the network; expected a column that holds weights alone")
    odd = [name for name in keep if name in known or name not in names]
    if odd:
        if odd[0] in known:
            raise InputError(
                f"--keep {odd[0]}: a variable of the network, which is kept anyway; expected another column"
            )
        raise InputError(f"--keep {odd[0]}: no such column{among(odd[0], names)}")
    used = {*known, *keep, weights, *(m.error for m in binnings.values() if isinstance(m.error, str))}
    stream = pn.scan_data(data, variables=variables, weights=weights, binnings=binnings, delimiter=delimiter)
    return stream, [name for name in names if name not in used]


def completion_page(
    found: CompletionSummary, name: str, form: str, level: float, *, as_json: bool
) -> str | dict[str, Any]:
    """What became of the ambiguous cells, for people or for machines; rows are numbered from 1.

    >>> asia = pn.load_example("asia")
    >>> data = pn.Dataset.from_rows([asia.variable("smoke"), asia.variable("bronc")], [(None, "no"), (None, None)])
    >>> print(completion_page(pn.complete(asia, data).summary(), "rows.csv", "resolved", 1.0, as_json=False))
    rows.csv: 2 rows, 3 ambiguous cells
    <BLANKLINE>
      resolved to one state      1  33.3 %
      narrowed to fewer states   0   0.0 %
      left as they were          2  66.7 %
      tied: the row cannot tell  2  66.7 %
    <BLANKLINE>
      variable  ambiguous  resolved  narrowed  left  tied  mean N
      smoke             2         1         0     1     1    0.60
      bronc             1         0         0     1     1
    <BLANKLINE>
      mean N: how certain the single states are, from 0 (others are as possible) to 1 (nothing else is)
    """
    from possnet.cli.pages import long_table
    from possnet.drawing import text_table

    cells = found.cells
    if as_json:
        return {
            "rows": found.rows,
            "as": form,
            "threshold": level,
            **_document(cells),
            "impossible_rows": [row + 1 for row in found.impossible_rows],
            "variables": {variable: _document(tally) for variable, tally in found.variables.items()},
        }
    plural = "s" * (cells.ambiguous != 1)
    lines = [f"{name}: {found.rows:,} row{'s' * (found.rows != 1)}, {cells.ambiguous:,} ambiguous cell{plural}"]
    if cells.ambiguous:
        counts = [
            ("resolved to one state", cells.resolved),
            ("narrowed to fewer states", cells.narrowed),
            ("left as they were", cells.unchanged),
            *([("in impossible rows", cells.stuck)] if cells.stuck else []),
            ("tied: the row cannot tell", cells.tied),
        ]
        shares = [(text, f"{n:,}", f"{100 * n / cells.ambiguous:.1f} %") for text, n in counts]
        lines += ["", *text_table(shares, texts=1)]
        head = ("variable", "ambiguous", "resolved", "narrowed", "left", "tied", "mean N")
        rows = [_row(variable, tally) for variable, tally in found.variables.items() if tally.ambiguous]
        lines += ["", *long_table(head, rows, texts=1)]
        meaning = "how certain the single states are, from 0 (others are as possible) to 1 (nothing else is)"
        lines += ["", f"  mean N: {meaning}"]
    if found.impossible:
        numbers = ", ".join(f"{row + 1:,}" for row in found.impossible_rows[:10])
        more = ", ... (all of them with --json)" if found.impossible > 10 else ""
        what = "row is" if found.impossible == 1 else "rows are"
        lines += ["", f"{found.impossible:,} {what} impossible in this network, left as given: {numbers}{more}"]
    return "\n".join(lines)


def _row(name: str, tally: CellTally) -> tuple[str, ...]:
    numbers = (tally.ambiguous, tally.resolved, tally.narrowed, tally.unchanged, tally.tied)
    mean = "" if tally.mean_necessity is None else f"{tally.mean_necessity:.2f}"
    return name, *(f"{number:,}" for number in numbers), mean


def _document(tally: CellTally) -> dict[str, float | None]:
    return {
        "ambiguous": tally.ambiguous,
        "resolved": tally.resolved,
        "narrowed": tally.narrowed,
        "left": tally.unchanged,
        "in_impossible_rows": tally.stuck,
        "tied": tally.tied,
        "mean_necessity": tally.mean_necessity,
    }

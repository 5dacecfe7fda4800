"""``possnet info``: what a network or a data file holds."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

import click

from possnet.cli import shared_options as shared
from possnet.cli.inputs import DataFile, read_net, scan_columns
from possnet.cli.parse import SOURCE
from possnet.cli.render import Page, make_table, show
from possnet.cli.terminal import get_width
from possnet.errors import count_noun, listing, warn_user

if TYPE_CHECKING:
    import possnet as pn
    from possnet.io import DataStream

_PREVIEW_ROWS = 5
_PREVIEW_COLUMNS = 8
_LONGEST_STATE = 24


@click.command(short_help="Show what a network or a data file holds.")
@click.argument("source", metavar="NET|DATA", type=SOURCE)
@shared.variables_option
@shared.columns_options
@shared.json_option("Print JSON instead of a page.")
def info_command(source: DataFile | str, as_json: bool, **columns: Any) -> None:  # noqa: FBT001
    """Show what a network or a data file holds.

    \b
    Examples:
      possnet info asia
      possnet info patients.csv --variables clinic
      possnet info alarm.bif.gz --json
    """
    if isinstance(source, DataFile):
        columns["binnings"] = add_fractions(source, **columns)
        summary = DataSummary(scan_columns(source, **columns))
        show(summary.to_document() if as_json else summary.to_page(source.name))
    else:
        network = read_net(source)
        show(network_document(network) if as_json else network_page(network))


def add_fractions(
    data: DataFile, domains: pn.Network | None, binnings: dict[str, pn.Binning], **_: Any
) -> dict[str, pn.Binning]:
    """Binnings for columns of numbers with fractions too, if nobody says how, so that what a file holds can be shown."""
    from possnet.io import fraction_columns
    from possnet.measurements import Binning

    if binnings or domains is not None:
        return binnings
    numbers = fraction_columns(data.path)
    if numbers:
        warn_user(
            f"numbers with fractions, in bins so that they can be shown: {listing(numbers)}; other commands need --bin '*'"
        )
    return {name: Binning() for name in numbers}


def network_document(network: pn.Network) -> dict[str, Any]:
    """A network without its degrees, for machines."""
    return {
        "kind": "network",
        "name": network.name,
        "description": network.description,
        "conjunction": network.conjunction.name,
        "normalised": network.is_normalised,
        "learned": network.support is not None,
        "bounds": network.bounds is not None,
        "degrees": sum(network.table(v.name).size for v in network.variables),
        "gates": {name: {"kind": gate.kind, **gate.parameters} for name, gate in network.gates.items()},
        "variables": {
            v.name: {**_variable_document(v), "parents": network.dag.parents(v.name)} for v in network.variables
        },
    }


def network_page(network: pn.Network) -> Page:
    """Readable summary of a network: what it is about, its size, and a line for every variable.

    >>> import possnet as pn
    >>> from possnet.cli.render import render_page
    >>> print(render_page(network_page(pn.load_example("pump"))))
    pump: a product-based possibilistic network
    <BLANKLINE>
      What ails the pump? An engineer's degrees for a centrifugal pump: ...
    <BLANKLINE>
      variables      7, with 2 to 3 states
      edges          8
      widest family  vibration given bearing, cavitation: 27 degrees
      degrees        83 in all
    <BLANKLINE>
      variable     states                    parents
      bearing      sound < worn < failing
      ...
    """
    degrees = {variable.name: network.table(variable.name).size for variable in network.variables}
    widest = max(degrees, key=degrees.__getitem__)
    parents = network.dag.parents(widest)
    family = f"{widest} given {listing(parents)}" if parents else widest
    sizes = [len(variable) for variable in network.variables]
    low, high = min(sizes), max(sizes)
    facts = [
        ("variables", f"{len(sizes)}, with {low if low == high else f'{low} to {high}'} states"),
        ("edges", str(len(network.dag.edges))),
        ("widest family", f"{family}: {degrees[widest]:,} degrees"),
        ("degrees", f"{sum(degrees.values()):,} in all"),
    ]
    if not network.is_normalised:
        facts.append(("normalised", "no: some rows do not peak at 1"))
    if network.support is not None:
        facts.append(("learned", "yes: every row carries the number of observations behind it"))
    if network.bounds is not None:
        facts.append(("bounds", "yes: every degree has a lower and an upper one; see possnet query --bounds"))
    facts += [("gate", gate.describe()) for gate in network.gates.values()]
    rows = [(v.name, _list_states(v), listing(network.dag.parents(v.name))) for v in network.variables]
    about = textwrap.wrap(network.description, min(96, get_width()), initial_indent="  ", subsequent_indent="  ")
    return [
        f"{network.name or 'unnamed'}: a {network.conjunction.name}-based possibilistic network",
        "",
        *([*about, ""] if about else []),
        make_table(facts),
        "",
        make_table(rows, ("variable", "states", "parents")),
    ]


class DataSummary:
    """Data in figures: rows, shares of imprecise and unknown cells and states a cell of every variable, the first rows.

    >>> import possnet as pn, tempfile
    >>> from pathlib import Path
    >>> from possnet.cli.render import render_page
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "patients.csv"
    ...     pn.write_data(pn.Dataset.from_table({"rash": ["yes", {"yes", "no"}], "fever": ["mild", None]}), path)
    ...     print(render_page(DataSummary(pn.scan_data(path)).to_page("patients.csv")))
    patients.csv: 2 rows of 2 variables; 25.0 % of the cells are imprecise, 25.0 % unknown
    <BLANKLINE>
      variable  states   imprecise  unknown  states a cell
      rash      no, yes     50.0 %    0.0 %           1.50
      fever     mild         0.0 %   50.0 %           1.00
      all                   25.0 %   25.0 %           1.25
    <BLANKLINE>
      row  rash    fever
      1    yes     mild
      2    no|yes  ?
    """

    def __init__(self, batches: DataStream) -> None:
        self.variables = batches.variables
        self.reading = batches.cells.describe_columns([variable.name for variable in self.variables])
        self.rows = 0
        self.weight: int | float = 0
        self.first_rows: list[tuple[str, ...]] = []
        self.graded_share = 0.0
        sums = {v.name: [0.0, 0.0, 0.0] for v in self.variables}
        for batch in batches:
            self.rows += len(batch)
            self.weight += batch.total
            self.graded_share += batch.graded_share() * batch.total
            for name, old in sums.items():
                shares = (batch.imprecise_share(name), batch.unknown_share(name), batch.mean_cell_size(name))
                sums[name] = [s + x * batch.total for s, x in zip(old, shares, strict=True)]
            if len(self.first_rows) < _PREVIEW_ROWS:
                self.first_rows += _write_rows(batch[: _PREVIEW_ROWS - len(self.first_rows)])
        self.graded_share /= max(self.weight, 1)
        self.means = {name: [s / max(self.weight, 1) for s in total] for name, total in sums.items()}

    def to_document(self) -> dict[str, Any]:
        """The summary as a JSON document."""
        names = ("imprecise_share", "unknown_share", "mean_cell_size")
        return {
            "kind": "data",
            "rows": self.rows,
            "total_weight": self.weight,
            "graded_share": self.graded_share,
            "variables": {
                v.name: {**_variable_document(v), **dict(zip(names, self.means[v.name], strict=True))}
                for v in self.variables
            },
        }

    def to_page(self, name: str) -> Page:
        """The summary as a page."""
        variables, means = self.variables, self.means
        overall = [sum(mean[k] for mean in means.values()) / len(means) for k in range(3)]
        weighted = "" if self.rows == self.weight else f", {self.weight:,} with their weights"
        imprecise, unknown, _ = _write_shares(overall)
        title = f"{name}: {count_noun(self.rows, 'row')} of {count_noun(len(variables), 'variable')}{weighted}"
        shares = f"{imprecise} of the cells are imprecise, {unknown} unknown"
        graded = f", {100 * self.graded_share:.1f} % have degrees" if self.graded_share else ""
        lines = [(v.name, _list_states(v), *_write_shares(means[v.name])) for v in variables]
        total = ("all", "", *_write_shares(overall)) if len(lines) > 1 else ()
        head = ("variable", "states", "imprecise", "unknown", "states a cell")
        page: Page = [f"{title}; {shares}{graded}", "", make_table(lines, head, texts=2, total=total)]
        if self.reading:
            page += ["", f"  cells read as asked: {self.reading}"]
        numeric = [v.name for v in variables if len(v) > 2 and not v.ordered and _looks_measured(v.states)]
        if numeric:
            page += ["", f"  {listing(numeric)}: measurements? Bin them: --bin '{numeric[0]}: edges=... error=...'"]
        distinct = [v.name for v in variables if len(v) == self.rows > 9 and not v.ordered and v.name not in numeric]
        if distinct:
            page += [
                "",
                f"  {listing(distinct)}: another state in every row. An identifier? Leave it out: --without {distinct[0]}",
            ]
        if self.first_rows:
            names = [v.name for v in variables[:_PREVIEW_COLUMNS]]
            numbered = [(str(number), *row) for number, row in enumerate(self.first_rows, 1)]
            page += ["", make_table(numbered, ("row", *names))]
            left = len(variables) - len(names)
            page += [f"  and {count_noun(left, 'more column')}"] if left else []
        return page


def _write_rows(batch: pn.Dataset) -> list[tuple[str, ...]]:
    """The first columns of rows, as they are written in CSV files, cut short."""
    from possnet.cells import CellSyntax

    syntax = CellSyntax()
    columns = [batch.column(v.name) for v in batch.variables[:_PREVIEW_COLUMNS]]
    texts = []
    for column in columns:
        cells = [syntax.write(cell, column.variable.states) for cell in column.cells]
        for number in (column.graded_numbers() >= 0).nonzero()[0].tolist():
            cells[number] = syntax.write_degrees(column.cell_degrees[number], column.variable.states)
        texts.append([cells[code] for code in column.codes.tolist()])
    return [tuple(text if len(text) <= 24 else f"{text[:21]}..." for text in row) for row in zip(*texts, strict=True)]


def _looks_measured(states: tuple[str, ...]) -> bool:
    """Whether nearly all states are numbers, bounds or intervals."""
    from possnet.measurements import read_texts

    readings = read_texts(list(states))
    return int((readings.issues == 0).sum()) >= 0.8 * len(states)


def _write_shares(numbers: list[float]) -> tuple[str, str, str]:
    imprecise, unknown, size = numbers
    return f"{100 * imprecise:.1f} %", f"{100 * unknown:.1f} %", f"{size:.2f}"


def _list_states(variable: pn.Variable) -> str:
    """The states of a variable, the first five if there are more than six, cut if long; and where its numbers were cut."""
    states = variable.states
    short = [state if len(state) <= _LONGEST_STATE else f"{state[: _LONGEST_STATE - 3]}..." for state in states]
    shown = short if len(short) <= 6 else [*short[:5], f"... {len(short)} states"]
    text = (" < " if variable.ordered else ", ").join(shown)
    bins = variable.bins
    return text if bins is None or (states == bins.labels and not bins.unit) else f"{text} ({bins.describe()})"


def _variable_document(variable: pn.Variable) -> dict[str, Any]:
    """States and, if they are bins of numbers, where these were cut, for machines."""
    bins = variable.bins
    document = {"states": variable.states, "ordered": variable.ordered}
    if bins is None:
        return document
    return document | {"bins": {"edges": bins.edges, "open_ended": bins.open_ended, "unit": bins.unit}}

"""What jobs do: read a table, learn a network from it, check a network on it. Each task writes into the folder of its job.

A task is a function (request, folder, report) that returns a document for the page; files that it leaves for the server are
``rows.parquet`` (the rows that were read) and ``network.json`` (the network that was learned).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Protocol

from possnet.errors import InputError, UnusableColumns, among
from possnet.explorer.background_job import NETWORK, ROWS
from possnet.io import (
    column_names,
    decode_network,
    number_columns,
    read_columns,
    read_data,
    write_data,
    write_network,
)
from possnet.measurements import Binning
from possnet.network import Network
from possnet.possibility import PRODUCT

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from possnet.checking import Recipe
    from possnet.dataset import Dataset
    from possnet.variables import Variable

_MOST_COLUMNS: Final = 1000
_MOST_STATES: Final = 1000
_SHOWN_STATES: Final = 40
_LEVELS: Final = (0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0.05)


class Report(Protocol):
    """What a task calls as it goes on."""

    def __call__(self, stage: str, done: int = 0, total: int = 0) -> None:
        """Say what is being done, and how much of it is done."""
        ...


def read_table(request: Mapping[str, Any], folder: Path, report: Report) -> dict[str, Any]:
    r"""Read an uploaded table: ``file``, ``columns`` (None for all), ``bins`` (None for the usual), ``unknown_words``.

    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as name:
    ...     folder = Path(name)
    ...     _ = (folder / "ward.csv").write_text("fever,rash\nmild|high,no\n?,yes\n")
    ...     page = read_table({"file": str(folder / "ward.csv")}, folder, lambda *_: None)
    >>> page["rows"], page["columns"][0]["name"], page["columns"][0]["imprecise"], page["columns"][0]["unknown"]
    (2, 'fever', 1.0, 0.5)
    """
    file = request["file"]
    report("reading the columns")
    names = list(column_names(file))
    if len(names) > _MOST_COLUMNS:
        raise InputError(
            f"table: {len(names):,} columns; expected at most {_MOST_COLUMNS:,}. Leave some out of the file"
        )
    wanted = request.get("columns")
    for name in wanted or ():
        if name not in names:
            raise InputError(f"table: no column {name!r}{among(name, names)}")
    numbers = number_columns(file)
    binnings = _choose_binnings(request.get("bins"), numbers, names)
    report("reading the rows")
    data, unusable = _read_usable(file, names, binnings, tuple(request.get("unknown_words", ())))
    if not len(data):
        raise InputError("table: no rows; expected at least one below the names of the columns")
    kept = [variable.name for variable in data.variables if wanted is None or variable.name in wanted]
    if not kept:
        raise InputError("table: no column is chosen; expected at least one")
    report("writing the rows")
    write_data(data.select(kept), folder / ROWS)
    columns = {
        v.name: describe_column(data, v, chosen=v.name in kept, number=v.name in numbers) for v in data.variables
    }
    columns |= {name: _describe_unusable(name, reason) for name, reason in unusable.items()}
    return {"rows": len(data), "columns": [columns[name] for name in names]}


def _read_usable(
    file: str, names: Sequence[str], binnings: dict[str, Binning], unknown_words: Sequence[str]
) -> tuple[Dataset, dict[str, str]]:
    """The rows of all columns that can be used, and why the others cannot."""
    try:
        return read_columns(file, names, binnings=binnings or None, unknown_words=unknown_words), {}
    except UnusableColumns as error:
        usable = [name for name in names if name not in error.columns]
        if not usable:
            raise
        reasons = {
            name: reason.rpartition(f"column {name!r} ")[2].partition(";")[0] for name, reason in error.columns.items()
        }
    return read_columns(file, usable, binnings=binnings or None, unknown_words=unknown_words), reasons


def _describe_unusable(name: str, reason: str) -> dict[str, Any]:
    """A column that is left out, and why."""
    known = {"name": name, "states": [], "count": 0, "ordered": False, "bins": None, "edges": None, "number": False}
    shares = {"imprecise": 1.0, "unknown": 1.0, "sets": 0.0, "cell_size": 0.0}
    return {**known, **shares, "chosen": False, "wide": False, "unusable": reason}


def _choose_binnings(
    bins: Mapping[str, Mapping[str, Any]] | None, numbers: Sequence[str], names: Sequence[str]
) -> dict[str, Binning]:
    """Column -> binning: as asked for, or of all columns of numbers."""
    if bins is None:
        return {name: Binning() for name in numbers}
    chosen = {}
    for name, asked in bins.items():
        if name not in names:
            raise InputError(f"table: bins of {name!r}, which is no column{among(name, names)}")
        try:
            chosen[name] = Binning(asked["edges"], bins=asked.get("bins"), error=asked.get("error", 0.0))
        except InputError as error:
            raise InputError(f"bins of {name!r}: {error}") from None
    return chosen


def describe_column(data: Dataset, variable: Variable, *, chosen: bool, number: bool) -> dict[str, Any]:
    """A column of a table: its states, and which share of its cells is imprecise or unknown.

    >>> import possnet as pn
    >>> data = pn.Dataset.from_table({"rash": ["yes", {"yes", "no"}, None, "no"]})
    >>> column = describe_column(data, data.variables[0], chosen=True, number=False)
    >>> column["states"], column["imprecise"], column["unknown"], column["sets"]
    (['no', 'yes'], 0.5, 0.25, 0.25)
    """
    name = variable.name
    imprecise, unknown = data.imprecise_share(name), data.unknown_share(name)
    return {
        "name": name,
        "states": list(variable.states[:_SHOWN_STATES]),
        "count": len(variable),
        "ordered": variable.ordered,
        "bins": None if variable.bins is None else variable.bins.describe(),
        "edges": None if variable.bins is None else [str(edge) for edge in variable.bins.edges],
        "number": number,
        "imprecise": imprecise,
        "unknown": unknown,
        "sets": max(0.0, imprecise - unknown),
        "cell_size": data.mean_cell_size(name),
        "chosen": chosen,
        "wide": len(variable) > _MOST_STATES,
        "unusable": None,
    }


def learn_network(request: Mapping[str, Any], folder: Path, report: Report) -> dict[str, Any]:
    """Learn a network of a ``name`` from ``rows`` by ``method``, ``measure`` and ``learner``, or ``keep`` a structure.

    ``frame`` is the network on the page, as JSON, or None: its states are used where a column has them, and with ``keep``
    its structure.
    """
    data = _frame_rows(read_data(request["rows"]), request["frame"], keep=request["keep"])
    for variable in data.variables:
        if len(variable) > _MOST_STATES:
            raise InputError(
                f"learn: column {variable.name!r} has {len(variable):,} states; expected at most {_MOST_STATES:,}. Bin it, "
                "or leave it out"
            )
    frame = _read_frame(request["frame"])
    recipe = _choose_recipe(request, frame)
    structure = recipe.search_structure(data, progress=_report_stage(report, "searching for a structure"))
    report("learning the tables")
    network = recipe.learn_tables(data, structure, progress=_report_stage(report, "learning the tables"))
    write_network(_name_network(network, request["name"]), folder / NETWORK)
    edges = (
        [] if structure is None else [[e.parent, e.child, _drop_nan(e.value), e.reversible] for e in structure.edges]
    )
    return {
        "rows": len(data),
        "variables": len(network.variables),
        "edges": edges,
        "count": len(network.dag.edges),
        "how": recipe.describe(),
        "reason": "" if structure is None else structure.reason,
        "method": "" if structure is None else f"{structure.method} by {structure.measure}",
    }


def _choose_recipe(request: Mapping[str, Any], frame: Network | None) -> Recipe:
    from possnet.checking import Recipe  # reading a table need not load all that learns

    conjunction = PRODUCT if frame is None else frame.conjunction
    if request["keep"] and frame is not None:
        return Recipe(learner=request["learner"], dag=frame.dag, conjunction=conjunction)
    return Recipe(request["method"], request["measure"], request["learner"], conjunction=conjunction)


def _name_network(network: Network, name: str) -> Network:
    """The network under a name, which not every learner takes."""
    return Network.unchecked(
        network.variables,
        network.dag,
        {variable.name: network.table(variable.name) for variable in network.variables},
        conjunction=network.conjunction,
        support=network.support,
        bounds=network.bounds,
        name=name,
        transform=network.transform,
    )


def check_network(request: Mapping[str, Any], folder: Path, report: Report) -> dict[str, Any]:  # noqa: ARG001
    """Check degrees on rows: a network as it is, or (``folds``) what is learned from a part of the rows on the others."""
    from possnet.checking import check

    frame = _read_frame(request["frame"])
    data = _frame_rows(read_data(request["rows"]), request["frame"], keep=request["keep"] or not request["folds"])
    if request["folds"]:
        recipe = _choose_recipe(request, frame)
        progress = _report_stage(report, "learning and checking")
        result = check(recipe, data, folds=request["folds"], levels=_LEVELS, progress=progress)
    elif frame is None:
        raise InputError("check: no network on the page; expected one, or learning in folds")
    else:
        result = check(frame, data, levels=_LEVELS, progress=_report_stage(report, "checking"))
    tables = [
        {"title": title, "head": list(parts.head), "rows": [list(row) for row in parts.rows], "note": parts.note}
        for title, parts in result.list_tables()
    ]
    points = sorted([round(1.0 - level, 9), share] for level, share in result.coverage.items())
    return {
        "sentence": result.sentence,
        "picture": str(result.draw_reliability()),
        "points": points,
        "tables": tables,
        "method": result.method,
    }


def _read_frame(text: str | None) -> Network | None:
    return None if text is None else decode_network(text.encode(), "network of the page")


def _frame_rows(data: Dataset, text: str | None, *, keep: bool) -> Dataset:
    """Rows with the states of the network on the page where a column has no others; with ``keep``, its columns alone."""
    frame = _read_frame(text)
    if frame is None:
        return data
    known = {variable.name: variable for variable in frame.variables}
    if keep:
        lacking = [name for name in known if name not in {v.name for v in data.variables}]
        if lacking:
            raise InputError(
                f"rows: no column {lacking[0]!r}, which the network has; expected all of its variables as columns, or a "
                "structure that is learned"
            )
        return data.select(list(known)).with_domains(frame.variables, "rows")
    fitting = [v for v in data.variables if v.name in known and set(v.states) <= set(known[v.name].states)]
    fitting = [v for v in fitting if v.bins is None and known[v.name].bins is None]
    return data.with_domains([known[v.name] for v in fitting], "rows")


def _report_stage(report: Report, stage: str) -> Callable[[int, int], None]:
    return lambda done, total: report(stage, done, total)


def _drop_nan(value: float) -> float | None:
    return value if value == value else None  # noqa: PLR0124


TASKS: Final[dict[str, Callable[[Mapping[str, Any], Path, Report], dict[str, Any]]]] = {
    "read": read_table,
    "learn": learn_network,
    "check": check_network,
}

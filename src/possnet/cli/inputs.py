"""Where commands read from: files, folders and patterns, bundled names, and standard input."""

from __future__ import annotations

import fnmatch
import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

import click

import possnet as pn
from possnet.cli.spooling import label_input, spool_stream
from possnet.errors import InputError, among, count_noun, listing, warn_user

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from possnet.io import DataStream, FileKind
    from possnet.transforms import Transform

    Variables: TypeAlias = pn.Network | Sequence[pn.Variable]

_CELLS = "possnet.cells"
_BIN_ERROR = "possnet.bin-error"
_FEW_COLUMNS = 12  # whose bins are told one by one
_KINDS = {
    "data": "data",
    "network": "a network",
    "counts": "counts",
    "calibration": "a calibration",
    "experiment": "an experiment",
    "report": "a page",
}
_REMEDIES = {
    "data": "possnet info {name} shows it; possnet learn {name} --out learned.json makes a network from it",
    "network": "possnet info {name} shows it; possnet sample {name} --out rows.csv draws data from it",
    "counts": "read it in Python: possnet.read_counts",
    "calibration": "possnet complete NET DATA --calibrate {name} uses it",
    "experiment": "possnet report {name} shows it",
    "report": "open it in a browser",
}


class DataFile(NamedTuple):
    """A file, folder or pattern of data: its name for people, and its path."""

    name: str
    path: str

    def list_columns(self) -> list[str]:
        """The names of its columns."""
        from possnet.io import column_names

        return list(column_names(self.path))


def read_net(name: str, transform: Transform = "optimal") -> pn.Network:
    """A network from a file, a bundled name, or standard input.

    >>> read_net("asia").name
    'asia'
    """
    from possnet.io import example_names

    if name in example_names():
        return pn.load_example(name)
    path = _find_file(name, "network")
    if Path(path).suffix or os.path.exists(path):  # noqa: PTH110 - False for impossible names
        return pn.read_network(path, transform=transform)
    raise InputError(f"{name}: no such file and no bundled network of that name{among(name, example_names())}")


def find_data(name: str) -> DataFile:
    """The file of data of a name or of standard input; an `InputError` if it holds something else."""
    return DataFile(label_input(name), _find_file(name, "data"))


def find_source(name: str) -> DataFile | str:
    """The file of data of a name, or the name of a network."""
    path = spool_stream(name, "data")
    return find_data(path)._replace(name=label_input(name)) if guess_kind(path) == "data" else path


def guess_kind(name: str) -> FileKind | None:
    """What a name stands for: by what the file holds, else by its suffix, or data if it is a folder or a pattern."""
    from possnet.io import DATA_FORMATS, NETWORK_FORMATS, has_suffix, sniff_kind

    kind = sniff_kind(name)
    if kind is not None or not name or has_suffix(name, NETWORK_FORMATS):
        return kind
    several = any(mark in name for mark in "*[") or os.path.isdir(name)  # noqa: PTH112
    return "data" if several or has_suffix(name, DATA_FORMATS) else None


def _find_file(name: str, expected: Literal["network", "data"]) -> str:
    """The path of a file, or of standard input; an `InputError` if it holds something else, or its name does not tell."""
    from possnet.io import DATA_FORMATS, NETWORK_FORMATS, has_suffix, join_suffixes, known_suffixes

    path = spool_stream(name, expected)
    kind = guess_kind(path)
    formats: Any = {"network": NETWORK_FORMATS, "data": DATA_FORMATS}.get(kind or "")
    misnamed = formats is not None and Path(path).is_file() and not has_suffix(path, formats)
    rename = f"rename it to {join_suffixes(known_suffixes(formats))}" if misnamed else ""
    if kind is not None and kind != expected:
        remedy = f"{rename}, and possnet info shows it" if rename else _REMEDIES[kind].format(name=name)
        raise InputError(f"{label_input(name)} looks like {_KINDS[kind]}; expected {_KINDS[expected]}. {remedy}")
    if rename:
        remedy = "unpack it first" if path.lower().endswith(".gz") else rename
        raise InputError(f"{name} looks like {_KINDS[expected]}, but its name does not say so; {remedy}")
    return path


def keep_cells(ctx: click.Context, option: str, value: object) -> None:
    """Keep an option that says how cells are written, for all data that the command reads."""
    ctx.meta.setdefault(_CELLS, {})[option] = value


def scan_file(
    data: DataFile, variables: Variables | None, weights: str | None, binnings: Mapping[str, pn.Binning]
) -> DataStream:
    """Batches of data with given domains, or with their own; what bins were chosen is noted.

    That there are no rows is noted too, where the files say so.
    """
    stream, settled = _open_stream(data, variables, weights, binnings)
    note_recalled(stream, data.name)
    note_bins(stream, settled)
    if stream.rows == 0:
        warn_user(f"{data.name}: no rows")
    return stream


def _open_stream(
    data: DataFile, variables: Variables | None, weights: str | None, binnings: Mapping[str, pn.Binning]
) -> tuple[DataStream, dict[str, pn.Binning]]:
    """Batches of data, and the binnings by column or ``*``."""
    settled = complete_binnings(data, variables, binnings)
    cells = click.get_current_context().meta.get(_CELLS, {})
    return pn.scan_data(data.path, variables=variables, weights=weights, binnings=settled, **cells), settled


def keep_bin_error(ctx: click.Context, error: dict[str, float] | None) -> None:
    """Keep the error of all binned columns, for the data that the command reads."""
    ctx.meta[_BIN_ERROR] = error or {}


def complete_binnings(
    data: DataFile, variables: Variables | None, binnings: Mapping[str, pn.Binning]
) -> dict[str, pn.Binning]:
    """Binnings with a name for every column, and with the common error where they have none of their own.

    Where there is one, columns of variables that remember their bins have it too.
    """
    error = click.get_current_context().meta.get(_BIN_ERROR, {})
    names = data.list_columns() if any("," in name for name in binnings) else ()
    settled: dict[str, pn.Binning] = {}
    for spec, binning in binnings.items():
        listed = [spec] if spec in names or "," not in spec else [name.strip() for name in spec.split(",")]
        exact = binning.error == 0.0 and binning.relative == 0.0
        for name in listed:
            if name in settled:
                raise InputError(f"--bin: {name!r} is given twice; expected once")
            settled[name] = replace(binning, **error) if exact else binning
    known = variables.variables if isinstance(variables, pn.Network) else variables or ()
    remembered = [variable.name for variable in known if error and variable.bins is not None]
    return {name: pn.Binning(**error) for name in remembered} | settled


def note_bins(stream: DataStream, asked: Mapping[str, pn.Binning], left_out: Sequence[str] = ()) -> None:
    """Tell which edges were computed, a line for each column, and which columns were binned because all were to be."""
    used = {name: binning for name, binning in stream.binnings.items() if name not in left_out}
    chosen = {name: binning for name, binning in used.items() if binning.way is not None}
    if "*" in asked:
        starred = [name for name in used if name not in asked]
        warn_user(f"{count_noun(len(starred), 'column')} of numbers binned: {listing(starred)}")
    for name, binning in chosen.items() if len(chosen) <= _FEW_COLUMNS else ():
        warn_user(f"{name}: {binning.describe()}")


def note_recalled(stream: DataStream, name: str) -> None:
    """Tell which columns are read as the network remembers that their cells are written, all of them in one note."""
    from possnet.cells import describe_syntaxes

    words = dict.fromkeys(word for syntax in stream.recalled.values() for word in syntax.unknown_words)
    told = describe_syntaxes(stream.recalled, list(words))
    if told:
        warn_user(
            f"{name}: cells are read like those that the network was learned from ({told}); --cells and --separator read "
            "them otherwise"
        )


def infer_variables_of(data: DataFile, names: Sequence[str]) -> tuple[pn.Variable, ...]:
    """Variables of some columns of data, made from their cells."""
    from possnet.io import column_domains

    return column_domains(data.path, names, **click.get_current_context().meta.get(_CELLS, {}))


def scan_columns(
    data: DataFile,
    domains: pn.Network | None,
    weights: str | None,
    binnings: Mapping[str, pn.Binning],
    without: Sequence[str] = (),
) -> DataStream:
    """Batches of data with the domains of a network for the columns that it knows, without those left out."""
    if domains is None and not without:
        return scan_file(data, None, weights, binnings)
    names = data.list_columns()
    left_out = match_columns(without, names)
    if domains is not None:
        variables = tuple(v for v in domains.variables if v.name in names) or domains.variables
        return scan_file(data, [v for v in variables if v.name not in left_out], weights, binnings)
    every, settled = _open_stream(data, None, weights, binnings)
    note_bins(every, settled, left_out)
    kept = {name: binning for name, binning in binnings.items() if name not in left_out}
    stream, _ = _open_stream(data, [v for v in every.variables if v.name not in left_out], weights, kept)
    if stream.rows == 0:
        warn_user(f"{data.name}: no rows")
    return stream


def match_columns(given: Sequence[str], names: Sequence[str], option: str = "--without") -> list[str]:
    """The columns that names and patterns such as ``*_true`` stand for, in the order given; each once.

    >>> match_columns(["name", "*_true"], ["name", "age", "age_true", "job_true"])
    ['name', 'age_true', 'job_true']
    """
    matched: list[str] = []
    for text in given:
        listed = [text] if text in names else fnmatch.filter(names, text) if "*" in text else []
        if not listed:
            raise InputError(f"{option} {text}: no such column{among(text, names)}")
        matched += listed
    return list(dict.fromkeys(matched))

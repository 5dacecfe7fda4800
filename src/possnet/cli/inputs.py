"""Where commands read from: files, folders and patterns, bundled names, and standard input."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from shutil import copyfileobj
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

import click

import possnet as pn
from possnet.errors import InputError, among

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from possnet.io import DataStream, FileKind
    from possnet.transforms import Transform

    Variables: TypeAlias = pn.Network | Sequence[pn.Variable]

_STDIN = "possnet.standard-input"


class DataFile(NamedTuple):
    """A file, folder or pattern of data: its name for people, and its path."""

    name: str
    path: str

    def list_columns(self) -> list[str]:
        """The names of its columns."""
        from possnet.io import column_names

        return list(column_names(self.path, delimiter="auto"))


def read_net(name: str, transform: Transform = "optimal") -> pn.Network:
    """A network from a file, a bundled name, or standard input.

    >>> read_net("asia").name
    'asia'
    """
    from possnet.io import NETWORK_FORMATS, example_names, has_suffix, join_suffixes, known_suffixes, sniff_kind

    if name == "-":
        file = spool_input(expected="network")
        if sniff_kind(file) == "data":
            raise InputError(f"{file} looks like data; expected a network")
        return pn.read_network(file, transform=transform)
    if name in example_names():
        return pn.load_example(name)
    kind = sniff_kind(name) or ("data" if is_data_name(name) else None)
    if kind is not None and kind != "network":
        raise _wrong_kind(name, kind, "a network")
    if kind == "network" and not has_suffix(name, NETWORK_FORMATS):
        suffixes = join_suffixes(known_suffixes(NETWORK_FORMATS))
        raise InputError(f"{name} looks like a network, but its name does not say so; rename it to {suffixes}")
    if Path(name).suffix or os.path.exists(name):  # noqa: PTH110 - False for impossible names
        return pn.read_network(name, transform=transform)
    raise InputError(f"{name}: no such file and no bundled network of that name{among(name, example_names())}")


def find_data(name: str) -> DataFile:
    """The file of data of a name or of standard input; an `InputError` if it holds something else."""
    from possnet.io import DATA_FORMATS, has_suffix, join_suffixes, known_suffixes, sniff_kind

    path = spool_input() if name == "-" else name
    kind = sniff_kind(path)
    if kind is not None and kind != "data":
        raise _wrong_kind(name, kind, "data")
    if kind == "data" and Path(path).is_file() and not has_suffix(path, DATA_FORMATS):
        suffixes = join_suffixes(known_suffixes(DATA_FORMATS))
        remedy = "unpack it first" if path.lower().endswith(".gz") else f"rename it to {suffixes}"
        raise InputError(f"{name} looks like data, but its name does not end in {suffixes}; {remedy}")
    return DataFile("standard input" if name == "-" else name, path)


def find_source(name: str) -> DataFile | str:
    """The file of data of a name, or the name of a network."""
    from possnet.io import sniff_kind

    path = spool_input() if name == "-" else name
    kind = sniff_kind(path)
    if kind == "data" or (kind is None and is_data_name(path)):
        return find_data(path)._replace(name="standard input" if name == "-" else name)
    return path


def scan_file(
    data: DataFile, variables: Variables | None, weights: str | None, binnings: Mapping[str, pn.Binning]
) -> DataStream:
    """Batches of data with given domains, or with their own."""
    return pn.scan_data(data.path, variables=variables, weights=weights, binnings=binnings, delimiter="auto")


def scan_columns(
    data: DataFile,
    domains: pn.Network | None,
    weights: str | None,
    binnings: Mapping[str, pn.Binning],
    without: Sequence[str] = (),
) -> DataStream:
    """Batches of data with the domains of a network for the columns that it knows; some columns left out."""
    if domains is None and not without:
        return scan_file(data, None, weights, binnings)
    names = data.list_columns()
    for odd in (column for column in without if column not in names):
        raise InputError(f"--without {odd}: no such column{among(odd, names)}")
    if domains is None:
        variables = scan_file(data, None, weights, binnings).variables
    else:
        variables = tuple(v for v in domains.variables if v.name in names) or domains.variables
    return scan_file(data, [v for v in variables if v.name not in without], weights, binnings)


def spool_input(*, expected: Literal["network", "data"] = "data") -> str:
    """The file that holds standard input while the command runs, as it may be read twice.

    If its first bytes do not say what it is, it is taken for what is expected.
    """
    from tempfile import TemporaryDirectory

    from possnet.io import DATA_FORMATS, NETWORK_FORMATS, guess_suffix

    context = click.get_current_context()
    root = context.find_root()
    if _STDIN in root.meta:
        raise click.UsageError("- is given twice, and there is only one standard input; expected it once", context)
    if sys.stdin is None:
        raise InputError("standard input is closed; expected data or a network there, or a file's name instead of -")
    folder = root.with_resource(TemporaryDirectory(prefix="possnet-"))
    head = sys.stdin.buffer.read(4096)
    file = Path(folder) / f"input{guess_suffix(head, NETWORK_FORMATS if expected == 'network' else DATA_FORMATS)}"
    with file.open("wb") as copy:
        copy.write(head)
        copyfileobj(sys.stdin.buffer, copy)
    root.meta[_STDIN] = str(file)
    return str(file)


def name_input(text: str, ctx: click.Context) -> str:
    """A message that says ``standard input`` instead of the file that stands for it."""
    file = ctx.find_root().meta.get(_STDIN)
    return text.replace(file, "standard input") if file else text


def is_data_name(name: str) -> bool:
    """Data by its suffix, or a folder or a pattern that is not a network's file or name."""
    from possnet.io import DATA_FORMATS, NETWORK_FORMATS, example_names, has_suffix

    if has_suffix(name, DATA_FORMATS):
        return True
    if not name or has_suffix(name, NETWORK_FORMATS) or name in example_names():
        return False
    return any(mark in name for mark in "*[") or os.path.isdir(name)  # noqa: PTH112


def _wrong_kind(name: str, kind: FileKind, expected: str) -> InputError:
    """What a file looks like, and which command reads it."""
    from possnet.io import DATA_FORMATS, has_suffix, join_suffixes, known_suffixes

    info = f"possnet info {name} shows it"
    learn = f"{info}; possnet learn {name} --out learned.json makes a network from it"
    misnamed = Path(name).is_file() and not has_suffix(name, DATA_FORMATS)
    suffixes = join_suffixes(known_suffixes(DATA_FORMATS))
    words, remedy = {
        "data": ("data", f"rename it to {suffixes}, and possnet info shows it" if misnamed else learn),
        "network": ("a network", f"{info}; possnet sample {name} --out rows.csv draws data from it"),
        "counts": ("counts", "read it in Python: possnet.read_counts"),
        "experiment": ("an experiment", f"possnet report {name} shows it"),
        "report": ("a page", "open it in a browser"),
    }[kind]
    return InputError(f"{name} looks like {words}; expected {expected}. {remedy}")

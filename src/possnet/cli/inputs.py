"""What commands are given and where they write: files, bundled names, standard input and output, progress."""

from __future__ import annotations

import json
import sys
import textwrap
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from shutil import copyfileobj
from typing import TYPE_CHECKING, Any

import click

import possnet as pn
from possnet.cli.binnings import read_binnings
from possnet.errors import InputError, among, did_you_mean, listing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from click.shell_completion import CompletionItem

    from possnet.aliases import Progress
    from possnet.io import DataStream, FileKind
    from possnet.network import Network
    from possnet.transforms import Transform

_STDIN = "possnet.standard-input"
_DATA_SUFFIXES = (".csv", ".parquet")


class Choice(click.Choice[str]):
    """One of several words, with the nearest one proposed for a word that is none of them."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The word itself."""
        words = [str(word) for word in self.choices]
        if value not in words:
            self.fail(
                f"{value!r} is not one of {listing(words, most=len(words))}{did_you_mean(value, words)}", param, ctx
            )
        return str(value)


class _Data(click.ParamType[str]):
    """Data: a file, a folder, a pattern, or ``-`` for standard input."""

    name = "data"

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Files."""
        from click.shell_completion import CompletionItem

        del ctx, param
        return [CompletionItem(incomplete, type="file")]


class _Net(_Data):
    """A network: a file, a bundled name, or ``-`` for standard input."""

    name = "net"

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Bundled names, and files."""
        from click.shell_completion import CompletionItem

        from possnet.io import example_names

        names = [CompletionItem(name) for name in example_names() if name.startswith(incomplete)]
        return [*names, *super().shell_complete(ctx, param, incomplete)]


NET, DATA = _Net(), _Data()


def complete_variable(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
    """Names of the variables of the network that is already on the command line."""
    return [v.name for v in _completed_network(ctx) if v.name.startswith(incomplete)]


def complete_evidence(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
    """``x=`` for every variable, then ``x=state``."""
    name, equals, states = incomplete.partition("=")
    if not equals:
        return [f"{v.name}=" for v in _completed_network(ctx) if v.name.startswith(name)]
    before, bar, begun = states.rpartition("|")
    found = next((v.states for v in _completed_network(ctx) if v.name == name), ())
    return [f"{name}={before}{bar}{state}" for state in found if state.startswith(begun)]


def _completed_network(ctx: click.Context) -> Sequence[pn.Variable]:
    name = ctx.params.get("net") or next(iter(ctx.args), None)  # not parsed yet while an option lacks its value
    try:
        return read_net(name).variables if isinstance(name, str) and name != "-" else ()
    except pn.PossnetError:
        return ()


def complete_list(module: str, name: str) -> Callable[[click.Context, click.Parameter, str], list[str]]:
    """Completion of words with commas between them: those that a module lists under a name, loaded when asked for."""

    def found(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
        before, comma, begun = incomplete.rpartition(",")
        return [f"{before}{comma}{word}" for word in getattr(import_module(module), name) if word.startswith(begun)]

    return found


def read_net(name: str, transform: Transform = "optimal") -> Network:
    """A file, a bundled network, or standard input (JSON)."""
    from possnet.io import NETWORK_FORMATS, example_names, has_suffix, sniff_kind

    if name == "-":
        file = spooled_input()
        if sniff_kind(file) == "data":
            raise InputError(f"{file} looks like data; expected a network as JSON")
        return pn.read_network(file)
    if name in example_names():
        return pn.load_example(name)
    kind = sniff_kind(name)
    if kind is None and is_data(name):
        kind = "data"
    if kind is not None and kind != "network":
        raise _wrong_kind(name, kind, "a network")
    if kind == "network" and not has_suffix(name, NETWORK_FORMATS):
        raise InputError(f"{name} looks like a network, but its name does not say so; rename it to .json, .bif or .uai")
    if Path(name).suffix or _exists(name):
        return pn.read_network(name, transform=transform)
    raise InputError(f"{name}: no such file and no bundled network of that name{among(name, example_names())}")


def read_stream(
    name: str, domain: str | None, weights: str | None, binnings: Sequence[str], without: Sequence[str] = ()
) -> DataStream:
    """Data of a file, with the domains of a network for the columns that the network knows; some columns left out."""
    from possnet.io import column_names

    source = data_file(name)
    if domain is None and not without:
        return scan(source, None, weights, binnings)
    names = column_names(source[0], delimiter=source[1])
    for odd in (column for column in without if column not in names):
        raise InputError(f"--without {odd}: no such column{among(odd, names)}")
    if domain is None:
        everything = scan(source, None, weights, binnings).variables
    else:
        known = read_net(domain).variables
        everything = tuple(v for v in known if v.name in names) or known
    chosen = [v for v in everything if v.name not in without]
    return scan(source, chosen, weights, binnings)


def scan(source: tuple[str, str], variables: object | None, weights: str | None, binnings: Sequence[str]) -> DataStream:
    """Data of a file and its delimiter, with given domains or its own."""
    file, delimiter = source
    return pn.scan_data(
        file, variables=variables, weights=weights, binnings=read_binnings(binnings), delimiter=delimiter
    )


def data_file(name: str) -> tuple[str, str]:
    """The file of some data, and what stands between its columns: a comma, or what its head shows."""
    from possnet.io import sniff_kind

    file = spooled_input() if name == "-" else name
    kind = sniff_kind(file)
    if kind is not None and kind != "data":
        raise _wrong_kind(name, kind, "data")
    if kind == "data" and Path(file).is_file() and not file.lower().endswith(_DATA_SUFFIXES):
        remedy = "unpack it first" if file.lower().endswith(".gz") else "rename it to .csv or .parquet"
        raise InputError(f"{name} looks like data, but its name does not end in .csv or .parquet; {remedy}")
    return file, _delimiter(file)


def _delimiter(file: str) -> str:
    """A semicolon or a tab, if the first line of a CSV file has no comma but one of these."""
    if not file.lower().endswith(".csv") or not Path(file).is_file():
        return ","
    with Path(file).open(encoding="utf-8", errors="replace") as opened:
        head = opened.readline(1 << 16)
    if "," in head:
        return ","
    return next((sign for sign in (";", "\t") if sign in head), ",")


def spooled_input() -> str:
    """The file that holds standard input while the command runs, as it may be read twice."""
    from tempfile import TemporaryDirectory

    context = click.get_current_context()
    root = context.find_root()
    if _STDIN in root.meta:
        raise click.UsageError("- is given twice, and there is only one standard input; expected it once", context)
    if sys.stdin is None:
        raise InputError("standard input is closed; expected data or a network there, or a file's name instead of -")
    folder = context.with_resource(TemporaryDirectory(prefix="possnet-"))
    head = sys.stdin.buffer.read(4096)
    suffix = ".parquet" if head.startswith(b"PAR1") else ".json" if head.lstrip().startswith(b"{") else ".csv"
    file = Path(folder) / f"input{suffix}"
    with file.open("wb") as copy:
        copy.write(head)
        copyfileobj(sys.stdin.buffer, copy)
    root.meta[_STDIN] = str(file)
    return str(file)


def standard_input_name(text: str, ctx: click.Context) -> str:
    """A message that says ``standard input`` instead of the file that stands for it."""
    file = ctx.find_root().meta.get(_STDIN)
    return text.replace(file, "standard input") if file else text


def is_data(name: str) -> bool:
    """Data by its suffix, or a folder or a pattern that is not a network's file or name."""
    from possnet.io import NETWORK_FORMATS, example_names, has_suffix

    if name.lower().endswith(_DATA_SUFFIXES):
        return True
    if not name or has_suffix(name, NETWORK_FORMATS) or name in example_names():
        return False
    return any(mark in name for mark in "*[") or (_exists(name) and Path(name).is_dir())


def _exists(name: str) -> bool:
    try:
        return Path(name).exists()
    except (OSError, ValueError):
        return False


def _wrong_kind(name: str, kind: FileKind, expected: str) -> InputError:
    """What a file looks like, and which command reads it."""
    info = f"possnet info {name} shows it"
    learn = f"{info}; possnet learn {name} --out learned.json makes a network from it"
    misnamed = Path(name).is_file() and not name.lower().endswith(_DATA_SUFFIXES)
    words, remedy = {
        "data": ("data", "rename it to .csv or .parquet, and possnet info shows it" if misnamed else learn),
        "network": ("a network", f"{info}; possnet sample {name} --out rows.csv draws data from it"),
        "counts": ("counts", "read it in Python: possnet.read_counts"),
        "experiment": ("an experiment", f"possnet report {name} shows it"),
        "report": ("a page", "open it in a browser"),
    }[kind]
    return InputError(f"{name} looks like {words}; expected {expected}. {remedy}")


@contextmanager
def writing(name: str, suffixes: tuple[str, ...], option: str = "--out ") -> Iterator[str]:
    """The file to write; ``-`` is standard output, written at the end.

    A file that could not be written is refused before any work.
    """
    from tempfile import TemporaryDirectory

    if name == "-":
        if sys.stdout is None:
            raise InputError("standard output is closed; expected a file's name instead of -")
        with TemporaryDirectory(prefix="possnet-") as folder:
            file = Path(folder) / f"output{suffixes[0]}"
            yield str(file)
            with file.open("rb") as written:
                copyfileobj(written, sys.stdout.buffer)
            sys.stdout.buffer.flush()
        return
    if not name.lower().endswith(suffixes):
        raise InputError(
            f"{option}{name}: unknown suffix {Path(name).suffix!r}; expected {' or '.join(suffixes)}, or -"
        )
    if not Path(name).resolve().parent.is_dir():
        raise InputError(f"{option}{name}: the folder does not exist; make it first, or check the name")
    yield name


@contextmanager
def progress_bar(total: int | None) -> Iterator[Progress | None]:
    """A bar on standard error, if that is a terminal."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

    columns = (BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=total)
        yield lambda done, most: bar.update(task, completed=done, total=total or most or None)


def show(page: str | Mapping[str, object], *, err: bool = False) -> None:
    """Print a page, or a document as JSON; on a terminal, long lines of tables are cut and long sentences folded."""
    stream = sys.stderr if err else sys.stdout
    if stream is None:
        return
    if not isinstance(page, str):
        page = json.dumps(page, indent=2, ensure_ascii=False, allow_nan=False)
    elif stream.isatty():
        from shutil import get_terminal_size

        width = get_terminal_size().columns
        page = "\n".join(_fitted(line, width) for line in page.splitlines())
    click.echo(page, err=err)


def _fitted(line: str, width: int) -> str:
    """A line that fits a terminal; columns, and nothing else, are two blanks apart.

    >>> _fitted("one sentence that is long", 14), _fitted("  one  long row", 14)
    ('one sentence\\n  that is long', '  one  long r…')
    """
    if len(line) <= width:
        return line
    if "  " in line.strip():
        return f"{line[: width - 1]}…"
    return textwrap.fill(line, width, subsequent_indent="  ", break_on_hyphens=False)

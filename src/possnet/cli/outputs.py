"""Where commands write to: files that are checked before any work, standard output, and progress on standard error."""

from __future__ import annotations

import sys
from contextlib import ExitStack, contextmanager
from pathlib import Path
from shutil import copyfileobj
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from possnet.cli.terminal import make_console, show_line
from possnet.errors import InputError, count_noun, escape_controls

if TYPE_CHECKING:
    from collections.abc import Iterator

    from possnet import Network
    from possnet.aliases import Progress
    from possnet.learners import Learner

    Ability: TypeAlias = Literal["write", "write_tables", "plain_columns"]


@contextmanager
def open_output(
    name: str, kind: Literal["network", "data"], *, ability: Ability = "write", option: str = "--out "
) -> Iterator[str]:
    """The file to write; ``-`` is standard output, written at the end, as JSON or CSV.

    A file that could not be written is refused before any work.
    """
    from possnet.io import DATA_FORMATS, NETWORK_FORMATS, choose_format, known_suffixes, temporary_folder

    formats: Any = NETWORK_FORMATS if kind == "network" else DATA_FORMATS
    if name == "-":
        if sys.stdout is None:
            raise InputError("standard output is closed; expected a file's name instead of -")
        with temporary_folder() as folder:
            file = folder / f"output{known_suffixes(formats, ability)[0]}"
            yield str(file)
            with file.open("rb") as written:
                copyfileobj(written, sys.stdout.buffer)
            sys.stdout.buffer.flush()
        return
    try:
        entry = choose_format(name, formats, ability)
    except InputError as error:
        raise InputError(f"{option}{error}, or -") from None
    if option and getattr(entry, "needs_transform", False):
        raise InputError(
            f"{option}{name}: a {entry.label} file holds probabilities; expected .json, and then: "
            f"possnet convert NET {name} --transform NAME"
        )
    if not Path(name).resolve().parent.is_dir():
        raise InputError(f"{option}{name}: the folder does not exist; make it first, or check the name")
    yield name


def announce_file(name: str | Path, contents: str) -> None:
    """Say on standard error what was written and where; nothing if that is standard output.

    >>> announce_file("-", "8 rows")
    """
    if str(name) != "-":
        show_line(f"Wrote {name}: {contents}")


def describe_network(network: Network) -> str:
    """A network in a few words.

    >>> import possnet as pn
    >>> describe_network(pn.load_example("asia"))
    'a network of 8 variables and 8 edges'
    """
    variables, edges = count_noun(len(network.variables), "variable"), count_noun(len(network.dag.edges), "edge")
    return f"a network of {variables} and {edges}"


@contextmanager
def show_progress(doing: str, unit: str, total: int | None = None) -> Iterator[Progress | None]:
    """A bar on standard error, if that is a terminal: what is being done, how far, and of what."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield None
        return
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(24),
        TextColumn("{task.fields[count]}", markup=False),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=make_console(sys.stderr), transient=True) as bar:
        task = bar.add_task(escape_controls(doing), total=total, count="")

        def advance(done: int, most: int) -> None:
            # EM says how many steps it may take, not how many it will.
            whole = None if unit == "steps of EM" else total or most or None
            bar.update(task, completed=done, total=whole, count=count_units(done, whole, unit))

        yield advance


@contextmanager
def show_late_progress(doing: str, unit: str) -> Iterator[Progress]:
    """A bar like that of `show_progress`, which appears when the first step is told: for what is mostly done at once."""
    with ExitStack() as stack:
        bars: list[Progress | None] = []

        def advance(done: int, most: int) -> None:
            if not bars:
                bars.append(stack.enter_context(show_progress(doing, unit)))
            if bars[0] is not None:
                bars[0](done, most)

        yield advance


def name_steps(learner: Learner) -> str:
    """What the progress of a learner counts.

    >>> from possnet.learners import LEARNERS
    >>> name_steps(LEARNERS["em"]), name_steps(LEARNERS["likelihood"])
    ('steps of EM', 'rows')
    """
    return "steps of EM" if "options" in learner.options else "rows"


def count_units(done: int, total: int | None, unit: str) -> str:
    """How far something is.

    >>> count_units(200, 1000, "rows"), count_units(3, None, "moves")
    ('200 of 1,000 rows', '3 moves')
    """
    return f"{done:,} {unit}" if total is None else f"{done:,} of {total:,} {unit}"

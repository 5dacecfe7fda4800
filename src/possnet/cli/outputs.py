"""Where commands write to: files that are checked before any work, standard output, and progress on standard error."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from pathlib import Path
from shutil import copyfileobj
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from possnet.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from possnet.aliases import Progress

    Ability: TypeAlias = Literal["write", "write_tables", "plain_columns"]


@contextmanager
def open_output(
    name: str, kind: Literal["network", "data"], *, ability: Ability = "write", option: str = "--out "
) -> Iterator[str]:
    """The file to write; ``-`` is standard output, written at the end, as JSON or CSV.

    A file that could not be written is refused before any work.
    """
    from tempfile import TemporaryDirectory

    from possnet.io import DATA_FORMATS, NETWORK_FORMATS, choose_format, known_suffixes

    formats: Any = NETWORK_FORMATS if kind == "network" else DATA_FORMATS
    if name == "-":
        if sys.stdout is None:
            raise InputError("standard output is closed; expected a file's name instead of -")
        with TemporaryDirectory(prefix="possnet-") as folder:
            file = Path(folder) / f"output{known_suffixes(formats, ability)[0]}"
            yield str(file)
            with file.open("rb") as written:
                copyfileobj(written, sys.stdout.buffer)
            sys.stdout.buffer.flush()
        return
    try:
        choose_format(name, formats, ability)
    except InputError as error:
        raise InputError(f"{option}{error}, or -") from None
    if not Path(name).resolve().parent.is_dir():
        raise InputError(f"{option}{name}: the folder does not exist; make it first, or check the name")
    yield name


@contextmanager
def show_progress(total: int | None = None) -> Iterator[Progress | None]:
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

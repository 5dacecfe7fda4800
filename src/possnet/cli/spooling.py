"""Standard input and pipes: copied to a temporary file while a command runs, because readers of data read twice."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Literal

import click

from possnet.cli.terminal import show_line
from possnet.errors import InputError, TooLarge, count_noun

if TYPE_CHECKING:
    Expected = Literal["network", "data"]

_SPOOLED = "possnet.spooled"
_PIECE = 1 << 20


def spool_stream(name: str, expected: Expected) -> str:
    """The path of a file: of a copy, if the name stands for standard input or a pipe, such as ``<(zcat rows.csv.gz)``."""
    from possnet.io import describe_special

    return _spool_input(name, expected) if name == "-" or describe_special(name) == "a pipe" else name


def label_input(name: str) -> str:
    """A name for people."""
    return "standard input" if name == "-" else name


def _spool_input(name: str, expected: Expected) -> str:
    """The copy of standard input or of a pipe; taken for what is expected if its first bytes do not say what it is."""
    from possnet.io import DATA_FORMATS, NETWORK_FORMATS, guess_suffix, open_input, temporary_folder

    context = click.get_current_context()
    root = context.find_root()
    spooled: dict[str, str] = root.meta.setdefault(_SPOOLED, {})
    label = label_input(name)
    if label in spooled:
        raise click.UsageError(f"{name} is given twice, and can be read only once; expected it once", context)
    if name == "-":
        _require_finite(sys.stdin)
    stream = sys.stdin.buffer if name == "-" else root.with_resource(open_input(name, show_line))
    folder = root.with_resource(temporary_folder())
    head = stream.read(4096)
    file = folder / f"input{guess_suffix(head, NETWORK_FORMATS if expected == 'network' else DATA_FORMATS)}"
    spooled[label] = str(file)
    _copy_stream(head, stream, file, label)
    return str(file)


def _require_finite(stream: IO[str] | None) -> None:
    """Raise an `InputError` if standard input is closed, or a device that is neither a terminal nor empty."""
    from possnet.io import describe_special

    if stream is None:
        raise InputError("standard input is closed; expected data or a network there, or a file's name instead of -")
    try:
        number = stream.fileno()
        empty = os.fstat(number).st_rdev == Path(os.devnull).stat().st_rdev
    except (OSError, ValueError):  # a stream that is no file
        return
    if describe_special(number) == "a device" and not empty and not os.isatty(number):
        raise InputError("standard input: a device; expected data or a network there, or a file's name instead of -")


def _copy_stream(head: bytes, stream: Any, file: Path, label: str) -> None:
    """Copy what a stream gives to a file, as long as the limit and the disk allow."""
    from shutil import disk_usage

    from possnet.io import replace_file
    from possnet.limits import current_limit, refuse_above

    most, total, piece = min(current_limit("stream_bytes"), disk_usage(file.parent).free // 2), 0, head
    with replace_file(file, durable=False) as copy:
        while piece:
            total += len(piece)
            if total > most:
                refuse_above("stream_bytes", most + 1, label, at_least=True)
                raise TooLarge(
                    f"{label}: {count_noun(total, 'byte')}, more than half of the free disk; give the name of a file"
                )
            copy.write(piece)
            piece = stream.read(_PIECE)


def name_input(text: str, ctx: click.Context) -> str:
    """A message that says ``standard input``, or the name of a pipe, instead of the file that stands for it."""
    for label, file in ctx.find_root().meta.get(_SPOOLED, {}).items():
        text = text.replace(file, label)
    return text

"""Reading files, with an error that says why one cannot be read."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from possnet.errors import InputError
from possnet.limits import memory_limit, readable_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator


def read_bytes(path: str | Path, *, unpack: bool = False) -> bytes:
    """Content of a file; a missing or unreadable one is an `InputError` that names it.

    With ``unpack``, a file whose name ends in ``.gz`` is unpacked, and refused if it unpacks to more than memory allows.

    >>> read_bytes("nowhere.json")
    Traceback (most recent call last):
        ...
    possnet.errors.InputError: nowhere.json: no such file; check the name
    """
    try:
        return _unpack_file(path) if unpack and is_gzipped(path) else Path(path).read_bytes()
    except (OSError, ValueError) as error:
        raise error if isinstance(error, InputError) else file_error(path, error) from None


def is_gzipped(path: str | Path) -> bool:
    """Whether a file is gzipped, by its name."""
    return Path(path).suffix.lower() == ".gz"


def file_stem(path: str | Path) -> str:
    """Name of a file without its folder and all its suffixes.

    >>> file_stem("models/alarm.bif.gz")
    'alarm'
    """
    return Path(path).name.split(".")[0]


def _unpack_file(path: str | Path) -> bytes:
    import gzip
    import zlib

    limit = memory_limit()
    try:
        with gzip.open(path) as packed:
            content = packed.read(limit + 1)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise InputError(f"{path}: {str(error) or 'cannot be unpacked'}; expected a gzipped file, whole") from None
    if len(content) > limit:
        raise InputError(f"{path}: unpacks to more than {readable_bytes(limit)}; expected less")
    return content


def file_error(path: str | Path, error: OSError | ValueError) -> InputError:
    """`InputError` that says why a file cannot be read or written."""
    if isinstance(error, FileNotFoundError):
        return InputError(f"{path}: no such file; check the name")
    if isinstance(error, IsADirectoryError):
        return InputError(f"{path}: a folder; expected a file")
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return InputError(f"{path}: {reason.lower()}; expected a file that can be opened")


@contextmanager
def prefix_errors(owner: str) -> Iterator[None]:
    """Put the owner of a value in front of the `InputError` that it causes.

    >>> with prefix_errors("alarm.bif"):
    ...     raise InputError("no variables; expected at least one")
    Traceback (most recent call last):
        ...
    possnet.errors.InputError: alarm.bif: no variables; expected at least one
    """
    try:
        yield
    except InputError as error:
        raise InputError(f"{owner}: {error}") from None


def locate_offset(content: bytes, offset: int) -> str:
    r"""Line and column (both from 1, columns in characters) of a byte offset.

    >>> locate_offset(b"{\n  1", 5)
    'line 2, column 4'
    """
    before = content[: max(offset, 0)]
    start = before.rfind(b"\n") + 1
    line = before.count(b"\n") + 1
    return f"line {line}, column {len(before[start:].decode(errors='replace')) + 1}"

"""Reading files, whole and bounded, with an error that says why one cannot be read."""

from __future__ import annotations

import os
import re
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING

from possnet.errors import InputError, TooLarge
from possnet.io.special_files import open_input
from possnet.limits import LIMITS, current_limit, explain_shortage, readable_bytes, refuse_above

if TYPE_CHECKING:
    from collections.abc import Iterator
    from gzip import GzipFile

_PIECE = 1 << 20
_ANY_RATIO = 1 << 26  # what unpacks to less may do so from any size


def read_bytes(path: str | Path, *, unpack: bool = False) -> bytes:
    """Content of a file, or of a pipe; a missing, unreadable or too large one is an error that names it.

    With ``unpack``, a file whose name ends in ``.gz`` is unpacked, piece by piece, as far as the limits of
    `possnet.limits` allow.

    >>> read_bytes("nowhere.json")
    Traceback (most recent call last):
        ...
    possnet.errors.InputError: nowhere.json: no such file; check the name
    """
    try:
        with explain_shortage(str(path), "free some memory, or allow more"), open_input(path) as opened:
            size = os.fstat(opened.fileno()).st_size
            refuse_above("network_bytes", size, str(path))
            if unpack and is_gzipped(path):
                return _unpack_stream(opened, size, str(path))
            return opened.read() if size else _read_pieces(opened, str(path))
    except (OSError, ValueError) as error:
        raise error if isinstance(error, InputError) else file_error(path, error) from None


def _read_pieces(stream: IO[bytes] | GzipFile, owner: str, packed: int = 0) -> bytes:
    """All bytes of a stream, refused as soon as they are too many; ``packed`` is the size of the file they unpack from."""
    pieces, total = [], 0
    ratio = current_limit("gzip_ratio")
    while piece := stream.read(_PIECE):
        total += len(piece)
        if total > current_limit("network_bytes"):
            refuse_above("network_bytes", total, owner, at_least=True)
        if packed and total > max(_ANY_RATIO, ratio * packed):
            raise TooLarge(
                f"{owner}: unpacks to more than {ratio} times its {readable_bytes(packed)}, which no network needs; "
                f"unpack it first if it is what it should be, or raise the limit: {LIMITS['gzip_ratio'].variable}=1100"
            )
        pieces.append(piece)
    return pieces[0] if len(pieces) == 1 else b"".join(pieces)


def is_gzipped(path: str | Path) -> bool:
    """Whether a file is gzipped, by its name."""
    return Path(path).suffix.lower() == ".gz"


def file_stem(path: str | Path) -> str:
    """Name of a file without its folder and all its suffixes.

    >>> file_stem("models/alarm.bif.gz")
    'alarm'
    """
    return Path(path).name.split(".")[0]


def _unpack_stream(packed: IO[bytes], size: int, owner: str) -> bytes:
    import gzip
    import zlib

    try:
        with gzip.GzipFile(fileobj=packed) as unpacked:
            return _read_pieces(unpacked, owner, size)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise InputError(f"{owner}: {str(error) or 'cannot be unpacked'}; expected a gzipped file, whole") from None


def decode_text(content: bytes, owner: str, expected: str) -> str:
    r"""The text of a file in UTF-8, or else in Latin-1, the usual encoding of older files; refused if it is empty or none.

    >>> decode_text(b"gr\xfcn", "a.net", "a Hugin file")
    'grün'
    """
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        if re.search(rb"[\x00-\x08\x0e-\x1f]", content):
            where = locate_offset(content, error.start)
            raise InputError(f"{owner}, {where}: not text; expected {expected}") from None
        text = content.decode("latin-1")
    if not text.strip():
        raise InputError(f"{owner}: the file is empty; expected {expected}")
    return text


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

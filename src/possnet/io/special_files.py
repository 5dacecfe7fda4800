"""Files that are no plain files: pipes are read once, as streams that end; devices, sockets and folders are refused.

Opening a named pipe waits, without a word and for ever, until somebody opens its other end. Here nothing does: a pipe is
opened without waiting, and its writer is waited for as long as the limit ``wait`` says.
"""

from __future__ import annotations

import io
import os
import select
import stat
import time
from typing import TYPE_CHECKING, BinaryIO

from possnet.errors import InputError, warn_user
from possnet.limits import LIMITS, current_limit

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

_KINDS = (
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISDIR, "a folder"),
)
_GLANCE = 0.2  # seconds between two looks at a pipe


def describe_special(path: str | Path | int) -> str:
    """What a path leads to, if that is no plain file: a pipe, a device, a socket or a folder; empty for anything else.

    >>> describe_special("/dev/null"), describe_special("nowhere")
    ('a device', '')
    """
    try:
        mode = os.stat(path).st_mode  # noqa: PTH116 - of an open file too
    except (OSError, ValueError):
        return ""
    if stat.S_ISFIFO(mode):
        return "a pipe"
    return next((kind for test, kind in _KINDS if test(mode)), "")


def require_plain(path: str | Path) -> None:
    """Raise an `InputError` for what cannot be read twice, as readers of data do, or has no end.

    >>> require_plain("/dev/zero")
    Traceback (most recent call last):
        ...
    possnet.errors.InputError: /dev/zero: a device; expected a file
    """
    kind = describe_special(path)
    if kind == "a pipe":
        raise InputError(
            f"{path}: a pipe, which can be read only once; expected a file. Copy it to one first (the commands of "
            "possnet do so)"
        )
    if kind:
        raise InputError(f"{path}: {kind}; expected a file")


def open_input(path: str | Path, tell: Callable[[str], None] = warn_user) -> BinaryIO:
    """A file opened for reading, or a pipe whose writer is waited for; ``tell`` is told of a long wait."""
    kind = describe_special(path)
    if kind == "a folder":
        raise IsADirectoryError
    if kind == "a pipe":
        if not hasattr(select, "poll"):
            raise InputError(f"{path}: a pipe, which cannot be waited for on this system; expected a file")
        return io.BufferedReader(_PipeReader(path, tell))
    if kind:
        raise InputError(f"{path}: {kind}; expected a file")
    return open(path, "rb")  # noqa: PTH123 - the caller closes it


class _PipeReader(io.RawIOBase):
    """A pipe that is read until its last writer has closed it; only where ``hasattr(select, "poll")``."""

    def __init__(self, path: str | Path, tell: Callable[[str], None]) -> None:
        self._handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        # a pipe without a name has had a writer: if there is none now, it is at its end
        self._begun = os.path.realpath(path).startswith("/proc/")
        self._owner, self._tell, self._warned = str(path), tell, False
        self._looks = select.poll()
        self._looks.register(self._handle, select.POLLIN)

    def readable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._handle

    def close(self) -> None:
        if not self.closed:
            os.close(self._handle)
        super().close()

    def readinto(self, buffer: object) -> int:
        """Fill a buffer as far as it goes, waiting for the writer."""
        target = memoryview(buffer).cast("B")  # type: ignore[arg-type]
        start = time.monotonic()
        while True:
            try:
                piece = os.read(self._handle, len(target))
            except BlockingIOError:  # there is a writer, who is thinking
                self._begun = True
                piece = b""
            else:
                if piece or self._begun:
                    self._begun = True
                    target[: len(piece)] = piece
                    return len(piece)
            self._look(time.monotonic() - start)

    def _look(self, waited: float) -> None:
        """Wait a moment for something to read; tell, once, that this takes long, and refuse a pipe without a writer."""
        longest = current_limit("wait")
        if waited >= longest and not self._begun:
            raise InputError(
                f"{self._owner}: a pipe that nobody has written to for {longest} seconds; start what writes to it first, "
                f"or wait longer: {LIMITS['wait'].variable}={10 * longest}"
            )
        if waited >= longest and not self._warned:
            self._warned = True
            self._tell(f"{self._owner}: a pipe; waiting for what writes to it (stop with Ctrl-C)")
        if self._looks.poll(1000 * _GLANCE) and not self._begun:
            self._begun = True  # there is something to read, or a writer has come and gone

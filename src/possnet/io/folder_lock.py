"""One writer at a time in a folder that several processes could write into: a lock that says who holds it, and since when.

The lock is a hidden file. Where the system has locks of files, it is locked as long as its owner lives: a lock that is left
behind by a killed process locks nobody out. Elsewhere the owner's process is looked for.
"""

from __future__ import annotations

import json
import os
import socket
import sys
import time
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from possnet.errors import InputError
from possnet.io.atomic_files import begin_file, end_file, try_lock
from possnet.io.file_access import file_error

if TYPE_CHECKING:
    from collections.abc import Iterator

LOCK: Final = ".possnet.lock"
_DAY: Final = 86_400.0


@contextmanager
def lock_folder(folder: str | Path, *, patience: float = 0.0) -> Iterator[None]:
    """Keep a folder to this process; an `InputError` says who writes into it, if that goes on for ``patience`` seconds.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder, lock_folder(folder):
    ...     [path.name for path in Path(folder).iterdir()]
    ['.possnet.lock']
    """
    place = Path(folder)
    deadline = time.monotonic() + patience
    handle = None
    try:
        while handle is None:
            handle, owner = _take_lock(place / LOCK)
            if handle is None and time.monotonic() >= deadline:
                raise InputError(
                    f"{place} is being written by {_describe_owner(owner)}; expected one writer. Wait until it has ended, "
                    "or choose another folder"
                )
            if handle is None:
                time.sleep(0.1)
        begin_file(str(place / LOCK))
        yield
    except OSError as error:
        raise file_error(place, error) from None
    finally:
        if handle is not None:
            if sys.platform == "win32":  # a file that is open cannot be removed there
                os.close(handle)
                end_file(str(place / LOCK))
            else:
                end_file(str(place / LOCK))
                os.close(handle)


def _take_lock(path: Path) -> tuple[int | None, dict[str, Any]]:
    """Handle of a lock that is taken, or None and what is known of its owner."""
    while True:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0), 0o666)
        try:
            owner = _read_owner(handle)
            free = try_lock(handle)
            if free is None:
                free = not _is_alive(owner)
            if not free:
                os.close(handle)
                return None, owner
            if os.fstat(handle).st_nlink:  # else its owner has ended meanwhile, and removed it
                _write_owner(handle)
                return handle, {}
            os.close(handle)
        except BaseException:
            with suppress(OSError):
                os.close(handle)
            raise


def _write_owner(handle: int) -> None:
    owner = {
        "process": os.getpid(),
        "host": socket.gethostname(),
        "since": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    with suppress(OSError):  # on a full disk: the lock holds, only its owner cannot be named
        os.ftruncate(handle, 0)
        os.lseek(handle, 0, os.SEEK_SET)
        os.write(handle, json.dumps(owner).encode())


def _read_owner(handle: int) -> dict[str, Any]:
    try:
        owner = json.loads(os.read(handle, 4096))
        datetime.fromisoformat(owner["since"])
        return {"process": int(owner["process"]), "host": str(owner["host"]), "since": str(owner["since"])}
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return {}


def _describe_owner(owner: dict[str, Any]) -> str:
    """The owner of a lock in words.

    >>> _describe_owner({"process": 123, "host": "oak", "since": "2026-01-01T10:00:00+00:00"})[:45]
    'process 123 on oak since 2026-01-01 10:00 UTC'
    >>> _describe_owner({})
    'another process'
    """
    if not owner:
        return "another process"
    since = datetime.fromisoformat(owner["since"])
    seconds = max(0, int((datetime.now(UTC) - since).total_seconds()))
    hours = f"more than {seconds // 3600} hours"
    age = f"{seconds} s" if seconds < 120 else f"{seconds // 60} minutes" if seconds < 7200 else hours
    return f"process {owner['process']} on {owner['host']} since {since:%Y-%m-%d %H:%M} UTC, for {age}"


def _is_alive(owner: dict[str, Any]) -> bool:  # pragma: no cover - where there are no locks
    """Whether the owner of a lock lives, as far as one can see: processes of other machines do for a day."""
    if not owner:
        return False
    if owner["host"] != socket.gethostname():
        return (datetime.now(UTC) - datetime.fromisoformat(owner["since"])).total_seconds() < _DAY
    return bool(owner["process"] != os.getpid()) and _process_exists(owner["process"])


def _process_exists(number: int) -> bool:
    """Whether a process of this machine lives."""
    if sys.platform == "win32":  # os.kill would send it Ctrl-C there
        import ctypes

        kernel = ctypes.windll.kernel32
        handle = kernel.OpenProcess(0x1000, 0, number)  # PROCESS_QUERY_LIMITED_INFORMATION
        if handle:
            kernel.CloseHandle(handle)
        return bool(handle)
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True

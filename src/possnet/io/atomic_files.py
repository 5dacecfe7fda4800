"""Writing files, whole or not at all, whatever happens meanwhile: an error, a signal, a killed process, a power failure.

A file is written beside its place, under a hidden name that ends in ``.possnet.part``; its bytes are forced to the disk,
then it is renamed, and the folder is forced to the disk too. So a reader, or a machine that starts again, sees the old file
or the new one. All that is written passes `os.write`, also what pyarrow writes: it gets the open file, not its name.

The writer keeps its part locked. A part that nobody locks was left behind by a process that was killed; the first file
that a process writes into a folder removes those there. Where there are no locks, parts of a day ago count as left behind.
"""

from __future__ import annotations

import errno
import io
import os
import re
import secrets
import shutil
import stat
import tempfile
import time
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from possnet.errors import InputError
from possnet.io.file_access import file_error
from possnet.signals import act_last

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO

_PART: Final = re.compile(r"\..*\.[0-9a-f]{12}\.possnet\.part", re.DOTALL)
_TEMPORARY: Final = re.compile(r"possnet-[a-z0-9_]{8}\.tmp")
_HAS_LOCKS: Final = find_spec("fcntl") is not None
_CLOSES_FIRST: Final = os.name == "nt"  # Windows neither renames nor removes a file that is open
_DAY: Final = 86_400.0
_BUFFER: Final = 1 << 17
_UNSUPPORTED: Final = {
    errno.EINVAL,
    errno.ENOTSUP,
    errno.EOPNOTSUPP,
    errno.ENOSYS,
    errno.EACCES,
    errno.EPERM,
    errno.EBADF,
}
_swept: set[str] = set()
_begun: dict[str, int] = {}  # parts and temporary folders that are under way, and the process that began them


@contextmanager
def replace_file(path: str | Path, *, durable: bool = True) -> Iterator[BinaryIO]:
    """Write a file atomically: gives a binary file in the same folder, which replaces ``path`` at the end.

    If anything goes wrong, what was written is removed and ``path`` is as before. Without ``durable`` a power failure may
    undo the replacement; what is there then is the old file, whole.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     target = Path(folder) / "a.txt"
    ...     with replace_file(target) as out:
    ...         _ = out.write(b"all of it")
    ...     target.read_text(), len(list(Path(folder).iterdir()))
    ('all of it', 1)
    """
    target = Path(path)
    _require_place(target)
    part, raw, out = _name_part(target), None, None
    try:
        remove_strays(target.parent)
        _begun[part] = os.getpid()
        raw = _PartFile(_open_part(part, target))
        out = io.BufferedWriter(raw, _BUFFER)
        yield out
        out.flush()
        os.fsync(raw.fileno())
        if _CLOSES_FIRST:
            out.close()
        os.replace(part, target)  # noqa: PTH105 - every change of a file passes `os`
        _begun.pop(part, None)
        if durable:
            sync_folder(target.parent)
    except OSError as error:
        other = error.filename not in {None, part, str(target.parent)}
        raise file_error(str(error.filename) if other else target, error) from None
    finally:
        whole = raw if out is None else out
        if raw is not None:
            raw.discard = True  # what is still in the buffer belongs to a file that was given up
        if whole is not None and _CLOSES_FIRST:
            whole.close()
        if _begun.pop(part, None) is not None:
            _remove_part(part)
        if whole is not None:
            whole.close()


def write_bytes(path: str | Path, content: bytes, *, durable: bool = True) -> None:
    """Write a file, whole or not at all."""
    with replace_file(path, durable=durable) as out:
        out.write(content)


def write_text(path: str | Path, text: str, *, durable: bool = True) -> None:
    """Write a UTF-8 text file, whole or not at all."""
    write_bytes(path, text.encode(), durable=durable)


def make_folder(path: str | Path) -> None:
    """Make a folder and those above it, as far as they are missing, so that they outlast a power failure."""
    folder = Path(path)
    missing = [place for place in (folder, *folder.parents) if not place.is_dir()]
    try:
        for place in reversed(missing):
            try:
                os.mkdir(place)  # noqa: PTH102 - every change of a file passes `os`
            except FileExistsError:
                if not place.is_dir():  # else another process was quicker
                    raise
            sync_folder(place.parent)
    except OSError as error:
        raise file_error(folder, error) from None


def remove_file(path: str | Path) -> None:
    """Remove a file, if it is there."""
    try:
        os.unlink(path)  # noqa: PTH108 - every change of a file passes `os`
    except FileNotFoundError:
        return
    except OSError as error:
        raise file_error(path, error) from None


def sync_folder(path: str | Path) -> None:
    """Force the names in a folder to the disk, where the system can: a file renamed there outlasts a power failure."""
    try:
        handle = os.open(path, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
    except OSError as error:
        if error.errno not in _UNSUPPORTED:
            raise


def begin_file(place: str) -> None:
    """Note that this process has a file there that must not outlast it."""
    _begun[place] = os.getpid()


def end_file(place: str) -> None:
    """Remove a file that must not outlast this process."""
    _begun.pop(place, None)
    _remove_part(place)


def remove_strays(folder: Path) -> None:
    """Remove the parts that killed processes left behind in a folder; looks once in a process at every folder."""
    place = os.path.abspath(folder)  # noqa: PTH100 - links need not be followed
    if place in _swept:
        return
    _swept.add(place)
    with suppress(OSError), os.scandir(place) as entries:
        for entry in entries:
            if _PART.fullmatch(entry.name):
                _remove_abandoned(entry.path)


def discard_unfinished() -> None:
    """Remove what this process has begun to write and not finished: for a program that ends at once."""
    own = os.getpid()
    for place in [place for place, process in list(_begun.items()) if process == own]:
        _begun.pop(place, None)
        if Path(place).is_dir():
            shutil.rmtree(place, ignore_errors=True)
        else:
            _remove_part(place)


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """A folder for files on their way, removed at the end; those that killed processes left behind are removed first.

    >>> with temporary_folder() as folder:
    ...     (folder / "a.txt").write_text("for now"), folder.is_dir()
    (7, True)
    >>> folder.exists()
    False
    """
    _remove_temporary_folders()
    place, handle = "", None
    try:
        while (
            handle is None
        ):  # until it is ours: another process may take a folder that is not locked yet for abandoned
            place = tempfile.mkdtemp(prefix="possnet-", suffix=".tmp")
            _begun[place] = os.getpid()
            handle = _lock_folder(place)
        yield Path(place)
    finally:
        if _begun.pop(place, None) is not None:
            shutil.rmtree(place, ignore_errors=True)
        if handle is not None and handle >= 0:
            os.close(handle)


class _PartFile(io.RawIOBase):
    """A file on its way: every byte passes `os.write`."""

    def __init__(self, handle: int) -> None:
        super().__init__()
        self._handle = handle
        self.discard = False

    def fileno(self) -> int:
        return self._handle

    def writable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET, /) -> int:
        return os.lseek(self._handle, offset, whence)

    def write(self, content: Any, /) -> int:
        return memoryview(content).nbytes if self.discard else os.write(self._handle, content)

    def close(self) -> None:
        if not self.closed:
            super().close()
            os.close(self._handle)


def _require_place(target: Path) -> None:
    """Refuse a file that could not be replaced, before any work."""
    if not target.parent.is_dir():
        raise InputError(f"{target}: the folder {target.parent} does not exist; make it first")
    with suppress(OSError, ValueError):
        if not stat.S_ISREG(target.stat().st_mode):
            what = "a folder" if target.is_dir() else "not a regular file"
            raise InputError(f"{target}: {what}; expected a file")


def _name_part(target: Path) -> str:
    """Name of a file on its way: short enough for every file system, whatever the target is called."""
    return str(target.parent / f".{target.name[:40]}.{secrets.token_hex(6)}.possnet.part")


def _open_part(part: str, target: Path) -> int:
    """Create a part with the permissions of the file to be replaced, or those that a new file gets; locked."""
    try:
        mode = target.stat().st_mode & 0o777
    except OSError:
        mode = None
    while True:
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
        handle = os.open(part, flags, 0o666 if mode is None else mode)
        if try_lock(handle) is not False and os.fstat(handle).st_nlink:
            break
        os.close(handle)  # another process took it for abandoned in the instant before it was locked
        with suppress(OSError):
            os.unlink(part)  # noqa: PTH108
    if mode is not None and hasattr(os, "fchmod"):
        try:
            os.fchmod(handle, mode)
        except OSError:
            os.close(handle)
            raise
    return handle


def try_lock(handle: int) -> bool | None:
    """Whether an open file could be locked; None where there are no locks."""
    if not _HAS_LOCKS:  # pragma: no cover - not on every system
        return None
    import fcntl

    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True


def _lock_folder(place: str) -> int | None:
    """Handle that locks a folder, -1 where there are no locks; None if another process removes it."""
    try:
        handle = os.open(place, os.O_RDONLY)
    except FileNotFoundError:
        return None
    except OSError:  # pragma: no cover - not on every system
        return -1
    if try_lock(handle) is False or not Path(place).is_dir():
        os.close(handle)
        return None
    return handle


def _remove_part(part: str) -> None:
    try:
        os.unlink(part)  # noqa: PTH108
    except FileNotFoundError:
        pass
    except OSError:
        _swept.discard(os.path.abspath(os.path.dirname(part)))  # noqa: PTH100, PTH120 - the next file looks again


def _remove_abandoned(place: str) -> None:
    """Remove a part, or a temporary folder, that no living process writes."""
    with suppress(OSError):
        is_folder = stat.S_ISDIR(os.lstat(place).st_mode)
        handle = os.open(place, (os.O_RDONLY if is_folder else os.O_RDWR) | getattr(os, "O_NOFOLLOW", 0))
        try:
            lock = try_lock(handle)
            if lock or (lock is None and time.time() - os.fstat(handle).st_mtime > _DAY):
                if is_folder:
                    shutil.rmtree(place, ignore_errors=True)
                else:
                    os.unlink(place)  # noqa: PTH108
        finally:
            os.close(handle)


def _remove_temporary_folders() -> None:
    """Remove the temporary folders of this account that killed processes left behind."""
    if not _HAS_LOCKS:  # pragma: no cover - a folder cannot be locked there
        return
    with suppress(OSError), os.scandir(tempfile.gettempdir()) as entries:
        for entry in entries:
            with suppress(OSError):
                own = _TEMPORARY.fullmatch(entry.name) and entry.stat(follow_symlinks=False).st_uid == os.getuid()
                if own and entry.is_dir(follow_symlinks=False):
                    _remove_abandoned(entry.path)


act_last(discard_unfinished)

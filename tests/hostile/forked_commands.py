"""Commands run in a forked process, in which a system call can be made to fail, or all that change files are recorded.

Everything heavy is loaded before the fork, so that a run costs what the command costs. What the door of possnet writes passes
`os.write` and `os.fsync`, which are replaced in the child; opening, renaming, making folders and removing are seen, and made to
fail, by an audit hook of Python, whoever does them.
"""

from __future__ import annotations

import io
import os
import pickle
import signal
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

KINDS = ("write", "fsync", "rename", "open", "mkdir", "unlink", "kill")
_EVENTS = {"open": "open", "os.rename": "rename", "os.mkdir": "mkdir", "os.remove": "unlink", "os.rmdir": "unlink"}
_HEAVY = (
    *("pyarrow.csv", "pyarrow.parquet", "pyarrow.compute", "matplotlib.backends.backend_pdf", "possnet.report"),
    *("matplotlib.backends.backend_svg", "possnet.completion", "possnet.checking", "possnet.classifier", "msgspec"),
)


class Fault(NamedTuple):
    """The call of a kind that fails, from 1, and how.

    Of ``unlink`` it is the write of that number that fails, and with it every attempt to remove a file. ``kill`` ends the
    process at the call of that number, of whatever kind.
    """

    kind: str
    number: int
    code: int


class Step(NamedTuple):
    """A change of files, as it was asked of the system: its kind, the file, and the bytes or the new name."""

    kind: str
    path: str
    other: Any = None


@dataclass
class Ending:
    """How a command ended: its exit code, standard output and error, how often it called the system, and what it changed."""

    code: int
    output: bytes
    words: str
    calls: Counter[str] = field(default_factory=Counter)
    steps: list[Step] = field(default_factory=list)


def run_forked(
    arguments: Sequence[str],
    folder: Path,
    *,
    given: bytes = b"",
    fault: Fault | None = None,
    record: bool = False,
    prepare: Callable[[], None] | None = None,
) -> Ending:
    """Run a command in a folder, with ``folder/tmp`` for temporary files."""
    for name in _HEAVY:
        import_module(name)
    (folder / "tmp").mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as beside:
        place = Path(beside)
        (place / "in").write_bytes(given)
        process = os.fork()
        if process == 0:
            _run_child(arguments, folder, place, fault, prepare, record=record)
        _, status = os.waitpid(process, 0)
        code = os.waitstatus_to_exitcode(status)
        words = (place / "err").read_text(errors="replace", encoding="utf-8") if (place / "err").exists() else ""
        if not (place / "calls").exists():
            return Ending(code, b"", words)
        calls, steps = pickle.loads((place / "calls").read_bytes())  # noqa: S301 - written by our own child
        return Ending(code, (place / "out").read_bytes(), words, calls, steps)


def _run_child(
    arguments: Sequence[str],
    folder: Path,
    place: Path,
    fault: Fault | None,
    prepare: Callable[[], None] | None,
    *,
    record: bool,
) -> None:  # pragma: no cover - runs in the child
    code: Any = 70
    calls: Counter[str] = Counter()
    steps: list[Step] = []
    try:
        _redirect(place, folder)
        from possnet.__main__ import run

        if prepare is not None:
            prepare()
        sys.argv = ["possnet", *arguments]
        real = _Recorder(steps).install() if record else None
        guard = _FaultGuard(calls, fault, str(folder.resolve()))
        guard.install()
        try:
            run()
            code = 0
        except SystemExit as end:
            code = end.code
        finally:
            guard.active = False
            if real is not None:
                real()
        if isinstance(code, str):
            sys.stderr.write(f"{code}\n")
            code = 1
    except BaseException:  # noqa: BLE001 - a traceback is a finding
        import traceback

        traceback.print_exc()
        code = 70
    sys.stdout.flush()
    sys.stderr.flush()
    (place / "calls").write_bytes(pickle.dumps((calls, steps)))
    os._exit(code or 0)


def _redirect(place: Path, folder: Path) -> None:  # pragma: no cover - runs in the child
    for number, name, mode in (
        (0, "in", os.O_RDONLY),
        (1, "out", os.O_WRONLY | os.O_CREAT),
        (2, "err", os.O_WRONLY | os.O_CREAT),
    ):
        os.dup2(os.open(place / name, mode, 0o600), number)
    sys.stdin = io.TextIOWrapper(io.FileIO(0, "rb", closefd=False))
    sys.stdout = io.TextIOWrapper(io.BufferedWriter(io.FileIO(1, "wb", closefd=False)))
    sys.stderr = io.TextIOWrapper(io.BufferedWriter(io.FileIO(2, "wb", closefd=False)), write_through=True)
    os.chdir(folder)
    tempfile.tempdir = str(folder / "tmp")


class _FaultGuard:
    """Counts calls of the system that concern a folder, and makes one of them fail."""

    def __init__(self, calls: Counter[str], fault: Fault | None, root: str) -> None:
        self._calls, self._fault, self._root = calls, fault, root
        self.active = True

    def install(self) -> None:
        write, fsync = os.write, os.fsync

        def guarded_write(handle: int, content: Any) -> int:
            if handle > 2:
                self._count("write")
            return write(handle, content)

        def guarded_fsync(handle: int) -> None:
            self._count("fsync")
            fsync(handle)

        os.write, os.fsync = guarded_write, guarded_fsync  # type: ignore[assignment]
        sys.addaudithook(self._audit)

    def _audit(self, event: str, arguments: tuple[Any, ...]) -> None:
        kind = _EVENTS.get(event) if self.active else None
        if kind is not None and isinstance(arguments[0], str | os.PathLike):
            path = os.path.abspath(arguments[0])  # noqa: PTH100
            if path.startswith(self._root):
                self._count(kind, str(arguments[0]))

    def _count(self, kind: str, path: str | None = None) -> None:
        if not self.active:
            return
        self._calls[kind] += 1
        if self._fault is None:
            return
        wanted, number, code = self._fault
        if wanted == "kill" and self._calls.total() == number:
            os.kill(os.getpid(), signal.SIGKILL)
        reached = self._calls["write" if wanted == "unlink" else kind]
        if (kind == wanted and (wanted == "unlink" or reached == number)) or (
            (wanted, kind) == ("unlink", "write") and reached == number
        ):
            raise OSError(code, os.strerror(code), *([path] if path else []))


class _Recorder:
    """Records what is asked of the system that changes files, in its order."""

    def __init__(self, steps: list[Step]) -> None:
        self._steps = steps
        self._handles: dict[int, str] = {}

    def install(self) -> Callable[[], None]:
        """Replace the functions; gives one that puts them back."""
        kept = {name: getattr(os, name) for name in ("open", "write", "fsync", "replace", "mkdir", "unlink", "close")}

        def note(kind: str, path: Any, other: Any = None) -> None:
            self._steps.append(Step(kind, os.path.abspath(path), other))  # noqa: PTH100

        def recorded_open(path: Any, flags: int, *more: Any, **named: Any) -> int:
            fresh = bool(flags & os.O_CREAT) and not os.path.lexists(path)
            handle: int = kept["open"](path, flags, *more, **named)
            if isinstance(path, str | os.PathLike):
                self._handles[handle] = os.fspath(path)
                if fresh:
                    note("create", path)
            return handle

        def recorded_write(handle: int, content: Any) -> int:
            length: int = kept["write"](handle, content)
            if handle in self._handles:
                note("write", self._handles[handle], bytes(content[:length]))
            return length

        def recorded_fsync(handle: int) -> None:
            kept["fsync"](handle)
            path = self._handles[handle]
            note("sync folder" if os.path.isdir(path) else "sync", path)  # noqa: PTH112

        def recorded_close(handle: int) -> None:
            self._handles.pop(handle, None)
            kept["close"](handle)

        def recorded_replace(source: Any, target: Any, **named: Any) -> None:
            kept["replace"](source, target, **named)
            note("rename", source, os.path.abspath(target))  # noqa: PTH100
            for handle, path in self._handles.items():
                if path == os.fspath(source):
                    self._handles[handle] = os.fspath(target)

        def recorded_mkdir(path: Any, *more: Any, **named: Any) -> None:
            kept["mkdir"](path, *more, **named)
            note("mkdir", path)

        def recorded_unlink(path: Any, **named: Any) -> None:
            kept["unlink"](path, **named)
            note("unlink", path)

        changed = {
            "open": recorded_open,
            "write": recorded_write,
            "fsync": recorded_fsync,
            "close": recorded_close,
            "replace": recorded_replace,
            "mkdir": recorded_mkdir,
            "unlink": recorded_unlink,
        }
        for name, function in changed.items():
            setattr(os, name, function)

        def restore() -> None:
            for name, function in kept.items():
                setattr(os, name, function)

        return restore

"""Windows and macOS lack some of what Linux has: what possnet does without it, shown by taking it away."""

from __future__ import annotations

import os
import re
import select
import subprocess
import sys
from pathlib import Path

import pytest

import possnet as pn
from possnet.io import atomic_files, folder_lock
from tests.paths import ROOT

ABSENT = """
import os, select, signal, sys, tempfile, shutil, socket, multiprocessing.util, concurrent.futures.process, subprocess, asyncio
import numpy, pyarrow, pyarrow.parquet, pyarrow.csv, click, rich.console  # these may use what is taken away below

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name in {"fcntl", "resource", "termios", "tty", "pwd", "grp", "posix"}:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

for name in ("fcntl", "resource", "termios", "tty", "pwd", "grp"):
    sys.modules.pop(name, None)
sys.meta_path.insert(0, Missing())
import importlib.util
known = importlib.util.find_spec
importlib.util.find_spec = lambda name, package=None: None if name == "fcntl" else known(name, package)
for module, names in (
    (os, "pread pwrite fchmod fchown getuid geteuid getgid killpg sched_getaffinity fork forkpty uname sysconf "
         "statvfs mkfifo O_NOFOLLOW O_NONBLOCK O_CLOEXEC O_DIRECTORY getloadavg sendfile"),
    (signal, "SIGHUP SIGALRM SIGPIPE SIGUSR1 SIGKILL pthread_sigmask setitimer alarm sigwait"),
    (select, "poll epoll"),
):
    for name in names.split():
        if hasattr(module, name):
            delattr(module, name)
"""
ROUND = """
import possnet as pn
from pathlib import Path
from possnet.io import lock_folder, temporary_folder
from possnet.limits import free_memory
folder = Path(sys.argv[1])
data = pn.sample(pn.load_example("asia"), 200, imprecision=.5, process="traced", rng=1)
for suffix in ("csv", "parquet"):
    path = folder / f"rows.{suffix}"
    pn.write_data(data, path)
    assert pn.read_data(path, variables=data.variables) == data
    assert sum(map(len, pn.scan_data(path, variables=data.variables))) == 200
net = pn.fit(pn.load_example("asia").dag, data)
for suffix in ("json", "xdsl", "net"):
    pn.write_network(net, folder / f"net.{suffix}")
    assert pn.read_network(folder / f"net.{suffix}").table("lung").tolist() == net.table("lung").tolist()
pn.write_counts(pn.count(net.dag, data), folder / "counts.json")
assert pn.read_counts(folder / "counts.json").rows == 200
for _ in range(2):
    with lock_folder(folder), temporary_folder():
        pass
results = pn.evaluate("asia", rows=20, imprecision=.5, learners="likelihood", repeats=1, rng=1, workers=1, out=folder / "run")
assert free_memory() > 0 and results.experiment
from possnet.signals import watch_signals
watch_signals()
sys.argv = ["possnet", "info", str(folder / "net.json")]
from possnet.__main__ import run
run()
"""


def test_a_round_of_reading_learning_and_writing_needs_nothing_of_posix(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", ABSENT + ROUND, str(tmp_path)], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert "possibilistic network" in done.stdout
    assert not [path.name for path in tmp_path.rglob("*") if path.name.endswith((".part", ".lock"))]


@pytest.mark.parametrize("fails", [False, True])
def test_where_open_files_cannot_be_renamed_a_file_is_closed_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fails: bool
) -> None:
    path, handles = tmp_path / "net.json", list[int]()
    opened, replaced, removed = os.open, os.replace, os.unlink

    def remember(place: str, flags: int, *rest: int) -> int:
        handles.append(opened(place, flags, *rest))
        return handles[-1]

    def require_closed() -> None:
        with pytest.raises(OSError, match="Bad file descriptor"):
            os.fstat(handles[0])

    def replace(part: str, target: Path) -> None:
        require_closed()
        if fails:
            raise PermissionError(13, "denied", part)
        replaced(part, target)

    def unlink(part: str) -> None:
        require_closed()
        removed(part)

    monkeypatch.setattr(atomic_files, "_CLOSES_FIRST", True)
    monkeypatch.setattr(os, "open", remember)
    monkeypatch.setattr(os, "replace", replace)
    monkeypatch.setattr(os, "unlink", unlink)
    if fails:
        with pytest.raises(pn.InputError, match="denied"):
            pn.write_network(pn.load_example("asia"), path)
    else:
        pn.write_network(pn.load_example("asia"), path)
    monkeypatch.undo()
    assert [entry.name for entry in tmp_path.iterdir()] == ([] if fails else ["net.json"])


def test_a_pipe_is_refused_where_it_cannot_be_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "net.json"
    os.mkfifo(path)
    monkeypatch.delattr(select, "poll")
    with pytest.raises(pn.InputError, match="a pipe, which cannot be waited for on this system; expected a file"):
        pn.read_network(path)


def test_an_owner_of_a_lock_lives_as_long_as_its_process() -> None:
    other = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    assert folder_lock._process_exists(other.pid)
    other.communicate(b"\n", timeout=60)
    assert not folder_lock._process_exists(other.pid)


def test_what_only_some_systems_have_is_guarded_where_it_is_used() -> None:
    """Every such name in src stands in a line or a block with a guard, or in a module that says where it is for."""
    rare = re.compile(r"\b(import (?:fcntl|resource|termios|pwd)|os\.(?:pread|fchmod|getuid|geteuid|killpg|sched_getaffinity|"
                      r"set_blocking|fork|sysconf|statvfs|mkfifo|O_NONBLOCK|O_NOFOLLOW|O_CLOEXEC|O_DIRECTORY)\b|pthread_sigmask|SIGHUP\b|SIGKILL\b|setitimer|select\.poll)")  # fmt: skip
    guard = re.compile(
        r"hasattr|getattr|except (?:ImportError|AttributeError)|suppress\(.*AttributeError|_HAS_LOCKS|win32|_NAMES"
    )
    for path in (ROOT / "src" / "possnet").rglob("*.py"):
        lines = path.read_text(encoding="utf-8").splitlines()
        for number, line in enumerate(lines):
            if rare.search(line) and not line.lstrip().startswith(("#", '"""', ">>>")):
                around = "\n".join(lines[max(0, number - 14) : number + 4])
                assert guard.search(around), f"{path.name}, line {number + 1}: {line.strip()}"

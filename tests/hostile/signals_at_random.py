"""Ctrl-C and SIGTERM at random moments of every long command: it ends, with nothing said but one word and nothing left behind.

A command has two seconds to end, without those in which it waited for a core of a busy machine. `learn` alone takes longer: a
search that is interrupted ends with the best structure it has, and writes it. Every fifth chunk is Ctrl-C while a large CSV
file is read, which was once lost there.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import possnet as pn
from tests.commands import COMMAND
from tests.hostile.section import Chunk, Section

_TRIES = 6
_TOGETHER = 2  # a try waits more than it works
_IN_TIME = 2.0  # seconds
_GIVEN_UP = 60.0
_LARGE = "large CSV"
LONG = {
    "info": ("info", "in/big.csv"),
    "fit": ("fit", "in/big.csv", "--structure", "asia", "--out", "out/f.json"),
    "fit EM": ("fit", "in/big.csv", "--structure", "asia", "--learner", "em", "--out", "out/f.json"),
    "sample": ("sample", "asia", "--rows", "5000000", "--out", "out/s.parquet"),
    "learn": ("learn", "in/big.csv", "--out", "out/l.json"),
    "complete": ("complete", "asia", "in/big.csv", "--out", "out/c.csv"),
    "check": ("check", "asia", "in/big.csv", "--out", "out/c.html"),
    "classify": ("classify", "in/big.csv", "in/big.csv", "--target", "dysp", "--out", "out/k.csv"),
    "evaluate": ("evaluate", "asia", "--rows", "20000", "--workers", "2", "--out", "out/run"),
    "explore": ("explore", "asia", "--no-browser", "--port", "0"),
    _LARGE: ("fit", "in/large.csv", "--structure", "asia", "--out", "out/f.json"),
}


def write_rows(file: Path, rows: int) -> None:
    """A large CSV file: rows of asia, many times over."""
    data = pn.sample(pn.load_example("asia"), 2000, imprecision=0.3, process="traced", rng=1)
    pn.write_data(data, file)
    head, body = file.read_bytes().split(b"\n", 1)
    with file.open("wb") as out:
        out.write(head + b"\n")
        for _ in range(rows // 2000):
            out.write(body)


@cache
def _inputs() -> tempfile.TemporaryDirectory[str]:
    """The files that commands read, written once in a process."""
    place = tempfile.TemporaryDirectory()
    write_rows(Path(place.name) / "big.csv", 600_000)
    write_rows(Path(place.name) / "large.csv", 4_000_000)
    return place


@contextmanager
def command_folder() -> Iterator[Path]:
    """A folder of its own for a command, with the files that it reads."""
    with tempfile.TemporaryDirectory() as place:
        for name in ("out", "tmp"):
            (Path(place) / name).mkdir()
        (Path(place) / "in").symlink_to(_inputs().name)
        yield Path(place)


def watches_signals(process: int) -> bool:
    """Whether a process handles SIGTERM by itself, from the masks that Linux shows."""
    try:
        status = Path(f"/proc/{process}/status").read_text(encoding="utf-8")
    except OSError:
        return False
    caught = next((line.split()[1] for line in status.splitlines() if line.startswith("SigCgt")), "0")
    return bool(int(caught, 16) >> (signal.SIGTERM - 1) & 1)


def read_waits(process: int) -> dict[str, float]:
    """Thread -> seconds that it has waited while others had the cores."""
    waits = {}
    for task in Path(f"/proc/{process}/task").glob("*/schedstat"):
        try:
            waits[task.parent.name] = int(task.read_text(encoding="utf-8").split()[1]) / 1e9
        except (OSError, IndexError):  # the thread has ended
            continue
    return waits


def time_end(process: subprocess.Popen[str]) -> float | None:
    """Seconds until a process ends, without those that its threads waited for a core; None if it does not end."""
    sent, before = time.monotonic(), read_waits(process.pid)
    waited = 0.0
    while process.poll() is None:
        if time.monotonic() - sent > _GIVEN_UP:
            return None
        waited = max([waited, *(wait - before.get(task, 0.0) for task, wait in read_waits(process.pid).items())])
        time.sleep(0.01)
    return max(0.0, time.monotonic() - sent - waited)


def send_signal(name: str, number: signal.Signals, delay: float, folder: Path) -> tuple[str | None, float]:
    """Send a signal so many seconds after a command handles signals; what is wrong then, and how long it took to end."""
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as errors:
        process = subprocess.Popen(
            [COMMAND, *LONG[name]], cwd=folder, stdout=subprocess.DEVNULL, stderr=errors, text=True, start_new_session=True,
            env={**os.environ, "TMPDIR": str(folder / "tmp")},
        )  # fmt: skip
        end = time.monotonic() + 120
        while not watches_signals(process.pid) and process.poll() is None and time.monotonic() < end:
            time.sleep(0.01)
        time.sleep(delay)
        process.send_signal(number)
        took = time_end(process)
        if took is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            return f"no end after {_GIVEN_UP:.0f} seconds", _GIVEN_UP
        errors.seek(0)
        finding = _judge_end(process, number, errors.read(), folder)
    if finding is None and took > _IN_TIME and not (name == "learn" and number == signal.SIGINT):
        finding = f"it ended after {took:.1f} s of its own; expected {_IN_TIME:.0f}"
    return finding, took


def _judge_end(process: subprocess.Popen[str], number: int, words: str, folder: Path) -> str | None:
    if process.returncode not in {128 + number, -number, 0}:  # 0: it had ended before
        return f"exit code {process.returncode}: {words[-300:]}"
    if "Traceback" in words or "Exception ignored" in words:
        return f"a traceback: {words[-400:]}"
    end = time.monotonic() + 20
    while time.monotonic() < end and _has_group(process.pid):
        time.sleep(0.05)
    if _has_group(process.pid):
        os.killpg(process.pid, signal.SIGKILL)
        return "processes are left behind"
    strays = [str(p.relative_to(folder)) for p in (*folder.rglob("*.part"), *(folder / "tmp").iterdir())]
    files = [p.name for p in (folder / "out").iterdir() if p.is_file()]
    if strays or (files and process.returncode != 0 and not _are_whole(folder / "out")):
        return f"left behind: {strays or files}"
    for file in (folder / "out").rglob("*"):
        if file.is_file():
            file.unlink()
    return None


def _are_whole(folder: Path) -> bool:
    """Whether the files of a command that was interrupted after its last rename can be read."""
    for file in folder.iterdir():
        if file.suffix == ".json":
            pn.read_network(file)
        elif file.suffix in {".csv", ".parquet"}:
            pn.read_data(file)
    return True


def _has_group(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


def choose_tries(seed: int) -> list[tuple[str, signal.Signals, float]]:
    """Command, signal and moment of the tries of a chunk."""
    rng = random.Random(seed)  # noqa: S311 - moments, not secrets
    if seed % 5 == 4:
        return [(_LARGE, signal.SIGINT, rng.uniform(0, 3)) for _ in range(_TRIES)]
    others = [name for name in LONG if name != _LARGE]
    name = others[(seed - seed // 5) % len(others)]
    return [(name, rng.choice((signal.SIGINT, signal.SIGTERM)), rng.uniform(0, 3)) for _ in range(_TRIES)]


def interrupt_command(name: str, number: signal.Signals, delay: float) -> tuple[str | None, float]:
    """One signal in a folder of its own; what is wrong, and the seconds until the end."""
    with command_folder() as folder:
        finding, took = send_signal(name, number, delay, folder)
    return finding and f"{name}, {number.name} after {delay:.2f} s: {finding}", took


def interrupt_commands(seed: int) -> Chunk:
    """Signals at random moments of one command."""
    tries = choose_tries(seed)
    _inputs()
    with ThreadPoolExecutor(_TOGETHER) as pool:
        ends = list(pool.map(lambda one: interrupt_command(*one), tries))
    figure = "slowest end of learn with its best structure, s" if tries[0][0] == "learn" else "slowest end, s"
    return Chunk(len(tries), tuple(f for f, _ in ends if f is not None), {figure: max(took for _, took in ends)})


SIGNALS = Section(
    "signals",
    "Ctrl-C and SIGTERM at random moments of every long command, a fifth of them while a large CSV file is read",
    interrupt_commands,
    wanted=600,
    patience=1800.0,
)

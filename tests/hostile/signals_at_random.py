"""Ctrl-C and SIGTERM at random moments of every long command: it ends, with nothing said but one word and nothing left behind."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import tempfile
import time
from pathlib import Path

import possnet as pn
from tests.commands import COMMAND
from tests.hostile.section import Chunk, Section

_TRIES = 6
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
}


def write_big(folder: Path, rows: int) -> None:
    """A large CSV file: rows of asia, many times over."""
    data = pn.sample(pn.load_example("asia"), 2000, imprecision=0.3, process="traced", rng=1)
    pn.write_data(data, folder / "big.csv")
    head, body = (folder / "big.csv").read_bytes().split(b"\n", 1)
    with (folder / "big.csv").open("wb") as out:
        out.write(head + b"\n")
        for _ in range(rows // 2000):
            out.write(body)


def watches_signals(process: int) -> bool:
    """Whether a process handles SIGTERM by itself, from the masks that Linux shows."""
    try:
        status = Path(f"/proc/{process}/status").read_text(encoding="utf-8")
    except OSError:
        return False
    caught = next((line.split()[1] for line in status.splitlines() if line.startswith("SigCgt")), "0")
    return bool(int(caught, 16) >> (signal.SIGTERM - 1) & 1)


def send_signal(name: str, number: signal.Signals, delay: float, folder: Path) -> tuple[str | None, float]:
    """Send a signal so many seconds after a command handles signals; what is wrong then, and how long it took to end."""
    for place in ("out", "tmp"):
        (folder / place).mkdir(exist_ok=True)
    process = subprocess.Popen(
        [COMMAND, *LONG[name]], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
        env={**os.environ, "TMPDIR": str(folder / "tmp")},
    )  # fmt: skip
    end = time.monotonic() + 120
    while not watches_signals(process.pid) and process.poll() is None and time.monotonic() < end:
        time.sleep(0.01)
    time.sleep(delay)
    process.send_signal(number)
    sent = time.monotonic()
    try:
        _, words = process.communicate(timeout=60)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return "no end after 60 seconds", 60.0
    took = time.monotonic() - sent
    return _judge_end(process, number, words, folder), took


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


def interrupt_commands(seed: int) -> Chunk:
    """Signals at random moments of one command."""
    name = list(LONG)[seed % len(LONG)]
    rng = random.Random(seed)  # noqa: S311 - moments, not secrets
    failures, slowest = [], 0.0
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        (folder / "in").mkdir()
        write_big(folder / "in", 600_000)
        for _ in range(_TRIES):
            number, delay = rng.choice((signal.SIGINT, signal.SIGTERM)), rng.uniform(0, 3)
            finding, took = send_signal(name, number, delay, folder)
            slowest = max(slowest, took)
            if finding is not None:
                failures.append(f"{name}, {number.name} after {delay:.2f} s: {finding}")
    return Chunk(_TRIES, tuple(failures), {"slowest end, s (on a loaded machine)": slowest})


SIGNALS = Section(
    "signals",
    "Ctrl-C and SIGTERM at random moments of every long command",
    interrupt_commands,
    wanted=600,
    patience=1800.0,
)

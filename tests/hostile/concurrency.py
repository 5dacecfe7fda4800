"""Several at once: runs on one folder, writers of one file, one engine in many threads, pools of forked and fresh processes.

Of two runs on one folder one works, and the other waits for nothing: it is told who works there, and since when, or finds
all done. What is written by several is always one whole file. Answers are those of one thread in one process.
"""

from __future__ import annotations

import multiprocessing
import random
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import possnet as pn
from tests.commands import COMMAND
from tests.hostile.section import Chunk, Section

_GRID = ("--rows", "40", "--imprecision", "1", "--process", "alpha-cut", "--learner", "likelihood", "--repeats", "6")
_TOLD = re.compile(
    r"Error: \S+ is being written by .*\d.*; expected one writer\. Wait until it has ended, or choose .*\n"
)
_WRITERS, _THREADS, _WORKERS = 4, 8, 2


# Runs on one folder


def _start_run(folder: Path) -> subprocess.Popen[str]:
    command = [str(COMMAND), "evaluate", "asia", "clinic", *_GRID, "--seed", "7", "--workers", "1", "--out", "run"]
    return subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


def _read_results(folder: Path) -> dict[str, bytes]:
    return {name: (folder / "run" / name).read_bytes() for name in ("results.csv", "results.parquet")}


@cache
def _single_run() -> dict[str, bytes]:
    with tempfile.TemporaryDirectory() as name:
        process = _start_run(Path(name))
        _, words = process.communicate(timeout=600)
        assert process.returncode == 0, words
        return _read_results(Path(name))


def run_twice(rng: random.Random, folder: Path) -> list[str]:
    """Two runs on one folder, the second a moment after the first."""
    failures, runs = [], []
    for _ in range(2):
        runs.append(_start_run(folder))
        time.sleep(rng.choice((0.0, rng.uniform(0, 4))))
    ends = [(run.communicate(timeout=600)[1], run.returncode) for run in runs]
    if all(code for _, code in ends):
        failures.append(f"none of two runs worked: {ends}")
    failures += [
        f"exit code {code}: {words[-300:]!r}"
        for words, code in ends
        if code and not (code == 1 and _TOLD.search(words))
    ]
    if not failures and _read_results(folder) != _single_run():
        failures.append("other results than those of one run")
    strays = [path.name for path in folder.rglob("*") if path.name.endswith((".part", ".lock"))]
    return failures + ([f"left behind: {strays}"] if strays else [])


# Writers of one file


def _describe_rows(number: int) -> pn.Dataset:
    return pn.sample(pn.load_example("asia"), 50 * (number + 1), process="precise", rng=number)


def _write_often(target: str, number: int) -> None:
    data = _describe_rows(number)
    for _ in range(15):
        pn.write_data(data, target)


def write_together(rng: random.Random, folder: Path) -> list[str]:
    """Processes that write one file while it is read: every reader sees what one of them wrote, whole."""
    target = folder / f"rows.{rng.choice(('csv', 'parquet'))}"
    known = {50 * (number + 1): _describe_rows(number) for number in range(_WRITERS)}
    pn.write_data(known[50], target)
    command = (
        "import sys; from tests.hostile.concurrency import _write_often; _write_often(sys.argv[1], int(sys.argv[2]))"
    )
    writers = [subprocess.Popen([sys.executable, "-c", command, str(target), str(k)]) for k in range(_WRITERS)]
    failures: list[str] = []
    scope = known[50].variables
    while not failures and any(writer.poll() is None for writer in writers):
        try:
            data = pn.read_data(target, variables=scope)
        except pn.InputError as error:
            if "changed or replaced while it was read" not in str(error):
                failures.append(f"a reader: {error}")
            continue
        if len(data) not in known or data != known[len(data)]:
            failures.append(f"a reader saw {len(data)} rows that nobody wrote")
    failures += [f"a writer ended with {writer.wait()}" for writer in writers if writer.wait()]
    left = sorted(path.name for path in folder.iterdir())
    return failures + ([f"left behind: {left}"] if left != [target.name] else [])


# One engine in many threads


@cache
def _questions() -> tuple[pn.Network, list[tuple[str, dict[str, str]]], list[Any]]:
    network = pn.random_network(14, max_parents=3, states=(2, 3), rng=3)
    rng, names = random.Random(5), [variable.name for variable in network.variables]  # noqa: S311
    asked: list[tuple[str, dict[str, str]]] = []
    while len(asked) < 40:
        target, *given = rng.sample(names, 4)
        asked.append((target, {name: rng.choice(network.variable(name).states) for name in given}))
    return network, asked, [_ask(pn.Inference(network), question) for question in asked]


def _ask(engine: pn.Inference, question: tuple[str, dict[str, str]]) -> Any:
    try:
        return engine.query(*question).degrees.tolist()
    except pn.ImpossibleEvidence as error:
        return str(error)


def ask_together(rng: random.Random, _: Path) -> list[str]:
    """Many threads that ask one engine at once get the answers that one thread gets."""
    network, asked, answers = _questions()
    engine = pn.Inference(network)
    orders = [rng.sample(range(len(asked)), len(asked)) for _ in range(_THREADS)]

    def ask_all(order: list[int]) -> list[str]:
        return [f"{asked[k]}: another answer" for k in order if _ask(engine, asked[k]) != answers[k]]

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        with ThreadPoolExecutor(_THREADS) as pool:
            return [failure for failures in pool.map(ask_all, orders) for failure in failures][:5]
    finally:
        sys.setswitchinterval(before)


# Pools of processes


def _work_in_child(seed: int) -> tuple[list[float], list[float]]:
    asia = pn.load_example("asia")
    data = pn.sample(asia, 3000, process="precise", rng=seed)
    with tempfile.TemporaryDirectory() as name:
        pn.write_data(data, Path(name) / "rows.parquet")
        data = pn.read_data(Path(name) / "rows.parquet")
    counts = pn.count(asia.dag, data)
    return np.asarray(counts["dysp"]).ravel().tolist(), pn.Inference(asia).query("dysp").degrees.tolist()


def pool_processes(rng: random.Random, _: Path) -> list[str]:
    """Children of a process that has used Arrow's threads already, forked and fresh, do the same work."""
    seeds = [rng.randrange(1000) for _ in range(_WORKERS)]
    here = [_work_in_child(seed) for seed in seeds]
    failures = []
    for kind in ("fork", "spawn"):
        with multiprocessing.get_context(kind).Pool(_WORKERS) as pool:
            try:
                there = pool.map_async(_work_in_child, seeds).get(timeout=240)
            except multiprocessing.TimeoutError:
                failures.append(f"{kind}: no end after 240 seconds")
                continue
        if there != here:
            failures.append(f"{kind}: other results than here")
    return failures


MEETINGS: tuple[tuple[Callable[[random.Random, Path], list[str]], int], ...] = (
    (run_twice, 2),
    (write_together, _WRITERS),
    (ask_together, _THREADS),
    (pool_processes, 2 * _WORKERS),
)


def meet(seed: int) -> Chunk:
    """One meeting of several processes or threads; as many are tried as take part in it."""
    meeting, parts = MEETINGS[seed % len(MEETINGS)]
    rng = random.Random(seed)  # noqa: S311 - moments, not secrets
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as name:
        failures = meeting(rng, Path(name))
    slowest = {f"slowest {meeting.__name__.replace('_', ' ')}, s": time.monotonic() - start}
    return Chunk(parts, tuple(f"{meeting.__name__}: {failure}" for failure in failures), slowest)


CONCURRENCY = Section(
    "concurrency",
    "runs on one folder, writers of one file, threads of one engine, pools of processes, all at once",
    meet,
    wanted=200,
    patience=1800.0,
)

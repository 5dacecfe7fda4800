"""Every command under small limits of the address space: an answer, or one sentence and exit code 1; never an abort or a hang.

A chunk is one limit, for every command in turn, from less than it takes to start up to what all commands can do with.
"""

from __future__ import annotations

import resource
import subprocess
import tempfile
from pathlib import Path

import possnet as pn
from tests.commands import COMMAND
from tests.hostile.section import Chunk, Section

LIMITS = tuple(range(60, 320, 20)) + tuple(range(320, 1000, 60))  # MB
_PATIENCE = 90.0  # seconds for one command on a busy machine
_ROWS = 20_000


def write_inputs(folder: Path) -> None:
    """The files that the commands read: rows as CSV and Parquet, and a network in every format."""
    asia = pn.load_example("asia")
    rows = pn.sample(asia, _ROWS, process="precise", rng=1)
    pn.write_data(rows, folder / "rows.csv")
    pn.write_data(rows, folder / "rows.parquet")
    pn.write_data(rows[:500], folder / "few.csv")
    pn.write_network(asia, folder / "asia.json")
    pn.write_network(asia, folder / "asia.uai")


def list_commands() -> list[list[str]]:
    """One call of every command but ``explore``, which does not end by itself, and ``completion``."""
    return [
        line.split()
        for line in (
            "info asia",
            "info rows.csv",
            "info rows.parquet",
            "info asia.uai",
            "query asia dysp --given xray=yes --why",
            "ask asia lung",
            "sample asia --rows 20000 --seed 1 --out out.csv",
            "sample asia --rows 20000 --seed 1 --out out.parquet",
            "fit rows.csv --structure asia --out out.json",
            "fit few.csv --structure asia --method em --out out.json",
            "learn rows.parquet --out out.json",
            "complete asia rows.csv --out out.csv",
            "check asia few.csv",
            "classify few.csv few.csv --target dysp --out out.csv",
            "score asia rows.csv",
            "compare asia asia.json",
            "convert rows.csv out.parquet",
            "convert asia.json out.uai",
            "evaluate asia --rows 100 --repeats 1 --workers 1 --seed 1 --out out",
            "report out",
        )
    ]


def run_limited(command: list[str], folder: Path, megabytes: int) -> str:
    """What is wrong with how a command ends under a limit of its address space; empty if nothing is."""

    def limit_space() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    try:
        done = subprocess.run(
            [COMMAND, *command],
            cwd=folder,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            timeout=_PATIENCE,
            preexec_fn=limit_space,
        )
    except subprocess.TimeoutExpired:
        return f"{megabytes} MB, {' '.join(command)}: no end after {_PATIENCE:.0f} seconds"
    sentence = done.stderr.strip().splitlines()[-1:] or [""]
    refused = done.returncode == 1 and sentence[0].startswith("Error: ") and "Traceback" not in done.stderr
    if done.returncode == 0 or refused:
        return ""
    return f"{megabytes} MB, {' '.join(command)}: exit code {done.returncode}, {done.stderr[-300:]!r}"


def sweep_limit(seed: int) -> Chunk | None:
    """All commands under one limit."""
    if seed >= len(LIMITS):
        return None
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_inputs(folder)
        findings = [run_limited(command, folder, LIMITS[seed]) for command in list_commands()]
    return Chunk(len(findings), tuple(finding for finding in findings if finding))


MEMORY = Section(
    "memory",
    "every command under limits of 60 to 980 MB of address space",
    sweep_limit,
    patience=60.0 * 60.0,
)

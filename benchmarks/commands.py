"""Time and peak memory of every command on a file of a million imprecise rows of alarm (theta .5), one run each.

Below them `evaluate`, which draws its own rows, with one worker and with two.
"""

import sys
import tempfile
from pathlib import Path

import evaluating
from measure import Section, in_own_process, say, table
from networks import load

import possnet as pn

POSSNET = str(Path(sys.executable).parent / "possnet")
ROWS = 1_000_000
COMMANDS = [
    "info rows.parquet",
    "info rows.csv",
    "convert rows.csv out.parquet",
    "convert rows.parquet out.csv",
    "convert rows.parquet out.parquet --layout lists",
    f"sample net.json --rows {ROWS} --out out.parquet",
    f"sample net.json --rows {ROWS} --out out.csv",
    "fit rows.parquet --structure net.json --out out.json",
    "fit rows.csv --structure net.json --out out.json",
    "fit rows.parquet --structure net.json --method em --out out.json",
    "learn rows.parquet --method mwst --out out.json",
    "learn rows.parquet --out out.json",
    "complete net.json rows.parquet --out out.parquet",
    "complete net.json rows.csv --out out.csv",
    "score net.json rows.parquet",
    "score net.json rows.csv",
]


# A process of its own starts the command: a child of this one would be charged with the memory of its parent.
RUN = """
import json, os, subprocess, sys, time
begin = time.perf_counter()
process = subprocess.Popen(sys.argv[2:], cwd=sys.argv[1], stdout=subprocess.DEVNULL)
_, status, used = os.wait4(process.pid, 0)
print(json.dumps([status, time.perf_counter() - begin, used.ru_maxrss / 1024]))
"""


def ran(command: str, folder: Path) -> tuple[float, float]:
    """Seconds and peak megabytes of one command."""
    status, seconds, peak = in_own_process(RUN, str(folder), POSSNET, *command.split())
    if status:
        raise SystemExit(f"possnet {command} failed")
    return seconds, peak


def measure() -> Section:
    """The whole section."""
    net = load("alarm")
    lines = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        pn.write_network(net, folder / "net.json")
        data = pn.sample(net, ROWS, imprecision=0.5, rng=1)
        pn.write_data(data, folder / "rows.parquet")
        pn.write_data(data, folder / "rows.csv")
        size = (folder / "rows.csv").stat().st_size
        for command in COMMANDS:
            seconds, peak = ran(command, folder)
            lines.append([f"`possnet {command}`", f"{seconds:.1f}", f"{peak:,.0f}"])
            say(" ".join(lines[-1]))
    head = f"{ROWS:,} rows, 37 columns; the CSV file has {size / 1e6:,.0f} MB. One run each."
    workers = evaluating.measure()
    return Section(f"{head}\n\n{table(' command | seconds | peak MB ', lines)}\n\n{workers.text}", workers.targets)

"""What a cluster costs: constants measured, a model of them, its prediction beside runs of 1, 2 and 4 workers.

    python benchmarks/scaling.py [--rows 4000000] [--write]

prints the page's table, and with ``--write`` puts it into docs/scale.md between its marks. Takes a few minutes on a quiet
machine; clusters are processes of this machine on the loopback address.
"""

from __future__ import annotations

import argparse
import datetime as dt
import json
import pickle
import platform
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial, reduce
from importlib.metadata import version
from itertools import pairwise
from operator import add
from pathlib import Path
from statistics import median
from typing import Any

import possnet as pn
from possnet import scaleout
from possnet.executors import workers
from possnet.io import DataStream, write_counts
from possnet.scaleout.count_parts import count_chunk
from possnet.scaleout.parts import MOST_TASKS
from possnet.threads import cores, use_one_thread

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "scale.md"
MARKS = "<!-- scaling -->", "<!-- end -->"
FILES = 8
EM_ROWS = 400_000
LOOPBACK = 5e9  # bytes a second: files of the page cache and messages of one machine


@dataclass(frozen=True)
class Job:
    """Rows to count: how many, of how many columns with how many states, for how many families, in parts of how many rows."""

    rows: float
    columns: int = 37
    states: int = 4
    families: int = 37
    part_rows: int = 1 << 20

    @property
    def parts(self) -> int:
        """Row groups."""
        return max(-(-int(self.rows) // self.part_rows), 1)

    @property
    def tasks(self) -> int:
        """What the scheduler is given: beyond `MOST_TASKS` parts, several to a task."""
        return min(self.parts, MOST_TASKS)


@dataclass(frozen=True)
class Cluster:
    """Workers that share some cores, and bytes a second: of each machine's network, and of the storage that holds the files."""

    workers: int
    cores: int
    network: float
    storage: float


@dataclass(frozen=True)
class Constants:
    """Seconds and bytes on this machine, each from a measurement of its own."""

    read: float  # seconds for a cell of a Parquet file of masks,
    read_byte: float  # and for each byte of its mask
    file_bytes: float  # of a cell in the file, packed
    count: float  # seconds for a row and a family
    task: float  # seconds of scheduler and client for a task
    ledger: float  # seconds for an entry of the ledger
    merge: float  # seconds to add the counts of a part
    counts_bytes: int  # of the counts of a part, as they travel
    step_row: float = 0.0  # seconds of an E-step for a distinct row

    def part_seconds(self, job: Job) -> float:
        """A part on its worker: cells are read, families counted, the entry of the ledger written."""
        cells = job.columns * (self.read + self.read_byte * (-(-job.states // 8)))
        return min(job.rows, job.part_rows) * (cells + job.families * self.count) + self.ledger

    def split_seconds(self, job: Job, cluster: Cluster) -> dict[str, float]:
        """Seconds that each part of the machinery needs; they work at the same time, so the largest decides."""
        rounds = -(-job.parts // min(cluster.workers, cluster.cores))
        travel = self.counts_bytes / cluster.network
        return {
            "the workers": rounds * self.part_seconds(job) + self.task + travel,
            "the client": job.tasks * (self.task + self.merge + travel),
            "the storage": job.rows * job.columns * self.file_bytes / cluster.storage,
        }

    def step_seconds(self, rows: float, masses: int, groups: int, cluster: Cluster) -> float:
        """An E-step over distinct rows: the rows of the slowest worker, and masses out to each group and sums back."""
        own = rows / min(cluster.workers, cluster.cores) * self.step_row
        return own + groups * (self.task + 2 * masses / cluster.network)


def write_rows(folder: Path, net: pn.Network, rows: int) -> None:
    """Files of equal size, a row group of a million rows at most in each."""
    each = rows // FILES
    for k in range(FILES):
        stream = pn.sample_batches(net, each, imprecision=0.5, rng=1, start=k * each, batch=1 << 18)
        pn.write_data(stream, folder / f"part-{k}.parquet")


def timed(job: object) -> float:
    """Seconds of the best of three runs."""
    best = float("inf")
    for _ in range(3):
        begun = time.perf_counter()
        job()  # type: ignore[operator]
        best = min(best, time.perf_counter() - begun)
    return best


def read_seconds(file: Path) -> tuple[float, DataStream]:
    """Seconds to read a cell of a file."""
    stream = pn.scan_data(file)
    return timed(lambda: [len(batch) for batch in stream]) / ((stream.rows or 1) * len(stream.variables)), stream


def measure_constants(net: pn.Network, folder: Path) -> Constants:
    """The constants, from one file on one process, one of long masks, and a cluster of one worker."""
    file = folder / "part-0.parquet"
    narrow, stream = read_seconds(file)
    rows, columns = stream.rows or 1, len(net.variables)
    both = timed(lambda: pn.count(net.dag, stream))
    counts = pn.count(net.dag, stream)
    with tempfile.TemporaryDirectory() as place:
        kept = Path(place) / "counts.json"
        ledger = timed(lambda: write_counts(counts, kept))
        wide = pn.random_network(12, max_parents=1, states=(33, 40), rng=1)  # masks of five bytes
        pn.write_data(pn.sample(wide, 200_000, imprecision=0.5, rng=1), Path(place) / "wide.parquet")
        long, _ = read_seconds(Path(place) / "wide.parquet")
    merge = timed(lambda: counts + counts)
    with scaleout.connect_cluster("local", workers=1) as client:
        executor = scaleout.ClusterExecutor(client)
        executor.submit(abs, -1).result()
        tasks = 200
        begun = time.perf_counter()
        for future in [executor.submit(abs, -k) for k in range(tasks)]:
            future.result()
        task = (time.perf_counter() - begun) / tasks
        executor.shutdown()
    cells = rows * columns
    byte = max(long - narrow, 0.0) / 4
    return Constants(
        max(narrow - byte, 0.0), byte, file.stat().st_size / cells, max(both / cells - narrow, 0.0), task, ledger, merge,
        len(pickle.dumps(counts)),
    )  # fmt: skip


def pool_count(net: pn.Network, stream: DataStream, processes: int) -> pn.Counts:
    """Counts by the local pool: the same parts, without a cluster."""
    with workers(processes) as pool:
        futures = [pool.submit(count_chunk, net.dag, [part], False, None) for part in stream.split_parts()]  # noqa: FBT003
        return reduce(add, (future.result() for future in futures))


def run(rows: int) -> str:
    """The table of the page."""
    net = pn.random_network(37, max_parents=3, states=(2, 4), rng=1)
    lines = []
    use_one_thread()  # as in the processes of a worker and of the pool
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        write_rows(folder, net, rows)
        constants = measure_constants(net, folder)
        stream = pn.scan_data(folder)
        available = cores()
        lines += _constants_table(constants)
        expected = pn.count(net.dag, stream)
        lines += ["", f"Counting {rows:,} rows of 37 variables, {FILES} files, on {available} cores:", "",
                  "| workers | predicted s | measured s | measured / predicted |", "|---:|---:|---:|---:|"]  # fmt: skip
        two = 0.0
        for number in (1, 2, 4):
            with scaleout.connect_cluster("local", workers=number) as client:
                if scaleout.count(net.dag, stream, client=client) != expected:
                    raise SystemExit("the counts of the cluster are not those of one machine")
                seconds = timed(lambda client=client: scaleout.count(net.dag, stream, client=client))
            two = seconds if number == 2 else two
            job = Job(rows, part_rows=rows // FILES)
            here = Cluster(number, available, network=LOOPBACK, storage=LOOPBACK)
            predicted = max(constants.split_seconds(job, here).values())
            lines.append(f"| {number} | {predicted:.2f} | {seconds:.2f} | {seconds / predicted:.2f} |")
        pool = timed(lambda: pool_count(net, stream, 2))
        against = f"Two workers against the local pool of two processes, whose start is in its time ({pool:.2f} s)"
        lines += ["", f"{against}: counting {two / pool:.2f} times (asked: at most 1.3)."]
        lines += _em_lines(folder, constants)
        lines += _extrapolate(constants)
    return "\n".join(lines)


def _constants_table(constants: Constants) -> list[str]:
    return [
        "| constant | value |",
        "|---|---:|",
        f"| reading a cell (Parquet, masks) | {1e9 * constants.read:.2f} ns, and {1e9 * constants.read_byte:.2f} ns for each byte of its mask (8 states) |",
        f"| a cell in its file | {constants.file_bytes:.2f} bytes |",
        f"| counting a row in a family | {1e9 * constants.count:.2f} ns |",
        f"| a task: client, scheduler and messages | {1e3 * constants.task:.2f} ms |",
        f"| an entry of the ledger | {1e3 * constants.ledger:.1f} ms |",
        f"| adding the counts of a part | {1e3 * constants.merge:.2f} ms |",
        f"| counts of a part, as they travel | {constants.counts_bytes / 1e3:.0f} kB |",
    ]


def _em_lines(folder: Path, constants: Constants) -> list[str]:
    """Seconds of an E-step on a cluster of two and by the local pool, beside the model, and the bytes that travel."""
    net = pn.random_network(24, max_parents=3, states=(2, 4), rng=1)
    files = folder / "em"
    files.mkdir()
    for k in range(4):
        part = pn.sample(net, EM_ROWS // 4, imprecision=0.5, process="traced", rng=1, start=k * EM_ROWS // 4)
        pn.write_data(part, files / f"{k}.parquet")
    data = pn.Dataset.concatenate(pn.scan_data(files))

    options: dict[str, Any] = {"tolerance": 0, "options": pn.EmOptions(max_steps=12)}

    def step_seconds(fit: Callable[..., object]) -> float:
        """The median time between two steps: reading and grouping the rows is apart."""
        moments: list[float] = []
        fit(progress=lambda *_: moments.append(time.perf_counter()), **options)
        return median(after - before for before, after in pairwise(moments))

    with workers(2) as pool:
        list(pool.map(abs, range(2)))
        local = step_seconds(partial(pn.fit_em, net.dag, data, executor=pool))
    alone = step_seconds(partial(pn.fit_em, net.dag, data))
    with scaleout.connect_cluster("local", workers=2) as client:
        there = step_seconds(partial(scaleout.fit_em, net.dag, files, client=client))
    result = pn.fit_em(net.dag, data, tolerance=0, options=pn.EmOptions(max_steps=1))
    masses = sum(cells.table.nbytes for cells in result.masses.values())
    distinct = len(data.distinct())
    known = replace(constants, step_row=alone / distinct)
    here = Cluster(2, cores(), network=LOOPBACK, storage=LOOPBACK)
    predicted = known.step_seconds(distinct, masses, 2, here)
    text = (
        f"EM, {EM_ROWS:,} rows of 24 variables, {distinct:,} of them distinct: a step takes {1e3 * there:.1f} ms on two workers (the model says "
        f"{1e3 * predicted:.1f}), {1e3 * local:.1f} ms with the local pool (ratio {there / local:.2f}, asked: at most 1.5), {1e3 * alone:.1f} ms in "
        f"one process, {1e6 * known.step_row:.2f} microseconds for a distinct row. Bytes of an E-step: {2 * masses:,} out (the masses, once for "
        f"each group of rows) and about as many back. The local pool sends the rows of a step to its processes, a cluster only the masses."
    )
    return ["", text]


def _extrapolate(constants: Constants) -> list[str]:
    setting = (
        "What the model says of more: 37 columns of up to 8 states, 37 families, parts of 2^20 rows and a ledger, every worker "
        "on a core of its own, a network of 1.25 GB/s (10 Gbit/s), and storage that gives as much to every 8 workers:"
    )
    head = "| rows | workers | time | bound by | then | ledger files | bytes read | bytes to the client |"
    lines = ["", setting, "", head, "|---:|---:|---:|---|---|---:|---:|---:|"]
    for rows in (1e9, 1e12):
        for number in (10, 100, 1000):
            job = Job(rows)
            seconds = constants.split_seconds(job, Cluster(number, number, 1.25e9, 1.25e9 * max(number / 8, 1)))
            (bound, most), (after, less), _ = sorted(seconds.items(), key=lambda item: -item[1])
            lines.append(
                f"| {rows:.0e} | {number:,} | {_speak_seconds(most)} | {bound} | {after} ({_speak_seconds(less)}) | {job.parts:,} "
                f"| {rows * job.columns * constants.file_bytes / 1e9:,.0f} GB | {job.tasks * constants.counts_bytes / 1e6:,.0f} MB |"
            )
    return lines


def _speak_seconds(seconds: float) -> str:
    return (
        f"{seconds / 3600:.1f} h"
        if seconds >= 5400
        else f"{seconds / 60:.1f} min"
        if seconds >= 90
        else f"{seconds:.1f} s"
    )


def main() -> None:
    """Measure, print, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=8_000_000)
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    table = run(given.rows)
    versions = ", ".join(f"{name} {version(name)}" for name in ("possnet", "numpy", "pyarrow", "distributed"))
    head = f"Measured on {dt.datetime.now(dt.UTC):%Y-%m-%d}, Python {platform.python_version()}, {versions}."
    print(json.dumps({"rows": given.rows}), head, table, sep="\n\n")
    if given.write:
        text = PAGE.read_text(encoding="utf-8")
        before, after = text.split(MARKS[0])[0], text.split(MARKS[1])[1]
        PAGE.write_text(f"{before}{MARKS[0]}\n{head}\n\n{table}\n{MARKS[1]}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()

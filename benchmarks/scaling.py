"""What a cluster costs: constants measured, a model of them, its prediction beside runs of 1, 2 and 4 workers.

    python benchmarks/scaling.py [--rows 4000000] [--write]

prints the page's table, and with ``--write`` puts it into docs/scale.md between its marks. Takes a few minutes on a quiet
machine; clusters are processes of this machine on the loopback address.
"""

from __future__ import annotations

import argparse
import datetime as dt
import json
import platform
import tempfile
import time
from dataclasses import dataclass
from functools import reduce
from importlib.metadata import version
from operator import add
from pathlib import Path

import possnet as pn
from possnet import scaleout
from possnet.executors import workers
from possnet.io import DataStream, write_counts
from possnet.scaleout.count_parts import count_chunk
from possnet.threads import cores

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "scale.md"
MARKS = "<!-- scaling -->", "<!-- end -->"
FILES = 8
EM_ROWS = 200_000


@dataclass
class Constants:
    """Seconds and bytes on this machine, each from a measurement of its own."""

    read: float  # seconds for a cell of a Parquet file of masks
    count: float  # seconds for a row and a family
    task: float  # seconds of scheduler and client for a task
    ledger: float  # seconds for an entry of the ledger
    merge: float  # seconds to add the counts of a part
    counts_bytes: int  # of the counts of a part, as they travel

    def predict(self, rows: float, columns: int, cores: int, slots: int, part_rows: int = 1 << 20) -> float:
        """Seconds to count: parts in rounds over the slots that have a core, and what the client does for each of them."""
        parts = max(rows / part_rows, 1.0)
        rounds = -(-parts // min(slots, cores))
        each = min(rows, part_rows) * columns * (self.read + self.count) + self.ledger
        return max(rounds * each + self.task, min(parts, 4096) * (self.task + self.merge))


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


def measure_constants(net: pn.Network, folder: Path) -> Constants:
    """The constants, from one file on one process and a cluster of one worker."""
    file = folder / "part-0.parquet"
    stream = pn.scan_data(file)
    rows, columns = stream.rows or 1, len(net.variables)
    read = timed(lambda: [len(batch) for batch in stream])
    both = timed(lambda: pn.count(net.dag, stream))
    counts = pn.count(net.dag, stream)
    with tempfile.TemporaryDirectory() as place:
        kept = Path(place) / "counts.json"
        ledger = timed(lambda: write_counts(counts, kept))
        size = kept.stat().st_size
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
    return Constants(read / (rows * columns), max(both - read, 0.0) / (rows * columns), task, ledger, merge, size)


def pool_count(net: pn.Network, stream: DataStream, processes: int) -> pn.Counts:
    """Counts by the local pool: the same parts, without a cluster."""
    with workers(processes) as pool:
        futures = [pool.submit(count_chunk, net.dag, [part], False, None) for part in stream.split_parts()]  # noqa: FBT003
        return reduce(add, (future.result() for future in futures))


def run(rows: int) -> str:
    """The table of the page."""
    net = pn.random_network(37, max_parents=3, states=(2, 4), rng=1)
    lines = []
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
            predicted = constants.predict(rows, 37, available, number, part_rows=rows // FILES)
            lines.append(f"| {number} | {predicted:.2f} | {seconds:.2f} | {seconds / predicted:.2f} |")
        pool = timed(lambda: pool_count(net, stream, 2))
        against = f"Two workers against the local pool of two processes, whose start is in its time ({pool:.2f} s)"
        lines += ["", f"{against}: counting {two / pool:.2f} times (asked: at most 1.3)."]
        lines += _em_lines(folder)
        lines += _extrapolate(constants)
    return "\n".join(lines)


def _constants_table(constants: Constants) -> list[str]:
    return [
        "| constant | value |",
        "|---|---:|",
        f"| reading a cell (Parquet, masks) | {1e9 * constants.read:.2f} ns |",
        f"| counting a row in a family | {1e9 * constants.count:.2f} ns |",
        f"| a task: client, scheduler and messages | {1e3 * constants.task:.2f} ms |",
        f"| an entry of the ledger | {1e3 * constants.ledger:.1f} ms |",
        f"| adding the counts of a part | {1e3 * constants.merge:.2f} ms |",
        f"| counts of a part, as text | {constants.counts_bytes / 1e3:.0f} kB |",
    ]


def _em_lines(folder: Path) -> list[str]:
    """Seconds of an E-step on a cluster of two and by the local pool, and the bytes that travel."""
    pump = pn.load_example("pump")
    files = folder / "em"
    files.mkdir()
    for k in range(4):
        part = pn.sample(pump, EM_ROWS // 4, imprecision=0.5, process="traced", rng=1, start=k * EM_ROWS // 4)
        pn.write_data(part, files / f"{k}.parquet")
    options = pn.EmOptions(max_steps=30)
    data = pn.Dataset.concatenate(pn.scan_data(files))

    def step_seconds(fit: object) -> float:
        long = timed(lambda: fit(pn.EmOptions(max_steps=30)))  # type: ignore[operator]
        short = timed(lambda: fit(pn.EmOptions(max_steps=10)))  # type: ignore[operator]
        return (long - short) / 20

    with workers(2) as pool:
        list(pool.map(abs, range(2)))
        local = step_seconds(lambda o: pn.fit_em(pump.dag, data, tolerance=0, options=o, executor=pool))
    alone = step_seconds(lambda o: pn.fit_em(pump.dag, data, tolerance=0, options=o))
    with scaleout.connect_cluster("local", workers=2) as client:
        there = step_seconds(lambda o: scaleout.fit_em(pump.dag, files, client=client, tolerance=0, options=o))
    result = pn.fit_em(pump.dag, data, tolerance=0, options=options)
    out = 2 * sum(table.masses.nbytes for table in result.masses.values())
    text = (
        f"EM, {EM_ROWS:,} rows of pump: a step takes {1e3 * there:.1f} ms on two workers, {1e3 * local:.1f} ms with the local pool "
        f"(ratio {there / local:.2f}, asked: at most 1.5), {1e3 * alone:.1f} ms in one process. Bytes of an E-step: {out:,} out "
        f"(the masses, once for each group) and about as many back."
    )
    return ["", text]


def _extrapolate(constants: Constants) -> list[str]:
    lines = ["", "What the model says of more, with parts of 2^20 rows and a ledger, every worker on a core of its own:", "",
             "| rows | workers | seconds | bound by | ledger files | bytes to the client |", "|---:|---:|---:|---|---:|---:|"]  # fmt: skip
    for rows in (1e9, 1e12):
        for number in (10, 100, 1000):
            parts = rows / (1 << 20)
            seconds = constants.predict(rows, 37, number, number)
            client = min(parts, 4096) * (constants.task + constants.merge)
            bound = "the client" if client >= seconds * 0.99 else "the workers"
            size = min(parts, 4096) * constants.counts_bytes
            lines.append(
                f"| {rows:.0e} | {number:,} | {seconds:,.0f} | {bound} | {parts:,.0f} | {size / 1e6:,.0f} MB |"
            )
    return lines


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
        text = PAGE.read_text()
        before, after = text.split(MARKS[0])[0], text.split(MARKS[1])[1]
        PAGE.write_text(f"{before}{MARKS[0]}\n{head}\n\n{table}\n{MARKS[1]}{after}")


if __name__ == "__main__":
    main()

"""Learning the parameters of alarm from a million rows, beside pyAgrum, pgmpy and pandas, as markdown.

Precise rows are drawn by possnet and handed to every program as the same file. Then: counting alone, precise and
imprecise; a hundred million streamed rows; and the choice of the counting kernel against every kernel.
"""

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import fixtures
import possnet as pn
from possnet.counting.blocks import Block
from possnet.counting.choice import Kernel, estimates
from possnet.counting.count import tally_family
from possnet.kernels import bitmaps

ROWS = 1_000_000
EXPLODED = 100_000

STREAM = """
import json, re, sys, time
import possnet as pn
net = pn.read_network(sys.argv[1])
begin = time.perf_counter()
counts = pn.count(net.dag, pn.scan_data([sys.argv[2]] * int(sys.argv[3]), variables=net))
peak = int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1]) / 1024
print(json.dumps([time.perf_counter() - begin, counts.rows, peak]))
"""


def best(work: Callable[[], object], repeat: int = 5) -> tuple[float, float]:
    """Best and worst seconds of some runs."""
    seconds = []
    for _ in range(repeat):
        begin = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - begin)
    return min(seconds), max(seconds)


def learning(folder: Path) -> list[str]:
    """File to network and counting alone, beside the peers."""
    net = fixtures.load("alarm")
    precise = pn.sample(net, ROWS, process="precise", rng=1)
    vague = pn.sample(net, ROWS, imprecision=0.5, rng=1)
    files = {
        name: folder / name for name in ("rows.parquet", "rows.csv", "lists.parquet", "masks.parquet", "vague.csv")
    }
    pn.write_data(precise, files["rows.parquet"], layout="lists")
    pn.write_data(precise, files["rows.csv"])
    pn.write_data(precise, files["masks.parquet"])
    pn.write_data(vague, files["vague.csv"])
    pn.write_data(vague[:EXPLODED], files["lists.parquet"], layout="lists")
    families = json.dumps({name: net.dag.parents(name) for name in net.dag.nodes})
    plain = folder / "plain.parquet"
    _as_text(precise, plain)
    peer = fixtures.ask(
        "learn.py", str(plain), str(files["rows.csv"]), str(fixtures.bif("alarm", folder)), str(files["lists.parquet"]),
        families,
    )  # fmt: skip
    theirs = {name: float(value) for name, value in peer.items()}  # type: ignore[arg-type]

    def learn(file: Path) -> Callable[[], object]:
        return lambda: pn.fit(net.dag, pn.scan_data(file, variables=net))

    ours = {
        "parquet": best(learn(plain)),
        "masks": best(learn(files["masks.parquet"])),
        "csv": best(learn(files["rows.csv"])),
        "vague csv": best(learn(files["vague.csv"])),
        "count": best(lambda: pn.count(net.dag, precise), 9),
        "count vague": best(lambda: pn.count(net.dag, vague), 9),
        "count exploded": best(lambda: pn.count(net.dag, vague[:EXPLODED]), 9),
    }
    frame = theirs["frame load"] + theirs["frame learn"]
    text = theirs["csv load"] + theirs["csv learn"]
    rows = [
        ("Parquet of text to network", "parquet", "pyAgrum, frame + learn", frame, 8),
        ("Parquet of masks to network", "masks", "pyAgrum, frame + learn", frame, 8),
        ("CSV to network", "csv", "pyAgrum, CSV + learn", text, 2),
        ("Parquet of text to network", "parquet", "pgmpy, fit alone", theirs["pgmpy fit"], 1),
        ("counting alone", "count", "pyAgrum, learn alone", min(theirs["frame learn"], theirs["csv learn"]), 20),
        (f"counting, theta .5, {EXPLODED:,} rows", "count exploded", "pandas explode + groupby", theirs["explode"], 50),
    ]
    lines = [
        f"{ROWS:,} rows of alarm, precise unless theta is given; best of five to nine runs, slowest beside.",
        "",
        "| job | possnet s | slowest | peer | peer s | times faster | asked |",
        "|---|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {job} | {ours[key][0]:.4f} | {ours[key][1]:.4f} | {name} | {took:.3f} | {took / ours[key][0]:.1f} | {asked} |"
        for job, key, name, took, asked in rows
    ]
    ratios = (ours["count vague"][0] / ours["count"][0], ours["vague csv"][0] / ours["csv"][0])
    lines += [
        "",
        (
            f"Imprecise rows (theta .5) against precise ones: counting {ours['count vague'][0]:.4f} s, {ratios[0]:.2f} "
            f"times the precise time; CSV to network {ours['vague csv'][0]:.2f} s, {ratios[1]:.2f} times (asked: at most "
            "3)."
        ),
    ]
    return [*lines, "", *streaming(net, folder, files["masks.parquet"])]


def _as_text(data: pn.Dataset, file: Path) -> None:
    """Precise rows as columns of plain text."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = data.to_arrow()
    columns = [column.cast(pa.string()) for column in table.columns]
    pq.write_table(pa.table(columns, names=table.column_names), file)


def streaming(net: pn.Network, folder: Path, file: Path) -> list[str]:
    """The same file many times over."""
    model = folder / "alarm.json"
    pn.write_network(net, model)
    lines = ["| rows streamed and counted | seconds | million rows a second | peak MB |", "|---|---|---|---|"]
    for times in (1, 10, 100):
        command = [sys.executable, "-c", STREAM, str(model), str(file), str(times)]
        seconds, rows, peak = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        lines.append(f"| {rows:,} | {seconds:.1f} | {rows / seconds / 1e6:.1f} | {peak:.0f} |")
    return lines


def made(rows: int, states: int, parents: int, share: float, rng: np.random.Generator) -> pn.Dataset:
    """A child and its parents; every state is in every cell with a probability, one of them surely."""
    words = {}
    for k in range(parents + 1):
        codes = rng.integers(0, states, rows)
        inside = [
            bitmaps.pack((rng.random(rows) < share) | (codes == state) if share else codes == state)
            for state in range(states)
        ]
        words[f"v{k}"] = np.array(inside)
    variables = [pn.Variable(f"v{k}", tuple(f"s{s}" for s in range(states))) for k in range(parents + 1)]
    return pn.Dataset.unchecked(variables, words, rows)


def choices() -> list[str]:
    """How far the chosen kernel is from the best, over rows, states, parents and imprecision."""
    rng = np.random.default_rng(1)
    worst: dict[tuple[int, int], list[tuple[float, str]]] = {}
    for rows in (100, 10_000, 1 << 20):
        for states in (2, 4, 10, 100):
            for parents in (0, 1, 2, 3, 5, 10):
                for share in (0.0, 0.02, 0.3, 0.95):
                    if states**parents > 10**5 and share > 0.1:
                        continue  # nearly all of a huge table occurs
                    found = _ratio(made(rows, states, parents, share, rng), rows)
                    if found is not None:
                        worst.setdefault((rows, states), []).append(
                            (found[0], f"{parents} parents, {share:g}: {found[1]}")
                        )
    lines = [
        "| rows | states | cases | median | worst | where (parents, share of extra states, kernel) |",
        "|---|---|---|---|---|---|",
    ]
    for (rows, states), found in worst.items():
        found.sort()
        lines.append(
            f"| {rows:,} | {states} | {len(found)} | {found[len(found) // 2][0]:.2f} | {found[-1][0]:.2f} "
            f"| {found[-1][1]} |"
        )
    return lines


def _ratio(data: pn.Dataset, rows: int) -> tuple[float, str] | None:
    """Time of the chosen kernel over that of the best, and its name; kernels that would take seconds are not tried."""
    names = [variable.name for variable in data.variables]
    prices = estimates(Block(data, names, 0, rows), names[:-1], names[-1])
    other: Kernel = "codes" if Block(data, names, 0, rows).is_precise(names[-1]) else "cells"
    seconds = {}
    for kernel, price in {other: 0.0, **prices}.items():
        if price > 2e9:
            continue
        runs = []
        for _ in range(5 if price < 1e8 else 2):
            block = Block(data, names, 0, rows)
            for name in names:
                block.state_counts(name)
            begin = time.perf_counter()
            try:
                tally_family(block, names[:-1], names[-1], kernel)
            except pn.TooLarge:
                break
            runs.append(time.perf_counter() - begin)
        if runs:
            seconds[kernel] = min(runs)
    chosen = min(prices, key=prices.__getitem__)
    return (seconds[chosen] / min(seconds.values()), chosen) if chosen in seconds else None


def table() -> str:
    """Markdown of all figures."""
    with tempfile.TemporaryDirectory() as folder:
        lines = learning(Path(folder))
    lines += [
        "",
        (
            "The counting kernel is chosen by estimated cost, block by block of 1,048,576 rows (ten million rows are ten "
            "such blocks). Time of the chosen kernel over that of the best, decoding included:"
        ),
        "",
        *choices(),
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    print(table())

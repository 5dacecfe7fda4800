"""The hot kernels: which one is chosen, how many instructions each takes, and how far memory bounds them.

Instructions are counted by callgrind, as the difference between more and fewer runs in a process: they do not depend on what
else the machine does, so they show a regression where times cannot. ``benchmarks/instructions.json`` keeps them; a count
more than a tenth above what is kept is a missed target. ``python kernels.py`` keeps the counts of today.
"""

import json
import os
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
from measure import ROUNDS, Section, Target, interleaved, say, table, timed
from networks import load

import possnet as pn
from possnet.counting.blocks import Block
from possnet.counting.choice import Kernel, estimates
from possnet.counting.count import tally_family
from possnet.kernels import bitmaps

KEPT = Path(__file__).parent / "instructions.json"
MORE = 1.1

# What is prepared and what is counted, and how often it is repeated.
CASES = {
    "count 65,536 precise rows of alarm": ("data = pn.sample(net, 65_536, process='precise', rng=1)", "pn.count(net.dag, data)", 10),
    "count 65,536 rows of alarm, theta .5": ("data = pn.sample(net, 65_536, rng=1)", "pn.count(net.dag, data)", 10),
    "draw 65,536 rows of alarm, theta .5": ("", "pn.sample(net, 65_536, rng=1)", 2),
    "plan alarm": ("", "pn.Inference(net).plan", 20),
    "all marginals of alarm, plan kept": ("engine = pn.Inference(net)", "engine.marginals({'HISTORY': next(turn)})", 20),
    "1,000 evidence rows of alarm": (
        "data = pn.sample(net, 1_000, rng=1); engine = pn.Inference(net)", "engine.query_many('HYPOVOLEMIA', data)", 4,
    ),
    "a step of EM, 1,000 rows of alarm": (
        "data = pn.sample(net, 1_000, process='traced', rng=1)",
        "pn.fit_em(net.dag, data, accelerate=False, tolerance=0.0, max_steps=1)", 2,
    ),
    "greedy structure, 1,000 rows of alarm": (
        "data = pn.sample(net, 1_000, process='precise', rng=1)", "pn.learn_structure(data, measure='bic', max_steps=5)", 2,
    ),
}  # fmt: skip
PROGRAM = """
import gc, itertools, sys
import possnet as pn
net = pn.read_network(sys.argv[1])
turn = itertools.cycle(net.variable("HISTORY").states)
{begin}
gc.disable()
for _ in range(2 + int(sys.argv[2])):
    {work}
"""


def instructions(case: str, network: Path) -> int:
    """Instructions of one run: a process that repeats it less one that does not, without the garbage collector."""
    begin, work, times = CASES[case]

    def ran(count: int) -> int:
        command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", sys.executable, "-c"]
        code = PROGRAM.format(begin=begin, work=work)
        environment = os.environ | {"PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1"}
        run = subprocess.run(
            [*command, code, str(network), str(count)], check=False, capture_output=True, text=True, env=environment
        )
        found = re.search(r"Collected : (\d+)", run.stderr)
        if run.returncode or not found:
            raise SystemExit(f"callgrind, {case}: {run.stderr[-300:]}")
        return int(found[1])

    count = (ran(times) - ran(0)) // times
    say(f"{case}: {count:,} instructions")
    return count


def counted() -> dict[str, int]:
    """Instructions of every case."""
    import tempfile

    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(2) as pool:
        file = Path(folder) / "alarm.json"
        pn.write_network(load("alarm"), file)
        return dict(zip(CASES, pool.map(lambda case: instructions(case, file), CASES), strict=True))


def instruction_table() -> tuple[str, list[Target]]:
    """Counts of today beside those kept."""
    kept = json.loads(KEPT.read_text(encoding="utf-8"))
    rows, ratios = [], {}
    for case, count in counted().items():
        ratios[case] = count / kept[case]
        rows.append([case, f"{count / 1e6:,.1f}", f"{kept[case] / 1e6:,.1f}", f"{ratios[case]:.3f}"])
    worst = max(ratios, key=ratios.__getitem__)
    target = Target(
        "instructions of the hot kernels, the worst", worst, "counts kept", ratios[worst], MORE, "times", at_most=True
    )
    return table(" kernel | million instructions | kept | ratio ", rows), [target]


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


def choices() -> str:
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
    lines = []
    for (rows, states), found in worst.items():
        found.sort()
        middle, (most, where) = found[len(found) // 2][0], found[-1]
        lines.append([f"{rows:,}", str(states), str(len(found)), f"{middle:.2f}", f"{most:.2f}", where])
    return table(" rows | states | cases | median | worst | where (parents, share of extra states, kernel) ", lines)


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


def bandwidth() -> dict[str, float]:
    """Bytes a second of one thread: copying what fits no cache, and AND with population count of what does."""
    large = np.ones(1 << 25, dtype=np.uint64)
    other = np.empty_like(large)
    small, mate = np.ones(1 << 14, dtype=np.uint64), np.ones(1 << 14, dtype=np.uint64)
    out, bits = np.empty_like(small), np.empty(small.size, dtype=np.uint8)

    def popcounts() -> None:
        for _ in range(100):
            np.bitwise_and(small, mate, out=out)
            np.bitwise_count(out, out=bits)

    found = interleaved({"copy": timed(lambda: np.copyto(other, large)), "and": timed(popcounts)}, ROUNDS)
    return {"copy": 2 * large.nbytes / found["copy"].best, "and": 100 * 2 * small.nbytes / found["and"].best}


def roofline() -> str:
    """Bytes that must be touched, at the machine's measured bandwidth, beside the time taken."""
    speed = bandwidth()
    alarm, rows = load("alarm"), 1_000_000
    data = pn.sample(alarm, rows, process="precise", rng=1)
    bitmap = -(-rows // 64) * 8
    states = sum(len(v) for v in alarm.variables)
    cells = sum(alarm.table(v.name).size for v in alarm.variables)
    munin = load("munin")
    engine = pn.Inference(munin)
    planned = engine.plan.cells
    jobs = {
        "count": timed(lambda: pn.count(alarm.dag, data)),
        "draw": timed(lambda: pn.sample(alarm, rows, process="precise", rng=1)),
        "marginals": timed(lambda: pn.Inference(munin).marginals()),
    }
    found = interleaved(jobs, ROUNDS)
    wanted = [
        ("count a million precise rows of alarm", "every bitmap once", states * bitmap, "copy", "count"),
        ("the same", f"two bitmaps for each of {cells:,} cells", 2 * cells * bitmap, "and", "count"),
        ("draw a million rows of alarm", "a random number of 4 bytes a cell, each bitmap", rows * 37 * 4 + states * bitmap, "copy", "draw"),
        ("all marginals of munin", f"{planned:,} cells of 8 bytes, written, and read twice", 3 * 8 * planned, "copy", "marginals"),
    ]  # fmt: skip
    lines = []
    for job, what, size, kind, name in wanted:
        least, took = size / speed[kind], found[name]
        lines.append([job, what, f"{size / 1e6:,.0f}", f"{least * 1e3:,.1f} ms", str(took), f"{took.best / least:.1f}"])
    head = (
        f"One thread copies {speed['copy'] / 1e9:.1f} GB/s (read and written) outside the caches, and ANDs and counts bits at "
        f"{speed['and'] / 1e9:.1f} GB/s inside them."
    )
    titles = " job | bytes that must be touched | MB | at that speed | possnet | times the bound "
    return f"{head}\n\n{table(titles, lines)}"


def measure() -> Section:
    """The whole section."""
    counts, targets = instruction_table()
    chosen = (
        "The counting kernel is chosen by estimated cost, block by block of 1,048,576 rows (ten million rows are ten such "
        "blocks). Time of the chosen kernel over that of the best, decoding included:"
    )
    return Section("\n\n".join([roofline(), counts, chosen, choices()]), targets)


if __name__ == "__main__":
    KEPT.write_text(json.dumps(counted(), indent=1) + "\n", encoding="utf-8")

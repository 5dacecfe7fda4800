"""The counting kernels: which one is chosen, and how far memory bounds them."""

import time

import numpy as np
from measure import ROUNDS, Section, interleaved, table, timed
from networks import load

import possnet as pn
from possnet.counting.count import tally_family
from possnet.counting.kernel_choice import Kernel, estimate_costs
from possnet.counting.row_blocks import RowBlock
from possnet.kernels import bitmaps


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
    prices = estimate_costs(RowBlock(data, names, 0, rows), names[:-1], names[-1])
    other: Kernel = "codes" if RowBlock(data, names, 0, rows).is_precise(names[-1]) else "cells"
    seconds = {}
    for kernel, price in {other: 0.0, **prices}.items():
        if price > 2e9:
            continue
        runs = []
        for _ in range(5 if price < 1e8 else 2):
            fresh = pn.Dataset.unchecked(
                data.variables, {n: data.bitmaps(n) for n in names}, rows
            )  # nothing decoded yet
            block = RowBlock(fresh, names, 0, rows)
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
    planned = engine.plan.entries
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
        lines.append(
            [
                job,
                what,
                f"{size / 1e6:,.0f}",
                f"{least * 1e3:,.1f} ms",
                str(took),
                f"{size / took.best / 1e9:.1f}",
                f"{took.best / least:.1f}",
            ]
        )
    head = (
        f"One thread copies {speed['copy'] / 1e9:.1f} GB/s (read and written) outside the caches, and ANDs and counts bits at "
        f"{speed['and'] / 1e9:.1f} GB/s inside them."
    )
    titles = " job | bytes that must be touched | MB | at that speed | possnet | GB a second | times the bound "
    return f"{head}\n\n{table(titles, lines)}"


def measure() -> Section:
    """The whole section."""
    chosen = (
        "The counting kernel is chosen by estimated cost, block by block of 1,048,576 rows (ten million rows are ten such "
        "blocks). Time of the chosen kernel over that of the best, decoding included:"
    )
    return Section("\n\n".join([roofline(), chosen, choices()]))

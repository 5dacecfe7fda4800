"""The default search behind traced rows of many variables: CPU seconds as they stand, and the distance of its structure."""

import time

from measure import Section, Target, say, table

import possnet as pn
from structure import distance

CASES = ((60, 100_000, 120), (200, 10_000, 300))
TEXT = (
    "`learn_structure(rows)` with its defaults on traced rows (imprecision .7) of random networks with at most two parents and two to "
    "four states. The distance is the structural Hamming distance between essential graphs."
)


def measure() -> Section:
    """The whole section."""
    rows, targets = [], []
    for size, number, most in CASES:
        net = pn.random_network(size, max_parents=2, states=(2, 4), rng=5)
        data = pn.sample(net, number, process="traced", imprecision=0.7, rng=1)
        begin, wall = time.process_time(), time.perf_counter()
        learned = pn.learn_structure(data)
        seconds, wall = time.process_time() - begin, time.perf_counter() - wall
        rows.append([
            f"{size} variables, {number:,} rows", f"{learned.method} by {learned.measure}", f"{seconds:.0f} s", f"{wall:.0f} s",
            str(len(learned.edges)), str(len(net.dag.edges)), str(distance(net.dag, learned.dag.edges)),
        ])  # fmt: skip
        job = f"structure behind traced rows, {size} variables, {number:,} rows"
        targets.append(Target(job, f"{seconds:.0f} s", "a limit", seconds, most, "s", at_most=True))
        say(" ".join(rows[-1]))
    head = " traced rows | search | CPU | wall | edges | true ones | distance "
    return Section(f"{TEXT}\n\n{table(head, rows)}", targets)

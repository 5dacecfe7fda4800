"""EM on alarm with missing cells beside pyAgrum's, and how it grows with rows, as markdown."""

import tempfile
import time
from pathlib import Path

import numpy as np

import fixtures
import possnet as pn
from possnet.kernels import bitmaps

ROWS = 10_000
SHARE = 0.1


def with_unknown(data: pn.Dataset, share: float, seed: int) -> pn.Dataset:
    """The same rows with a share of the cells unknown."""
    rng = np.random.default_rng(seed)
    unknown = {v.name: bitmaps.pack(rng.random(len(data)) < share) for v in data.variables}
    words = {v.name: data.bitmaps(v.name) | unknown[v.name] for v in data.variables}
    return pn.Dataset.unchecked(data.variables, words, len(data), unknown=unknown)


def timed(data: pn.Dataset, net: pn.Network, **how: object) -> tuple[float, pn.EmResult]:
    """Seconds and result of one run."""
    begin = time.perf_counter()
    found = pn.fit_em(net.dag, data, **how)  # type: ignore[arg-type]
    return time.perf_counter() - begin, found


def table() -> str:
    """Markdown of all figures."""
    net = fixtures.load("alarm")
    data = with_unknown(pn.sample(net, ROWS, process="precise", rng=1), SHARE, 3)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "rows.csv"
        pn.write_data(data, file)
        bif = str(fixtures.bif("alarm", Path(folder)))
        peers, runs, plain = [], [], []
        for threads in ("1", "2"):
            peers.append(fixtures.ask("pyagrum_em.py", str(file), bif, threads))
            runs += [timed(data, net) for _ in range(3)]
            plain += [timed(data, net, accelerate=False, tolerance=0.0, max_steps=10) for _ in range(2)]
    theirs = min(peers, key=lambda peer: float(peer["seconds"]))  # type: ignore[arg-type]
    seconds, steps = float(theirs["seconds"]), int(theirs["steps"])  # type: ignore[call-overload]
    took, found = min(runs, key=lambda run: run[0])
    each, _ = min(plain, key=lambda run: run[0])
    lines = [
        (
            f"{ROWS:,} precise rows of alarm with {SHARE:.0%} of the cells unknown; pyAgrum, the better of one and two "
            "threads, stops when a step gains less than .1 nat, possnet when all that is left to gain is less."
        ),
        "",
        "| | seconds | steps | ms a step |",
        "|---|---|---|---|",
        f"| pyAgrum | {seconds:.1f} | {steps} | {1000 * seconds / steps:.0f} |",
        f"| possnet, accelerated | {took:.2f} | {found.steps} | {1000 * took / found.steps:.0f} |",
        f"| possnet, ten plain steps | {each:.2f} | 10 | {100 * each:.0f} |",
        "",
        f"In all {seconds / took:.0f} times faster, a step {seconds / steps / (each / 10):.0f} times (asked: 10 and 10).",
        "",
        "| traced rows, clinic, theta 1 | seconds | steps | distinct rows |",
        "|---|---|---|---|",
    ]
    clinic = pn.load_example("clinic")
    for rows in (1_000, 10_000, 100_000, 1_000_000):
        drawn = pn.sample(clinic, rows, process="traced", rng=1)
        took, found = min((timed(drawn, clinic) for _ in range(3)), key=lambda run: run[0])
        lines.append(f"| {rows:,} | {took:.3f} | {found.steps} | {len(drawn.distinct()):,} |")
    return "\n".join(lines)


if __name__ == "__main__":
    print(table())

"""`evaluate` with one worker and with two, beside two independent processes that do the same work at the same time.

Two cores of a page may be two threads of one core, which together do little more than one of them. So what two workers gain
is put beside what the machine gains: twice the time of one process that is alone, over the time of two at once. With two
cores of their own that is 2, and 1.7 of 2 is asked for.
"""

import subprocess
import sys
import tempfile
import time
from pathlib import Path

from measure import Section, Target, Times, say, table
from networks import load

import possnet as pn

POSSNET = str(Path(sys.executable).parent / "possnet")
GRID = """
import sys, possnet as pn
how = {"rows": [1_000, 10_000], "imprecision": [0.5, 1], "process": ["alpha-cut", "traced"], "repeats": 5, "rng": 1}
found = pn.evaluate({"net": pn.read_network(sys.argv[2])}, **how, workers=int(sys.argv[1]))
assert len(found.trials) == 100, len(found.trials)
"""
TEXT = (
    "A worker takes a third of a second to start, and so does the process that asks for it: of the second that 100 trials of a small "
    "network take, two workers save little. Figures are drawn by one process, after the trials."
)
NETWORKS = ("alarm", "pump")
ROUNDS = 3
ASKED = 1.7 / 2


def run_at_once(commands: list[list[str]]) -> float:
    """Seconds until all of some commands have ended that are started together."""
    begin = time.perf_counter()
    running = [subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) for command in commands]
    if any(process.wait() for process in running):
        raise SystemExit(f"failed: {commands}")
    return time.perf_counter() - begin


def run_grid(network: Path, *workers: int) -> float:
    """Seconds of a grid of 100 trials, once for each number of workers, all at once."""
    return run_at_once([[sys.executable, "-c", GRID, str(number), str(network)] for number in workers])


def run_default(workers: int) -> float:
    """Seconds of ``possnet evaluate --out``, with its report."""
    with tempfile.TemporaryDirectory() as folder:
        return run_at_once([[POSSNET, "evaluate", "--workers", str(workers), "--out", f"{folder}/run"]])


def measure() -> Section:
    """The table and its target."""
    found: dict[tuple[str, str], list[float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for network in NETWORKS:
            file = Path(folder) / f"{network}.json"
            pn.write_network(load(network), file)
            for _ in range(ROUNDS):
                for name, workers in {"one": (1,), "two": (2,), "pair": (1, 1)}.items():
                    found.setdefault((network, name), []).append(run_grid(file, *workers))
                    say(f"evaluate, 100 trials of {network}, {name}: {found[network, name][-1]:.1f} s")
    rows, shares = [], {}
    for network in NETWORKS:
        one, two, pair = (Times(tuple(found[network, name])) for name in ("one", "two", "pair"))
        gain, most = one.best / two.best, 2 * one.best / pair.best
        shares[network] = gain, most
        rows += [
            [f"100 trials of {network}, one worker", str(one), ""],
            [f"100 trials of {network}, two workers", str(two), f"{gain:.2f}"],
            [
                f"100 trials of {network}, one worker, in two processes at once",
                str(pair),
                f"{most:.2f}: twice the work",
            ],
        ]
    whole = [run_default(1), run_default(2)]
    rows += [
        ["`possnet evaluate --out`, one worker", f"{whole[0]:.1f} s", ""],
        ["`possnet evaluate --out`, two workers; one process draws the figures", f"{whole[1]:.1f} s", f"{whole[0] / whole[1]:.2f}"],
    ]  # fmt: skip
    gain, most = shares[NETWORKS[0]]
    target = Target(
        f"evaluate, 100 trials of {NETWORKS[0]}, two workers: gain over one", f"{gain:.2f} times faster",
        f"two processes at once {most:.2f} times the work", gain / most, ASKED, "of the machine's own gain",
    )  # fmt: skip
    return Section(f"{TEXT}\n\n{table(' job | time | gain ', rows)}", [target])

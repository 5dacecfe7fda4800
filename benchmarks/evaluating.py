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
    "network take, two workers save little. `possnet evaluate --out` is the whole command: its start, 300 trials, and 13 figures in two forms."
)
NETWORKS = ("alarm", "pump")
ROUNDS = 3
ASKED = 1.7 / 2
AT_ONCE = {"one": (1,), "two": (2,), "pair": (1, 1)}  # the workers of each process


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


def run_default(*workers: int) -> float:
    """Seconds of ``possnet evaluate --out``, with its report, once for each number of workers, all at once."""
    with tempfile.TemporaryDirectory() as folder:
        command = [POSSNET, "evaluate", "--workers"]
        return run_at_once([[*command, str(n), "--out", f"{folder}/run{k}"] for k, n in enumerate(workers)])


def measure() -> Section:
    """The table and its target."""
    found: dict[tuple[str, str], list[float]] = {}
    default = "`possnet evaluate --out`"
    with tempfile.TemporaryDirectory() as folder:
        for network in NETWORKS:
            file = Path(folder) / f"{network}.json"
            pn.write_network(load(network), file)
            for _ in range(ROUNDS):
                for name, workers in AT_ONCE.items():
                    found.setdefault((network, name), []).append(run_grid(file, *workers))
                    say(f"evaluate, 100 trials of {network}, {name}: {found[network, name][-1]:.1f} s")
    for _ in range(ROUNDS):
        for name, workers in AT_ONCE.items():
            found.setdefault((default, name), []).append(run_default(*workers))
            say(f"evaluate --out, {name}: {found[default, name][-1]:.1f} s")
    rows, shares = [], {}
    for network in (*NETWORKS, default):
        job = network if network == default else f"100 trials of {network}"
        one, two, pair = (Times(tuple(found[network, name])) for name in ("one", "two", "pair"))
        gain, most = one.best / two.best, 2 * one.best / pair.best
        shares[network] = gain, most
        rows += [
            [f"{job}, one worker", str(one), ""],
            [f"{job}, two workers", str(two), f"{gain:.2f}"],
            [f"{job}, one worker, in two processes at once", str(pair), f"{most:.2f}: twice the work"],
        ]
    targets = [
        Target(
            f"evaluate, {job}, two workers: gain over one", f"{gain:.2f} times faster",
            f"two processes at once {most:.2f} times the work", gain / most, ASKED, "of the machine's own gain",
        )
        for job, (gain, most) in ((f"100 trials of {NETWORKS[0]}", shares[NETWORKS[0]]), (default, shares[default]))
    ]  # fmt: skip
    return Section(f"{TEXT}\n\n{table(' job | time | gain ', rows)}", targets)

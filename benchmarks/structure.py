"""Structures of gold-standard networks beside pyAgrum's and pgmpy's, and of 60 imprecise variables, as markdown."""

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import fixtures
import possnet as pn
from possnet.metrics.structures import structure_metrics

NETWORKS = ("asia", "alarm", "insurance", "hailfinder")
ROWS = (1_000, 10_000, 100_000)
PATIENCE = 60
TEXT = (
    "Greedy search by BIC on precise rows of the gold-standard structures (degrees `optimal`, rows `precise`). Seconds "
    "are to learn, with loading the CSV file in brackets; the better of one and two threads for pyAgrum, the best of three "
    f"runs for possnet, one run for pgmpy, given up after {PATIENCE} s. The distances are structural Hamming distances "
    "between essential graphs. possnet walks on for ten moves at every peak (`tabu=10`), which the others do not."
)


def asked(peer: str, rows: Path, bif: Path, threads: int) -> dict[str, object] | None:
    """A peer's answer, or None if it takes too long."""
    script = Path(__file__).parent / "peers" / "structure.py"
    command = [str(fixtures.PEERS), str(script), peer, str(rows), str(bif), str(threads)]
    try:
        run = subprocess.run(command, check=False, capture_output=True, text=True, timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        return None
    if run.returncode:
        print(f"{peer} failed: {run.stderr[-300:]}", file=sys.stderr)
        return None
    found: dict[str, object] = json.loads(run.stdout.splitlines()[-1])
    return found


def distance(truth: pn.Dag, edges: object) -> int:
    """Hamming distance of essential graphs."""
    learned = pn.Dag.from_edges([tuple(edge) for edge in edges], nodes=truth.nodes)  # type: ignore[attr-defined, misc]
    return int(structure_metrics(truth, learned)["essential_hamming"])


def possnet(rows: Path, net: pn.Network) -> tuple[float, float, pn.LearnedStructure]:
    """Best seconds of three runs to load and to learn."""
    runs = []
    for _ in range(3):
        begin = time.perf_counter()
        data = pn.read_data(rows, variables=net)
        loaded = time.perf_counter()
        found = pn.learn_structure(data, measure="bic")
        runs.append((loaded - begin, time.perf_counter() - loaded, found))
    return min(runs, key=lambda run: run[0] + run[1])


def line(name: str, rows: int, folder: Path) -> str:
    """One row of the table."""
    net = fixtures.load(name)
    file = folder / f"{name}-{rows}.csv"
    pn.write_data(pn.sample(net, rows, process="precise", rng=1), file)
    bif = fixtures.bif(name, folder)
    loading, learning, found = possnet(file, net)
    cells = [name, f"{rows:,}", f"{learning:.3f} ({loading:.3f})", str(distance(net.dag, found.dag.edges))]
    answers = [answer for threads in (1, 2) if (answer := asked("pyagrum", file, bif, threads)) is not None]
    best = min(answers, key=lambda answer: float(answer["load"]) + float(answer["learn"]), default=None)  # type: ignore[arg-type]
    for answer in (best, asked("pgmpy", file, bif, 1)):
        if answer is None:
            cells += ["-", "-"]
        else:
            cells += [f"{answer['learn']:.3f} ({answer['load']:.3f})", str(distance(net.dag, answer["edges"]))]
    return f"| {' | '.join(cells)} |"


def imprecise() -> list[str]:
    """Seconds for 60 variables and 100,000 imprecise rows."""
    net = pn.random_network(60, max_parents=2, states=(2, 4), rng=5)
    data = pn.sample(net, 100_000, process="traced", imprecision=0.7, rng=1)
    lines = ["| 60 variables, 100,000 traced rows | seconds | edges | distance |", "|---|---|---|---|"]
    for method, measure in (
        ("mwst", "mutual-information"),
        ("mwst", "random-set-bic"),
        ("k2", "random-set-bic"),
        ("greedy", "random-set-bic"),
        ("greedy", "mdl"),
        ("hybrid-tree", None),
        ("greedy", "traced-bic"),
    ):
        begin = time.perf_counter()
        steps = 50 if measure == "traced-bic" else None  # the climb goes on for minutes
        found = pn.learn_structure(data, method, measure=measure, max_parents=3, max_steps=steps)  # type: ignore[arg-type]
        seconds = time.perf_counter() - begin
        told = f"{method} by {found.measure}{f', {steps} steps' if steps else ''}"
        lines.append(f"| {told} | {seconds:.2f} | {len(found.edges)} | {distance(net.dag, found.dag.edges)} |")
    return lines


def table() -> str:
    """Markdown of all figures."""
    lines = [
        TEXT,
        "",
        "| network | rows | possnet s | distance | pyAgrum s | distance | pgmpy s | distance |",
        "|---|---|---|---|---|---|---|---|",
    ]
    with tempfile.TemporaryDirectory() as folder:
        lines += [line(name, rows, Path(folder)) for name in NETWORKS for rows in ROWS]
    return "\n".join([*lines, "", *imprecise()])


if __name__ == "__main__":
    print(table())

"""Drawing a million rows of the alarm network beside pyAgrum's ``drawSamples``, as markdown.

Every process and several imprecisions; compiling the laws is part of each time. pyAgrum runs between possnet's runs. Then
how the time grows with rows, and what variables of many states cost.
"""

import tempfile
import time
from pathlib import Path

import numpy as np

import fixtures
import possnet as pn

ROWS = 1_000_000
HOW: list[dict[str, str]] = [
    {"process": "alpha-cut"},
    {"process": "alpha-cut", "parents": "cut"},
    {"process": "alpha-cut", "law": "text"},
    {"process": "traced"},
    {"process": "precise"},
]
THETAS = (0.0, 0.25, 0.5, 1.0)


def seconds(net: pn.Network, rows: int, theta: float, how: dict[str, str]) -> float:
    """Time of one sample."""
    begin = time.perf_counter()
    pn.sample(net, rows, imprecision=theta, rng=1, **how)
    return time.perf_counter() - begin


def of_states(states: int) -> pn.Network:
    """A chain of three variables with the given number of states."""
    rng = np.random.default_rng(states)
    variables = [pn.Variable(f"x{k}", tuple(f"s{s}" for s in range(states))) for k in range(3)]
    dag = pn.Dag({"x0": (), "x1": ("x0",), "x2": ("x1",)})
    shapes = {"x0": (states,), "x1": (states, states), "x2": (states, states)}
    tables = {name: rng.random(shape) for name, shape in shapes.items()}
    return pn.Network(variables, dag, pn.normalise_tables(tables))


def table() -> str:
    """Markdown of all figures."""
    net = fixtures.load("alarm")
    times: dict[tuple[int, float], list[float]] = {}
    peer: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        file = fixtures.bif("alarm", Path(folder))
        for _ in range(5):
            found = fixtures.ask("pyagrum_samples.py", str(file), str(ROWS), "1")
            peer.append(float(found["best"]))  # type: ignore[arg-type]
            for number, how in enumerate(HOW):
                for theta in THETAS if how["process"] != "precise" else (1.0,):
                    times.setdefault((number, theta), []).append(seconds(net, ROWS, theta, how))
    best = min(peer)
    spread = f"{best:.2f} s (best of five, slowest {max(peer):.2f})"
    lines = [
        f"{ROWS:,} rows of alarm. pyAgrum's `drawSamples`, precise rows: {spread}. possnet, best of five and slowest:",
        "",
        "| process | theta | possnet s | slowest | times faster |",
        "|---|---|---|---|---|",
    ]
    for (number, theta), found in times.items():
        how = ", ".join(f"{value}" for value in HOW[number].values())
        shown = "any" if HOW[number]["process"] == "precise" else f"{theta:g}"
        lines.append(f"| {how} | {shown} | {min(found):.2f} | {max(found):.2f} | {best / min(found):.0f} |")
    lines += ["", "| rows of alarm, theta .5 | seconds | ns a row and variable |", "|---|---|---|"]
    for rows in (1_000, 10_000, 100_000, 1_000_000, 4_000_000):
        found = min(seconds(net, rows, 0.5, HOW[0]) for _ in range(3))
        lines.append(f"| {rows:,} | {found:.4f} | {found / rows / len(net.variables) * 1e9:.1f} |")
    lines += [
        "",
        "| states a variable (chains of three, 262,144 rows, theta .5) | seconds | ns a row and state |",
        "|---|---|---|",
    ]
    for states in (2, 4, 8, 16, 32, 100):
        chain = of_states(states)
        found = min(seconds(chain, 1 << 18, 0.5, HOW[0]) for _ in range(3))
        lines.append(f"| {states} | {found:.3f} | {found / (1 << 18) / (3 * states) * 1e9:.1f} |")
    return "\n".join(lines)


if __name__ == "__main__":
    print(table())

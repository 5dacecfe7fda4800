"""How counting, drawing, EM, questions and files grow: with rows, states, parents, imprecision, and the network.

Each curve is the best of some runs; the figure is docs/figures/growth.svg, the exponents are fitted to the upper half of
each curve (1 is linear, 0 is constant).
"""

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from gold_questions import central_variable, possible_evidence
from measure import ROOT, Section, Target, interleaved, say, table, timed
from networks import load

import possnet as pn
from em import with_unknown
from inference import evidence_rows
from kernels import made

GOLD = [
    "alarm",
    "hepar2",
    "hailfinder",
    "insurance",
    "pathfinder",
    "andes",
    "pigs",
    "water",
    "mildew",
    "diabetes",
    "munin",
    "barley",
]
FIGURE = ROOT / "docs" / "figures" / "growth.svg"


@dataclass(frozen=True)
class Curve:
    """Seconds of one job at several sizes, and what the exponent should be at most, if anything was promised."""

    panel: str
    label: str
    sizes: Sequence[float]
    seconds: Sequence[float]
    promised: float | None = None

    @property
    def exponent(self) -> float:
        """Slope between logarithms over the upper half of the sizes."""
        half = len(self.sizes) // 2
        return float(np.polyfit(np.log(self.sizes[half:]), np.log(self.seconds[half:]), 1)[0])


def curve(
    panel: str, label: str, sizes: Sequence[float], job: Callable[[float], Callable[[], object]], rounds: int,
    promised: float | None = None,
) -> Curve:  # fmt: skip
    """Measure one job at several sizes, which take turns."""
    found = interleaved({str(size): timed(job(size)) for size in sizes}, rounds)
    result = Curve(panel, label, sizes, [found[str(size)].best for size in sizes], promised)
    summary = ", ".join(f"{size:g}: {seconds:.4f}" for size, seconds in zip(sizes, result.seconds, strict=True))
    say(f"{panel}, {label}: {summary} s")
    return result


def of_states(states: int) -> pn.Network:
    """A chain of three variables with the given number of states."""
    rng = np.random.default_rng(states)
    variables = [pn.Variable(f"x{k}", tuple(f"s{s}" for s in range(states))) for k in range(3)]
    dag = pn.Dag({"x0": (), "x1": ("x0",), "x2": ("x1",)})
    shapes = {"x0": (states,), "x1": (states, states), "x2": (states, states)}
    return pn.Network(variables, dag, pn.normalise_tables({name: rng.random(shape) for name, shape in shapes.items()}))


def mirrored(parents: int, rows: int) -> pn.Dataset:
    """A child and parents of 100 states that all agree: 100 contexts occur, of 100 ** parents."""
    rng = np.random.default_rng(1)
    parent, child = made(rows, 100, 0, 0.0, rng).bitmaps("v0"), made(rows, 4, 0, 0.0, rng)
    variables = [pn.Variable(f"p{k}", tuple(f"s{s}" for s in range(100))) for k in range(parents)]
    words = {variable.name: parent for variable in variables} | {"v0": child.bitmaps("v0")}
    return pn.Dataset.unchecked([*variables, *child.variables], words, rows)


def banded(variables: int) -> pn.Network:
    """A network of bounded width: every variable hangs on the one before and on the fourth before."""
    parents = {f"x{k}": tuple(f"x{k - back}" for back in (1, 4) if k >= back) for k in range(variables)}
    rng = np.random.default_rng(variables)
    tables = pn.normalise_tables({name: rng.random((3,) * (len(above) + 1)) for name, above in parents.items()})
    return pn.Network([pn.Variable(name, ("a", "b", "c")) for name in parents], pn.Dag(parents), tables)


def rows_curves(alarm: pn.Network, clinic: pn.Network) -> list[Curve]:
    """Counting, drawing and EM by rows."""
    sizes = [10_000, 30_000, 100_000, 300_000, 1_000_000, 3_000_000, 10_000_000]
    fewer = sizes[:4]
    imprecise = pn.sample(alarm, sizes[-1], imprecision=0.5, rng=1)
    precise = pn.sample(alarm, sizes[-1], process="precise", rng=1)
    traced = pn.sample(clinic, sizes[-1], process="traced", rng=1)
    unknown = with_unknown(precise[: fewer[-1]], 0.1, 3)

    def steps(net: pn.Network, data: pn.Dataset, count: int) -> Callable[[], object]:
        return lambda: pn.fit_em(net.dag, data, tolerance=0.0, options=pn.EmOptions(accelerate=False, max_steps=count))

    return [
        curve("rows", "counting, precise", sizes, lambda n: counting(alarm, precise[:n]), 3, 1.1),
        curve("rows", "counting, theta .5", sizes, lambda n: counting(alarm, imprecise[:n]), 3, 1.1),
        curve("rows", "drawing, theta .5", sizes, lambda n: drawing(alarm, n, 0.5), 3, 1.1),
        curve("rows", "EM, clinic, traced rows, ten steps", sizes, lambda n: steps(clinic, traced[:n], 10), 3, 1.1),
        curve("rows", "EM, alarm, 10 % unknown, three steps", fewer, lambda n: steps(alarm, unknown[:n], 3), 2, 1.1),
    ]


def counting(net: pn.Network, data: pn.Dataset) -> Callable[[], object]:
    """Counting all families of a network."""
    return lambda: pn.count(net.dag, data)


def family(data: pn.Dataset) -> Callable[[], object]:
    """Counting the last variable with all others as its parents."""
    *parents, child = [variable.name for variable in data.variables]
    dag = pn.Dag(dict.fromkeys(parents, ()) | {child: tuple(parents)})
    return lambda: pn.count(dag, data)


def drawing(net: pn.Network, rows: int, theta: float) -> Callable[[], object]:
    """Drawing rows from a network."""
    return lambda: pn.sample(net, rows, imprecision=theta, rng=1)


def shape_curves() -> list[Curve]:
    """By states, parents and imprecision, at 262,144 rows."""
    rows, rng = 1 << 18, np.random.default_rng(1)
    states, parents, thetas = [2, 4, 8, 16, 32, 64, 100], [1, 2, 3, 4, 6, 8, 10], [0.02, 0.1, 0.25, 0.5, 0.75, 1.0]
    chains = {n: of_states(n) for n in states}
    drawn = {n: pn.sample(net, rows, imprecision=0.5, rng=1) for n, net in chains.items()}
    binary = {n: made(rows, 2, n, 0.0, rng) for n in parents}
    same = {n: mirrored(n, rows) for n in parents}
    alarm = load("alarm")
    imprecise = {theta: pn.sample(alarm, rows, imprecision=theta, rng=1) for theta in thetas}
    clinic = pn.load_example("clinic")
    traced = {theta: pn.sample(clinic, rows, imprecision=theta, process="traced", rng=1) for theta in thetas}
    return [
        curve("states", "counting, chain of three", states, lambda n: counting(chains[n], drawn[n]), 3),
        curve("states", "drawing, chain of three", states, lambda n: drawing(chains[n], rows, 0.5), 3),
        curve("parents", "counting, binary, all contexts occur", parents, lambda n: family(binary[n]), 3),
        curve("parents", "counting, 100 states, 100 contexts occur", parents, lambda n: family(same[n]), 3, 1.1),
        curve("imprecision", "counting, alarm", thetas, lambda t: counting(alarm, imprecise[t]), 3),
        curve("imprecision", "drawing, alarm", thetas, lambda t: drawing(alarm, rows, t), 3),
        curve("imprecision", "EM, clinic, traced rows", thetas, lambda t: lambda: pn.fit_em(clinic.dag, traced[t]), 3),
    ]


def network_curves() -> list[Curve]:
    """By the number of variables: planning and calibration of networks of width 4; and by the cells planned."""
    sizes = [10, 20, 50, 100, 200, 500, 1000]
    nets = {n: banded(n) for n in sizes}
    by_size = curve("variables", "all marginals, width 4", sizes, lambda n: marginals(nets[n]), 3, 1.2)
    planned = {pn.Inference(net).plan.entries: net for net in map(load, GOLD)}
    by_cells = curve(
        "cells", "all marginals, gold-standard networks", sorted(planned), lambda n: marginals(planned[n]), 2, 1.1
    )
    return [by_size, by_cells]


def question_curves() -> list[Curve]:
    """Rows of evidence and completion by rows, half of the cells known; the most possible configurations by their number."""
    rows, counts = [100, 300, 1_000, 3_000, 10_000, 30_000], [1, 3, 10, 30, 100, 300]
    insurance, alarm = load("insurance"), load("alarm")
    target = central_variable(insurance)
    known = {net: evidence_rows(net, target, rows[-1], 0.5) for net in (insurance, alarm)}
    ours = "rows of evidence, insurance"
    evidence = possible_evidence(alarm, 0.1)
    return [
        curve("questions", ours, rows, lambda n: lambda: pn.Inference(insurance).query_many(target, known[insurance][:n]), 3, 1.1),
        curve("questions", "complete, insurance", rows, lambda n: lambda: pn.complete(insurance, known[insurance][:n]), 2, 1.1),
        curve("questions", "complete, alarm", rows, lambda n: lambda: pn.complete(alarm, known[alarm][:n]), 3, 1.1),
        curve("best", "most possible, alarm", counts, lambda k: lambda: pn.Inference(alarm).most_possible_k(k, evidence), 3, 1.2),
    ]  # fmt: skip


def file_curves(alarm: pn.Network) -> list[Curve]:
    """Reading, writing and structures by rows."""
    rows = [1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000]
    precise = pn.sample(alarm, rows[-1], process="precise", rng=1)
    imprecise = pn.sample(alarm, rows[-1], rng=1)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for n in rows:
            pn.write_data(precise[:n], folder / f"{n}.csv")
        return [
            curve("files", "CSV to network", rows, lambda n: lambda: pn.fit(alarm.dag, pn.scan_data(folder / f"{n}.csv", variables=alarm)), 3, 1.1),
            curve("files", "lists written", rows, lambda n: lambda: pn.write_data(imprecise[:n], folder / "written.parquet", layout="lists"), 3, 1.1),
            curve("files", "greedy structure by BIC", rows, lambda n: lambda: pn.learn_structure(precise[:n], "greedy", measure="bic"), 2, 1.1),
        ]  # fmt: skip


def marginals(net: pn.Network) -> Callable[[], object]:
    """Planning and calibration of a network."""
    return lambda: pn.Inference(net).marginals()


def draw(curves: Sequence[Curve]) -> None:
    """Write the figure: one panel a size, both axes logarithmic."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    from possnet.plots import COLOURS

    colours = [COLOURS[name][0] for name in ("blue", "orange", "green", "purple", "soft")]
    titles = {
        "rows": "rows", "states": "states a variable, 262,144 rows", "parents": "parents, 262,144 rows",
        "imprecision": "imprecision θ, 262,144 rows", "variables": "variables", "cells": "cells of the plan",
        "questions": "rows, half of their cells known", "files": "rows of a file", "best": "configurations asked for",
    }  # fmt: skip
    figure = Figure(figsize=(13, 12.6), layout="constrained", facecolor="white")
    for (panel, title), axis in zip(titles.items(), figure.subplots(3, 3).ravel(), strict=True):
        shown = [each for each in curves if each.panel == panel]
        for each, colour in zip(shown, colours, strict=False):
            axis.plot(each.sizes, each.seconds, marker="o", markersize=4, color=colour, label=each.label)
        if panel not in {"parents", "imprecision"}:
            sizes = np.geomspace(min(shown[0].sizes), max(shown[0].sizes), 50)
            linear = sizes * shown[0].seconds[-1] / shown[0].sizes[-1]
            axis.plot(sizes, linear, linestyle=":", color=COLOURS["ignorance"][0], label="linear", zorder=0)
            axis.set_xscale("log")
            lowest, highest = (of(of(each.seconds) for each in shown) for of in (min, max))
            axis.set_ylim(lowest / 2, 2 * highest)
        axis.set(yscale="log", xlabel=title, ylabel="seconds")
        axis.legend(fontsize=9, frameon=False, loc="lower left", bbox_to_anchor=(-0.02, 1.0), borderaxespad=0.2)
        axis.grid(alpha=0.25)
        axis.spines[["top", "right"]].set_visible(False)
    with mpl.rc_context({"svg.hashsalt": "possnet", "svg.fonttype": "none"}):
        figure.savefig(FIGURE, metadata={"Date": None})


def measure() -> Section:
    """The whole section."""
    alarm = load("alarm")
    curves = [*rows_curves(alarm, pn.load_example("clinic")), *shape_curves(), *network_curves()]
    curves += [*question_curves(), *file_curves(alarm)]
    draw(curves)
    targets = [
        Target(f"growth of {each.label} with {each.panel}", f"exponent {each.exponent:.2f}", "linear", each.exponent, each.promised, "", at_most=True)
        for each in curves
        if each.promised is not None
    ]  # fmt: skip
    rows = [
        [each.panel, each.label, f"{each.sizes[0]:g}-{each.sizes[-1]:g}", f"{each.seconds[0]:.4f}-{each.seconds[-1]:.4f}", f"{each.exponent:.2f}"]
        for each in curves
    ]  # fmt: skip
    text = (
        "![How the work grows](figures/growth.svg)\n\nThe exponent is the slope between logarithms over the upper half of each "
        "curve: 1 is linear, 0 constant.\n\n" + table(" grows with | job | from - to | seconds | exponent ", rows)
    )
    return Section(text, targets)

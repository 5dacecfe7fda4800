"""Figures of docs/recovering.md."""

from __future__ import annotations

from typing import TYPE_CHECKING

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

import possnet as pn
from possnet.sampling import family_laws

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.axes import Axes

INK, EM, COUNTING, IGNORANCE, CUTS = "#222222", "#0b6e99", "#c44e28", "#8a8a8a", "#4b7f3a"
mpl.rcParams.update(
    {
        "font.size": 10,
        "svg.hashsalt": "possnet",
        "svg.fonttype": "none",
        "font.family": "sans-serif",
        "axes.edgecolor": INK,
    }
)


def _save(figure: Figure, file: Path) -> None:
    figure.savefig(file, metadata={"Date": None, "Creator": None}, bbox_inches="tight", facecolor="white")


def draw_curves(results: dict[str, dict[str, list[float]]], rows: list[int], file: Path) -> None:
    """Error against rows, one panel a network."""
    figure = Figure(figsize=(9.6, 5.0), layout="constrained")
    panels = figure.subplots(2, 4, sharex=True, sharey=True)
    for panel, (shape, errors) in zip(panels.flat, results.items(), strict=True):
        panel.loglog(rows, errors["vacuous"], color=IGNORANCE, lw=1.5, ls=":", label="ignorance (all degrees 1)")
        panel.loglog(rows, errors["counting"], color=COUNTING, lw=1.8, ls="--", marker="s", ms=4, label="counting")
        panel.loglog(rows, errors["em"], color=EM, lw=2.2, marker="o", ms=5, label="EM over the hidden trace")
        guide = errors["em"][0] * 1.7 * np.sqrt(rows[0] / np.array(rows))
        panel.loglog(rows, guide, color=INK, lw=0.8, alpha=0.6, label="1/√rows")
        panel.set_title(shape, fontsize=10, loc="left")
        panel.spines[["top", "right"]].set_visible(False)
        panel.grid(visible=True, which="major", color="#e4e4e4", lw=0.6)
        panel.minorticks_off()
        panel.set_xlim(rows[0] * 0.7, rows[-1] * 1.5)
        panel.set_xticks(rows, ["1,000", "10,000", "100,000", "1 M"], fontsize=8)
        panel.set_yticks([0.001, 0.01, 0.1], ["0.001", "0.01", "0.1"], fontsize=8)
    for panel in panels[-1]:
        panel.set_xlabel("rows", fontsize=9)
    for panel in panels[:, 0]:
        panel.set_ylabel("mean error of a degree", fontsize=9)
    handles, labels = panels.flat[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=4, frameon=False, fontsize=9)
    _save(figure, file)


def draw_bars(file: Path) -> None:
    """A two-node network: the truth, what counting converges to, and what EM finds in 100,000 rows."""
    x, y = pn.Variable("x", ("x1", "x2")), pn.Variable("y", ("y1", "y2"))
    net = pn.Network((x, y), pn.Dag({"x": (), "y": ("x",)}), {"x": [1, 0.5], "y": [[1, 0.2], [0.1, 1]]})
    by_em = pn.fit_em(net.dag, pn.sample(net, 100_000, process="traced", rng=1)).network
    shown = [
        ("truth", net, INK),
        ("counting, endless rows", pn.sampling_limit(net, process="traced"), COUNTING),
        ("EM, 100,000 rows", by_em, EM),
    ]
    figure = Figure(figsize=(9.0, 2.4), layout="constrained")
    panels = figure.subplots(1, 3, sharey=True)
    labels = ["y1 | x1", "y2 | x1", "y1 | x2", "y2 | x2"]
    for panel, (title, network, colour) in zip(panels, shown, strict=True):
        degrees = network.table("y").reshape(-1)
        bars = panel.barh(range(4), degrees, color=colour, height=0.62)
        panel.bar_label(bars, [f"{d:.2f}" for d in degrees], padding=3, fontsize=9)
        panel.set_yticks(range(4), labels)
        panel.set_ylim(3.6, -0.6)
        panel.set_xlim(0, 1.22)
        panel.set_xticks([0, 0.5, 1])
        panel.set_title(title, fontsize=10, loc="left")
        panel.spines[["top", "right"]].set_visible(False)
    panels[1].set_xlabel("degree of possibility", fontsize=9)
    _save(figure, file)


def draw_told(file: Path) -> None:
    """Two networks, and the degrees that their alpha-cut rows tell: the same ones."""
    x, y = pn.Variable("x", ("x1", "x2")), pn.Variable("y", ("y1", "y2"))
    net = pn.Network((x, y), pn.Dag({"x": (), "y": ("x",)}), {"x": [1, 0.5], "y": [[1, 0.2], [0.1, 1]]})
    twin = net.with_table("y", [[1, 0.2], [0.9, 1]])
    (law, same) = (family_laws(network)["y"].degrees for network in (net, twin))
    if not np.allclose(law, same):
        raise ValueError("the two networks have different laws")
    labels = ["y1 | x1", "y2 | x1", "y1 | x2", "y2 | x2"]
    cells = ["y1, cell {x1}", "y2, cell {x1}", "y1, cell {x1, x2}", "y2, cell {x1, x2}"]
    shown = [
        ("a network", net.table("y"), labels, INK),
        ("another one", twin.table("y"), labels, INK),
        ("what the rows of both tell: $g_A$", law, cells, CUTS),
    ]
    figure = Figure(figsize=(9.6, 2.4), layout="constrained")
    panels = figure.subplots(1, 3)
    for panel, (title, table, names, colour) in zip(panels, shown, strict=True):
        degrees = table.reshape(-1)
        bars = panel.barh(range(4), degrees, color=[colour] * 4, height=0.62)
        if colour == INK:
            bars[2].set_color(COUNTING)  # the only degree that differs
        panel.bar_label(bars, [f"{d:.2g}" for d in degrees], padding=3, fontsize=9)
        _style_bars(panel, title, names)
    panels[1].set_xlabel("degree of possibility", fontsize=9)
    _save(figure, file)


def draw_bounds(file: Path) -> None:
    """Bounds of two networks: degrees that are told, and degrees that can be anything below their upper end."""
    x, y = pn.Variable("x", ("x1", "x2")), pn.Variable("y", ("y1", "y2"))
    dag = pn.Dag({"x": (), "y": ("x",)})
    examples = {
        "one shared favourite: all is told": [[1, 0.2], [1, 0.8]],
        "two favourites: x2 is hidden from y1": [[1, 0.2], [0.1, 1]],
    }
    figure = Figure(figsize=(9.0, 2.6), layout="constrained")
    panels = figure.subplots(1, 2, sharey=True)
    for panel, (title, table) in zip(panels, examples.items(), strict=True):
        net = pn.Network((x, y), dag, {"x": [1, 0.5], "y": table})
        told = pn.identify_degrees(net)
        lower, upper = told.lower["y"].reshape(-1), told.upper["y"].reshape(-1)
        panel.barh(range(4), upper - lower, left=lower, color=CUTS, alpha=0.35, height=0.5, label="bounds")
        panel.scatter(
            upper[upper == lower],
            np.flatnonzero(upper == lower),
            s=90,
            marker="|",
            lw=4,
            color=CUTS,
            label="told exactly",
        )
        panel.scatter(net.table("y").reshape(-1), range(4), color=INK, s=22, zorder=3, label="truth")
        counted = pn.sampling_limit(net).table("y").reshape(-1)
        panel.scatter(counted, range(4), color=COUNTING, marker="x", s=34, zorder=3, label="counting, endless rows")
        _style_bars(panel, title, ["y1 | x1", "y2 | x1", "y1 | x2", "y2 | x2"])
        panel.set_xlabel("degree of possibility", fontsize=9)
        panel.set_xlim(-0.04, 1.06)
    handles, names = panels[1].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=4, frameon=False, fontsize=9)
    _save(figure, file)


def _style_bars(panel: Axes, title: str, names: list[str]) -> None:
    panel.set_yticks(range(4), names)
    panel.set_ylim(3.6, -0.6)
    panel.set_xlim(0, 1.22)
    panel.set_xticks([0, 0.5, 1])
    panel.set_title(title, fontsize=10, loc="left")
    panel.spines[["top", "right"]].set_visible(False)

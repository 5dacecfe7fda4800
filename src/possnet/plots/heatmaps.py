"""Where the errors are: heat maps by variable and by context."""

from __future__ import annotations

from itertools import product
from textwrap import wrap
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from possnet.drawing import clip_text
from possnet.errors import require_known
from possnet.plots.figure_style import NothingToShow, learner_words, new_figure

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.collections import QuadMesh
    from matplotlib.figure import Figure

    from possnet.aliases import Floats
    from possnet.experiment import Results
    from possnet.network import Network

_MOST = 40


class _HeatmapColumn(NamedTuple):
    process: str
    imprecision: float
    learner: str


def variable_heatmap(results: Results, network: str, *, rows: int | None = None) -> Figure:
    """Mean error of every variable's degrees, for every learner and setting, at the most rows (or as many as given).

    >>> import possnet as pn
    >>> found = pn.evaluate(["asia"], rows=100, imprecision=1, process="traced", repeats=1, rng=1)
    >>> [axes.get_title("left") for axes in variable_heatmap(found, "asia").axes[:2]]
    ['counting', 'EM']
    """
    most, columns = _select_columns(results, network, rows)
    errors = [{name: float(np.nanmean(e)) for name, e in found.items()} for found in columns.values()]
    names = list(errors[0])
    told = ""
    if len(names) > _MOST:
        told = f", the {_MOST} worst of {len(names)} variables"
        worst = sorted(names, key=lambda n: -max(found.get(n, 0.0) for found in errors))[:_MOST]
        names = [name for name in names if name in set(worst)]
    values = np.array([[found.get(name, np.nan) for found in errors] for name in names])
    return _draw_heatmap(values, names, list(columns), f"mean error of a degree, {most:,} rows{told}")


def context_heatmap(
    results: Results, network: Network, *, name: str = "", variable: str | None = None, rows: int | None = None
) -> Figure:
    """Mean error in every context of a variable; by default of the variable with the largest mean error.

    Parameters
    ----------
    name
        What the network is called in the results; by default its own name.

    >>> import possnet as pn
    >>> asia = pn.load_example("asia")
    >>> found = pn.evaluate({"asia": asia}, rows=100, imprecision=1, process="traced", repeats=1, rng=1)
    >>> figure = context_heatmap(found, asia, variable="dysp")
    >>> [text.get_text() for text in figure.axes[0].get_yticklabels()][0]
    'bronc = yes, either = yes'
    """
    name = name or network.name
    most, columns = _select_columns(results, name, rows)
    chosen = network.variable(variable).name if variable else worst_variable(results, name, rows=rows)
    errors = [found.get(chosen, []) for found in columns.values()]
    size = max(map(len, errors), default=0)
    parents = network.dag.parents(chosen)
    contexts = list(product(*(network.variable(p).states for p in parents)))
    if size != len(contexts):
        raise NothingToShow(
            f"context_heatmap: errors of {chosen!r} by context were not kept, as {name!r} has very many contexts; "
            "expected a smaller network"
        )
    labels = [", ".join(f"{p} = {s}" for p, s in zip(parents, states, strict=True)) or chosen for states in contexts]
    values = np.array([found or [np.nan] * size for found in errors]).T
    order: Sequence[int] = range(size)
    told = "each context"
    if size > _MOST:
        told = f"the {_MOST} worst of {size:,} contexts"
        worst = np.nan_to_num(values, nan=-1.0).max(axis=1)
        order = sorted(np.argsort(-worst, kind="stable")[:_MOST].tolist())
    what = f"mean error of {clip_text(chosen, 30)} in {told}, {most:,} rows"
    return _draw_heatmap(values[list(order)], [labels[k] for k in order], list(columns), what)


def worst_variable(results: Results, network: str, *, rows: int | None = None) -> str:
    """The variable with parents whose mean error, over all learners and settings, is the largest.

    >>> import possnet as pn
    >>> found = pn.evaluate(["asia"], rows=100, imprecision=1, process="traced", repeats=1, rng=1)
    >>> worst_variable(found, "asia") in pn.load_example("asia").dag.nodes
    True
    """
    _, columns = _select_columns(results, network, rows)
    sums: dict[str, float] = {}
    several: set[str] = set()
    for found in columns.values():
        for name, errors in found.items():
            sums[name] = sums.get(name, 0.0) + float(np.nanmean(errors))
            if len(errors) > 1:
                several.add(name)
    return max(sums, key=lambda name: (name in several, sums[name]))


def _select_columns(
    results: Results, network: str, rows: int | None
) -> tuple[int, dict[_HeatmapColumn, dict[str, list[float]]]]:
    """How many rows are looked at, and the errors by variable and context of every column."""
    names = dict.fromkeys(cell.network for cell in results.trials)
    require_known(network, names, "plots: network")
    most = rows or max(cell.rows for cell in results.trials if cell.network == network)
    found = dict.fromkeys(
        _HeatmapColumn(c.process, c.imprecision, c.learner)
        for c, o in zip(results.trials, results.outcomes, strict=True)
        if c.network == network and c.rows == most and o.error is None
    )
    if not found:
        raise NothingToShow(f"plots: no run of {network!r} with {most:,} rows; expected one that did not fail")
    return most, {c: results.contexts(network, c.process, c.imprecision, most, c.learner) for c in found}


def _draw_heatmap(values: Floats, labels: Sequence[str], columns: Sequence[_HeatmapColumn], what: str) -> Figure:
    """A panel for each learner with a common scale, in rows that fit a page; every cell has its number too."""
    learners = list(dict.fromkeys(column.learner for column in columns))
    settings = list(dict.fromkeys((c.process, c.imprecision) for c in columns))
    words = [process if process == "precise" else f"{process}, theta {theta:g}" for process, theta in settings]
    shown = [clip_text(label, 44) for label in labels]
    across = max(1, min(len(learners), int(13 / len(settings))))
    rows = -(-len(learners) // across)
    wide = 0.5 + 0.072 * max(map(len, shown)) + max(len(settings) * 0.62, 1.6) * across + 1.0
    with new_figure(max(wide, 4.6), 0.3 + rows * (1.25 + 0.245 * len(shown))) as figure:
        grid = figure.subplots(rows, across, sharey=True, squeeze=False)
        drawn: list[QuadMesh] = []
        top = max(float(np.nanmax(values, initial=0.0)), 1e-6)
        for number, axes in enumerate(grid.flat):
            if number >= len(learners):
                axes.set_visible(False)
                continue
            part = np.full((len(shown), len(settings)), np.nan)
            for place, setting in enumerate(settings):
                column = _HeatmapColumn(*setting, learners[number])
                if column in columns:
                    part[:, place] = values[:, columns.index(column)]
            drawn.append(_panel(axes, part, top))
            axes.set_title("\n".join(wrap(learner_words(learners[number]), max(12, 9 * len(settings)))))
            axes.set_xticks(np.arange(len(settings)) + 0.5, words, rotation=40, ha="right", rotation_mode="anchor")
            axes.set_yticks(np.arange(len(shown)) + 0.5, shown)
            axes.tick_params(length=0, labelsize=8.5)
        bar = figure.colorbar(drawn[0], ax=grid, shrink=min(1.0, 5.0 / len(shown) + 0.25) / rows, pad=0.02, aspect=16)
        bar.outline.set_visible(False)
        bar.ax.tick_params(length=0, labelsize=8.5)
        figure.suptitle(what, x=0.01, ha="left", fontsize=9.5)
        return figure


def _panel(axes: Axes, part: Floats, top: float) -> QuadMesh:
    from matplotlib.colors import LinearSegmentedColormap

    shades = LinearSegmentedColormap.from_list("errors", ["#f4f8fa", "#a9cfe0", "#3d8fb4", "#0a5576", "#062c40"])
    drawn = axes.pcolormesh(np.ma.masked_invalid(part), cmap=shades, vmin=0.0, vmax=top, edgecolors="white", lw=1.2)
    for (row, column), value in np.ndenumerate(part):
        text = "–" if np.isnan(value) else f"{value:.2f}".removeprefix("0")
        light = not np.isnan(value) and value > 0.5 * top
        colour = "#fdfdfd" if light else "#10171e" if not np.isnan(value) else "#8a949e"
        axes.text(column + 0.5, row + 0.5, text, ha="center", va="center", fontsize=8, color=colour)
    axes.set_ylim(len(part), 0)
    axes.spines[:].set_visible(False)
    return drawn

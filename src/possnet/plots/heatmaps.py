"""Where the errors are: heat maps by variable and by context."""

from __future__ import annotations

from itertools import product
from textwrap import wrap
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from possnet.drawing import clip_text
from possnet.errors import require_known
from possnet.learners import label_learner
from possnet.plots.figure_style import NothingToShow, new_figure
from possnet.sampling import is_imprecise

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.collections import QuadMesh
    from matplotlib.figure import Figure

    from possnet.aliases import Floats
    from possnet.experiment import Results
    from possnet.network import Network

_MOST: Final = 40
_SHADES: Final = ("#f4f8fa", "#a9cfe0", "#3d8fb4", "#0a5576", "#062c40")


class _HeatmapColumn(NamedTuple):
    process: str
    imprecision: float
    learner: str


def variable_heatmap(results: Results, network: str, *, rows: int | None = None) -> Figure:
    """Draw the mean error of every variable's degrees, for every learner and setting, at the most rows (or those given).

    >>> import possnet as pn
    >>> results = pn.evaluate(["asia"], rows=100, imprecision=1, process="traced", repeats=1, rng=1)
    >>> [axes.get_title("left") for axes in variable_heatmap(results, "asia").axes[:2]]
    ['counting', 'EM']
    """
    rows, columns = _select_columns(results, network, rows)
    errors = [{name: np.nanmean(e) for name, e in column.items()} for column in columns.values()]
    names = list(errors[0])
    values = np.array([[column.get(name, np.nan) for column in errors] for name in names])
    worst, remark = _select_worst(values, "variables")
    title = f"mean error of a degree, {rows:,} rows" + (f", {remark}" if remark else "")
    return _draw_heatmap(values[worst], [names[k] for k in worst], list(columns), title)


def context_heatmap(
    results: Results, network: Network, *, name: str = "", variable: str | None = None, rows: int | None = None
) -> Figure:
    """Draw the mean error in every context of a variable; by default of the variable with the largest mean error.

    Parameters
    ----------
    name
        What the network is called in the results; by default its own name.

    >>> import possnet as pn
    >>> asia = pn.load_example("asia")
    >>> results = pn.evaluate({"asia": asia}, rows=100, imprecision=1, process="traced", repeats=1, rng=1)
    >>> figure = context_heatmap(results, asia, variable="dysp")
    >>> [text.get_text() for text in figure.axes[0].get_yticklabels()][0]
    'bronc = yes, either = yes'
    """
    name = name or network.name
    chosen = network.variable(variable).name if variable else worst_variable(results, name, rows=rows)
    rows, columns = _select_columns(results, name, rows)
    parents = network.dag.parents(chosen)
    contexts = list(product(*(network.variable(p).states for p in parents)))
    errors = [column.get(chosen, []) for column in columns.values()]
    if max(map(len, errors)) != len(contexts):
        raise NothingToShow(
            f"context_heatmap: errors of {chosen!r} by context were not kept, as {name!r} has very many contexts; "
            "expected a smaller network"
        )
    labels = [", ".join(f"{p} = {s}" for p, s in zip(parents, states, strict=True)) or chosen for states in contexts]
    values = np.array([column or [np.nan] * len(contexts) for column in errors]).T
    worst, remark = _select_worst(values, "contexts")
    title = f"mean error of {clip_text(chosen, 30)} in {remark or 'each context'}, {rows:,} rows"
    return _draw_heatmap(values[worst], [labels[k] for k in worst], list(columns), title)


def worst_variable(results: Results, network: str, *, rows: int | None = None) -> str:
    """The variable with parents whose mean error, over all learners and settings, is the largest.

    >>> import possnet as pn
    >>> results = pn.evaluate(["asia"], rows=100, imprecision=1, process="traced", repeats=1, rng=1)
    >>> worst_variable(results, "asia") in pn.load_example("asia").dag.nodes
    True
    """
    _, columns = _select_columns(results, network, rows)
    totals: dict[str, tuple[bool, float]] = {}
    for column in columns.values():
        for name, errors in column.items():
            has_parents, total = totals.get(name, (False, 0.0))
            totals[name] = has_parents or len(errors) > 1, total + float(np.nanmean(errors))
    return max(totals, key=totals.__getitem__)


def _select_columns(
    results: Results, network: str, rows: int | None
) -> tuple[int, dict[_HeatmapColumn, dict[str, list[float]]]]:
    """How many rows are looked at, and the errors by variable and context of every column."""
    trials = [trial for trial in results.trials if trial.network == network]
    require_known(network, dict.fromkeys(trial.network for trial in results.trials), "plots: network")
    rows = rows or max(trial.rows for trial in trials)
    failed = {trial for trial, _ in results.failed}
    columns = dict.fromkeys(
        _HeatmapColumn(trial.process, trial.imprecision, trial.learner)
        for trial in trials
        if trial.rows == rows and trial not in failed
    )
    if not columns:
        raise NothingToShow(f"plots: no run of {network!r} with {rows:,} rows; expected one that did not fail")
    return rows, {c: results.contexts(network, c.process, c.imprecision, rows, c.learner) for c in columns}


def _select_worst(values: Floats, noun: str) -> tuple[list[int], str]:
    """The lines of a heat map that are shown, in their order, and a remark if these are not all."""
    if len(values) <= _MOST:
        return list(range(len(values))), ""
    largest = np.nan_to_num(values, nan=-1.0).max(axis=1)
    worst = sorted(np.argsort(-largest, kind="stable")[:_MOST].tolist())
    return worst, f"the {_MOST} worst of {len(values):,} {noun}"


def _draw_heatmap(values: Floats, labels: Sequence[str], columns: Sequence[_HeatmapColumn], title: str) -> Figure:
    """A panel for each learner with a common scale, in rows that fit a page; every entry has its number too."""
    learners = list(dict.fromkeys(column.learner for column in columns))
    settings = list(dict.fromkeys(column[:2] for column in columns))
    words = [f"{process}, imprecision {theta:g}" if is_imprecise(process) else process for process, theta in settings]
    shown = [clip_text(label, 44) for label in labels]
    across = max(1, min(len(learners), int(13 / len(settings))))
    rows = -(-len(learners) // across)
    wide = 0.5 + 0.072 * max(map(len, shown)) + max(len(settings) * 0.62, 1.6) * across + 1.0
    with new_figure(max(wide, 4.6), 0.3 + rows * (1.25 + 0.245 * len(shown))) as figure:
        grid = figure.subplots(rows, across, sharey=True, squeeze=False)
        top = max(float(np.nanmax(values, initial=0.0)), 1e-6)
        for axes in grid.flat[len(learners) :]:
            axes.set_visible(False)
        for learner, axes in zip(learners, grid.flat, strict=False):
            panel = np.full((len(shown), len(settings)), np.nan)
            for place, (process, theta) in enumerate(settings):
                column = _HeatmapColumn(process, theta, learner)
                if column in columns:
                    panel[:, place] = values[:, columns.index(column)]
            mesh = _draw_mesh(axes, panel, top)
            axes.set_title("\n".join(wrap(label_learner(learner), max(12, 9 * len(settings)))))
            axes.set_xticks(np.arange(len(settings)) + 0.5, words, rotation=40, ha="right", rotation_mode="anchor")
            axes.set_yticks(np.arange(len(shown)) + 0.5, shown)
            axes.tick_params(length=0, labelsize=8.5)
        bar = figure.colorbar(mesh, ax=grid, shrink=min(1.0, 5.0 / len(shown) + 0.25) / rows, pad=0.02, aspect=16)
        bar.outline.set_visible(False)
        bar.ax.tick_params(length=0, labelsize=8.5)
        figure.suptitle(title, x=0.01, ha="left", fontsize=9.5)
        return figure


def _draw_mesh(axes: Axes, panel: Floats, top: float) -> QuadMesh:
    from matplotlib.colors import LinearSegmentedColormap

    shades = LinearSegmentedColormap.from_list("errors", _SHADES)
    mesh = axes.pcolormesh(np.ma.masked_invalid(panel), cmap=shades, vmin=0.0, vmax=top, edgecolors="white", lw=1.2)
    for (row, column), value in np.ndenumerate(panel):
        text, colour = f"{value:.2f}".removeprefix("0"), "#fdfdfd" if value > 0.5 * top else "#10171e"
        if np.isnan(value):
            text, colour = "–", "#8a949e"
        axes.text(column + 0.5, row + 0.5, text, ha="center", va="center", fontsize=8, color=colour)
    axes.set_ylim(len(panel), 0)
    axes.spines[:].set_visible(False)
    return mesh

"""Where the errors are: heat maps by variable and by context."""

from __future__ import annotations

from itertools import product
from textwrap import wrap
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from possnet.doors import check_arguments
from possnet.drawing import clip_text, measure_text
from possnet.errors import require_known
from possnet.learners import label_learner
from possnet.plots.context_labels import label_contexts
from possnet.plots.figure_style import COLOURS, HEAT, WIDTHS, Columns, NothingToShow, new_figure, place_absent_labels
from possnet.sampling import is_imprecise, label_process

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.collections import QuadMesh
    from matplotlib.figure import Figure

    from possnet.aliases import Floats
    from possnet.experiment import Results
    from possnet.network import Network

_MOST: Final = 40
_ENTRY: Final = 0.34  # inches of a column of numbers of two digits
_LEAST_ENTRY: Final = 0.25  # as narrow as that, to have all learners beside each other


class _HeatmapColumn(NamedTuple):
    process: str
    imprecision: float
    learner: str


@check_arguments
def variable_heatmap(results: Results, network: str, *, rows: int | None = None, columns: Columns = 2) -> Figure:
    """Draw the mean error of every variable's degrees, for every learner and setting, at the most rows (or those given).

    >>> import possnet as pn
    >>> results = pn.evaluate(["asia"], rows=100, imprecision=1, process="traced", repeats=1, rng=1)
    >>> [axes.get_title("left") for axes in variable_heatmap(results, "asia").axes[:2]]
    ['counting', 'EM']
    """
    rows, settings = _select_columns(results, network, rows)
    errors = [{name: np.nanmean(e) for name, e in column.items()} for column in settings.values()]
    names = list(errors[0])
    values = np.array([[column.get(name, np.nan) for column in errors] for name in names])
    worst, remark = _select_worst(values, "variables")
    title = f"{network}: mean error of a degree, {rows:,} rows" + (f", {remark}" if remark else "")
    return _draw_heatmap(values[worst], [names[k] for k in worst], list(settings), title, columns)


@check_arguments
def context_heatmap(
    results: Results,
    network: Network,
    *,
    name: str = "",
    variable: str | None = None,
    rows: int | None = None,
    columns: Columns = 2,
) -> Figure:
    """Draw the mean error in every context of a variable; by default of the variable with the largest mean error.

    Parameters
    ----------
    name
        What the network is called in the results; by default its own name.

    Examples
    --------
    >>> import possnet as pn
    >>> asia = pn.load_example("asia")
    >>> results = pn.evaluate({"asia": asia}, rows=100, imprecision=1, process="traced", repeats=1, rng=1)
    >>> figure = context_heatmap(results, asia, variable="dysp")
    >>> [text.get_text() for text in figure.axes[0].get_yticklabels()][0]
    'bronc = yes, either = yes'
    """
    name = name or network.name
    chosen = network.variable(variable).name if variable else worst_variable(results, name, rows=rows)
    rows, settings = _select_columns(results, name, rows)
    parents = network.dag.parents(chosen)
    contexts = list(product(*(network.variable(p).states for p in parents)))
    errors = [column.get(chosen, []) for column in settings.values()]
    if max(map(len, errors)) != len(contexts):
        raise NothingToShow(
            f"context_heatmap: errors of {chosen!r} by context were not kept, as {name!r} has very many contexts; "
            "expected a smaller network"
        )
    labels = label_contexts(parents, contexts, 44 if columns == 2 else 24) if parents else [chosen]
    values = np.array([column or [np.nan] * len(contexts) for column in errors]).T
    worst, remark = _select_worst(values, "contexts")
    title = f"{name}: mean error of {clip_text(chosen, 30)} in {remark or 'each context'}, {rows:,} rows"
    return _draw_heatmap(values[worst], [labels[k] for k in worst], list(settings), title, columns)


@check_arguments
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


def _draw_heatmap(
    values: Floats, labels: Sequence[str], settings: Sequence[_HeatmapColumn], title: str, columns: Columns
) -> Figure:
    """A panel for each learner with a common scale, below each other where they do not fit; every entry has its number."""
    learners = list(dict.fromkeys(setting.learner for setting in settings))
    own = {name: [setting for setting in settings if setting.learner == name] for name in learners}
    shown = [clip_text(label, 44 if columns == 2 else 24) for label in labels]
    left = 0.12 + max(measure_text(label, 8.0) for label in shown) / 72 * 1.08
    room = WIDTHS[columns] - left - 0.1
    entry = min(_ENTRY, room / max(map(len, own.values())))
    beside = (room - 0.16 * (len(own) - 1)) / sum(max(len(names), 2) for names in own.values())
    entry = min(entry, beside) if beside >= _LEAST_ENTRY else entry
    bands = _pack_panels(learners, own, entry, room)
    several = any(len({setting.process for setting in names}) > 1 for names in own.values())
    lines = wrap(title, 100 if columns == 2 else 46)
    heads, height = 0.14 * len(lines) + 0.12, 0.165 * len(shown)
    total = heads + sum(_BAND + 0.14 * _label_lines(own, band, entry) + height for band in bands) + 0.05
    top = max(float(np.nanmax(values, initial=0.0)), 1e-6)
    with new_figure(WIDTHS[columns], total, placed=True) as figure:
        figure.text(0.06 / WIDTHS[columns], 1 - 0.06 / total, "\n".join(lines), va="top", ha="left", weight="bold")
        bottom = total - heads
        for band in bands:
            bottom -= _BAND + 0.14 * _label_lines(own, band, entry) + height
            x = left
            for name in band:
                width = entry * len(own[name])
                axes = figure.add_axes((x / WIDTHS[columns], bottom / total, width / WIDTHS[columns], height / total))
                _draw_mesh(axes, values[:, [settings.index(setting) for setting in own[name]]], top)
                _label_mesh(
                    axes, own[name], shown if name == band[0] else [], _title_lines(own, name, entry), short=several
                )
                x += max(width, 0.5) + 0.16
        return figure


_BAND: Final = 0.4  # inches above a panel: kinds of rows and imprecisions


def _title_lines(own: dict[str, list[_HeatmapColumn]], learner: str, entry: float) -> list[str]:
    return wrap(label_learner(learner), max(8, int(entry * len(own[learner]) * 16)))


def _label_lines(own: dict[str, list[_HeatmapColumn]], band: Sequence[str], entry: float) -> int:
    return max(len(_title_lines(own, name, entry)) for name in band)


def _pack_panels(
    learners: Sequence[str], own: dict[str, list[_HeatmapColumn]], entry: float, room: float
) -> list[list[str]]:
    """Learners beside each other as far as there is room, then below."""
    bands: list[list[str]] = []
    used = room
    for name in learners:
        width = max(entry * len(own[name]), 0.5) + 0.16
        if used + width > room + 0.16:
            bands.append([])
            used = 0.0
        bands[-1].append(name)
        used += width
    return bands


def _label_mesh(
    axes: Axes, settings: Sequence[_HeatmapColumn], labels: Sequence[str], title: Sequence[str], *, short: bool
) -> None:
    """Learner, kinds of rows and imprecisions above a panel, and what its lines are beside it."""
    axes.tick_params(length=0, labelsize=8, pad=2)  # before there are many ticks, each of which would be changed
    kinds = list(dict.fromkeys(setting.process for setting in settings))
    axes.set_title("\n".join(title), pad=_BAND * 72 - 5, weight="bold")
    thetas = [f"{s.imprecision:g}".removeprefix("0") or "0" if is_imprecise(s.process) else "" for s in settings]
    axes.set_xticks(np.arange(len(settings)) + 0.5, thetas)
    axes.xaxis.tick_top()
    for kind in kinds:
        first = next(k for k, setting in enumerate(settings) if setting.process == kind)
        text = label_process(kind).removesuffix(" rows") if short else label_process(kind)
        axes.annotate(
            text, (first, 1), (0, 15), xycoords=("data", "axes fraction"), textcoords="offset points", fontsize=8
        )
    axes.set_yticks(np.arange(len(labels)) + 0.5 if labels else [], labels)
    place_absent_labels(axes)


def _draw_mesh(axes: Axes, panel: Floats, top: float) -> QuadMesh:
    """A shade and a number for every entry; the shades are colours that follow the page, from its paper away."""
    from matplotlib.colors import ListedColormap

    shades = ListedColormap([COLOURS[name][0] for name in HEAT])
    paper, ink = COLOURS["paper"][0], COLOURS["ink"][0]
    mesh = axes.pcolormesh(np.ma.masked_invalid(panel), cmap=shades, vmin=0.0, vmax=top, edgecolors=paper, lw=1.0)
    for (row, column), value in np.ndenumerate(panel):
        text = "–" if np.isnan(value) else f"{value:.2f}".removeprefix("0").replace("1.00", "1")
        strong = not np.isnan(value) and int(value / top * len(HEAT)) >= _STRONG
        axes.text(column + 0.5, row + 0.5, text, ha="center", va="center", color=paper if strong else ink)
    axes.set_ylim(len(panel), 0)
    axes.spines[:].set_visible(False)
    return mesh


_STRONG: Final = 5  # from this shade on, numbers have the colour of the paper

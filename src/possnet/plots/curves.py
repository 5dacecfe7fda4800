"""Learning curves of an experiment, and their error split into bias and noise."""

from __future__ import annotations

from textwrap import wrap
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, TypeAlias

import numpy as np

from possnet.errors import require_known
from possnet.learners import LEARNERS, label_learner, limit_of_counting
from possnet.metrics import METRICS
from possnet.plots.figure_style import (
    COLOURS,
    NothingToShow,
    add_legend,
    learner_style,
    new_figure,
    tidy_axes,
)
from possnet.sampling import is_imprecise, label_process

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from possnet.experiment import Results, Summary

Against: TypeAlias = Literal["rows", "imprecision"]
_COLUMNS: Final = 3


class _CurveScale(NamedTuple):
    """The axes that all panels share: the places that occur, the heights to keep in view, and logarithms for errors."""

    against: Against
    places: list[float]
    heights: list[float]
    errors: bool

    @property
    def is_single(self) -> bool:
        """Whether there is only one place, so that there are no lines to draw."""
        return len(self.places) == 1

    def place_of(self, summary: Summary) -> float:
        """Where a summary stands on the horizontal axis."""
        return 0.0 if self.is_single else float(getattr(summary, self.against))

    def apply_to(self, axes: Axes) -> None:
        """Set scales and ticks of a panel."""
        rows = self.against == "rows"
        texts = [_format_count(x) if rows else f"{x:g}" for x in self.places]
        if self.is_single:
            axes.set_xticks([0.0], texts)
            axes.set_xlim(-3.0, 3.0)
        else:
            if rows:
                axes.set_xscale("log")
            axes.set_xticks(self.places, texts)
            axes.xaxis.minorticks_off()
        low, high = min(self.heights), max(self.heights)
        if self.errors and high > 0.0:
            from matplotlib.ticker import LogLocator

            low = min(y for y in self.heights if y > 0.0)
            axes.set_yscale("log")
            axes.set_ylim(low / 1.35, high * 1.35)
            axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if high / low < 300 else (1.0,)))
            axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
            axes.yaxis.minorticks_off()
        else:
            pad = 0.06 * (high - low) or 0.05
            axes.set_ylim(low - pad, high + pad)


def learning_curves(
    results: Results, metric: str = "child_affinity", *, against: Against = "rows", network: str | None = None
) -> Figure:
    """Draw a metric against the number of rows, or against imprecision at the most rows, with 95 % intervals.

    Total ignorance is dotted; the limits of counting and of the cut likelihood, where they are known, are thin lines: what
    endless rows would give.

    >>> import possnet as pn
    >>> results = pn.evaluate(["asia"], rows=[50, 200], imprecision=1, process="traced", repeats=1, rng=1)
    >>> [axes.get_xlabel() for axes in learning_curves(results).axes]
    ['rows']
    """
    summaries = _select_summaries(results, metric, against, network)
    heights = _heights_of(summaries)
    if METRICS[metric].higher_is_better and min(heights) >= 0.0 and max(heights) <= 1.0:
        heights.append(1.0)
    errors = METRICS[metric].has_baselines and METRICS[metric].subject != "structure"
    errors = errors and not METRICS[metric].higher_is_better
    scale = _CurveScale(against, _places_of(summaries, against), heights, errors)

    def draw_panel(axes: Axes, panel: list[Summary]) -> None:
        known = {scale.place_of(s): s.vacuous for s in panel}
        _draw_level(axes, known, color=COLOURS["ignorance"][0], ls=":", lw=1.6, label="ignorance")
        _draw_limits(axes, panel, scale)
        for learner in _learners_of(results):
            _draw_learner(axes, panel, scale, learner, _learners_of(results), label_learner(learner))
        scale.apply_to(axes)

    most = max(trial.rows for trial in results.trials)
    label = "rows" if against == "rows" else f"imprecision, at {most:,} rows"
    return _draw_panels(_arrange_panels(summaries, against), draw_panel, xlabel=label, ylabel=METRICS[metric].label)


def error_split(results: Results, learner: str = "likelihood", *, network: str | None = None) -> Figure:
    """Split the error of a learner whose limit is known into bias (limit - truth) and noise (learned - limit).

    Bias stays whatever the number of rows; noise falls like 1/sqrt(rows). Where they cross, more rows stop helping.

    >>> import possnet as pn
    >>> results = pn.evaluate(["asia"], rows=[50, 200], imprecision=1, process="traced", repeats=1, rng=1)
    >>> sorted(error_split(results).axes[0].get_legend_handles_labels()[1])
    ['bias: limit − truth', 'error of EM', 'error of counting', 'ignorance', 'noise: learned − limit']
    """
    summaries = _select_summaries(results, "child_mean_error", "rows", network)
    settings = {s[:3] for s in summaries if s.learner == learner and s.limit is not None}
    if not settings:
        raise NothingToShow(f"error_split: no limit is known for {learner!r} in these results; expected one")
    noise = {s[:4]: s.mean for s in results.summary("child_noise") if s.learner == learner}
    shown = [s for s in summaries if s[:3] in settings]
    compared = [name for name in _learners_of(results) if name in {learner, "em", "cut"}]
    heights = _heights_of([s for s in shown if s.learner in compared])
    heights += [noise[s[:4]] for s in shown if s[:4] in noise]
    scale = _CurveScale("rows", _places_of(shown, "rows"), heights, errors=True)

    def draw_panel(axes: Axes, panel: list[Summary]) -> None:
        own = [s for s in panel if s.learner == learner and s.limit is not None]
        known = {scale.place_of(s): s.vacuous for s in own}
        _draw_level(axes, known, color=COLOURS["ignorance"][0], ls=":", lw=1.4, label="ignorance")
        for name in compared:
            _draw_learner(axes, panel, scale, name, _learners_of(results), f"error of {label_learner(name)}")
        limits = {scale.place_of(s): s.limit for s in own if s.limit is not None}
        _draw_level(axes, limits, color=COLOURS["ink"][0], lw=1.5, label="bias: limit − truth")
        points = [(scale.place_of(s), noise[s[:4]]) for s in own if s[:4] in noise]
        look: dict[str, Any] = {"color": COLOURS["soft"][0], "lw": 1.5, "ls": "-.", "marker": "x", "ms": 4.5}
        axes.plot([x for x, _ in points], [y for _, y in points], label="noise: learned − limit", **look)
        scale.apply_to(axes)

    return _draw_panels(_arrange_panels(shown, "rows"), draw_panel, xlabel="rows", ylabel="mean error of a degree")


def _select_summaries(results: Results, metric: str, against: Against, network: str | None) -> list[Summary]:
    """Everything that there is to draw; against imprecision, at the most rows."""
    METRICS.require(metric, "plots")
    if network is not None:
        require_known(network, dict.fromkeys(trial.network for trial in results.trials), "plots: network")
    summaries = [s for s in results.summary(metric) if network in {None, s.network}]
    if against == "imprecision":
        most = max(trial.rows for trial in results.trials)
        summaries = [s for s in summaries if s.rows == most and is_imprecise(s.process)]
    if not summaries:
        raise NothingToShow(f"plots: no run has {metric} against {against}; expected results that have it")
    return summaries


def _learners_of(results: Results) -> list[str]:
    return list(dict.fromkeys(trial.learner for trial in results.trials))


def _heights_of(summaries: Sequence[Summary]) -> list[float]:
    return [y for s in summaries for y in (s.mean, s.vacuous, s.limit) if y is not None]


def _places_of(summaries: Sequence[Summary], against: Against) -> list[float]:
    return sorted({float(getattr(s, against)) for s in summaries})


def _arrange_panels(summaries: Sequence[Summary], against: Against) -> list[list[list[Summary]]]:
    """Rows of panels for every network and process, a panel for each imprecision (or, against that, each process)."""
    groups: dict[tuple[str, ...], dict[object, list[Summary]]] = {}
    for s in summaries:
        row, panel = ((s.network,), s.process) if against == "imprecision" else (s[:2], s.imprecision)
        groups.setdefault(row, {}).setdefault(panel, []).append(s)
    rows = []
    for group in groups.values():
        panels = list(group.values())
        across = -(-len(panels) // -(-len(panels) // _COLUMNS))  # rows of about the same length
        rows += [panels[k : k + across] for k in range(0, len(panels), across)]
    return rows


def _panel_title(first: Summary, *, named: bool, imprecision: bool) -> str:
    """What a panel shows, on two lines if need be."""
    parts = [first.network] if named else []
    parts.append(label_process(first.process))
    if imprecision and is_imprecise(first.process):
        parts.append(f"imprecision {first.imprecision:g}")
    return "\n".join(wrap(", ".join(parts), 40))


def _draw_panels(
    rows: Sequence[Sequence[list[Summary]]],
    draw_panel: Callable[[Axes, list[Summary]], None],
    *,
    xlabel: str,
    ylabel: str,
) -> Figure:
    """Panels in a grid with common scales, labels on the outer sides, and one legend above."""
    panels = {(row, column): panel for row, across in enumerate(rows) for column, panel in enumerate(across)}
    named = len({s.network for panel in panels.values() for s in panel}) > 1
    columns = max(map(len, rows))
    wide = min(3.1 * columns + 0.9, 11.0) if columns > 1 else 5.2
    with new_figure(wide, 2.15 * len(rows) + 0.75) as figure:
        grid = figure.subplots(len(rows), columns, sharex=True, sharey=True, squeeze=False)
        for (row, column), axes in np.ndenumerate(grid):
            if (row, column) not in panels:
                axes.set_visible(False)
                continue
            panel = panels[row, column]
            draw_panel(axes, panel)
            axes.set_title(_panel_title(panel[0], named=named, imprecision=xlabel == "rows"))
            tidy_axes(axes)
            if (row + 1, column) not in panels:
                axes.set_xlabel(xlabel)
                axes.tick_params(labelbottom=True)
            if column == 0:
                axes.set_ylabel(ylabel)
        add_legend(figure)
        return figure


def _draw_level(axes: Axes, points: dict[float, float], **style: Any) -> None:
    """Draw a line through some points; through a single one, right across."""
    if len(points) == 1:
        axes.axhline(*points.values(), **style)
    elif points:
        axes.plot(sorted(points), [points[x] for x in sorted(points)], **style)


def _draw_limits(axes: Axes, panel: Sequence[Summary], scale: _CurveScale) -> None:
    """Draw every limit that a learner of the panel has: that of counting in ink, others in their learner's colour."""
    levels: dict[str, tuple[str, dict[float, float]]] = {}
    for s in panel:
        learner = LEARNERS.get(s.learner)
        if learner is not None and s.limit is not None:
            colour = "ink" if learner.limit is limit_of_counting else learner_style(s.learner, [s.learner]).colour
            levels.setdefault(learner.limit_label, (colour, {}))[1][scale.place_of(s)] = s.limit
    for label, (colour, points) in levels.items():
        _draw_level(axes, points, color=COLOURS[colour][0], lw=1.1, label=f"{label} (endless rows)")


def _draw_learner(
    axes: Axes, panel: Sequence[Summary], scale: _CurveScale, learner: str, among: Sequence[str], label: str
) -> None:
    """Draw mean and interval of one learner."""
    own = sorted((s for s in panel if s.learner == learner), key=scale.place_of)
    if not own:
        return
    style = learner_style(learner, among)
    colour = COLOURS[style.colour][0]
    xs, means = [scale.place_of(s) for s in own], np.array([s.mean for s in own])
    half = np.array([s.interval or 0.0 for s in own])
    look: dict[str, Any] = {"color": colour, "ls": style.dashes, "marker": style.marker, "ms": 4.5, "lw": 1.9}
    if scale.is_single:  # learners beside each other, so that their bars can be told apart
        shift = 4.0 * (among.index(learner) - (len(among) - 1) / 2) / len(among)
        axes.errorbar([shift], means, yerr=half, capsize=3, label=label, **look)
        return
    axes.fill_between(xs, means - half, means + half, color=colour, alpha=min(0.16, 0.4 / len(among)), lw=0)
    axes.plot(xs, means, label=label, **look)


def _format_count(number: float) -> str:
    """A number of rows, short.

    >>> _format_count(100), _format_count(1000), _format_count(2_500_000)
    ('100', '1,000', '2.5 M')
    """
    return f"{number / 1e6:g} M" if number >= 1e6 else f"{number / 1e3:g} k" if number >= 1e5 else f"{number:,.0f}"

"""Learning curves of an experiment, and their error split into bias and noise."""

from __future__ import annotations

from textwrap import wrap
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

import numpy as np

from possnet.errors import require_known
from possnet.metrics import METRICS
from possnet.plots.figure_style import (
    COLOURS,
    NothingToShow,
    add_legend,
    learner_style,
    learner_words,
    new_figure,
    process_words,
    tidy_axes,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from possnet.experiment import Results, Summary

_COLUMNS: Final = 3


class _CurvePanel(NamedTuple):
    """One pair of axes: what it is called, and what is drawn there."""

    title: str
    found: list[Summary]


class _CurveScale(NamedTuple):
    """Where things are drawn in every panel: the places that occur, the heights to keep in view, and logarithms."""

    places: list[float]
    heights: list[float]
    rows: bool
    errors: bool

    @classmethod
    def of(cls, found: Sequence[Summary], against: str, heights: list[float], *, errors: bool) -> _CurveScale:
        places = {float(s.rows if against == "rows" else s.imprecision) for s in found}
        return cls(sorted(places), heights, against == "rows", errors)

    @property
    def single(self) -> bool:
        """Whether there is only one place, so that there are no lines to draw."""
        return len(self.places) == 1

    def x(self, summary: Summary) -> float:
        """Where a summary stands."""
        return 0.0 if self.single else float(summary.rows if self.rows else summary.imprecision)

    def apply(self, axes: Axes) -> None:
        """Scales and ticks of a panel."""
        texts = [_count(x) if self.rows else f"{x:g}" for x in self.places]
        if self.single:
            axes.set_xticks([0.0], texts)
            axes.set_xlim(-3.0, 3.0)
        else:
            if self.rows:
                axes.set_xscale("log")
            axes.set_xticks(self.places, texts)
            axes.xaxis.minorticks_off()
        low, high = min(self.heights), max(self.heights)
        if self.errors and high > 0.0:
            from matplotlib.ticker import LogLocator, NullFormatter

            low = min(y for y in self.heights if y > 0.0)
            axes.set_yscale("log")
            axes.set_ylim(low / 1.35, high * 1.35)
            axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if high / low < 300 else (1.0,)))
            axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
            axes.yaxis.set_minor_formatter(NullFormatter())
            axes.yaxis.minorticks_off()
        else:
            pad = 0.06 * (high - low) or 0.05
            axes.set_ylim(low - pad, high + pad)


def learning_curves(
    results: Results,
    metric: str = "child_affinity",
    *,
    against: Literal["rows", "imprecision"] = "rows",
    network: str | None = None,
) -> Figure:
    """A metric against the number of rows, or against imprecision at the most rows: mean and 95 % interval of each learner.

    Total ignorance is dotted; the limit of counting, where it is known, is a thin line: what endless rows would give.

    >>> import possnet as pn
    >>> found = pn.evaluate(["asia"], rows=[50, 200], imprecision=1, process="traced", repeats=1, rng=1)
    >>> figure = learning_curves(found)
    >>> [axes.get_xlabel() for axes in figure.axes]
    ['rows']
    """
    found = _select_summaries(results, metric, against, network)
    learners = list(dict.fromkeys(cell.learner for cell in results.trials))
    heights = [y for s in found for y in (s.mean, s.vacuous, s.limit) if y is not None]
    if "affinity" in metric and min(heights) >= 0.0 and max(heights) <= 1.0:
        heights.append(1.0)
    errors = any(word in metric for word in ("error", "distance", "noise"))
    scale = _CurveScale.of(found, against, heights, errors=errors)

    def draw(axes: Axes, found: list[Summary]) -> None:
        _baselines(axes, found, scale)
        for learner in learners:
            _line(axes, found, scale, learner, learners, learner_words(learner))
        scale.apply(axes)

    label = "rows" if against == "rows" else f"imprecision (theta), at {max(c.rows for c in results.trials):,} rows"
    return _grid(_panels(found, against), draw, xlabel=label, ylabel=_short(metric))


def error_split(results: Results, learner: str = "likelihood", *, network: str | None = None) -> Figure:
    """Error of a learner whose limit is known, split into bias (limit - truth) and noise (learned - limit).

    Bias stays whatever the number of rows; noise falls like 1/sqrt(rows). Where they cross, more rows stop helping.

    >>> import possnet as pn
    >>> found = pn.evaluate(["asia"], rows=[50, 200], imprecision=1, process="traced", repeats=1, rng=1)
    >>> sorted(error_split(found).axes[0].get_legend_handles_labels()[1])
    ['bias: limit − truth', 'error of EM', 'error of counting', 'ignorance', 'noise: learned − limit']
    """
    found = _select_summaries(results, "child_mean_error", "rows", network)
    settings = {s[:3] for s in found if s.learner == learner and s.limit is not None}
    if not settings:
        raise NothingToShow(f"error_split: no limit is known for {learner!r} in these results; expected one")
    noise = {s[:4]: s.mean for s in results.summary("child_noise") if s.learner == learner}
    shown = [s for s in found if s[:3] in settings]
    learners = list(dict.fromkeys(cell.learner for cell in results.trials))
    heights = [y for s in shown for y in (s.mean, s.vacuous, s.limit) if s.learner in {learner, "em"} and y is not None]
    heights += [noise[s[:4]] for s in shown if s[:4] in noise]
    scale = _CurveScale.of(shown, "rows", heights, errors=True)

    def draw(axes: Axes, found: list[Summary]) -> None:
        own = [s for s in found if s.learner == learner and s.limit is not None]
        xs = [scale.x(s) for s in own]
        _level(axes, xs, [s.vacuous for s in own], color=COLOURS["ignorance"][0], ls=":", lw=1.4, label="ignorance")
        for other in learners:
            if other in {learner, "em"}:
                _line(axes, found, scale, other, learners, f"error of {learner_words(other)}")
        limits = [s.limit for s in own if s.limit is not None]
        _level(axes, xs, limits, color=COLOURS["ink"][0], lw=1.5, label="bias: limit − truth")
        seen = [(scale.x(s), noise[s[:4]]) for s in own if s[:4] in noise]
        look: dict[str, Any] = {"color": COLOURS["soft"][0], "lw": 1.5, "ls": "-.", "marker": "x", "ms": 4.5}
        axes.plot([x for x, _ in seen], [y for _, y in seen], label="noise: learned − limit", **look)
        scale.apply(axes)

    return _grid(_panels(shown, "rows"), draw, xlabel="rows", ylabel="mean error of a degree")


def _select_summaries(results: Results, metric: str, against: str, network: str | None) -> list[Summary]:
    """Everything that there is to draw; against imprecision, at the most rows."""
    require_known(metric, METRICS, "plots: metric")
    if network is not None:
        require_known(network, dict.fromkeys(cell.network for cell in results.trials), "plots: network")
    found = [s for s in results.summary(metric) if network in {None, s.network}]
    if against == "imprecision":
        most = max(cell.rows for cell in results.trials)
        found = [s for s in found if s.rows == most and s.process != "precise"]
    if not found:
        raise NothingToShow(f"plots: no run has {metric} against {against}; expected results that have it")
    return found


def _panels(found: Sequence[Summary], against: str) -> list[list[_CurvePanel]]:
    """Rows of panels for every network and process, a panel for each imprecision (or, against that, each process)."""
    named = len({s.network for s in found}) > 1
    groups: dict[tuple[str, ...], dict[object, list[Summary]]] = {}
    for s in found:
        row, panel = ((s.network,), s.process) if against == "imprecision" else (s[:2], s.imprecision)
        groups.setdefault(row, {}).setdefault(panel, []).append(s)
    rows: list[list[_CurvePanel]] = []
    for parts in groups.values():
        panels = [_CurvePanel(_title(part[0], named=named, theta=against == "rows"), part) for part in parts.values()]
        rows += [panels[k : k + _COLUMNS] for k in range(0, len(panels), _COLUMNS)]
    return rows


def _title(some: Summary, *, named: bool, theta: bool) -> str:
    """What a panel shows, on two lines if need be."""
    parts = [some.network] if named else []
    parts.append(process_words(some.process))
    if theta and some.process != "precise":
        parts.append(f"theta = {some.imprecision:g}")
    text = ", ".join(parts)
    return "\n".join(wrap(text, 40)) if len(text) > 40 else text


def _grid(
    rows: Sequence[Sequence[_CurvePanel]], draw: Callable[[Axes, list[Summary]], None], *, xlabel: str, ylabel: str
) -> Figure:
    """Panels in a grid with common scales, labels on the outer sides, and one legend above."""
    columns = max(map(len, rows))
    wide = min(3.1 * columns + 0.9, 11.0) if columns > 1 else 5.2
    with new_figure(wide, 2.15 * len(rows) + 0.75) as figure:
        grid = figure.subplots(len(rows), columns, sharex=True, sharey=True, squeeze=False)
        used = {(row, column): panel for row, panels in enumerate(rows) for column, panel in enumerate(panels)}
        for (row, column), axes in np.ndenumerate(grid):
            panel = used.get((row, column))
            if panel is None:
                axes.set_visible(False)
                continue
            draw(axes, panel.found)
            axes.set_title(panel.title)
            tidy_axes(axes)
            if (row + 1, column) not in used:
                axes.set_xlabel(xlabel)
                axes.tick_params(labelbottom=True)
            if column == 0:
                axes.set_ylabel(ylabel)
        add_legend(figure)
        return figure


def _baselines(axes: Axes, found: Sequence[Summary], scale: _CurveScale) -> None:
    """Ignorance, and the limit of counting where it is known."""
    known = {scale.x(s): s.vacuous for s in found}
    _level(axes, list(known), list(known.values()), color=COLOURS["ignorance"][0], ls=":", lw=1.6, label="ignorance")
    limits = {scale.x(s): s.limit for s in found if s.limit is not None and s.learner.startswith("likelihood")}
    if limits:
        label = "limit of counting (endless rows)"
        _level(axes, list(limits), list(limits.values()), color=COLOURS["ink"][0], lw=1.1, label=label)


def _level(axes: Axes, xs: Sequence[float], ys: Sequence[float], **style: Any) -> None:
    """A line through some points; through a single one, right across."""
    if len(xs) == 1:
        axes.axhline(ys[0], **style)
    else:
        pairs = sorted(zip(xs, ys, strict=True))
        axes.plot([x for x, _ in pairs], [y for _, y in pairs], **style)


def _line(
    axes: Axes, found: Sequence[Summary], scale: _CurveScale, learner: str, among: Sequence[str], label: str
) -> None:
    """Mean and interval of one learner."""
    own = sorted((s for s in found if s.learner == learner), key=scale.x)
    if not own:
        return
    style = learner_style(learner, among)
    colour = COLOURS[style.colour][0]
    xs, means = [scale.x(s) for s in own], np.array([s.mean for s in own])
    half = np.array([s.interval or 0.0 for s in own])
    look: dict[str, Any] = {"color": colour, "ls": style.dashes, "marker": style.marker, "ms": 4.5, "lw": 1.9}
    if scale.single:  # learners beside each other, so that their bars can be told apart
        shift = 4.0 * (among.index(learner) - (len(among) - 1) / 2) / len(among)
        axes.errorbar([shift], means, yerr=half, capsize=3, label=label, **look)
        return
    axes.fill_between(xs, means - half, means + half, color=colour, alpha=min(0.16, 0.4 / len(among)), lw=0)
    axes.plot(xs, means, label=label, **look)


def _count(number: float) -> str:
    """A number of rows, short.

    >>> _count(100), _count(1000), _count(2_500_000)
    ('100', '1,000', '2.5 M')
    """
    return f"{number / 1e6:g} M" if number >= 1e6 else f"{number / 1e3:g} k" if number >= 1e5 else f"{number:,.0f}"


def _short(metric: str) -> str:
    """A metric as the label of an axis."""
    return {
        "child_affinity": "information affinity",
        "affinity": "information affinity",
        "child_mean_error": "mean error of a degree",
        "mean_error": "mean error of a degree",
        "max_error": "largest error of a degree",
        "hamming": "edges to mend",
    }.get(metric, metric.replace("_", " "))

"""Learning curves of an experiment, of one network or of all at once, and their error split into bias and noise."""

from __future__ import annotations

from dataclasses import replace
from math import pi, tan
from statistics import fmean
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from possnet.doors import check_arguments
from possnet.errors import count_noun, require_known
from possnet.learners import LEARNERS, label_learner
from possnet.metrics import METRICS
from possnet.plots.figure_style import Columns, LineStyle, NothingToShow, learner_style
from possnet.plots.panel_grid import IGNORANCE, Axis, Curve, Panel, Point, draw_grid
from possnet.sampling import is_imprecise, label_process

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from matplotlib.figure import Figure

    from possnet.experiment import Results, Summary

Against: TypeAlias = Literal["rows", "imprecision"]
_MOST_OVERLAID: Final = 4  # more networks behind a mean would be a tangle: their range is shown instead
_NOTHING: Final = "knowing nothing"
_EMPTY: Final = "the empty graph"
_TWO_REPEATS: Final = tan(0.475 * pi)  # Student's t of two repeats, times their distance from the mean


@check_arguments
def learning_curves(
    results: Results,
    metric: str = "child_affinity",
    *,
    against: Against = "rows",
    network: str | None = None,
    columns: Columns = 2,
) -> Figure:
    """Draw a metric against the number of rows, or against imprecision at the most rows, with 95 % intervals.

    Of two repeats, whose interval says nothing, the shade holds both. A row of panels for every kind of rows (and network),
    a column for every imprecision. Knowing nothing (ignorance) is dotted; the limits of counting and of the cut likelihood,
    where they are known, are open markers: what endless rows would give.

    Parameters
    ----------
    network
        One network; by default all, below each other (see `overview_curves` for all at once).
    columns
        Of a paper, which the figure fills: 1 (3.5 inches) or 2 (7.16 inches), with text of 8 pt.

    Examples
    --------
    >>> import possnet as pn
    >>> results = pn.evaluate(["asia"], rows=[50, 200], imprecision=1, process="traced", repeats=1, rng=1)
    >>> [axes.get_title("left") for axes in learning_curves(results).axes]
    ['traced rows, imprecision 1']
    """
    summaries = _select_summaries(results, metric, against, network)
    axis = _make_axis(results, summaries, against, errors=_is_error(metric))
    names = list(dict.fromkeys(s.network for s in summaries))
    panels = []
    for group in _arrange_panels(summaries, against):
        curves = [_ignorance_curve(group, axis, against)]
        curves += [_learner_curve(group, against, learner, _learners_of(results)) for learner in _present(group)]
        panels.append(_name_panel(group[0], curves, against, named=len(names) > 1))
    heading = f"{names[0]}: {METRICS[metric].label}" if len(names) == 1 else METRICS[metric].label
    return draw_grid(
        _arrange_rows(panels), axis, heading=heading, ylabel=METRICS[metric].label, columns=columns,
        truth=_find_truth(metric, summaries),
    )  # fmt: skip


@check_arguments
def overview_curves(results: Results, metric: str = "child_affinity", *, columns: Columns = 2) -> Figure:
    """Draw the mean of a metric over all networks: a row of panels for every kind of rows, a column for every imprecision.

    Thin lines are single networks; of more than four, the shade goes from the least to the largest. Of more than four
    learners there are means alone.

    >>> import possnet as pn
    >>> results = pn.evaluate(["asia", "pump"], rows=[50, 200], imprecision=1, process="traced", repeats=1, rng=1)
    >>> len(overview_curves(results).axes)
    1
    """
    against: Against = "rows" if len({trial.rows for trial in results.trials}) > 1 else "imprecision"
    if against == "imprecision" and len({t.imprecision for t in results.trials if is_imprecise(t.process)}) < 2:
        against = "rows"
    summaries = _select_summaries(results, metric, against, None)
    names = list(dict.fromkeys(s.network for s in summaries))
    if len(names) == 1:
        return learning_curves(results, metric, against=against, network=names[0], columns=columns)
    axis = _make_axis(results, summaries, against, errors=_is_error(metric))
    panels = []
    for group in _arrange_panels([s._replace(network="") for s in summaries], against):
        averages = _average(group, against)
        curves = [_ignorance_curve(averages, axis, against)]
        for learner in _present(group):
            mean = _learner_curve(averages, against, learner, _learners_of(results))
            own = [s for s in group if s.learner == learner]
            spread = choose_spread(results)
            if spread == "range":
                mean = _add_ranges(mean, own, against)
            elif spread == "networks":
                curves += _thin_curves(own, axis, against, mean.style, len(names))
            curves.append(mean)
        panels.append(_name_panel(group[0], curves, against, named=False))
    several = names if len(", ".join(names)) < 60 else [*names[:3], f"{len(names) - 3} more"]
    heading = f"{METRICS[metric].label}: mean over {count_noun(len(names), 'network')} ({', '.join(several)})"
    return draw_grid(
        _arrange_rows(panels), axis, heading=heading, ylabel=METRICS[metric].label, columns=columns,
        truth=_find_truth(metric, summaries),
    )  # fmt: skip


def choose_spread(results: Results) -> Literal["networks", "range", "none"]:
    """What `overview_curves` shows beside the means: every network, their range, or nothing where it would be a tangle.

    >>> import possnet as pn
    >>> options = dict(rows=[20], imprecision=[1], process=["traced"], learners=["likelihood"], repeats=1, rng=1, workers=1)
    >>> choose_spread(pn.evaluate(["survey"], **options))
    'networks'
    """
    if len({trial.learner for trial in results.trials}) > _MOST_OVERLAID:
        return "none"
    return "networks" if len({trial.network for trial in results.trials}) <= _MOST_OVERLAID else "range"


@check_arguments
def error_split(
    results: Results, learner: str | None = None, *, network: str | None = None, columns: Columns = 2
) -> Figure:
    """Split the error of a learner whose limit is known into bias (limit - truth) and noise (learned - limit).

    Bias stays whatever the number of rows; noise falls like 1/sqrt(rows). Where they cross, more rows stop helping. A row
    of panels for every kind of rows and learner; error and noise have the colour of the learner that they belong to.

    Parameters
    ----------
    learner
        Whose error; by default that of every learner whose limit is known.

    Examples
    --------
    >>> import possnet as pn
    >>> results = pn.evaluate(["asia"], rows=[50, 200], imprecision=1, process="traced", repeats=1, rng=1)
    >>> sorted(error_split(results).axes[0].get_legend_handles_labels()[1])
    ['bias', 'error', 'knowing nothing', 'noise']
    """
    summaries = _select_summaries(results, "child_mean_error", "rows", network)
    shown = [s for s in summaries if s.limit is not None and learner in {None, s.learner}]
    if not shown:
        whom = repr(learner) if learner else "any learner"
        raise NothingToShow(f"error_split: no limit is known for {whom} in these results; expected one")
    noise = {s[:5]: s for s in results.summary("child_noise")}
    axis = replace(_make_axis(results, shown, "rows", errors=True), endless=False, label="rows")
    names = list(dict.fromkeys(s.network for s in shown))
    panels: list[list[Panel]] = []
    for group in _arrange_rows_of_split(shown):
        panels.append([])
        for part in _arrange_panels(group, "rows"):
            curves = _split_curves(part, noise, axis)
            panel = _name_panel(part[0], curves, "rows", named=len(names) > 1)
            row = f"{panel.row}: {label_learner(part[0].learner)}"
            panels[-1].append(replace(panel, key=f"{panel.key}-{part[0].learner}", row=row))
    heading = f"{names[0]}: " if len(names) == 1 else ""
    heading += "mean error of a degree, split into bias and noise"
    return draw_grid(panels, axis, heading=heading, ylabel="mean error of a degree", columns=columns)


def _split_curves(
    part: Sequence[Summary], noise: dict[tuple[str, str, float, int, str], Summary], axis: Axis
) -> list[Curve]:
    """Error and noise of the one learner of a panel in its colour, and its bias dashed over them."""
    style = learner_style(part[0].learner, [part[0].learner])
    ordered = sorted(part, key=lambda s: s.rows)
    error = _learner_curve(part, "rows", part[0].learner, [part[0].learner], limit=False)
    curves = [_ignorance_curve(part, axis, "rows"), replace(error, label="error", style=style._replace(dashes="-"))]
    others = [noise[s[:5]] for s in ordered if s[:5] in noise]
    points = tuple(Point(float(s.rows), s.mean, 0.0, f"noise at {s.rows:,} rows: {s.mean:.3f}") for s in others)
    if points:
        curves.append(Curve("noise", style._replace(dashes=(0, (1, 1.5)), marker="x"), points))
    bias = tuple(Point(float(s.rows), s.limit or 0.0, 0.0, f"bias: {s.limit:.3f}") for s in ordered)
    return [*curves, Curve("bias", LineStyle("ink", (0, (4, 2.5)), "_"), bias)]


def _arrange_rows_of_split(summaries: Sequence[Summary]) -> list[list[Summary]]:
    groups: dict[tuple[str, str, str], list[Summary]] = {}
    for s in summaries:
        groups.setdefault((s.network, s.process, s.learner), []).append(s)
    return list(groups.values())


def _select_summaries(results: Results, metric: str, against: Against, network: str | None) -> list[Summary]:
    """Everything that there is to draw; against imprecision, at the most rows."""
    structure = METRICS.require(metric, "plots").subject == "structure"
    if network is not None:
        require_known(network, dict.fromkeys(trial.network for trial in results.trials), "plots: network")
    summaries = [s for s in results.summary(metric) if network in {None, s.network}]
    if structure and any("@" in s.learner for s in summaries):  # those that are given the structure have it
        summaries = _drop_equal_structures(s for s in summaries if "@" in s.learner)
    if against == "imprecision":
        most = max(trial.rows for trial in results.trials)
        summaries = [s for s in summaries if s.rows == most and is_imprecise(s.process)]
    if not summaries:
        raise NothingToShow(f"plots: no run has {metric} against {against}; expected results that have it")
    return summaries


def _drop_equal_structures(summaries: Iterable[Summary]) -> list[Summary]:
    """One summary for each structure of a setting: learners of tables that stand on it share its edges, and its curve."""
    firsts: dict[str, str] = {}
    shown: dict[tuple[object, ...], Summary] = {}
    for s in summaries:
        learner = firsts.setdefault(s.learner.partition("@")[2], s.learner)
        shown.setdefault((*s[:4], learner), s._replace(learner=learner))
    return list(shown.values())


def _label_curve(s: Summary) -> str:
    """A learner by its name; where structures are compared, by how it finds its structure."""
    structure = s.learner.partition("@")[2]
    return (
        structure.replace(":", ", ")
        if structure and METRICS[s.metric].subject == "structure"
        else label_learner(s.learner)
    )


def _is_error(metric: str) -> bool:
    """Whether a metric is an error, which logarithms suit."""
    entry = METRICS[metric]
    return entry.has_baselines and entry.subject != "structure" and not entry.higher_is_better


def _find_truth(metric: str, summaries: Iterable[Summary]) -> float | None:
    """What the true network would have, where a figure has room for it."""
    entry = METRICS[metric]
    if entry.subject == "structure" and not entry.higher_is_better:
        return 0.0
    return 1.0 if entry.higher_is_better and all(0.0 <= s.mean <= 1.0 for s in summaries) else None


def _make_axis(results: Results, summaries: Sequence[Summary], against: Against, *, errors: bool) -> Axis:
    places = tuple(sorted({float(getattr(s, against)) for s in summaries}))
    if against == "rows":
        endless = any(s.limit is not None for s in summaries)
        label = "rows (∞: what endless rows would give)" if endless and len(places) > 1 else "rows"
        return Axis(label, places, tuple(map(_format_count, places)), endless, log_places=True, log_heights=errors)
    most = max(trial.rows for trial in results.trials)
    label = f"imprecision, at {most:,} rows"
    return Axis(label, places, tuple(f"{place:g}" for place in places), log_heights=errors)


def _learners_of(results: Results) -> list[str]:
    return list(dict.fromkeys(trial.learner for trial in results.trials))


def _present(group: Iterable[Summary]) -> list[str]:
    return list(dict.fromkeys(s.learner for s in group))


def _arrange_panels(summaries: Iterable[Summary], against: Against) -> list[list[Summary]]:
    """Summaries by panel: each network, kind of rows and (against rows) imprecision."""
    groups: dict[tuple[object, ...], list[Summary]] = {}
    for s in summaries:
        groups.setdefault(s[:3] if against == "rows" else s[:2], []).append(s)
    return list(groups.values())


def _name_panel(first: Summary, curves: Sequence[Curve], against: Against, *, named: bool) -> Panel:
    """A panel with the title and the key of what it shows."""
    parts = [first.network] if named else []
    parts.append(label_process(first.process))
    title = f"imprecision {first.imprecision:g}" if against == "rows" and is_imprecise(first.process) else ""
    return Panel(_panel_key(first, against), ", ".join(parts), title, tuple(curves))


def _panel_key(first: Summary, against: Against) -> str:
    parts = [first.network, first.process, f"{first.imprecision:g}" if against == "rows" else ""]
    return "".join(ch if ch.isalnum() or ch in "-." else "_" for ch in "-".join(filter(None, parts)))


def _arrange_rows(panels: Sequence[Panel]) -> list[list[Panel]]:
    """A row for each network and kind of rows, in which panels differ by imprecision."""
    rows: dict[str, list[Panel]] = {}
    for panel in panels:
        rows.setdefault(panel.row, []).append(panel)
    return list(rows.values())


def _place(s: Summary, against: Against) -> float:
    return float(getattr(s, against))


def _ignorance_curve(group: Sequence[Summary], axis: Axis, against: Against) -> Curve:
    levels = {_place(s, against): s.vacuous for s in group}
    label = _EMPTY if METRICS[group[0].metric].subject == "structure" else _NOTHING
    points = [Point(place, levels[place]) for place in sorted(levels)]
    if axis.endless and not axis.is_single and len(points) > 1:
        points.append(Point(axis.infinity, points[-1].mean))
    return Curve(label, IGNORANCE, tuple(points))


def _learner_curve(
    group: Iterable[Summary], against: Against, learner: str, among: Sequence[str], *, limit: bool = True
) -> Curve:
    """Means and intervals of a learner, and its limit."""
    own = sorted((s for s in group if s.learner == learner), key=lambda s: _place(s, against))
    last = own[-1]
    label = _label_curve(last)
    points = tuple(_make_point(s, against, label) for s in own)
    known = last.limit if limit else None
    entry = LEARNERS.get(learner)
    words = f"{entry.limit_label if entry else 'limit'}: {known:.3f}" if known is not None else ""
    return Curve(
        label,
        learner_style(learner, among),
        points,
        None if known is None else Point(_place(last, against), known, 0.0, words),
    )


def _make_point(s: Summary, against: Against, label: str) -> Point:
    """A mean with its interval, which ends where the metric does."""
    half, text = _half_width(s), _describe(s, label, against)
    ends = None
    if half and METRICS[s.metric].higher_is_better and 0.0 <= s.mean <= 1.0:
        ends = max(s.mean - half, 0.0), min(s.mean + half, 1.0)
    elif METRICS[s.metric].subject == "structure":
        ends = max(s.mean - half, 0.0), s.mean + half
    return Point(_place(s, against), s.mean, half, text, ends)


def _half_width(s: Summary) -> float:
    """Half of what a shade shows: the 95 % interval, or of two repeats, whose interval says nothing, both of them."""
    return (s.interval or 0.0) / (_TWO_REPEATS if s.repeats == 2 else 1.0)


def _describe(s: Summary, label: str, against: Against) -> str:
    """What the pointer is told of a point."""
    spread = "" if s.interval is None else f" ± {s.interval:.3f}"
    where = f"{s.rows:,} rows" if against == "rows" else f"imprecision {s.imprecision:g}"
    return f"{f'{s.network}, ' if s.network else ''}{label}, {where}: {s.mean:.3f}{spread}"


def _average(group: Iterable[Summary], against: Against) -> list[Summary]:
    """Means over networks, without intervals."""
    groups: dict[tuple[str, float], list[Summary]] = {}
    for s in group:
        groups.setdefault((s.learner, _place(s, against)), []).append(s)
    averages = []
    for own in groups.values():
        means, limits = [s.mean for s in own], [s.limit for s in own if s.limit is not None]
        limit = fmean(limits) if len(limits) == len(own) else None
        ignorance = fmean(s.vacuous for s in own)
        averages.append(own[0]._replace(mean=fmean(means), interval=None, vacuous=ignorance, limit=limit))
    return averages


def _add_ranges(curve: Curve, own: Sequence[Summary], against: Against) -> Curve:
    """A curve of means, whose points have the least and the largest network as their ends."""
    means: dict[float, list[float]] = {}
    for s in own:
        means.setdefault(_place(s, against), []).append(s.mean)
    points = (replace(p, ends=(min(means[p.place]), max(means[p.place]))) for p in curve.points)
    return replace(curve, points=tuple(points), shade=0.06)  # ranges of networks lie over each other


def _thin_curves(own: Sequence[Summary], axis: Axis, against: Against, style: LineStyle, count: int) -> list[Curve]:
    """The networks behind a mean, in the order of the summaries: each place has one of each."""
    places: dict[float, list[Summary]] = {}
    for s in own:
        places.setdefault(_place(s, against), []).append(s)
    if axis.is_single or any(len(group) != count for group in places.values()):
        return []
    return [
        Curve(
            "",
            style._replace(dashes="-", marker=""),
            tuple(Point(place, places[place][k].mean) for place in sorted(places)),
        )
        for k in range(count)
    ]


def _format_count(number: float) -> str:
    """A number of rows, short.

    >>> _format_count(100), _format_count(1000), _format_count(2_500_000)
    ('100', '1,000', '2.5 M')
    """
    return f"{number / 1e6:g} M" if number >= 1e6 else f"{number / 1e3:g} k" if number >= 1e5 else f"{number:,.0f}"

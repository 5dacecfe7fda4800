"""Figures of explanations: what each finding contributes, and how an answer depends on table entries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from possnet.doors import check_arguments
from possnet.drawing import clip_text, measure_text
from possnet.errors import require_known, require_whole
from possnet.plots.figure_style import COLOURS, NothingToShow, add_legend, new_figure, tidy_axes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from possnet.explanation import Contributions, EntrySensitivity, Sensitivity

_UP: Final = "green"
_DOWN: Final = "orange"
_LONGEST: Final = 46


@check_arguments
def contribution_tornado(shares: Contributions, *, on: str = "both", title: str = "") -> Figure:
    """Draw what each finding contributes to an answer: Shapley values as bars, what leaving it out does as ticks.

    Parameters
    ----------
    on
        ``possibility``, ``necessity``, or ``both`` side by side.

    Examples
    --------
    >>> import possnet as pn
    >>> shares = pn.contributions(pn.load_example("clinic"), "measles", {"rash": "spots", "fever": "high"}, "yes")
    >>> figure = contribution_tornado(shares)
    >>> [axes.get_title("left") for axes in figure.axes]
    ['possible (Π)', 'certain (N)']
    """
    require_known(on, ("both", "possibility", "necessity"), "contribution_tornado: on")
    if not shares.findings:
        raise NothingToShow("contribution_tornado: there are no findings; expected contributions of some evidence")
    kinds = ("possibility", "necessity") if on == "both" else (on,)
    widest = max(measure_text(clip_text(s.finding, _LONGEST), 9.0) for s in shares) / 72
    with new_figure(widest + 3.0 * len(kinds) + 0.4, 1.35 + 0.32 * len(shares)) as figure:
        panels: Any = figure.subplots(1, len(kinds), sharey=True, squeeze=False)
        for axes, kind in zip(panels[0], kinds, strict=True):
            _draw_shares(axes, shares, kind)
        panels[0][0].set_yticks(range(len(shares)), [clip_text(s.finding, _LONGEST) for s in shares])
        panels[0][0].set_ylim(len(shares) - 0.45, -0.55)
        add_legend(figure)
        figure.legends[0].set_title(title or f"What moves {shares.target} = {shares.state}")
        figure.legends[0].set_alignment("left")
        return figure


def _draw_shares(axes: Axes, shares: Contributions, kind: str) -> None:
    place = 0 if kind == "possibility" else 1
    values = np.array([getattr(s, kind) for s in shares])
    errors = np.array([getattr(s, f"{kind}_error") for s in shares])
    left_out = np.array([getattr(s, f"{kind}_left_out") for s in shares])
    rows = np.arange(len(shares))
    for mask, colour, word in ((values >= 0, _UP, "raises it"), (values < 0, _DOWN, "lowers it")):
        if mask.any():
            axes.barh(rows[mask], values[mask], height=0.56, color=COLOURS[colour][0], label=word)
    if errors.any():
        ink = COLOURS["ink"][0]
        axes.errorbar(values, rows, xerr=2 * errors, fmt="none", ecolor=ink, lw=1.0, capsize=2.5, label="± 2 s.e.")
    axes.plot(
        left_out, rows, "|", ms=13, mew=1.8, color=COLOURS["ink"][0], label="what leaving it out alone would undo"
    )
    axes.axvline(0.0, color=COLOURS["soft"][0], lw=0.8)
    reach = max(np.abs(values).max(), np.abs(left_out).max(), 0.02) * 1.15
    axes.set_xlim(-reach if min(values.min(), left_out.min()) < 0 else -0.12 * reach, reach)
    axes.set_title("possible (Π)" if kind == "possibility" else "certain (N)")
    axes.set_xlabel(f"share of the change from {shares.before[place]:.3g} to {shares.now[place]:.3g}")
    tidy_axes(axes)
    axes.grid(visible=False, axis="y")
    axes.tick_params(axis="y", length=0)


@check_arguments
def sensitivity_curves(
    result: Sensitivity | EntrySensitivity | Sequence[EntrySensitivity], *, most: int = 4, title: str = ""
) -> Figure:
    """Draw an answer as a function of table entries, one panel each: the curve, its break points, and today's values.

    Parameters
    ----------
    result
        What `possnet.sensitivity` gave, of which the entries that matter most are drawn; or some of its entries.
    most
        How many entries are drawn at most.

    Examples
    --------
    >>> import possnet as pn
    >>> result = pn.sensitivity(pn.load_example("clinic"), "measles", "yes", {"rash": "spots"})
    >>> len(sensitivity_curves(result, most=2).axes)
    2
    """
    from possnet.explanation import EntrySensitivity, Sensitivity

    entries = [result] if isinstance(result, EntrySensitivity) else list(result[: require_whole(most, 1, "most")])
    if not entries:
        raise NothingToShow("sensitivity_curves: there are no entries; expected at least one")
    columns = min(2, len(entries))
    rows = -(-len(entries) // columns)
    with new_figure(3.7 * columns + 0.3, 2.3 * rows + 0.6) as figure:
        panels = figure.subplots(rows, columns, sharey=True, squeeze=False)
        for axes, entry in zip(panels.flat, entries, strict=False):
            _draw_curve(axes, entry)
        for axes in list(panels.flat)[len(entries) :]:
            axes.remove()
        for axes in panels[:, 0]:
            axes.set_ylabel(f"Π({result.target}={result.state} | e)" if isinstance(result, Sensitivity) else "answer")
        add_legend(figure)
        if title:
            figure.legends[0].set_title(title)
            figure.legends[0].set_alignment("left")
        return figure


def _draw_curve(axes: Axes, entry: EntrySensitivity) -> None:
    blue, ink, soft = COLOURS["blue"][0], COLOURS["ink"][0], COLOURS["soft"][0]
    for number, piece in enumerate(entry.pieces):
        t = np.linspace(piece.start, piece.stop, 120)
        if piece.power < 0:
            t = t[t > 0.0]
        values = piece.coefficient * t ** float(piece.power)
        label = "answer as this entry varies" if not number else None
        axes.plot(t, values, color=blue, lw=2.0, label=label, solid_capstyle="round")
    for point in entry.break_points:
        axes.axvline(point, color=soft, lw=0.8, ls=(0, (2, 2)))
    now = {"marker": "o", "ms": 7, "color": COLOURS["orange"][0], "mec": "white", "ls": "none", "zorder": 5}
    axes.plot([entry.degree], [entry.answer], label="today", **now)  # type: ignore[arg-type]
    axes.set_xlim(-0.02, 1.02)
    axes.set_ylim(-0.04, 1.06)
    axes.set_title(clip_text(entry.label, 48), fontsize=9.0, color=ink)
    rule = "; context normalised" if entry.normalises else ""
    axes.set_xlabel(f"entry t (today {entry.degree:.3g}{rule})")
    tidy_axes(axes)

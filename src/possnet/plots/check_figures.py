"""Figures of a hold-out check: accuracy beside its baselines, and what cuts and claims of necessity keep."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from possnet.doors import check_arguments
from possnet.drawing import clip_text
from possnet.errors import require_known
from possnet.plots.figure_style import COLOURS, add_legend, new_figure, tidy_axes

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from possnet.checking import CellCheck

_MOST_BARS: Final = 40
_MOST_LINES: Final = 60
_NAME_LENGTH: Final = 26
_FEWEST_CLAIMS: Final = 20  # the share of fewer that are right says little


@check_arguments
def accuracy_bars(variables: Mapping[str, CellCheck], *, competitors: str = "state") -> Figure:
    """Draw how often every variable's cells were right, beside the most frequent state and a random one; best first.

    Parameters
    ----------
    competitors
        What the baselines choose from: ``"state"``, or ``"candidate"`` for ambiguous cells.

    Examples
    --------
    >>> import possnet as pn
    >>> asia = pn.load_example("asia")
    >>> result = pn.check(asia, pn.sample(asia, 100, process="precise", rng=1))
    >>> len(accuracy_bars(result.variables).axes[0].get_yticklabels())
    8
    """
    require_known(competitors, ("state", "candidate"), "accuracy_bars: competitors")
    known = [(name, cells) for name, cells in variables.items() if cells.accuracy is not None]
    shown: Any = sorted(known, key=lambda entry: entry[1].accuracy or 0.0)[-_MOST_BARS:]
    places = range(len(shown))
    with new_figure(7.6, 0.34 * len(shown) + 1.15) as figure:
        axes = figure.subplots()
        values = [cells.accuracy for _, cells in shown]
        axes.barh(places, values, height=0.62, color=COLOURS["blue"][0], label="most possible state")
        marker: dict[str, Any] = {"ls": "", "clip_on": False, "zorder": 3}
        frequent = [cells.baseline for _, cells in shown]
        axes.plot(frequent, places, marker="D", ms=6, color=COLOURS["orange"][0], label=f"most frequent {competitors}",
                  mec="white", mew=0.8, **marker)  # fmt: skip
        random = [cells.random for _, cells in shown]
        axes.plot(random, places, marker="|", ms=12, mew=2.2, color=COLOURS["ink"][0], label=f"random {competitors}",
                  **marker)  # fmt: skip
        for place, value in zip(places, values, strict=True):
            axes.text(1.015, place, f"{value:.2f}", va="center", fontsize=9, transform=axes.get_yaxis_transform())
        axes.set_yticks(places, [clip_text(name, _NAME_LENGTH) for name, _ in shown])
        axes.set(xlim=(0.0, 1.0), ylim=(-0.6, len(shown) - 0.4), xlabel="share of the cells that are right")
        tidy_axes(axes)
        axes.grid(visible=False, axis="y")
        axes.tick_params(axis="y", length=0)
        add_legend(figure)
        return figure


@check_arguments
def reliability_curves(variables: Mapping[str, CellCheck], overall: CellCheck) -> Figure:
    """Draw what cuts hold, how large they are, and how often claims of necessity are right, against the level.

    In the first panel lines should stay above the dashed one, 1 - level: there the degrees are calibrated. In the last
    one, a state of necessity n should be right at least as often as n. Thin lines are single variables.

    >>> import possnet as pn
    >>> asia = pn.load_example("asia")
    >>> result = pn.check(asia, pn.sample(asia, 100, process="precise", rng=1))
    >>> [axes.get_ylabel() for axes in reliability_curves(result.variables, result.overall).axes]
    ['cuts that hold the truth', 'mean number of states', 'share of the cells']
    """
    with new_figure(10.6, 3.7) as figure:
        held, size, claims = figure.subplots(1, 3)
        _draw_coverage(held, variables, overall)
        _draw_sizes(size, variables, overall)
        _draw_claims(claims, overall)
        for axes in (held, size, claims):
            tidy_axes(axes)
            axes.set_xlim(0.0, 1.0)
        add_legend(figure)
        return figure


_THIN: Final[dict[str, Any]] = {"color": COLOURS["soft"][0], "lw": 0.8, "alpha": 0.55}
_BOLD: Final[dict[str, Any]] = {"color": COLOURS["blue"][0], "lw": 2.2, "marker": "o", "ms": 3.6}


def _pick_lines(variables: Mapping[str, CellCheck]) -> list[CellCheck]:
    """The variables that are drawn besides all together; none if there is one only."""
    return list(variables.values())[:_MOST_LINES] if len(variables) > 1 else []


def _draw_coverage(axes: Axes, variables: Mapping[str, CellCheck], overall: CellCheck) -> None:
    axes.fill_between([0.0, 1.0], [1.0, 0.0], 0.0, color=COLOURS["orange"][0], alpha=0.09, lw=0)
    axes.plot([0.0, 1.0], [1.0, 0.0], color=COLOURS["ink"][0], lw=1.1, ls=(0, (4, 2)), label="promised")
    for number, cells in enumerate(_pick_lines(variables)):
        label = "single variables" if number == 0 else "_"
        axes.plot([p.level for p in cells.cut_curve], [p.coverage for p in cells.cut_curve], label=label, **_THIN)
    levels, coverage = [p.level for p in overall.cut_curve], [p.coverage for p in overall.cut_curve]
    axes.plot(levels, coverage, label="all cells" if len(variables) > 1 else "the cells", **_BOLD)
    axes.set(
        xlabel="level of the cut", ylabel="cuts that hold the truth", ylim=(0.0, 1.03), title="Cuts: do they hold?"
    )
    axes.text(0.04, 0.04, "less than promised", color=COLOURS["orange"][0], fontsize=8.5)


def _draw_sizes(axes: Axes, variables: Mapping[str, CellCheck], overall: CellCheck) -> None:
    for cells, style in (*((cells, _THIN) for cells in _pick_lines(variables)), (overall, _BOLD)):
        points: Any = [p for p in cells.cut_curve if p.size is not None]
        axes.plot([p.level for p in points], [p.size for p in points], **style)
    axes.set(xlabel="level of the cut", ylabel="mean number of states", title="Cuts: how large?")
    axes.set_ylim(bottom=0.0)


def _draw_claims(axes: Axes, overall: CellCheck) -> None:
    points: Any = [p for p in overall.claim_curve if p.right is not None and p.claimed * overall.rows >= _FEWEST_CLAIMS]
    axes.fill_between([0.0, 1.0], [0.0, 1.0], 0.0, color=COLOURS["orange"][0], alpha=0.09, lw=0)
    axes.plot([0.0, 1.0], [0.0, 1.0], color=COLOURS["ink"][0], lw=1.1, ls=(0, (4, 2)))
    right: dict[str, Any] = {"color": COLOURS["green"][0], "lw": 2.2, "marker": "s", "ms": 3.6}
    axes.plot([p.necessity for p in points], [p.right for p in points], label="claims that are right", **right)
    claimed: dict[str, Any] = {"color": COLOURS["purple"][0], "lw": 1.6, "ls": (0, (1, 1.2))}
    curve = overall.claim_curve
    axes.plot([p.necessity for p in curve], [p.claimed for p in curve], label="cells with a claim", **claimed)
    axes.set(
        xlabel="necessity of at least", ylabel="share of the cells", ylim=(0.0, 1.03), title="Necessity: is it right?"
    )
    axes.text(0.96, 0.04, "overclaimed", color=COLOURS["orange"][0], fontsize=8.5, ha="right")

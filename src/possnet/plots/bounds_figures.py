"""What is known of every degree of a table: identified ones as points, the others as intervals, beside the truth."""

from __future__ import annotations

from itertools import product
from textwrap import wrap
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from possnet.doors import check_arguments
from possnet.drawing import clip_text, measure_text
from possnet.errors import InputError
from possnet.network import Network, align_network
from possnet.plots.context_labels import label_contexts
from possnet.plots.figure_style import (
    COLOURS,
    WIDTHS,
    Columns,
    NothingToShow,
    add_legend,
    new_figure,
    place_absent_labels,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from possnet.aliases import Floats
    from possnet.cuts import AutoResult, CutResult, IdentifiedDegrees

_MOST: Final = 120
_COLUMNS: Final = 3
_SAME: Final = 1e-9
_LINE: Final = 0.165
_GAP: Final = 3.5  # points between labels and panels
_HEAD: Final = 3.0  # lines for a title and the numbers below
_TITLE: Final = 0.24  # inches of these above a panel
_RIGHT: Final = 0.06  # inches beside a panel
_MARKER: Final = 0.045  # inches from the middle of a marker to its side


class _VariableBounds(NamedTuple):
    """A variable's entries, a line for each context and a column for each state; not every context need be shown."""

    name: str
    contexts: list[str]
    states: tuple[str, ...]
    lower: Floats
    upper: Floats
    point: Floats
    error: Floats
    truth: Floats | None

    @property
    def size(self) -> int:
        """Number of entries."""
        return int(self.lower.size)

    def labels(self) -> list[str]:
        """The state of every entry, with its context where that begins."""
        return [
            f"{clip_text(context, 32)}:\u2002{clip_text(state, 12)}" if context and not place else clip_text(state, 12)
            for context in self.contexts
            for place, state in enumerate(self.states)
        ]


@check_arguments
def bounds_figure(
    result: CutResult | AutoResult | IdentifiedDegrees | Network,
    *,
    truth: Network | None = None,
    variables: str | Iterable[str] | None = None,
    title: str = "",
    columns: Columns = 2,
) -> Figure:
    """Draw what is known of every degree: a point where it is identified, else the interval that it lies in.

    Standard errors, if the result has any, are whiskers of two of them beyond the ends.

    Parameters
    ----------
    result
        What `possnet.fit_cut`, `possnet.fit_auto` or `possnet.identify_degrees` gave, or a network that carries bounds.
    truth
        The true network, drawn as ticks; those outside the bounds (by more than three standard errors) are marked.
    variables
        Which variables; by default those with parents, as many as fit a page.
    columns
        Of a paper, which the figure fills.

    Examples
    --------
    >>> import possnet as pn
    >>> clinic = pn.load_example("clinic")
    >>> figure = bounds_figure(pn.identify_degrees(clinic), truth=clinic, variables="fever")
    >>> [axes.get_title("left") for axes in figure.axes], sorted(figure.axes[0].get_legend_handles_labels()[1])
    (['fever'], ['identified', 'lies within', 'truth'])
    """
    inner = getattr(result, "result", result)  # what fit_auto chose
    network, lower, upper = _read_bounds(inner)
    if truth is not None:
        truth = align_network(truth, network, owner="bounds_figure", sides=("the truth", "the learned network"))
    names, remark = _choose_variables(network, variables)
    errors = getattr(inner, "error", None) or {}
    panels = [
        _collect_entries(
            network, name, (lower[name], upper[name]), errors.get(name), None if truth is None else truth.table(name)
        )
        for name in names
    ]
    stacks = _balance_columns(panels, WIDTHS[columns])
    tallest = max(sum(panel.size + _HEAD for panel in stack) for stack in stacks)
    heading = wrap("; ".join(filter(None, (title, remark))), 100 if columns == 2 else 46)
    with new_figure(WIDTHS[columns], _LINE * tallest + 0.35 + 0.15 * len(heading), placed=True) as figure:
        drawn = [[_draw_entries(figure.add_axes((0, 0, 1, 1)), panel) for panel in stack] for stack in stacks]
        add_legend(figure)
        if heading:
            bold: Any = {"weight": "bold", "size": 8}
            figure.legends[0].set_title("\n".join(heading), prop=bold)
            figure.legends[0].set_alignment("left")
        _place_panels(figure, stacks, drawn, _LINE * tallest)
        return figure


def _read_bounds(result: Any) -> tuple[Network, Mapping[str, Floats], Mapping[str, Floats]]:
    """The network and the ends of its degrees."""
    if isinstance(result, Network):
        if result.bounds is None:
            raise NothingToShow(
                "bounds_figure: the network carries no bounds; expected one that does, such as that of fit_cut"
            )
        return result, *result.bounds
    if not all(hasattr(result, part) for part in ("network", "lower", "upper")):
        raise InputError(
            f"bounds_figure: {result!r} has no bounds; expected what fit_cut or identify_degrees gives, or a network with "
            "bounds"
        )
    return result.network, result.lower, result.upper


def _choose_variables(network: Network, given: str | Iterable[str] | None) -> tuple[list[str], str]:
    """Names of the variables that are shown, and a remark if these are not all with parents."""
    if given is not None:
        names = [network.variable(name).name for name in ([given] if isinstance(given, str) else given)]
        if not names:
            raise InputError("bounds_figure: no variables; expected at least one")
        return names, ""
    every = [v.name for v in network.variables]
    every = [name for name in every if network.dag.parents(name)] or every
    totals = np.cumsum([min(network.table(name).size, _MOST) for name in every])
    names = every[: max(1, int((totals <= _MOST).sum()))]
    return names, "" if len(names) == len(every) else f"the first {len(names)} of {len(every):,} variables with parents"


def _collect_entries(
    network: Network, name: str, ends: tuple[Floats, Floats], error: Floats | None, truth: Floats | None
) -> _VariableBounds:
    """The entries of a variable, of as many contexts as fit."""
    states, parents = network.variable(name).states, network.dag.parents(name)
    most = max(1, _MOST // len(states))
    table = network.table(name)
    contexts = label_contexts(parents, list(product(*(network.variable(p).states for p in parents))), 32, " ")
    left_out = len(contexts) - most
    label = name if left_out <= 0 else f"{name} ({left_out:,} more contexts)"

    def shown(array: Floats) -> Floats:
        return np.asarray(array).reshape(-1, len(states))[:most]

    lower, upper, point, deviation = map(shown, (*ends, table, np.zeros_like(table) if error is None else error))
    true = None if truth is None else shown(truth)
    return _VariableBounds(label, contexts[:most], states, lower, upper, point, deviation, true)


def _balance_columns(panels: Sequence[_VariableBounds], widest: float) -> list[list[_VariableBounds]]:
    """Panels in columns of about the same height, in their order within each, as many columns as fit a page."""
    most = min(_COLUMNS, len(panels), 1 + sum(panel.size for panel in panels) // 18)
    for count in range(most, 0, -1):
        heights = [0.0] * count
        columns: list[list[int]] = [[] for _ in range(count)]
        for number in sorted(range(len(panels)), key=lambda k: -panels[k].size):
            lowest = heights.index(min(heights))
            columns[lowest].append(number)
            heights[lowest] += panels[number].size + _HEAD
        chosen = [[panels[k] for k in sorted(column)] for column in sorted(columns, key=min)]
        if sum(map(_column_width, chosen)) <= widest:
            break
    return chosen


def _label_width(column: Sequence[_VariableBounds]) -> float:
    """Inches for the widest label and the gap beside it."""
    return max(measure_text(label, 8.0) for panel in column for label in panel.labels()) / 72.0 * 1.08 + 0.1


def _column_width(column: Sequence[_VariableBounds]) -> float:
    """Inches for the widest label and the degrees."""
    return _label_width(column) + 1.25


def _place_panels(
    figure: Figure, stacks: Sequence[Sequence[_VariableBounds]], drawn: Sequence[Sequence[Axes]], height: float
) -> None:
    """Put panels under each other, in columns, into the lowest ``height`` inches: lines have the same height in all."""
    wide, total = figure.get_size_inches()
    spare = (wide - sum(map(_column_width, stacks))) / len(stacks)
    right = 0.0
    for stack, column in zip(stacks, drawn, strict=True):
        left, right = right + _label_width(stack), right + _column_width(stack) + spare
        bottom = height
        for panel, axes in zip(stack, column, strict=True):
            bottom -= _TITLE + _LINE * panel.size
            width = max(right - left - _RIGHT, 0.5)
            axes.set_position((left / wide, bottom / total, width / wide, _LINE * panel.size / total))
            beside = _MARKER / (width - 2 * _MARKER)
            axes.set_xlim(-beside, 1.0 + beside)
            bottom -= _LINE * _HEAD - _TITLE


def _draw_entries(axes: Axes, panel: _VariableBounds) -> Axes:
    """A line for each entry, contexts set apart by shades; gives the axes."""
    axes.tick_params(length=0, labelsize=8)  # before there are many ticks, each of which would be changed
    axes.grid(visible=True, axis="x", color=COLOURS["rule"][0], lw=0.7)
    width, rows = len(panel.states), np.arange(panel.size)
    for k in range(0, len(panel.contexts), 2):
        axes.axhspan(k * width - 0.5, (k + 1) * width - 0.5, color=COLOURS["rule"][0], alpha=0.45, lw=0, zorder=0.1)
    low, high, point, error = (np.ravel(a) for a in (panel.lower, panel.upper, panel.point, panel.error))
    green, told = COLOURS["green"][0], high - low <= _SAME
    ends = (low - 2 * error * (low > 0.0)).clip(0.0), (high + 2 * error * (high < 1.0)).clip(None, 1.0)
    axes.hlines(rows, *ends, color=green, lw=1.2, zorder=0.8)
    if not told.all():
        look: dict[str, Any] = {
            "height": 0.5,
            "color": COLOURS["band"][0],
            "label": "lies within",
            "ec": green,
            "lw": 0.6,
        }
        axes.barh(rows[~told], (high - low)[~told], left=low[~told], **look)
    if told.any():
        axes.plot(point[told], rows[told], "o", ms=5.2, color=green, label="identified")
    inside = ~told & (point - low > _SAME) & (high - point > _SAME)
    if inside.any():
        axes.plot(point[inside], rows[inside], "D", ms=3.6, color=green, label="chosen")
    if panel.truth is not None:
        _draw_truth(axes, np.ravel(panel.truth), (low - 3 * error - _SAME, high + 3 * error + _SAME))
    _write_labels(axes, panel.labels())
    axes.set_ylim(panel.size - 0.5, -0.5)
    axes.set_xticks([0, 0.25, 0.5, 0.75, 1], ["0", ".25", ".5", ".75", "1"])
    axes.set_axisbelow(True)
    axes.spines[:].set_visible(False)
    axes.set_title(clip_text(panel.name, 40))
    place_absent_labels(axes)
    return axes


def _write_labels(axes: Axes, labels: Sequence[str]) -> None:
    """Write what the lines are beside them; ticks, which are five parts each, would take several times as long."""
    from matplotlib.transforms import ScaledTranslation

    axes.set_yticks([])
    beside = axes.get_yaxis_transform() + ScaledTranslation(-_GAP / 72, 0.0, axes.figure.dpi_scale_trans)
    for row, label in enumerate(labels):
        axes.text(0.0, row, label, transform=beside, ha="right", va="center_baseline")


def _draw_truth(axes: Axes, truth: Floats, ends: tuple[Floats, Floats]) -> None:
    """A tick for every true degree; those beyond the ends, which standard errors widen, are crosses."""
    rows, outside = np.arange(truth.size), (truth < ends[0]) | (truth > ends[1])
    axes.plot(truth[~outside], rows[~outside], "|", ms=9, mew=1.6, color=COLOURS["ink"][0], label="truth")
    if outside.any():
        look: dict[str, Any] = {
            "ms": 6,
            "mew": 1.8,
            "color": COLOURS["orange"][0],
            "label": "truth, outside the bounds",
        }
        axes.plot(truth[outside], rows[outside], "x", **look)

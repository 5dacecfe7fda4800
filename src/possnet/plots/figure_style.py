"""One look for every figure: colours, lines, markers and words.

Colours differ in hue for all kinds of colour vision and in lightness for greyscale; every learner also has a line and a
marker of its own. In SVG text the colours become CSS variables, so that a figure suits a light page, a dark one and paper.
"""

from __future__ import annotations

import io
import re
import warnings
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from possnet.drawing import Picture, escape_markup, measure_text, replace_forbidden
from possnet.errors import InputError
from possnet.learners import LEARNERS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS: Final = {
    "ink": ("#1d2733", "#e7edf3"),
    "soft": ("#5c6b7a", "#a9b8c6"),
    "rule": ("#e1e6ea", "#2c3843"),
    "ignorance": ("#8a949e", "#8a949f"),
    "blue": ("#0b6e99", "#5ec1e8"),
    "orange": ("#c44e28", "#f08a5d"),
    "green": ("#2fa36b", "#60bea0"),
    "band": ("#a8d5c3", "#2f6a55"),
    "purple": ("#7a4fb5", "#b796e8"),
    "ochre": ("#5f4700", "#f7e3a0"),
    "pink": ("#c2568f", "#eb94c0"),
    "sky": ("#4a9fd1", "#94d3f7"),
    "brick": ("#8f3a1c", "#d9906f"),
    "olive": ("#7d7a10", "#cfcb5e"),
    "steel": ("#3f5573", "#9fb4d6"),
    "moss": ("#4b6b2a", "#a9cf7f"),
}
"""Name -> the colour on light and on dark pages."""


class LineStyle(NamedTuple):
    """How one learner is drawn in every figure."""

    colour: str
    dashes: Any
    marker: str


_LINE_STYLES: Final = (
    LineStyle("orange", (0, (5, 1.6)), "s"),
    LineStyle("moss", (0, (1, 1.2)), "^"),
    LineStyle("purple", (0, (6, 1.5, 1, 1.5)), "D"),
    LineStyle("ochre", (0, (3, 1.5)), "v"),
    LineStyle("pink", (0, (3, 1, 1, 1, 1, 1)), "P"),
    LineStyle("brick", (0, (8, 2)), "X"),
    LineStyle("blue", "-", "o"),
    LineStyle("sky", (0, (10, 1.5)), "*"),
    LineStyle("olive", (0, (4, 1, 4, 3)), "p"),
    LineStyle("green", (0, (7, 1.2, 1.5, 1.2)), "h"),
    LineStyle("steel", (0, (2, 2)), "d"),
)
"""Of the learners of `possnet.learners.LEARNERS`, in their order."""
_STYLE: Final = Path(__file__).parent / "possnet.mplstyle"


def has_matplotlib() -> bool:
    """Whether matplotlib is installed.

    >>> has_matplotlib()
    True
    """
    from importlib.util import find_spec

    return find_spec("matplotlib") is not None


def learner_style(name: str, among: Sequence[str]) -> LineStyle:
    """Colour, line and marker of a learner; the same in every figure with the same learners.

    >>> learner_style("em", ["em"]).colour
    'blue'
    """
    registered = dict(zip(LEARNERS, _LINE_STYLES, strict=False))
    if name in registered:
        return registered[name]
    free = [style for known, style in registered.items() if known not in among] or _LINE_STYLES
    return free[[other for other in among if other not in registered].index(name) % len(free)]


class NothingToShow(InputError):
    """The results hold nothing of the kind that a figure shows."""


@contextmanager
def new_figure(width: float, height: float) -> Iterator[Figure]:
    """A new figure, in inches, in the look of all figures; it needs no window system and no global state."""
    if not has_matplotlib():
        raise InputError("plots: matplotlib is not installed; expected it. Install it: pip install 'possnet[plot]'")
    from matplotlib.figure import Figure

    with _styled():
        figure = Figure(figsize=(width, height), layout="constrained")
        yield figure
        figure.draw_without_rendering()
        figure.set_layout_engine("none")  # everything has its place now; saving need not find it again


@contextmanager
def _styled() -> Iterator[None]:
    """The look of all figures, and no warning for signs that the font lacks: SVG text is drawn with the reader's fonts."""
    import matplotlib as mpl

    with mpl.rc_context(fname=_STYLE), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        yield


def add_legend(figure: Figure) -> None:
    """Draw one legend above all panels, each label once, in as many columns as fit."""
    handles: dict[str, Artist] = {}
    for axes in figure.axes:
        handles |= dict(zip(*reversed(axes.get_legend_handles_labels()), strict=True))
    widest = max(measure_text(label, 9.5) for label in handles) + 5.0 * 9.5
    columns = max(1, int(72.0 * figure.get_figwidth() / widest))
    rows = -(-len(handles) // columns)
    figure.set_figheight(figure.get_figheight() + 0.2 * (rows - 1))
    figure.legend(list(handles.values()), list(handles), loc="outside upper left", ncols=columns, frameon=False)


def tidy_axes(axes: Axes) -> None:
    """Give axes two sides and a faint grid."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(length=3, labelsize=8.5)
    axes.grid(visible=True, which="major", color=COLOURS["rule"][0], lw=0.7)
    axes.set_axisbelow(True)


def svg_text(figure: Figure, title: str) -> Picture:
    """A figure as SVG text without outside references; its colours are CSS variables with the light colours behind them.

    >>> with new_figure(2, 1) as figure:
    ...     _ = figure.subplots().plot([1, 2], color=COLOURS["blue"][0])
    >>> text = svg_text(figure, "a line")
    >>> text.startswith("<svg"), "var(--blue,#0b6e99)" in text, "http" in text.replace("http://www.w3.org", "")
    (True, True, False)
    """
    return _follow_page(_plain_svg(figure), title)


def save_figure(figure: Figure, stem: Path, title: str = "figure") -> Picture:
    """Write a figure for papers, ``stem.svg`` and ``stem.pdf``, on white, the same bytes every time; gives `svg_text`."""
    from possnet.io import replace_file, write_text

    text = _plain_svg(figure)
    write_text(stem.parent / f"{stem.name}.svg", text.replace("<svg ", '<svg style="background:white" ', 1))
    with _styled(), replace_file(stem.parent / f"{stem.name}.pdf") as file:
        figure.savefig(file, format="pdf", metadata={"CreationDate": None, "Creator": None}, facecolor="white")
    return _follow_page(text, title)


def _plain_svg(figure: Figure) -> str:
    """SVG text as matplotlib writes it, without its preface and metadata."""
    stream = io.StringIO()
    with _styled():
        figure.savefig(stream, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
    text = stream.getvalue()
    text = re.sub(r"<metadata>.*?</metadata>", "", text[text.index("<svg") :], flags=re.DOTALL)
    return replace_forbidden(re.sub(r"\n\s*", "\n", text).strip())


def _follow_page(text: str, title: str) -> Picture:
    """The SVG text with a size that fits its page, a name, and colours that follow the page."""
    width = float(re.search(r'width="([\d.]+)pt"', text)[1]) * 4 / 3  # type: ignore[index]
    size = f"--w:{width:.0f}px;width:{width:.0f}px;max-width:100%;height:auto"
    head = f'<svg class="plot" role="img" aria-label="{escape_markup(title)}" style="{size}"'
    text = re.sub(r'<svg|(?<=") (?:width|height)="[\d.]+pt"', lambda m: head if m[0] == "<svg" else "", text, count=3)
    for name, (light, _) in COLOURS.items():
        text = text.replace(light, f"var(--{name},{light})")
    return Picture(text.replace("'DejaVu Sans'", "system-ui, 'DejaVu Sans'"))

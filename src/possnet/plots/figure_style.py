"""One look for every figure: colours, lines, markers and words.

Colours differ in hue for all kinds of colour vision and in lightness for greyscale; every learner also has a line and a
marker of its own. In SVG text the colours become CSS variables, so that a figure suits a light page, a dark one and paper.
"""

from __future__ import annotations

import io
import re
import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from possnet.drawing import Picture, escape_markup, measure_text, replace_forbidden
from possnet.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

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
    "green": ("#2c8f6b", "#63d0a6"),
    "purple": ("#7a4fb5", "#b796e8"),
    "ochre": ("#5f4700", "#f7e3a0"),
    "pink": ("#c2568f", "#eb94c0"),
    "sky": ("#4a9fd1", "#94d3f7"),
    "brick": ("#8f3a1c", "#d9906f"),
}
"""Name -> the colour on light and on dark pages."""


class LineStyle(NamedTuple):
    """How one learner is drawn in every figure."""

    colour: str
    dashes: Any
    marker: str


_LEARNERS: Final = {
    "em": ("EM", LineStyle("blue", "-", "o")),
    "likelihood": ("counting", LineStyle("orange", (0, (5, 1.6)), "s")),
    "histogram": ("histogram", LineStyle("green", (0, (1, 1.2)), "^")),
    "capped": ("capped counting", LineStyle("purple", (0, (6, 1.5, 1, 1.5)), "D")),
    "transform": ("transformed probabilities", LineStyle("ochre", (0, (3, 1.5)), "v")),
    "symmetric": ("symmetric transformation of probabilities", LineStyle("pink", (0, (3, 1, 1, 1, 1, 1)), "P")),
    "likelihood-corrected": ("counting with theta undone", LineStyle("brick", (0, (8, 2)), "X")),
    "em-corrected": ("EM with theta undone", LineStyle("sky", (0, (10, 1.5)), "*")),
}
_PROCESSES: Final = {
    "alpha-cut": "alpha-cut rows",
    "alpha-cut-text": "alpha-cut rows (text's law)",
    "alpha-cut-cuts": "alpha-cut rows (whole cuts)",
    "precise": "precise rows",
    "traced": "traced rows",
    "traced-text": "traced rows (text's law)",
}
_SETTINGS: Final[dict[Any, Any]] = {
    "font.size": 9.5,
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "svg.hashsalt": "possnet",
    "text.parse_math": False,
    "svg.fonttype": "none",
    "pdf.fonttype": 42,
    "text.color": COLOURS["ink"][0],
    "axes.labelcolor": COLOURS["ink"][0],
    "axes.edgecolor": COLOURS["soft"][0],
    "xtick.color": COLOURS["soft"][0],
    "ytick.color": COLOURS["soft"][0],
    "xtick.labelcolor": COLOURS["ink"][0],
    "ytick.labelcolor": COLOURS["ink"][0],
    "axes.titlesize": 9.5,
    "axes.titlelocation": "left",
    "axes.labelsize": 9.5,
    "legend.fontsize": 9.5,
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "savefig.facecolor": "none",
}


def has_matplotlib() -> bool:
    """Whether figures can be made here.

    >>> has_matplotlib()
    True
    """
    from importlib.util import find_spec

    return find_spec("matplotlib") is not None


def learner_words(name: str) -> str:
    """A learner in words.

    >>> learner_words("likelihood"), learner_words("em@greedy:traced-bic")
    ('counting', 'EM on a structure by greedy, traced-bic')
    """
    base, _, structure = name.partition("@")
    words = _LEARNERS[base][0] if base in _LEARNERS else base
    return f"{words} on a structure by {structure.replace(':', ', ')}" if structure else words


def process_words(name: str) -> str:
    """A process in words.

    >>> process_words("traced")
    'traced rows'
    """
    return _PROCESSES.get(name, name)


def learner_style(name: str, among: Sequence[str]) -> LineStyle:
    """Colour, line and marker of a learner; the same in every figure with the same learners.

    >>> learner_style("em", ["em"]).colour
    'blue'
    """
    if name in _LEARNERS:
        return _LEARNERS[name][1]
    styles = [style for known, (_, style) in _LEARNERS.items() if known not in among]
    others = [other for other in among if other not in _LEARNERS]
    return (styles or [style for _, style in _LEARNERS.values()])[others.index(name) % max(len(styles), 1)]


class NothingToShow(InputError):
    """The results hold nothing of the kind that a figure shows."""


@contextmanager
def new_figure(width: float, height: float) -> Iterator[Figure]:
    """A new figure, in inches, in the look of all figures; it needs no window system and no global state."""
    if not has_matplotlib():
        raise InputError("plots: matplotlib is not installed; expected it. Install it: pip install 'possnet[plot]'")
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context(_SETTINGS):
        figure = Figure(figsize=(width, height), layout="constrained")
        yield figure
        with _ignore_missing_glyphs():
            figure.draw_without_rendering()
        figure.set_layout_engine("none")  # everything has its place now; saving need not find it again


@contextmanager
def _ignore_missing_glyphs() -> Iterator[None]:
    """Without a warning for every sign that the font lacks: SVG text is drawn with the reader's own fonts."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        yield


def add_legend(figure: Figure) -> None:
    """One legend above all panels, each label once, in as many columns as fit."""
    found: dict[str, Artist] = {}
    for axes in figure.axes:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            found.setdefault(label, handle)
    widest = max(measure_text(label, 9.5) for label in found) + 5.0 * 9.5
    columns = max(1, int(72.0 * figure.get_figwidth() / widest))
    rows = -(-len(found) // columns)
    figure.set_figheight(figure.get_figheight() + 0.2 * (rows - 1))
    figure.legend(list(found.values()), list(found), loc="outside upper left", ncols=columns, frameon=False)


def tidy_axes(axes: Axes) -> None:
    """Axes with two sides and a faint grid."""
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
    return _themed(_svg(figure), title)


def save_figure(figure: Figure, stem: Path, title: str = "figure") -> Picture:
    """Write a figure for papers, ``stem.svg`` and ``stem.pdf``, on white, the same bytes every time; gives `svg_text`."""
    import matplotlib as mpl

    from possnet.io import replace_file, write_text

    text = _svg(figure)
    write_text(stem.parent / f"{stem.name}.svg", text.replace("<svg ", '<svg style="background:white" ', 1))
    with mpl.rc_context(_SETTINGS), _ignore_missing_glyphs(), replace_file(stem.parent / f"{stem.name}.pdf") as beside:
        figure.savefig(beside, format="pdf", metadata={"CreationDate": None, "Creator": None}, facecolor="white")
    return _themed(text, title)


def _svg(figure: Figure) -> str:
    """SVG text as matplotlib writes it, without its preface and metadata."""
    import matplotlib as mpl

    stream = io.StringIO()
    with mpl.rc_context(_SETTINGS), _ignore_missing_glyphs():
        figure.savefig(stream, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
    text = stream.getvalue()
    text = re.sub(r"<metadata>.*?</metadata>", "", text[text.index("<svg") :], flags=re.DOTALL)
    return replace_forbidden(re.sub(r"\n\s*", "\n", text).strip())


def _themed(text: str, title: str) -> Picture:
    """The same with a size that fits its page, a name, and colours that follow the page."""
    width = float(re.search(r'width="([\d.]+)pt"', text)[1]) * 4 / 3  # type: ignore[index]
    size = f"--w:{width:.0f}px;width:{width:.0f}px;max-width:100%;height:auto"
    head = f'<svg class="plot" role="img" aria-label="{escape_markup(title)}" style="{size}"'
    text = re.sub(r'<svg|(?<=") (?:width|height)="[\d.]+pt"', lambda m: head if m[0] == "<svg" else "", text, count=3)
    for name, (light, _) in COLOURS.items():
        text = text.replace(light, f"var(--{name},{light})")
    return Picture(text.replace("'DejaVu Sans'", "system-ui, 'DejaVu Sans'"))

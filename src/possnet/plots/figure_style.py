"""One look for every figure: colours, lines, markers and words.

Colours differ in hue for all kinds of colour vision and in lightness for greyscale; every learner also has a line and a
marker of its own. In SVG text the colours become CSS variables, so that a figure suits a light page, a dark one and paper.
"""

from __future__ import annotations

import io
import re
import warnings
from collections import Counter
from contextlib import contextmanager
from html import unescape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, TypeAlias

from possnet.doors import check_arguments
from possnet.drawing import Picture, escape_markup, measure_text, replace_forbidden
from possnet.errors import InputError
from possnet.learners import LEARNERS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

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
    "sky": ("#3b93c7", "#94d3f7"),
    "brick": ("#8f3a1c", "#d9906f"),
    "olive": ("#7d7a10", "#cfcb5e"),
    "steel": ("#3f5573", "#9fb4d6"),
    "moss": ("#4b6b2a", "#a9cf7f"),
    "paper": ("#ffffff", "#131a21"),
    "heat0": ("#f2f7fa", "#1a242d"),
    "heat1": ("#dcebf3", "#1e3441"),
    "heat2": ("#c1dcea", "#234657"),
    "heat3": ("#9fcade", "#295a70"),
    "heat4": ("#77b4cf", "#30708b"),
    "heat5": ("#2f7da3", "#6aaecb"),
    "heat6": ("#1a658b", "#8cc5dd"),
    "heat7": ("#0c4d6f", "#b0dcee"),
    "heat8": ("#063650", "#d6f1fb"),
}
"""Name -> the colour on light and on dark pages; ``heat0`` to ``heat8`` go from the paper to the most."""
HEAT: Final = tuple(name for name in COLOURS if name.startswith("heat"))
Columns: TypeAlias = Literal[1, 2]
"""How many columns of a paper a figure fills."""
WIDTHS: Final[dict[Columns, float]] = {1: 3.5, 2: 7.16}
"""Inches of one and of two columns of a paper."""
_SCREEN: Final = 1.38  # on a page, text of 8 pt is shown as large as the text around it


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


@check_arguments
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
    """The results hold nothing of the kind that a figure shows.

    >>> import possnet as pn
    >>> options = dict(rows=[20], imprecision=[1], process=["traced"], learners=["em"], repeats=1, rng=1, workers=1)
    >>> pn.plots.error_split(pn.evaluate(["survey"], **options), "em")
    Traceback (most recent call last):
        ...
    possnet.plots.figure_style.NothingToShow: ...
    """


@contextmanager
def new_figure(width: float, height: float, *, placed: bool = False) -> Iterator[Figure]:
    """A new figure, in inches, in the look of all figures; it needs no window system and no global state.

    ``placed`` is for figures whose axes are put where they belong, which spares the search for a layout.
    """
    if not has_matplotlib():
        raise InputError("plots: matplotlib is not installed; expected it. Install it: pip install 'possnet[plot]'")
    from matplotlib.figure import Figure

    with _styled():
        figure = Figure(figsize=(width, height), layout=None if placed else "constrained")
        yield figure
        if placed:
            return
        figure.draw_without_rendering()
        figure.set_layout_engine(None)  # everything has its place now; saving need not find it again


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
    widest = max(measure_text(label, 8.0) for label in handles) + 5.0 * 8.0
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


def place_absent_labels(axes: Axes) -> None:
    """Give the labels that axes do not have a place, which matplotlib would look for whenever it draws."""
    for axis in (axes.xaxis, axes.yaxis):
        if not axis.get_label_text():
            axis.set_label_coords(0.5, 0.5, transform=axes.transAxes)


@check_arguments
def svg_text(figure: Figure, title: str, *, prefix: str = "") -> Picture:
    """A figure as SVG text without outside references; its colours are CSS variables with the light colours behind them.

    ``prefix`` keeps what is named in a figure apart from what others on the same page name.

    >>> with new_figure(2, 1) as figure:
    ...     _ = figure.subplots().plot([1, 2], color=COLOURS["blue"][0])
    >>> text = svg_text(figure, "a line")
    >>> text.startswith("<svg"), "var(--blue,#0b6e99)" in text, "http" in text.replace("http://www.w3.org", "")
    (True, True, False)
    """
    return _follow_page(_plain_svg(figure), title, prefix)


@check_arguments
def save_figure(figure: Figure, stem: Path, title: str = "figure", *, prefix: str = "") -> Picture:
    """Write a figure for papers, ``stem.svg`` and ``stem.pdf``, on white, the same bytes every time; gives `svg_text`.

    >>> import tempfile
    >>> from pathlib import Path
    >>> import possnet as pn
    >>> clinic = pn.load_example("clinic")
    >>> figure = pn.plots.drawing_figure(pn.draw_network(clinic))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     picture = save_figure(figure, Path(folder) / "measles")
    ...     sorted(path.name for path in Path(folder).iterdir())
    ['measles.pdf', 'measles.svg']
    """
    from possnet.io import write_bytes, write_text
    from possnet.plots.svg_and_pdf import draw_svg_and_pdf

    with _styled():
        text, page = draw_svg_and_pdf(figure)
    text = _tidy_svg(text)
    write_text(stem.parent / f"{stem.name}.svg", text.replace("<svg ", '<svg style="background:white" ', 1))
    write_bytes(stem.parent / f"{stem.name}.pdf", page)
    return _follow_page(text, title, prefix)


def hover_id(texts: Sequence[str]) -> str:
    """The identifier of a line whose markers say these texts, one each, when the pointer rests on them.

    >>> hover_id(["50 rows: 0.91", "100 rows: 0.95"])
    'hover:50 rows: 0.91|100 rows: 0.95'
    """
    return f"{_HOVER}{'|'.join(text.replace('|', ' ') for text in texts)}"


_HOVER: Final = "hover:"


def _plain_svg(figure: Figure) -> str:
    """A figure as SVG text."""
    stream = io.StringIO()
    with _styled():
        figure.savefig(stream, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
    return _tidy_svg(stream.getvalue())


def _tidy_svg(text: str) -> str:
    """SVG text as matplotlib writes it, without its preface, metadata and needless names, with values for the pointer."""
    text = re.sub(r"<metadata>.*?</metadata>|<!--.*?-->", "", text[text.index("<svg") :], flags=re.DOTALL)
    text = re.sub(r' (?:d|x|y|transform|points)="[^"]*"', _round_numbers, text)
    text = _add_hover(replace_forbidden(re.sub(r"\n\s*", "\n", text).strip()))
    used = dict.fromkeys(re.findall(r"#([\w-]+)", text))
    names = {
        name: f"i{number}" for number, name in enumerate(used)
    }  # matplotlib's own depend on the last digits of places
    text = re.sub(r' id="([^"]*)"', lambda m: _name_element(m[1], names), text)
    return re.sub(r"""(["(]#)([\w-]+)""", lambda m: f"{m[1]}{names[m[2]]}" if m[2] in names else m[0], text)


PANEL: Final = "panel-"
"""What the names of panels in a figure begin with; links on a page may lead there."""


def _name_element(name: str, names: Mapping[str, str]) -> str:
    """The attribute of what is referred to, under its short name, or of a panel; nothing for all else."""
    return f' id="{names.get(name, name)}"' if name in names or name.startswith(PANEL) else ""


def _round_numbers(match: re.Match[str]) -> str:
    """Places in hundredths of a point, which nobody can see."""
    return re.sub(r"(\.\d\d)\d+", r"\1", match[0])


def _add_hover(text: str) -> str:
    """SVG text in which every marker of a line with `hover_id` has its text as a title."""
    first, *others = text.split(f'<g id="{_HOVER}')
    parts = [first]
    for other in others:
        titles, _, rest = other.partition('">')
        markers = iter(titles.split("|"))

        def name_marker(match: re.Match[str], markers: Iterator[str] = markers) -> str:
            return f"{match[1]}><title>{next(markers)}</title></use>"

        parts.append(f"<g>{re.sub(r'(<use [^>]*?)/>', name_marker, rest, count=titles.count('|') + 1)}")
    return "".join(parts)


def _share_styles(text: str, prefix: str) -> str:
    """SVG text in which styles that occur often are classes, which makes it about a third smaller."""
    counts = Counter(re.findall(r' style="([^"]{24,})"', text))
    classes = {style: f"{prefix}-{k}" for k, (style, count) in enumerate(counts.most_common()) if count > 2}
    rules = "".join(f".{name}{{{unescape(style)}}}" for style, name in classes.items())
    text = re.sub(r' style="([^"]*)"', lambda m: f' class="{classes[m[1]]}"' if m[1] in classes else m[0], text)
    head, _, rest = text.partition(">")
    return f"{head}><style>{rules}</style>{rest}" if rules else text


def _follow_page(text: str, title: str, prefix: str) -> Picture:
    """The SVG text with a size that fits its page, a name, and colours that follow the page."""
    width = float(re.search(r'width="([\d.]+)pt"', text)[1]) * 4 / 3 * _SCREEN  # type: ignore[index]
    size = f"--w:{width:.0f}px;width:{width:.0f}px;max-width:100%;height:auto"
    head = f'<svg class="plot" role="img" aria-label="{escape_markup(title)}" style="{size}"'
    text = re.sub(r'<svg|(?<=") (?:width|height)="[\d.]+pt"', lambda m: head if m[0] == "<svg" else "", text, count=3)
    if prefix:
        text = _share_styles(re.sub(r'( id="|="#|url\(#)', rf"\g<1>{prefix}-", text), prefix)
    for name, (light, _) in COLOURS.items():
        text = text.replace(light, f"var(--{name},{light})")
    return Picture(text.replace("'DejaVu Sans'", "system-ui, 'DejaVu Sans'"))

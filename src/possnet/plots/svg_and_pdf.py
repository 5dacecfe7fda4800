"""A figure drawn once for two files: SVG text for pages, and a PDF for papers, the same bytes every time.

To save a figure, matplotlib walks through its parts and lays out its text, for every file anew; that walk takes most of
the time. Here one walk draws into both files. What either file needs of a part is done by matplotlib's own renderers.
"""

from __future__ import annotations

import atexit
import io
from contextlib import ExitStack, contextmanager
from functools import cache
from math import isfinite
from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from matplotlib.figure import Figure

_NO_METADATA: Final = {"Date": None, "Creator": None, "Format": None, "Type": None}
_INCH: Final = 72  # points


def draw_svg_and_pdf(figure: Figure) -> tuple[str, bytes]:
    """SVG text without a ground and a PDF on white, in the look that is set.

    >>> from matplotlib.figure import Figure
    >>> text, page = draw_svg_and_pdf(Figure(figsize=(1.0, 0.5)))
    >>> text.count('width="72pt" height="36pt"'), page[:5]
    (1, b'%PDF-')
    """
    import matplotlib as mpl
    from matplotlib.backends import backend_pdf, backend_svg

    pdf: Any = backend_pdf
    svg: Any = backend_svg
    text, page = io.StringIO(), io.BytesIO()
    width, height = figure.get_size_inches()
    fonts: Any = {"font.sans-serif": [*_slim_fonts(), *mpl.rcParams["font.sans-serif"]]}
    with mpl.rc_context(fonts), _rounded_numbers(), _drawn_in_points(figure):
        file = pdf.PdfFile(page, metadata={"CreationDate": None, "Creator": None})
        try:
            file.newPage(width, height)
            plain = svg.RendererSVG(_INCH * width, _INCH * height, text, image_dpi=_INCH, metadata=_NO_METADATA)
            paper = pdf.RendererPdf(file, _INCH, height, width)
            _paint_white(paper, width, height)
            twin: Any = _TwinRenderer(plain, paper, _INCH * height)
            figure.draw(twin)
            plain.finalize()
            paper.finalize()
            file.finalize()
        finally:
            file.close()
    return text.getvalue().replace(f"'{_SLIM}', ", ""), page.getvalue()


def load_drawing() -> None:
    """Load what every figure needs: half a second that a process may spend before it draws the first.

    >>> load_drawing()
    """
    from matplotlib.figure import Figure

    draw_svg_and_pdf(Figure(figsize=(1.0, 1.0)))


@contextmanager
def _drawn_in_points(figure: Figure) -> Iterator[None]:
    """A figure without a ground of its own, whose units are points."""
    dpi, ground = figure.dpi, figure.get_facecolor()
    figure.dpi = _INCH
    figure.set_facecolor("none")
    try:
        yield
    finally:
        figure.dpi = dpi
        figure.set_facecolor(ground)


def _paint_white(renderer: Any, width: float, height: float) -> None:
    from matplotlib.path import Path as Line
    from matplotlib.transforms import Affine2D

    look = renderer.new_gc()
    look.set_linewidth(0.0)
    renderer.draw_path(
        look, Line.unit_rectangle(), Affine2D().scale(_INCH * width, _INCH * height), (1.0, 1.0, 1.0, 1.0)
    )


class _TwinRenderer:
    """Hands all that is drawn to the renderers of both files; what a figure asks of sizes and places, the first answers."""

    def __init__(self, plain: Any, paper: Any, height: float) -> None:
        self._plain = plain
        self._paper = paper
        self._height = height

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("draw_"):
            return getattr(self._plain, name)
        draw_plain, draw_paper = getattr(self._plain, name), getattr(self._paper, name)

        def draw_both(*args: Any, **kwargs: Any) -> None:
            draw_plain(*args, **kwargs)
            draw_paper(*args, **kwargs)

        setattr(self, name, draw_both)  # looked up only once
        return draw_both

    def new_gc(self) -> Any:
        """How a part is drawn; that of a PDF has all that SVG text needs."""
        return self._paper.new_gc()

    def draw_text(self, look: Any, x: float, y: float, *args: Any, **kwargs: Any) -> None:
        """Text in both files: places are measured from the top in SVG text, and from the bottom in a PDF."""
        self._plain.draw_text(look, x, y, *args, **kwargs)
        self._paper.draw_text(look, x, self._height - y, *args, **kwargs)


@contextmanager
def _rounded_numbers() -> Iterator[None]:
    """Write numbers of a PDF with four decimals, far finer than any printer.

    matplotlib writes ten; the last of them hangs on how sums are rounded, which differs from run to run, and with it the
    bytes of the file.
    """
    from matplotlib.backends import backend_pdf

    represent: Any = backend_pdf.pdfRepr

    def represent_rounded(value: object) -> bytes:
        if isinstance(value, float) and isfinite(value):
            return (b"%.4f" % value).rstrip(b"0").rstrip(b".")
        written: bytes = represent(round(float(value), 4) if isinstance(value, np.floating) else value)
        return written

    backend_pdf.pdfRepr = represent_rounded
    try:
        yield
    finally:
        backend_pdf.pdfRepr = represent


@cache
def _slim_fonts() -> tuple[str, ...]:
    """The family of copies of the figures' font with common signs alone, registered with matplotlib.

    A PDF has the used part of its fonts. To find it, fontTools reads the whole font anew for every figure, which took most
    of the time of writing one. Other signs, and all where copies cannot be made, are taken from the font itself.
    """
    from matplotlib import font_manager

    from possnet.io import write_bytes

    try:
        from fontTools.subset import Options, Subsetter
        from fontTools.ttLib import TTFont

        for weight in ("normal", "bold"):
            file = font_manager.findfont(font_manager.FontProperties(family="DejaVu Sans", weight=weight))
            slim, content = _fonts_folder() / f"{weight}.ttf", io.BytesIO()
            with TTFont(file, recalcTimestamp=False, recalcBBoxes=False, lazy=True) as font:
                for table in _NEEDLESS & set(font.keys()):
                    del font[table]
                smaller = Subsetter(Options(name_IDs=["*"], glyph_names=True, notdef_outline=True, hinting=False))
                smaller.populate(unicodes=[sign for first, end in _SIGNS for sign in range(first, end)])
                smaller.subset(font)
                for record in font["name"].names:
                    if record.nameID in {1, 4, 6, 16}:  # family, full name, PostScript name, typographic family
                        record.string = _SLIM if record.nameID in {1, 16} else f"{_SLIM.replace(' ', '')}-{weight}"
                font.save(content)
            write_bytes(slim, content.getvalue(), durable=False)
            font_manager.fontManager.addfont(slim)
    except (ImportError, OSError, KeyError, ValueError):
        return ()
    return (_SLIM,)


@cache
def _fonts_folder() -> Path:
    """A folder that goes when the program ends."""
    from possnet.io import temporary_folder

    stack = ExitStack()
    atexit.register(stack.close)
    return stack.enter_context(temporary_folder())


_SLIM: Final = "possnet Sans"
_NEEDLESS: Final = frozenset({"GSUB", "GPOS", "GDEF", "FFTM", "MATH", "gasp"})
_SIGNS: Final = ((0x20, 0x180), (0x370, 0x400), (0x2010, 0x20A0), (0x2190, 0x2300), (0x25A0, 0x2600))
"""Latin, Greek, punctuation, arrows, mathematics and shapes: from, and up to."""

"""SVG text of scenes.

Colours are CSS variables with a light and a dark set, so that one picture suits a light page, a dark page and paper.
Nothing is fetched from anywhere.
"""

from __future__ import annotations

import re
from html import escape
from typing import TYPE_CHECKING, Final

from possnet.drawing.scene import Arrow, Group, Label, Rectangle

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from possnet.drawing.scene import Scene

COLOURS: Final = {
    "ink": ("#1d2733", "#e7edf3"),
    "soft": ("#5c6b7a", "#a9b8c6"),
    "card": ("#ffffff", "#1b242d"),
    "edge": ("#7f8e9d", "#70808f"),
    "line": ("#c7d0d9", "#3d4a56"),
    "possible": ("#5c9ab8", "#3f7a94"),
    "band": ("#d9e9f2", "#274452"),
    "outline": ("#5f93ab", "#4f8aa5"),
    "necessary": ("#0b4a68", "#a9e4ff"),
    "mark": ("#c44e28", "#f08a5d"),
    "added": ("#1f8a4c", "#58c98b"),
    "removed": ("#c44e28", "#f08a5d"),
    "reversed": ("#7a4fb5", "#b796e8"),
    "paper": ("#ffffff", "#131a21"),
}
"""Name -> the colour on light and on dark pages.

Bars are told apart from the card, and their certain part from the rest, by a contrast of 3 : 1 at least (WCAG 1.4.11).
"""

_FORBIDDEN = re.compile(
    "[\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f\\x7f-\\x9f\\u202a-\\u202e\\u2066-\\u2069\\ud800-\\udfff\\ufffe\\uffff]"
)


class Picture(str):
    """SVG or HTML text that a notebook shows as a picture.

    >>> Picture("<svg></svg>")._repr_html_()
    '<svg></svg>'
    """

    __slots__ = ()

    def _repr_html_(self) -> str:
        return str(self)


class Drawing(Picture):
    """The SVG text of a scene, and the scene itself, for other formats."""

    __slots__ = ("scene",)
    scene: Scene


def escape_markup(text: str) -> str:
    r"""Escape a text for mark-up; characters that no mark-up may hold become U+FFFD.

    >>> escape_markup("a<b") == "a&lt;b", escape_markup("a\x01") == "a\N{REPLACEMENT CHARACTER}"
    (True, True)
    """
    return escape(replace_forbidden(text), quote=True)


def replace_forbidden(text: str) -> str:
    r"""Replace what XML forbids, further control characters and bidirectional overrides by U+FFFD.

    >>> replace_forbidden("tab\tstays") == "tab\tstays"
    True
    """
    return _FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", text)


def css_colours(colours: Mapping[str, tuple[str, str]]) -> tuple[str, str]:
    """Colours as CSS variables, for light pages and for dark ones.

    >>> css_colours({"ink": ("#000", "#fff")})
    ('--ink:#000', '--ink:#fff')
    """
    light = ";".join(f"--{name}:{pair[0]}" for name, pair in colours.items())
    dark = ";".join(f"--{name}:{pair[1]}" for name, pair in colours.items())
    return light, dark


def render_svg(scene: Scene) -> Drawing:
    """SVG text of a scene.

    >>> from possnet.drawing.scene import Scene
    >>> render_svg(Scene("a bar", (Rectangle(0, 0, 40, 8, fill="possible"),), 40, 8)).count("<rect")
    1
    """
    light, dark = css_colours(COLOURS)
    arrows = [shape for shape in scene.shapes if isinstance(shape, Arrow) and shape.tip != "none"]
    tips = "".join(
        f'<marker id="tip-{colour}-{size}" viewBox="0 0 8 8" refX="2" refY="4" markerWidth="{size}" markerHeight="{size}" '
        'orient="auto-start-reverse" markerUnits="userSpaceOnUse">'
        f'<path d="M0 0L8 4L0 8z" fill="var(--{colour})"/></marker>'
        for colour, size in sorted({(arrow.colour, arrow.tip_size) for arrow in arrows})
    )
    margin, width, height = scene.margin, scene.width + 2 * scene.margin, scene.height + 2 * scene.margin
    drawing = Drawing(
        f'<svg xmlns="http://www.w3.org/2000/svg" class="possnet" role="img" aria-label="{escape_markup(scene.title)}" '
        f'width="{width:.0f}" height="{height:.0f}" style="--w:{width:.0f}px" '
        f'viewBox="{-margin:g} {-margin:g} {width:.0f} {height:.0f}" '
        'font-family="system-ui, sans-serif">'
        f"<style>svg.possnet{{{light};max-width:100%;height:auto}}"
        f"@media (prefers-color-scheme:dark){{svg.possnet{{{dark}}}}}"
        f"@media print{{svg.possnet{{{light}}}}}</style>"
        f"<defs>{tips}</defs>{''.join(_render_shapes(scene.shapes))}</svg>"
    )
    drawing.scene = scene
    return drawing


def _render_shapes(shapes: Iterable[Rectangle | Label | Arrow | Group]) -> Iterator[str]:
    for shape in shapes:
        match shape:
            case Rectangle(x, y, width, height, radius, fill, stroke, thickness):
                inside = f"var(--{fill})" if fill else "none"
                line = f' stroke="var(--{stroke})" stroke-width="{thickness}"' if stroke else ""
                place = f'x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}"'
                yield f'<rect {place} rx="{radius}" fill="{inside}"{line}/>'
            case Label(text, x, y, size, colour, anchor, weight):
                yield (
                    f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size:g}" fill="var(--{colour})" '
                    f'text-anchor="{anchor}" font-weight="{weight}">{escape_markup(text)}</text>'
                )
            case Arrow(start, segments, colour, thickness, dashes, tip, opacity, title):
                line = f"M{start[0]:.1f} {start[1]:.1f}"
                for segment in segments:
                    line += "L" if len(segment) == 1 else "C"
                    line += " ".join(f"{x:.1f} {y:.1f}" for x, y in segment)
                dashed = f' stroke-dasharray="{" ".join(f"{dash:g}" for dash in dashes)}"' if dashes else ""
                tipped = f' marker-{tip}="url(#tip-{colour}-{shape.tip_size})"' if tip != "none" else ""
                faint = f' opacity="{opacity:g}"' if opacity < 1.0 else ""
                path = f'<path d="{line}" fill="none" stroke="var(--{colour})" stroke-width="{thickness:g}"'
                path += f"{dashed}{tipped}{faint}"
                yield f"{path}><title>{escape_markup(title)}</title></path>" if title else f"{path}/>"
            case Group(title, inner):
                yield f'<g class="node"><title>{escape_markup(title)}</title>{"".join(_render_shapes(inner))}</g>'

"""Pictures as SVG and HTML text: layered graphs, bars and tables, from plain texts and numbers."""

from possnet.drawing.html_tables import draw_table, text_table
from possnet.drawing.layered_layout import Layout, Sizes, compute_layout
from possnet.drawing.svg import (
    COLOURS,
    Bar,
    Card,
    Detail,
    Picture,
    clip_text,
    css_colours,
    draw_bars,
    draw_graph,
    escape_markup,
    measure_text,
    replace_forbidden,
)

__all__ = [
    "COLOURS",
    "Bar",
    "Card",
    "Detail",
    "Layout",
    "Picture",
    "Sizes",
    "clip_text",
    "compute_layout",
    "css_colours",
    "draw_bars",
    "draw_graph",
    "draw_table",
    "escape_markup",
    "measure_text",
    "replace_forbidden",
    "text_table",
]

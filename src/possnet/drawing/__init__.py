"""Pictures as SVG and HTML text: layered graphs, bars and tables, from plain texts and numbers."""

from possnet.drawing.graph_drawings import Bar, Card, Detail, draw_bars, draw_graph
from possnet.drawing.html_tables import draw_table, text_table
from possnet.drawing.layered_layout import Layout, Sizes, compute_layout
from possnet.drawing.scene import Arrow, Group, Label, Rectangle, Scene
from possnet.drawing.svg import COLOURS, Drawing, Picture, css_colours, escape_markup, render_svg, replace_forbidden
from possnet.drawing.text_metrics import clip_text, measure_text

__all__ = [
    "COLOURS",
    "Arrow",
    "Bar",
    "Card",
    "Detail",
    "Drawing",
    "Group",
    "Label",
    "Layout",
    "Picture",
    "Rectangle",
    "Scene",
    "Sizes",
    "clip_text",
    "compute_layout",
    "css_colours",
    "draw_bars",
    "draw_graph",
    "draw_table",
    "escape_markup",
    "measure_text",
    "render_svg",
    "replace_forbidden",
    "text_table",
]

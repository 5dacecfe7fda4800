"""Pictures as SVG and HTML text: layered graphs, bars and tables, from plain texts and numbers."""

from possnet.drawing.layers import Layout, layered
from possnet.drawing.svg import COLOURS, Bar, Card, Detail, Picture, clipped, draw_bars, draw_graph, escape, printable
from possnet.drawing.tables import draw_table, text_table

__all__ = [
    "COLOURS",
    "Bar",
    "Card",
    "Detail",
    "Layout",
    "Picture",
    "clipped",
    "draw_bars",
    "draw_graph",
    "draw_table",
    "escape",
    "layered",
    "printable",
    "text_table",
]

"""Pictures as SVG text: layered graphs and bars, from plain texts and numbers."""

from possnet.drawing.layers import Layout, layered
from possnet.drawing.svg import Bar, Card, Detail, draw_bars, draw_graph

__all__ = ["Bar", "Card", "Detail", "Layout", "draw_bars", "draw_graph", "layered"]

"""The names of `possnet.drawing`, each listed once: `possnet.drawing.__init__` loads them from here when first used."""

from .curve_panels import CurvePanel as CurvePanel, PlainCurve as PlainCurve, draw_curves as draw_curves
from .graph_drawings import (
    Bar as Bar,
    Card as Card,
    Detail as Detail,
    Line as Line,
    draw_bars as draw_bars,
    draw_graph as draw_graph,
)
from .graph_outline import draw_outline as draw_outline
from .html_tables import draw_details as draw_details, draw_table as draw_table, text_table as text_table
from .layered_layout import compute_layout as compute_layout
from .number_format import format_number as format_number
from .scene import Arrow as Arrow, Group as Group, Label as Label, Rectangle as Rectangle
from .svg import (
    COLOURS as COLOURS,
    Drawing as Drawing,
    Picture as Picture,
    css_colours as css_colours,
    escape_markup as escape_markup,
    render_svg as render_svg,
    replace_forbidden as replace_forbidden,
)
from .text_metrics import clip_text as clip_text, measure_text as measure_text

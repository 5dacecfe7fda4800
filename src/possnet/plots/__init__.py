"""Figures from values. Drawings of networks need nothing more; the others need matplotlib (``possnet[plot]``)."""

from possnet.plots.curves import error_split, learning_curves
from possnet.plots.drawings import drawing_figure
from possnet.plots.heat import context_heatmap, variable_heatmap, worst_variable
from possnet.plots.learned import em_climb, support_calibration
from possnet.plots.networks import draw_difference, draw_network
from possnet.plots.style import COLOURS, has_matplotlib, learner_words, process_words, save_figure, svg_text

__all__ = [
    "COLOURS",
    "context_heatmap",
    "draw_difference",
    "draw_network",
    "drawing_figure",
    "em_climb",
    "error_split",
    "has_matplotlib",
    "learner_words",
    "learning_curves",
    "process_words",
    "save_figure",
    "support_calibration",
    "svg_text",
    "variable_heatmap",
    "worst_variable",
]

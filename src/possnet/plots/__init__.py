"""Figures from values. Drawings of networks need nothing more; the others need matplotlib (``possnet[plot]``)."""

from possnet.plots.curves import error_split, learning_curves
from possnet.plots.drawing_figures import drawing_figure
from possnet.plots.figure_style import (
    COLOURS,
    NothingToShow,
    has_matplotlib,
    learner_style,
    save_figure,
    svg_text,
)
from possnet.plots.heatmaps import context_heatmap, variable_heatmap, worst_variable
from possnet.plots.learning_diagnostics import em_convergence, support_calibration
from possnet.plots.network_drawings import draw_difference, draw_network

__all__ = [
    "COLOURS",
    "NothingToShow",
    "context_heatmap",
    "draw_difference",
    "draw_network",
    "drawing_figure",
    "em_convergence",
    "error_split",
    "has_matplotlib",
    "learner_style",
    "learning_curves",
    "save_figure",
    "support_calibration",
    "svg_text",
    "variable_heatmap",
    "worst_variable",
]

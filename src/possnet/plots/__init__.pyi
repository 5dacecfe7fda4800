"""The names of `possnet.plots`, each listed once: `possnet.plots.__init__` loads them from here when first used."""

from .bounds_figures import bounds_figure as bounds_figure
from .check_figures import accuracy_bars as accuracy_bars, reliability_curves as reliability_curves
from .curves import (
    choose_spread as choose_spread,
    error_split as error_split,
    learning_curves as learning_curves,
    overview_curves as overview_curves,
)
from .drawing_figures import drawing_figure as drawing_figure
from .explanation_figures import (
    contribution_tornado as contribution_tornado,
    sensitivity_curves as sensitivity_curves,
)
from .figure_style import (
    COLOURS as COLOURS,
    Columns as Columns,
    NothingToShow as NothingToShow,
    has_matplotlib as has_matplotlib,
    learner_style as learner_style,
    save_figure as save_figure,
    svg_text as svg_text,
)
from .heatmaps import (
    context_heatmap as context_heatmap,
    variable_heatmap as variable_heatmap,
    worst_variable as worst_variable,
)
from .learning_diagnostics import em_convergence as em_convergence, support_calibration as support_calibration
from .network_display import (
    display_network as display_network,
    explain_outline as explain_outline,
    outline_network as outline_network,
)
from .network_drawings import draw_difference as draw_difference, draw_network as draw_network
from .svg_and_pdf import load_drawing as load_drawing

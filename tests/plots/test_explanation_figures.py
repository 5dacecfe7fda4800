"""Figures of explanations."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.patches import Rectangle

import possnet as pn
from possnet import plots

RECORD = {"fever": "high", "rash": "spots", "vaccinated": "no"}


def test_a_tornado_has_a_bar_for_each_finding_as_long_as_its_share() -> None:
    shares = pn.contributions(pn.load_example("clinic"), "measles", RECORD, "yes")
    figure = plots.contribution_tornado(shares)
    for axes, kind in zip(figure.axes, ("possibility", "necessity"), strict=True):
        widths = [bar.get_width() for bar in axes.patches if isinstance(bar, Rectangle)]
        assert sorted(widths) == pytest.approx(sorted(getattr(s, kind) for s in shares))
    assert [label.get_text() for label in figure.axes[0].get_yticklabels()] == [s.finding for s in shares]
    (only,) = plots.contribution_tornado(shares, on="necessity").axes
    assert only.get_title("left") == "certain (N)"
    with pytest.raises(pn.InputError, match="on 'all'; expected both, possibility, necessity"):
        plots.contribution_tornado(shares, on="all")
    with pytest.raises(plots.NothingToShow):
        plots.contribution_tornado(pn.contributions(pn.load_example("clinic"), "measles", {}))


def test_a_curve_passes_through_today_and_is_the_closed_form() -> None:
    for conjunction in (pn.PRODUCT, pn.MIN):
        clinic = pn.load_example("clinic")
        tables = {v.name: clinic.table(v.name) for v in clinic.variables}
        net = pn.Network(clinic.variables, clinic.dag, tables, conjunction=conjunction)
        result = pn.sensitivity(net, "measles", "yes", {"rash": "spots"})
        figure = plots.sensitivity_curves(result, most=3)
        assert len(figure.axes) == 3
        for axes, entry in zip(figure.axes, result, strict=False):
            lines = [np.asarray(line.get_xydata()) for line in axes.lines]
            *curves, today = [points for points in lines if len(points) != 2]  # of two points are the break points
            assert today.tolist() == [[entry.degree, entry.answer]]
            for points in curves:
                x, y = points.T
                assert y[len(y) // 2] == pytest.approx(entry.value(float(x[len(x) // 2])))
    assert len(plots.sensitivity_curves(result[0]).axes) == 1
    with pytest.raises(plots.NothingToShow):
        plots.sensitivity_curves([])


def test_drawings_of_explanations_and_scenarios_become_figures() -> None:
    clinic = pn.load_example("clinic")
    why = pn.explain(clinic, "measles", RECORD, "yes")
    assert why._repr_html_() == why.draw()
    texts = [text.get_text() for text in plots.drawing_figure(why.draw()).axes[0].texts]
    assert "best story with measles=yes" in texts
    assert texts.count("spots") == 2  # the same state with another degree in each story
    done = pn.scenarios(clinic, {"seen": {"flu": "yes"}, "done": pn.Scenario(do={"flu": "yes"})})
    assert done._repr_html_() == done.draw()
    assert done.draw().count("marker-end") < pn.draw_network(clinic).count("marker-end")  # what is done has no parents

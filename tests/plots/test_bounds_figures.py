"""Bounds of degrees as a figure: intervals, identified points, and the truth."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from matplotlib.collections import LineCollection

import possnet as pn
from possnet import plots


def drawn(axes: Any) -> tuple[dict[int, tuple[float, float]], dict[str, dict[int, float]]]:
    """Intervals by line, and marks by label and line."""
    bars = {
        round(bar.get_y() + bar.get_height() / 2): (bar.get_x(), bar.get_x() + bar.get_width())
        for container in axes.containers
        for bar in container
    }
    marks = {
        line.get_label(): {round(y): x for x, y in zip(line.get_xdata(), line.get_ydata(), strict=True)}
        for line in axes.get_lines()
    }
    return bars, marks


@pytest.mark.parametrize("name", ["clinic", "pump"])
def test_every_entry_is_an_interval_or_a_point_beside_the_truth(name: str) -> None:
    net = pn.load_example(name)
    told = pn.identify_degrees(net)
    figure = plots.bounds_figure(told, truth=net)
    panels = {axes.get_title("left"): axes for axes in figure.axes}
    assert set(panels) == {v.name for v in net.variables if net.dag.parents(v.name)}
    for variable, axes in panels.items():
        bars, marks = drawn(axes)
        lower, upper, true = (np.ravel(t) for t in (told.lower[variable], told.upper[variable], net.table(variable)))
        for line, (low, high, degree) in enumerate(zip(lower, upper, true, strict=True)):
            assert marks["truth"][line] == degree
            if told.identified[variable].flat[line]:
                assert marks["identified"][line] == pytest.approx(degree)
                assert line not in bars
            else:
                assert bars[line] == pytest.approx((low, high))
        labels = [text.get_text() for text in axes.texts]
        assert len(labels) == net.table(variable).size
        assert labels[0].endswith(net.variable(variable).states[0])


def test_a_network_that_carries_bounds_is_shown_and_truth_outside_is_marked() -> None:
    rash = pn.Variable("rash", ("none", "spots", "widespread"))
    dag = pn.Dag({"rash": ()})
    net = pn.Network((rash,), dag, {"rash": [1, 0.5, 0.3]})
    bounded = net.with_bounds({"rash": [1, 0.2, 0.3]}, {"rash": [1, 0.6, 0.3]})
    true = pn.Network((rash,), dag, {"rash": [1, 0.1, 0.3]})
    bars, marks = drawn(plots.bounds_figure(bounded, truth=true).axes[0])
    assert bars == {1: pytest.approx((0.2, 0.6))}
    assert marks["chosen"] == {1: 0.5}
    assert marks["identified"] == {0: 1.0, 2: 0.3}
    assert marks["truth, outside the bounds"] == {1: 0.1}
    assert marks["truth"] == {0: 1.0, 2: 0.3}
    with pytest.raises(pn.InputError, match="carries no bounds; expected one that does"):
        plots.bounds_figure(net)


def test_standard_errors_are_whiskers_and_the_automatic_choice_is_shown_too() -> None:
    clinic = pn.load_example("clinic")
    data = pn.sample(clinic, 500, rng=1)
    result = pn.fit_auto(clinic.dag, data)
    assert isinstance(result.result, pn.CutResult)
    figure = plots.bounds_figure(result, variables="rash", title="500 rows")
    (axes,) = figure.axes
    whiskers = next(c for c in axes.collections if isinstance(c, LineCollection)).get_segments()
    error, low, high = (np.ravel(t["rash"]) for t in (result.result.error, result.result.lower, result.result.upper))
    for line, ((x, y), (end, _)) in enumerate(whiskers):
        assert y == line
        assert x == pytest.approx(max(low[line] - 2 * error[line], 0.0) if low[line] > 0 else 0.0)
        assert end == pytest.approx(min(high[line] + 2 * error[line], 1.0) if high[line] < 1 else 1.0)
    assert figure.legends[0].get_title().get_text() == "500 rows"


def test_large_networks_are_shown_in_part_and_that_is_said() -> None:
    net = pn.random_network(40, rng=1)
    everything = net.with_bounds(
        {v.name: np.zeros_like(net.table(v.name)) for v in net.variables},
        {v.name: np.ones_like(net.table(v.name)) for v in net.variables},
    )
    figure = plots.bounds_figure(everything)
    lines = sum(len(axes.texts) for axes in figure.axes)
    assert 60 < lines <= 120
    children = [v.name for v in net.variables if net.dag.parents(v.name)]
    assert f"the first {len(figure.axes)} of {len(children)} variables" in figure.legends[0].get_title().get_text()
    with pytest.raises(pn.InputError, match="no variable"):
        plots.bounds_figure(everything, variables=["nobody"])
    with pytest.raises(pn.InputError, match="no variables; expected at least one"):
        plots.bounds_figure(everything, variables=[])
    with pytest.raises(pn.InputError, match="expected a possnet.CutResult"):
        plots.bounds_figure(pn.fit_em(net.dag, pn.sample(net, 20, process="traced", rng=1)))  # type: ignore[arg-type]


def test_the_limit_of_the_cut_likelihood_is_a_line_of_its_own() -> None:
    how: dict[str, Any] = {"rows": [100, 300], "imprecision": 1, "process": "alpha-cut", "repeats": 1, "rng": 1}
    results = pn.evaluate(["clinic"], learners=["likelihood", "cut"], workers=1, **how)
    (axes,) = plots.learning_curves(results).axes
    clinic = pn.load_example("clinic")
    lines = {line.get_label(): line for line in axes.get_lines()}
    for label, limit in (
        ("_limit of counting", pn.sampling_limit(clinic)),
        ("_limit of cut likelihood", pn.identify_degrees(clinic).network),
    ):
        expected = pn.compare(clinic, limit)["child_affinity"].value
        assert np.asarray(lines[label].get_ydata()) == pytest.approx([expected])
    first, second = (lines[f"_limit of {name}"] for name in ("counting", "cut likelihood"))
    assert first.get_color() != second.get_color()

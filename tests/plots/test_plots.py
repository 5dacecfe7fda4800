"""Figures show the numbers they are made of, in one look that does not need colour."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pytest

import possnet as pn
from possnet import plots
from possnet.learners import LEARNERS
from possnet.plots import learner_style

SVG = "{http://www.w3.org/2000/svg}"


def small(networks: Sequence[str] = ("asia",), **options: Any) -> pn.Results:
    how: dict[str, Any] = {"imprecision": 1, "process": "traced", "repeats": 1}
    return pn.evaluate(networks, **(how | options), rng=1, workers=1)


@pytest.fixture(scope="module")
def results() -> pn.Results:
    return small(rows=[50, 400], imprecision=[0.5, 1], process=["traced", "precise"], repeats=3)


def lines(axes: Any) -> dict[str, tuple[list[float], list[float]]]:
    return {line.get_label(): (list(line.get_xdata()), list(line.get_ydata())) for line in axes.get_lines()}


@pytest.mark.parametrize("metric", ["child_affinity", "child_mean_error", "max_error"])
def test_curves_show_means_ignorance_and_limit(results: pn.Results, metric: str) -> None:
    figure = plots.learning_curves(results, metric)
    panels = {axes.get_title("left"): lines(axes) for axes in figure.axes if axes.get_visible()}
    assert set(panels) == {"traced rows, imprecision 0.5", "traced rows, imprecision 1", "precise rows"}
    summaries = [s for s in results.summary(metric) if s.process == "traced" and s.imprecision == 1]
    shown = panels["traced rows, imprecision 1"]
    for learner, label in (("likelihood", "counting"), ("em", "EM")):
        own = [s for s in summaries if s.learner == learner]
        assert shown[label] == ([50, 400], [s.mean for s in own])
    assert shown["ignorance"][1] == [s.vacuous for s in summaries if s.learner == "em"]
    assert shown["limit of counting (endless rows)"][1] == [s.limit for s in summaries if s.learner == "likelihood"]


def test_curves_against_imprecision_use_the_most_rows(results: pn.Results) -> None:
    (axes,) = plots.learning_curves(results, against="imprecision").axes
    summaries = [
        s for s in results.summary("child_affinity") if s.rows == 400 and s.process == "traced" and s.learner == "em"
    ]
    assert lines(axes)["EM"] == ([0.5, 1.0], [s.mean for s in summaries])
    assert "400 rows" in axes.get_xlabel()


def test_everything_that_is_drawn_is_in_view(results: pn.Results) -> None:
    for figure in (
        plots.learning_curves(results),
        plots.learning_curves(results, "mean_error"),
        plots.error_split(results),
    ):
        for axes in figure.axes:
            low, high = axes.get_ylim()
            for label, (_, ys) in lines(axes).items():
                assert all(low <= y <= high for y in ys if y > 0), label


def test_bias_and_noise_are_those_of_the_limit(results: pn.Results) -> None:
    figure = plots.error_split(results)
    axes = next(axes for axes in figure.axes if axes.get_title("left") == "traced rows, imprecision 1")
    net = pn.load_example("asia")
    limit = pn.sampling_limit(net, process="traced")
    bias = pn.compare(net, limit)["child_mean_error"].value
    assert lines(axes)["bias: limit − truth"][1] == pytest.approx([bias, bias])
    noise = [s.mean for s in results.summary("child_noise") if s.process == "traced" and s.imprecision == 1]
    assert lines(axes)["noise: learned − limit"][1] == noise
    with pytest.raises(pn.InputError, match="no limit is known for 'em'"):
        plots.error_split(results, "em")


def test_a_network_without_a_limit_has_no_split_beside_one_that_has() -> None:
    results = small(["asia", "survey"], rows=30, learners="likelihood")
    outcomes = [
        o if c.network == "asia" else o._replace(metrics={n: (v, i, None) for n, (v, i, _) in o.metrics.items()})
        for c, o in zip(results.trials, results.outcomes, strict=True)
    ]
    partial = pn.Results(results.trials, tuple(outcomes))
    assert len(plots.error_split(partial, network="asia").axes) == len(plots.error_split(partial).axes) == 1
    with pytest.raises(pn.InputError, match="no limit is known for 'likelihood'"):
        plots.error_split(partial, network="survey")


def test_noise_is_the_distance_to_the_limit_and_bounds_the_error() -> None:
    net = pn.load_example("clinic")
    limit = pn.sampling_limit(net, process="traced")
    learned = pn.fit(net.dag, pn.sample(net, 300, process="traced", rng=1))
    comparison = pn.compare(net, learned, limit=limit)
    assert comparison["child_noise"].value == pytest.approx(pn.compare(limit, learned)["child_mean_error"].value)
    error, bias = comparison["child_mean_error"].value, comparison["child_mean_error"].limit
    assert bias is not None
    assert error <= bias + comparison["child_noise"].value + 1e-12
    assert "child_noise" not in pn.compare(net, learned)


def test_heat_maps_show_mean_errors_in_table_order(results: pn.Results) -> None:
    figure = plots.variable_heatmap(results, "asia")
    names = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert names == [v.name for v in pn.load_example("asia").variables]
    top = [text for text in figure.axes[0].texts if text.get_position()[1] == 0.5]
    errors = results.contexts("asia", "traced", 0.5, 400, "likelihood")[names[0]]
    assert top[0].get_text() == f"{np.nanmean(errors):.2f}".removeprefix("0")
    assert figure.axes[0].get_ylim() == (len(names), 0)


def test_errors_by_context_are_those_of_the_tables(results: pn.Results) -> None:
    net = pn.load_example("asia")
    learned = pn.fit(net.dag, pn.sample(net, 200, rng=1))
    contexts = pn.compare(net, learned).contexts
    for name in net.dag.nodes:
        expected = np.abs(net.table(name) - learned.table(name)).mean(axis=-1)
        seen = ~np.isnan(contexts[name])
        assert np.allclose(contexts[name][seen], expected[seen])
    assert np.isnan(contexts["xray"]).sum() == 0
    figure = plots.context_heatmap(results, net, variable="either")
    assert len(figure.axes[0].get_yticklabels()) == 4
    assert plots.worst_variable(results, "asia") in net.dag.nodes


def test_em_and_support_figures() -> None:
    net = pn.load_example("pump")
    result = pn.fit_em(net.dag, pn.sample(net, 3000, process="traced", rng=1))
    (axes,) = plots.em_convergence(result).axes
    (line,) = axes.get_lines()
    assert np.asarray(line.get_ydata()).tolist() == [result.log_likelihood[-1] - v for v in result.log_likelihood[:-1]]
    (axes,) = plots.support_calibration(net, result.network).axes
    points = next(line for line in axes.get_lines() if line.get_label() == "a context")
    assert np.size(points.get_xdata()) == sum(int((n >= 1).sum()) for n in result.support.values())
    with pytest.raises(pn.InputError, match="was not learned"):
        plots.support_calibration(net, net)


def test_learners_differ_without_colour() -> None:
    names = [*LEARNERS, "em@greedy:bic"]
    styles = {name: learner_style(name, names) for name in LEARNERS}
    for first, second in combinations(LEARNERS, 2):
        assert styles[first].marker != styles[second].marker
        assert styles[first].dashes != styles[second].dashes
        assert styles[first].colour != styles[second].colour


# Machado, Oliveira and Fernandes (2009), severity 1: what linear RGB becomes for three kinds of colour vision.
VISION = {
    "protan": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deutan": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "tritan": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}


@pytest.mark.parametrize("vision", VISION)
@pytest.mark.parametrize("theme", [0, 1])
def test_the_main_learners_have_colours_that_everybody_can_tell_apart(vision: str, theme: int) -> None:
    def seen(name: str) -> Any:
        text = plots.COLOURS[learner_style(name, list(LEARNERS)).colour][theme]
        rgb = np.array([int(text[k : k + 2], 16) / 255 for k in (1, 3, 5)])
        linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
        return np.clip(np.array(VISION[vision]) @ linear, 0, 1) ** (1 / 2.2)

    for first, second in combinations(("em", "likelihood", "transform", "cut"), 2):
        assert np.abs(seen(first) - seen(second)).max() > 0.15


def test_svg_text_follows_the_page_and_draws_names_as_they_are(results: pn.Results) -> None:
    text = plots.svg_text(plots.learning_curves(results), 'curves of "asia"')
    ET.fromstring(text)  # noqa: S314
    assert "var(--blue,#0b6e99)" in text
    assert not re.search(r"(?<!,)#0b6e99", text)


def test_unknown_names_are_told_with_the_nearest(results: pn.Results) -> None:
    with pytest.raises(pn.InputError, match="did you mean 'child_affinity'"):
        plots.learning_curves(results, "child_afinity")
    with pytest.raises(pn.InputError, match="network 'asja'.*did you mean 'asia'"):
        plots.variable_heatmap(results, "asja")


def shapes(picture: str, tag: str) -> int:
    return len(list(ET.fromstring(picture).iter(f"{SVG}{tag}")))  # noqa: S314


def test_a_drawing_has_the_marginals_and_marks_what_is_known() -> None:
    net = pn.load_example("clinic")
    known: dict[str, str | set[str]] = {"fever": {"mild", "high"}, "rash": "spots"}
    picture = pn.draw_network(net, known)
    marginals = pn.Inference(net).marginals(known)
    titles = {t.text for t in ET.fromstring(picture).iter(f"{SVG}title")}  # noqa: S314
    for name, pi in marginals.items():
        degrees = ", ".join(f"{s} {pi[s]:.2f}" for s in pi.variables[0].states)
        assert f"{name}: {degrees}" in titles
    assert picture.count('stroke="var(--mark)"') == len(known) + 1  # the cards and the legend
    figure = plots.drawing_figure(picture)
    assert len(figure.axes[0].texts) == shapes(picture, "text")


def test_a_learned_structure_is_a_figure_too_and_open_directions_have_no_tip() -> None:
    picture = pn.draw_structure(pn.learn_structure(pn.sample(pn.load_example("asia"), 2000, process="precise", rng=1)))
    figure = plots.drawing_figure(picture)
    tips = [patch for patch in figure.axes[0].patches if type(patch).__name__ == "Polygon"]
    assert len(tips) == picture.count("marker-end")
    assert len(figure.axes[0].texts) == shapes(picture, "text")


def test_a_network_with_bounds_is_drawn_with_those_of_its_marginals() -> None:
    clinic = pn.load_example("clinic")
    tables = {v.name: clinic.table(v.name) for v in clinic.variables}
    lower = {name: np.where(table < 1.0, 0.5 * table, 1.0) for name, table in tables.items()}
    bounded = clinic.with_bounds(lower, tables)
    known: dict[str, str | set[str]] = {"fever": {"mild", "high"}}
    bounds = pn.Inference(bounded).marginal_bounds(known)
    low, high = bounds["measles"]["yes"]
    assert low < high
    picture = pn.draw_network(bounded, known)
    assert f"measles: yes {low:.2f}–{high:.2f}, no" in picture
    assert "possible at most" in picture
    assert "possible at most" not in pn.draw_network(clinic, known)


def test_two_networks_over_each_other_show_both_marginals() -> None:
    net = pn.load_example("asia")
    turned = pn.Dag({**{n: net.dag.parents(n) for n in net.dag.nodes}, "asia": ("tub",), "tub": ()})
    other = pn.fit(turned, pn.sample(net, 300, rng=1))
    picture = pn.draw_difference(net, other)
    assert "reversed in the second" in picture
    ticks = [r for r in ET.fromstring(picture).iter(f"{SVG}rect") if r.attrib["width"] == "2.4"]  # noqa: S314
    assert len(ticks) == sum(len(v) for v in net.variables) + 1
    with pytest.raises(pn.InputError, match="'asia', .* only in the first network"):
        pn.draw_difference(net, pn.load_example("clinic"))


def test_legends_are_whole_and_titles_stay_in_their_panels() -> None:
    learners = ["likelihood", "histogram", "transform", "symmetric", "likelihood-corrected"]
    processes = ["traced-text", "alpha-cut-cuts"]
    many = small(rows=[30, 60], imprecision=[0.1, 0.3, 0.7, 1], process=processes, learners=learners)
    few = small(rows=[30, 60])
    for figure in (draw(results) for draw in (plots.learning_curves, plots.error_split) for results in (many, few)):
        (legend,) = figure.legends
        assert legend.get_window_extent().x1 <= figure.bbox.width
        for axes in figure.axes:
            if axes.get_visible():
                title = next(
                    text for text in axes.get_children() if getattr(text, "get_text", str)() == axes.get_title("left")
                )
                assert title.get_window_extent().x1 <= axes.get_window_extent().x1 + 25


def test_a_single_number_of_rows_shows_intervals_and_levels() -> None:
    one = small(rows=60, repeats=3)
    (axes,) = plots.learning_curves(one).axes
    assert len(axes.containers) == 2  # a bar with its interval for each learner
    labels = axes.get_legend_handles_labels()[1]
    assert {"ignorance", "limit of counting (endless rows)", "counting", "EM"} == set(labels)
    assert [text.get_text() for text in axes.get_xticklabels()] == ["60"]
    plots.error_split(one)


def test_support_is_paired_with_its_own_context_whatever_the_order_of_parents() -> None:
    a, b, c = (pn.Variable(n, ("0", "1")) for n in "abc")
    tables: dict[str, Any] = {"a": [1, 0.2], "b": [1, 0.6], "c": [[[1, 0.3], [0.2, 1]], [[1, 0.9], [0.1, 1]]]}
    net = pn.Network((a, b, c), pn.Dag({"a": (), "b": (), "c": ("a", "b")}), tables)
    data = pn.sample(net, 500, process="precise", rng=1)
    points = []
    for order in (("a", "b"), ("b", "a")):
        learned = pn.fit(pn.Dag({"a": (), "b": (), "c": order}), data)
        (axes,) = plots.support_calibration(net, learned).axes
        line = next(line for line in axes.get_lines() if line.get_label() == "a context")
        points.append(
            sorted(zip(np.asarray(line.get_xdata()).tolist(), np.asarray(line.get_ydata()).tolist(), strict=True))
        )
    assert np.allclose(points[0], points[1])


def test_learned_structures_have_a_style_of_their_own() -> None:
    names = ["em", "likelihood", "em@greedy:bic", "likelihood@greedy:bic"]
    styles = [learner_style(name, names) for name in names]
    assert len({style.marker for style in styles}) == len(names)

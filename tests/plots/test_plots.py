"""Figures show the numbers they are made of, in one look that does not need colour."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from matplotlib.figure import Figure
from matplotlib.text import Text

import possnet as pn
from possnet import plots
from possnet.learners import LEARNERS
from possnet.plots import learner_style
from possnet.plots.panel_grid import _set_log_heights, spread_apart
from tests.browsing import contrast

SVG = "{http://www.w3.org/2000/svg}"


def small(networks: Any = ("asia",), **options: Any) -> pn.Results:
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
    panels = {axes.get_gid(): lines(axes) for axes in figure.axes}
    assert set(panels) == {"panel-asia-traced-0.5", "panel-asia-traced-1", "panel-asia-precise-0"}
    summaries = [s for s in results.summary(metric) if s.process == "traced" and s.imprecision == 1]
    shown = panels["panel-asia-traced-1"]
    for learner, label in (("likelihood", "counting"), ("em", "EM")):
        own = [s for s in summaries if s.learner == learner]
        assert shown[label] == ([50, 400], [s.mean for s in own])
    assert set(shown["knowing nothing"][1]) == {s.vacuous for s in summaries if s.learner == "em"}
    ((place,), limit) = shown["_limit of counting"]
    assert limit == [next(s.limit for s in summaries if s.learner == "likelihood")]
    assert place > 400  # at the end of the axis, under no line
    assert [text.get_text() for text in figure.axes[-1].get_xticklabels()] == ["50", "400", "∞"]


def test_there_is_a_row_of_panels_for_each_kind_of_rows_and_none_is_an_orphan() -> None:
    many = small(rows=[30, 60], imprecision=[0.1, 0.3, 0.7, 1], process=["traced", "precise"])
    for figure in (plots.learning_curves(many), plots.overview_curves(many), plots.error_split(many)):
        rows: dict[float, list[Any]] = {}
        for axes in figure.axes:
            rows.setdefault(round(axes.get_position().y0, 3), []).append(axes.get_position())
        assert sorted(map(len, rows.values())) == [1, 4]
        ends = {(round(row[0].x0, 3), round(row[-1].x1, 3)) for row in rows.values()}
        assert len(ends) == 1  # the one panel of precise rows is as wide as the four above it


def test_curves_against_imprecision_use_the_most_rows(results: pn.Results) -> None:
    figure = plots.learning_curves(results, against="imprecision")
    (axes,) = figure.axes
    summaries = [
        s for s in results.summary("child_affinity") if s.rows == 400 and s.process == "traced" and s.learner == "em"
    ]
    assert lines(axes)["EM"] == ([0.5, 1.0], [s.mean for s in summaries])
    assert any("400 rows" in text.get_text() for text in figure.texts)


def test_everything_that_is_drawn_is_in_view_bands_too(results: pn.Results) -> None:
    for figure in (
        plots.learning_curves(results),
        plots.learning_curves(results, "mean_error"),
        plots.overview_curves(results, "child_mean_error", columns=1),
        plots.error_split(results),
    ):
        bands = 0
        for axes in figure.axes:
            low, high = axes.get_ylim()
            for label, (_, ys) in lines(axes).items():
                assert all(low <= y <= high for y in ys if y > 0) or label == "_label", label
            for band in axes.collections:
                heights = np.concatenate([np.asarray(path.vertices)[:, 1] for path in band.get_paths()])
                bands += 1
                assert low <= heights.min()
                assert heights.max() <= high
        assert bands


def test_no_line_hides_another_and_each_is_labelled_where_it_ends(results: pn.Results) -> None:
    figure = plots.learning_curves(results)
    assert not figure.legends
    for axes in figure.axes:
        drawn = [line for line in axes.get_lines() if line.get_label() in {"counting", "EM"}]
        wide = [line.get_linewidth() for line in drawn]
        size = [line.get_markersize() for line in drawn]
        assert wide[0] > wide[1] + 0.5
        assert size[0] > size[1] + 0.5
        assert drawn[0].get_zorder() < drawn[1].get_zorder()
    last = figure.axes[-1]
    assert {text.get_text() for text in last.texts} == {"counting", "EM", "knowing nothing"}
    places = sorted(text.get_position()[1] for text in last.texts)
    assert min(np.diff(places)) * last.get_window_extent().height >= 8  # 72 dots an inch: text of 8 pt does not touch
    figure.draw_without_rendering()
    assert all(text.get_window_extent().x1 <= figure.bbox.x1 for text in last.texts)


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0.01, 0.12)), min_size=1, max_size=8))
def test_labels_spread_apart_do_not_touch_and_stay_inside(labels: list[tuple[float, float]]) -> None:
    wanted, sizes = zip(*sorted(labels), strict=True)
    places = spread_apart(wanted, sizes)
    for k, (place, size) in enumerate(zip(places, sizes, strict=True)):
        assert size / 2 - 1e-9 <= place <= 1 - size / 2 + 1e-9
        assert k == 0 or place - places[k - 1] >= 0.9 * (size + sizes[k - 1]) / 2


def test_the_overview_has_the_mean_over_networks_and_the_networks_behind_it() -> None:
    two = small(["asia", "pump"], rows=[50, 200], learners="em")
    (axes,) = plots.overview_curves(two).axes
    summaries = two.summary("child_affinity")
    means = [np.mean([s.mean for s in summaries if s.rows == rows]) for rows in (50, 200)]
    assert lines(axes)["EM"][1] == pytest.approx(means)
    thin = [line for line in axes.get_lines() if line.get_label() == "_background"]
    assert [np.asarray(line.get_ydata()).tolist() for line in thin] == [
        [s.mean for s in summaries if s.network == n] for n in ("asia", "pump")
    ]
    many = small({f"net {k}": pn.random_network(3, rng=k) for k in range(6)}, rows=[20, 60], learners="em")
    (axes,) = plots.overview_curves(many).axes
    (band,) = axes.collections
    heights = np.concatenate([np.asarray(path.vertices)[:, 1] for path in band.get_paths()])
    values = [s.mean for s in many.summary("child_affinity")]
    assert (heights.min(), heights.max()) == pytest.approx((min(values), max(values)))


def test_bias_and_noise_are_those_of_the_limit_of_their_own_learner(results: pn.Results) -> None:
    figure = plots.error_split(results)
    axes = next(axes for axes in figure.axes if axes.get_gid() == "panel-asia-traced-1-likelihood")
    net = pn.load_example("asia")
    limit = pn.sampling_limit(net, process="traced")
    bias = pn.compare(net, limit)["child_mean_error"].value
    assert lines(axes)["bias"][1] == pytest.approx([bias, bias])
    noise = [s.mean for s in results.summary("child_noise") if s.process == "traced" and s.imprecision == 1]
    assert lines(axes)["noise"][1] == noise
    colours = {line.get_color() for line in axes.get_lines() if line.get_label() in {"noise", "error"}}
    assert colours == {plots.COLOURS[learner_style("likelihood", ["likelihood"]).colour][0]}
    assert any(text.get_text() == "traced rows: counting" for text in figure.texts)
    with pytest.raises(pn.InputError, match="no limit is known for 'em'"):
        plots.error_split(results, "em")


def test_figures_fill_one_or_two_columns_of_a_paper_with_text_of_8_points(results: pn.Results) -> None:
    asia = pn.load_example("asia")
    draws: list[Any] = [
        lambda c: plots.learning_curves(results, columns=c),
        lambda c: plots.error_split(results, columns=c),
        lambda c: plots.variable_heatmap(results, "asia", columns=c),
        lambda c: plots.context_heatmap(results, asia, columns=c),
        lambda c: plots.bounds_figure(pn.identify_degrees(asia), columns=c),
    ]
    for draw in draws:
        for columns, inches in ((1, 3.5), (2, 7.16)):
            figure = draw(columns)
            assert figure.get_figwidth() == inches
            sizes = {text.get_fontsize() for text in figure.findobj(Text) if text.get_text()}
            assert min(sizes) >= 8.0


def test_markers_tell_their_values_and_the_figure_its_network(results: pn.Results) -> None:
    figure = plots.learning_curves(results, network="asia")
    assert any(text.get_text().startswith("asia: ") for text in figure.texts)
    text = plots.svg_text(figure, "x", prefix="f1")
    titles = {node.text for node in ET.fromstring(text).iter(f"{SVG}title")}  # noqa: S314
    for s in results.summary("child_affinity"):
        label = {"likelihood": "counting", "em": "EM"}[s.learner]
        assert f"asia, {label}, {s.rows:,} rows: {s.mean:.3f} ± {s.interval:.3f}" in titles
    names = re.findall(r' id="([^"]+)"', text)
    assert len(names) == len(set(names))
    assert all(name.startswith("f1-") for name in names)


@pytest.mark.parametrize("theme", [0, 1])
def test_graphics_stand_out_from_the_paper(theme: int) -> None:
    paper = plots.COLOURS["paper"][theme]
    drawn = {learner_style(name, list(LEARNERS)).colour for name in LEARNERS} | {"ignorance", "ink", "soft"}
    for name in drawn:
        assert contrast(rgb(plots.COLOURS[name][theme]), rgb(paper)) >= 3.0, name
    shades = [plots.COLOURS[name][theme] for name in plots.COLOURS if name.startswith("heat")]
    far = [contrast(rgb(shade), rgb(paper)) for shade in shades]
    assert far == sorted(far)  # nothing is the nearest to the paper, light or dark
    for k, shade in enumerate(shades):
        number = plots.COLOURS["paper" if k >= 5 else "ink"][theme]
        assert contrast(rgb(number), rgb(shade)) >= 4.5, k


def rgb(colour: str) -> str:
    return f"rgb({int(colour[1:3], 16)}, {int(colour[3:5], 16)}, {int(colour[5:7], 16)})"


def test_a_network_without_a_limit_has_no_split_beside_one_that_has() -> None:
    results = small(["asia", "survey"], rows=30, learners="likelihood")
    outcomes = [
        o if c.network == "asia" else o._replace(metrics={n: (v, i, None) for n, (v, i, _) in o.metrics.items()})
        for c, o in zip(results.trials, results.outcomes, strict=True)
    ]
    partial = pn.Results(results.trials, tuple(outcomes))
    assert len(plots.error_split(partial, network="asia").axes) == len(plots.error_split(partial).axes) == 1
    with pytest.raises(pn.InputError, match="no limit is known for any learner"):
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


def test_labels_and_titles_stay_in_the_figure_with_many_learners() -> None:
    learners = ["likelihood", "histogram", "transform", "symmetric", "likelihood-corrected"]
    processes = ["traced-text", "alpha-cut-cuts"]
    many = small(rows=[30, 60], imprecision=[0.1, 0.3, 0.7, 1], process=processes, learners=learners)
    for figure in (plots.learning_curves(many), plots.learning_curves(many, columns=1), plots.error_split(many)):
        figure.draw_without_rendering()
        for text in figure.findobj(Text):
            if text.get_text() and text.get_visible():
                box = text.get_window_extent()
                assert box.x0 >= -2, text
                assert box.x1 <= figure.bbox.width + 2, text


def test_a_single_number_of_rows_shows_intervals_and_levels() -> None:
    one = small(rows=60, repeats=3)
    (axes,) = plots.learning_curves(one).axes
    assert len(axes.containers) == 2  # a bar with its interval for each learner
    assert {text.get_text() for text in axes.texts} == {"knowing nothing", "counting", "EM"}
    assert "_limit of counting" in lines(axes)
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


def test_two_repeats_are_shown_as_they_are_and_more_learners_as_means_alone() -> None:
    how: dict[str, Any] = {"rows": [40, 1000], "imprecision": [0.5, 1], "process": "traced", "repeats": 2, "rng": 1}
    results = pn.evaluate(["pump"], learners="em", **how)
    values: dict[int, list[float]] = {}
    for trial, outcome in zip(results.trials, results.outcomes, strict=True):
        if trial.imprecision == 0.5:
            values.setdefault(trial.rows, []).append(outcome.metrics["child_affinity"][0])
    axes = plots.learning_curves(results).axes[0]
    low, high = (np.asarray(line.get_ydata()) for line in axes.lines if line.get_label() == "_end")
    assert low == pytest.approx([min(values[n]) for n in (40, 1000)], abs=1e-5)
    assert high == pytest.approx([max(values[n]) for n in (40, 1000)], abs=1e-5)
    assert plots.choose_spread(results) == "networks"
    many = [replace(trial, learner=f"l{k}") for k in range(5) for trial in results.trials]
    assert plots.choose_spread(pn.Results(tuple(many), results.outcomes * 5)) == "none"


def test_numbers_below_neighbouring_panels_do_not_touch() -> None:
    how: dict[str, Any] = {"imprecision": [0.5, 1], "process": "traced", "learners": "em", "repeats": 1, "rng": 1}
    figure = plots.learning_curves(pn.evaluate(["pump"], rows=[100, 1000], **how))
    figure.draw_without_rendering()
    left, right = figure.axes[:2]
    last, first = left.get_xticklabels()[-1], right.get_xticklabels()[0]
    assert last.get_text()
    assert last.get_window_extent().x1 < first.get_window_extent().x0


@pytest.mark.parametrize("limits", [(0.15, 0.6), (0.2, 0.5), (0.1, 0.55), (0.04, 0.9), (0.3, 0.33), (0.001, 0.9)])
def test_logarithmic_heights_have_three_numbers_or_more(limits: tuple[float, float]) -> None:
    figure = Figure()
    axes = figure.subplots()
    _set_log_heights(axes, limits)
    axes.set_ylim(*limits)
    assert sum(limits[0] <= tick <= limits[1] for tick in axes.get_yticks()) >= 3

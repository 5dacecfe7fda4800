"""Values show themselves: pictures in notebooks, one line on the terminal."""

from __future__ import annotations

import re
import time
import xml.etree.ElementTree as ET
from typing import Any

import numpy as np
import pytest
from hypothesis import given

import possnet as pn
from tests import oracles, strategies


def shown() -> dict[str, Any]:
    net = pn.load_example("clinic")
    data = pn.sample(net, 300, process="traced", rng=1)
    learned = pn.fit(net.dag, data)
    return {
        "possibility": pn.Inference(net).query("fever"),
        "joint": pn.Inference(net).query(["fever", "rash", "cough"]),
        "masses": pn.MassFunction.from_possibility(pn.Inference(net).query("fever")),
        "dag": net.dag,
        "network": net,
        "dataset": data,
        "counts": pn.count(net.dag, data),
        "em": pn.fit_em(net.dag, data),
        "comparison": pn.compare(net, learned),
        "completion": pn.complete(net, data),
        "structure": pn.learn_structure(data, "mwst", measure="chi2"),
        "results": pn.evaluate(["clinic"], rows=50, imprecision=1, repeats=1, rng=1, workers=1),
    }


@pytest.fixture(scope="module")
def values() -> dict[str, Any]:
    return shown()


@pytest.mark.parametrize(
    "name",
    [
        "possibility",
        "joint",
        "masses",
        "dag",
        "network",
        "dataset",
        "counts",
        "em",
        "comparison",
        "completion",
        "structure",
        "results",
    ],
)
def test_every_value_shows_itself_in_a_notebook(values: dict[str, Any], name: str) -> None:
    text = values[name]._repr_html_()
    ET.fromstring(f"<div>{text}</div>")  # noqa: S314 - sound mark-up
    assert "http" not in text.replace("http://www.w3.org/2000/svg", "")
    assert len(text) < 60_000
    line = repr(values[name])
    assert line
    assert len(line) < 300 or name == "comparison"


def test_a_data_set_shows_sets_and_unknown_cells() -> None:
    data = pn.Dataset.from_table({"fever": ["mild", {"mild", "high"}, None], "<rash>": ["no", "no", "yes"]})
    text = data._repr_html_()
    assert ">high | mild<" in text
    assert ">?<" in text
    assert "&lt;rash&gt;" in text


def test_a_joint_shows_its_most_possible_configurations(values: dict[str, Any]) -> None:
    joint = values["joint"]
    text = joint._repr_html_()
    assert f"… {joint.degrees.size - 11} more" in text
    assert "none, none, none" in text


def titles_of(text: str) -> list[str]:
    """The tooltips of all cards and lines."""
    root = ET.fromstring(text)  # noqa: S314
    return [title.text or "" for title in root.iter("{http://www.w3.org/2000/svg}title")]


@given(strategies.networks())
def test_a_networks_bars_are_its_marginals(net: pn.Network) -> None:
    titles = titles_of(net._repr_html_())
    joint = [(x, oracles.chain_rule(net, x)) for x in oracles.configurations(net)]
    for v in net.variables:
        title = next(title for title in titles if title.startswith(f"{v.name}: "))
        for state, word in zip(v.states, title.removeprefix(f"{v.name}: ").split(", "), strict=True):
            marginal = max(degree for x, degree in joint if x[v.name] == state)
            assert float(word.removeprefix(f"{state} ")) == pytest.approx(marginal, abs=0.0051)


def test_measles_reads_as_on_every_other_surface() -> None:
    clinic = pn.load_example("clinic")
    assert "measles: yes 0.06, no 1.00" in titles_of(clinic._repr_html_())
    assert "measles: yes 0.06, no 1.00" in titles_of(pn.draw_network(clinic))
    assert clinic.description in clinic._repr_html_().replace("&#x27;", "'")


def test_a_network_whose_marginals_are_dear_shows_no_bar_and_no_number() -> None:
    """A grid of 6 x 6 variables with 8 states: some clique has at least 8 ** 6 entries."""
    places = [(row, column) for row in range(6) for column in range(6)]
    before = {(r, c): [q for q in ((r - 1, c), (r, c - 1)) if min(q) >= 0] for r, c in places}
    dag = pn.Dag({f"x{r}{c}": tuple(f"x{a}{b}" for a, b in before[r, c]) for r, c in places})
    variables = [pn.Variable(name, tuple(f"s{j}" for j in range(8))) for name in dag.nodes]
    net = pn.Network(variables, dag, {name: np.ones((8,) * (len(dag.parents(name)) + 1)) for name in dag.nodes})
    begin = time.perf_counter()
    text = net._repr_html_()
    assert time.perf_counter() - begin < 2.0
    titles = titles_of(text)
    assert "x35: s0, s1, … 6 more" in titles
    assert not any("1.00" in title for title in titles)
    body = text.partition("</style>")[2]
    assert "var(--possible)" not in body
    assert "no degrees: the marginals would take about" in body


def test_many_variables_are_shown_by_their_names() -> None:
    net = pn.random_network(80, rng=1)
    text = net._repr_html_()
    assert "no degrees: 80 variables are too many for one picture" in text
    assert "var(--possible)" not in text.partition("</style>")[2]


@pytest.mark.parametrize("name", ["network", "dataset", "em", "comparison", "results"])
def test_what_opens_by_a_click_needs_no_script(values: dict[str, Any], name: str) -> None:
    text = values[name]._repr_html_()
    assert "<details" in text
    assert "<script" not in text
    assert not re.search(r"\son\w+=", text)


def test_a_data_set_lists_the_sets_of_every_variable_with_their_rows() -> None:
    data = pn.Dataset.from_table({"fever": ["mild", {"mild", "high"}, None, {"mild", "high"}]})
    root = ET.fromstring(data._repr_html_())  # noqa: S314
    body = root.findall(".//details//tbody/tr")
    rows = [[cell.text or "" for cell in row] for row in body]
    assert [row[1:] for row in rows] == [
        ["high | mild", "2", "50.0 %"],
        ["?", "1", "25.0 %"],
        ["mild", "1", "25.0 %"],
    ]
    marked = [cell.text for cell in root.iter("td") if "background" in cell.attrib["style"]]
    assert marked == ["high | mild"] * 3


def test_results_show_the_curves_of_their_means() -> None:
    results = pn.evaluate(["clinic"], rows=[20, 50], imprecision=1, process="traced", repeats=2, rng=1, workers=1)
    titles = titles_of(results._repr_html_())
    for summary in results.summary("child_affinity"):
        label = {"likelihood": "counting", "em": "EM"}[summary.learner]
        assert any(title.startswith(f"{label}: {summary.rows}, {summary.mean:.3f}"[:-1]) for title in titles), summary


def test_em_shows_how_the_likelihood_rose(values: dict[str, Any]) -> None:
    em = values["em"]
    root = ET.fromstring(em._repr_html_())  # noqa: S314
    path = next(p for p in root.iter("{http://www.w3.org/2000/svg}path") if p.attrib["stroke"] == "var(--mark)")
    heights = [float(point.split()[1]) for point in re.split("[ML]", path.attrib["d"]) if point]
    assert len(heights) == len(em.log_likelihood)
    assert heights == sorted(heights, reverse=True)


def test_a_possibility_shows_necessity_of_each_state() -> None:
    pi = pn.Possibility(pn.Variable("fever", ("none", "mild", "high")), [1.0, 0.6, 0.1])
    root = ET.fromstring(pi._repr_html_())  # noqa: S314
    widths: dict[str, list[float]] = {}
    for rect in root.iter("{http://www.w3.org/2000/svg}rect"):
        widths.setdefault(rect.attrib["fill"], []).append(float(rect.attrib["width"]))
    frame, filled, possible = widths["none"], widths["var(--necessary)"], widths["var(--possible)"]
    assert [w / frame[0] for w in possible[:3]] == pytest.approx([1.0, 0.6, 0.1], abs=0.01)
    assert filled[0] / frame[0] == pytest.approx(pi.necessity({"none"}), abs=0.01)
    assert len(filled) == 2  # and the legend: the other states are not certain at all


def test_a_structure_without_edges_shows_its_nodes() -> None:
    data = pn.Dataset.from_table({"a": ["x", "y", "x", "y"], "b": ["u", "u", "v", "v"]})
    found = pn.learn_structure(data)
    assert found.dag.edges == ()
    ET.fromstring(f"<div>{found._repr_html_()}</div>")  # noqa: S314

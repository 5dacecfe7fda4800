"""Values show themselves: pictures in notebooks, one line on the terminal."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from typing import Any

import pytest
from hypothesis import given

import possnet as pn
from tests import strategies


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


@given(strategies.networks())
def test_a_networks_bars_bound_its_marginals(net: pn.Network) -> None:
    root = ET.fromstring(net._repr_html_())  # noqa: S314
    titles = [t.text or "" for t in root.iter("{http://www.w3.org/2000/svg}title")]
    marginals = pn.Inference(net).marginals()
    for v in net.variables:
        bound = net.table(v.name).reshape(-1, len(v)).max(axis=0)
        told = ", ".join(f"{s} {b:.2f}" for s, b in zip(v.states, bound, strict=True))
        assert f"{v.name}: {told}" in titles
        assert (marginals[v.name].degrees <= bound + 1e-12).all()


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

"""Drawings of learned structures: the surer an edge, the thicker its line; open directions have no tip."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest

import possnet as pn
from possnet.drawing import Arrow
from possnet.structure import METHODS, LearnedEdge, LearnedStructure


def drawn_lines(learned: LearnedStructure) -> dict[str, Arrow]:
    """Tooltip -> line, of the edges alone."""
    shapes = pn.draw_structure(learned).scene.shapes
    return {shape.title.partition(":")[0]: shape for shape in shapes if isinstance(shape, Arrow) and shape.title}


def structure_of(*edges: LearnedEdge, bootstrap: int = 0) -> LearnedStructure:
    dag = pn.Dag.from_edges([edge[:2] for edge in edges])
    return LearnedStructure(
        dag, dag.essential_graph(), "greedy", "bic", 0.0, edges, None, (), (), 1, bootstrap=bootstrap
    )


def test_thickness_rises_with_the_value() -> None:
    edges = [LearnedEdge("a", name, value, reversible=False) for name, value in zip("bcde", (1e4, 3e3, 100.0, -5.0), strict=True)]  # fmt: skip
    lines = list(drawn_lines(structure_of(*edges)).values())
    widths = [line.thickness for line in lines]
    assert widths == sorted(widths, reverse=True)
    assert len(set(widths)) == 4
    assert [line.opacity for line in lines] == sorted((line.opacity for line in lines), reverse=True)


def test_confidence_counts_where_there_is_a_bootstrap() -> None:
    sure, unsure = (
        LearnedEdge("a", "b", 1.0, reversible=False, confidence=1.0, direction=0.9),
        LearnedEdge("a", "c", 1000.0, reversible=False, confidence=0.2, direction=0.2),
    )
    learned = structure_of(sure, unsure, bootstrap=20)
    lines = drawn_lines(learned)
    assert lines["a -> b"].thickness > lines["a -> c"].thickness
    assert "100 % of samples, 90 % in this direction" in pn.draw_structure(learned)
    assert "in 20 % of 20 samples" in pn.draw_structure(learned)


def test_an_edge_whose_direction_is_open_has_no_tip() -> None:
    learned = structure_of(LearnedEdge("a", "b", 1.0, reversible=True), LearnedEdge("b", "c", 1.0, reversible=False))
    lines = drawn_lines(learned)
    assert (lines["a - b"].tip, lines["b -> c"].tip) == ("none", "end")
    assert "direction open" in pn.draw_structure(learned)
    assert "direction open" not in pn.draw_structure(structure_of(LearnedEdge("a", "b", 1.0, reversible=False)))


@pytest.mark.parametrize("method", METHODS)
def test_every_method_gives_a_sound_picture(method: str) -> None:
    learned = pn.learn_structure(pn.sample(pn.load_example("asia"), 300, process="precise", rng=1), method)
    picture = pn.draw_structure(learned, title="found < in rows")
    assert ET.fromstring(picture).get("aria-label") == "found < in rows"  # noqa: S314
    assert len(drawn_lines(learned)) == len(learned.edges)
    assert "<svg" in learned._repr_html_()


def test_a_structure_without_edges_or_values_is_drawn() -> None:
    data = pn.Dataset.from_table({"a": ["x", "y"] * 5, "b": ["u", "u", "v", "v", "u"] * 2})
    assert pn.draw_structure(pn.learn_structure(data)).count("<path") == 0
    worthless = structure_of(LearnedEdge("a", "b", float("nan"), reversible=False))
    assert len(drawn_lines(worthless)) == 1

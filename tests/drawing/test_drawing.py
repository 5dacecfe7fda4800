"""Drawings: layers, no overlaps, few crossings, sound SVG."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from itertools import combinations

import pytest
from hypothesis import given, strategies as st

import possnet as pn
from possnet.drawing import Arrow, Bar, Card, Line, compute_layout, draw_bars, draw_graph
from tests import strategies

SVG = "{http://www.w3.org/2000/svg}"


def parents_of(dag: pn.Dag) -> dict[str, tuple[str, ...]]:
    return {name: dag.parents(name) for name in dag.nodes}


@given(strategies.dags(max_nodes=9), st.data())
def test_children_are_below_their_parents_and_nothing_overlaps(dag: pn.Dag, data: st.DataObject) -> None:
    sizes = {n: (data.draw(st.floats(20, 200)), data.draw(st.floats(15, 90))) for n in dag.nodes}
    layout = compute_layout(parents_of(dag), sizes)
    for parent, child in dag.edges:
        assert layout.nodes[parent][1] < layout.nodes[child][1]
    for a, b in combinations(dag.nodes, 2):
        (xa, ya), (xb, yb) = layout.nodes[a], layout.nodes[b]
        apart_x = abs(xa - xb) - (sizes[a][0] + sizes[b][0]) / 2
        apart_y = abs(ya - yb) - (sizes[a][1] + sizes[b][1]) / 2
        assert max(apart_x, apart_y) > -1e-6
    for name, (x, y) in layout.nodes.items():
        assert x - sizes[name][0] / 2 >= -1e-6
        assert x + sizes[name][0] / 2 <= layout.width + 1e-6
        assert y - sizes[name][1] / 2 >= -1e-6
        assert y + sizes[name][1] / 2 <= layout.height + 1e-6
    assert set(layout.edges) == set(dag.edges)
    for (parent, child), line in layout.edges.items():
        assert line[0] == layout.nodes[parent]
        assert line[-1] == layout.nodes[child]
        assert all(above[1] <= below[1] for above, below in zip(line, line[1:], strict=False))


def test_a_ladder_is_drawn_without_crossings() -> None:
    """Two chains whose nodes are listed out of order: the orders must be sorted out."""
    parents: dict[str, tuple[str, ...]] = {"a0": (), "b0": ()}
    for k in range(1, 6):
        pair = (f"b{k}", f"a{k}") if k % 2 else (f"a{k}", f"b{k}")
        for name in pair:
            parents[name] = (f"{name[0]}{k - 1}",)
    parents["end"] = ("a5", "b5")
    layout = compute_layout(parents, dict.fromkeys(parents, (30.0, 20.0)))
    sides = {layout.nodes[f"a{k}"][0] < layout.nodes[f"b{k}"][0] for k in range(6)}
    assert len(sides) == 1


def test_a_layer_that_all_nodes_leave_is_no_layer() -> None:
    """In a narrow drawing "c" is alone above, until it comes down to its child."""
    parents = {"a": (), "b": (), "c": (), "d": ("c",), "e": ("a", "b", "c", "d")}
    sizes = {"a": (30.0, 20.0), "b": (37.0, 25.0), "c": (44.0, 30.0), "d": (51.0, 35.0), "e": (58.0, 20.0)}
    layout = compute_layout(parents, sizes, aspect=0.5)
    assert min(y - sizes[name][1] / 2 for name, (_, y) in layout.nodes.items()) == 0.0


def test_a_long_edge_passes_beside_the_nodes_of_its_layers() -> None:
    parents = {"a": (), "b": ("a",), "c": ("b",), "d": ("a", "c")}
    sizes = dict.fromkeys(parents, (80.0, 30.0))
    layout = compute_layout(parents, sizes)
    for x, y in layout.edges["a", "d"][1:-1]:
        for name in ("b", "c"):
            cx, cy = layout.nodes[name]
            assert abs(x - cx) > 40 or abs(y - cy) > 15


@pytest.mark.parametrize("nodes", [1, 3, 8, 37, 200])
def test_pictures_are_sound_at_every_size(nodes: int) -> None:
    net = pn.random_network(nodes, max_parents=2, states=(2, 5), rng=nodes)
    cards = {v.name: Card(tuple(Bar(s, 1.0, 0.2) for s in v.states)) for v in net.variables}
    root = ET.fromstring(draw_graph(parents_of(net.dag), cards))  # noqa: S314
    assert len(root.findall(f"{SVG}g")) == nodes
    assert len([p for p in root.findall(f"{SVG}path") if "marker-end" in p.attrib]) == len(net.dag.edges)
    shown = {t.text for t in root.iter(f"{SVG}text")}
    assert {v.name for v in net.variables} <= shown
    assert ("s1" in shown or any(s in shown for s in net.variables[0].states)) == (nodes <= 60)
    x, y, width, height = map(float, root.attrib["viewBox"].split())
    for rect in root.iter(f"{SVG}rect"):
        assert x <= float(rect.attrib["x"])
        assert float(rect.attrib["x"]) + float(rect.attrib["width"]) <= x + width + 1
        assert float(rect.attrib["y"]) + float(rect.attrib["height"]) <= y + height + 1


def test_names_are_escaped_and_nothing_is_fetched() -> None:
    text = draw_graph({"<b>&": ()}, {"<b>&": Card((Bar('"x"', 0.5),), marked=True)}, title='a "b" <c>')
    ET.fromstring(text)  # noqa: S314
    assert text.count("http") == 1  # the name space
    assert draw_bars([Bar("none", 1.0)], title="<fever>").count("&lt;fever&gt;") >= 1


def test_differences_are_coloured() -> None:
    first = {"a": (), "b": ("a",), "c": ("a",), "d": ("c",)}
    second = {"a": (), "b": ("a",), "c": ("d",), "d": ("a", "b")}
    root = ET.fromstring(draw_graph(first, over=second))  # noqa: S314
    kinds = [
        next(kind for kind in ("edge", "added", "removed", "reversed") if f"--{kind})" in path.attrib["stroke"])
        for path in root.findall(f"{SVG}path")
    ]
    assert {kind: kinds.count(kind) for kind in set(kinds)} == {"edge": 1, "removed": 2, "added": 3, "reversed": 2}
    shown = {text.text for text in root.iter(f"{SVG}text")}
    assert {"only in the first", "only in the second", "reversed in the second"} <= shown


@given(strategies.dags(max_nodes=7), st.data())
def test_any_two_graphs_can_be_drawn_over_each_other(first: pn.Dag, data: st.DataObject) -> None:
    """Every edge of either graph is there once, whatever cycles both together would close."""
    order = data.draw(st.permutations(list(first.nodes)))
    chosen = data.draw(st.sets(st.sampled_from(list(combinations(order, 2))))) if len(order) > 1 else set()
    second = pn.Dag({n: [a for a, b in chosen if b == n] for n in first.nodes})
    root = ET.fromstring(draw_graph(parents_of(first), over=parents_of(second), detail="names"))  # noqa: S314
    drawn = [p for p in root.findall(f"{SVG}path") if "marker-end" in p.attrib or "marker-start" in p.attrib]
    legend = len({p.attrib["stroke"] for p in drawn} - {"var(--edge)"})
    both = {frozenset(e) for e in (*first.edges, *second.edges)}
    assert len(drawn) == len(both) + legend


def test_many_states_are_cut_short() -> None:
    bars = tuple(Bar(f"s{k}", k / 30) for k in range(30))
    assert "… 19 more" in draw_graph({"a": ()}, {"a": Card(bars)}, detail="bars")
    short = draw_graph({"a": ()}, {"a": Card(bars)}, detail="short")
    assert "… 28 more" in short
    assert "s29" in short
    assert "s29" not in draw_graph({"a": ()}, {"a": Card(bars)}, detail="names")


def test_the_most_possible_states_are_those_shown() -> None:
    bars = tuple(Bar(f"s{k}", 1.0 if k == 50 else 0.1) for k in range(100))
    assert ">s50<" in draw_graph({"x": ()}, {"x": Card(bars)})
    assert ">s50<" in draw_graph({"x": ()}, {"x": Card(bars)}, detail="short")


def test_odd_characters_and_no_nodes_at_all_are_drawn() -> None:
    text = draw_graph({"a\x01b\ufffe": ()}, {"a\x01b\ufffe": Card((Bar("\x00", 1.0),))}, title="\x02")
    ET.fromstring(text)  # noqa: S314
    ET.fromstring(pn.Dag({})._repr_html_())  # noqa: S314


def test_lines_have_their_own_thickness_tip_and_tooltip() -> None:
    thick, plain = Line(4.0, title="sure <1>"), Line(1.0, 0.5, directed=False)
    picture = draw_graph(
        {"a": (), "b": ("a",), "c": ("a", "b")},
        lines={("a", "b"): thick, ("a", "c"): plain},
        meanings=[(thick, "strong"), (plain, "weak")],
    )
    arrows = [shape for shape in picture.scene.shapes if isinstance(shape, Arrow)]
    assert sorted(arrow.thickness for arrow in arrows) == [1.0, 1.0, 1.4, 4.0, 4.0]  # those of the legend too
    assert [arrow.tip for arrow in arrows if arrow.thickness == 1.0] == ["none", "none"]
    assert "<title>sure &lt;1&gt;</title>" in picture
    assert picture.count("marker-end") == 3
    assert picture.count('opacity="0.5"') == 2
    assert ">strong<" in picture
    sizes = {arrow.tip_size for arrow in arrows if arrow.tip != "none"}
    assert sizes == {7, round(4 + 2.2 * 4)}
    assert all(f'id="tip-{colour}-{size}"' in picture for colour, size in [("edge", 7), ("necessary", max(sizes))])


def test_every_tip_that_a_line_refers_to_is_defined() -> None:
    parents = {"a": (), "b": ("a",), "c": ("a", "b")}
    picture = draw_graph(parents, over={"a": ("b",), "b": (), "c": ("a",)}, lines={("b", "c"): Line(3.0)})
    assert set(re.findall(r"url\(#(tip-[\w-]+)\)", picture)) == set(re.findall(r'id="(tip-[\w-]+)"', picture))


def test_bounds_are_a_lighter_band_behind_the_bar_and_in_the_figures() -> None:
    """Lengths by hand: a bar of the card is 64 wide."""
    picture = draw_bars([Bar("yes", 0.5, 0.25, band=(0.25, 0.75)), Bar("no", 1.0, band=(1.0, 1.0))], title="rash")
    root = ET.fromstring(picture)  # noqa: S314
    shapes = [(r.get("fill"), float(r.get("width", ""))) for r in root.iter(f"{SVG}rect") if r.get("height") == "8.0"]
    of_yes, of_no = shapes[:4], shapes[4:]
    assert [fill for fill, _ in of_yes] == ["none", "var(--band)", "var(--possible)", "var(--necessary)"]
    full = of_yes[0][1]
    assert [width / full for _, width in of_yes[1:]] == pytest.approx([0.75, 0.25, 0.25], abs=0.01)
    assert [fill for fill, _ in of_no] == ["none", "var(--band)", "var(--possible)"]
    texts = [text.text for text in root.iter(f"{SVG}text")]
    assert "0.25–0.75" in texts
    assert "1.00" in texts
    assert {"possible at least (Π)", "certain at least (N)", "possible at most"} <= set(texts)
    assert "possible at most" not in draw_bars([Bar("yes", 1.0)])

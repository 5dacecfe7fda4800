"""The outline of a network: its graph with the names of the states, and not one degree."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from possnet.drawing.graph_drawings import Bar, Card, draw_graph
from possnet.drawing.scene import Label
from possnet.drawing.svg import render_svg
from possnet.drawing.text_metrics import measure_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from possnet.drawing.svg import Drawing


def draw_outline(
    parents: Mapping[str, Sequence[str]], states: Mapping[str, Sequence[str]], *, title: str = "", note: str = ""
) -> Drawing:
    """Draw a DAG in layers, every node a card with the names of its states, without bars or numbers; a note stands below.

    >>> picture = draw_outline({"rash": ()}, {"rash": ("none", "spots")}, note="no degrees")
    >>> "spots" in picture, "no degrees" in picture, "possible" in picture.partition("</style>")[2]
    (True, True, False)
    """
    cards = {name: Card(tuple(Bar(state, None) for state in listed)) for name, listed in states.items()}
    scene = draw_graph(parents, cards, title=title).scene
    if not note:
        return render_svg(scene)
    below = Label(note, 0.0, scene.height + 24.0, 11.0, "soft")
    width = max(scene.width, 1.12 * measure_text(note))
    return render_svg(replace(scene, shapes=(*scene.shapes, below), width=width, height=scene.height + 28.0))

"""A learned structure: its graph, its score, the worth of its edges, and the moves that led to it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from possnet.doors import check_arguments
from possnet.drawing import Drawing, Line, draw_graph, draw_table, format_number, text_table
from possnet.errors import count_noun
from possnet.possibility import PRODUCT

if TYPE_CHECKING:
    from possnet.graph import Dag, EssentialGraph
    from possnet.possibility import Conjunction

_SHOWN = 5
_LEVELS = 4  # of thickness, from the thinnest line to the thickest
_STOPPED = {"max_steps": "max_steps", "max_seconds": "max_seconds", "interrupted": "Ctrl-C"}


class LearnedEdge(NamedTuple):
    """An edge of the learned structure.

    ``value`` is what the edge is worth. By a score: how much it would fall without the edge, all others staying (for
    ``mwst`` by ``traced-bic``: what the edge alone would gain; for ``coarsened-bic``: on the rows as last completed). By a
    measure on contours: the measure of the pair, in the direction that the edge has; in ``k2`` and ``hybrid-dag`` given the
    parents taken before. ``reversible`` says whether its direction is open: by the CPDAG, unless the score tells directions
    (``cut-bic``). ``confidence`` is the share of bootstrap runs that connect its two ends, ``direction`` the share that
    directs them so; None if there was no bootstrap.
    """

    parent: str
    child: str
    value: float
    reversible: bool
    confidence: float | None = None
    direction: float | None = None


class SearchStep(NamedTuple):
    """A move of the search: the action and its edge, its gain, the total after it, and the moves that tied with it.

    The total is the score of the structure, or the sum of the measures; in ``mwst`` by ``traced-bic``, the score of the
    empty structure plus what each edge gains alone.
    """

    action: str
    parent: str
    child: str
    gain: float
    total: float
    ties: tuple[tuple[str, str, str], ...]


class NearMiss(NamedTuple):
    """A move that was not made, and what it would have gained (or lost, if negative)."""

    action: str
    parent: str
    child: str
    gain: float


@dataclass(frozen=True, slots=True)
class LearnedStructure:
    """The result of `possnet.learn_structure`.

    Attributes
    ----------
    dag, essential
        The structure, and its CPDAG: the class of structures that express the same independences.
    method, measure
        The names of the search method and of the measure.
    score
        The score of the structure, or the sum of the measures of its edges, required ones included.
    edges
        Every edge with what it is worth.
    families
        Name -> the score of its family (or the sum of its measures); None for ``traced-bic`` and the like, which
        are not decomposable.
    trace
        The moves of the search that led to it, with ties.
    near_misses
        The best moves that were not made.
    rows
        Number of rows that it was learned from: the sum of their weights.
    order
        The order of the variables that was used, if the method uses one.
    bootstrap
        Number of bootstrap samples behind the confidence of the edges.
    reason
        Why the measure was taken, where ``measure="auto"`` took it; else empty.
    stopped
        Why the search stopped: ``converged``, ``max_steps``, ``max_seconds`` or ``interrupted`` (Ctrl-C); unless it
        converged, the structure is the best so far.
    conjunction
        Independence for the measures on contours.

    Examples
    --------
    >>> import possnet as pn
    >>> data = pn.sample(pn.load_example("asia"), 5000, process="precise", rng=1)
    >>> learned = pn.learn_structure(data, "mwst", measure="mutual-information")
    >>> learned
    LearnedStructure(mwst by mutual-information: 8 variables, 7 edges, ...)
    >>> max(learned.edges, key=lambda edge: edge.value)[:2]
    ('bronc', 'dysp')
    """

    dag: Dag
    essential: EssentialGraph
    method: str
    measure: str
    score: float
    edges: tuple[LearnedEdge, ...]
    families: dict[str, float] | None
    trace: tuple[SearchStep, ...]
    near_misses: tuple[NearMiss, ...]
    rows: int | float
    order: tuple[str, ...] | None = None
    bootstrap: int = 0
    reason: str = ""
    stopped: str = "converged"
    conjunction: Conjunction = PRODUCT

    @property
    def ties(self) -> tuple[SearchStep, ...]:
        """Steps at which other moves tied with the one that was made."""
        return tuple(step for step in self.trace if step.ties)

    def _repr_html_(self) -> str:
        """The graph and a table of its edges, for notebooks."""
        head, *rows = self.edge_rows()
        table = draw_table(head, rows[:60], caption=repr(self)[17:-1])
        return f"<div>{draw_structure(self)}</div>{table}"

    def __repr__(self) -> str:
        variables, edges = count_noun(len(self.dag.nodes), "variable"), count_noun(len(self.edges), "edge")
        return f"LearnedStructure({self.method} by {self.measure}: {variables}, {edges}, score {self.score:.6g})"

    def __str__(self) -> str:
        count, edges = count_noun(self.rows, "row"), count_noun(len(self.edges), "edge")
        lines = [
            f"{self.method} by {self.measure}, {count}: {edges} of {count_noun(len(self.dag.nodes), 'node')}",
            "",
        ]
        lines += text_table(self.edge_rows(), texts=1) if self.edges else ["  no edges"]
        lines += ["", *([f"  measure    {self.reason}"] if self.reason else [])]
        lines += [f"  score      {self.score:,.6g}", f"  steps      {len(self.trace)}"]
        if self.stopped != "converged":
            lines.append(f"  stopped    by {_STOPPED[self.stopped]}: the best structure so far")
        if self.ties:
            step = self.ties[0]
            action, parent, child = step.ties[0]
            lines.append(
                f"  ties       {len(self.ties)}, the first: {step.action} {step.parent} -> {step.child}, or {action} "
                f"{parent} -> {child}"
            )
        if self.order is not None:
            lines.append(f"  order      {', '.join(self.order)}")
        if self.near_misses:
            lines += ["", "  near misses"]
            rows = [(f"{n.action} {n.parent} -> {n.child}", format_number(n.gain)) for n in self.near_misses[:_SHOWN]]
            lines += text_table(rows, texts=1)
        return "\n".join(lines)

    def edge_rows(self) -> list[tuple[str, ...]]:
        """The edges as a table with its head, the most valuable first; ``-`` is an edge whose direction is open.

        >>> import possnet as pn
        >>> data = pn.Dataset.from_table({"a": ["x", "y"] * 20, "b": ["u", "v"] * 20})
        >>> pn.learn_structure(data, "mwst", measure="bic").edge_rows()
        [('edge', 'value'), ('a - b', '25.88')]
        """
        rows: list[tuple[str, ...]] = [("edge", "value", *(("confidence", "direction") if self.bootstrap else ()))]
        for edge in sorted(self.edges, key=lambda e: -e.value):
            mark = "-" if edge.reversible else "->"
            shares = [f"{100 * share:.0f} %" for share in (edge.confidence, edge.direction) if share is not None]
            rows.append((f"{edge.parent} {mark} {edge.child}", format_number(edge.value), *shares))
        return rows


@check_arguments
def draw_structure(learned: LearnedStructure, *, title: str = "") -> Drawing:
    """Draw a learned structure as SVG text: the surer an edge, the thicker its line.

    The thickness is the confidence of an edge if there was a bootstrap, else the square root of its value, relative to the
    largest. An edge whose direction the CPDAG leaves open has no tip.

    >>> import possnet as pn
    >>> learned = pn.learn_structure(pn.sample(pn.load_example("asia"), 5000, process="precise", rng=1))
    >>> picture = draw_structure(learned)
    >>> picture.startswith("<svg"), "direction open" in picture
    (True, True)
    """
    largest = max((edge.value for edge in learned.edges if edge.value > 0.0), default=1.0)
    levels: dict[LearnedEdge, int] = {}
    for edge in learned.edges:
        share = edge.confidence if edge.confidence is not None else (max(edge.value, 0.0) / largest) ** 0.5
        levels[edge] = max(1, round(_LEVELS * share)) if share > 0.0 else 0
    lines = {
        (edge.parent, edge.child): _line_of(level, directed=not edge.reversible, title=_describe_edge(edge))
        for edge, level in levels.items()
    }
    meanings = [
        (_line_of(levels[edge]), _describe_strength(edge, largest, learned.bootstrap))
        for edge in _find_extremes(levels)
    ]
    if any(edge.reversible for edge in learned.edges):
        meanings.append((_line_of(_LEVELS // 2, directed=False), "direction open"))
    parents = {node: learned.dag.parents(node) for node in learned.dag.nodes}
    return draw_graph(parents, lines=lines, meanings=meanings, title=title or repr(learned))


def _find_extremes(levels: dict[LearnedEdge, int]) -> list[LearnedEdge]:
    """The strongest edge and, if its line is thinner, the weakest one."""
    order = sorted(levels, key=lambda edge: (-levels[edge], -(edge.confidence or 0.0), -edge.value))
    return [] if not order else [order[0], order[-1]] if levels[order[-1]] < levels[order[0]] else [order[0]]


def _describe_strength(edge: LearnedEdge, largest: float, samples: int) -> str:
    """What a line as thick as that of an edge means."""
    if edge.confidence is not None:
        return f"in {100 * edge.confidence:.0f} % of {samples} samples"
    return f"worth {edge.value:,.0f}" if largest >= 100.0 else f"worth {edge.value:.2g}"


def _line_of(level: int, *, directed: bool = True, title: str = "") -> Line:
    return Line(1.0 + 0.6 * level, 0.4 + 0.6 * level / _LEVELS, directed, title)


def _describe_edge(edge: LearnedEdge) -> str:
    """An edge in a tooltip."""
    text = f"{edge.parent} {'-' if edge.reversible else '->'} {edge.child}: {edge.value:.6g}"
    if edge.confidence is None or edge.direction is None:
        return text
    return f"{text}, {100 * edge.confidence:.0f} % of samples, {100 * edge.direction:.0f} % in this direction"

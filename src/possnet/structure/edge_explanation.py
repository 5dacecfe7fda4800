"""Why an edge is in a learned structure, or is not: its worth, its direction, the law of the pair."""

from __future__ import annotations

from dataclasses import dataclass, replace
from heapq import heappop, heappush
from math import inf, isfinite
from typing import TYPE_CHECKING, Final, NamedTuple, cast

import numpy as np

from possnet.dataset import Dataset, require_rows
from possnet.dependence import count_cell_pairs, fit_hidden_laws
from possnet.doors import check_arguments, checks_itself
from possnet.drawing import clip_text, draw_table, escape_markup, text_table
from possnet.errors import InputError, among, describe_value, listing
from possnet.structure.coded_rows import collect_rows
from possnet.structure.edge_worth import FamilyWeigher
from possnet.structure.learned_structure import LearnedStructure
from possnet.structure.registered_scores import MEASURES
from possnet.structure.score_registry import EdgeWorth, SearchProblem
from possnet.structure.search_graph import CompiledConstraints, SearchGraph
from possnet.structure.search_options import Search

if TYPE_CHECKING:
    from collections.abc import Iterator

    from possnet.dataset import Batches
    from possnet.structure.hill_climbing import FamilyScorer
    from possnet.structure.score_registry import EdgeWeigher

_COLUMNS: Final = 6  # cells of the child in a printed table
_REFUTED: Final = 3.3  # standard errors, as for the hidden tree
_EQUAL: Final = 1e-6  # relative to the score: what rounding leaves of a difference


class PairLaw(NamedTuple):
    """The law of the child's cell given the parent's true state.

    ``states`` are the parent's, ``cells`` the child's, most frequent first, and ``masses`` has a row for each state. Of
    precise rows it is the table of conditional probabilities.
    """

    states: tuple[str, ...]
    cells: tuple[tuple[str, ...], ...]
    masses: tuple[tuple[float, ...], ...]


@dataclass(frozen=True, slots=True)
class EdgeExplanation:
    """Why an edge is in a structure, or is not: made by `explain_edge`. A number that has no meaning is None.

    Attributes
    ----------
    parent, child, present
        The edge, and whether the structure has it.
    measure
        The measure that the numbers are by.
    value
        What the score has more with the edge than without it, all other edges staying; by a measure of pairs, that
        measure. None if the edge would close a cycle.
    likelihood, price
        The value's two parts: what the log-likelihood gains, and what the free parameters of the edge cost.
    reversal
        What the score has more with this edge than with the reverse one in its place. None if that would close a cycle.
    misfit, reverse_misfit
        How many standard errors the pair's cells are off the law "the child's cell depends on the parent's hidden state",
        and off the reverse law. None where no rows could be: the parent's cells are single states, or the pair does not
        depend enough to pay.
    law
        The law of the child's cell given the parent's state.
    confidence, direction
        The shares of bootstrap samples that connect the two, and that do so in this direction.
    path
        For an edge that is not there: the edges (parent, child) of the shortest path without a collider that connects the
        two, of several the one whose weakest edge is worth most; empty if there is none.
    words
        What all this means, in a few sentences.

    Examples
    --------
    >>> import possnet as pn
    >>> rows = pn.sample(pn.load_example("clinic"), 5000, process="traced", rng=1)
    >>> why = pn.explain_edge(pn.learn_structure(rows, measure="traced-bic"), rows, "measles", "fever")
    >>> why.present, why.value > 100, round(why.value - (why.likelihood - why.price), 6)
    (True, True, 0.0)
    """

    parent: str
    child: str
    present: bool
    measure: str
    value: float | None
    likelihood: float | None
    price: float | None
    reversal: float | None
    misfit: float | None
    reverse_misfit: float | None
    law: PairLaw
    confidence: float | None
    direction: float | None
    path: tuple[tuple[str, str], ...]
    words: str

    def __str__(self) -> str:
        if not self.law.cells:
            return self.words
        return "\n".join([self.words, "", f"  {self.caption}", *text_table(self.law_rows(), texts=1)])

    def _repr_html_(self) -> str:
        """The sentences and the table, for notebooks."""
        if not self.law.cells:
            return f"<p>{escape_markup(self.words)}</p>"
        head, *rows = self.law_rows()
        return f"<p>{escape_markup(self.words)}</p>{draw_table(head, rows, caption=self.caption)}"

    @property
    def caption(self) -> str:
        """What the table of `law_rows` holds."""
        precise = all(len(cell) == 1 for cell in self.law.cells)
        return (
            f"{self.child} given {self.parent}"
            if precise
            else f"cells of {self.child} given the state of {self.parent}"
        )

    @check_arguments
    def law_rows(self, longest: int = 20) -> list[tuple[str, ...]]:
        """The law of the child's cell as a table with its head, a row for each state of the parent.

        >>> import possnet as pn
        >>> data = pn.Dataset.from_table({"a": ["x", "y"] * 20, "b": ["u", "v"] * 20})
        >>> pn.explain_edge(pn.learn_structure(data), data, "a", "b").law_rows()
        [('a', 'u', 'v'), ('x', '1.00', '0.00'), ('y', '0.00', '1.00')]
        """
        cells = self.law.cells[:_COLUMNS]
        rest = len(self.law.cells) > len(cells)
        rows = [(clip_text(self.parent), *(clip_text("|".join(cell), longest) for cell in cells), *(["others"] * rest))]
        for state, masses in zip(self.law.states, self.law.masses, strict=True):
            shown = [*masses[: len(cells)], *([1.0 - sum(masses[: len(cells)])] * rest)]
            rows.append((clip_text(state), *(f"{abs(mass):.2f}" for mass in shown)))
        return rows


@check_arguments
@checks_itself("learned", "parent", "child")
def explain_edge(learned: LearnedStructure, data: Dataset | Batches, parent: str, child: str) -> EdgeExplanation:
    """Explain why an edge is in a learned structure, or why it is not.

    Everything is computed from the data by the measure of the structure, all other edges staying as they are.

    Parameters
    ----------
    learned
        What `possnet.learn_structure` returned.
    data
        The rows that it was learned from, or others with the same variables.
    parent, child
        The edge, in the structure or not.

    Examples
    --------
    >>> import possnet as pn
    >>> data = pn.sample(pn.load_example("asia"), 5000, process="precise", rng=1)
    >>> learned = pn.learn_structure(data)
    >>> print(pn.explain_edge(learned, data, "lung", "dysp"))
    'dysp' does not depend on 'lung' directly: with this edge the score would fall by ... (the likelihood would rise by ...,
    the edge costs ...). The two are connected by lung ... dysp.
    ...
    """
    names = _check_names(learned, data, parent, child)
    rows = (data if isinstance(data, Dataset) else collect_rows(data)).select(names)
    worth, reversal = _weigh_directions(learned, rows, (names.index(parent), names.index(child)))
    laws = fit_hidden_laws(count_cell_pairs(rows.select([parent, child])))
    cells, masses = laws.law(parent, child)
    shares = next((e for e in learned.edges if {e.parent, e.child} == {parent, child}), None)
    confidence = direction = None
    if shares is not None and shares.confidence is not None and shares.direction is not None:
        confidence, direction = shares.confidence, shares.direction
        direction = direction if shares.parent == parent else confidence - direction
    explanation = EdgeExplanation(
        parent,
        child,
        (parent, child) in learned.dag.edges,
        learned.measure,
        *worth,
        reversal,
        float(laws.misfit[0, 1]) or None,
        float(laws.misfit[1, 0]) or None,
        PairLaw(laws.variables[0].states, tuple(cells), tuple(tuple(row) for row in masses[:, : len(cells)].tolist())),
        confidence,
        direction,
        find_path(learned, parent, child) if shares is None else (),
        "",
    )
    return replace(explanation, words=" ".join(_write_sentences(explanation, learned)))


def _check_names(learned: object, data: object, parent: object, child: object) -> list[str]:
    """The variables of the structure, in the order of the data; an `InputError` unless the question makes sense."""
    if not isinstance(learned, LearnedStructure):
        raise InputError(f"explain_edge: {describe_value(learned)}; expected what learn_structure(...) returned")
    require_rows(data, "explain_edge")
    for name in (parent, child):
        if not isinstance(name, str) or name not in learned.dag.nodes:
            raise InputError(
                f"explain_edge: the structure has no variable {describe_value(name)}{among(name, learned.dag.nodes)}"
            )
    if parent == child:
        raise InputError(f"explain_edge: an edge from {parent!r} to itself; expected two variables")
    present = [variable.name for variable in cast("Dataset", data).variables]
    lacking = [name for name in learned.dag.nodes if name not in present]
    if lacking:
        raise InputError(
            f"explain_edge: the data lacks {listing(map(repr, lacking))}; expected all variables of the structure"
        )
    return [name for name in present if name in learned.dag.nodes]


def _weigh_directions(
    learned: LearnedStructure, rows: Dataset, edge: tuple[int, int]
) -> tuple[EdgeWorth, float | None]:
    """The worth of an edge beside the others, and how much more that is than the worth of the reverse edge."""
    names = [variable.name for variable in rows.variables]
    rest = np.zeros((len(names), len(names)), dtype=np.bool_)
    for above, below in learned.dag.edges:
        rest[names.index(above), names.index(below)] = {above, below} != {names[k] for k in edge}
    free = CompiledConstraints(np.zeros_like(rest), ~np.eye(len(names), dtype=np.bool_), len(names))
    measure = MEASURES.require(learned.measure, "explain_edge")
    problem = SearchProblem(rows, measure, learned.conjunction, free, Search(), 0.0, None, 0, _report_nothing)
    weigher = _make_weigher(problem)
    reach = SearchGraph(free, rest).reach
    worth, reverse = (
        EdgeWorth() if weigher is None or reach[child, parent] else weigher.weigh_edge(rest, parent, child)
        for parent, child in (edge, edge[::-1])
    )
    if worth.value is None or reverse.value is None:
        return worth, None
    reversal = worth.value - reverse.value
    size = abs(learned.score) if isfinite(learned.score) else 1.0
    return worth, 0.0 if abs(reversal) <= _EQUAL * max(size, 1.0) else reversal


def _make_weigher(problem: SearchProblem) -> EdgeWeigher | None:
    """What the measure weighs edges by, if anything."""
    if problem.measure.make_weigher is not None:
        return problem.measure.make_weigher(problem)
    scorer = problem.measure.make_scorer(problem)
    return FamilyWeigher(cast("FamilyScorer", scorer)) if hasattr(scorer, "score_family") else None


def _report_nothing(done: int, total: int) -> None:
    """Progress, which is not reported."""


def find_path(learned: LearnedStructure, start: str, end: str) -> tuple[tuple[str, str], ...]:
    """The edges of the shortest path without a collider; of several the one whose weakest edge is worth most.

    >>> import possnet as pn
    >>> data = pn.sample(pn.load_example("clinic"), 3000, process="precise", rng=1)
    >>> known = pn.Constraints(tiers=[["measles"], ["fever", "rash"]])
    >>> find_path(pn.learn_structure(data, constraints=known), "fever", "rash")
    (('measles', 'fever'), ('measles', 'rash'))
    """
    values = {(edge.parent, edge.child): edge.value if isfinite(edge.value) else 0.0 for edge in learned.edges}
    # number of edges, minus the least value; then the node, whether the path goes down by now, and its edges
    waiting: list[tuple[int, float, str, bool, tuple[tuple[str, str], ...]]] = [(0, -inf, start, False, ())]
    done: set[tuple[str, bool]] = set()
    while waiting:
        length, weakest, node, down, path = heappop(waiting)
        if node == end:
            return path
        if (node, down) in done:
            continue
        done.add((node, down))
        steps = [((node, child), child, True) for child in learned.dag.children(node)]
        steps += [] if down else [((parent, node), parent, False) for parent in learned.dag.parents(node)]
        for edge, other, downward in steps:
            heappush(waiting, (length + 1, max(weakest, -values[edge]), other, downward, (*path, edge)))
    return ()


def _write_sentences(why: EdgeExplanation, learned: LearnedStructure) -> Iterator[str]:
    measure = MEASURES[why.measure]
    turned = (why.child, why.parent) in learned.dag.edges
    if turned:
        yield f"The structure has this edge the other way round: {why.parent!r} depends on {why.child!r}."
    else:
        yield _say_pair(why, measure.label) if measure.adds_edges else _say_score(why)
    if why.present or turned:
        yield _say_reversal(why, measure.label if measure.adds_edges else "score")
    if measure.learner == "em" and (why.misfit is not None or why.reverse_misfit is not None):
        yield _say_refutation(why.parent, why.child, why.misfit or 0.0, why.reverse_misfit or 0.0)
    if not why.present and not turned:
        yield _say_path(why)
    if why.confidence is not None and why.direction is not None:
        yield (
            f"Of {learned.bootstrap} bootstrap samples {100 * why.confidence:.0f} % connect the two, "
            f"{100 * why.direction:.0f} % in this direction."
        )


def _say_score(why: EdgeExplanation) -> str:
    """What a score says of an edge that is there, or that is there in neither direction."""
    if why.value is None:
        return (
            f"{why.child!r} does not depend on {why.parent!r} directly: with the other edges this one closes a cycle."
        )
    parts = ""
    if why.likelihood is not None and why.price is not None:
        does = "falls" if why.present else "would rise"
        parts = f" (the likelihood {does} by {_number(why.likelihood)}, the edge costs {_number(why.price)})"
    if why.present:
        falls = f"falls by {_number(why.value)}" if why.value >= 0.0 else f"rises by {_number(-why.value)}"
        beside = "" if why.value >= 0.0 else ", but it is required, or the search has stopped early"
        return f"{why.child!r} depends on {why.parent!r}: without this edge the score {falls}{parts}{beside}."
    falls = f"fall by {_number(-why.value)}" if why.value <= 0.0 else f"rise by {_number(why.value)}"
    beside = "" if why.value <= 0.0 else ", but the constraints or the method forbid it, or the search has not tried it"
    opening = f"{why.child!r} does not depend on {why.parent!r} directly"
    return f"{opening}: with this edge the score would {falls}{parts}{beside}."


def _say_pair(why: EdgeExplanation, label: str) -> str:
    """What a measure of pairs says of such an edge."""
    opening = f"{why.child!r} {'depends' if why.present else 'does not depend'} on {why.parent!r}"
    directly = "" if why.present else " directly"
    if why.value is not None:
        return f"{opening}{directly}: the {label} of the two is {why.value:.3g}."
    if why.likelihood is None:
        return f"{opening}{directly}: with the other edges this one closes a cycle."
    return f"{opening}{directly}: the two do not depend enough to pay."


def _say_reversal(why: EdgeExplanation, what: str) -> str:
    """What the other direction would be worth."""
    if why.reversal is None:
        opening = "The other way round" if why.present else "In this direction"
        return f"{opening} it would close a cycle with the other edges."
    if why.reversal == 0.0:
        return f"In both directions the {what} is the same."
    difference = _number(abs(why.reversal)) if what == "score" else f"{abs(why.reversal):.3g}"
    opening, lower = (
        ("The other way round", why.reversal > 0.0) if why.present else ("In this direction", why.reversal < 0.0)
    )
    return f"{opening} the {what} would be {difference} {'lower' if lower else 'higher'}."


def _say_refutation(parent: str, child: str, misfit: float, reverse_misfit: float) -> str:
    """Whether the cells of the pair refute one direction or the other."""
    if misfit > _REFUTED < reverse_misfit:
        return (
            f"The two alone fit neither direction ({misfit:.1f} and {reverse_misfit:.1f} standard errors off): other "
            "variables lie above or between them."
        )
    refuted = "is refuted by their cells, which are {:.1f} standard errors off"
    if reverse_misfit > _REFUTED:
        return f"That {parent!r} depends on the hidden state of {child!r} {refuted.format(reverse_misfit)}."
    if misfit > _REFUTED:
        return f"That {child!r} depends on the hidden state of {parent!r} {refuted.format(misfit)}."
    return "Their cells refute neither direction."


def _say_path(why: EdgeExplanation) -> str:
    if not why.path:
        return "No path without a collider connects the two: the structure has them independent."
    text, node = why.parent, why.parent
    for parent, child in why.path:
        text += f" -> {child}" if parent == node else f" <- {parent}"
        node = child if parent == node else parent
    return f"The two are connected by {text}."


def _number(value: float) -> str:
    """A number of nats as people say it.

    >>> _number(8123.45), _number(3.26), _number(-0.0004)
    ('8,123', '3.3', '0')
    """
    return f"{value:,.0f}" if abs(value) >= 10.0 else f"{value:.2g}" if abs(value) >= 0.01 else "0"

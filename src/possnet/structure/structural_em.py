"""Structural EM: hill climbing, K2 and trees by traced BIC.

The climb (see `possnet.structure.hidden_state_climb`) begins at the *hidden tree* (see `possnet.structure.hidden_tree`),
which is the answer already if a tree is behind the rows. Where there are many rows it begins on a sample of them, goes on
from there on a larger one, and ends on all. The structure that is kept is fitted until EM has converged.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from possnet.dependence import count_cell_pairs, fit_hidden_laws
from possnet.errors import TooLarge, warn_user
from possnet.structure.chow_liu import spanning_tree
from possnet.structure.family_moves import FamilyMove, change_parents, edges_of
from possnet.structure.hidden_state_climb import LEAST_GAIN, HiddenStateClimber
from possnet.structure.hidden_tree import branch_by_information
from possnet.structure.search_clock import CONVERGED, run_until_stopped
from possnet.structure.search_graph import CompiledConstraints, SearchGraph, parent_sets_of
from possnet.structure.search_result import MoveRecord, SearchResult
from possnet.structure.traced_score import TracedScore

if TYPE_CHECKING:
    from possnet.aliases import Bools, Floats
    from possnet.dependence import HiddenLaws
    from possnet.structure.coded_rows import CodedRows
    from possnet.structure.score_registry import SearchProblem

    Families = tuple[tuple[int, ...], ...]

_SAMPLES: Final = (2_000, 10_000)  # rows on which the climb begins and goes on
_WORTHWHILE: Final = 2.5  # times as many rows as the sample, so that sampling pays
_WIDTH: Final = 6  # candidates that EM tries as one more parent in K2
_PERTURBATIONS: Final = 6  # random moves before a restart
_FEW_STARTS: Final = 40  # up to so many variables there is a second start
_QUICK_PAIRS: Final = 100  # variables whose pairs are fitted within seconds
_FEW_VARIABLES: Final = 20  # up to so many, every pair may become an edge
_MOST_CANDIDATES: Final = 30  # parents of a child, where there are many variables
_DEPENDENT: Final = 2.0  # standard errors: pairs of cells that depend less are not tried


class TracedScorer:
    """Structure searches by traced BIC: hill climbing (structural EM; Friedman 1997), K2 and trees."""

    def __init__(self, rows: CodedRows) -> None:
        self.score = TracedScore(rows)
        self.size = self.score.size
        nothing = np.zeros((self.size, self.size), dtype=np.bool_)
        self._free = CompiledConstraints(nothing, ~np.eye(self.size, dtype=np.bool_), self.size)
        scores = [self.score.sample_rows(most) for most in _SAMPLES if rows.n_rows >= _WORTHWHILE * most]
        self._levels = [*(score for score in scores if score is not None), self.score]

    def parent_gains(self, child: int, parents: tuple[int, ...], among: Bools, edges: Bools) -> Floats:
        """What the most promising variables gain as one more parent, by EM; of the others lower bounds that are losses."""
        climber = self._make_climber(tuple(parent_sets_of(edges)))
        gains = np.full(self.size, -np.inf)
        for k in np.flatnonzero(among).tolist():
            gains[k] = climber.gain_family(child, tuple(sorted((*parents, k))))[0]
        for k in np.argsort(-gains, kind="stable")[:_WIDTH].tolist():
            if among[k]:
                move = change_parents(climber.families, "add", k, child, tuple(sorted((*parents, k))))
                gains[k] = climber.exact_gain(move)
        return gains

    def score_required(self, required: Bools) -> float:
        """Score of the required edges alone."""
        return self.score.score_structure(parent_sets_of(required))

    def fill_values(self, result: SearchResult) -> None:
        """Score after EM has converged, and what it would lose without each edge."""
        refit_by_em(self.score, result)
        _fill_gains(self._make_climber(tuple(parent_sets_of(result.edges))), result)

    def grow_tree(self, problem: SearchProblem) -> SearchResult:
        """The tree by what each variable gains as the only parent of each other, and its score."""
        weights = np.stack([self.score.local_gains(k, ()) for k in range(self.size)], axis=1)
        base = self.score.score_structure([()] * self.size)
        result = spanning_tree(weights, problem.constraints, problem.threshold, problem.names, base)
        refit_by_em(self.score, result)
        return result

    def climb_structures(self, problem: SearchProblem) -> SearchResult:
        """The best structure of a climb from the hidden tree, and of climbs from perturbations of the best."""
        constraints = problem.constraints
        climb = _Climb(problem, self._levels)
        climb.run()
        result = SearchResult(edges_of(climb.path.families), 0.0, [], stopped=climb.stopped)
        refit_by_em(self.score, result, thorough=climb.stopped == CONVERGED)
        rng = problem.make_rng()
        for _ in range(problem.search.restarts or 0 if climb.stopped == CONVERGED else 0):
            again = _Climb(problem, self._levels, climb.laws)
            again.path = again.begin_at(_perturb(result.edges, constraints, rng))
            again.run()
            other = SearchResult(edges_of(again.path.families), 0.0, [], stopped=again.stopped)
            refit_by_em(self.score, other, thorough=again.stopped == CONVERGED)
            if other.score > result.score + LEAST_GAIN:
                result, climb = other, again
        result.moves = climb.list_moves(result.score)
        if climb.climber is not None and climb.stopped in {CONVERGED, "max_steps"}:
            _fill_gains(climb.climber, result)
        return result

    def _make_climber(self, families: Families) -> HiddenStateClimber:
        climber = None
        every = ~np.eye(self.size, dtype=np.bool_)
        for score in self._levels:
            climber = HiddenStateClimber(score, self._free, families, every, np.zeros(every.shape), climber)
        assert climber is not None  # noqa: S101 - there is one level at least
        return climber


class _MadeMove(NamedTuple):
    """A move, and what it gains on all rows, estimated if it was made on a sample."""

    move: FamilyMove
    gain: float


@dataclass(slots=True)
class _Path:
    """A structure that a climb has reached: the edges that it began with, and the moves that led on."""

    families: Families
    begun: list[_MadeMove]
    made: list[_MadeMove] = field(default_factory=list)


class _Climb:
    """A climb from the hidden tree, first on samples of the rows; it keeps the structure it has reached.

    Where the tree had to be rebuilt, rather than added to, a second climb on the smallest sample begins without it, and the
    better of the two goes on.

    Attributes
    ----------
    path
        The structure so far.
    stopped
        Why it stopped; see `possnet.structure.search_clock`.
    """

    def __init__(self, problem: SearchProblem, levels: list[TracedScore], laws: HiddenLaws | None = None) -> None:
        self._problem, self._levels = problem, levels
        self.laws = _fit_laws(problem) if laws is None else laws
        self.candidates = choose_candidates(self.laws, problem.constraints)
        self.path = self.begin_at(_start_edges(self.laws, problem))
        self.stopped = CONVERGED
        self.climber: HiddenStateClimber | None = None

    def begin_at(self, edges: Bools) -> _Path:
        """A path that begins with some edges, each with what it gains alone."""
        alone = self.laws.gain - self.laws.price
        begun = [
            _MadeMove(FamilyMove("add", p, c, ()), float(alone[p, c]))
            for p, c in np.argwhere(edges & ~self._problem.constraints.required).tolist()
        ]
        return _Path(tuple(parent_sets_of(edges)), sorted(begun, key=lambda made: -made.gain))

    def run(self) -> None:
        """Climb until no move gains, or the search is stopped."""
        self.stopped = run_until_stopped(self._climb_levels)
        most = self._problem.search.max_steps
        if self.stopped == CONVERGED and most is not None and len(self.path.made) >= most:
            self.stopped = "max_steps"

    def _climb_levels(self) -> None:
        for number, score in enumerate(self._levels):
            self.climber = self._climb_level(score, self.path, self.climber)
            if number == 0 and self._was_rebuilt():
                other = self.begin_at(self._problem.constraints.required)
                climber = self._climb_level(score, other, None)
                if score.score_structure(other.families) > score.score_structure(self.path.families) + LEAST_GAIN:
                    self.path, self.climber = other, climber

    def _was_rebuilt(self) -> bool:
        """Whether the climb did more than add edges, and may have kept what is wrong of the tree."""
        few = len(self.path.families) <= _FEW_STARTS and self._problem.search.max_steps is None
        return few and any(made.move.action != "add" for made in self.path.made)

    def _climb_level(self, score: TracedScore, path: _Path, sampled: HiddenStateClimber | None) -> HiddenStateClimber:
        problem, most = self._problem, self._problem.search.max_steps
        climber = HiddenStateClimber(
            score,
            problem.constraints,
            path.families,
            self.candidates,
            self.laws.information,
            sampled,
            problem.clock.check,
        )
        while most is None or len(path.made) < most:
            before = climber.families
            step = climber.take_step()
            if step is None:
                break
            move, gain = step
            path.families = move.families
            path.made.append(_MadeMove(move, self._scale_up(gain, before, move, score)))
            problem.progress(len(path.made), 0)
        return climber

    def _scale_up(self, gain: float, before: Families, move: FamilyMove, score: TracedScore) -> float:
        """The gain on all rows, if it was found on a sample; see `HiddenStateClimber`."""
        whole = self._levels[-1]
        if score is whole:
            return gain
        changed = move.changed_from(before)
        free = sum(whole.free_masses(k, move.families[k]) - whole.free_masses(k, before[k]) for k in changed)
        raised = gain + score.price * free
        return whole.rows.total / max(score.rows.total, 1) * (raised - free / 2.0) + free / 2.0 - whole.price * free

    def list_moves(self, score: float) -> list[MoveRecord]:
        """The edges that the climb began with, by what each gains alone, and its moves; totals lead up to the score."""
        moves = [*self.path.begun, *self.path.made]
        total = score - sum(made.gain for made in moves)
        records = []
        for (action, parent, child, _), gain in moves:
            total += gain
            records.append(MoveRecord(action, parent, child, gain, total, ()))
        return records


def _fill_gains(climber: HiddenStateClimber, result: SearchResult) -> None:
    """What the score would lose without each edge, and gain by the further ones that were tried."""
    for parent, child in np.argwhere(result.edges).tolist():
        rest = tuple(p for p in climber.families[child] if p != parent)
        move = change_parents(climber.families, "delete", parent, child, rest)
        result.gains["delete", parent, child] = climber.estimated_gain(move)
    for (parent, child), gain in climber.known_gains().items():
        result.gains["add", parent, child] = gain


def refit_by_em(score: TracedScore, result: SearchResult, *, thorough: bool = True) -> None:
    """Set the score of a structure after EM has converged; without ``thorough``, as the search left it."""
    families = parent_sets_of(result.edges)
    try:
        if thorough:
            score.refit(families)
        result.score = score.score_structure(families)
    except TooLarge as error:
        warn_user(f"learn_structure: the score of the structure could not be computed: {error}")
        result.score = float("nan")


def _fit_laws(problem: SearchProblem) -> HiddenLaws:
    """The hidden laws of all pairs, whatever the time where they take no more than seconds."""
    pairs = count_cell_pairs(problem.data)
    return (
        fit_hidden_laws(pairs)
        if len(problem.names) <= _QUICK_PAIRS
        else fit_hidden_laws(pairs, check=problem.clock.check)
    )


def choose_candidates(laws: HiddenLaws, constraints: CompiledConstraints) -> Bools:
    """Pairs (parent, child) that the search tries as edges.

    All that are allowed where there are few variables; otherwise those whose cells depend by a lenient test, and of these
    for every child those whose hidden states say most of its cell (by their cells alone, siblings would beat parents).
    """
    size = len(laws.variables)
    chosen = constraints.allowed & ~np.eye(size, dtype=np.bool_)
    if size > _FEW_VARIABLES:
        strength = np.where(chosen & (laws.dependence > _DEPENDENT), laws.information, -np.inf)
        kept = np.argsort(-strength, axis=0, kind="stable")[:_MOST_CANDIDATES]
        strongest = np.zeros_like(chosen)
        np.put_along_axis(strongest, kept, values=True, axis=0)
        chosen &= (strongest & np.isfinite(strength)) | constraints.required
    return chosen


def _start_edges(laws: HiddenLaws, problem: SearchProblem) -> Bools:
    """The edges that the problem starts from, or the required ones and the edges of the hidden tree beside them."""
    constraints = problem.constraints
    if problem.start is not None:
        return problem.start
    graph = SearchGraph(constraints)
    nothing = np.zeros_like(constraints.required)
    beside = constraints.allowed & ~constraints.required.any(axis=0)
    tree = branch_by_information(
        laws, CompiledConstraints(nothing, beside, constraints.max_parents), 0.0, problem.names
    )
    for move in tree.moves:
        if graph.may_add()[move.parent, move.child]:
            graph.set_edge(move.parent, move.child, present=True)
    return graph.edges


def _perturb(edges: Bools, constraints: CompiledConstraints, rng: np.random.Generator) -> Bools:
    """The structure after a few random moves."""
    graph = SearchGraph(constraints, edges)
    for _ in range(_PERTURBATIONS):
        actions = [graph.may_add(), graph.may_delete(), graph.may_reverse()]
        possible = [(action, *pair) for action, may in enumerate(actions) for pair in np.argwhere(may).tolist()]
        if not possible:
            break
        action, parent, child = possible[int(rng.integers(len(possible)))]
        if action == 2:
            graph.reverse_edge(parent, child)
        else:
            graph.set_edge(parent, child, present=action == 0)
    return graph.edges

"""Greedy hill climbing over structures by the moves add, delete and reverse, with a tabu list and restarts.

The search makes the best move while the score rises. At a local maximum it goes on for a few moves, downhill if need be,
without touching the pairs that it changed last (the tabu list; Glover 1989); then it starts again (restarts), in turns
from a random perturbation of the best structure and from the beginning, where a draw decides among moves that tie. The
best structure ever seen is kept, so that its score never falls.

The score is decomposable: a move changes one or two families, so that only the gains of moves on these families are
computed again. For structures with hidden states see `possnet.structure.hidden_state_climb`.
"""

from __future__ import annotations

from collections import deque
from math import inf
from operator import itemgetter
from typing import TYPE_CHECKING, Final, Protocol

import numpy as np

from possnet.structure.bit_sets import list_bits
from possnet.structure.search_clock import CONVERGED, run_until_stopped
from possnet.structure.search_graph import SearchGraph, parent_sets_of
from possnet.structure.search_result import ACTIONS, NEAR_MISSES, MoveRecord, SearchResult

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from typing import TypeAlias

    from possnet.aliases import Bools, Floats
    from possnet.structure.score_registry import SearchProblem
    from possnet.structure.search_result import EdgeMove

    _Gain: TypeAlias = tuple[float, EdgeMove]

_ROUNDING: Final = 1e-9  # relative: scores are differences of sums of n ln n
# Edges taken away or turned at random before a restart. On rows of alarm and insurance so many led to better structures
# than 8 or 30, and than moves among which most add an edge, which the next climb only takes away.
_PERTURBATIONS: Final = 16
_ADD, _DELETE, _REVERSE = range(len(ACTIONS))
_TIES: Final = 16  # moves that tie of which it is worth a look where they lead


def rounding_of(score: float) -> float:
    """How far two scores may be apart by rounding.

    >>> rounding_of(-5000.0)
    5e-06
    """
    return _ROUNDING * max(abs(score), 1.0)


def climb_once(climber: _FamilyClimber, best: SearchResult, problem: SearchProblem) -> None:
    """Climb from one structure; ``best`` is updated whenever the score passes all before."""
    moves = list(best.moves)
    begun = len(moves)
    tabu, max_steps = problem.search.tabu, problem.search.max_steps
    tabu_list: deque[tuple[int, int]] = deque(maxlen=max(tabu, 1))
    downhill = 0
    while max_steps is None or len(moves) - begun < max_steps:
        chosen = climber.best_move(tabu_list if downhill else (), best.score, upward=downhill >= tabu)
        if chosen is None:
            return
        problem.clock.check()
        move, ties = chosen
        _record_move(climber, moves, move, ties)
        if tabu:
            tabu_list.append(move[1:])
        if climber.total > best.score + climber.margin:
            best.edges, best.score, best.moves = climber.graph.edges.copy(), climber.total, list(moves)
            downhill = 0
        else:
            downhill += 1
        problem.progress(len(moves), 0)
    best.stopped = "max_steps"


def climb_with_restarts(score: FamilyScorer, edges: Bools, problem: SearchProblem) -> SearchResult:
    """The best structure of a climb from ``edges``, and of others from perturbations of the best, or with drawn ties."""
    rng = problem.make_rng()
    score.prepare_families([(child, parents) for child, parents in enumerate(parent_sets_of(edges))])
    best = SearchResult(edges, sum(score_families(score, edges)), [])

    def start(edges: Bools, rng: np.random.Generator | None = None) -> _FamilyClimber:
        return _FamilyClimber(score, SearchGraph(problem.constraints, edges), problem.clock.check, rng)

    def perturb_best() -> SearchResult:
        again = start(best.edges)
        restarted = SearchResult(best.edges, best.score, list(best.moves))
        for _ in range(_PERTURBATIONS):
            move = again.random_move(rng)
            if move is None:
                break
            _record_move(again, restarted.moves, move, [])
        climb_once(again, restarted, problem)
        return restarted

    def begin_anew() -> SearchResult:
        again = start(edges, rng)
        restarted = SearchResult(edges, again.total, [])
        climb_once(again, restarted, problem)
        return restarted

    def climb_all() -> None:
        nonlocal best
        climb_once(start(edges), best, problem)
        for number in range(problem.search.restarts or 0):
            restarted = perturb_best() if number % 2 else begin_anew()
            if restarted.score > best.score + rounding_of(best.score):
                best = restarted

    stopped = run_until_stopped(climb_all)
    if stopped != CONVERGED:
        best.stopped = stopped
    return best


def _record_move(climber: _FamilyClimber, moves: list[MoveRecord], move: EdgeMove, ties: list[EdgeMove]) -> None:
    before = climber.total
    climber.apply_move(move)
    action, parent, child = move
    tied = tuple((ACTIONS[a], p, c) for a, p, c in ties)
    moves.append(MoveRecord(ACTIONS[action], parent, child, climber.total - before, climber.total, tied))


class FamilyScorer(Protocol):
    """A score that is a sum over families. Variables are numbers, parents sorted tuples of them."""

    size: int

    def prepare_families(self, families: Sequence[tuple[int, tuple[int, ...]]]) -> None:
        """Take note of families (child, parents) whose scores, additions and deletions will be asked for."""
        ...

    def score_family(self, child: int, parents: tuple[int, ...]) -> float:
        """Score of a family."""
        ...

    def score_additions(self, child: int, parents: tuple[int, ...]) -> Floats:
        """Score of the family with each variable as one more parent; -inf where that cannot be, or cannot be better."""
        ...


class _FamilyClimber:
    """A graph and the gains of all its moves by a decomposable score.

    For each child, further parents are ranked by what they gain: the best that may be added is among the first, so that a
    move takes a few operations for each variable and each edge, and not for each pair of variables.
    """

    def __init__(
        self,
        score: FamilyScorer,
        graph: SearchGraph,
        check: Callable[[], None] = lambda: None,
        rng: np.random.Generator | None = None,
    ) -> None:
        self.score, self.graph, self._check, self._rng = score, graph, check, rng
        self._families = [0.0] * score.size
        self._adding: list[list[float]] = [[]] * score.size  # for each child, what each further parent gains
        self._ranked: list[list[int]] = [[]] * score.size  # the same parents, the best first
        self._deleting: list[dict[int, float]] = [{}] * score.size  # for each child, what it gains without each parent
        self._changes: list[list[_Gain]] = [[]] * score.size  # for each child, what its edges gain deleted or reversed
        # For each child no less than the most that any possible one of these gains: moves that turn out to be impossible
        # are left out of it until an edge is deleted that could be in their way.
        self._tops = [-inf] * score.size
        self._update_families(range(score.size))

    def _update_families(self, changed: Collection[int]) -> None:
        """Gains of the moves on families, and the score, after they changed."""
        self.score.prepare_families([(child, self.graph.parents(child)) for child in changed])
        for child in changed:
            self._check()
            parents = self.graph.parents(child)
            current = self._families[child] = self.score.score_family(child, parents)
            gains = self.score.score_additions(child, parents) - current
            self._adding[child], self._ranked[child] = gains.tolist(), (-gains).argsort(kind="stable").tolist()
            self._deleting[child] = {
                parent: self.score.score_family(child, parents[:place] + parents[place + 1 :]) - current
                for place, parent in enumerate(parents)
            }
        # an edge is reversed in two families
        for child in {*changed, *(below for k in changed for below in self.graph.children(k))}:
            self._changes[child] = self._rank_changes(child)
            self._tops[child] = self._find_top(child)
        self.total = sum(self._families)
        self.margin = rounding_of(self.total)

    def _find_top(self, child: int) -> float:
        """The most that a move to a child would gain, possible or not."""
        added, changes = self._adding[child][self._ranked[child][0]], self._changes[child]
        return max(added, changes[0][0]) if changes else added

    def _rank_changes(self, child: int) -> list[_Gain]:
        """What deleting and reversing the edges to a child would gain, possible or not, the best first."""
        adding = self._adding
        changes: list[_Gain] = []
        for parent, gain in self._deleting[child].items():
            changes.append((gain, (_DELETE, parent, child)))
            changes.append((gain + adding[parent][child], (_REVERSE, parent, child)))
        changes.sort(key=itemgetter(0), reverse=True)
        return changes

    def list_moves(
        self, above: float = -inf, within: float = inf, held: Mapping[int, int] | None = None, enough: float = inf
    ) -> list[_Gain]:
        """Moves that gain more than ``above``, and at most ``within`` less than the best.

        For some children ``held`` has bits of the other ends of pairs whose moves must gain more than ``enough``. Moves are
        pairs (gain, move), in the order of moves.
        """
        held = held or {}
        moves: list[_Gain] = []
        least, tops = above, self._tops  # the former rises with the best so far
        for child in sorted(range(len(tops)), key=tops.__getitem__, reverse=True):
            if tops[child] <= least:
                break
            gains, addable, kept = self._adding[child], self.graph.addable_parents(child), held.get(child, 0)
            top = -inf
            for parent in self._ranked[child] if addable else ():
                gain = gains[parent]
                if gain <= least:
                    top = max(top, gain)
                    break
                if addable >> parent & 1:
                    top = max(top, gain)
                    if gain > enough or not kept >> parent & 1:
                        moves.append((gain, (_ADD, parent, child)))
                        least = max(least, gain - within)
            for gain, move in self._changes[child]:
                if gain <= least:
                    top = max(top, gain)
                    break
                if self._is_possible(move):
                    top = max(top, gain)
                    if gain > enough or not kept >> move[1] & 1:
                        moves.append((gain, move))
                        least = max(least, gain - within)
            tops[child] = top
        best = [pair for pair in moves if pair[0] >= least]
        best.sort(key=itemgetter(1))
        return best

    def _is_possible(self, move: EdgeMove) -> bool:
        """Whether an edge could be deleted, or reversed."""
        action, parent, child = move
        is_possible = self.graph.is_deletable if action == _DELETE else self.graph.is_reversible
        return is_possible(parent, child)

    def best_move(
        self, tabu_list: Collection[tuple[int, int]], best: float, *, upward: bool
    ) -> tuple[EdgeMove, list[EdgeMove]] | None:
        """The best move on a pair that is not in the tabu list, and those that tie with it; it must gain if ``upward``.

        A tabu move is made after all if it passes the best score so far (aspiration). Rounding does not choose among moves
        that tie; see `_choose_tie`.
        """
        held: dict[int, int] = {}
        for one, other in tabu_list:
            held[one] = held.get(one, 0) | 1 << other
            held[other] = held.get(other, 0) | 1 << one
        moves = self.list_moves(self.margin if upward else -inf, self.margin, held, best + self.margin - self.total)
        if not moves:
            return None
        ties = [move for _, move in moves]
        move = self._choose_tie(ties)
        return move, [tie for tie in ties if tie != move]

    def _choose_tie(self, ties: list[EdgeMove]) -> EdgeMove:
        """The move after which further parents of its two variables promise most, of several the first; or any, drawn.

        Both directions of an edge between variables without parents tie, and the next moves depend on which is made. What
        is promised is the sum of what each further parent would gain. On rows of five gold-standard networks this led to
        better structures on average than the first of all, or an end at the variable with the most or fewest children.
        """
        if len(ties) == 1:
            return ties[0]
        if self._rng is not None:
            return ties[self._rng.choice(len(ties))]
        considered = ties[:_TIES]
        families = [self._family_after(tie) for tie in considered]
        self.score.prepare_families([family for family in families if family is not None])
        promised = [self._promise(tie, family) for tie, family in zip(considered, families, strict=True)]
        return next(
            tie
            for tie, sum_of_gains in zip(considered, promised, strict=True)
            if sum_of_gains >= max(promised) - self.margin
        )

    def _family_after(self, move: EdgeMove) -> tuple[int, tuple[int, ...]] | None:
        """The child that an edge is added to, and its parents then; None if it is only deleted."""
        action, parent, child = move
        if action == _DELETE:
            return None
        if action == _REVERSE:
            parent, child = child, parent
        return child, tuple(sorted((*self.graph.parents(child), parent)))

    def _promise(self, move: EdgeMove, family: tuple[int, tuple[int, ...]] | None) -> float:
        """What further parents would gain of both variables, each alone."""
        if family is None:
            return 0.0
        child, parents = family
        other = move[1] + move[2] - child
        further = self.score.score_additions(child, parents) - self.score.score_family(child, parents)
        gains: list[float] = [*further.tolist(), *self._adding[other]]
        return sum(gain for gain in gains if gain > 0.0)

    def random_move(self, rng: np.random.Generator) -> EdgeMove | None:
        """Any edge taken away or turned, of those that may be."""
        changes = (change for ranked in self._changes for change in ranked)
        possible = sorted(move for gain, move in changes if gain > -inf and self._is_possible(move))
        return possible[rng.choice(len(possible))] if possible else None

    def apply_move(self, move: EdgeMove) -> None:
        """Make a move."""
        action, parent, child = move
        if action == _REVERSE:
            freed = self.graph.reverse_edge(parent, child)
            self._update_families((parent, child))
        else:
            freed = self.graph.set_edge(parent, child, present=action == _ADD)
            self._update_families((child,))
        for node in list_bits(freed):
            self._tops[node] = self._find_top(node)


def climb_families(score: FamilyScorer, problem: SearchProblem) -> SearchResult:
    """Hill climbing by a decomposable score, from the start or the required edges, and from perturbations of the best."""
    begun = problem.constraints.required if problem.start is None else problem.start
    best = climb_with_restarts(score, begun, problem)
    fill_gains(score, problem, best)
    return best


def climb_from(score: FamilyScorer, problem: SearchProblem, result: SearchResult) -> None:
    """Climb once from the structure of a result, which is updated in place."""
    climber = _FamilyClimber(score, SearchGraph(problem.constraints, result.edges), problem.clock.check)
    result.score = climber.total
    climb_once(climber, result, problem)


def fill_gains(score: FamilyScorer, problem: SearchProblem, result: SearchResult) -> None:
    """Fill in the scores of the families, what its edges are worth, and the gains of the best additions that it lacks.

    Of a search that was stopped only what its edges are worth: its time is up.
    """
    before = parent_sets_of(result.edges)
    families = result.families = [score.score_family(child, parents) for child, parents in enumerate(before)]
    if result.stopped in {CONVERGED, "max_steps"}:
        graph = SearchGraph(problem.constraints, result.edges)
        for gain, parent, child in list_best_additions(score, graph, NEAR_MISSES):
            result.gains["add", parent, child] = gain
    for child, parents in enumerate(before):
        for place, parent in enumerate(parents):  # required ones too, which cannot be deleted
            rest = parents[:place] + parents[place + 1 :]
            result.gains["delete", parent, child] = score.score_family(child, rest) - families[child]


def list_best_additions(score: FamilyScorer, graph: SearchGraph, number: int) -> list[tuple[float, int, int]]:
    """So many of the edges that would gain most, (gain, parent, child), and those that equal the least of them."""
    families = [(child, graph.parents(child)) for child in range(score.size)]
    score.prepare_families(families)
    addable = graph.may_add().T
    gains = np.full(addable.shape, -inf)
    for child, parents in families:
        if addable[child].any():
            np.subtract(score.score_additions(child, parents), score.score_family(child, parents), out=gains[child])
    possible = np.where(addable, gains, -inf).T.ravel()
    (edges,) = (possible > -inf).nonzero()
    values = possible[edges]
    if len(edges) > number:
        best = values >= np.partition(values, -number)[-number]
        edges, values = edges[best], values[best]
    return [(gain, *divmod(edge, score.size)) for gain, edge in zip(values.tolist(), edges.tolist(), strict=True)]


def score_families(score: FamilyScorer, edges: Bools) -> list[float]:
    """The scores of all families of a structure."""
    return [score.score_family(child, parents) for child, parents in enumerate(parent_sets_of(edges))]

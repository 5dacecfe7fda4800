"""BIC under coarsening at random, and its search: structural EM around any method (Friedman 1997).

The score of a structure is the likelihood of `possnet.em.coarsening` at its maximum, with a price by *states*, however many
distinct cells there are:

    sum over rows d of ln sum over w in d of prod_i theta_i(w_i | w_parents(i))  -  (ln N / 2) sum_i q_i (r_i - 1).

On precise rows it is BIC. It is not a sum over families, so a method is run on *completed* rows: hidden states are drawn a
few times from their joint posterior under the network at hand, the method searches by BIC on these precise rows, each of
which counts for its share, and EM fits the tables of the structure that it returns; again, while the score of the rows as
they are rises. Completed rows show the dependences that the network at hand has, so that the start decides much where most
cells are imprecise: the search begins at the tree of what pairs gain, at the tree of the mutual information between hidden
states, and at no edges, and the best result is kept.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from math import log, prod
from typing import TYPE_CHECKING, Final

import numpy as np

from possnet.dataset import group_rows
from possnet.em import CoarsenedNetwork
from possnet.errors import InputError, TooLarge
from possnet.structure.chow_liu import spanning_tree
from possnet.structure.coarsened_pairs import CoarsenedPairs
from possnet.structure.decomposable_scores import DecomposableScore
from possnet.structure.search_clock import CONVERGED, SearchStopped, run_until_stopped
from possnet.structure.search_graph import parent_sets_of
from possnet.structure.search_result import SearchResult

if TYPE_CHECKING:
    from collections.abc import Iterator

    from possnet.aliases import Bools, Floats
    from possnet.structure.coded_rows import CodedRows
    from possnet.structure.score_registry import RunnableMethod, SearchProblem

_DRAWS: Final = 5  # draws of a row's hidden states
_COPIES: Final = 64  # of equal rows, at most, that are drawn apart
_FEW_IMPRECISE: Final = 0.25  # share of imprecise cells in a column up to which all starts lead to the same structure
_ROUNDS: Final = 10  # from one start, at most
_RESTARTS: Final = 2  # of boss in a round, unless given; ten took twice the time and ended in the same structures
_AFRESH: Final = 2  # rounds that search afresh too, not only from the current structure
_LEAST_GAIN: Final = 0.5  # nats: what EM leaves to gain
_STEPS: Final = 100  # of EM for a structure on the way
_LAST_TOLERANCE: Final = 0.01
_LAST_STEPS: Final = 10_000


@dataclass(frozen=True, slots=True)
class _FittedStructure:
    """What a method returned, with the tables that EM fitted, and its score."""

    result: SearchResult
    model: CoarsenedNetwork
    tables: dict[str, Floats]
    score: float


class CoarsenedScore:
    """BIC under coarsening at random.

    >>> import possnet as pn
    >>> from possnet.structure.coded_rows import CodedRows
    >>> data = pn.Dataset.from_table({"a": ["x", "y", None, "y"] * 25, "b": ["u", "v", "v", {"u", "v"}] * 25})
    >>> score = CoarsenedScore(CodedRows(data))
    >>> edge = np.array([[False, True], [False, False]])
    >>> round(score.score_structure(edge), 3), round(score.score_structure(edge & False), 3)
    (-63.141, -100.082)
    """

    def __init__(self, rows: CodedRows) -> None:
        self.rows = rows
        self.price = log(max(rows.total, 2)) / 2.0
        self._states = [len(variable) for variable in rows.variables]
        groups = group_rows(rows.codes, rows.n_cells, rows.n_rows)
        self._codes = list(np.ascontiguousarray(groups.combinations.T))
        self._weights = groups.counts(rows.weights)
        self._precise = np.ones(len(self._weights), dtype=np.bool_)
        for sets, codes in zip(rows.sets, self._codes, strict=True):
            self._precise &= (sets.sum(axis=1) == 1)[codes]

    def penalty(self, edges: Bools) -> float:
        """What the free parameters of a structure cost."""
        states = self._states
        families = enumerate(parent_sets_of(edges))
        return self.price * sum((states[k] - 1) * prod(states[p] for p in parents) for k, parents in families)

    def make_model(self, edges: Bools) -> CoarsenedNetwork:
        """The likelihood of a structure."""
        return CoarsenedNetwork(parent_sets_of(edges), self.rows.sets, self._codes, self._weights)

    def score_structure(self, edges: Bools) -> float:
        """Score of a structure, by EM from equal probabilities."""
        model = self.make_model(edges)
        run = model.fit(model.equal_tables(), tolerance=_LAST_TOLERANCE, max_steps=_LAST_STEPS)
        return run.log_likelihood[-1] - self.penalty(edges)

    def complete_rows(self, model: CoarsenedNetwork, tables: dict[str, Floats], rng: np.random.Generator) -> CodedRows:
        """Precise rows: every row `_DRAWS` times, with hidden states drawn from their posterior."""
        copies = np.where(self._precise, 1, np.ceil(np.minimum(self._weights, _COPIES)).astype(np.int64))
        rows = np.repeat(np.arange(len(copies)), copies)
        place = np.arange(len(rows)) - np.repeat(np.cumsum(copies) - copies, copies)
        if self._weights.dtype.kind == "f":
            weights = np.tile((self._weights / copies)[rows], _DRAWS)
        else:
            shared, rest = np.divmod(self._weights, copies)
            weights = np.tile(shared[rows] + (place < rest[rows]), _DRAWS)
        rows = np.tile(rows, _DRAWS)
        drawn = model.draw_states(tables, rows, rng)
        codes = [
            drawn[k] if k in drawn else sets.argmax(axis=1)[column][rows]
            for k, (sets, column) in enumerate(zip(self.rows.sets, self._codes, strict=True))
        ]
        return self.rows.with_states(codes, weights)


def search_coarsened(method: RunnableMethod, problem: SearchProblem) -> SearchResult:
    """The best structure that a method returns in rounds of structural EM, from several starts.

    Gains of moves and values of edges are those of the last completed rows.
    """
    if not problem.rows.imprecise:
        return replace(method.run(replace(problem, measure=replace(problem.measure, decomposable=True))), families=None)
    score, rng = CoarsenedScore(problem.rows), problem.make_rng()
    best: _FittedStructure | None = None
    refusal: TooLarge | None = None
    visited: set[bytes] = set()

    def search_all() -> None:
        nonlocal best, refusal
        for start in _list_starts(problem, score):
            try:
                for fitted in _run_rounds(method, problem, score, start, rng):
                    if best is None or fitted.score > best.score + _LEAST_GAIN:
                        best = fitted
                    problem.clock.check()
                    structure = fitted.result.edges.tobytes()
                    if structure in visited:
                        break
                    visited.add(structure)
            except TooLarge as error:  # a start may lead to a wide structure; others remain
                refusal = error

    stopped = run_until_stopped(search_all)
    if best is None:
        raise refusal or (SearchStopped() if stopped == "max_seconds" else KeyboardInterrupt())
    converged = stopped == CONVERGED
    run = best.model.fit(best.tables, tolerance=_LAST_TOLERANCE, max_steps=_LAST_STEPS if converged else _STEPS)
    result = _rescale_result(best.result, run.log_likelihood[-1] - score.penalty(best.result.edges))
    return result if converged else replace(result, stopped=stopped)


def _list_starts(problem: SearchProblem, score: CoarsenedScore) -> Iterator[SearchResult]:
    """Where the search begins: the required edges alone; before, where columns are very imprecise, two trees.

    Trees that cannot keep the constraints are left out.
    """
    rows = problem.rows
    shares = [rows.cell_counts(k)[sets.sum(axis=1) > 1].sum() / rows.total for k, sets in enumerate(rows.sets)]
    pairs = None
    if max(shares) > _FEW_IMPRECISE:
        with suppress(SearchStopped):  # the required edges remain
            pairs = CoarsenedPairs(rows, problem.clock.check)
    if pairs is not None:
        gains = pairs.pair_gains(score.price)
        for weights in (gains, np.where(gains > 0.0, pairs.hidden_gains(score.price), -np.inf)):
            try:
                yield spanning_tree(weights, problem.constraints, 0.0, problem.names)
            except InputError:
                break
    yield SearchResult(problem.constraints.required, 0.0, [])


def _run_rounds(
    method: RunnableMethod, problem: SearchProblem, score: CoarsenedScore, start: SearchResult, rng: np.random.Generator
) -> Iterator[_FittedStructure]:
    """What a method returns in rounds of structural EM from one start, until a round is no better."""
    model = score.make_model(start.edges)
    current = _fit_tables(score, start, model, model.equal_tables())
    for number in range(_ROUNDS):
        completed = DecomposableScore(
            score.complete_rows(current.model, current.tables, rng), price=_DRAWS * score.price
        )
        result = _search_completed(method, problem, completed, current.result, afresh=number < _AFRESH)
        if number and np.array_equal(result.edges, current.result.edges):
            return
        families = enumerate(parent_sets_of(result.edges))
        tables = {str(k): completed.family_table(k, parents) for k, parents in families}
        last, current = current, _fit_tables(score, result, score.make_model(result.edges), tables)
        yield current
        if current.score <= last.score + _LEAST_GAIN:
            return


def _search_completed(
    method: RunnableMethod, problem: SearchProblem, completed: DecomposableScore, current: SearchResult, *, afresh: bool
) -> SearchResult:
    """What a method returns on completed rows, from the current structure if it takes a start; or ``afresh``, if better."""
    measure = replace(problem.measure, make_scorer=lambda _: completed, decomposable=True)
    inner = replace(problem, measure=measure, threshold=_DRAWS * problem.threshold)
    if not method.uses_start:
        restarts = _RESTARTS if problem.search.restarts is None else problem.search.restarts
        return method.run(replace(inner, search=replace(problem.search, restarts=restarts)))
    result = method.run(replace(inner, start=current.edges))
    result.moves = [*current.moves, *result.moves]
    begun = np.array_equal(current.edges, problem.constraints.required)  # which is where it begins by itself
    other = method.run(inner) if afresh and not begun else result
    return other if other.score > result.score else result


def _fit_tables(
    score: CoarsenedScore, result: SearchResult, model: CoarsenedNetwork, start: dict[str, Floats]
) -> _FittedStructure:
    run = model.fit(start, tolerance=_LEAST_GAIN, max_steps=_STEPS)
    return _FittedStructure(result, model, run.masses, run.log_likelihood[-1] - score.penalty(result.edges))


def _rescale_result(result: SearchResult, score: float) -> SearchResult:
    """The result with its score, and with gains of a row for those of its draws; totals lead up to the score."""
    moves, total = [], score
    for move in reversed(result.moves):
        moves.append(move._replace(gain=move.gain / _DRAWS, score=total))
        total -= move.gain / _DRAWS
    gains = {move: gain / _DRAWS for move, gain in result.gains.items()}
    return replace(result, score=score, moves=moves[::-1], gains=gains, families=None)

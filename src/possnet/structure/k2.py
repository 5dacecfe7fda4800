"""K2: the parents of each variable among those before it in an order (Cooper and Herskovits 1992)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from possnet.structure.search_clock import run_until_stopped
from possnet.structure.search_graph import parents_of
from possnet.structure.search_result import MoveRecord, SearchResult

if TYPE_CHECKING:
    from collections.abc import Callable

    from possnet.structure.score_registry import Scorer, SearchProblem
    from possnet.structure.search_graph import CompiledConstraints


def search_orders(scorer: Scorer, problem: SearchProblem) -> SearchResult:
    """The result of K2 with the given order, or the best result over several orders.

    The first of several orders is that of the data, as far as the constraints allow it, the others are random.
    """
    constraints, rng = problem.constraints, problem.make_rng()
    orders = [problem.order] if problem.order is not None else [
        draw_order(constraints, rng if number else None) for number in range(problem.search.orders)
    ]  # fmt: skip
    results: list[SearchResult] = []

    def search_all() -> None:
        for done, order in enumerate(orders, start=1):
            results.append(_begin_order(scorer, order, constraints))
            _add_parents(results[-1], scorer, constraints, problem.threshold, problem.clock.check)
            problem.progress(done, len(orders))

    stopped = run_until_stopped(search_all)
    if not results:  # interrupted before there was anything to return
        raise KeyboardInterrupt
    best = max(results, key=lambda result: result.score)
    best.stopped = stopped
    scorer.fill_values(best)
    return best


def search_order(scorer: Scorer, order: list[int], constraints: CompiledConstraints, threshold: float) -> SearchResult:
    """Parents of every variable, best first, while each adds more than the threshold.

    >>> class Fixed:
    ...     size = 2
    ...     def parent_gains(self, child, parents, among, edges):
    ...         return np.array([-np.inf, 0.5]) if child == 0 else np.array([0.4, -np.inf])
    ...     def score_required(self, required):
    ...         return 0.0
    >>> from possnet.structure.search_graph import CompiledConstraints
    >>> free = CompiledConstraints(np.zeros((2, 2), bool), ~np.eye(2, dtype=bool), 1)
    >>> result = search_order(Fixed(), [1, 0], free, 0.0)
    >>> result.score, [move[:3] for move in result.moves]
    (0.5, [('add', 1, 0)])
    """
    result = _begin_order(scorer, order, constraints)
    _add_parents(result, scorer, constraints, threshold, lambda: None)
    return result


def _begin_order(scorer: Scorer, order: list[int], constraints: CompiledConstraints) -> SearchResult:
    """The required edges alone."""
    return SearchResult(
        constraints.required.copy(), scorer.score_required(constraints.required), [], {}, order=list(order)
    )


def _add_parents(
    result: SearchResult,
    scorer: Scorer,
    constraints: CompiledConstraints,
    threshold: float,
    check: Callable[[], None],
) -> None:
    """Add the parents of one variable after the other; ``check`` may raise an exception to stop in between."""
    edges, order, gains = result.edges, result.order or [], result.gains
    for place, child in enumerate(order):
        before = np.zeros(scorer.size, dtype=np.bool_)
        before[order[:place]] = True
        before &= constraints.allowed[:, child]
        while True:
            check()
            parents = parents_of(edges, child)
            among = before & ~edges[:, child]
            values = np.where(among, scorer.parent_gains(child, parents, among, edges), -np.inf)
            best = int(values.argmax())
            if values[best] <= threshold or len(parents) >= constraints.max_parents:
                for k in np.flatnonzero(np.isfinite(values)).tolist():
                    gains["add", k, child] = float(values[k])
                break
            ties = [k for k in np.flatnonzero(values >= values[best] - 1e-12).tolist() if k != best]
            edges[best, child] = True
            result.score += float(values[best])
            tied = tuple(("add", k, child) for k in ties)
            result.moves.append(MoveRecord("add", best, child, float(values[best]), result.score, tied))
            gains["delete", best, child] = -float(values[best])


def draw_order(constraints: CompiledConstraints, rng: np.random.Generator | None) -> list[int]:
    """An order in which required parents come before their children, and earlier tiers before later ones where possible.

    It is random, or without ``rng`` the order of the data as far as the constraints allow it.
    """
    required = constraints.required
    before = required | (constraints.allowed & ~constraints.allowed.T)
    missing, missing_required = before.sum(axis=0), required.sum(axis=0)  # that must still come before each variable
    left = np.ones(len(required), dtype=np.bool_)
    order: list[int] = []
    while left.any():
        ready = np.flatnonzero(left & (missing == 0))
        if not len(ready):
            ready = np.flatnonzero(left & (missing_required == 0))
        chosen = int(ready[0 if rng is None else int(rng.integers(len(ready)))])
        order.append(chosen)
        left[chosen] = False
        missing -= before[chosen]
        missing_required -= required[chosen]
    return order

"""Structures compared on rows that were held out, where a class with lists of candidates stands among precise columns.

``measure="auto"`` compares what the search returned with the class apart from all others, with the naive structure, and
with the tree-augmented one (`possnet.structure.class_structures`). Rows are parted into folds. The tables of a structure
are learned from all folds but one, and in that one counts how many cells of the class hold the state that is then most
probable given all other cells of the row, as `possnet.complete` would have it: the share of right completions, as far as
candidates can tell it. (The likelihood of these cells misleads: naive structures are too sure of themselves, and are right
more often all the same.) The structure with the largest share is taken; what the search returned where others are no
better.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np

from possnet.errors import TooLarge
from possnet.structure.class_structures import ClassRows, augment_tree, find_class, join_class
from possnet.structure.coarsened_search import CoarsenedScore
from possnet.structure.decomposable_scores import DecomposableScore
from possnet.structure.search_graph import parent_sets_of
from possnet.structure.search_result import SearchResult

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from possnet.aliases import Bools, Floats, Weights
    from possnet.structure.score_registry import SearchProblem

_FOLDS: Final = 5
_FEWEST: Final = 20  # rows from which folds say something
_MOST: Final = 20_000  # rows that are compared; of more, a sample
_STEPS: Final = 60
_TOLERANCE: Final = 1.0  # nats


def choose_structure(result: SearchResult, problem: SearchProblem) -> tuple[SearchResult, str]:
    """What the search returned, or a structure that tells the class better; and the choice in words, or nothing."""
    target = find_class(problem.rows)
    if target is None or problem.rows.total < _FEWEST or result.stopped != "converged":
        return result, ""
    rows = ClassRows(problem.rows.sample_rows(_MOST) or problem.rows, target)
    naive, apart = join_class(target, len(problem.names)), result.edges.copy()
    apart[target] = apart[:, target] = False
    ways: dict[str, Callable[[Weights], Bools]] = {
        "the structure of the search": lambda _: result.edges,
        "no edge at all": lambda _: apart,
        "all others as its children": lambda _: naive,
        "these joined by a tree": lambda weights: augment_tree(rows, naive, weights),
    }
    allowed = {way: make for way, make in ways.items() if _is_allowed(make(rows.weights), problem)}
    if len(allowed) < 2:
        return result, ""
    try:
        shares = compare_structures(rows, allowed, problem.make_rng())
    except TooLarge:
        return result, ""
    best = max(shares, key=lambda way: round(shares[way], 9))  # the first of those that tie
    edges = allowed[best](rows.weights)
    words = ", ".join(f"{way} {share:.0%}" for way, share in shares.items())
    told = f"of held-out cells, {problem.names[target]!r} is told rightly, as far as they show it, with {words}"
    return result if np.array_equal(edges, result.edges) else describe_edges(edges, problem, result), told


def compare_structures(
    rows: ClassRows, ways: Mapping[str, Callable[[Weights], Bools]], rng: np.random.Generator
) -> dict[str, float]:
    """Share of the class's held-out cells that hold the most probable state, by the way in which a structure is found."""
    folds = part_rows(rows.weights, rng)
    hits = dict.fromkeys(ways, 0.0)
    for held_out in folds:
        weights = rows.weights - held_out
        for way, find_edges in ways.items():
            parents = parent_sets_of(find_edges(weights))
            posteriors = rows.class_degrees(parents, rows.fit_tables(parents, weights), divide=False)
            hits[way] += float(held_out @ count_hits(posteriors, rows.cells))
    return {way: value / float(rows.weights.sum()) for way, value in hits.items()}


def part_rows(weights: Weights, rng: np.random.Generator) -> Weights:
    """Weights of the rows in every fold, (folds, rows); rows that stand for several are parted too.

    >>> part_rows(np.array([10, 1]), np.random.default_rng(0)).sum(axis=0)
    array([10,  1])
    """
    if np.issubdtype(weights.dtype, np.integer):
        parted: Weights = rng.multinomial(weights.astype(np.int64), np.full(_FOLDS, 1.0 / _FOLDS)).T
        return parted
    chosen: Weights = weights * (rng.integers(_FOLDS, size=len(weights)) == np.arange(_FOLDS)[:, np.newaxis])
    return chosen


def count_hits(degrees: Floats, cells: Bools) -> Floats:
    """Whether each cell holds the state of the largest degree; of several that tie, the share that it holds.

    >>> count_hits(np.array([[1.0, 0.2], [1.0, 1.0]]), np.array([[True, True], [False, True]]))
    array([1. , 0.5])
    """
    top = degrees == degrees.max(axis=1, keepdims=True)
    hits: Floats = (top & cells).sum(axis=1) / top.sum(axis=1)
    return hits


def describe_edges(edges: Bools, problem: SearchProblem, result: SearchResult) -> SearchResult:
    """A structure as a result of the search: its score, and what its edges are worth on completed rows."""
    score = CoarsenedScore(problem.rows)
    model = score.make_model(edges)
    run = model.fit(model.equal_tables(), tolerance=_TOLERANCE, max_steps=_STEPS)
    completed = score.complete_rows(model, run.masses, problem.make_rng())
    draws = completed.total / problem.rows.total
    described = SearchResult(edges, 0.0, [])
    DecomposableScore(completed, price=draws * score.price).fill_values(described)
    gains = {move: gain / draws for move, gain in described.gains.items()}
    value = run.log_likelihood[-1] - score.penalty(edges)
    return replace(described, score=value, gains=gains, families=None, order=result.order)


def _is_allowed(edges: Bools, problem: SearchProblem) -> bool:
    """Whether a structure keeps the constraints."""
    limits = problem.constraints
    return not (
        (edges & ~limits.allowed).any()
        or (limits.required & ~edges).any()
        or edges.sum(axis=0).max() > limits.max_parents
    )

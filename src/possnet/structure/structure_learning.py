"""Learning the structure of a network from imprecise data."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING, Final

import numpy as np

from possnet.dataset import Dataset, require_rows
from possnet.dependence import count_pairs, measure as measured
from possnet.errors import InputError, TooLarge
from possnet.graph import Dag
from possnet.kernels import bitmaps
from possnet.possibility import PRODUCT, Conjunction
from possnet.structure.chow_liu import spanning_tree
from possnet.structure.coded_rows import CodedRows
from possnet.structure.constraints import constraints_of, order_of
from possnet.structure.contour_gains import ContourGains, StateCounts
from possnet.structure.hill_climbing import climb_families
from possnet.structure.hybrid import find_skeleton, learn_hybrid_dag, learn_hybrid_tree
from possnet.structure.k2 import ScoreGains, draw_order, search_orders
from possnet.structure.learned_structure import LearnedEdge, LearnedStructure, NearMiss, SearchStep
from possnet.structure.options import Options
from possnet.structure.scores import FamilyScore
from possnet.structure.search_graph import parents_of
from possnet.structure.structural_em import TracedGains, climb_traced, refit_by_em
from possnet.structure.traced_score import TracedScore

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from possnet.aliases import Floats, Progress
    from possnet.dataset import Batches
    from possnet.structure.k2 import Gains
    from possnet.structure.options import Measure, Method
    from possnet.structure.search_graph import CompiledConstraints
    from possnet.structure.search_result import SearchResult

_CONTOUR_PARENTS: Final = 2
_NEAR: Final = 20


def learn_structure(
    data: Dataset | Batches,
    method: Method = "greedy",
    *,
    measure: Measure | None = None,
    conjunction: Conjunction = PRODUCT,
    required: Iterable[tuple[str, str]] = (),
    forbidden: Iterable[tuple[str, str]] = (),
    tiers: Iterable[Iterable[str]] = (),
    max_parents: int | None = None,
    order: Iterable[str] | None = None,
    orders: int = 10,
    tabu: int = 10,
    restarts: int = 0,
    max_steps: int | None = None,
    threshold: float | None = None,
    errors: float = 4.0,
    bootstrap: int = 0,
    rng: np.random.Generator | int | None = None,
    progress: Progress | None = None,
) -> LearnedStructure:
    """Structure of a network, learned from a data set or a stream of set-valued cells.

    Parameters
    ----------
    method
        ``greedy``: hill climbing over a score. ``mwst``: the heaviest spanning tree. ``k2``: parents among the variables
        before, in a given order or the best of several. ``hybrid-tree``, ``hybrid-dag``: tests of conditional dependence,
        then a search that lowers non-specificity.
    measure
        A score (``random-set-bic``, the default; ``traced-bic``, ``mdl``, ``bic`` for precise rows), or for ``mwst`` and
        ``k2`` also a measure on contours (``specificity-gain``, ``specificity-ratio``, ``specificity-symmetric``, ``chi2``,
        ``mutual-information``; see `possnet.dependence`). ``docs/structure.md`` says when to use which.
    conjunction
        How the measures on contours read independence: ``PRODUCT`` fits every process of `possnet.sample`, for min-based
        networks too; ``MIN`` is the reading of Borgelt, Gebhardt and Kruse.
    required, forbidden
        Edges (parent, child) that must, or must not, be there. Trees look for a root that keeps them.
    tiers
        Lists of names, causes first: no edge leads from a later list to an earlier one.
    max_parents
        Most parents of a variable; without it 2 for ``hybrid-dag``, and for ``k2`` with a measure on contours, which has no
        price for parents.
    order, orders, rng
        For ``k2``: the order of the variables; without one the best of several, the first as the data has them, the others
        drawn with ``rng``.
    tabu, restarts, rng
        For ``greedy``: moves that the walk goes on at a peak without undoing the last ones, and climbs from random changes
        of the best structure so far, drawn with ``rng``.
    max_steps
        For ``greedy``: the most moves of a climb.
    threshold
        For ``mwst``, ``k2`` and ``hybrid-dag``: what an edge must be worth; 0, or .01 for ``hybrid-dag``, and for ``k2``
        with a measure on contours.
    errors
        For the hybrid methods: standard errors that count as noise in a test of dependence.
    bootstrap
        Learn again from this many samples of the rows, and tell for every edge how often it came out.
    progress
        Called with the steps done and the steps in all (0 if unknown).

    >>> import possnet as pn
    >>> asia = pn.load_example("asia")
    >>> found = learn_structure(pn.sample(asia, 50_000, process="precise", rng=1), measure="bic")
    >>> found.essential == asia.dag.essential_graph()
    True
    >>> found.edges[0].parent, found.edges[0].child
    ('asia', 'tub')
    """
    require_rows(data, "learn_structure")
    options = Options(
        method, measure, conjunction, orders, tabu, restarts, max_steps, threshold, errors, bootstrap, rng
    )
    if bootstrap and not isinstance(data, Dataset):
        raise InputError(
            "learn_structure: bootstrap of a stream; expected rows in memory: read them with read_data(...)"
        )
    names = [variable.name for variable in data.variables]
    if max_parents is None and options.unpriced:
        max_parents = _CONTOUR_PARENTS
    limits = constraints_of(names, required=required, forbidden=forbidden, tiers=tiers, max_parents=max_parents)
    before = limits.required if method == "k2" else np.zeros_like(limits.required)  # other methods use no order
    sequence = None if order is None else order_of(order, names, before)
    tell = _silent if progress is None else progress
    try:
        found = _learned(data, names, options, limits, sequence, tell)
        if bootstrap and isinstance(data, Dataset):
            learned: dict[tuple[str, str], int] = {}
            for done, rows in enumerate(_samples(data, bootstrap, options.seed), start=1):
                for pair in _learned(rows, names, options, limits, sequence, _silent).dag.edges:
                    learned[pair] = learned.get(pair, 0) + 1
                tell(done, bootstrap)
            found = _with_confidence(found, learned, bootstrap)
    except TooLarge:
        raise
    except MemoryError:
        raise TooLarge(
            f"learn_structure: {method} by {options.measure} of {len(names)} variables does not fit into memory; set "
            "max_parents, or use fewer rows, variables or states"
        ) from None
    return found


def _silent(done: int, total: int) -> None:
    """Tell nobody of the progress."""


def _samples(data: Dataset, number: int, seed: int) -> Iterator[Dataset]:
    """Samples of as many rows as the data, drawn with replacement: the same rows with other weights."""
    rng = np.random.default_rng([seed, 1])
    names = [variable.name for variable in data.variables]
    words = {name: data.bitmaps(name) for name in names}
    unknown = {name: bitmaps.pack(data.missing(name)) for name in names}
    weights = np.ones(len(data)) if data.weights is None else data.weights.astype(np.float64)
    shares = weights / max(float(weights.sum()), 1.0)
    for _ in range(number):
        drawn = rng.multinomial(data.total, shares) if len(data) else np.zeros(0, dtype=np.int64)
        yield Dataset.unchecked(data.variables, words, len(data), unknown=unknown, weights=drawn)


def _with_confidence(found: LearnedStructure, times: dict[tuple[str, str], int], runs: int) -> LearnedStructure:
    """The same structure, with the share of samples that join, and that direct, the two ends of each edge.

    How sure an edge is: Friedman, Goldszmidt and Wyner 1999.
    """
    edges = []
    for edge in found.edges:
        so, otherwise = times.get((edge.parent, edge.child), 0), times.get((edge.child, edge.parent), 0)
        edges.append(edge._replace(confidence=(so + otherwise) / runs, direction=so / runs))
    return replace(found, edges=tuple(edges), bootstrap=runs)


def _learned(
    data: Dataset | Batches,
    names: list[str],
    options: Options,
    limits: CompiledConstraints,
    sequence: list[int] | None,
    progress: Progress,
) -> LearnedStructure:
    if options.method == "mwst" and options.by_contours:
        weights, rows = _pair_weights(data, names, options, progress)
        return _to_result(spanning_tree(weights, limits, options.threshold, names), names, options, rows)
    columns = CodedRows(data, missing=options.measure == "traced-bic")
    if options.method == "greedy":
        if options.measure == "traced-bic":
            found = climb_traced(TracedScore(columns), limits, options, progress)
        else:
            found = climb_families(FamilyScore(columns, options.measure), limits, options, progress)
    elif options.method == "mwst":
        found = _score_tree(columns, options, limits, names)
    elif options.method == "k2":
        listed = [sequence] if sequence is not None else _orders(limits, options)
        found = search_orders(_gains(columns, options), listed, limits, options.threshold, progress)
    else:
        counts = StateCounts(columns)
        deepest = 1 if options.method == "hybrid-tree" else 2
        skeleton = find_skeleton(counts, limits, deepest=deepest, errors=options.errors, progress=progress)
        if options.method == "hybrid-tree":
            found = learn_hybrid_tree(counts, limits, names, skeleton)
        else:
            gains = ContourGains(columns, "specificity-gain", options.reading)
            found = learn_hybrid_dag(gains, limits, skeleton, options.threshold)
    return _to_result(found, names, options, columns.total)


def _gains(columns: CodedRows, options: Options) -> Gains:
    if options.by_contours:
        return ContourGains(columns, options.measure, options.reading)  # type: ignore[arg-type]
    if options.measure == "traced-bic":
        return TracedGains(TracedScore(columns))
    return ScoreGains(FamilyScore(columns, options.measure))


def _score_tree(columns: CodedRows, options: Options, limits: CompiledConstraints, names: list[str]) -> SearchResult:
    """The tree by what each variable gains as the only parent of each other, and its score."""
    if options.measure == "traced-bic":
        traced = TracedScore(columns)
        weights = np.stack([traced.additions(k, ()) for k in range(traced.size)], axis=1)
        found = spanning_tree(weights, limits, options.threshold, names, traced.total([()] * traced.size))
        refit_by_em(traced, found)
        return found
    score = FamilyScore(columns, options.measure)
    alone = [score.score_family(k, ()) for k in range(score.size)]
    weights = np.stack([score.score_additions(k, ()) - alone[k] for k in range(score.size)], axis=1)
    needed = limits.required | np.isfinite(weights.T) | (options.threshold < 0.0)
    for parent, child in np.argwhere(needed & np.isneginf(weights)).tolist():  # ruled out by its price alone
        if parent != child:
            weights[parent, child] = score.score_family(child, (parent,)) - alone[child]
    found = spanning_tree(weights, limits, options.threshold, names, float(sum(alone)))
    ScoreGains(score).finish(found, limits.required)
    return found


def _pair_weights(
    data: Dataset | Batches, names: list[str], options: Options, progress: Progress
) -> tuple[Floats, int]:
    """Measure of every pair, as (parent, child)."""
    pairs = count_pairs(data, progress=progress)
    weights = np.full((len(names), len(names)), -np.inf)
    for a, b in combinations(range(len(names)), 2):
        contour = pairs.contour(names[a], names[b])
        weights[a, b] = weights[b, a] = measured(options.measure, contour, options.reading)  # type: ignore[arg-type]
        if options.measure == "specificity-ratio":
            weights[b, a] = measured("specificity-ratio", contour.T, options.reading)
    return weights, pairs.rows


def _orders(limits: CompiledConstraints, options: Options) -> list[list[int]]:
    """The order of the data, as far as the constraints let it be, and random ones."""
    rng = options.rng
    return [draw_order(limits, None), *(draw_order(limits, rng) for _ in range(options.orders - 1))]


def _to_result(found: SearchResult, names: list[str], options: Options, rows: int) -> LearnedStructure:
    dag = Dag({name: [names[p] for p in parents_of(found.edges, k)] for k, name in enumerate(names)})
    essential = dag.essential_graph()
    opened = {frozenset(edge) for edge in essential.undirected}
    edges = tuple(
        LearnedEdge(p, c, -found.gains["delete", names.index(p), names.index(c)], frozenset((p, c)) in opened)
        for p, c in dag.edges
    )

    def named(action: str, parent: int, child: int) -> tuple[str, str, str]:
        return action, names[parent], names[child]

    steps = tuple(
        SearchStep(*named(*move[:3]), move.gain, move.score, tuple(named(*tie) for tie in move.ties))
        for move in found.moves
    )
    misses = [
        NearMiss(*named(*move), gain) for move, gain in found.gains.items() if move[0] == "add" and np.isfinite(gain)
    ]
    misses.sort(key=lambda miss: -miss.gain)
    return LearnedStructure(
        dag,
        essential,
        options.method,
        options.measure,
        found.score,
        edges,
        _families(found, names, edges, options),
        steps,
        tuple(misses[:_NEAR]),
        rows,
        None if found.order is None else tuple(names[k] for k in found.order),
    )


def _families(
    found: SearchResult, names: list[str], edges: tuple[LearnedEdge, ...], options: Options
) -> dict[str, float] | None:
    """The part of each family in the score, or in the sum of the measures."""
    if found.families is not None:
        return dict(zip(names, found.families, strict=True))
    if not options.by_contours:
        return None
    families = dict.fromkeys(names, 0.0)
    for edge in edges:
        families[edge.child] += edge.value
    return families

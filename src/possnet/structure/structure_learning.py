"""Learning the structure of a network from imprecise data."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from math import isfinite, nan
from time import monotonic
from typing import TYPE_CHECKING

import numpy as np

from possnet.dataset import Dataset, cut_batches, require_rows
from possnet.doors import check_arguments, checks_itself
from possnet.errors import InputError, TooLarge, describe_value, listing, require_whole, warn_user
from possnet.graph import Dag
from possnet.limits import memory_limit
from possnet.possibility import PRODUCT, Conjunction, check_conjunction
from possnet.seeds import seed_of
from possnet.structure.bootstrap_confidence import add_confidence
from possnet.structure.coded_rows import CodedRows, collect_rows
from possnet.structure.constraints import Constraints, compile_constraints
from possnet.structure.cut_search import follows_law
from possnet.structure.held_out_choice import choose_structure
from possnet.structure.learned_structure import LearnedEdge, LearnedStructure, NearMiss, SearchStep
from possnet.structure.score_registry import MEASURES, SearchProblem
from possnet.structure.search_clock import SearchClock, SearchStopped
from possnet.structure.search_graph import parent_sets_of
from possnet.structure.search_methods import METHODS, SearchMethod, fitting_measure
from possnet.structure.search_options import Search, number_order
from possnet.structure.search_result import NEAR_MISSES
from possnet.structure.streamed_tables import RowSummary, StreamedTables, count_stream

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from possnet.aliases import Progress
    from possnet.dataset import Batches
    from possnet.structure.search_result import SearchResult


@check_arguments
@checks_itself("measure", "method", "constraints", "search")
def learn_structure(
    data: Dataset | Batches,
    method: str = "auto",
    *,
    measure: str | None = None,
    conjunction: Conjunction = PRODUCT,
    constraints: Constraints | None = None,
    search: Search | None = None,
    bootstrap: int = 0,
    rng: np.random.Generator | int | None = None,
    workers: int | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> LearnedStructure:
    """Learn the structure of a network (a DAG) from imprecise data.

    Parameters
    ----------
    data
        A data set, or a stream of batches, which may be larger than memory (``Search.in_passes``); its columns are the
        variables. Rows with graded cells are their alpha-cuts.
    method
        ``auto``: ``boss`` where it goes with the measure, up to 60 variables, else ``greedy``. ``greedy``: hill climbing
        over a score; by ``traced-bic`` over hidden states, from the hidden tree. ``boss``: best order score search (Andrews
        et al. 2023). ``hidden-tree``: the heaviest branching by hidden mutual information. ``mwst``: the maximum-weight
        spanning tree (Chow and Liu 1968). ``k2``: parents chosen among the predecessors in an ordering, a given one or the
        best of several. ``hybrid-tree``, ``hybrid-dag``: tests of conditional dependence, then a search that lowers
        non-specificity; to compare with the literature, for they join children of imprecise parents, as the measures on
        contours do.
    measure
        A score (``random-set-bic``, ``cut-bic``, ``traced-bic``, ``coarsened-bic``, ``mdl``; ``bic`` and ``bdeu`` for
        precise rows), or ``auto``, the default, for the one that fits the rows (`LearnedStructure.reason` says why; hybrids
        have one of their own); for ``mwst`` and ``k2`` also a measure on contours (``specificity-gain``,
        ``specificity-ratio``, ``specificity-symmetric``, ``chi2``, ``mutual-information``; see `possnet.dependence`).
        ``docs/structure.md`` says when to use which.
    conjunction
        Independence for the measures on contours: ``PRODUCT`` fits every process of `possnet.sample`, for min-based
        networks too; ``MIN`` is that of Borgelt, Gebhardt and Kruse. By ``cut-bic``, the conjunction of the network.
    constraints
        What the structure must and must not have: `possnet.Constraints`.
    search
        Options of the search, such as restarts and the length of the tabu list: `possnet.Search`.
    bootstrap
        Learn again, afresh, from this many bootstrap samples of the rows; the confidence of an edge is the share of samples
        with it. ``max_seconds`` is then the time of every search.
    rng
        A seed or generator for random orders, restarts and bootstrap samples; the seed is 0 by default.
    workers, executor
        How many processes share the bootstrap samples (by default one for each core, where the searches are long enough for
        that), or any ``concurrent.futures`` executor. The result is the same with any number of them.
    progress
        Called with the number of steps so far and of all steps (0 if unknown).

    Returns
    -------
    LearnedStructure
        The DAG and its CPDAG, the score, what every edge is worth, and the moves of the search.

    Examples
    --------
    >>> import possnet as pn
    >>> asia = pn.load_example("asia")
    >>> learned = learn_structure(pn.sample(asia, 50_000, process="precise", rng=1), measure="bic")
    >>> learned.essential == asia.dag.essential_graph()
    True
    >>> sorted((learned.edges[0].parent, learned.edges[0].child))
    ['asia', 'tub']
    """
    require_rows(data, "learn_structure")
    entry = METHODS.require(method, "learn_structure")
    require_whole(bootstrap, 0, "learn_structure: bootstrap")
    if bootstrap and not isinstance(data, Dataset):
        raise InputError(
            "learn_structure: bootstrap of a stream; expected rows in memory: read them with read_data(...)"
        )
    if bootstrap and isinstance(data, Dataset) and isinstance(data.total, float):
        raise InputError(
            "learn_structure: bootstrap of rows with fractional weights, which cannot be drawn one by one; expected whole "
            "weights"
        )
    if workers is not None:
        require_whole(workers, 1, "learn_structure: workers")
    if executor is not None and not hasattr(executor, "submit"):
        raise InputError(f"learn_structure: executor {executor!r}; expected one of concurrent.futures")
    begun = monotonic()
    if not isinstance(data, Dataset) and _counts_in_passes(data, search):
        summary = RowSummary.from_stream(data)
        tables = StreamedTables(summary, partial(count_stream, summary, data))
        return learn_from_tables(
            tables, method, measure=measure, conjunction=conjunction, constraints=constraints, search=search, rng=rng,
            progress=progress,
        )  # fmt: skip
    problem, entry = _pose_problem(cut_batches(data), entry, measure, conjunction, constraints, search, rng, progress)
    try:
        found = entry.search(problem)
        if problem.reason:
            found, problem = _reconsider(found, problem, entry, method)
        learned = _to_result(found, entry, problem)
        if bootstrap and isinstance(data, Dataset) and learned.stopped != "interrupted":
            seconds = monotonic() - begun
            learned = add_confidence(
                learned, data, problem, bootstrap, workers=workers, executor=executor, seconds=seconds
            )
    except SearchStopped:
        raise TooLarge(
            f"learn_structure: {method} by {problem.measure.name} of {len(problem.names)} variables takes more than "
            f"max_seconds {problem.search.max_seconds:g} and has no structure before its end; allow more, or use fewer "
            "variables, or another method"
        ) from None
    except TooLarge:
        raise
    except MemoryError:
        raise TooLarge(
            f"learn_structure: {entry.name} by {problem.measure.name} of {len(problem.names)} variables does not fit into "
            "memory; set max_parents, or use fewer rows, variables or states"
        ) from None
    warn_of_isolated(learned.dag, "learn_structure", "no other column tells their cells")
    return learned


def learn_from_tables(
    tables: StreamedTables,
    method: str = "greedy",
    *,
    measure: str | None = None,
    conjunction: Conjunction = PRODUCT,
    constraints: Constraints | None = None,
    search: Search | None = None,
    rng: np.random.Generator | int | None = None,
    progress: Progress | None = None,
) -> LearnedStructure:
    """The structure of rows that are not in memory, from passes over them: one for every move of a search.

    The measure is ``random-set-bic`` where none is named, and the method ``greedy``: others need the rows themselves, or
    more passes.
    """
    method = "greedy" if method == "auto" else method
    measure = "random-set-bic" if measure in {None, "auto"} else measure
    entry = METHODS.require(method, "learn_structure")
    score = MEASURES.require(fitting_measure(method, measure), "learn_structure")
    if not entry.few_passes or not score.counts_alone:
        methods = listing(name for name, other in METHODS.items() if other.few_passes)
        measures = listing(name for name, other in MEASURES.items() if other.counts_alone)
        raise InputError(
            f"learn_structure: method {method!r} by {score.name!r} needs rows in memory; expected method {methods} with "
            f"measure {measures}, or fewer rows: a sample of them"
        )
    rows = Dataset.from_rows(tables.rows.variables, [])
    problem, entry = _pose_problem(rows, entry, measure, conjunction, constraints, search, rng, progress)
    problem = replace(
        problem, tables=tables, reason=f"{score.name}: rows were not held in memory, but counted in passes"
    )
    try:
        learned = _to_result(entry.search(problem), entry, problem)
    except SearchStopped:
        raise TooLarge(
            f"learn_structure: {method} takes more than max_seconds {problem.search.max_seconds:g}; allow more"
        ) from None
    warn_of_isolated(learned.dag, "learn_structure", "no other column tells their cells")
    return learned


def _counts_in_passes(data: Batches, search: Search | None) -> bool:
    """Whether the rows of a stream are counted in passes: if that is asked for, or if they would not fit in memory."""
    if isinstance(search, Search) and search.in_passes is not None:
        return search.in_passes
    return (data.rows or 0) * len(data.variables) > memory_limit()


def warn_of_isolated(dag: Dag, owner: str, consequence: str) -> None:
    """Warn of variables without edges, where there are others.

    >>> import warnings
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     warn_of_isolated(Dag({"a": (), "b": ()}), "learn_structure", "nothing tells them")
    >>> str(caught[0].message)
    'learn_structure: no edges at a, b: nothing tells them'
    """
    alone = [node for node in dag.nodes if not dag.parents(node) and not dag.children(node)]
    if alone and len(dag.nodes) > 1:
        warn_user(f"{owner}: no edges at {listing(alone)}: {consequence}")


def _pose_problem(
    data: Dataset | Batches,
    method: SearchMethod,
    measure: str | None,
    conjunction: Conjunction,
    constraints: Constraints | None,
    search: Search | None,
    rng: np.random.Generator | int | None,
    progress: Progress | None,
) -> tuple[SearchProblem, SearchMethod]:
    """Check that the options go together, and fill in defaults; the problem, and the method that searches."""
    check_conjunction(conjunction)
    constraints = Constraints() if constraints is None else constraints
    search = Search() if search is None else search
    for value, kind in ((constraints, Constraints), (search, Search)):
        if not isinstance(value, kind):
            name = kind.__name__
            raise InputError(f"learn_structure: {name.lower()} {describe_value(value)}; expected possnet.{name}(...)")
    score, reason = MEASURES[fitting_measure(method.name, measure)], ""
    if score.choose is not None:
        data = data if isinstance(data, Dataset) else collect_rows(data)
        choice = score.choose(CodedRows(data, missing=True))
        if method.choose is None and method.name not in MEASURES[choice.name].methods:
            choice = choice.replace_measure("random-set-bic", method.name)
        score, reason = MEASURES[choice.name], str(choice)
    names = [variable.name for variable in data.variables]
    if method.choose is not None:
        method = METHODS[method.choose(score, search, len(names))]
    compiled = compile_constraints(constraints, names, method.default_max_parents(score, len(names)))
    before = compiled.required if method.uses_order else np.zeros_like(compiled.required)
    problem = SearchProblem(
        data,
        score,
        conjunction,
        compiled,
        search,
        method.default_threshold(score) if search.threshold is None else search.threshold,
        None if search.order is None else number_order(search.order, names, before),
        0 if rng is None else seed_of(rng),
        _report_nothing if progress is None else progress,
        reason=reason,
        clock=SearchClock(search.max_seconds),
    )
    return problem, method


def _reconsider(
    result: SearchResult, problem: SearchProblem, entry: SearchMethod, method: str
) -> tuple[SearchResult, SearchProblem]:
    """The result and the problem, or others where the structure speaks against a measure that was chosen from the rows."""
    if method == "auto" and problem.measure.name == "coarsened-bic":
        result, choice = choose_structure(result, problem)
        problem = replace(problem, reason=f"{problem.reason}; {choice}" if choice else problem.reason)
    elif problem.measure.name == "cut-bic" and result.stopped == "converged" and not follows_law(problem, result):
        reason = problem.reason.removeprefix("cut-bic: ")
        reason = f"random-set-bic: {reason}, but given their parents' cells they do not follow the law of alpha-cuts"
        problem = replace(problem, measure=MEASURES["random-set-bic"], reason=reason)
        result = entry.search(problem)
    return result, problem


def _report_nothing(done: int, total: int) -> None:
    """Progress that is not reported."""


def _to_result(result: SearchResult, method: SearchMethod, problem: SearchProblem) -> LearnedStructure:
    """The public result of a search: variables by name, the CPDAG, near misses."""
    names = problem.names
    parents = zip(names, parent_sets_of(result.edges), strict=True)
    dag = Dag({name: [names[p] for p in its_parents] for name, its_parents in parents})
    essential = dag.essential_graph()
    reversible = set() if problem.measure.tells_directions else {frozenset(edge) for edge in essential.undirected}
    values = {(names[p], names[c]): -gain for (action, p, c), gain in result.gains.items() if action == "delete"}
    edges = tuple(LearnedEdge(*edge, values.get(edge, nan), frozenset(edge) in reversible) for edge in dag.edges)

    def name_move(action: str, parent: int, child: int) -> tuple[str, str, str]:
        return action, names[parent], names[child]

    steps = tuple(
        SearchStep(*name_move(*move[:3]), move.gain, move.score, tuple(name_move(*tie) for tie in move.ties))
        for move in result.moves
    )
    additions = [(move, gain) for move, gain in result.gains.items() if move[0] == "add" and isfinite(gain)]
    additions.sort(key=lambda move: -move[1])
    near_misses = [NearMiss(*name_move(*move), gain) for move, gain in additions[:NEAR_MISSES]]
    families: dict[str, float] | None = None
    if problem.measure.adds_edges:
        families = {name: sum((edge.value for edge in edges if edge.child == name), 0.0) for name in names}
    elif result.families is not None:
        families = dict(zip(names, result.families, strict=True))
    return LearnedStructure(
        dag,
        essential,
        method.name,
        problem.measure.name,
        result.score,
        edges,
        families,
        steps,
        tuple(near_misses),
        problem.rows.total if result.rows is None else result.rows,
        None if result.order is None else tuple(names[k] for k in result.order),
        reason="; ".join(text for text in (problem.reason, result.remark) if text),
        stopped=result.stopped,
        conjunction=problem.conjunction,
    )

"""Confidence of edges: the share of bootstrap samples from which they are learned again.

See Friedman, Goldszmidt and Wyner 1999. A sample has as many rows as the data, drawn with replacement: the same rows with
other weights. Every sample is searched afresh, as the data were, not from the structure that the data gave: a search that
begins there would rarely leave it, and every edge would look sure. Sample number k depends on the seed and on k alone, so
that the confidence is the same with any number of workers. The data are sent to every worker once.
"""

from __future__ import annotations

from collections import Counter
from concurrent.futures import BrokenExecutor
from contextlib import closing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from possnet.errors import TooLarge, warn_user
from possnet.executors import completed, shared_value, workers as pool_of
from possnet.signals import accept_interrupt
from possnet.structure.score_registry import MEASURES, SearchProblem
from possnet.structure.search_clock import SearchClock
from possnet.structure.search_methods import METHODS
from possnet.threads import cores

if TYPE_CHECKING:
    from collections.abc import Generator
    from concurrent.futures import Executor

    from possnet.dataset import Dataset
    from possnet.possibility import Conjunction
    from possnet.structure.learned_structure import LearnedStructure
    from possnet.structure.search_graph import CompiledConstraints
    from possnet.structure.search_options import Search

_WORTHWHILE: Final = 5.0  # seconds of searches from which processes, which take about one to start, are worth it


@dataclass(frozen=True, slots=True)
class _SampledProblem:
    """What a search of bootstrap samples needs, ready to be sent: method and measure by name."""

    data: Dataset
    method: str
    measure: str
    conjunction: Conjunction
    constraints: CompiledConstraints
    search: Search
    threshold: float
    order: list[int] | None
    seed: int


class _SampleTask(NamedTuple):
    """The number of a sample; the problem, unless the worker has it."""

    number: int
    problem: _SampledProblem | None


class _SampleEdges(NamedTuple):
    """The edges (parent, child) that were learned from a sample, and why the search stopped."""

    edges: list[tuple[int, int]]
    stopped: str


def draw_sample(data: Dataset, seed: int, number: int) -> Dataset:
    """As many rows as the data has, drawn with replacement: the same rows with other weights.

    >>> import possnet as pn
    >>> data = pn.Dataset.from_table({"a": ["x", "y", "z"]})
    >>> draw_sample(data, 1, 0).total, draw_sample(data, 1, 0) == draw_sample(data, 1, 0)
    (3, True)
    """
    rng = np.random.default_rng([seed, 1, number])
    weights = np.ones(len(data)) if data.weights is None else data.weights.astype(np.float64)
    if not weights.sum() > 0.0:
        return data
    return data.with_weights(rng.multinomial(int(data.total), weights / weights.sum()))


def add_confidence(
    learned: LearnedStructure,
    data: Dataset,
    problem: SearchProblem,
    samples: int,
    *,
    workers: int | None,
    executor: Executor | None,
    seconds: float,
) -> LearnedStructure:
    """The structure with the confidence of its edges; ``seconds`` is how long it took to learn.

    If it is interrupted, the confidence is that of the samples done so far.
    """
    sent = _SampledProblem(
        data,
        learned.method,
        problem.measure.name,
        problem.conjunction,
        problem.constraints,
        problem.search,
        problem.threshold,
        problem.order,
        problem.seed,
    )
    times: Counter[tuple[str, str]] = Counter()
    done = 0
    try:
        with closing(_run_samples(sent, samples, workers, executor, seconds)) as running:
            for _, result in running:
                edges = _require_edges(result)
                times.update((problem.names[parent], problem.names[child]) for parent, child in edges)
                done += 1
                problem.progress(done, samples)
    except KeyboardInterrupt:
        accept_interrupt()
        warn_user(f"learn_structure: interrupted; the confidence of edges is that of {done} bootstrap samples")
    if not done:
        return learned
    shares = []
    for edge in learned.edges:
        same, reverse = times[edge.parent, edge.child], times[edge.child, edge.parent]
        shares.append(edge._replace(confidence=(same + reverse) / done, direction=same / done))
    return replace(learned, edges=tuple(shares), bootstrap=done)


def _require_edges(result: _SampleEdges | BaseException) -> list[tuple[int, int]]:
    """The edges of a sample; its error is raised, and Ctrl-C in a search ends all of them."""
    if isinstance(result, BrokenExecutor):
        raise TooLarge(f"learn_structure: a bootstrap sample was lost: {result}; set workers=1")
    if isinstance(result, BaseException):
        raise result
    if result.stopped == "interrupted":
        raise KeyboardInterrupt
    return result.edges


def _run_samples(
    problem: _SampledProblem, samples: int, count: int | None, executor: Executor | None, seconds: float
) -> Generator[tuple[int, _SampleEdges | BaseException]]:
    """What is learned from every sample, as it is done; in this process if that is quick, or if workers could not do it."""
    if executor is not None:
        tasks = [_SampleTask(number, problem) for number in range(samples)]
        return completed(_learn_sample, tasks, lambda _: executor, keep=True)
    quick = count is None and seconds * samples < _WORTHWHILE
    if quick or min(cores() if count is None else count, samples) == 1 or _is_outsider(problem):
        return ((number, _learn_sample(_SampleTask(number, problem))) for number in range(samples))
    tasks = [_SampleTask(number, None) for number in range(samples)]
    size = min(cores() if count is None else count, samples)
    return completed(_learn_sample, tasks, lambda alone: pool_of(alone or size, shared=problem))


def _is_outsider(problem: _SampledProblem) -> bool:
    """Whether the method or the measure was registered from outside possnet: workers, which start afresh, lack it."""
    functions = (METHODS[problem.method].run, MEASURES[problem.measure].make_scorer)
    return any(not function.__module__.startswith("possnet.") for function in functions)


def _learn_sample(task: _SampleTask) -> _SampleEdges:
    given: _SampledProblem = shared_value() if task.problem is None else task.problem
    problem = SearchProblem(
        draw_sample(given.data, given.seed, task.number),
        MEASURES[given.measure],
        given.conjunction,
        given.constraints,
        given.search,
        given.threshold,
        given.order,
        given.seed,
        _report_nothing,
        clock=SearchClock(given.search.max_seconds),
    )
    result = METHODS[given.method].search(problem)
    return _SampleEdges([(p, c) for p, c in np.argwhere(result.edges).tolist()], result.stopped)


def _report_nothing(done: int, total: int) -> None:
    """Progress of a sample, which is not reported."""

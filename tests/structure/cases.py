"""Rows, networks and scores that the tests of structure learning share."""

from __future__ import annotations

from collections.abc import Callable
from math import log
from typing import Any

import numpy as np

import possnet as pn
from possnet.kernels import bitmaps
from possnet.possibility import Conjunction
from possnet.structure import (
    MEASURES,
    DecomposableScore,
    SearchProblem,
)
from possnet.structure.search_graph import CompiledConstraints
from tests import oracles

NAMES = ("a", "b", "c")


SHAPES = {
    "chain": [("a", "b"), ("b", "c")],
    "fork": [("b", "a"), ("b", "c")],
    "collider": [("a", "c"), ("b", "c")],
}


def numbered(dag: pn.Dag, names: list[str]) -> list[tuple[int, ...]]:
    return [tuple(sorted(names.index(p) for p in dag.parents(n))) for n in names]


def score_of(score: DecomposableScore, dag: pn.Dag) -> float:
    names = [v.name for v in score.rows.variables]
    return sum(score.score_family(k, parents) for k, parents in enumerate(numbered(dag, names)))


def oracle(name: str) -> Callable[[pn.Dag, pn.Dataset], float]:
    """A score by its definition."""
    score: Callable[[pn.Dag, pn.Dataset], float] = getattr(oracles, name.replace("-", "_"))
    return score


def without(dag: pn.Dag, edge: tuple[Any, ...]) -> pn.Dag:
    return pn.Dag.from_edges([e for e in dag.edges if e != edge[:2]], nodes=dag.nodes)


def free(size: int, max_parents: int) -> CompiledConstraints:
    return CompiledConstraints(np.zeros((size, size), bool), ~np.eye(size, dtype=bool), max_parents)


def random_tables(dag: pn.Dag, states: int, seed: int) -> pn.Network:
    """Random degrees for a structure whose variables have the same number of states."""
    rng = np.random.default_rng(seed)
    scope = [pn.Variable(name, tuple(f"{name}{k}" for k in range(states))) for name in dag.nodes]
    degrees = {}
    for name in dag.nodes:
        table = rng.random((*(states for _ in dag.parents(name)), states))
        degrees[name] = table / table.max(axis=-1, keepdims=True)
    return pn.Network(scope, dag, degrees)


def random_tree(size: int, states: int, seed: int) -> pn.Network:
    rng = np.random.default_rng(seed)
    names = [f"v{k}" for k in range(size)]
    above = {name: (names[int(rng.integers(k))],) if k else () for k, name in enumerate(names)}
    return random_tables(pn.Dag(above), states, seed)


def skeleton(dag: pn.Dag) -> set[frozenset[str]]:
    return set(map(frozenset, dag.edges))


def with_missing(data: pn.Dataset, share: float) -> pn.Dataset:
    """The same rows with a share of their cells unknown."""
    rng = np.random.default_rng(1)
    unknown = {v.name: bitmaps.pack(rng.random(len(data)) < share) for v in data.variables}
    words = {v.name: data.bitmaps(v.name) | unknown[v.name] for v in data.variables}
    return pn.Dataset.unchecked(data.variables, words, len(data), unknown=unknown)


def sharp_tree(size: int, children: int = 2) -> pn.Network:
    """A tree whose variables answer sharply to their parents."""
    names = [f"v{k}" for k in range(size)]
    dag = pn.Dag({name: (names[(k - 1) // children],) if k else () for k, name in enumerate(names)})
    sharp = [[1, 0.2, 0.1], [0.1, 1, 0.3], [0.2, 0.1, 1]]
    scope = [pn.Variable(name, ("1", "2", "3")) for name in names]
    return pn.Network(scope, dag, {name: sharp if k else [1, 0.8, 0.7] for k, name in enumerate(names)})


def rounding(data: pn.Dataset) -> float:
    """How far scores may be apart: they are differences of sums of n ln n."""
    return 1e-6 + 1e-14 * data.total * log(max(data.total, 2))


class SmallBatches:
    """A data set in small batches."""

    def __init__(self, data: pn.Dataset, size: int) -> None:
        self.data, self.size = data, size
        self.variables, self.rows, self.weighted = data.variables, len(data), data.weights is not None

    def __iter__(self) -> Any:
        return (self.data[start : start + self.size] for start in range(0, len(self.data), self.size))


def many_cells(rows: int) -> pn.Dataset:
    """Two columns in which hardly any cell stands twice, and one of two states."""
    rng = np.random.default_rng(0)

    def column() -> list[set[str]]:
        return [{str(x) for x in rng.integers(60, size=6)} for _ in range(rows)]

    return pn.Dataset.from_table(
        {"one": column(), "other": column(), "s": [str(x) for x in rng.integers(2, size=rows)]}
    )


def family_score(data: pn.Dataset, name: str) -> DecomposableScore:
    """A decomposable score by its name, ready for the rows."""
    scorer = MEASURES[name].make_scorer(problem_of(data, name))
    assert isinstance(scorer, DecomposableScore)
    return scorer


def problem_of(data: pn.Dataset, name: str, conjunction: Conjunction = pn.PRODUCT) -> SearchProblem:
    """A problem without constraints."""
    limits = free(len(data.variables), len(data.variables))
    return SearchProblem(
        data, MEASURES[name], conjunction, limits, pn.Search(), 0.0, None, 0, lambda _done, _total: None
    )

"""How sure an edge is: the share of bootstrap samples in which it comes out (Friedman, Goldszmidt and Wyner 1999)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from possnet.dataset import Dataset
from possnet.kernels import bitmaps

if TYPE_CHECKING:
    from collections.abc import Callable

    from possnet.graph import Dag
    from possnet.structure.results import LearnedStructure

__all__ = ["with_confidence"]


def with_confidence(
    found: LearnedStructure,
    data: Dataset,
    runs: int,
    learn: Callable[[Dataset], Dag],
    chance: np.random.Generator,
    progress: Callable[[int, int], None] | None,
) -> LearnedStructure:
    """The same structure, with the share of samples that join, and that direct, the two ends of each edge.

    A sample has as many rows as the data, drawn with replacement: the same rows with other weights.
    """
    names = [variable.name for variable in data.variables]
    words = {name: data.bitmaps(name) for name in names}
    unknown = {name: bitmaps.pack(data.missing(name)) for name in names}
    weights = np.ones(len(data)) if data.weights is None else data.weights.astype(np.float64)
    shares = weights / max(float(weights.sum()), 1.0)
    times: dict[tuple[str, str], int] = {}
    for run in range(runs):
        drawn = chance.multinomial(data.total, shares) if len(data) else np.zeros(0, dtype=np.int64)
        again = Dataset.unchecked(data.variables, words, len(data), unknown=unknown, weights=drawn)
        for pair in learn(again).edges:
            times[pair] = times.get(pair, 0) + 1
        if progress is not None:
            progress(run + 1, runs)
    edges = []
    for edge in found.edges:
        so, otherwise = times.get((edge.parent, edge.child), 0), times.get((edge.child, edge.parent), 0)
        edges.append(edge._replace(confidence=(so + otherwise) / runs, direction=so / runs))
    return replace(found, edges=tuple(edges), bootstrap=runs)

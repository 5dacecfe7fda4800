"""Structures around a class: the one imprecise column among precise ones, and what tells it.

A score of all columns does not ask what tells the class. Two structures do: *naive*, the class as the only parent of every
other column, and *tree-augmented* (Friedman, Geiger and Goldszmidt 1997), where these columns have one more parent each, by
the heaviest tree of their mutual information given the class.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from possnet.em import CoarsenedNetwork

if TYPE_CHECKING:
    from collections.abc import Sequence

    from possnet.aliases import Bools, Codes, Floats, Ints, Weights
    from possnet.structure.coded_rows import CodedRows

_TOLERANCE: Final = 0.02  # nats a row
_STEPS: Final = 60
_SAMPLE: Final = 10_000  # rows whose columns are compared given the class
_NO_ROW: Final = 1e-6


class ClassRows:
    """Rows of one imprecise column, the class, among precise ones.

    >>> import possnet as pn
    >>> from possnet.structure.coded_rows import CodedRows
    >>> data = pn.Dataset.from_table({"a": ["x", "y", {"x", "y"}, "y"] * 25, "b": ["u", "v", "v", "v"] * 25})
    >>> rows = ClassRows(CodedRows(data), 0)
    >>> tables = rows.fit_tables([(), (0,)], rows.weights)
    >>> rows.class_degrees([(), (0,)], tables).round(2).tolist()[:2]
    [[1.0, 0.01], [0.02, 1.0]]
    """

    def __init__(self, rows: CodedRows, target: int) -> None:
        self.target, self.codes = target, rows.codes
        self.sets: list[Bools] = rows.sets
        self.weights = np.ones(rows.n_rows, dtype=np.int64) if rows.weights is None else rows.weights
        self.cells: Bools = rows.sets[target][rows.codes[target]]
        self.states: list[Codes] = [
            sets.argmax(axis=1)[codes] for sets, codes in zip(rows.sets, rows.codes, strict=True)
        ]
        self._fitted: dict[tuple[bytes, tuple[tuple[int, ...], ...]], dict[str, Floats]] = {}

    def fit_tables(self, parents: Sequence[tuple[int, ...]], weights: Weights) -> dict[str, Floats]:
        """Probabilities by EM with one imagined row as each column itself is; states that no row has get a little."""
        key = weights.tobytes(), tuple(parents)
        if key not in self._fitted:
            taken, total = np.flatnonzero(weights), float(weights.sum())
            model = CoarsenedNetwork(parents, self.sets, [codes[taken] for codes in self.codes], weights[taken])
            laws = model.fit_marginals()
            imagined = {name: (total * law + 1.0 / len(law)) / (total + 1.0) for name, law in laws.items()}
            start, tolerance = model.equal_tables(), _TOLERANCE * total
            self._fitted[key] = model.fit(start, imagined=imagined, tolerance=tolerance, max_steps=_STEPS).masses
        return self._fitted[key]

    def class_degrees(
        self, parents: Sequence[tuple[int, ...]], tables: dict[str, Floats], *, divide: bool = True
    ) -> Floats:
        """Degrees of the class in every row given all other cells, (rows, states); or its probabilities.

        As in a learned network, a degree is a probability divided by the largest in its context.
        """
        sizes, size = [sets.shape[1] for sets in self.sets], self.cells.shape[1]
        logs = np.zeros(self.cells.shape)
        for child, above in enumerate(parents):
            if self.target not in (child, *above):
                continue
            table = tables[str(child)].reshape([sizes[k] for k in (*above, child)])
            table = table / table.max(axis=-1, keepdims=True) if divide else table
            place = tuple(
                np.arange(size) if k == self.target else self.states[k][:, np.newaxis] for k in (*above, child)
            )
            with np.errstate(divide="ignore"):
                logs = logs + np.log(table[place])
        top = logs.max(axis=1, keepdims=True)
        degrees: Floats = np.exp(logs - np.where(np.isfinite(top), top, 0.0))
        return degrees if divide else degrees / np.maximum(degrees.sum(axis=1, keepdims=True), 1e-300)


def find_class(rows: CodedRows) -> int | None:
    """The column that has imprecise cells, if it is the only one and not the only column."""
    imprecise = [k for k, sets in enumerate(rows.sets) if (sets.sum(axis=1) != 1).any()]
    return imprecise[0] if len(imprecise) == 1 < len(rows.sets) else None


def join_class(target: int, size: int) -> Bools:
    """The class as the only parent of all other columns.

    >>> join_class(1, 3).astype(int).tolist()
    [[0, 0, 0], [1, 0, 1], [0, 0, 0]]
    """
    naive = np.zeros((size, size), dtype=np.bool_)
    naive[target] = np.arange(size) != target
    return naive


def augment_tree(rows: ClassRows, naive: Bools, weights: Weights) -> Bools:
    """The class's children of a naive structure, each with one more parent: the heaviest tree given the class."""
    children = np.flatnonzero(naive[rows.target])
    if len(children) < 2:
        return naive
    parents = [tuple(np.flatnonzero(naive[:, k]).tolist()) for k in range(len(naive))]
    posterior = rows.class_degrees(parents, rows.fit_tables(parents, weights), divide=False) * rows.cells
    information = class_information(rows, children, posterior, weights)
    augmented, joined = naive.copy(), {0}
    best = [(information[0, k], 0) for k in range(len(children))]
    while len(joined) < len(children):
        k = max((k for k in range(len(children)) if k not in joined), key=lambda k: best[k][0])
        augmented[children[best[k][1]], children[k]] = True
        joined.add(k)
        best = [max(old, (information[k, m], k)) for m, old in enumerate(best)]
    return augmented


def class_information(rows: ClassRows, columns: Ints, posterior: Floats, weights: Weights) -> Floats:
    """N times the mutual information of each two columns given the class, whose states have a posterior in every row."""
    chosen = np.flatnonzero(weights)
    if len(chosen) > _SAMPLE:
        chosen = np.random.default_rng(0).choice(chosen, _SAMPLE, replace=False)
    shares = posterior[chosen] * weights[chosen, np.newaxis]
    shares = shares / np.maximum(posterior[chosen].sum(axis=1, keepdims=True), 1e-300)
    sizes = np.array([rows.sets[k].shape[1] for k in columns])
    starts = np.cumsum(sizes) - sizes
    inside = np.zeros((len(chosen), int(sizes.sum())))
    for start, k in zip(starts, columns, strict=True):
        inside[np.arange(len(chosen)), start + rows.states[k][chosen]] = 1.0
    information = np.zeros((len(columns), len(columns)))
    for state in range(posterior.shape[1]):
        counts = (inside * shares[:, [state]]).T @ inside
        single = np.diag(counts)
        apart = np.outer(single, single) / max(float(shares[:, state].sum()), _NO_ROW)
        ratios = np.divide(counts, apart, out=np.ones_like(counts), where=(counts > 0.0) & (apart > 0.0))
        information += np.add.reduceat(np.add.reduceat(counts * np.log(ratios), starts, axis=0), starts, axis=1)
    return information

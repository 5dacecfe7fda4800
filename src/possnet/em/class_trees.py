"""Trees among the features of a class: the heaviest tree of their mutual information given the class, which is hidden.

For two features u and v and shares of the classes in every row the expected counts N(y, u, v) give

    N I(u; v | class)  =  sum over y, u, v of  N(y, u, v) ln( N(y, u, v) N(y) / (N(y, u) N(y, v)) ),

and the maximum-weight spanning tree of these numbers, rooted anywhere, maximises the likelihood of tree-augmented
structures given the shares (Friedman, Geiger and Goldszmidt 1997). A cell of k states counts 1/k for each, an unknown
one nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from possnet.aliases import Floats, Ints
    from possnet.em.feature_rows import FeatureCells

_LEAST_SHARE: Final = 1e-2  # of a class in a row that counts for it
_MOST_WORK: Final = 1e11  # products; of more rows, a sample


def grow_class_tree(
    features: Sequence[FeatureCells], shares: Floats, chosen: Sequence[int] | None = None
) -> dict[int, int]:
    """Feature -> its parent in the heaviest tree, or -1 for the root; of all features, or of some.

    ``shares`` are those of the classes in every row, times the weight of the row, (rows, classes).

    >>> from possnet.em.feature_rows import FeatureCells
    >>> columns = np.array([[0, 1, 0, 1], [0, 0, 1, 1], [0, 1, 0, 1]])
    >>> features = [FeatureCells.from_states(column, 2) for column in columns]
    >>> grow_class_tree(features, np.ones((4, 1)))
    {0: -1, 2: 0, 1: 0}
    """
    numbers = list(range(len(features)) if chosen is None else chosen)
    if not numbers:
        return {}
    information = measure_class_information([features[f] for f in numbers], shares)
    tree = {numbers[0]: -1}
    nearest = np.zeros(len(numbers), dtype=np.int64)
    weight = information[0].copy()
    left = np.ones(len(numbers), dtype=np.bool_)
    left[0] = False
    while left.any():
        k = int(np.where(left, weight, -np.inf).argmax())
        tree[numbers[k]] = numbers[nearest[k]]
        left[k] = False
        closer = information[k] > weight
        nearest[closer], weight = k, np.maximum(weight, information[k])
    return tree


def measure_class_information(features: Sequence[FeatureCells], shares: Floats) -> Floats:
    """N times the mutual information of each two features given the class, (features, features)."""
    sizes = np.array([cells.n_states for cells in features])
    starts: Ints = np.cumsum(sizes) - sizes
    width = int(sizes.sum())
    rows = _choose_rows(shares, width)
    inside = np.zeros((len(rows), width))
    for start, cells in zip(starts, features, strict=True):
        weights = cells.sets / cells.sets.sum(axis=1, keepdims=True)
        weights[cells.n_states :][cells.sets[cells.n_states :].all(axis=1)] = 0.0
        inside[:, start : start + cells.n_states] = weights[cells.codes[rows]]
    information = np.zeros((len(features), len(features)))
    for state in range(shares.shape[1]):
        own = np.flatnonzero(shares[rows, state] > _LEAST_SHARE)
        if not len(own):
            continue
        share = shares[rows[own], state]
        counts = (inside[own] * share[:, np.newaxis]).T @ inside[own]
        single = inside[own].T @ share
        apart = np.outer(single, single) / share.sum()
        ratios = np.divide(counts, apart, out=np.ones_like(counts), where=(counts > 0.0) & (apart > 0.0))
        information += np.add.reduceat(np.add.reduceat(counts * np.log(ratios), starts, axis=0), starts, axis=1)
    return information


def _choose_rows(shares: Floats, width: int) -> Ints:
    """All rows; of so many that the products would take long, some at random."""
    work = float((shares > _LEAST_SHARE).sum()) * width * width
    rows = np.arange(len(shares))
    if work <= _MOST_WORK:
        return rows
    return np.sort(np.random.default_rng(0).choice(rows, max(int(len(rows) * _MOST_WORK / work), 1), replace=False))

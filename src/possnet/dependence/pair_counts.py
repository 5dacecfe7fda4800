"""Counts of all pairs of variables, in one pass over a data set or a stream."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from possnet.counting import split_blocks
from possnet.dataset import Dataset, batches_of, cut_batches, require_rows
from possnet.errors import InputError, among
from possnet.kernels import bitmaps, cross_counts
from possnet.limits import refuse_over

if TYPE_CHECKING:
    from collections.abc import Iterable

    from possnet.aliases import Floats, Progress, Weights, Words
    from possnet.counting import RowBlock
    from possnet.dataset import Batches
    from possnet.variables import Variable


_BLOCK: Final = 1 << 17  # rows counted at a time
_MANY_STATES: Final = 256
"""Pairs of precise columns with more combinations are counted by a histogram: a step a row, however many states; an AND for
each pair of states takes 64 rows at a time, but there are too many pairs."""


class PairCounts:
    """Number of rows that contain each pair of states of each pair of variables; made by `count_pairs`.

    >>> import possnet as pn
    >>> data = pn.Dataset.from_table({"a": ["x", {"x", "y"}, "y"], "b": ["u", "v", "v"]})
    >>> counts = count_pairs(data)
    >>> counts
    PairCounts(2 variables, 3 rows)
    >>> counts.table("a", "b"), counts.contour("a", "b")
    (array([[1, 1], [0, 2]]), array([[0.5, 0.5], [0. , 1. ]]))
    """

    __slots__ = ("_matrix", "_places", "rows", "variables")

    def __init__(self, variables: tuple[Variable, ...], matrix: Weights, rows: int | float) -> None:
        self.variables, self.rows = variables, rows
        self._matrix, self._places = matrix, _state_places(variables)

    def table(self, first: str, second: str) -> Weights:
        """Number of rows that contain both states, axes as named; of a variable with itself only the diagonal.

        >>> import possnet as pn
        >>> count_pairs(pn.Dataset.from_table({"a": ["x", {"x", "y"}]})).table("a", "a")
        array([[2, 0], [0, 1]])
        """
        for name in (first, second):
            if name not in self._places:
                raise InputError(f"pair counts: no variable {name!r}{among(name, self._places)}")
        rows, columns = self._places[first], self._places[second]
        return self._matrix[rows.start : rows.stop, columns.start : columns.stop].copy()

    def contour(self, first: str, second: str) -> Floats:
        """Contour of two variables: the counts divided by the largest; all 1 where there are no rows.

        >>> import possnet as pn
        >>> count_pairs(pn.Dataset.from_table({"a": ["x", "y"], "b": ["u", {"u", "v"}]})).contour("b", "a")
        array([[1., 1.], [0., 1.]])
        """
        counts = self.table(first, second)
        top = counts.max()
        return np.asarray(counts / top) if top > 0 else np.ones(counts.shape)

    def __repr__(self) -> str:
        return f"PairCounts({len(self.variables)} variables, {self.rows:,} rows)"


def count_pairs(data: Dataset | Batches, *, progress: Progress | None = None) -> PairCounts:
    """Count every pair of states of every pair of variables, exactly, in one pass and in constant memory.

    Each variable's states are crossed with those of all later variables in one call. Unknown cells count as the whole
    domain; rows count with their weights, and those with graded cells as their alpha-cuts (then counts are floats).

    >>> import possnet as pn
    >>> count_pairs(pn.Dataset.from_table({"a": ["x", "y"], "b": ["u", None]})).table("a", "b").tolist()
    [[1], [1]]
    """
    require_rows(data, "count_pairs")
    variables = tuple(data.variables)
    size = sum(len(variable) for variable in variables)
    refuse_over(16 * size * size, f"pair counts of {size:,} states", "use fewer variables or states")
    places = _state_places(variables)
    matrix: Weights = np.zeros((size, size), dtype=np.int64)
    total = len(data) if isinstance(data, Dataset) else data.rows or 0
    rows: int | float = 0
    done = 0
    for batch in batches_of(cut_batches(data)):
        for block in split_blocks(batch, list(places), size=_BLOCK):
            matrix = matrix if block.is_whole else matrix.astype(np.float64, copy=False)
            _add_block(matrix, block, places)
            rows += block.total
            done += block.rows
            if progress is not None:
                progress(done, total)
    return PairCounts(variables, matrix, rows)


def _state_places(variables: Iterable[Variable]) -> dict[str, range]:
    """Rows and columns of every variable in a matrix of all states."""
    places: dict[str, range] = {}
    start = 0
    for variable in variables:
        places[variable.name] = range(start, start := start + len(variable))
    return places


def _add_block(matrix: Weights, block: RowBlock, places: dict[str, range]) -> None:
    names = list(places)
    words = np.concatenate([block.words(name) for name in names])
    everything = bitmaps.ones(block.rows)[np.newaxis]
    for number, name in enumerate(names):
        own, later = places[name], names[number + 1 :]
        plain = block.weights is None
        matrix[own, own] += (
            block.state_counts(name) if plain else _cross_bitmaps(block, everything, block.words(name))[0]
        )
        wide = [other for other in later if len(own) * len(places[other]) > _MANY_STATES]
        precise = [other for other in wide if block.is_precise(name) and block.is_precise(other)]
        if precise:
            codes, sizes = [block.state_codes(other) for other in precise], [len(places[other]) for other in precise]
            counts = cross_counts.by_codes(block.state_codes(name), len(own), codes, sizes, block.weights)
            _add_counts(matrix, own, [k for other in precise for k in places[other]], counts)
        rest = [k for other in later if other not in precise for k in places[other]]
        if rest:
            others = words[rest] if precise else words[own.stop :]
            _add_counts(matrix, own, rest, _cross_bitmaps(block, block.words(name), others))


def _cross_bitmaps(block: RowBlock, contexts: Words, states: Words) -> Weights:
    if block.weights is None:
        return cross_counts.by_bitmaps(contexts, states)
    return cross_counts.by_weights(contexts, states, block.rows, block.weights)


def _add_counts(matrix: Weights, own: range, others: list[int], counts: Weights) -> None:
    """Add the counts of a variable's states with those of others, in both orders."""
    matrix[own.start : own.stop, others] += counts
    matrix[others, own.start : own.stop] += counts.T

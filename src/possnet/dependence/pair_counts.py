"""Counts of all pairs of variables, in one pass over a data set or a stream."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from possnet.counting import split_blocks
from possnet.dataset import Dataset, batches_of, require_rows
from possnet.errors import InputError, among
from possnet.kernels import bitmaps, cross_counts, tally
from possnet.limits import refuse_over

if TYPE_CHECKING:
    from possnet.aliases import Floats, Ints, Progress, Words
    from possnet.counting import RowBlock
    from possnet.dataset import Batches
    from possnet.variables import Variable


_BLOCK: Final = 1 << 17
_MANY_STATES: Final = 256
"""Pairs of precise columns with more combinations than this are counted by a histogram: 64 rows an AND, a row a step."""


class PairCounts:
    """How many rows contain each two states of each two variables; made by `count_pairs`.

    >>> import possnet as pn
    >>> data = pn.Dataset.from_table({"a": ["x", {"x", "y"}, "y"], "b": ["u", "v", "v"]})
    >>> counts = count_pairs(data)
    >>> counts
    PairCounts(2 variables, 3 rows)
    >>> counts.table("a", "b"), counts.contour("a", "b")
    (array([[1, 1], [0, 2]]), array([[0.5, 0.5], [0. , 1. ]]))
    """

    __slots__ = ("_matrix", "_places", "rows", "variables")

    def __init__(self, variables: tuple[Variable, ...], matrix: Ints, rows: int) -> None:
        self.variables, self.rows = variables, rows
        self._matrix = matrix
        self._places: dict[str, slice] = {}
        start = 0
        for variable in variables:
            self._places[variable.name] = slice(start, start + len(variable))
            start += len(variable)

    def table(self, first: str, second: str) -> Ints:
        """Number of rows that contain both, axes as named; of one variable with itself it has the states' own numbers only.

        >>> import possnet as pn
        >>> count_pairs(pn.Dataset.from_table({"a": ["x", {"x", "y"}]})).table("a", "a")
        array([[2, 0], [0, 1]])
        """
        for name in (first, second):
            if name not in self._places:
                raise InputError(f"pair counts: no variable {name!r}{among(name, self._places)}")
        return self._matrix[self._places[first], self._places[second]].copy()

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
    """Counts of every two states of every two variables, exactly, in one pass and in constant memory.

    Each variable's states are crossed with those of all later variables in one call. Unknown cells count as the whole
    domain; rows count with their weights.

    >>> import possnet as pn
    >>> count_pairs(pn.Dataset.from_table({"a": ["x", "y"], "b": ["u", None]})).table("a", "b").tolist()
    [[1], [1]]
    """
    require_rows(data, "count_pairs")
    variables = tuple(data.variables)
    names = [variable.name for variable in variables]
    size = sum(len(variable) for variable in variables)
    refuse_over(16 * size * size, f"pair counts of {size:,} states", "use fewer variables or states")
    matrix = np.zeros((size, size), dtype=np.int64)
    total = len(data) if isinstance(data, Dataset) else data.rows or 0
    rows = done = 0
    for batch in batches_of(data):
        for block in split_blocks(batch, names, size=_BLOCK):
            _add_block(matrix, block, names)
            rows += block.total
            done += block.rows
            if progress is not None:
                progress(done, total)
    return PairCounts(variables, matrix, rows)


def _add_block(matrix: Ints, block: RowBlock, names: list[str]) -> None:
    words = np.concatenate([block.words(name) for name in names])
    start = 0
    for number, name in enumerate(names):
        own = block.words(name)
        stop = start + len(own)
        matrix[range(start, stop), range(start, stop)] += _own(block, name)
        apart = _precise_pairs(block, names, number)
        place = first = stop
        for other in names[number + 1 :]:  # stretches of columns that bitmaps count, between those that histograms do
            width = len(block.words(other))
            if other in apart:
                _add(matrix, start, stop, first, place, block, words)
                counted = tally.by_codes(
                    [block.state_codes(name)],
                    [len(own)],
                    block.state_codes(other),
                    width,
                    block.weights,
                    lambda _: None,
                )
                place_counts = np.zeros((len(own), width), dtype=np.int64)
                place_counts[counted.contexts[:, 0]] = counted.counts
                matrix[start:stop, place : place + width] += place_counts
                matrix[place : place + width, start:stop] += place_counts.T
                first = place + width
            place += width
        _add(matrix, start, stop, first, place, block, words)
        start = stop


def _add(matrix: Ints, start: int, stop: int, first: int, last: int, block: RowBlock, words: Words) -> None:
    """Add the counts of a variable's states with those from ``first`` to ``last``, both ways round."""
    if first < last:
        if block.weights is None:
            found = cross_counts.by_bitmaps(words[start:stop], words[first:last])
        else:
            found = cross_counts.by_weights(words[start:stop], words[first:last], block.rows, block.weights)
        matrix[start:stop, first:last] += found
        matrix[first:last, start:stop] += found.T


def _own(block: RowBlock, name: str) -> Ints:
    if block.weights is None:
        return block.state_counts(name)
    everything = bitmaps.ones(block.rows)[np.newaxis]
    return np.asarray(cross_counts.by_weights(everything, block.words(name), block.rows, block.weights)[0])


def _precise_pairs(block: RowBlock, names: list[str], number: int) -> set[str]:
    own = len(block.words(names[number]))
    wide = [other for other in names[number + 1 :] if own * len(block.words(other)) > _MANY_STATES]
    if not wide or not block.is_precise(names[number]):
        return set()
    return {other for other in wide if block.is_precise(other)}

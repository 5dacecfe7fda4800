"""Codes of several columns as one: the number of every row's combination."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from possnet.aliases import Ints

    CodeColumn: TypeAlias = tuple[Ints, int]
    """A code of every row, and the number of codes."""

_KEY_LIMIT = 1 << 62


def mix_codes(columns: Sequence[CodeColumn]) -> CodeColumn:
    """Codes of several columns as one number for every row, the first column first.

    >>> mix_codes([(np.array([1, 0]), 2), (np.array([2, 1]), 3)])
    (array([5, 1]), 6)
    """
    keys, limit = columns[0]
    for column, size in columns[1:]:
        if limit * size >= _KEY_LIMIT:
            distinct, keys = np.unique(keys, return_inverse=True)
            limit = len(distinct)
        keys = keys * size + column
        limit *= size
    return keys, limit


def number_combinations(columns: Sequence[CodeColumn]) -> tuple[Ints, Ints]:
    """The number of every row's combination of codes, in lexicographic order, and the first row of every combination.

    >>> number_combinations([(np.array([1, 0, 1]), 2), (np.array([2, 1, 2]), 3)])
    (array([1, 0, 1]), array([1, 0]))
    """
    keys, _ = mix_codes(columns)
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    is_first = np.ones(len(order), dtype=np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=is_first[1:])
    numbers = np.empty(len(order), dtype=np.int64)
    numbers[order] = np.cumsum(is_first) - 1
    return numbers, order[is_first]

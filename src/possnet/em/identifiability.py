"""Identifiability: which contexts the data can tell apart.

The parents' cells of a row say that the hidden context is one of several. Let B have a row for every distinct combination
of the parents' cells and a column for every context, with entries [a in d] / |d|. A context whose column is zero is never
*visited*; one whose unit vector is not in the row space of B is *confounded* with others: its masses and theirs could be
exchanged without changing what is seen.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from possnet.aliases import Bools, Ints


_LARGEST: Final = 1500  # contexts; the eigenvectors of a matrix of this order take about a second
_ENTRIES: Final = 1 << 22  # contexts listed for all imprecise rows together: 32 MB


def find_identified_contexts(
    rows: NDArray[np.int32], cells: Sequence[Bools], shape: tuple[int, ...]
) -> tuple[Bools, Bools]:
    """Which contexts are visited, and which of these are identified; both flat, contexts in table order.

    ``rows`` are the distinct combinations of the parents' cells, as numbers into ``cells``. A row with a single context
    that is not identified yet identifies it; the contexts that remain are identified if their unit vectors lie in the row
    space of the remaining rows. Where that matrix is too large, they count as confounded.

    >>> cells = np.array([[True, False], [True, True]])
    >>> find_identified_contexts(np.array([[0], [1]], dtype=np.int32), [cells], (2,))
    (array([ True,  True]), array([ True,  True]))
    >>> find_identified_contexts(np.array([[1]], dtype=np.int32), [cells], (2,))
    (array([ True,  True]), array([False, False]))
    """
    contexts = prod(shape)
    visited = np.zeros(contexts, dtype=np.bool_)
    known = np.zeros(contexts, dtype=np.bool_)
    waiting: list[Ints] = []
    entries = 0
    for row in rows:
        inside = np.ones(1, dtype=np.bool_)
        for number, sets in zip(row, cells, strict=True):
            inside = (inside[:, np.newaxis] & sets[number]).reshape(-1)
        held = np.flatnonzero(inside)
        visited[held] = True
        if len(held) == 1:
            known[held] = True
        elif entries < _ENTRIES:
            waiting.append(held)
            entries += len(held)
    grown = True
    while grown:
        grown = False
        rest = []
        for held in waiting:
            open_ones = held[~known[held]]
            if len(open_ones) == 1:
                known[open_ones] = True
                grown = True
            elif len(open_ones):
                rest.append(open_ones)
        waiting = rest
    columns = np.flatnonzero(visited & ~known)
    if waiting and 0 < len(columns) <= _LARGEST:
        known[columns[_in_row_space(waiting, columns, contexts)]] = True
    return visited, known


def _in_row_space(rows: list[Ints], columns: Ints, contexts: int) -> Bools:
    """Whether each unit vector is a combination of the rows: its projection on their span is itself."""
    place = np.full(contexts, -1)
    place[columns] = np.arange(len(columns))
    gram = np.zeros((len(columns), len(columns)))
    for held in rows:
        where = place[held]
        gram[np.ix_(where, where)] += 1.0 / len(held)
    values, vectors = np.linalg.eigh(gram)
    kept = vectors[:, values > values.max() * 1e-10]
    own: Bools = (kept**2).sum(axis=1) > 1.0 - 1e-7
    return own

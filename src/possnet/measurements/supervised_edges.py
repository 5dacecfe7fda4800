r"""Edges that tell the states of a target apart: entropy discretisation, stopped by minimum description length.

The numbers of a column are cut in two where the mean entropy of the target is least, and each part again, as long as a cut
pays for its own description [FI]. A cut of N rows with k states into two parts with k1 and k2 pays if the gain

    Ent(S) - |S1|/N Ent(S1) - |S2|/N Ent(S2)  >  (log2(N - 1) + log2(3^k - 2) - k Ent(S) + k1 Ent(S1) + k2 Ent(S2)) / N.

Where the target of a row is a set of states, each has an equal share of the row; a row whose target is unknown says
nothing.

[FI] U. M. Fayyad, K. B. Irani: Multi-interval discretization of continuous-valued attributes for classification learning.
IJCAI 1993.
"""

from __future__ import annotations

from math import log2
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from possnet.aliases import Codes, Floats
    from possnet.arrow import Cell

_MOST_SHARES = 1 << 22  # that are held at once; more distinct numbers are grouped, equally many in each
_TIE = 1e-9  # bits by which mean entropies must differ to be told apart


def share_states(codes: Codes, cells: Sequence[Cell]) -> Floats:
    """Shares of the states in rows of cells (rows, states): equal ones for the states of a cell, 0 where it is unknown.

    >>> share_states(np.array([0, 1, 2]), [("a",), ("a", "b"), None])
    array([[1. , 0. ], [0.5, 0.5], [0. , 0. ]])
    """
    states = {state: place for place, state in enumerate(sorted({state for cell in cells for state in cell or ()}))}
    shares = np.zeros((len(cells), len(states)))
    for number, cell in enumerate(cells):
        for state in cell or ():
            shares[number, states[state]] = 1.0 / len(cell or ())
    return shares[codes]


def find_mdl_edges(numbers: Floats, shares: Floats) -> tuple[float, ...]:
    """Edges in the middle between neighbouring numbers; none if no cut pays.

    Parameters
    ----------
    numbers
        One for each row; those that are not finite are left out.
    shares
        The shares of the states of the target (rows, states); see `share_states`. Rows without any are left out.

    Examples
    --------
    >>> labels = np.repeat([[1.0, 0.0], [0.0, 1.0]], 20, axis=0)
    >>> find_mdl_edges(np.arange(40.0), labels)
    (19.5,)
    >>> find_mdl_edges(np.arange(40.0), labels[np.arange(40) % 2 * 20])
    ()
    """
    known = np.flatnonzero(np.isfinite(numbers) & shares.any(axis=1))
    order = known[np.argsort(numbers[known], kind="stable")]
    values = numbers[order]
    starts = _choose_places(values, max(2, _MOST_SHARES // max(shares.shape[1], 1)))
    sums = np.add.reduceat(shares[order], starts, axis=0) if len(values) else shares[:0]
    total = np.concatenate([np.zeros((1, shares.shape[1])), np.cumsum(sums, axis=0)])
    cuts: list[int] = []
    parts = [(0, len(starts))]
    while parts:
        first, end = parts.pop()
        cut = _best_cut(total, first, end)
        if cut is not None:
            cuts.append(cut)
            parts += [(first, cut), (cut, end)]
    places = starts[np.array(sorted(cuts), dtype=np.int64)]
    return tuple((values[places - 1] + (values[places] - values[places - 1]) / 2).tolist())


def _choose_places(values: Floats, most: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Where distinct numbers begin among sorted ones; of very many, some with about equally many rows between them."""
    starts = np.flatnonzero(np.concatenate([[True], np.diff(values) > 0])) if len(values) else np.zeros(0, np.int64)
    if len(starts) <= most:
        return starts
    wanted = np.linspace(0, len(values), most, endpoint=False)
    return np.unique(starts[np.searchsorted(starts, wanted, side="right") - 1])


def _best_cut(total: Floats, first: int, end: int) -> int | None:
    """The cut of least mean entropy between two places of cumulated shares, the lowest of equal ones, if it pays."""
    if end - first < 2:
        return None
    whole = total[end] - total[first]
    below = total[first + 1 : end] - total[first]
    rows, n_below = float(whole.sum()), below.sum(axis=1)
    parts = (_entropy(below) * n_below + _entropy(whole - below) * (rows - n_below)) / rows
    place = int(np.flatnonzero(parts <= parts.min() + _TIE)[0])
    left, right = below[place], whole - below[place]
    gain = float(_entropy(whole) - parts[place])
    return first + 1 + place if rows > 1 and gain > _description_length(whole, left, right) / rows else None


def _description_length(whole: Floats, left: Floats, right: Floats) -> float:
    """Bits that a cut costs: which one it is, and the states of both parts."""
    n_states, *parts = (int((part > _TIE).sum()) for part in (whole, left, right))
    surplus = n_states * float(_entropy(whole))
    surplus -= sum(k * float(_entropy(part)) for k, part in zip(parts, (left, right), strict=True))
    # log2(3^k - 2), which overflows for many states
    return log2(float(whole.sum()) - 1) + n_states * log2(3) + log2(1 - 2 * 3.0**-n_states) - surplus


def _entropy(shares: Floats) -> Floats:
    """Entropy in bits of weights along the last axis."""
    total = shares.sum(axis=-1, keepdims=True)
    p = np.divide(shares, total, out=np.zeros_like(shares), where=total > _TIE)
    logs = np.log2(p, out=np.zeros_like(p), where=p > _TIE)
    return np.asarray(-(p * logs).sum(axis=-1))

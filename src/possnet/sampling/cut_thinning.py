"""Large families: thresholds and thinning, state by state; nothing is enumerated.

Rows are drawn in chunks. For ``alpha-cut`` the rows of a chunk are sorted by their level alpha, so that those whose level
lies below a degree are the first ones: a parents' configuration a adds, for every state x, its rows among the first
#{alpha <= degree(a, x)}. That is one OR over a slice for every pair, whatever the number of distinct cells.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

from possnet.sampling.cell_laws import full_cut_bonus

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from possnet.aliases import Bools, Floats
    from possnet.sampling.random_bits import RandomBits
    from possnet.sampling.sampling_spec import Law

    Codes: TypeAlias = NDArray[np.int32]

CHUNK: Final = 16_384


class _Thinning:
    """Keeps every free state of a cut with probability theta, by either law."""

    __slots__ = ("_bonus", "_theta")

    def __init__(self, theta: float, law: Law, states: int) -> None:
        self._theta = theta
        self._bonus = full_cut_bonus(theta, states) if law == "text" else None

    def __call__(self, cut: Bools, free: Bools, stream: RandomBits) -> Bools:
        """Cells of cuts (states, rows); ``free`` marks the states that may go, shape (states, rows) or (states, 1)."""
        if self._theta == 1.0:
            return cut
        rows = cut.shape[1]
        cell = cut.copy()
        for state, loose in enumerate(free):
            if loose.any():
                cell[state] &= ~loose | stream.coins(self._theta, rows)
        if self._bonus is not None:
            sizes = (cut & free).sum(axis=0)
            whole = stream.uniforms(rows) < self._bonus[sizes]
            cell[:, whole] = cut[:, whole]
        return cell


class AlphaCutDrawer:
    """Cells of ``alpha-cut`` from the parents' sets."""

    __slots__ = ("_above", "_configurations", "_floor", "_free", "_table", "_thin")

    def __init__(self, table: Floats, theta: float, law: Law, *, cores: list[Bools]) -> None:
        self._table = table
        self._thin = _Thinning(theta, law, table.shape[-1])
        always = table[np.ix_(*[np.flatnonzero(core) for core in cores])] if cores else table
        self._floor = always.reshape(-1, table.shape[-1]).max(axis=0)  # every row's parents contain their cores
        self._free = self._floor < 1.0
        self._above = (table > self._floor) & self._free
        wanted = np.argwhere((table > self._floor).any(axis=-1))
        self._configurations = [tuple(int(k) for k in row) for row in wanted]

    def draw(self, parents: list[Bools], stream: RandomBits, rows: int, *, cut_wanted: bool) -> tuple[Bools, Bools]:
        """What children see (cuts, if wanted) and cells, (states, rows) each, for the parents' sets of one chunk."""
        levels = 1.0 - stream.uniforms(rows)
        order = np.argsort(levels, kind="stable")
        levels = levels[order]
        cut = np.arange(rows) < np.searchsorted(levels, self._floor, side="right")[:, np.newaxis]
        if self._configurations:
            self._add_configurations(cut, [sets.take(order, axis=1) for sets in parents], levels)
        cell = self._thin(cut, self._free[:, np.newaxis], stream)
        back = np.empty_like(order)
        back[order] = np.arange(rows)
        cells = cell.take(back, axis=1)
        return cut.take(back, axis=1) if cut_wanted else cells, cells

    def _add_configurations(self, cut: Bools, parents: list[Bools], levels: Floats) -> None:
        ends = np.searchsorted(levels, self._table, side="right")
        prefix: list[Bools] = []
        before: tuple[int, ...] = ()
        for configuration in self._configurations:
            same = next((k for k, (a, b) in enumerate(zip(configuration, before, strict=False)) if a != b), len(before))
            del prefix[same:]
            for parent in range(same, len(configuration)):
                inside = parents[parent][configuration[parent]]
                prefix.append(prefix[-1] & inside if prefix else inside)
            before = configuration
            if prefix[-1].any():
                for state in np.flatnonzero(self._above[configuration]):
                    end = ends[configuration][state]
                    cut[state, :end] |= prefix[-1][:end]


class TracedDrawer:
    """Cells and traces of ``traced`` from the parents' states."""

    __slots__ = ("_table", "_thin")

    def __init__(self, degrees: Floats, theta: float, law: Law) -> None:
        self._table = degrees
        self._thin = _Thinning(theta, law, degrees.shape[-1])

    def draw(self, contexts: Codes | int, stream: RandomBits, rows: int) -> tuple[Codes, Bools]:
        """Trace (rows) and cells (states, rows) of one chunk."""
        levels = 1.0 - stream.uniforms(rows)
        degrees = np.broadcast_to(self._table[contexts], (rows, self._table.shape[1])).T
        cut = levels <= degrees
        cell = self._thin(cut, degrees < 1.0, stream)
        sizes = cell.sum(axis=0)
        chosen = np.minimum((stream.uniforms(rows) * sizes).astype(np.int64), sizes - 1)
        place = np.cumsum(cell, axis=0, dtype=np.int32) - 1
        return np.argmax(cell & (place == chosen), axis=0).astype(np.int32), cell

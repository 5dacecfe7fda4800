"""Cuts drawn and thinned state by state, for variables whose law has too many outcomes to be listed.

Rows are drawn in chunks. For ``alpha-cut`` the rows of a chunk are sorted by their level alpha, so that those whose level
lies below a degree are the first ones: a parents' configuration a adds, for every state x, its rows among the first
#{alpha <= degree(a, x)}. That is one OR over a slice for every pair, whatever the number of distinct cells.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from possnet.kernels import bitmaps
from possnet.sampling.cell_laws import full_cut_bonus
from possnet.sampling.context_signals import Signals, mixed_radix_weights, number_contexts

if TYPE_CHECKING:
    from possnet.aliases import Bools, Floats, Words
    from possnet.sampling.context_signals import Codes
    from possnet.sampling.processes import Law
    from possnet.sampling.random_bits import RandomBits

CHUNK: Final = 16_384
"""Rows that are drawn at a time. Random bits are used chunk by chunk, so that it is part of what a seed means."""


class _Thinning:
    """Keeps every free state of a cut with probability theta, by either law."""

    __slots__ = ("_bonus", "_theta")

    def __init__(self, theta: float, law: Law, states: int) -> None:
        self._theta = theta
        self._bonus = full_cut_bonus(theta, states) if law == "text" else None

    def thin_cuts(self, cut: Bools, free: Bools, bits: RandomBits) -> Bools:
        """Cells of cuts (states, rows); ``free`` marks the states that may go, shape (states, rows) or (states, 1)."""
        if self._theta == 1.0:
            return cut
        rows = cut.shape[1]
        cell = cut.copy()
        for state, removable in enumerate(free):
            if removable.any():
                cell[state] &= ~removable | bits.draw_events(self._theta, rows)
        if self._bonus is not None:
            sizes = (cut & free).sum(axis=0)
            whole = bits.draw_uniforms(rows) < self._bonus[sizes]
            cell[:, whole] = cut[:, whole]
        return cell


class AlphaCutSampler:
    """Draws the cells of a variable whose parents' signals are sets."""

    __slots__ = ("_above", "_children_see_cut", "_configurations", "_floor", "_free", "_table", "_thinning")

    def __init__(
        self, table: Floats, theta: float, law: Law, *, parent_cores: list[Bools], children_see_cut: bool
    ) -> None:
        self._table, self._children_see_cut = table, children_see_cut
        self._thinning = _Thinning(theta, law, table.shape[-1])
        always = table[np.ix_(*[np.flatnonzero(core) for core in parent_cores])] if parent_cores else table
        self._floor = always.reshape(-1, table.shape[-1]).max(axis=0)  # every row's parents contain their cores
        self._free = self._floor < 1.0
        self._above = (table > self._floor) & self._free
        wanted = np.argwhere((table > self._floor).any(axis=-1))
        self._configurations = [tuple(int(k) for k in row) for row in wanted]

    def draw_variable(self, parents: list[Signals], bits: RandomBits, drawn: int, rows: int) -> tuple[Signals, Words]:
        """Signals and cells of one variable in one block."""
        sets = [signals.to_sets() for signals in parents]
        chunks = [
            self._draw_chunk([inside[:, start : start + CHUNK] for inside in sets], bits)
            for start in range(0, drawn, CHUNK)
        ]
        cuts, cells = (np.concatenate(side, axis=1) for side in zip(*chunks, strict=True))
        return Signals(None, cuts), bitmaps.pack(cells[:, :rows])

    def _draw_chunk(self, parents: list[Bools], bits: RandomBits) -> tuple[Bools, Bools]:
        """Signals and cells, (states, rows) each, for the parents' sets of one chunk."""
        levels = 1.0 - bits.draw_uniforms(CHUNK)
        order = np.argsort(levels, kind="stable")
        levels = levels[order]
        cut = np.arange(CHUNK) < np.searchsorted(levels, self._floor, side="right")[:, np.newaxis]
        if self._configurations:
            self._add_configurations(cut, [sets.take(order, axis=1) for sets in parents], levels)
        cell = self._thinning.thin_cuts(cut, self._free[:, np.newaxis], bits)
        back = np.empty_like(order)
        back[order] = np.arange(CHUNK)
        cells = cell.take(back, axis=1)
        return cut.take(back, axis=1) if self._children_see_cut else cells, cells

    def _add_configurations(self, cut: Bools, parents: list[Bools], levels: Floats) -> None:
        """Add to the cuts what each configuration of the parents allows; equal beginnings are intersected once."""
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


class TracedSampler:
    """Draws the cells and hidden states of a variable whose parents' signals are states."""

    __slots__ = ("_degrees", "_thinning", "_weights")

    def __init__(self, table: Floats, theta: float, law: Law) -> None:
        self._degrees = table.reshape(-1, table.shape[-1])
        self._weights = mixed_radix_weights(list(table.shape[:-1]))
        self._thinning = _Thinning(theta, law, table.shape[-1])

    def draw_variable(self, parents: list[Signals], bits: RandomBits, drawn: int, rows: int) -> tuple[Signals, Words]:
        """Hidden states and cells of one variable in one block."""
        contexts = np.broadcast_to(number_contexts(parents, self._weights), drawn)
        chunks = [self._draw_chunk(contexts[start : start + CHUNK], bits) for start in range(0, drawn, CHUNK)]
        trace = np.concatenate([states for states, _ in chunks])
        cells = np.concatenate([cell for _, cell in chunks], axis=1)
        return Signals(trace, np.eye(self._degrees.shape[1], dtype=np.bool_)), bitmaps.pack(cells[:, :rows])

    def _draw_chunk(self, contexts: Codes, bits: RandomBits) -> tuple[Codes, Bools]:
        """Hidden states (rows) and cells (states, rows) of one chunk."""
        levels = 1.0 - bits.draw_uniforms(CHUNK)
        degrees = self._degrees[contexts].T
        cut = levels <= degrees
        cell = self._thinning.thin_cuts(cut, degrees < 1.0, bits)
        sizes = cell.sum(axis=0)
        chosen = np.minimum((bits.draw_uniforms(CHUNK) * sizes).astype(np.int64), sizes - 1)
        place = np.cumsum(cell, axis=0, dtype=np.int32) - 1
        return np.argmax(cell & (place == chosen), axis=0).astype(np.int32), cell

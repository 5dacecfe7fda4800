"""Categorical laws, one for every context: one random byte and one look-up a row.

The unit interval is cut into up to 256 slots. A slot that lies inside one outcome's share names it; a slot that is
divided is resolved by 53 further random bits and a bisection. The result is exact to those bits.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from possnet.aliases import Floats, Ints
    from possnet.sampling.cell_laws import Outcomes
    from possnet.sampling.context_signals import Codes
    from possnet.sampling.random_bits import RandomBits

_GUIDE: Final = 1 << 18  # entries of the guide at most: beyond, look-ups miss the cache


class Categorical:
    """Draws outcomes, given contexts."""

    def __init__(self, outcomes: Outcomes) -> None:
        self._starts, self._ids = outcomes.starts, outcomes.ids
        self._bounds = _upper_bounds(outcomes)
        self._slots = 256
        while self._slots > 1 and self._slots * outcomes.n_contexts > _GUIDE:
            self._slots //= 2
        self._divided = len(outcomes.cells)
        self._guide = self._build_guide()
        self._steps = int(np.diff(self._starts).max()).bit_length()
        self._signals = outcomes.signals.astype(np.int32)
        self.has_bytes = outcomes.cells.shape[1] <= 8
        self._cells = np.packbits(outcomes.cells, axis=1, bitorder="little")[:, 0]

    def draw_outcomes(self, contexts: Codes | int, bits: RandomBits, rows: int, block: int) -> Codes:
        """Outcome of every row; the random bytes are those of a whole block, so that a prefix stays a prefix."""
        octets, places = self._draw_places(contexts, bits, rows, block)
        outcomes = np.take(self._guide, places, mode="clip")
        divided = np.flatnonzero(outcomes == self._divided)
        if len(divided):
            outcomes[divided] = self._resolve(contexts, octets, divided, bits)
        return outcomes.astype(np.int32)

    def draw_cells(
        self, contexts: Codes | int, bits: RandomBits, rows: int, block: int
    ) -> tuple[NDArray[np.uint8], Codes]:
        """The cell of every row as the bits of a byte, and its signal; the same draws as `draw_outcomes`.

        What these are is looked up by the slot itself; a byte of 0, which no cell has, is a slot that is divided.
        """
        octets, places = self._draw_places(contexts, bits, rows, block)
        cell_guide, signal_guide = self._guides_of_cells
        cells, signals = np.take(cell_guide, places, mode="clip"), np.take(signal_guide, places, mode="clip")
        divided = np.flatnonzero(cells == 0)
        if len(divided):
            outcomes = self._resolve(contexts, octets, divided, bits)
            cells[divided], signals[divided] = self._cells[outcomes], self._signals[outcomes]
        return cells, signals

    def _draw_places(
        self, contexts: Codes | int, bits: RandomBits, rows: int, block: int
    ) -> tuple[NDArray[np.uint8], Ints]:
        """A random byte of every row, and its place in the guide."""
        octets = bits.draw_bytes(block)[:rows]
        if self._slots < 256:
            octets = octets & np.uint8(self._slots - 1)
        return octets, (contexts * np.int32(self._slots) + octets).astype(np.intp)

    def _resolve(
        self, contexts: Codes | int, octets: NDArray[np.uint8], divided: Ints, bits: RandomBits
    ) -> NDArray[np.integer]:
        """The outcomes of rows whose slots are divided."""
        rows_contexts = np.broadcast_to(contexts, len(octets))[divided]
        levels = (octets[divided] + bits.draw_uniforms(len(divided))) / self._slots
        outcomes: NDArray[np.integer] = self._ids[self._find_entries(rows_contexts, levels)]
        return outcomes

    @cached_property
    def _guides_of_cells(self) -> tuple[NDArray[np.uint8], Codes]:
        """For every context and slot the cell as a byte, 0 where the slot is divided, and the signal."""
        return np.append(self._cells, np.uint8(0))[self._guide], np.append(self._signals, np.int32(0))[self._guide]

    def _build_guide(self) -> NDArray[np.unsignedinteger]:
        """For every context and slot the outcome, or the number of outcomes where the slot is divided."""
        contexts = len(self._starts) - 1
        scaled = self._bounds * self._slots
        last = np.zeros(len(scaled), dtype=np.bool_)
        last[self._starts[1:] - 1] = True
        offset = np.repeat(np.arange(contexts) * self._slots, np.diff(self._starts))
        inner = ~last
        ends = (np.ceil(scaled).astype(np.int64) + offset)[inner]
        passed = np.cumsum(np.bincount(ends, minlength=contexts * self._slots + 1)[: contexts * self._slots])
        entries = passed + np.repeat(np.arange(contexts), self._slots)  # one entry of each context is not inner
        guide = np.take(self._ids, entries).astype(np.min_scalar_type(self._divided))
        cut = inner & (scaled != np.floor(scaled))
        guide[(np.floor(scaled).astype(np.int64) + offset)[cut]] = self._divided
        return guide

    def _find_entries(self, contexts: Codes, levels: Floats) -> Ints:
        """The first entry of each context whose upper bound lies above the level."""
        low, high = self._starts[contexts], self._starts[contexts + 1] - 1
        for _ in range(self._steps):
            middle = (low + high) >> 1
            above = self._bounds[middle] > levels
            high = np.where(above, middle, high)
            low = np.where(above | (low == high), low, middle + 1)
        return low


def _upper_bounds(outcomes: Outcomes) -> Floats:
    """Cumulative probabilities of each context, the last one exactly 1."""
    lengths = np.diff(outcomes.starts)
    inside = np.arange(lengths.max()) < lengths[:, np.newaxis]
    table = np.zeros(inside.shape)
    table[inside] = outcomes.probabilities
    bounds: Floats = np.minimum(np.cumsum(table, axis=1)[inside], 1.0)
    bounds[outcomes.starts[1:] - 1] = 1.0
    return bounds

"""Categorical laws, one for every context: one random byte and one look-up a row.

The unit interval is cut into up to 256 slots. A slot that lies inside one outcome's share names it; a slot that is
divided is resolved by 53 further random bits, from the first outcome that it holds on. The result is exact to those bits.
"""

from __future__ import annotations

import threading
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np

from possnet.sampling.random_bits import BLOCK

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from possnet.aliases import Floats, Ints
    from possnet.sampling.cell_laws import Outcomes
    from possnet.sampling.context_signals import Codes
    from possnet.sampling.random_bits import RandomBits

_GUIDE: Final = 1 << 18  # entries of the guide at most: beyond, look-ups miss the cache


class _SlotMemory(threading.local):
    """Memory of a thread that every variable of a block uses again: new pages cost more than what is written there."""

    def __init__(self) -> None:
        self.slots, self.places = np.empty(BLOCK, dtype=np.int32), np.empty(BLOCK, dtype=np.intp)


_SLOTS: Final = _SlotMemory()


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
        self._signals = outcomes.signals.astype(np.int32)
        self.has_bytes = outcomes.cells.shape[1] <= 8
        self._cells = np.packbits(outcomes.cells, axis=1, bitorder="little")[:, 0]

    def draw_outcomes(self, contexts: Codes | int, bits: RandomBits, rows: int, block: int) -> Codes:
        """Outcome of every row; the random bytes are those of a whole block, so that a prefix stays a prefix."""
        octets, places = self._draw_places(contexts, bits, rows, block)
        outcomes = np.take(self._guide, places, mode="clip")
        divided = np.flatnonzero(outcomes == self._divided)
        if len(divided):
            outcomes[divided] = self._resolve(octets, places, divided, bits)
        return outcomes.astype(np.int32)

    def draw_cells(
        self, contexts: Codes | int, bits: RandomBits, rows: int, block: int
    ) -> tuple[NDArray[np.uint8], Codes]:
        """The cell of every row as the bits of a byte, and its signal; the same draws as `draw_outcomes`.

        What these are is looked up by the slot itself; a byte of 0, which no cell has, is a slot that is divided.
        """
        octets, places = self._draw_places(contexts, bits, rows, block)
        both = np.take(self._guide_of_cells, places, mode="clip", out=_SLOTS.slots[:rows])
        cells, signals = both.astype(np.uint8), both >> 8
        divided = np.flatnonzero(cells == 0)
        if len(divided):
            outcomes = self._resolve(octets, places, divided, bits)
            cells[divided], signals[divided] = self._cells[outcomes], self._signals[outcomes]
        return cells, signals

    def _draw_places(
        self, contexts: Codes | int, bits: RandomBits, rows: int, block: int
    ) -> tuple[NDArray[np.uint8], Ints]:
        """A random byte of every row, and its place in the guide."""
        octets = bits.draw_bytes(block)[:rows]
        if self._slots < 256:
            octets = octets & np.uint8(self._slots - 1)
        places = _SLOTS.places[:rows]
        np.add(np.multiply(contexts, self._slots, out=_SLOTS.slots[:rows]), octets, out=places)
        return octets, places

    def _resolve(self, octets: NDArray[np.uint8], places: Ints, divided: Ints, bits: RandomBits) -> NDArray[np.integer]:
        """The outcomes of rows whose slots are divided: the first entry whose upper bound lies above the level."""
        levels = (octets[divided] + bits.draw_uniforms(len(divided))) / self._slots
        entries = self._first_entries[places[divided]]
        while (below := self._bounds[entries] <= levels).any():
            entries += below
        outcomes: NDArray[np.integer] = self._ids[entries]
        return outcomes

    @cached_property
    def _guide_of_cells(self) -> NDArray[np.int32]:
        """For every context and slot the cell as a byte, 0 where the slot is divided, and the signal above it."""
        cells, signals = np.append(self._cells, np.uint8(0)), np.append(self._signals, np.int32(0))
        guide: NDArray[np.int32] = (cells.astype(np.int32) | signals << 8)[self._guide]
        return guide

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
        self._first_entries = entries
        guide = np.take(self._ids, entries).astype(np.min_scalar_type(self._divided))
        cut = inner & (scaled != np.floor(scaled))
        guide[(np.floor(scaled).astype(np.int64) + offset)[cut]] = self._divided
        return guide


def _upper_bounds(outcomes: Outcomes) -> Floats:
    """Cumulative probabilities of each context, the last one exactly 1."""
    lengths = np.diff(outcomes.starts)
    inside = np.arange(lengths.max()) < lengths[:, np.newaxis]
    table = np.zeros(inside.shape)
    table[inside] = outcomes.probabilities
    bounds: Floats = np.minimum(np.cumsum(table, axis=1)[inside], 1.0)
    bounds[outcomes.starts[1:] - 1] = 1.0
    return bounds

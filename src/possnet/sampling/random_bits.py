"""Random bits: a stream of its own for every (seed, variable, block of rows), so that rows depend on the seed alone.

Only the raw words of a bit generator are used; numpy promises that they never change.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from possnet.aliases import Bools, Floats, Words


BLOCK: Final = 65_536
"""Rows of a logical block: each has random streams of its own."""


class RandomBits:
    """Random numbers of one variable in one block."""

    __slots__ = ("_raw",)

    def __init__(self, seed: int, variable: int, block: int) -> None:
        self._raw = np.random.SFC64(np.random.SeedSequence(seed, spawn_key=(variable, block))).random_raw

    def draw_bytes(self, count: int) -> NDArray[np.uint8]:
        """Uniform bytes."""
        words: Words = self._raw(-(-count // 8))
        return words.astype("<u8", copy=False).view(np.uint8)[:count]

    def draw_uniforms(self, count: int) -> Floats:
        """Uniform numbers in [0, 1), 53 bits each."""
        words: Words = self._raw(count)
        return (words >> np.uint64(11)).astype(np.float64) * 2.0**-53

    def draw_events(self, probability: float, count: int) -> Bools:
        """Independent events of one probability: a byte decides most of them, 53 more bits the rest."""
        scaled = probability * 256.0
        whole = int(scaled)
        octets = self.draw_bytes(count)
        events = octets < whole if whole < 256 else np.ones(count, dtype=np.bool_)
        if scaled != whole:
            undecided = np.flatnonzero(octets == whole)
            events[undecided] = self.draw_uniforms(len(undecided)) < scaled - whole
        return events

"""Signals: for every row of a block, the cell, cut or state of a variable on which the cells of its children depend."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from possnet.aliases import Bools, Words
    from possnet.sampling.random_bits import RandomBits

    Codes: TypeAlias = NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Signals:
    """For every row the code of a set in ``sets`` (sets, states); without codes, the sets of all rows (states, rows)."""

    codes: Codes | None
    sets: Bools

    def to_sets(self) -> Bools:
        """The sets of the rows, shape (states, rows)."""
        if self.codes is None:
            return self.sets
        return np.stack([np.take(inside, self.codes, mode="clip") for inside in self.sets.T])


class VariableSampler(Protocol):
    """How one variable is drawn from its parents' signals; returns its own signals, and its cells as bitmaps.

    ``drawn`` rows are drawn and signalled; the cells of the first ``rows`` are returned.
    """

    def draw_variable(self, parents: list[Signals], bits: RandomBits, drawn: int, rows: int) -> tuple[Signals, Words]:
        """Signals and cells of one variable in one block."""
        ...


def mixed_radix_weights(sizes: list[int]) -> list[int]:
    """Weights of a mixed-radix number whose last digit runs fastest.

    >>> mixed_radix_weights([2, 3, 4])
    [12, 4, 1]
    """
    weights = [1] * len(sizes)
    for k in range(len(sizes) - 2, -1, -1):
        weights[k] = weights[k + 1] * sizes[k + 1]
    return weights


def number_contexts(parents: list[Signals], weights: list[int]) -> Codes | int:
    """Number of the context of every row."""
    contexts: Codes | int = 0
    for signals, weight in zip(parents, weights, strict=True):
        if signals.codes is not None:
            contexts = signals.codes * np.int32(weight) + contexts if weight != 1 else signals.codes + contexts
    return contexts

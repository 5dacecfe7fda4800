"""Sums that belong to sets of variables, kept by the set: one at a time, or of a set with every further variable.

A search asks for the sums of a set with each variable that it lacks, all at once: they stand in one array. That of two
variables can be looked up from either of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from possnet.structure.bit_sets import bits_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from possnet.aliases import Floats


class SetSums:
    """Sums by sets of variables; a set is given as bits of a number, and the sum of no variables is known from the start.

    >>> sums = SetSums(3, 0.0)
    >>> sums.keep_wider((1,), [0, 2], np.array([5.0, 7.0]))
    >>> sums.find((1, 2)), sums.find((0, 1)), sums.find((0, 2)), sums.wider(0b001)
    (7.0, 5.0, None, array([nan,  5., nan]))
    """

    def __init__(self, size: int, of_nothing: float) -> None:
        self._size = size
        self._single = {0: of_nothing}
        self._wider: dict[int, Floats] = {}
        self._pairs: Floats | None = None

    def find(self, chosen: tuple[int, ...]) -> float | None:
        """The sum of a set, if it is known."""
        mask = bits_of(chosen)
        known = self._single.get(mask)
        if known is not None:
            return known
        for k in chosen:
            wider = self._wider.get(mask ^ 1 << k)
            if wider is not None and (value := float(wider[k])) == value:  # not NaN
                self._single[mask] = value
                return value
        return None

    def keep(self, chosen: tuple[int, ...], value: float) -> float:
        """Keep the sum of a set, and return it."""
        self._single[bits_of(chosen)] = value
        return value

    def wider(self, mask: int) -> Floats:
        """Sums of a set with each variable; NaN where that is not known."""
        known = self._wider.get(mask)
        if known is None:
            known = self._wider[mask] = self._make_row(mask)
        return known

    def keep_wider(self, chosen: tuple[int, ...], further: Sequence[int], values: Floats) -> None:
        """Keep the sums of a set with each of some further variables."""
        self.wider(bits_of(chosen))[further] = values
        if len(chosen) == 1 and self._pairs is not None:
            self._pairs[further, chosen[0]] = values

    def _make_row(self, mask: int) -> Floats:
        if mask & mask - 1 or not mask:
            return np.full(self._size, np.nan)
        if self._pairs is None:
            self._pairs = np.full((self._size, self._size), np.nan)
        for k in range(self._size):  # other variables write into its row too
            self._wider[1 << k] = self._pairs[k]
        return self._wider[mask]

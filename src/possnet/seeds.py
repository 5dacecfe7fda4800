"""Seeds: whatever a caller hands in as ``rng``, as one number."""

from __future__ import annotations

import numpy as np

from possnet.errors import InputError

__all__ = ["seed_of"]


def seed_of(rng: np.random.Generator | int | None) -> int:
    """The number that decides every row: the integer itself, or 128 bits taken from a generator.

    >>> seed_of(7), seed_of(np.random.default_rng(7)) == seed_of(np.random.default_rng(7))
    (7, True)
    """
    given: object = rng
    if given is None:
        given = np.random.default_rng()
    if isinstance(given, np.random.Generator):
        return int.from_bytes(given.bytes(16), "little")
    if isinstance(given, bool) or not isinstance(given, int | np.integer) or given < 0:
        raise InputError(f"rng {rng!r}; expected a whole number >= 0 or a numpy Generator")
    return int(given)

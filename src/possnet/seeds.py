"""Seeds: whatever a caller hands in as ``rng``, as one number."""

from __future__ import annotations

import numpy as np

from possnet.errors import InputError, describe_value

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
    if isinstance(given, bool) or not isinstance(given, int | np.integer) or not 0 <= given < 2**128:
        raise InputError(f"rng {describe_value(rng)}; expected a whole number >= 0 or a numpy Generator")
    return int(given)

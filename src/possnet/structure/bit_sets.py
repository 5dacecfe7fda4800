"""Sets of variables as bits of a number."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def bits_of(variables: Iterable[int]) -> int:
    """A set of variables as bits.

    >>> bits_of((0, 3))
    9
    """
    bits = 0
    for k in variables:
        bits |= 1 << k
    return bits


def list_bits(bits: int) -> list[int]:
    """The variables of a set.

    >>> list_bits(9)
    [0, 3]
    """
    variables = []
    while bits:
        lowest = bits & -bits
        variables.append(lowest.bit_length() - 1)
        bits ^= lowest
    return variables

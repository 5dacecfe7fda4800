"""Numbers for people: as many digits as say something, and no dust of rounding."""

from __future__ import annotations

_DUST = 5e-10  # what is smaller is the rounding of a difference of two equal degrees


def format_number(number: float, digits: int = 4) -> str:
    """A number with some significant digits; what is no more than a rounding error is 0.

    >>> [format_number(x) for x in (0.123456, 1.8e-12, -1e-17, 2.0, 12345678.9, float("inf"))]
    ['0.1235', '0', '0', '2', '12,345,679', 'inf']
    """
    if abs(number) < _DUST:
        return "0"
    return f"{number:,.0f}" if 10.0**digits <= abs(number) < 1e15 else f"{number:.{digits}g}"

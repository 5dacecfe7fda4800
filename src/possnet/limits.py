"""Memory: how much is free, and refusing what would not fit, with its size, before it is allocated."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from possnet.errors import TooLarge

__all__ = ["free_memory", "memory_limit", "readable_bytes", "refuse_over"]

_SHARE = 0.5
_FALLBACK = 2 << 30
_SMALL = 1 << 24  # less is never refused by default, so that small problems need not ask the system how much is free


def free_memory() -> int:
    """Bytes that can be allocated without pushing anything out of memory, as far as the system tells.

    >>> free_memory() > 0
    True
    """
    with suppress(OSError, ValueError, IndexError):
        for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    with suppress(OSError, ValueError, AttributeError):
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
    return _FALLBACK


def memory_limit() -> int:
    """Default limit for one result: half of the free memory."""
    return int(free_memory() * _SHARE)


def refuse_over(needed: int, what: str, remedy: str, *, limit: int | None = None) -> None:
    """Raise `TooLarge` if ``needed`` bytes exceed the limit (by default half of the free memory).

    >>> refuse_over(2**70, "table of 'x'", "use fewer parents", limit=2**30)
    Traceback (most recent call last):
        ...
    possnet.errors.TooLarge: table of 'x' needs 1024 EiB; the limit is 1 GiB; use fewer parents
    """
    if limit is None and needed < _SMALL:
        return
    allowed = memory_limit() if limit is None else limit
    if needed > allowed:
        raise TooLarge(f"{what} needs {readable_bytes(needed)}; the limit is {readable_bytes(allowed)}; {remedy}")


def readable_bytes(count: int) -> str:
    """Bytes in the largest unit that leaves at least one.

    >>> readable_bytes(64 << 40), readable_bytes(1536), readable_bytes(7)
    ('64 TiB', '1.5 KiB', '7 B')
    """
    units = ("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")
    power = min(max(count.bit_length() - 1, 0) // 10, len(units) - 1)
    value = count / (1 << 10 * power) if count.bit_length() < 1000 else float("inf")
    if value >= 1e6:
        return f"over 10**{len(str(count)) - 1} B"
    return f"{value:.0f} {units[power]}" if value >= 100 else f"{value:.3g} {units[power]}"

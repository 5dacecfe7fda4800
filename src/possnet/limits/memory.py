"""Memory: how much may be had, and refusing what would not fit, with its size, before it is allocated.

What may be had is the least of what the machine has free, what the process may still map (``ulimit -v`` and ``ulimit -d``),
and what the control groups that it belongs to (containers, batch systems; both versions of the interface) leave to it.
"""

from __future__ import annotations

import os
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from possnet.errors import TooLarge

if TYPE_CHECKING:
    from collections.abc import Iterator

_SHARE = 0.5
_FALLBACK = 2 << 30
_SMALL = 1 << 24  # less is never refused by default, so that small problems need not ask the system how much is free
_ROOT = Path("/")
_LASTS = 0.1  # seconds that a reading of free memory is good for where a quarter of it would do
_readings: list[tuple[float, int]] = []  # the last one, and when it was taken
# version 2 and 1 of control groups: where they are mounted, files of limits, the file of the use, what can be reclaimed
_CGROUPS = (
    (
        ("sys/fs/cgroup", "sys/fs/cgroup/unified"),
        ("memory.max", "memory.high"),
        "memory.current",
        {"active_file", "inactive_file", "slab_reclaimable"},
    ),
    (
        ("sys/fs/cgroup/memory",),
        ("memory.limit_in_bytes",),
        "memory.usage_in_bytes",
        {"total_active_file", "total_inactive_file"},
    ),
)


def free_memory(root: Path = _ROOT) -> int:
    """Bytes that can be allocated: the least of free memory, and of what resource limits and control groups leave.

    ``root`` is where ``/proc`` and ``/sys`` are.

    >>> free_memory() > 0
    True
    """
    return max(min([_machine_memory(root), *_group_memory(root), *process_room(root)]), 0)


def _machine_memory(root: Path) -> int:
    """Bytes that the machine can give without pushing anything out of memory, as far as the system tells."""
    with suppress(OSError, ValueError, IndexError):
        for line in (root / "proc/meminfo").read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    with suppress(OSError, ValueError, AttributeError):
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
    return _FALLBACK


def _group_memory(root: Path) -> Iterator[int]:
    """Bytes that each control group of this process, and each group above it, leaves."""
    try:
        lines = (root / "proc/self/cgroup").read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError):
        return
    for line in lines:
        number, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if (number, controllers) != ("0", "") and "memory" not in controllers.split(","):
            continue
        mounts, limits, usage, reclaimed = _CGROUPS[1 if controllers else 0]
        below = Path(path.lstrip("/"))
        for mount in mounts:
            for folder in dict.fromkeys(root / mount / group for group in (below, *below.parents)):
                bounds = [bound for name in limits if (bound := _read_number(folder / name)) is not None]
                used = _read_number(folder / usage)
                if bounds and used is not None:
                    yield min(bounds) - used + _reclaimable(folder, reclaimed)


def _reclaimable(folder: Path, names: set[str]) -> int:
    """Bytes of a group that hold copies of files, which the system drops when memory is wanted."""
    with suppress(OSError, ValueError):
        words = [line.split() for line in (folder / "memory.stat").read_text(encoding="ascii").splitlines()]
        return sum(int(word[1]) for word in words if len(word) == 2 and word[0] in names)
    return 0


def _read_number(file: Path) -> int | None:
    """The number in a file; None if there is none, as where nothing is limited."""
    with suppress(OSError, ValueError):
        return int(file.read_text(encoding="ascii"))
    return None


def process_room(root: Path = _ROOT) -> list[int]:
    """Bytes that resource limits leave to the process: of its address space, and of its data; empty without limits."""
    try:
        import resource
    except ImportError:  # pragma: no cover - not on every system
        return []
    bounds = [resource.getrlimit(kind)[0] for kind in (resource.RLIMIT_AS, resource.RLIMIT_DATA)]
    if all(bound == resource.RLIM_INFINITY for bound in bounds):
        return []
    used = [0, 0]
    with suppress(OSError, ValueError, IndexError):
        pages = (root / "proc/self/statm").read_text(encoding="ascii").split()
        used = [int(pages[place]) * resource.getpagesize() for place in (0, 5)]
    return [bound - taken for bound, taken in zip(bounds, used, strict=True) if bound != resource.RLIM_INFINITY]


def _recent_memory() -> int:
    """Free memory, a moment ago: whoever reads thousands of columns cannot read a dozen files of the system for each."""
    now = time.monotonic()
    if not _readings or now - _readings[-1][0] > _LASTS:
        _readings[:] = [(now, free_memory())]
    return _readings[-1][1]


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


def require_free(needed: int, what: str, remedy: str) -> None:
    """Raise `TooLarge` unless ``needed`` bytes are free, for libraries that end the program when memory is short.

    >>> require_free(2**70, "a.parquet", "read fewer columns")
    Traceback (most recent call last):
        ...
    possnet.errors.TooLarge: a.parquet needs about 1024 EiB of memory; ... is free; read fewer columns
    """
    if not process_room() and (needed < _SMALL or 4 * needed <= _recent_memory()):
        return
    free = free_memory()
    if needed > free:
        raise TooLarge(
            f"{what} needs about {readable_bytes(needed)} of memory; {readable_bytes(free)} is free; {remedy}"
        )


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

"""Doing with little address space, where ``ulimit -v`` or ``ulimit -d`` leaves little.

Every thread of Arrow, of OpenBLAS and of the C library's heaps takes 8 to 128 MB of address space, though hardly any
memory, and Arrow ends the program where a thread or a small object cannot be had. Measured with two cores and 200,000 rows:
1.8 GB of address space to read a file with the usual threads and heaps, 350 MB with one of each.
"""

from __future__ import annotations

import os
from contextlib import suppress

from possnet.errors import TooLarge
from possnet.limits.memory import process_room, readable_bytes

_PLENTY = 4 << 30  # with this much left threads and heaps are as usual
_PER_CORE = 1 << 28
_WORK_SPACE = 40 << 20  # that OpenBLAS takes when it first multiplies matrices, measured
_ARENA_MAX = -8  # of mallopt: the number of heaps of the C library
_SAVING = {
    "ARROW_DEFAULT_MEMORY_POOL": "system",
    "ARROW_IO_THREADS": "1",
    "MALLOC_ARENA_MAX": "1",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
}


def spare_address_space() -> bool:
    """Use one thread and one heap where resource limits leave little address space; whether they do.

    What is loaded later, numpy and Arrow among it, reads its own settings from the environment, which are set unless they
    are set already.
    """
    room = process_room()
    if not room:
        return False
    from possnet.threads import cores, use_one_thread

    if min(room) >= _PLENTY + _PER_CORE * cores():
        return False
    for name, value in _SAVING.items():
        os.environ.setdefault(name, value)
    use_one_thread()
    with suppress(OSError, AttributeError, ImportError):
        import ctypes

        ctypes.CDLL(None).mallopt(_ARENA_MAX, 1)
    return True


def take_work_space() -> None:
    """Let OpenBLAS take the space that it works in, or raise `TooLarge`: later it would end the program for want of it."""
    import numpy as np

    require_address_space(_WORK_SPACE, "numpy's linear algebra")
    square = np.ones((64, 64))
    square @ square


def require_address_space(needed: int, what: str) -> None:
    """Raise `TooLarge` if resource limits leave less address space than it takes to load something.

    >>> require_address_space(0, "possnet")
    """
    room = process_room()
    if room and min(room) < needed:
        raise TooLarge(
            f"{what} needs about {readable_bytes(needed)} of address space; resource limits leave "
            f"{readable_bytes(max(min(room), 0))}; raise them (ulimit -v, ulimit -d)"
        )

"""Whether Arrow can be loaded: where address space is too short for it, it ends the program instead of raising an error."""

from __future__ import annotations

import sys

from possnet.limits import require_address_space, spare_address_space

_NEEDED = 160 << 20  # address space of its libraries, of one thread, and of a little work, measured
_CHECKED: list[bool] = []


def require_arrow() -> None:
    """Raise `TooLarge` unless there is room for Arrow; where there is little, it is told to use one thread and one heap.

    >>> require_arrow()
    """
    if not _CHECKED:
        if "pyarrow" not in sys.modules:
            spare_address_space()
            require_address_space(_NEEDED, "reading or writing data")
        _CHECKED.append(True)

"""Work for worker processes; a module that loads in no time, as every worker loads it."""

from __future__ import annotations

import os
import time
from pathlib import Path


def die_once(flag: str) -> int:
    path = Path(flag)
    if path.exists():
        path.unlink()
        os._exit(1)
    return 7


def die_on_three(number: int) -> int:
    if number == 3:
        os._exit(1)
    return number


def slow(number: int) -> int:
    time.sleep(0.2 if number == 0 else 30)
    return number


def fail(number: int) -> int:
    if number == 2:
        raise ValueError("two")
    return number

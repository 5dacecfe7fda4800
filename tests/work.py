"""Work for worker processes; a module that loads in no time, as every worker loads it."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path


def die_once(flag: str) -> int:
    try:
        Path(flag).unlink()
    except FileNotFoundError:  # another has died already
        return 7
    os._exit(1)


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


def name_process(_: int) -> int:
    time.sleep(0.02)  # so that the other process takes some of the items
    return os.getpid()


def has_loaded(module: str) -> bool:
    return module in sys.modules


def die(*_: object) -> None:
    os._exit(1)

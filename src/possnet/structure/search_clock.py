"""The time that a search may take, and why it stopped."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING, Final

from possnet.signals import accept_interrupt

if TYPE_CHECKING:
    from collections.abc import Callable


class SearchStopped(Exception):
    """The time of a search is up."""


class SearchClock:
    """Raises `SearchStopped` once some seconds have passed since it was made; never without a number of seconds.

    >>> SearchClock().check()
    >>> SearchClock(0.0).check()
    Traceback (most recent call last):
        ...
    possnet.structure.search_clock.SearchStopped
    """

    def __init__(self, max_seconds: float | None = None) -> None:
        self._end = None if max_seconds is None else monotonic() + max_seconds

    def check(self) -> None:
        """Raise `SearchStopped` if the time is up."""
        if self._end is not None and monotonic() >= self._end:
            raise SearchStopped


CONVERGED: Final = "converged"
"""Why a search stopped that came to its own end."""


def run_until_stopped(run: Callable[[], None]) -> str:
    """Run a search that keeps its best structure itself; returns why it stopped: to the end, by the clock, or by Ctrl-C.

    >>> run_until_stopped(lambda: SearchClock(0.0).check())
    'max_seconds'
    """
    try:
        run()
    except SearchStopped:
        return "max_seconds"
    except KeyboardInterrupt:
        accept_interrupt()
        return "interrupted"
    return CONVERGED

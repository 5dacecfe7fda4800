"""Calls of an object that keeps intermediate results, one at a time: threads wait for each other, forked processes do not.

A call that is interrupted leaves intermediate results half-way; so does a fork while another thread computes. Then they are
dropped, and computed again when they are needed.
"""

from __future__ import annotations

import os
import threading
from functools import wraps
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

from possnet.errors import PossnetError

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

P = ParamSpec("P")
R = TypeVar("R")
S = TypeVar("S", bound="ExclusiveCalls")


class ExclusiveCalls:
    """An object whose methods marked with `exclusive` run one at a time; pickled without what it has computed."""

    def __init__(self) -> None:
        self._lock, self._process = threading.RLock(), os.getpid()
        self._drop_results()

    def _drop_results(self) -> None:
        """Forget intermediate results."""
        raise NotImplementedError

    def _own_lock(self) -> AbstractContextManager[bool]:
        """The lock of this process; in a forked one a new lock, as the thread that holds the old one is not there."""
        if self._process != os.getpid():
            self._lock, self._process = threading.RLock(), os.getpid()
            self._drop_results()
        return self._lock

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name not in {"_lock", "_process"}}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        ExclusiveCalls.__init__(self)


def exclusive(method: Callable[Concatenate[S, P], R]) -> Callable[Concatenate[S, P], R]:
    """Run a method of an `ExclusiveCalls` while no other thread runs one of them."""

    @wraps(method)
    def run_exclusively(self: S, /, *args: P.args, **kwargs: P.kwargs) -> R:
        with self._own_lock():
            try:
                return method(self, *args, **kwargs)
            except PossnetError:
                raise  # refused before anything was computed
            except BaseException:
                self._drop_results()
                raise

    return run_exclusively

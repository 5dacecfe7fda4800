"""Work shared among threads: numpy and pyarrow leave the interpreter's lock alone where they work on arrays."""

from __future__ import annotations

import os
import threading
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

__all__ = ["cores", "in_order", "one_ahead", "run_beside", "use_one_thread", "uses_threads"]

T = TypeVar("T")
R = TypeVar("R")
_ALONE: list[bool] = []  # not empty where threads would take more address space than there is


def cores() -> int:
    """Processor cores that this process may use.

    >>> cores() >= 1
    True
    """
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # pragma: no cover - not on every system
        return os.cpu_count() or 1


def use_one_thread() -> None:
    """From now on, do without threads."""
    _ALONE.append(True)


def uses_threads() -> bool:
    """Whether work may be shared among threads.

    >>> uses_threads()
    True
    """
    return not _ALONE


def run_beside(function: Callable[[], R]) -> R:
    """Result of a function, run in another thread than the main one, which waits and can be interrupted meanwhile.

    pyarrow's CSV reader takes signals for itself as long as it runs in the main thread, and may drop one at its end.

    >>> run_beside(lambda: 1 + 1)
    2
    """
    if threading.current_thread() is not threading.main_thread() or not uses_threads():
        return function()
    results: list[R] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            results.append(function())
        except BaseException as error:  # noqa: BLE001 - raised where it belongs
            errors.append(error)

    thread = threading.Thread(target=run, name="possnet-beside", daemon=True)
    thread.start()
    thread.join()
    if errors:
        raise errors[0]
    return results[0]


def in_order(work: Callable[[T], R], items: Sequence[T], threads: int) -> Iterator[R]:
    """Results of the work on every item, in order; threads are at most as many items ahead as there are threads.

    >>> list(in_order(abs, [-1, 2, -3], 2))
    [1, 2, 3]
    """
    if threads < 2 or len(items) < 2 or not uses_threads():
        yield from map(work, items)
        return
    with ThreadPoolExecutor(threads, thread_name_prefix="possnet") as pool:
        left = iter(items)
        waiting = deque(pool.submit(work, item) for item in islice(left, threads))
        while waiting:
            done = waiting.popleft().result()
            waiting.extend(pool.submit(work, item) for item in islice(left, 1))
            yield done


def one_ahead(items: Iterator[T]) -> Iterator[T]:
    """The same items, none of them None, each made by a thread while the one before is in use.

    >>> list(one_ahead(iter("abc")))
    ['a', 'b', 'c']
    """
    if not uses_threads():
        yield from items
        return
    with ThreadPoolExecutor(max_workers=1, thread_name_prefix="possnet-ahead") as pool:
        coming = pool.submit(next, items, None)
        while (item := coming.result()) is not None:
            coming = pool.submit(next, items, None)
            yield item

"""Work shared among processes: workers that die with their parent, and lost work done again.

A `concurrent.futures.ProcessPoolExecutor` breaks as a whole when one of its workers is killed, and its workers outlive a
parent that is killed. `workers` makes a pool whose processes watch their parent, and `completed` hands out results as they
come and repeats what a broken pool lost.
"""

from __future__ import annotations

import multiprocessing
import os
import threading
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, ProcessPoolExecutor, wait
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from concurrent.futures import Executor, Future

__all__ = ["completed", "cores", "workers"]

T = TypeVar("T")
_PATIENCE = 3


def cores() -> int:
    """Processor cores that this process may use.

    >>> cores() >= 1
    True
    """
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # pragma: no cover - not on every system
        return os.cpu_count() or 1


def workers(count: int | None = None) -> ProcessPoolExecutor:
    """A pool of processes, one for each core by default, that end when their parent does.

    >>> with workers(1) as pool:
    ...     pool.submit(abs, -3).result()
    3
    """
    context = multiprocessing.get_context("spawn")
    return ProcessPoolExecutor(cores() if count is None else count, mp_context=context, initializer=_watch_parent)


def _watch_parent() -> None:  # pragma: no cover - runs in the workers
    """End this process as soon as its parent is gone, and leave interrupts to the parent."""
    import signal
    from multiprocessing.connection import wait as wait_for

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    if parent is None:
        return

    def watch() -> None:
        wait_for([parent.sentinel])
        os._exit(1)

    threading.Thread(target=watch, name="possnet-watch-parent", daemon=True).start()


def completed(
    work: Callable[[Any], T], items: Sequence[Any], make: Callable[[], Executor], *, keep: bool = False
) -> Iterator[tuple[int, T | BaseException]]:
    """Number and result (or error) of every item, as they are done.

    ``make`` gives the executor. If it breaks because a worker was killed, a new one is made and what was lost is done
    again, up to three times in a row without any progress. Executors are shut down at the end, unless ``keep``.

    >>> from concurrent.futures import ThreadPoolExecutor
    >>> sorted(completed(abs, [-1, 2], ThreadPoolExecutor))
    [(0, 1), (1, 2)]
    """
    left = dict(enumerate(items))
    fruitless = 0
    while left:
        executor = make()
        before = len(left)
        try:
            waiting: dict[Future[T], int] = {executor.submit(work, item): number for number, item in left.items()}
            while waiting:
                done, _ = wait(waiting, return_when=FIRST_COMPLETED)
                for future in done:
                    number = waiting.pop(future)
                    error = future.exception()
                    if isinstance(error, BrokenExecutor):
                        continue  # lost: it stays among what is left
                    del left[number]
                    yield number, future.result() if error is None else error
        except BrokenExecutor:
            pass
        finally:
            if not keep:
                executor.shutdown(wait=False, cancel_futures=True)
        fruitless = fruitless + 1 if len(left) == before else 0
        if left and (fruitless >= _PATIENCE or (keep and fruitless)):
            raise BrokenExecutor(f"{len(left)} pieces of work could not be done: workers keep dying")

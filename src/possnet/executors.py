"""Work shared among processes: workers that die with their parent, and lost work done again.

A `concurrent.futures.ProcessPoolExecutor` breaks as a whole when one of its workers is killed, and its workers outlive a
parent that is killed. `workers` makes a pool whose processes watch their parent, and `completed` hands out results as
they come and repeats what a broken pool lost. A `WorkerPool` keeps processes from one piece of work to the next.
"""

from __future__ import annotations

import atexit
import gc
import multiprocessing
import os
import signal
import sys
import threading
import warnings
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, ProcessPoolExecutor, wait
from multiprocessing.context import SpawnContext, SpawnProcess
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeVar

from possnet.errors import PossnetWarning
from possnet.threads import cores

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping, Sequence
    from concurrent.futures import Executor, Future
    from types import TracebackType

__all__ = ["WorkerPool", "completed", "shared_value", "workers"]

T = TypeVar("T")
_PATIENCE = 3
_ALWAYS, _AFTER_FAULTS, _NEVER = "always", "after faults", "never"  # when an executor is shut down
_THREADS_OF_PRODUCTS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")
_shared: object = None


def workers(count: int | None = None, *, shared: object = None) -> ProcessPoolExecutor:
    """A pool of processes, one for each core by default, that end when their parent does.

    ``shared`` is sent to every process once, when it starts; there `shared_value` returns it.

    >>> with workers(1, shared=[1, 2]) as pool:
    ...     pool.submit(abs, -3).result(), pool.submit(shared_value).result()
    (3, [1, 2])
    """
    count = cores() if count is None else count
    return ProcessPoolExecutor(count, mp_context=_Context(), initializer=_start_worker, initargs=(shared,))


def shared_value() -> Any:
    """In a process of `workers`, what they share; elsewhere None.

    >>> shared_value()
    """
    return _shared


class WorkerPool:
    """Processes that several pieces of work use, one after the other: to start one takes a third of a second.

    Hand it to `possnet.evaluate` and `possnet.write_report` as ``workers``; its processes end with the ``with`` block.

    >>> with WorkerPool(2) as pool:
    ...     list(completed(abs, [-1], pool)), list(completed(abs, [-2], pool))
    ([(0, 1)], [(0, 2)])
    """

    def __init__(self, count: int | None = None) -> None:
        self.count = cores() if count is None else count
        self._kept: ProcessPoolExecutor | None = None

    def __enter__(self) -> WorkerPool:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._kept is not None:
            if error is not None:  # running work is not waited for
                _end_processes(self._kept)
            self._kept.shutdown(wait=True, cancel_futures=True)

    @property
    def has_started(self) -> bool:
        """Whether there are processes, or were."""
        return self._kept is not None

    def open_executor(self) -> ProcessPoolExecutor:
        """The processes; others in their place if one of them died, or if their work was stopped."""
        if self._kept is not None:
            try:
                self._kept.submit(int)  # refused once one of them died, or after `shutdown`
            except RuntimeError:
                self._kept = None
        if self._kept is None:
            self._kept = workers(self.count)
        return self._kept

    def prepare(self, work: Callable[..., object], *given: object) -> None:
        """Have the processes do what later work needs, such as an import, while the caller goes on."""
        if self.count > 1:  # with one, work is done in the caller's process
            executor = self.open_executor()
            for _ in range(self.count):
                _submitted(executor, work, *given)


class _Worker(SpawnProcess):
    """A fresh process that does not run the caller's script again: work and items are possnet's own, not the script's.

    Otherwise a script without ``if __name__ == "__main__":`` would start workers that start workers. Matrix products of a
    worker run in one thread, unless the environment says otherwise: with threads for each core in every worker they would
    wait for each other (two workers on two cores: 1.4 times the work of one, and 1.8 times with a thread each).
    """

    def start(self) -> None:
        script = sys.modules["__main__"]
        sys.modules["__main__"] = ModuleType("__main__")
        unset = [name for name in _THREADS_OF_PRODUCTS if name not in os.environ]
        os.environ.update(dict.fromkeys(unset, "1"))
        try:
            super().start()
        finally:
            sys.modules["__main__"] = script
            for name in unset:
                os.environ.pop(name, None)  # another thread may have done so


class _Context(SpawnContext):
    Process = _Worker


def _start_worker(shared: object) -> None:  # pragma: no cover - runs in the workers
    global _shared  # noqa: PLW0603 - the one place a worker's tasks can look it up
    _shared = shared
    # A warning printed by another process would cross the caller's output; the same work in one process does warn.
    warnings.simplefilter("ignore", PossnetWarning)
    atexit.register(gc.freeze)  # what ends with the process need not be searched for garbage first
    _watch_parent()


def _watch_parent() -> None:  # pragma: no cover - runs in the workers
    """End this process as soon as its parent is gone, and leave interrupts to the parent."""
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
    work: Callable[[Any], T],
    items: Sequence[Any],
    make: Callable[[int | None], Executor] | WorkerPool,
    *,
    keep: bool = False,
) -> Generator[tuple[int, T | BaseException]]:
    """Number and result (or error) of every item, as they are done.

    ``make`` gives the executor; it is told 1 if it shall have a single worker. If an executor breaks because a worker was
    killed, what was running is done again, alone, one item after the other: an item whose worker dies twice more is given
    up with an error, and the others go on. If executors break several times before anything is done, all are given up. If
    the caller stops, running work is stopped too. Executors are shut down at the end, those of a `WorkerPool` only if they
    broke or their work was stopped. With ``keep`` the executor is the caller's: nothing is repeated, nor shut down.

    >>> from concurrent.futures import ThreadPoolExecutor
    >>> sorted(completed(abs, [-1, 2], ThreadPoolExecutor))
    [(0, 1), (1, 2)]
    """
    left = dict(enumerate(items))
    suspects: dict[int, int] = {}  # number -> how often it was alone in a pool that broke
    broken, fruitful = 0, False
    while left:
        alone = next(iter(suspects), None)
        batch = {alone: left[alone]} if alone is not None else dict(left)
        lost: set[int] = set()
        executor: Executor
        if isinstance(make, WorkerPool) and alone is None:
            executor, shut_down = make.open_executor(), _AFTER_FAULTS
        else:
            executor = workers(1) if isinstance(make, WorkerPool) else make(1 if alone is not None else None)
            shut_down = _NEVER if keep else _ALWAYS
        for number, result in _run(work, batch, executor, lost, shut_down):
            del left[number]
            suspects.pop(number, None)
            fruitful = True
            yield number, result
        if alone is None:
            suspects.update(dict.fromkeys(sorted(lost), 0))
        elif lost:
            suspects[alone] += 1
            if suspects[alone] >= _PATIENCE - 1:
                del left[alone], suspects[alone]
                yield alone, BrokenExecutor("the worker died, again and again; perhaps it ran out of memory")
        broken += bool(lost)
        if (keep and (lost or left)) or (broken >= 2 * _PATIENCE and not fruitful):
            reason = "the executor broke: a worker died" if keep else "workers die before they have done anything"
            for number in sorted(left):
                yield number, BrokenExecutor(reason)
            return


def _run(
    work: Callable[[Any], T], items: Mapping[int, Any], executor: Executor, lost: set[int], shut_down: str
) -> Generator[tuple[int, T | BaseException]]:
    """Results of one executor, until all are there or it breaks; ``lost`` gets what was under way when it broke."""
    todo = list(items.items())[::-1]
    waiting: dict[Future[T], int] = {}
    window = 2 * getattr(executor, "_max_workers", cores())
    try:
        while True:
            while todo and len(waiting) < window and not lost:
                number, item = todo.pop()
                try:
                    waiting[_submitted(executor, work, item)] = number
                except BrokenExecutor:
                    lost.add(number)
            if not waiting:
                return
            done, _ = wait(waiting, return_when=FIRST_COMPLETED)
            for future in done:
                number = waiting.pop(future)
                error = future.exception()
                if isinstance(error, BrokenExecutor):
                    lost.add(number)
                else:
                    yield number, future.result() if error is None else error
    finally:
        for future in waiting:
            future.cancel()
        if shut_down == _ALWAYS or (shut_down == _AFTER_FAULTS and (waiting or lost)):
            if waiting:  # running work is not waited for
                _end_processes(executor)
            executor.shutdown(wait=True, cancel_futures=True)


def _end_processes(executor: Executor) -> None:
    for process in list((getattr(executor, "_processes", None) or {}).values()):
        process.terminate()


def _submitted(executor: Executor, work: Callable[..., T], *items: object) -> Future[T]:
    """Submit with interrupts held back, so that a worker that starts now inherits that and leaves them to its parent."""
    if not hasattr(signal, "pthread_sigmask"):  # pragma: no cover - not on every system
        return executor.submit(work, *items)
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        return executor.submit(work, *items)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)

"""An executor of a Dask cluster whose futures always end: with a result, or with a sentence that says why there is none.

A task whose worker was killed is run again by Dask. But bare futures of Dask can stay pending for ever: when no worker is
left, or the scheduler is gone. Here a thread watches the cluster while tasks run, and fails what cannot be done within the
bounds of `Patience`.
"""

from __future__ import annotations

import queue
import threading
from concurrent.futures import BrokenExecutor, Executor, Future
from contextlib import suppress
from dataclasses import dataclass, field
from time import monotonic
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from possnet.errors import ClusterError, PossnetError
from possnet.scaleout.worker_tasks import list_versions, run_checked

if TYPE_CHECKING:
    from collections.abc import Callable

_TICK: Final = 0.5  # seconds between two looks at the cluster
_TOGETHER: Final = 64  # results that are brought in one round trip
_ANSWER: Final = 5.0  # seconds in which the scheduler answers


@dataclass(frozen=True, slots=True)
class Patience:
    """Bounds of every wait, in seconds, and how often a part is tried.

    Attributes
    ----------
    workers
        How long there may be no worker.
    scheduler
        How long the scheduler may not answer.
    part
        How long no task at all may end.
    tries
        How often a part is given to the cluster while workers die on it; Dask itself repeats each try
        (``distributed.scheduler.allowed-failures``).

    Examples
    --------
    >>> Patience().tries
    3
    """

    workers: float = 20.0
    scheduler: float = 15.0
    part: float = 3600.0
    tries: int = 3


class WorkerInfo(NamedTuple):
    """A worker: its address, its threads, and the bytes that it may use (0 if that is not bounded)."""

    address: str
    threads: int
    memory: int


@dataclass(eq=False, slots=True)
class _Task:
    """A task, what it is called, and the future that its caller holds."""

    call: tuple[Callable[..., Any], tuple[Any, ...]]
    name: str
    worker: str | None
    outcome: Future[Any] = field(default_factory=Future)
    remote: Any = None
    deaths: int = 0


class ClusterExecutor(Executor):
    """Tasks on a cluster, each of which ends.

    Parameters
    ----------
    client
        A ``distributed.Client``.
    patience
        Bounds of every wait.

    Examples
    --------
    >>> from distributed import Client
    >>> with Client(processes=False, dashboard_address=":0") as client, ClusterExecutor(client) as executor:
    ...     list(executor.map(len, ["fever", "rash"]))
    [5, 4]
    """

    def __init__(self, client: Any, patience: Patience | None = None) -> None:
        _require_client(client)
        self.client, self.patience = client, patience or Patience()
        self._versions = list_versions()
        self._done: queue.SimpleQueue[tuple[_Task, Any]] = queue.SimpleQueue()
        self._pending: set[_Task] = set()
        self._lock = threading.Lock()
        self._watcher: threading.Thread | None = None
        self._trouble: ClusterError | None = None
        self._closed = False

    @property
    def _max_workers(self) -> int:
        """Threads of all workers: what `possnet.executors` keeps busy."""
        return max(sum(worker.threads for worker in self.list_workers()), 1)

    def list_workers(self) -> list[WorkerInfo]:
        """The workers there are now, by address; waits for the first one as long as `Patience` allows."""
        begun = monotonic()
        while True:
            answer = self._ask_scheduler()
            if answer is not None and answer["workers"]:
                workers = answer["workers"].items()
                return sorted(WorkerInfo(a, int(w["nthreads"]), int(w["memory_limit"] or 0)) for a, w in workers)
            waited = monotonic() - begun
            if answer is None and waited > self.patience.scheduler:
                raise self._lost_scheduler(waited)
            if waited > max(self.patience.workers, self.patience.scheduler):
                raise self._lost_workers(waited)
            threading.Event().wait(_TICK)

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Run a function of possnet's on some worker."""
        if kwargs:
            raise TypeError("ClusterExecutor.submit takes positional arguments alone")
        return self.submit_named(getattr(fn, "__name__", "task"), fn, *args)

    def submit_named(self, name: str, fn: Callable[..., Any], /, *args: Any, worker: str | None = None) -> Future[Any]:
        """Run a function, by preference on a given worker; ``name`` is what messages call the task."""
        task = _Task((fn, args), name, worker)
        with self._lock:
            if self._trouble is not None or self._closed:
                raise BrokenExecutor(str(self._trouble or "the executor was shut down"))
            self._pending.add(task)
            if self._watcher is None:
                self._watcher = threading.Thread(target=self._watch, name="possnet-watch-cluster", daemon=True)
                self._watcher.start()
        self._start(task)
        return task.outcome

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:  # noqa: FBT001, FBT002
        """End the watch; tasks under way are given up if ``cancel_futures``, otherwise waited for."""
        if wait and not cancel_futures:
            for task in list(self._pending):
                with suppress(Exception):
                    task.outcome.result()
        self._closed = True
        for task in list(self._pending):
            self._release(task)
            task.outcome.cancel()

    def _start(self, task: _Task) -> None:
        function, arguments = task.call
        workers = None if task.worker is None else [task.worker]
        try:
            task.remote = self.client.submit(
                run_checked, self._versions, function, arguments,
                pure=False, workers=workers, allow_other_workers=workers is not None,
            )  # fmt: skip
        except Exception as error:  # noqa: BLE001 - whatever a client says that has lost its scheduler
            self._finish(task, error=ClusterError(f"the cluster takes no tasks: {error}; connect again"))
            return
        remote = task.remote
        remote.add_done_callback(lambda done: self._done.put((task, done)))

    def _watch(self) -> None:
        """Hand over results as they come, and look after the cluster in between."""
        seen = {"scheduler": monotonic(), "workers": monotonic(), "task": monotonic()}
        looked = monotonic()
        while not self._closed:
            ended = self._collect_ended()
            if ended:
                self._settle_together(ended)
                seen["task"] = monotonic()
            if not self._pending:
                seen["task"] = monotonic()
            elif monotonic() - looked > 2 * _TICK:
                looked = monotonic()
                self._trouble = self._find_trouble(seen)
                if self._trouble is not None:
                    for task in list(self._pending):
                        self._finish(task, error=self._trouble)
                    return

    def _collect_ended(self) -> list[_Task]:
        """Tasks that have ended since the last look: none after a while in which none did."""
        ended = []
        with suppress(queue.Empty):
            ended.append(self._done.get(timeout=_TICK))
            while len(ended) < _TOGETHER:
                ended.append(self._done.get_nowait())
        return [task for task, remote in ended if remote is task.remote and task in self._pending]

    def _settle_together(self, tasks: list[_Task]) -> None:
        """Hand over the results of several tasks, brought in one round trip; where that fails, each by itself."""
        finished = [task for task in tasks if task.remote.status == "finished"]

        async def bring_results() -> list[Any]:
            return list(await self.client.gather([task.remote for task in finished], asynchronous=True))

        brought: dict[_Task, Any] = {}
        if len(finished) > 1:
            with suppress(Exception):  # lost with its worker, or not brought in time
                results = self.client.sync(bring_results, callback_timeout=6 * _ANSWER)
                brought = dict(zip(finished, results, strict=True))
        for task in tasks:
            if task in brought:
                self._finish(task, result=brought.pop(task))
            else:
                self._settle(task)

    def _find_trouble(self, seen: dict[str, float]) -> ClusterError | None:
        """What keeps the tasks from ever ending, if anything does."""
        answer, now = self._ask_scheduler(), monotonic()
        if answer is None:
            silent = now - seen["scheduler"]
            return self._lost_scheduler(silent) if silent > self.patience.scheduler else None
        seen["scheduler"] = now
        if answer["workers"]:
            seen["workers"] = now
        elif now - seen["workers"] > self.patience.workers:
            return self._lost_workers(now - seen["workers"])
        if now - seen["task"] > self.patience.part:
            names = sorted(task.name for task in self._pending)
            return ClusterError(
                f"no task ended for {self.patience.part:g} seconds (such as {names[0]}); allow more with Patience(part=...)"
            )
        return None

    def _ask_scheduler(self) -> dict[str, Any] | None:
        """What the scheduler says of itself and its workers; None if it does not answer in time."""
        try:
            return dict(self.client.sync(self.client.scheduler.identity, callback_timeout=_ANSWER))
        except Exception:  # noqa: BLE001 - a closed loop, a broken connection, a time that is up
            return None

    def _settle(self, task: _Task) -> None:
        """Hand a finished task's result to its caller, or start it again."""
        remote = task.remote
        try:
            if remote.status == "finished":
                self._finish(task, result=remote.result(timeout=6 * _ANSWER))
                return
            error = remote.exception(timeout=_ANSWER)
        except Exception as problem:  # noqa: BLE001 - cancelled, lost with its worker, or not brought in time
            error = problem
        if type(error).__name__ == "KilledWorker" or not isinstance(error, Exception) or remote.status != "error":
            task.deaths += 1
            if task.deaths >= self.patience.tries:
                self._finish(
                    task,
                    error=ClusterError(
                        f"{task.name}: workers died on it again and again ({task.deaths} times given out); it is left out "
                        "of no result, so the work stops here. Perhaps it needs more memory than a worker has"
                    ),
                )
            else:
                self._start(task)
            return
        self._finish(task, error=_explain_error(task.name, error))

    def _finish(self, task: _Task, result: Any = None, error: Exception | None = None) -> None:
        with self._lock:
            self._pending.discard(task)
        self._release(task)
        if not task.outcome.set_running_or_notify_cancel():
            return
        if error is None:
            task.outcome.set_result(result)
        else:
            task.outcome.set_exception(error)

    def _release(self, task: _Task) -> None:
        with suppress(Exception):
            if task.remote is not None:
                task.remote.release()

    def _lost_scheduler(self, seconds: float) -> ClusterError:
        return ClusterError(f"the scheduler has not answered for {seconds:.0f} seconds; start it again, then this work")

    def _lost_workers(self, seconds: float) -> ClusterError:
        return ClusterError(f"no worker for {seconds:.0f} seconds; start some, then this work again")


def _explain_error(name: str, error: Exception) -> Exception:
    """The error of a task as it is, if it is possnet's own; otherwise one that names the task."""
    if isinstance(error, PossnetError):
        return error
    if isinstance(error, MemoryError):
        return ClusterError(f"{name}: the worker is out of memory; give workers more, or write smaller row groups")
    if isinstance(error, ImportError):
        return ClusterError(f"{name}: a worker lacks {error.name or error}; install the same possnet there")
    return ClusterError(f"{name}: {type(error).__name__}: {error}"[:400])


def _require_client(client: Any) -> None:
    for attribute in ("submit", "sync", "scheduler"):
        if not hasattr(client, attribute):
            from possnet.errors import InputError

            raise InputError(f"scaleout: client {client!r}; expected a distributed.Client, or connect_cluster(...)")

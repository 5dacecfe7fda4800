"""Clusters of real processes on the loopback address: a scheduler and workers that tests start, kill and end by their ids."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

_PATIENCE = 60.0
_ENVIRONMENT = {
    "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "30",
    "DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "5s",
    "DASK_DISTRIBUTED__WORKER__MEMORY__TARGET": "False",
    "OMP_NUM_THREADS": "1",
}


class Cluster:
    """A scheduler and its workers, each a process of its own without a nanny."""

    def __init__(self, folder: Path, *, memory: str = "0", environment: dict[str, str] | None = None) -> None:
        self.folder, self._memory = folder, memory
        self._environment = {**os.environ, **_ENVIRONMENT, **(environment or {})}
        self._file = folder / "scheduler.json"
        arguments = ["--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", str(self._file)]
        self.scheduler = self._start("distributed.cli.dask_scheduler", *arguments)
        self.workers: list[subprocess.Popen[bytes]] = []

    def _start(self, module: str, *arguments: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [sys.executable, "-m", module, *arguments],
            cwd=self.folder,
            env=self._environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    @property
    def address(self) -> str:
        """The address of the scheduler, once it listens."""
        begun = time.monotonic()
        while time.monotonic() - begun < _PATIENCE:
            try:
                return str(json.loads(self._file.read_text(encoding="utf-8"))["address"])
            except (OSError, ValueError, KeyError):
                time.sleep(0.05)
        raise TimeoutError("the scheduler does not listen")

    def add_worker(self) -> subprocess.Popen[bytes]:
        """Start one more worker."""
        arguments = ["--no-nanny", "--no-dashboard", "--nthreads", "1", "--memory-limit", self._memory]
        worker = self._start(
            "distributed.cli.dask_worker",
            self.address,
            "--host",
            "127.0.0.1",
            "--local-directory",
            str(self.folder),
            *arguments,
        )
        self.workers.append(worker)
        return worker

    def kill_worker(self, number: int = 0) -> None:
        """Kill a worker, as out of memory does."""
        worker = self.workers.pop(number)
        os.kill(worker.pid, signal.SIGKILL)
        worker.wait()

    def kill_scheduler(self) -> None:
        """Kill the scheduler."""
        os.kill(self.scheduler.pid, signal.SIGKILL)
        self.scheduler.wait()

    def stop(self) -> None:
        """Kill all that was started here."""
        for process in (*self.workers, self.scheduler):
            if process.poll() is None:
                os.kill(process.pid, signal.SIGKILL)
            process.wait()


@contextmanager
def start_cluster(folder: Path, workers: int = 2, **options: Any) -> Iterator[tuple[Cluster, Any]]:
    """A cluster and a client of it; both end with the block."""
    from distributed import Client

    client_class: Any = Client
    cluster = Cluster(folder, **options)
    try:
        for _ in range(workers):
            cluster.add_worker()
        client = client_class(cluster.address, timeout=30, set_as_default=False)
        try:
            if workers:
                client.wait_for_workers(workers, timeout=_PATIENCE)
            yield cluster, client
        finally:
            client.close(timeout=5)
    finally:
        cluster.stop()

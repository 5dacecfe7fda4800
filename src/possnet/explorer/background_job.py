"""A task in a process of its own: it reports progress, ends within its limits, and can be stopped at any moment.

Reading a table, learning from it and checking a network may take minutes and gigabytes, and a file from somewhere may
break its reader. None of this may touch the server: `Job` starts ``possnet.explorer.job_worker`` in a session of its own,
writes the request to its standard input, and reads a line of JSON for every step from its standard output. Standard input
stays open: when it ends, because the server did, the worker ends too. To stop a job is to kill its whole process group;
what it has written lies in a folder that goes with it.
"""

from __future__ import annotations

import itertools
import json
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from possnet.limits import memory_limit, readable_bytes

if TYPE_CHECKING:
    from pathlib import Path

JobState: TypeAlias = Literal["running", "done", "failed", "stopped"]
ROWS: Final = "rows.parquet"
"""The file of rows that a job leaves, or finds, in its folder."""
NETWORK: Final = "network.json"
"""The file of the network that a job leaves in its folder."""
_NUMBERS: Final = itertools.count(1)
_MOST_LINE: Final = 1 << 16


@dataclass(frozen=True, slots=True)
class JobLimits:
    """What a job may take: seconds by the clock, and bytes beyond what the worker needs to start.

    >>> JobLimits().seconds
    300.0
    """

    seconds: float = 300.0
    memory: int = 2 << 30

    @classmethod
    def within_free_memory(cls, seconds: float = 300.0) -> JobLimits:
        """Limits of at most half of the free memory.

        >>> JobLimits.within_free_memory(5).seconds
        5
        """
        return cls(seconds, min(cls().memory, memory_limit()))


class Job:
    """One task: started when it is made, over when ``state`` is no longer ``running``.

    Attributes
    ----------
    number, task
        The number of the job, and what it does.
    state
        ``running``, ``done``, ``failed`` (``error`` says why) or ``stopped``.
    folder
        Where the worker writes, and what it has written once it is done.
    """

    def __init__(self, task: str, request: dict[str, Any], folder: Path, limits: JobLimits | None = None) -> None:
        self.number, self.task, self.folder = next(_NUMBERS), task, folder
        self.limits = limits or JobLimits.within_free_memory()
        self.state: JobState = "running"
        self.error, self.stage, self.done, self.total = "", "starting", 0, 0
        self.result: dict[str, Any] | None = None
        self._started = time.monotonic()
        self._ended: float | None = None
        self._lock = threading.Lock()
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "possnet.explorer.job_worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=folder,
            start_new_session=True,
            env={**os.environ, "ARROW_DEFAULT_MEMORY_POOL": "system"},
        )
        message = {"task": task, "memory": self.limits.memory, "seconds": self.limits.seconds, "request": request}
        self._timer = threading.Timer(self.limits.seconds, self._expire)
        self._timer.daemon = True
        self._timer.start()
        self._reader = threading.Thread(target=self._follow, args=(message,), daemon=True)
        self._reader.start()

    @property
    def process_id(self) -> int:
        """The number of the worker's process."""
        return self._process.pid

    def describe(self) -> dict[str, Any]:
        """How far the job is, for the page."""
        seconds = (self._ended or time.monotonic()) - self._started
        return {
            "number": self.number,
            "task": self.task,
            "state": self.state,
            "stage": self.stage,
            "done": self.done,
            "total": self.total,
            "seconds": round(seconds, 1),
            "limit": self.limits.seconds,
            "error": self.error,
            "result": self.result,
        }

    def stop(self) -> None:
        """End the job at once, if it runs, and wait until its process is gone."""
        self._finish("stopped", "")
        self._reader.join()

    def wait(self, seconds: float) -> None:
        """Wait until the job is over, so long at most."""
        self._reader.join(seconds)

    def _expire(self) -> None:
        self._finish(
            "failed",
            f"{self.task}: not done after {self.limits.seconds:g} seconds, and stopped; use fewer rows or columns, or "
            "allow more",
        )

    def _finish(self, state: JobState, error: str) -> None:
        """Settle how the job ended, once, and kill what is left of it."""
        with self._lock:
            if self.state == "running":
                self.state, self.error, self._ended = state, error, time.monotonic()
            if self._process.returncode is not None:  # its number may be another's by now
                return
            with suppress(ProcessLookupError, PermissionError):  # macOS says the latter of a group that is gone
                if hasattr(os, "killpg"):
                    os.killpg(self._process.pid, signal.SIGKILL)
                else:
                    self._process.kill()

    def _follow(self, message: dict[str, Any]) -> None:
        """Send the request, take the lines as they come, and settle how it ended."""
        process = self._process
        last: dict[str, Any] = {}
        try:
            with suppress(OSError):  # it died before it could listen
                process.stdin.write(json.dumps(message).encode() + b"\n")  # type: ignore[union-attr]
                process.stdin.flush()  # type: ignore[union-attr]
            while line := process.stdout.readline(_MOST_LINE):  # type: ignore[union-attr]
                last = self._take_line(line)
        finally:
            self._timer.cancel()
            self._settle(last)
            process.stdout.close()  # type: ignore[union-attr]
            with suppress(OSError):
                process.stdin.close()  # type: ignore[union-attr]
            with self._lock:
                process.wait()

    def _take_line(self, line: bytes) -> dict[str, Any]:
        try:
            document = json.loads(line)
        except ValueError:
            return {}
        if isinstance(document, dict) and "stage" in document:
            self.stage, self.done, self.total = document["stage"], document["done"], document["total"]
        return document if isinstance(document, dict) else {}

    def _settle(self, last: dict[str, Any]) -> None:
        if "error" in last:
            self._finish("failed", str(last["error"]))
        elif last.get("result") == "written":
            try:
                self.result = json.loads((self.folder / "result.json").read_bytes())
                self._finish("done", "")
            except (OSError, ValueError):
                self._finish("failed", f"{self.task}: the result could not be read; try again")
        else:
            memory = readable_bytes(self.limits.memory)
            self._finish(
                "failed",
                f"{self.task}: the process ended before its task did, perhaps for want of memory (it may take {memory}); "
                "use fewer rows or columns",
            )

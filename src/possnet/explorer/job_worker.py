"""The process of a job: reads one request from standard input, works within limits, and reports on standard output.

Run as ``python -m possnet.explorer.job_worker`` by `possnet.explorer.background_job`. It ends with its standard input,
that is, with the server.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
import warnings
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

_EVERY: Final = 0.1  # seconds between two reports
_SPARE_SECONDS: Final = 5


def run_worker() -> int:  # pragma: no cover - runs in a process of its own
    """Do what standard input asks for; the exit code."""
    message = json.loads(sys.stdin.buffer.readline())
    threading.Thread(target=_end_with_input, daemon=True).start()
    from possnet.errors import PossnetError, PossnetWarning, TooLarge
    from possnet.explorer.job_tasks import TASKS

    _limit_process(message["memory"], message["seconds"])
    report = _Reporter()
    task = message["task"]
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", PossnetWarning)
            result = TASKS[task](message["request"], Path.cwd(), report)
        result["notes"] = list(dict.fromkeys(str(w.message) for w in caught if issubclass(w.category, PossnetWarning)))
        Path("result.json").write_text(json.dumps(result, allow_nan=False), encoding="utf-8")
    except (MemoryError, TooLarge) as error:
        words = str(error) or f"{task}: not enough memory; use fewer rows or columns"
        return report.fail(words)
    except PossnetError as error:
        return report.fail(str(error))
    except Exception as error:  # noqa: BLE001 - whatever it is, the page says it in a sentence
        return report.fail(f"{task}: possnet made a mistake ({type(error).__name__}); nothing has changed")
    report.send({"result": "written"})
    return 0


class _Reporter:  # pragma: no cover - runs in a process of its own
    """Writes what is done to standard output, not too often."""

    def __init__(self) -> None:
        self._stage, self._last = "", 0.0

    def __call__(self, stage: str, done: int = 0, total: int = 0) -> None:
        now = time.monotonic()
        if stage != self._stage or now - self._last > _EVERY:
            self._stage, self._last = stage, now
            self.send({"stage": stage, "done": int(done), "total": int(total)})

    def send(self, document: dict[str, Any]) -> None:
        """Write one line."""
        sys.stdout.write(json.dumps(document) + "\n")
        sys.stdout.flush()

    def fail(self, sentence: str) -> int:
        """Write why it failed; the exit code."""
        self.send({"error": sentence})
        return 1


def _end_with_input() -> None:  # pragma: no cover - runs in a process of its own
    """End this process as soon as the server is gone, whose end of standard input then is."""
    sys.stdin.buffer.read()
    os._exit(1)


def _limit_process(memory: int, seconds: float) -> None:  # pragma: no cover - runs in a process of its own
    """Limit what this process may take from now on, where the system can."""
    try:
        import resource
    except ImportError:  # not on Windows: the server's own timer remains
        return
    with suppress(OSError, ValueError, IndexError):
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
        most = pages * os.sysconf("SC_PAGE_SIZE") + memory
        resource.setrlimit(resource.RLIMIT_AS, (most, most))
    with suppress(OSError, ValueError):
        processor = int(seconds * (os.cpu_count() or 1)) + _SPARE_SECONDS
        resource.setrlimit(resource.RLIMIT_CPU, (processor, processor))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


if __name__ == "__main__":  # pragma: no cover
    sys.exit(run_worker())

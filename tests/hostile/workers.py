"""Chunks in a process of their own: what aborts, hangs or is killed there is a failure, and not the end of the run."""

from __future__ import annotations

import gc
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import IO, Any

from tests.hostile.section import Chunk, Section
from tests.paths import ROOT

_RARELY = 100_000, 20, 100  # thresholds of the collector: every refused input leaves cycles, of its exception's frames


def serve_chunks(section: Section) -> None:
    """Read a seed a line, and answer with what came of its chunk; the other side of `ChunkWorker`."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # whatever a chunk prints is no answer
    gc.freeze()
    gc.set_threshold(*_RARELY)
    for line in sys.stdin:
        chunk = section.run_chunk(int(line))
        answer: Any = None
        if chunk is not None:
            answer = {"tried": chunk.tried, "failures": chunk.failures, "figures": dict(chunk.figures)}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


class ChunkWorker:
    """A process that runs chunks of a section, one after the other; started anew after it died."""

    def __init__(self, section: Section) -> None:
        self._section = section
        self._process: subprocess.Popen[str] | None = None
        self._errors: IO[str] | None = None

    def run_chunk(self, seed: int) -> Chunk | None:
        """The chunk of a seed; an end of the process, or of patience, is a chunk of one failure."""
        process = self._start_process()
        assert process.stdin is not None
        assert process.stdout is not None
        with suppress(BrokenPipeError):
            process.stdin.write(f"{seed}\n")
            process.stdin.flush()
        ready, _, _ = select.select([process.stdout], [], [], self._section.patience)
        line = process.stdout.readline() if ready else ""
        if line:
            answer = json.loads(line)
            return None if answer is None else Chunk(answer["tried"], tuple(answer["failures"]), answer["figures"])
        if not ready:
            self.close()
            return Chunk(0, (f"no end after {self._section.patience:.0f} seconds",))
        code, words = process.wait(), self._read_errors()
        self.close()
        return Chunk(0, (f"the process ended with code {code}: {words}",))

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            with suppress(BrokenPipeError):
                self._process.communicate()
            self._process = None
        if self._errors is not None:
            self._errors.close()
            self._errors = None

    def _read_errors(self) -> str:
        assert self._errors is not None
        self._errors.seek(0)
        return self._errors.read()[-1500:]

    def _start_process(self) -> subprocess.Popen[str]:
        if self._process is None:
            self._errors = tempfile.TemporaryFile("w+")  # noqa: SIM115
            command = [sys.executable, "-m", "tests.hostile", "--section", self._section.name, "--serve"]
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                text=True,
                cwd=ROOT,
                start_new_session=True,
            )
        return self._process


def run_chunks(
    section: Section, failing: Sequence[int], next_seed: int, seconds: float
) -> Iterator[tuple[int, Chunk | None, float]]:
    """Seeds, their chunks and seconds until time is up or a finite section has ended (None); failing seeds come first."""
    end, worker = time.monotonic() + seconds, ChunkWorker(section)
    seeds = iter([*failing])
    try:
        while time.monotonic() < end:
            seed = next(seeds, None)
            if seed is None:
                seed, next_seed = next_seed, next_seed + 1
            start = time.monotonic()
            chunk = worker.run_chunk(seed)
            yield seed, chunk, time.monotonic() - start
            if chunk is None:
                return
    finally:
        worker.close()

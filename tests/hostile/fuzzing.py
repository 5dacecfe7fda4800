"""Chunks of fuzzed inputs of a reader: only possnet errors, no input that takes over a second, no large allocation."""

from __future__ import annotations

import ast
import resource
import signal
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from random import Random
from types import FrameType

import possnet as pn
from possnet.threads import use_one_thread
from tests.hostile.readers import Reader
from tests.hostile.section import Chunk, Section, keep_input

CORPUS = Path(__file__).parent / "corpus"
SLOW = 1.0  # seconds of CPU for one input
_HANG = 60.0  # seconds for fifty inputs, on a machine that may be busy
LONG = 500  # characters of a message
_GROWTH = 512 << 10  # KB of memory that a chunk may add
_MOST_FAILURES = 20


class Hang(BaseException):
    """An input did not come to an end."""


def read_corpus(name: str) -> list[bytes]:
    """Inputs that reach code which the seeds do not, or were failures once: a line for each, as Python writes bytes."""
    path = CORPUS / f"{name}.txt"
    return [ast.literal_eval(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []


@contextmanager
def _watch_time() -> Iterator[None]:
    def stop(_: int, __: FrameType | None) -> None:
        raise Hang

    before = signal.signal(signal.SIGALRM, stop)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def check_input(reader: Reader, content: bytes, *, thorough: bool, slow: float = SLOW) -> tuple[bool, float, int]:
    """Whether an input was accepted, the seconds it took, and the length of the message; a failure is an exception."""
    start = time.process_time()
    length, accepted = 0, False
    try:
        accepted = reader.check(content, thorough)
    except pn.PossnetError as error:
        length = len(str(error))
    seconds = time.process_time() - start
    assert seconds <= slow, f"{seconds:.1f} seconds"
    assert length <= LONG, f"a message of {length} characters"
    return accepted, seconds, length


def fuzz_reader(reader: Reader, seed: int, size: int | None = None) -> Chunk:
    """Inputs of a chunk: seeds and corpus, mutated once or a few times."""
    rng = Random(f"{reader.name} {seed}")  # noqa: S311
    inputs, failures = [*reader.seeds(), *read_corpus(reader.name)], []
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    count, accepted, slowest, longest = size or reader.chunk, 0, 0.0, 0
    with _watch_time(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for number in range(count):
            content = rng.choice(inputs)
            for _ in range(rng.choice((1, 1, 1, 2, 3))):
                content = reader.mutate(content, inputs, reader.words, rng)
            if number % 50 == 0:
                signal.setitimer(signal.ITIMER_REAL, _HANG)
            try:
                fine, seconds, length = check_input(reader, content, thorough=number % reader.every == 0)
                accepted, slowest, longest = accepted + fine, max(slowest, seconds), max(longest, length)
            except (Exception, Hang) as error:  # noqa: BLE001
                kept = keep_input(reader.name, f"{seed}-{number}", content)
                failures.append(f"{type(error).__name__}: {str(error)[:300]}; kept as {kept}")
                if len(failures) >= _MOST_FAILURES:
                    count = number + 1
                    break
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory
    if grown > _GROWTH:
        failures.append(f"{grown >> 10} MB more memory than before the chunk")
    figures = {"slowest, s": slowest, "longest message": longest, "accepted of a chunk, %": 100 * accepted / count}
    return Chunk(count, tuple(failures), figures)


def _run_chunk(reader: Reader, seed: int) -> Chunk:
    if seed % 16:  # threads only cost time where inputs are small; now and then they are used all the same
        use_one_thread()
    return fuzz_reader(reader, seed)


def make_section(reader: Reader, wanted: int = 1_000_000) -> Section:
    """The section of a reader."""
    return Section(reader.name, reader.tries, partial(_run_chunk, reader), wanted=wanted, patience=600.0)

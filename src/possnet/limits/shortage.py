"""Recognising errors that mean too little memory, whoever raises them, and saying so in one sentence."""

from __future__ import annotations

import errno
import re
from contextlib import contextmanager
from typing import TYPE_CHECKING

from possnet.errors import PossnetError, TooLarge
from possnet.limits.memory import free_memory, readable_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator

_SIZE = re.compile(r"(?:malloc|realloc)\w* of size (\d+) failed|Unable to allocate ([\d.]+ \w+)")
_SIGNS = re.compile(
    r"out of memory|cannot allocate memory|(?:malloc|realloc)\w* of size \d+|can't start new thread|bad_alloc"
    r"|failed to launch worker thread|failed to map segment|can't load unicodedata|(?:error return|returned NULL) without"
    r"|resource temporarily unavailable|mmap failed",
    re.IGNORECASE,
)


def describe_shortage(error: BaseException) -> str | None:
    """What an error says of too little memory, or of a stack too deep; None if it is about something else.

    Arrow's readers wrap a failed allocation as an error about the file, threads that cannot be started are a
    `RuntimeError`, and a shared library that does not fit is an `ImportError`.

    >>> describe_shortage(MemoryError("Unable to allocate 8.00 GiB for an array"))
    'out of memory (8.00 GiB more was asked for; ... is free)'
    >>> describe_shortage(RecursionError()), describe_shortage(ValueError("no number"))
    ('nested too deeply', None)
    """
    if isinstance(error, RecursionError):
        return "nested too deeply"
    text = str(error)[:1000]
    short = isinstance(error, MemoryError) or (isinstance(error, OSError) and error.errno == errno.ENOMEM)
    if not short and not (_is_suspect(error) and _SIGNS.search(text)):
        return None
    size = _SIZE.search(text)
    asked = (readable_bytes(int(size[1])) if size[1] else size[2]) + " more was asked for; " if size else ""
    try:
        left = f"{readable_bytes(free_memory())} is free"
    except MemoryError:  # not even enough to ask
        left = "nothing is free"
    return f"out of memory ({asked}{left})"


def _is_suspect(error: BaseException) -> bool:
    """Whether an error may come from below: of the loader, of threads, or of Arrow, which is not imported to tell."""
    return isinstance(error, ImportError | OSError | RuntimeError | SyntaxError | SystemError) or type(
        error
    ).__module__.startswith("pyarrow")


@contextmanager
def explain_shortage(owner: str, remedy: str) -> Iterator[None]:
    """Turn errors that mean too little memory into `TooLarge`; other errors pass.

    >>> with explain_shortage("a.csv", "read fewer columns"):
    ...     raise MemoryError
    Traceback (most recent call last):
        ...
    possnet.errors.TooLarge: a.csv: out of memory (... is free); read fewer columns
    """
    try:
        yield
    except PossnetError:
        raise
    except Exception as error:
        finding = describe_shortage(error)
        if finding is None:
            raise
        raise TooLarge(f"{owner}: {finding}; {remedy}") from None

"""Every public callable with one wrong argument at a time: a value or an error of possnet, and nothing else.

Allowed besides are what a hostile object raises itself, and the answers that Python's own protocols prescribe (see
`PROTOCOLS`). An error's message is below 500 characters and can be printed as it is.
"""

from __future__ import annotations

import contextlib
import io
import os
import signal
import time
import warnings
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from unittest import mock

import possnet as pn
from possnet.errors import escape_controls
from tests.hostile.good_arguments import ALWAYS, folder
from tests.hostile.public_calls import PublicCall, list_calls
from tests.hostile.section import Chunk, Section
from tests.hostile.wrong_values import WRONG_VALUES, OwnError

PROTOCOLS: dict[str, tuple[type[Exception], ...]] = {
    "Comparison": (TypeError, ValueError),  # a dict's own constructor
    "Comparison.__getitem__": (KeyError,),
    "CompletionSummary.__add__": (TypeError,),  # NotImplemented
    "Conflicts.__getitem__": (IndexError, TypeError),  # a sequence: iteration ends with an IndexError
    "Contributions.__getitem__": (IndexError, TypeError),
    "Counts.__add__": (TypeError,),
    "NextQuestions.__getitem__": (IndexError, TypeError),
    "Sensitivity.__getitem__": (IndexError, TypeError),
    "registries.Registry.__getitem__": (KeyError, TypeError),  # a mapping
}
"""Where Python's protocols of sequences, mappings and operators prescribe other errors."""

CALLED = {"progress", "subject", "watch", "announce"}
"""Parameters that are called, so that a builtin may raise its own TypeError there."""

PATIENCE = 60.0
_COMBINATIONS = ("__getitem__", "__add__", "__eq__", "__contains__")


def list_tries() -> list[tuple[PublicCall, str, str]]:
    """Every callable, parameter and wrong value, by name."""
    return [
        (call, parameter, wrong) for call in list_calls() for parameter in call.parameters for wrong in WRONG_VALUES
    ]


def try_call(call: PublicCall, parameter: str, wrong: str) -> str:
    """What is wrong with the outcome of one call; empty if nothing is."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pn.PossnetWarning)
        function, arguments = call.prepare()
        arguments |= {name: make() for name, make in ALWAYS.get(call.name, {}).items()}
    arguments[parameter] = WRONG_VALUES[wrong]()
    try:
        with limit_time(PATIENCE), warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", pn.PossnetWarning)
            value = function(*arguments.values()) if call.name.endswith(_COMBINATIONS) else function(**arguments)
            if isinstance(value, Iterator):
                list(islice(value, 3))
    except OwnError:
        return ""
    except pn.PossnetError as error:
        return _judge_message(str(error))
    except BaseException as error:  # noqa: BLE001 - whatever else it is, it is a failure
        called = parameter in CALLED and wrong in {
            "class",
            "class of possnet",
            "function",
        }  # the given callable's own error
        if called or isinstance(error, PROTOCOLS.get(call.name, ())):
            return ""
        return f"{type(error).__name__}: {str(error)[:200]}"
    return ""


def _judge_message(message: str) -> str:
    if len(message) >= 500:
        return f"a message of {len(message)} characters: {message[:100]!r}"
    if any(escape_controls(line) != line for line in message.split("\n")):
        return f"control characters in the message {message!r}"
    return ""


@contextlib.contextmanager
def limit_time(seconds: float) -> Iterator[None]:
    """Raise a TimeoutError if something takes longer."""

    def interrupt(*_: object) -> None:
        raise TimeoutError(f"no end after {seconds:g} seconds")

    before = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@contextlib.contextmanager
def safe_place() -> Iterator[None]:
    """A folder of its own for whatever is written, no server that waits, no browser that opens, nothing printed."""
    here = Path.cwd()
    os.chdir(folder())
    try:
        with (
            mock.patch("possnet.explorer.uvicorn_server.serve_application"),
            mock.patch("webbrowser.open"),
            contextlib.redirect_stdout(io.StringIO()),
        ):
            yield
    finally:
        os.chdir(here)


def run_tries(tries: list[tuple[PublicCall, str, str]], judge: Callable[..., str] = try_call) -> Chunk:
    """Try all; a sentence for every failure."""
    failures: list[str] = []
    slowest = 0.0
    with safe_place():
        for call, parameter, wrong in tries:
            start = time.perf_counter()
            fault = judge(call, parameter, wrong)
            slowest = max(slowest, time.perf_counter() - start)
            if fault:
                failures.append(f"{call.name}({parameter}={wrong}): {fault}")
    return Chunk(len(tries), tuple(failures), {"slowest call in seconds": round(slowest, 2)})


def _run_chunk(seed: int) -> Chunk | None:
    calls = list_calls()
    if seed >= len(calls):
        return None
    call = calls[seed]
    return run_tries([(call, parameter, wrong) for parameter in call.parameters for wrong in WRONG_VALUES])


TYPES = Section(
    "types",
    "public callables with one wrong argument: wrong types, hostile objects, texts that cannot be printed",
    _run_chunk,
    patience=900.0,
)

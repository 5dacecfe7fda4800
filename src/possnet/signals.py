"""Ending a program on Ctrl-C, SIGTERM or SIGHUP: in order if it can, at once if not, and always within two seconds.

Python raises `KeyboardInterrupt` in the main thread, between two steps of it. That fails in two ways. A long step of
compiled code is not interrupted. And an exception raised inside a callback that Python calls by itself (a weak reference's
while a module is imported, a destructor, a callback of a library) is dropped: the interrupt is lost. So the signal is also
written to a pipe, which the system does at once, whatever the main thread does. A thread that reads the pipe waits for the
program to end by itself, and then ends it: what was begun to be written is removed, and the exit code is 128 + the signal.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable

_PATIENCE: Final = 1.0
_NAMES: Final = ("SIGINT", "SIGTERM", "SIGHUP")
_last_acts: list[Callable[[], None]] = []
_received: list[int] = []
_watching: list[threading.Thread] = []
_raised: list[int] = []  # the signal whose exception is on its way
_accepted = threading.Event()


def act_last(function: Callable[[], None]) -> None:
    """Have a function called if the program is ended at once; it should be quick, and take no lock.

    >>> act_last(lambda: None)
    """
    _last_acts.append(function)


def accept_interrupt() -> None:
    """Say that an interrupt has been caught, and that work ends in its own time, such as a search with its best so far.

    >>> accept_interrupt()
    """
    if _raised:
        _raised.clear()
        _accepted.set()


def received_signal() -> int | None:
    """The signal that asked the program to end, since `watch_signals`.

    >>> received_signal()
    """
    return _received[0] if _received else None


def watch_signals() -> None:
    """End the program on signals from now on. For programs, not for libraries: it belongs to the main thread."""
    if _watching or threading.current_thread() is not threading.main_thread():
        return
    numbers = [getattr(signal, name) for name in _NAMES if hasattr(signal, name)]
    watched = [number for number in numbers if _watch_signal(number)]
    if not watched:
        return
    reader, writer = os.pipe()
    if hasattr(os, "set_blocking"):  # not on Windows before Python 3.12
        os.set_blocking(writer, False)
    signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    thread = threading.Thread(target=_end_program, args=(reader, watched), name="possnet-signals", daemon=True)
    thread.start()
    _watching.append(thread)
    sys.unraisablehook = _drop_interrupts


def stop_watching() -> None:
    """Let signals end the program at once, without a word: its work is done, and Python is taking itself down."""
    if _watching and threading.current_thread() is threading.main_thread():
        for name in _NAMES:
            number = getattr(signal, name, None)
            if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, signal.SIG_DFL)


def _watch_signal(number: int) -> bool:
    """Handle a signal unless the program was started to ignore it, or someone else handles it."""
    if signal.getsignal(number) not in {signal.SIG_DFL, signal.default_int_handler}:
        return False
    signal.signal(number, _raise_interrupt if number == signal.SIGINT else _raise_exit)
    return True


def _raise_exit(number: int, _frame: object) -> None:
    _received.append(number)
    if not _raised:  # a second signal must not disturb what the first one has set going
        _raised.append(number)
        sys.exit(128 + number)


def _raise_interrupt(number: int, _frame: object) -> None:
    _received.append(number)
    if not _raised:
        _raised.append(number)
        raise KeyboardInterrupt


def _drop_interrupts(unraisable: Any) -> None:
    """Say nothing of an interrupt that Python drops: it is not lost, the pipe has it."""
    if not issubclass(unraisable.exc_type, KeyboardInterrupt | SystemExit):
        sys.__unraisablehook__(unraisable)


def _end_program(reader: int, watched: list[int]) -> None:  # pragma: no cover - ends the process
    while True:
        content = os.read(reader, 1)
        if not content:
            return
        if content[0] not in watched:
            continue
        if not _accepted.wait(_PATIENCE):
            break
        _accepted.clear()
    for act in reversed(_last_acts):
        try:
            act()
        except Exception:  # noqa: BLE001, S112 - the others shall still act
            continue
    try:
        os.write(2, b"\x1b[?25hStopped.\n" if os.isatty(2) else b"Stopped.\n")  # a bar may have hidden the cursor
    finally:
        os._exit(128 + content[0])

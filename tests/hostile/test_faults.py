"""A slice of the sections ``faults``, ``power`` and ``signals``, and the laws of their models."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest

import possnet as pn
from possnet.io import replace_file, write_bytes
from tests.hostile.disk_faults import WRITERS, contents, fail_each
from tests.hostile.forked_commands import Step
from tests.hostile.power_failures import fail_command, list_states
from tests.hostile.signals_at_random import LONG, SIGNALS, choose_tries, time_end

BY_NAME = {writer.name: writer for writer in WRITERS}


@pytest.mark.parametrize(
    ("name", "kind"), [("convert data", "write"), ("convert network", "unlink"), ("convert network", "kill")]
)
def test_a_call_that_fails_is_one_sentence_and_the_next_run_is_whole(name: str, kind: str) -> None:
    chunk = fail_each(BY_NAME[name], kind, codes=1)
    assert chunk.tried >= 1
    assert chunk.failures == ()


def test_after_a_power_failure_files_are_old_or_new_and_the_experiment_goes_on() -> None:
    for name, every in (("convert to UAI", 1), ("evaluate", 10)):
        chunk = fail_command(BY_NAME[name], every=every)
        assert chunk.tried >= 5
        assert chunk.failures == ()


def test_the_model_of_a_disk_loses_what_was_not_forced(tmp_path: Path) -> None:
    """Without fsync a renamed file may be empty: the model would find a writer that forgets it."""
    root = str(tmp_path / "out")
    part, target = f"{root}/.a.part", f"{root}/a"
    careless = [Step("create", part), Step("write", part, b"new"), Step("rename", part, target)]
    states = list(list_states(careless, {"a": b"old"}, root))
    assert {state[target] for state in states if target in state} == {b"old", b"", b"n", b"new"}
    careful = [*careless[:2], Step("sync", part), careless[2], Step("sync folder", root)]
    states = list(list_states(careful, {"a": b"old"}, root))
    assert {state[target] for state in states} == {b"old", b"new"}
    assert states[-1] == {target: b"new"}


def test_parts_of_dead_processes_are_removed_and_those_of_living_ones_are_not(tmp_path: Path) -> None:
    script = (
        f"import os; from possnet.io import replace_file; held = replace_file({str(tmp_path / 'a')!r})\n"
        "held.__enter__().write(b'x' * 10**6); os._exit(9)"
    )
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 9
    assert len(list(tmp_path.glob(".a.*.possnet.part"))) == 1
    (tmp_path / ".other.part").touch()  # not ours
    with replace_file(tmp_path / "b") as out:
        out.write(b"b")
        script = f"from possnet.io import write_bytes; write_bytes({str(tmp_path / 'c')!r}, b'c')"
        subprocess.run([sys.executable, "-c", script], check=True)  # sees a part whose writer lives
    assert contents(tmp_path) == {".other.part": b"", "b": b"b", "c": b"c"}


def test_several_writers_of_one_file_leave_one_of_theirs_whole(tmp_path: Path) -> None:
    target = tmp_path / "a"
    texts = [bytes([65 + number]) * 300_000 for number in range(8)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(partial(write_bytes, target), texts * 3))
    assert target.read_bytes() in texts
    assert list(tmp_path.iterdir()) == [target]


def test_a_folder_that_cannot_be_forced_to_the_disk_is_no_error_and_a_bad_disk_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.fsync

    def fail(code: int) -> None:
        def fsync(handle: int) -> None:
            if os.path.isdir(f"/proc/self/fd/{handle}"):  # noqa: PTH112
                raise OSError(code, os.strerror(code))
            real(handle)

        monkeypatch.setattr(os, "fsync", fsync)

    fail(errno.EINVAL)
    write_bytes(tmp_path / "a", b"a")
    fail(errno.EIO)
    with pytest.raises(pn.InputError, match=r"a: input/output error"):
        write_bytes(tmp_path / "a", b"b")


LOST = """
import gc, sys, time, weakref
from possnet.signals import watch_signals
watch_signals()
class Thing: pass
print("ready", flush=True)
def callback(_):  # an exception raised here is dropped by Python
    end = time.monotonic() + 0.02
    while time.monotonic() < end:
        pass
end = time.monotonic() + 60
while time.monotonic() < end:
    thing = Thing(); kept = weakref.ref(thing, callback); del thing
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_that_python_drops_still_ends_the_program(number: signal.Signals) -> None:
    """The main thread is in a callback nearly always, where the exception that a signal raises is lost."""
    process = subprocess.Popen([sys.executable, "-c", LOST], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    begin = time.monotonic()
    process.send_signal(number)
    _, words = process.communicate(timeout=50)
    assert process.returncode in {128 + number, 1, -number}
    assert time.monotonic() - begin < 40  # the program would go on for 60 seconds
    assert "Exception ignored" not in words


def test_the_tries_of_signals_meet_every_command_and_large_csv_files_with_ctrl_c() -> None:
    tries = [one for seed in range(100) for one in choose_tries(seed)]
    assert len(tries) == SIGNALS.wanted
    sent = {(name, number) for name, number, _ in tries}
    assert {name for name, _ in sent} == set(LONG)
    assert all(
        (name, number) in sent for name in LONG for number in (signal.SIGINT, signal.SIGTERM) if "CSV" not in name
    )
    assert sum(name == "large CSV" and number == signal.SIGINT for name, number, _ in tries) >= 60
    assert len({delay for _, _, delay in tries}) == len(tries)


@pytest.mark.skipif(
    not Path("/proc/self/schedstat").exists(), reason="only Linux tells how long threads wait for a core"
)
def test_the_end_of_a_process_is_timed_without_what_it_waits_for_a_core() -> None:
    """Two that compute on one core take twice as long by the clock, and half of it is not their own."""
    core = min(os.sched_getaffinity(0))
    script = f"import os, time; os.sched_setaffinity(0, {{{core}}}); print(flush=True)\nwhile time.process_time() < 0.8: pass"
    both = [subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) for _ in range(2)]
    for process in both:
        assert process.stdout is not None
        process.stdout.readline()
    start = time.monotonic()
    with ThreadPoolExecutor(2) as pool:
        own = list(pool.map(time_end, both))
    passed = time.monotonic() - start
    for seconds, process in zip(own, both, strict=True):
        assert seconds is not None
        assert seconds < passed
        assert process.stdout is not None
        process.stdout.close()
    assert max(seconds or 0.0 for seconds in own) < 0.8 * passed

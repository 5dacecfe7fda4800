"""Memory: how much may be had, by whoever limits it, and errors that mean too little of it."""

from __future__ import annotations

import errno
import resource
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import possnet as pn
from possnet import threads
from possnet.io.atomic_files import replace_file
from possnet.limits import (
    describe_shortage,
    explain_shortage,
    free_memory,
    memory_limit,
    readable_bytes,
    require_address_space,
    require_free,
    spare_address_space,
)
from possnet.limits.memory import process_room

_FREE = 8 << 30


def _write_files(root: Path, files: dict[str, object]) -> Path:
    """A folder that looks like ``/`` with these files in it, and 8 GiB of free memory."""
    for name, content in {"proc/meminfo": f"MemTotal: 1 kB\nMemAvailable: {_FREE >> 10} kB\n", **files}.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(f"{content}\n", encoding="utf-8")
    return root


def test_memory_is_told_in_readable_units() -> None:
    assert free_memory() > 1 << 20
    assert readable_bytes(10**40) == "over 10**40 B"
    assert readable_bytes(0) == "0 B"


def test_free_memory_without_proc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert free_memory(tmp_path) > 1 << 20
    monkeypatch.setattr("os.sysconf", lambda _: (_ for _ in ()).throw(ValueError()))
    assert free_memory(tmp_path) == 2 << 30


def test_a_machine_without_limits_has_what_is_available(tmp_path: Path) -> None:
    unlimited = {
        "proc/self/cgroup": "0::/user.slice",
        "sys/fs/cgroup/user.slice/memory.max": "max",
        "sys/fs/cgroup/user.slice/memory.current": 7 << 30,
    }
    assert free_memory(_write_files(tmp_path, unlimited)) == _FREE


@pytest.mark.parametrize("where", ["user.slice/job/", "user.slice/", ""])
def test_any_control_group_above_the_process_may_be_the_least(tmp_path: Path, where: str) -> None:
    """Version 2; copies of files count as free."""
    files = {
        "proc/self/cgroup": "0::/user.slice/job",
        f"sys/fs/cgroup/{where}memory.max": 3 << 30,
        f"sys/fs/cgroup/{where}memory.high": "max",
        f"sys/fs/cgroup/{where}memory.current": 2 << 30,
        f"sys/fs/cgroup/{where}memory.stat": f"anon 5\nactive_file {1 << 28}\ninactive_file {1 << 28}\nslab_reclaimable 4096",
    }
    assert free_memory(_write_files(tmp_path, files)) == (1 << 30) + (1 << 29) + 4096


def test_the_soft_limit_of_a_control_group_counts(tmp_path: Path) -> None:
    files = {
        "proc/self/cgroup": "0::/",
        "sys/fs/cgroup/memory.max": 3 << 30,
        "sys/fs/cgroup/memory.high": 2 << 30,
        "sys/fs/cgroup/memory.current": 1 << 30,
    }
    assert free_memory(_write_files(tmp_path, files)) == 1 << 30


def test_control_groups_of_version_1_limit_memory_too(tmp_path: Path) -> None:
    """In a container the path of the host is not there; the group itself is the root of the mount."""
    files = {
        "proc/self/cgroup": "12:cpu,cpuacct:/docker/abc\n5:memory:/docker/abc\n1:name=systemd:/x\n0::/",
        "sys/fs/cgroup/memory/memory.limit_in_bytes": 1 << 30,
        "sys/fs/cgroup/memory/memory.usage_in_bytes": 900 << 20,
        "sys/fs/cgroup/memory/memory.stat": f"inactive_file 7\ntotal_inactive_file {100 << 20}",
    }
    assert free_memory(_write_files(tmp_path, files)) == 224 << 20


def test_nothing_is_free_in_a_group_beyond_its_limit(tmp_path: Path) -> None:
    files = {
        "proc/self/cgroup": "0::/a",
        "sys/fs/cgroup/a/memory.max": 1 << 20,
        "sys/fs/cgroup/a/memory.current": 2 << 20,
    }
    assert free_memory(_write_files(tmp_path, files)) == 0


@pytest.mark.parametrize("kind", [resource.RLIMIT_AS, resource.RLIMIT_DATA])
def test_resource_limits_count_by_what_they_leave(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: int) -> None:
    bounds = {kind: 1 << 30}
    monkeypatch.setattr(resource, "getrlimit", lambda asked: (bounds.get(asked, resource.RLIM_INFINITY),) * 2)
    page = resource.getpagesize()
    root = _write_files(tmp_path, {"proc/self/statm": f"{(300 << 20) // page} 9 9 9 0 {(100 << 20) // page} 0"})
    left = {resource.RLIMIT_AS: 724 << 20, resource.RLIMIT_DATA: 924 << 20}[kind]
    assert process_room(root) == [left]
    assert free_memory(root) == left
    assert abs(memory_limit() - free_memory() // 2) < 1 << 24  # of this process, which goes on
    with pytest.raises(pn.TooLarge, match=r"^possnet needs about 2 GiB of address space; .*ulimit -v"):
        require_address_space(2 << 30, "possnet")
    with pytest.raises(pn.TooLarge, match=r"^a.csv needs about 1 GiB of memory; .* is free; read less$"):
        require_free(1 << 30, "a.csv", "read less")


def test_one_thread_and_one_heap_do_where_little_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    alone: list[bool] = []
    settings: dict[str, str] = {"OMP_NUM_THREADS": "2"}
    monkeypatch.setattr("possnet.threads._ALONE", alone)
    monkeypatch.setattr("os.environ", settings)
    monkeypatch.setattr("ctypes.CDLL", lambda _: (_ for _ in ()).throw(OSError()))  # this process keeps its heaps
    monkeypatch.setattr("possnet.limits.address_space.process_room", lambda: [64 << 30])
    assert not spare_address_space()
    assert threads.uses_threads()
    monkeypatch.setattr("possnet.limits.address_space.process_room", lambda: [1 << 30])
    assert spare_address_space()
    assert not threads.uses_threads()
    assert settings["ARROW_DEFAULT_MEMORY_POOL"] == "system"
    assert settings["OMP_NUM_THREADS"] == "2"
    assert list(threads.in_order(abs, [-1, 2], 2)) == [1, 2]


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        MemoryError("Unable to allocate 195. KiB for an array with shape (200000,) and data type uint8"),
        pa.ArrowMemoryError("malloc of size 64 failed"),
        pa.ArrowInvalid("CSV parse error: Out of memory: malloc of size 131136 failed"),
        pa.ArrowException("Unknown error: Failed to launch worker thread: Resource temporarily unavailable"),
        RuntimeError("can't start new thread"),
        ImportError("libarrow.so.2600: failed to map segment from shared object"),
        OSError(errno.ENOMEM, "Cannot allocate memory"),
    ],
)
def test_every_library_s_shortage_is_one_sentence(error: Exception) -> None:
    finding = describe_shortage(error)
    assert finding is not None
    assert finding.startswith("out of memory (")
    with (
        pytest.raises(pn.TooLarge, match=r"^a.csv: out of memory \(.*is free\); read less$"),
        explain_shortage("a.csv", "read less"),
    ):
        raise error


@pytest.mark.parametrize("error", [pa.ArrowInvalid("malformed"), RuntimeError("no"), OSError(2, "none"), KeyError("k")])
def test_other_errors_are_not_taken_for_a_shortage(error: Exception) -> None:
    assert describe_shortage(error) is None
    with pytest.raises(type(error)), explain_shortage("a.csv", "read less"):
        raise error


def test_thousands_of_small_questions_read_the_system_once_and_large_ones_each_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    left, readings = [8 << 30], list[int]()

    def read() -> int:
        readings.append(left[0])
        return left[0]

    monkeypatch.setattr("possnet.limits.memory.free_memory", read)
    monkeypatch.setattr("possnet.limits.memory.process_room", list)
    monkeypatch.setattr("possnet.limits.memory._readings", [])
    monkeypatch.setattr("possnet.limits.memory.time.monotonic", lambda: 7.0)
    for _ in range(1000):
        require_free(64 << 20, "a.parquet", "read less")
    assert len(readings) == 1
    left[0] = 1 << 30
    with pytest.raises(pn.TooLarge, match="^a.parquet needs about 3 GiB of memory; 1 GiB is free"):
        require_free(3 << 30, "a.parquet", "read less")
    monkeypatch.setattr("possnet.limits.memory.time.monotonic", lambda: 8.0)
    with pytest.raises(pn.TooLarge, match="1 GiB is free"):
        require_free(2 << 30, "a.parquet", "read less")


def test_a_file_whose_buffer_cannot_be_had_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("io.BufferedWriter", lambda *_: (_ for _ in ()).throw(MemoryError()))
    with pytest.raises(MemoryError), replace_file(tmp_path / "a.txt"):
        pass
    assert list(tmp_path.iterdir()) == []


def test_a_shortage_is_described_where_not_even_free_memory_can_be_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("possnet.limits.shortage.free_memory", lambda: (_ for _ in ()).throw(MemoryError()))
    assert describe_shortage(MemoryError()) == "out of memory (nothing is free)"
    assert describe_shortage(SystemError("<function f> returned NULL without setting an exception")) is not None
    assert describe_shortage(SystemError("bad argument")) is None


def test_tables_that_numpy_only_repeats_are_refused_before_they_are_copied() -> None:
    parents = [pn.Variable(f"p{k}", ("yes", "no")) for k in range(44)]
    child = pn.Variable("x", ("yes", "no"))
    repeated = np.broadcast_to(1.0, (2,) * 45)  # 256 TiB, and hardly a byte so far
    with pytest.raises(pn.TooLarge, match=r"needs 512 TiB; the limit is .*; take fewer states or parents"):
        pn.Possibility([*parents, child], repeated)
    names = [parent.name for parent in parents]
    dag = pn.Dag({**dict.fromkeys(names, ()), "x": names})
    with pytest.raises(pn.TooLarge, match="^network: table of 'x' with axes .* needs 512 TiB"):
        pn.Network([*parents, child], dag, {**{name: [1, 1] for name in names}, "x": repeated})
    with pytest.raises(pn.InputError, match="degrees have shape"):
        pn.Possibility(child, repeated)


def test_a_public_function_that_runs_out_of_memory_raises_one_sentence() -> None:
    with pytest.raises(pn.TooLarge, match=r"^to_possibility: out of memory \(.* is free\); take fewer rows"):
        pn.to_possibility(np.broadcast_to(0.5, (1 << 44, 2)))

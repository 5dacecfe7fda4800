"""Processes that share work: what they inherit, and how long they stay."""

from __future__ import annotations

import os
import time
from importlib import import_module
from pathlib import Path

import pytest

from possnet.executors import WorkerPool, completed, workers
from tests.work import die_once, has_loaded, name_process, slow

NAMES = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS")


def test_matrix_products_of_a_worker_run_in_one_thread_unless_the_environment_says_otherwise(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv(NAMES[0], raising=False)
    monkeypatch.setenv(NAMES[1], "2")
    before = dict(os.environ)
    with workers(1) as pool:
        assert [pool.submit(os.getenv, name).result() for name in NAMES] == ["1", "2"]
    assert dict(os.environ) == before


def test_a_pool_keeps_its_processes_from_one_piece_of_work_to_the_next() -> None:
    with WorkerPool(2) as pool:
        first, second = (dict(completed(name_process, list(range(6)), pool)) for _ in range(2))
    named = {*first.values(), *second.values()}
    assert os.getpid() not in named
    assert len(named) <= 2
    assert len(first) == len(second) == 6


def test_a_pool_replaces_processes_that_died(tmp_path: Path) -> None:
    flag = tmp_path / "flag"
    with WorkerPool(2) as pool:
        before = set(dict(completed(name_process, [0, 1], pool)).values())
        flag.touch()
        assert dict(completed(die_once, [str(flag)] * 3, pool)) == dict.fromkeys(range(3), 7)
        after = set(dict(completed(name_process, [0, 1], pool)).values())
    assert not before & after


def test_a_pool_goes_on_after_work_that_the_caller_stopped() -> None:
    with WorkerPool(2) as pool:
        running = completed(slow, list(range(50)), pool)
        assert next(running) == (0, 0)
        running.close()
        assert dict(completed(abs, [-1, -2], pool)) == {0: 1, 1: 2}


def test_the_processes_of_a_pool_are_prepared_while_the_caller_goes_on() -> None:
    with WorkerPool(2) as pool:
        assert not any(dict(completed(has_loaded, ["possnet.gates"] * 6, pool)).values())
        for _ in range(3):  # one of them may be the quicker, twice
            pool.prepare(import_module, "possnet.gates")
        assert any(dict(completed(has_loaded, ["possnet.gates"] * 6, pool)).values())
    with WorkerPool(1) as alone:
        alone.prepare(import_module, "possnet.gates")
        assert alone.has_started is False  # its work is done in this process


def test_a_pool_ends_at_once_where_the_caller_fails() -> None:
    def fail_early() -> None:
        with WorkerPool(2) as pool:
            pool.prepare(slow, 1)
            raise ValueError("mine")

    begin = time.monotonic()
    with pytest.raises(ValueError, match="mine"):
        fail_early()
    assert time.monotonic() - begin < 20  # the work would take half a minute

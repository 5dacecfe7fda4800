"""Processes that share work: what they inherit."""

from __future__ import annotations

import os

import pytest

from possnet.executors import workers

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

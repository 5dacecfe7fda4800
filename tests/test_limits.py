"""Memory: how much there is, in units that can be read."""

from __future__ import annotations

from pathlib import Path

import pytest

from possnet.limits import free_memory, readable_bytes


def test_memory_is_told_in_readable_units() -> None:
    assert free_memory() > 1 << 20
    assert readable_bytes(10**40) == "over 10**40 B"
    assert readable_bytes(0) == "0 B"


def test_free_memory_without_proc(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "read_text", lambda *_, **__: "nothing")
    assert free_memory() > 1 << 20
    monkeypatch.setattr("os.sysconf", lambda _: (_ for _ in ()).throw(ValueError()))
    assert free_memory() == 2 << 30

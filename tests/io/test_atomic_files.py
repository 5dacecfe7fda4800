"""Writing whole files, folders and locks where the system is less kind than usual: no locks, no pread, names in the way."""

from __future__ import annotations

import errno
import os
import stat
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import possnet as pn
from possnet.io import folder_lock, parquet_seal
from possnet.io.atomic_files import make_folder, temporary_folder, try_lock, write_bytes, write_text


def count_synced_folders(monkeypatch: pytest.MonkeyPatch) -> Callable[[], int]:
    """How many folders were forced to the disk since."""
    synced: list[bool] = []
    forced = os.fsync

    def note(handle: int) -> None:
        synced.append(stat.S_ISDIR(os.fstat(handle).st_mode))
        forced(handle)

    monkeypatch.setattr(os, "fsync", note)
    return lambda: sum(synced)


@pytest.mark.parametrize(("write", "content"), [(write_bytes, b"all"), (write_text, "all")])
def test_a_new_name_is_forced_to_the_disk_unless_that_is_given_up(
    write: Callable[..., None], content: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise a power failure could undo a file whose writer was told that it is there."""
    folders = count_synced_folders(monkeypatch)
    write(tmp_path / "a", content, durable=False)
    assert folders() == 0
    write(tmp_path / "a", content)
    assert folders() == 1


def test_a_file_in_the_place_of_a_folder_is_told(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("kept", encoding="utf-8")
    with pytest.raises(pn.InputError, match="out"):
        make_folder(tmp_path / "out")
    assert (tmp_path / "out").read_text(encoding="utf-8") == "kept"


def test_a_temporary_folder_that_cannot_be_locked_is_one_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Windows opens no folders: then none is closed either, least of all the standard input, whose handle is 0."""
    opened, close, refused = os.open, os.close, list[Any]()
    closed: list[int] = []

    def refuse_once(path: Any, flags: int, *more: Any, **named: Any) -> int:
        if not refused and Path(path).is_dir():
            refused.append(path)
            raise PermissionError(errno.EACCES, "denied", path)
        return opened(path, flags, *more, **named)

    def note(handle: int) -> None:
        closed.append(handle)
        if handle:
            close(handle)

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(os, "open", refuse_once)
    monkeypatch.setattr(os, "close", note)
    with temporary_folder() as folder:
        assert str(folder) in refused
        assert folder.is_dir()
    monkeypatch.undo()
    assert 0 not in closed
    assert not folder.exists()


def test_a_lock_that_its_owner_removed_is_made_anew_and_leaves_no_file_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between opening the lock and taking it its owner has ended: what was opened is no longer there for anybody else."""
    path, tried, lock, opened = tmp_path / folder_lock.LOCK, [], try_lock, os.open
    handles: list[int] = []

    def note(*arguments: Any, **named: Any) -> int:
        handles.append(opened(*arguments, **named))
        return handles[-1]

    def lose_first(handle: int) -> bool | None:
        tried.append(handle)
        if len(tried) == 1:
            path.unlink()
        return lock(handle)

    monkeypatch.setattr(os, "open", note)
    monkeypatch.setattr(folder_lock, "try_lock", lose_first)
    with folder_lock.lock_folder(tmp_path):
        assert len(tried) == 2
        assert path.exists()
        held = {os.fstat(handle).st_ino for handle in handles if _is_open(handle)}
        assert held == {path.stat().st_ino}
    assert not any(map(_is_open, handles))


def _is_open(handle: int) -> bool:
    try:
        return os.fstat(handle).st_ino > 0
    except OSError:
        return False


def test_bytes_of_a_place_are_read_without_pread_and_without_moving(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a").write_bytes(bytes(range(100)))
    monkeypatch.delattr(os, "pread")
    handle = os.open(tmp_path / "a", os.O_RDONLY)
    try:
        os.lseek(handle, 7, os.SEEK_SET)
        assert parquet_seal._read_at(handle, 4, 50) == bytes([50, 51, 52, 53])
        assert os.lseek(handle, 0, os.SEEK_CUR) == 7
    finally:
        os.close(handle)

"""What is no plain file is refused, or read once, to its end: pipes, devices, sockets, folders; and files that have no end."""

from __future__ import annotations

import gzip
import os
import socket
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

import possnet as pn
from tests.commands import run

_READERS: dict[str, Callable[[Path], object]] = {
    "a.json": pn.read_network,
    "a.uai": pn.read_network,
    "a.bif": pn.read_network,
    "a.bif.gz": pn.read_network,
    "a.xml": pn.read_network,
    "a.csv": pn.read_data,
    "a.parquet": pn.read_data,
    "b.csv": pn.scan_data,
    "counts.json": pn.read_counts,
    "a.evid": lambda path: pn.read_evidence(path, pn.load_example("asia")),
}
_BIF = b"network n { } variable rash { type discrete [ 2 ] { yes, no }; } probability ( rash ) { table .2, .8; }"


@pytest.mark.parametrize("name", _READERS)
def test_devices_sockets_and_folders_are_refused_by_every_reader(tmp_path: Path, name: str) -> None:
    """A device without an end filled memory, and a named pipe without a writer was waited for in silence."""
    (tmp_path / "device").mkdir()
    (tmp_path / "device" / name).symlink_to("/dev/zero")
    with pytest.raises(pn.InputError, match=f"{name}: a device; expected a file"):
        _READERS[name](tmp_path / "device" / name)
    with socket.socket(socket.AF_UNIX) as server:
        (tmp_path / "socket").mkdir()
        server.bind(os.path.relpath(tmp_path / "socket" / name))
        with pytest.raises(pn.InputError, match=f"{name}: a socket; expected a file"):
            _READERS[name](tmp_path / "socket" / name)
    (tmp_path / "folder" / name).mkdir(parents=True)
    with pytest.raises(pn.InputError, match=r"a folder; expected a file|folder.*no .csv"):
        _READERS[name](tmp_path / "folder" / name)


@pytest.mark.parametrize("name", ["a.bif.gz", "counts.json", "a.csv", "a.parquet", "b.csv"])
def test_a_pipe_that_nobody_writes_to_is_given_up(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POSSNET_LIMIT_WAIT", "1")
    os.mkfifo(tmp_path / name)
    with pytest.raises(pn.InputError, match=r": a pipe( that nobody|, which can be read only once)"):
        _READERS[name](tmp_path / name)


def _write_later(path: Path, *pieces: bytes, pause: float = 0.0) -> threading.Thread:
    def write() -> None:
        with path.open("wb", buffering=0) as pipe:
            for piece in pieces:
                pipe.write(piece)
                threading.Event().wait(pause)

    thread = threading.Thread(target=write)
    thread.start()
    return thread


@pytest.mark.parametrize("packed", [False, True])
def test_a_network_is_read_from_a_pipe(tmp_path: Path, *, packed: bool) -> None:
    pipe = tmp_path / ("a.bif.gz" if packed else "a.bif")
    os.mkfifo(pipe)
    content = gzip.compress(_BIF) if packed else _BIF
    thread = _write_later(pipe, content[:20], content[20:], pause=0.05)
    assert pn.read_network(pipe).table("rash").tolist() == [0.2, 1.0]
    thread.join()


def test_a_slow_writer_is_waited_for_and_told_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POSSNET_LIMIT_WAIT", "1")
    os.mkfifo(tmp_path / "a.bif")
    thread = _write_later(tmp_path / "a.bif", _BIF[:20], _BIF[20:], pause=1.5)
    with pytest.warns(pn.PossnetWarning, match=r"a.bif: a pipe; waiting for what writes to it"):
        assert pn.read_network(tmp_path / "a.bif").name == "n"
    thread.join()


def test_commands_read_data_from_a_pipe_once(tmp_path: Path) -> None:
    pipe = tmp_path / "rows.csv"
    os.mkfifo(pipe)
    thread = _write_later(pipe, b"fever,rash\nmild|high,no\n", b"?,yes\n")
    done = run("info", pipe)
    thread.join()
    assert (done.returncode, done.stdout.splitlines()[0].split(";")[0]) == (0, f"{pipe}: 2 rows of 2 variables")
    thread = _write_later(pipe, b"fever,rash\nmild\n")
    done = run("info", pipe)
    thread.join()
    assert done.returncode == 1
    assert f"{pipe}, row 1: 1 fields; expected 2" in done.stderr


def test_standard_input_without_an_end_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POSSNET_LIMIT_STREAM_BYTES", "2000")
    done = run("info", "-", given=b"a,b\n" * 1000)
    assert done.returncode == 1
    assert "standard input: more than 1.95 KiB; the limit is 1.95 KiB" in done.stderr
    assert "POSSNET_LIMIT_STREAM_BYTES" in done.stderr


def test_a_gzip_bomb_is_refused_piece_by_piece(tmp_path: Path) -> None:
    """Of 400 MB in 400 KB no more than 100 MB are unpacked."""
    bomb = gzip.compress(b" " * (4 << 20), 9) * 100
    (tmp_path / "a.bif.gz").write_bytes(bomb)
    with pytest.raises(pn.TooLarge, match=r"a.bif.gz: unpacks to more than 250 times its .*POSSNET_LIMIT_GZIP_RATIO"):
        pn.read_network(tmp_path / "a.bif.gz")


def test_a_small_file_may_unpack_to_any_ratio(tmp_path: Path) -> None:
    (tmp_path / "a.bif.gz").write_bytes(gzip.compress(_BIF + b" " * 10_000_000, 9))
    assert pn.read_network(tmp_path / "a.bif.gz").name == "n"


@pytest.mark.parametrize("name", ["a.bif", "a.bif.gz", "a.json", "a.uai", "a.xml", "counts.json", "a.evid"])
def test_large_files_are_refused_before_they_are_read(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("POSSNET_LIMIT_NETWORK_BYTES", "1000")
    content = b" " * 2000
    (tmp_path / name).write_bytes(gzip.compress(content) if name.endswith("gz") else content)
    with pytest.raises(
        pn.TooLarge, match=f"{name}: (2,000 bytes|1.95 KiB|more than 1000 B); the limit is 1000 B.*POSSNET"
    ):
        _READERS[name](tmp_path / name)
    with (tmp_path / name).open("wb") as sparse:
        sparse.truncate(3 << 40)
    monkeypatch.delenv("POSSNET_LIMIT_NETWORK_BYTES")
    with pytest.raises(pn.TooLarge, match=f"{name}: 3 TiB; the limit is 1 GiB"):
        _READERS[name](tmp_path / name)

"""Every single bit of the files that possnet writes, flipped: the same value is read, or the file is refused."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow.parquet as pq

import possnet as pn
from possnet.io import read_calibration, write_calibration, write_result_table
from tests.hostile.experiment_folders import read_folder, seed_files
from tests.hostile.section import Chunk, Section, keep_input

MEMORY = Path("/dev/shm")  # noqa: S108
_STEP = 4000  # flips of a chunk


class SeedFile(NamedTuple):
    """A file that possnet wrote, and what reads it."""

    name: str
    content: bytes
    read: Callable[[Path], Any]


@contextmanager
def quick_folder() -> Iterator[Path]:
    """A folder in memory, where the machine has one."""
    with tempfile.TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None) as folder:
        yield Path(folder)


def _describe(calibration: Any) -> Any:
    return (
        [
            (r.scores.tolist(), r.weights.tolist(), None if r.states is None else r.states.tolist())
            for r in calibration.ranks
        ],
        calibration.target,
        calibration.scorers,
        calibration.network,
        (calibration.by, calibration.ambiguous, calibration.seen, calibration.alpha),
    )


def _read_calibration(path: Path) -> Any:
    return _describe(read_calibration(path))


def _read_results(path: Path) -> Any:
    """Results are read by others, or as data; possnet itself sees damage by the seal."""
    pn.read_data(path, variables=[pn.Variable("metric", ("affinity", "distance"))])
    return pq.read_table(path, columns=["metric"]).to_pylist()


@cache
def write_seeds() -> list[SeedFile]:
    """Small files of every kind that carries checksums."""
    clinic = pn.load_example("clinic")
    scope = [pn.Variable("v", ("a", "b", "c")), pn.Variable("w", tuple(f"s{k}" for k in range(9)), ordered=True)]
    rows = [("a", {"s1", "s2"}), ({"a", "b"}, None), (None, "s8"), ("c", {"s0", "s3", "s4"})] * 2
    data = pn.Dataset.from_rows(scope, rows)
    graded = pn.Dataset.from_rows(scope, [({"a": 1.0, "b": 0.4}, "s1"), ("c", "s2")])
    counts = pn.count(pn.Dag({"v": (), "w": ("v",)}), data, focal=True)
    calibration = pn.calibrate(clinic, pn.sample(clinic, 12, process="precise", rng=1), target="flu")
    table = [("affinity", 0.5), ("distance", 0.25)]

    def read_rows(path: Path) -> Any:
        return pn.read_data(path)

    with quick_folder() as folder:
        pn.write_data(data, folder / "masks.parquet")
        pn.write_data(data, folder / "lists.parquet", layout="lists")
        pn.write_data(data.with_weights(np.arange(1, 9)), folder / "weighted.parquet")
        pn.write_data(graded, folder / "degrees.parquet")
        write_result_table({"metric": str, "value": float}, table, folder / "results.parquet")
        pn.write_counts(counts, folder / "counts.json")
        write_calibration(calibration, folder / "calibration.json")
        readers: dict[str, Callable[[Path], Any]] = {
            "counts.json": pn.read_counts,
            "calibration.json": _read_calibration,
            "results.parquet": _read_results,
        }
        rows_and_counts = [
            SeedFile(path.name, path.read_bytes(), readers.get(path.name, read_rows))
            for path in sorted(folder.iterdir())
        ]
    return [*rows_and_counts, *_list_experiment_files()]


def _list_experiment_files() -> list[SeedFile]:
    """The files of an experiment that are read again: what was asked, the networks, and a trial."""

    def read_with(name: str, path: Path) -> Any:
        return read_folder(name.encode() + b"\n" + path.read_bytes()).results

    names = [file.partition(b"\n")[0].decode() for file in seed_files()]
    trial = next(name for name in names if name.startswith("trials/"))
    files = dict(file.split(b"\n", 1) for file in seed_files())
    return [
        SeedFile(name.replace("/", "-"), files[name.encode()], partial(read_with, name))
        for name in ("experiment.json", "networks.json", trial)
    ]


def flip_bit(content: bytes, bit: int) -> bytes:
    """The content with one bit flipped."""
    changed = bytearray(content)
    changed[bit // 8] ^= 1 << bit % 8
    return bytes(changed)


def check_flip(seed: SeedFile, path: Path, value: Any, bit: int) -> bool:
    """Whether a file with one bit flipped is refused; read as another value, it is an `AssertionError`."""
    path.write_bytes(flip_bit(seed.content, bit))
    try:
        read = seed.read(path)
    except (pn.InputError, pn.TooLarge) as error:  # too large where a size is damaged
        assert len(str(error)) < 500, f"{seed.name}, bit {bit}: a message of {len(str(error))} characters"
        return True
    assert read == value, f"{seed.name}: bit {bit} flips in silence"
    return False


def flip_bits(seed: int) -> Chunk | None:
    """The flips of a chunk: all bits of all files, one file after the other."""
    chunks = [(file, start) for file in write_seeds() for start in range(0, 8 * len(file.content), _STEP)]
    if seed >= len(chunks):
        return None
    file, start = chunks[seed]
    bits, failures = range(start, min(start + _STEP, 8 * len(file.content))), []
    with quick_folder() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path = folder / file.name
        path.write_bytes(file.content)
        value = file.read(path)
        for bit in bits:
            try:
                check_flip(file, path, value, bit)
            except Exception as error:  # noqa: BLE001
                kept = keep_input("bits", f"{bit}-{file.name}", flip_bit(file.content, bit))
                failures.append(f"{type(error).__name__}: {str(error)[:200]}; kept as {kept}")
    return Chunk(len(bits), tuple(failures))


BITS = Section("bits", "every single-bit flip of the files that possnet writes with checksums", flip_bits)

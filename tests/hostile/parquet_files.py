"""Small Parquet files of every layout, and what bad disks, cut transfers and wrong tools make of them."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import possnet as pn
from possnet.kernels import bitmaps
from tests.commands import run
from tests.hostile.section import Chunk, Section, keep_input

ROWS = 40
_CHUNK = 500


def write_samples(folder: Path) -> dict[str, bytes]:
    """Name -> content of files of every layout, compression and encoding, with and without weights."""
    rng = np.random.default_rng(7)
    scope = [pn.Variable(f"v{n}", tuple(f"s{k}" for k in range(n))) for n in (3, 9, 17, 70)]
    rows = [
        [None if rng.random() < 0.1 else frozenset(rng.choice(v.states, rng.integers(1, 4)).tolist()) for v in scope]
        for _ in range(ROWS)
    ]
    plain = pn.Dataset.from_rows(scope, rows)
    for name, data in (("plain", plain), ("weighted", plain.with_weights(rng.integers(0, 5, ROWS)))):
        for layout in ("masks", "lists"):
            pn.write_data(data, folder / f"{layout}-{name}.parquet", layout=layout)
    texts = pa.table({"a": ["x", "y", "z", None] * (ROWS // 4), "b": [f"s{k % 9}" for k in range(ROWS)]})
    tables = {
        "texts": texts,
        "categories": pa.table({name: texts.column(name).dictionary_encode() for name in texts.column_names}),
        "lists": pa.table(
            {"a": [["x", "y"], ["z"], None, ["x"]] * (ROWS // 4), "b": [[str(k % 9)] for k in range(ROWS)]}
        ),
        "numbers": pa.table({"a": [1, 2, 3, None] * (ROWS // 4), "b": [True, False] * (ROWS // 2)}),
    }
    for name, table in tables.items():
        for compression in ("snappy", "zstd", "none"):
            for dictionary in (False, True):
                path = folder / f"{name}-{compression}-{dictionary}.parquet"
                pq.write_table(table, path, compression=compression, row_group_size=13, use_dictionary=dictionary)
    return {path.name: path.read_bytes() for path in sorted(folder.glob("*.parquet"))}


def damage_bytes(content: bytes, rng: np.random.Generator) -> bytes:
    """The content with some bits flipped, cut short, or with a piece of it written over another place."""
    changed = bytearray(content)
    match rng.integers(4):
        case 0 | 1:
            for _ in range(rng.integers(1, 4)):
                changed[rng.integers(len(changed))] ^= 1 << int(rng.integers(8))
        case 2:
            del changed[rng.integers(len(changed)) :]
        case _:
            source, target, length = rng.integers(len(changed)), rng.integers(len(changed)), rng.integers(1, 40)
            changed[target : target + length] = changed[source : source + length]
    return bytes(changed)


def check_file(path: Path, *, commands: bool = False) -> bool:
    """Whether a file is accepted; then every cell of every row must be a set of states, and what uses it must work.

    Anything but an `InputError` that names the file escapes.
    """
    try:
        data = pn.read_data(path)
    except pn.InputError as error:
        assert str(path) in str(error)
        if commands:
            assert run("info", path).returncode == 1
        return False
    assert len(data) == pq.ParquetFile(path).metadata.num_rows
    everything = bitmaps.ones(len(data))
    for variable in data.variables:
        words = data.bitmaps(variable.name)
        assert np.array_equal(np.bitwise_or.reduce(words, axis=0), everything), variable.name
    learned = pn.fit(pn.Dag({v.name: () for v in data.variables}), data)
    assert all(learned.support is not None and learned.support[v.name] == data.total for v in data.variables)
    assert pn.Dataset.concatenate(pn.scan_data(path)) == data
    if commands:
        assert run("info", path).returncode == 0
    return True


def damage_files(seed: int) -> Chunk:
    """Check damaged files: each is refused, or usable."""
    failures, slowest = [], 0.0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        samples = write_samples(folder)
        names, rng = list(samples), np.random.default_rng([seed, 1])
        path = folder / "damaged.parquet"
        for number in range(_CHUNK):
            content = damage_bytes(samples[names[rng.integers(len(names))]], rng)
            path.write_bytes(content)
            start = time.perf_counter()
            try:
                check_file(path, commands=number % 50 == 0)
            except Exception as error:  # noqa: BLE001
                kept = keep_input("parquet", f"{seed}-{number}.parquet", content)
                failures.append(f"{type(error).__name__}: {str(error)[:200]}; kept as {kept}")
            slowest = max(slowest, time.perf_counter() - start)
    return Chunk(_CHUNK, tuple(failures), {"slowest, s": slowest})


PARQUET = Section(
    "parquet", "damaged Parquet files of every layout, read, scanned, counted", damage_files, wanted=100_000
)

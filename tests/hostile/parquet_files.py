"""Small Parquet files of every layout, and what bad disks, cut transfers and wrong tools make of them."""

from __future__ import annotations

import json
import time
import warnings
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import possnet as pn
from possnet.kernels import bitmaps
from possnet.threads import use_one_thread
from tests.commands import run
from tests.hostile.bit_flips import quick_folder
from tests.hostile.mutators import change_tree
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
    for layout in ("masks", "lists"):  # as another program writes it again: with the domains and without a seal
        table = pq.read_table(folder / f"{layout}-plain.parquet")
        pq.write_table(table, folder / f"rewritten-{layout}.parquet", row_group_size=13)
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

    Anything but an `InputError` that names the file escapes, or a `TooLarge`, where the damage is to a size.
    """
    try:
        data = pn.read_data(path)
    except (pn.InputError, pn.TooLarge) as error:
        assert str(path) in str(error)
        assert len(str(error)) < 500, f"a message of {len(str(error))} characters"
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
    compare_with_arrow(path)
    if commands:
        assert run("info", path).returncode == 0
        again = path.with_name("again.parquet")
        pn.write_data(data, again)
        assert pn.read_data(again) == data
    return True


def compare_with_arrow(path: Path) -> None:
    """What possnet reads from another program's file is exactly what pyarrow alone reads; a text without a letter is unknown.

    Row group by row group: what pyarrow reads from damaged lists as a whole and group by group may differ.
    """
    file = pq.ParquetFile(path, page_checksum_verification=True)
    table = pa.concat_tables([file.read_row_group(k) for k in range(file.num_row_groups)] or [file.read()])
    if b"possnet" in (file.schema_arrow.metadata or {}):
        return
    data = pn.read_data(path, cells="plain")
    for name in (variable.name for variable in data.variables):
        if pa.types.is_map(table.column(name).type):
            continue  # pairs of states and degrees
        cells, missing = [row[name] for row in map(data.row, range(len(data)))], data.missing(name)
        values = table.column(name).to_pylist()
        assert [None if absent else cell for absent, cell in zip(missing, cells, strict=True)] == [
            None if value is None or (isinstance(value, str) and not value.strip()) else _to_cell(value)
            for value in values
        ], f"{name}: other cells than pyarrow reads"


def _to_cell(value: Any) -> frozenset[str]:
    members = value if isinstance(value, list) else [value]
    return frozenset(
        str(m).lower() if isinstance(m, bool) else str(int(m)) if isinstance(m, float) else str(m) for m in members
    )


_HOSTILE = [
    "",
    "?",
    "a|b",
    "!x",
    "x..z",
    "{x, y}",
    "\0",
    "\x1b[2J",
    "é",
    "x" * 200,
    "1e400",
    "[1,2]",
    "high:1|mild:.4",
    "\u202e",
]
_KINDS = [
    pa.large_string(), pa.string_view(), pa.binary(), pa.int8(), pa.uint64(), pa.float32(), pa.float16(), pa.bool_(), pa.date32(), pa.timestamp("us"),
    pa.decimal128(10, 2), pa.list_(pa.string()), pa.large_list(pa.string()), pa.list_(pa.list_(pa.string())), pa.map_(pa.string(), pa.float64()),
    pa.dictionary(pa.int8(), pa.string()), pa.list_(pa.dictionary(pa.int32(), pa.string())), pa.duration("s"), pa.null(), pa.list_(pa.string(), 2),
]  # fmt: skip
_EXAMPLES: list[Any] = [
    None,
    "x",
    "",
    0,
    1,
    -1,
    2.5,
    True,
    ["x"],
    [],
    [None],
    ["x", "y"],
    [["x"]],
    [("x", 1.0)],
    b"\xff",
    "2024-05-31",
]

_PAIRS: list[Any] = [
    None,
    [],
    [("x", 1.0)],
    [("x", None), ("y", 0.5)],
]  # pyarrow ends the program at a null among pairs


def restructure_table(table: Any, random: Random) -> Any:
    """A table with metadata, names, types or cells that nobody expects."""
    for _ in range(random.randint(1, 3)):
        place = random.randrange(table.num_columns)
        name = table.column_names[place]
        match random.randrange(6):
            case 0 if b"possnet" in (table.schema.metadata or {}):
                tree = change_tree(json.loads(table.schema.metadata[b"possnet"]), random)
                table = table.replace_schema_metadata({b"possnet": json.dumps(tree).encode(errors="surrogatepass")})
            case 1:
                names = list(table.column_names)
                names[place] = random.choice([*_HOSTILE, *names])
                table = table.rename_columns(names)
            case 2:
                table = table.set_column(place, name, _make_column(random.choice(_KINDS), table.num_rows, random))
            case 3 if table.num_columns > 1:
                table = table.remove_column(place)
            case 4:
                table = table.slice(0, random.choice((0, 1, 2, table.num_rows)))
            case _:
                texts = pa.array(random.choices(_HOSTILE, k=table.num_rows))
                table = table.set_column(place, name, texts)
    return table


def _make_column(kind: Any, rows: int, random: Random) -> Any:
    examples = _PAIRS if pa.types.is_map(kind) else _EXAMPLES
    values = random.choices(examples, k=3)
    for candidates in (values, *([value] for value in examples)):
        try:
            return pa.array(random.choices(candidates, k=rows), type=kind)
        except (pa.ArrowException, TypeError, ValueError, OverflowError, AttributeError):
            continue
    return pa.nulls(rows)


def _write_structured(table: Any, path: Path, random: Random) -> None:
    options = {
        "row_group_size": random.choice((7, 13, 1000)),
        "compression": random.choice(("none", "snappy", "zstd")),
        "use_dictionary": random.random() < 0.5,
        "data_page_version": random.choice(("1.0", "2.0")),
        "write_page_index": random.random() < 0.3,
        "store_schema": random.random() < 0.8,
    }
    try:
        pq.write_table(restructure_table(table, random), path, **options)
    except (pa.ArrowException, TypeError, ValueError):  # what cannot be a Parquet file
        pq.write_table(table, path)


def damage_files(seed: int, count: int = _CHUNK) -> Chunk:
    """Check damaged files and files of another structure: each is refused, or usable."""
    failures, slowest = [], 0.0
    with quick_folder() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        samples = write_samples(folder)
        tables = {name: pq.read_table(folder / name) for name in samples}
        names, rng, random = list(samples), np.random.default_rng([seed, 1]), Random(seed)  # noqa: S311
        path = folder / "damaged.parquet"
        for number in range(count):
            name = names[rng.integers(len(names))]
            content = samples[name]
            if number % 5 < 2:
                _write_structured(tables[name], path, random)
                content = path.read_bytes()
            if number % 5:
                content = damage_bytes(content, rng)
            path.write_bytes(content)
            start = time.process_time()
            try:
                check_file(path, commands=number % 50 == 0)
            except Exception as error:  # noqa: BLE001
                kept = keep_input("parquet", f"{seed}-{number}.parquet", content)
                failures.append(f"{type(error).__name__}: {str(error)[:300]}; kept as {kept}")
            seconds = time.process_time() - start
            slowest = max(slowest, seconds)
            if seconds > 1.0:
                kept = keep_input("parquet", f"{seed}-{number}.parquet", content)
                failures.append(f"{seconds:.1f} seconds; kept as {kept}")
    return Chunk(count, tuple(failures[:20]), {"slowest, s": slowest})


def _run_chunk(seed: int) -> Chunk:
    if seed % 16:  # threads only cost time where files are small; now and then they are used all the same
        use_one_thread()
    return damage_files(seed)


PARQUET = Section(
    "parquet",
    "damaged Parquet files of every layout and structure, read, scanned, counted",
    _run_chunk,
    wanted=100_000,
)

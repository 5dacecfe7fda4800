"""Files that possnet writes carry checksums; files that change while they are read are refused, whoever wrote them."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import possnet as pn
from possnet.io import parse_object, seal_json
from possnet.io.parquet_seal import ParquetBytes
from tests.hostile.bit_flips import check_flip, quick_folder, write_seeds
from tests.refused import refused

CHANGED = "changed or replaced while it was read"


@pytest.mark.filterwarnings("ignore:.*cannot be read, as the file is damaged")
@pytest.mark.parametrize("name", [seed.name for seed in write_seeds()])
def test_a_flipped_bit_is_refused_or_changes_nothing(name: str) -> None:
    """A bit of every byte that a step of 5 reaches; ``make hostile SECTION=bits`` tries them all."""
    (seed,) = (seed for seed in write_seeds() if seed.name == name)
    bits = [8 * byte + byte % 8 for byte in range(0, len(seed.content), 5)]
    with quick_folder() as folder:
        path = folder / name
        path.write_bytes(seed.content)
        value = seed.read(path)
        refusals = sum(check_flip(seed, path, value, bit) for bit in bits)
    assert refusals > 0.7 * len(bits)  # possnet reads one of the two columns of the results


def test_a_seal_does_not_keep_other_programs_from_reading(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pn.write_data(pn.Dataset.from_table({"a": ["x", "y", None]}), path, layout="lists")
    with ParquetBytes(path, "a.parquet") as content:
        assert content.is_sealed
    expected = [["x"], ["y"], None]
    assert pq.read_table(path).column("a").to_pylist() == expected
    assert pl.read_parquet(path).get_column("a").to_list() == expected
    relation = duckdb.read_parquet(str(path))
    assert [row[0] for row in relation.fetchall()] == expected


def test_a_file_that_another_program_rewrote_is_read_without_a_seal(tmp_path: Path) -> None:
    data, path = pn.Dataset.from_table({"a": ["x", {"x", "y"}, None]}), tmp_path / "a.parquet"
    pn.write_data(data, path)
    pq.write_table(pq.read_table(path), path)
    with ParquetBytes(path, "a.parquet") as content:
        assert not content.is_sealed
    assert pn.read_data(path) == data


def test_parts_of_column_chunks_are_verified_too(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pn.write_data(pn.Dataset.from_table({"a": ["x", "y"] * 40, "b": ["u", "v"] * 40}), path)
    metadata = pq.read_metadata(path)
    second = metadata.row_group(0).column(1)
    start = second.dictionary_page_offset if second.has_dictionary_page else second.data_page_offset
    content = bytearray(path.read_bytes())
    content[start + second.total_compressed_size - 1] ^= 1
    path.write_bytes(content)
    with ParquetBytes(path, "a.parquet") as opened:
        opened.expect_chunks(metadata)
        opened.seek(4)
        opened.read(10)
        opened.seek(start)
        refused("a.parquet: the .* bytes from .* on are not those that were written", opened.read, 3)


def write_groups(path: Path, states: str = "xy", groups: int = 30, sealed: bool = False) -> Path:
    """A file of many row groups, possnet's own or another program's."""
    if sealed:
        rows = pn.Dataset.from_table({"a": list(states) * 2000, "b": list(states) * 2000})
        from possnet.io.data_formats import parquet_data

        large, parquet_data._GROUP = parquet_data._GROUP, 2 * (len(rows) // groups // 2)
        pn.write_data(rows, path)
        parquet_data._GROUP = large
    else:
        table = pa.table({"a": list(states) * 2000, "b": list(states) * 2000})
        pq.write_table(table, path, row_group_size=2 * (table.num_rows // groups // 2))
    return path


def cut_short(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 3)


def grow(path: Path) -> None:
    with path.open("ab") as file:
        file.write(b"x,y\n" * 1000)


def overwrite(path: Path) -> None:
    status = path.stat()
    path.write_bytes(b"\0" * status.st_size)
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns + 1))


def replace_by_another(path: Path) -> None:
    write_groups(path.with_name("other.parquet"), "uv").replace(path)


CHANGES = [cut_short, grow, overwrite, replace_by_another]


@pytest.mark.parametrize("sealed", [False, True], ids=["foreign", "sealed"])
@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_a_parquet_file_that_changes_during_a_scan_is_refused(
    tmp_path: Path, change: Callable[[Path], None], sealed: bool
) -> None:
    """Before, a memory map ended the program when the file was cut short."""
    path = write_groups(tmp_path / "a.parquet", sealed=sealed)
    stream = pn.scan_data(path)

    def rows() -> Iterator[int]:
        for number, batch in enumerate(stream):
            assert batch.row(0) == {"a": {"x"}, "b": {"x"}}
            if number == 3:
                change(path)
            yield len(batch)

    if change is replace_by_another:  # the open file is still the old one; files that are opened later are not
        try:
            assert sum(rows()) == 4000
        except pn.InputError as error:
            assert CHANGED in str(error)
    else:
        refused(f"a.parquet.*{CHANGED}", lambda: list(rows()))
    refused(f"a.parquet.*{CHANGED}", lambda: list(stream))


def test_columns_of_one_scan_are_never_of_two_files(tmp_path: Path) -> None:
    """Each thread opens the file anew; what it opens must be the file whose footer was read."""
    path = write_groups(tmp_path / "a.parquet")
    stream = pn.scan_data(path, variables=[pn.Variable(name, ("u", "v", "x", "y")) for name in "ab"])
    replace_by_another(path)
    refused(CHANGED, lambda: list(stream))
    assert {next(iter(batch)).row(0)["a"] for batch in [pn.scan_data(path)]} == {frozenset("u")}


@pytest.mark.parametrize("quoted", ["", '"'])
@pytest.mark.parametrize("change", [cut_short, overwrite], ids=lambda change: change.__name__)
def test_a_csv_file_that_changes_during_a_scan_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: Callable[[Path], None], quoted: str
) -> None:
    from possnet.io.data_formats import csv_data

    monkeypatch.setattr(csv_data, "_PIECE", 1 << 12)
    monkeypatch.setattr(csv_data, "_BLOCK", 1 << 12)
    path = tmp_path / "a.csv"
    path.write_text("a,b\n" + f"{quoted}x{quoted},y\n" * 200_000, encoding="utf-8")
    batches = iter(pn.scan_data(path, variables=[pn.Variable(name, ("x", "y")) for name in "ab"]))
    next(batches)
    change(path)
    refused(f"a.csv.*{CHANGED}", lambda: list(batches))


def test_a_csv_file_that_grows_is_read_as_far_as_it_went_or_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from possnet.io.data_formats import csv_data

    monkeypatch.setattr(csv_data, "_PIECE", 1 << 12)
    path = tmp_path / "a.csv"
    path.write_text("a,b\n" + "x,y\n" * 10_000, encoding="utf-8")
    stream = pn.scan_data(path)
    batches = iter(stream)
    next(batches)
    grow(path)
    refused(f"a.csv.*{CHANGED}", lambda: list(batches))
    assert sum(map(len, stream)) == 11_000


def test_counts_with_a_changed_number_are_refused_and_without_a_checksum_read(tmp_path: Path) -> None:
    path = tmp_path / "counts.json"
    counts = pn.count(pn.Dag({"a": ()}), pn.Dataset.from_table({"a": ["x", "x", "y"]}))
    pn.write_counts(counts, path)
    text = path.read_text(encoding="utf-8")
    assert json.loads(text)["checksum"].startswith("sha256:")
    path.write_text(text.replace("[[2, 1]]", "[[1, 2]]"), encoding="utf-8")
    refused(
        "counts.json: its content does not have its checksum; .* delete the member 'checksum'", pn.read_counts, path
    )
    path.write_text(text[: text.index(',\n  "checksum"')] + "}", encoding="utf-8")
    assert pn.read_counts(path) == counts


def test_networks_have_no_checksum_since_people_edit_them(tmp_path: Path) -> None:
    path = tmp_path / "clinic.json"
    pn.write_network(pn.load_example("clinic"), path)
    assert "checksum" not in json.loads(path.read_text(encoding="utf-8"))
    path.write_text(seal_json(path.read_text(encoding="utf-8")), encoding="utf-8")
    assert pn.read_network(path) == pn.load_example("clinic")
    path.write_text(path.read_text(encoding="utf-8").replace('"flu"', '"flo"'), encoding="utf-8")
    refused("clinic.json: its content does not have its checksum", pn.read_network, path)


@pytest.mark.parametrize("text", ["{}", '{"a": 1}', '{\n  "a": [1,\n 2]\n}\n', '{"checksum": {"a": 1}, "b": "}"}'])
def test_a_sealed_object_is_the_object(text: str) -> None:
    sealed = seal_json(text)
    assert parse_object(sealed.encode(), "a.json", "an object") == {
        key: value for key, value in json.loads(text).items() if key != "checksum"
    }
    rng = np.random.default_rng(1)
    for bit in rng.integers(0, 8 * len(sealed), 60):
        changed = bytearray(sealed.encode())
        changed[bit // 8] ^= 1 << int(bit % 8)
        try:
            read = parse_object(bytes(changed), "a.json", "an object")
        except pn.InputError:
            continue
        assert {key: read[key] for key in json.loads(text)} == json.loads(text)

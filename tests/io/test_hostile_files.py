"""A file that is accepted is a file that can be used: damaged ones are refused, or read as rows of valid cells."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import possnet as pn
from possnet.arrow import MaskColumn, ProblemReport
from tests.commands import run
from tests.hostile.parquet_files import ROWS, check_file, damage_bytes, write_samples
from tests.paths import FIXTURES
from tests.refused import refused

if TYPE_CHECKING:
    from pathlib import Path


def offsets(*numbers: int) -> Any:
    return pa.py_buffer(np.array(numbers, dtype=np.int32))


def lying_nulls() -> Any:
    """An array of three numbers that says it has two nulls, of which its bitmap has one."""
    return pa.Array.from_buffers(pa.int8(), 3, [pa.py_buffer(b"\5"), pa.py_buffer(b"\1\2\3")], null_count=2)


def view_beyond() -> Any:
    """Views of texts, the first of which lies beyond its buffer."""
    _, views, *others = pa.array(["a" * 20, "b" * 30], pa.string_view()).buffers()
    content = bytearray(views.to_pybytes())
    content[12:16] = (10**6).to_bytes(4, "little")
    return pa.Array.from_buffers(pa.string_view(), 2, [None, pa.py_buffer(bytes(content)), *others])


def test_damaged_files_are_refused_or_usable(tmp_path: Path) -> None:
    samples = write_samples(tmp_path)
    for name in samples:
        assert check_file(tmp_path / name)
    rng, path, accepted = np.random.default_rng(11), tmp_path / "damaged.parquet", 0
    for number in range(260):
        content = samples[list(samples)[number % len(samples)]]
        path.write_bytes(damage_bytes(content, rng))
        accepted += check_file(path, commands=number % 20 == 0)
    assert accepted < 130


def test_a_flipped_bit_of_a_page_that_possnet_wrote_is_always_seen(tmp_path: Path) -> None:
    """Pages carry checksums: other values are no less damage than values that cannot be."""
    data = pn.Dataset.from_rows([pn.Variable("a", ("x", "y", "z"))], [("x",), ("y",), ("z",)] * 50)
    good, bad = tmp_path / "good.parquet", tmp_path / "bad.parquet"
    pn.write_data(data, good)
    column = pq.ParquetFile(good).metadata.row_group(0).column(0)
    start = column.dictionary_page_offset or column.data_page_offset
    content, seen = good.read_bytes(), 0
    for offset in range(start, start + column.total_compressed_size):
        changed = bytearray(content)
        changed[offset] ^= 1 << offset % 8
        bad.write_bytes(changed)
        try:
            assert pn.read_data(bad) == data  # a bit of a page's header that changes no value
        except pn.InputError:
            seen += 1
    assert seen > column.total_compressed_size // 2


def test_a_column_shorter_than_the_file_says_is_refused(tmp_path: Path) -> None:
    samples = write_samples(tmp_path)
    rng, path = np.random.default_rng(5), tmp_path / "damaged.parquet"
    content = samples["categories-none-True.parquet"]
    for _ in range(200):
        changed = bytearray(content)
        changed[rng.integers(len(changed))] ^= 1 << int(rng.integers(8))
        path.write_bytes(changed)
        try:
            assert len(pn.read_data(path)) == ROWS
        except pn.InputError:
            continue


def test_a_footer_whose_parts_arrow_may_not_be_asked_for_is_refused() -> None:
    """Arrow ends the program when it is asked for a column chunk of this footer; when it reads the chunk it raises."""
    refused("histogram size mismatch.*; the file is damaged", pn.read_data, FIXTURES / "damaged-histogram.parquet")


def test_row_groups_that_do_not_add_up_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"a": ["x", "y"] * 4}), path, row_group_size=4)

    whole = pq.ParquetFile.read_row_group
    monkeypatch.setattr(pq.ParquetFile, "read_row_group", lambda *args, **options: whole(*args, **options).slice(0, 3))
    refused("row group 1, column 'a': 3 cells; expected 4, one for each row; the file is damaged", pn.read_data, path)


@pytest.mark.parametrize(("size", "bit"), [(3, 3), (9, 15), (17, 17), (17, 24), (17, 31), (33, 40), (70, 71)])
def test_bits_beyond_the_states_are_seen_in_every_byte(size: int, bit: int) -> None:
    variable = pn.Variable("a", tuple(f"s{k}" for k in range(size)))
    width = next((n for n in (1, 2, 4, 8) if size <= 8 * n), -(-size // 8))
    octets = np.zeros((2, width), dtype=np.uint8)
    octets[:, 0] = 1
    octets[1, bit // 8] |= 1 << bit % 8
    report = ProblemReport("rows")
    MaskColumn(variable, octets, None).to_bitmaps(variable, report)
    with pytest.raises(pn.InputError, match=f"rows, row 2, column 'a': mask .* has bits beyond the {size} states"):
        report.raise_if_any()


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (pa.DictionaryArray.from_arrays(pa.array([0, 5]), pa.array(["x"]), safe=False), "index 5 of a dictionary of 1"),
        (
            pa.DictionaryArray.from_arrays(pa.array([0, -1]), pa.array(["x"]), safe=False),
            "index -1 of a dictionary of 1",
        ),
        (
            pa.Array.from_buffers(pa.string(), 3, [None, offsets(0, 2, 1, 3), pa.py_buffer(b"abc")]),
            "a cell that ends before it begins",
        ),
        (
            pa.Array.from_buffers(pa.string(), 1, [None, offsets(0, 2), pa.py_buffer(b"\xff\xfe")]),
            "the table is damaged",
        ),
        (
            pa.Array.from_buffers(
                pa.list_(pa.string()),
                2,
                [None, offsets(2, 1, 3)],
                children=[pa.array(["x", "y", "z"])],
            ),
            "a cell that ends before it begins",
        ),
        (lying_nulls(), "2 nulls, of which its bitmap has 1"),
        (
            pa.Array.from_buffers(pa.list_(pa.int8()), 1, [None, offsets(0, 3)], children=[lying_nulls()]),
            "2 nulls, of which its bitmap has 1",
        ),
        (view_beyond(), "the table is damaged"),
        (
            pa.Array.from_buffers(
                pa.map_(pa.string(), pa.float64()),
                2,
                [None, offsets(2, 1, 3)],
                children=[
                    pa.StructArray.from_arrays([pa.array(["x", "y", "z"]), pa.array([1.0] * 3)], ["key", "value"])
                ],
            ),
            "the table is damaged",
        ),
    ],
)
def test_arrays_of_other_libraries_are_checked_before_they_are_read(array: Any, message: str) -> None:
    for table in (pa.table({"a": array}), {"a": array}):
        refused(f"column 'a': .*{message}|column 'a': {message}", pn.Dataset.from_table, table)


@pytest.mark.parametrize("change", [(b'"weights": null', b'"weights": 1234'), (b'"masks"', b'"mosks"')])
def test_metadata_that_say_something_else_are_refused(tmp_path: Path, change: tuple[bytes, bytes]) -> None:
    path = tmp_path / "a.parquet"
    pn.write_data(pn.Dataset.from_table({"a": ["x", "y"]}), path)
    table = pq.read_table(path)
    metadata = {key: value.replace(*change) for key, value in table.schema.metadata.items()}
    assert metadata != table.schema.metadata
    pq.write_table(table.replace_schema_metadata(metadata), path)
    refused("its possnet metadata cannot be read", pn.read_data, path)


def test_a_file_of_no_rows_is_a_data_set_of_no_rows_and_says_so(tmp_path: Path) -> None:
    scope = [pn.Variable("a", ("x", "y"))]
    masks, texts = tmp_path / "masks.parquet", tmp_path / "texts.parquet"
    pn.write_data(pn.Dataset.from_rows(scope, []), masks)
    pq.write_table(pa.table({"a": pa.array([], pa.string())}), texts)
    assert len(pn.read_data(masks)) == len(pn.read_data(texts, variables=scope)) == 0
    shown = run("info", masks)
    assert shown.returncode == 0
    assert "0 rows of 1 variable" in shown.stdout
    assert "Note:" in shown.stderr
    assert "no rows" in shown.stderr
    refused("texts.parquet: no rows, so that nothing says which states 'a' has", pn.read_data, texts)


def test_weights_of_an_unusable_type_are_refused_with_the_name_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    nested = pa.array([[["2"]], [["3"]]])
    pq.write_table(pa.table({"rash": ["yes", "no"], "weight": nested}), path)
    with pytest.raises(pn.InputError, match=r"rows\.parquet: column 'weight': cells of type list<"):
        pn.read_data(path, weights="weight")

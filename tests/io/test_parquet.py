"""Data as Parquet: possnet's layouts, files of other programs, and damaged ones."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, strategies as st

import possnet as pn
from tests.dataset.test_dataset import DATA
from tests.io.layouts import LAYOUTS, write_layout
from tests.refused import refused
from tests.rows import rows_of
from tests.strategies import datasets


def test_a_column_whose_name_begins_with_nul_is_a_column_like_any_other(tmp_path: Path) -> None:
    data = pn.Dataset.from_rows([pn.Variable("\0x", ("a", "b")), pn.Variable("\0", ("c",))], [("a", "c"), ("b", None)])
    pn.write_data(data, tmp_path / "rows.parquet")
    assert pn.read_data(tmp_path / "rows.parquet") == data


@pytest.mark.parametrize("name", LAYOUTS[1:])
@given(data=datasets())
def test_parquet_keeps_domains_order_and_weights_by_itself(name: str, data: pn.Dataset) -> None:
    if name == "lists.parquet" and any("\0" in v.name for v in data.variables):
        return
    with tempfile.TemporaryDirectory() as folder:
        path = write_layout(data, Path(folder) / name)
        assert pn.read_data(path) == data
        stream = pn.scan_data(path)
        assert stream.variables == data.variables
        assert stream.rows == len(data)


def test_parquet_of_other_programs(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    table = pa.table(
        {
            "text": ["a", "b", None],
            "lists": [["x"], ["y", "x"], None],
            "dots.in.name": ["p", "q", "p"],
            "category": pd.Categorical(["lo", "hi", None], categories=["lo", "mid", "hi"], ordered=True),
            "number": [1, 2, None],
            "truth": [True, False, None],
            "listed categories": pa.array([["u"], ["v", "u"], None], pa.list_(pa.dictionary(pa.int8(), pa.string()))),
        }
    )
    pq.write_table(table, path, row_group_size=2)
    data = pn.read_data(path)
    assert [v.states for v in data.variables] == [
        ("a", "b"), ("x", "y"), ("p", "q"), ("lo", "mid", "hi"), ("1", "2"), ("false", "true"), ("u", "v"),
    ]  # fmt: skip
    assert data.variable("category").ordered
    assert rows_of(data)[1][:-1] == ({"b"}, {"x", "y"}, {"q"}, {"hi"}, {"2"}, {"false"}, {"u", "v"})
    assert [len(batch) for batch in pn.scan_data(path)] == [2, 1]
    assert pn.Dataset.concatenate(pn.scan_data(path)) == data
    assert pn.read_data(path, variables=[data.variable("lists")]) == data.select(["lists"])
    frame = pd.DataFrame({"x": ["a", "b"]}, index=[4, 7])
    frame.to_parquet(path)
    assert [v.name for v in pn.read_data(path).variables] == ["x"]


def test_a_domain_may_be_wider_or_ordered_otherwise_than_in_the_file(tmp_path: Path) -> None:
    pn.write_data(DATA, tmp_path / "a.parquet")
    wider = [pn.Variable("rash", ("maybe", "no", "yes")), pn.Variable("fever", ("high", "mild", "none"))]
    data = pn.read_data(tmp_path / "a.parquet", variables=wider)
    assert data.variables == tuple(wider)
    assert data.row(0) == {"rash": {"no"}, "fever": {"mild", "high"}}
    assert data.missing("rash").tolist() == DATA.missing("rash").tolist()
    assert data.row(1)["rash"] == {"maybe", "no", "yes"}
    short = [pn.Variable("fever", ("high", "mild"))]
    refused("row 2, column 'fever': 'none' is not a state", pn.read_data, tmp_path / "a.parquet", short)


def test_errors_in_many_row_groups_are_told_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    path = Path("a.parquet")
    pq.write_table(pa.table({"a": ["x", "z"] * 15, "w": [1] * 29 + [-5]}), path, row_group_size=4)
    lines = refused("'z' is not a state", pn.read_data, path, [pn.Variable("a", ("x", "y"))]).splitlines()
    assert len(lines) >= 6
    assert [line.split(",")[1] for line in lines[:-1]] == [f" row {k}" for k in range(2, 2 * len(lines), 2)]
    assert lines[-1] == f"... and {16 - len(lines)} more cells of {path} that cannot be used"
    refused("row 30, weight column 'w': '-5'", pn.read_data, path, [pn.Variable("a", ("x", "z"))], weights="w")


def test_an_order_that_grows_from_file_to_file_is_kept_and_a_contradiction_is_told(tmp_path: Path) -> None:
    orders = [("none", "mild", "high"), ("none", "mild", "high", "extreme"), ("high", "mild", "none")]
    for k, states in enumerate(orders):
        data = pn.Dataset.from_rows((pn.Variable("f", states, ordered=True),), [("mild",)])
        pn.write_data(data, tmp_path / f"o{k}.parquet")
    grown = pn.scan_data([tmp_path / "o0.parquet", tmp_path / "o1.parquet"])
    assert grown.variables == (pn.Variable("f", orders[1], ordered=True),)
    with pytest.raises(pn.InputError, match="column 'f' is ordered as .* and as .*; expected one order, or variables="):
        pn.scan_data([tmp_path / "o0.parquet", tmp_path / "o2.parquet"])


def test_files_whose_columns_and_states_stand_in_another_order_are_one_stream(tmp_path: Path) -> None:
    a, b = pn.Variable("a", ("x", "y", "z")), pn.Variable("b", ("u", "v"), ordered=True)
    turned = pn.Variable("a", ("z", "x", "y")), pn.Variable("b", ("v", "u"))
    pn.write_data(pn.Dataset.from_rows((a, b), [({"x", "y"}, "u"), ("z", None)]), tmp_path / "1.parquet")
    pn.write_data(pn.Dataset.from_rows(turned[::-1], [("u", {"x", "y"}), (None, "z")]), tmp_path / "2.parquet")
    (tmp_path / "3.csv").write_text("b,a\nu,x|y\n?,z\n", encoding="utf-8")
    for files in (["1", "2"], ["1", "2", "3"], ["2", "1"]):
        paths = [tmp_path / f"{k}.{'csv' if k == '3' else 'parquet'}" for k in files]
        stream = pn.scan_data(paths)
        assert {v.name: set(v.states) for v in stream.variables} == {"a": {"x", "y", "z"}, "b": {"u", "v"}}
        assert {v.name: v.ordered for v in stream.variables} == {"a": False, "b": True}
        data = pn.Dataset.concatenate(stream)
        assert [data.row(k) for k in range(len(data))] == [
            {"a": {"x", "y"}, "b": {"u"}}, {"a": {"z"}, "b": {"u", "v"}}
        ] * len(files)  # fmt: skip


def masks_file(path: Path, **changes: Any) -> None:
    """A masks file with something wrong in it."""
    pn.write_data(DATA, path)
    table = pq.read_table(path)
    metadata = dict(table.schema.metadata)
    if "metadata" in changes:
        metadata[b"possnet"] = changes["metadata"](metadata[b"possnet"])
    if "fever" in changes:
        table = table.set_column(0, "fever", changes["fever"])
    if "drop" in changes:
        table = table.drop_columns([changes["drop"]])
    pq.write_table(table.replace_schema_metadata(metadata), path)


BAD_MASKS: list[tuple[dict[str, Any], str]] = [
    ({"metadata": lambda _: b"{"}, "its possnet metadata cannot be read .*the file is damaged"),
    ({"metadata": lambda _: b"[]"}, "its possnet metadata cannot be read"),
    (
        {"metadata": lambda m: m.replace(b'"version": 1', b'"version": 3')},
        "possnet-data 3; this possnet reads possnet-data 2",
    ),
    ({"metadata": lambda m: m.replace(b'"states"', b'"stats"')}, "its possnet metadata cannot be read"),
    ({"drop": "rash"}, "no column 'rash', which its metadata describe; the file is damaged"),
    ({"fever": pa.array([1, 2, 4, 1])}, "column 'fever' holds int64; expected masks of uint8; the file is damaged"),
    ({"fever": pa.array([1, 0, 4, 1], pa.uint8())}, "row 2, column 'fever': an empty set; expected at least one state"),
    ({"fever": pa.array([1, 8, 4, 1], pa.uint8())}, "row 2, column 'fever': mask 8 has bits beyond the 3 states"),
]


@pytest.mark.parametrize(("changes", "message"), BAD_MASKS)
def test_a_damaged_masks_file_is_refused_with_its_place(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    masks_file(tmp_path / "bad.parquet", **changes)
    assert refused(message, pn.read_data, tmp_path / "bad.parquet").startswith(str(tmp_path / "bad.parquet"))


def test_files_that_are_not_parquet_are_refused(tmp_path: Path) -> None:
    refused("3 is no file; expected a name, a folder, a pattern, or a list of these", pn.scan_data, 3)
    path = tmp_path / "bad.parquet"
    pn.write_data(pn.Dataset.concatenate([DATA] * 100), tmp_path / "good.parquet")
    good = (tmp_path / "good.parquet").read_bytes()
    for content, message in [
        (b"", "the file is empty; expected a Parquet file"),
        (b"a,b\n1,2\n", "expected a Parquet file"),
        (good[:-10], "expected a Parquet file"),
        (good[: len(good) // 2], "expected a Parquet file"),
    ]:
        path.write_bytes(content)
        assert refused(message, pn.read_data, path).startswith(str(path))
    refused("no such file", pn.read_data, tmp_path / "none.parquet")
    refused(r"unknown suffix '.xls'; expected .csv or .parquet", pn.read_data, tmp_path / "a.xls")
    (tmp_path / "folder.parquet").mkdir()
    refused("a folder; expected a file|expected a Parquet file", pn.read_data, tmp_path / "folder.parquet")
    pq.write_table(pa.table([["a"], ["b"]], names=["x", "x"]), path)
    refused("column 'x' appears twice", pn.read_data, path)
    pq.write_table(pa.table({"x": [0.5]}), path)
    refused("row group 1: column 'x': numbers with fractions", pn.read_data, path)
    pq.write_table(pa.table({}), path)
    refused("no columns; expected at least one", pn.read_data, path)


@given(st.integers(0, 2**32 - 1))
def test_damaged_parquet_never_escapes_as_another_error(seed: int) -> None:
    rng = np.random.default_rng(seed)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.parquet"
        pn.write_data(DATA, path, layout="masks" if seed % 2 else "lists")
        content = bytearray(path.read_bytes())
        for _ in range(rng.integers(1, 4)):
            content[rng.integers(4, len(content) - 8)] = rng.integers(0, 256)
        path.write_bytes(content)
        try:
            pn.read_data(path)
        except pn.InputError as error:
            assert str(path) in str(error)


def test_lists_are_lists_of_plain_text_for_everybody(tmp_path: Path) -> None:
    """They are written as categories, and others are told of strings; unknown cells are null."""
    fever = pn.Variable("fever", ("none", "mild", "high"))
    data = pn.Dataset.from_rows([fever], [("mild",), ({"mild", "high"},), (None,)])
    path = tmp_path / "rows.parquet"
    pn.write_data(data, path, layout="lists")
    table = pq.read_table(path)
    assert table.schema.field("fever").type.value_type == pa.string()
    assert table.column("fever").to_pylist() == [["mild"], ["mild", "high"], None]
    assert pn.read_data(path) == data

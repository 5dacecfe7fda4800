"""Tables of other libraries: there and back, their categories, their types, and Python cells of every kind."""

from __future__ import annotations

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given

import possnet as pn
from tests.refused import refused
from tests.rows import rows_of
from tests.strategies import datasets

FEVER = pn.Variable("fever", ("none", "mild", "high"), ordered=True)
FRAMES = {
    "pyarrow": pa.table,
    "pandas": lambda data: pa.table(data).to_pandas(),
    "pandas with arrow types": lambda data: pa.table(data).to_pandas(types_mapper=pd.ArrowDtype),
    "polars": pl.DataFrame,
    "polars lazy": lambda data: pl.DataFrame(data).lazy(),
    "arrow reader": pa.RecordBatchReader.from_stream,
}


@pytest.mark.parametrize("library", FRAMES)
@given(data=datasets(weighted=False))
def test_a_data_set_survives_every_frame_library(library: str, data: pn.Dataset) -> None:
    if any("\0" in v.name for v in data.variables):
        refused("NUL character, which Arrow's interface cannot carry", data.__arrow_c_stream__)
        return
    assert pn.Dataset.from_table(FRAMES[library](data), variables=data.variables) == data


@pytest.mark.slow
@given(data=datasets(min_rows=1, weighted=False))
def test_a_data_set_survives_duckdb(data: pn.Dataset) -> None:
    scope = [pn.Variable(f"c{k}", v.states) for k, v in enumerate(data.variables)]
    simple = pn.Dataset.from_rows(scope, [row[:-1] for row in rows_of(data)])
    table = simple.to_arrow(lists=True)
    assert pn.Dataset.from_table(duckdb.from_arrow(table), variables=simple.variables) == simple


def test_categories_keep_their_order_and_unused_states() -> None:
    frame = pd.DataFrame({"fever": pd.Categorical(["high", None], categories=["none", "mild", "high"], ordered=True)})
    data = pn.Dataset.from_table(frame)
    assert data.variables == (FEVER,)
    assert data.missing("fever").tolist() == [False, True]
    enum = pl.DataFrame({"fever": pl.Series(["high", None], dtype=pl.Enum(["none", "mild", "high"]))})
    assert pn.Dataset.from_table(enum).variables[0].states == FEVER.states
    back = pa.table(pn.Dataset.from_table(frame)).to_pandas()
    assert list(back["fever"].cat.categories) == list(FEVER.states)
    assert back["fever"].cat.ordered


def test_domains_from_data_are_sorted_text() -> None:
    data = pn.Dataset.from_table({"x": ["b", {"c", "a"}, None], "n": [10, 9, 10], "t": [True, False, None]})
    assert [v.states for v in data.variables] == [("a", "b", "c"), ("10", "9"), ("false", "true")]
    assert not any(v.ordered for v in data.variables)


def test_cells_of_every_python_kind() -> None:
    frame = pd.DataFrame({"x": ["a", {"a", "b"}, frozenset({"b"}), ["a"], ("b", "a"), None, float("nan"), pd.NA]})
    data = pn.Dataset.from_table(frame)
    assert [row[0] for row in rows_of(data)] == [
        {"a"}, {"a", "b"}, {"b"}, {"a"}, {"a", "b"}, None, None, None,
    ]  # fmt: skip
    numbers = pd.DataFrame({"n": [1.0, 2.0, float("nan")], "m": [1, True, "x"]})
    assert [row[:2] for row in rows_of(pn.Dataset.from_table(numbers))] == [
        ({"1"}, {"1"}), ({"2"}, {"true"}), (None, {"x"}),
    ]  # fmt: skip
    objects = pl.DataFrame({"x": pl.Series([frozenset({"a"}), frozenset({"a", "b"})], dtype=pl.Object)})
    assert [row[0] for row in rows_of(pn.Dataset.from_table(objects))] == [{"a"}, {"a", "b"}]


def test_odd_arrow_types_are_read_right() -> None:
    values = [f"v{k:03d}" for k in range(128)]
    dictionary = pa.DictionaryArray.from_arrays(pa.array([0, None, 127], pa.int8()), pa.array(values))
    data = pn.Dataset.from_table(pa.table({"x": dictionary}))
    assert [row[0] for row in rows_of(data)] == [{"v000"}, None, {"v127"}]
    views = pa.array([["y"], None, ["x", "y"]], pa.list_view(pa.string()))
    assert [row[0] for row in rows_of(pn.Dataset.from_table(pa.table({"x": views})))] == [{"y"}, None, {"x", "y"}]
    halves = pn.Dataset.from_table({"x": np.array([1, 2], dtype=np.float16)})
    assert halves.variables[0].states == ("1", "2")


def test_index_columns_of_pandas_are_not_data() -> None:
    frame = pd.DataFrame({"x": ["a", "b"]}, index=[5, 7])
    assert [v.name for v in pn.Dataset.from_table(frame).variables] == ["x"]
    assert [v.name for v in pn.Dataset.from_table(pa.Table.from_pandas(frame)).variables] == ["x"]

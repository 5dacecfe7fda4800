"""Grouping equal rows: by mixed-radix numbers, however many columns, against the definition."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from possnet.dataset import group_rows
from possnet.kernels import grouping
from tests import oracles


@given(st.data(), st.integers(0, 6), st.integers(0, 40))
def test_groups_are_the_distinct_rows_in_lexicographic_order(data: st.DataObject, width: int, rows: int) -> None:
    sizes = data.draw(st.lists(st.sampled_from([1, 2, 3, 300, 2**21]), min_size=width, max_size=width))
    codes = [data.draw(st.lists(st.integers(0, min(size, 4) - 1), min_size=rows, max_size=rows)) for size in sizes]
    weights = data.draw(st.none() | st.lists(st.integers(0, 2**50), min_size=rows, max_size=rows))
    groups = group_rows([np.array(column, dtype=np.uint8) for column in codes], sizes, rows)
    expected = oracles.row_groups([tuple(column[r] for column in codes) for r in range(rows)], weights)
    assert [tuple(row) for row in groups.combinations.tolist()] == [row for row, _, _ in expected]
    assert groups.first.tolist() == [first for _, first, _ in expected]
    assert groups.counts(None if weights is None else np.array(weights, dtype=np.int64)).tolist() == [
        count for _, _, count in expected
    ]
    assert [tuple(groups.combinations[k].tolist()) for k in groups.inverse] == list(
        zip(*codes, strict=True)
    ) or not codes
    assert len(groups) == len(expected)


@given(st.lists(st.lists(st.integers(0, 3), min_size=3, max_size=3), max_size=30), st.integers(0, 12))
def test_more_groups_than_are_worth_it_are_no_groups(rows: list[list[int]], most: int) -> None:
    columns = [np.array([row[k] for row in rows], dtype=np.int64) for k in range(3)]
    groups = group_rows(columns, [4, 4, 4], len(rows), most=most)
    assert (groups is None) == (len({tuple(row) for row in rows}) > most)


def test_limits_of_the_kernel_make_no_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    columns = [rng.integers(0, size, 500) for size in (3, 7, 2, 50, 11)]
    expected = group_rows(columns, [3, 7, 2, 50, 11], 500)
    monkeypatch.setattr(grouping, "_GROUP_LIMIT", 10)
    monkeypatch.setattr(grouping, "_TABLE_LIMIT", 10)
    for limit in (10, 10_000, 2**62):
        monkeypatch.setattr(grouping, "_KEY_LIMIT", limit)
        groups = group_rows(columns, [3, 7, 2, 50, 11], 500)
        assert np.array_equal(groups.inverse, expected.inverse)
        assert np.array_equal(groups.combinations, expected.combinations)


@given(st.lists(st.integers(0, 10**6), max_size=50))
def test_compressing_by_table_and_by_sorting_agree(keys: list[int]) -> None:
    array = np.array(keys, dtype=np.int64)
    for limit in (10**6 + 1, 2**60):
        codes, distinct = grouping.compress_keys(array, limit)
        assert np.array_equal(distinct[codes], array)
        assert np.array_equal(distinct, np.unique(array))


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 2**61)), max_size=20))
def test_weights_of_any_size_add_up_exactly(pairs: list[tuple[int, int]]) -> None:
    codes, weights = np.array([c for c, _ in pairs], dtype=int), np.array([w // 20 for _, w in pairs], dtype=np.int64)
    expected = [sum(w // 20 for c, w in pairs if c == k) for k in range(5)]
    assert grouping.sum_weights(codes, weights, 5).tolist() == expected

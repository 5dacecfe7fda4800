"""Coded rows and tables of counts against counting, and what they may take of memory."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import possnet as pn
from possnet.kernels import bitmaps
from possnet.structure import (
    coded_rows,
    contingency,
    score_registry,
    structure_learning,
    traced_score,
)
from possnet.structure.coded_rows import CodedRows
from possnet.structure.contingency import ContingencyTables
from possnet.structure.hybrid import StateCounts
from tests import strategies
from tests.structure.cases import SmallBatches, many_cells


@given(strategies.counted(), st.sampled_from([0.0, 1e9]), st.sampled_from([0, 1 << 24]), st.data())
def test_state_tables_are_counts(
    given_data: tuple[pn.Dag, pn.Dataset], row_price: float, dense: int, draw: st.DataObject
) -> None:
    """By tables of cells, or by bitmaps of states, with weights too."""
    dag, rows = given_data
    data = rows.select(dag.nodes)
    names = list(dag.nodes)
    if len(names) < 2:
        return
    order = draw.draw(st.permutations(range(len(names))))
    *parents, child, last = order
    above = tuple(sorted(parents))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(contingency, "_ROW", row_price)
        patch.setattr(contingency, "DENSE", dense)
        (table,) = ContingencyTables(CodedRows(data)).count_states(above, child, [last])
        counted = StateCounts(CodedRows(data)).counts_of(*order)
    family = pn.Dag({**dict.fromkeys(names, ()), names[last]: [names[k] for k in (*above, child)]})
    expected = pn.count(family, data)[names[last]]
    np.testing.assert_array_equal(table.counts.reshape(expected.shape), expected)
    places = [order.index(k) for k in (*above, child, last)]
    np.testing.assert_array_equal(counted, np.moveaxis(expected, range(len(names)), places))


@pytest.mark.parametrize(("row_price", "keys", "small", "product_price"), [(1e9, 1 << 20, 0, 1e9), (0, 0, 0, 1e9), (0, 1 << 20, 0, 1e9), (0, 0, 1 << 16, 1e9), (0, 1 << 20, 1 << 16, 1e9), (0, 1 << 20, 0, 0)])  # fmt: skip
@given(given_data=strategies.counted(), draw=st.data())
def test_cell_tables_are_counts(
    given_data: tuple[pn.Dag, pn.Dataset],
    row_price: float,
    keys: int,
    small: int,
    product_price: float,
    draw: st.DataObject,
) -> None:
    """By bitmaps; by histograms, one for each column or one for all, of combinations that occur or of all; by a product."""
    _, data = given_data
    rows = CodedRows(data)
    if len(rows.variables) < 2 or not rows.n_rows:
        return
    child, *others = draw.draw(st.permutations(range(len(rows.variables))))
    above = tuple(sorted(others[: draw.draw(st.integers(0, len(others) - 1))]))
    candidates = [k for k in sorted(others) if k not in above]
    with pytest.MonkeyPatch.context() as patch:
        for name, value in (
            ("_ROW", row_price),
            ("_KEYS", keys),
            ("_SMALL", small),
            ("_MARK", product_price),
            ("_SHORT", 0),
        ):
            patch.setattr(contingency, name, value)
        if product_price == 0:
            patch.setattr(contingency, "_MULTIPLICATION", 0.0)
        (table,) = ContingencyTables(rows).count_cells(above, child, candidates)
    assert table.candidates == candidates
    for candidate, counts in zip(candidates, table.split_tables(), strict=True):
        flat = counts[counts.sum(axis=(1, 2)) > 0].ravel()
        assert flat[flat > 0].tolist() == _count_rows(rows, (*above, child, candidate))  # in the order of the codes
        assert counts.sum(axis=0).shape == (rows.n_cells[child], rows.n_cells[candidate])
        pairs = counts.sum(axis=0)
        for cell, other in np.argwhere(pairs).tolist():
            same = (rows.codes[child] == cell) & (rows.codes[candidate] == other)
            assert pairs[cell, other] == (same.sum() if rows.weights is None else rows.weights[same].sum())


@given(strategies.counted())
def test_all_pairs_at_once_are_pairs_one_by_one(given_data: tuple[pn.Dag, pn.Dataset]) -> None:
    rows = CodedRows(given_data[1])
    tables = ContingencyTables(rows)
    everything = list(range(len(rows.variables)))
    at_once = list(tables.count_pairs())
    if rows.n_rows and rows.total < 1 << 52:
        assert len(at_once) == len(everything)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(contingency, "_MARK", 1e9)  # not by a product
        for child, found in enumerate(at_once):
            (slow,) = tables.count_cells((), child, everything)
            np.testing.assert_array_equal(found.counts, slow.counts)


def _count_rows(rows: CodedRows, chosen: tuple[int, ...]) -> list[int]:
    """Rows of every combination of cells that occurs, in the order of the codes."""
    counts: dict[tuple[int, ...], int] = {}
    for r in range(rows.n_rows):
        key = tuple(int(rows.codes[k][r]) for k in chosen)
        counts[key] = counts.get(key, 0) + (1 if rows.weights is None else int(rows.weights[r]))
    return [counts[key] for key in sorted(counts)]


@settings(max_examples=100)
@given(strategies.counted(), st.integers(1, 5), st.sampled_from([3, 1 << 20]))
def test_columns_of_a_stream_are_those_of_its_rows(
    given_data: tuple[pn.Dag, pn.Dataset], size: int, merge_from: int
) -> None:
    """Whether equal rows of several batches are merged on the way, or not."""
    _, data = given_data
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(coded_rows, "_MERGE_FROM", merge_from)
        whole, parts = CodedRows(data, missing=True), CodedRows(SmallBatches(data, size), missing=True)
    assert whole.masks == parts.masks
    assert whole.has_missing == parts.has_missing
    assert whole.total == parts.total == data.total

    def rows_of(columns: CodedRows) -> dict[tuple[int, ...], int]:
        counts: dict[tuple[int, ...], int] = {}
        for r in range(columns.n_rows):
            key = tuple(int(codes[r]) for codes in columns.codes)
            counts[key] = counts.get(key, 0) + (1 if columns.weights is None else int(columns.weights[r]))
        return {key: n for key, n in counts.items() if n}

    assert rows_of(whole) == rows_of(parts)


@pytest.mark.parametrize(
    ("method", "name"),
    [("greedy", "random-set-bic"), ("greedy", "mdl"), ("k2", "chi2"), ("hybrid-tree", None), ("k2", "traced-bic")],
)
def test_memory_does_not_grow_as_the_square_of_distinct_cells(method: Any, name: Any) -> None:
    data = many_cells(5000)
    tracemalloc.start()
    try:
        pn.learn_structure(
            data, method, measure=name, search=pn.Search(orders=1), constraints=pn.Constraints(max_parents=1)
        )
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 100e6  # a table of all pairs of cells would have 200 MB


def test_what_does_not_fit_is_refused_with_its_size_and_a_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    data = many_cells(200)
    coded = [CodedRows(data), CodedRows(data, missing=True)]
    for module, names, method, by in (
        (contingency, ("DENSE", "_WORDS"), "mwst", "random-set-bic"),
        (contingency, ("_WORDS",), "hybrid-tree", None),
        (traced_score, ("_DENSE",), "greedy", "traced-bic"),
    ):
        with pytest.MonkeyPatch.context() as small:
            small.setattr("possnet.limits.memory.memory_limit", lambda: 1 << 10)
            small.setattr("possnet.limits.memory._SMALL", 0)
            small.setattr(score_registry, "CodedRows", lambda _, *, missing: coded[missing])
            for name in names:
                small.setattr(module, name, 0)
            with pytest.raises(pn.TooLarge, match=r"needs .*iB; the limit is 1 KiB; (use|set)"):
                pn.learn_structure(data, method, measure=by)

    def out_of_memory(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr(structure_learning, "_to_result", out_of_memory)
    with pytest.raises(pn.TooLarge, match="boss by coarsened-bic of 3 variables does not fit into memory"):
        pn.learn_structure(data)


@given(st.lists(st.integers(0, 9), max_size=150))
def test_bitmaps_of_codes_are_those_of_cells_of_one_state(codes: list[int]) -> None:
    numbers = np.array(codes, dtype=np.int64)
    np.testing.assert_array_equal(
        bitmaps.encode_codes(numbers, 10), bitmaps.encode_cells(numbers, np.eye(10, dtype=np.bool_))
    )

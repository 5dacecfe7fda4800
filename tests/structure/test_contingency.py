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
    for module, name, method, by in (
        (contingency, "DENSE", "mwst", "random-set-bic"),
        (contingency, "_WORDS", "hybrid-tree", None),
        (traced_score, "_DENSE", "greedy", "traced-bic"),
    ):
        with pytest.MonkeyPatch.context() as small:
            small.setattr("possnet.limits.memory.memory_limit", lambda: 1 << 10)
            small.setattr("possnet.limits.memory._SMALL", 0)
            small.setattr(score_registry, "CodedRows", lambda _, *, missing: coded[missing])
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

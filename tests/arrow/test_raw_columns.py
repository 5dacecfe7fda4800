"""Columns as they are read: lists and masks as codes into their distinct cells, and as bitmaps."""

from __future__ import annotations

import numpy as np
from hypothesis import given, strategies as st

import possnet as pn
from possnet.arrow import ListColumn, MaskColumn, PackedColumn, ProblemReport
from tests.strategies import seeds


@given(st.lists(st.sets(st.integers(0, 4)), max_size=30), st.sampled_from([5, 70]))
def test_lists_of_members_become_distinct_sets(lists: list[set[int]], size: int) -> None:
    members = np.array([member for one in lists for member in one], dtype=np.int64)
    lengths = np.array([len(one) for one in lists], dtype=np.int64)
    column = ListColumn("a", members, [str(k) for k in range(size)], lengths, None).to_text_column()
    assert [{int(text) for text in column.cells[code] or ()} for code in column.codes] == lists
    assert len(set(column.cells)) == len(column.cells)


@given(st.integers(1, 20), st.integers(1, 60), seeds)
def test_masks_lists_and_texts_become_the_same_bitmaps(states: int, rows: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    variable = pn.Variable("a", tuple(f"s{k:02d}" for k in range(states)))
    inside = rng.random((rows, states)) < 0.4
    inside[np.arange(rows), rng.integers(0, states, rows)] = True
    unknown = rng.random(rows) < 0.2
    masks = MaskColumn(variable, np.packbits(inside, axis=1, bitorder="little"), unknown)
    kept = inside & ~unknown[:, np.newaxis]
    lists = ListColumn("a", np.nonzero(kept)[1], list(variable.states), kept.sum(axis=1), unknown, variable.states)
    report = ProblemReport("file")
    columns = (masks, masks.to_text_column(), lists, lists.to_text_column(), PackedColumn.pack_column(lists, report))
    data = [pn.Dataset.from_columns([column], variables=[variable]) for column in columns]
    assert all(other == data[0] for other in data[1:])
    assert np.array_equal(data[0].missing("a"), unknown)
    assert [data[0].row(int(r))["a"] for r in np.flatnonzero(~unknown)] == [
        {state for state, held in zip(variable.states, inside[r], strict=True) if held}
        for r in np.flatnonzero(~unknown)
    ]

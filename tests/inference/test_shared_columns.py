"""Eliminations that compute once what rows share, against the same steps for every row."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from possnet.inference import shared_columns
from possnet.inference.elimination_steps import run_steps, schedule_elimination
from possnet.inference.semirings import MAX_MIN, MAX_PRODUCT, SUM_PRODUCT, Semiring
from possnet.inference.shared_columns import KeptMemory, SharedTable, order_for_sharing, run_sharing_steps


@pytest.mark.parametrize("semiring", [MAX_PRODUCT, MAX_MIN, SUM_PRODUCT], ids=lambda semiring: semiring.name)
@given(st.data())
def test_what_rows_share_is_computed_once(semiring: Semiring, data: st.DataObject) -> None:
    shape = tuple(data.draw(st.lists(st.integers(1, 3), min_size=1, max_size=4)))
    eliminated = data.draw(st.integers(0, len(shape)))
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    rows = data.draw(st.integers(1, 12))
    parts, shapes = [], []
    for _ in range(data.draw(st.integers(1, 6))):
        held = tuple(size if data.draw(st.booleans()) else 1 for size in shape)
        count = data.draw(st.integers(1, 3))
        codes = None if count == 1 else np.concatenate([np.arange(count), rng.integers(count, size=rows)])[-rows:]
        if codes is not None:
            distinct, codes = shared_columns.share_codes(codes)
            count = len(distinct)
        parts.append(SharedTable(rng.random((count, *held)), codes))
        shapes.append((*held, 1 if codes is None else 64))
    steps = schedule_elimination(shapes, eliminated)
    every = [np.moveaxis(part.values if part.codes is None else part.values[part.codes], 0, -1) for part in parts]
    whole = run_steps(steps, every, shape, semiring, np.empty(0))
    expected = np.moveaxis(np.broadcast_to(whole, (*whole.shape[:-1], rows)), -1, 0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shared_columns, "_ALONE", data.draw(st.sampled_from([0, 1 << 11])))
        patch.setattr(shared_columns, "_PIECE", data.draw(st.sampled_from([1, 10, 1 << 19])))
        patch.setattr(shared_columns, "_WORTH_SHARING", np.inf)
        order = order_for_sharing(steps, [part.codes for part in parts])
        if order is None:
            assert all(part.codes is None for part in parts)
            return
        assert order.ends[0] == 0
        assert order.ends[-1] == rows
        assert sorted(order.rows.tolist()) == list(range(rows))
        memory = KeptMemory()
        for begin, end in zip(order.ends, order.ends[1:], strict=False):
            assert begin < end
            chosen = order.rows[begin:end]
            result = run_sharing_steps(steps, [part.choose(chosen) for part in parts], shape, semiring, memory)
            found = np.broadcast_to(result.values[0], expected[chosen].shape)
            if result.codes is not None:
                found = result.values[result.codes]
            np.testing.assert_allclose(found, expected[chosen], rtol=1e-12)


def test_rows_that_agree_in_the_first_step_are_neighbours_and_computed_once() -> None:
    # The first variable leaves with part 0, which has two columns; part 1 is a column of its own for every row.
    steps = schedule_elimination([(3, 2, 64), (1, 2, 64)], 1)
    first = np.array([0, 1] * 8)
    order = order_for_sharing(steps, [first, np.arange(16)])
    assert order is not None
    assert first[order.rows].tolist() == [0] * 8 + [1] * 8
    assert order_for_sharing(steps, [np.arange(16), np.arange(16)]) is None

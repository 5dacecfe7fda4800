"""Kernels that work in blocks: the same numbers whatever the size of a block, and at the edges of words and tables."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from numpy.typing import NDArray

from possnet.kernels import bitmaps, cross_counts, graded_cells, log_sums, tally


def random_column(rng: np.random.Generator, states: int, rows: int, *, precise: bool) -> NDArray[np.bool_]:
    """Cells (states, rows), none empty."""
    cells: NDArray[np.bool_] = np.arange(states)[:, np.newaxis] == rng.integers(0, states, rows)
    return cells if precise else cells | (rng.random((states, rows)) < 0.3)


@pytest.mark.parametrize("rows", [0, 1, 63, 64, 65, 448, 600])
def test_bitmaps_of_codes_have_the_rows_of_each_code(rows: int) -> None:
    codes = np.random.default_rng(rows).integers(0, 3, rows)
    words = bitmaps.encode_codes(codes, 5)
    assert words.shape == (5, -(-rows // 64))
    assert np.array_equal(bitmaps.unpack(words, rows), np.arange(5)[:, np.newaxis] == codes)


@pytest.mark.parametrize("states", [1, 7, 8, 9, 16, 17])
def test_masks_have_as_many_bytes_as_their_states_need(states: int) -> None:
    cells = random_column(np.random.default_rng(states), states, 70, precise=False)
    masks = bitmaps.decode_masks(bitmaps.pack(cells), 70)
    assert masks.shape == (70, -(-states // 8))
    assert np.array_equal(bitmaps.unpack_sets(masks, states), cells.T)


def count_slowly(columns: list[NDArray[np.bool_]], weights: NDArray[np.int64]) -> NDArray[np.int64]:
    """Weight of the rows that contain each configuration, the last column fastest."""
    shape = [len(cells) for cells in columns]
    counts = np.zeros(shape, dtype=np.int64)
    for states in product(*map(range, shape)):
        inside = np.logical_and.reduce([cells[state] for cells, state in zip(columns, states, strict=True)])
        counts[states] = weights[inside].sum()
    return counts.reshape(-1, shape[-1])


@pytest.mark.parametrize("broadcast", [1, 8, 40, 1 << 15])
@pytest.mark.parametrize("precise", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("sizes", [(3,), (2, 3), (2, 3, 2, 4)])
def test_bitmaps_count_alike_in_blocks_of_any_size(
    monkeypatch: pytest.MonkeyPatch, sizes: tuple[int, ...], broadcast: int, precise: bool, weighted: bool
) -> None:
    monkeypatch.setattr(tally, "_BROADCAST", broadcast)
    rng = np.random.default_rng(3)
    columns = [random_column(rng, size, 150, precise=precise) for size in sizes]
    weights = rng.integers(1, 8, 150) if weighted else np.ones(150, dtype=np.int64)
    planes = [bitmaps.pack((weights >> bit & 1).astype(np.bool_)) for bit in range(3)] if weighted else None
    *parents, child = [bitmaps.pack(cells) for cells in columns]
    counted = tally.by_bitmaps(parents, child, 150, planes, precise=precise, scratch=tally.Scratch())
    expected = count_slowly(columns, weights)
    totals = count_slowly([*columns[:-1], np.ones((1, 150), dtype=np.bool_)], weights)[:, 0]
    assert np.array_equal(counted.counts, expected[totals > 0])
    assert np.array_equal(counted.totals, totals[totals > 0])
    assert len(counted.contexts) == (totals > 0).sum()


@pytest.mark.parametrize("cached", [1, 5, 1 << 15])
def test_cross_tables_are_alike_in_parts_of_any_size(monkeypatch: pytest.MonkeyPatch, cached: int) -> None:
    monkeypatch.setattr(cross_counts, "_CACHED", cached)
    rng = np.random.default_rng(5)
    contexts = random_column(rng, 3, 300, precise=True)
    columns = [random_column(rng, size, 300, precise=False) for size in (2, 4)]
    states = np.vstack(columns)
    weights = rng.integers(0, 1 << 40, 300)
    words = bitmaps.pack(contexts), bitmaps.pack(states)
    expected = contexts.astype(np.int64) @ states.T.astype(np.int64)
    assert np.array_equal(cross_counts.by_bitmaps(*words), expected)
    weighted = (contexts * weights) @ states.T.astype(np.int64)
    assert np.array_equal(cross_counts.by_weights(*words, 300, weights), weighted)
    shares = cross_counts.by_weights(*words, 300, weights.astype(np.float64))
    assert shares == pytest.approx(weighted, rel=1e-12)


@pytest.mark.parametrize("cached", [1, 1 << 15])
def test_no_contexts_and_no_states_make_an_empty_cross_table(monkeypatch: pytest.MonkeyPatch, cached: int) -> None:
    monkeypatch.setattr(cross_counts, "_CACHED", cached)
    nothing = np.zeros((0, 2), dtype=bitmaps.WORD)
    assert cross_counts.by_bitmaps(nothing, nothing).shape == (0, 0)
    assert cross_counts.by_weights(nothing, nothing, 100, np.ones(100, dtype=np.int64)).shape == (0, 0)
    some_states = np.zeros((3, 0), dtype=bitmaps.WORD)
    assert np.array_equal(cross_counts.by_bitmaps(some_states, some_states), np.zeros((3, 3)))


def test_rows_of_sets_alone_have_one_cut_of_level_1() -> None:
    cuts = graded_cells.cut_rows([np.array([-1, -1])], [np.zeros((0, 2))], 2)
    assert (cuts.origins.tolist(), cuts.levels.tolist(), cuts.shares.tolist()) == ([0, 1], [1.0, 1.0], [1.0, 1.0])


def test_shares_below_any_that_matter_are_zero_and_no_row_loses_its_sum() -> None:
    logs = np.array([[0.0, -199.0, -201.0], [-1000.0, -1300.0, -1000.0], [-np.inf, -np.inf, 2.0]])
    with np.errstate(invalid="ignore"):
        totals = log_sums.normalise_logs(logs)
    assert (logs > 0).tolist() == [[True, True, False], [True, False, True], [False, False, True]]
    assert logs.sum(axis=1) == pytest.approx(1.0)
    assert totals == pytest.approx([0.0, -1000.0 + np.log(2.0), 2.0])

"""Packed bitmaps against plain boolean arrays."""

from __future__ import annotations

import numpy as np
from hypothesis import given, strategies as st
from numpy.typing import NDArray

from possnet.kernels import bitmaps
from tests.strategies import seeds

rows = st.integers(0, 200)
states = st.integers(1, 20)


def random_bits(seed: int, *shape: int) -> NDArray[np.bool_]:
    return np.random.default_rng(seed).random(shape) < 0.4


@given(seeds, states, rows)
def test_packing_and_unpacking_are_inverse(seed: int, k: int, n: int) -> None:
    bits = random_bits(seed, k, n)
    words = bitmaps.pack(bits)
    assert np.array_equal(bitmaps.unpack(words, n), bits)
    assert np.array_equal(bitmaps.count_bits(words), bits.sum(axis=1))
    assert np.array_equal(bitmaps.unpack(bitmaps.mark_imprecise(words), n), bits.sum(axis=0) >= 2)
    assert np.array_equal(bitmaps.unpack(bitmaps.ones(n), n), np.ones(n, dtype=bool))
    assert bitmaps.count_bits(bitmaps.ones(n)) == n


@given(seeds, states, rows)
def test_codes_masks_and_bitmaps_say_the_same(seed: int, k: int, n: int) -> None:
    bits = random_bits(seed, k, n)
    words = bitmaps.pack(bits)
    codes, octets = bitmaps.decode_cells(words, n)
    cells = bitmaps.unpack_sets(octets, k)
    masks = [bitmaps.mask_of(inside) for inside in cells]
    assert masks == sorted(masks)
    assert np.array_equal(cells[codes].T if n else bits, bits)
    assert len(np.unique(cells, axis=0)) == len(cells)
    if n:
        assert np.array_equal(bitmaps.encode_cells(codes, cells), words)
        assert np.array_equal(bitmaps.encode_masks(np.ascontiguousarray(bitmaps.decode_masks(words, n)), k), words)


@given(seeds, states, rows, st.data())
def test_cutting_taking_and_joining_work_row_by_row(seed: int, k: int, n: int, data: st.DataObject) -> None:
    bits = random_bits(seed, k, n)
    words = bitmaps.pack(bits)
    start = data.draw(st.integers(0, n))
    stop = data.draw(st.integers(start, n))
    part = bitmaps.slice_rows(words, start, stop)
    assert np.array_equal(bitmaps.unpack(part, stop - start), bits[:, start:stop])
    assert np.array_equal(bitmaps.count_bits(part), bits[:, start:stop].sum(axis=1))
    wanted = np.array(data.draw(st.lists(st.integers(0, n - 1)) if n else st.just([])), dtype=np.int64)
    assert np.array_equal(bitmaps.unpack(bitmaps.take_rows(words, n, wanted), len(wanted)), bits[:, wanted])
    joined = bitmaps.concatenate([(words, n), (part, stop - start), (words, n)])
    expected = np.concatenate([bits, bits[:, start:stop], bits], axis=1)
    assert np.array_equal(bitmaps.unpack(joined, expected.shape[1]), expected)
    assert np.array_equal(bitmaps.count_bits(joined), expected.sum(axis=1))


@given(st.integers(1, 300), st.integers(0, 200), seeds)
def test_decoded_single_states_are_the_states(size: int, n: int, seed: int) -> None:
    codes = np.random.default_rng(seed).integers(0, size, n)
    words = bitmaps.encode_cells(codes, np.eye(size, dtype=bool))
    assert np.array_equal(bitmaps.decode_states(words, n), codes)

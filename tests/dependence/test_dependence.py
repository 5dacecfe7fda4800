"""Measures of dependence: values by hand, laws, and counts of all pairs against counting row by row."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import log2
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import possnet as pn
from possnet.dependence import (
    CONTOUR_MEASURES,
    chi2,
    conditional_dependence,
    count_pairs,
    independent_contour,
    measure_dependence,
    mutual_information,
    nonspecificity,
    nonspecificity_gain,
    pair_counts as pairs_module,
    similarity_dependence,
)
from possnet.kernels import bitmaps, cross_counts
from tests import oracles, strategies

PRODUCT_PAIR = [[1, 0.5], [0.5, 0.25]]


@st.composite
def contours(draw: st.DrawFn, *, axes: int = 2) -> np.ndarray:
    shape = tuple(draw(st.integers(1, 4)) for _ in range(axes))
    size = int(np.prod(shape))
    values = np.array(draw(st.lists(strategies.levels, min_size=size, max_size=size)))
    values[draw(st.integers(0, size - 1))] = 1.0
    return values.reshape(shape)


def test_values_by_hand() -> None:
    joint = 0.25 * log2(4) + 0.25 * log2(3)
    assert nonspecificity([1, 0.5]) == 0.5
    assert nonspecificity([1, 0.6, 0.1]) == pytest.approx(0.658496, abs=1e-6)
    assert measure_dependence("specificity-gain", PRODUCT_PAIR) == pytest.approx(1 - joint)
    assert round(measure_dependence("specificity-gain", PRODUCT_PAIR), 3) == 0.104
    assert measure_dependence("specificity-ratio", PRODUCT_PAIR) == pytest.approx((1 - joint) / 0.5)
    assert measure_dependence("specificity-symmetric", PRODUCT_PAIR) == pytest.approx((1 - joint) / joint)
    assert chi2(PRODUCT_PAIR) == 0.0
    assert chi2(PRODUCT_PAIR, weighted=True) == 0.0
    assert mutual_information(PRODUCT_PAIR) == 0.0
    assert chi2(PRODUCT_PAIR, pn.MIN) == pytest.approx(0.25**2)
    assert chi2(PRODUCT_PAIR, pn.MIN, weighted=True) == pytest.approx(0.25**2 / 0.5)
    assert mutual_information(PRODUCT_PAIR, pn.MIN) == pytest.approx(-0.25 * log2(0.25 / 0.5))
    assert nonspecificity_gain(PRODUCT_PAIR) == 0.0
    assert round(nonspecificity_gain([[1, 0.5], [0.5, 0.5]]), 3) == -0.104  # with PRODUCT it has a sign
    strong = [[1, 0], [0, 1]]
    assert measure_dependence("specificity-gain", strong) == 1.0
    assert chi2(strong) == 2.0
    assert mutual_information(strong) == pytest.approx(2 / np.log(2))
    assert str(mutual_information(strong, pn.MIN)) == "0.0"  # it never sees what is impossible; and 0 has no sign


@given(contours(), st.sampled_from(list(CONTOUR_MEASURES)), st.sampled_from([pn.PRODUCT, pn.MIN]))
def test_measures_are_their_definitions(contour: np.ndarray, name: str, conjunction: Any) -> None:
    expected = oracles.dependence(name, contour.tolist(), conjunction.name)
    assert measure_dependence(name, contour, conjunction) == pytest.approx(max(expected, 0.0), abs=1e-9)
    assert measure_dependence(name, contour * 7, conjunction) == pytest.approx(max(expected, 0.0), abs=1e-9)


@given(contours())
def test_measures_are_never_negative_and_symmetric_ones_are(contour: np.ndarray) -> None:
    for name in CONTOUR_MEASURES:
        for conjunction in (pn.PRODUCT, pn.MIN):
            value = measure_dependence(name, contour, conjunction)
            assert value >= 0.0
            if name != "specificity-ratio":
                assert measure_dependence(name, contour.T, conjunction) == pytest.approx(value, abs=1e-9)


@given(st.lists(strategies.levels, min_size=1, max_size=4), st.lists(strategies.levels, min_size=1, max_size=4))
def test_independent_pairs_measure_nothing_by_their_own_conjunction(first: list[float], second: list[float]) -> None:
    a, b = np.array([1.0, *first]), np.array([1.0, *second])
    product, least = np.outer(a, b), np.minimum.outer(a, b)
    assert chi2(product) == pytest.approx(0.0, abs=1e-12)
    assert mutual_information(product) == pytest.approx(0.0, abs=1e-12)
    assert chi2(least, pn.MIN) == 0.0
    assert mutual_information(least, pn.MIN) == pytest.approx(0.0, abs=1e-12)
    for name in ("specificity-gain", "specificity-ratio", "specificity-symmetric"):
        assert measure_dependence(name, least) == pytest.approx(0.0, abs=1e-9)
    np.testing.assert_allclose(independent_contour(product), product)
    np.testing.assert_allclose(independent_contour(least, pn.MIN), least)


@given(contours(axes=3))
def test_conditional_specificity_gain_is_what_a_further_parent_adds(cube: np.ndarray) -> None:
    """U(XZ) + U(YZ) - U(Z) - U(XYZ) = gain of Y against (Z, X) minus gain of Y against Z."""
    z, x, y = cube.shape
    wide = measure_dependence("specificity-gain", cube.reshape(z * x, y))
    narrow = measure_dependence("specificity-gain", cube.max(axis=1))
    assert conditional_dependence("specificity-gain", cube) == pytest.approx(max(wide - narrow, 0.0), abs=1e-9)


@given(contours(axes=3), st.sampled_from([pn.PRODUCT, pn.MIN]))
def test_conditional_measures_are_means_over_contexts(cube: np.ndarray, conjunction: Any) -> None:
    for name in ("chi2", "mutual-information"):
        weights = cube.max(axis=(1, 2))
        expected = sum(
            w * max(oracles.dependence(name, (table / w).tolist(), conjunction.name), 0.0)
            for w, table in zip(weights, cube, strict=True)
            if w > 0
        ) / weights.sum()  # fmt: skip
        assert conditional_dependence(name, cube, conjunction) == pytest.approx(expected, abs=1e-9)


@settings(max_examples=80)
@given(strategies.counted(), st.sampled_from([1, 4, 256]), st.sampled_from([64, 1 << 17]))
def test_pair_counts_are_those_of_counting_row_by_row(
    given_data: tuple[pn.Dag, pn.Dataset], many: int, block: int
) -> None:
    _, data = given_data
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pairs_module, "_MANY_STATES", many)
        patch.setattr(pairs_module, "_BLOCK", block)
        counts = count_pairs(data)
    assert counts.rows == data.total
    names = [v.name for v in data.variables]
    for first in names:
        for second in names:
            expected = oracles.pair_counts(data, first, second)
            found = counts.table(first, second)
            if first == second:
                assert np.diag(found).tolist() == np.diag(expected).tolist()
            else:
                assert found.tolist() == expected
                top = max(map(max, expected))
                np.testing.assert_allclose(counts.contour(first, second), np.array(expected) / top if top else 1.0)


@settings(max_examples=30)
@given(strategies.seeds, st.sampled_from([1, 63, 64, 65, 5000]), st.integers(1, 40), st.integers(1, 40))
def test_counting_against_everything_is_the_same_by_every_kernel(
    seed: int, rows: int, contexts: int, states: int
) -> None:
    rng = np.random.default_rng(seed)
    inside, others = rng.random((contexts, rows)) < 0.4, rng.random((states, rows)) < 0.3
    weights = rng.integers(0, 2**45, rows)
    packed, other = bitmaps.pack(inside), bitmaps.pack(others)
    plain = inside.astype(np.int64) @ others.T.astype(np.int64)
    np.testing.assert_array_equal(cross_counts.by_bitmaps(packed, other), plain)
    heavy = (inside.astype(object) * weights) @ others.T.astype(object)
    assert cross_counts.by_weights(packed, other, rows, weights).tolist() == heavy.tolist()
    codes, column = rng.integers(0, contexts, rows), rng.integers(0, states, rows)
    table = np.zeros((contexts, states), dtype=np.int64)
    np.add.at(table, (codes, column), weights)
    np.testing.assert_array_equal(cross_counts.by_codes(codes, contexts, [column], [states], weights), table)


@settings(max_examples=30)
@given(
    strategies.seeds,
    st.sampled_from([1, 63, 64, 65, 2000]),
    st.integers(1, 20),
    st.lists(st.integers(1, 9), max_size=9),
)
def test_columns_that_part_the_rows_are_counted_alike_with_a_state_less_and_together(
    seed: int, rows: int, contexts: int, sizes: list[int]
) -> None:
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, contexts, rows)
    columns = [rng.integers(0, size, rows) for size in sizes]
    weights = rng.integers(1, 9, rows)
    plain = [np.zeros((contexts, size), dtype=np.int64) for size in sizes]
    heavy = [np.zeros((contexts, size), dtype=np.int64) for size in sizes]
    for column, counted, weighted in zip(columns, plain, heavy, strict=True):
        np.add.at(counted, (codes, column), 1)
        np.add.at(weighted, (codes, column), weights)
    expected = np.concatenate([np.zeros((contexts, 0), dtype=np.int64), *plain], axis=1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cross_counts, "_JOINT_ENTRIES", int(rng.choice([1, 50, 1 << 12])))
        assert np.array_equal(cross_counts.by_codes(codes, contexts, columns, sizes), expected)
        shares = cross_counts.by_codes(codes, contexts, columns, sizes, weights)
    assert np.array_equal(shares, np.concatenate([expected[:, :0], *heavy], axis=1))
    if not sizes:
        return
    inside = bitmaps.pack(codes == np.arange(contexts)[:, np.newaxis])
    states = [
        bitmaps.pack(column == np.arange(size)[:, np.newaxis])[:-1] for column, size in zip(columns, sizes, strict=True)
    ]
    assert np.array_equal(cross_counts.by_partitions(inside, np.concatenate(states), sizes), expected)


def test_pairs_of_a_stream_are_those_of_its_rows() -> None:
    net = pn.load_example("clinic")
    whole = pn.sample(net, 3000, imprecision=0.5, rng=2)
    stream = pn.sample_batches(net, 3000, imprecision=0.5, rng=2, batch=700)
    seen: list[tuple[int, int]] = []
    one, other = count_pairs(whole), count_pairs(stream, progress=lambda done, total: seen.append((done, total)))
    for first in net.variables:
        for second in net.variables:
            np.testing.assert_array_equal(one.table(first.name, second.name), other.table(first.name, second.name))
    assert seen[-1][0] == 3000


def test_contours_of_drawn_rows_are_product_independent_whatever_the_conjunction() -> None:
    a, b = pn.Variable("a", ("1", "2")), pn.Variable("b", ("1", "2"))
    for conjunction in (pn.PRODUCT, pn.MIN):
        net = pn.Network((a, b), pn.Dag({"a": (), "b": ()}), {"a": [1, 0.5], "b": [1, 0.5]}, conjunction=conjunction)
        contour = count_pairs(pn.sample(net, 200_000, rng=1)).contour("a", "b")
        np.testing.assert_allclose(contour, PRODUCT_PAIR, atol=0.01)
        assert mutual_information(contour) < 1e-4
        assert measure_dependence("specificity-gain", contour) == pytest.approx(0.104, abs=0.01)


@settings(max_examples=60)
@given(strategies.seeds, st.integers(2, 4), st.integers(2, 4))
def test_noise_alone_is_no_dependence_and_dependence_is(seed: int, first: int, second: int) -> None:
    rng = np.random.default_rng(seed)
    rows = 2000
    a = rng.random((first, rows)) < rng.uniform(0.2, 0.9, (first, 1))
    b = rng.random((second, rows)) < rng.uniform(0.2, 0.9, (second, 1))
    counted = (a.astype(int) @ b.T.astype(int))[np.newaxis]
    total = np.array([rows])
    single, other = a.sum(axis=1)[np.newaxis], b.sum(axis=1)[np.newaxis]
    assert similarity_dependence(counted, single, other, total, errors=5.0) == 0.0
    b[0] = a[0]
    counted = (a.astype(int) @ b.T.astype(int))[np.newaxis]
    assert similarity_dependence(counted, single, b.sum(axis=1)[np.newaxis], total) > 0.0


def test_dependence_by_similarity_is_symmetric() -> None:
    rng = np.random.default_rng(3)
    both = rng.integers(0, 50, (3, 2, 4))
    first, second, rows = both.sum(axis=2), both.sum(axis=1), both.sum(axis=(1, 2))
    value = similarity_dependence(both, first, second, rows, errors=0.5)
    assert value > 0
    assert similarity_dependence(both.transpose(0, 2, 1), second, first, rows, errors=0.5) == value


def test_what_cannot_be_measured_is_refused() -> None:
    wrong: Any = "max"
    two, three, one = np.ones((1, 2), dtype=int), np.ones((1, 3), dtype=int), np.ones(1, dtype=int)
    cube = np.ones((1, 2, 2), dtype=int)
    no_contours: list[Any] = ["abc", [[1, 0.5], [1]], [[1, "x"]], None, [{}]]
    refused: list[tuple[Callable[[], object], str]] = [
        (lambda: measure_dependence("gain", PRODUCT_PAIR), "measure 'gain'; expected specificity-gain"),
        (lambda: chi2(PRODUCT_PAIR, wrong), "conjunction 'max'; expected possnet.PRODUCT"),
        (
            lambda: measure_dependence("specificity-gain", PRODUCT_PAIR, wrong),
            "conjunction 'max'; expected possnet.PRODUCT",
        ),
        (lambda: conditional_dependence("chi2", [PRODUCT_PAIR], wrong), "conjunction 'max'; expected possnet.PRODUCT"),
        (
            lambda: conditional_dependence("specificity-gain", [PRODUCT_PAIR], wrong),
            "conjunction 'max'; expected possnet.PRODUCT",
        ),
        *((partial(chi2, contour), "contour.*expected") for contour in no_contours),
        (lambda: similarity_dependence(cube, two, two, one, errors=-1.0), "expected standard errors from 0 on"),
        (lambda: similarity_dependence(cube, two, two, one, errors=float("nan")), "expected standard errors from 0 on"),
        (lambda: similarity_dependence(cube, three, two, one), "expected .z, x, y."),
        (lambda: nonspecificity([]), "at least one degree"),
        (lambda: nonspecificity([1, -1]), "below 0"),
        (lambda: conditional_dependence("chi2", PRODUCT_PAIR), "expected 3"),
        (
            lambda: count_pairs(pn.Dataset.from_table({"fever": ["x"]})).table("fever", "fevr"),
            "no variable 'fevr'.*did you mean 'fever'",
        ),
        (lambda: count_pairs("rows.csv"), "holds no rows"),  # type: ignore[arg-type]
    ]
    for ask, message in refused:
        with pytest.raises(pn.InputError, match=message):
            ask()

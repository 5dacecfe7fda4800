"""The scores of all families at once, against those that are counted one by one, and the data cube behind them."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import possnet as pn
from possnet.kernels import data_cube
from possnet.structure.bit_sets import bits_of
from possnet.structure.decomposable_scores import DecomposableScore
from tests import strategies
from tests.structure.cases import family_score

MEASURES = st.sampled_from(["bic", "random-set-bic", "bdeu"])


def draw_rows(seed: int, name: str) -> pn.Dataset:
    """Rows of a random network, of which some stand several times, and none has some of the states."""
    rng = np.random.default_rng(seed)
    net = pn.random_network(int(rng.integers(2, 6)), max_parents=2, states=(2, 4), rng=seed)
    imprecise: dict[str, Any] = {"process": "alpha-cut", "imprecision": 0.5}
    how = imprecise if name == "random-set-bic" else {"process": "precise"}
    rows: pn.Dataset = pn.sample(net, int(rng.integers(1, 200)), rng=seed, **how)
    return rows.distinct() if seed % 2 else rows


@settings(max_examples=60)
@given(strategies.seeds, MEASURES)
def test_families_scored_at_once_are_those_scored_one_by_one(seed: int, name: str) -> None:
    data = draw_rows(seed, name)
    score = family_score(data, name)
    table = score.tabulate_families(1 << 22)
    assert table is not None
    size, margin = score.size, 1e-9 * max(float(data.total), 1.0)
    for child in range(size):
        others = [k for k in range(size) if k != child]
        for parents in (chosen for number in range(size) for chosen in combinations(others, number)):
            assert table.score_family(child, parents) == pytest.approx(
                score.score_family(child, parents), rel=1e-9, abs=margin
            )
            slow = score.score_additions(child, parents)
            assert table.score_additions(child, parents) == pytest.approx(slow, rel=1e-9, abs=margin)


@settings(max_examples=30)
@given(strategies.seeds, MEASURES, st.integers(0, 2))
def test_a_climb_returns_the_same_with_and_without_the_table(seed: int, name: Any, restarts: int) -> None:
    data = draw_rows(seed, name)
    search = pn.Search(restarts=restarts)
    with pytest.MonkeyPatch.context() as patch:
        tabulate = DecomposableScore.tabulate_families
        patch.setattr(DecomposableScore, "tabulate_families", lambda score: tabulate(score, 1 << 22))
        fast = pn.learn_structure(data, "greedy", measure=name, search=search, rng=seed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(DecomposableScore, "tabulate_families", lambda *_: None)
        slow = pn.learn_structure(data, "greedy", measure=name, search=search, rng=seed)
    assert fast.dag == slow.dag
    assert fast.score == pytest.approx(slow.score, rel=1e-9)
    assert [step[:3] for step in fast.trace] == [step[:3] for step in slow.trace]
    assert [step.ties for step in fast.trace] == [step.ties for step in slow.trace]
    assert {miss[:3] for miss in fast.near_misses} == {miss[:3] for miss in slow.near_misses}


def test_many_variables_and_large_tables_are_counted_family_by_family() -> None:
    many = pn.sample(pn.random_network(11, max_parents=1, states=(2, 2), rng=1), 50, process="precise", rng=1)
    large = pn.sample(pn.random_network(8, max_parents=1, states=(4, 4), rng=1), 500, process="precise", rng=1)
    assert family_score(many, "bic").tabulate_families() is None
    assert family_score(large, "bic").tabulate_families() is None
    assert family_score(pn.Dataset.from_rows(many.variables[:3], []), "bic").tabulate_families() is None


@given(st.lists(st.integers(1, 4), min_size=1, max_size=5), strategies.seeds)
def test_the_data_cube_has_the_counts_of_every_marginal_table(sizes: list[int], seed: int) -> None:
    counts = np.random.default_rng(seed).integers(0, 9, size=sizes).astype(np.float64)
    cube = data_cube.marginal_counts(counts.ravel(), sizes)
    sums = data_cube.sum_by_subset(np.square(cube), sizes)
    cells = cube.reshape([size + 1 for size in sizes])
    axes = range(len(sizes))
    for number in range(len(sizes) + 1):
        for chosen in combinations(axes, number):
            marginal = counts.sum(axis=tuple(k for k in axes if k not in chosen))
            place = tuple(slice(sizes[k]) if k in chosen else sizes[k] for k in axes)
            assert cells[place] == pytest.approx(marginal)
            assert sums[bits_of(len(sizes) - 1 - k for k in chosen)] == pytest.approx(np.square(marginal).sum())


@given(st.lists(st.integers(1, 9), max_size=6))
def test_products_of_subsets_are_those_of_their_factors(factors: list[int]) -> None:
    products = data_cube.subset_products(factors)
    for chosen in range(1 << len(factors)):
        assert products[chosen] == np.prod([factor for k, factor in enumerate(factors) if chosen >> k & 1])

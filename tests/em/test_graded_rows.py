"""Learning from rows whose cells carry degrees: the same as from their alpha-cuts with weights."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings

import possnet as pn
from tests import strategies


class Parts:
    """A stream of a data set, three rows at a time."""

    weighted, rows = True, None

    def __init__(self, data: pn.Dataset) -> None:
        self.data, self.variables = data, data.variables

    def __iter__(self) -> Iterator[pn.Dataset]:
        for start in range(0, len(self.data), 3):
            yield self.data[start : start + 3]


@settings(max_examples=15)
@given(strategies.graded_counted())
def test_em_learns_from_the_cuts(given_data: tuple[pn.Dag, pn.Dataset]) -> None:
    dag, data = given_data
    if not data.total:
        return
    names = list(dag.nodes)
    expected = pn.fit_em(dag, data.select(names).alpha_cuts(), tolerance=1e-6)
    for rows in (data, Parts(data)):
        learned = pn.fit_em(dag, rows, tolerance=1e-6)
        assert learned.log_likelihood[-1] == pytest.approx(expected.log_likelihood[-1], abs=1e-6)
        for name in names:
            assert np.allclose(learned.network.table(name), expected.network.table(name), atol=1e-3)


@settings(max_examples=15)
@given(strategies.graded_counted())
def test_coarsened_rows_are_learned_from_the_cuts(given_data: tuple[pn.Dag, pn.Dataset]) -> None:
    dag, data = given_data
    if not data.total:
        return
    expected = pn.fit_coarsened(dag, data.select(list(dag.nodes)).alpha_cuts(), tolerance=1e-9)
    for rows in (data, Parts(data)):
        learned = pn.fit_coarsened(dag, rows, tolerance=1e-9)
        assert learned.support is not None
        assert expected.support is not None
        for name in dag.nodes:
            assert np.allclose(learned.support[name], expected.support[name], atol=1e-3)


def test_weights_of_half_are_half_of_the_rows() -> None:
    asia = pn.load_example("asia")
    data = pn.sample(asia, 400, imprecision=0.5, process="traced", rng=3)
    whole, half = (pn.fit_em(asia.dag, data.with_weights(np.full(400, w)), tolerance=1e-8) for w in (1, 0.5))
    assert half.log_likelihood[-1] == pytest.approx(whole.log_likelihood[-1] / 2, rel=1e-6)
    for name in asia.dag.nodes:
        assert np.allclose(half.support[name] * 2, whole.support[name], atol=1e-2)

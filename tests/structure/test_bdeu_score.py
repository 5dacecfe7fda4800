"""BDeu against the probability of rows one after the other."""

from __future__ import annotations

from math import lgamma

import numpy as np
import pytest
from hypothesis import given, strategies as st

import possnet as pn
from possnet.structure.bdeu_score import BdeuScore, log_gamma
from possnet.structure.coded_rows import CodedRows
from tests import oracles, strategies
from tests.structure.cases import numbered, score_of


@given(strategies.seeds, st.integers(2, 5), st.integers(0, 60), st.sampled_from([0.5, 1.0, 10.0]), st.booleans())
def test_bdeu_is_the_probability_of_the_rows_and_the_edges(
    seed: int, variables: int, rows: int, sample_size: float, merged: bool
) -> None:
    net = pn.random_network(variables, max_parents=3, states=(1, 3), rng=seed)
    data = pn.sample(net, rows, process="precise", rng=seed)
    data = data.distinct() if merged and rows else data
    score = BdeuScore(CodedRows(data), sample_size=sample_size)
    assert score_of(score, net.dag) == pytest.approx(oracles.bdeu(net.dag, data, sample_size), rel=1e-9, abs=1e-8)


@given(strategies.seeds, st.booleans())
def test_additions_are_scored_like_families(seed: int, wide: bool) -> None:
    net = pn.random_network(6, max_parents=2, states=(2, 40 if wide else 3), rng=seed)
    rows = CodedRows(pn.sample(net, 100, process="precise", rng=seed))
    score = BdeuScore(rows)
    for child, parents in enumerate(numbered(net.dag, [v.name for v in net.variables])):
        additions = score.score_additions(child, parents)
        for k in range(6):
            if k != child and k not in parents:
                one = BdeuScore(rows).score_family(child, tuple(sorted((*parents, k))))
                impossible = np.isneginf(additions[k]) and one <= score.score_family(child, parents)
                assert impossible or additions[k] == pytest.approx(one, rel=1e-9)


@given(st.floats(1.0, 1e9))
def test_the_series_is_the_logarithm_of_the_gamma_function(number: float) -> None:
    assert log_gamma(np.array([number]))[0] == pytest.approx(lgamma(number), rel=1e-12, abs=1e-11)


@given(strategies.seeds)
def test_equivalent_structures_have_the_same_bdeu(seed: int) -> None:
    net = pn.random_network(4, max_parents=2, states=(2, 3), rng=seed)
    data = pn.sample(net, 50, process="precise", rng=seed)
    score = BdeuScore(CodedRows(data))
    chain, fork = ([("v1", "v2"), ("v2", "v3")], [("v2", "v1"), ("v2", "v3")])
    names = dict(zip(("v1", "v2", "v3"), (v.name for v in net.variables), strict=False))
    one, other = (
        pn.Dag.from_edges([(names[a], names[b]) for a, b in edges], nodes=net.dag.nodes) for edges in (chain, fork)
    )
    assert score_of(score, one) == pytest.approx(score_of(score, other), rel=1e-9)


def test_bdeu_refuses_imprecise_rows() -> None:
    data = pn.sample(pn.load_example("asia"), 50, rng=1)
    with pytest.raises(pn.InputError, match="measure 'bdeu' with cells of .*expected precise rows"):
        pn.learn_structure(data, measure="bdeu")


def test_constant_columns_stay_apart_by_bdeu() -> None:
    """By all states, those that never occur too, three such columns of 1,000 rows would be joined."""
    scope = [pn.Variable(name, tuple("abc")) for name in "uvwxyz"]
    data = pn.Dataset.from_rows(scope, [("a",) * 6] * 1000)
    assert pn.learn_structure(data, measure="bdeu").dag.edges == ()

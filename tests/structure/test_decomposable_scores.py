"""Decomposable scores against their definitions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import possnet as pn
from possnet.structure import (
    contingency,
    decomposable_scores,
)
from tests import oracles, strategies
from tests.structure.cases import NAMES, SHAPES, family_score, numbered, oracle, random_tables, rounding, score_of


@settings(max_examples=100)
@given(strategies.counted(), st.sampled_from([0.0, 1e9]))
def test_scores_are_their_definitions(given_data: tuple[pn.Dag, pn.Dataset], row_price: float) -> None:
    """Whichever kernel counts: a histogram that costs nothing, or one that costs everything."""
    dag, rows = given_data
    data = rows.select(dag.nodes)
    if data.total == 0:
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(contingency, "_ROW", row_price)
        for name in ("random-set-bic", "mdl"):
            score = score_of(family_score(data, name), dag)
            assert score == pytest.approx(oracle(name)(dag, data), rel=1e-9, abs=rounding(data))


@settings(max_examples=100)
@given(
    strategies.counted(),
    st.sampled_from([0.0, 1e9]),
    st.sampled_from([0, 1 << 24]),
    st.sampled_from(["random-set-bic", "mdl"]),
    st.data(),
)
def test_additions_are_families_with_one_more_parent(
    given_data: tuple[pn.Dag, pn.Dataset], row_price: float, dense: int, name: Any, draw: st.DataObject
) -> None:
    """By tables of all cells, or by those that occur."""
    dag, rows = given_data
    data = rows.select(dag.nodes)
    names = list(dag.nodes)
    child = draw.draw(st.integers(0, len(names) - 1))
    parents = numbered(dag, names)[child]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(contingency, "_ROW", row_price)
        patch.setattr(decomposable_scores, "DENSE", dense)
        fast = family_score(data, name).score_additions(child, parents)
        slow = family_score(data, name)
        now = slow.score_family(child, parents)
        for k in range(len(names)):
            if k == child or k in parents:
                assert fast[k] == -np.inf
            else:
                wider = slow.score_family(child, tuple(sorted((*parents, k))))
                assert fast[k] == pytest.approx(wider, rel=1e-9, abs=rounding(data)) or (
                    fast[k] == -np.inf and wider <= now + rounding(data)
                )


@pytest.mark.parametrize("name", ["random-set-bic", "mdl", "bic"])
def test_scores_are_the_same_for_equivalent_structures(name: Any) -> None:
    net = random_tables(pn.Dag.from_edges(SHAPES["collider"], nodes=NAMES), 3, 4)
    process: Any = "precise" if name == "bic" else "alpha-cut"
    score = family_score(pn.sample(net, 500, process=process, rng=1), name)
    classes: dict[pn.EssentialGraph, float] = {}
    for dag in oracles.all_dags(NAMES):
        value = score_of(score, dag)
        assert classes.setdefault(dag.essential_graph(), value) == pytest.approx(value, abs=1e-6)
    assert len(classes) == 11

"""The registries of scores and search methods: what entries say holds, and a new score is one entry."""

from __future__ import annotations

from collections.abc import Iterator
from math import log

import numpy as np
import pytest

import possnet as pn
from possnet.structure import MEASURES, METHODS, DecomposableScore, StructureScore, fitting_measure
from possnet.structure.search_methods import choose_method
from tests import oracles


@pytest.fixture
def aic() -> Iterator[StructureScore]:
    """Akaike's criterion, registered for one test: one nat for every free parameter."""
    yield MEASURES.register(
        StructureScore(
            "aic",
            "AIC",
            lambda problem: DecomposableScore(problem.rows, price=1.0),
            takes_imprecise_rows=False,
        )
    )
    MEASURES.unregister("aic")


def free_parameters(net: pn.Network, dag: pn.Dag) -> int:
    sizes = {v.name: len(v) for v in net.variables}
    return sum((sizes[n] - 1) * int(np.prod([sizes[p] for p in dag.parents(n)])) for n in dag.nodes)


@pytest.mark.parametrize("method", ["greedy", "k2", "mwst"])
def test_a_score_that_is_registered_is_learned_by(method: str, aic: StructureScore) -> None:
    asia = pn.load_example("asia")
    data = pn.sample(asia, 2000, process="precise", rng=1)
    learned = pn.learn_structure(data, method, measure=aic.name)
    bic = oracles.mdl(learned.dag, data)  # on precise rows
    assert learned.score == pytest.approx(bic + (log(2000) / 2 - 1) * free_parameters(asia, learned.dag), rel=1e-9)
    assert len(learned.edges) >= 6
    assert all(edge.value > 0.0 for edge in learned.edges)


def test_a_score_for_precise_rows_refuses_others_and_proposes_those_that_take_them(aic: StructureScore) -> None:
    data = pn.sample(pn.load_example("asia"), 50, rng=1)
    with pytest.raises(pn.InputError, match="measure 'aic' with cells of .*expected precise rows, or another.*mdl"):
        pn.learn_structure(data, measure=aic.name)
    with pytest.raises(pn.InputError, match="expected auto, random-set-bic.*mutual-information, aic"):
        pn.learn_structure(data, measure="aicc")


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("measure", MEASURES)
def test_a_measure_goes_with_the_methods_that_it_lists(method: str, measure: str) -> None:
    process = "alpha-cut" if measure == "cut-bic" else "precise"
    data = pn.sample(pn.load_example("clinic"), 60, process=process, rng=1)
    if method in {"auto", *MEASURES[measure].methods}:
        learned = pn.learn_structure(data, method, measure=measure)
        taken = MEASURES["bic" if measure == "auto" else measure]  # the rows are precise
        searched = choose_method(taken, pn.Search(), len(data.variables)) if method == "auto" else method
        assert (learned.method, learned.measure) == (searched, taken.name)
        assert searched in taken.methods
        assert (learned.families is None) == (not taken.decomposable and not taken.adds_edges)
    else:
        with pytest.raises(pn.InputError, match=f"method '{method}' with measure '{measure}'.*expected measure"):
            pn.learn_structure(data, method, measure=measure)


def test_every_method_goes_with_its_own_measure() -> None:
    for name, entry in METHODS.items():
        assert fitting_measure(name, None) == entry.default_measure
        assert name == "auto" or name in MEASURES[entry.default_measure].methods
        assert entry.label
    assert all(score.label for score in MEASURES.values())

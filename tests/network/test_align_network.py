"""The order of variables, states and parents means nothing: two networks are matched by name, or refused by name."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

import possnet as pn
from tests import strategies


def shuffle_network(network: pn.Network, rng: np.random.Generator) -> pn.Network:
    """The same network with everything in another order, entry by entry."""

    def shuffled(items: Any) -> list[Any]:
        return [items[k] for k in rng.permutation(len(items))]

    variables = {v.name: pn.Variable(v.name, tuple(shuffled(v.states))) for v in shuffled(network.variables)}
    parents = {name: shuffled(network.dag.parents(name)) for name in shuffled(list(variables))}
    tables, support, bounds = {}, {}, ({}, {})  # type: ignore[var-annotated]
    for child in variables:
        scope = [variables[name] for name in (*parents[child], child)]
        table, rows = np.zeros([len(v) for v in scope]), np.zeros([len(v) for v in scope[:-1]])
        ends = [np.zeros([len(v) for v in scope]) for _ in network.bounds or ()]
        for states in product(*scope):
            by_name = dict(zip([v.name for v in scope], states, strict=True))
            place = tuple(v.index(state) for v, state in zip(scope, states, strict=True))
            original = tuple(network.variable(n).index(by_name[n]) for n in (*network.dag.parents(child), child))
            table[place] = network.table(child)[original]
            for end, own in zip(ends, network.bounds or (), strict=True):
                end[place] = own[child][original]
            if network.support is not None:
                rows[place[:-1]] = network.support[child][original[:-1]]
        tables[child], support[child] = table, rows
        for mapping, end in zip(bounds, ends, strict=False):
            mapping[child] = end
    shuffled_network = pn.Network.subnormal(
        variables.values(), pn.Dag(parents), tables, conjunction=network.conjunction, name=network.name,
        support=None if network.support is None else support, description=network.description,
    )  # fmt: skip
    return shuffled_network if network.bounds is None else shuffled_network.with_bounds(*bounds)


@given(strategies.networks(), strategies.seeds)
def test_aligning_undoes_any_permutation_exactly(network: pn.Network, seed: int) -> None:
    learned = pn.fit(network.dag, pn.sample(network, 30, imprecision=0.5, rng=seed))
    shuffled = shuffle_network(learned, np.random.default_rng(seed))
    aligned = pn.align_network(shuffled, learned)
    assert aligned == learned
    assert aligned.variables == learned.variables
    assert aligned.support is not None
    assert (aligned.name, aligned.description) == (learned.name, learned.description)


@given(strategies.networks(), strategies.seeds)
def test_aligning_keeps_bounds_with_their_events(network: pn.Network, seed: int) -> None:
    rng = np.random.default_rng(seed)
    tables = {v.name: network.table(v.name) for v in network.variables}
    lower = {name: table * rng.random(table.shape) for name, table in tables.items()}
    upper = {name: np.maximum(table, rng.random(table.shape)) for name, table in tables.items()}
    bounded = network.with_bounds(lower, upper)
    aligned = pn.align_network(shuffle_network(bounded, rng), bounded)
    assert aligned == bounded
    assert aligned.bounds is not None


@given(strategies.networks(max_variables=4), strategies.seeds, st.booleans())
def test_no_metric_depends_on_an_order(truth: pn.Network, seed: int, same: bool) -> None:
    learned = truth if same else pn.fit(truth.dag, pn.sample(truth, 20, imprecision=0.5, rng=seed))
    rng = np.random.default_rng(seed)
    expected = pn.compare(truth, learned)
    for other in (shuffle_network(learned, rng), shuffle_network(shuffle_network(learned, rng), rng)):
        found = pn.compare(truth, other)
        assert {name: m.value for name, m in found.items()} == {name: m.value for name, m in expected.items()}
    turned = pn.compare(shuffle_network(truth, rng), learned)
    for name, measured in turned.items():
        assert measured.value == pytest.approx(expected[name].value, abs=1e-12)
        assert measured.vacuous == pytest.approx(expected[name].vacuous, abs=1e-12)


def test_parents_that_differ_keep_their_own_order() -> None:
    asia = pn.load_example("asia")
    dag = pn.Dag({**{n: asia.dag.parents(n) for n in asia.dag.nodes}, "dysp": ("bronc",)})
    tables = {v.name: asia.table(v.name) for v in asia.variables} | {"dysp": [[1, 0.5], [0.2, 1]]}
    other = pn.Network(asia.variables, dag, tables)
    assert pn.align_network(shuffle_network(other, np.random.default_rng(1)), asia) == other


def test_a_network_in_the_same_order_is_given_back_itself() -> None:
    asia = pn.load_example("asia")
    assert pn.align_network(asia, pn.load_example("asia")) is asia


def one(states: tuple[str, ...], name: str = "dose", *, ordered: bool = False) -> pn.Network:
    variable = pn.Variable(name, states, ordered=ordered)
    return pn.Network((variable,), pn.Dag({name: ()}), {name: [1.0] * len(states)})


def test_real_differences_are_refused_and_all_of_them_named() -> None:
    frame = one(("low", "middle", "high"), ordered=True)
    with pytest.raises(pn.InputError, match="'dose' is middle only in the first network, 'dose' is hihg") as refused:
        pn.draw_difference(frame, one(("low", "high", "hihg")))
    assert "only in the second network" in str(refused.value)
    with pytest.raises(pn.InputError, match="'dose' is ordered low < middle < high and high < middle < low"):
        pn.compare(frame, one(("high", "middle", "low"), ordered=True))
    with pytest.raises(pn.InputError, match="'dose' only in the true network, 'age' only in the learned network"):
        pn.compare(frame, one(("low", "high"), "age"))
    assert pn.align_network(one(("high", "middle", "low")), frame).variables == frame.variables


def test_drawings_take_networks_in_any_order() -> None:
    clinic = pn.load_example("clinic")
    learned = pn.fit(clinic.dag, pn.sample(clinic, 300, rng=1))
    shuffled = shuffle_network(learned, np.random.default_rng(3))
    assert pn.draw_difference(clinic, shuffled) == pn.draw_difference(clinic, learned)

"""The two likelihoods, straight from (8) and (9), and beside a Bayesian network's."""

from __future__ import annotations

import json
from math import inf, log

import numpy as np
import pytest
from hypothesis import given, strategies as st

import possnet as pn
from tests import oracles, strategies
from tests.paths import FIXTURES

FIXTURE = json.loads((FIXTURES / "likelihood.json").read_text(encoding="utf-8"))


@pytest.mark.equation(9)
@given(strategies.networks(max_variables=4), strategies.seeds)
def test_the_possibilistic_score_is_the_sum_of_logarithms(net: pn.Network, seed: int) -> None:
    data = pn.sample(net, 60, imprecision=0.5, process="traced", rng=seed)
    parts = pn.log_likelihood_by_family(net, data)
    for variable in net.variables:
        expected = 0.0
        for context, (_, by_state) in oracles.counts(net.dag, data, variable.name).items():
            states = dict(zip(net.dag.parents(variable.name), context, strict=True))
            degrees = oracles.conditional(net, variable.name, states)
            for state, n in by_state.items():
                if n:
                    expected += n * log(degrees[state]) if degrees[state] > 0 else -inf
        assert parts[variable.name] == pytest.approx(expected)
    assert pn.log_likelihood(net, data) == pytest.approx(sum(parts.values()))
    assert pn.log_likelihood(net, pn.count(net.dag, data)) == pytest.approx(sum(parts.values()))


def test_ignorance_has_the_highest_possibilistic_score() -> None:
    rash = pn.Variable("rash", ("yes", "no"))
    dag = pn.Dag({"rash": ()})
    data = pn.Dataset.from_rows((rash,), [("yes",), ("no",)])
    assert pn.log_likelihood(pn.Network((rash,), dag, {"rash": [1, 1]}), data) == 0.0
    assert pn.log_likelihood(pn.Network((rash,), dag, {"rash": [1, 0]}), data) == -inf
    assert pn.log_likelihood(pn.Network((rash,), dag, {"rash": [1, 0]}), data[:1]) == 0.0
    assert pn.log_likelihood(pn.Network((rash,), dag, {"rash": [1, 0]}), data[:0]) == 0.0


@pytest.mark.equation(7)
@pytest.mark.equation(8)
@given(strategies.counted())
def test_the_random_set_likelihood_is_that_of_its_masses(given_data: tuple[pn.Dag, pn.Dataset]) -> None:
    dag, data = given_data
    parts = pn.random_set_log_likelihood_by_family(dag, data)
    model = pn.fit_random_sets(dag, data)
    for name in dag.nodes:
        cells = oracles.focal_counts(dag, data, name)
        totals: dict[object, int] = {}
        for key, n in cells.items():
            totals[key[:-1]] = totals.get(key[:-1], 0) + n
        expected = sum(n * log(n / totals[key[:-1]]) for key, n in cells.items())
        assert parts[name] == pytest.approx(expected, rel=1e-9, abs=1e-9)
        assert pn.random_set_log_likelihood_by_family(model, data)[name] == pytest.approx(expected, rel=1e-9, abs=1e-9)
    assert pn.random_set_log_likelihood(dag, data) == pytest.approx(sum(parts.values()))


@given(strategies.counted(weighted=False), st.data())
def test_no_other_masses_do_better_on_their_own_data(
    given_data: tuple[pn.Dag, pn.Dataset], data: st.DataObject
) -> None:
    dag, rows = given_data
    if not len(rows):
        return
    cut = data.draw(st.integers(1, len(rows)))
    elsewhere = pn.fit_random_sets(dag, rows[:cut])
    assert pn.random_set_log_likelihood(elsewhere, rows) <= pn.random_set_log_likelihood(dag, rows) + 1e-9


def test_on_precise_rows_it_is_the_log_likelihood_of_a_bayesian_network() -> None:
    assert FIXTURE["peer"].startswith("pyAgrum")
    for case in FIXTURE["cases"]:
        net = pn.load_example(case["network"])
        data = pn.sample(net, case["rows"], process="precise", rng=case["seed"])
        found = pn.random_set_log_likelihood_by_family(net.dag, data)
        assert sum(found.values()) == pytest.approx(case["log_likelihood"], rel=1e-9)
        for name, value in case["by_variable"].items():
            assert found[name] == pytest.approx(value, rel=1e-9, abs=1e-9)


def test_a_row_that_masses_never_saw_is_impossible() -> None:
    dag = pn.Dag({"a": ()})
    a = pn.Variable("a", ("x", "y"))
    model = pn.fit_random_sets(dag, pn.Dataset.from_rows((a,), [("x",)]))
    assert pn.random_set_log_likelihood(model, pn.Dataset.from_rows((a,), [("y",)])) == -inf
    assert pn.random_set_log_likelihood(model, pn.Dataset.from_rows((a,), [])) == 0.0


def test_other_domains_and_structures_are_refused() -> None:
    a, b = pn.Variable("a", ("x", "y")), pn.Variable("a", ("x", "z"))
    dag = pn.Dag({"a": ()})
    net = pn.Network((a,), dag, {"a": [1, 0.5]})
    data = pn.Dataset.from_rows((b,), [("x",), ("z",)])
    with pytest.raises(pn.InputError, match=r"log_likelihood, row 2, column 'a': 'z' is not a state \(x, y\)"):
        pn.log_likelihood(net, data)
    with pytest.raises(pn.InputError, match="random_set_log_likelihood, row 2, column 'a'"):
        pn.random_set_log_likelihood(pn.fit_random_sets(dag, pn.Dataset.from_rows((a,), [("x",)])), data)
    two = pn.Dataset.from_table({"a": ["x"], "c": ["u"]})
    counts = pn.count(pn.Dag({"c": ()}), two, focal=True)
    with pytest.raises(pn.InputError, match="another structure"):
        pn.log_likelihood(net, counts)
    with pytest.raises(pn.InputError, match="another structure"):
        pn.random_set_log_likelihood(dag, counts)


def test_weights_count_as_rows() -> None:
    rng = np.random.default_rng(1)
    net = pn.load_example("clinic")
    data = pn.sample(net, 200, imprecision=0.5, rng=1)
    weights = rng.integers(0, 4, 200)
    words = {v.name: data.bitmaps(v.name) for v in data.variables}
    weighted = pn.Dataset.unchecked(data.variables, dict(words), 200, weights=weights)
    repeated = data[np.repeat(np.arange(200), weights)]
    assert pn.log_likelihood(net, weighted) == pytest.approx(pn.log_likelihood(net, repeated))
    assert pn.random_set_log_likelihood(net.dag, weighted) == pytest.approx(
        pn.random_set_log_likelihood(net.dag, repeated)
    )

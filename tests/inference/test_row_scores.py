"""Scores of rows: the logarithms of degrees and probabilities, against enumeration."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

import possnet as pn
from possnet.inference import LOWEST_SCORE, score_rows


def enumerate_scores(network: pn.Network, target: str, cells: dict[str, frozenset[str]], by: str) -> np.ndarray:
    """Sum or maximum of products over all configurations in the cells, straight from the definition."""
    names = [v.name for v in network.variables]
    values = dict.fromkeys(network.variable(target).states, 0.0)
    for states in product(*(sorted(cells.get(v.name, v.states)) for v in network.variables)):
        configuration = dict(zip(names, states, strict=True))
        value = 1.0
        for name in names:
            table = network.table(name)
            place = tuple(
                network.variable(n).states.index(configuration[n]) for n in (*network.dag.parents(name), name)
            )
            row = table[place[:-1]]
            value *= row[place[-1]] / (row.sum() if by == "probability" else 1.0)
        own = configuration[target]
        values[own] = values[own] + value if by == "probability" else max(values[own], value)
    found = np.array(list(values.values()))
    return np.asarray(found / (found.sum() if by == "probability" else found.max()))


@given(st.integers(0, 10_000), st.sampled_from(["possibility", "probability"]))
def test_scores_are_the_logarithms_of_enumerated_degrees_and_probabilities(seed: int, by: str) -> None:
    network = pn.random_network(5, max_parents=2, states=(2, 3), rng=seed)
    data = pn.sample(network, 4, imprecision=0.7, rng=seed)
    target = network.variables[seed % 5].name
    scores = score_rows(network, target, data, by=by)  # type: ignore[arg-type]
    for number in range(4):
        cells = {name: cell for name, cell in data.row(number).items() if name != target}
        expected = enumerate_scores(network, target, cells, by)
        assert np.exp(scores[number]) == pytest.approx(expected, abs=1e-9)


@given(st.integers(0, 10_000))
def test_scores_of_degrees_agree_with_queries(seed: int) -> None:
    network = pn.random_network(6, max_parents=3, states=(2, 4), rng=seed)
    data = pn.sample(network, 10, imprecision=0.5, rng=seed)
    for variable in network.variables:
        degrees = pn.Inference(network).query_many(variable.name, data)
        assert np.exp(score_rows(network, variable.name, data)) == pytest.approx(degrees, abs=1e-9)


def test_states_that_are_impossible_are_still_told_apart() -> None:
    """With two impossible steps a state ranks below one with a single one; products of degrees are 0 for both."""
    label = pn.Variable("label", ("a", "b", "c"))
    features = [pn.Variable(f"f{k}", ("0", "1")) for k in range(2)]
    tables: dict[str, Any] = {
        "label": [1, 1, 1],
        "f0": [[1, 1], [1, 0], [1, 0]],
        "f1": [[1, 1], [1, 1], [1, 0]],
    }
    dag = pn.Dag({"label": (), "f0": ("label",), "f1": ("label",)})
    network = pn.Network((label, *features), dag, tables)
    data = pn.Dataset.from_rows(features, [("1", "1")])
    (scores,) = score_rows(network, "label", data)
    assert pn.Inference(network).query_many("label", data)[0].tolist() == [1.0, 0.0, 0.0]
    assert scores[0] == 0.0 > scores[1] > scores[2]


def test_many_features_do_not_underflow() -> None:
    label = pn.Variable("label", ("a", "b"))
    features = [pn.Variable(f"f{k}", ("0", "1")) for k in range(600)]
    dag = pn.Dag({"label": (), **{v.name: ("label",) for v in features}})
    tables: dict[str, Any] = {"label": [1, 1], **{v.name: [[1, 0.01], [1, 0.005]] for v in features}}
    network = pn.Network((label, *features), dag, tables)
    data = pn.Dataset.from_rows(features, [("1",) * 600])
    assert score_rows(network, "label", data)[0].tolist() == pytest.approx([0.0, -600 * np.log(2)])


def test_min_based_networks_are_scored_by_their_degrees() -> None:
    survey = pn.load_example("survey")
    data = pn.sample(survey, 20, rng=1)
    target = survey.variables[-1].name
    scores = score_rows(survey, target, data)
    degrees = np.nan_to_num(pn.Inference(survey).query_many(target, data))
    assert np.exp(scores) == pytest.approx(degrees)
    assert scores.min() >= LOWEST_SCORE

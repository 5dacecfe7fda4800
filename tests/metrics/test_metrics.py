"""Metrics against values computed by hand, and their laws."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

import possnet as pn
from possnet.metrics import (
    METRICS,
    compare,
    information_affinity,
    rank_agreement,
    structure_metrics,
    top_agreement,
)
from tests import oracles, strategies


@given(strategies.possibilities(), st.data())
def test_affinity_is_1_exactly_for_equal_distributions_and_symmetric(pi: pn.Possibility, data: st.DataObject) -> None:
    size = len(pi.degrees)
    other = np.array(data.draw(st.lists(strategies.levels, min_size=size, max_size=size)))
    other[data.draw(st.integers(0, size - 1))] = 1.0
    value = float(information_affinity(pi.degrees, other))
    assert information_affinity(pi.degrees, pi.degrees) == 1.0
    assert 0.0 <= value <= 1.0
    assert value == pytest.approx(float(information_affinity(other, pi.degrees)))
    assert (value == 1.0) == np.allclose(pi.degrees, other, atol=1e-15)
    assert information_affinity(pi.degrees * 0.5, other) == pytest.approx(value)


def kendall(first: list[float], second: list[float]) -> float:
    """tau-b, pair by pair."""
    pairs = [(i, j) for i in range(len(first)) for j in range(i)]
    signs = [(np.sign(first[i] - first[j]), np.sign(second[i] - second[j])) for i, j in pairs]
    left, right = sum(a != 0 for a, _ in signs), sum(b != 0 for _, b in signs)
    if not left and not right:
        return 1.0
    return float(sum(a * b for a, b in signs) / np.sqrt(left * right)) if left and right else 0.0


@given(st.integers(1, 6), st.data())
def test_rank_agreement_is_kendalls_tau_b(size: int, data: st.DataObject) -> None:
    first, second = (data.draw(st.lists(strategies.levels, min_size=size, max_size=size)) for _ in range(2))
    assert rank_agreement(first, second) == pytest.approx(kendall(first, second))


@pytest.mark.parametrize("measure", [information_affinity, rank_agreement, top_agreement])
def test_what_is_no_pair_of_distributions_is_refused(measure: Any) -> None:
    for first, second in (([1, 0], [1, 0, 0]), ("abc", [1]), ([1, 0], [[1], [1, 0]]), (None, {}), ([], []), (1, 1)):
        with pytest.raises(pn.InputError, match="distributions.*expected"):
            measure(first, second)
    assert measure(np.ones((0, 3)), np.ones((0, 3))).shape == (0,)


def test_top_agreement_compares_cores() -> None:
    assert top_agreement([1, 1, 0.2], [1, 0.5, 1]) == pytest.approx(1 / 3)
    assert top_agreement(np.array([[0.5, 0.2], [1, 1]]), np.array([[1, 0], [1, 1]])).tolist() == [1.0, 1.0]


def two_nodes(child: list[list[float]]) -> pn.Network:
    x, y = pn.Variable("x", ("1", "2")), pn.Variable("y", ("1", "2"))
    return pn.Network((x, y), pn.Dag({"x": (), "y": ("x",)}), {"x": [1, 0.5], "y": child})


def test_measures_computed_by_hand() -> None:
    truth, learned = two_nodes([[1, 0.2], [0.1, 1]]), two_nodes([[1, 0.6], [0.5, 1]])
    found = compare(truth, learned, limit=two_nodes([[1, 0.2], [1, 1]]))
    assert found["child_mean_error"].value == pytest.approx(0.2)  # (.4/2 + .4/2)/2
    assert found["mean_error"].value == pytest.approx(0.1)
    assert found["max_error"].value == pytest.approx(0.4)
    assert found["max_error_weighted"].value == pytest.approx(0.4)  # .4 * 1 and .4 * .5
    assert found["child_affinity"].value == pytest.approx(0.9)  # 1 - .2/2, no inconsistency
    assert found["affinity"].value == pytest.approx(0.95)
    assert found["child_affinity"].vacuous == pytest.approx(((1 - 0.4 / 2) + (1 - 0.45 / 2)) / 2)
    assert found["child_mean_error"].limit == pytest.approx(0.9 / 4)
    assert found["mean_error_weighted"].value == pytest.approx((0 + (1 * 0.2 + 0.5 * 0.2) / 1.5) / 2)
    assert found["rank_agreement"].value == 1.0
    assert found["top_agreement"].value == 1.0
    assert found["top_agreement"].vacuous == pytest.approx((0.5 + 0.5) / 2)
    assert found["marginal_distance"].value == pytest.approx((0 + 0.1 / 2) / 2)  # y2: max(.5, .6) for max(.2, .5)
    assert found["joint_distance"].value == pytest.approx((0 + 0.4 + 0.2 + 0) / 4)
    assert found["joint_distance_error"].value == 0.0
    assert (found["hamming"].value, found["hamming"].vacuous) == (0.0, 1.0)  # ignorance has no edges
    assert (found["essential_recall"].value, found["essential_recall"].vacuous) == (1.0, 0.0)
    assert found["contexts_left_out"].value == 0.0
    assert "child_affinity" in str(found)
    assert found.keys() == METRICS.keys() - {
        "bound_coverage",
        "identified_share",
        "identified_error",
    }  # no bounds given


def test_contexts_that_the_truth_calls_impossible_are_left_out() -> None:
    truth = two_nodes([[1, 0.2], [0.1, 1]]).with_table("x", [1, 0])
    found = compare(truth, two_nodes([[1, 0.2], [1, 0]]).with_table("x", [1, 0]))
    assert found["child_mean_error"].value == 0.0
    assert found["contexts_left_out"].value == 1.0


def test_raw_tables_are_normalised_and_their_gap_is_told() -> None:
    x = pn.Variable("x", ("1", "2"))
    truth = pn.Network((x,), pn.Dag({"x": ()}), {"x": [1, 0.5]})
    raw = pn.Network.subnormal((x,), pn.Dag({"x": ()}), {"x": [0.8, 0.4]})
    found = compare(truth, raw)
    assert found["mean_error"].value == pytest.approx(0.0)
    assert found["subnormality"].value == pytest.approx(0.2)


@given(strategies.networks(max_variables=4), st.integers(0, 2**16))
def test_a_network_is_at_no_distance_from_itself(net: pn.Network, seed: int) -> None:
    found = compare(net, net, limit=net, rng=seed)
    for name, measured in found.items():
        if name == "contexts_left_out":
            continue
        best = 1.0 if METRICS[name].higher_is_better else 0.0
        assert measured.value == pytest.approx(best, abs=1e-12), name
        assert measured.limit == pytest.approx(best, abs=1e-12)


@given(strategies.networks(max_variables=4), strategies.seeds)
def test_joint_and_marginal_distances_are_those_of_enumeration(net: pn.Network, seed: int) -> None:
    tables = {v.name: np.random.default_rng(seed).random(net.table(v.name).shape) for v in net.variables}
    other = pn.Network(net.variables, net.dag, pn.normalise_tables(tables), conjunction=net.conjunction)
    found = compare(net, other)
    grid = oracles.configurations(net)
    gaps = [abs(oracles.chain_rule(net, c) - oracles.chain_rule(other, c)) for c in grid]
    assert found["joint_distance"].value == pytest.approx(float(np.mean(gaps)), abs=1e-12)
    apart = []
    for v in net.variables:
        marginals = [
            [max(oracles.chain_rule(n, c) for c in grid if c[v.name] == s) for s in v.states] for n in (net, other)
        ]
        apart.append(np.abs(np.array(marginals[0]) - marginals[1]).mean())
    assert found["marginal_distance"].value == pytest.approx(float(np.mean(apart)), abs=1e-12)


@pytest.mark.parametrize("conjunction", [pn.PRODUCT, pn.MIN])
def test_another_structure_is_compared_by_what_it_says_of_the_true_families(conjunction: pn.Conjunction) -> None:
    truth = pn.random_network(4, max_parents=2, states=(2, 3), conjunction=conjunction, rng=3)
    marginals = pn.Inference(truth).marginals()
    degrees = {name: marginal.degrees for name, marginal in marginals.items()}
    apart = pn.Network(truth.variables, pn.Dag(dict.fromkeys(degrees, ())), degrees, conjunction=conjunction)
    found = compare(truth, apart)
    rows: dict[str, list[float]] = {}
    for v in truth.variables:
        if truth.dag.parents(v.name):
            table = truth.table(v.name)
            own = marginals[v.name].degrees
            for place in np.ndindex(*table.shape[:-1]):
                above = [marginals[p].degrees[k] for p, k in zip(truth.dag.parents(v.name), place, strict=True)]
                if conjunction is pn.PRODUCT:
                    expected = own  # unconnected: the context says nothing
                else:
                    joint = np.minimum(min(above), own)
                    expected = np.where(joint == joint.max(), 1.0, joint)
                weight = pn.Inference(truth).query(list(truth.dag.parents(v.name))).degrees[place]
                if weight > 0:
                    rows.setdefault(v.name, []).append(np.abs(table[place] - expected).mean())
    errors = [float(np.mean(found_rows)) for found_rows in rows.values()]
    assert found["child_mean_error"].value == pytest.approx(float(np.mean(errors)), abs=1e-9)
    assert found["skeleton_recall"].value == 0.0
    assert found["skeleton_precision"].value == 1.0
    assert found["hamming"].value == len(truth.dag.edges)


def test_a_joint_too_large_to_enumerate_is_sampled_with_its_error() -> None:
    truth = pn.random_network(14, max_parents=2, states=(3, 3), zeros=0.0, rng=1)
    tables = {v.name: np.ones_like(truth.table(v.name)) for v in truth.variables}
    other = pn.Network(truth.variables, truth.dag, tables)
    found, again = compare(truth, other, rng=1), compare(truth, other, rng=2)
    assert 0 < found["joint_distance_error"].value < 0.01
    gap = abs(found["joint_distance"].value - again["joint_distance"].value)
    assert gap <= 6 * found["joint_distance_error"].value * 2**0.5
    assert compare(truth, other, rng=1)["joint_distance"] == found["joint_distance"]


@given(strategies.dags(max_nodes=4), st.data())
def test_structural_distances_are_counted_pair_by_pair(dag: pn.Dag, data: st.DataObject) -> None:
    order = data.draw(st.permutations(dag.nodes))
    other = pn.Dag({n: [p for p in order[:k] if data.draw(st.booleans())] for k, n in enumerate(order)})
    found = structure_metrics(dag, other)
    pairs = [(a, b) for a, b in product(dag.nodes, repeat=2) if a < b]

    def mark(d: pn.Dag, a: str, b: str) -> int:
        return ((a, b) in d.edges) - ((b, a) in d.edges)

    assert found["hamming"] == sum(mark(dag, a, b) != mark(other, a, b) for a, b in pairs)
    skeletons: list[Any] = [{frozenset(e) for e in d.edges} for d in (dag, other)]
    common = len(skeletons[0] & skeletons[1])
    assert found["skeleton_recall"] == (common / len(skeletons[0]) if skeletons[0] else 1.0)
    assert found["skeleton_precision"] == (common / len(skeletons[1]) if skeletons[1] else 1.0)
    assert (found["essential_hamming"] == 0) == (dag.essential_graph() == other.essential_graph())


def test_a_raw_network_is_at_no_distance_from_itself() -> None:
    clinic = pn.load_example("clinic")
    raw = pn.fit(clinic.dag, pn.sample(clinic, 200, process="traced", rng=1), method="histogram")
    found = compare(raw, raw)
    assert found["mean_error"].value == found["joint_distance"].value == found["marginal_distance"].value == 0.0


def test_many_variables_of_one_state_are_compared() -> None:
    scope = [pn.Variable(f"v{k}", ("only",)) for k in range(70)]
    net = pn.Network(scope, pn.Dag({v.name: () for v in scope}), {v.name: [1.0] for v in scope})
    assert compare(net, net)["joint_distance"].value == 0.0


def test_ranks_of_large_tables_are_compared_in_blocks() -> None:
    rng = np.random.default_rng(1)
    first, second = rng.random((300, 60)), rng.random((300, 60))
    expected = [kendall(a.tolist(), b.tolist()) for a, b in zip(first[:5], second[:5], strict=True)]
    assert rank_agreement(first, second)[:5] == pytest.approx(np.array(expected))


def test_networks_over_other_variables_are_refused() -> None:
    asia, clinic = pn.load_example("asia"), pn.load_example("clinic")
    wrong: Any
    for wrong in (3, "asia"):
        with pytest.raises(pn.InputError, match="expected a possnet.Network"):
            compare(asia, wrong)
    with pytest.raises(pn.InputError, match="'asia', .* only in the true network, .* only in the learned network"):
        compare(asia, clinic)
    with pytest.raises(pn.InputError, match="rng 'x'; expected a whole number"):
        compare(asia, asia, rng="x")  # type: ignore[arg-type]
    with pytest.raises(pn.InputError, match="only in the limit"):
        compare(asia, asia, limit=clinic)

"""Most possible configurations and their ties against brute force."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, strategies as st

import possnet as pn
from possnet.inference import engine as engine_module
from tests.inference.brute_force import joint_table, questions, with_evidence


@given(questions(), st.integers(1, 8), st.booleans())
def test_the_best_configurations_are_those_of_brute_force(
    question: tuple[pn.Network, dict[str, Any]], k: int, is_pruned: bool
) -> None:
    """On the tree of the whole network, and on what is left of it given the evidence."""
    with patch.object(engine_module, "_SMALL_A_VARIABLE", 0 if is_pruned else 1000):
        compare_with_brute_force(question, k)


def compare_with_brute_force(question: tuple[pn.Network, dict[str, Any]], k: int) -> None:
    net, evidence = question
    joint = with_evidence(net, joint_table(net), evidence)
    if joint.max() == 0.0:
        return
    engine = pn.Inference(net)
    values = np.sort(joint, axis=None)[::-1]
    best = engine.most_possible(evidence)
    place = tuple(v.index(best.configuration[v.name]) for v in net.variables)
    assert best.possibility == pytest.approx(joint.max())
    assert joint[place] == pytest.approx(joint.max())
    assert best.ties == (joint >= joint.max() * (1 - 1e-12)).sum()
    found = engine.most_possible_k(k, evidence)
    expected = [value for value in values[:k] if value > 0.0]
    assert [e.possibility for e in found] == pytest.approx(expected)
    assert len({tuple(e.configuration.items()) for e in found}) == len(found)
    for explanation in found:
        place = tuple(v.index(explanation.configuration[v.name]) for v in net.variables)
        assert joint[place] == pytest.approx(explanation.possibility)


def test_ties_without_number_are_counted_exactly() -> None:
    count = 1100
    scope = [pn.Variable(f"x{k}", ("a", "b")) for k in range(count)]
    free = pn.Network(scope, pn.Dag({v.name: () for v in scope}), {v.name: [1, 1] for v in scope})
    assert pn.Inference(free).most_possible().ties == 2**count
    chain = pn.Dag({f"x{k}": (f"x{k - 1}",) if k else () for k in range(count)})
    tables: dict[str, Any] = {"x0": [1, 1]} | {f"x{k}": [[1, 1], [1, 0.5]] for k in range(1, count)}
    fibonacci = [1, 2]
    while len(fibonacci) < count + 2:
        fibonacci.append(fibonacci[-1] + fibonacci[-2])
    assert pn.Inference(pn.Network(scope, chain, tables)).most_possible().ties == fibonacci[count]


def test_ties_survive_logarithms() -> None:
    """The same four hundred degrees in two orders make the same product, and so a tie."""
    rng = np.random.default_rng(3)
    degrees = 10.0 ** rng.uniform(-9, -2, 400)
    shuffled = rng.permutation(degrees)
    root = pn.Variable("r", ("a", "b"))
    leaves = [pn.Variable(f"x{k}", ("s", "t")) for k in range(400)]
    tables: dict[str, Any] = {"r": [1, 1]}
    tables |= {v.name: [[degrees[k], 1], [shuffled[k], 1]] for k, v in enumerate(leaves)}
    dag = pn.Dag({"r": ()} | {v.name: ("r",) for v in leaves})
    engine = pn.Inference(pn.Network([root, *leaves], dag, tables))
    evidence = {v.name: "s" for v in leaves}
    assert engine.most_possible(evidence).ties == 2
    assert engine.query("r", evidence).degrees.tolist() == [1.0, 1.0]
    assert engine.marginals(evidence)["r"].degrees.tolist() == [1.0, 1.0]


def test_degrees_below_the_smallest_float_are_told_apart() -> None:
    scope = [pn.Variable(f"x{k}", ("a", "b")) for k in range(400)]
    tables = {v.name: [0.1, 0.01] for v in scope}
    engine = pn.Inference(pn.Network.subnormal(scope, pn.Dag({v.name: () for v in scope}), tables))
    assert [(e.possibility, e.ties) for e in engine.most_possible_k(3)] == [(0.0, 1), (0.0, 2), (0.0, 2)]


def test_a_wide_network_has_its_best_configurations_without_its_tree() -> None:
    """Fifteen variables, each the parents of all that follow: no table of a tree fits, but nothing of it is needed unless it is observed."""
    scope = [pn.Variable(f"x{k}", ("a", "b")) for k in range(15)]
    dag = pn.Dag({v.name: tuple(other.name for other in scope[:k]) for k, v in enumerate(scope)})
    tables = {v.name: np.broadcast_to([1.0, 0.5], (2,) * (k + 1)) for k, v in enumerate(scope)}
    net = pn.Network(scope, dag, tables)
    best = pn.Inference(net, limit=1 << 16, max_seconds=0.0).most_possible_k(17)
    assert [e.possibility for e in best] == [1.0] + [0.5] * 15 + [0.25]
    assert best[0].configuration == {v.name: "a" for v in scope}

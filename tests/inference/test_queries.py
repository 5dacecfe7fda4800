"""Single questions against brute force, the paper's conditioning, and products that would underflow."""

from __future__ import annotations

from typing import Any
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, strategies as st
from numpy.typing import NDArray

import possnet as pn
from tests.inference.brute_force import conditioned, joint_table, questions, with_evidence
from tests.strategies import networks


@given(questions(), st.data())
def test_every_question_has_the_answer_of_brute_force(
    question: tuple[pn.Network, dict[str, Any]], data: st.DataObject
) -> None:
    net, evidence = question
    joint = with_evidence(net, joint_table(net), evidence)
    engine = pn.Inference(net)
    assert engine.possibility_of(evidence) == pytest.approx(joint.max(), abs=1e-12)
    names = [v.name for v in net.variables]
    target = data.draw(st.lists(st.sampled_from(names), min_size=1, max_size=3, unique=True))
    if joint.max() == 0.0:
        for ask in (
            lambda: engine.query(target, evidence),
            lambda: engine.marginals(evidence),
            lambda: engine.most_possible(evidence),
        ):
            with pytest.raises(pn.ImpossibleEvidence, match="has possibility 0 in this network"):
                ask()
        return
    for name, pi in engine.marginals(evidence).items():
        table = joint.max(axis=tuple(k for k, n in enumerate(names) if n != name))
        expected = conditioned(net, table) if evidence else table
        assert pi.degrees == pytest.approx(expected, abs=1e-12)
        assert pi.variables == (net.variable(name),)
    assert engine.possibility_of(evidence) == pytest.approx(joint.max(), abs=1e-12)  # of the tree of the marginals
    table = joint.max(axis=tuple(k for k, n in enumerate(names) if n not in target))
    kept = [n for n in names if n in target]
    table = table.transpose([kept.index(n) for n in target])
    pi = engine.query(target, evidence)
    assert [v.name for v in pi.variables] == target
    assert pi.degrees == pytest.approx(conditioned(net, table) if evidence else table, abs=1e-12)


@given(questions())
def test_large_tables_are_reduced_step_by_step_to_the_same_answers(question: tuple[pn.Network, dict[str, Any]]) -> None:
    """What is done to large tables, done to small ones, against brute force."""
    net, evidence = question
    joint = with_evidence(net, joint_table(net), evidence)
    if joint.max() == 0.0:
        return
    names = [v.name for v in net.variables]
    with mock.patch("possnet.inference.message_passing._SMALL", 0):
        engine = pn.Inference(net)
        for name, pi in engine.marginals(evidence).items():
            table = joint.max(axis=tuple(k for k, n in enumerate(names) if n != name))
            assert pi.degrees == pytest.approx(conditioned(net, table) if evidence else table, abs=1e-12)
        for pi in engine.families(evidence).values():
            scope = [v.name for v in pi.variables]
            table = joint.max(axis=tuple(k for k, n in enumerate(names) if n not in scope))
            table = table.transpose([[n for n in names if n in scope].index(n) for n in scope])
            assert pi.degrees == pytest.approx(conditioned(net, table) if evidence else table, abs=1e-12)
        assert engine.most_possible(evidence).ties == (joint >= joint.max() * (1 - 1e-12)).sum()


@pytest.mark.parametrize("conjunction", [pn.PRODUCT, pn.MIN], ids=["product", "min"])
@pytest.mark.parametrize("seed", range(4))
def test_marginals_of_wide_networks_agree_with_single_queries(seed: int, conjunction: pn.Conjunction) -> None:
    net = pn.random_network(24, max_parents=4, states=(2, 5), zeros=0.2, ties=0.1, conjunction=conjunction, rng=seed)
    engine = pn.Inference(net)
    assert max(np.prod(clique.shape) for clique in engine.plan.cliques) > 1000
    best = engine.most_possible().configuration
    observed = [v.name for v in net.variables][3::7]
    for evidence in ({}, {name: best[name] for name in observed}):
        for name, pi in engine.marginals(evidence).items():
            assert pi.is_close(engine.query(name, evidence), tolerance=1e-12)


@given(questions())
def test_families_are_joint_distributions(question: tuple[pn.Network, dict[str, Any]]) -> None:
    net, evidence = question
    joint = with_evidence(net, joint_table(net), evidence)
    if joint.max() == 0.0:
        return
    families = pn.Inference(net).families(evidence)
    names = [v.name for v in net.variables]
    assert list(families) == names
    for name, pi in families.items():
        scope = [*net.dag.parents(name), name]
        table = joint.max(axis=tuple(k for k, n in enumerate(names) if n not in scope))
        kept = [n for n in names if n in scope]
        table = table.transpose([kept.index(n) for n in scope])
        assert [v.name for v in pi.variables] == scope
        assert pi.degrees == pytest.approx(conditioned(net, table) if evidence else table, abs=1e-12)


@given(networks(max_variables=6).filter(lambda net: net.conjunction is pn.MIN), st.data())
def test_min_based_answers_agree_with_their_alpha_cuts(net: pn.Network, data: st.DataObject) -> None:
    """Cutting every table at a level and asking what is possible at all gives the cut of the answer."""
    target = data.draw(st.sampled_from(net.variables)).name
    marginal = pn.Inference(net).query(target)
    for level in sorted({d for v in net.variables for d in net.table(v.name).reshape(-1) if d > 0})[:6]:
        crisp = pn.Network(
            net.variables,
            net.dag,
            {v.name: (net.table(v.name) >= level) * 1.0 for v in net.variables},
            conjunction=pn.MIN,
        )
        assert pn.Inference(crisp).query(target).core == marginal.cut(level)


def diamond(conjunction: pn.Conjunction) -> pn.Network:
    """Section 9's example: A -> B, A -> C, (B, C) -> D; tables listed column-major, parents ascending, then the variable."""
    two = ("1", "2")
    a, b, c, d = (pn.Variable(name, two) for name in "ABCD")

    def table(values: list[float], parents: int) -> NDArray[np.float64]:
        return np.array(values).reshape([2] * (parents + 1), order="F")

    return pn.Network(
        (a, b, c, d),
        pn.Dag({"A": (), "B": ("A",), "C": ("A",), "D": ("B", "C")}),
        {
            "A": [1, 0.9],
            "B": table([1, 0, 0.4, 1], 1),
            "C": table([0.3, 1, 1, 0.2], 1),
            "D": table([1, 1, 1, 1, 1, 0.8, 0, 1], 2),
        },
        conjunction=conjunction,
    )


def test_the_worked_example_of_the_product() -> None:
    engine = pn.Inference(diamond(pn.PRODUCT))
    evidence = {"D": "2"}
    assert engine.possibility_of(evidence) == pytest.approx(0.72)
    for name, raw in {"A": (0.4, 0.72), "B": (0.3, 0.72), "C": (0.72, 0.4)}.items():
        assert engine.query(name, evidence).degrees == pytest.approx(np.array(raw) / 0.72)
        assert engine.marginals(evidence)[name].degrees == pytest.approx(np.array(raw) / 0.72)


def test_the_worked_example_of_the_minimum() -> None:
    engine = pn.Inference(diamond(pn.MIN))
    evidence = {"D": "2"}
    assert engine.possibility_of(evidence) == pytest.approx(0.8)
    for name, degrees in {"A": (0.4, 1), "B": (0.3, 1), "C": (1, 0.4)}.items():
        assert engine.query(name, evidence).degrees == pytest.approx(degrees)
    assert engine.necessity("B", {"2"}, evidence) == pytest.approx(0.7)


def test_a_chain_of_two_thousand_does_not_underflow() -> None:
    count = 2000
    two = ("a", "b")
    scope = [pn.Variable(f"x{k}", two) for k in range(count)]
    tables: dict[str, Any] = {"x0": [1, 0.1]} | {f"x{k}": [[1, 0.1], [0.2, 1]] for k in range(1, count)}
    net = pn.Network(scope, pn.Dag({f"x{k}": (f"x{k - 1}",) if k else () for k in range(count)}), tables)
    engine = pn.Inference(net)
    alternating = {f"x{k}": two[k % 2] for k in range(1, count)}
    degrees = engine.query("x0", alternating)
    assert degrees.degrees == pytest.approx([1.0, 1.0])  # .1 against .1 * 1
    assert engine.marginals(alternating)["x0"].degrees == pytest.approx([1.0, 1.0])
    best = engine.most_possible(alternating)
    assert best.ties == 2
    assert best.possibility == 0.0  # smaller than any float, and found all the same
    assert engine.marginals()["x1999"].degrees == pytest.approx([1.0, 0.1])
    many = engine.query_many("x0", pn.Dataset.from_rows(scope[1:], [tuple(alternating.values())]))
    assert many[0] == pytest.approx([1.0, 1.0])


def test_evidence_that_only_a_vanishing_product_allows() -> None:
    """The one possible configuration has a degree below the smallest float; it is still the one."""
    count = 400
    scope = [pn.Variable(f"x{k}", ("a", "b")) for k in range(count)]
    tables: dict[str, Any] = {"x0": [1, 1e-3]} | {f"x{k}": [[1, 0], [1, 1e-3]] for k in range(1, count)}
    net = pn.Network(scope, pn.Dag({f"x{k}": (f"x{k - 1}",) if k else () for k in range(count)}), tables)
    engine = pn.Inference(net)
    assert engine.query("x0", {f"x{count - 1}": "b"}).degrees.tolist() == [0.0, 1.0]
    assert engine.marginals({f"x{count - 1}": "b"})["x7"].degrees.tolist() == [0.0, 1.0]


def test_a_vanishing_degree_is_not_none() -> None:
    net = pn.Network(
        [pn.Variable("a", ("x", "y")), pn.Variable("b", ("x", "y"))],
        pn.Dag({"a": (), "b": ("a",)}),
        {"a": [1, 1], "b": [[0, 1], [1, 0]]},
    )
    degrees = pn.Inference(net).query("b", {"a": {"x": 1.0, "y": 1e-20}}).degrees
    assert degrees == pytest.approx([1e-20, 1.0], rel=1e-9, abs=0)


def test_an_unconditioned_answer_keeps_what_lies_apart() -> None:
    a, b = pn.Variable("a", ("x", "y")), pn.Variable("b", ("x", "y"))
    net = pn.Network.subnormal((a, b), pn.Dag({"a": (), "b": ()}), {"a": [0.5, 0.2], "b": [0.5, 0.1]})
    engine = pn.Inference(net)
    assert engine.query("a").degrees == pytest.approx([0.25, 0.1])
    assert engine.marginals()["a"].degrees == pytest.approx([0.25, 0.1])


def test_only_what_the_evidence_touches_is_computed_again() -> None:
    net = pn.random_network(40, max_parents=2, rng=3)
    kept = pn.Inference(net)
    rng = np.random.default_rng(1)
    for _ in range(10):
        chosen = rng.choice([v.name for v in net.variables], 3, replace=False)
        evidence = {str(n): str(rng.choice(net.variable(str(n)).states)) for n in chosen}
        fresh = pn.Inference(net).marginals(evidence)
        for name, pi in kept.marginals(evidence).items():
            assert pi.is_close(fresh[name], tolerance=1e-12)

"""Derivatives of evidence by table entries, and joints of a target with every variable, against enumeration."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, strategies as st

import possnet as pn
from tests.inference.brute_force import joint_table, questions, with_evidence


@given(questions())
def test_a_derivative_is_the_best_configuration_through_an_entry_without_it(
    question: tuple[pn.Network, dict[str, Any]],
) -> None:
    net, evidence = question
    top = float(with_evidence(net, joint_table(net), evidence).max())
    assume(top > 0.0)
    derivatives, values = pn.Inference(net).entry_derivatives([evidence, {}])
    overall = float(joint_table(net).max())
    scale = max(top, overall) if net.conjunction is pn.PRODUCT else 1.0
    assert values.tolist() == pytest.approx([top / scale, overall / scale])
    names = [v.name for v in net.variables]
    for variable in net.variables:
        ones = {v.name: net.table(v.name) for v in net.variables} | {
            variable.name: np.ones_like(net.table(variable.name))
        }
        without = pn.Network.subnormal(net.variables, net.dag, ones, conjunction=net.conjunction)
        joint = with_evidence(net, joint_table(without), evidence)
        scope = [*net.dag.parents(variable.name), variable.name]
        for place in product(*(range(len(net.variable(name))) for name in scope)):
            chosen: list[Any] = [slice(None)] * len(names)
            for name, k in zip(scope, place, strict=True):
                chosen[names.index(name)] = k
            expected = float(joint[tuple(chosen)].max()) / scale
            assert derivatives[variable.name][(*place, 0)] == pytest.approx(expected, abs=1e-12, rel=1e-9)


@given(st.data(), questions())
def test_joints_with_a_target_are_not_conditioned(
    data: st.DataObject, question: tuple[pn.Network, dict[str, Any]]
) -> None:
    net, evidence = question
    joint = with_evidence(net, joint_table(net), evidence)
    assume(joint.max() > 0.0)
    names = [v.name for v in net.variables]
    target = data.draw(st.sampled_from(names))
    pairs = pn.Inference(net).pair_marginals(target, evidence)
    assert list(pairs) == names
    scale = float(joint.max()) if net.conjunction is pn.PRODUCT else 1.0
    for name in names:
        if name == target:
            continue
        dropped = tuple(k for k, other in enumerate(names) if other not in {target, name})
        table = joint.max(axis=dropped)
        if names.index(target) > names.index(name):
            table = table.T
        assert pairs[name] == pytest.approx(table / scale, abs=1e-12, rel=1e-9)


def test_impossible_evidence_has_no_derivatives() -> None:
    engine = pn.Inference(pn.load_example("asia"))
    with pytest.raises(pn.ImpossibleEvidence):
        engine.entry_derivatives([{"either": "no", "lung": "yes"}])
    with pytest.raises(pn.ImpossibleEvidence):
        engine.pair_marginals("smoke", {"either": "no", "lung": "yes"})

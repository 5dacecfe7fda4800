"""What next: expected and worst reductions against their definition."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

import possnet as pn
from tests import oracles
from tests.explanation.cases import answer, asked, joint_with, project
from tests.inference.brute_force import conditioned


def reduction(net: pn.Network, target: str, evidence: dict[str, Any], names: tuple[str, ...], weights: str) -> float:
    """What asking some variables settles: every answer in turn becomes evidence."""
    now = answer(net, target, evidence)
    assert now is not None
    joint = project(net, joint_with(net, evidence), *names)
    shares = pn.to_probability(conditioned(net, joint).reshape(-1))
    left = []
    for place in range(joint.size):
        inside = np.unravel_index(place, joint.shape)
        found = {name: net.variable(name).states[k] for name, k in zip(names, inside, strict=True)}
        after = answer(net, target, evidence | found)
        if after is not None:
            left.append((shares[place], oracles.nonspecificity(after.tolist())))
    mean = sum(share * bits for share, bits in left)
    return oracles.nonspecificity(now.tolist()) - (mean if weights == "pignistic" else max(bits for _, bits in left))


@given(asked(), st.sampled_from(["pignistic", "worst"]))
def test_every_question_promises_what_its_answers_bring(
    question: tuple[pn.Network, str, dict[str, Any]], weights: Any
) -> None:
    net, target, evidence = question
    ranked = pn.next_questions(net, target, evidence, weights=weights)
    unknown = [v.name for v in net.variables if v.name not in {target, *evidence}]
    assert sorted(q.name for q in ranked) == sorted(unknown)
    for own in ranked:
        assert own.reduction == pytest.approx(reduction(net, target, evidence, own.names, weights), abs=1e-8)
        for state, after in own.answers.items():
            expected = answer(net, target, evidence | {own.name: state})
            assert expected is not None
            assert after.target.degrees.tolist() == pytest.approx(expected.tolist(), abs=1e-9)
        assert sum(after.weight for after in own.answers.values()) == pytest.approx(1.0)
    worths = [own.worth for own in ranked]
    assert worths == sorted(worths, reverse=True)


@given(asked(max_variables=4), st.sampled_from(["pignistic", "worst"]))
def test_the_best_pair_is_the_best_of_all_pairs(question: tuple[pn.Network, str, dict[str, Any]], weights: Any) -> None:
    net, target, evidence = question
    unknown = [v.name for v in net.variables if v.name not in {target, *evidence}]
    pair = pn.next_questions(net, target, evidence, weights=weights, pairs=True).pair
    if len(unknown) < 2:
        assert pair is None
        return
    assert pair is not None
    every = {
        (a, b): reduction(net, target, evidence, (a, b), weights)
        for k, a in enumerate(unknown)
        for b in unknown[k + 1 :]
    }
    assert pair.reduction == pytest.approx(every[pair.names[0], pair.names[1]], abs=1e-8)
    assert pair.reduction == pytest.approx(max(every.values()), abs=1e-8)


def test_costs_and_choices_decide_what_is_asked_first() -> None:
    clinic = pn.load_example("clinic")
    free = pn.next_questions(clinic, "measles", {"fever": "high"})
    dear = pn.next_questions(clinic, "measles", {"fever": "high"}, costs={free[0].name: 1000.0})
    assert dear[0].name == free[1].name
    assert [q.name for q in pn.next_questions(clinic, "measles", among=["cough"])] == ["cough"]
    assert free.to_dict()["questions"][0]["names"] == [free[0].name]
    assert "bits are open" in str(free)


def test_bad_input_is_one_sentence() -> None:
    clinic = pn.load_example("clinic")
    with pytest.raises(pn.InputError, match="next_questions: cost of 'rash' 0; expected a number above 0"):
        pn.next_questions(clinic, "measles", costs={"rash": 0})
    with pytest.raises(pn.InputError, match="next_questions: costs: no variable 'rahs'"):
        pn.next_questions(clinic, "measles", costs={"rahs": 1})
    with pytest.raises(pn.InputError, match="among has 'fever', which is the target or observed"):
        pn.next_questions(clinic, "measles", {"fever": "high"}, among=["fever"])
    with pytest.raises(pn.InputError, match="weights 'best'; expected pignistic, worst"):
        pn.next_questions(clinic, "measles", weights="best")  # type: ignore[arg-type]
    with pytest.raises(pn.InputError, match="the target 'fever' is in the evidence"):
        pn.next_questions(clinic, "fever", {"fever": "high"})

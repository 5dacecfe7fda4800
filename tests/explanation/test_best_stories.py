"""Why: stories, rivals, caps and flips against enumeration."""

from __future__ import annotations

import json
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

import possnet as pn
from tests.explanation.cases import answer, asked, joint_with, project


@given(st.data(), asked())
def test_the_story_and_the_rival_are_the_best_configurations_of_their_side(
    data: st.DataObject, question: tuple[pn.Network, str, dict[str, Any]]
) -> None:
    net, target, evidence = question
    variable = net.variable(target)
    state = data.draw(st.sampled_from(variable.states))
    why = pn.explain(net, target, evidence, state)
    joint = joint_with(net, evidence)
    sides = project(net, joint, target)
    others = np.delete(sides, variable.index(state))
    assert why.story_degree == pytest.approx(sides[variable.index(state)], abs=1e-12)
    assert why.rival_degree == pytest.approx(others.max(initial=0.0), abs=1e-12)
    degrees = answer(net, target, evidence)
    assert degrees is not None
    assert why.possibility == pytest.approx(degrees[variable.index(state)], abs=1e-9)
    assert why.necessity == pytest.approx(1.0 - np.delete(degrees, variable.index(state)).max(initial=0.0), abs=1e-9)
    for story, degree in ((why.story, why.story_degree), (why.rival, why.rival_degree)):
        if story:
            assert joint[tuple(v.index(story[v.name]) for v in net.variables)] == pytest.approx(degree, abs=1e-12)
    assert why.story[target] == state
    assert not why.rival or why.rival[target] != state


@given(asked())
def test_the_factors_of_a_story_combine_to_its_degree(question: tuple[pn.Network, str, dict[str, Any]]) -> None:
    net, target, evidence = question
    why = pn.explain(net, target, evidence)
    for factors, degree in ((why.story_factors, why.story_degree), (why.rival_factors, why.rival_degree)):
        if not factors:
            continue
        degrees = [factor.degree for factor in factors]
        combined = np.prod(degrees) if net.conjunction is pn.PRODUCT else min(degrees)
        assert combined == pytest.approx(degree, abs=1e-12)
        for factor in factors:
            if net.conjunction is pn.PRODUCT:
                assert factor.decisive == (factor.degree < 1.0)
            else:
                assert factor.decisive == (factor.degree < 1.0 and factor.degree == min(degrees))
    json.loads(why.to_json())
    assert str(why).startswith(f"{target}={why.state}")


@given(st.data(), asked(least_findings=1))
def test_findings_cap_the_state_and_the_fewest_are_dropped(
    data: st.DataObject, question: tuple[pn.Network, str, dict[str, Any]]
) -> None:
    net, target, evidence = question
    state = data.draw(st.integers(0, len(net.variable(target)) - 1))
    why = pn.explain(net, target, evidence, net.variable(target).states[state])
    now = answer(net, target, evidence)
    assert now is not None
    for name, effect in why.findings.items():
        without = answer(net, target, {n: e for n, e in evidence.items() if n != name})
        assert without is not None
        assert effect.possibility_without == pytest.approx(without[state], abs=1e-9)
        if abs(without[state] - now[state]) > 1e-9:
            assert effect.caps == (without[state] > now[state])
    if len(net.variable(target)) == 1:
        return

    def leads(kept: dict[str, Any]) -> bool:
        degrees = answer(net, target, kept)
        return degrees is not None and bool(degrees[state] >= 1.0 - 1e-12)

    smallest = next(
        (
            size
            for size in range(1, len(evidence) + 1)
            for names in combinations(evidence, size)
            if leads({n: e for n, e in evidence.items() if n not in names}) != leads(evidence)
        ),
        None,
    )
    dropped = why.change.dropped
    assert (None if dropped is None else len(dropped)) == smallest
    if dropped is not None:
        assert leads({n: e for n, e in evidence.items() if n not in dropped}) != leads(evidence)
    if why.change.replaced is not None:
        name, other = why.change.replaced
        assert leads(evidence | {name: other}) != leads(evidence)


@given(st.data(), asked(max_variables=4))
def test_no_single_entry_flips_the_answer_before_the_one_that_is_named(
    data: st.DataObject, question: tuple[pn.Network, str, dict[str, Any]]
) -> None:
    net, target, evidence = question
    state = data.draw(st.sampled_from(net.variable(target).states))
    why = pn.explain(net, target, evidence, state)
    entries = pn.sensitivity(net, target, state, evidence)
    entry, needed = why.change.entry, why.change.needed
    reach = 1.1 if needed is None or entry is None else abs(needed - entry.degree)
    for other in entries:
        for share in (-0.999, -0.5, 0.5, 0.999):
            t = other.degree + share * reach
            if 0.0 <= t <= 1.0 and reach > 1e-6:
                value = other.value(t)
                assert np.isnan(value) or (value >= 1.0 - 1e-9) == why.leads, (other.label, t)
    if entry is not None and needed is not None:
        named = entries.entry(entry.variable, entry.state, entry.context)
        step = 1e-7 if "above" in why.change.side else -1e-7
        values = [named.value(min(max(t, 0.0), 1.0)) for t in (needed, needed + step)]
        flips = [(value == 1.0) != why.leads for value in values if not np.isnan(value)]
        assert any(flips)
        if net.conjunction is pn.MIN:  # for the product, rounding decides at the point itself
            assert flips[0] == why.change.side.startswith("at or")


def test_an_impossible_state_is_explained_by_its_zeros() -> None:
    asia = pn.load_example("asia")
    why = pn.explain(asia, "lung", {"either": "no"}, "yes")
    assert (why.possibility, why.story_degree) == (0.0, 0.0)
    assert [f.label for f in why.story_factors if f.degree == 0.0] == ["either=no given lung=yes, tub=no"]
    assert why.rival["lung"] == "no"


def test_a_target_with_one_state_has_no_rival() -> None:
    one = pn.Variable("one", ("only",))
    two = pn.Variable("two", ("a", "b"))
    net = pn.Network((one, two), pn.Dag({"one": (), "two": ("one",)}), {"one": [1], "two": [[1, 0.5]]})
    why = pn.explain(net, "one", {"two": "b"})
    assert (why.rival, why.necessity, why.change.dropped, why.change.entry) == ({}, 1.0, None, None)
    assert "only" in why.draw()


def test_numbers_and_uncertain_findings_explain_too() -> None:
    age = pn.bin_measurements([17, 30, 50, 61], edges=[20, 40])
    data = pn.Dataset.from_table({"age": age, "job": ["no", "yes", "yes", "no"]})
    net = pn.fit(pn.Dag({"age": (), "job": ("age",)}), data)
    why = pn.explain(net, "job", {"age": 45})
    assert why.given == ("age=45",)
    assert pn.explain(net, "age", {"job": {"yes": 1.0, "no": 0.4}}).story["job"] == "yes"
    assert pn.sensitivity(net, "age", ">=40", {"job": "yes"}).answer == 1.0
    assert len(pn.next_questions(net, "age", pairs=True)) == 1


def test_bad_questions_are_one_sentence() -> None:
    clinic = pn.load_example("clinic")
    with pytest.raises(pn.InputError, match="explain: the target 'rash' is in the evidence"):
        pn.explain(clinic, "rash", {"rash": "spots"})
    with pytest.raises(pn.InputError, match="explain: no variable 'measels'.*did you mean 'measles'"):
        pn.explain(clinic, "measels")
    with pytest.raises(pn.InputError, match="expected a possnet.Network"):
        pn.explain("clinic", "measles")  # type: ignore[arg-type]
    with pytest.raises(pn.ImpossibleEvidence, match="explain: the evidence"):
        pn.explain(pn.load_example("asia"), "smoke", {"either": "no", "lung": "yes"})

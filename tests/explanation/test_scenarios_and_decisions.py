"""What if, and what to do: interventions, scenarios and utilities against their definitions."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, strategies as st

import possnet as pn
from tests.explanation.cases import answer, asked, joint_with, project
from tests.inference.brute_force import conditioned
from tests.strategies import conjunctions, levels, networks


@st.composite
def interventions(draw: st.DrawFn, net: pn.Network) -> dict[str, str]:
    chosen = draw(st.lists(st.sampled_from(net.variables), unique=True, min_size=1, max_size=2))
    return {v.name: draw(st.sampled_from(v.states)) for v in chosen}


def mutilated(net: pn.Network, done: dict[str, str], configuration: dict[str, str]) -> float:
    """Benferhat and Smaoui's definition: all table entries but those of what is set; 0 where a set variable differs."""
    if any(configuration[name] != state for name, state in done.items()):
        return 0.0
    degree = 1.0
    for v in net.variables:
        if v.name not in done:
            place = [net.variable(p).index(configuration[p]) for p in net.dag.parents(v.name)]
            degree = float(net.conjunction.combine(degree, net.table(v.name)[(*place, v.index(configuration[v.name]))]))
    return degree


@given(st.data(), networks(max_variables=5))
def test_do_is_the_mutilated_network(data: st.DataObject, net: pn.Network) -> None:
    done = data.draw(interventions(net))
    after = net.do(done)
    names = [v.name for v in net.variables]
    for states in product(*(v.states for v in net.variables)):
        configuration = dict(zip(names, states, strict=True))
        assert after.joint(configuration) == mutilated(net, done, configuration)
    assert all(after.dag.parents(name) == () for name in done)
    assert after.is_normalised


@given(st.data(), networks(max_variables=4))
def test_do_is_evidence_in_the_augmented_network(data: st.DataObject, net: pn.Network) -> None:
    """The other definition: a further parent says whether the variable is left alone, or which state it is set to."""
    done = data.draw(interventions(net))
    switches = {
        name: pn.Variable(f"do {name}", ("none", *(f"set {s}" for s in net.variable(name).states))) for name in done
    }
    tables: dict[str, Any] = {v.name: net.table(v.name) for v in net.variables}
    parents = {v.name: net.dag.parents(v.name) for v in net.variables}
    for name, switch in switches.items():
        table, size = net.table(name), len(net.variable(name))
        set_to = [np.broadcast_to(np.eye(size)[k], table.shape) for k in range(size)]
        tables[name] = np.stack([table, *set_to], axis=0)
        parents[name] = (switch.name, *parents[name])
        parents[switch.name] = ()
        tables[switch.name] = [1.0] * len(switch)
    augmented = pn.Network((*net.variables, *switches.values()), pn.Dag(parents), tables, conjunction=net.conjunction)
    known = {switches[name].name: f"set {state}" for name, state in done.items()}
    expected = pn.Inference(augmented).marginals(known)
    for name, marginal in pn.Inference(net.do(done)).marginals().items():
        assert marginal.degrees.tolist() == pytest.approx(expected[name].degrees.tolist(), abs=1e-9)


@given(st.data(), networks(max_variables=5))
def test_doing_a_root_is_seeing_it(data: st.DataObject, net: pn.Network) -> None:
    root = data.draw(st.sampled_from([v for v in net.variables if not net.dag.parents(v.name)]))
    state = data.draw(st.sampled_from(root.states))
    assume(net.table(root.name)[root.index(state)] > 0.0)
    for v in net.variables:
        seen = answer(net, v.name, {root.name: state})
        assert seen is not None
        done = project(net, joint_with(net.do({root.name: state}), {}), v.name)
        if net.conjunction is pn.PRODUCT or net.table(root.name)[root.index(state)] == 1.0:
            assert conditioned(net, done).tolist() == pytest.approx(seen.tolist(), abs=1e-9)


def test_do_keeps_the_rest_and_refuses_what_is_no_state() -> None:
    clinic = pn.load_example("clinic")
    after = clinic.do({"flu": "yes"})
    assert (after.name, after.conjunction, clinic.do({}) == clinic) == ("clinic", clinic.conjunction, True)
    assert after.table("flu").tolist() == [1.0, 0.0]
    assert after.table("fever") is clinic.table("fever")
    bounded = clinic.with_bounds(*[{v.name: clinic.table(v.name) for v in clinic.variables}] * 2).do({"flu": "no"})
    assert bounded.bounds is not None
    assert bounded.bounds.lower["flu"].tolist() == [0.0, 1.0]
    for wrong, message in (
        ({"flue": "yes"}, "no variable 'flue'"),
        ({"flu": "maybe"}, "'maybe' is not a state"),
        ({"flu": {"yes", "no"}}, "expected one of its states"),
        ("flu", "expected a mapping such as"),
    ):
        with pytest.raises(pn.InputError, match=message):
            clinic.do(wrong)  # type: ignore[arg-type]


@given(st.data(), asked(max_variables=4))
def test_scenarios_pair_the_marginals_of_seeing_and_doing(
    data: st.DataObject, question: tuple[pn.Network, str, dict[str, Any]]
) -> None:
    net, _, evidence = question
    done = data.draw(interventions(net))
    given_too = {n: e for n, e in evidence.items() if n not in done}
    assume(joint_with(net.do(done), given_too).max() > 0.0)
    compared = pn.scenarios(net, {"seen": evidence, "done": pn.Scenario(given=given_too, do=done)})
    spread = compared.differences()
    for v in net.variables:
        pair = compared.of(v.name)
        for label, other, known in (("seen", net, evidence), ("done", net.do(done), given_too)):
            table = project(net, joint_with(other, known), v.name)
            expected = conditioned(net, table) if known else table
            assert pair[label].degrees.tolist() == pytest.approx(expected.tolist(), abs=1e-9)
        gap = np.abs(pair["seen"].degrees - pair["done"].degrees).max()
        assert spread[v.name] == pytest.approx(gap)
    assert list(spread.values()) == sorted(spread.values(), reverse=True)
    assert "done" in str(compared)


def test_bad_scenarios_are_one_sentence() -> None:
    clinic = pn.load_example("clinic")
    with pytest.raises(pn.InputError, match="fewer than two scenarios"):
        pn.scenarios(clinic, {"a": {}})
    with pytest.raises(pn.InputError, match="'b' sets 'flu' and has evidence on it"):
        pn.scenarios(clinic, {"a": {}, "b": pn.Scenario(given={"flu": "yes"}, do={"flu": "no"})})
    with pytest.raises(pn.InputError, match="expected a Scenario"):
        pn.scenarios(clinic, {"a": {}, "b": {"do": {"flu": "no"}}})  # type: ignore[dict-item]
    with pytest.raises(pn.InputError, match="expected a Scenario, or a mapping"):
        pn.scenarios(clinic, {"a": {}, "b": 3})  # type: ignore[dict-item]
    with pytest.raises(pn.InputError, match="'b': evidence: no variable 'flue'"):
        pn.scenarios(clinic, {"a": {}, "b": {"flue": "yes"}})
    with pytest.raises(pn.ImpossibleEvidence, match="'b': the evidence"):
        pn.scenarios(pn.load_example("asia"), {"a": {}, "b": {"either": "no", "lung": "yes"}})


def utility(net: pn.Network, degrees: Any, worth: Any) -> tuple[float, float]:
    """Dubois and Prade's criteria for the minimum; for the product their counterparts, spelled out."""
    pairs = list(zip(np.ravel(degrees).tolist(), np.ravel(worth).tolist(), strict=True))
    if net.conjunction is pn.MIN:
        return max(min(p, u) for p, u in pairs), min(max(1 - p, u) for p, u in pairs)
    return max(p * u for p, u in pairs), min(1 - p * (1 - u) for p, u in pairs)


@given(st.data(), asked(max_variables=4))
def test_utilities_are_their_definition(data: st.DataObject, question: tuple[pn.Network, str, dict[str, Any]]) -> None:
    net, target, evidence = question
    free = [v.name for v in net.variables if v.name not in evidence]
    several = data.draw(st.booleans()) and len(free) > 1
    targets = tuple(dict.fromkeys([target, *free]))[: 2 if several else 1]
    states = list(product(*(net.variable(name).states for name in targets)))
    acts: dict[str, dict[str, str] | None] = {"wait": None, "treat": None}
    settable = [v for v in net.variables if v.name not in {*evidence, *targets}]
    if settable:
        chosen = data.draw(st.sampled_from(settable))
        acts["set"] = {chosen.name: data.draw(st.sampled_from(chosen.states))}
        assume(joint_with(net.do(acts["set"] or {}), evidence).max() > 0.0)
    worth = {act: {s: data.draw(levels) for s in states} for act in acts}

    def keys(states: tuple[str, ...]) -> Any:
        return states if several else states[0]

    named = targets if several else targets[0]
    decision = pn.decide(
        net, acts, {act: {named: {keys(s): u for s, u in own.items()}} for act, own in worth.items()}, evidence
    )
    same = pn.decide(
        net, acts, {act: {keys(s): u for s, u in own.items()} for act, own in worth.items()}, evidence, target=named
    )
    assert same == decision
    for act, done in acts.items():
        other = net.do(done) if done else net
        table = project(net, joint_with(other, evidence), *targets)
        degrees = conditioned(net, table) if evidence else table
        expected = utility(net, degrees, [worth[act][s] for s in states])
        own = decision.of(act)
        assert (own.optimistic, own.pessimistic) == pytest.approx(expected, abs=1e-9)
        hope = float(net.conjunction.combine(own.best.possibility, own.best.utility))
        fear = float(net.conjunction.combine(own.worst.possibility, 1.0 - own.worst.utility))
        assert (hope, 1.0 - fear) == pytest.approx(expected, abs=1e-9)
    values = {own.name: own.pessimistic for own in decision.acts}
    assert set(decision.pessimistic_best) == {a for a, v in values.items() if v >= max(values.values()) - 1e-12}
    assert set(decision.best) <= set(decision.pessimistic_best)
    assert decision.best[0] in decision.reason


@given(conjunctions)
def test_acts_of_the_same_utilities_tie(conjunction: pn.Conjunction) -> None:
    x = pn.Variable("x", ("a", "b"))
    net = pn.Network((x,), pn.Dag({"x": ()}), {"x": [1, 0.5]}, conjunction=conjunction)
    decision = pn.decide(net, ["one", "two"], {"x": {"a": 0.3, "b": 1.0}})
    assert decision.best == decision.optimistic_best == ("one", "two")
    assert "tie for the best" in decision.reason


def test_bad_decisions_are_one_sentence() -> None:
    clinic = pn.load_example("clinic")
    good = {"wait": {"yes": 0.1, "no": 1.0}}

    def refuse(message: str, acts: Any, utilities: Any, evidence: Any = None, target: Any = "measles") -> None:
        with pytest.raises(pn.InputError, match=message):
            pn.decide(clinic, acts, utilities, evidence, target=target)

    refuse("utilities of an unknown act 'wiat'.*did you mean 'wait'", ["wait"], {"wiat": good["wait"]})
    refuse("unknown act 'rest'", ["wait"], good | {"rest": good["wait"]})
    refuse("no utilities of act rest", ["wait", "rest"], good)
    refuse(
        "utilities of act 'wait' lack measles no; expected a utility of every state", ["wait"], {"wait": {"yes": 0.1}}
    )
    refuse("'maybe' is no state of measles", ["wait"], {"wait": {"yes": 0, "no": 1, "maybe": 1}})
    refuse("utility of 'yes' 1.5; expected a number from 0 to 1", ["wait"], {"wait": {"yes": 1.5, "no": 1}})
    refuse("no variable 'measels'", ["wait"], good, target="measels")
    refuse("the target 'measles' is in the evidence", ["wait"], good, {"measles": "yes"})
    refuse("acts \\[\\]", [], good)
    refuse("the same name", ["wait", "wait"], good)
    refuse("act 'wait': network 'clinic': no variable 'x'", {"wait": {"x": "yes"}}, good)
    refuse("act 'wait' sets 'rash', and there is evidence", {"wait": {"rash": "none"}}, good, {"rash": "spots"})
    refuse("expected a mapping such as", {"wait": "yes"}, good)
    refuse("expected \\{target", ["wait"], {"wait": {"yes": 0.1, "no": 1.0}}, target=None)
    with pytest.raises(pn.InputError, match="decide: no act 'rest'"):
        pn.decide(clinic, ["wait"], good, target="measles").of("rest")

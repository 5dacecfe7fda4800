"""Laws of random sets."""

from __future__ import annotations

import pickle

import pytest
from hypothesis import given, strategies as st

import possnet as pn
from tests.strategies import events, masses, possibilities

FEVER = pn.Variable("fever", ("none", "mild", "high"))


@pytest.mark.equation(3)
@given(masses())
def test_the_contour_of_a_state_is_the_mass_of_the_sets_around_it(m: pn.MassFunction) -> None:
    contour = m.contour()
    for state in m.variable.states:
        around = sum(mass for focal, mass in m.masses.items() if state in focal)
        assert contour[state] == pytest.approx(around)
        assert contour[state] == pytest.approx(m.plausibility({state}))


@given(masses())
def test_a_mass_function_is_consistent_exactly_when_its_contour_is_normalised(m: pn.MassFunction) -> None:
    common = frozenset.intersection(*m.masses)
    assert m.is_consistent == bool(common) == m.contour().is_normalised
    assert m.contour().core == common


@given(possibilities())
def test_the_contour_of_the_consonant_mass_function_is_the_distribution(pi: pn.Possibility) -> None:
    m = pn.MassFunction.from_possibility(pi)
    assert m.contour().is_close(pi, tolerance=1e-12)
    assert m.contour().core == pi.core
    assert m.is_consonant
    assert m.is_consistent
    assert set(m.masses) == {pi.cut(level) for level in pi.degrees if level > 0}


@given(masses(), st.data())
def test_belief_plausibility_and_commonality_are_sums_over_sets(m: pn.MassFunction, data: st.DataObject) -> None:
    a = data.draw(events(m.variable))
    everything = frozenset(m.variable.states)
    assert m.belief(a) == pytest.approx(sum(x for b, x in m.masses.items() if b <= a))
    assert m.plausibility(a) == pytest.approx(1.0 - m.belief(everything - a))
    assert m.commonality(a) == pytest.approx(sum(x for b, x in m.masses.items() if a <= b))
    assert m.belief(a) <= m.plausibility(a) + 1e-12


@given(possibilities(), st.data())
def test_a_consonant_mass_has_possibility_as_plausibility_and_necessity_as_belief(
    pi: pn.Possibility, data: st.DataObject
) -> None:
    a, m = data.draw(events(pi.variables[0])), pn.MassFunction.from_possibility(pi)
    assert m.plausibility(a) == pytest.approx(pi.possibility(a), abs=1e-12)
    assert m.belief(a) == pytest.approx(pi.necessity(a), abs=1e-12)


@given(masses())
def test_the_pignistic_is_a_probability_between_belief_and_plausibility(m: pn.MassFunction) -> None:
    p = m.pignistic()
    assert sum(p.values()) == pytest.approx(1.0)
    for state, value in p.items():
        assert m.belief({state}) - 1e-12 <= value <= m.plausibility({state}) + 1e-12


@given(masses())
def test_consonance_means_nested_focal_sets(m: pn.MassFunction) -> None:
    focal = list(m.masses)
    assert m.is_consonant == all(a <= b or b <= a for a in focal for b in focal)


@given(masses())
def test_a_mass_function_is_an_immutable_value(m: pn.MassFunction) -> None:
    twin = pn.MassFunction(m.variable, m.masses)
    assert twin == m
    assert hash(twin) == hash(m)
    assert m.is_close(twin)
    assert pickle.loads(pickle.dumps(m)) == m  # noqa: S301
    assert m != "m"
    with pytest.raises(AttributeError):
        m.masses = {}  # type: ignore[misc]


def test_many_focal_sets_have_a_short_repr() -> None:
    big = pn.Variable("big", tuple(f"s{k}" for k in range(1000)))
    m = pn.MassFunction(big, {frozenset({f"s{k}"}): 0.001 for k in range(1000)})
    assert repr(m).endswith("{s6} 0.001, ... 1000 focal sets)")
    assert m.contour().degrees.tolist() == [0.001] * 1000


@pytest.mark.parametrize(
    ("given_masses", "message"),
    [
        ({frozenset({"none"}): 0.5}, "masses add up to 0.5; expected 1"),
        ({frozenset[str](): 1.0}, "mass 1.0 on the empty set; expected non-empty sets"),
        (
            {frozenset({"none"}): -0.5, frozenset({"mild"}): 1.0},
            "mass -0.5 on {none}; expected a number from 0 to 1",
        ),
        ({frozenset({"none"}): float("nan")}, "mass nan on {none}"),
        ({}, "masses add up to 0; expected 1"),
    ],
)
def test_bad_masses_are_refused_with_a_sentence(given_masses: dict[frozenset[str], float], message: str) -> None:
    with pytest.raises(pn.InputError) as caught:
        pn.MassFunction(FEVER, given_masses)
    assert f"mass function of 'fever': {message}" in str(caught.value)


def test_the_consonant_mass_of_a_subnormal_distribution_is_refused() -> None:
    with pytest.raises(pn.InputError, match="expected a normalised distribution of one variable"):
        pn.MassFunction.from_possibility(pn.Possibility(FEVER, [0.5, 0.2, 0]))
    rash = pn.Variable("rash", ("yes", "no"))
    with pytest.raises(pn.InputError, match="expected a normalised distribution of one variable"):
        pn.MassFunction.from_possibility(pn.Possibility.vacuous((FEVER, rash)))

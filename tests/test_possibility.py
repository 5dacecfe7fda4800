"""Laws of possibility distributions."""

from __future__ import annotations

import pickle
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, strategies as st

import possnet as pn
from tests import oracles
from tests.strategies import conjunctions, events, joint_possibilities, possibilities

FEVER = pn.Variable("fever", ("none", "mild", "high"))
RASH = pn.Variable("rash", ("yes", "no"))


def as_dict(pi: pn.Possibility) -> dict[str, float]:
    return dict(zip(pi.variables[0].states, pi.degrees.tolist(), strict=True))


@given(possibilities(normalised=False), st.data())
def test_possibility_of_a_union_is_the_larger_possibility(pi: pn.Possibility, data: st.DataObject) -> None:
    a, b = data.draw(events(pi.variables[0])), data.draw(events(pi.variables[0]))
    assert pi.possibility(a | b) == max(pi.possibility(a), pi.possibility(b))
    assert pi.possibility(a) == oracles.possibility(as_dict(pi), a)
    assert pi.possibility(frozenset()) == 0.0


@given(possibilities(), st.data())
def test_necessity_is_the_dual_of_possibility(pi: pn.Possibility, data: st.DataObject) -> None:
    a = data.draw(events(pi.variables[0]))
    rest = frozenset(pi.variables[0].states) - a
    assert pi.necessity(a) == 1.0 - pi.possibility(rest)
    assert pi.necessity(a) <= pi.possibility(a)
    assert pi.necessity(a) == 0.0 or pi.possibility(a) == 1.0


@given(possibilities(), st.data())
def test_necessity_of_an_intersection_is_the_smaller_necessity(pi: pn.Possibility, data: st.DataObject) -> None:
    a, b = data.draw(events(pi.variables[0])), data.draw(events(pi.variables[0]))
    assert pi.necessity(a & b) == min(pi.necessity(a), pi.necessity(b))


@pytest.mark.equation(1)
@given(possibilities(normalised=False), st.data())
def test_product_conditioning_divides_inside_the_event(pi: pn.Possibility, data: st.DataObject) -> None:
    a = data.draw(events(pi.variables[0]))
    assume(pi.possibility(a) > 0.0)
    revised = pi.condition(a, pn.PRODUCT)
    assert as_dict(revised) == pytest.approx(oracles.product_conditioning(as_dict(pi), a))
    assert revised.is_normalised


@pytest.mark.equation(2)
@given(possibilities(normalised=False), st.data())
def test_min_conditioning_lifts_the_best_of_the_event(pi: pn.Possibility, data: st.DataObject) -> None:
    a = data.draw(events(pi.variables[0]))
    assume(pi.possibility(a) > 0.0)
    revised = pi.condition(a, pn.MIN)
    assert as_dict(revised) == oracles.min_conditioning(as_dict(pi), a)
    assert revised.is_normalised


@given(possibilities(), conjunctions)
def test_conditioning_on_everything_changes_nothing(pi: pn.Possibility, conjunction: pn.Conjunction) -> None:
    assert pi.condition(pi.variables[0].states, conjunction) == pi


@given(possibilities(normalised=False), conjunctions)
def test_conditioning_on_the_impossible_is_refused(pi: pn.Possibility, conjunction: pn.Conjunction) -> None:
    impossible = frozenset(pi.variables[0].states) - pi.support
    with pytest.raises(pn.ImpossibleEvidence, match="has possibility 0"):
        pi.condition(impossible, conjunction)


@given(possibilities(), st.floats(0.0, 1.0, exclude_min=True), st.floats(0.0, 1.0, exclude_min=True))
def test_cuts_shrink_as_the_level_rises(pi: pn.Possibility, first: float, second: float) -> None:
    low, high = sorted((first, second))
    assert pi.core <= pi.cut(high) <= pi.cut(low) <= pi.support
    assert pi.cut(high) == frozenset(s for s, d in as_dict(pi).items() if d >= high)


@given(possibilities(normalised=False))
def test_nonspecificity_is_the_mean_size_of_the_cuts(pi: pn.Possibility) -> None:
    assert pi.nonspecificity() == pytest.approx(oracles.nonspecificity(pi.degrees.tolist()), abs=1e-12)


def test_nonspecificity_of_published_values() -> None:
    assert pn.Possibility(FEVER, [1, 0.6, 0.1]).nonspecificity() == pytest.approx(0.658496, abs=5e-7)
    assert pn.Possibility(RASH, [0.5, 0.2]).nonspecificity() == pytest.approx(0.7)
    assert pn.Possibility.vacuous(FEVER).nonspecificity() == pytest.approx(np.log2(3))
    assert pn.Possibility.certain(FEVER, "mild").nonspecificity() == 0.0


@given(joint_possibilities(), st.data())
def test_a_marginal_is_the_largest_degree_over_the_others(pi: pn.Possibility, data: st.DataObject) -> None:
    names = [v.name for v in pi.variables]
    kept = data.draw(st.lists(st.sampled_from(names), min_size=1, unique=True))
    marginal = pi.marginal(kept)
    assert [v.name for v in marginal.variables] == kept
    for states in product(*(v.states for v in marginal.variables)):
        assert marginal[states] == pi.possibility(dict(zip(kept, states, strict=True)))


@given(joint_possibilities(), st.data())
def test_a_box_and_its_configurations_are_the_same_event(pi: pn.Possibility, data: st.DataObject) -> None:
    box = {v.name: data.draw(events(v)) for v in pi.variables}
    listed = list(product(*box.values()))
    assert pi.possibility(box) == pi.possibility(listed)
    assert pi.necessity(box) == pi.necessity(listed)
    assert pi.possibility(pi.cut(0.5)) in {0.0, pi.degrees.max()}
    if pi.possibility(box) > 0.0:
        assert pi.condition(box, pn.MIN) == pi.condition(listed, pn.MIN)


@given(possibilities(normalised=False))
def test_normalising_keeps_the_order_and_peaks_at_one(pi: pn.Possibility) -> None:
    assume(pi.degrees.any())
    divided, lifted = pi.normalise(pn.PRODUCT), pi.normalise(pn.MIN)
    assert divided.is_normalised
    assert lifted.is_normalised
    assert np.allclose(divided.degrees * pi.degrees.max(), pi.degrees)
    below = pi.degrees < pi.degrees.max()
    assert np.array_equal(lifted.degrees[below], pi.degrees[below])


def test_a_top_within_a_billionth_of_one_becomes_one_and_nothing_else_changes() -> None:
    assert pn.Possibility(FEVER, [1 - 5e-10, 0.3, 1 - 6e-10]).degrees.tolist() == [1.0, 0.3, 1 - 6e-10]
    assert pn.Possibility(FEVER, [1 + 5e-10, 0.3, 1.0]).degrees.tolist() == [1.0, 0.3, 1.0]
    assert pn.Possibility(FEVER, [1.0, 0.3, 1 - 1e-12]).degrees.tolist() == [1.0, 0.3, 1 - 1e-12]
    assert not pn.Possibility(FEVER, [1 - 1e-8, 0.3, 0.2]).is_normalised


def test_a_subnormal_distribution_says_so_and_refuses_necessity() -> None:
    pi = pn.Possibility(RASH, [0.5, 0.2])
    assert "subnormal" in repr(pi)
    assert pi.inconsistency == 0.5
    with pytest.raises(pn.InputError, match=r"largest degree is 0\.5; expected 1\. Normalise it first"):
        pi.necessity("yes")
    with pytest.raises(pn.InputError, match="zero everywhere"):
        pn.Possibility(RASH, [0, 0]).normalise(pn.PRODUCT)


@given(possibilities(normalised=False))
def test_a_possibility_is_an_immutable_value(pi: pn.Possibility) -> None:
    twin = pn.Possibility(pi.variables, pi.degrees)
    assert twin == pi
    assert hash(twin) == hash(pi)
    assert pi.is_close(twin)
    copy = pickle.loads(pickle.dumps(pi))  # noqa: S301
    assert copy == pi
    for array in (pi.degrees, twin.degrees, copy.degrees):
        assert not array.flags.writeable
    with pytest.raises(AttributeError):
        pi.degrees = twin.degrees  # type: ignore[misc]


def test_minus_zero_is_zero() -> None:
    assert hash(pn.Possibility(RASH, [1.0, -0.0])) == hash(pn.Possibility(RASH, [1.0, 0.0]))


def test_the_two_conjunctions_are_single_values() -> None:
    assert pickle.loads(pickle.dumps(pn.PRODUCT)) is pn.PRODUCT  # noqa: S301
    assert pickle.loads(pickle.dumps(pn.MIN)) is pn.MIN  # noqa: S301
    assert [repr(pn.PRODUCT), repr(pn.MIN), pn.PRODUCT.name, pn.MIN.name] == [
        "PRODUCT",
        "MIN",
        "product",
        "min",
    ]


def test_values_of_other_kinds_are_not_equal() -> None:
    assert pn.Possibility(RASH, [1, 0]) != 1
    assert pn.Possibility(RASH, [1, 0]) != pn.Possibility(pn.Variable("r", ("yes", "no")), [1, 0])
    assert not pn.Possibility(RASH, [1, 0]).is_close(pn.Possibility(RASH, [1, 1e-6]))


def test_a_large_distribution_has_a_short_repr() -> None:
    big = pn.Possibility.vacuous((FEVER, RASH, pn.Variable("x", ("a", "b", "c"))))
    assert repr(big).startswith("Possibility(fever, rash, x: 3 x 2 x 3 degrees, the largest ")
    assert big.is_vacuous
    assert len(big.core) == 18


@pytest.mark.parametrize(
    ("degrees", "message"),
    [
        ([1, 0.5], "degrees have shape (2,); expected (3,)"),
        ([1, 0.5, 1.2], "degree 1.2 at position 2; expected numbers from 0 to 1"),
        ([1, -0.5, 0], "degree -0.5 at position 1; expected numbers from 0 to 1"),
        ([1, float("nan"), 0], "degree nan at position 1"),
        ([1, float("inf"), 0], "degree inf at position 1"),
        ([1, "a", 0], "degrees are not a rectangular array of numbers; expected shape (3,)"),
        ([[1], [1, 2], 0], "degrees are not a rectangular array of numbers"),
    ],
)
def test_bad_degrees_are_refused_with_a_sentence(degrees: Any, message: str) -> None:
    with pytest.raises(pn.InputError) as caught:
        pn.Possibility(FEVER, degrees)
    assert message in str(caught.value)
    assert str(caught.value).startswith("possibility of 'fever': ")


def test_bad_questions_are_refused_with_a_sentence() -> None:
    pi = pn.Possibility((FEVER, RASH), np.array([[1, 0.2], [0.4, 0], [0, 0]]))
    with pytest.raises(pn.InputError, match="1 states .* for 2 variables"):
        pi["none"]
    with pytest.raises(pn.InputError, match="'feber' is not a variable here .*did you mean 'fever'"):
        pi.possibility({"feber": "none"})
    with pytest.raises(pn.InputError, match="expected one or more distinct names"):
        pi.marginal([])
    with pytest.raises(pn.InputError, match=r"level 1.5 is outside \[0, 1\]"):
        pi.cut(1.5)
    with pytest.raises(pn.InputError, match="no variable"):
        pn.Possibility((), 1.0)
    with pytest.raises(pn.InputError, match="appears twice"):
        pn.Possibility((RASH, RASH), [[1, 0], [0, 0]])
    with pytest.raises(pn.InputError, match=r"at position \(1, 1\)"):
        pn.Possibility((FEVER, RASH), np.array([[1, 0.2], [0.4, 7], [0, 0]]))
    with pytest.raises(pn.ImpossibleEvidence, match="'fever' in {high}, 'rash' in {no, yes} has possibility 0"):
        pi.condition({"fever": "high", "rash": {"yes", "no"}}, pn.PRODUCT)
    with pytest.raises(pn.ImpossibleEvidence, match="'fever', 'rash' in {high/no} has possibility 0"):
        pi.condition([("high", "no")], pn.PRODUCT)


@given(st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0]) | st.floats(0, 1), min_size=13, max_size=40), st.integers(0, 12))
def test_of_many_degrees_the_largest_are_shown_in_their_order_and_how_large_the_others_are(
    degrees: list[float], top: int
) -> None:
    degrees[top] = 1.0
    x = pn.Variable("x", tuple(f"s{k}" for k in range(len(degrees))))
    order = sorted(range(len(degrees)), key=lambda k: -degrees[k])  # equal ones as they come
    shown = ", ".join(f"s{k} {degrees[k]:.6g}" for k in order[:5])
    rest = f"{len(degrees) - 5} more, up to {degrees[order[5]]:.6g}"
    assert repr(pn.Possibility(x, degrees)) == f"Possibility(x: {len(degrees)} degrees, the largest {shown}; {rest})"

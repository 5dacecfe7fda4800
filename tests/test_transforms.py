"""Laws of the transformations between probability and possibility."""

from __future__ import annotations

from itertools import combinations
from typing import get_args

import numpy as np
import pytest
from hypothesis import given, strategies as st

import possnet as pn
from possnet.transforms import Inverse, Transform
from tests.strategies import possibilities, probabilities

METHODS: tuple[Transform, ...] = get_args(Transform)
methods = st.sampled_from(METHODS)


@pytest.mark.parametrize(
    ("method", "expected"),
    [
        ("optimal", (1, 0.5, 0.2)),
        ("symmetric", (1, 0.8, 0.6)),
        ("ratio", (1, 0.6, 0.4)),
        ("klir", (1, 0.881350, 0.797279)),
        ("variable", (1, 0.456077, 0.2)),
    ],
)
def test_published_values(method: Transform, expected: tuple[float, ...]) -> None:
    assert pn.to_possibility([0.5, 0.3, 0.2], method) == pytest.approx(expected, abs=1e-6)


@given(probabilities(), methods)
def test_the_order_is_kept_and_ties_stay_ties_to_the_bit(weights: list[float], method: Transform) -> None:
    degrees = pn.to_possibility(weights, method)
    assert degrees.max() == 1.0
    for i, j in combinations(range(len(weights)), 2):
        if weights[i] == weights[j]:
            assert degrees[i] == degrees[j]
        else:
            assert (weights[i] > weights[j]) == (degrees[i] > degrees[j]) or degrees[i] == degrees[j]
    assert [d == 0.0 for d in degrees] == [w == 0.0 for w in weights]


@given(probabilities(), st.sampled_from(["optimal", "symmetric", "klir"]), st.data())
def test_an_event_is_at_least_as_possible_as_probable(
    weights: list[float], method: Transform, data: st.DataObject
) -> None:
    degrees, p = pn.to_possibility(weights, method), np.array(weights) / sum(weights)
    event = data.draw(st.lists(st.booleans(), min_size=len(p), max_size=len(p)))
    assert p[event].sum() <= degrees[event].max(initial=0.0) + 1e-12


@pytest.mark.parametrize("method", ["ratio", "variable"])
def test_ratio_and_variable_do_not_guarantee_that(method: Transform) -> None:
    p = np.array([0.4, 0.2, 0.2, 0.2])
    assert p[1:].sum() > pn.to_possibility(p, method)[1:].max()


@given(probabilities())
def test_optimal_sums_what_is_not_more_probable(weights: list[float]) -> None:
    p = np.array(weights) / sum(weights)
    assert pn.to_possibility(weights) == pytest.approx([p[p <= x].sum() for x in p])


@given(probabilities())
def test_symmetric_sums_the_smaller_of_each_pair(weights: list[float]) -> None:
    p = np.array(weights) / sum(weights)
    assert pn.to_possibility(weights, "symmetric") == pytest.approx([np.minimum(x, p).sum() for x in p])


@given(probabilities())
def test_klir_keeps_the_amount_of_uncertainty(weights: list[float]) -> None:
    p = np.sort(np.array(weights) / sum(weights))[::-1]
    p = p[p > 0]
    pi = np.sort(pn.to_possibility(weights, "klir"))[::-1][: len(p)]
    entropy = -(p * np.log2(p)).sum()
    steps = pi - np.append(pi[1:], 0.0)
    sizes = np.arange(1, len(p) + 1)
    assert (steps[1:] * np.log2(sizes**2 / np.cumsum(pi))[1:]).sum() == pytest.approx(entropy, abs=1e-6)


@given(probabilities())
def test_variable_gives_the_least_probable_state_its_probability(weights: list[float]) -> None:
    p = np.array([w for w in weights if w > 0]) / sum(weights)
    degrees = pn.to_possibility(p, "variable")
    expected = 1.0 if p.min() == p.max() else p.min()
    assert degrees.min() == pytest.approx(expected)


@given(probabilities())
def test_to_probability_inverts_symmetric(weights: list[float]) -> None:
    assert pn.to_probability(pn.to_possibility(weights, "symmetric")) == pytest.approx(
        np.array(weights) / sum(weights), abs=1e-12
    )


@given(possibilities())
def test_symmetric_inverts_to_probability(pi: pn.Possibility) -> None:
    assert pn.to_possibility(pn.to_probability(pi.degrees), "symmetric") == pytest.approx(pi.degrees, abs=1e-12)


@given(possibilities())
def test_to_probability_is_the_pignistic_of_the_consonant_mass(pi: pn.Possibility) -> None:
    pignistic = pn.MassFunction.from_possibility(pi).pignistic()
    assert pn.to_probability(pi.degrees) == pytest.approx(list(pignistic.values()), abs=1e-12)


@given(st.lists(probabilities(max_states=3).filter(lambda w: len(w) == 3), min_size=1, max_size=5), methods)
def test_rows_columns_and_single_distributions_agree(rows: list[list[float]], method: Transform) -> None:
    table = pn.to_possibility(rows, method)
    assert np.array_equal(table.T, pn.to_possibility(np.array(rows).T, method, axis=0))
    for row, degrees in zip(rows, table, strict=True):
        assert pn.to_possibility(row, method) == pytest.approx(degrees, abs=1e-12)
    back = pn.to_probability(table)
    assert np.array_equal(back.T, pn.to_probability(table.T, axis=0))


@given(probabilities(), methods, st.randoms())
def test_the_order_of_the_states_does_not_matter(weights: list[float], method: Transform, random: object) -> None:
    order = sorted(range(len(weights)), key=lambda _: random.random())  # type: ignore[attr-defined]
    shuffled = pn.to_possibility([weights[k] for k in order], method)
    assert shuffled == pytest.approx(pn.to_possibility(weights, method)[order], abs=1e-12)


@pytest.mark.parametrize("method", METHODS)
def test_uniform_is_ignorance_and_degenerate_is_knowledge(method: Transform) -> None:
    assert pn.to_possibility([1, 1, 1], method).tolist() == [1.0, 1.0, 1.0]
    assert pn.to_possibility([0, 3, 0], method).tolist() == [0.0, 1.0, 0.0]
    assert pn.to_possibility([0, 2, 2], method).tolist() == [0.0, 1.0, 1.0]
    assert pn.to_possibility([5e-324, 1e308, 1e308], method)[1:].tolist() == [1.0, 1.0]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([0.0, 0.0], "zero everywhere"),
        ([0.5, -0.5], "contain -0.5; expected numbers >= 0"),
        ([0.5, float("nan")], "contain nan"),
        ([0.5, float("inf")], "contain inf"),
        ([], r"have shape \(0,\)"),
        (0.5, r"have shape \(\)"),
        (["a"], "not a rectangular array of numbers"),
    ],
)
def test_bad_values_are_refused_with_a_sentence(values: list[float], message: str) -> None:
    for function in (pn.to_possibility, pn.to_probability):
        with pytest.raises(pn.InputError, match=message):
            function(values)


def test_an_unknown_method_names_the_nearest_one() -> None:
    with pytest.raises(pn.InputError, match=r"'optmal' is unknown \(optimal, .*did you mean 'optimal'"):
        pn.to_possibility([0.5, 0.5], "optmal")  # type: ignore[arg-type]
    with pytest.raises(pn.InputError, match="along axis 3"):
        pn.to_possibility([0.5, 0.5], axis=3)


@given(probabilities(), st.sampled_from(get_args(Inverse)))
def test_the_inverse_of_a_transformation_gives_the_probabilities_back(weights: list[float], method: Inverse) -> None:
    p = np.array(weights) / sum(weights)
    np.testing.assert_allclose(pn.to_probability(pn.to_possibility(p, method), method), p, rtol=0, atol=1e-9)


@given(possibilities(), st.sampled_from(["symmetric", "ratio"]))
def test_every_possibility_comes_of_a_probability_by_symmetric_and_by_ratio(
    pi: pn.Possibility, method: Inverse
) -> None:
    p = pn.to_probability(pi.degrees, method)
    assert p.sum() == pytest.approx(1)
    np.testing.assert_allclose(pn.to_possibility(p, method), pi.degrees, rtol=0, atol=1e-9)


@given(possibilities())
def test_by_optimal_the_inverse_exists_or_is_refused(pi: pn.Possibility) -> None:
    try:
        p = pn.to_probability(pi.degrees, "optimal")
    except pn.InputError:
        levels = np.unique(pi.degrees)
        shares = np.diff(np.append(0.0, levels)) / [np.sum(pi.degrees == level) for level in levels]
        assert (np.diff(shares[levels > 0]) <= 1e-9).any()  # a state of a higher degree would be no more probable
    else:
        np.testing.assert_allclose(pn.to_possibility(p, "optimal"), pi.degrees, rtol=0, atol=1e-9)


def test_a_transformation_without_an_inverse_is_refused() -> None:
    with pytest.raises(pn.InputError, match="no probability has the degrees 1, 0.9, 0.1 by 'optimal'"):
        pn.to_probability([[1, 0.5, 0.2], [1, 0.9, 0.1]], "optimal")
    with pytest.raises(pn.InputError, match="inverse of 'klir' is unknown \\(symmetric, ratio, optimal"):
        pn.to_probability([1, 0.5], "klir")  # type: ignore[arg-type]

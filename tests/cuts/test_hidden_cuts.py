"""Children that saw their parents' whole cuts, the laws of thinning, and an imprecision that is not known."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import possnet as pn
from possnet.cuts import count_family
from possnet.cuts.cell_likelihood import cell_probabilities, undo_inclusion
from possnet.cuts.hidden_cuts import possible_cuts, thinning_probabilities
from tests import oracles, strategies


@settings(max_examples=30, deadline=None)
@given(
    strategies.possibilities(max_states=4), st.sampled_from([0.3, 0.7, 1.0]), st.sampled_from(["independent", "text"])
)
def test_the_law_of_a_cell_is_that_of_thinned_cuts(pi: pn.Possibility, theta: float, law: Any) -> None:
    """P(S) from the degrees, P(cell | cut) and the cuts themselves, each against enumeration."""
    (variable,) = pi.variables
    degrees = dict(zip(variable.states, pi.degrees.tolist(), strict=True))
    core = pi.degrees == 1.0
    exact: dict[frozenset[str], float] = {}
    sets = possible_cuts(pi.degrees[np.newaxis], core)
    inside = {frozenset(s for s, there in zip(variable.states, row, strict=True) if there): row for row in sets}
    for cut, probability in oracles.cuts(degrees).items():
        assert cut in inside
        for cell, share in oracles.thinned(cut, pi.core, theta, law).items():  # type: ignore[arg-type]
            exact[cell] = exact.get(cell, 0.0) + probability * share
            held = np.array([[s in cell for s in variable.states]])
            single = thinning_probabilities(held, inside[cut][np.newaxis], core, theta, law)
            assert single[0, 0] == pytest.approx(share)
    family = count_family(pn.Dataset.from_rows((variable,), [(cell,) for cell in exact]), variable.name, [])
    computed = cell_probabilities(family, pi.degrees[np.newaxis], core, theta, law)
    for row, probability in zip(family.child_cells[family.pairs[:, 1]], computed, strict=True):
        cell = frozenset(s for s, there in zip(variable.states, row, strict=True) if there)
        assert probability == pytest.approx(exact[cell])
    contour = sum(p * np.array([s in cell for s in variable.states]) for cell, p in exact.items())
    free = ~core
    assert undo_inclusion(np.atleast_2d(contour)[:, free], theta, law)[0] == pytest.approx(pi.degrees[free])


@pytest.mark.parametrize("name", ["pump", "clinic"])
def test_hidden_cuts_are_learned(name: str) -> None:
    net = pn.load_example(name)
    data = pn.sample(net, 100_000, imprecision=0.6, parents="cut", rng=1)
    result = pn.fit_cut(net.dag, data, imprecision=0.6, parents="cut")
    exact = pn.identify_degrees(net, imprecision=0.6, parents="cut")
    misread = pn.fit_cut(net.dag, data, imprecision=0.6)

    def gap(learned: pn.CutResult) -> float:
        return float(np.mean([np.abs(learned.upper[n] - upper).mean() for n, upper in exact.upper.items()]))

    assert gap(result) < 0.01
    assert gap(result) < gap(misread)
    assert result.log_likelihood > misread.log_likelihood
    for variable in net.variables:
        margin = 4 * result.error[variable.name] + 1e-9
        assert (net.table(variable.name) >= result.lower[variable.name] - margin).all()
        assert (net.table(variable.name) <= result.upper[variable.name] + margin).all()


def test_whole_cells_are_their_own_cuts() -> None:
    pump = pn.load_example("pump")
    data = pn.sample(pump, 2_000, rng=1)
    one, other = (pn.fit_cut(pump.dag, data, parents=parents) for parents in ("observed", "cut"))
    assert one.log_likelihood == other.log_likelihood


@pytest.mark.parametrize("law", ["independent", "text"])
@pytest.mark.parametrize("theta", [0.3, 0.6, 1.0])
def test_an_unknown_imprecision_is_estimated(law: Any, theta: float) -> None:
    clinic = pn.load_example("clinic")
    data = pn.sample(clinic, 10_000, imprecision=theta, law=law, rng=2)
    result = pn.fit_cut(clinic.dag, data, imprecision=None, law=law)
    assert result.imprecision_identified is True
    assert result.imprecision == pytest.approx(theta, abs=0.03)


def test_each_variable_may_have_an_unknown_imprecision() -> None:
    x, y = pn.Variable("x", ("1", "2", "3")), pn.Variable("y", ("1", "2", "3"))
    net = pn.Network((x, y), pn.Dag({"x": (), "y": ("x",)}), {"x": [1, 0.7, 0.5], "y": [[1, 0.6, 0.3]] * 3})
    data = pn.sample(net, 20_000, imprecision={"x": 0.4, "y": 0.8}, rng=1)
    result = pn.fit_cut(net.dag, data, imprecision={"x": None, "y": 0.8})
    assert isinstance(result.imprecision, dict)
    assert result.imprecision["x"] == pytest.approx(0.4, abs=0.03)
    assert result.imprecision_identified == {"x": True}
    hidden = pn.fit_cut(net.dag, data, imprecision={"x": None, "y": 0.8}, parents="cut")
    assert hidden.imprecision == result.imprecision


def test_binary_variables_do_not_tell_their_imprecision() -> None:
    asia = pn.load_example("asia")
    with pytest.warns(pn.PossnetWarning, match="do not tell their imprecision"):
        result = pn.fit_cut(asia.dag, pn.sample(asia, 1_000, imprecision=0.5, rng=1), imprecision=None)
    assert result.imprecision == 1.0
    assert result.imprecision_identified is False


@pytest.mark.parametrize("theta", [0.5, 0.9])
def test_the_text_of_the_paper_thins_otherwise(theta: float) -> None:
    clinic = pn.load_example("clinic")
    data = pn.sample(clinic, 100_000, imprecision=theta, law="text", rng=1)
    exact = pn.identify_degrees(clinic, imprecision=theta)
    result = pn.fit_cut(clinic.dag, data, imprecision=theta, law="text")
    gaps = [np.abs(result.upper[n] - upper).mean() for n, upper in exact.upper.items()]
    assert np.mean(gaps) < 0.01


def test_a_variable_with_every_state_in_every_cell() -> None:
    data = pn.Dataset.from_rows(
        [pn.Variable("a", ("x", "y")), pn.Variable("b", ("u", "v"))], [({"x", "y"}, "u"), ({"x", "y"}, {"u", "v"})]
    )
    for parents in ("observed", "cut"):
        result = pn.fit_cut(pn.Dag({"b": (), "a": ("b",)}), data, imprecision=0.9, parents=parents)
        assert result.upper["a"].tolist() == [[1, 1], [1, 1]]
        assert result.support["a"].tolist() == [2, 1]

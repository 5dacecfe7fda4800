"""Sensitivity: curves against recomputation."""

from __future__ import annotations

from math import isnan, nan
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

import possnet as pn
from tests.explanation.cases import answer, asked


def recomputed(
    net: pn.Network, entry: pn.EntrySensitivity, t: float, target: str, state: int, evidence: dict[str, Any]
) -> float:
    """The answer with one entry replaced; if it was the only 1 of its context, that context is normalised."""
    table = net.table(entry.variable).copy()
    context = tuple(net.variable(p).index(entry.context[p]) for p in net.dag.parents(entry.variable))
    row = table[context].copy()
    row[net.variable(entry.variable).index(entry.state)] = t
    if entry.normalises:
        if not row.any():
            return nan  # nothing to normalise: t must stay above 0
        row = net.conjunction.normalise(row)
    table[context] = row
    tables = {v.name: net.table(v.name) for v in net.variables} | {entry.variable: table}
    changed = pn.Network.subnormal(net.variables, net.dag, tables, conjunction=net.conjunction)
    degrees = answer(changed, target, evidence)
    return nan if degrees is None else float(degrees[state])


@given(st.data(), asked())
def test_every_curve_is_what_recomputing_gives(
    data: st.DataObject, question: tuple[pn.Network, str, dict[str, Any]]
) -> None:
    net, target, evidence = question
    variable = net.variable(target)
    state = data.draw(st.integers(0, len(variable) - 1))
    result = pn.sensitivity(net, target, variable.states[state], evidence)
    assert len(result) == sum(net.table(v.name).size for v in net.variables)
    entry = result[data.draw(st.integers(0, len(result) - 1))]
    ones = np.count_nonzero(
        net.table(entry.variable)[
            tuple(net.variable(p).index(entry.context[p]) for p in net.dag.parents(entry.variable))
        ]
        == 1.0
    )
    assert entry.normalises == (entry.degree == 1.0 and ones == 1)
    levels = {float(degree) for v in net.variables for degree in net.table(v.name).ravel()}
    points = [0.0, 1.0, entry.degree, *sorted(levels)[-6:], *data.draw(st.lists(st.floats(0.0, 1.0), max_size=4))]
    if net.conjunction is pn.MIN:
        points += entry.break_points  # for the product, rounding decides at these
    values = []
    for t in points:
        expected = recomputed(net, entry, t, target, state, evidence)
        value = entry.value(t)
        if isnan(expected):
            continue
        assert value == pytest.approx(expected, abs=1e-9), (entry, t)
        values.append(value)
    assert min(values) >= entry.low - 1e-9
    assert max(values) <= entry.high + 1e-9


@given(st.data(), asked(max_variables=4))
def test_between_break_points_the_formula_is_the_curve(
    data: st.DataObject, question: tuple[pn.Network, str, dict[str, Any]]
) -> None:
    net, target, evidence = question
    result = pn.sensitivity(net, target, evidence=evidence)
    entry = result[data.draw(st.integers(0, len(result) - 1))]
    pieces = entry.pieces
    assert [pieces[0].start, pieces[-1].stop] == [0.0, 1.0]
    assert len(entry.break_points) <= 6
    for piece in pieces:
        t = piece.start + (piece.stop - piece.start) * data.draw(st.floats(0.01, 0.99))
        value = entry.value(t)
        if isnan(value):
            assert isnan(piece.coefficient)
        elif piece.stop - piece.start > 1e-6:
            assert piece.coefficient * t**piece.power == pytest.approx(value, abs=1e-9)
    for before, after in zip(pieces, pieces[1:], strict=False):
        assert (before.coefficient, before.power) != (after.coefficient, after.power)


@given(asked())
def test_entries_are_ranked_by_how_far_they_move_the_answer(question: tuple[pn.Network, str, dict[str, Any]]) -> None:
    net, target, evidence = question
    result = pn.sensitivity(net, target, evidence=evidence)
    swings = [entry.swing for entry in result]
    assert all(first >= second - 1e-9 for first, second in zip(swings, swings[1:], strict=False))
    assert sorted(result.swings.tolist()) == pytest.approx(sorted(swings))
    degrees = answer(net, target, evidence)
    assert degrees is not None
    for entry in result[:5]:
        assert entry.value(entry.degree) == pytest.approx(entry.answer, abs=1e-9)


def test_products_that_underflow_keep_their_curves() -> None:
    names = [f"v{k}" for k in range(400)]
    variables = [pn.Variable(name, ("a", "b")) for name in names]
    dag = pn.Dag({name: (names[k - 1],) if k else () for k, name in enumerate(names)})
    tables: dict[str, Any] = {name: [[1.0, 0.01], [0.02, 1.0]] for name in names[1:]} | {"v0": [1.0, 0.5]}
    net = pn.Network(variables, dag, tables)
    evidence = {name: ("a", "b")[k % 2] for k, name in enumerate(names) if k}
    result = pn.sensitivity(net, "v0", "a", evidence)
    best = result.entry("v1", "b", {"v0": "a"})
    engine = pn.Inference(net)
    assert best.answer == pytest.approx(engine.query("v0", evidence)["a"])
    for t in (0.3, 0.7):
        changed = pn.Inference(net.with_table("v1", [[1.0, t], [0.02, 1.0]])).query("v0", evidence)["a"]
        assert best.value(t) == pytest.approx(changed)


def test_a_broken_question_is_one_sentence() -> None:
    clinic = pn.load_example("clinic")
    with pytest.raises(pn.InputError, match="the target 'rash' is in the evidence"):
        pn.sensitivity(clinic, "rash", "spots", {"rash": "spots"})
    with pytest.raises(pn.InputError, match="'measles' has no state 'maybe'"):
        pn.sensitivity(clinic, "measles", "maybe")
    with pytest.raises(pn.InputError, match="expected a state for each of its parents"):
        pn.sensitivity(clinic, "measles", "yes").entry("rash", "spots")
    with pytest.raises(pn.InputError, match="expected a number from 0 to 1"):
        pn.sensitivity(clinic, "measles", "yes")[0].value(2.0)
    with pytest.raises(pn.ImpossibleEvidence, match=r"possnet.conflicts\(network, evidence\)"):
        pn.sensitivity(pn.load_example("asia"), "smoke", "yes", {"either": "no", "lung": "yes"})


@given(st.data(), asked(max_variables=4))
def test_slopes_are_those_of_the_curve_on_either_side(
    data: st.DataObject, question: tuple[pn.Network, str, dict[str, Any]]
) -> None:
    net, target, evidence = question
    result = pn.sensitivity(net, target, evidence=evidence)
    entry = result[data.draw(st.integers(0, len(result) - 1))]
    gaps = [abs(point - entry.degree) for point in entry.break_points if point != entry.degree]
    step = min([1e-6, *(gap / 4 for gap in gaps)])
    if step < 1e-7:
        return  # a break point too near for a difference quotient
    for slope, way in zip(entry.slopes, (-1.0, 1.0), strict=True):
        near, far = entry.degree + way * step, entry.degree + 2 * way * step
        if not 0.0 <= far <= 1.0:
            assert isnan(slope) or min(near, far) < 0.0 or max(near, far) > 1.0
            continue
        quotient = (entry.value(far) - entry.value(near)) / (far - near)
        if not isnan(quotient):
            assert slope == pytest.approx(quotient, abs=1e-3, rel=1e-3)


def test_a_sensitivity_prints_what_each_entry_could_make_of_the_answer() -> None:
    clinic = pn.load_example("clinic")
    result = pn.sensitivity(clinic, "measles", "yes", {"rash": "spots"})
    first, second, *_ = str(result).splitlines()
    assert first == "measles=yes is possible to 0.21; what each table entry alone could make of it:"
    assert second.split() == ["entry", "now", "answer", "from", "to", "formula", "around", "now"]
    assert "contact=no" in str(result)
    assert "0.21 / t (context normalised)" in str(result)
    assert repr(result) == "Sensitivity(measles=yes: possible 0.21, 48 table entries)"
    alone = pn.Network((pn.Variable("x", ("a",)),), pn.Dag({"x": ()}), {"x": [1.0]})
    assert "no single entry can move it" in str(pn.sensitivity(alone, "x"))
    assert result.entry("rash", "spots", {"measles": "no"}).to_dict()["pieces"][1]["formula"] == "0.042 / t"


@given(st.data(), asked(max_variables=4))
def test_in_a_subnormal_network_nothing_is_normalised(
    data: st.DataObject, question: tuple[pn.Network, str, dict[str, Any]]
) -> None:
    net, target, evidence = question
    tables = {v.name: net.table(v.name) * 0.5 for v in net.variables}
    low = pn.Network.subnormal(net.variables, net.dag, tables, conjunction=net.conjunction)
    result = pn.sensitivity(low, target, evidence=evidence)
    entry = result[data.draw(st.integers(0, len(result) - 1))]
    assert not entry.normalises
    t = data.draw(st.floats(0.0, 1.0))
    state = low.variable(target).index(result.state)
    expected = recomputed(low, entry, t, target, state, evidence)
    if not isnan(expected):
        assert entry.value(t) == pytest.approx(expected, abs=1e-9)

"""Rows with degrees as evidence: virtual evidence, row by row, whatever the engine does for many rows at once."""

from __future__ import annotations

from math import isnan
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import possnet as pn
from tests import strategies
from tests.inference.row_ways import ROW_WAYS, force


@st.composite
def networks_and_rows(draw: st.DrawFn) -> tuple[pn.Network, pn.Dataset]:
    net = draw(strategies.networks(max_variables=4, max_states=3))
    chosen = draw(st.lists(st.sampled_from(net.variables), min_size=1, unique=True))
    return net, draw(strategies.graded_rows(chosen, weighted=False))


def evidence_of(data: pn.Dataset, number: int) -> dict[str, Any]:
    degrees = data.degrees(number)
    return {name: seen for name, seen in degrees.items() if not data.missing(name)[number]}


def expected_degrees(net: pn.Network, name: str, evidence: dict[str, Any]) -> list[float] | None:
    """Conditioned by all of the row; None where the row is impossible."""
    try:
        degrees = pn.Inference(net).query(name, evidence or None).degrees
    except pn.ImpossibleEvidence:
        return None
    return [float(degree) for degree in degrees]


@settings(max_examples=30)
@given(networks_and_rows(), st.sampled_from(ROW_WAYS))
def test_marginals_of_rows_are_those_of_virtual_evidence(case: tuple[pn.Network, pn.Dataset], way: str) -> None:
    net, data = case
    with pytest.MonkeyPatch.context() as patch:
        force(way, patch)
        marginals = pn.Inference(net).marginals_many(data)
        target = net.variables[0].name
        answers = pn.Inference(net).query_many(target, data)
    for number in range(len(data)):
        evidence = evidence_of(data, number)
        if not evidence:
            continue  # a query without evidence is not conditioned, a row always is
        for name, table in marginals.items():
            expected = expected_degrees(net, name, evidence)
            if expected is None:
                assert all(isnan(degree) for degree in table[number])
            else:
                assert table[number].tolist() == pytest.approx(expected, abs=1e-9)
        others = {name: seen for name, seen in evidence.items() if name != target}
        if others:
            expected = expected_degrees(net, target, others)
            if expected is None:
                assert all(isnan(degree) for degree in answers[number])
            else:
                assert answers[number].tolist() == pytest.approx(expected, abs=1e-9)


@settings(max_examples=30)
@given(networks_and_rows())
def test_cells_with_degrees_are_completed_by_virtual_evidence(case: tuple[pn.Network, pn.Dataset]) -> None:
    net, data = case
    completion = pn.complete(net, data)
    impossible = set(completion.impossible.tolist())
    for variable in data.variables:
        for number in np.flatnonzero(data.graded(variable.name)).tolist():
            expected = expected_degrees(net, variable.name, evidence_of(data, number))
            if number in impossible:
                assert expected is None
                assert completion.narrowed(0.5).degrees(number) == data.degrees(number)
            else:
                assert expected is not None
                assert completion.of(number, variable.name).degrees.tolist() == pytest.approx(expected, abs=1e-9)
    for number in set(range(len(data))) - impossible:
        assert not any(completion.resolved().graded(v.name)[number] for v in data.variables)


def test_tiny_degrees_of_many_columns_do_not_underflow() -> None:
    names = [f"v{k}" for k in range(60)]
    scope = [pn.Variable(name, ("a", "b")) for name in names]
    dag = pn.Dag({"v0": (), **{name: (before,) for before, name in zip(names, names[1:], strict=False)}})
    tables: dict[str, Any] = {"v0": [1.0, 1.0], **{name: [[1.0, 0.5], [0.5, 1.0]] for name in names[1:]}}
    net = pn.Network(scope, dag, tables)
    cells = [{"a": 1.0, "b": 1e-9} if k % 2 else {"a": 1e-9, "b": 1.0} for k in range(60)]
    data = pn.Dataset.from_rows(scope, [cells, ["a"] * 60])
    table = pn.Inference(net).query_many("v0", data.select(names[1:]))
    expected = pn.Inference(net).query("v0", dict(zip(names[1:], cells[1:], strict=True))).degrees
    assert table[0].tolist() == pytest.approx(expected.tolist(), rel=1e-9)

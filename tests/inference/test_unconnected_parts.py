"""Parts of a network that the target is not connected with: they decide whether the evidence is possible at all."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import possnet as pn
from possnet.inference import possibility_bounds
from tests.inference.row_ways import ROW_WAYS, force

NAMES = ("a", "b", "c", "d")


def two_parts(conjunction: pn.Conjunction = pn.PRODUCT) -> pn.Network:
    """``a`` alone, and a chain b -> c -> d in which b=no and d=yes exclude each other, though no single table says so."""
    variables = [pn.Variable(name, ("no", "yes")) for name in NAMES]
    dag = pn.Dag({"a": (), "b": (), "c": ("b",), "d": ("c",)})
    copied = [[1.0, 0.0], [0.3, 1.0]]
    tables: dict[str, Any] = {"a": [1.0, 0.4], "b": [1.0, 0.8], "c": copied, "d": copied}
    return pn.Network(variables, dag, tables, conjunction=conjunction)


@pytest.mark.parametrize("conjunction", [pn.PRODUCT, pn.MIN])
def test_evidence_that_is_impossible_elsewhere_is_impossible_for_every_target(conjunction: pn.Conjunction) -> None:
    engine = pn.Inference(two_parts(conjunction))
    with pytest.raises(pn.ImpossibleEvidence):
        engine.query("a", {"b": "no", "d": "yes"})
    assert engine.query("a", {"b": "yes", "d": "yes"}).degrees == pytest.approx([1.0, 0.4])
    assert engine.possibility_of({"b": "no", "d": "yes"}) == 0.0


@pytest.mark.parametrize("way", ROW_WAYS)
@pytest.mark.parametrize("conjunction", [pn.PRODUCT, pn.MIN])
def test_rows_that_are_impossible_elsewhere_have_no_degrees(
    monkeypatch: pytest.MonkeyPatch, conjunction: pn.Conjunction, way: str
) -> None:
    force(way, monkeypatch)
    net = two_parts(conjunction)
    rows = pn.Dataset.from_rows(net.variables[1:], [("no", None, "yes"), ("yes", None, "yes"), (None, None, "yes")])
    degrees = pn.Inference(net).query_many("a", rows)
    assert np.isnan(degrees[0]).all()
    assert degrees[1:] == pytest.approx(np.array([[1.0, 0.4], [1.0, 0.4]]))


def test_one_impossible_alternative_is_named() -> None:
    engine = pn.Inference(two_parts())
    with pytest.raises(pn.ImpossibleEvidence, match="b=no"):
        engine.entry_derivatives([{"b": "no", "d": "yes"}])


def test_derivatives_of_tiny_degrees_are_relative_to_the_evidence() -> None:
    """120 variables seen in a state of degree 1e-5: 1e-600 in all, and an entry without its own degree is 1e5 times that."""
    variables = [pn.Variable(f"x{k}", ("no", "yes")) for k in range(120)]
    dag = pn.Dag({v.name: () if k == 0 else (f"x{k - 1}",) for k, v in enumerate(variables)})
    tables = {v.name: np.broadcast_to([1.0, 1e-5], (2,) * (1 + (k > 0))) for k, v in enumerate(variables)}
    net = pn.Network(variables, dag, tables)
    derivatives, values = pn.Inference(net).entry_derivatives([{v.name: "yes" for v in variables}])
    assert values == pytest.approx([1.0])
    for v in variables[1:]:
        assert derivatives[v.name][1, 1, 0] == pytest.approx(1e5)
        assert derivatives[v.name][0] == pytest.approx(0.0)  # the evidence excludes that parent


def test_a_state_alone_has_no_rival() -> None:
    rivals = possibility_bounds._largest_of_others(np.array([[0.3, 0.9]]), 0.0)
    assert rivals.tolist() == [[0.0, 0.0]]
    rivals = possibility_bounds._largest_of_others(np.array([[0.3, 0.9], [0.5, 0.2], [0.4, 0.9]]), 0.0)
    assert rivals.tolist() == [[0.5, 0.9], [0.4, 0.9], [0.5, 0.9]]


def test_a_plan_names_its_five_widest_cliques() -> None:
    net = pn.random_network(12, max_parents=2, rng=1)
    plan = pn.Inference(net).plan
    first, *widest = plan.describe([v.name for v in net.variables]).splitlines()
    assert f"{len(plan.cliques)} cliques" in first
    sizes = [int(line.split()[0].replace(",", "")) for line in widest]
    assert sizes == sorted((int(np.prod(clique.shape)) for clique in plan.cliques), reverse=True)[:5]
    assert len(sizes) == 5

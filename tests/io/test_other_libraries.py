"""Networks of pgmpy and pyAgrum, and graphs of networkx: taken as they are, refused in a sentence, imported only if used."""

from __future__ import annotations

import subprocess
import sys
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import possnet as pn
from tests.io.other_networks import (
    FakeCpd,
    FakeGraph,
    FakePgmpy,
    FakePyagrum,
    FakeTensor,
    FakeVariable,
    make_graph,
    make_pgmpy_model,
    make_pyagrum_network,
)
from tests.refused import refused


@pytest.mark.parametrize("make", [make_pgmpy_model, make_pyagrum_network])
def test_tables_are_turned_to_the_order_of_parents_and_states(make: Any) -> None:
    read = pn.from_pgmpy if make is make_pgmpy_model else pn.from_pyagrum
    net = read(make(), transform="ratio")
    assert [v.name for v in net.variables] == ["fever", "season", "rash"]
    assert net.dag.parents("rash") == ("fever", "season")
    yes = {("none", "0"): 0.4, ("none", "1"): 0.5, ("none", "2"): 0.6, ("high", "0"): 0.1, ("high", "2"): 0.3}
    for (fever, season), probability in yes.items():
        row = net.table("rash")[net.variable("fever").index(fever), net.variable("season").index(season)]
        assert row.tolist() == pytest.approx([probability, 1 - probability] / np.maximum(probability, 1 - probability))
    np.testing.assert_allclose(net.table("fever"), [1, 1 / 3])
    assert read(make()).table("fever").tolist() == [1, 0.25]  # the optimal transformation is the default


def test_what_is_no_network_of_pgmpy_is_refused() -> None:
    good = FakeCpd(["a"], [0.5, 0.5], {"a": ["x", "y"]})
    refused("from_pgmpy: 3; expected a discrete Bayesian network of pgmpy", pn.from_pgmpy, 3)
    for cpds, message in (
        ({"a": None}, "no table of 'a'; expected a TabularCPD for every node"),
        ({"a": SimpleNamespace()}, "the table of 'a' is a SimpleNamespace; expected a TabularCPD: discrete variables"),
        ({"a": FakeCpd(["b", "a"], [0.5, 0.5], {"a": ["x", "y"], "b": ["x"]})}, "is over b, a; expected 'a' first"),
        ({"a": FakeCpd(["a"], [0.5, 0.5, 0], {"a": ["x", "y"]})}, "has the shape"),
        ({"a": FakeCpd(["a"], [0.5, np.nan], {"a": ["x", "y"]})}, "something else than finite numbers"),
        ({"a": FakeCpd(["a"], [0.5, 0.1], {"a": ["x", "y"]})}, "add up to 0.6; expected 1"),
        ({"a": FakeCpd(["a"], [0.5, 0.5], {"a": ["x", "x"]})}, "state 'x' appears twice"),
        (
            {"a": good, "b": FakeCpd(["b", "a"], [[1, 1]], {"b": ["u"], "a": ["x", "z"]})},
            "has the states x, z of 'a'; expected x, y",
        ),
        ({"a": FakeCpd(["a", "c"], [[1], [0]], {"a": ["x", "y"], "c": ["z"]})}, "'c' is not a variable"),
    ):
        assert refused(message, pn.from_pgmpy, FakePgmpy(cpds)).startswith("from_pgmpy: ")


def test_a_network_in_time_is_refused() -> None:
    node = ("D", 0)
    model = FakePgmpy({node: FakeCpd([node], [0.5, 0.5], {node: [0, 1]})})
    refused(
        r"the node \('D', 0\) is no name; expected texts or numbers: networks in time are not read",
        pn.from_pgmpy,
        model,
    )


def test_numbers_of_pyagrum_are_ordered_states_and_a_name_that_is_none_is_left_out() -> None:
    variables = [FakeVariable("a", ("1", "2"), is_numerical=True), FakeVariable("b", ("1", "2"))]
    model = FakePyagrum(variables, [FakeTensor(("a",), [0.5, 0.5]), FakeTensor(("b",), [0.5, 0.5])])
    assert [variable.ordered for variable in pn.from_pyagrum(model).variables] == [True, False]
    for given, name in (("anonymousBN", ""), ("unnamedBN", ""), ("clinic", "clinic")):
        model.propertyWithDefault = lambda *_, given=given: given  # type: ignore[attr-defined]
        assert pn.from_pyagrum(model).name == name


def test_what_is_no_network_of_pyagrum_is_refused() -> None:
    diagram = make_pyagrum_network()
    diagram.isUtilityNode = lambda _: True  # type: ignore[attr-defined]
    refused("from_pyagrum: an influence diagram; expected a BayesNet: decisions and", pn.from_pyagrum, diagram)
    refused("from_pyagrum: .*; expected a BayesNet of pyAgrum", pn.from_pyagrum, make_pgmpy_model())
    wrong = FakePyagrum([FakeVariable("a", ("x", "y"))], [FakeTensor(("a",), [0.5, 0.4, 0.1])])
    assert refused("has the shape", pn.from_pyagrum, wrong).startswith("from_pyagrum: ")


def test_a_graph_goes_to_networkx_and_comes_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "networkx", SimpleNamespace(DiGraph=FakeGraph))
    clinic = pn.load_example("clinic")
    graph = pn.to_networkx(clinic)
    assert pn.from_networkx(graph) == clinic.dag
    assert [pn.from_networkx(graph).parents(v.name) for v in clinic.variables] == [
        clinic.dag.parents(v.name) for v in clinic.variables
    ]
    assert graph.nodes["fever"]["states"] == ("none", "mild", "high")
    assert graph.nodes["fever"]["ordered"]
    np.testing.assert_array_equal(graph.nodes["fever"]["degrees"], clinic.table("fever"))
    assert graph.graph == {"name": "clinic", "conjunction": "product"}
    alone = pn.to_networkx(clinic.dag)
    assert pn.from_networkx(alone) == clinic.dag
    assert alone.nodes["fever"] == {}


def test_graphs_that_are_none_are_refused() -> None:
    assert pn.from_networkx(make_graph()).parents("rash") == ("fever", "season")
    refused("from_networkx: 'x'; expected a DiGraph of networkx", pn.from_networkx, "x")
    refused("not directed; expected a DiGraph", pn.from_networkx, FakeGraph([("a", "b")], directed=False))
    refused("not directed; expected a DiGraph", pn.from_networkx, SimpleNamespace(is_directed=lambda: False, nodes=()))
    refused(r"the node 1 is no text; expected names: networkx.relabel_nodes", pn.from_networkx, FakeGraph([(1, 2)]))
    refused("from_networkx: .*cycle", pn.from_networkx, FakeGraph([("a", "b"), ("b", "a")]))


def test_the_other_libraries_are_imported_only_if_used(monkeypatch: pytest.MonkeyPatch) -> None:
    script = (
        "import sys, possnet as pn; from tests.io.other_networks import *;"
        "pn.from_pgmpy(make_pgmpy_model()); pn.from_pyagrum(make_pyagrum_network()); pn.from_networkx(make_graph());"
        "print(sorted({'networkx', 'pgmpy', 'pyagrum'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
    monkeypatch.setitem(sys.modules, "networkx", None)
    refused(
        "networkx is not installed; expected it. Install it: pip install networkx",
        pn.to_networkx,
        pn.load_example("asia"),
    )

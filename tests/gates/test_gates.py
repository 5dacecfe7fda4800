"""Gates against enumeration of their hidden variables, in files, and as the nearest ones of tables."""

from __future__ import annotations

import json
import pickle
from importlib.resources import files
from itertools import product
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest
from hypothesis import given, strategies as st

import possnet as pn
from tests.strategies import conjunctions, levels

SCHEMA = json.loads(files("possnet").joinpath("io", "network.schema.json").read_text(encoding="utf-8"))
CHOICES = {"or": max, "and": min, "max": max, "min": min}


def enumerate_hidden(
    kind: str, effects: list[list[list[float]]], leak: list[float], conjunction: pn.Conjunction
) -> np.ndarray[Any, np.dtype[np.float64]]:
    """π(level | states of the parents): the best of all hidden levels z with f(z) equal to the level, one by one."""
    table = np.zeros((*(len(effect) for effect in effects), len(leak)))
    for states in product(*(range(len(effect)) for effect in effects)):
        for hidden in product(range(len(leak)), repeat=len(effects) + 1):
            degree = leak[hidden[-1]]
            for effect, state, level in zip(effects, states, hidden, strict=False):
                degree = float(conjunction.combine(degree, effect[state][level]))
            place = (*states, CHOICES[kind](hidden))
            table[place] = max(table[place], degree)
    return table


@st.composite
def rows(draw: st.DrawFn, count: int, width: int) -> list[list[float]]:
    """Some rows of degrees that peak at 1."""
    drawn = [draw(st.lists(levels, min_size=width, max_size=width)) for _ in range(count)]
    for row in drawn:
        row[draw(st.integers(0, width - 1))] = 1.0
    return drawn


@given(st.data(), conjunctions, st.sampled_from(["max", "min"]))
def test_max_and_min_are_the_best_of_all_hidden_levels(
    data: st.DataObject, conjunction: pn.Conjunction, kind: str
) -> None:
    width = data.draw(st.integers(2, 3))
    child = pn.Variable("y", tuple(f"l{k}" for k in range(width)), ordered=True)
    sizes = data.draw(st.lists(st.integers(1, 3), min_size=1, max_size=3))
    parents = [pn.Variable(f"x{k}", tuple(f"s{j}" for j in range(n)), ordered=True) for k, n in enumerate(sizes)]
    effects = [data.draw(rows(n, width)) for n in sizes]
    leak = data.draw(st.lists(levels, min_size=width, max_size=width))
    leak[0 if kind == "max" else -1] = 1.0
    maker = pn.gate_max if kind == "max" else pn.gate_min
    named: dict[str, Any] = {p.name: e for p, e in zip(parents, effects, strict=True)}
    gate = maker(child, parents, effects=named, leak=leak, conjunction=conjunction)
    expected = enumerate_hidden(kind, effects, leak, conjunction)
    assert gate.table == pytest.approx(expected, abs=1e-12)
    assert (gate.table.max(axis=-1) == 1.0).all()


@given(st.data(), conjunctions, st.sampled_from(["or", "and"]))
def test_or_and_and_are_the_best_of_all_hidden_states(
    data: st.DataObject, conjunction: pn.Conjunction, kind: str
) -> None:
    upside_down = data.draw(st.booleans())  # yes first or last
    child = pn.Variable("y", ("yes", "no") if upside_down else ("no", "yes"))
    count = data.draw(st.integers(1, 4))
    parents = [
        pn.Variable(f"x{k}", ("none", "some", "much"), ordered=True) if k == 2 else pn.Variable(f"x{k}", ("off", "on"))
        for k in range(count)
    ]
    threshold = data.draw(st.sampled_from(["some", "much"]))
    thresholds = {"x2": threshold} if count > 2 else None
    inhibition = {p.name: data.draw(levels) for p in parents}
    substitution = {p.name: data.draw(levels) if kind == "and" else 0.0 for p in parents}
    leak = data.draw(levels)
    options: dict[str, Any] = {
        "inhibition": inhibition,
        "leak": leak,
        "thresholds": thresholds,
        "conjunction": conjunction,
    }
    if kind == "and":
        gate = pn.gate_and(child, parents, substitution=substitution, **options)
    else:
        gate = pn.gate_or(child, parents, **options)
    effects = []
    for p in parents:
        first = p.index(threshold) if len(p) == 3 else 1
        effects.append(
            [[inhibition[p.name], 1.0] if k >= first else [1.0, substitution[p.name]] for k in range(len(p))]
        )
    expected = enumerate_hidden(kind, effects, [1.0, leak] if kind == "or" else [leak, 1.0], conjunction)
    assert gate.table[..., :: -1 if upside_down else 1] == pytest.approx(expected, abs=1e-12)


def test_numbers_for_effects_thresholds_and_leaks_by_hand() -> None:
    states = ("none", "mild", "high")
    cold, flu, fever = (pn.Variable(name, states, ordered=True) for name in ("cold", "flu", "fever"))
    most = pn.gate_max(fever, [cold, flu], effects=0.5, leak=0.1, thresholds={"cold": "high"})
    assert most.table[1, 0].tolist() == [1.0, 0.1, 0.1]  # a mild cold does nothing; the leak stays
    assert most.table[2, 0].tolist() == [0.5, 0.5, 1.0]
    least = pn.gate_min(fever, [cold, flu], effects={"cold": 0.5, "flu": 0.2}, thresholds={"flu": "mild"})
    assert least.table[0, 1].tolist() == [1.0, 0.5, 0.5]  # from mild on, flu limits nothing
    assert least.table[0, 0].tolist() == [1.0, 0.1, 0.1]
    assert most.numbers == 3
    yes_no = pn.Variable("on", ("yes", "no"))
    asked = pn.gate_or(pn.Variable("y", ("no", "yes")), [yes_no], inhibition=0.3, thresholds={"on": "no"})
    assert asked.table.tolist() == [[1.0, 0.0], [0.3, 1.0]]  # of two states either may be the active one


def gated() -> pn.Network:
    """A network in which one table is a gate."""
    tub, lung, either = (pn.Variable(name, ("yes", "no")) for name in ("tub", "lung", "either"))
    dag = pn.Dag({"tub": (), "lung": (), "either": ("tub", "lung")})
    gate = pn.gate_or(either, (tub, lung), inhibition={"tub": 0.1, "lung": 0.2}, leak=0.05)
    return pn.Network((tub, lung, either), dag, {"tub": [0.2, 1], "lung": [0.3, 1], "either": gate})


def test_a_network_keeps_the_numbers_of_its_gates(tmp_path: Path) -> None:
    net = gated()
    assert repr(net) == "Network(3 variables, 2 edges, 12 degrees, product; 1 gate)"
    path = tmp_path / "gated.json"
    pn.write_network(net, path)
    document = json.loads(path.read_text(encoding="utf-8"))
    jsonschema.validate(document, SCHEMA)
    entry = document["variables"][2]
    assert entry["gate"] == {"kind": "or", "inhibition": {"tub": 0.1, "lung": 0.2}, "leak": 0.05}
    assert ("degrees" in entry, document["version"]) == (False, 5)
    again = pn.read_network(path)
    assert again == net
    assert again.gates == net.gates
    assert pickle.loads(pickle.dumps(net)).gates == net.gates  # noqa: S301
    assert net.with_table("tub", [0.5, 1]).gates == net.gates
    assert net.with_table("either", net.table("either")).gates == {}
    assert net.do({"lung": "yes"}).gates == net.gates
    assert net.do({"either": "yes"}).gates == {}
    same = {v.name: net.table(v.name) for v in net.variables}
    assert net.with_bounds(same, same).gates == net.gates
    pn.write_network(net.with_bounds(same, same), path)
    assert pn.read_network(path) == net.with_bounds(same, same)


@pytest.mark.parametrize("kind", ["or", "and", "max", "min"])
def test_every_kind_of_gate_survives_its_file(kind: str, tmp_path: Path) -> None:
    states = ("low", "middle", "high")
    x, z = pn.Variable("x", states, ordered=True), pn.Variable("z", states, ordered=True)
    y = pn.Variable("y", states, ordered=True) if kind in {"max", "min"} else pn.Variable("y", ("up", "down"))
    gate: Any
    if kind == "max":
        mixed: dict[str, Any] = {"x": 0.25, "z": np.eye(3)}
        gate = pn.gate_max(y, [x, z], effects=mixed, leak=[1.0, 0.2, 0.1], conjunction=pn.MIN)
    elif kind == "min":
        gate = pn.gate_min(y, [x, z], effects=0.25, thresholds={"x": "middle"}, conjunction=pn.MIN)
    elif kind == "or":
        gate = pn.gate_or(y, [x, z], inhibition=0.25, active="up", thresholds={"x": "high"}, conjunction=pn.MIN)
    else:
        gate = pn.gate_and(y, [x, z], substitution=0.25, inhibition={"x": 0.5}, conjunction=pn.MIN)
    tables = {"x": [1, 1, 1], "z": [1, 1, 1], "y": gate}
    net = pn.Network((x, z, y), pn.Dag({"x": (), "z": (), "y": ("x", "z")}), tables, conjunction=pn.MIN)
    pn.write_network(net, tmp_path / "net.json")
    jsonschema.validate(json.loads((tmp_path / "net.json").read_text(encoding="utf-8")), SCHEMA)
    again = pn.read_network(tmp_path / "net.json")
    assert again == net
    assert again.gates == {"y": gate}
    assert again.gates["y"].describe() == gate.describe()


def test_files_with_broken_gates_are_refused(tmp_path: Path) -> None:
    net = gated()
    path = tmp_path / "gated.json"
    pn.write_network(net, path)
    text = path.read_text(encoding="utf-8")

    def refuse(change: Any, message: str) -> None:
        document = json.loads(text)
        change(document["variables"][2])
        path.write_text(json.dumps(document), encoding="utf-8")
        with pytest.raises(pn.InputError, match=message):
            pn.read_network(path)

    refuse(lambda v: v["gate"].update(kind="xor"), "kind 'xor'; expected or, and, max, min")
    refuse(lambda v: v["gate"].update(effects=0.5), "OR has no parameter 'effects'")
    refuse(lambda v: v["gate"].update(leak=2), "leak 2.0; expected a number from 0 to 1")
    refuse(lambda v: v["gate"].update(colour="red"), "unknown field colour")
    refuse(lambda v: v["gate"]["inhibition"].update(tub=-1), "inhibition of .tub. -1.0")
    refuse(lambda v: v.update(parents=["tub", "x"]), "'x', a parent of 'either', is not a node")
    refuse(lambda v: v.pop("gate"), "'either' has no degrees; expected degrees, or a gate")
    refuse(lambda v: v.update(degrees=[[[1, 1], [1, 1]], [[1, 1], [1, 1]]]), "its degrees are not those of its gate")
    refuse(lambda v: v.update(gate={"kind": "max"}), "no effects; expected one for each parent")
    document = json.loads(text)
    document["variables"][2]["degrees"] = net.table("either").tolist()
    path.write_text(json.dumps(document), encoding="utf-8")
    assert pn.read_network(path) == net


@given(st.data(), conjunctions)
def test_a_table_that_is_a_gate_is_recognised(data: st.DataObject, conjunction: pn.Conjunction) -> None:
    width = data.draw(st.integers(2, 3))
    states = ("low", "middle", "high")[:width]
    child = pn.Variable("y", states, ordered=True)
    parents = [pn.Variable(f"x{k}", states, ordered=True) for k in range(data.draw(st.integers(1, 3)))]
    largest = data.draw(st.booleans())
    numbers = {p.name: data.draw(levels) for p in parents}
    maker = pn.gate_max if largest else pn.gate_min
    gate = maker(child, parents, effects=numbers, leak=data.draw(levels), conjunction=conjunction)
    dag = pn.Dag({p.name: () for p in parents} | {"y": tuple(p.name for p in parents)})
    tables: dict[str, Any] = {p.name: [1.0] * width for p in parents} | {"y": gate.table}
    net = pn.Network((*parents, child), dag, tables, conjunction=conjunction)
    fit = pn.nearest_gate(net, "y")
    assert fit.difference == pytest.approx(0.0, abs=1e-12)
    assert np.abs(np.asarray(fit.gate) - gate.table).max() <= 1e-12


@given(st.data(), conjunctions)
def test_the_difference_is_what_it_says_and_small_noise_stays_small(
    data: st.DataObject, conjunction: pn.Conjunction
) -> None:
    x, z, y = (pn.Variable(name, ("no", "yes")) for name in "xzy")
    gate = pn.gate_or(y, [x, z], inhibition={"x": 0.3, "z": 0.6}, leak=0.2, conjunction=conjunction)
    noise = np.array(data.draw(st.lists(st.sampled_from([-0.02, 0.0, 0.02]), min_size=8, max_size=8))).reshape(2, 2, 2)
    table = np.where(gate.table < 1.0, np.clip(gate.table + noise, 0.0, 0.99), 1.0)
    dag = pn.Dag({"x": (), "z": (), "y": ("x", "z")})
    tables: dict[str, Any] = {"x": [1, 1], "z": [1, 1], "y": table}
    net = pn.Network((x, z, y), dag, tables, conjunction=conjunction)
    fit = pn.nearest_gate(net, "y")
    assert fit.difference == pytest.approx(float(np.abs(np.asarray(fit.gate) - table).max()))
    assert fit.difference <= 0.05
    assert f"explained by {fit.gate.numbers} numbers, largest difference" in str(fit)


def test_bad_gates_are_one_sentence() -> None:
    x, y = pn.Variable("x", ("no", "yes")), pn.Variable("y", ("no", "yes"))
    three = pn.Variable("three", ("a", "b", "c"))
    ordered = pn.Variable("ordered", ("a", "b", "c"), ordered=True)

    def refuse(message: str, maker: Any, *arguments: Any, **options: Any) -> None:
        with pytest.raises(pn.InputError, match=message):
            maker(*arguments, **options)

    refuse("gate_or: child 'y'; expected a possnet.Variable", pn.gate_or, "y", [x])
    refuse("parents \\[\\]; expected one or more", pn.gate_or, y, [])
    refuse("parent 'x'; expected a Variable", pn.gate_or, y, ["x"])
    refuse("appears twice", pn.gate_or, y, [x, y])
    refuse("the child has 3 states; expected two", pn.gate_or, three, [x])
    refuse("the states of 'three' are not ordered", pn.gate_or, y, [three])
    refuse("the states of the child are not ordered", pn.gate_max, three, [x], effects=0.1)
    refuse("inhibition of 'x' 1.5; expected a number from 0 to 1", pn.gate_or, y, [x], inhibition=1.5)
    refuse("inhibition: 'z' is no parent", pn.gate_or, y, [x], inhibition={"z": 0.1})
    refuse("thresholds: 'z' is no parent", pn.gate_or, y, [x], thresholds={"z": "yes"})
    refuse("no effect of 'x'", pn.gate_max, ordered, [x], effects={})
    refuse("'x' has 2 states for 3 of the child", pn.gate_max, ordered, [x], effects=0.1)
    refuse("effect of 'x' given 'yes' peaks at 0.5", pn.gate_max, y, [x], effects={"x": [[1, 0], [0.5, 0.5]]})
    refuse("not a rectangular array", pn.gate_max, y, [x], effects={"x": [[1], [0, 1]]})
    refuse("leak has 0.5 for 'no'; expected 1", pn.gate_max, y, [x], effects=0.1, leak=[0.5, 1.0])
    refuse("conjunction 'min'", pn.gate_or, y, [x], conjunction="min")
    gate = pn.gate_or(y, [x])
    dag = pn.Dag({"x": (), "y": ("x",)})
    refuse(
        "the gate of 'y' is for product; expected conjunction=MIN",
        pn.Network,
        (x, y),
        dag,
        {"x": [1, 1], "y": gate},
        conjunction=pn.MIN,
    )
    other = pn.gate_or(y, [pn.Variable("z", ("no", "yes"))])
    refuse("is that of 'y' given \\(z\\)", pn.Network, (x, y), dag, {"x": [1, 1], "y": other})
    refuse("'x' has no parents", pn.nearest_gate, pn.Network((x, y), dag, {"x": [1, 1], "y": gate}), "x")

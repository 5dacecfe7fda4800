"""WCNF files: the least cost over all assignments is that of the most possible configuration."""

from __future__ import annotations

import json
import math
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

import possnet as pn
from possnet.io.network_formats.wcnf import encode_wcnf
from tests.paths import ROOT
from tests.refused import refused
from tests.strategies import networks

RECORDED = json.loads((ROOT / "tests" / "fixtures" / "maxsat.json").read_text(encoding="utf-8"))


def load_network(name: str) -> pn.Network:
    """The network of a recorded case, as benchmarks/written_files.py has it."""
    if not name.startswith("random"):
        return pn.load_example(name)
    _, seed, conjunction = name.split()
    chosen: pn.Conjunction = {"product": pn.PRODUCT, "min": pn.MIN}[conjunction]
    return pn.random_network(20, max_parents=3, states=(2, 4), zeros=0.1, conjunction=chosen, rng=int(seed))


def parse_lines(lines: list[str]) -> tuple[list[list[int]], list[tuple[int, list[int]]], int]:
    """Hard clauses, soft clauses with their weights, and the largest proposition, of lines without comments."""
    hard, soft = [], []
    for line in lines:
        first, *literals, end = line.split()
        assert end == "0"
        if first == "h":
            hard.append([int(literal) for literal in literals])
        else:
            soft.append((int(first), [int(literal) for literal in literals]))
    return hard, soft, max(abs(literal) for clause in (*hard, *(clause for _, clause in soft)) for literal in clause)


def find_cost(network: pn.Network, lines: list[str], configuration: dict[str, str]) -> float:
    """The cost of a configuration, straight from the definition: levels are the fewest that the hard clauses allow."""
    hard, soft, _ = parse_lines(lines)
    states = [(v.name, s) for v in network.variables for s in v.states]
    true = {number for number, (name, state) in enumerate(states, start=1) if configuration[name] == state}
    changed = True
    while changed:  # a clause of one literal that is still open and positive is a level that must be true
        changed = False
        for clause in hard:
            if not any((literal > 0) == (abs(literal) in true) for literal in clause):
                open_levels = [literal for literal in clause if literal > len(states)]
                if not open_levels:
                    return math.inf
                true.add(open_levels[0])
                changed = True
    return sum(weight for weight, clause in soft if not any((k > 0) == (abs(k) in true) for k in clause))


@given(network=networks(max_variables=3), data=st.data())
def test_the_least_cost_is_that_of_a_most_possible_configuration(network: pn.Network, data: st.DataObject) -> None:
    variable = data.draw(st.sampled_from(network.variables))
    event = data.draw(st.sets(st.sampled_from(variable.states), min_size=1))
    lines = [line for line in encode_wcnf(network, {variable.name: event}) if not line.startswith("c")]
    joint = {}
    for states in product(*(v.states for v in network.variables)):
        configuration = dict(zip((v.name for v in network.variables), states, strict=True))
        allowed = configuration[variable.name] in event
        possibility = network.joint(configuration) if allowed else 0.0
        cost = find_cost(network, lines, configuration)
        joint[states] = possibility, cost
        if possibility == 0.0:
            assert cost == math.inf
        elif network.conjunction is pn.PRODUCT:
            assert cost / 1e6 == pytest.approx(-math.log(possibility), abs=len(network.variables) / 2e6)
    best = max(possibility for possibility, _ in joint.values())
    least = min(cost for _, cost in joint.values())
    if best > 0.0 and network.conjunction is pn.MIN:
        assert {states for states, (_, cost) in joint.items() if cost == least} == {
            states for states, (possibility, _) in joint.items() if possibility == best
        }


@pytest.mark.parametrize("case", RECORDED["cases"], ids=lambda case: f"{case['network']} {case['evidence']}")
def test_an_independent_solver_finds_the_same_possibility(case: dict[str, object]) -> None:
    name, evidence = case["network"], case["evidence"]
    assert isinstance(name, str)
    assert isinstance(evidence, dict)
    network = load_network(name)
    lines = list(encode_wcnf(network, evidence))
    assert len([line for line in lines if not line.startswith("c")]) == case["clauses"]
    best = pn.Inference(network).most_possible({variable: set(states) for variable, states in evidence.items()})
    configuration = case["configuration"]
    assert isinstance(configuration, dict)
    assert network.joint(configuration) == pytest.approx(best.possibility, rel=1e-9)
    cost = case["cost"]
    assert isinstance(cost, int)
    if network.conjunction is pn.PRODUCT:
        assert math.exp(-cost / 1e6) == pytest.approx(best.possibility, rel=len(network.variables) / 1e6)
    else:
        levels = {int(line.split()[2]): float(line.split()[3]) for line in lines if line.startswith("c level")}
        assert ({0: 1.0} | levels)[cost] == best.possibility


def test_what_a_solver_could_not_take_is_refused(tmp_path: Path) -> None:
    asia = pn.load_example("asia")
    path = tmp_path / "asia.wcnf"
    for options, message in (
        ({"scale": 0}, "scale 0; expected a number from 1 to 1e12"),
        ({"evidence": {"smoek": "yes"}}, "no variable 'smoek' .*; did you mean 'smoke'"),
        ({"evidence": {"smoke": "maybe"}}, "'maybe'"),
        ({"evidence": {"smoke": ()}}, "no states"),
        ({"evidence": 3}, "evidence 3; expected"),
    ):
        refused(message, pn.write_network, asia, path, **options)
        assert not path.exists()
    tiny = asia.with_table("smoke", [1, 1e-300])
    pn.write_network(tiny, path, scale=1e12)
    assert pn.Inference(tiny).most_possible().possibility == 1

"""Conflict: minimal sets and least changes against enumeration of all sets of findings."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import pytest
from hypothesis import assume, given, strategies as st

import possnet as pn
from tests.explanation.cases import joint_with
from tests.inference.brute_force import observations
from tests.strategies import networks


@st.composite
def heavy_evidence(draw: st.DrawFn) -> tuple[pn.Network, dict[str, Any], float]:
    """A network with many zeros, evidence on most variables, and a threshold."""
    net = draw(networks(max_variables=5))
    chosen = draw(st.lists(st.sampled_from(net.variables), unique=True, min_size=1))
    return net, {v.name: draw(observations(v)) for v in chosen}, draw(st.sampled_from([0.0, 0.0, 0.1, 0.5]))


def possibility(net: pn.Network, evidence: dict[str, Any]) -> float:
    return float(joint_with(net, evidence).max())


@given(heavy_evidence())
def test_all_minimal_conflicts_and_all_smallest_repairs_are_named(
    case: tuple[pn.Network, dict[str, Any], float],
) -> None:
    net, evidence, threshold = case
    assume(possibility(net, {}) > threshold)
    near = [possibility(net, {n: evidence[n] for n in c}) for k in range(6) for c in combinations(evidence, k)]
    assume(all(abs(value - threshold) > 1e-9 or value == threshold for value in near))  # rounding decides there
    result = pn.conflicts(net, evidence, threshold=threshold, most=100)
    assert result.possibility == pytest.approx(possibility(net, evidence), abs=1e-12)
    assert result.complete

    def conflict(names: tuple[str, ...] | list[str]) -> bool:
        return possibility(net, {name: evidence[name] for name in names}) <= threshold

    subsets = [c for k in range(len(evidence) + 1) for c in combinations(evidence, k)]
    minimal = {frozenset(c) for c in subsets if conflict(c) and not any(conflict([n for n in c if n != m]) for m in c)}
    assert {frozenset(names) for names in result.sets} == minimal
    assert bool(result) == bool(minimal)
    assert tuple(result) == result.sets
    if not minimal:
        assert result.repairs == ()
        return
    repaired = [c for c in subsets if not conflict([n for n in evidence if n not in c])]
    least = min(map(len, repaired))
    assert {frozenset(r.drop) for r in result.repairs} == {frozenset(c) for c in repaired if len(c) == least}
    for repair in result.repairs:
        rest = {n: e for n, e in evidence.items() if n not in repair.drop}
        assert repair.possibility == pytest.approx(possibility(net, rest), abs=1e-12)
        widened = dict(evidence)
        for name, state in repair.widen.items():
            seen = evidence[name]
            old = (
                {seen: 1.0}
                if isinstance(seen, str)
                else dict(seen)
                if isinstance(seen, dict)
                else dict.fromkeys(seen, 1.0)
            )
            widened[name] = old | {state: 1.0}
        assert possibility(net, widened) == pytest.approx(repair.possibility, abs=1e-12)
    degrees = [repair.possibility for repair in result.repairs]
    assert degrees == sorted(degrees, reverse=True)


@given(heavy_evidence(), st.integers(1, 12))
def test_within_a_small_budget_what_is_named_is_still_minimal(
    case: tuple[pn.Network, dict[str, Any], float], budget: int
) -> None:
    net, evidence, _ = case
    result = pn.conflicts(net, evidence, budget=budget, most=1)
    for names in result.sets:
        assert possibility(net, {n: evidence[n] for n in names}) == 0.0
        for name in names:
            assert possibility(net, {n: evidence[n] for n in names if n != name}) > 0.0


def test_a_long_list_of_findings_is_searched_by_halving() -> None:
    names = [f"v{k}" for k in range(60)]
    variables = [pn.Variable(name, ("a", "b")) for name in names]
    tables: dict[str, Any] = {name: [1.0, 1.0] for name in names}
    dag = dict.fromkeys(names, ()) | {"v50": ("v3",)}
    tables["v50"] = [[1.0, 0.0], [1.0, 1.0]]
    net = pn.Network(variables, pn.Dag(dag), tables)
    evidence = dict.fromkeys(names, "a") | {"v50": "b"}
    result = pn.conflicts(net, evidence, budget=100)
    assert result.sets == (("v3", "v50"),)
    assert {repair.drop for repair in result.repairs} == {("v3",), ("v50",)}
    assert result.complete


def test_evidence_that_only_underflows_is_no_conflict() -> None:
    names = [f"v{k}" for k in range(300)]
    variables = [pn.Variable(name, ("a", "b")) for name in names]
    net = pn.Network(variables, pn.Dag(dict.fromkeys(names, ())), {name: [1.0, 0.001] for name in names})
    assert not pn.conflicts(net, dict.fromkeys(names, "b"))


def test_bad_input_is_one_sentence() -> None:
    clinic = pn.load_example("clinic")
    with pytest.raises(pn.InputError, match="conflicts: threshold 1.0, and the network itself is possible to 1"):
        pn.conflicts(clinic, {"rash": "spots"}, threshold=1.0)
    with pytest.raises(pn.InputError, match="expected a number from 0 to below 1"):
        pn.conflicts(clinic, {"rash": "spots"}, threshold=-1)
    with pytest.raises(pn.InputError, match="no variable 'rsh'"):
        pn.conflicts(clinic, {"rsh": "spots"})
    assert "no conflict" in str(pn.conflicts(clinic, {"rash": "spots"}))


def contradicting_pairs(count: int) -> tuple[pn.Network, dict[str, str]]:
    """Pairs of variables that must be equal, and evidence that says they are not."""
    variables = [pn.Variable(f"{side}{k}", ("x", "y")) for k in range(count) for side in "ab"]
    tables: dict[str, Any] = {}
    parents: dict[str, tuple[str, ...]] = {}
    for k in range(count):
        tables |= {f"a{k}": [1.0, 1.0], f"b{k}": [[1.0, 0.0], [0.0, 1.0]]}
        parents |= {f"a{k}": (), f"b{k}": (f"a{k}",)}
    return pn.Network(variables, pn.Dag(parents), tables), {v.name: "x" if v.name[0] == "a" else "y" for v in variables}


def test_several_contradictions_need_a_finding_of_each() -> None:
    net, evidence = contradicting_pairs(3)
    result = pn.conflicts(net, evidence)
    assert result.sets == (("a0", "b0"), ("a1", "b1"), ("a2", "b2"))
    assert len(result.repairs) == 8
    assert all({name[1] for name in repair.drop} == {"0", "1", "2"} for repair in result.repairs)
    assert result.complete
    assert "drop" in str(result)
    few = pn.conflicts(net, evidence, most=2)
    assert (len(few), len(few.repairs), few.complete) == (2, 2, False)
    assert "there may be more" in str(few)
    poor = pn.conflicts(net, evidence, budget=8)
    assert (len(poor.sets) >= 1, poor.complete) == (True, False)
    with pytest.raises(pn.InputError, match="expected a possnet.Network"):
        pn.conflicts("net", evidence)  # type: ignore[arg-type]

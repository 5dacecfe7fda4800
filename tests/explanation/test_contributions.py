"""What matters: Shapley values against their definition over all orders."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

import possnet as pn
from tests.explanation.cases import answer, asked


def value(net: pn.Network, target: str, state: int, evidence: dict[str, Any]) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Π and N of a state, from the definition."""
    degrees = answer(net, target, evidence)
    assert degrees is not None
    return np.array([degrees[state], 1.0 - np.delete(degrees, state).max(initial=0.0)])


@given(st.data(), asked(least_findings=1))
def test_shapley_values_are_means_over_all_orders(
    data: st.DataObject, question: tuple[pn.Network, str, dict[str, Any]]
) -> None:
    net, target, evidence = question
    state = data.draw(st.integers(0, len(net.variable(target)) - 1))
    shares = pn.contributions(net, target, evidence, net.variable(target).states[state])
    orders = list(permutations(evidence))
    for name in evidence:
        steps = []
        for order in orders:
            before = {n: evidence[n] for n in order[: order.index(name)]}
            steps.append(value(net, target, state, before | {name: evidence[name]}) - value(net, target, state, before))
        expected = np.mean(steps, axis=0)
        share = shares.of(name)
        assert [share.possibility, share.necessity] == pytest.approx(expected.tolist(), abs=1e-9)
        rest = {n: e for n, e in evidence.items() if n != name}
        left = value(net, target, state, evidence) - value(net, target, state, rest)
        assert [share.possibility_left_out, share.necessity_left_out] == pytest.approx(left.tolist(), abs=1e-9)
    assert shares.exact
    assert shares.before == pytest.approx(tuple(value(net, target, state, {})), abs=1e-9)
    assert shares.now == pytest.approx(tuple(value(net, target, state, evidence)), abs=1e-9)
    assert sum(s.possibility for s in shares) == pytest.approx(shares.now[0] - shares.before[0], abs=1e-9)


def long_chain(count: int) -> tuple[pn.Network, dict[str, str]]:
    """A cause with many symptoms, every second of which speaks for it."""
    cause = pn.Variable("cause", ("yes", "no"))
    signs = [pn.Variable(f"s{k}", ("yes", "no")) for k in range(count)]
    dag = pn.Dag({"cause": (), **{s.name: ("cause",) for s in signs}})
    tables: dict[str, Any] = {"cause": [0.3, 1.0]} | {
        s.name: [[1.0, 0.6 + 0.02 * k], [0.8 - 0.01 * k, 1.0]] for k, s in enumerate(signs)
    }
    return pn.Network((cause, *signs), dag, tables), {s.name: ("yes", "no")[k % 2] for k, s in enumerate(signs)}


def test_beyond_twelve_findings_means_of_orders_are_within_their_errors() -> None:
    net, evidence = long_chain(13)
    exact_net, _ = long_chain(12)
    sampled = pn.contributions(net, "cause", evidence, "yes", orders=2000, rng=3)
    assert not sampled.exact
    assert sum(s.possibility for s in sampled) == pytest.approx(sampled.now[0] - sampled.before[0])
    # the definition over all subsets of 13 findings, spelled out
    from math import comb

    names = list(evidence)
    up = np.array([net.table(n)[0, net.variable(n).index(evidence[n])] for n in names])
    down = np.array([net.table(n)[1, net.variable(n).index(evidence[n])] for n in names])
    kept = (np.arange(1 << 13)[:, None] >> np.arange(13)) & 1
    yes, no = 0.3 * np.prod(np.where(kept, up, 1.0), axis=1), np.prod(np.where(kept, down, 1.0), axis=1)
    values = yes / np.maximum(yes, no)
    for k, name in enumerate(names):
        absent = np.flatnonzero(kept[:, k] == 0)
        weights = np.array([1 / (13 * comb(12, size)) for size in kept[absent].sum(axis=1)])
        expected = float(weights @ (values[absent | 1 << k] - values[absent]))
        share = sampled.of(name)
        assert share.possibility_error > 0.0
        assert abs(share.possibility - expected) < 5 * share.possibility_error
    assert pn.contributions(exact_net, "cause", {n: e for n, e in evidence.items() if n in exact_net.dag.nodes}).exact
    assert " ± " in str(sampled)
    assert repr(sampled) == "Contributions(cause=yes: 13 findings, sampled)"
    again = pn.contributions(net, "cause", evidence, "yes", orders=2000, rng=3)
    assert again == sampled


def test_two_findings_that_say_the_same_share_what_they_say() -> None:
    x, y, z = (pn.Variable(name, ("yes", "no")) for name in "xyz")
    dag = pn.Dag({"x": (), "y": ("x",), "z": ("x",)})
    net = pn.Network((x, y, z), dag, {"x": [1, 1], "y": [[1, 0], [0, 1]], "z": [[1, 0], [0, 1]]})
    shares = pn.contributions(net, "x", {"y": "yes", "z": "yes"}, "yes")
    assert [(s.necessity, s.necessity_left_out) for s in shares] == [(0.5, 0.0), (0.5, 0.0)]
    with pytest.raises(pn.InputError, match="'q' is no finding"):
        shares.of("q")
    assert len(pn.contributions(net, "x", {})) == 0
    with pytest.raises(pn.InputError, match="contributions: the target 'x' is in the evidence"):
        pn.contributions(net, "x", {"x": "yes"})

"""Where two networks differ: every degree as a slow definition gives it, whatever the order of variables and states."""

from __future__ import annotations

import itertools
from math import isnan

import pytest
from hypothesis import given, settings, strategies as st

import possnet as pn
from possnet.errors import InputError
from possnet.metrics import compare_tables

CLINIC = pn.load_example("clinic")


def conditional(net: pn.Network, name: str, context: dict[str, str]) -> dict[str, float]:
    """Π(name | context) straight from the joint degrees of all configurations; 1 everywhere if the context is impossible."""
    others = [v for v in net.variables if v.name != name and v.name not in context]
    degrees = {
        state: max(
            net.joint({**context, name: state, **dict(zip((v.name for v in others), rest, strict=True))})
            for rest in itertools.product(*(v.states for v in others))
        )
        for state in net.variable(name).states
    }
    top = max(degrees.values())
    if top == 0.0:
        return dict.fromkeys(degrees, 1.0)
    if net.conjunction == pn.MIN:
        return {state: 1.0 if degree == top else degree for state, degree in degrees.items()}
    return {state: degree / top for state, degree in degrees.items()}


def shuffled(net: pn.Network) -> pn.Network:
    """The same network with variables, states and parents in reverse order."""
    variables = [pn.Variable(v.name, v.states[::-1]) for v in net.variables[::-1]]
    dag = pn.Dag({v.name: net.dag.parents(v.name)[::-1] for v in variables})
    tables = {}
    for v in variables:
        table = net.table(v.name)
        turned = table.transpose([*range(table.ndim - 2, -1, -1), table.ndim - 1])
        tables[v.name] = turned[tuple(slice(None, None, -1) for _ in range(table.ndim))]
    return pn.Network(variables, dag, tables, conjunction=net.conjunction)


@settings(max_examples=15)
@given(st.integers(0, 10_000), st.sampled_from([pn.PRODUCT, pn.MIN]))
def test_every_paired_degree_is_the_conditional_degree_of_the_joint(seed: int, conjunction: pn.Conjunction) -> None:
    first = pn.random_network(4, max_parents=2, states=(2, 3), conjunction=conjunction, rng=seed)
    other = pn.random_network(4, max_parents=2, states=(2, 3), conjunction=conjunction, rng=seed + 1)
    second = pn.fit(other.dag, pn.sample(first, 60, rng=seed), conjunction=conjunction)
    differences = compare_tables(first, shuffled(second))
    assert sorted(t.name for t in differences.tables) == sorted(v.name for v in first.variables)
    for table in differences.tables:
        pair = differences.pair_tables(table.name)
        parents = [first.variable(parent) for parent in pair.parents]
        states = first.variable(table.name).states
        same = set(first.dag.parents(table.name)) == set(second.dag.parents(table.name))
        assert table.same_parents == same
        gaps = []
        for number, context in enumerate(itertools.product(*(p.states for p in parents))):
            given_ = dict(zip(pair.parents, context, strict=True))
            own = [first.table(table.name).reshape(-1, len(states))[number, k] for k in range(len(states))]
            assert pair.first[number].tolist() == own
            if same:
                places = [second.variable(p).index(given_[p]) for p in second.dag.parents(table.name)]
                expected = {s: second.table(table.name)[(*places, k)] for k, s in enumerate(states)}
            else:
                expected = conditional(second, table.name, given_)
                if not given_:  # without parents it is the marginal, which need not peak
                    expected = {s: pn.Inference(second).query(table.name)[s] for s in states}
            assert pair.second[number].tolist() == pytest.approx([expected[s] for s in states], abs=1e-12)
            gaps.append(max(abs(a - b) for a, b in zip(own, pair.second[number].tolist(), strict=True)))
        assert table.largest == pytest.approx(max(gaps), abs=1e-12)
        assert [gaps[k] for k in table.contexts] == pytest.approx(sorted((g for g in gaps if g > 0), reverse=True))


def test_a_network_does_not_differ_from_itself_in_another_order() -> None:
    differences = compare_tables(CLINIC, shuffled(CLINIC))
    assert differences.changed == ()
    assert set(differences.edges.values()) == {"same"}
    assert all(table.largest == 0.0 and table.contexts == () for table in differences.tables)


def test_edges_are_the_same_added_removed_or_reversed_and_the_worst_table_comes_first() -> None:
    a, b, c = (pn.Variable(name, ("x", "y")) for name in "abc")
    first = pn.Network(
        (a, b, c),
        pn.Dag({"a": (), "b": ("a",), "c": ("b",)}),
        {"a": [1, 0.5], "b": [[1, 0], [0, 1]], "c": [[1.0, 0.1], [1.0, 1.0]]},
    )
    second = pn.Network(
        (a, b, c),
        pn.Dag({"a": ("b",), "b": (), "c": ("a",)}),
        {"a": [[1, 0], [0, 1]], "b": [1, 0.5], "c": [[1.0, 0.2], [1.0, 1.0]]},
    )
    differences = compare_tables(first, second)
    assert differences.edges == {("a", "b"): "reversed", ("b", "c"): "removed", ("a", "c"): "added"}
    assert [table.largest for table in differences.tables] == sorted(
        (t.largest for t in differences.tables), reverse=True
    )
    assert differences.tables[0].name == "c"  # a and b say the same in either direction
    assert differences.changed == ("c",)


def test_what_only_one_network_has_is_listed_and_a_table_with_such_a_parent_cannot_be_paired() -> None:
    a, b, c = (pn.Variable(name, ("x", "y")) for name in "abc")
    wide = pn.Variable("b", ("x", "y", "z"))
    first = pn.Network((a, b), pn.Dag({"a": (), "b": ("a",)}), {"a": [1, 1], "b": [[1, 0], [0, 1]]})
    second = pn.Network((b, c), pn.Dag({"b": (), "c": ("b",)}), {"b": [1, 1], "c": [[1, 0], [0, 1]]})
    differences = compare_tables(first, second)
    assert (differences.removed, differences.added, differences.other_states) == (("a",), ("c",), ())
    (table,) = differences.tables
    assert isnan(table.largest)
    assert table.reason == "its parent a is not the same in the other network"
    assert differences.changed == ("b",)
    with pytest.raises(InputError, match="the tables of 'b' cannot be paired: its parent a"):
        differences.pair_tables("b")
    with pytest.raises(InputError, match="'d' is no variable of both"):
        differences.pair_tables("d")
    third = pn.Network((a, wide), pn.Dag({"a": (), "b": ("a",)}), {"a": [1, 1], "b": [[1, 0, 0], [0, 1, 0]]})
    assert compare_tables(first, third).other_states == ("b",)
    with pytest.raises(InputError, match="3 is not a network"):
        compare_tables(first, 3)  # type: ignore[arg-type]

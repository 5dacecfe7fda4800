"""Edits of variables and edges: tables grow and shrink, and no number that still has a place is lost."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

import possnet as pn
from possnet.network import (
    add_edge,
    add_variable,
    change_states,
    remove_edge,
    remove_variables,
    rename_network,
    rename_variable,
)

ASIA, CLINIC = pn.load_example("asia"), pn.load_example("clinic")
NETWORKS = st.builds(
    lambda seed, n: pn.random_network(n, max_parents=3, states=(2, 4), rng=seed), st.integers(0, 999), st.integers(2, 7)
)


def require_sound(net: pn.Network) -> None:
    """The network passes the checks that a network from a user passes."""
    again = pn.Network(
        net.variables, net.dag, {v.name: net.table(v.name) for v in net.variables}, conjunction=net.conjunction
    )
    assert again.is_close(net, tolerance=0.0)
    if net.bounds is not None:
        again.with_bounds(*net.bounds)


@given(NETWORKS, st.data())
def test_an_edge_that_is_added_and_removed_again_changes_nothing(net: pn.Network, data: st.DataObject) -> None:
    order = net.dag.topological_order()
    parent, child = sorted(
        data.draw(st.lists(st.sampled_from(order), min_size=2, max_size=2, unique=True)), key=order.index
    )
    if parent in net.dag.parents(child):
        return
    more = add_edge(net, parent, child)
    require_sound(more)
    table = more.table(child)
    for k in range(len(net.variable(parent))):  # whatever the new parent is, the degrees are those of before
        assert np.array_equal(table[..., k, :], net.table(child))
    assert remove_edge(more, parent, child) == net
    assert more.dag.parents(child) == (*net.dag.parents(child), parent)


@given(NETWORKS, st.data())
def test_a_parent_that_goes_leaves_the_largest_degrees(net: pn.Network, data: st.DataObject) -> None:
    if not net.dag.edges:
        return
    parent, child = data.draw(st.sampled_from(net.dag.edges))
    less = remove_edge(net, parent, child)
    require_sound(less)
    axis = net.dag.parents(child).index(parent)
    for index in np.ndindex(less.table(child).shape):
        over = [net.table(child)[(*index[:axis], k, *index[axis:])] for k in range(len(net.variable(parent)))]
        assert less.table(child)[index] == max(over)


@given(NETWORKS, st.data())
def test_removing_variables_is_removing_their_edges_first(net: pn.Network, data: st.DataObject) -> None:
    gone = data.draw(st.lists(st.sampled_from(net.dag.nodes), min_size=1, max_size=len(net.dag.nodes) - 1, unique=True))
    slow = net
    for parent, child in net.dag.edges:
        if parent in gone and child not in gone:
            slow = remove_edge(slow, parent, child)
    less = remove_variables(net, gone)
    require_sound(less)
    assert [v.name for v in less.variables] == [v.name for v in net.variables if v.name not in gone]
    for variable in less.variables:
        assert np.array_equal(less.table(variable.name), slow.table(variable.name))


@given(NETWORKS, st.data())
def test_states_that_are_added_and_deleted_again_change_nothing(net: pn.Network, data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(net.dag.nodes))
    states = [(state, state) for state in net.variable(name).states]
    place = data.draw(st.integers(0, len(states)))
    more = change_states(net, name, [*states[:place], ("new", None), *states[place:]], ordered=False)
    require_sound(more)
    assert (more.table(name)[..., place] == 1.0).all()  # nothing is known of it
    for child in net.dag.children(name):
        axis = net.dag.parents(child).index(name)
        assert (np.take(more.table(child), place, axis) == 1.0).all()
    assert change_states(more, name, states, ordered=net.variable(name).ordered) == net


@given(NETWORKS, st.data())
def test_states_that_change_places_take_their_degrees_along(net: pn.Network, data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(net.dag.nodes))
    states = data.draw(st.permutations(net.variable(name).states))
    turned = change_states(net, name, [(f"*{state}", state) for state in states], ordered=False)
    require_sound(turned)
    old = {v.name: v.states[0] for v in net.variables}
    for state in states:
        assert turned.joint(old | {name: f"*{state}"}) == net.joint(old | {name: state})


def test_a_deleted_state_leaves_rows_that_peak() -> None:
    a = pn.Variable("a", ("x", "y", "z"))
    for conjunction, expected in ((pn.PRODUCT, [0.5, 1.0]), (pn.MIN, [0.2, 1.0])):
        net = pn.Network((a,), pn.Dag({"a": ()}), {"a": [1.0, 0.2, 0.4]}, conjunction=conjunction)
        assert change_states(net, "a", [("y", "y"), ("z", "z")], ordered=False).table("a").tolist() == expected
    net = pn.Network((a,), pn.Dag({"a": ()}), {"a": [1.0, 0.0, 0.0]})
    assert change_states(net, "a", [("y", "y"), ("z", "z")], ordered=False).table("a").tolist() == [1.0, 1.0]


def test_a_new_name_changes_names_only() -> None:
    smoker = rename_variable(ASIA, "smoke", "smoker")
    require_sound(smoker)
    assert rename_variable(smoker, "smoker", "smoke") == ASIA
    assert rename_variable(ASIA, "smoke", "smoke") is ASIA
    chest = rename_network(ASIA, name="chest", description="text", conjunction=pn.MIN)
    assert (chest.name, chest.description, chest.conjunction) == ("chest", "text", pn.MIN)
    assert rename_network(chest, conjunction=pn.PRODUCT) == ASIA


def test_gates_follow_names_and_go_with_their_families() -> None:
    gate = pn.gate_or(
        ASIA.variable("either"), [ASIA.variable("lung"), ASIA.variable("tub")], inhibition={"tub": 0.1, "lung": 0.2}
    )
    gated = ASIA.with_table(
        "either",
        pn.gate_or(
            ASIA.variable("either"),
            [ASIA.variable(p) for p in ASIA.dag.parents("either")],
            inhibition=gate.parameters["inhibition"],
        ),
    )
    renamed = rename_variable(gated, "lung", "cancer")
    assert renamed.gates["either"].parameters["inhibition"] == {"tub": 0.1, "cancer": 0.2}
    assert np.array_equal(renamed.gates["either"].table, renamed.table("either"))
    assert rename_variable(gated, "smoke", "s").gates == gated.gates
    for edited in (
        add_edge(gated, "smoke", "either"),
        remove_edge(gated, "lung", "either"),
        remove_variables(gated, ["tub"]),
        change_states(gated, "lung", [("yes", "yes"), ("no", "no"), ("maybe", None)], ordered=False),
        rename_network(gated, conjunction=pn.MIN),
    ):
        assert edited.gates == {}
    assert add_edge(gated, "smoke", "tub").gates == gated.gates


def test_bounds_follow_their_tables() -> None:
    tables = {v.name: CLINIC.table(v.name) for v in CLINIC.variables}
    net = CLINIC.with_bounds(
        {name: table * 0.5 for name, table in tables.items()},
        dict.fromkeys(tables, 1.0) | {name: np.ones_like(table) for name, table in tables.items()},
    )
    fever = [(state, state) for state in net.variable("fever").states[:2]]
    for edited in (
        add_edge(net, "season", "measles"),
        remove_edge(net, *net.dag.edges[0]),
        remove_variables(net, ["fever"]),
        add_variable(net, pn.Variable("age", ("young", "old"))),
        change_states(net, "fever", fever, ordered=True),
        rename_variable(net, "fever", "heat"),
    ):
        assert edited.bounds is not None
        require_sound(edited)


@pytest.mark.parametrize(
    ("edit", "finding"),
    [
        (lambda: add_edge(ASIA, "dysp", "smoke"), "would close a cycle, smoke -> bronc -> dysp -> smoke"),
        (lambda: add_edge(ASIA, "dysp", "dysp"), "would close a cycle, dysp -> dysp"),
        (lambda: add_edge(ASIA, "smoke", "lung"), "it is there already"),
        (lambda: add_edge(ASIA, "smoke", "lugn"), "did you mean 'lung'"),
        (lambda: remove_edge(ASIA, "asia", "lung"), "there is none; expected one of smoke"),
        (lambda: remove_variables(ASIA, ["lugn"]), "did you mean 'lung'"),
        (lambda: rename_variable(ASIA, "smoke", "lung"), "there is a variable 'lung' already"),
        (lambda: rename_variable(ASIA, "smoke", ""), "variable name"),
        (lambda: add_variable(ASIA, pn.Variable("lung", ("a",))), "there is a variable 'lung' already"),
        (lambda: change_states(ASIA, "lung", [], ordered=False), "no states"),
        (lambda: change_states(ASIA, "lung", [("a", "yes"), ("b", "yes")], ordered=False), "one state becomes two"),
        (lambda: change_states(ASIA, "lung", [("a", None), ("a", None)], ordered=False), "appears twice"),
    ],
)
def test_what_cannot_be_is_refused_with_a_sentence(edit: object, finding: str) -> None:
    assert callable(edit)
    with pytest.raises(pn.InputError, match=finding):
        edit()


def test_a_table_that_would_not_fit_is_refused_before_it_is_made() -> None:
    many = tuple(pn.Variable(f"v{k}", tuple(map(str, range(100)))) for k in range(5))
    net = pn.Network(many, pn.Dag({v.name: () for v in many}), {v.name: np.ones(100) for v in many})
    net = add_edge(add_edge(net, "v0", "v4"), "v1", "v4")
    with pytest.raises(pn.TooLarge, match="table of 'v4' with 'v2' needs 763 MiB; the limit is 64 MiB"):
        add_edge(net, "v2", "v4")

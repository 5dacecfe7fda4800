"""Laws of directed acyclic graphs."""

from __future__ import annotations

import pickle

import pytest
from hypothesis import given, strategies as st

import possnet as pn
from tests import oracles
from tests.strategies import dags


@given(dags(max_nodes=7))
def test_every_node_comes_after_its_parents(dag: pn.Dag) -> None:
    order = dag.topological_order()
    assert sorted(order) == sorted(dag.nodes)
    assert all(order.index(parent) < order.index(child) for parent, child in dag.edges)


@given(dags(max_nodes=7), st.data())
def test_ancestors_and_descendants_mirror_each_other(dag: pn.Dag, data: st.DataObject) -> None:
    a, b = data.draw(st.sampled_from(dag.nodes)), data.draw(st.sampled_from(dag.nodes))
    assert (a in dag.ancestors(b)) == (b in dag.descendants(a))
    assert dag.ancestors(b) == frozenset(dag.parents(b)).union(*map(dag.ancestors, dag.parents(b)))


@given(dags(max_nodes=6), st.data())
def test_d_separation_agrees_with_blocking_every_path(dag: pn.Dag, data: st.DataObject) -> None:
    role = data.draw(st.lists(st.sampled_from("abk-"), min_size=len(dag.nodes), max_size=len(dag.nodes)))
    first, second, known = ({node for node, r in zip(dag.nodes, role, strict=True) if r == letter} for letter in "abk")
    assert dag.d_separated(first, second, known) == oracles.d_separated(dag, first, second, known)


@given(dags(max_nodes=5).filter(lambda dag: len(dag.edges) <= 8))
def test_the_essential_graph_directs_what_the_whole_class_agrees_on(dag: pn.Dag) -> None:
    members = oracles.equivalence_class(dag)
    essential = dag.essential_graph()
    assert essential.directed == frozenset.intersection(*map(frozenset, members))
    undirected = {frozenset(e) for e in dag.edges} - {frozenset(e) for e in essential.directed}
    assert {frozenset(e) for e in essential.undirected} == undirected
    for edges in members:
        assert pn.Dag.from_edges(sorted(edges), nodes=dag.nodes).essential_graph() == essential


def test_meeks_third_rule_is_needed_and_applied() -> None:
    dag = pn.Dag({"p": (), "a": ("p",), "b": ("p",), "c": ("p", "a", "b")})
    essential = dag.essential_graph()
    assert essential.directed == {("a", "c"), ("b", "c"), ("p", "c")}
    assert essential.undirected == (("p", "a"), ("p", "b"))


@given(dags(max_nodes=6))
def test_the_moral_graph_joins_families(dag: pn.Dag) -> None:
    near = dag.moral_graph().neighbours()
    for a in dag.nodes:
        for b in dag.nodes:
            married = any({a, b} <= {n, *dag.parents(n)} for n in dag.nodes)
            assert (b in near[a]) == (a != b and married)


@given(dags(max_nodes=6))
def test_a_v_structure_is_two_strangers_with_a_child(dag: pn.Dag) -> None:
    skeleton = dag.skeleton().neighbours()
    expected = {
        (a, c, b)
        for a in dag.nodes
        for b in dag.nodes
        for c in dag.nodes
        if a < b and {a, b} <= set(dag.parents(c)) and b not in skeleton[a]
    }
    assert dag.v_structures() == expected


@given(dags(), st.randoms())
def test_a_dag_is_an_immutable_value_whatever_the_order_of_its_nodes(dag: pn.Dag, random: object) -> None:
    shuffled = sorted(dag.nodes, key=lambda _: random.random())  # type: ignore[attr-defined]
    twin = pn.Dag({node: dag.parents(node) for node in shuffled})
    assert twin == dag
    assert hash(twin) == hash(dag)
    assert pickle.loads(pickle.dumps(dag)) == dag  # noqa: S301
    assert twin.essential_graph() == dag.essential_graph()
    assert hash(twin.essential_graph()) == hash(dag.essential_graph())
    with pytest.raises(AttributeError):
        dag.nodes = ()  # type: ignore[misc]


def test_parent_order_is_table_order_and_counts() -> None:
    assert pn.Dag({"a": (), "b": (), "c": ("a", "b")}) != pn.Dag({"a": (), "b": (), "c": ("b", "a")})
    assert pn.Dag({"a": ()}) != "a"
    assert pn.Dag({"a": ()}).essential_graph() != "a"


def test_what_follows_from_equal_graphs_is_equal() -> None:
    first = pn.Dag({"a": (), "b": (), "c": ("a", "b")})
    second = pn.Dag({"b": (), "a": (), "c": ("a", "b")})
    assert first.moral_graph() == second.moral_graph()
    assert hash(first.skeleton()) == hash(second.skeleton())
    assert first.v_structures() == second.v_structures()
    assert first.skeleton() != first.moral_graph()
    assert first.skeleton() != "graph"


def test_of_two_nodes_that_are_ready_the_first_given_comes_first() -> None:
    assert pn.Dag({"c": ("a",), "a": (), "b": ()}).topological_order() == ("a", "c", "b")


def test_roots_leaves_subgraphs() -> None:
    dag = pn.load_example("asia").dag
    assert dag.roots == ("asia", "smoke")
    assert dag.leaves == ("xray", "dysp")
    assert dag.subgraph({"smoke", "lung", "either"}).edges == (("smoke", "lung"), ("lung", "either"))


def test_long_graphs_have_a_short_repr() -> None:
    dag = pn.Dag.from_edges([(f"n{k}", f"n{k + 1}") for k in range(20)])
    assert repr(dag) == "Dag(21 nodes, 20 edges)"
    assert repr(dag.essential_graph()) == "EssentialGraph(0 directed, 20 undirected edges)"


def test_a_chain_of_five_thousand_is_no_trouble() -> None:
    dag = pn.Dag.from_edges([(f"n{k}", f"n{k + 1}") for k in range(5000)])
    assert len(dag.ancestors("n5000")) == 5000
    assert not dag.d_separated("n0", "n5000")
    assert dag.d_separated("n0", "n5000", given="n2500")


@pytest.mark.parametrize(
    ("parents", "message"),
    [
        ({"a": ("b",), "b": ("a",)}, "cycle a -> b -> a; expected no directed cycle"),
        ({"a": ("a",)}, "cycle a -> a"),
        ({"r": (), "a": ("r", "c"), "b": ("a",), "c": ("b",)}, "cycle "),
        (
            {"fever": (), "rash": ("fevre",)},
            "'fevre', a parent of 'rash', is not a node; did you mean 'fever'?",
        ),
        ({"rash": ("measles",)}, "'measles', a parent of 'rash', is not a node; add 'measles': ()"),
        ({"a": (), "b": ("a", "a")}, "'b' lists a parent twice"),
        ({"a": (), "b": "a"}, "parents of 'b' are one text 'a'; expected several, ('a',)"),
    ],
)
def test_bad_graphs_are_refused_with_a_sentence(parents: dict[str, tuple[str, ...]], message: str) -> None:
    with pytest.raises(pn.InputError) as caught:
        pn.Dag(parents)
    assert str(caught.value).startswith(f"dag: {message}")


def test_bad_questions_are_refused_with_a_sentence() -> None:
    dag = pn.Dag({"fever": (), "rash": ("fever",)})
    with pytest.raises(pn.InputError, match=r"'fevr' is not a node \(fever, rash\); did you mean 'fever'"):
        dag.parents("fevr")
    with pytest.raises(pn.InputError, match="fever stands in two of the three sets; expected disjoint sets"):
        dag.d_separated("fever", "rash", given="fever")
    with pytest.raises(pn.InputError, match="an edge names 'z', which is not a node"):
        pn.UndirectedGraph(("a",), [("a", "z")])
    with pytest.raises(pn.InputError, match="an edge names 'z', which is not a node"):
        pn.EssentialGraph(("a",), directed=[("a", "z")], undirected=[])
    with pytest.raises(pn.InputError, match="expected a pair"):
        pn.Dag.from_edges([("a", "b", "c")])  # type: ignore[list-item]
    with pytest.raises(pn.InputError, match="dag: node 1 is of type int; expected text"):
        pn.Dag({1: ()})  # type: ignore[dict-item]
    with pytest.raises(pn.InputError, match="parents of 'a' are None; expected several"):
        pn.Dag({"a": None})  # type: ignore[dict-item]

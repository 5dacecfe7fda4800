"""Why an edge is there: its numbers against their definitions, the path that replaces it, sentences and refusals."""

from __future__ import annotations

import json
from dataclasses import asdict
from math import log

import pytest
from hypothesis import assume, given, strategies as st

import possnet as pn
from possnet.structure import MEASURES, METHODS, LearnedEdge, LearnedStructure
from possnet.structure.edge_explanation import find_path
from tests import oracles, strategies
from tests.structure.cases import SmallBatches, oracle, rounding, sharp_tree, with_missing, without


def as_learned(dag: pn.Dag, measure: str, values: dict[tuple[str, str], float] | None = None) -> LearnedStructure:
    """A structure as if it had been learned."""
    edges = tuple(LearnedEdge(*edge, (values or {}).get(edge, 1.0), reversible=False) for edge in dag.edges)
    return LearnedStructure(dag, dag.essential_graph(), "greedy", measure, 0.0, edges, None, (), (), 1)


def pairs_of(dag: pn.Dag) -> list[tuple[str, str]]:
    return [(a, b) for a in dag.nodes for b in dag.nodes if a != b]


@pytest.mark.parametrize("measure", ["random-set-bic", "mdl"])
@given(strategies.counted())
def test_the_value_is_the_score_with_the_edge_minus_the_score_without(
    measure: str, counted: tuple[pn.Dag, pn.Dataset]
) -> None:
    dag, data = counted
    assume(data.total > 0)
    score = oracle(measure)
    for parent, child in pairs_of(dag)[:6]:
        why = pn.explain_edge(as_learned(dag, measure), data, parent, child)
        rest = without(without(dag, (parent, child)), (child, parent))
        if parent in rest.descendants(child):
            assert why.value is None
            continue
        wider = pn.Dag.from_edges([*rest.edges, (parent, child)], nodes=dag.nodes)
        assert why.present == ((parent, child) in dag.edges)
        assert why.value == pytest.approx(score(wider, data) - score(rest, data), abs=rounding(data))
        assert why.likelihood is not None
        assert why.price is not None
        assert why.value == pytest.approx(why.likelihood - why.price, abs=rounding(data))
        if child not in rest.descendants(parent):
            turned = pn.Dag.from_edges([*rest.edges, (child, parent)], nodes=dag.nodes)
            assert why.reversal == pytest.approx(score(wider, data) - score(turned, data), abs=10 * rounding(data))
        else:
            assert why.reversal is None


@pytest.mark.parametrize("edge", [("v0", "v1"), ("v1", "v0"), ("v1", "v2"), ("v1", "v3"), ("v3", "v4")])
def test_the_likelihood_by_traced_bic_is_that_of_em(edge: tuple[str, str]) -> None:
    net = sharp_tree(5)
    data = pn.sample(net, 1000, process="traced", rng=2)
    why = pn.explain_edge(as_learned(net.dag, "traced-bic"), data, *edge)
    rest = without(without(net.dag, edge), edge[::-1])
    wider = pn.Dag.from_edges([*rest.edges, edge], nodes=net.dag.nodes)
    with_edge, plain = (pn.fit_em(dag, data, tolerance=0.01).log_likelihood[-1] for dag in (wider, rest))
    assert why.likelihood == pytest.approx(with_edge - plain, abs=0.5)
    parents = len(rest.parents(edge[1]))
    assert why.price == pytest.approx(log(1000) / 2 * 2 * (3 ** (parents + 1) - 3**parents))


def test_the_value_by_coarsened_bic_is_bic_if_no_cell_is_unknown() -> None:
    asia = pn.load_example("asia")
    data = pn.sample(asia, 500, process="precise", rng=1)
    for edge in [("smoke", "lung"), ("lung", "smoke"), ("asia", "dysp")]:
        one, other = (pn.explain_edge(as_learned(asia.dag, name), data, *edge) for name in ("coarsened-bic", "bic"))
        assert one.value == pytest.approx(other.value, abs=1e-3)
        assert one.reversal == pytest.approx(other.reversal, abs=1e-3)


def test_the_value_by_a_measure_on_contours_is_that_of_the_pair() -> None:
    data = pn.sample(pn.load_example("clinic"), 500, process="traced", rng=1)
    learned = pn.learn_structure(data, "mwst", measure="mutual-information")
    for edge in learned.edges:
        why = pn.explain_edge(learned, data, edge.parent, edge.child)
        assert why.value == pytest.approx(edge.value)
        assert (why.likelihood, why.price) == (None, None)


def test_the_value_by_hidden_mutual_information_is_that_of_the_search() -> None:
    data = pn.sample(sharp_tree(5), 2000, process="traced", rng=1)
    learned = pn.learn_structure(data, "hidden-tree")
    assert learned.edges
    for edge in learned.edges:
        why = pn.explain_edge(learned, data, edge.parent, edge.child)
        assert why.value == pytest.approx(edge.value)
        assert why.likelihood is not None
        assert why.price is not None
        assert why.likelihood > why.price


def test_the_law_of_precise_rows_is_the_table_of_shares() -> None:
    data = pn.Dataset.from_table({"a": ["x"] * 4 + ["y"] * 6, "b": ["u", "v", "v", "v"] + ["u"] * 3 + ["v"] * 3})
    why = pn.explain_edge(as_learned(pn.Dag({"a": (), "b": ("a",)}), "bic"), data, "a", "b")
    assert (why.law.states, why.law.cells) == (("x", "y"), (("v",), ("u",)))
    assert [pytest.approx(row) for row in ((0.75, 0.25), (0.5, 0.5))] == list(why.law.masses)
    assert (why.misfit, why.reverse_misfit) == (None, None)
    assert "b given a" in str(why)


def test_the_hidden_law_of_traced_rows_is_the_law_of_the_process() -> None:
    net = sharp_tree(2)
    data = pn.sample(net, 50_000, process="traced", imprecision=1.0, rng=1)
    why = pn.explain_edge(as_learned(net.dag, "traced-bic"), data, "v0", "v1")
    for number, masses in enumerate(why.law.masses):  # all of a cut is kept, so that its law is that of the cuts
        law = pn.MassFunction.from_possibility(pn.Possibility(net.variables[1], net.table("v1")[number])).masses
        for cell, mass in zip(why.law.cells, masses, strict=True):
            assert mass == pytest.approx(law.get(frozenset(cell), 0.0), abs=0.03)
    assert why.misfit is None  # three cells of three states can be mixed to anything
    assert why.reverse_misfit is not None
    assert why.reverse_misfit > 3.3
    assert "is refuted by their cells" in why.words


@given(strategies.dags(max_nodes=6), st.randoms(use_true_random=False))
def test_the_path_is_there_unless_the_structure_has_the_two_independent(dag: pn.Dag, random: object) -> None:
    values = {edge: float(getattr(random, "random")()) for edge in dag.edges}  # noqa: B009
    learned = as_learned(dag, "bic", values)
    for start, end in pairs_of(dag):
        path = find_path(learned, start, end)
        assert bool(path) != oracles.d_separated(dag, {start}, {end}, set())
        nodes, colliders = [start], 0
        for number, (parent, child) in enumerate(path):
            assert (parent, child) in dag.edges
            assert nodes[-1] in {parent, child}
            colliders += number > 0 and path[number - 1][1] == nodes[-1] == child
            nodes.append(child if nodes[-1] == parent else parent)
        assert colliders == 0
        assert not path or nodes[-1] == end
        back = find_path(learned, end, start)
        assert len(back) == len(path)
        assert min((values[e] for e in back), default=0) == min((values[e] for e in path), default=0)


@pytest.mark.parametrize(
    ("method", "measure"),
    [(method, name) for name, entry in MEASURES.items() for method in entry.methods if method in METHODS],
)
def test_every_method_and_measure_has_its_edges_explained(method: str, measure: str) -> None:
    process = "traced" if MEASURES[measure].takes_imprecise_rows else "precise"
    process = "alpha-cut" if measure == "cut-bic" else process
    data = pn.sample(sharp_tree(4), 400, process=process, rng=1)
    learned = pn.learn_structure(data, method, measure=measure, bootstrap=2, workers=1)
    for parent, child in [*learned.dag.edges, ("v1", "v2"), ("v3", "v2")]:
        why = pn.explain_edge(learned, data, parent, child)
        assert json.loads(json.dumps(asdict(why), allow_nan=False))["parent"] == parent
        assert why.words.endswith(".")
        assert why.words in str(why).replace("\n", " ")
        assert "<table" in why._repr_html_()
        back = pn.explain_edge(learned, data, child, parent)
        if why.reversal is not None and back.reversal is not None:
            assert why.reversal == pytest.approx(-back.reversal, abs=0.2)  # what EM leaves to gain, twice


def test_sentences_say_what_the_numbers_mean() -> None:
    data = pn.sample(pn.load_example("clinic"), 3000, process="traced", rng=1)
    learned = pn.learn_structure(data, measure="traced-bic", bootstrap=2, workers=1)
    assert "'fever' depends on 'measles': without this edge the score falls by" in explained(
        learned, data, "measles->fever"
    )
    assert "Of 2 bootstrap samples" in explained(learned, data, "measles->fever")
    assert "connected by fever <- measles -> rash" in explained(learned, data, "fever->rash")
    assert "the other way round: 'fever' depends on 'measles'" in explained(learned, data, "fever->measles")
    assert "it would close a cycle" in explained(as_learned(pn.Dag({"fever": (), "rash": ("fever",), "flu": ("fever", "rash")}), "mdl"), data, "fever->flu")  # fmt: skip
    assert "this one closes a cycle" in explained(as_learned(pn.Dag({"fever": (), "rash": ("fever",), "flu": ("rash",)}), "mdl"), data, "flu->fever")  # fmt: skip
    assert "has them independent" in explained(
        as_learned(pn.Dag({"fever": (), "rash": ()}), "mdl"), data, "fever->rash"
    )


def explained(learned: LearnedStructure, data: pn.Dataset, edge: str) -> str:
    parent, child = edge.split("->")
    return pn.explain_edge(learned, data, parent, child).words


def test_a_required_edge_that_pays_nothing_says_so() -> None:
    data = pn.Dataset.from_table({"a": ["x", "y"] * 50, "b": ["u", "u", "v", "v"] * 25})
    learned = pn.learn_structure(data, constraints=pn.Constraints(required=[("a", "b")]))
    assert "the score rises by" in explained(learned, data, "a->b")
    assert "it is required" in explained(learned, data, "a->b")


def test_streams_weights_and_unknown_cells_are_taken() -> None:
    data = with_missing(pn.sample(sharp_tree(3), 600, process="traced", rng=1), 0.2)
    learned = pn.learn_structure(data, measure="traced-bic")
    whole = pn.explain_edge(learned, data, "v0", "v1")
    assert pn.explain_edge(learned, data.distinct(), "v0", "v1").value == pytest.approx(whole.value, abs=0.2)
    assert pn.explain_edge(learned, SmallBatches(data, 100), "v0", "v1").value == pytest.approx(whole.value, abs=0.2)


def test_columns_without_any_known_cell_and_no_rows_have_no_law() -> None:
    variables = (pn.Variable("a", ("x", "y")), pn.Variable("b", ("u", "v")))
    for rows in ([], [("x", None), ("y", None)]):
        why = pn.explain_edge(
            as_learned(pn.Dag({"a": (), "b": ()}), "traced-bic"), pn.Dataset.from_rows(variables, rows), "a", "b"
        )
        assert why.law.cells == ()
        assert str(why) == why.words
        assert why._repr_html_().startswith("<p>")


@pytest.mark.parametrize(
    ("parent", "child", "message"),
    [
        ("fevr", "rash", "explain_edge: the structure has no variable 'fevr' .*did you mean 'fever'"),
        ("fever", 3, "explain_edge: the structure has no variable 3"),
        ("fever", "fever", "explain_edge: an edge from 'fever' to itself; expected two variables"),
    ],
)
def test_questions_about_other_names_are_refused(parent: str, child: str, message: str) -> None:
    data = pn.sample(pn.load_example("clinic"), 100, rng=1)
    with pytest.raises(pn.InputError, match=message):
        pn.explain_edge(pn.learn_structure(data, "mwst"), data, parent, child)


def test_other_data_and_other_things_are_refused() -> None:
    data = pn.sample(pn.load_example("clinic"), 100, rng=1)
    learned = pn.learn_structure(data, "mwst")
    with pytest.raises(pn.InputError, match="the data lacks 'rash'; expected all variables of the structure"):
        pn.explain_edge(learned, data.select([n for n in learned.dag.nodes if n != "rash"]), "fever", "flu")
    with pytest.raises(pn.InputError, match=r"expected what learn_structure\(...\) returned"):
        pn.explain_edge(learned.dag, data, "fever", "flu")  # type: ignore[arg-type]

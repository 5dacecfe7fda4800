"""What all methods share: exact laws, weights, streams, seeds, bootstrap, reports and refusals."""

from __future__ import annotations

from itertools import product
from math import log
from typing import Any

import pytest

import possnet as pn
from possnet.structure import (
    MEASURES,
    METHODS,
)
from tests.structure.cases import SmallBatches, random_tables, random_tree, skeleton


def cell_information(net: pn.Network, parent: str, child: str, laws: dict[str, dict[frozenset[str], float]]) -> float:
    """Mutual information, in nats, of the cells of an edge under the exact law of `alpha-cut` rows of a tree."""
    return sum(
        chance * mass * log(mass / laws[child][cell])
        for above, chance in laws[parent].items()
        for cell, mass in pn.sampling_law(net, child, {parent: above}).masses.items()
        if chance * mass > 0
    )


def cell_laws(net: pn.Network) -> dict[str, dict[frozenset[str], float]]:
    """Exact law of every cell of a tree, from the root down."""
    laws: dict[str, dict[frozenset[str], float]] = {}
    for name in net.dag.topological_order():
        laws[name] = {}
        above = net.dag.parents(name)
        for given_cell, chance in laws[above[0]].items() if above else [(None, 1.0)]:
            learned = pn.sampling_law(net, name, {above[0]: given_cell} if given_cell is not None else None)
            for cell, mass in learned.masses.items():
                laws[name][cell] = laws[name].get(cell, 0.0) + chance * mass
    return laws


@pytest.mark.parametrize("seed", range(6))
def test_trees_of_alpha_cuts_are_found_as_far_as_the_law_shows_them(seed: int) -> None:
    """Edges whose cells carry enough information under the exact law must be learned; no other pair may be."""
    rows = 50_000
    net = random_tree(6, 3, seed)
    laws = cell_laws(net)
    must = set()
    for parent, child in net.dag.edges:
        price = log(rows) / 2 * (len(laws[parent]) - 1) * (len(laws[child]) - 1)
        if rows * cell_information(net, parent, child, laws) > 2 * price + 20:
            must.add(frozenset((parent, child)))
    data = pn.sample(net, rows, rng=seed)
    for method in ("greedy", "mwst", "k2"):
        search = pn.Search(order=net.dag.nodes if method == "k2" else None)
        learned = skeleton(pn.learn_structure(data, method, measure="random-set-bic", search=search).dag)
        assert must <= learned <= skeleton(net.dag), method


def test_some_edges_of_alpha_cuts_are_hidden_by_the_law() -> None:
    hidden = 0
    for seed in range(6):
        net = random_tree(6, 3, seed)
        laws = cell_laws(net)
        hidden += sum(cell_information(net, p, c, laws) < 1e-12 for p, c in net.dag.edges)
    assert hidden > 0


@pytest.mark.parametrize("seed", [1, 2, 3, 4, 5])
def test_trees_of_precise_rows_are_found_by_every_score_and_by_mutual_information(seed: int) -> None:
    net = random_tree(6, 3, seed)
    data = pn.sample(net, 50_000, process="precise", rng=seed)
    for method, name in [*product(("greedy", "boss", "mwst", "k2"), ("bic", "random-set-bic", "mdl", "bdeu")),
                         ("mwst", "mutual-information"), ("hybrid-tree", None), ("hybrid-dag", None)]:  # fmt: skip
        search = pn.Search(order=net.dag.nodes if method == "k2" else None)
        learned = pn.learn_structure(data, method, measure=name, search=search)
        assert skeleton(learned.dag) == skeleton(net.dag), (method, name)


def test_independent_variables_are_left_alone() -> None:
    net = random_tables(pn.Dag({f"v{k}": () for k in range(5)}), 3, 1)
    for process in ("precise", "alpha-cut", "traced"):
        data = pn.sample(net, 20_000, process=process, imprecision=0.7, rng=1)
        for method, name in [*product(("greedy", "mwst", "k2"), ("random-set-bic", "mdl", "traced-bic")), ("k2", "chi2"),
                             ("k2", "mutual-information"), ("hybrid-tree", None), ("hybrid-dag", None)]:  # fmt: skip
            learned = pn.learn_structure(data, method, measure=name)
            assert learned.dag.edges == (), (process, method, name)
            assert "no edges" in str(learned)


def test_the_same_seed_gives_the_same_structure_and_a_stream_the_same_as_its_rows() -> None:
    net = pn.load_example("clinic")
    data = pn.sample(net, 2000, imprecision=0.6, rng=4)
    for method in METHODS:
        one = pn.learn_structure(data, method, search=pn.Search(restarts=2), rng=5)
        assert one == pn.learn_structure(data, method, search=pn.Search(restarts=2), rng=5)
        stream = pn.sample_batches(net, 2000, imprecision=0.6, rng=4, batch=300)
        assert one.dag == pn.learn_structure(stream, method, search=pn.Search(restarts=2), rng=5).dag


@pytest.mark.parametrize("method", METHODS)
def test_weights_are_repeated_rows(method: Any) -> None:
    data = pn.sample(pn.load_example("clinic"), 700, imprecision=0.5, rng=4)
    weighted = data.distinct()
    assert len(weighted) < len(data)
    one, other = pn.learn_structure(data, method), pn.learn_structure(weighted, method)
    assert one.dag == other.dag
    assert one.score == pytest.approx(other.score, rel=1e-9)
    assert one.rows == other.rows == 700


def test_bootstrap_tells_how_often_an_edge_comes_out() -> None:
    data = pn.sample(pn.load_example("asia"), 2000, process="precise", rng=1)
    learned = pn.learn_structure(data, bootstrap=10, rng=1)
    plain = pn.learn_structure(data, rng=1)
    assert learned.dag == plain.dag
    assert all(edge.confidence is None for edge in plain.edges)
    shares = {(e.parent, e.child): (e.confidence, e.direction) for e in learned.edges}
    assert shares["bronc", "dysp"][0] == 1.0
    assert all(0.0 <= so <= share <= 1.0 for share, so in shares.values() if share is not None and so is not None)
    assert learned == pn.learn_structure(data, bootstrap=10, rng=1)
    assert "100 %" in str(learned)
    with pytest.raises(pn.InputError, match="bootstrap of a stream"):
        pn.learn_structure(
            SmallBatches(data, 0), bootstrap=2
        )  # told before anything is read: batches of 0 rows cannot be


def test_results_say_how_they_came_about() -> None:
    data = pn.sample(pn.load_example("asia"), 5000, process="precise", rng=1)
    learned = pn.learn_structure(data, "greedy")
    assert learned.trace[0].ties  # equivalent structures have equal scores, so the first edge may point either way
    assert learned.ties[0] == learned.trace[0]
    assert learned.near_misses[0].gain <= 0.0
    text = str(learned)
    for part in ("edge", "value", "near misses", "ties", "score"):
        assert part in text
    assert learned.essential == learned.dag.essential_graph()
    assert {(e.parent, e.child) for e in learned.edges} == set(learned.dag.edges)
    calls: list[tuple[int, int]] = []
    for method in METHODS:
        pn.learn_structure(data, method, progress=lambda done, total: calls.append((done, total)))
    pn.learn_structure(
        data, "mwst", measure="chi2", bootstrap=2, progress=lambda done, total: calls.append((done, total))
    )
    assert (2, 2) in calls
    assert "k2" in str(pn.learn_structure(data, "k2", search=pn.Search(order=[v.name for v in data.variables])))


@pytest.mark.parametrize("method", METHODS)
def test_little_data_is_no_trouble(method: Any) -> None:
    one, many = pn.Variable("one", ("only",)), pn.Variable("many", tuple("abc"))
    other = pn.Variable("other", ("u", "v"))
    for rows in ([], [("only", None, {"u", "v"})], [("only", "a", "u")] * 3):
        data = pn.Dataset.from_rows((one, many, other), rows)
        for name in (n for n, e in MEASURES.items() if method in e.methods and (e.penalised or "hybrid" in method)):
            if MEASURES[name].takes_imprecise_rows or data.imprecise_share() == 0:
                learned = pn.learn_structure(data, method, measure=name)
                assert learned.dag.edges == () or method == "hybrid-dag"
                assert learned.rows == len(rows)
        assert pn.learn_structure(data.select(["many"]), method).dag.edges == ()


def test_sixty_imprecise_variables_are_learned() -> None:
    net = pn.random_network(60, max_parents=2, states=(2, 4), rng=5)
    data = pn.sample(net, 5000, process="traced", imprecision=0.7, rng=1)
    tried: Any = [
        ("greedy", "random-set-bic"),
        ("greedy", "mdl"),
        ("mwst", "mutual-information"),
        ("k2", "random-set-bic"),
    ]
    for method, name in tried:
        learned = pn.learn_structure(data, method, measure=name, search=pn.Search(orders=2))
        both = skeleton(learned.dag) & skeleton(net.dag)
        assert len(both) > 0.35 * len(net.dag.edges), (method, name)

"""The default structure: what tells a class, compared on held-out rows; columns without edges are told."""

from __future__ import annotations

from itertools import product
from math import log

import numpy as np
import pytest

import possnet as pn
from possnet.structure.class_structures import ClassRows, augment_tree, class_information, find_class, join_class
from possnet.structure.coded_rows import CodedRows
from possnet.structure.held_out_choice import compare_structures, count_hits, part_rows
from possnet.structure.search_graph import parent_sets_of


def draw_candidates(
    classes: int, features: int, rows: int, *, seed: int, copies: bool = False, noise: bool = False
) -> tuple[pn.Dataset, list[str]]:
    """A class behind lists of candidates, and features that follow it (or copies of a few, or nothing); its truth."""
    rng = np.random.default_rng(seed)
    label = pn.Variable("label", tuple(f"c{k}" for k in range(classes)))
    laws = rng.dirichlet(np.full(3, 0.8), size=(classes, features))
    truth = rng.integers(0, classes, rows)
    columns = np.array([[rng.choice(3, p=laws[0 if noise else s, k]) for k in range(features)] for s in truth])
    if copies:  # the second half repeats the first, but for a tenth of the cells
        half = features // 2
        kept = rng.random((rows, half)) < 0.9
        columns[:, half : 2 * half] = np.where(kept, columns[:, :half], columns[:, half : 2 * half])
    cells = [{label.states[s], *(x for x in label.states if rng.random() < 0.25)} for s in truth]
    scope = (*(pn.Variable(f"f{k}", ("0", "1", "2")) for k in range(features)), label)
    table = [(*(str(x) for x in row), cell) for row, cell in zip(columns, cells, strict=True)]
    return pn.Dataset.from_rows(scope, table), [label.states[s] for s in truth]


def share_right(net: pn.Network, data: pn.Dataset, truth: list[str]) -> float:
    resolved = pn.complete(net, data).resolved()
    return float(
        np.mean([1 / len(cell) if truth[k] in (cell := resolved.row(k)["label"]) else 0 for k in range(len(data))])
    )


def most_frequent_right(data: pn.Dataset, truth: list[str]) -> float:
    net = pn.fit_coarsened(pn.Dag(dict.fromkeys((v.name for v in data.variables), ())), data)
    return share_right(net, data, truth)


@pytest.mark.parametrize(
    ("classes", "features", "rows", "copies", "noise"),
    [
        (4, 6, 300, False, False),
        (8, 16, 250, False, False),
        (5, 12, 200, True, False),
        (3, 2, 12, False, False),
        (4, 5, 80, False, True),
    ],
)
def test_the_default_is_not_worse_than_the_most_frequent_candidate(
    classes: int, features: int, rows: int, copies: bool, noise: bool
) -> None:
    data, truth = draw_candidates(classes, features, rows, seed=3, copies=copies, noise=noise)
    learned = pn.learn_structure(data)
    assert learned.reason.startswith("coarsened-bic: ")
    net = pn.fit_coarsened(learned.dag, data, prior="marginal")
    assert share_right(net, data, truth) >= most_frequent_right(data, truth) - (0.05 if noise or rows < 20 else 0.0)


def test_a_class_that_the_search_leaves_alone_is_told_by_many_weak_columns() -> None:
    rng = np.random.default_rng(1)
    classes, features = 12, 24
    laws = rng.dirichlet(np.full(3, 4.0), size=(classes, features))
    truth = rng.integers(0, classes, 300)
    label = pn.Variable("label", tuple(f"c{k}" for k in range(classes)))
    scope = (label, *(pn.Variable(f"f{k}", ("0", "1", "2")) for k in range(features)))
    rows = [
        (
            {label.states[s], label.states[int(rng.integers(classes))]},
            *(str(rng.choice(3, p=laws[s, k])) for k in range(features)),
        )
        for s in truth
    ]
    data = pn.Dataset.from_rows(scope, rows)
    by_score = pn.learn_structure(data, measure="coarsened-bic")
    assert len(by_score.dag.children("label")) + len(by_score.dag.parents("label")) < 5
    learned = pn.learn_structure(data)
    assert len(learned.dag.children("label")) == features
    assert "all others as its children" in learned.reason
    assert {edge[:2] for edge in learned.edges} == set(learned.dag.edges)
    assert all(np.isfinite(edge.value) for edge in learned.edges)
    states = [label.states[s] for s in truth]
    right = [
        share_right(pn.fit_coarsened(dag, data, prior="marginal"), data, states) for dag in (learned.dag, by_score.dag)
    ]
    assert right[0] > right[1] + 0.1


def test_shares_of_held_out_cells_are_those_of_networks_learned_without_them() -> None:
    data, _ = draw_candidates(3, 3, 150, seed=5)
    coded = CodedRows(data)
    rows = ClassRows(coded, 3)
    naive = join_class(3, 4)
    found = compare_structures(rows, {"naive": lambda _: naive}, np.random.default_rng(7))["naive"]
    dag = pn.Dag({"label": (), "f0": ("label",), "f1": ("label",), "f2": ("label",)})
    hits = 0.0
    for held_out in part_rows(rows.weights, np.random.default_rng(7)):
        kept = [tuple(data.row(k).values()) for k in np.flatnonzero(held_out == 0).tolist()]
        training = pn.Dataset.from_rows(data.variables, kept)
        net = pn.fit_coarsened(dag, training, prior="marginal", tolerance=0.02 * len(training))
        for k in np.flatnonzero(held_out).tolist():
            row = data.row(k)
            degrees = pn.Inference(net).query("label", {f"f{j}": row[f"f{j}"] for j in range(3)})
            top = degrees.cut(1.0)
            hits += len(top & row["label"]) / len(top)
    assert found == pytest.approx(hits / 150, abs=0.03)  # the folds' tables give states that no row has a little more


def test_information_given_the_class_is_that_of_the_definition() -> None:
    rng = np.random.default_rng(2)
    scope = (pn.Variable("y", ("0", "1")), pn.Variable("a", ("0", "1")), pn.Variable("b", ("0", "1", "2")))
    table = [(str(rng.integers(2)), str(rng.integers(2)), str(rng.integers(3))) for _ in range(200)]
    rows = ClassRows(CodedRows(pn.Dataset.from_rows(scope, table)), 0)
    posterior = rows.cells.astype(float)
    found = class_information(rows, np.array([1, 2]), posterior, rows.weights)[0, 1]
    by_hand = 0.0
    for y, a, b in product("01", "01", "012"):
        n = table.count((y, a, b))
        of_class = [row for row in table if row[0] == y]
        n_a, n_b = sum(row[1] == a for row in of_class), sum(row[2] == b for row in of_class)
        by_hand += n * log(n * len(of_class) / n_a / n_b) if n else 0.0
    assert found == pytest.approx(by_hand)


def test_the_tree_among_the_children_joins_copies() -> None:
    rng = np.random.default_rng(4)
    a, c = rng.integers(0, 3, 400), rng.integers(0, 3, 400)
    texts = {n: [str(v) for v in x] for n, x in (("a", a), ("c", c), ("b", a), ("d", c))}
    data = pn.Dataset.from_table({"y": [{"0", "1"} if rng.random() < 0.3 else str(k % 2) for k in range(400)], **texts})
    rows = ClassRows(CodedRows(data), 0)
    assert find_class(CodedRows(data)) == 0
    edges = augment_tree(rows, join_class(0, 5), rows.weights)
    parents = parent_sets_of(edges)
    assert all(0 in above for above in parents[1:])
    joined = {frozenset((p, k)) for k, above in enumerate(parents) for p in above if p}
    assert len(joined) == 3
    assert {frozenset((1, 3)), frozenset((2, 4))} < joined


def test_folds_part_weights_and_ties_count_by_share() -> None:
    weights = np.array([5, 0, 12])
    folds = part_rows(weights, np.random.default_rng(1))
    assert folds.shape == (5, 3)
    assert folds.sum(axis=0).tolist() == weights.tolist()
    fractions = part_rows(np.array([0.5, 2.25]), np.random.default_rng(1))
    assert fractions.sum(axis=0).tolist() == [0.5, 2.25]
    assert (fractions > 0).sum() == 2
    assert count_hits(np.ones((1, 4)), np.array([[True, False, False, False]])).tolist() == [0.25]


def test_constraints_and_named_methods_keep_the_search() -> None:
    data, _ = draw_candidates(4, 6, 200, seed=3)
    nothing = pn.Constraints(max_parents=0)
    assert not pn.learn_structure(data, constraints=nothing).edges
    assert "held-out" not in pn.learn_structure(data, "greedy").reason
    assert "held-out" not in pn.learn_structure(data, measure="coarsened-bic").reason
    order = pn.Constraints(tiers=[["f0", "f1", "f2", "f3", "f4", "f5"], ["label"]])
    assert not pn.learn_structure(data, constraints=order).dag.children("label")


def test_columns_without_edges_are_told_by_learn_and_by_complete() -> None:
    rng = np.random.default_rng(0)
    a = [str(x) for x in rng.integers(0, 2, 200)]
    noise = [None if k < 50 else str(x) for k, x in enumerate(rng.integers(0, 2, 200))]
    data = pn.Dataset.from_table({"a": a, "b": a, "noise": noise})
    with pytest.warns(pn.PossnetWarning, match="learn_structure: no edges at noise: no other column tells") as told:
        learned = pn.learn_structure(data, measure="coarsened-bic")
    assert len(told) == 1
    net = pn.fit_coarsened(learned.dag, data)
    with pytest.warns(pn.PossnetWarning, match="complete: no edges at noise: the rest of a row says nothing"):
        pn.complete(net, data)


def test_a_stream_tells_of_a_column_without_edges_once() -> None:
    scope = (pn.Variable("a", ("0", "1")), pn.Variable("b", ("0", "1")), pn.Variable("c", ("0", "1")))
    net = pn.Network(
        scope, pn.Dag({"a": (), "b": ("a",), "c": ()}), {"a": [1, 1], "b": [[1, 0.1], [0.1, 1]], "c": [1, 0.5]}
    )
    stream = pn.sample_batches(net, 60, imprecision=1.0, rng=1, batch=20)
    with pytest.warns(pn.PossnetWarning) as told:
        assert len(list(pn.complete(net, stream))) == 3
    assert [str(w.message)[:26] for w in told] == ["complete: no edges at c: t"]

"""Models of a class: likelihoods and expected counts against enumeration, EM against a plain one, trees against all trees."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, strategies as st

import possnet as pn
from possnet.em import (
    FeatureCells,
    FeatureRows,
    fit_class_model,
    grow_class_tree,
    join_features,
    measure_class_information,
)
from tests.strategies import seeds

TREES = [{0: -1, 1: -1, 2: -1}, {0: -1, 1: 0, 2: 0}, {0: -1, 1: 0, 2: 1}, {1: -1, 2: 1}]


def draw_cells(rng: np.random.Generator, rows: int, sizes: tuple[int, ...], share: float) -> list[FeatureCells]:
    """Features whose cells are sets in a share of the rows."""
    features = []
    for size in sizes:
        sets = np.eye(size, dtype=bool)
        more = rng.random((4, size)) < 0.6
        more = more[more.sum(axis=1) > 1]
        table = np.concatenate([sets, more, np.ones((1, size), dtype=bool)])
        codes = np.where(
            rng.random(rows) < share, rng.integers(size, len(table), size=rows), rng.integers(size, size=rows)
        )
        features.append(FeatureCells(codes, table))
    return features


def draw_tables(
    rng: np.random.Generator, tree: dict[int, int], sizes: tuple[int, ...], n_classes: int
) -> dict[int, np.ndarray]:
    return {
        f: rng.dirichlet(np.ones(sizes[f]), size=(n_classes, sizes[above] if above >= 0 else 1))
        for f, above in tree.items()
    }


def enumerate_row(
    features: list[FeatureCells], row: int, tree: dict[int, int], tables: dict[int, np.ndarray], y: int
) -> dict[tuple[int, ...], float]:
    """Probability of every configuration of the features inside the cells of a row, given the class."""
    names = sorted(tree)
    inside = [np.flatnonzero(features[f].sets[features[f].codes[row]]) for f in names]
    found = {}
    for states in product(*inside):
        own = dict(zip(names, states, strict=True))
        value = 1.0
        for f, above in tree.items():
            value *= tables[f][y, own[above] if above >= 0 else 0, own[f]]
        found[tuple(int(s) for s in states)] = value
    return found


@given(seeds, st.sampled_from(TREES), st.sampled_from([0.0, 0.5]))
def test_likelihoods_are_sums_over_the_states_in_the_cells(seed: int, tree: dict[int, int], share: float) -> None:
    rng = np.random.default_rng(seed)
    sizes, n_classes = (2, 3, 2), 3
    features, tables = draw_cells(rng, 6, sizes, share), draw_tables(rng, tree, sizes, n_classes)
    logs = FeatureRows(features, tree).log_likelihoods(tables)
    for row, y in product(range(6), range(n_classes)):
        assert np.exp(logs[row, y]) == pytest.approx(sum(enumerate_row(features, row, tree, tables, y).values()))


@pytest.mark.parametrize("block", [1, 40])
def test_trees_of_rows_in_blocks_of_any_size_are_the_same(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the tables of one row are more than a block may have, a block is one row."""
    rng = np.random.default_rng(3)
    sizes, tree = (2, 3, 2), {0: -1, 1: 0, 2: 1}
    features, tables = draw_cells(rng, 9, sizes, 0.7), draw_tables(rng, tree, sizes, 2)
    shares = rng.dirichlet(np.ones(2), 9)
    rows = FeatureRows(features, tree)
    logs, counts = rows.log_likelihoods(tables), rows.expected_counts(shares, tables)
    monkeypatch.setattr("possnet.em.tree_passes._BLOCK", block)
    assert rows.log_likelihoods(tables) == pytest.approx(logs)
    for f, expected in counts.items():
        assert rows.expected_counts(shares, tables)[f] == pytest.approx(expected)


@given(seeds, st.sampled_from(TREES), st.sampled_from([0.0, 0.5]))
def test_expected_counts_are_sums_of_posteriors(seed: int, tree: dict[int, int], share: float) -> None:
    rng = np.random.default_rng(seed)
    sizes, n_classes = (2, 3, 2), 2
    features, tables = draw_cells(rng, 5, sizes, share), draw_tables(rng, tree, sizes, n_classes)
    shares = rng.dirichlet(np.ones(n_classes), 5)
    counts = FeatureRows(features, tree).expected_counts(shares, tables)
    joined = {f for f, above in tree.items() if above >= 0} | {above for above in tree.values() if above >= 0}
    expected = {f: np.zeros(table.shape) for f, table in tables.items()}
    names = sorted(tree)
    for row, y in product(range(5), range(n_classes)):
        configurations = enumerate_row(features, row, tree, tables, y)
        total = sum(configurations.values())
        for states, value in configurations.items():
            own = dict(zip(names, states, strict=True))
            for f, above in tree.items():
                alone = f not in joined
                if alone and features[f].sets[features[f].codes[row]].all():
                    continue  # an unknown cell of a feature by itself tells nothing
                expected[f][y, own[above] if above >= 0 else 0, own[f]] += shares[row, y] * value / total
    for f in tree:
        assert counts[f] == pytest.approx(expected[f], abs=1e-9)


def run_plain_em(
    codes: np.ndarray, sizes: list[int], candidates: np.ndarray, steps: int, smoothing: float
) -> np.ndarray:
    """EM of a naive model written straight: row by row, feature by feature."""
    shares = candidates / candidates.sum(axis=1, keepdims=True)
    marginals = [(np.bincount(c, minlength=s) + 1 / s) / (len(c) + 1) for c, s in zip(codes, sizes, strict=True)]
    for _ in range(steps + 1):
        prior = shares.sum(axis=0) + smoothing / candidates.shape[1]
        prior = prior / prior.sum()
        posterior = np.tile(prior, (len(candidates), 1))
        for column, size, marginal in zip(codes, sizes, marginals, strict=True):
            table = np.array([[shares[column == x, y].sum() for x in range(size)] for y in range(len(prior))])
            table = table + smoothing * marginal
            table = table / table.sum(axis=1, keepdims=True)
            posterior *= table[:, column].T
        model = posterior / posterior.sum(axis=1, keepdims=True)
        shares = posterior * candidates
        shares = shares / shares.sum(axis=1, keepdims=True)
    return np.asarray(model)


@given(seeds, st.integers(1, 6), st.sampled_from([0.5, 2.0]))
def test_em_is_the_plain_em(seed: int, steps: int, smoothing: float) -> None:
    rng = np.random.default_rng(seed)
    sizes = [2, 3, 4]
    codes = np.array([rng.integers(size, size=30) for size in sizes])
    candidates = rng.random((30, 3)) < 0.4
    candidates[np.arange(30), rng.integers(3, size=30)] = True
    features = [FeatureCells.from_states(c, s) for c, s in zip(codes, sizes, strict=True)]
    model = fit_class_model(
        features, candidates, join_features(features), smoothing=smoothing, max_steps=steps, tolerance=-1e9
    )
    assert model.probabilities(features) == pytest.approx(run_plain_em(codes, sizes, candidates, steps, smoothing))


@given(seeds)
def test_a_known_class_is_counting(seed: int) -> None:
    rng = np.random.default_rng(seed)
    labels, column = rng.integers(3, size=40), rng.integers(4, size=40)
    features = [FeatureCells.from_states(column, 4)]
    model = fit_class_model(features, np.eye(3, dtype=bool)[labels], {0: -1}, smoothing=0.0)
    for y in np.unique(labels):
        assert model.tables[0][y, 0] == pytest.approx(
            np.bincount(column[labels == y], minlength=4) / (labels == y).sum()
        )


@given(seeds)
def test_weights_are_repeated_rows(seed: int) -> None:
    rng = np.random.default_rng(seed)
    features = draw_cells(rng, 12, (3, 2), 0.3)
    candidates = rng.random((12, 3)) < 0.5
    candidates[:, 0] |= ~candidates.any(axis=1)
    weights = rng.integers(1, 4, size=12)
    tree = {0: -1, 1: 0}
    rows = np.repeat(np.arange(12), weights)
    weighted = fit_class_model(features, candidates, tree, weights=weights.astype(float))
    repeated = fit_class_model([cells.take_rows(rows) for cells in features], candidates[rows], tree)
    assert weighted.joint_logs(features) == pytest.approx(repeated.joint_logs(features))


@given(seeds)
def test_the_likelihood_never_falls(seed: int) -> None:
    rng = np.random.default_rng(seed)
    features = draw_cells(rng, 40, (3, 2, 3), 0.2)
    candidates = rng.random((40, 4)) < 0.4
    candidates[np.arange(40), rng.integers(4, size=40)] = True
    values = [
        fit_class_model(
            features, candidates, {0: -1, 1: -1, 2: -1}, smoothing=0.0, max_steps=steps, tolerance=-1e9
        ).log_likelihood
        for steps in (1, 2, 3, 5, 8)
    ]
    assert all(later >= earlier - 1e-9 for earlier, later in zip(values, values[1:], strict=False))


def test_class_models_and_coarsened_networks_converge_to_the_same_tables() -> None:
    rng = np.random.default_rng(3)
    truth = rng.integers(2, size=400)
    columns = [np.where(rng.random(400) < 0.8, truth, 1 - truth) for _ in range(4)]
    candidates = np.eye(2, dtype=bool)[truth] | (rng.random((400, 2)) < 0.4)
    features = [FeatureCells.from_states(c, 2) for c in columns]
    model = fit_class_model(features, candidates, join_features(features), smoothing=0.0, max_steps=3000, tolerance=0.0)
    label = pn.Variable("y", ("0", "1"))
    variables = [pn.Variable(f"x{k}", ("0", "1")) for k in range(4)]
    rows = [
        ({label.states[k] for k in np.flatnonzero(cell)}, *(str(c[row]) for c in columns))
        for row, cell in enumerate(candidates)
    ]
    dag = pn.Dag({"y": (), **{v.name: ("y",) for v in variables}})
    network = pn.fit_coarsened(dag, pn.Dataset.from_rows((label, *variables), rows), tolerance=1e-9)
    for f in range(4):
        table = model.tables[f][:, 0]
        assert table / table.max(axis=1, keepdims=True) == pytest.approx(network.table(f"x{f}"), abs=1e-3)


def list_trees(size: int) -> list[list[tuple[int, int]]]:
    """All spanning trees of some nodes, by the sequences of Prüfer."""
    trees = []
    for sequence in product(range(size), repeat=size - 2):
        degree = [1 + sequence.count(k) for k in range(size)]
        edges = []
        for node in sequence:
            leaf = degree.index(1)
            edges.append((leaf, node))
            degree[leaf] -= 1
            degree[node] -= 1
        edges.append(tuple(k for k in range(size) if degree[k] == 1))  # type: ignore[arg-type]
        trees.append(edges)
    return trees


@given(seeds)
def test_the_tree_is_the_heaviest_of_all(seed: int) -> None:
    rng = np.random.default_rng(seed)
    features = [FeatureCells.from_states(rng.integers(2, size=25), 2) for _ in range(4)]
    shares = rng.dirichlet(np.ones(2), 25)
    information = measure_class_information(features, shares)
    tree = grow_class_tree(features, shares)
    weight = sum(information[f, above] for f, above in tree.items() if above >= 0)
    assert weight == pytest.approx(max(sum(information[a, b] for a, b in edges) for edges in list_trees(4)))


@given(seeds)
def test_information_is_that_of_the_shared_counts(seed: int) -> None:
    rng = np.random.default_rng(seed)
    columns = rng.integers(3, size=(2, 30))
    shares = np.eye(2)[rng.integers(2, size=30)] * 0.9 + 0.05
    features = [FeatureCells.from_states(c, 3) for c in columns]
    expected = 0.0
    for y in range(2):
        counts = np.zeros((3, 3))
        np.add.at(counts, (columns[0], columns[1]), shares[:, y])
        total = counts.sum()
        for a, b in product(range(3), repeat=2):
            if counts[a, b]:
                expected += counts[a, b] * np.log(counts[a, b] * total / (counts[a].sum() * counts[:, b].sum()))
    assert measure_class_information(features, shares)[0, 1] == pytest.approx(expected)

"""The parts of a step of EM against their definitions: extrapolation, the end, identified contexts, tables of classes."""

from __future__ import annotations

from math import log

import numpy as np
import pytest
from hypothesis import given, strategies as st

import possnet as pn
from possnet.em import EmAlgorithm, HiddenStateModel
from possnet.em.class_model import ClassModel, FlatTables, blur_counts, fit_class_model, smooth_table
from possnet.em.class_trees import measure_class_information
from possnet.em.e_step import _sum_by_cell
from possnet.em.em_rows import code_em_rows
from possnet.em.feature_rows import FeatureCells, FeatureRows, _equal_table
from possnet.em.identifiability import find_identified_contexts
from possnet.em.squarem import _extrapolate, run_squarem
from possnet.parameters.priors import Prior

_SIZES = st.integers(2, 4)


@given(st.floats(0.3, 0.95), st.integers(0, 10**6))
def test_extrapolation_reaches_the_limit_of_steps_that_shrink_by_a_factor(factor: float, seed: int) -> None:
    """x_k = x + factor^k d: then 2a r + a^2 v with a = 1 / (1 - factor) leads from x_0 to x."""
    rng = np.random.default_rng(seed)
    limit = rng.dirichlet(np.full(4, 5.0), 2) * 0.9 + 0.025
    apart = rng.uniform(-0.01, 0.01, (2, 4))
    apart -= apart.mean(axis=1, keepdims=True)
    points = [{"x": limit + factor**k * apart} for k in range(3)]
    reached = _extrapolate(*points)
    assert reached is not None
    np.testing.assert_allclose(reached["x"], limit, atol=1e-9)


def test_steps_without_curvature_or_length_are_not_extrapolated() -> None:
    start, step = np.array([[0.25, 0.75]]), np.array([[0.125, -0.125]])  # exact in binary
    assert _extrapolate({"x": start}, {"x": start + step}, {"x": start + 2 * step}) is None
    assert _extrapolate({"x": start}, {"x": start}, {"x": start + step}) is None


@pytest.mark.parametrize("tolerance", [1e-2, 1e-4])
def test_em_ends_as_soon_as_less_than_the_tolerance_is_left_to_gain(tolerance: float) -> None:
    factor = 0.8

    def step(point: dict[str, np.ndarray]) -> tuple[float, dict[str, np.ndarray]]:
        """A likelihood of -left, of which a step leaves a share."""
        left = float(point["x"][0, 0])
        return -left, {"x": np.array([[factor * left]])}

    run = run_squarem({"x": np.array([[1.0]])}, step, tolerance=tolerance, max_steps=500, accelerate=False)
    assert run.stopped == "converged"
    assert factor**4 * tolerance < -run.log_likelihood[-1] < tolerance


def test_contexts_are_identified_one_by_the_other_without_a_matrix(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("possnet.em.identifiability._LARGEST", 0)
    cells = np.array([[1, 0, 0, 0], [1, 1, 0, 0], [0, 1, 1, 0]], dtype=np.bool_)
    visited, known = find_identified_contexts(np.arange(3, dtype=np.int32)[:, np.newaxis], [cells], (4,))
    assert visited.tolist() == known.tolist() == [True, True, True, False]


def test_of_imprecise_rows_beyond_what_memory_may_take_nothing_is_concluded(monkeypatch: pytest.MonkeyPatch) -> None:
    """{1, 2} and {3, 4} with 1 and 3 known: the second set is one too many, so that 4 counts as confounded."""
    monkeypatch.setattr("possnet.em.identifiability._ENTRIES", 1)
    cells = np.array([[1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 0, 0], [0, 0, 1, 0]], dtype=np.bool_)
    visited, known = find_identified_contexts(np.arange(4, dtype=np.int32)[:, np.newaxis], [cells], (4,))
    assert visited.all()
    assert known.tolist() == [True, True, True, False]


@pytest.mark.parametrize("one_hot", [0, 1 << 23])
@given(st.integers(0, 10**6))
def test_posteriors_are_summed_by_cell_in_either_way(one_hot: int, seed: int) -> None:
    """As a product with a matrix of zeros and ones, and as sums of sorted columns: both are the sums of the definition."""
    rng = np.random.default_rng(seed)
    n_cells, columns = 5, int(rng.integers(1, 12))
    posterior, ids, weights = rng.random((3, columns)), rng.integers(0, n_cells, columns), rng.uniform(0.5, 4, columns)
    expected = [
        [sum(weights[k] * posterior[h, k] for k in range(columns) if ids[k] == cell) for cell in range(n_cells)]
        for h in range(3)
    ]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("possnet.em.e_step._ONE_HOT", one_hot)
        np.testing.assert_allclose(_sum_by_cell(posterior, ids, weights, n_cells), expected)


def test_a_variable_that_nobody_saw_has_as_many_imagined_rows_as_any_other() -> None:
    """The prior's weight is a number of rows: of cells that never occur they are shared alike."""
    scope = (pn.Variable("seen", ("a", "b")), pn.Variable("hidden", ("x", "y", "z")))
    rows = code_em_rows(
        pn.Dag({"seen": (), "hidden": ()}), pn.Dataset.from_rows(scope, [("a", None)] * 3 + [("b", None)]), "missing"
    )
    model = HiddenStateModel(pn.Dag({"seen": (), "hidden": ()}), rows, None)
    imagined = EmAlgorithm(model, rows, prior=Prior("marginal", 1.5)).imagined
    assert imagined["seen"] == pytest.approx([1.5 * 3 / 4, 1.5 / 4])
    assert imagined["hidden"] == pytest.approx([0.5, 0.5, 0.5])


def test_the_law_of_a_feature_shares_sets_in_proportion_to_their_states() -> None:
    """Four rows of a, two of b, three of {a, b}, an imagined one of all: the set is shared as 4 1/3 to 2 1/3.

    A class without rows has no more than that law.
    """
    sets = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0]], dtype=np.bool_)
    features = [FeatureCells(np.array([0] * 4 + [1] * 2 + [3] * 3), sets)]
    known_class = np.tile([True, False], (9, 1))
    law = fit_class_model(features, known_class, {0: -1}, smoothing=1.0).tables[0][1, 0]
    a, b, c = 4 + 1 / 3, 2 + 1 / 3, 1 / 3
    assert law == pytest.approx([(a + 3 * a / (a + b)) / 10, (b + 3 * b / (a + b)) / 10, c / 10])


def test_an_unknown_cell_has_probability_one_whatever_rounding_adds() -> None:
    tables = np.random.default_rng(1).dirichlet(np.ones(7), size=(200, 1))
    assert (tables.sum(axis=2) > 1.0).any()  # or nothing is shown
    logs = FeatureRows([FeatureCells.from_states(np.array([-1]), 7)], {0: -1}).log_likelihoods({0: tables})
    assert (logs <= 0.0).all()
    np.testing.assert_allclose(logs, 0.0, atol=1e-15)


def test_cells_that_overlap_without_being_nested_are_not_consonant() -> None:
    scope = [pn.Variable("x", ("a", "b", "c"))]
    for cells, nested in (([{"a"}, {"a", "b"}, {"a", "b", "c"}], True), ([{"a", "b"}, {"b", "c"}], False)):
        data = pn.Dataset.from_rows(scope, [(cell,) for cell in cells])
        assert bool(pn.fit_em(pn.Dag({"x": ()}), data).consonant["x"]) is nested


def test_cells_without_mass_are_not_listed() -> None:
    data = pn.Dataset.from_table({"a": ["x", "x", "y"], "b": ["u", "u", "v"]})
    found = pn.fit_em(pn.Dag({"a": (), "b": ("a",)}), data)
    assert found.mass_function("b", {"a": "x"}).masses == {frozenset({"u"}): pytest.approx(1.0)}


@given(st.lists(_SIZES, min_size=2, max_size=4), st.integers(0, 10**6), st.floats(0, 2), st.booleans())
def test_tables_side_by_side_are_smoothed_as_each_by_itself(
    sizes: list[int], seed: int, rows: float, tree: bool
) -> None:
    rng = np.random.default_rng(seed)
    blurs = [0.3 if k % 2 else 0.0 for k in range(len(sizes))]
    states = [rng.integers(0, size, 30) for size in sizes]
    features = [FeatureCells.from_states(s, size, blur) for s, size, blur in zip(states, sizes, blurs, strict=True)]
    above = {k: k - 1 if tree else -1 for k in range(len(sizes))}
    laws = {k: rng.dirichlet(np.ones(size)) for k, size in enumerate(sizes)}
    flat = FlatTables(FeatureRows(features, above), laws)
    counts = {k: rng.uniform(0, 5, (3, sizes[k - 1] if above[k] >= 0 else 1, size)) for k, size in enumerate(sizes)}
    there = flat.split_tables(flat.smooth_counts(flat.join_tables(counts), rows))
    for k in range(len(sizes)):
        blurred = blur_counts(counts[k], blurs[k]) if blurs[k] else counts[k]
        np.testing.assert_allclose(there[k], smooth_table(blurred, laws[k], rows), rtol=1e-12)


def test_without_features_every_row_has_the_probabilities_of_the_classes() -> None:
    features = [FeatureCells.from_states(np.array([0, 1, 1]), 2)]
    model = ClassModel(np.array([0.5, 0.3, 0.2]), {}, {})
    np.testing.assert_allclose(model.probabilities(features), [[0.5, 0.3, 0.2]] * 3)


@given(st.integers(0, 10**6))
def test_information_given_the_class_is_that_of_its_definition(seed: int) -> None:
    """Sums of share * log ratio, cell by cell; a set counts for its states alike, an unknown cell for none."""
    rng = np.random.default_rng(seed)
    rows, sizes = 25, (2, 3)
    features = [FeatureCells.from_states(rng.integers(-1, size, rows), size) for size in sizes]
    shares = rng.uniform(0.1, 0.9, (rows, 1)) * [1, -1] + [0, 1]  # least shares are left out for speed
    weights = [
        [[0.0] * size if code >= size else [float(k == code) for k in range(size)] for code in cells.codes]
        for cells, size in zip(features, sizes, strict=True)
    ]
    expected = 0.0
    for state in range(2):
        total = sum(shares[:, state])
        for a in range(sizes[0]):
            for b in range(sizes[1]):
                both = sum(shares[r, state] * weights[0][r][a] * weights[1][r][b] for r in range(rows))
                one = sum(shares[r, state] * weights[0][r][a] for r in range(rows))
                other = sum(shares[r, state] * weights[1][r][b] for r in range(rows))
                expected += both * log(both * total / (one * other)) if both > 0 else 0.0
    assert measure_class_information(features, shares)[0, 1] == pytest.approx(expected)


def test_equal_tables_give_every_state_the_same_share() -> None:
    assert (_equal_table(np.zeros((3, 2, 5))) * 5 == 1.0).all()

"""The classifier inside scikit-learn: its checks, searches, pipelines, frames, and what it refuses."""

from __future__ import annotations

import pickle
import re
import warnings
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV, KFold, cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import estimator_checks_generator

import possnet as pn
from possnet.classifier import (
    PossibilisticClassifier,
    candidate_log_loss,
    candidate_log_loss_scorer,
    candidates_to_multihot,
    coverage_scorer,
    decision_to_sets,
    discounted_accuracy,
    mean_set_size,
    pipeline,
    set_coverage,
    size_scorer,
    superset_accuracy,
    superset_accuracy_scorer,
    utility_scorer,
)

CHECKS = list(estimator_checks_generator(PossibilisticClassifier(), legacy=True, mark=None))


@pytest.mark.parametrize("number", range(len(CHECKS)), ids=lambda k: f"{k}-{CHECKS[k][1].func.__name__}")
def test_every_check_of_scikit_learn_passes(number: int) -> None:
    from unittest import SkipTest

    estimator, check = CHECKS[number]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            check(estimator)
        except SkipTest as reason:
            assert "array_api" in str(reason) or "array-api" in str(reason).lower(), reason


def draw_rows(rows: int = 300, seed: int = 0, *, ambiguous: float = 0.4) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Three classes, four numbers, candidates as a boolean matrix, and the truth."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(3, size=rows)
    numbers = rng.normal(size=(rows, 4)) + np.array([[0, 0, 0, 0], [2, 0, 1, 0], [0, 2, -1, 0]])[truth]
    candidates = np.eye(3, dtype=bool)[truth] | (rng.random((rows, 3)) < ambiguous)
    return numbers, candidates, truth


NAMES = np.array(["ash", "birch", "cedar"])


def test_all_forms_of_labels_learn_the_same_model() -> None:
    numbers, candidates, _ = draw_rows(100)
    sets = [frozenset(NAMES[row]) for row in candidates]
    array = np.empty(100, dtype=object)
    array[:] = sets
    mixed: list[Any] = [next(iter(cell)) if len(cell) == 1 else None if len(cell) == 3 else set(cell) for cell in sets]
    options: dict[str, Any] = {"structure": "naive"}
    expected = (
        PossibilisticClassifier(classes=NAMES.tolist(), **options).fit(numbers, candidates).predict_proba(numbers)
    )
    for y in (array, sets, [sorted(cell) for cell in sets], mixed, candidates_to_multihot(sets)):
        classes = NAMES.tolist()
        model = PossibilisticClassifier(classes=classes, **options).fit(numbers, y)
        assert model.predict_proba(numbers) == pytest.approx(expected)
        assert model.classes_.tolist() == classes
    by_number = PossibilisticClassifier(**options).fit(numbers, candidates.astype(int))
    assert by_number.classes_.tolist() == [0, 1, 2]
    assert by_number.predict_proba(numbers) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("y", "classes", "message"),
    [
        ([{"a"}, set(), {"b"}], None, "row 2 of y has no candidate"),
        (np.array([[True, False], [False, False], [True, True]]), None, "row 2 of y has no candidate"),
        (["a", "b", "c"], ["a", "b"], "y has the class 'c', which classes= lacks"),
        ([{"a"}, {"c"}, None], ["a", "b"], "row 2 of y has the class 'c', which classes= lacks"),
        (["a", "a", "a"], None, "y has one class only"),
        ([{"a"}, None, {"a"}], None, "y has one class only"),
        (["a", "b", "a|b"], None, "the label 'a|b', which looks like several; expected a set {'a', 'b'}"),
        (np.array([[True, False, True]] * 3), ["a", "b"], "y has 3 columns for 2 classes"),
        (["a", "b"], None, "X has 3 rows and y 2"),
        (["a", "b", "a"], ["a", "a"], "classes a, a; expected each once"),
    ],
)
def test_labels_that_cannot_be_used_are_refused_in_one_sentence(y: Any, classes: Any, message: str) -> None:
    with pytest.raises(pn.InputError, match=re.escape(message)):
        PossibilisticClassifier(classes=classes).fit([[0.0], [1.0], [2.0]], y)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"alpha": 0.0}, "alpha 0.0; expected a number between 0 and 1"),
        ({"alpha": 1}, "alpha 1; expected a number between 0 and 1"),
        ({"structure": "niave"}, "did you mean 'naive'?"),
        ({"bins": 1}, "bins 1; expected a whole number from 2 on"),
        ({"calibration": "crss"}, "did you mean 'cross'?"),
        ({"error": [0.1]}, "1 errors for 2 columns"),
        ({"smoothing": -1}, "smoothing -1; expected a number from 0 on"),
        ({"structure": pn.Dag({"x0": (), "label": ("x0",)})}, "the structure has the node 'label'"),
        ({"target": "x0"}, "a column of X is called 'x0', as the class"),
        ({"per_class": True, "ambiguous": "worst"}, "per_class=True with ambiguous='worst'"),
    ],
)
def test_options_that_cannot_be_used_are_refused_in_one_sentence(options: dict[str, Any], message: str) -> None:
    numbers, candidates, _ = draw_rows(40)
    with pytest.raises(pn.InputError, match=re.escape(message)):
        PossibilisticClassifier(**options).fit(numbers[:, :2], candidates)


def test_rows_that_cannot_be_used_are_refused() -> None:
    numbers, candidates, _ = draw_rows(40)
    model = PossibilisticClassifier(structure="naive").fit(numbers, candidates)
    with pytest.raises(ValueError, match="X has 3 features, but PossibilisticClassifier is expecting 4"):
        model.predict(numbers[:, :3])
    with pytest.raises(pn.InputError, match="infinite number"):
        PossibilisticClassifier().fit(np.where(numbers == numbers[3, 1], np.inf, numbers), candidates)
    with pytest.raises(pn.InputError, match="alpha 2; expected"):
        model.predict_set(numbers, alpha=2)
    frame = pd.DataFrame(numbers, columns=list("abcd"))
    named = PossibilisticClassifier(structure="naive").fit(frame, candidates)
    with pytest.raises(ValueError, match="feature names"):
        named.predict(frame.rename(columns={"a": "z"}))


def test_unseen_and_missing_categories_are_ignorance_about_their_feature() -> None:
    X = np.array([["red", "old"], ["red", "new"], ["blue", "old"], ["blue", "new"]] * 10, dtype=object)
    y = np.array(["a", "a", "b", "b"] * 10)
    model = PossibilisticClassifier(structure="naive", calibration=None).fit(X, y)
    known, unseen, missing, both = model.predict_proba(
        np.array([["red", "old"], ["red", "green"], ["red", None], [{"red", "blue"}, "old"]], dtype=object)
    )
    assert unseen == pytest.approx(missing)
    assert known == pytest.approx(unseen, abs=1e-6)  # the second column tells nothing
    assert both == pytest.approx([0.5, 0.5])


def test_sets_in_x_are_the_disjunction_of_their_states() -> None:
    rng = np.random.default_rng(0)
    truth = rng.integers(2, size=200)
    states = np.array(["u", "v", "w"])[np.where(rng.random(200) < 0.7, truth, rng.integers(3, size=200))]
    X = states.astype(object)[:, None]
    model = PossibilisticClassifier(structure="naive", calibration=None, smoothing=0.5).fit(X, truth)
    table = model.network_.table("x0")  # degrees: probabilities divided by the largest
    table = table / table.sum(axis=1, keepdims=True)
    prior = model.network_.table("class") / model.network_.table("class").sum()
    cell = np.empty((1, 1), dtype=object)
    cell[0, 0] = {"u", "w"}
    expected = prior * table[:, [0, 2]].sum(axis=1)
    assert model.predict_proba(cell)[0] == pytest.approx(expected / expected.sum())


def test_a_known_error_makes_numbers_near_an_edge_sets() -> None:
    numbers, candidates, _ = draw_rows(200)
    sharp = PossibilisticClassifier(structure="naive", calibration=None, bins=3).fit(numbers, candidates)
    blurred = clone(sharp).set_params(error=[0.5, 0.0, 0.0, 0.0]).fit(numbers, candidates)
    edge = sharp.network_.variable("x0").bins.edges[0]
    row = np.array([[edge + 0.01, 0.0, 0.0, 0.0], [edge - 0.01, 0.0, 0.0, 0.0]])
    assert not np.allclose(*sharp.predict_proba(row))
    assert np.allclose(*blurred.predict_proba(row))


def test_decisions_carry_the_sets_through_searches_and_pipelines() -> None:
    numbers, candidates, truth = draw_rows(240)
    model = PossibilisticClassifier(structure="naive").fit(numbers, candidates)
    for alpha in (0.05, 0.1, 0.3):
        assert (decision_to_sets(model.decision_function(numbers), alpha) == model.predict_set(numbers, alpha)).all()
    two = PossibilisticClassifier(structure="naive").fit(numbers, truth == 1)
    assert two.decision_function(numbers).shape == (240,)
    assert (decision_to_sets(two.decision_function(numbers), 0.1) == two.predict_set(numbers, 0.1)).all()
    piped = make_pipeline(StandardScaler(), PossibilisticClassifier(structure="naive"))
    assert not hasattr(piped, "predict_set")
    decided = cross_val_predict(piped, numbers, candidates, method="decision_function", cv=KFold(3))
    assert decision_to_sets(decided, 0.1)[np.arange(240), truth].mean() > 0.8


def test_our_pipeline_keeps_sets() -> None:
    numbers, candidates, _ = draw_rows(120)
    kept = pipeline(StandardScaler(), PossibilisticClassifier(structure="naive")).fit(numbers, candidates)
    plain = PossibilisticClassifier(structure="naive").fit(StandardScaler().fit_transform(numbers), candidates)
    scaled = StandardScaler().fit(numbers).transform(numbers)
    assert (kept.predict_set(numbers, alpha=0.2) == plain.predict_set(scaled, alpha=0.2)).all()
    assert kept.predict_possibility(numbers) == pytest.approx(plain.predict_possibility(scaled))
    assert kept.predict_necessity(numbers) == pytest.approx(plain.predict_necessity(scaled))
    assert kept.predict_p_values(numbers) == pytest.approx(plain.predict_p_values(scaled))
    assert clone(kept).set_params(possibilisticclassifier__alpha=0.3).steps[-1][1].alpha == 0.3
    assert not hasattr(pipeline(StandardScaler()), "predict_set")


def test_searches_take_ambiguous_labels_and_our_scorers() -> None:
    numbers, candidates, _ = draw_rows(150)
    search = GridSearchCV(
        make_pipeline(StandardScaler(), PossibilisticClassifier(structure="naive")),
        {"possibilisticclassifier__bins": [2, 5]},
        scoring={"right": superset_accuracy_scorer, "u65": utility_scorer("u65"), "log": candidate_log_loss_scorer},
        refit="right",
        cv=KFold(3),
    ).fit(numbers, candidates)
    assert np.isfinite(search.cv_results_["mean_test_u65"]).all()
    assert search.best_score_ > 0.7
    scores = cross_val_score(
        PossibilisticClassifier(structure="naive"), numbers, candidates, scoring=coverage_scorer(0.1), cv=3
    )
    assert (scores > 0.7).all()
    smaller = cross_val_score(
        PossibilisticClassifier(structure="naive"), numbers, candidates, scoring=size_scorer(0.5), cv=3
    )
    assert ((smaller <= 0) & (smaller > -3)).all()


def test_scores_of_sets_by_hand() -> None:
    truth = ["a", "b", "c"]
    sets = np.array([[True, False, False], [True, True, False], [True, True, False]])
    classes = ["a", "b", "c"]
    assert set_coverage(truth, sets, classes=classes) == pytest.approx(2 / 3)
    assert mean_set_size(truth, sets) == pytest.approx(5 / 3)
    assert discounted_accuracy(truth, sets, classes=classes) == pytest.approx((1 + 0.65 + 0) / 3)
    assert discounted_accuracy(truth, sets, utility="u80", classes=classes) == pytest.approx((1 + 0.8 + 0) / 3)
    assert set_coverage(truth, sets, classes=classes, sample_weight=[1, 0, 1]) == pytest.approx(0.5)
    assert superset_accuracy([{"a", "b"}, {"c"}, None], ["b", "a", "a"], classes=classes) == pytest.approx(2 / 3)
    half = np.full((1, 3), [0.5, 0.25, 0.25])
    assert candidate_log_loss([{"a", "b"}], half, classes=classes) == pytest.approx(-np.log(0.75))
    with pytest.raises(pn.InputError, match="sets of shape"):
        set_coverage(truth, sets[:, :2], classes=classes)


def test_frames_of_pandas_and_polars_learn_the_same() -> None:
    numbers, candidates, _ = draw_rows(90)
    colour = np.array(["red", "blue", None], dtype=object)[np.arange(90) % 3]
    columns = {"a": numbers[:, 0], "b": numbers[:, 1], "colour": colour}
    pandas, polars = pd.DataFrame(columns), pl.DataFrame(columns | {"colour": colour.tolist()})
    models = [PossibilisticClassifier(structure="naive").fit(frame, candidates) for frame in (pandas, polars)]
    first, second = (m.predict_possibility(f) for m, f in zip(models, (pandas, polars), strict=True))
    assert first == pytest.approx(second)
    assert models[0].feature_names_in_.tolist() == ["a", "b", "colour"]
    assert set(models[0].structure_.nodes) == {"class", "a", "b", "colour"}
    categorical = pandas.astype({"colour": "category"})
    assert PossibilisticClassifier(structure="naive").fit(categorical, candidates).predict_possibility(
        categorical
    ) == pytest.approx(first)
    scaled = make_pipeline(StandardScaler().set_output(transform="pandas"), PossibilisticClassifier(structure="naive"))
    assert scaled.fit(pandas[["a", "b"]], candidates)[-1].feature_names_in_.tolist() == ["a", "b"]


def test_weights_are_routed_and_count_as_rows() -> None:
    numbers, candidates, truth = draw_rows(80)
    weights = np.where(truth == 0, 2.5, 1.0)
    with config_context(enable_metadata_routing=True):
        piped = make_pipeline(
            StandardScaler(), PossibilisticClassifier(structure="naive").set_fit_request(sample_weight=True)
        )
        piped[0].set_fit_request(sample_weight=False)
        piped.fit(numbers, candidates, sample_weight=weights)
    scaled = StandardScaler().fit_transform(numbers)
    plain = PossibilisticClassifier(structure="naive").fit(scaled, candidates, sample_weight=weights)
    assert piped.predict_proba(numbers) == pytest.approx(plain.predict_proba(scaled))


def test_clones_and_pickles_are_the_same_estimator() -> None:
    numbers, candidates, _ = draw_rows(60)
    model = PossibilisticClassifier(structure="tan", per_class=True).fit(numbers, candidates)
    again = pickle.loads(pickle.dumps(model))  # noqa: S301
    assert again.predict_possibility(numbers) == pytest.approx(model.predict_possibility(numbers))
    assert clone(model).get_params() == model.get_params()


@pytest.mark.parametrize(
    "structure", ["naive", "tan", "auto", "blanket", pn.Dag({"class": (), "x1": ("class",), "x0": ("class", "x1")})]
)
@pytest.mark.parametrize("learner", ["em", "likelihood"])
def test_every_structure_and_learner_tells_most_classes(structure: Any, learner: str) -> None:
    numbers, candidates, truth = draw_rows(300)
    new, _, expected = draw_rows(200, seed=1)
    model = PossibilisticClassifier(structure=structure, learner=learner, bins=3, folds=2).fit(numbers, candidates)
    assert (model.predict(new) == expected).mean() > 0.55
    assert model.predict_proba(new).sum(axis=1) == pytest.approx(np.ones(200))
    assert model.predict_possibility(new).max(axis=1) == pytest.approx(np.ones(200))
    assert "class" in model.structure_.nodes
    del truth


def test_the_network_has_the_probabilities_of_the_model() -> None:
    numbers, candidates, _ = draw_rows(200)
    model = PossibilisticClassifier(structure="tan", calibration=None, bins=3).fit(numbers, candidates)
    from possnet.inference import score_rows

    network = model.network_
    data = pn.Dataset.from_table(
        {f"x{k}": numbers[:, k] for k in range(4)}, [v for v in network.variables if v.name != "class"]
    )
    scores = score_rows(network, "class", data, by="probability")
    assert np.exp(scores) == pytest.approx(model.predict_proba(numbers), abs=1e-9)


def test_necessity_and_probability_follow_from_the_degrees() -> None:
    numbers, candidates, _ = draw_rows(120)
    model = PossibilisticClassifier(structure="naive", probability="pignistic").fit(numbers, candidates)
    degrees, necessity = model.predict_possibility(numbers), model.predict_necessity(numbers)
    for row in range(0, 120, 17):
        for k in range(3):
            assert necessity[row, k] == pytest.approx(1 - max(degrees[row, j] for j in range(3) if j != k))
    assert model.predict_proba(numbers) == pytest.approx(pn.to_probability(degrees))
    p_values = model.predict_p_values(numbers)
    assert (p_values <= degrees + 1e-12).all()


def test_a_row_is_explained_by_the_network() -> None:
    numbers, candidates, _ = draw_rows(200)
    model = PossibilisticClassifier(structure="naive", bins=3).fit(numbers, candidates)
    network = model.network_
    cells = {
        f"x{k}": pn.Dataset.from_table(
            {"x": numbers[:1, k]}, [pn.Variable("x", v.states, ordered=True, bins=v.bins)]
        ).row(0)["x"]
        for k, v in ((k, network.variable(f"x{k}")) for k in range(4))
    }
    explained = model.explain(numbers[0], label=1)
    assert str(explained) == str(pn.explain(network, "class", cells, "1"))
    assert "class=1" in str(explained)


def test_ties_are_told() -> None:
    X = np.array([["u"], ["v"]] * 20, dtype=object)
    y = np.array(["a", "b"] * 20)
    model = PossibilisticClassifier(structure="naive").fit(X, y)
    with pytest.warns(
        pn.PossnetWarning, match="in 1 of 2 rows several classes are equally possible and equally probable"
    ):
        assert model.predict(np.array([[None], ["u"]], dtype=object)).tolist() == ["a", "a"]


def test_sets_hold_what_they_promise_on_new_rows() -> None:
    """A mean over splits, by the calibration rows that were kept; the bound is that of the binomial law of both samples."""
    held = []
    for seed in range(20):
        numbers, candidates, truth = draw_rows(400, seed=seed, ambiguous=0.2)
        new, _, expected = draw_rows(300, seed=seed + 100)
        model = PossibilisticClassifier(structure="naive", calibration=None).fit(numbers[:200], candidates[:200])
        model.calibrate(numbers[200:], truth[200:])
        held.append(model.predict_set(new, 0.1)[np.arange(300), expected].mean())
    assert abs(np.mean(held) - 0.9) < 0.02


def test_kept_rows_are_not_learned_from() -> None:
    numbers, candidates, _ = draw_rows(100)
    model = PossibilisticClassifier(structure="naive", calibration="split", folds=5).fit(numbers, candidates)
    told = ~candidates.all(axis=1)
    assert model.calibration_ is not None
    assert 10 <= model.calibration_.rows <= 20
    assert model.calibration_.rows < told.sum()
    assert "kept for calibration" in repr(model.calibration_)


def test_notebooks_show_the_estimator_and_its_network() -> None:
    numbers, candidates, _ = draw_rows(60)
    model = PossibilisticClassifier(structure="naive")
    shown = model.fit(numbers, candidates)._repr_html_()
    assert "PossibilisticClassifier" in shown
    assert len(shown) > len(PossibilisticClassifier(structure="naive")._repr_html_())


def test_iris_is_told() -> None:
    numbers, truth = load_iris(return_X_y=True)
    assert cross_val_score(PossibilisticClassifier(), numbers, truth, cv=5).mean() > 0.9

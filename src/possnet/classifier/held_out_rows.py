"""How good a classifier is on rows that it has not seen, told as far as ambiguous labels tell it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone

from possnet.classifier.candidate_labels import read_labels
from possnet.classifier.feature_columns import split_columns
from possnet.classifier.model_choice import LabelledRows, split_folds
from possnet.classifier.possibilistic_classifier import decision_to_sets
from possnet.doors import check_arguments
from possnet.errors import InputError, count_noun
from possnet.variables import Variable

if TYPE_CHECKING:
    from possnet.aliases import Bools, Codes, Floats, Progress


@dataclass(frozen=True, slots=True)
class HeldOutScores:
    """Figures of predictions for rows with labels or candidates.

    ``hits`` and ``coverage`` count a class or a set that has one of the candidates; ``accuracy`` and
    ``precise_coverage`` are of the rows whose label is one class (None without any). ``baseline`` is what the most
    frequent class hits. ``size`` is the mean size of a set, ``single`` the share of sets of one class.

    >>> scores = HeldOutScores(100, 40, 0.8, 0.3, 0.93, 1.5, 0.6, 0.75, 0.9, 0.1)
    >>> scores.hits - scores.baseline, scores.coverage >= 1 - scores.alpha
    (0.5, True)
    """

    rows: int
    precise: int
    hits: float
    baseline: float
    coverage: float
    size: float
    single: float
    accuracy: float | None
    precise_coverage: float | None
    alpha: float

    def describe(self) -> str:
        """The figures in a sentence.

        >>> HeldOutScores(100, 40, 0.8, 0.3, 0.93, 1.5, 0.6, 0.75, 0.9, 0.1).describe()
        'the predicted class is a candidate in 80.0 % of 100 rows (the most frequent class: 30.0 %); sets hold a
        candidate in 93.0 % (promised: 90 %), with 1.50 classes in the mean; of the 40 rows with one label 75.0 % are
        right and 90.0 % held'
        """
        text = f"the predicted class is a candidate in {self.hits:.1%} of {count_noun(self.rows, 'row')}"
        text += f" (the most frequent class: {self.baseline:.1%}); sets hold a candidate in {self.coverage:.1%}"
        text += f" (promised: {1 - self.alpha:.0%}), with {self.size:.2f} classes in the mean"
        if self.precise < self.rows and self.accuracy is not None and self.precise_coverage is not None:
            rows = f"{count_noun(self.precise, 'row')} with one label"
            text += f"; of the {rows} {self.accuracy:.1%} are right and {self.precise_coverage:.1%} held"
        if self.precise == self.rows:
            text = text.replace("is a candidate in", "is right in").replace("hold a candidate in", "hold the class in")
        return text.replace("%", " %")


@check_arguments
def score_sets(decision: Floats, candidates: Bools, alpha: float, frequency: Floats | None = None) -> HeldOutScores:
    """Figures of a decision function, (rows, classes) or for two classes (rows,).

    ``frequency`` is that of the classes in the rows learned from, for the baseline; by default in these.

    >>> score_sets(np.array([[1.0, 0.3], [0.05, 1.0]]), np.array([[True, False], [True, True]]), 0.1).hits
    1.0
    """
    sets = decision_to_sets(decision, alpha)
    best: Codes = (decision > 0).astype(np.int64) if decision.ndim == 1 else decision.argmax(axis=1)
    rows = np.arange(len(best))
    right, held = candidates[rows, best], np.asarray((sets & candidates).any(axis=1))
    precise = candidates.sum(axis=1) == 1
    weighed = (candidates / candidates.sum(axis=1, keepdims=True)).sum(axis=0) if frequency is None else frequency
    return HeldOutScores(
        len(best),
        int(precise.sum()),
        float(right.mean()),
        float(candidates[:, int(weighed.argmax())].mean()),
        float(held.mean()),
        float(sets.sum(axis=1).mean()),
        float((sets.sum(axis=1) == 1).mean()),
        float(right[precise].mean()) if precise.any() else None,
        float(held[precise].mean()) if precise.any() else None,
        alpha,
    )


@check_arguments
def score_folds(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    folds: int = 5,
    seed: int = 0,
    progress: Progress | None = None,
) -> HeldOutScores:
    """Figures of an estimator on rows that it was not learned from, fold by fold.

    Rows of equal features are in one fold, and choices are made inside the folds.

    >>> from possnet.classifier import PossibilisticClassifier
    >>> X, y = np.arange(60.0)[:, np.newaxis], np.arange(60) // 30
    >>> score_folds(PossibilisticClassifier(structure="naive"), X, y).accuracy > 0.8
    True
    """
    classes, candidates = read_labels(y, estimator.classes)
    if len(candidates) < 2 * folds:
        raise InputError(f"{len(candidates)} rows for {folds} folds; expected {2 * folds} or more")
    rows = np.asarray(X)
    columns = tuple(split_columns(rows))
    labelled = LabelledRows((), columns, candidates, np.ones(len(rows)), Variable("class", ("?",)))
    decision = np.zeros((len(candidates),) if len(classes) == 2 else candidates.shape)
    for number, held_out in enumerate(split_folds(labelled, folds, np.random.default_rng(seed))):
        others = np.setdiff1d(np.arange(len(rows)), held_out)
        model = clone(estimator).set_params(classes=classes.tolist()).fit(rows[others], candidates[others])
        decision[held_out] = model.decision_function(rows[held_out])
        if progress is not None:
            progress(number + 1, folds)
    return score_sets(decision, candidates, estimator.alpha)

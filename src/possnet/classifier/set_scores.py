"""Scores of predicted classes and sets, on precise and on ambiguous truth, and scorers for searches of scikit-learn.

Functions take the truth in any form that `PossibilisticClassifier.fit` takes, and sets as a boolean matrix. Scorers take an
estimator, rows and truth; they ask for its decision function, which goes through pipelines and searches.

A set of k classes that holds the truth is worth g(1/k): u65 has g(x) = 1.6 x - .6 x^2, and u80 g(x) = 2.2 x - 1.2 x^2,
so that a set of two is worth .65 or .80 (Zaffalon, Corani and Mauá 2012). On ambiguous truth, a set or a class is right
if it has one of the candidates: an upper bound.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from possnet.classifier.candidate_labels import read_labels
from possnet.classifier.possibilistic_classifier import decision_to_sets
from possnet.doors import check_arguments, check_fields
from possnet.errors import InputError, require_known

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from possnet.aliases import Bools, Floats

_DISCOUNTS: Final = {"u65": (1.6, 0.6), "u80": (2.2, 1.2)}


@check_arguments
def superset_accuracy(
    y_true: Any, y_pred: Any, *, classes: Sequence[Any] | None = None, sample_weight: Any = None
) -> float:
    """How often the predicted class is one of the candidates; on precise truth, the accuracy.

    ``classes`` are those of the columns of a multi-hot truth.

    >>> superset_accuracy([{"a", "b"}, {"c"}], ["a", "b"])
    0.5
    """
    order, candidates = read_labels(y_true, classes if classes is not None else _join_classes(y_true, y_pred))
    place = {label: number for number, label in enumerate(order.tolist())}
    right = [label in place and bool(row[place[label]]) for label, row in zip(list(y_pred), candidates, strict=True)]
    return _average(np.array(right, dtype=np.float64), sample_weight)


@check_arguments
def set_coverage(y_true: Any, sets: Any, *, classes: Sequence[Any] | None = None, sample_weight: Any = None) -> float:
    """How often a set holds the truth; on ambiguous truth, one of the candidates.

    >>> set_coverage(["a", "b"], np.array([[True, True], [True, False]]), classes=["a", "b"])
    0.5
    """
    return _average(_find_hits(y_true, sets, classes), sample_weight)


@check_arguments
def mean_set_size(y_true: Any, sets: Any, *, classes: Sequence[Any] | None = None, sample_weight: Any = None) -> float:
    """Mean number of classes in a set; the truth plays no part.

    >>> mean_set_size(None, np.array([[True, True], [True, False]]))
    1.5
    """
    del y_true, classes
    return _average(np.asarray(sets).sum(axis=1).astype(np.float64), sample_weight)


@check_arguments
def discounted_accuracy(
    y_true: Any, sets: Any, *, utility: str = "u65", classes: Sequence[Any] | None = None, sample_weight: Any = None
) -> float:
    """Utility of sets: 1 for the truth alone, less for a larger set that holds it, 0 otherwise.

    >>> sets = np.array([[True, True], [True, False]])
    >>> round(discounted_accuracy(["a", "a"], sets, classes=["a", "b"]), 3)
    0.825
    >>> round(discounted_accuracy(["a", "a"], sets, utility="u80", classes=["a", "b"]), 3)
    0.9
    """
    require_known(utility, _DISCOUNTS, "discounted_accuracy: utility")
    linear, square = _DISCOUNTS[utility]
    share = 1.0 / np.maximum(np.asarray(sets).sum(axis=1), 1)
    return _average(_find_hits(y_true, sets, classes) * (linear * share - square * share**2), sample_weight)


@check_arguments
def candidate_log_loss(
    y_true: Any, probabilities: Any, *, classes: Sequence[Any] | None = None, sample_weight: Any = None
) -> float:
    """Mean of -ln P(candidates); on precise truth, the log loss.

    >>> round(candidate_log_loss(["a", "b"], np.array([[0.5, 0.5], [0.5, 0.5]]), classes=["a", "b"]), 3)
    0.693
    """
    _, candidates = read_labels(y_true, classes)
    inside = (np.asarray(probabilities) * candidates).sum(axis=1)
    return _average(-np.log(np.clip(inside, 1e-15, 1.0)), sample_weight)


def _find_hits(y_true: Any, sets: Any, classes: Sequence[Any] | None) -> Floats:
    _, candidates = read_labels(y_true, classes)
    chosen: Bools = np.asarray(sets, dtype=np.bool_)
    if chosen.shape != candidates.shape:
        raise InputError(
            f"scores of sets: sets of shape {chosen.shape} for truth of shape {candidates.shape}; expected "
            "(rows, classes), with classes= as in the classifier"
        )
    return np.asarray((chosen & candidates).any(axis=1), dtype=np.float64)


def _join_classes(y_true: Any, y_pred: Any) -> list[Any] | None:
    """The classes of truth and predictions together; None for a matrix, whose columns say it."""
    if np.ndim(y_true) == 2 and np.shape(y_true)[1] > 1:
        return None
    cells = [
        cell if isinstance(cell, (set, frozenset, list, tuple)) else (cell,) for cell in y_true if cell is not None
    ]
    return sorted({*(label for cell in cells for label in cell), *y_pred})


def _average(values: Floats, weights: Any) -> float:
    return float(np.average(values, weights=None if weights is None else np.asarray(weights, dtype=np.float64)))


@check_fields
@dataclass(frozen=True, slots=True)
class CandidateScorer:
    """A scorer of scikit-learn: estimator, rows, truth -> a number, larger is better.

    >>> coverage_scorer(0.05)
    CandidateScorer(name='coverage', alpha=0.05)
    """

    name: str
    alpha: float = 0.1

    def __call__(self, estimator: Any, X: Any, y_true: Any, sample_weight: Any = None) -> float:
        """The score of an estimator on rows."""
        options: dict[str, Any] = {"classes": list(estimator.classes_), "sample_weight": sample_weight}
        if self.name == "superset_accuracy":
            return superset_accuracy(y_true, estimator.predict(X), **options)
        if self.name == "log_loss":
            return -candidate_log_loss(y_true, estimator.predict_proba(X), **options)
        sets = decision_to_sets(estimator.decision_function(X), self.alpha)
        scores: dict[str, Callable[..., float]] = {"coverage": set_coverage, "size": mean_set_size}
        if self.name in scores:
            value = scores[self.name](y_true, sets, **options)
            return -value if self.name == "size" else value
        return discounted_accuracy(y_true, sets, utility=self.name, **options)


@check_arguments
def coverage_scorer(alpha: float = 0.1) -> CandidateScorer:
    """Scorer of the coverage of sets at a level.

    >>> coverage_scorer().name
    'coverage'
    """
    return CandidateScorer("coverage", alpha)


@check_arguments
def size_scorer(alpha: float = 0.1) -> CandidateScorer:
    """Scorer of the mean size of sets at a level, negated: smaller sets are better.

    >>> size_scorer().name
    'size'
    """
    return CandidateScorer("size", alpha)


@check_arguments
def utility_scorer(utility: str = "u65", alpha: float = 0.1) -> CandidateScorer:
    """Scorer of ``u65`` or ``u80`` at a level.

    >>> utility_scorer("u80").name
    'u80'
    """
    require_known(utility, _DISCOUNTS, "utility_scorer: utility")
    return CandidateScorer(utility, alpha)


superset_accuracy_scorer: Final = CandidateScorer("superset_accuracy")
candidate_log_loss_scorer: Final = CandidateScorer("log_loss")

"""A scikit-learn classifier for ambiguous labels, its scorers, and a pipeline that keeps its sets (extra ``[sklearn]``)."""

import possnet.classifier.sklearn_loading  # noqa: F401
from possnet.classifier.candidate_labels import candidates_to_multihot
from possnet.classifier.held_out_rows import HeldOutScores, score_folds, score_sets
from possnet.classifier.possibilistic_classifier import PossibilisticClassifier, decision_to_sets
from possnet.classifier.set_pipeline import SetPipeline, pipeline
from possnet.classifier.set_scores import (
    CandidateScorer,
    candidate_log_loss,
    candidate_log_loss_scorer,
    coverage_scorer,
    discounted_accuracy,
    mean_set_size,
    set_coverage,
    size_scorer,
    superset_accuracy,
    superset_accuracy_scorer,
    utility_scorer,
)

__all__ = [
    "CandidateScorer",
    "HeldOutScores",
    "PossibilisticClassifier",
    "SetPipeline",
    "candidate_log_loss",
    "candidate_log_loss_scorer",
    "candidates_to_multihot",
    "coverage_scorer",
    "decision_to_sets",
    "discounted_accuracy",
    "mean_set_size",
    "pipeline",
    "score_folds",
    "score_sets",
    "set_coverage",
    "size_scorer",
    "superset_accuracy",
    "superset_accuracy_scorer",
    "utility_scorer",
]

"""Learners by name: what `possnet.evaluate` compares, `possnet fit --learner` offers, and reports call by their labels."""

from possnet.learners.learner import (
    LEARNERS,
    Fitted,
    Learner,
    label_learner,
    limit_of_counting,
    limit_of_cuts,
    network_of,
    resolve_learner,
)

__all__ = [
    "LEARNERS",
    "Fitted",
    "Learner",
    "label_learner",
    "limit_of_counting",
    "limit_of_cuts",
    "network_of",
    "resolve_learner",
]

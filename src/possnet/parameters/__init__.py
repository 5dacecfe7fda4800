"""Learning parameters from counts."""

from possnet.parameters.estimates import capped_maximum, corrected, histogram, normalised, proposition_1
from possnet.parameters.fit_tables import FitMethod, fit, thetas_of
from possnet.parameters.random_sets import RandomSets, fit_random_sets

__all__ = [
    "FitMethod",
    "RandomSets",
    "capped_maximum",
    "corrected",
    "fit",
    "fit_random_sets",
    "histogram",
    "normalised",
    "proposition_1",
    "thetas_of",
]

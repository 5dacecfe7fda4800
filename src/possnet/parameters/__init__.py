"""Learning parameters from counts."""

from possnet.parameters.estimates import capped_maximum, corrected, histogram, normalised, proposition_1
from possnet.parameters.fit import Method, Total, fit, thetas_of
from possnet.parameters.focal import cell_codes
from possnet.parameters.random_sets import RandomSets, fit_random_sets

__all__ = [
    "Method",
    "RandomSets",
    "Total",
    "capped_maximum",
    "cell_codes",
    "corrected",
    "fit",
    "fit_random_sets",
    "histogram",
    "normalised",
    "proposition_1",
    "thetas_of",
]

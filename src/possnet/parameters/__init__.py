"""Learning parameters from counts."""

from possnet.parameters.estimates import capped_maximum, histogram, normalise_rows, proposition_1, undo_thinning
from possnet.parameters.fit_tables import FitMethod, fit, read_thetas
from possnet.parameters.random_sets import RandomSets, fit_random_sets

__all__ = [
    "FitMethod",
    "RandomSets",
    "capped_maximum",
    "fit",
    "fit_random_sets",
    "histogram",
    "normalise_rows",
    "proposition_1",
    "read_thetas",
    "undo_thinning",
]

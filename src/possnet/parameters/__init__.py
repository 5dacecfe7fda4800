"""Learning parameters from counts."""

from possnet.parameters.estimates import capped_maximum, histogram, normalise_rows, proposition_1, undo_thinning
from possnet.parameters.fit_tables import FitMethod, fit, read_thetas
from possnet.parameters.priors import NO_PRIOR, Prior, PriorName, back_off, read_prior
from possnet.parameters.random_sets import RandomSets, fit_random_sets

__all__ = [
    "NO_PRIOR",
    "FitMethod",
    "Prior",
    "PriorName",
    "RandomSets",
    "back_off",
    "capped_maximum",
    "fit",
    "fit_random_sets",
    "histogram",
    "normalise_rows",
    "proposition_1",
    "read_prior",
    "read_thetas",
    "undo_thinning",
]

"""Dependence: how far two variables, or a family, are from independent, by contours of imprecise data or hidden states."""

from possnet.dependence.cell_pairs import CellPairs, count_cell_pairs
from possnet.dependence.contour_measures import (
    CONTOUR_MEASURES,
    ContourMeasure,
    chi2,
    conditional_dependence,
    independent_contour,
    measure_dependence,
    mutual_information,
    nonspecificity,
    nonspecificity_gain,
)
from possnet.dependence.hidden_laws import HiddenLaws, fit_hidden_laws
from possnet.dependence.pair_counts import PairCounts, count_pairs
from possnet.dependence.similarity import similarity_dependence

__all__ = [
    "CONTOUR_MEASURES",
    "CellPairs",
    "ContourMeasure",
    "HiddenLaws",
    "PairCounts",
    "chi2",
    "conditional_dependence",
    "count_cell_pairs",
    "count_pairs",
    "fit_hidden_laws",
    "independent_contour",
    "measure_dependence",
    "mutual_information",
    "nonspecificity",
    "nonspecificity_gain",
    "similarity_dependence",
]

"""Dependence: how far two variables, or a family, are from independent, read off contours of imprecise data."""

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
from possnet.dependence.pair_counts import PairCounts, count_pairs
from possnet.dependence.similarity import similarity_dependence

__all__ = [
    "CONTOUR_MEASURES",
    "ContourMeasure",
    "PairCounts",
    "chi2",
    "conditional_dependence",
    "count_pairs",
    "independent_contour",
    "measure_dependence",
    "mutual_information",
    "nonspecificity",
    "nonspecificity_gain",
    "similarity_dependence",
]

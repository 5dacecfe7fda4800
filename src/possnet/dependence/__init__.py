"""Dependence: how far two variables, or a family, are from independent, read off contours of imprecise data."""

from possnet.dependence.measures import (
    CONTOUR_MEASURES,
    ContourMeasure,
    Reading,
    chi2,
    conditional,
    independent,
    measure,
    mutual_information,
    nonspecificity,
    nonspecificity_gain,
    specificity_gain,
    specificity_ratio,
    specificity_symmetric,
)
from possnet.dependence.pairs import PairCounts, count_pairs
from possnet.dependence.similarity import similarity_dependence

__all__ = [
    "CONTOUR_MEASURES",
    "ContourMeasure",
    "PairCounts",
    "Reading",
    "chi2",
    "conditional",
    "count_pairs",
    "independent",
    "measure",
    "mutual_information",
    "nonspecificity",
    "nonspecificity_gain",
    "similarity_dependence",
    "specificity_gain",
    "specificity_ratio",
    "specificity_symmetric",
]

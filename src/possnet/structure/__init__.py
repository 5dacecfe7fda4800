"""Structure learning: which variables depend on which, from precise and from imprecise rows."""

from possnet.structure.learn import learn_structure
from possnet.structure.options import MEASURES, METHODS, SCORES, Measure, Method
from possnet.structure.results import LearnedEdge, LearnedStructure, NearMiss, SearchStep

__all__ = [
    "MEASURES",
    "METHODS",
    "SCORES",
    "LearnedEdge",
    "LearnedStructure",
    "Measure",
    "Method",
    "NearMiss",
    "SearchStep",
    "learn_structure",
]

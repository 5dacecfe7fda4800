"""Structure learning: which variables depend on which, from precise and from imprecise rows."""

from possnet.structure.learned_structure import LearnedEdge, LearnedStructure, NearMiss, SearchStep
from possnet.structure.options import MEASURES, METHODS, SCORES, Measure, Method, fitting_measure
from possnet.structure.structure_learning import learn_structure

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
    "fitting_measure",
    "learn_structure",
]

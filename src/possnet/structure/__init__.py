"""Structure learning: which variables depend on which, from precise and from imprecise rows."""

from possnet.structure.constraints import Constraints
from possnet.structure.decomposable_scores import DecomposableScore
from possnet.structure.edge_explanation import EdgeExplanation, PairLaw, explain_edge
from possnet.structure.learned_structure import LearnedEdge, LearnedStructure, NearMiss, SearchStep, draw_structure
from possnet.structure.score_registry import MEASURES, SearchProblem, StructureScore
from possnet.structure.search_methods import METHODS, SearchMethod, fitting_measure
from possnet.structure.search_options import Search
from possnet.structure.structure_learning import learn_structure

__all__ = [
    "MEASURES",
    "METHODS",
    "Constraints",
    "DecomposableScore",
    "EdgeExplanation",
    "LearnedEdge",
    "LearnedStructure",
    "NearMiss",
    "PairLaw",
    "Search",
    "SearchMethod",
    "SearchProblem",
    "SearchStep",
    "StructureScore",
    "draw_structure",
    "explain_edge",
    "fitting_measure",
    "learn_structure",
]

"""Structure learning: which variables depend on which, from precise and from imprecise rows."""

from possnet.structure.constraints import Constraints
from possnet.structure.contingency import FamilyQuery
from possnet.structure.decomposable_scores import DecomposableScore
from possnet.structure.edge_explanation import EdgeExplanation, PairLaw, explain_edge
from possnet.structure.learned_structure import LearnedEdge, LearnedStructure, NearMiss, SearchStep, draw_structure
from possnet.structure.score_registry import MEASURES, SearchProblem, StructureScore
from possnet.structure.search_methods import METHODS, SearchMethod, fitting_measure
from possnet.structure.search_options import Search
from possnet.structure.streamed_tables import CountedTable, FamilyTables, RowSummary, StreamedTables
from possnet.structure.structure_learning import learn_from_tables, learn_structure

__all__ = [
    "MEASURES",
    "METHODS",
    "Constraints",
    "CountedTable",
    "DecomposableScore",
    "EdgeExplanation",
    "FamilyQuery",
    "FamilyTables",
    "LearnedEdge",
    "LearnedStructure",
    "NearMiss",
    "PairLaw",
    "RowSummary",
    "Search",
    "SearchMethod",
    "SearchProblem",
    "SearchStep",
    "StreamedTables",
    "StructureScore",
    "draw_structure",
    "explain_edge",
    "fitting_measure",
    "learn_from_tables",
    "learn_structure",
]

"""Directed acyclic graphs, d-separation, Markov equivalence (CPDAG), branchings and triangulation."""

from possnet.graph.branchings import heaviest_branching
from possnet.graph.dags import Dag, EssentialGraph, UndirectedGraph, require_structure
from possnet.graph.triangulation import Elimination, EliminationRule, eliminate, iterate_bits, triangulate

__all__ = [
    "Dag",
    "Elimination",
    "EliminationRule",
    "EssentialGraph",
    "UndirectedGraph",
    "eliminate",
    "heaviest_branching",
    "iterate_bits",
    "require_structure",
    "triangulate",
]

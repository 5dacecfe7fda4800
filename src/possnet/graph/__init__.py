"""Directed acyclic graphs, d-separation, Markov equivalence (CPDAG), and triangulation."""

from possnet.graph.dags import Dag, EssentialGraph, UndirectedGraph, require_structure
from possnet.graph.triangulation import Elimination, EliminationRule, eliminate, iterate_bits, triangulate

__all__ = [
    "Dag",
    "Elimination",
    "EliminationRule",
    "EssentialGraph",
    "UndirectedGraph",
    "eliminate",
    "iterate_bits",
    "require_structure",
    "triangulate",
]

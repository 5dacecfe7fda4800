"""Directed acyclic graphs, what they say about independence, and triangulation."""

from possnet.graph.dags import Dag, EssentialGraph, UndirectedGraph, require_structure
from possnet.graph.triangulation import Elimination, eliminate, triangulate

__all__ = ["Dag", "Elimination", "EssentialGraph", "UndirectedGraph", "eliminate", "require_structure", "triangulate"]

"""Directed acyclic graphs, what they say about independence, and triangulation."""

from possnet.graph.dags import Dag, EssentialGraph, UndirectedGraph, require_structure
from possnet.graph.triangulation import triangulate

__all__ = ["Dag", "EssentialGraph", "UndirectedGraph", "require_structure", "triangulate"]

"""Directed acyclic graphs, what they say about independence, and triangulation."""

from possnet.graph.dags import Dag, EssentialGraph, UndirectedGraph
from possnet.graph.triangulation import Elimination, eliminate, triangulate

__all__ = ["Dag", "Elimination", "EssentialGraph", "UndirectedGraph", "eliminate", "triangulate"]

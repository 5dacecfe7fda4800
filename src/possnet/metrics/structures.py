"""Distances between structures."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from possnet.graph import Dag, EssentialGraph


def structure_metrics(truth: Dag, learned: Dag) -> dict[str, float]:
    """Structural Hamming distances, and precision and recall of the skeleton, v-structures and essential graph.

    The Hamming distance counts edges to add, to delete and to reverse, between the DAGs and between their essential graphs.
    Precision or recall of nothing is 1.

    >>> import possnet as pn
    >>> truth = pn.Dag({"a": (), "b": ("a",), "c": ("b",)})
    >>> structure_metrics(truth, pn.Dag({"a": ("b",), "b": (), "c": ("b",)}))
    {'hamming': 1.0, 'essential_hamming': 0.0, 'skeleton_precision': 1.0, 'skeleton_recall': 1.0,
     'v_structure_precision': 1.0, 'v_structure_recall': 1.0, 'essential_precision': 1.0, 'essential_recall': 1.0}
    """
    dags = (truth, learned)
    essentials = [_mark_edges(dag.essential_graph()) for dag in dags]
    directed = [{frozenset(edge): {edge} for edge in dag.edges} for dag in dags]
    distances = {
        "hamming": float(_count_differences(*directed)),
        "essential_hamming": float(_count_differences(*essentials)),
    }
    compared: dict[str, list[set[object]]] = {
        "skeleton": [set(edges) for edges in directed],
        "v_structure": [set(dag.v_structures()) for dag in dags],
        "essential": [{frozenset(mark) for mark in marks.values()} for marks in essentials],
    }
    for what, (true, other) in compared.items():
        common = len(true & other)
        distances[f"{what}_precision"] = common / len(other) if other else 1.0
        distances[f"{what}_recall"] = common / len(true) if true else 1.0
    return distances


def _mark_edges(graph: EssentialGraph) -> dict[frozenset[str], set[tuple[str, str]]]:
    """For every pair of an essential graph its direction, or both for an undirected edge."""
    marks: dict[frozenset[str], set[tuple[str, str]]] = {}
    for a, b in graph.directed:
        marks[frozenset((a, b))] = {(a, b)}
    for a, b in graph.undirected:
        marks[frozenset((a, b))] = {(a, b), (b, a)}
    return marks


def _count_differences(
    left: dict[frozenset[str], set[tuple[str, str]]], right: dict[frozenset[str], set[tuple[str, str]]]
) -> int:
    return sum(left.get(pair) != right.get(pair) for pair in left.keys() | right.keys())

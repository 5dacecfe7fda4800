"""Distances between structures."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from possnet.graph import Dag, EssentialGraph

__all__ = ["structure_metrics"]


def structure_metrics(truth: Dag, learned: Dag) -> dict[str, float]:
    """Structural Hamming distances, and precision and recall of the skeleton, v-structures and essential graph.

    The Hamming distance counts edges to add, to remove and to turn, between the DAGs and between their essential graphs.
    Precision or recall of nothing is 1.

    >>> import possnet as pn
    >>> truth = pn.Dag({"a": (), "b": ("a",), "c": ("b",)})
    >>> structure_metrics(truth, pn.Dag({"a": ("b",), "b": (), "c": ("b",)}))
    {'hamming': 1.0, 'essential_hamming': 0.0, 'skeleton_precision': 1.0, 'skeleton_recall': 1.0,
     'v_structure_precision': 1.0, 'v_structure_recall': 1.0, 'essential_precision': 1.0, 'essential_recall': 1.0}
    """
    skeletons = [_skeleton(dag) for dag in (truth, learned)]
    colliders: list[set[object]] = [set(dag.v_structures()) for dag in (truth, learned)]
    essentials = [_marks(dag.essential_graph()) for dag in (truth, learned)]
    kinds: list[set[object]] = [{frozenset(mark) for mark in marks.values()} for marks in essentials]
    directed = [{frozenset(edge): {edge} for edge in dag.edges} for dag in (truth, learned)]
    return {
        "hamming": float(_differences(*directed)),
        "essential_hamming": float(_differences(*essentials)),
        "skeleton_precision": _share(skeletons[1] & skeletons[0], skeletons[1]),
        "skeleton_recall": _share(skeletons[1] & skeletons[0], skeletons[0]),
        "v_structure_precision": _share(colliders[1] & colliders[0], colliders[1]),
        "v_structure_recall": _share(colliders[1] & colliders[0], colliders[0]),
        "essential_precision": _share(kinds[1] & kinds[0], kinds[1]),
        "essential_recall": _share(kinds[1] & kinds[0], kinds[0]),
    }


def _share(part: set[object], whole: set[object]) -> float:
    return len(part) / len(whole) if whole else 1.0


def _skeleton(dag: Dag) -> set[object]:
    return {frozenset(edge) for edge in dag.edges}


def _marks(graph: EssentialGraph) -> dict[frozenset[str], set[tuple[str, str]]]:
    """For every pair of an essential graph its direction, or both for an undirected edge."""
    found: dict[frozenset[str], set[tuple[str, str]]] = {}
    for a, b in graph.directed:
        found[frozenset((a, b))] = {(a, b)}
    for a, b in graph.undirected:
        found[frozenset((a, b))] = {(a, b), (b, a)}
    return found


def _differences(
    left: dict[frozenset[str], set[tuple[str, str]]], right: dict[frozenset[str], set[tuple[str, str]]]
) -> int:
    return sum(left.get(pair) != right.get(pair) for pair in left.keys() | right.keys())

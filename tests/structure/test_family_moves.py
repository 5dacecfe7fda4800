"""Moves of several edges, by their words, and that none breaks a constraint."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from possnet.aliases import Bools
from possnet.structure.family_moves import FamilyMove, edges_of, keeps_constraints, list_rearrangements
from possnet.structure.search_graph import CompiledConstraints, parent_sets_of
from tests.structure.cases import free

NODES = "abcdefgh"


def graph_of(text: str) -> Bools:
    """A graph as "a>b b>c"."""
    pairs = [tuple(map(NODES.index, edge.split(">"))) for edge in text.split()]
    edges = np.zeros((len(NODES), len(NODES)), dtype=np.bool_)
    for parent, child in pairs:
        edges[parent, child] = True
    return edges


def text_of(families: tuple[tuple[int, ...], ...]) -> set[str]:
    return {f"{NODES[p]}>{NODES[c]}" for c, parents in enumerate(families) for p in parents}


def move_of(edges: Bools, action: str, parent: str, child: str, hubs: str = "") -> FamilyMove:
    listed = list_rearrangements(
        edges, {(p, c): [NODES.index(h) for h in hubs] for p, c in np.argwhere(edges).tolist()}
    )
    wanted = action, NODES.index(parent), NODES.index(child)
    return next(move for move in listed if move[:3] == wanted)


@pytest.mark.parametrize(
    ("action", "parent", "child", "before", "after"),
    [
        ("exchange", "a", "b", "a>b a>c d>a", "b>a b>c d>a"),
        ("re-root", "a", "b", "a>b a>c d>a", "b>a b>c a>d"),
        ("lift", "a", "b", "a>b b>c b>d", "a>b a>c a>d"),
        ("sink", "a", "b", "a>b a>c a>d", "a>b b>c b>d"),
        ("replace", "a", "c", "a>b b>c", "a>b a>c"),
        ("fork", "h", "b", "a>b c>d", "h>a h>b c>d"),
    ],
)
def test_a_move_does_what_its_name_says(action: str, parent: str, child: str, before: str, after: str) -> None:
    move = move_of(graph_of(before), action, parent, child, hubs="h")
    assert text_of(move.families) == set(after.split())
    changed = move.changed_from(tuple(parent_sets_of(graph_of(before))))
    assert changed == [
        k for k, parents in enumerate(move.families) if tuple(parent_sets_of(graph_of(before)))[k] != parents
    ]


@given(st.integers(0, 10_000))
def test_moves_that_are_kept_are_acyclic_and_within_the_constraints(seed: int) -> None:
    rng = np.random.default_rng(seed)
    order = rng.permutation(6)
    edges = np.zeros((6, 6), dtype=np.bool_)
    for k, child in enumerate(order):
        edges[rng.choice(order[:k], size=min(k, int(rng.integers(3))), replace=False), child] = True
    required = edges & (rng.random((6, 6)) < 0.2)
    constraints = CompiledConstraints(required, edges | (rng.random((6, 6)) < 0.7) & ~np.eye(6, dtype=bool), 3)
    hubs = {(p, c): rng.integers(6, size=2).tolist() for p, c in np.argwhere(edges).tolist()}
    for move in list_rearrangements(edges, hubs):
        after = edges_of(move.families)
        paths = np.linalg.matrix_power(after.astype(int) + np.eye(6, dtype=int), 6) @ after
        wanted = (
            not np.diag(paths).any()
            and not (required & ~after).any()
            and not (after & ~constraints.allowed).any()
            and after.sum(axis=0).max() <= 3
        )
        assert keeps_constraints(move, constraints) == wanted
        assert not keeps_constraints(move, free(6, 0)) or not after.any()

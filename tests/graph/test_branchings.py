"""The heaviest branching, against all branchings of five nodes."""

from __future__ import annotations

from itertools import product

import numpy as np
from hypothesis import given, strategies as st

from possnet.aliases import Floats
from possnet.graph import heaviest_branching


def total_weight(weights: Floats, parents: tuple[int, ...]) -> float:
    """Sum of the weights of the edges into the nodes that have a parent; -inf if they close a cycle."""
    for node in range(len(parents)):
        above, steps = node, 0
        while above >= 0:
            above, steps = parents[above], steps + 1
            if steps > len(parents):
                return -np.inf
    return float(sum(weights[p, c] for c, p in enumerate(parents) if p >= 0))


@given(st.integers(1, 5), st.randoms(use_true_random=False), st.booleans())
def test_no_branching_is_heavier(size: int, random: object, whole: bool) -> None:
    rng = np.random.default_rng(random.getrandbits(32))  # type: ignore[attr-defined]
    weights = rng.integers(-3, 9, (size, size)).astype(float) if whole else rng.normal(0.5, 1.0, (size, size))
    weights[rng.random((size, size)) < 0.2] = -np.inf
    np.fill_diagonal(weights, -np.inf)
    best = max(total_weight(weights, parents) for parents in product(range(-1, size), repeat=size))
    chosen = tuple(heaviest_branching(weights).tolist())
    assert np.isclose(total_weight(weights, chosen), best)
    assert all(p < 0 or weights[p, c] > 0.0 for c, p in enumerate(chosen))


def test_nested_cycles_are_broken_where_it_costs_least() -> None:
    weights = np.full((6, 6), -np.inf)
    edges = {(0, 1): 9, (1, 0): 9, (1, 2): 8, (2, 1): 8.5, (2, 3): 7, (3, 0): 9.5, (3, 4): 1, (5, 3): 0.5, (4, 5): 2}
    for edge, weight in edges.items():
        weights[edge] = weight
    parents = heaviest_branching(weights)
    assert total_weight(weights, tuple(parents.tolist())) == max(
        total_weight(weights, chosen) for chosen in product(range(-1, 6), repeat=6)
    )

"""Most possible configurations, read off a junction tree whose messages are up to date.

After the pass upward every clique knows, for each value of its separator, the best that it and all below it can
reach. Going down from the roots, each choice therefore has an exact bound on what the rest can still give, and a
best-first search meets complete configurations in decreasing order without a wasted step (Nilsson 1998 has the idea
for probabilities).
"""

from __future__ import annotations

from dataclasses import dataclass
from heapq import heappop, heappush
from math import prod, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from possnet.inference.message_passing import shape_in_clique
from possnet.inference.semirings import ROUNDING

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from possnet.aliases import Bools, Floats, Ints
    from possnet.inference.junction_tree import JunctionTree


@dataclass(frozen=True, slots=True)
class Explanation:
    """A configuration, its possibility together with the evidence, and how many configurations reach the same degree.

    >>> import possnet as pn
    >>> pn.Inference(pn.load_example("asia").with_table("smoke", [1, 0.5])).most_possible({"lung": "yes"}).possibility
    0.1
    """

    configuration: dict[str, str]
    possibility: float
    ties: int


class _BestFirstSearch:
    """Best-first search over the cliques of a tree, parents before children."""

    def __init__(self, tree: JunctionTree) -> None:
        self.tree, self.plan, self.semiring = tree, tree.plan, tree.semiring
        self.order = list(range(len(tree.plan.cliques) - 1, -1, -1))
        self.heap: list[tuple[float, int, float, int, int, dict[int, int], Floats, Ints]] = []
        self.pushed = 0

    def push_choice(
        self, bound: float, depth: int, rank: int, states: dict[int, int], column: Floats, places: Ints
    ) -> None:
        """Queue the choice of the given rank; ``bound`` is the value before the choice is made."""
        if rank >= len(places) or column[places[rank]] == self.semiring.zero:
            return
        value = float(column[places[rank]])
        if self.semiring.divide is None:
            reached = min(bound, value)
        else:
            reached = float(self.semiring.combine(bound, self.semiring.divide(value, float(column[places[0]]))))
        heappush(self.heap, (-reached, self.pushed, bound, depth, rank, states, column, places))
        self.pushed += 1

    def open_clique(self, bound: float, depth: int, states: dict[int, int]) -> None:
        """Queue the best choice of the clique at this depth."""
        column = self.tree.column(self.order[depth], states)  # what each choice can reach, given the choices before
        self.push_choice(bound, depth, 0, states, column, np.argsort(-column, kind="stable"))


def best_configurations(tree: JunctionTree, k: int) -> list[tuple[float, dict[int, int]]]:
    """The k best values and complete configurations (variable -> state); those of the zero value are left out."""
    plan = tree.plan
    search = _BestFirstSearch(tree)
    if not search.order:
        return [(tree.semiring.one, {})]  # nothing is left to choose
    search.open_clique(tree.collect(), 0, {})
    best: list[tuple[float, dict[int, int]]] = []
    while search.heap and len(best) < k:
        negative, _, bound, depth, rank, states, column, places = heappop(search.heap)
        if k > 1:
            search.push_choice(bound, depth, rank + 1, states, column, places)
        clique = plan.cliques[search.order[depth]]
        chosen = np.unravel_index(int(places[rank]), clique.shape[: clique.residual])
        extended = states | {v: int(s) for v, s in zip(clique.variables[: clique.residual], chosen, strict=True)}
        if depth + 1 == len(search.order):
            best.append((-negative, extended))
        else:
            search.open_clique(-negative, depth + 1, extended)
    return best


def count_ties(tree: JunctionTree, lowest: float | None = None) -> int:
    """How many configurations reach the best value: those that do so in the belief of every clique.

    A product is best when each component is; a minimum, when no component is below it, or below ``lowest`` if that is
    given, as something outside the tree lets no configuration be better.

    Equality is up to rounding; the number is exact, however large.
    """
    value = tree.collect() if lowest is None else lowest
    margin = tie_margin(tree)
    reached: list[Bools] = [np.zeros(0, dtype=np.bool_)] * len(tree.plan.cliques)
    for number, belief in tree.beliefs():
        top = float(belief.max())
        if tree.semiring.divide is None:
            reached[number] = belief >= value
        else:
            reached[number] = belief >= top - margin * (1.0 if tree.semiring.one == 0.0 else top)
    quick = _count_configurations(tree, reached, np.float64)
    return int(quick) if quick < 2.0**53 else int(_count_configurations(tree, reached, np.object_))


def tie_margin(tree: JunctionTree) -> float:
    """How far two equal values may differ by rounding: relative for products, absolute for sums of logarithms."""
    if tree.semiring.one != 0.0:
        return ROUNDING
    return max(ROUNDING, 1e-15 * abs(tree.collect()) * sqrt(len(tree.plan.sizes)))


def _count_configurations(tree: JunctionTree, reached: list[Bools], kind: type) -> Any:
    """Number of configurations that reach the best everywhere: in floats, or in Python integers for numbers of any size."""
    plan = tree.plan
    counts: list[NDArray[Any]] = [np.ones(1)] * len(plan.cliques)
    total: Any = 1
    with np.errstate(over="ignore"):
        for number, clique in enumerate(plan.cliques):
            table: NDArray[Any] = reached[number].astype(np.int64).astype(kind).reshape(clique.shape)
            for child in clique.children:
                table = table * counts[child].reshape(shape_in_clique(clique, plan.cliques[child].separator))
            counts[number] = table.reshape(-1, prod(clique.shape[clique.residual :])).sum(axis=0)
            if clique.parent < 0:
                total = total * counts[number][0]
    return total

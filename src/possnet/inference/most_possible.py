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
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from possnet.inference.message_passing import shape_in_clique
from possnet.inference.semirings import ROUNDING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from possnet.aliases import Bools, Floats
    from possnet.inference.junction_tree import JunctionTree
    from possnet.inference.semirings import Semiring


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


class _Choices:
    """What each choice of a clique's residual can reach, given one value of its separator: best first."""

    __slots__ = ("gains", "places")

    def __init__(self, column: Floats, semiring: Semiring) -> None:
        ranked = np.argsort(-column, kind="stable")
        values = column[ranked]
        possible = values != semiring.zero
        if not possible.all():
            ranked, values = ranked[possible], values[possible]
        gains = values if semiring.divide is None else semiring.divide(values, values[:1])
        self.places: list[int] = ranked.tolist()
        self.gains: list[float] = gains.tolist()


class ChoiceStep(Protocol):
    """One choice on the way to a configuration, given the states chosen before: what it can reach, and what it says."""

    def place(self, states: dict[int, int]) -> int:
        """A number for all that the choice depends on."""

    def column(self, states: dict[int, int]) -> Floats:
        """What each choice can reach, together with all that depends on it."""

    def name_states(self, place: int) -> dict[int, int]:
        """The states that a choice stands for."""


class _CliqueStep:
    """The states of the variables that leave in one clique of a tree after `collect`."""

    __slots__ = ("_number", "_tree")

    def __init__(self, tree: JunctionTree, number: int) -> None:
        self._tree, self._number = tree, number

    def place(self, states: dict[int, int]) -> int:
        return self._tree.separator_place(self._number, states)

    def column(self, states: dict[int, int]) -> Floats:
        return self._tree.column(self._number, states)

    def name_states(self, place: int) -> dict[int, int]:
        return self._tree.name_states(self._number, place)


class FamilyStep:
    """The state of a variable that is neither observed nor an ancestor of one that is: its row peaks at 1."""

    __slots__ = ("_scope", "_table")

    def __init__(self, scope: tuple[int, ...], table: Floats) -> None:
        self._scope, self._table = scope, table

    def place(self, states: dict[int, int]) -> int:
        """Which row of the table it is."""
        place = 0
        for parent, size in zip(self._scope[:-1], self._table.shape[:-1], strict=True):
            place = place * size + states[parent]
        return place

    def column(self, states: dict[int, int]) -> Floats:
        """The row."""
        row: Floats = self._table[tuple([states[parent] for parent in self._scope[:-1]])]
        return row

    def name_states(self, place: int) -> dict[int, int]:
        """The state."""
        return {self._scope[-1]: place}


class _BestFirstSearch:
    """Best-first search through some steps.

    A branch is a choice of some rank in one step, given those before it. Its bound is exact: it is reached by the best
    choice in each step that follows. A branch that is taken is therefore followed to its end at once, and the next choice
    in each step on the way becomes a branch of its own.
    """

    def __init__(self, steps: Sequence[ChoiceStep], semiring: Semiring) -> None:
        self.steps, self.semiring = steps, semiring
        self.heap: list[tuple[float, int, float, int, int, dict[int, int]]] = []
        self.pushed = 0
        self.known: dict[tuple[int, int], _Choices] = {}

    def choices(self, depth: int, states: dict[int, int]) -> _Choices:
        """The choices of a step, ranked once for all that it depends on."""
        step = self.steps[depth]
        place = step.place(states)
        choices = self.known.get((depth, place))
        if choices is None:
            choices = self.known[depth, place] = _Choices(step.column(states), self.semiring)
        return choices

    def push(self, bound: float, depth: int, rank: int, states: dict[int, int], gains: list[float]) -> None:
        """Queue a choice; ``bound`` is the value before it is made."""
        if rank < len(gains):
            heappush(self.heap, (-self.reach(bound, gains[rank]), self.pushed, bound, depth, rank, states))
            self.pushed += 1

    def reach(self, bound: float, gain: float) -> float:
        """The best value after a choice, given the best one before it."""
        if self.semiring.divide is None:
            return min(bound, gain)
        return bound + gain if self.semiring.is_logarithmic else bound * gain

    def follow(self, bound: float, depth: int, rank: int, states: dict[int, int]) -> tuple[float, dict[int, int]]:
        """Take a choice and the best one in each step that follows."""
        for level in range(depth, len(self.steps)):
            choices = self.choices(level, states)
            self.push(bound, level, rank + 1, states, choices.gains)
            bound = self.reach(bound, choices.gains[rank])
            states = states | self.steps[level].name_states(choices.places[rank])
            rank = 0
        return bound, states


def best_configurations(
    tree: JunctionTree, k: int, families: Sequence[FamilyStep] = ()
) -> list[tuple[float, dict[int, int]]]:
    """The k best values and complete configurations (variable -> state); those of the zero value are left out.

    ``families`` are those of further variables, parents before children, which the tree does not hold.
    """
    top, semiring = tree.collect(), tree.semiring
    steps: list[ChoiceStep] = [_CliqueStep(tree, number) for number in range(len(tree.plan.cliques) - 1, -1, -1)]
    steps += families
    if top == semiring.zero:
        return []
    if k == 1:
        states: dict[int, int] = {}
        for step in steps:
            states |= step.name_states(int(step.column(states).argmax()))
        return [(top, states)]
    search = _BestFirstSearch(steps, semiring)
    best = [search.follow(top, 0, 0, {})]
    while search.heap and len(best) < k:
        _, _, bound, depth, rank, states = heappop(search.heap)
        best.append(search.follow(bound, depth, rank, states))
    return best


def count_ties(tree: JunctionTree, lowest: float | None = None) -> int:
    """How many configurations reach the best value: those that do so in the belief of every clique.

    A product is best when each component is; a minimum, when no component is below it, or below ``lowest`` if that is
    given, as something outside the tree lets no configuration be better.

    Equality is up to rounding; the number is exact, however large.
    """
    value = tree.collect() if lowest is None else lowest
    margin = tie_margin(tree.semiring, tree.collect(), len(tree.plan.sizes))
    reached: list[Bools] = [np.zeros(0, dtype=np.bool_)] * len(tree.plan.cliques)
    for number, belief in tree.beliefs():
        top = float(belief.max())
        if tree.semiring.divide is None:
            reached[number] = belief >= value
        else:
            reached[number] = belief >= top - margin * (1.0 if tree.semiring.one == 0.0 else top)
    quick = _count_configurations(tree, reached, np.float64)
    return int(quick) if quick < 2.0**53 else int(_count_configurations(tree, reached, np.object_))


def tie_margin(semiring: Semiring, value: float, variables: int) -> float:
    """How far values that equal this one may differ by rounding: a share of products, a length for sums of logarithms."""
    if not semiring.is_logarithmic:
        return ROUNDING
    return max(ROUNDING, 1e-15 * abs(value) * sqrt(variables))


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

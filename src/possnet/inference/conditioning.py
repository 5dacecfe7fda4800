"""Exact inference where a junction tree does not fit into memory: time for memory.

With C some variables (a *cutset*), Π(x, e) is the projection over all configurations c of Π(x, e, c), and with C fixed the
tree of the rest is narrower (Pearl 1988 conditions until it is a tree; here until it fits). Neighbouring configurations
differ in one variable (a reflected Gray code), and only the messages that it touches are computed again: those below, which
do not depend on it, are kept, as in recursive conditioning (Darwiche 2001). What this takes is known before anything is
computed, and refused if it is too long.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log2, prod
from typing import TYPE_CHECKING

import numpy as np

from possnet.errors import TooLarge
from possnet.inference.junction_tree import JunctionTree
from possnet.inference.most_possible import best_configurations, count_ties, tie_margin
from possnet.inference.plan import Plan, make_plan
from possnet.limits import memory_limit, readable_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from possnet.aliases import Floats, Progress
    from possnet.inference.semirings import Semiring

_SECONDS_AN_ENTRY = 4e-9  # of a pass, measured on one machine
_SECONDS_A_CLIQUE = 3e-5
MAX_SECONDS = 10.0  # that a query may take where variables are fixed in turn, unless it is told otherwise
_WORTH_PLANNING = 1 << 30  # configurations; more never come to an end, however well they are planned


@dataclass(frozen=True, slots=True)
class Budget:
    """What a query may take: bytes (by default half of the free memory), seconds of conditioning, and who is told of it."""

    limit: int | None = None
    max_seconds: float = MAX_SECONDS
    progress: Progress | None = None


@dataclass(frozen=True, slots=True)
class Cutset:
    """Variables to fix, the one that changes most often first; the plan of the rest, and the estimated seconds."""

    variables: tuple[int, ...]
    plan: Plan
    seconds: float

    @property
    def runs(self) -> int:
        """Number of configurations."""
        return prod(self.plan.sizes[v] for v in self.variables)


def find_cutset(
    sizes: Sequence[int],
    scopes: Sequence[tuple[int, ...]],
    limit: int,
    *,
    dropped: int = 0,
    targets: Sequence[int] = (),
    passes: int = 1,
    whole: Plan | None = None,
) -> Cutset | None:
    """Variables that, once fixed, leave a tree which fits; None if the targets alone are too many.

    Greedy: each time the variables that take most out of the largest cliques for the number of their states. ``passes`` is
    how often the tree is gone through for every configuration, beyond what has changed; ``whole`` the plan of all, if it
    is there already.

    >>> triangle = [(0, 1), (1, 2), (0, 2)]
    >>> cutset = find_cutset([10, 10, 10], triangle, limit=6_500)
    >>> len(cutset.variables), cutset.runs, cutset.plan.largest
    (1, 10, 100)
    """
    fixed: list[int] = []
    last = sum(1 << target for target in targets)

    def plan_rest(*, thorough: bool) -> Plan:
        gone = dropped | sum(1 << v for v in fixed)
        left = [tuple([v for v in scope if v not in fixed]) for scope in scopes]
        return make_plan(sizes, left, dropped=gone, last=last, together=targets, thorough=thorough)

    plan = whole or plan_rest(thorough=True)
    while plan.lean_memory > limit:
        chosen = _most_helpful(plan, set(targets), plan.lean_memory / limit)
        if not chosen:
            return None
        fixed += chosen
        plan = plan_rest(thorough=False)
    if fixed and prod(sizes[v] for v in fixed) < _WORTH_PLANNING:
        better = plan_rest(thorough=True)
        plan = better if better.lean_memory <= limit else plan
    costs = {v: _path_cost(plan, [scope for scope in scopes if v in scope], fixed) for v in fixed}
    fixed.sort(key=costs.__getitem__)
    seconds, runs = 0.0, prod(sizes[v] for v in fixed)
    every, left = runs * (passes - 1) * _tree_cost(plan), float(runs)
    for v in fixed:
        left /= sizes[v]
        seconds += left * (sizes[v] - 1) * costs[v]
    return Cutset(tuple(fixed), plan, seconds + every + _tree_cost(plan))


def _tree_cost(plan: Plan) -> float:
    return plan.entries * _SECONDS_AN_ENTRY + len(plan.cliques) * _SECONDS_A_CLIQUE


def _most_helpful(plan: Plan, kept: set[int], excess: float) -> list[int]:
    """Variables that take most entries out of the largest cliques for the logarithms of their numbers of states.

    One, or several at once while the tree is far too large: a quarter of the bits that are too many.
    """
    saved: dict[int, float] = {}
    for clique in plan.cliques:
        entries = prod(clique.shape)
        if entries * 16 >= plan.largest:
            for v, size in zip(clique.variables, clique.shape, strict=True):
                if size > 1 and v not in kept:
                    saved[v] = saved.get(v, 0.0) + entries * (1.0 - 1.0 / size) / log2(size)
    ranked = sorted(saved, key=lambda v: (-saved[v], v))
    return ranked[: max(int(log2(excess) / 4), 1)]


def _path_cost(plan: Plan, scopes: Sequence[tuple[int, ...]], fixed: Sequence[int]) -> float:
    """Seconds to renew the messages that depend on some factors: their cliques, and all above these."""
    touched = set()
    for scope in scopes:
        left = [v for v in scope if v not in fixed]
        number = plan.home[min(left, key=plan.position.__getitem__)] if left else -1
        while number >= 0 and number not in touched:
            touched.add(number)
            number = plan.cliques[number].parent
    entries = sum(prod(plan.cliques[k].shape) for k in touched)
    return entries * _SECONDS_AN_ENTRY + len(touched) * _SECONDS_A_CLIQUE


def require_cutset(
    sizes: Sequence[int],
    scopes: Sequence[tuple[int, ...]],
    names: Sequence[str],
    budget: Budget,
    whole: Plan,
    *,
    dropped: int = 0,
    targets: Sequence[int] = (),
    passes: int = 1,
) -> Cutset:
    """A cutset that the budget allows; `TooLarge`, with the estimates, if there is none."""
    limit = memory_limit() if budget.limit is None else budget.limit
    cutset = find_cutset(sizes, scopes, limit, dropped=dropped, targets=targets, passes=passes, whole=whole)
    if cutset is not None and cutset.seconds <= budget.max_seconds:
        return cutset
    cure = "Fewer parents or states there, or evidence on one of these variables, would help; so would a higher limit="
    if cutset is not None:
        cure += (
            f", or max_seconds={cutset.seconds:.2g}: with {len(cutset.variables)} variables fixed in turn "
            f"({cutset.runs:,} configurations) it fits and takes about {_readable_seconds(cutset.seconds)}; "
            f"{budget.max_seconds:g} are allowed"
        )
    widest = max(whole.cliques, key=lambda clique: prod(clique.shape))
    listed = ", ".join(names[v] for v in widest.variables[:6])
    more = f" and {len(widest.variables) - 6} more" if len(widest.variables) > 6 else ""
    raise TooLarge(
        f"inference needs {readable_bytes(whole.lean_memory)}; the limit is {readable_bytes(limit)}. "
        f"The widest clique has {prod(widest.shape):,} entries ({listed}{more}). {cure}"
    )


def _readable_seconds(seconds: float) -> str:
    for unit, length in (("years", 31_557_600.0), ("days", 86_400.0), ("hours", 3_600.0), ("minutes", 60.0)):
        if seconds >= 2 * length:
            return f"{seconds / length:.2g} {unit}"
    return f"{seconds:.2g} seconds"


class ConditionedTree:
    """A junction tree of what a cutset leaves, for each of its configurations in turn.

    Parameters
    ----------
    scopes, tables
        Factors, as of the whole; ``tables`` are values of the semiring.
    """

    def __init__(
        self, cutset: Cutset, scopes: Sequence[tuple[int, ...]], tables: Sequence[Floats], semiring: Semiring
    ) -> None:
        self._cutset, self._scopes, self._tables, self._semiring = cutset, scopes, tables, semiring
        self._states = dict.fromkeys(cutset.variables, 0)
        left = [tuple([v for v in scope if v not in self._states]) for scope in scopes]
        self._constants = [factor for factor, scope in enumerate(left) if not scope]
        self._holding = {v: [k for k, scope in enumerate(scopes) if v in scope] for v in cutset.variables}
        slices = [self._slice_factor(factor) for factor in range(len(scopes))]
        self.tree = JunctionTree(cutset.plan, left, slices, semiring)

    def _slice_factor(self, factor: int) -> Floats:
        where = tuple([self._states.get(v, slice(None)) for v in self._scopes[factor]])
        return np.asarray(self._tables[factor][where])

    def configurations(self, progress: Progress | None = None) -> Iterator[tuple[dict[int, int], float]]:
        """Every configuration of the cutset, and what the factors that hold nothing else make of it.

        The tree is that of the configuration, its messages not collected.
        """
        runs = self._cutset.runs
        for done, changed in enumerate(_gray_codes([self._cutset.plan.sizes[v] for v in self._cutset.variables])):
            if changed is not None:
                digit, state = changed
                variable = self._cutset.variables[digit]
                self._states[variable] = state
                held = [factor for factor in self._holding[variable] if factor not in self._constants]
                self.tree.set_tables({factor: self._slice_factor(factor) for factor in held})
            constant = self._semiring.one
            for factor in self._constants:
                constant = float(self._semiring.combine(constant, float(self._slice_factor(factor))))
            yield dict(self._states), constant
            if progress is not None:
                progress(done + 1, runs)


def marginals_in_turn(
    conditioned: ConditionedTree, sizes: Sequence[int], progress: Progress | None
) -> tuple[float, list[Floats]]:
    """The value of all factors, and the marginal of every variable, projected over all configurations of the cutset."""
    tree = conditioned.tree
    semiring = tree.semiring
    total, marginals = semiring.zero, [np.full(size, semiring.zero) for size in sizes]
    for states, constant in conditioned.configurations(progress):
        with np.errstate(divide="ignore", invalid="ignore"):
            value = float(semiring.combine(constant, tree.collect()))
            if value == semiring.zero:
                continue
            total = float(semiring.project(total, value))
            for v, marginal in enumerate(tree.distribute()):
                if v in states:
                    place = states[v]
                    marginals[v][place] = semiring.project(marginals[v][place], value)
                else:
                    semiring.project(marginals[v], semiring.combine(marginal.reshape(-1), constant), out=marginals[v])
    return total, marginals


def best_in_turn(
    conditioned: ConditionedTree, k: int, progress: Progress | None
) -> tuple[list[tuple[float, dict[int, int]]], int]:
    """The k best values and complete configurations, and how many reach the best: the best of every configuration."""
    tree = conditioned.tree
    semiring = tree.semiring
    best: list[tuple[float, dict[int, int]]] = []
    ties, top, margin = 0, semiring.zero, 0.0
    for fixed, constant in conditioned.configurations(progress):
        with np.errstate(divide="ignore", invalid="ignore"):
            value = float(semiring.combine(constant, tree.collect()))
            if value == semiring.zero:
                continue
            margin = tie_margin(semiring, tree.collect(), len(tree.plan.sizes))
            room = margin * (1.0 if semiring.is_logarithmic else max(value, top))
            if value > top + room:
                ties, top = 0, value
            if value >= top - room:
                ties += count_ties(tree, value)
            if len(best) < k or value > best[-1][0]:
                choices = best_configurations(tree, k)
                best += [(float(semiring.combine(constant, degree)), states | fixed) for degree, states in choices]
                best = sorted(best, key=lambda entry: -entry[0])[:k]
    return best, ties


def _gray_codes(sizes: Sequence[int]) -> Iterator[tuple[int, int] | None]:
    """Changes (digit, its new value) through all numbers of mixed sizes, one digit at a time; None for the first, all 0.

    >>> list(_gray_codes([2, 3]))
    [None, (0, 1), (1, 1), (0, 0), (1, 2), (0, 1)]
    """
    digits, steps = [0] * len(sizes), [1] * len(sizes)
    yield None
    while True:
        digit = 0
        while digit < len(sizes) and not 0 <= digits[digit] + steps[digit] < sizes[digit]:
            steps[digit] = -steps[digit]
            digit += 1
        if digit == len(sizes):
            return
        digits[digit] += steps[digit]
        yield digit, digits[digit]

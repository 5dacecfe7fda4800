r"""Lower and upper answers of all networks whose normalised tables lie between two given ones.

Let a *network within the bounds* have tables with lower(x | a) <= π(x | a) <= upper(x | a) whose rows peak at 1. Upper rows
peak at 1 themselves, or there would be no such network.

**Monotone.** For targets x and evidence e with degrees λ,

    Π(x, e) = max over the other variables of  conjunction over i of π(x_i | a_i), conjunction over e of λ.

Product and minimum of numbers in [0, 1] grow with each of them, and so does a maximum of such functions. Hence raising any
entry of any table raises Π(x, e) or leaves it, and Π(x, e) lies between its values at the lower and at the upper tables.

**Barren variables.** A variable with neither target nor evidence below it contributes max over x_i of π(x_i | a_i) = 1 in
every network within the bounds, although its lower row may peak below 1. It is left out, for every target and for Π(e)
separately: multiplied in, it would make the lower end too low.

**The upper end is attained**, for all targets and all evidence at once: the upper tables are themselves within the bounds.

**The lower end.** The lower tables need not be normalised. A row of a network within the bounds has a 1 at one of its
*candidates* C(a), the states of upper degree 1. If there is only one candidate its lower degree is therefore 1, and lower
rows are raised so first. A row that still peaks below 1 can be completed by raising one candidate c(a) to 1, and
(by monotonicity) the least Π(x, e) is reached by such a choice of candidates:

    least Π(x, e) = min over choices c of Π_c(x, e).

A variable in a known state (a target or hard evidence) costs nothing: if the state is the only candidate, its lower degree
is 1, and otherwise another candidate is raised. For the others, eliminate children before parents. With m(x, r) the
combined messages of what lies below v (r: other variables in them), the message of v is

    max( max over x of lower(x | a) * m(x, r),  min over x in C(a) of m(x, r) ),                  * the conjunction

because a candidate raised to 1 adds m(c(a), r) to the maximum, and the smallest such is the least. The choice is made for
a row, so it may depend on a. Where r lies within a (and the targets, whose states are minimised apart) it does no more than
that: the choices of all rows can be made at once, and the message is attained. Where r has another variable, a choice that
may depend on it is more than a row can do, and the message is a lower bound of what rows can reach. So the lower end is

- attained if every open variable (neither target nor in a known state, and not barren) whose lower rows do not all peak at
  1 has r within its parents: always in forests, where every variable has at most one parent, and always if the lower rows
  of open variables peak at 1;
- an outer bound otherwise, never below the value at the lower tables alone.

Variables whose messages are attained are eliminated first, as far as children go before parents.
Messages that would take more memory than the budget are not built: then the lower tables alone are used, an outer bound.

**Conditioning is not monotone**: see `possnet.inference.possibility_bounds.condition_bounds`. For the product what lies
apart from the targets given the evidence is left out, since it cancels in Π(x, e) / Π(e) in each network.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from possnet.errors import ImpossibleEvidence
from possnet.inference.evidence import describe_evidence, read_evidence
from possnet.inference.factor_graph import FactorGraph, to_semiring
from possnet.inference.junction_tree import JunctionTree
from possnet.inference.plan import make_plan
from possnet.inference.possibility_bounds import PossibilityBounds
from possnet.inference.pruning import find_connected, read_targets
from possnet.inference.semirings import MAX_MIN, MAX_SUM
from possnet.network import Network

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from possnet.aliases import Bools, Floats
    from possnet.inference.evidence import Evidence
    from possnet.inference.factor_graph import Factor
    from possnet.inference.semirings import Semiring
    from possnet.network import NetworkBounds

_MESSAGE_BYTES = 1 << 26  # that one message of the lower end may take


@dataclass(frozen=True, slots=True)
class _BoundedFactor:
    """A factor at both ends of its bounds, hard evidence sliced out.

    ``child`` is the variable of the family if it is open (to be eliminated), and ``candidates`` says which states of its
    rows can have degree 1; None for the families of targets and of known variables, and for evidence.
    """

    scope: tuple[int, ...]
    lower: Floats
    upper: Floats
    child: int | None = None
    candidates: Bools = field(default_factory=lambda: np.ones(0, dtype=np.bool_))


class BoundedQueries:
    """Questions to all networks within bounds; see the module for what is computed and why it holds the truth."""

    def __init__(self, graph: FactorGraph, bounds: NetworkBounds, limit: int | None) -> None:
        network = graph.network
        self._variables, self._limit = network.variables, limit
        self._budget = min(limit or _MESSAGE_BYTES, _MESSAGE_BYTES)
        self._candidates = [bounds.upper[name] == 1.0 for name in graph.names]
        lower = {
            name: _raise_sole_candidates(bounds.lower[name], candidates)
            for name, candidates in zip(graph.names, self._candidates, strict=True)
        }
        self._lower, self._upper = (
            FactorGraph(Network.unchecked(network.variables, network.dag, tables, conjunction=network.conjunction))
            for tables in (lower, dict(bounds.upper))
        )

    def bound_targets(self, targets: list[int], evidence: Evidence | None) -> PossibilityBounds:
        """Bounds of the possibility of targets given evidence; an error if the evidence is impossible at the upper end."""
        known = read_evidence(evidence, self._variables)
        self._require_possible(known, evidence)
        return self._bound_conditioned(targets, known)

    def bound_marginals(self, evidence: Evidence | None) -> list[PossibilityBounds]:
        """Bounds of the possibility of every variable given evidence."""
        known = read_evidence(evidence, self._variables)
        self._require_possible(known, evidence)
        return [self._bound_conditioned([target], known) for target in range(len(self._variables))]

    def bound_evidence(self, evidence: Evidence) -> tuple[float, float]:
        """Lower and upper possibility of the evidence."""
        known = read_evidence(evidence, self._variables)
        semiring = self._choose_semiring(known)
        factors = self._gather_factors([], known)
        low, _ = self._find_lower_table(factors, [], semiring)
        high = self._project_upper(factors, [], semiring)
        ends = (float(np.exp(end.item())) if semiring is MAX_SUM else end.item() for end in (low, high))
        lower, upper = ends
        return min(lower, upper), upper

    def _require_possible(self, known: dict[int, Floats], evidence: Evidence | None) -> None:
        semiring = self._choose_semiring(known)
        if known and self._project_upper(self._gather_factors([], known), [], semiring).item() == semiring.zero:
            raise ImpossibleEvidence(
                f"the evidence ({describe_evidence(evidence)}) has possibility 0 in every network within the bounds; "
                "nothing can be concluded from it"
            )

    def _bound_conditioned(self, targets: list[int], known: dict[int, Floats]) -> PossibilityBounds:
        semiring = self._choose_semiring(known)
        factors = self._gather_factors(targets, known)
        if known and semiring is not MAX_MIN:
            reached = find_connected([factor.scope for factor in factors], targets)
            factors = [factor for k, factor in enumerate(factors) if k in reached]
        low, attained = self._find_lower_table(factors, targets, semiring)
        high = self._project_upper(factors, targets, semiring)
        scope = tuple(self._variables[target] for target in targets)
        joint = np.minimum(low, high).reshape(-1), high.reshape(-1)  # the two ends are rounded apart
        return PossibilityBounds(scope, joint, semiring, given=bool(known), attained=attained)

    def _choose_semiring(self, known: dict[int, Floats]) -> Semiring:
        """The one for the end whose products are smaller."""
        chosen = self._lower.choose_semiring(known)
        return chosen if chosen is MAX_SUM else self._upper.choose_semiring(known)

    def _gather_factors(self, targets: list[int], known: dict[int, Floats]) -> list[_BoundedFactor]:
        """The families that matter for targets and evidence, known states sliced out, and the rest of the evidence."""
        positive = {v: np.flatnonzero(degrees) for v, degrees in known.items()}
        hard = {v: int(states[0]) for v, states in positive.items() if len(states) == 1 and v not in targets}
        factors = []
        for v in self._upper.relevant_factors((*targets, *known)):
            scope = self._upper.scopes[v]
            place = tuple([hard.get(u, slice(None)) for u in scope])
            lower, upper, candidates = (
                np.asarray(table[place])
                for table in (self._lower.tables[v], self._upper.tables[v], self._candidates[v])
            )
            child = None if v in hard or v in targets else v
            left = tuple([u for u in scope if u not in hard])
            factors.append(_BoundedFactor(left, lower, upper, child, candidates))
        for v, degrees in known.items():
            vector = np.asarray(degrees[hard[v]]) if v in hard else degrees
            factors.append(_BoundedFactor(() if v in hard else (v,), vector, vector))
        return factors

    def _project_upper(self, factors: Sequence[_BoundedFactor], targets: list[int], semiring: Semiring) -> Floats:
        return self._project([(factor.scope, factor.upper) for factor in factors], targets, semiring)

    def _find_lower_table(
        self, factors: Sequence[_BoundedFactor], targets: list[int], semiring: Semiring
    ) -> tuple[Floats, bool]:
        """Lower end of the joint degrees of the targets, and whether it is attained."""
        found = eliminate_open(factors, targets, semiring, self._upper.sizes, self._budget)
        if found is None:
            return self._project([(factor.scope, factor.lower) for factor in factors], targets, semiring), False
        left, attained = found
        return _combine_factors(left, targets, self._upper.sizes, semiring), attained

    def _project(self, factors: Iterable[Factor], targets: list[int], semiring: Semiring) -> Floats:
        """Combination of factors, projected on the targets: by a junction tree."""
        value, scopes, tables = semiring.one, [], []
        for scope, degrees in factors:
            table = to_semiring(degrees, semiring)
            if scope:
                scopes.append(scope)
                tables.append(table)
            else:
                value = float(semiring.combine(value, float(table)))
        sizes = self._upper.sizes
        present = {v for scope in scopes for v in scope} | set(targets)
        absent = sum(1 << v for v in range(len(sizes)) if v not in present)
        plan = make_plan(sizes, scopes, dropped=absent, last=sum(1 << target for target in targets), together=targets)
        plan.refuse_if_large(self._upper.names, self._limit)
        if not plan.cliques:
            return np.array(value)
        tree = JunctionTree(plan, scopes, tables, semiring)
        total = float(semiring.combine(value, tree.collect(keep=False)))
        return read_targets(tree, targets, value) if targets else np.array(total)


def eliminate_open(
    factors: Sequence[_BoundedFactor], targets: list[int], semiring: Semiring, sizes: Sequence[int], budget: int
) -> tuple[list[Factor], bool] | None:
    """The lower end of factors after all open variables are eliminated, children first; and whether it is attained.

    None if a message would take more bytes than the budget.
    """
    families = {factor.child: factor for factor in factors if factor.child is not None}
    pool = [(factor.scope, to_semiring(factor.lower, semiring)) for factor in factors if factor.child is None]
    attained = True
    while families:
        parents = {u for child, family in families.items() for u in family.scope if u != child}
        unions = {v: _join_scopes(v, pool, families[v]) for v in families if v not in parents}
        losing = {v: not _is_attained(families[v], unions[v], targets) for v in unions}
        child = min(unions, key=lambda v: (losing[v], prod(sizes[u] for u in unions[v])))
        union = unions[child]
        if 8 * prod(sizes[u] for u in union) > budget:
            return None
        below = _combine_factors([part for part in pool if child in part[0]], union, sizes, semiring)
        family = families.pop(child)
        lower = _spread_axes((family.scope, to_semiring(family.lower, semiring)), union, sizes)
        message = semiring.project.reduce(semiring.combine(lower, below), axis=-1)
        if not _has_peaks(family):
            candidates = _spread_axes((family.scope, family.candidates), union, sizes)
            message = np.maximum(message, np.where(candidates, below, semiring.one).min(axis=-1))
        attained = attained and not losing[child]
        pool = [part for part in pool if child not in part[0]]
        pool.append((union[:-1], message))
    return pool, attained


def _has_peaks(family: _BoundedFactor) -> bool:
    """Whether all lower rows of the family of an open variable peak at 1."""
    assert family.child is not None  # noqa: S101
    return bool((family.lower.max(axis=family.scope.index(family.child)) == 1.0).all())


def _is_attained(family: _BoundedFactor, union: Sequence[int], targets: Sequence[int]) -> bool:
    """Whether the message of an open variable is attained: nothing is raised, or the choice depends on its row alone."""
    return set(union) <= {*family.scope, *targets} or _has_peaks(family)


def _join_scopes(child: int, pool: Sequence[Factor], family: _BoundedFactor) -> tuple[int, ...]:
    """The variables of a family and of all factors that hold its child, which comes last."""
    held = {u for scope, _ in pool if child in scope for u in scope} | set(family.scope)
    return (*sorted(held - {child}), child)


def _combine_factors(
    factors: Iterable[Factor], scope: Sequence[int], sizes: Sequence[int], semiring: Semiring
) -> Floats:
    """Combination of factors over (parts of) a scope as a full table over it."""
    table = np.full([sizes[v] for v in scope], semiring.one)
    for factor in factors:
        table = semiring.combine(table, _spread_axes(factor, scope, sizes))
    return table


def _spread_axes(
    factor: tuple[tuple[int, ...], NDArray[Any]], scope: Sequence[int], sizes: Sequence[int]
) -> NDArray[Any]:
    """A factor with an axis for every variable of a larger scope, of length 1 where it lacks the variable."""
    inside, values = factor
    kept = [v for v in scope if v in inside]
    turned = values.transpose([inside.index(v) for v in kept])
    return turned.reshape([sizes[v] if v in inside else 1 for v in scope])


def _raise_sole_candidates(lower: Floats, candidates: Bools) -> Floats:
    """Lower rows with degree 1 at the only state that can have it."""
    sole = candidates & (candidates.sum(axis=-1, keepdims=True) == 1)
    return np.where(sole, 1.0, lower)

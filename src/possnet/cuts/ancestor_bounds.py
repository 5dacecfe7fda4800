"""How possible the contexts of a family are: bounds of ρ(a), the joint possibility of a configuration of the parents.

The rows tell the marginal of every variable, ρ(u) = max over A of g_A(u) (T2). Parents without a common ancestor are
independent, so that ρ(a) is the conjunction of their marginals. For others ρ(a) lies between what the lower and what the
upper tables of their ancestors give, for the joint possibility grows with every degree; and it is at most each marginal.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from possnet.errors import ImpossibleEvidence
from possnet.inference import Inference
from possnet.network import Network
from possnet.possibility import PRODUCT

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from possnet.aliases import Floats
    from possnet.graph import Dag
    from possnet.possibility import Conjunction
    from possnet.variables import Variable


@dataclass(frozen=True, slots=True)
class ContextDegrees:
    """What is known of ρ(a), the joint possibility of each context, in table order.

    Attributes
    ----------
    floor, ceiling
        Its lower and upper end: the same if the parents have no common ancestors.
    error
        Standard error of the upper end, if it is estimated.
    """

    floor: Floats
    ceiling: Floats
    error: Floats

    @classmethod
    def unknown(cls, contexts: int) -> ContextDegrees:
        """Nothing is known: every context may be impossible or fully possible."""
        return cls(np.zeros(contexts), np.ones(contexts), np.zeros(contexts))


class AncestorBounds:
    """Marginals and bounds of the tables of the variables that are done, parents first."""

    def __init__(self, dag: Dag, variables: Mapping[str, Variable], conjunction: Conjunction) -> None:
        self._dag, self._variables, self._conjunction = dag, variables, conjunction
        self._lineage: dict[str, frozenset[str]] = {}
        self._marginals: dict[str, Floats] = {}
        self._lower: dict[str, Floats] = {}
        self._upper: dict[str, Floats] = {}
        self._errors: dict[str, Floats] = {}

    def add_variable(
        self, name: str, marginal: Floats, lower: Floats, upper: Floats, error: Floats | None = None
    ) -> None:
        """Add a variable whose parents were added before; ``error`` is that of its marginal, if it is estimated."""
        above = (self._lineage[parent] for parent in self._dag.parents(name))
        self._lineage[name] = frozenset({name}).union(*above)
        self._marginals[name], self._lower[name], self._upper[name] = marginal, lower, upper
        self._errors[name] = np.zeros_like(marginal) if error is None else error

    def bound_contexts(self, parents: Sequence[str]) -> ContextDegrees:
        """Lower and upper end of ρ(a) for every configuration of the parents, in table order."""
        floor = ceiling = np.ones([1] * len(parents))
        for group in self._group_parents(parents):
            low, high = self._bound_group(group)
            shape = [len(self._variables[p]) if p in group else 1 for p in parents]
            floor = self._conjunction.combine(floor, low.reshape(shape))
            ceiling = self._conjunction.combine(ceiling, high.reshape(shape))
        return ContextDegrees(floor.reshape(-1), ceiling.reshape(-1), self._combine_errors(parents, ceiling))

    def _combine_errors(self, parents: Sequence[str], ceiling: Floats) -> Floats:
        """Standard error of ρ(a) from those of the marginals: relative errors add up for the product, else the largest."""
        error = np.zeros(ceiling.shape)
        for place, parent in enumerate(parents):
            shape = [-1 if k == place else 1 for k in range(len(parents))]
            marginal, own = self._marginals[parent].reshape(shape), self._errors[parent].reshape(shape)
            if self._conjunction is PRODUCT:
                relative = np.divide(own, marginal, out=np.zeros_like(own), where=marginal > 0.0)
                error = np.hypot(error, ceiling * relative)
            else:
                error = np.maximum(error, own)
        return error.reshape(-1)

    def _group_parents(self, parents: Sequence[str]) -> list[list[str]]:
        """Parents with common ancestors together, each group in their order."""
        groups: list[tuple[list[str], frozenset[str]]] = []
        for parent in parents:
            related = [group for group in groups if group[1] & self._lineage[parent]]
            groups = [group for group in groups if group not in related]
            members = {parent}.union(*(names for names, _ in related))
            lineage = self._lineage[parent].union(*(line for _, line in related))
            groups.append(([p for p in parents if p in members], lineage))
        return [names for names, _ in groups]

    def _bound_group(self, group: list[str]) -> tuple[Floats, Floats]:
        if len(group) == 1:
            return self._marginals[group[0]], self._marginals[group[0]]
        names = sorted(frozenset().union(*(self._lineage[parent] for parent in group)))
        dag = self._dag.subgraph(names)
        low, high = (self._joint_degrees(dag, tables, group) for tables in (self._lower, self._upper))
        for place, parent in enumerate(group):
            shape = [-1 if k == place else 1 for k in range(len(group))]
            high = np.minimum(high, self._marginals[parent].reshape(shape))
        return np.minimum(low, high), high

    def _joint_degrees(self, dag: Dag, tables: Mapping[str, Floats], names: list[str]) -> Floats:
        """Joint degrees of some variables by the tables of their ancestors, which need not peak at 1."""
        variables = [self._variables[name] for name in dag.nodes]
        kept = {name: tables[name] for name in dag.nodes}
        network = Network.unchecked(variables, dag, kept, conjunction=self._conjunction)
        try:
            return Inference(network).query(names).degrees
        except ImpossibleEvidence:  # every configuration has lower degree 0
            return np.zeros([len(self._variables[name]) for name in names])

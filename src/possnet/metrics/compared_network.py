"""One network beside the true one, with everything that metrics ask of the two.

A table is compared context by context, over the contexts a that the truth calls possible, π(a) > 0; then over variables.
Weighted means weigh a context by π(a). If a network has another structure than the truth, its conditional degrees for the
true parents are found by inference; if it has the same, its tables are all that is needed.
"""

from __future__ import annotations

from functools import cached_property
from math import prod
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

from possnet.graph import Dag
from possnet.inference import Inference
from possnet.metrics.degree_bounds import DegreeBounds
from possnet.metrics.distributions import affinity_of_normalised
from possnet.metrics.structures import structure_metrics
from possnet.network import Network
from possnet.parameters import normalise_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from possnet.aliases import Floats, Ints

    Tables: TypeAlias = Mapping[str, Floats]

_EXACT: Final = 1 << 18  # configurations of a joint distance that is not sampled
_SAMPLED: Final = 20_000


class TrueNetwork:
    """What comparisons need of the truth: its contexts, how possible they are, its tables and marginals."""

    def __init__(self, network: Network) -> None:
        engine = Inference(network)
        degrees = {name: joint.degrees.max(axis=-1) for name, joint in engine.families().items()}
        self.network = network
        self.possible = {v.name: degrees[v.name] > 0.0 for v in network.variables}
        self.weights = {name: degrees[name][possible] for name, possible in self.possible.items()}
        self.children = [name for name in self.possible if network.dag.parents(name)] or list(self.possible)
        self.tables = {name: normalise_rows(network.table(name)[possible]) for name, possible in self.possible.items()}
        self.marginals = {name: normalise_rows(p.degrees) for name, p in engine.marginals().items()}
        self.exact = prod(len(v) for v in network.variables) <= _EXACT

    @cached_property
    def joint(self) -> Floats:
        """Degrees of all configurations; only where these are few."""
        return joint_degrees(self.network, self.network, None)

    def draw_configurations(self, seed: int) -> dict[str, Ints]:
        """States of every variable in configurations drawn uniformly."""
        rng = np.random.default_rng(seed)
        return {v.name: rng.integers(0, len(v), _SAMPLED) for v in self.network.variables}


class ComparedNetwork:
    """A network beside the truth; `possnet.metrics.Metric.compute` is given one.

    Attributes
    ----------
    truth, network
        The two networks.
    limit
        What the learner converges to, beside the same truth, if that is known.
    joint_is_exact
        Whether `joint_gaps` runs over all configurations, rather than a sample of them.
    true_tables
        Variable -> normalised degrees in its possible contexts, shape (contexts, states).
    """

    def __init__(
        self,
        reference: TrueNetwork,
        network: Network,
        configurations: Mapping[str, Ints] | None = None,
        limit: ComparedNetwork | None = None,
        bounds: DegreeBounds | None = None,
    ) -> None:
        self._reference, self._configurations = reference, configurations
        self.truth, self.network, self.limit = reference.network, network, limit
        self.joint_is_exact = configurations is None
        self._bounds = bounds
        self.true_tables: Tables = reference.tables

    @cached_property
    def _engine(self) -> Inference:
        return Inference(self.network)

    @cached_property
    def _rows(self) -> Tables:
        """Degrees of every variable in the possible contexts of the truth, as they are."""
        parents = self.truth.dag.parents
        return {name: self._condition_on(name, parents(name))[p] for name, p in self._reference.possible.items()}

    @cached_property
    def tables(self) -> Tables:
        """Normalised degrees of every variable in the possible contexts of the truth."""
        return {name: normalise_rows(rows) for name, rows in self._rows.items()}

    @cached_property
    def peaks(self) -> Tables:
        """Largest degree of each of these rows before it was normalised."""
        return {name: rows.max(axis=-1) for name, rows in self._rows.items()}

    @cached_property
    def marginals(self) -> Tables:
        """Normalised marginal of every variable."""
        return {name: normalise_rows(p.degrees) for name, p in self._engine.marginals().items()}

    @cached_property
    def affinities(self) -> Tables:
        """Information affinity of every row."""
        return self.compare_rows(affinity_of_normalised)

    @cached_property
    def mean_gaps(self) -> Tables:
        """Mean absolute difference of every row."""
        return self.compare_rows(mean_gap)

    @cached_property
    def largest_gaps(self) -> Tables:
        """Largest absolute difference of every row."""
        return self.compare_rows(lambda one, other: np.abs(one - other).max(axis=-1))

    @cached_property
    def joint_gaps(self) -> Floats:
        """Absolute difference of the joint degrees, over all configurations or a sample of them."""
        reference, sample = self._reference, self._configurations
        truth = reference.joint if sample is None else joint_degrees(self.truth, self.truth, sample)
        return np.abs(truth - self._joint())

    def _joint(self) -> Floats:
        return joint_degrees(self.network, self.truth, self._configurations)

    @cached_property
    def marginal_gaps(self) -> list[Floats]:
        """Absolute differences of the marginals."""
        return [np.abs(self.marginals[name] - own) for name, own in self._reference.marginals.items()]

    @cached_property
    def structure(self) -> dict[str, float]:
        """Distances between the two structures; see `structure_metrics`."""
        return structure_metrics(self.truth.dag, self.network.dag)

    def _condition_on(self, name: str, parents: tuple[str, ...]) -> Floats:
        """Degrees of a variable for configurations of others, axes as named; by inference if these are not its parents."""
        own = self.network.dag.parents(name)
        if set(parents) == set(own):
            order = [own.index(parent) for parent in parents]
            return self.network.table(name).transpose(*order, len(order))
        joint = self._engine.query([*parents, name]).degrees
        if not parents:
            return joint
        tops = joint.max(axis=-1, keepdims=True)
        safe = np.where(tops > 0.0, joint, 1.0)
        return self.network.conjunction.normalise(safe, axis=-1)

    @cached_property
    def bounds(self) -> DegreeBounds | None:
        """Bounds of the degrees of variables with parents (of all, if none has any) in the possible contexts of the truth.

        None if the learner gives none, or learned other parents.
        """
        dag = self.network.dag
        children = self._reference.children
        if self._bounds is None or any(set(dag.parents(n)) != set(self.truth.dag.parents(n)) for n in children):
            return None
        parts = []
        for ends in self._bounds:
            arrays = {}
            for name in children:
                order = [dag.parents(name).index(parent) for parent in self.truth.dag.parents(name)]
                arrays[name] = ends[name].transpose(*order, len(order))[self._reference.possible[name]]
            parts.append(arrays)
        return DegreeBounds(*parts)

    def bound_coverage(self) -> float | None:
        """Share of the true degrees that lie within their bounds, give or take three standard errors."""
        bounds = self.bounds
        if bounds is None:
            return None
        return float(np.mean([bounds.covers(name, self.true_tables[name]).mean() for name in bounds.lower]))

    def identified_share(self) -> float | None:
        """Share of the degrees that are identified."""
        if self.bounds is None:
            return None
        return float(np.concatenate([there.reshape(-1) for there in self.bounds.identified.values()]).mean())

    def identified_error(self) -> float | None:
        """Mean absolute difference of the identified degrees."""
        if self.bounds is None or not any(there.any() for there in self.bounds.identified.values()):
            return None
        gaps = [np.abs(self.tables[n] - self.true_tables[n])[there] for n, there in self.bounds.identified.items()]
        return float(np.concatenate(gaps).mean())

    def compare_rows(self, distance: Callable[[Floats, Floats], Floats], other: Tables | None = None) -> Tables:
        """A distance between the rows of the truth, or of ``other`` tables, and those of the network."""
        against = self.true_tables if other is None else other
        return {name: distance(against[name], table) for name, table in self.tables.items()}

    def weigh_contexts(self, values: Tables) -> Tables:
        """The values of the rows, each times the possibility of its context."""
        return {name: rows * self._reference.weights[name] for name, rows in values.items()}

    def average(self, values: Tables, *, weighted: bool = False, children: bool = False) -> float:
        """Mean over contexts, then over variables: all, or those with parents if there are any."""
        chosen = self._reference.children if children else values
        weights = self._reference.weights if weighted else {}
        return float(np.mean([np.average(values[name], weights=weights.get(name)) for name in chosen]))

    def gaps_by_context(self) -> dict[str, Floats]:
        """Mean absolute difference in every context, axes as the true parents; NaN in impossible ones."""
        gaps = {name: np.full(possible.shape, np.nan) for name, possible in self._reference.possible.items()}
        for name, errors in self.mean_gaps.items():
            gaps[name][self._reference.possible[name]] = errors
        return gaps


class Ignorance(ComparedNetwork):
    """The network that knows nothing: no edges, and every degree 1."""

    def __init__(
        self,
        reference: TrueNetwork,
        configurations: Mapping[str, Ints] | None,
        limit: ComparedNetwork | None,
        beside: ComparedNetwork,
    ) -> None:
        truth = reference.network
        dag = Dag(dict.fromkeys(truth.dag.nodes, ()))
        tables = {v.name: np.ones(len(v)) for v in truth.variables}
        network = Network.unchecked(truth.variables, dag, tables, conjunction=truth.conjunction)
        super().__init__(reference, network, configurations, limit)
        self._beside = beside

    @property
    def bounds(self) -> DegreeBounds | None:
        """Those of the network beside it, so that ignorance is judged on the same degrees."""
        return self._beside.bounds

    def bound_coverage(self) -> float | None:
        """Bounds from 0 to 1 hold every degree."""
        return None if self.bounds is None else 1.0

    def identified_share(self) -> float | None:
        """They identify none."""
        return None if self.bounds is None else 0.0

    @cached_property
    def tables(self) -> Tables:
        """All degrees are 1."""
        return {name: np.ones_like(table) for name, table in self.true_tables.items()}

    @property
    def _rows(self) -> Tables:
        return self.tables

    @cached_property
    def marginals(self) -> Tables:
        """All degrees are 1."""
        return {v.name: np.ones(len(v)) for v in self.truth.variables}

    def _joint(self) -> Floats:
        return np.ones(1)


def mean_gap(one: Floats, other: Floats) -> Floats:
    """Mean absolute difference of each row.

    >>> mean_gap(np.array([[1.0, 0.5]]), np.array([[1.0, 1.0]]))
    array([0.25])
    """
    return np.asarray(np.abs(one - other).mean(axis=-1))


def joint_degrees(network: Network, truth: Network, configurations: Mapping[str, Ints] | None) -> Floats:
    """Joint degrees by the chain rule with normalised tables: of given configurations, or of all in the truth's order."""
    place = {v.name: k for k, v in enumerate(v for v in truth.variables if len(v) > 1)}  # axes of an array are few
    sizes = [len(truth.variable(name)) for name in place]
    degrees = np.ones(sizes if configurations is None else _SAMPLED)
    for v in network.variables:
        table = normalise_rows(network.table(v.name))
        names = (*network.dag.parents(v.name), v.name)
        if configurations is not None:
            degrees = network.conjunction.combine(degrees, table[tuple(configurations[name] for name in names)])
            continue
        names = tuple(name for name in names if name in place)
        axes = sorted(range(len(names)), key=lambda k: place[names[k]])
        shape = [size if name in names else 1 for name, size in zip(place, sizes, strict=True)]
        squeezed = table.reshape([len(truth.variable(name)) for name in names])
        degrees = network.conjunction.combine(degrees, squeezed.transpose(axes).reshape(shape))
    return degrees.reshape(-1)

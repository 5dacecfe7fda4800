"""How far a learned network is from the true one: every measure with ignorance, and if known the limit, beside it.

A table is compared context by context, over the contexts a that the truth calls possible, π(a) > 0; then over variables.
Weighted measures weigh a context by π(a). If the learned network has another structure, its conditional degrees for the
true parents are found by inference.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

import numpy as np

from possnet.drawing import draw_table, text_table
from possnet.errors import InputError, listing
from possnet.graph import Dag
from possnet.inference import Inference
from possnet.metrics.distributions import information_affinity, rank_agreement, top_agreement
from possnet.metrics.structures import structure_metrics
from possnet.network import Network
from possnet.parameters import normalised
from possnet.seeds import seed_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from possnet.aliases import Floats

    Tables: TypeAlias = Mapping[str, Floats]

METRICS: Final = {
    "affinity": "information affinity of the rows of all tables",
    "affinity_weighted": "the same, contexts weighted by their possibility",
    "child_affinity": "information affinity of the tables of variables with parents",
    "mean_error": "mean absolute difference of the degrees",
    "mean_error_weighted": "the same, contexts weighted by their possibility",
    "child_mean_error": "mean absolute difference in the tables of variables with parents",
    "max_error": "largest absolute difference of any degree",
    "max_error_weighted": "the same, each context weighted by its possibility",
    "rank_agreement": "Kendall's tau-b between the orders of the states",
    "top_agreement": "most possible states in common",
    "child_noise": "mean absolute difference from what the learner converges to, in the tables of variables with parents",
    "subnormality": "1 - largest degree of the learned rows, before they are normalised",
    "contexts_left_out": "contexts that the truth calls impossible, and that are not compared",
    "marginal_distance": "mean absolute difference of the marginal degrees",
    "joint_distance": "mean absolute difference of the joint degrees",
    "joint_distance_error": "standard error of the joint distance; 0 where it is exact",
    "hamming": "edges to add, remove or turn",
    "essential_hamming": "the same between essential graphs",
    "skeleton_precision": "share of the learned edges that are true, direction apart",
    "skeleton_recall": "share of the true edges that were learned, direction apart",
    "v_structure_precision": "share of the learned v-structures that are true",
    "v_structure_recall": "share of the true v-structures that were learned",
    "essential_precision": "share of the edges of the learned essential graph that the true one has alike",
    "essential_recall": "share of the edges of the true essential graph that the learned one has alike",
}
_EXACT: Final = 1 << 18
_SAMPLED: Final = 20_000


class Measured(NamedTuple):
    """One measure: of the learned network, of ignorance, and of the limit of its learner if that is known."""

    value: float
    vacuous: float
    limit: float | None


class Comparison(dict[str, Measured]):
    """Metric -> `Measured`; prints as a table.

    ``contexts`` has, for every variable, the mean absolute difference in each of its contexts, axes as its true parents;
    NaN in contexts that the truth calls impossible.

    >>> import possnet as pn
    >>> rash = pn.Variable("rash", ("yes", "no"))
    >>> truth = pn.Network((rash,), pn.Dag({"rash": ()}), {"rash": [0.1, 1]})
    >>> found = pn.compare(truth, truth.with_table("rash", [1, 0.5]))
    >>> found["affinity"].value, found["affinity"].vacuous, found["affinity"].limit
    (0.4, 0.775, None)
    >>> found.contexts["rash"]
    array(0.7)
    """

    def __init__(self, measures: Mapping[str, Measured], contexts: Tables | None = None) -> None:
        super().__init__(measures)
        self.contexts = dict(contexts or {})

    def _repr_html_(self) -> str:
        rows = [(*row, METRICS[row[0]]) for row in self._rows()]
        return draw_table(["metric", "learned", "ignorance", "limit", "meaning"], rows)

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        return "\n".join(text_table([("", "learned", "ignorance", "limit"), *self._rows()], texts=1, indent=""))

    def _rows(self) -> list[tuple[str, ...]]:
        return [
            (name, f"{m.value:.4g}", f"{m.vacuous:.4g}", "" if m.limit is None else f"{m.limit:.4g}")
            for name, m in self.items()
        ]


def compare(
    truth: Network,
    learned: Network,
    *,
    limit: Network | None = None,
    rng: np.random.Generator | int | None = 0,
) -> Comparison:
    """Every measure of section "Comparing" between a true and a learned network over the same variables.

    Parameters
    ----------
    limit
        What the learner converges to (`possnet.sampling_limit`), if known: it is measured as well.
    rng
        Draws the configurations of a joint distance that is too large to be exact.

    >>> import possnet as pn
    >>> asia = pn.load_example("asia")
    >>> data = pn.sample(asia, 2000, rng=1)
    >>> found = compare(asia, pn.fit(asia.dag, data), limit=pn.sampling_limit(asia))
    >>> found["affinity"].value > found["affinity"].vacuous, found["hamming"].value
    (True, 0.0)
    """
    _require_same(truth, learned, "learned network")
    if limit is not None:
        _require_same(truth, limit, "limit")
    ruler = _Ruler(truth, rng)
    ignorance = vacuous_network(learned)
    found, unknown = ruler.tables(learned), ruler.tables(ignorance)
    values, vacuous = ruler.measure(learned, found), ruler.measure(ignorance, unknown)
    vacuous |= structure_metrics(truth.dag, Dag(dict.fromkeys(truth.dag.nodes, ())))  # no edges: nothing is known
    limits: dict[str, float] = {}
    if limit is not None:
        end = ruler.tables(limit)
        limits = {**ruler.measure(limit, end), "child_noise": 0.0}
        values["child_noise"], vacuous["child_noise"] = ruler.noise(found, end), ruler.noise(unknown, end)
    measures = {name: Measured(values[name], vacuous[name], limits.get(name)) for name in METRICS if name in values}
    return Comparison(measures, ruler.contexts(found))


def vacuous_network(network: Network) -> Network:
    """The same structure with every degree 1: what not learning at all would give.

    >>> import possnet as pn
    >>> vacuous_network(pn.load_example("asia")).table("smoke")
    array([1., 1.])
    """
    tables = {v.name: np.ones_like(network.table(v.name)) for v in network.variables}
    return Network.unchecked(network.variables, network.dag, tables, conjunction=network.conjunction)


def _require_same(truth: Network, other: Network, what: str) -> None:
    given: tuple[object, ...] = (truth, other)
    for value in given:
        if not isinstance(value, Network):
            raise InputError(f"compare: {value!r} is not a network; expected one")
    left, right = ({v.name: v.states for v in net.variables} for net in (truth, other))
    if left != right:
        odd = sorted(name for name in left.keys() | right.keys() if left.get(name) != right.get(name))
        raise InputError(f"compare: the {what} has other variables or states ({listing(odd)}); expected the same")


class _Ruler:
    """What is needed of the truth to measure any network against it."""

    def __init__(self, truth: Network, rng: np.random.Generator | int | None) -> None:
        seed = seed_of(rng)
        self.truth = truth
        engine = Inference(truth)
        self.marginals = {name: normalised(p.degrees) for name, p in engine.marginals().items()}
        degrees = {name: p.degrees.max(axis=-1) for name, p in engine.families().items()}
        self.possible = {v.name: degrees[v.name] > 0.0 for v in truth.variables}
        self.weights = {name: degrees[name][possible] for name, possible in self.possible.items()}
        self.children = [name for name in self.possible if truth.dag.parents(name)] or list(self.possible)
        self.true_tables = self.tables(truth)
        sizes = [len(v) for v in truth.variables]
        self.exact = prod(sizes) <= _EXACT
        if self.exact:
            several = [k for k, size in enumerate(sizes) if size > 1]  # few enough for an array's axes
            grid = np.zeros((len(sizes), prod(sizes)), dtype=np.int64)
            if several:
                grid[several] = np.indices([sizes[k] for k in several]).reshape(len(several), -1)
        else:
            generator = np.random.default_rng(seed)
            grid = np.stack([generator.integers(0, size, _SAMPLED) for size in sizes])
        self.states = {v.name: row for v, row in zip(truth.variables, grid, strict=True)}
        self.joint = self._joint(truth)

    def tables(self, network: Network) -> Tables:
        """Degrees of every variable in its true contexts, as far as these are possible: shape (contexts, states)."""
        engine = Inference(network)
        return {
            name: _conditional(network, engine, name, self.truth.dag.parents(name))[possible]
            for name, possible in self.possible.items()
        }

    def measure(self, learned: Network, tables: Tables) -> dict[str, float]:
        """Every metric of a network, given its tables, but for what needs the limit."""
        truth = self.true_tables
        affinity, errors = _between(information_affinity, truth, tables), _between(_mean_gap, truth, tables)
        largest = _between(lambda one, other: np.abs(one - other).max(axis=-1), truth, tables)
        marginals = Inference(learned).marginals()
        apart = np.abs(self.joint - self._joint(learned))
        return {
            "affinity": self._mean(affinity),
            "affinity_weighted": self._mean(affinity, weighted=True),
            "child_affinity": self._mean(affinity, children=True),
            "mean_error": self._mean(errors),
            "mean_error_weighted": self._mean(errors, weighted=True),
            "child_mean_error": self._mean(errors, children=True),
            "max_error": max(float(gaps.max(initial=0.0)) for gaps in largest.values()),
            "max_error_weighted": max(float((g * self.weights[n]).max(initial=0.0)) for n, g in largest.items()),
            "rank_agreement": self._mean(_between(rank_agreement, truth, tables)),
            "top_agreement": self._mean(_between(top_agreement, truth, tables)),
            "subnormality": self._mean({name: 1.0 - table.max(axis=-1) for name, table in tables.items()}),
            "contexts_left_out": float(sum(int((~possible).sum()) for possible in self.possible.values())),
            "marginal_distance": float(
                np.mean([np.abs(normalised(marginals[n].degrees) - m).mean() for n, m in self.marginals.items()])
            ),
            "joint_distance": float(apart.mean()),
            "joint_distance_error": 0.0 if self.exact else float(apart.std(ddof=1) / np.sqrt(len(apart))),
            **structure_metrics(self.truth.dag, learned.dag),
        }

    def noise(self, tables: Tables, limit: Tables) -> float:
        """Mean absolute difference between two networks in the true contexts of variables with parents."""
        return self._mean(_between(_mean_gap, tables, limit), children=True)

    def contexts(self, tables: Tables) -> Tables:
        """Mean absolute difference in every context."""
        found = {name: np.full(possible.shape, np.nan) for name, possible in self.possible.items()}
        for name, errors in _between(_mean_gap, self.true_tables, tables).items():
            found[name][self.possible[name]] = errors
        return found

    def _mean(self, values: Tables, *, weighted: bool = False, children: bool = False) -> float:
        """Mean over contexts, then over variables: all, or those with parents if there are any."""
        chosen = self.children if children else values
        return float(np.mean([np.average(values[n], weights=self.weights[n] if weighted else None) for n in chosen]))

    def _joint(self, network: Network) -> Floats:
        degrees = np.ones(len(next(iter(self.states.values()))))
        for v in network.variables:
            place = tuple(self.states[n] for n in (*network.dag.parents(v.name), v.name))
            degrees = network.conjunction.combine(degrees, normalised(network.table(v.name))[place])
        return degrees


def _between(measure: Callable[[Floats, Floats], Floats], first: Tables, second: Tables) -> Tables:
    """A measure between the rows of two networks' tables, which are normalised."""
    return {name: measure(normalised(table), normalised(second[name])) for name, table in first.items()}


def _mean_gap(one: Floats, other: Floats) -> Floats:
    return np.asarray(np.abs(one - other).mean(axis=-1))


def _conditional(network: Network, engine: Inference, name: str, wanted: tuple[str, ...]) -> Floats:
    """Degrees of a variable for configurations of some others, axes as named; by inference if these are not its parents."""
    own = network.dag.parents(name)
    if set(wanted) == set(own):
        order = [own.index(parent) for parent in wanted]
        return network.table(name).transpose(*order, len(order))
    joint = engine.query([*wanted, name]).degrees
    if not wanted:
        return joint
    tops = joint.max(axis=-1, keepdims=True)
    safe = np.where(tops > 0.0, joint, 1.0)
    return network.conjunction.normalise(safe, axis=-1)

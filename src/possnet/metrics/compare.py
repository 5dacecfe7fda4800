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

    from numpy.typing import NDArray

    Table: TypeAlias = NDArray[np.float64]

__all__ = ["METRICS", "Comparison", "Measured", "compare", "vacuous_network"]

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

    def __init__(self, measures: Mapping[str, Measured], contexts: Mapping[str, Table] | None = None) -> None:
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
    values = ruler.measure(learned)
    vacuous = ruler.measure(vacuous_network(learned))
    vacuous |= structure_metrics(truth.dag, Dag(dict.fromkeys(truth.dag.nodes, ())))  # no edges: nothing is known
    limits = None if limit is None else ruler.measure(limit)
    measures = {}
    for name in METRICS:
        if name != "child_noise":
            measures[name] = Measured(values[name], vacuous[name], None if limits is None else limits[name])
        elif limit is not None:
            measures[name] = Measured(ruler.noise(learned, limit), ruler.noise(vacuous_network(learned), limit), 0.0)
    return Comparison(measures, ruler.contexts(learned))


def vacuous_network(network: Network) -> Network:
    """The same structure with every degree 1: what not learning at all would give.

    >>> import possnet as pn
    >>> vacuous_network(pn.load_example("asia")).table("smoke")
    array([1., 1.])
    """
    tables = {v.name: np.ones_like(network.table(v.name)) for v in network.variables}
    return Network.unchecked(network.variables, network.dag, tables, conjunction=network.conjunction)


def _require_same(truth: Network, other: Network, what: str) -> None:
    for given in (truth, other):
        value: object = given
        if not isinstance(value, Network):
            raise InputError(f"compare: {given!r} is not a network; expected one")
    left, right = ({v.name: v.states for v in net.variables} for net in (truth, other))
    if left != right:
        odd = sorted(name for name in left.keys() | right.keys() if left.get(name) != right.get(name))
        raise InputError(f"compare: the {what} has other variables or states ({listing(odd)}); expected the same")


class _Ruler:
    """What is needed of the truth to measure any network against it."""

    def __init__(self, truth: Network, rng: np.random.Generator | int | None) -> None:
        self.truth = truth
        engine = Inference(truth)
        self.marginals = {name: normalised(p.degrees) for name, p in engine.marginals().items()}
        self.weights = {name: p.degrees.max(axis=-1) for name, p in engine.families().items()}
        sizes = [len(v) for v in truth.variables]
        self.exact = prod(sizes) <= _EXACT
        if self.exact:
            several = [k for k, size in enumerate(sizes) if size > 1]  # few enough for an array's axes
            grid = np.zeros((len(sizes), prod(sizes)), dtype=np.int64)
            if several:
                grid[several] = np.indices([sizes[k] for k in several]).reshape(len(several), -1)
        else:
            generator = np.random.default_rng(seed_of(rng))
            grid = np.stack([generator.integers(0, size, _SAMPLED) for size in sizes])
        self.states = {v.name: row for v, row in zip(truth.variables, grid, strict=True)}
        self.joint = self._joint(truth)

    def measure(self, learned: Network) -> dict[str, float]:
        """Every metric of a network."""
        found = self._tables(learned)
        marginals = Inference(learned).marginals()
        found["marginal_distance"] = float(
            np.mean([np.abs(normalised(marginals[n].degrees) - m).mean() for n, m in self.marginals.items()])
        )
        apart = np.abs(self.joint - self._joint(learned))
        found["joint_distance"] = float(apart.mean())
        found["joint_distance_error"] = 0.0 if self.exact else float(apart.std(ddof=1) / np.sqrt(len(apart)))
        return {**found, **structure_metrics(self.truth.dag, learned.dag)}

    def noise(self, learned: Network, limit: Network) -> float:
        """Mean absolute difference between two networks in the true contexts of variables with parents."""
        rows, children = [], []
        for v in self.truth.variables:
            possible = self.weights[v.name] > 0.0
            first, second = (normalised(_conditional(net, v.name, self.truth))[possible] for net in (learned, limit))
            rows.append((np.asarray(np.abs(first - second).mean(axis=-1)), self.weights[v.name][possible]))
            children.append(bool(self.truth.dag.parents(v.name)))
        return _mean(rows, only=children)

    def contexts(self, learned: Network) -> dict[str, Table]:
        """Mean absolute difference in every context."""
        found = {}
        for v in self.truth.variables:
            raw = normalised(_conditional(learned, v.name, self.truth))
            errors = np.asarray(np.abs(normalised(self.truth.table(v.name)) - raw).mean(axis=-1))
            found[v.name] = np.where(self.weights[v.name] > 0.0, errors, np.nan)
        return found

    def _joint(self, network: Network) -> Table:
        degrees = np.ones(len(next(iter(self.states.values()))))
        for v in network.variables:
            place = tuple(self.states[n] for n in (*network.dag.parents(v.name), v.name))
            degrees = network.conjunction.combine(degrees, normalised(network.table(v.name))[place])
        return degrees

    def _tables(self, learned: Network) -> dict[str, float]:
        rows: dict[str, list[tuple[Table, Table]]] = {}
        children: dict[str, bool] = {}
        left_out, subnormality = 0, []
        measures: dict[str, Callable[[Table, Table], Table]] = {
            "affinity": information_affinity,
            "mean_error": lambda a, b: np.asarray(np.abs(a - b).mean(axis=-1)),
            "max_error": lambda a, b: np.asarray(np.abs(a - b).max(axis=-1)),
            "rank_agreement": rank_agreement,
            "top_agreement": top_agreement,
        }
        for v in self.truth.variables:
            raw = _conditional(learned, v.name, self.truth)
            possible = self.weights[v.name] > 0.0
            left_out += int((~possible).sum())
            subnormality.append(float((1.0 - raw.max(axis=-1))[possible].mean()))
            children[v.name] = bool(self.truth.dag.parents(v.name))
            truth, found = normalised(self.truth.table(v.name))[possible], normalised(raw)[possible]
            weights = self.weights[v.name][possible]
            for name, measure in measures.items():
                rows.setdefault(name, []).append((measure(truth, found), weights))
        kept = list(children.values())
        metrics = {
            "affinity": _mean(rows["affinity"]),
            "affinity_weighted": _mean(rows["affinity"], weighted=True),
            "child_affinity": _mean(rows["affinity"], only=kept),
            "mean_error": _mean(rows["mean_error"]),
            "mean_error_weighted": _mean(rows["mean_error"], weighted=True),
            "child_mean_error": _mean(rows["mean_error"], only=kept),
            "max_error": max(float(values.max(initial=0.0)) for values, _ in rows["max_error"]),
            "max_error_weighted": max(float((values * w).max(initial=0.0)) for values, w in rows["max_error"]),
            "rank_agreement": _mean(rows["rank_agreement"]),
            "top_agreement": _mean(rows["top_agreement"]),
        }
        return {**metrics, "subnormality": float(np.mean(subnormality)), "contexts_left_out": float(left_out)}


def _mean(rows: list[tuple[Table, Table]], *, weighted: bool = False, only: list[bool] | None = None) -> float:
    """Mean over contexts, then over variables (some of them; all, if that leaves none)."""
    chosen = rows if only is None or not any(only) else [row for row, wanted in zip(rows, only, strict=True) if wanted]
    return float(np.mean([np.average(values, weights=weights if weighted else None) for values, weights in chosen]))


def _conditional(network: Network, name: str, truth: Network) -> Table:
    """Degrees of a variable for the true parents' configurations, axes as in the true table; by inference if need be."""
    wanted, own = truth.dag.parents(name), network.dag.parents(name)
    if set(wanted) == set(own):
        order = [own.index(parent) for parent in wanted]
        return network.table(name).transpose(*order, len(order))
    joint = Inference(network).query([*wanted, name]).degrees
    if not wanted:
        return joint
    tops = joint.max(axis=-1, keepdims=True)
    safe = np.where(tops > 0.0, joint, 1.0)
    return network.conjunction.normalise(safe, axis=-1)

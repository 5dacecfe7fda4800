"""How far a learned network is from the true one: every metric with ignorance, and if known the limit, beside it."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from possnet.doors import check_arguments
from possnet.drawing import draw_details, draw_table, format_number, text_table
from possnet.metrics.compared_network import ComparedNetwork, Ignorance, TrueNetwork
from possnet.metrics.metric import METRICS, SUBJECTS, group_metrics
from possnet.network import Network, align_network
from possnet.seeds import seed_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np

    from possnet.aliases import Floats
    from possnet.metrics.degree_bounds import DegreeBounds


class Measured(NamedTuple):
    """One metric: of the learned network, of ignorance, and of the limit of its learner if that is known."""

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
    >>> comparison = pn.compare(truth, truth.with_table("rash", [1, 0.5]))
    >>> comparison["affinity"]
    Measured(value=0.4, vacuous=0.775, limit=None)
    >>> comparison.contexts["rash"]
    array(0.7)
    """

    @check_arguments
    def __init__(self, metrics: Mapping[str, Measured], contexts: Mapping[str, Floats] | None = None) -> None:
        super().__init__(metrics)
        self.contexts = dict(contexts or {})

    def _repr_html_(self) -> str:
        """The metrics in groups, each folded but the first, for notebooks."""
        head, *rows = self._format_rows()
        by_name = {row[0]: row[1:] for row in rows}
        parts: list[str] = []
        for subject, metrics in group_metrics(self).items():
            lines = [(metric.label, *by_name[name], metric.description) for name, metric in metrics.items()]
            table = draw_table(["metric", *head[1:], "meaning"], lines)
            parts.append(draw_details(SUBJECTS[subject], table, opened=not parts))
        return "".join(parts)

    def __repr__(self) -> str:
        return "\n".join(text_table(self._format_rows(), texts=1, indent=""))

    def _format_rows(self) -> list[tuple[str, ...]]:
        """The head and the metrics by name; the limit only if there is one."""
        limited = any(m.limit is not None for m in self.values())
        rows: list[tuple[str, ...]] = [("metric", "learned", "ignorance", *(["limit"] if limited else []))]
        for name, m in self.items():
            limit = "" if m.limit is None else format_number(m.limit)
            rows.append((name, format_number(m.value), format_number(m.vacuous), *([limit] if limited else [])))
        return rows


@check_arguments
def compare(
    truth: Network,
    learned: Network,
    *,
    limit: Network | None = None,
    bounds: DegreeBounds | None = None,
    rng: np.random.Generator | int | None = 0,
) -> Comparison:
    """Compute every metric of `possnet.metrics.METRICS` between a true and a learned network over the same variables.

    Variables, states and parents are matched by name, whatever their order; see `possnet.align_network`.

    Parameters
    ----------
    limit
        What the learner converges to (`possnet.sampling_limit`), if known: it is compared as well.
    bounds
        Bounds of the degrees, of a learner that gives them (`possnet.metrics.bounds_of`): how often they hold the truth.
    rng
        Draws the configurations of a joint distance that is too large to be exact.

    Examples
    --------
    >>> import possnet as pn
    >>> asia = pn.load_example("asia")
    >>> data = pn.sample(asia, 2000, rng=1)
    >>> comparison = compare(asia, pn.fit(asia.dag, data), limit=pn.sampling_limit(asia))
    >>> comparison["affinity"].value > comparison["affinity"].vacuous, comparison["hamming"].value
    (True, 0.0)
    """
    learned = align_network(learned, truth, owner="compare", sides=("the true network", "the learned network"))
    if limit is not None:
        limit = align_network(limit, truth, owner="compare", sides=("the true network", "the limit"))
    seed = seed_of(rng)
    reference = _prepare_truth(truth)
    sample = None if reference.exact else reference.draw_configurations(seed)
    ending = None if limit is None else _compare_limit(truth, limit, None if sample is None else seed)
    compared = ComparedNetwork(reference, learned, sample, ending, bounds)
    ignorance = Ignorance(reference, sample, ending, compared)
    metrics = {}
    for name, metric in METRICS.items():
        value, vacuous = metric.measure(compared), metric.measure(ignorance)
        if value is not None and vacuous is not None:
            metrics[name] = Measured(value, vacuous, None if ending is None else metric.measure(ending))
    return Comparison(metrics, compared.gaps_by_context())


@lru_cache(maxsize=4)
def _prepare_truth(network: Network) -> TrueNetwork:
    """Kept for the last few: an experiment compares many networks with one truth."""
    return TrueNetwork(network)


@lru_cache(maxsize=8)
def _compare_limit(truth: Network, limit: Network, seed: int | None) -> ComparedNetwork:
    """Kept for the last few: repeats of a trial have the same limit, which is its own limit."""
    reference = _prepare_truth(truth)
    compared = ComparedNetwork(reference, limit, None if seed is None else reference.draw_configurations(seed))
    compared.limit = compared
    return compared

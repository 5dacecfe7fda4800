"""The registry of metrics: how far a network is from the true one, each by its name."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from math import isfinite
from numbers import Real
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, get_args

import numpy as np

from possnet.errors import InputError, PossnetError, describe_value, require_known
from possnet.metrics.compared_network import ComparedNetwork, mean_gap
from possnet.metrics.distributions import core_overlap, rank_agreement
from possnet.registries import Registry, is_bundled

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

Subject: TypeAlias = Literal["tables", "children", "joint", "structure"]


@dataclass(frozen=True, slots=True)
class Metric:
    """A number that says how far a network is from the true one.

    Attributes
    ----------
    name, label
        For programs; for people, short enough for an axis or the head of a column.
    description
        What it is, in a line.
    compute
        The number, from a network beside the truth; None where it is not defined.
    subject
        What is compared: all ``tables``, the tables of variables with parents (``children``), the ``joint`` distribution or
        the ``structure``. Comparisons are grouped by it.
    higher_is_better
        Whether equal networks have the highest value, 1, rather than the lowest, 0.
    has_baselines
        Whether the values of ignorance and of the learner's limit say something beside it.

    Examples
    --------
    >>> METRICS["child_affinity"].higher_is_better, METRICS["hamming"].label
    (True, 'edges to mend')
    """

    name: str
    label: str
    description: str
    compute: Callable[[ComparedNetwork], float | None]
    subject: Subject = "tables"
    higher_is_better: bool = False
    has_baselines: bool = True

    def __post_init__(self) -> None:
        require_known(self.subject, get_args(Subject), f"metric {self.name!r}: subject")

    def measure(self, compared: ComparedNetwork) -> float | None:
        """The number that it computes; an `InputError` that names it for a failure, or for anything that is no number.

        >>> Metric("mine", "mine", "", repr).measure(0.5)
        Traceback (most recent call last):
            ...
        possnet.errors.InputError: metric 'mine' gave '0.5'; expected a number, or None where it is not defined
        """
        if self.is_bundled:
            return self.compute(compared)
        try:
            value: object = self.compute(compared)
        except (PossnetError, MemoryError):
            raise
        except Exception as error:
            raise InputError(
                f"metric {self.name!r} failed with {type(error).__name__}: {error}; expected a number, or None where it is "
                "not defined"
            ) from error
        number = value.item() if isinstance(value, np.ndarray | np.generic) and value.ndim == 0 else value
        if number is None:
            return None
        if not isinstance(number, Real) or not isfinite(number):
            raise InputError(
                f"metric {self.name!r} gave {describe_value(value)}; expected a number, or None where it is not defined"
            )
        return float(number)

    @property
    def is_bundled(self) -> bool:
        """Whether it is one of possnet's own, rather than registered by somebody.

        >>> METRICS["affinity"].is_bundled, Metric("mine", "mine", "", abs).is_bundled
        (True, False)
        """
        return is_bundled(self.compute)


METRICS: Final = Registry[Metric]("metric")
"""Metrics by name, in the order of the results."""

SUBJECTS: Final[dict[Subject, str]] = {
    "tables": "all tables",
    "children": "tables of children",
    "joint": "the joint distribution",
    "structure": "the structure",
}
"""What metrics compare, in words."""


def group_metrics(names: Iterable[str]) -> dict[Subject, dict[str, Metric]]:
    """Metrics by their names, in groups of those that compare the same.

    >>> {subject: list(metrics) for subject, metrics in group_metrics(["hamming", "affinity", "mean_error"]).items()}
    {'tables': ['affinity', 'mean_error'], 'structure': ['hamming']}
    """
    listed = list(names)
    groups = {s: {name: METRICS[name] for name in listed if METRICS[name].subject == s} for s in SUBJECTS}
    return {subject: metrics for subject, metrics in groups.items() if metrics}


def _measure_noise(compared: ComparedNetwork) -> float | None:
    if compared.limit is None:
        return None
    return compared.average(compared.compare_rows(mean_gap, compared.limit.tables), children=True)


def _joint_error(compared: ComparedNetwork) -> float:
    gaps = compared.joint_gaps
    return 0.0 if compared.joint_is_exact else float(gaps.std(ddof=1) / np.sqrt(len(gaps)))


def _count_left_out(compared: ComparedNetwork) -> float:
    return float(sum(np.isnan(gaps).sum() for gaps in compared.gaps_by_context().values()))


def _read_structure(name: str, compared: ComparedNetwork) -> float:
    return compared.structure[name]


def _largest_gap(compared: ComparedNetwork, *, weighted: bool) -> float:
    gaps = compared.weigh_contexts(compared.largest_gaps) if weighted else compared.largest_gaps
    return max(float(rows.max(initial=0.0)) for rows in gaps.values())


for _metric in (
    Metric("affinity", "information affinity of all tables", "information affinity of the rows of all tables",
           lambda c: c.average(c.affinities), higher_is_better=True),
    Metric("affinity_weighted", "weighted affinity", "the same, contexts weighted by their possibility",
           lambda c: c.average(c.affinities, weighted=True), higher_is_better=True),
    Metric("child_affinity", "information affinity", "of the tables of variables with parents, 1 where they are equal",
           lambda c: c.average(c.affinities, children=True), "children", higher_is_better=True),
    Metric("mean_error", "mean error of a degree", "mean absolute difference of the degrees",
           lambda c: c.average(c.mean_gaps)),
    Metric("mean_error_weighted", "weighted mean error", "the same, contexts weighted by their possibility",
           lambda c: c.average(c.mean_gaps, weighted=True)),
    Metric("child_mean_error", "mean error of children", "mean absolute difference in the tables of variables with parents",
           lambda c: c.average(c.mean_gaps, children=True), "children"),
    Metric("max_error", "largest error of a degree", "largest absolute difference of any degree",
           lambda c: _largest_gap(c, weighted=False)),
    Metric("max_error_weighted", "weighted largest error", "the same, each context weighted by its possibility",
           lambda c: _largest_gap(c, weighted=True)),
    Metric("rank_agreement", "rank agreement", "Kendall's tau-b between the orders of the states",
           lambda c: c.average(c.compare_rows(rank_agreement)), higher_is_better=True),
    Metric("top_agreement", "agreement on the most possible", "most possible states in common",
           lambda c: c.average(c.compare_rows(core_overlap)), higher_is_better=True),
    Metric("child_noise", "noise of children",
           "mean absolute difference from what the learner converges to, in the tables of variables with parents",
           _measure_noise, "children"),
    Metric("bound_coverage", "coverage of the bounds",
           "share of the degrees of children within the learner's bounds, give or take three standard errors",
           lambda c: c.bound_coverage(), "children", higher_is_better=True, has_baselines=False),
    Metric("identified_share", "identified degrees", "share of the degrees of children that the learner calls identified",
           lambda c: c.identified_share(), "children", higher_is_better=True, has_baselines=False),
    Metric("identified_error", "error of identified degrees",
           "mean absolute difference of the degrees of children that the learner calls identified",
           lambda c: c.identified_error(), "children", has_baselines=False),
    Metric("subnormality", "subnormality", "1 - largest degree of the learned rows, before they are normalised",
           lambda c: c.average({name: 1.0 - peaks for name, peaks in c.peaks.items()}), has_baselines=False),
    Metric("contexts_left_out", "contexts left out", "contexts that the truth calls impossible, and that are not compared",
           _count_left_out, has_baselines=False),
    Metric("marginal_distance", "marginal distance", "mean absolute difference of the marginal degrees",
           lambda c: float(np.mean([gaps.mean() for gaps in c.marginal_gaps])), "joint"),
    Metric("joint_distance", "joint distance", "mean absolute difference of the joint degrees",
           lambda c: float(c.joint_gaps.mean()), "joint"),
    Metric("joint_distance_error", "standard error of the joint distance",
           "standard error of the joint distance; 0 where it is exact", _joint_error, "joint", has_baselines=False),
):  # fmt: skip
    METRICS.register(_metric)


for _name, _label, _description in (
    ("hamming", "edges to mend", "structural Hamming distance: edges to add, delete or reverse"),
    ("essential_hamming", "edges to mend of the CPDAG", "structural Hamming distance of the essential graphs (CPDAGs)"),
    ("skeleton_precision", "skeleton precision", "share of the learned edges that are true, direction apart"),
    ("skeleton_recall", "skeleton recall", "share of the true edges that were learned, direction apart"),
    ("v_structure_precision", "v-structure precision", "share of the learned v-structures that are true"),
    ("v_structure_recall", "v-structure recall", "share of the true v-structures that were learned"),
    ("essential_precision", "CPDAG precision", "share of the learned essential graph's edges that the true one has alike"),
    ("essential_recall", "CPDAG recall", "share of the true essential graph's edges that the learned one has alike"),
):  # fmt: skip
    METRICS.register(
        Metric(
            _name, _label, _description, partial(_read_structure, _name), "structure",
            higher_is_better=not _name.endswith("hamming"),
        )
    )  # fmt: skip

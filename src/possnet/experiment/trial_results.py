"""Results of an experiment: summaries over repeats with confidence intervals, as tables and as sentences."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import nan, sqrt
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from possnet.doors import check_arguments
from possnet.drawing import CurvePanel, PlainCurve, draw_curves, draw_details, draw_table, text_table
from possnet.errors import InputError
from possnet.learners import LEARNERS, label_learner, resolve_learner
from possnet.metrics import METRICS
from possnet.sampling import is_imprecise, label_process

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from possnet.experiment.trial import Outcome, Trial
    from possnet.experiment.trial_grid import Grid

# Quantiles of Student's t at .975, by degrees of freedom.
_STUDENT: Final = (
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110,
    2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
)  # fmt: skip

_COUNTING: Final = "limit of counting"
_PANELS: Final = 12  # of learning curves in a notebook


class Summary(NamedTuple):
    """One metric of one group of trials: mean over repeats, half the width of its 95 % interval, ignorance, limit."""

    network: str
    process: str
    imprecision: float
    rows: int
    learner: str
    metric: str
    mean: float
    interval: float | None
    vacuous: float
    limit: float | None
    repeats: int


@dataclass(frozen=True, slots=True)
class Results:
    """Every trial of an experiment and what came of it, in the order of the grid.

    What `possnet.evaluate` gives also knows the grid, the folder that keeps it, if any, and the versions that ran.

    >>> import possnet as pn
    >>> results = pn.evaluate(["asia"], rows=100, imprecision=1, process="alpha-cut", learners="em", repeats=2, rng=1)
    >>> results
    Results(2 trials, 0 failed)
    >>> results.summary("affinity")[0].repeats
    2
    """

    trials: tuple[Trial, ...]
    outcomes: tuple[Outcome, ...]
    grid: Grid | None = field(default=None, compare=False)
    folder: Path | None = field(default=None, compare=False)
    versions: Mapping[str, str] = field(default_factory=dict, compare=False)
    _summaries: list[Summary] = field(default_factory=list, init=False, repr=False, compare=False)  # once asked for

    @property
    def experiment(self) -> Experiment:
        """The experiment that these are the results of; an `InputError` if `possnet.evaluate` did not keep it."""
        if self.grid is None or self.folder is None:
            raise InputError(f"{self!r} is kept in no folder; expected results of possnet.evaluate(..., out=FOLDER)")
        return Experiment(self.grid, self, dict(self.versions), self.folder)

    @property
    def failed(self) -> list[tuple[Trial, str]]:
        """Trials that ended with an error, and the error."""
        return [(t, o.error) for t, o in zip(self.trials, self.outcomes, strict=True) if o.error is not None]

    @check_arguments
    def summary(self, metric: str | None = None) -> list[Summary]:
        """Means over repeats, with 95 % confidence intervals, of one metric or of all.

        >>> import possnet as pn
        >>> results = pn.evaluate(["asia"], rows=50, imprecision=1, learners="likelihood", repeats=1, rng=1)
        >>> [s.interval for s in results.summary("affinity")]
        [None, None]
        """
        if metric is not None:
            METRICS.require(metric, "results")
        if not self._summaries:
            groups: dict[tuple[str, str, float, int, str, str], list[tuple[float, float, float | None]]] = {}
            for trial, outcome in zip(self.trials, self.outcomes, strict=True):
                for name, measured in outcome.metrics.items():
                    groups.setdefault((*trial.setting, name), []).append(measured)
            self._summaries[:] = [_summarise(key, measured) for key, measured in groups.items()]
        return [summary for summary in self._summaries if metric is None or summary.metric == metric]

    @check_arguments
    def contexts(
        self, network: str, process: str, imprecision: float, rows: int, learner: str
    ) -> dict[str, list[float]]:
        """Mean over repeats of the error of every variable in every context, in table order; NaN where it is undefined.

        >>> import possnet as pn
        >>> results = pn.evaluate(["asia"], rows=50, imprecision=1, process="traced", learners="em", repeats=2, rng=1)
        >>> len(results.contexts("asia", "traced", 1.0, 50, "em")["dysp"])
        4
        """
        wanted = (network, process, imprecision, rows, learner)
        lists: dict[str, list[list[float]]] = {}
        for trial, outcome in zip(self.trials, self.outcomes, strict=True):
            if trial.setting == wanted:
                for name, errors in outcome.contexts.items():
                    lists.setdefault(name, []).append([nan if e is None else e for e in errors])
        return {name: np.mean(repeats, axis=0).tolist() for name, repeats in lists.items()}

    @check_arguments
    def table(self, metric: str = "child_affinity") -> str:
        """The means of one metric as text: a line for each setting, a column for each learner, ignorance and the limit.

        >>> import possnet as pn
        >>> results = pn.evaluate(["asia"], rows=50, imprecision=1, process="traced", learners="em", repeats=1, rng=1)
        >>> print(results.table().splitlines()[0])
        network  process  imprecision  rows  em  ignorance  limit
        """
        return "\n".join(text_table(self.table_rows(metric), texts=2, indent=""))

    @check_arguments
    def table_rows(self, metric: str = "child_affinity") -> list[tuple[str, ...]]:
        """The head and the lines of `table`, as texts.

        >>> import possnet as pn
        >>> results = pn.evaluate(["asia"], rows=50, imprecision=1, process="traced", learners="em", repeats=1, rng=1)
        >>> results.table_rows()[1][:4]
        ('asia', 'traced', '1', '50')
        """
        learners = dict.fromkeys(trial.learner for trial in self.trials)
        limits = _label_limits(learners)
        heads = ["limit" if label == _COUNTING else f"limit of {name}" for label, name in limits.items()]
        rows = [("network", "process", "imprecision", "rows", *learners, "ignorance", *heads)]
        for (network, process, theta, count), summaries in self._group_settings(metric).items():
            means = {learner: _format_mean(summary) for learner, summary in summaries.items()}
            levels = _find_levels(summaries, limits)
            bounds = ["" if bound is None else f"{bound:.3f}" for bound in levels.values()]
            imprecision = f"{theta:g}" if is_imprecise(process) else ""
            shown = (means.get(learner, "") for learner in learners)
            rows.append((network, process, imprecision, f"{count:,}", *shown, *bounds))
        return rows

    @check_arguments
    def sentences(self, metric: str = "child_affinity") -> list[str]:
        """The means of one metric at the largest number of rows, a sentence for each setting.

        >>> import possnet as pn
        >>> results = pn.evaluate(["asia"], rows=50, imprecision=1, process="traced", learners="em", repeats=1, rng=1)
        >>> results.sentences()[0].split(":")[0]
        'asia, traced rows, imprecision 1, 50 rows'
        """
        most = max(trial.rows for trial in self.trials)
        sentences = []
        for (network, process, theta, rows), summaries in self._group_settings(metric).items():
            if rows == most:
                values = {label_learner(name): s and s.mean for name, s in summaries.items()}
                levels = _find_levels(summaries, _label_limits(summaries))
                parts = [f"{name} {'failed' if mean is None else f'{mean:.2f}'}" for name, mean in values.items()]
                parts += [f"{name} {bound:.2f}" for name, bound in levels.items() if bound is not None]
                setting = f"{network}, {label_process(process)}"
                setting += f", imprecision {theta:g}" if is_imprecise(process) else ""
                sentences.append(f"{setting}, {most:,} rows: {', '.join(parts) or 'not defined'}")
        return sentences

    def _group_settings(self, metric: str) -> dict[tuple[str, str, float, int], dict[str, Summary | None]]:
        """Setting -> learner -> its summary, or None if it failed; learners for which the metric is not defined lack."""
        summaries = {tuple(summary[:5]): summary for summary in self.summary(metric)}
        failed = {trial.setting for trial, _ in self.failed}
        groups: dict[tuple[str, str, float, int], dict[str, Summary | None]] = {}
        for setting in dict.fromkeys(trial.setting for trial in self.trials):
            group = groups.setdefault(setting[:4], {})
            if setting in summaries or setting in failed:
                group[setting[4]] = summaries.get(setting)
        return groups

    def _repr_html_(self) -> str:
        """Learning curves, a panel for each network, process and imprecision, and the numbers folded, for notebooks."""
        metric = METRICS["child_affinity"]
        panels = self._list_panels(metric.name)
        left = f"<p>… and {len(panels) - _PANELS} more panels</p>" if len(panels) > _PANELS else ""
        picture = draw_curves(panels[:_PANELS], title=metric.label, x="rows", y=metric.label, logarithmic=True)
        head, *rows = self.table_rows(metric.name)
        table = draw_table(head, rows, note=repr(self))
        words = f"{metric.label}: {metric.description} (mean ± 95 % interval)"
        return f"<div><p>{words}</p>{picture}{left}{draw_details('the numbers', table)}</div>"

    def _list_panels(self, metric: str) -> list[CurvePanel]:
        """The means over rows of every learner, and of ignorance, a panel for each setting."""
        panels: dict[str, dict[str, list[tuple[float, float]]]] = {}
        for summary in self.summary(metric):
            theta = f", imprecision {summary.imprecision:g}" if is_imprecise(summary.process) else ""
            curves = panels.setdefault(f"{summary.network}, {label_process(summary.process)}{theta}", {})
            curves.setdefault(label_learner(summary.learner), []).append((summary.rows, summary.mean))
            curves.setdefault("ignorance", []).append((summary.rows, summary.vacuous))
        return [
            CurvePanel(
                title,
                tuple(
                    PlainCurve(
                        label, tuple(sorted(set(points))), "soft" if label == "ignorance" else "", label == "ignorance"
                    )
                    for label, points in curves.items()
                ),
            )
            for title, curves in panels.items()
        ]

    def __repr__(self) -> str:
        return f"Results({len(self.trials)} trial{'s' * (len(self.trials) != 1)}, {len(self.failed)} failed)"


@dataclass(frozen=True, slots=True)
class Experiment:
    """A finished experiment: its grid, its results, the versions of the programs that ran, and its folder."""

    grid: Grid
    results: Results
    versions: dict[str, str]
    folder: Path


def _summarise(
    key: tuple[str, str, float, int, str, str], measured: list[tuple[float, float, float | None]]
) -> Summary:
    values, vacuous = np.array([(value, ignorance) for value, ignorance, _ in measured]).T
    interval = None
    if len(values) > 1:
        quantile = _STUDENT[len(values) - 2] if len(values) - 2 < len(_STUDENT) else 1.96 + 2.4 / (len(values) - 1)
        interval = float(quantile * values.std(ddof=1) / sqrt(len(values)))
    return Summary(*key, float(values.mean()), interval, float(vacuous.mean()), measured[0][2], len(values))


def _label_limits(learners: Iterable[str]) -> dict[str, str]:
    """The limits that some learners have, counting's first and always, and the first learner of each."""
    labels = {_COUNTING: "counting"}
    for name in learners:
        entry = resolve_learner(name) if name.partition("@")[0] in LEARNERS else None
        if entry is not None and entry.limit is not None:
            labels.setdefault(entry.limit_label, name)
    return labels


def _find_levels(summaries: dict[str, Summary | None], limits: Iterable[str]) -> dict[str, float | None]:
    """What ignorance has, and each limit, as far as any learner tells."""
    known = [summary for summary in summaries.values() if summary is not None]
    levels = {"ignorance": next((s.vacuous for s in known), None), **dict.fromkeys(limits)}
    for summary in known:
        label = resolve_learner(summary.learner).limit_label if summary.limit is not None else ""
        if label in levels and levels[label] is None:
            levels[label] = summary.limit
    return levels


def _format_mean(summary: Summary | None) -> str:
    if summary is None:
        return "failed"
    return f"{summary.mean:.3f}" + ("" if summary.interval is None else f" ±{summary.interval:.3f}")

"""Results of an experiment: summaries over repeats with confidence intervals, and a table to read aloud."""

from __future__ import annotations

from dataclasses import dataclass
from math import nan, sqrt
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from possnet.drawing import draw_table, text_table
from possnet.errors import require_known
from possnet.metrics import METRICS

if TYPE_CHECKING:
    from possnet.experiment.trial import Outcome
    from possnet.experiment.trial_grid import Trial

# Quantiles of Student's t at .975, by degrees of freedom.
_STUDENT: Final = (
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110,
    2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
)  # fmt: skip


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

    >>> import possnet as pn
    >>> found = pn.evaluate(["asia"], rows=100, imprecision=1, process="alpha-cut", learners="likelihood", repeats=2, rng=1)
    >>> found
    Results(2 trials, 0 failed)
    >>> found.summary("affinity")[0].repeats
    2
    """

    trials: tuple[Trial, ...]
    outcomes: tuple[Outcome, ...]

    @property
    def failed(self) -> list[tuple[Trial, str]]:
        """Trials that ended with an error, and the error."""
        return [(c, o.error) for c, o in zip(self.trials, self.outcomes, strict=True) if o.error is not None]

    def summary(self, metric: str | None = None) -> list[Summary]:
        """Means over repeats, with 95 % confidence intervals, of one metric or of all.

        >>> import possnet as pn
        >>> found = pn.evaluate(["asia"], rows=50, imprecision=1, learners="likelihood", repeats=1, rng=1)
        >>> [s.interval for s in found.summary("affinity")]
        [None, None]
        """
        if metric is not None:
            require_known(metric, METRICS, "results: metric")
        groups: dict[tuple[str, str, float, int, str, str], list[tuple[float, float, float | None]]] = {}
        for trial, outcome in zip(self.trials, self.outcomes, strict=True):
            for name, measured in outcome.measures.items():
                if metric is None or name == metric:
                    groups.setdefault((*trial.setting, name), []).append(measured)
        return [_summary(key, found) for key, found in groups.items()]

    def contexts(
        self, network: str, process: str, imprecision: float, rows: int, learner: str
    ) -> dict[str, list[float]]:
        """Mean over repeats of the error of every variable in every context, in table order; NaN where it is undefined.

        >>> import possnet as pn
        >>> found = pn.evaluate(["asia"], rows=50, imprecision=1, process="traced", learners="em", repeats=2, rng=1)
        >>> len(found.contexts("asia", "traced", 1.0, 50, "em")["dysp"])
        4
        """
        wanted = (network, process, imprecision, rows, learner)
        lists: dict[str, list[list[float]]] = {}
        for trial, outcome in zip(self.trials, self.outcomes, strict=True):
            if trial.setting == wanted:
                for name, errors in outcome.contexts.items():
                    lists.setdefault(name, []).append([nan if e is None else e for e in errors])
        return {name: np.mean(found, axis=0).tolist() for name, found in lists.items()}

    def table(self, metric: str = "child_affinity") -> str:
        """The means of one metric as text: a line for each setting, a column for each learner, ignorance and the limit.

        >>> import possnet as pn
        >>> found = pn.evaluate(["asia"], rows=50, imprecision=1, process="traced", learners="likelihood", repeats=1, rng=1)
        >>> print(found.table().splitlines()[0])
        network  process  theta  rows  likelihood  ignorance  limit
        """
        return "\n".join(text_table(self.table_rows(metric), texts=2, indent=""))

    def table_rows(self, metric: str = "child_affinity") -> list[tuple[str, ...]]:
        """The head and the lines of `table`, as texts.

        >>> import possnet as pn
        >>> found = pn.evaluate(["asia"], rows=50, imprecision=1, process="traced", learners="likelihood", repeats=1, rng=1)
        >>> found.table_rows()[1][:4]
        ('asia', 'traced', '1', '50')
        """
        learners = dict.fromkeys(trial.learner for trial in self.trials)
        rows = [("network", "process", "theta", "rows", *learners, "ignorance", "limit")]
        for (network, process, theta, count), known in self._lines(metric).items():
            shown = {learner: "failed" if found is None else _mean(found) for learner, found in known.items()}
            vacuous, limit = _bounds(known)
            rows.append(
                (
                    network,
                    process,
                    "" if process == "precise" else f"{theta:g}",
                    f"{count:,}",
                    *(shown.get(learner, "") for learner in learners),
                    "" if vacuous is None else f"{vacuous:.3f}",
                    "" if limit is None else f"{limit:.3f}",
                )
            )
        return rows

    def sentences(self, metric: str = "child_affinity") -> list[str]:
        """The results at the largest number of rows, to be read aloud.

        >>> import possnet as pn
        >>> found = pn.evaluate(["asia"], rows=50, imprecision=1, process="traced", learners="em", repeats=1, rng=1)
        >>> found.sentences()[0].split(":")[0]
        'asia, traced, theta = 1, 50 rows'
        """
        most = max(trial.rows for trial in self.trials)
        told = []
        for (network, process, theta, rows), known in self._lines(metric).items():
            if rows == most:
                parts = [
                    f"{name} {'failed' if found is None else f'{found.mean:.2f}'}" for name, found in known.items()
                ]
                vacuous, limit = _bounds(known)
                parts += [] if vacuous is None else [f"ignorance {vacuous:.2f}"]
                parts += [] if limit is None else [f"limit of counting {limit:.2f}"]
                where = "" if process == "precise" else f", theta = {theta:g}"
                told.append(f"{network}, {process}{where}, {most:,} rows: {', '.join(parts) or 'not defined'}")
        return told

    def _lines(self, metric: str) -> dict[tuple[str, str, float, int], dict[str, Summary | None]]:
        """Setting -> learner -> its summary, or None if it failed; learners for which the metric is not defined lack."""
        found = {tuple(summary[:5]): summary for summary in self.summary(metric)}
        failed = {trial.setting for trial, _ in self.failed}
        lines: dict[tuple[str, str, float, int], dict[str, Summary | None]] = {}
        for setting in dict.fromkeys(trial.setting for trial in self.trials):
            line = lines.setdefault(setting[:4], {})
            if setting in found or setting in failed:
                line[setting[4]] = found.get(setting)
        return lines

    def _repr_html_(self) -> str:
        metric = "child_affinity"
        head, *rows = self.table_rows(metric)
        return draw_table(head, rows, caption=f"{METRICS[metric]} (mean ± 95 % interval)", note=repr(self))

    def __repr__(self) -> str:
        return f"Results({len(self.trials)} trial{'s' * (len(self.trials) != 1)}, {len(self.failed)} failed)"


def _summary(key: tuple[str, str, float, int, str, str], found: list[tuple[float, float, float | None]]) -> Summary:
    values = np.array([measured[0] for measured in found])
    interval = None
    if len(values) > 1:
        quantile = _STUDENT[len(values) - 2] if len(values) - 2 < len(_STUDENT) else 1.96 + 2.4 / (len(values) - 1)
        interval = float(quantile * values.std(ddof=1) / sqrt(len(values)))
    return Summary(
        *key, float(values.mean()), interval, float(np.mean([m[1] for m in found])), found[0][2], len(values)
    )


def _bounds(known: dict[str, Summary | None]) -> tuple[float | None, float | None]:
    """What ignorance has, and the limit, as far as any learner tells."""
    told = [found for found in known.values() if found is not None]
    return next((s.vacuous for s in told), None), next((s.limit for s in told if s.limit is not None), None)


def _mean(found: Summary) -> str:
    return f"{found.mean:.3f}" + ("" if found.interval is None else f" ±{found.interval:.3f}")

"""The table of a report: a line for every setting and learner, to be filtered and sorted, the best learner marked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from possnet.drawing import escape_markup
from possnet.learners import label_learner
from possnet.metrics import METRICS
from possnet.sampling import is_imprecise, label_process

if TYPE_CHECKING:
    from collections.abc import Sequence

    from possnet.experiment import Results, Summary

_MOST_TABLE_BYTES: Final = 400_000
_MOST_FAILURES: Final = 20
_WITH_BASELINES: Final = ("child_affinity", "child_mean_error")
_TABLE_METRICS: Final = (*_WITH_BASELINES, "max_error", "rank_agreement")
_BOUND_METRICS: Final = ("identified_share", "identified_error", "bound_coverage")
_STRUCTURE_METRICS: Final = ("hamming", "skeleton_precision", "skeleton_recall", "essential_hamming")
_FILTERS: Final = ("network", "kind of rows", "imprecision", "rows", "learner")
_BEST: Final = '<span class="star" title="the best learner of its setting">★</span><span class="unseen"> best</span>'


class _TableLine(NamedTuple):
    network: str
    process: str
    imprecision: float
    rows: int
    learner: str


def results_table(results: Results) -> str:
    """Filters, the table and what its columns mean."""
    groups: dict[_TableLine, dict[str, Summary]] = {}
    for s in results.summary():
        groups.setdefault(_TableLine(*s[:5]), {})[s.metric] = s
    learned = any("@" in line.learner for line in groups)
    bounded = tuple(metric for metric in _BOUND_METRICS if any(metric in group for group in groups.values()))
    metrics = _TABLE_METRICS + bounded + (_STRUCTURE_METRICS if learned else ()) + _list_others(groups)
    best = _find_best(groups)
    lines: list[str] = []
    used = 0
    for line, group in groups.items():
        if used > _MOST_TABLE_BYTES:
            break
        lines.append(_table_line(line, group, metrics, best=best.get(line[:4]) == line.learner))
        used += len(lines[-1])
    more = len(groups) - len(lines)
    note = f"<p>… {more:,} more lines in <code>results.csv</code>.</p>" if more else ""
    legend = "; ".join(
        f"{METRICS[metric].label}: {METRICS[metric].description}" for metric in metrics if metric in METRICS
    )
    repeated = any(s.repeats > 1 for group in groups.values() for s in group.values())
    return (
        f"<p>{'Means over repeats with 95 % intervals' if repeated else 'One run of every setting'}. "
        "A click on a heading sorts; ★ marks the best learner of each setting.</p>"
        f"{_write_filters(groups)}"
        '<div class="wide" tabindex="0" role="group" aria-label="results"><table class="sortable">'
        f"<thead><tr>{_table_head(metrics)}</tr></thead><tbody>{''.join(lines)}</tbody></table></div>"
        f"{note}<p><small>{escape_markup(legend)}.</small></p>"
    )


def _list_others(groups: dict[_TableLine, dict[str, Summary]]) -> tuple[str, ...]:
    """Metrics that are not possnet's own, registered here or only where the experiment ran."""
    measured = dict.fromkeys(metric for group in groups.values() for metric in group)
    return tuple(metric for metric in measured if metric not in METRICS or not METRICS[metric].is_bundled)


def label_metric(metric: str) -> str:
    """A metric for people; a name that is not registered stands for itself.

    >>> label_metric("hamming"), label_metric("mine")
    ('edges to mend', 'mine')
    """
    return METRICS[metric].label if metric in METRICS else metric


def count_lines(results: Results) -> int:
    """How many lines the table has."""
    return len({trial.setting for trial in results.trials})


def _find_best(groups: dict[_TableLine, dict[str, Summary]]) -> dict[tuple[object, ...], str]:
    """Setting -> the learner with the largest affinity, if there are several learners."""
    settings: dict[tuple[object, ...], dict[str, float]] = {}
    for line, group in groups.items():
        if "child_affinity" in group:
            settings.setdefault(line[:4], {})[line.learner] = group["child_affinity"].mean
    return {key: max(means, key=means.__getitem__) for key, means in settings.items() if len(means) > 1}


def _table_head(metrics: Sequence[str]) -> str:
    heads: list[str] = list(_FILTERS)
    for metric in metrics:
        heads += [label_metric(metric), *(("knowing nothing", "limit") if metric in _WITH_BASELINES else ())]
    return "".join(f'<th scope="col"><button type="button">{escape_markup(text)}</button></th>' for text in heads)


def _filter_texts(line: _TableLine) -> tuple[str, ...]:
    theta = f"{line.imprecision:g}" if is_imprecise(line.process) else "–"
    return line.network, label_process(line.process), theta, f"{line.rows:,}", label_learner(line.learner)


def _write_filters(groups: dict[_TableLine, dict[str, Summary]]) -> str:
    """A choice for every column of words that has several."""
    choices = []
    for column, (name, *texts) in enumerate(zip(_FILTERS, *map(_filter_texts, groups), strict=True)):
        values = list(dict.fromkeys(texts))
        if len(values) > 1:
            options = "".join(f"<option>{escape_markup(value)}</option>" for value in values)
            choices.append(
                f'<label>{name} <select data-column="{column}"><option value="">all</option>{options}</select></label>'
            )
    return f'<form class="filters">{" ".join(choices)}<output></output></form>' if choices else ""


def _table_line(line: _TableLine, group: dict[str, Summary], metrics: Sequence[str], *, best: bool) -> str:
    network, process, theta, rows, learner = _filter_texts(line)
    entries = [
        text_entry(network),
        text_entry(process),
        number_entry(line.imprecision, theta),
        number_entry(line.rows, rows),
    ]
    entries.append(f'<td class="text">{escape_markup(learner)}{_BEST if best else ""}</td>')
    entries += [entry for metric in metrics for entry in _metric_entries(metric, group.get(metric))]
    return f"<tr{' class=best' if best else ''}>{''.join(entries)}</tr>"


def _metric_entries(metric: str, s: Summary | None) -> list[str]:
    """A metric's mean, with ignorance and limit where they are shown; empty for a learner that does not have it."""
    if s is None:
        return [number_entry(-1.0, "")] * (3 if metric in _WITH_BASELINES else 1)
    spread = "" if s.interval is None else f" ±{s.interval:.3f}"
    entries = [number_entry(s.mean, f"{s.mean:.3f}{spread}")]
    if metric in _WITH_BASELINES:
        entries.append(number_entry(s.vacuous, f"{s.vacuous:.3f}"))
        entries.append(number_entry(-1.0, "") if s.limit is None else number_entry(s.limit, f"{s.limit:.3f}"))
    return entries


def text_entry(text: str) -> str:
    """A table entry of text."""
    return f'<td class="text">{escape_markup(text)}</td>'


def number_entry(value: float, text: str) -> str:
    """A table entry of a number, sorted by its value."""
    return f'<td data-v="{value:.6g}">{text}</td>'


def list_failures(results: Results) -> str:
    """The trials that failed, and why."""
    if not results.failed:
        return ""
    lines = [
        f"{trial.network}, {label_process(trial.process)}, imprecision {trial.imprecision:g}, {trial.rows:,} rows, "
        f"{label_learner(trial.learner)}: {error}"
        for trial, error in results.failed[:_MOST_FAILURES]
    ]
    more = len(results.failed) - len(lines)
    rest = f"<li>… {more:,} more in <code>results.csv</code></li>" if more else ""
    listed = "".join(f"<li>{escape_markup(line)}</li>" for line in lines)
    return f'<p class="warn">{len(results.failed)} of {len(results.trials)} trials failed:</p><ul>{listed}{rest}</ul>'

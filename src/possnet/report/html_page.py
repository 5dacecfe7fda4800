"""The report as one HTML page: no outside request, light and dark, narrow and wide, screen and paper."""

from __future__ import annotations

from pathlib import Path
from string import Template
from typing import TYPE_CHECKING, Final, NamedTuple

from possnet.drawing import css_colours, escape_markup
from possnet.learners import label_learner
from possnet.metrics import METRICS
from possnet.plots import COLOURS
from possnet.report.narrative import list_methods, repeat_command, state_answer, state_question

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from possnet.experiment import Experiment, Results, Summary

_MOST_TABLE_BYTES: Final = 400_000
_MOST_FAILURES: Final = 20
_WITH_BASELINES: Final = ("child_affinity", "child_mean_error")
_TABLE_METRICS: Final = (*_WITH_BASELINES, "max_error", "rank_agreement")
_BOUND_METRICS: Final = ("identified_share", "identified_error", "bound_coverage")
_STRUCTURE_METRICS: Final = ("hamming", "skeleton_precision", "skeleton_recall", "essential_hamming")


class ReportPicture(NamedTuple):
    """A picture of the report: which section it belongs to, SVG text, and a sentence about it."""

    section: str
    picture: str
    caption: str


def build_page(experiment: Experiment, pictures: Sequence[ReportPicture], notes: Sequence[str] = ()) -> str:
    """The whole page as text."""
    question, command = escape_markup(state_question(experiment)), escape_markup(repeat_command(experiment))
    answer = "".join(f"<p>{escape_markup(sentence)}</p>" for sentence in state_answer(experiment.results))
    methods = "".join(
        f"<dt>{escape_markup(topic)}</dt><dd>{escape_markup(words)}</dd>" for topic, words in list_methods(experiment)
    )
    sections: dict[str, list[str]] = {}
    for picture in pictures:
        sections.setdefault(picture.section, []).append(figure_markup(picture))
    sections |= {
        "Table": [_results_table(experiment.results), _failed_trials(experiment.results)],
        "Methods": [f"<dl>{methods}</dl>"],
        "Do it again": [f"<pre>{command}</pre>", _repeat_notes(in_folder="networks/" in command)],
    }
    return fill_template("learning a network back from imprecise rows", question, answer, sections, notes)


def fill_template(
    kind: str, title: str, answer: str, sections: Mapping[str, Sequence[str]], notes: Sequence[str] = ()
) -> str:
    """A page: what it is, its title (both as markup), the answer, and sections of markup that links lead to."""
    anchors = {name: "".join(ch if ch.isalnum() else "-" for ch in name.lower()) for name in sections}
    parts = [f'<p class="warn">{escape_markup(note)}</p>' for note in notes]
    for name, contents in sections.items():
        parts += [f'<h2 id="{anchors[name]}">{escape_markup(name)}</h2>', *filter(None, contents)]
    light, dark = css_colours(COLOURS)
    return Template((Path(__file__).parent / "report_page.html").read_text("utf-8")).substitute(
        kind=kind,
        question=title,
        answer=answer,
        links="".join(f'<a href="#{anchor}">{escape_markup(name)}</a>' for name, anchor in anchors.items()),
        sections="\n".join(parts),
        light=light,
        dark=dark,
    )


def figure_markup(picture: ReportPicture) -> str:
    """A picture with its caption."""
    label = escape_markup(picture.caption)
    return (
        f'<figure><div class="wide" tabindex="0" role="group" aria-label="{label}">{picture.picture}</div>'
        f"<figcaption>{label}</figcaption></figure>"
    )


def _repeat_notes(*, in_folder: bool) -> str:
    where = "<p>Run it in the folder of this page, where <code>networks/</code> is.</p>\n" if in_folder else ""
    return (
        f"{where}<p>All metrics of all trials are in <code>results.csv</code> and <code>results.parquet</code> beside this "
        "page, the networks in <code>networks.json</code>, the figures for papers in <code>figures/</code>. Same seed, "
        "same numbers, whatever the number of workers.</p>"
    )


def _results_table(results: Results) -> str:
    """A line for every setting and learner, sorted by a click on a column's head."""
    groups: dict[tuple[str, str, float, int, str], dict[str, Summary]] = {}
    for s in results.summary():
        groups.setdefault((s.network, s.process, s.imprecision, s.rows, s.learner), {})[s.metric] = s
    learned = any(group["hamming"].mean > 0 for group in groups.values())
    bounded = tuple(metric for metric in _BOUND_METRICS if any(metric in group for group in groups.values()))
    metrics = _TABLE_METRICS + bounded + (_STRUCTURE_METRICS if learned else ())
    heads = ["network", "process", "imprecision", "rows", "learner"]
    for metric in metrics:
        heads += [METRICS[metric].label, *(("ignorance", "limit") if metric in _WITH_BASELINES else ())]
    head = "".join(f'<th scope="col"><button type="button">{escape_markup(text)}</button></th>' for text in heads)
    lines: list[str] = []
    used = 0
    for (network, process, imprecision, rows, learner), group in groups.items():
        if used > _MOST_TABLE_BYTES:
            break
        entries = [text_entry(network), text_entry(process)]
        entries += [number_entry(imprecision, f"{imprecision:g}"), number_entry(rows, f"{rows:,}")]
        entries.append(text_entry(label_learner(learner)))
        entries += [entry for metric in metrics for entry in _metric_entries(metric, group.get(metric))]
        lines.append(f"<tr>{''.join(entries)}</tr>")
        used += len(lines[-1])
    more = len(groups) - len(lines)
    note = f"<p>… {more:,} more lines in <code>results.csv</code>.</p>" if more else ""
    legend = "; ".join(f"{METRICS[metric].label}: {METRICS[metric].description}" for metric in metrics)
    repeated = any(s.repeats > 1 for group in groups.values() for s in group.values())
    return (
        f"<p>{'Means over repeats with 95 % intervals' if repeated else 'One run of every setting'}. "
        "A click on a heading sorts.</p>"
        '<div class="wide" tabindex="0" role="group" aria-label="results"><table class="sortable">'
        f"<thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody></table></div>"
        f"{note}<p><small>{escape_markup(legend)}.</small></p>"
    )


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
    return f'<td data-v="{value:.10g}">{text}</td>'


def _failed_trials(results: Results) -> str:
    if not results.failed:
        return ""
    lines = [
        f"{trial.network}, {trial.process}, imprecision {trial.imprecision:g}, {trial.rows:,} rows, "
        f"{label_learner(trial.learner)}: {error}"
        for trial, error in results.failed[:_MOST_FAILURES]
    ]
    more = len(results.failed) - len(lines)
    rest = f"<li>… {more:,} more in <code>results.csv</code></li>" if more else ""
    listed = "".join(f"<li>{escape_markup(line)}</li>" for line in lines)
    return f'<p class="warn">{len(results.failed)} of {len(results.trials)} trials failed:</p><ul>{listed}{rest}</ul>'

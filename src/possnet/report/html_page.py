"""The report as one HTML page: no outside request, light and dark, narrow and wide, screen and paper."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from possnet.drawing import css_colours, escape_markup
from possnet.metrics import METRICS
from possnet.plots import COLOURS, learner_words
from possnet.report.narrative import list_methods, repeat_command, state_answer, state_question

if TYPE_CHECKING:
    from collections.abc import Sequence

    from possnet.experiment import Experiment, Results, Summary

_TABLE_BYTES: Final = 400_000
_FAILURES: Final = 20
_COLUMNS: Final = {
    "child_affinity": "affinity",
    "child_mean_error": "mean error",
    "max_error": "largest error",
    "rank_agreement": "rank agreement",
}
_STRUCTURE: Final = {
    "hamming": "edges to mend",
    "skeleton_precision": "skeleton precision",
    "skeleton_recall": "skeleton recall",
    "essential_hamming": "essential edges to mend",
}
_STYLE: Final = """
*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--ink);font:16px/1.55 system-ui,sans-serif}
main{max-width:1080px;margin:0 auto;padding:1.6rem 1.2rem 4rem}
h1{font-size:1.75rem;line-height:1.25;margin:.2rem 0 1rem;text-wrap:balance;overflow-wrap:anywhere}
h2{font-size:1.2rem;margin:2.6rem 0 .5rem}
p{max-width:46rem;margin:.5rem 0;overflow-wrap:anywhere}
.kind{color:var(--soft);margin:0;letter-spacing:.02em}
.answer{border-left:4px solid var(--blue);padding:.1rem 0 .1rem 1rem;margin:1rem 0;max-width:48rem}
.answer p{font-size:1.06rem}
nav{color:var(--soft);font-size:.9rem;margin:1rem 0}
nav a{margin-right:1rem;white-space:nowrap;display:inline-block}
a{color:var(--blue)}
figure{margin:1rem 0 1.6rem}
figcaption{color:var(--soft);font-size:.9rem;max-width:46rem;margin-top:.3rem}
.wide{overflow-x:auto}
.wide svg{min-width:min(var(--w,520px),max(100%,calc(var(--w,520px)*.66)))}
@media (max-width:600px){main{padding:1rem .9rem 3rem}h1{font-size:1.35rem}}
table{border-collapse:collapse;font-size:.84rem;font-variant-numeric:tabular-nums}
th,td{padding:.22rem .7rem .22rem 0;border-bottom:1px solid var(--rule);text-align:right;white-space:nowrap}
th:first-child,td:first-child,.text{text-align:left}
thead th{position:sticky;top:0;background:var(--paper);vertical-align:bottom;border-bottom:1.5px solid var(--soft)}
th button{all:unset;cursor:pointer;font-weight:600}
th button:focus-visible{outline:2px solid var(--blue)}
th[aria-sort=ascending]::after{content:" \\25B4"}
th[aria-sort=descending]::after{content:" \\25BE"}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.25rem 1.2rem;margin:.6rem 0}
dt{color:var(--soft)}
dd{margin:0;overflow-wrap:anywhere}
pre{background:var(--rule);padding:.7rem .9rem;border-radius:6px;font-size:.86rem}
pre{white-space:pre-wrap;overflow-wrap:anywhere}
.warn{color:var(--orange)}
@page{margin:15mm}
@media print{body{font-size:10.5pt}main{max-width:none;padding:0}nav{display:none}figure,tr,.answer{break-inside:avoid}
h2{break-after:avoid}.wide{overflow:visible}thead th{position:static}table{font-size:7.5pt}
.wide svg{min-width:0;max-height:22cm}th,td{padding-right:.35rem}}
"""
_SORT: Final = """
for (const table of document.querySelectorAll("table.sortable")) {
  const heads = [...table.tHead.rows[0].cells], body = table.tBodies[0];
  heads.forEach((head, k) => head.querySelector("button").addEventListener("click", () => {
    const up = head.getAttribute("aria-sort") !== "ascending";
    const key = row => { const v = row.cells[k].dataset.v; return v === undefined ? row.cells[k].textContent : Number(v); };
    const order = (a, b) => { const x = key(a), y = key(b); return x < y ? -1 : x > y ? 1 : 0; };
    const rows = [...body.rows].sort((a, b) => up ? order(a, b) : order(b, a));
    body.append(...rows);
    heads.forEach(h => h.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", up ? "ascending" : "descending");
  }));
}
"""


class ReportPicture(NamedTuple):
    """A picture of the report: which section it belongs to, SVG text, and a sentence about it."""

    section: str
    picture: str
    caption: str


def build_page(experiment: Experiment, pictures: Sequence[ReportPicture], notes: Sequence[str] = ()) -> str:
    """The whole page as text."""
    asked = state_question(experiment)
    sections = list(dict.fromkeys(shown.section for shown in pictures))
    places = [*sections, "Table", "Methods", "Do it again"]
    parts = [
        '<p class="kind">possnet: learning a network back from imprecise rows</p>',
        f"<h1>{escape_markup(asked)}</h1>",
        '<div class="answer">'
        + "".join(f"<p>{escape_markup(text)}</p>" for text in state_answer(experiment.results))
        + "</div>",
        "<nav>" + "".join(f'<a href="#{_section_anchor(s)}">{escape_markup(s)}</a>' for s in places) + "</nav>",
        *(f'<p class="warn">{escape_markup(note)}</p>' for note in notes),
    ]
    for section in sections:
        parts.append(_section_heading(section))
        parts += [_figure_markup(shown) for shown in pictures if shown.section == section]
    parts += [
        _section_heading("Table"),
        _results_table(experiment.results),
        _failed_trials(experiment.results),
        _section_heading("Methods"),
    ]
    facts = "".join(
        f"<dt>{escape_markup(topic)}</dt><dd>{escape_markup(words)}</dd>" for topic, words in list_methods(experiment)
    )
    again = repeat_command(experiment)
    parts += [f"<dl>{facts}</dl>", _section_heading("Do it again"), f"<pre>{escape_markup(again)}</pre>"]
    if "networks/" in again:
        parts.append("<p>Run it in the folder of this page, where <code>networks/</code> is.</p>")
    parts.append(
        "<p>All measures of all runs are in <code>results.csv</code> and <code>results.parquet</code> beside this page, "
        "the networks in <code>networks.json</code>, the figures for papers in <code>figures/</code>. Same seed, same "
        "numbers, whatever the number of workers.</p>"
    )
    light, dark = css_colours(COLOURS)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        '<link rel="icon" href="data:,">\n'
        f"<title>{escape_markup(asked)}</title>\n<style>\n:root{{{light};--paper:#fff}}\n"
        f"@media screen and (prefers-color-scheme:dark){{:root{{{dark};--paper:#131a21}}}}\n{_STYLE}</style>\n</head>\n"
        f"<body>\n<main>\n{chr(10).join(part for part in parts if part)}\n</main>\n"
        f"<script>{_SORT}</script>\n</body>\n</html>\n"
    )


def _figure_markup(shown: ReportPicture) -> str:
    label = escape_markup(shown.caption)
    return (
        f'<figure><div class="wide" tabindex="0" role="group" aria-label="{label}">{shown.picture}</div>'
        f"<figcaption>{label}</figcaption></figure>"
    )


def _section_heading(section: str) -> str:
    return f'<h2 id="{_section_anchor(section)}">{escape_markup(section)}</h2>'


def _section_anchor(section: str) -> str:
    return "".join(ch if ch.isalnum() else "-" for ch in section.lower())


def _results_table(results: Results) -> str:
    """A line for every setting and learner, sorted by a click on a column's head."""
    by_line: dict[tuple[str, str, float, int, str], dict[str, Summary]] = {}
    for s in results.summary():
        by_line.setdefault((s.network, s.process, s.imprecision, s.rows, s.learner), {})[s.metric] = s
    repeats = max((s.repeats for found in by_line.values() for s in found.values()), default=1)
    learned = any(found["hamming"].mean > 0 for found in by_line.values())
    columns = {**_COLUMNS, **(_STRUCTURE if learned else {})}
    heads = ["network", "process", "theta", "rows", "learner"]
    for metric, words in columns.items():
        heads += [words, *(["ignorance", "limit"] if metric in {"child_affinity", "child_mean_error"} else [])]
    head = "".join(f'<th scope="col"><button type="button">{escape_markup(text)}</button></th>' for text in heads)
    lines = []
    used = 0
    for (network, process, theta, rows, learner), found in by_line.items():
        if used > _TABLE_BYTES:
            break
        cells = [f'<td class="text">{escape_markup(text)}</td>' for text in (network, process)]
        cells += [_number_entry(theta, f"{theta:g}"), _number_entry(rows, f"{rows:,}")]
        cells.append(f'<td class="text">{escape_markup(learner_words(learner))}</td>')
        for metric in columns:
            s = found[metric]
            spread = "" if s.interval is None else f" ±{s.interval:.3f}"
            cells.append(_number_entry(s.mean, f"{s.mean:.3f}{spread}"))
            if metric in {"child_affinity", "child_mean_error"}:
                cells.append(_number_entry(s.vacuous, f"{s.vacuous:.3f}"))
                cells.append(_number_entry(-1.0, "") if s.limit is None else _number_entry(s.limit, f"{s.limit:.3f}"))
        lines.append(f"<tr>{''.join(cells)}</tr>")
        used += len(lines[-1])
    more = len(by_line) - len(lines)
    note = f"<p>… {more:,} more lines in <code>results.csv</code>.</p>" if more > 0 else ""
    legend = "; ".join(f"{words}: {METRICS[metric].description}" for metric, words in columns.items())
    return (
        f"<p>{'Means over repeats with 95 % intervals' if repeats > 1 else 'One run of every setting'}. "
        "A click on a heading sorts.</p>"
        '<div class="wide" tabindex="0" role="group" aria-label="results"><table class="sortable">'
        f"<thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody></table></div>"
        f"{note}<p><small>{escape_markup(legend)}.</small></p>"
    )


def _number_entry(value: float, text: str) -> str:
    return f'<td data-v="{value:.10g}">{text}</td>'


def _failed_trials(results: Results) -> str:
    if not results.failed:
        return ""
    shown = "".join(
        "<li>"
        + escape_markup(f"{c.network}, {c.process}, theta {c.imprecision:g}, {c.rows:,} rows, {c.learner}: {error}")
        + "</li>"
        for c, error in results.failed[:_FAILURES]
    )
    more = len(results.failed) - _FAILURES
    rest = f"<li>… {more:,} more in <code>results.csv</code></li>" if more > 0 else ""
    return f'<p class="warn">{len(results.failed)} of {len(results.trials)} runs failed:</p><ul>{shown}{rest}</ul>'

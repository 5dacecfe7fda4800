"""A hold-out check as one self-contained HTML page: the verdict, bars beside baselines, reliability curves, all figures."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from possnet.doors import check_arguments
from possnet.drawing import escape_markup
from possnet.errors import InputError, count_noun
from possnet.io import write_text
from possnet.plots import accuracy_bars, has_matplotlib, reliability_curves, svg_text
from possnet.report.html_page import ReportPicture, figure_markup, fill_template
from possnet.report.results_table import number_entry, text_entry

if TYPE_CHECKING:
    from collections.abc import Mapping

    from possnet.checking import CellCheck, Check

_NO_MATPLOTLIB: Final = "Bars and curves need matplotlib: pip install 'possnet[plot]', then write the page again."
_BARS: Final = (
    "How often the most possible state of a cell is the truth. A network that knows something reaches beyond the diamond, "
    "the most frequent {what} of the rows that it was learned from."
)
_CURVES: Final = (
    "Left: the cut at a level has all states at least so possible, and should hold the truth in 1 − level of the cells or "
    "more; below the dashed line it holds less than it promises. Middle: what that costs, in states. Right: a state of "
    "necessity n should be right at least as often as n; dots show for how many cells such a claim is made."
)
_SETS: Final = "Cells of which only a set is known count as held where the cut meets the set."


@check_arguments
def write_check(check: Check, path: str | Path, *, title: str | None = None) -> Path:
    """Write a hold-out check as one page that needs nothing from outside; gives the name of the file.

    Bars and curves need matplotlib (``possnet[plot]``); without it the page has the verdict and the tables alone, and says
    so.

    Parameters
    ----------
    path
        A file that ends in .html.
    title
        Of the page; by default the question that the check answers.

    Examples
    --------
    >>> import possnet as pn, tempfile
    >>> asia = pn.load_example("asia")
    >>> result = pn.check(asia, pn.sample(asia, 100, process="precise", rng=1))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page = write_check(result, Path(folder) / "check.html").read_text("utf-8")
    >>> result.verdict.split("; ")[0][1:] in page, page.count("<svg")
    (True, 2)
    """
    file = Path(path)
    if file.suffix.lower() not in {".html", ".htm"}:
        raise InputError(f"{file}: unknown suffix {file.suffix!r}; expected .html")
    write_text(file, build_check_page(check, title))
    return file


def build_check_page(check: Check, title: str | None = None) -> str:
    """The whole page as text."""
    sections = {
        "Accuracy": _draw_bars(check.variables, "state"),
        "Reliability": _draw_curves(check.variables, check.overall),
    }
    sections["Figures"] = [_figures_table(check.variables, check.overall, "state")]
    if check.overall_resolved is not None:
        sections["Ambiguous cells"] = [
            "<p>Cells of several states, resolved among their own candidates, against the truth in another column.</p>",
            *_draw_bars(check.resolved, "candidate"),
            *_draw_curves(check.resolved, check.overall_resolved),
            _figures_table(check.resolved, check.overall_resolved, "candidate"),
        ]
    methods = "".join(f"<dt>{topic}</dt><dd>{escape_markup(words)}</dd>" for topic, words in _list_methods(check))
    sections["Method"] = [f"<dl>{methods}</dl>"]
    sentences = f"{check.verdict[0].upper()}{check.verdict[1:]}.".split("; ")
    answer = "".join(f"<p>{escape_markup(_as_sentence(words))}</p>" for words in sentences)
    answer = f'<div class="answer">{answer}</div>'
    notes = [] if has_matplotlib() else [_NO_MATPLOTLIB]
    question = title or "How often are hidden cells completed rightly?"
    kind = f"a hold-out check of {_short_subject(check)}"
    return fill_template(escape_markup(kind), escape_markup(question), answer, sections, notes)


def _as_sentence(words: str) -> str:
    return f"{words[0].upper()}{words[1:].removesuffix('.')}."


def _short_subject(check: Check) -> str:
    learned = f"learned in {check.folds} folds" if check.folds else f"on {check.seen}"
    return f"{check.subject}, {learned}, {count_noun(check.rows, 'row')}"


def _draw_bars(variables: Mapping[str, CellCheck], what: str) -> list[str]:
    if not has_matplotlib() or not any(cells.rows for cells in variables.values()):
        return []
    picture = svg_text(accuracy_bars(variables, competitors=what), "accuracy beside baselines")
    return [figure_markup(ReportPicture("", picture, _BARS.format(what=what)))]


def _draw_curves(variables: Mapping[str, CellCheck], overall: CellCheck) -> list[str]:
    if not has_matplotlib():
        return []
    caption = f"{_CURVES} {_SETS}" if overall.sets else _CURVES
    return [figure_markup(ReportPicture("", svg_text(reliability_curves(variables, overall), "reliability"), caption))]


def _figures_table(variables: Mapping[str, CellCheck], overall: CellCheck, what: str) -> str:
    """A line for every variable and one for all, sorted by a click on a column's head."""
    heads = ["variable", "cells", "right", "±", f"most frequent {what}", "random", "truth inside"]
    heads += [f"cut at {level:g} holds" for level in overall.coverage]
    heads += [f"its states at {level:g}" for level in overall.size]
    heads += [text for n in overall.right for text in (f"N ≥ {n:g} right", f"N ≥ {n:g} claimed")]
    head = "".join(f'<th scope="col"><button type="button">{escape_markup(text)}</button></th>' for text in heads)
    listed = [*variables.items(), *([("all", overall)] if len(variables) > 1 else [])]
    body = "".join(_figures_row(name, cells) for name, cells in listed)
    return (
        "<p>A click on a heading sorts. ±: two standard errors of the difference to the most frequent. "
        f"Truth inside: it is among the {what}s that compete.</p>"
        '<div class="wide" tabindex="0" role="group" aria-label="figures"><table class="sortable">'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _figures_row(name: str, cells: CellCheck) -> str:
    shares = [cells.accuracy, cells.margin, cells.baseline, cells.random, cells.inside, *cells.coverage.values()]
    entries = [text_entry(name), number_entry(cells.rows + cells.sets, f"{cells.rows + cells.sets:,}")]
    entries += [_share_entry(share, 3) for share in shares]
    entries += [_share_entry(size, 1) for size in cells.size.values()]
    entries += [_share_entry(share, 3) for n in cells.right for share in (cells.right[n], cells.claimed[n])]
    return f"<tr>{''.join(entries)}</tr>"


def _share_entry(share: float | None, places: int) -> str:
    return number_entry(-1.0, "–") if share is None else number_entry(share, f"{share:.{places}f}")


def _list_methods(check: Check) -> list[tuple[str, str]]:
    """Topics and words: what was checked, on which rows, and how figures are counted."""
    overall = check.overall
    methods = [
        ("Checked", check.subject),
        ("On", f"{check.seen}; {count_noun(check.rows, 'row')}"),
        ("Hidden", "one cell at a time, where its state is known; all other cells of its row are evidence."),
        ("Right", "the most possible state is the truth; where k states tie, 1/k."),
        ("Cut at a level", "all states whose possibility is at least the level."),
    ]
    if check.folds:
        methods.insert(2, ("Seed", f"{check.seed}: the same seed gives the same folds."))
    if overall.sets:
        methods.append(("Sets", f"{count_noun(overall.sets, 'cell')} of which only a set is known. {_SETS}"))
    if overall.impossible:
        cells = count_noun(overall.impossible, "cell")
        methods.append(("Impossible", f"{cells} in rows that the network calls impossible: wrong, and held by no cut."))
    if check.skipped:
        methods.append(("Not checked", f"{', '.join(check.skipped)}: no cell is known."))
    learning = f", {check.learning_seconds:.2g} s of them learning" if check.folds else ""
    return [*methods, ("Time", f"{check.seconds:.2g} s{learning}")]

"""The report as one HTML page: no outside request, light and dark, narrow and wide, screen and paper."""

from __future__ import annotations

import re
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING, Final, NamedTuple

from possnet.drawing import css_colours, escape_markup
from possnet.plots import COLOURS
from possnet.report.narrative import list_methods, list_settings, repeat_command, state_question
from possnet.report.number_line import draw_number_line
from possnet.report.results_table import count_lines, list_failures, results_table
from possnet.report.terms import TermExplainer
from possnet.report.verdicts import judge_rows, state_answer, title_process

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from possnet.experiment import Experiment
    from possnet.report.verdicts import Verdict

_MOST_OPEN_LINES: Final = 40
_OPEN: Final = ("Overview", "Structure")


class ReportPicture(NamedTuple):
    """A picture of the report.

    ``section`` is where it belongs, ``picture`` SVG text, ``caption`` how it is read; ``narrow`` is the same for narrow
    screens and ``narrow_caption`` how that is read, if otherwise, ``message`` what the picture says, ``stem`` the name
    of its files in figures/.
    """

    section: str
    picture: str
    caption: str
    stem: str = ""
    narrow: str = ""
    message: str = ""
    narrow_caption: str = ""


def build_page(
    experiment: Experiment, pictures: Sequence[ReportPicture], notes: Sequence[str] = (), left_out: str = ""
) -> str:
    """The whole page as text."""
    explainer = TermExplainer()
    settings = explainer.explain(list_settings(experiment))
    answer = f'<p class="settings">{settings}</p>{write_verdicts(experiment, explainer)}'
    sections: dict[str, list[str]] = {}
    for picture in pictures:
        sections.setdefault(picture.section, []).append(figure_markup(picture, explainer.explain))
    folded = {name for name in sections if name not in _OPEN}
    if left_out:
        sections.setdefault("Overview", []).append(f"<p>{escape_markup(left_out)}</p>")
    sections["Table"] = [results_table(experiment.results)]
    if count_lines(experiment.results) > _MOST_OPEN_LINES:
        folded.add("Table")
    if failures := list_failures(experiment.results):
        sections["Failed trials"] = [failures]
    command = repeat_command(experiment)
    methods = "".join(
        f"<dt>{topic}</dt><dd>{explainer.explain(words)}</dd>" for topic, words in list_methods(experiment)
    )
    sections["Methods"] = [f"<dl>{methods}</dl>"]
    sections["Do it again"] = [
        f"<pre>{_keep_words(command)}</pre>",
        _repeat_notes(experiment.grid.own_entries, in_folder="networks/" in command),
    ]
    title = escape_markup(state_question(experiment))
    kind = "learning a network back from imprecise rows"
    return fill_template(kind, title, answer, sections, notes, folded)


def write_verdicts(experiment: Experiment, explainer: TermExplainer) -> str:
    """A card for each kind of rows, or the one sentence that there is nothing to judge."""
    results = experiment.results
    verdicts = judge_rows(results) if results.summary("child_affinity") else []
    if not verdicts:
        return "".join(f'<div class="answer"><p>{escape_markup(words)}</p></div>' for words in state_answer(results))
    cards = "".join(_write_card(verdict, experiment.grid.learners, explainer) for verdict in verdicts)
    rest = state_answer(results)[len(verdicts) :]
    return f'<div class="cards">{cards}</div>{"".join(f"<p>{escape_markup(words)}</p>" for words in rest)}'


def _write_card(verdict: Verdict, learners: Sequence[str], explainer: TermExplainer) -> str:
    sentences = "".join(f"<p>{explainer.explain(words)}</p>" for words in verdict.sentences)
    first, *others = re.split(r"(?<=\.) ", verdict.headline)
    headline = f'<p class="headline">{explainer.explain(first)}</p>'
    headline += "".join(f'<p class="headline yes">{explainer.explain(words)}</p>' for words in others)
    state = "yes" if first.startswith("Learnable") else "no"
    scale = explainer.explain(
        f"Information affinity, mean at {verdict.rows:,} rows; a ring is the limit with endless rows."
    )
    return (
        f'<article class="card {state}"><h2>{escape_markup(title_process(verdict.process))}</h2>{headline}'
        f'{draw_number_line(verdict, learners)}<p class="scale">{scale}</p>{sentences}</article>'
    )


def fill_template(
    kind: str,
    title: str,
    answer: str,
    sections: Mapping[str, Sequence[str]],
    notes: Sequence[str] = (),
    folded: Iterable[str] = (),
) -> str:
    """A page: what it is, its title (both as markup), the answer, and sections of markup that links lead to."""
    anchors = {name: "".join(ch if ch.isalnum() else "-" for ch in name.lower()) for name in sections}
    parts = [f'<p class="warn">{escape_markup(note)}</p>' for note in notes]
    for name, contents in sections.items():
        inner = "\n".join(filter(None, contents))
        heading = f"<h2>{escape_markup(name)}</h2>"
        if name in folded:
            count = inner.count("<figure")
            hint = f' <span class="hint">{count} figure{"s" * (count != 1)}</span>' if count else ""
            parts.append(f'<details id="{anchors[name]}"><summary>{heading}{hint}</summary>{inner}</details>')
        else:
            parts.append(f'<section id="{anchors[name]}">{heading}{inner}</section>')
    light, dark = css_colours(COLOURS)
    here = Path(__file__).parent
    return Template((here / "report_page.html").read_text("utf-8")).substitute(
        kind=kind,
        question=title,
        answer=answer,
        links="".join(f'<a href="#{anchor}">{escape_markup(name)}</a>' for name, anchor in anchors.items()),
        sections="\n".join(parts),
        light=light,
        dark=dark,
        style=(here / "report_page.css").read_text("utf-8"),
        script=(here / "report_page.js").read_text("utf-8"),
    )


def figure_markup(picture: ReportPicture, explain: Callable[[str], str] = escape_markup) -> str:
    """A picture with its caption, its tools and, for narrow screens, its narrow form."""
    words = " ".join(filter(None, (picture.message, picture.caption)))
    shown = (
        f'<div class="two">{picture.picture}</div><div class="one">{picture.narrow}</div>'
        if picture.narrow
        else picture.picture
    )
    name = f' id="figure-{picture.stem}"' if picture.stem else ""
    tools = _figure_tools(picture.stem, words, narrow=bool(picture.narrow)) if picture.stem else ""
    caption = explain(words)
    if picture.narrow_caption not in {"", picture.caption}:
        other = " ".join(filter(None, (picture.message, picture.narrow_caption)))
        caption = f'<span class="two">{caption}</span><span class="one">{explain(other)}</span>'
    return f"<figure{name}>{shown}<figcaption>{caption}{tools}</figcaption></figure>"


def _figure_tools(stem: str, words: str, *, narrow: bool) -> str:
    file = escape_markup(stem)
    latex = f"\\includegraphics{{figures/{stem}.pdf}}\n\\caption{{{_escape_latex(words)}}}\n\\label{{fig:{stem}}}"
    widths = f'<a href="figures/{file}.pdf">two columns</a>'
    widths += f', <a href="figures/{file}-column.pdf">one column</a>' if narrow else ""
    return (
        f'<span class="tools"><a href="#figure-{file}" title="address of this figure">link</a> '
        '<button type="button" data-copy="figure">copy figure</button> '
        f'<button type="button" data-copy="{escape_markup(latex)}">copy LaTeX caption</button> '
        f"<span>for papers: {widths}</span></span>"
    )


def _keep_words(command: str) -> str:
    """A command whose words are broken nowhere, not at hyphens either, unless one is longer than a line.

    >>> _keep_words("possnet evaluate --rows 20")
    '<span>possnet</span> <span>evaluate</span> <span>--rows</span> <span>20</span>'
    """
    return " ".join(f"<span>{escape_markup(word)}</span>" for word in command.split(" "))


def _escape_latex(text: str) -> str:
    r"""A text for LaTeX.

    >>> print(_escape_latex("95 % of a_b ± 1"))
    95 \% of a\_b $\pm$ 1
    """
    text = re.sub(r"([&%$#_{}])", r"\\\1", text.replace("\\", ""))
    for sign, command in (("±", r"$\pm$"), ("∞", r"$\infty$"), ("−", "$-$"), ("Π", r"$\Pi$"), ("~", ""), ("^", "")):
        text = text.replace(sign, command)
    return text


def _repeat_notes(own: Sequence[str], *, in_folder: bool) -> str:
    names = ", ".join(f"<code>{escape_markup(name)}</code>" for name in own)
    script = "a script that registers it and then calls <code>possnet.cli.main()</code>, with the words after possnet"
    known = f"<p>{names}: registered by another program than possnet. Run the command by {script}.</p>\n" if own else ""
    where = "<p>Run it in the folder of this page, where <code>networks/</code> is.</p>\n" if in_folder else ""
    return (
        f"{known}{where}<p>All metrics of all trials are in <code>results.csv</code> and <code>results.parquet</code> "
        "beside this page, the networks in <code>networks.json</code>, the figures for papers in <code>figures/</code>. "
        "Same seed, same numbers, whatever the number of workers.</p>"
    )

"""A number line of learners: a line for each with its mean and its limit, between knowing nothing and the truth."""

from __future__ import annotations

from math import floor
from textwrap import wrap
from typing import TYPE_CHECKING, Final

from possnet.drawing import escape_markup, measure_text
from possnet.learners import label_learner
from possnet.plots import learner_style
from possnet.report.verdicts import limit_label

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from possnet.report.verdicts import Verdict

_WIDTH: Final = 400.0
_LINE: Final = 22.0
_TOP: Final = 30.0
_SIZE: Final = 12.5


def draw_number_line(verdict: Verdict, among: Sequence[str]) -> str:
    """SVG text: a line for every learner from the worst affinity to 1, with its mean (a dot) and its limit (a ring)."""
    labels = {name: wrap(label_learner(name), 21, break_on_hyphens=False)[:3] for name in verdict.means}
    left = max(measure_text(line, _SIZE) * 1.04 for lines in labels.values() for line in lines) + 12.0
    right = _WIDTH - 38.0
    values = [*verdict.means.values(), *verdict.limits.values(), verdict.ignorance]
    low = floor(10 * (min(values) - 0.02)) / 10

    def place(value: float) -> float:
        return left + (value - low) / (1.0 - low) * (right - left)

    tall = max(_LINE, 14.5 * max(map(len, labels.values())) + 4.0)
    height = _TOP + tall * len(labels) + 24.0
    parts = [*_draw_scale(place, low, height), *_draw_ignorance(place(verdict.ignorance), verdict.ignorance, height)]
    for number, (name, mean) in enumerate(verdict.means.items()):
        y = _TOP + tall * (number + 0.5)
        colour = f"var(--{learner_style(name, among).colour})"
        best = ' font-weight="700"' if name == verdict.best else ""
        parts.append(f'<line x1="{left:.1f}" x2="{right:.1f}" y1="{y:.1f}" y2="{y:.1f}" stroke="var(--rule)"/>')
        for line, text in enumerate(labels[name]):
            lower = y + 4.5 + 14.5 * (line - (len(labels[name]) - 1) / 2)
            parts.append(f'<text x="0" y="{lower:.1f}"{best}>{escape_markup(text)}</text>')
        if name in verdict.limits:
            limit = verdict.limits[name]
            words = f"{limit_label(name)}: {limit:.3f}"
            parts.append(
                f'<circle cx="{place(limit):.1f}" cy="{y:.1f}" r="7.5" fill="none" stroke="{colour}" stroke-width="1.6">'
                f"<title>{escape_markup(words)}</title></circle>"
            )
        words = f"{label_learner(name)}: {mean:.3f}"
        dot = f'<circle cx="{place(mean):.1f}" cy="{y:.1f}" r="4.6" fill="{colour}">'
        parts.append(f"{dot}<title>{escape_markup(words)}</title></circle>")
        parts.append(f'<text x="{_WIDTH:g}" y="{y + 4.5:.1f}" text-anchor="end"{best}>{mean:.2f}</text>')
    numbers = ", ".join(f"{label_learner(name)} {mean:.2f}" for name, mean in verdict.means.items())
    label = f"information affinity: {numbers}, knowing nothing {verdict.ignorance:.2f}"
    return (
        f'<svg class="line" role="img" aria-label="{escape_markup(label)}" viewBox="0 0 {_WIDTH:g} {height:g}" '
        f'font-size="{_SIZE:g}" fill="var(--ink)">{"".join(parts)}</svg>'
    )


def _draw_scale(place: Callable[[float], float], low: float, height: float) -> list[str]:
    y = height - 8.0
    ends = ((low, f"{low:.1f}", "middle"), (1.0, "1: the truth", "end"))
    return [
        f'<text x="{place(value):.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="var(--soft)">{text}</text>'
        for value, text, anchor in ends
    ]


def _draw_ignorance(x: float, value: float, height: float) -> list[str]:
    words = f"knowing nothing {value:.2f}"
    half = measure_text(words, _SIZE) / 2
    middle = min(max(x, half), _WIDTH - half)
    ends = f'x1="{x:.1f}" x2="{x:.1f}" y1="{_TOP - 9:.1f}" y2="{height - 22:.1f}"'
    return [
        f'<line {ends} stroke="var(--ignorance)" stroke-width="2" stroke-dasharray="2 3"/>',
        f'<text x="{middle:.1f}" y="{_TOP - 14:.1f}" text-anchor="middle" fill="var(--soft)">{words}</text>',
    ]

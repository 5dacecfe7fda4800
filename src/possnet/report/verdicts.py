"""A verdict for each kind of rows: whether they suffice to learn a network, by which learner, and whether more would help.

All means are over networks and imprecisions, at the most rows; settings in which a learner failed are left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING, Final

from possnet.errors import count_noun
from possnet.learners import LEARNERS, label_learner
from possnet.sampling import label_process
from possnet.variables import number_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from possnet.experiment import Results, Summary

_ALIKE: Final = 0.005  # affinities that two decimals do not tell apart
_COUNTING: Final = "likelihood"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the rows of one process are good for.

    Attributes
    ----------
    means, limits
        Learner -> its mean information affinity, and what endless rows would give, where that is known; the best first.
    ignorance
        The affinity of knowing nothing.
    headline
        The answer: learnable or not, by which learner, how well.
    sentences
        What more rows do, what is identified, and how many edges are to mend, as far as the results tell.
    """

    process: str
    rows: int
    means: dict[str, float]
    limits: dict[str, float]
    ignorance: float
    headline: str
    sentences: tuple[str, ...]

    @property
    def best(self) -> str:
        """The learner that ends closest to the truth."""
        return next(iter(self.means))

    @property
    def is_learnable(self) -> bool:
        """Whether any learner is closer to the truth than knowing nothing."""
        return self.means[self.best] > self.ignorance + _ALIKE


def judge_rows(results: Results) -> list[Verdict]:
    """A verdict for each kind of rows, in the order of the experiment.

    >>> import possnet as pn
    >>> results = pn.evaluate(["pump"], rows=[100, 2000], imprecision=1, process="traced", repeats=1, rng=1)
    >>> [(verdict.process, verdict.best, verdict.is_learnable) for verdict in judge_rows(results)]
    [('traced', 'em', True)]
    """
    most = max(trial.rows for trial in results.trials)
    last = [s for s in results.summary("child_affinity") if s.rows == most]
    finished = {(s[:3], s.learner) for s in last}
    failed = {t.setting[:3] for t in results.trials if t.rows == most and (t.setting[:3], t.learner) not in finished}
    groups = _group_by_process([s for s in last if s[:3] not in failed])
    return [_judge(results, process, group, most) for process, group in groups.items()]


def count_failed_settings(results: Results) -> int:
    """Settings with the most rows that are left out because a learner failed."""
    most = max(trial.rows for trial in results.trials)
    finished = {s[:5] for s in results.summary("child_affinity")}
    return len({t.setting[:3] for t in results.trials if t.rows == most and t.setting not in finished})


def _judge(results: Results, process: str, group: Sequence[Summary], most: int) -> Verdict:
    means = _mean_by_learner(group)
    means = {name: means[name] for name in sorted(means, key=lambda name: -means[name])}
    limits = {}
    for name in means:
        known = [s.limit for s in group if s.learner == name and s.limit is not None]
        if len(known) == sum(s.learner == name for s in group):
            limits[name] = fmean(known)
    ignorance = fmean(s.vacuous for s in group)
    sentences = (
        _more_rows_sentence(results, process, next(iter(means)), most),
        _bounds_sentence(results, process, most),
        _structure_sentence(results, process, most),
    )
    headline = _write_headline(means, limits, ignorance)
    return Verdict(process, most, means, limits, ignorance, headline, tuple(filter(None, sentences)))


def _write_headline(means: dict[str, float], limits: dict[str, float], ignorance: float) -> str:
    """Learnable or not, by which learner, how well; counting is named where even endless rows would not help it."""
    best = next(iter(means))
    alike = [speak_learner(name) for name in means if means[name] >= means[best] - _ALIKE]
    closest = f"{join_words(alike)}{' alike' if len(alike) > 1 else ''} {means[best]:.2f}"
    limit = limits.get(_COUNTING)
    if means[best] <= ignorance + _ALIKE:
        whom = "these learners" if len(means) > 1 else speak_learner(best)
        return f"Not learnable by {whom}: at best {means[best]:.2f}, knowing nothing {ignorance:.2f}."
    if limit is not None and limit < ignorance and best != _COUNTING:
        return (
            f"Not learnable by counting: its limit, {limit:.2f}, is below knowing nothing ({ignorance:.2f}). "
            f"Learnable by {closest}."
        )
    return f"Learnable: {closest} (knowing nothing {ignorance:.2f})."


def _more_rows_sentence(results: Results, process: str, learner: str, most: int) -> str:
    """What more rows did to the error of the best learner, and whether still more would help."""
    own = [s for s in results.summary("child_mean_error") if s.process == process and s.learner == learner]
    first = min(s.rows for s in own)
    before, after = (fmean(s.mean for s in own if s.rows == rows) for rows in (first, most))
    limits = [s.limit for s in own if s.rows == most and s.limit is not None]
    limit = fmean(limits) if limits else None
    who = speak_learner(learner)
    if first == most:
        words = f"The mean error of {who} is {after:.3f}"
    else:
        change = "fell" if after < 0.95 * before else "grew" if after > 1.05 * before else "hardly changed"
        words = f"From {first:,} to {most:,} rows the mean error of {who} {change}, from {before:.3f} to {after:.3f}"
    if limit is not None:
        help_ = "hardly help" if limit > 0.8 * after else "help" if limit < 0.4 * after else "help a little"
        return f"{words}; with endless rows it would be {limit:.3f}: more rows {help_}."
    if first == most:
        return _imprecision_clause(own, words)
    noise = before * (first / most) ** 0.5
    falls = after < 0.95 * before
    outlook = (
        "more rows help"
        if after < 1.6 * noise and falls
        else "more rows help a little"
        if falls
        else "more rows do not help"
    )
    return f"{words}; {outlook} (noise alone would have fallen to {noise:.3f})."


def _imprecision_clause(own: Sequence[Summary], words: str) -> str:
    """With a single number of rows: what imprecision did."""
    thetas = sorted({s.imprecision for s in own})
    if len(thetas) < 2:
        return f"{words}."
    low, high = (fmean(s.mean for s in own if s.imprecision == theta) for theta in (thetas[0], thetas[-1]))
    change = "falls" if high < 0.95 * low else "grows" if high > 1.05 * low else "hardly changes"
    ends = f"from imprecision {number_text(thetas[0])} to {number_text(thetas[-1])}"
    return f"{words}: {ends} it {change}, from {low:.3f} to {high:.3f}."


def _bounds_sentence(results: Results, process: str, most: int) -> str:
    """How many degrees a learner with bounds identifies, how well, and how often its bounds hold the truth."""
    shares = [s for s in results.summary("identified_share") if s.process == process and s.rows == most]
    errors, coverages = (
        {s[:5]: s.mean for s in results.summary(name)} for name in ("identified_error", "bound_coverage")
    )
    clauses = []
    for learner in dict.fromkeys(s.learner for s in shares):
        own = [s for s in shares if s.learner == learner]
        who = speak_learner(learner)
        share = f"{100 * fmean(s.mean for s in own):.0f} % of the degrees"
        clause = f"{who[0].upper()}{who[1:]} tells {share} exactly (identified"
        known = [errors[s[:5]] for s in own if s[:5] in errors]
        clause += f"; their mean error: {fmean(known):.3f})" if known else ")"
        held = number_text(round(100 * fmean(coverages[s[:5]] for s in own), 1))
        clauses.append(f"{clause} and bounds of the others: {held} % of all true degrees lie within.")
    return " ".join(clauses)


def _structure_sentence(results: Results, process: str, most: int) -> str:
    """How many edges of learned structures are to mend, against the empty graph."""
    own = [s for s in results.summary("hamming") if s.process == process and s.rows == most and "@" in s.learner]
    if not own:
        return ""
    groups: dict[str, list[Summary]] = {}
    for s in own:
        groups.setdefault(s.learner.partition("@")[2], []).append(s)
    empty = fmean(s.vacuous for s in own)
    clauses = [f"{fmean(s.mean for s in group):.1f} after {name.replace(':', ', ')}" for name, group in groups.items()]
    return f"Structure: edges to mend: {join_words(clauses)}, {empty:.1f} for the empty graph."


def state_answer(results: Results) -> list[str]:
    """The results in a few sentences, for each kind of rows: the verdict, what more rows do, and what is identified.

    >>> import possnet as pn
    >>> results = pn.evaluate(["pump"], rows=[100, 2000], imprecision=1, process="traced", repeats=1, rng=1)
    >>> state_answer(results)[0].partition(" 0.")[0]
    'Traced rows (2,000): Learnable: EM'
    """
    if not results.summary("child_affinity"):
        return ["Every trial failed; the table below says why."]
    verdicts = judge_rows(results)
    answer = [" ".join((f"{title_process(v.process)} ({v.rows:,}): {v.headline}", *v.sentences)) for v in verdicts]
    most = max(trial.rows for trial in results.trials)
    if not verdicts:
        return [f"With {count_noun(most, 'row')} there is no setting in which every learner came to an end."]
    failed = count_failed_settings(results)
    return [*answer, *([f"Left out: {count_noun(failed, 'setting')} with failed trials."] if failed else [])]


def title_process(name: str) -> str:
    """The label of a process at the beginning of a line.

    >>> title_process("traced")
    'Traced rows'
    """
    label = label_process(name)
    return f"{label[:1].upper()}{label[1:]}"


def speak_learner(name: str) -> str:
    """A learner within a sentence.

    >>> speak_learner("cut"), speak_learner("em")
    ('the cut likelihood', 'EM')
    """
    label = label_learner(name)
    return f"the {label}" if name.partition("@")[0] in {"cut", "histogram"} else label


def limit_label(learner: str) -> str:
    """What a learner's limit is called.

    >>> limit_label("likelihood")
    'limit of counting'
    """
    return LEARNERS[learner].limit_label if learner in LEARNERS else "limit"


def _mean_by_learner(summaries: Sequence[Summary]) -> dict[str, float]:
    names = dict.fromkeys(s.learner for s in summaries)
    return {name: fmean(s.mean for s in summaries if s.learner == name) for name in names}


def _group_by_process(summaries: Iterable[Summary]) -> dict[str, list[Summary]]:
    groups: dict[str, list[Summary]] = {}
    for s in summaries:
        groups.setdefault(s.process, []).append(s)
    return groups


def join_words(words: Sequence[str]) -> str:
    """Words in a row with commas and a last ``and``.

    >>> join_words(["a"]), join_words(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"

"""The report's sentences: the question, the answer in three, what was done, and how to do it again."""

from __future__ import annotations

import shlex
from itertools import chain, count
from statistics import fmean
from typing import TYPE_CHECKING

from possnet.errors import count_noun
from possnet.io import example_names, load_example
from possnet.learners import label_learner, resolve_learner
from possnet.network import random_network
from possnet.sampling import is_imprecise, label_process
from possnet.variables import number_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from possnet.experiment import Experiment, Results, Summary
    from possnet.network import Network


def state_question(experiment: Experiment) -> str:
    """The question of the experiment, in a sentence.

    >>> import possnet as pn, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     results = pn.evaluate(["asia"], rows=[20, 50], imprecision=[0.5, 1], process="traced", repeats=1, out=folder)
    >>> print(state_question(results.experiment))
    How well is asia learned back from 20 to 50 traced rows with imprecision 0.5 and 1, by counting and by EM?
    """
    grid = experiment.grid
    rows = f"{min(grid.rows):,} to {max(grid.rows):,}" if len(grid.rows) > 1 else f"{grid.rows[0]:,}"
    processes = join_words([label_process(name) for name in grid.processes])
    thetas = join_words([number_text(theta) for theta in grid.imprecision])
    imprecise = f" with imprecision {thetas}" if any(map(is_imprecise, grid.processes)) else ""
    learners = join_words(
        [f"by {speak_learner(name)}{_remark_processes(name, grid.processes)}" for name in grid.learners]
    )
    verb = "is" if len(grid.networks) == 1 else "are"
    return f"How well {verb} {join_words(list(grid.networks))} learned back from {rows} {processes}{imprecise}, {learners}?"


def _remark_processes(learner: str, processes: Sequence[str]) -> str:
    """The rows that a learner is for, if those are not all."""
    suited = [label_process(name) for name in processes if resolve_learner(learner).suits_rows(name, 1.0)]
    return "" if len(suited) == len(processes) else f" ({join_words(suited)} alone)"


def state_answer(results: Results) -> list[str]:
    """The results in a few sentences: the closest learner, exact limits, what is identified, and what more rows do.

    >>> import possnet as pn
    >>> results = pn.evaluate(["pump"], rows=[100, 2000], imprecision=1, process="traced", repeats=1, rng=1)
    >>> state_answer(results)[0].partition(" (")[0]
    'With 2,000 rows, the closest to the truth is EM on traced rows'
    """
    if not results.summary("child_affinity"):
        return ["Every trial failed; the table below says why."]
    makers = (_closest_sentence, _limit_sentence, _bounds_sentence, _gain_sentence)
    return [sentence for make in makers if (sentence := make(results))]


def _closest_sentence(results: Results) -> str:
    """Which learner ends closest to the truth, for each process; settings in which a learner failed are left out."""
    most = max(trial.rows for trial in results.trials)
    last = [s for s in results.summary("child_affinity") if s.rows == most]
    finished = {(s[:3], s.learner) for s in last}
    failed = {t.setting[:3] for t in results.trials if t.rows == most and (t.setting[:3], t.learner) not in finished}
    last = [s for s in last if s[:3] not in failed]
    if not last:
        return f"With {count_noun(most, 'row')} there is no setting in which every learner came to an end."
    clauses = sorted(
        (_closest_clause(process, group) for process, group in _group_by_process(last).items()), reverse=True
    )
    metrics = ["information affinity ", *[""] * (len(clauses) - 1)]
    closest = join_words([f"{who} ({what}{numbers})" for what, (_, who, numbers) in zip(metrics, clauses, strict=True)])
    left_out = f" ({count_noun(len(failed), 'setting')} with failed trials left out)" if failed else ""
    verb = "is" if len(clauses) == 1 and " alike" not in closest else "are"
    return f"With {count_noun(most, 'row')}{left_out}, the closest to the truth {verb} {closest}."


def _closest_clause(process: str, summaries: Sequence[Summary]) -> tuple[float, str, str]:
    """The largest mean affinity on the rows of a process, whose it is, and what the others and ignorance have."""
    means = _mean_by_learner(summaries)
    ignorance, top = fmean(s.vacuous for s in summaries), max(means.values())
    best = [name for name in means if means[name] >= top - 0.005]
    others = [f"{mean:.2f} for {speak_learner(name)}" for name, mean in means.items() if name not in best]
    against = join_words([*others, f"{ignorance:.2f} for knowing nothing"])
    better = ", which would be better" if ignorance > top else ""
    who = join_words([speak_learner(name) for name in best]) + (" alike" if len(best) > 1 else "")
    return top, f"{who} on {label_process(process)}", f"{top:.2f}, against {against}{better}"


def _limit_sentence(results: Results) -> str:
    """How much of the error of counting, and of the cut likelihood, would stay with endless rows, for each process."""
    last = _with_most_rows(results.summary("child_mean_error"))
    parts = []
    for learner in ("likelihood", "cut"):
        clauses = []
        for process, summaries in _group_by_process([s for s in last if s.learner == learner]).items():
            pairs = [(s.mean, s.limit) for s in summaries if s.limit is not None]
            if pairs:
                error, bias = (fmean(values) for values in zip(*pairs, strict=True))
                words = "hardly help" if bias > 0.8 * error else "help" if bias < 0.4 * error else "help a little"
                clauses.append(f"{bias:.3f} on {label_process(process)} (now {error:.3f}: more rows {words})")
        if clauses:
            parts.append(f"of {speak_learner(learner)} would be {join_words(clauses)}")
    if not parts:
        return ""
    ending = "its exact limit" if len(parts) == 1 else "their exact limits"
    return f"Even with endless rows, the mean error {', and that '.join(parts)}: {ending}."


def _bounds_sentence(results: Results) -> str:
    """How many degrees a learner with bounds identifies, how well, and how often its bounds hold the truth."""
    shares = _with_most_rows(results.summary("identified_share"))
    errors, coverages = (
        {s[:5]: s.mean for s in results.summary(name)} for name in ("identified_error", "bound_coverage")
    )
    clauses = []
    for process, group in _group_by_process(shares).items():
        for learner in dict.fromkeys(s.learner for s in group):
            own = [s for s in group if s.learner == learner]
            clause = f"{100 * fmean(s.mean for s in own):.0f} % of the degrees are identified"
            known = [errors[s[:5]] for s in own if s[:5] in errors]
            clause += f"; of those the error is {fmean(known):.3f}" if known else ""
            held = 100 * fmean(coverages[s[:5]] for s in own)
            clauses.append(
                f"By {speak_learner(learner)} on {label_process(process)}, {clause}. Of all true degrees "
                f"{number_text(round(held, 1))} % lie within the bounds that it gives, give or take three standard errors."
            )
    return " ".join(clauses)


def _gain_sentence(results: Results) -> str:
    """What more rows did for the learner that ends with the least error, on each process, or what imprecision did."""
    summaries = results.summary("child_mean_error")
    best: dict[str, list[str]] = {}
    for process, group in _group_by_process(_with_most_rows(summaries)).items():
        means = _mean_by_learner(group)
        best.setdefault(min(means, key=means.__getitem__), []).append(process)
    first, most = min(s.rows for s in summaries), max(s.rows for s in summaries)
    clauses = []
    for learner, processes in best.items():
        own = [s for s in summaries if s.learner == learner and s.process in processes]
        where = f" on {join_words([label_process(name) for name in processes])}" if len(best) > 1 else ""
        if factors := _error_factors(own, first, most):
            clauses.append(f"of {speak_learner(learner)}{where} {_factor_words(factors, briefly=len(best) > 1)}")
    if clauses:
        noise = f"errors that are noise alone would be divided by about {(most / first) ** 0.5:.2g}"
        return f"From {first:,} to {most:,} rows the error {', and that '.join(clauses)}; {noise}."
    for learner, processes in best.items():
        for process in processes:
            if words := _imprecision_words([s for s in summaries if s.learner == learner and s.process == process]):
                return f"{words[0]} the error of {speak_learner(learner)} on {label_process(process)} {words[1]}."
    return ""


def _error_factors(own: Sequence[Summary], first: int, most: int) -> list[tuple[float, str]]:
    """By how much the error fell between two numbers of rows, with each setting in words, from the worst to the best."""
    begins = {s[:3]: s.mean for s in own if s.rows == first}
    ends = [s for s in own if s.rows == most and s[:3] in begins and first < most]
    return sorted((begins[s[:3]] / s.mean, _setting_words(s)) for s in ends if s.mean > 0.0 and begins[s[:3]] > 0.0)


def _factor_words(factors: Sequence[tuple[float, str]], *, briefly: bool) -> str:
    """How far the error fell, from the worst setting to the best, which is named unless the words are brief."""
    (low, _), (high, where) = factors[0], factors[-1]
    if high < 1.05:
        return "does not fall"
    if len(factors) == 1:
        return f"is divided by {high:.1f}"
    return f"is divided by {low:.1f} to {high:.1f}" + ("" if briefly else f", the most for {where}")


def _imprecision_words(group: Sequence[Summary]) -> tuple[str, str] | None:
    """From which imprecision to which, and what the error was at both; None for a single imprecision."""
    thetas = sorted({s.imprecision for s in group})
    if len(thetas) < 2:
        return None
    low, high = (fmean(s.mean for s in group if s.imprecision == theta) for theta in (thetas[0], thetas[-1]))
    texts = number_text(thetas[0]), number_text(thetas[-1])
    return f"From imprecision {texts[0]} to {texts[1]}", f"goes from {low:.3f} to {high:.3f}"


def _mean_by_learner(summaries: Sequence[Summary]) -> dict[str, float]:
    """Learner -> its mean over the settings."""
    names = dict.fromkeys(s.learner for s in summaries)
    return {name: fmean(s.mean for s in summaries if s.learner == name) for name in names}


def speak_learner(name: str) -> str:
    """A learner within a sentence.

    >>> speak_learner("cut"), speak_learner("em")
    ('the cut likelihood', 'EM')
    """
    label = label_learner(name)
    return f"the {label}" if name.partition("@")[0] in {"cut", "histogram"} else label


def _setting_words(s: Summary) -> str:
    imprecision = f", imprecision {number_text(s.imprecision)}" if is_imprecise(s.process) else ""
    return f"{s.network}, {label_process(s.process)}{imprecision}"


def _with_most_rows(summaries: Sequence[Summary]) -> list[Summary]:
    most = max((s.rows for s in summaries), default=0)
    return [s for s in summaries if s.rows == most]


def _group_by_process(summaries: Iterable[Summary]) -> dict[str, list[Summary]]:
    groups: dict[str, list[Summary]] = {}
    for s in summaries:
        groups.setdefault(s.process, []).append(s)
    return groups


def list_methods(experiment: Experiment) -> list[tuple[str, str]]:
    """What was done: (topic, words)."""
    grid = experiment.grid
    failed = len(experiment.results.failed)
    networks = [f"{name} ({count_noun(len(net.variables), 'variable')})" for name, net in grid.networks.items()]
    versions = ", ".join(f"{name} {number}" for name, number in experiment.versions.items())
    return [
        ("networks", join_words(networks)),
        ("rows", join_words([f"{n:,}" for n in grid.rows]) + f", each drawn {count_noun(grid.repeats, 'time')}"),
        ("processes", join_words([f"{label_process(name)} ({name})" for name in grid.processes])),
        ("imprecision", join_words([number_text(theta) for theta in grid.imprecision])),
        ("learners", join_words([f"{label_learner(name)} ({name})" for name in grid.learners])),
        ("trials", f"{len(experiment.results.trials):,}, of which {failed or 'none'} failed"),
        ("intervals", "95 %, Student's t over repeats" if grid.repeats > 1 else "none: every setting was run once"),
        ("seed", str(grid.seed)),
        ("versions", versions or "not recorded"),
    ]


def repeat_command(experiment: Experiment) -> str:
    """The command line that runs the same experiment again.

    >>> import possnet as pn, tempfile
    >>> how = {"rows": 20, "imprecision": 1, "process": "traced", "learners": "em", "repeats": 1, "rng": 7}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     repeat_command(pn.evaluate(["asia"], **how, out=folder).experiment)
    'possnet evaluate asia --rows 20 --imprecision 1 --process traced --learner em --repeats 1 --seed 7 --out again'
    """
    grid = experiment.grid
    names, options = [], []
    files = network_files(grid.networks)
    for name, network in grid.networks.items():
        if name not in files:
            names.append(name)
        elif _is_random(name, network, grid.seed):
            options += ["--random", name.removeprefix("random ")]
        else:
            names.append(f"networks/{files[name]}")
    options += ["--rows", ",".join(map(str, grid.rows))]
    options += ["--imprecision", ",".join(map(number_text, grid.imprecision))]
    options += ["--process", ",".join(grid.processes)]
    parted = [name.partition("@") for name in grid.learners]
    options += ["--learner", ",".join(dict.fromkeys(learner for learner, _, _ in parted))]
    if any(structure for _, _, structure in parted):
        options += ["--learn", ",".join(dict.fromkeys(structure or "given" for _, _, structure in parted))]
    options += ["--repeats", str(grid.repeats), "--seed", str(grid.seed), "--out", "again"]
    return shlex.join(["possnet", "evaluate", *names, *options])


def network_files(networks: Mapping[str, Network]) -> dict[str, str]:
    """The files of all networks but those that are the bundled ones of their names.

    >>> network_files({"asia": load_example("asia"), "clinic": load_example("asia")})
    {'clinic': 'clinic.json'}
    """
    own = [name for name, net in networks.items() if name not in example_names() or load_example(name) != net]
    return {name: f"{file}.json" for name, file in zip(own, file_names(own), strict=True)}


def _is_random(name: str, network: Network, seed: int) -> bool:
    number = name.removeprefix("random ")
    is_number = name.startswith("random ") and number.isascii() and number.isdecimal() and len(number) < 6
    return is_number and int(number) == len(network.variables) and random_network(int(number), rng=seed) == network


def file_names(texts: Iterable[str]) -> list[str]:
    """Names of files without odd characters, not too long, and numbered where they would be the same.

    >>> file_names(["random 20/b", "random 20 b"])
    ['random_20_b', 'random_20_b-2']
    """
    names: list[str] = []
    for text in texts:
        stem = "".join(ch if ch.isalnum() or ch in "-_" else "_" for ch in text)[:80] or "_"
        numbered = (f"{stem}-{number}" for number in count(2))
        names.append(next(name for name in chain([stem], numbered) if name not in names))
    return names


def join_words(words: Sequence[str]) -> str:
    """Words in a row with commas and a last ``and``.

    >>> join_words(["a"]), join_words(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"

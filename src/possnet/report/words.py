"""The report's sentences: the question, the answer in three, what was done, and how to do it again."""

from __future__ import annotations

import shlex
from statistics import fmean
from typing import TYPE_CHECKING

from possnet.io.examples import example_names, load_example
from possnet.network import random_network
from possnet.plots import learner_words, process_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from possnet.experiment import Experiment, Results, Summary

__all__ = ["answer", "command", "methods", "question"]


def question(experiment: Experiment) -> str:
    """What was asked, in a sentence.

    >>> import possnet as pn
    >>> from possnet.experiment import Experiment
    >>> from possnet.experiment.grid import Grid
    >>> asia = pn.load_example("asia")
    >>> grid = Grid.of({"asia": asia}, ["traced"], [0.5, 1.0], [100, 1000], ["likelihood", "em"], 1, 1)
    >>> print(question(Experiment(grid, None, {})))
    How well is asia learned back from 100 to 1,000 traced rows with imprecision 0.5 and 1, by counting and by EM?
    """
    grid = experiment.grid
    rows = f"{min(grid.rows):,} to {max(grid.rows):,}" if len(grid.rows) > 1 else f"{grid.rows[0]:,}"
    kinds = joined([process_words(name).replace(" rows", "", 1) for name in grid.processes])
    imprecise = any(name != "precise" for name in grid.processes)
    theta = f" with imprecision {joined([f'{t:g}' for t in grid.imprecision])}" if imprecise else ""
    learners = joined([f"by {learner_words(name)}" for name in grid.learners])
    verb = "is" if len(grid.networks) == 1 else "are"
    return f"How well {verb} {joined(list(grid.networks))} learned back from {rows} {kinds} rows{theta}, {learners}?"


def answer(results: Results) -> list[str]:
    """What came out, in at most three sentences: who comes closest, what limits it, and what more rows do.

    >>> import possnet as pn
    >>> found = pn.evaluate(["pump"], rows=[100, 2000], imprecision=1, process="traced", repeats=2, rng=1)
    >>> answer(found)[0].partition(" (")[0]
    'With 2,000 rows, the closest to the truth is EM on traced rows'
    """
    if not results.summary("child_affinity"):
        return ["Every run failed; the table below says why."]
    return [sentence for sentence in (_closest(results), _limited(results), _gained(results)) if sentence]


def _closest(results: Results) -> str:
    """Which learner ends closest to the truth, for each process."""
    found = _last(results.summary("child_affinity"))
    clauses: list[tuple[float, str]] = []
    for process in dict.fromkeys(s.process for s in found):
        here = [s for s in found if s.process == process]
        names = dict.fromkeys(s.learner for s in here)
        means = {name: fmean(s.mean for s in here if s.learner == name) for name in names}
        ignorance = fmean(s.vacuous for s in here)
        best = max(means, key=means.__getitem__)
        others = [f"{mean:.2f} for {learner_words(name)}" for name, mean in means.items() if name != best]
        against = joined([*others, f"{ignorance:.2f} for knowing nothing"])
        worse = ", which would be better" if ignorance > means[best] else ""
        where = f"{learner_words(best)} on {process_words(process)}"
        clauses.append((means[best], f"{where} ({means[best]:.2f}, against {against}{worse})"))
    told = joined([text for _, text in sorted(clauses, key=lambda clause: -clause[0])])
    verb = "is" if len(clauses) == 1 else "are"
    return f"With {found[0].rows:,} rows, the closest to the truth {verb} {told.replace('(', '(information affinity ', 1)}."


def _limited(results: Results) -> str:
    """How much of counting's error would stay with endless rows."""
    found = [s for s in _last(results.summary("child_mean_error")) if s.learner == "likelihood" and s.limit is not None]
    if not found:
        return ""
    error, bias = fmean(s.mean for s in found), fmean(s.limit for s in found if s.limit is not None)
    if error <= 0.0:
        return ""
    tail = (
        "more rows will hardly help it." if bias > 0.8 * error else "more rows will help it." if bias < 0.4 * error
        else "more rows will help it a little."
    )  # fmt: skip
    return (
        f"Counting errs by {error:.3f} a degree on average, and with endless rows it would still err by {bias:.3f} "
        f"(its exact limit): {tail}"
    )


def _gained(results: Results) -> str:
    """What more rows did for the best learner, or what imprecision did."""
    found = results.summary("child_mean_error")
    rows = sorted({s.rows for s in found})
    last = _last(found)
    best = min(
        dict.fromkeys(s.learner for s in last), key=lambda name: fmean(s.mean for s in last if s.learner == name)
    )
    own = [s for s in found if s.learner == best]
    if len(rows) > 1:
        ratios = []
        for s in (s for s in own if s.rows == rows[-1] and s.mean > 0.0):
            first = next((f for f in own if f[:3] == s[:3] and f.rows == rows[0]), None)
            ratios += [(first.mean / s.mean, s)] if first is not None else []
        if ratios:
            factor, where = max(ratios, key=lambda pair: pair[0])
            expected = (rows[-1] / rows[0]) ** 0.5
            place = f"{where.network}, {process_words(where.process)}"
            place += "" if where.process == "precise" else f", theta {where.imprecision:g}"
            return (
                f"From {rows[0]:,} to {rows[-1]:,} rows the error of {learner_words(best)} falls by a factor of at most "
                f"{factor:.1f} ({place}); errors that are only noise fall by {expected:.0f}."
            )
    thetas = sorted({s.imprecision for s in own})
    if len(thetas) > 1:
        ends = [fmean(s.mean for s in own if s.imprecision == theta) for theta in (thetas[0], thetas[-1])]
        return (
            f"From imprecision {thetas[0]:g} to {thetas[-1]:g} the error of {learner_words(best)} goes from "
            f"{ends[0]:.3f} to {ends[1]:.3f}."
        )
    return ""


def _last(found: Sequence[Summary]) -> list[Summary]:
    """Those with the most rows."""
    most = max(s.rows for s in found)
    return [s for s in found if s.rows == most]


def methods(experiment: Experiment) -> list[tuple[str, str]]:
    """What was done: (topic, words)."""
    grid = experiment.grid
    failed = len(experiment.results.failed)
    versions = ", ".join(f"{name} {number}" for name, number in experiment.versions.items())
    return [
        ("networks", joined([f"{n} ({len(net.variables)} variables)" for n, net in grid.networks.items()])),
        ("rows", joined([f"{n:,}" for n in grid.rows]) + f", each drawn {grid.repeats} times"),
        ("processes", joined([f"{process_words(name)} ({name})" for name in grid.processes])),
        ("imprecision", joined([f"{theta:g}" for theta in grid.imprecision])),
        ("learners", joined([f"{learner_words(name)} ({name})" for name in grid.learners])),
        ("runs", f"{len(experiment.results.cells):,}, of which {failed or 'none'} failed"),
        ("intervals", "95 %, Student's t over repeats"),
        ("seed", str(grid.seed)),
        ("versions", versions or "not recorded"),
    ]


def command(experiment: Experiment) -> str:
    """The command line that runs the same experiment again.

    >>> import possnet as pn
    >>> from possnet.experiment import Experiment
    >>> from possnet.experiment.grid import Grid
    >>> grid = Grid.of({"asia": pn.load_example("asia")}, ["traced"], [1.0], [100], ["em"], 2, 7)
    >>> command(Experiment(grid, None, {}))
    'possnet evaluate asia --rows 100 --imprecision 1 --process traced --learner em --repeats 2 --seed 7 --out again'
    """
    grid = experiment.grid
    names, options = [], []
    for name, network in grid.networks.items():
        number = name.removeprefix("random ")
        if name in example_names() and load_example(name) == network:
            names.append(name)
        elif number.isdigit() and random_network(int(number), rng=grid.seed) == network:
            options += ["--random", number]
        else:
            names.append(f"{name}.json")
    options += ["--rows", ",".join(map(str, grid.rows)), "--imprecision", ",".join(f"{t:g}" for t in grid.imprecision)]
    parted = [name.partition("@") for name in grid.learners]
    options += ["--process", ",".join(grid.processes)]
    options += ["--learner", ",".join(dict.fromkeys(learner for learner, _, _ in parted))]
    if any(structure for _, _, structure in parted):
        options += ["--learn", ",".join(dict.fromkeys(structure or "given" for _, _, structure in parted))]
    options += ["--repeats", str(grid.repeats), "--seed", str(grid.seed), "--out", "again"]
    return shlex.join(["possnet", "evaluate", *names, *options])


def joined(words: Sequence[str]) -> str:
    """Words in a row with commas and a last ``and``.

    >>> joined(["a"]), joined(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"

"""The report's sentences: the question, the answer in three, what was done, and how to do it again."""

from __future__ import annotations

import shlex
from statistics import fmean
from typing import TYPE_CHECKING

from possnet.io import example_names, load_example
from possnet.network import random_network
from possnet.plots import learner_words, process_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from possnet.experiment import Experiment, Results, Summary
    from possnet.network import Network


def state_question(experiment: Experiment) -> str:
    """What was asked, in a sentence.

    >>> import possnet as pn
    >>> from possnet.experiment import Experiment
    >>> from possnet.experiment import Grid
    >>> asia = pn.load_example("asia")
    >>> grid = Grid.from_options({"asia": asia}, ["traced"], [0.5, 1.0], [100, 1000], ["likelihood", "em"], 1, 1)
    >>> print(state_question(Experiment(grid, None, {})))
    How well is asia learned back from 100 to 1,000 traced rows with imprecision 0.5 and 1, by counting and by EM?
    """
    grid = experiment.grid
    rows = f"{min(grid.rows):,} to {max(grid.rows):,}" if len(grid.rows) > 1 else f"{grid.rows[0]:,}"
    kinds = join_words([process_words(name) for name in grid.processes])
    imprecise = any(name != "precise" for name in grid.processes)
    theta = f" with imprecision {join_words([format_number(t) for t in grid.imprecision])}" if imprecise else ""
    learners = join_words([f"by {learner_words(name)}" for name in grid.learners])
    verb = "is" if len(grid.networks) == 1 else "are"
    return f"How well {verb} {join_words(list(grid.networks))} learned back from {rows} {kinds}{theta}, {learners}?"


def state_answer(results: Results) -> list[str]:
    """What came out, in at most three sentences: who comes closest, what limits it, and what more rows do.

    >>> import possnet as pn
    >>> found = pn.evaluate(["pump"], rows=[100, 2000], imprecision=1, process="traced", repeats=1, rng=1)
    >>> state_answer(found)[0].partition(" (")[0]
    'With 2,000 rows, the closest to the truth is EM on traced rows'
    """
    if not results.summary("child_affinity"):
        return ["Every run failed; the table below says why."]
    return [
        sentence
        for sentence in (_closest_sentence(results), _limit_sentence(results), _gain_sentence(results))
        if sentence
    ]


def _closest_sentence(results: Results) -> str:
    """Which learner ends closest to the truth, for each process; settings in which a learner failed are left out."""
    most = max(cell.rows for cell in results.trials)
    learners = list(dict.fromkeys(cell.learner for cell in results.trials))
    last = [s for s in results.summary("child_affinity") if s.rows == most]
    seen: dict[tuple[str, str, float], set[str]] = {}
    for s in last:
        seen.setdefault(s[:3], set()).add(s.learner)
    found = [s for s in last if len(seen[s[:3]]) == len(learners)]
    if not found:
        return f"With {count_noun(most, 'row')} there is no setting in which every learner came to an end."
    clauses: list[tuple[float, str, str]] = []
    for process in dict.fromkeys(s.process for s in found):
        here = [s for s in found if s.process == process]
        means = {name: fmean(s.mean for s in here if s.learner == name) for name in learners}
        ignorance = fmean(s.vacuous for s in here)
        top = max(means.values())
        best = [name for name in learners if means[name] >= top - 0.005]
        others = [f"{mean:.2f} for {learner_words(name)}" for name, mean in means.items() if name not in best]
        against = join_words([*others, f"{ignorance:.2f} for knowing nothing"])
        worse = ", which would be better" if ignorance > top else ""
        who = join_words([learner_words(name) for name in best]) + (" alike" if len(best) > 1 else "")
        clauses.append((top, f"{who} on {process_words(process)}", f"{top:.2f}, against {against}{worse}"))
    clauses.sort(key=lambda clause: -clause[0])
    measures = ["information affinity ", *[""] * (len(clauses) - 1)]
    told = join_words([f"{who} ({what}{numbers})" for what, (_, who, numbers) in zip(measures, clauses, strict=True)])
    lost = len({(c.network, c.process, c.imprecision) for c in results.trials}) - len({s[:3] for s in found})
    left = f" ({count_noun(lost, 'setting')} with failed runs left out)" if lost else ""
    verb = "is" if len(clauses) == 1 and " alike" not in told else "are"
    return f"With {count_noun(most, 'row')}{left}, the closest to the truth {verb} {told}."


def _limit_sentence(results: Results) -> str:
    """How much of counting's error would stay with endless rows, for each process."""
    found = [
        s
        for s in _with_most_rows(results.summary("child_mean_error"))
        if s.learner == "likelihood" and s.limit is not None
    ]
    clauses = []
    for process in dict.fromkeys(s.process for s in found):
        here = [s for s in found if s.process == process]
        error, bias = fmean(s.mean for s in here), fmean(s.limit for s in here if s.limit is not None)
        words = "hardly help" if bias > 0.8 * error else "help" if bias < 0.4 * error else "help a little"
        clauses.append(f"{bias:.3f} on {process_words(process)} (now {error:.3f}: more rows {words})")
    if not clauses:
        return ""
    return f"Even with endless rows, counting would err by {join_words(clauses)} a degree, on average: its exact limit."


def _gain_sentence(results: Results) -> str:
    """What more rows did for the learner that ends with the least error, or what imprecision did."""
    found = results.summary("child_mean_error")
    last = _with_most_rows(found)
    names = dict.fromkeys(s.learner for s in last)
    best = min(names, key=lambda name: fmean(s.mean for s in last if s.learner == name))
    own = [s for s in found if s.learner == best]
    rows = sorted({s.rows for s in own})
    if len(rows) > 1:
        pairs = [(s, f) for s in own for f in own if s[:3] == f[:3] and (s.rows, f.rows) == (rows[-1], rows[0])]
        factors = sorted((f.mean / s.mean, _setting_words(s)) for s, f in pairs if s.mean > 0.0 and f.mean > 0.0)
        if factors:
            return _factor_sentence(best, rows[0], rows[-1], factors)
    for process in dict.fromkeys(s.process for s in own):
        here = [s for s in own if s.process == process]
        thetas = sorted({s.imprecision for s in here})
        if len(thetas) > 1:
            ends = [fmean(s.mean for s in here if s.imprecision == theta) for theta in (thetas[0], thetas[-1])]
            return (
                f"From imprecision {format_number(thetas[0])} to {format_number(thetas[-1])} the error of "
                f"{learner_words(best)} on {process_words(process)} goes from {ends[0]:.3f} to {ends[1]:.3f}."
            )
    return ""


def _factor_sentence(learner: str, first: int, last: int, factors: Sequence[tuple[float, str]]) -> str:
    """How far the error fell between two numbers of rows, from the worst setting to the best."""
    (low, _), (high, where) = factors[0], factors[-1]
    expected = (last / first) ** 0.5
    begin = f"From {first:,} to {last:,} rows the error of {learner_words(learner)}"
    noise = f"errors that are noise alone would be divided by about {expected:.2g}"
    if high < 1.05:
        return f"{begin} does not fall; {noise}."
    if len(factors) == 1:
        return f"{begin} is divided by {high:.1f}; {noise}."
    return f"{begin} is divided by {low:.1f} to {high:.1f}, the most for {where}; {noise}."


def _setting_words(s: Summary) -> str:
    theta = "" if s.process == "precise" else f", theta {format_number(s.imprecision)}"
    return f"{s.network}, {process_words(s.process)}{theta}"


def _with_most_rows(found: Sequence[Summary]) -> list[Summary]:
    """Those with the most rows."""
    most = max(s.rows for s in found)
    return [s for s in found if s.rows == most]


def list_methods(experiment: Experiment) -> list[tuple[str, str]]:
    """What was done: (topic, words)."""
    grid = experiment.grid
    failed = len(experiment.results.failed)
    versions = ", ".join(f"{name} {number}" for name, number in experiment.versions.items())
    return [
        (
            "networks",
            join_words([f"{n} ({count_noun(len(net.variables), 'variable')})" for n, net in grid.networks.items()]),
        ),
        ("rows", join_words([f"{n:,}" for n in grid.rows]) + f", each drawn {count_noun(grid.repeats, 'time')}"),
        ("processes", join_words([f"{process_words(name)} ({name})" for name in grid.processes])),
        ("imprecision", join_words([format_number(theta) for theta in grid.imprecision])),
        ("learners", join_words([f"{learner_words(name)} ({name})" for name in grid.learners])),
        ("runs", f"{len(experiment.results.trials):,}, of which {failed or 'none'} failed"),
        ("intervals", "95 %, Student's t over repeats" if grid.repeats > 1 else "none: every setting was run once"),
        ("seed", str(grid.seed)),
        ("versions", versions or "not recorded"),
    ]


def repeat_command(experiment: Experiment) -> str:
    """The command line that runs the same experiment again.

    >>> import possnet as pn
    >>> from possnet.experiment import Experiment
    >>> from possnet.experiment import Grid
    >>> grid = Grid.from_options({"asia": pn.load_example("asia")}, ["traced"], [1.0], [100], ["em"], 2, 7)
    >>> repeat_command(Experiment(grid, None, {}))
    'possnet evaluate asia --rows 100 --imprecision 1 --process traced --learner em --repeats 2 --seed 7 --out again'
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
    options += [
        "--rows",
        ",".join(map(str, grid.rows)),
        "--imprecision",
        ",".join(map(format_number, grid.imprecision)),
    ]
    parted = [name.partition("@") for name in grid.learners]
    options += ["--process", ",".join(grid.processes)]
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
    whole = name.startswith("random ") and number.isascii() and number.isdecimal() and len(number) < 6
    return whole and int(number) == len(network.variables) and random_network(int(number), rng=seed) == network


def file_names(texts: Iterable[str]) -> list[str]:
    """Names of files without odd characters, not too long, and numbered where they would be the same.

    >>> file_names(["random 20/b", "random 20 b"])
    ['random_20_b', 'random_20_b-2']
    """
    found: list[str] = []
    for text in texts:
        stem = "".join(ch if ch.isalnum() or ch in "-_" else "_" for ch in text)[:80] or "_"
        number, name = 1, stem
        while name in found:
            number += 1
            name = f"{stem}-{number}"
        found.append(name)
    return found


def format_number(number: float) -> str:
    """A number in full, without a needless point.

    >>> format_number(1.0), format_number(0.1234567)
    ('1', '0.1234567')
    """
    return str(int(number)) if number == int(number) else repr(float(number))


def count_noun(number: int, what: str) -> str:
    """A number of things.

    >>> count_noun(1, "row"), count_noun(2000, "row")
    ('1 row', '2,000 rows')
    """
    return f"{number:,} {what}{'s' * (number != 1)}"


def join_words(words: Sequence[str]) -> str:
    """Words in a row with commas and a last ``and``.

    >>> join_words(["a"]), join_words(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"

"""The report's other sentences: the question, what was varied, what was done, and how to do it again."""

from __future__ import annotations

import shlex
from itertools import chain, count
from typing import TYPE_CHECKING, Final

from possnet.drawing import clip_text
from possnet.errors import count_noun
from possnet.io import example_names, load_example
from possnet.learners import label_learner, resolve_learner
from possnet.network import random_network
from possnet.report.verdicts import join_words
from possnet.sampling import is_imprecise, label_process
from possnet.variables import number_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from possnet.experiment import Experiment
    from possnet.network import Network


_MOST_LETTERS: Final = 110


def state_question(experiment: Experiment) -> str:
    """The question of the experiment, in a sentence of at most 110 characters.

    >>> import possnet as pn, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     results = pn.evaluate(["asia"], rows=[20, 50], imprecision=[0.5, 1], process="traced", repeats=1, out=folder)
    >>> print(state_question(results.experiment))
    How well is asia learned back from 20 to 50 imprecise rows?
    """
    grid = experiment.grid
    rows = f"{min(grid.rows):,} to {max(grid.rows):,}" if len(grid.rows) > 1 else f"{grid.rows[0]:,}"
    imprecise = any(map(is_imprecise, grid.processes)) and any(grid.imprecision)
    verb = "is" if len(grid.networks) == 1 else "are"
    structure = ", structure and all," if all("@" in name for name in grid.learners) else ""
    ending = f"{structure} learned back from {rows} {'imprecise ' if imprecise else ''}rows?"
    names = join_words(list(grid.networks))
    room = _MOST_LETTERS - len(f"How well {verb} {ending}") - 1
    if len(names) > room:
        names = f"{len(grid.networks)} networks" if len(grid.networks) > 1 else clip_text(names, room)
    return f"How well {verb} {names}{ending}"


def list_settings(experiment: Experiment) -> str:
    """What was varied, in a line: kinds of rows, imprecision, learners, repeats."""
    grid = experiment.grid
    parts = [join_words([label_process(name) for name in grid.processes])]
    if any(map(is_imprecise, grid.processes)):
        parts.append(f"imprecision {join_words([number_text(theta) for theta in grid.imprecision])}")
    parts.append(f"by {_list_learners(grid.learners, grid.processes)}")
    return f"{'; '.join(parts)}; {count_noun(grid.repeats, 'repeat')} of each setting."


def _list_learners(names: Sequence[str], processes: Sequence[str]) -> str:
    """The learners; where each stands on the same structures, these are listed once.

    >>> _list_learners(["em", "likelihood", "em@greedy:bic", "likelihood@greedy:bic"], ["traced"])
    'EM and counting, each on the true structure and on one by greedy, bic'
    """
    bases = list(dict.fromkeys(name.partition("@")[0] for name in names))
    structures = list(dict.fromkeys(name.partition("@")[2] for name in names))
    if structures == [""] or len(names) != len(bases) * len(structures):
        bases, structures = list(names), [""]
    listed = join_words([f"{label_learner(name)}{_remark_processes(name, processes)}" for name in bases])
    if structures == [""]:
        return listed
    each = "each " if len(bases) > 1 else ""
    kinds = [f"on one by {name.replace(':', ', ')}" if name else "on the true structure" for name in structures]
    return f"{listed}, {each}{join_words(kinds)}"


def _remark_processes(learner: str, processes: Sequence[str]) -> str:
    """The rows that a learner is for, if those are not all."""
    suited = [label_process(name) for name in processes if resolve_learner(learner).suits_rows(name, 1.0)]
    return "" if len(suited) == len(processes) else f" ({join_words(suited)} alone)"


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

"""Which structures are found behind imprecise rows: ``make structure-quality``, which writes docs/structures-found.md.

The networks have three states each unless the name says otherwise. Every context has one state at 1 (over the contexts the
tops run through permutations) and the others uniform in 0 to .3; roots are (1, .9, .8, .7). Columns stand in random order.

``python structure_quality.py run`` adds the runs that benchmarks/structure_quality.jsonl lacks, two at a time, each in a
process of its own; ``--minutes`` bounds it, ``--seeds`` and ``--only`` choose. ``--version before`` marks the runs of an
earlier tree, whose ``src`` is on PYTHONPATH. ``python structure_quality.py page`` makes the page of the runs that there are.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parent.parent
STORE = ROOT / "benchmarks" / "structure_quality.jsonl"
PAGE = ROOT / "docs" / "structures-found.md"
PATIENCE = 600  # seconds of a run
SHAPES = {
    "chain of 8": "each variable has the one before as its parent",
    "fork of 8": "seven children of one parent",
    "tree of 15": "binary",
    "colliders of 8": "four roots and one that stands alone, each two neighbours with a common child",
    "colliders of 15": "the same, eight roots and seven children",
    "DAG of 8": "one or two parents, drawn among the variables before",
    "DAG of 15": "the same",
    "DAG of 25": "the same",
}
LITERATURE = (
    ("mwst", "mutual-information"),
    ("mwst", "chi2"),
    ("mwst", "specificity-gain"),
    ("hybrid-tree", "specificity-gain"),
    ("hybrid-dag", "specificity-gain"),
    ("k2", "mutual-information"),
    ("greedy", "random-set-bic"),
    ("hidden-tree", "hidden-mutual-information"),
)


class Trial(NamedTuple):
    """One run: what is drawn, and how the structure is learned (by default as `learn_structure` does by itself)."""

    shape: str
    states: int
    rows: int
    imprecision: float
    process: str
    seed: int
    method: str = "auto"
    measure: str = ""


def asked() -> Iterator[Trial]:
    """The runs of the page, most wanted first."""
    for seed in range(10):
        yield from (Trial(shape, 3, 10_000, 1.0, "traced", seed) for shape in SHAPES if shape != "DAG of 25")
    for seed in range(10):
        for shape in ("tree of 15", "DAG of 8"):
            yield from (Trial(shape, 3, 10_000, 1.0, "traced", seed, *way) for way in LITERATURE)
        for shape in SHAPES:
            if shape != "DAG of 25":
                yield Trial(shape, 3, 1_000, 1.0, "traced", seed)
                yield Trial(shape, 3, 10_000, 0.5, "traced", seed)
                yield Trial(shape, 3, 10_000, 1.0, "alpha-cut", seed)
        for states in (2, 4):
            yield from (Trial(shape, states, 10_000, 1.0, "traced", seed) for shape in ("tree of 15", "DAG of 8"))
    for seed in range(10):
        yield Trial("DAG of 25", 3, 10_000, 1.0, "traced", seed)
        for shape in SHAPES:
            if shape != "DAG of 25":
                yield Trial(shape, 3, 50_000, 1.0, "traced", seed)
                yield Trial(shape, 3, 1_000, 0.5, "traced", seed)
                yield Trial(shape, 3, 1_000, 1.0, "alpha-cut", seed)
                yield Trial(shape, 3, 50_000, 1.0, "alpha-cut", seed)
                yield Trial(shape, 3, 10_000, 0.5, "alpha-cut", seed)


def draw_parents(shape: str, rng: Any) -> list[tuple[int, ...]]:
    """The parents of every variable, numbered so that they stand before their children."""
    kind, size = shape.rsplit(" of ", 1)
    n = int(size)
    if kind == "chain":
        return [(), *((k - 1,) for k in range(1, n))]
    if kind == "fork":
        return [(), *((0,) for _ in range(1, n))]
    if kind == "tree":
        return [(), *(((k - 1) // 2,) for k in range(1, n))]
    if kind == "colliders":
        roots = (n + 1) // 2
        children = [(k, k + 1) for k in range(roots - 1)]
        return [*(() for _ in range(n - len(children))), *children]
    return [tuple(sorted(rng.choice(k, min(k, int(rng.integers(1, 3))), replace=False).tolist())) for k in range(n)]


def draw_network(trial: Trial) -> Any:
    """The network of a trial."""
    import numpy as np

    import possnet as pn

    rng = np.random.default_rng([trial.seed, int(trial.shape.rsplit(" of ", 1)[1])])
    parents, r = draw_parents(trial.shape, rng), trial.states
    variables = [pn.Variable(f"x{k:02d}", tuple("abcdefgh"[:r])) for k in range(len(parents))]
    tables = {}
    for variable, above in zip(variables, parents, strict=True):
        if not above:
            tables[variable.name] = 1.0 - 0.1 * np.arange(r)
            continue
        tops = np.concatenate([rng.permutation(r) for _ in range(r ** (len(above) - 1))])
        table = rng.uniform(0.0, 0.3, (len(tops), r))
        table[np.arange(len(tops)), tops] = 1.0
        tables[variable.name] = table.reshape(*(r,) * (len(above) + 1))
    names = [variable.name for variable in variables]
    dag = pn.Dag({name: [names[p] for p in above] for name, above in zip(names, parents, strict=True)})
    return pn.Network(variables, dag, tables)


def run_trial(trial: Trial) -> dict[str, Any]:
    """Learn the structure of one trial, and compare it with the truth."""
    import numpy as np

    import possnet as pn

    net = draw_network(trial)
    data = pn.sample(net, trial.rows, process=trial.process, imprecision=trial.imprecision, rng=trial.seed)
    names = [variable.name for variable in data.variables]
    data = data.select([names[k] for k in np.random.default_rng(trial.seed).permutation(len(names))])
    options: dict[str, Any] = {"measure": trial.measure} if trial.measure else {}
    method, earlier = trial.method, not hasattr(pn.LearnedStructure, "reason")
    if not trial.measure and earlier:  # a version that chooses nothing by itself
        method, options["measure"] = "greedy", "traced-bic" if trial.process == "traced" else "random-set-bic"
    begin = time.process_time()
    learned = pn.learn_structure(data, method, **options)
    seconds = time.process_time() - begin
    edges, truth = set(learned.dag.edges), set(net.dag.edges)
    turned = {(b, a) for a, b in edges} & truth
    below = None
    if not trial.measure:
        others = [(a, b) for a in names for b in names if a != b and (a, b) not in truth]
        known = pn.learn_structure(
            data, "greedy", measure=learned.measure, constraints=pn.Constraints(required=truth, forbidden=others)
        )
        below = known.score - learned.score
    return {
        "missing": len(truth - edges - turned),
        "extra": len(edges - truth - {(b, a) for a, b in turned}),
        "turned": len(turned),
        "edges": len(truth),
        "equivalent": learned.dag.essential_graph() == net.dag.essential_graph(),
        "seconds": round(seconds, 2),
        "below": None if below is None else round(below, 1),
        "measure": learned.measure,
    }


def known_runs() -> dict[tuple[Any, ...], dict[str, Any]]:
    """The runs that there are: (version, *trial) -> what came out."""
    runs = {}
    for line in STORE.read_text(encoding="utf-8").splitlines() if STORE.exists() else ():
        entry = json.loads(line)
        runs[entry["version"], *entry["trial"]] = entry["result"]
    return runs


def run_missing(version: str, trials: Iterable[Trial], minutes: float, workers: int) -> None:
    """Run the trials that the store lacks, until the time is up."""
    known, end = known_runs(), time.monotonic() + 60.0 * minutes
    lacking = [trial for trial in trials if (version, *trial) not in known]

    def run_one(trial: Trial) -> None:
        if time.monotonic() > end:
            return
        command = [sys.executable, __file__, "trial", json.dumps(trial)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=PATIENCE)
            result = json.loads(done.stdout.splitlines()[-1])
        except subprocess.TimeoutExpired:
            result = {"seconds": PATIENCE, "given_up": True}
        with STORE.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"version": version, "trial": trial, "result": result}) + "\n")
        print(version, *trial, result, file=sys.stderr)

    with ThreadPoolExecutor(workers) as pool:
        list(pool.map(run_one, lacking))


def describe(results: list[dict[str, Any]], *, scored: bool) -> list[str]:
    """Columns of the page for some runs."""
    ended = [result for result in results if not result.get("given_up")]
    if not ended:
        return [f"given up after {PATIENCE} s", *[""] * (6 if scored else 5)]
    exact = sum(not (result["missing"] or result["extra"] or result["turned"]) for result in ended)
    seconds = sorted(result["seconds"] for result in results)
    means = [sum(result[key] for result in ended) / len(ended) for key in ("missing", "extra", "turned")]
    columns = [
        f"{exact} of {len(results)}",
        f"{sum(result['equivalent'] for result in ended)}",
        *(f"{mean:.1f}" for mean in means),
        f"{seconds[len(seconds) // 2]:.1f} ({seconds[-1]:.1f})",
    ]
    if scored:
        low = [result["below"] for result in ended if result["below"] is not None]
        columns.append(f"{sum(value > 5.0 for value in low)} ({max(low, default=0.0):.0f})")
    return columns


def make_page() -> str:
    """The page, from the runs that there are."""
    runs = known_runs()
    groups: dict[tuple[Any, ...], dict[str, list[dict[str, Any]]]] = {}
    for trial in dict.fromkeys(asked()):
        for version in ("before", "now"):
            if (version, *trial) in runs:
                key = (*trial[:5], *trial[6:])
                groups.setdefault(key, {}).setdefault(version, []).append(runs[version, *trial])
    head = "exact | CPDAG | missing | extra | turned | seconds (most) "
    lines = [HEAD.strip(), ""]
    plain = sorted((key for key in groups if not key[-1]), key=_order)
    for process in ("traced", "alpha-cut"):
        lines += [f"## Rows of the process `{process}`", "", NOTES[process], ""]
        lines += [f"| shape | states | rows | imprecision | {head}| below (most) | before: {head}|", "|---" * 18 + "|"]
        for key in (key for key in plain if key[4] == process):
            shape, states, rows, imprecision = key[:4]
            now = describe(groups[key].get("now", []), scored=True)
            before = describe(groups[key]["before"], scored=False) if "before" in groups[key] else [""] * 6
            lines.append("| " + " | ".join([shape, str(states), f"{rows:,}", f"{imprecision:g}", *now, *before]) + " |")
        lines.append("")
    lines += ["## The literature's methods on the same rows", "", NOTES["literature"], ""]
    lines += [f"| shape | method | measure | {head}|", "|---" * 9 + "|"]
    for key in sorted((key for key in groups if key[-1]), key=lambda key: (key[0], LITERATURE.index(key[-2:]))):
        lines.append("| " + " | ".join([key[0], *key[-2:], *describe(groups[key]["now"], scored=False)]) + " |")
    lines += ["", "## The networks", ""]
    lines += [f"- {shape}: {words}." for shape, words in SHAPES.items()]
    return "\n".join(lines) + "\n"


def _order(key: tuple[Any, ...]) -> tuple[Any, ...]:
    return key[4], key[1] != 3, -key[3], key[2] != 10_000, key[2], list(SHAPES).index(key[0]), key[1]


HEAD = """
# Structures that are found

Made by `make structure-quality` (`benchmarks/structure_quality.py`). Networks of three states with sharp tables: every
context has one state at 1 and the others between 0 and .3. The structure is learned by `possnet.learn_structure(data)`, as it
stands. *Exact* counts the runs in which every edge and every direction is right; *CPDAG* those in which the structure is
Markov equivalent to the truth; *missing*, *extra* and *turned* are edges on average; *seconds* of CPU are the median and the
most; *below* counts the runs whose score is more than 5 below that of the true structure, and the most that one is below: a
search that was stuck. *Before* is the version before the search of today, by `traced-bic` for traced rows.
"""
NOTES = {
    "traced": "Directions are found too: the law of a cell is a mixture over the hidden state of a parent, not of a child.",
    "alpha-cut": "Edges whose parent's cells all have the same effect leave no trace, and directions are not identified by "
    "`random-set-bic`: the column CPDAG, and `below` for the search, are what to look at.",
    "literature": "10,000 traced rows, imprecision 1. Measures on contours and on cells cannot tell a parent from a sibling: "
    "children of an imprecise parent stay dependent given its cell. `hybrid-tree` and `hybrid-dag` are those of Sangüesa, "
    "Cortés and Gisolfi.",
}


def main() -> None:
    """Run trials, or write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("action", choices=("run", "page", "trial"))
    parser.add_argument("trial", nargs="?")
    parser.add_argument("--version", default="now", choices=("now", "before"))
    parser.add_argument("--minutes", type=float, default=600.0)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--only", default="", help="a text that the trial, as JSON, must contain")
    parser.add_argument("--workers", type=int, default=min(os.cpu_count() or 1, 2))
    chosen = parser.parse_args()
    if chosen.action == "trial":
        print(json.dumps(run_trial(Trial(*json.loads(chosen.trial)))))
        return
    if chosen.action == "run":
        trials = [t for t in dict.fromkeys(asked()) if t.seed < chosen.seeds and chosen.only in json.dumps(t)]
        run_missing(chosen.version, trials, chosen.minutes, chosen.workers)
    PAGE.write_text(make_page(), encoding="utf-8")


if __name__ == "__main__":
    main()

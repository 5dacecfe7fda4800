"""Structures behind unknown cells and lists of candidates: the figures of that section of docs/structure.md.

``python ambiguous_tables.py FOLDER`` reads two real tables, which are not part of the project:

- ``adult_k10.parquet``: rows of UCI Adult made 10-anonymous by the Mondrian algorithm, nine columns of text. A comma joins
  the candidates of a category, and the ends of a range in ``age`` and ``education_num``; ``NAME_true`` has the state itself.
- ``dog7.parquet``: the answers of Dog-7 (A. Hoarau's credal data sets). ``label`` is a list of breeds, ``label_true`` the
  breed, ``picture`` what was shown, and ``f0``, ``f1``, ... are numbers measured in the picture.

``--alarm SEEDS`` (8 on the page) draws alarm, and ``--wide`` 60 variables, with every tenth cell unknown. Seconds are of CPU.
"""

import argparse
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
from measure import say, table
from networks import load

import possnet as pn
from structure import distance, hide_cells

MEASURES = (None, "mdl", "random-set-bic")
RANGES = ("age", "education_num")
FOLDS = 5


def learn_timed(
    data: pn.Dataset, method: str = "auto", measure: str | None = None
) -> tuple[pn.LearnedStructure, float]:
    """The structure, and the CPU seconds that it took."""
    begin = time.process_time()
    learned = pn.learn_structure(data, method, measure=measure)
    return learned, time.process_time() - begin


def name_choice(learned: pn.LearnedStructure, measure: str | None) -> str:
    """The measure, and whether it was chosen by itself."""
    return f"`{learned.measure}`" + ("" if measure else " (by itself)")


def read_cell(name: str, cell: str) -> set[str]:
    """The candidates that a cell of Adult stands for."""
    parts = cell.split(",")
    return {str(k) for k in range(int(parts[0]), int(parts[-1]) + 1)} if name in RANGES else set(parts)


def read_adult(folder: Path) -> tuple[pn.Dataset, dict[str, np.ndarray]]:
    """The rows, and the number of the state behind every cell."""
    columns = pq.read_table(folder / "adult_k10.parquet").to_pydict()
    names = [name for name in columns if not name.endswith("_true")]
    cells = {name: [read_cell(name, cell) for cell in columns[name]] for name in names}
    variables = []
    for name in names:
        states = set(columns[f"{name}_true"]).union(*cells[name])
        variables.append(pn.Variable(name, tuple(sorted(states, key=int if name in RANGES else str))))
    data = pn.Dataset.from_rows(variables, list(zip(*cells.values(), strict=True)))
    return data, {v.name: np.array([v.states.index(s) for s in columns[f"{v.name}_true"]]) for v in variables}


def share_completed(data: pn.Dataset, truth: dict[str, np.ndarray], weights: dict[str, np.ndarray]) -> float:
    """Share of the ambiguous cells whose heaviest candidate is the state behind them."""
    right = []
    for name, states in truth.items():
        column = data.column(name)
        inside = column.cell_sets[column.codes]
        best = np.where(inside, np.nan_to_num(weights[name]), -1.0).argmax(axis=1)
        right.append((best == states)[inside.sum(axis=1) > 1])
    return float(np.concatenate(right).mean())


def complete_adult(folder: Path) -> list[list[str]]:
    """Completion of the ambiguous cells, by structure; without edges it is by the most frequent candidate."""
    data, truth = read_adult(folder)
    ambiguous = np.mean([data.imprecise_share(name) for name in truth])
    job = f"Adult, {len(data):,} rows, {ambiguous:.0%} of the cells ambiguous: cells completed"
    dags = {"most frequent candidate": (pn.Dag(dict.fromkeys(truth, ())), 0.0)}
    for measure in MEASURES:
        learned, seconds = learn_timed(data, measure=measure)
        dags[name_choice(learned, measure)] = learned.dag, seconds
    rows = []
    for way, (dag, seconds) in dags.items():
        engine = pn.Inference(pn.fit_coarsened(dag, data))
        done = share_completed(data, truth, {name: engine.query_many(name, data) for name in truth})
        rows.append([job, way, f"{done:.1%}", f"{seconds:.1f}"])
        say(str(rows[-1]))
    return rows


def predict_breeds(folder: Path, bins: int) -> list[list[str]]:
    """Accuracy of the label of pictures that were held out, by structure."""
    columns: dict[str, Any] = pq.read_table(folder / "dog7.parquet").to_pydict()
    numbers = {name: np.array(x) for name, x in columns.items() if name[0] == "f" and name[1:].isdigit()}
    breeds = sorted(set(columns["label_true"]).union(*columns["label"]))
    truth = np.array([breeds.index(breed) for breed in columns["label_true"]])
    pictures, picture = np.unique(columns["picture"], return_inverse=True)
    fold = (np.argsort(np.random.default_rng(0).permutation(len(pictures))) % FOLDS)[picture]
    states = tuple(f"b{k}" for k in range(bins))
    variables = [pn.Variable("label", tuple(breeds)), *(pn.Variable(name, states) for name in numbers)]
    naive = pn.Dag({v.name: () if v.name == "label" else ("label",) for v in variables})
    results: dict[str, list[tuple[float, float]]] = {}
    for k in range(FOLDS):
        cuts = [np.quantile(x[fold != k], np.linspace(0, 1, bins + 1)[1:-1]) for x in numbers.values()]
        binned = [np.searchsorted(c, x, side="right") for c, x in zip(cuts, numbers.values(), strict=True)]
        measured = [[states[b] for b in row] for row in np.transpose(binned)]
        seen = [(set(columns["label"][i]), *measured[i]) for i in np.flatnonzero(fold != k)]
        train = pn.Dataset.from_rows(variables, seen)
        test = pn.Dataset.from_rows(variables, [(None, *measured[i]) for i in np.flatnonzero(fold == k)])
        dags = {"naive Bayes": (naive, 0.0)}
        for measure in MEASURES:
            learned, seconds = learn_timed(train, measure=measure)
            dags[name_choice(learned, measure)] = learned.dag, seconds
        for way, (dag, seconds) in dags.items():
            posterior = pn.Inference(pn.fit_coarsened(dag, train)).query_many("label", test)
            right = np.nan_to_num(posterior, nan=-1.0).argmax(axis=1) == truth[fold == k]
            results.setdefault(way, []).append((float(right.mean()), seconds))
    job = f"Dog-7, {len(truth)} answers, {len(numbers)} columns in {bins} bins: new labels right"
    means = {way: np.mean(runs, axis=0) for way, runs in results.items()}
    say(f"{job} {means}")
    return [[job, way, f"{right:.1%}", f"{seconds:.1f}"] for way, (right, seconds) in means.items()]


def compare_alarm(seeds: int) -> list[list[str]]:
    """Distances of alarm's CPDAG from that of the complete rows and from the truth."""
    net, rows = load("alarm"), []
    for method in ("boss", "greedy"):
        for seed in range(1, seeds + 1):
            data = pn.sample(net, 10_000, process="precise", rng=seed)
            complete = pn.learn_structure(data, method, measure="bic").dag
            learned, seconds = learn_timed(hide_cells(data, 0.1, seed), method, "coarsened-bic")
            apart, away = distance(complete, learned.dag.edges), distance(net.dag, learned.dag.edges)
            text = f"complete rows {apart}, truth {away} (complete rows from truth {distance(net.dag, complete.edges)})"
            rows.append(
                [f"alarm, 10,000 rows, 10 % unknown, seed {seed}: distance to", f"`{method}`", text, f"{seconds:.1f}"]
            )
            say(str(rows[-1]))
    return rows


def compare_wide() -> list[list[str]]:
    """Distance from the truth with 60 variables, at most three parents each."""
    net, rows = pn.random_network(60, max_parents=2, states=(2, 4), rng=5), []
    data = hide_cells(pn.sample(net, 10_000, process="precise", rng=1), 0.1, 1)
    limits = pn.Constraints(max_parents=3)
    for method in ("greedy", "boss"):
        begin = time.process_time()
        learned = pn.learn_structure(data, method, measure="coarsened-bic", constraints=limits)
        seconds = time.process_time() - begin
        job = "60 variables, 10,000 rows, 10 % unknown: distance to"
        rows.append([job, f"`{method}`", f"truth {distance(net.dag, learned.dag.edges)}", f"{seconds:.1f}"])
    return rows


def main() -> None:
    """Print the table of what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--alarm", type=int, default=0, metavar="SEEDS")
    parser.add_argument("--wide", action="store_true")
    chosen = parser.parse_args()
    rows = []
    if chosen.folder:
        rows += complete_adult(chosen.folder) + predict_breeds(chosen.folder, 3) + predict_breeds(chosen.folder, 4)
    rows += compare_alarm(chosen.alarm)
    if chosen.wide:
        rows += compare_wide()
    print(table(" rows and task | structure by | result | seconds ", rows))


if __name__ == "__main__":
    main()

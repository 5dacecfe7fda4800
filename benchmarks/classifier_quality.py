"""The classifier beside baselines, and what its sets hold: docs/classifier-quality.md.

``python classifier_quality.py FOLDER`` reads the real tables that the folder has (see real.py) and scikit-learn's own, prints
the page, and with ``--write`` writes it. ``--peer`` takes a Python that has MAPIE and crepes, for their sets on the same scores.

Labels of scikit-learn's tables are made ambiguous: every wrong class becomes a candidate with a probability, the rate.
Accuracy is that of five folds (of whole pictures for dog7). Seconds are of CPU, to learn once and predict once.
"""

import argparse
import json
import subprocess
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
from measure import ROOT, say, table
from real import RANGES, read_labels, weigh_naively, weigh_neighbours
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from possnet.classifier import PossibilisticClassifier, discounted_accuracy

FOLDS = 5
SPLITS = 20
ALPHAS = (0.05, 0.1, 0.2)
RATES = (0.0, 0.3, 0.6)
PAGE = ROOT / "docs" / "classifier-quality.md"
RESULTS = ROOT / "build" / "classifier_quality.json"
PEER = ROOT / "benchmarks" / "peers" / "conformal_sets.py"
Weigh = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Task:
    """Rows of features (numbers for baselines, and as the classifier reads them), candidates, truth, folds."""

    name: str
    numbers: np.ndarray
    rows: np.ndarray
    candidates: np.ndarray
    truth: np.ndarray
    fold: np.ndarray

    @property
    def rate(self) -> str:
        """How ambiguous the labels are."""
        return f"{self.candidates.sum(axis=1).mean():.2f}"


def blur_labels(truth: np.ndarray, n_classes: int, rate: float, seed: int = 0) -> np.ndarray:
    """The truth, and every other class with a probability."""
    rng = np.random.default_rng(seed)
    return np.eye(n_classes, dtype=bool)[truth] | (rng.random((len(truth), n_classes)) < rate)


def list_tasks(folder: Path | None) -> Iterator[Task]:
    """All tables."""
    for name in ("msrcv2", "dog7"):
        if folder is not None and (folder / f"{name}.parquet").exists():
            d = read_labels(folder, name)
            yield Task(name, d.numbers, d.numbers, d.candidates, d.truth, d.fold)
    if folder is not None and (folder / "adult_k10.parquet").exists():
        yield read_income(folder)
    for name, load in (("wine", load_wine), ("breast cancer", load_breast_cancer), ("digits", load_digits)):
        numbers, truth = load(return_X_y=True)
        fold = np.random.default_rng(0).permutation(len(truth)) % FOLDS
        for rate in RATES:
            candidates = blur_labels(truth, int(truth.max()) + 1, rate)
            yield Task(f"{name}, rate {rate:g}", numbers, numbers, candidates, truth, fold)


def read_income(folder: Path) -> Task:
    """Adult: income from the other columns, whose cells are sets; averaged one-hot numbers for baselines."""
    columns = pq.read_table(folder / "adult_k10.parquet").to_pydict()
    names = [name for name in columns if not name.endswith("_true") and name != "income"]
    cells = {}
    for name in names:
        split = [cell.split(",") for cell in columns[name]]
        ranges = name in RANGES
        cells[name] = [frozenset(map(str, range(int(c[0]), int(c[-1]) + 1))) if ranges else frozenset(c) for c in split]
    rows = np.empty((len(columns["income"]), len(names)), dtype=object)
    numbers = []
    for k, name in enumerate(names):
        rows[:, k] = cells[name]
        states = {state: place for place, state in enumerate(sorted(frozenset().union(*cells[name])))}
        matrix = np.zeros((len(rows), len(states)))
        for row, cell in enumerate(cells[name]):
            matrix[row, [states[state] for state in cell]] = 1.0 / len(cell)
        numbers.append(matrix)
    truth = np.unique(columns["income_true"], return_inverse=True)[1]
    fold = np.random.default_rng(0).permutation(len(truth)) % FOLDS
    return Task("adult_k10, income", np.hstack(numbers), rows, np.eye(2, dtype=bool)[truth], truth, fold)


def weigh_logistic(numbers: np.ndarray, candidates: np.ndarray, new: np.ndarray) -> np.ndarray:
    """Logistic regression on rows shared among their candidates."""
    scale = StandardScaler().fit(numbers)
    row, state = np.nonzero(candidates)
    weights = (candidates / candidates.sum(axis=1, keepdims=True))[row, state]
    model = LogisticRegression(max_iter=300).fit(scale.transform(numbers)[row], state, sample_weight=weights)
    shares = np.zeros((len(new), candidates.shape[1]))
    shares[:, model.classes_] = model.predict_proba(scale.transform(new))
    return shares


def weigh_gaussian(numbers: np.ndarray, candidates: np.ndarray, new: np.ndarray, rounds: int = 0) -> np.ndarray:
    """Gaussian naive Bayes on scaled numbers, by rounds of EM."""
    scale = StandardScaler().fit(numbers)
    return weigh_naively(scale.transform(numbers), candidates, scale.transform(new), rounds)


BASELINES: dict[str, Weigh] = {
    "naive Bayes, averaged": weigh_gaussian,
    "its EM": lambda x, y, new: weigh_gaussian(x, y, new, rounds=30),
    "logistic, averaged": weigh_logistic,
    "10 nearest, candidates": weigh_neighbours,
}
NAIVE = ("naive Bayes, averaged", "its EM")


def compare_accuracy(task: Task) -> tuple[dict[str, float], dict[str, float], list[str]]:
    """Accuracy and seconds of the classifier and of the baselines, and what the classifier chose in each fold."""
    right, seconds, choices = {}, {}, []
    for name, weigh in BASELINES.items():
        hits, begin = 0, time.process_time()
        for k in range(FOLDS):
            training, test = task.fold != k, task.fold == k
            shares = weigh(task.numbers[training], task.candidates[training], task.numbers[test])
            hits += int((shares.argmax(axis=1) == task.truth[test]).sum())
        right[name], seconds[name] = hits / len(task.truth), (time.process_time() - begin) / FOLDS
    hits, begin = 0, time.process_time()
    for k in range(FOLDS):
        training, test = task.fold != k, task.fold == k
        model = PossibilisticClassifier().fit(task.rows[training], task.candidates[training])
        hits += int((model.predict(task.rows[test]) == task.truth[test]).sum())
        choices.append(model.choice_)
    right["possnet"], seconds["possnet"] = hits / len(task.truth), (time.process_time() - begin) / FOLDS
    return right, seconds, choices


def split_rows(task: Task, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows to learn from, to calibrate on, and to test, 3 : 1 : 1; rows of equal features stay together."""
    _, group = np.unique(task.numbers, axis=0, return_inverse=True)
    place = np.random.default_rng(seed).permutation(group.max() + 1)[group.reshape(-1)] % 5
    return np.flatnonzero(place > 1), np.flatnonzero(place == 0), np.flatnonzero(place == 1)


def measure_sets(task: Task, structure: str, bins: int, smoothing: float, peer: str | None) -> dict[str, Any]:
    """Coverage, size and utility of sets in the mean of splits, by what calibration rows tell."""
    figures: dict[str, list[Any]] = {}
    peer_jobs = []
    usual = PossibilisticClassifier(structure=structure, bins=bins, smoothing=smoothing, calibration=None)
    for seed in range(SPLITS):
        learn, keep, test = split_rows(task, seed)
        if len(learn) > 4000:
            learn, keep, test = learn[:4000], keep[:2000], test[:2000]
        model = clone(usual).fit(task.rows[learn], task.candidates[learn])
        truth = task.truth[test]
        ways = {"raw": model}
        ways["precise"] = deepcopy(model).calibrate(task.rows[keep], task.truth[keep])
        if (task.candidates[keep].sum(axis=1) > 1).any():
            for way in ("expected", "worst", "best"):
                other = deepcopy(model).set_params(ambiguous=way)
                ways[way] = other.calibrate(task.rows[keep], task.candidates[keep])
        for way, own in ways.items():
            for alpha in ALPHAS:
                note_sets(figures, (way, alpha), own.predict_set(task.rows[test], alpha), truth)
        p_values = ways["precise"].predict_p_values(task.rows[test])
        drawn = ways["precise"].predict_p_values(task.rows[test], rng=seed)
        for alpha in ALPHAS:
            note_sets(figures, ("subnormal", alpha), p_values > alpha, truth)
            note_sets(figures, ("ties drawn", alpha), drawn > alpha, truth)
        if peer is not None and (task.candidates.sum(axis=1) == 1).all():
            peer_jobs.append(
                {
                    "calibration": model.predict_proba(task.rows[keep]).tolist(),
                    "labels": task.truth[keep].tolist(),
                    "test": model.predict_proba(task.rows[test]).tolist(),
                    "truth": truth.tolist(),
                }
            )
    result = {key: np.mean(values, axis=0) for key, values in figures.items()}
    if peer_jobs and peer is not None:
        result |= ask_peers(peer, peer_jobs)
    return result


def note_sets(figures: dict[Any, list[Any]], key: Any, sets: np.ndarray, truth: np.ndarray) -> None:
    """Add coverage, size, u65 and u80 of some sets."""
    classes = list(range(sets.shape[1]))
    figures.setdefault(key, []).append(
        [
            sets[np.arange(len(truth)), truth].mean(),
            sets.sum(axis=1).mean(),
            discounted_accuracy(np.eye(len(classes), dtype=bool)[truth], sets, classes=classes),
            discounted_accuracy(np.eye(len(classes), dtype=bool)[truth], sets, utility="u80", classes=classes),
        ]
    )


def ask_peers(peer: str, jobs: list[dict[str, Any]]) -> dict[Any, np.ndarray]:
    """Coverage and size of the sets of MAPIE and crepes, on the same scores."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "jobs.json"
        file.write_text(json.dumps({"alphas": ALPHAS, "jobs": jobs}), encoding="utf-8")
        run = subprocess.run([peer, PEER, file], capture_output=True, text=True, check=False)
    if run.returncode:
        say(run.stderr[-400:])
        return {}
    answers: dict[str, dict[str, list[list[float]]]] = json.loads(run.stdout)
    return {
        (name, float(alpha)): np.mean(values, axis=0)
        for name, by_alpha in answers.items()
        for alpha, values in by_alpha.items()
    }


def read_choice(choices: list[str]) -> tuple[str, int, float]:
    """The choice that most folds made: structure, bins, smoothing."""
    best = max(set(choices), key=choices.count)
    structure, bins, smoothing = best.split(", ")
    return structure, int(bins.split()[0]), float(smoothing.split()[1])


def read_results() -> dict[str, Any]:
    """What earlier runs measured, by table."""
    return dict(json.loads(RESULTS.read_text(encoding="utf-8"))) if RESULTS.exists() else {}


def write_page(results: dict[str, Any]) -> str:
    """The page."""
    accuracy, sets, peers, naive, best = [], [], [], 0, 0
    for name, result in results.items():
        right, (structure, bins, smoothing) = result["right"], result["choice"]
        naive += right["possnet"] >= max(right[own] for own in NAIVE)
        best += right["possnet"] == max(right.values())
        figures = [
            f"**{right[n]:.3f}**" if right[n] == max(right.values()) else f"{right[n]:.3f}"
            for n in ("possnet", *BASELINES)
        ]
        times = ", ".join(f"{result['seconds'][own]:.1f}" for own in ("possnet", "its EM", "logistic, averaged"))
        accuracy.append([name, result["candidates"], *figures, f"{structure}, {bins}, {smoothing:g}", times])
        measured = {(way, alpha): values for way, alpha, *values in result["sets"]}
        for way in ("raw", "precise", "subnormal", "ties drawn", "expected", "worst", "best"):
            if (way, 0.1) in measured:
                own = [measured[way, alpha] for alpha in ALPHAS]
                line = [*(f"{m[0]:.3f}" for m in own), *(f"{m[1]:.2f}" for m in own)]
                sets.append([name, way, *line, f"{own[1][2]:.3f}", f"{own[1][3]:.3f}"])
        for way in ("subnormal", "MAPIE", "crepes"):
            if ("MAPIE", 0.1) in measured:
                own = [measured[way, alpha] for alpha in ALPHAS]
                label = "possnet, subnormal" if way == "subnormal" else way
                peers.append([name, label, *(f"{m[0]:.4f}" for m in own), *(f"{m[1]:.3f}" for m in own)])
    verdict = f"At least as accurate as the better naive Bayes on {naive} of {len(results)} tables, and as the best of all baselines on {best}."
    head = " table | candidates | possnet | naive Bayes, averaged | its EM | logistic, averaged | 10 nearest, candidates | chosen: structure, bins, smoothing | seconds: possnet, EM, logistic "
    text = PAGE_HEAD + table(head, accuracy) + f"\n\n{verdict} {list_misses(results)}\n\n" + SETS_HEAD
    text += table(" table | degrees | held at .05 | .1 | .2 | size at .05 | .1 | .2 | u65 at .1 | u80 at .1 ", sets)
    if peers:
        text += "\n\n" + PEERS_HEAD + table(" table | sets of | held at .05 | .1 | .2 | size at .05 | .1 | .2 ", peers)
    return text + "\n"


def list_misses(results: dict[str, Any]) -> str:
    """Where a naive Bayes is better, and where ambiguous calibration rows keep less than they promise."""
    behind, short = [], []
    for name, result in results.items():
        right = result["right"]
        best = max(right[own] for own in NAIVE)
        if right["possnet"] < best:
            behind.append(f"{name} ({right['possnet']:.3f} for {best:.3f})")
        held = {(way, alpha): values[0] for way, alpha, *values in result["sets"]}
        if held.get(("expected", 0.1), 1.0) < 0.88:
            short.append(f"{name} ({held['expected', 0.1]:.3f} for .9)")
    text = f"Behind naive Bayes: {', '.join(behind)}. " if behind else ""
    return text + (f"*Expected* candidates keep less than they promise: {', '.join(short)}." if short else "")


PAGE_HEAD = """# The classifier, measured

Made by `benchmarks/classifier_quality.py`; the real tables are not part of the project. Accuracy on held-out rows of five folds: the share of
rows whose true class is predicted, by what was learned from candidates alone. *Candidates* is their mean number a row. Baselines are those of
scikit-learn: Gaussian naive Bayes and logistic regression on rows shared equally among their candidates, 30 rounds of EM of the former, and the
candidates of the ten nearest rows. On adult, whose features are sets, baselines see averaged one-hot numbers. Seconds are of CPU, to learn once.

"""
SETS_HEAD = """## What the sets hold

Means of 20 splits into rows to learn from, to calibrate on and to test, 3 : 1 : 1. A cut at a should hold the truth in 1 - a of the rows. *Raw*
degrees are those of the model's probabilities (optimal transformation). The others are calibrated: on rows whose true class is known
(*precise*; *subnormal* is the same without raising the largest degree to 1, and *ties drawn* that with random ranks), or on rows whose labels are as ambiguous as those learned
from: their *expected*, *worst* or *best* candidate. u65 and u80 are the utilities of sets.

"""
PEERS_HEAD = """## Beside MAPIE and crepes

The same probabilities, the same calibration rows, precise labels: MAPIE's score "lac", and crepes' hinge. Sets of p-values as they are (*subnormal*).

"""


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("--peer")
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")
    results = read_results()
    for task in list_tasks(chosen.folder):
        if chosen.only not in task.name:
            continue
        right, seconds, choices = compare_accuracy(task)
        say(f"{task.name} {right} {choices}")
        measured = measure_sets(task, *read_choice(choices), chosen.peer)
        results[task.name] = {
            "candidates": task.rate,
            "right": right,
            "seconds": seconds,
            "choice": read_choice(choices),
            "sets": [[way, alpha, *np.round(values, 5).tolist()] for (way, alpha), values in measured.items()],
        }
        RESULTS.parent.mkdir(exist_ok=True)
        RESULTS.write_text(json.dumps(results, indent=1), encoding="utf-8")
        say(str(results[task.name]["sets"]))
    page = write_page(results)
    print(page)
    if chosen.write:
        PAGE.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()

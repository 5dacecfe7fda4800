"""The default on real ambiguous tables and on made ones, beside baselines: docs/real-tables.md.

``python real.py FOLDER`` (``make real DATA=FOLDER``) reads what the folder has of three tables, which are not part of the
project, and prints the page; ``--write`` writes it.

- ``msrcv2.parquet``: segments of pictures, numbers ``f*``, ``label`` a list of candidate classes, ``label_true``.
- ``dog7.parquet``: people's answers about pictures of dogs, the same columns; folds are of whole pictures (``picture``).
- ``adult_k10.parquet``: census rows made 10-anonymous, nine columns of text. A comma joins the candidates of a category, and
  the ends of a range in ``age`` and ``education_num``; ``NAME_true`` has the state itself.

Numbers become three bins by quantiles of the rows that are learned from, as ``--bin '*'`` makes them. Seconds are of CPU.
"""

import argparse
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
from measure import ROOT, say, table
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import NearestNeighbors
from sklearn.preprocessing import StandardScaler

import possnet as pn
from possnet.learners import LEARNERS
from possnet.structure import MEASURES

FOLDS = 5
RANGES = ("age", "education_num")
CUTS = (0.05, 0.5)
ASKED = {"msrcv2": 0.75, "dog7": 0.70}
RECIPES: dict[str | None, dict[str, str]] = {
    None: {"marginal": "**default**", "none": "default, no prior"},
    "coarsened-bic": {"marginal": "`coarsened-bic`, marginal prior"},
    "random-set-bic": {"none": "`random-set-bic`"},
    "none": {"none": "no edges (most frequent candidate)"},
}
PAGE = ROOT / "docs" / "real-tables.md"


def fit_matching(learned: pn.LearnedStructure, data: pn.Dataset, prior: str) -> pn.Network:
    """Tables by the learner that goes with the measure of a structure."""
    result = LEARNERS[MEASURES[learned.measure].learner].fit(learned.dag, data, prior=prior)
    return result if isinstance(result, pn.Network) else result.network


def fit_edgeless(data: pn.Dataset) -> pn.Network:
    """A network without edges, whose completion is the most frequent candidate."""
    return pn.fit_coarsened(pn.Dag({v.name: () for v in data.variables}), data)


@dataclass(frozen=True)
class LabelTable:
    """Numbers, candidates (rows, classes), the class behind each row, and the fold of each row."""

    numbers: np.ndarray
    candidates: np.ndarray
    truth: np.ndarray
    fold: np.ndarray

    def bin_rows(self, learned_from: np.ndarray, rows: np.ndarray, *, hide: bool = False) -> pn.Dataset:
        """Some rows, their numbers in the bins of the rows that are learned from."""
        columns: dict[str, Any] = {}
        variables = []
        for k, numbers in enumerate(self.numbers.T):
            edges = pn.Binning().settle_edges(numbers[learned_from]).edges
            states = tuple(str(b) for b in range(len(edges) + 1))
            variables.append(pn.Variable(f"f{k}", states))
            columns[f"f{k}"] = [states[b] for b in np.searchsorted(np.array(edges), numbers[rows], side="right")]
        label = pn.Variable("label", tuple(f"c{k}" for k in range(self.candidates.shape[1])))
        columns["label"] = [
            None if hide else {label.states[k] for k in np.flatnonzero(cell)} for cell in self.candidates[rows]
        ]
        return pn.Dataset.from_table(columns, (*variables, label))


def read_labels(folder: Path, name: str) -> LabelTable:
    """A table of candidates for a label."""
    columns: dict[str, Any] = pq.read_table(folder / f"{name}.parquet").to_pydict()
    numbers = np.array([x for name, x in columns.items() if name[0] == "f" and name[1:].isdigit()], dtype=float).T
    classes = sorted(set(columns["label_true"]).union(*columns["label"]), key=str)
    place = {state: k for k, state in enumerate(classes)}
    candidates = np.zeros((len(numbers), len(classes)), dtype=bool)
    for row, cell in enumerate(columns["label"]):
        candidates[row, [place[state] for state in cell]] = True
    _, group = np.unique(columns.get("picture", range(len(numbers))), return_inverse=True)
    order = np.argsort(np.random.default_rng(0).permutation(group.max() + 1))
    return LabelTable(numbers, candidates, np.array([place[s] for s in columns["label_true"]]), (order % FOLDS)[group])


@dataclass
class Figures:
    """Right completions and predictions of one recipe, how often cuts hold the truth and how large they are, seconds."""

    completed: float
    held_out: float
    coverage: dict[float, float]
    size: dict[float, float]
    seconds: float

    def as_row(self, recipe: str) -> list[str]:
        """A row of the page."""
        cuts = [f"{self.coverage[cut]:.0%} / {self.size[cut]:.1f}" if self.coverage else "" for cut in CUTS]
        return [recipe, f"{self.completed:.3f}", f"{self.held_out:.3f}", *cuts, f"{self.seconds:.1f}"]


class TriedNetworks:
    """Networks of one measure and several priors, learned from all rows and without each fold; a structure is found once."""

    def __init__(self, rows: LabelTable, measure: str | None, priors: tuple[str, ...]) -> None:
        self.rows, self.measure = rows, measure
        every = np.arange(len(rows.truth))
        begin = time.process_time()
        data = rows.bin_rows(every, every)
        learned = self.find_structure(data)
        found = time.process_time() - begin
        self.reason, self.seconds, self.completed = learned.reason, dict.fromkeys(priors, found), {}
        for prior in priors:
            begin = time.process_time()
            net = fit_matching(learned, data, prior)
            self.seconds[prior] += time.process_time() - begin
            self.completed[prior] = share_completed(rows, np.nan_to_num(pn.Inference(net).query_many("label", data)))
        self.held_out = {prior: np.zeros(rows.candidates.shape) for prior in priors}
        for k in range(FOLDS):
            training, test = every[rows.fold != k], every[rows.fold == k]
            data, hidden = rows.bin_rows(training, training), rows.bin_rows(training, test, hide=True)
            learned = self.find_structure(data)
            for prior in priors:
                degrees = pn.Inference(fit_matching(learned, data, prior)).query_many("label", hidden)
                self.held_out[prior][test] = np.nan_to_num(degrees)

    def find_structure(self, data: pn.Dataset) -> pn.LearnedStructure:
        """The structure by the measure; without one, that of the default; or no edges."""
        if self.measure != "none":
            return pn.learn_structure(data, measure=self.measure)
        apart = pn.Constraints(max_parents=0)
        return pn.learn_structure(data, "greedy", measure="coarsened-bic", constraints=apart)

    def list_figures(self) -> Iterator[tuple[str, Figures]]:
        """The figures by prior."""
        every = np.arange(len(self.rows.truth))
        for prior, degrees in self.held_out.items():
            behind = degrees[every, self.rows.truth]
            yield (
                prior,
                Figures(
                    self.completed[prior],
                    float((degrees.argmax(axis=1) == self.rows.truth).mean()),
                    {cut: float((behind >= cut).mean()) for cut in CUTS},
                    {cut: float((degrees >= cut).sum(axis=1).mean()) for cut in CUTS},
                    self.seconds[prior],
                ),
            )


def share_completed(rows: LabelTable, degrees: np.ndarray) -> float:
    """Share of the ambiguous labels whose heaviest candidate is the truth, where the truth is a candidate."""
    best = np.where(rows.candidates, degrees, -1.0).argmax(axis=1)
    asked = (rows.candidates.sum(axis=1) > 1) & rows.candidates[np.arange(len(best)), rows.truth]
    return float((best == rows.truth)[asked].mean())


def weigh_neighbours(numbers: np.ndarray, candidates: np.ndarray, new: np.ndarray) -> np.ndarray:
    """Shares of the candidates of the ten nearest rows."""
    scale = StandardScaler().fit(numbers)
    near = NearestNeighbors(n_neighbors=10).fit(scale.transform(numbers))
    shares = candidates / candidates.sum(axis=1, keepdims=True)
    return shares[near.kneighbors(scale.transform(new), return_distance=False)].mean(axis=1)


def weigh_naively(numbers: np.ndarray, candidates: np.ndarray, new: np.ndarray, rounds: int = 0) -> np.ndarray:
    """Gaussian naive Bayes on rows shared among their candidates; by rounds of EM, in proportion to its posterior."""
    row, state = np.nonzero(candidates)
    weights = (candidates / candidates.sum(axis=1, keepdims=True))[row, state]
    for number in range(rounds + 1):
        model = GaussianNB(var_smoothing=1e-3).fit(numbers[row], state, sample_weight=weights + 1e-12)
        if number < rounds:
            known = np.zeros(candidates.shape)
            known[:, model.classes_] = model.predict_proba(numbers)
            known = known * candidates + 1e-12 * candidates
            weights = (known / known.sum(axis=1, keepdims=True))[row, state]
    shares = np.zeros((len(new), candidates.shape[1]))
    shares[:, model.classes_] = model.predict_proba(new)
    return shares


def try_baseline(rows: LabelTable, weigh: Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]) -> Figures:
    """The same figures of a baseline, which has no cuts."""
    begin = time.process_time()
    completed = share_completed(rows, weigh(rows.numbers, rows.candidates, rows.numbers))
    seconds = time.process_time() - begin
    right = 0
    for k in range(FOLDS):
        training, test = rows.fold != k, rows.fold == k
        shares = weigh(rows.numbers[training], rows.candidates[training], rows.numbers[test])
        right += int((shares.argmax(axis=1) == rows.truth[test]).sum())
    return Figures(completed, right / len(rows.truth), {}, {}, seconds)


def compare_labels(folder: Path, name: str) -> str:
    """The section of a table of labels."""
    rows, lines, reason = read_labels(folder, name), [], ""
    for measure, recipes in RECIPES.items():
        tried = TriedNetworks(rows, measure, tuple(recipes))
        reason = reason or tried.reason
        for prior, figures in tried.list_figures():
            lines.append(figures.as_row(recipes[prior]))
            say(f"{name} {lines[-1]}")
    for way, weigh in (
        ("naive Bayes on averaged labels", weigh_naively),
        ("the same by EM", lambda x, y, new: weigh_naively(x, y, new, rounds=30)),
        ("10 nearest rows' candidates", weigh_neighbours),
    ):
        lines.append(try_baseline(rows, weigh).as_row(way))
        say(f"{name} {lines[-1]}")
    count, classes = rows.candidates.shape
    text = f"## {name}\n\n{count:,} rows, {rows.numbers.shape[1]} numbers, {classes} classes, "
    text += f"{rows.candidates.sum(axis=1).mean():.1f} candidates a row; the truth is one of them in "
    text += f"{rows.candidates[np.arange(count), rows.truth].mean():.0%}. The reason that the default gives: *{reason}*.\n\n"
    head = " recipe | completed | held-out label | cut at .05 holds it / size | cut at .5 | seconds to learn "
    return f"{text}{table(head, lines)}\n\nAsked of the default: completed {ASKED[name]:.2f}.\n"


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


def read_states(data: pn.Dataset, truth: dict[str, np.ndarray], net: pn.Network) -> tuple[float, dict[str, float]]:
    """Share of the ambiguous cells whose most possible candidate is the state behind them; in all, and by column."""
    engine, right = pn.Inference(net), {}
    for name, states in truth.items():
        column = data.column(name)
        inside = column.cell_sets[column.codes]
        best = np.where(inside, np.nan_to_num(engine.query_many(name, data)), -1.0).argmax(axis=1)
        right[name] = (best == states)[inside.sum(axis=1) > 1]
    return float(np.concatenate(list(right.values())).mean()), {n: float(r.mean()) for n, r in right.items() if len(r)}


def compare_adult(folder: Path) -> str:
    """The section of the census table: its cells completed, and income in rows that were held out."""
    data, truth = read_adult(folder)
    test = np.random.default_rng(0).permutation(len(data)) < len(data) // FOLDS
    known = [tuple(data.row(k).values()) for k in range(len(data))]
    where = [v.name for v in data.variables].index("income")
    training = pn.Dataset.from_rows(data.variables, [row for row, out in zip(known, test, strict=True) if not out])
    asked = [
        tuple(None if k == where else x for k, x in enumerate(row)) for row, out in zip(known, test, strict=True) if out
    ]
    hidden = pn.Dataset.from_rows(data.variables, asked)

    def predict_income(net: pn.Network) -> float:
        degrees = np.nan_to_num(pn.Inference(net).query_many("income", hidden))
        return float((degrees.argmax(axis=1) == truth["income"][test]).mean())

    lines, reasons = [], []
    for recipe, how in (
        ("**default**", {}),
        ("`mdl`", {"measure": "mdl"}),
        ("`random-set-bic`", {"measure": "random-set-bic"}),
    ):
        begin = time.process_time()
        learned = pn.learn_structure(data, **how)
        net = pn.fit_coarsened(learned.dag, data, prior="marginal")
        seconds = time.process_time() - begin
        reasons.append(learned.reason)
        done, _ = read_states(data, truth, net)
        dag = pn.learn_structure(training, **how).dag if how else learned.dag
        income = predict_income(pn.fit_coarsened(dag, training, prior="marginal"))
        lines.append([recipe, f"{done:.3f}", f"{income:.3f}", f"{seconds:.1f}"])
        say(f"adult {lines[-1]}")
    edgeless = fit_edgeless(data)
    lines.append(
        [
            "no edges (most frequent candidate)",
            f"{read_states(data, truth, edgeless)[0]:.3f}",
            f"{predict_income(edgeless):.3f}",
            "",
        ]
    )
    lines.append(["logistic regression on averaged cells", "", f"{regress_income(data, truth, test):.3f}", ""])
    share = np.mean([data.imprecise_share(v.name) for v in data.variables])
    text = f"## adult_k10\n\n{len(data):,} rows, {len(truth)} columns, {share:.0%} of the cells ambiguous. All tables are learned by EM "
    text += "under coarsening at random with a marginal prior, by the structure of each measure. Income is predicted in a fifth of the rows "
    text += "by tables of the others (and their structure; by default that of all rows, for time). "
    text += f"The reason that the default gives: *{reasons[0]}*.\n\n"
    return f"{text}{table(' structure by | cells completed | held-out income | seconds to learn ', lines)}\n\nAsked of the default: completed .62, income .81.\n"


def regress_income(data: pn.Dataset, truth: dict[str, np.ndarray], test: np.ndarray) -> float:
    """Accuracy of a logistic regression of income on the other cells, each shared among its candidates."""
    blocks = []
    for variable in data.variables:
        if variable.name != "income":
            column = data.column(variable.name)
            inside = column.cell_sets[column.codes].astype(float)
            blocks.append(inside / inside.sum(axis=1, keepdims=True))
    features = np.hstack(blocks)
    model = LogisticRegression(max_iter=300).fit(features[~test], truth["income"][~test])
    return float(model.score(features[test], truth["income"][test]))


def hide_states(data: pn.Dataset, share: float, seed: int, *, sets: bool) -> pn.Dataset:
    """Precise rows, a share of whose cells become unknown, or get every other state with probability 1/2."""
    rng = np.random.default_rng(seed)

    def hide(variable: pn.Variable, cell: frozenset[str]) -> object:
        if rng.random() >= share:
            return cell
        return cell | {x for x in variable.states if rng.random() < 0.5} if sets else None

    return pn.Dataset.from_rows(
        data.variables, [tuple(hide(v, data.row(k)[v.name]) for v in data.variables) for k in range(len(data))]
    )


def make_tables() -> Iterator[tuple[str, pn.Dataset, dict[str, np.ndarray]]]:
    """Tables of our own making: what they are, rows, and the number of the state behind every cell."""
    for name, variables, rows, share, sets in (
        ("random network, 30 % of the cells unknown", 10, 1000, 0.3, False),
        ("random network, 60 % of the cells sets", 10, 1000, 0.6, True),
        ("random network, all cells sets", 8, 1000, 1.0, True),
        ("tiny table, 40 rows, half of the cells sets", 6, 40, 0.5, True),
        ("tiny table, 15 rows, 30 % unknown", 5, 15, 0.3, False),
        ("wide table, 60 columns, 200 rows, 20 % unknown", 60, 200, 0.2, False),
    ):
        for seed in (1, 2):
            net = pn.random_network(variables, max_parents=2, states=(2, 5), rng=seed)
            full = pn.sample(net, rows, process="precise", rng=seed)
            truth = {v.name: full.column(v.name).first_states[full.column(v.name).codes] for v in full.variables}
            yield f"{name}, seed {seed}", hide_states(full, share, seed, sets=sets), truth
    for name, classes, columns, noise in (
        ("class behind 25 % other candidates, 30 columns", 8, 30, False),
        ("the same, columns that tell nothing", 8, 30, True),
    ):
        for seed in (1, 2):
            yield f"{name}, seed {seed}", *draw_class(classes, columns, seed, noise=noise)


def draw_class(classes: int, columns: int, seed: int, *, noise: bool) -> tuple[pn.Dataset, dict[str, np.ndarray]]:
    """A class behind candidates, and precise columns."""
    rng = np.random.default_rng(seed)
    laws = rng.dirichlet(np.full(3, 1.5), size=(classes, columns))
    truth = rng.integers(0, classes, 500)
    label = pn.Variable("label", tuple(f"c{k}" for k in range(classes)))
    rows = [
        (
            {label.states[s], *(x for x in label.states if rng.random() < 0.25)},
            *(str(rng.choice(3, p=laws[0 if noise else s, k])) for k in range(columns)),
        )
        for s in truth
    ]
    scope = (label, *(pn.Variable(f"f{k}", ("0", "1", "2")) for k in range(columns)))
    return pn.Dataset.from_rows(scope, rows), {"label": truth}


def compare_made() -> str:
    """The section of made tables: the default beside the most frequent candidate, with and without a prior."""
    lines = []
    for name, data, truth in make_tables():
        learned = pn.learn_structure(data)
        shares = [
            read_states(data, truth, net)[0]
            for net in (
                fit_matching(learned, data, "marginal"),
                fit_matching(learned, data, "none"),
                fit_edgeless(data),
            )
        ]
        lines.append([name, f"`{learned.measure}`", *(f"{share:.3f}" for share in shares)])
        say(f"made {lines[-1]}")
    head = " table | measure of the default | default, marginal prior | default, no prior | most frequent candidate "
    return f"## Made tables\n\nAmbiguous and unknown cells that were completed rightly.\n\n{table(head, lines)}\n"


def main() -> None:
    """Make the page of what the folder has."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--only", nargs="*", default=["msrcv2", "dog7", "adult", "made"])
    parser.add_argument("--write", action="store_true")
    chosen = parser.parse_args()
    warnings.simplefilter("ignore", pn.PossnetWarning)
    sections = []
    for name in chosen.only:
        if name == "made":
            sections.append(compare_made())
        elif chosen.folder and name == "adult" and (chosen.folder / "adult_k10.parquet").exists():
            sections.append(compare_adult(chosen.folder))
        elif chosen.folder and (chosen.folder / f"{name}.parquet").exists():
            sections.append(compare_labels(chosen.folder, name))
    text = "\n".join([HEAD, *sections])
    if chosen.write:
        PAGE.write_text(text, encoding="utf-8")
    print(text)


HEAD = """# Real tables

What a newcomer gets: `possnet learn` and `possnet complete` with their defaults, on real tables of candidates and on made ones. This page is
made by `make real DATA=folder` (`benchmarks/real.py`); the real tables are not part of the project. *Completed* is the share of ambiguous
cells that hold the truth whose most possible candidate it is, by a network that was learned from the same rows; *held-out* is the share of
rows of other folds (five; for dog7 of whole pictures) whose label is predicted rightly. A cut holds the states of at least a degree, in
held-out rows. Baselines are those of scikit-learn. Seconds are of CPU.
"""

if __name__ == "__main__":
    main()

"""Learning a model of the class from raw columns, and choosing its structure, bins and smoothing on held-out rows.

With ambiguous labels nobody knows which prediction is right. What can be counted is how often the most probable class of a
held-out row is one of its candidates. The best choice is taken if it is better than the usual one by more than two standard
errors of the rows' differences.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, Protocol

import numpy as np

from possnet.classifier.class_networks import NetworkModel, candidate_column, to_dataset, to_network
from possnet.classifier.feature_columns import NumberColumn, learn_column
from possnet.em import FeatureCells, FeatureRows, fit_class_model, fit_coarsened, grow_class_tree, join_features
from possnet.errors import InputError, listing
from possnet.graph import Dag
from possnet.kernels.log_sums import normalise_logs
from possnet.parameters import fit

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from possnet.aliases import Bools, Floats, Ints
    from possnet.classifier.feature_columns import BinningWay, FeatureColumn
    from possnet.network import Network
    from possnet.variables import Variable

_BINS: Final[dict[str, tuple[int, ...]]] = {"naive": (3, 5, 8, 16), "tan": (3, 5, 8)}
_SMOOTHINGS: Final[dict[str, tuple[float, ...]]] = {
    "naive": (1.0, 10.0),
    "tan": (5.0, 20.0),
}  # trees have more entries
_USUAL_BINS: Final = 8
_ERRORS: Final = 2.0
_FEWEST: Final = 20  # rows from which folds say something
_MOST_ROWS: Final = 4000  # that structures are compared on
_MOST_WORK: Final = 4e9  # rows times entries times classes
_FOLDS: Final = 4
_STEPS: Final = 30  # of EM, for a comparison


@dataclass(frozen=True, slots=True)
class ModelOptions:
    """How a model is learned: structure, bins, smoothing; the learner; and the error of numbers."""

    structure: str | Dag = "naive"
    bins: int = _USUAL_BINS
    way: BinningWay = "quantile"
    smoothing: float = 1.0
    learner: str = "em"
    errors: tuple[float, ...] = ()
    max_steps: int = 100

    def describe(self) -> str:
        """The options in a few words.

        >>> ModelOptions("tan", bins=8).describe()
        'tan, 8 bins by quantile, smoothing 1'
        """
        structure = "given structure" if isinstance(self.structure, Dag) else self.structure
        bins = "bins by mdl" if self.way == "mdl" else f"{self.bins} bins by {self.way}"
        return f"{structure}, {bins}, smoothing {self.smoothing:g}"


class AnyModel(Protocol):
    """What gives logarithms of probabilities of the classes, up to a constant of each row."""

    def joint_logs(self, features: Sequence[FeatureCells]) -> Floats:
        """Logarithms, (rows, classes)."""


@dataclass(frozen=True, slots=True, eq=False)
class LearnedModel:
    """A model and the columns that it was learned from."""

    columns: tuple[FeatureColumn, ...]
    model: AnyModel
    target: Variable

    def log_probabilities(self, columns: Sequence[NDArray[Any]]) -> Floats:
        """Log P(class | cells) of raw rows, (rows, classes)."""
        features = [own.code_cells(column) for own, column in zip(self.columns, columns, strict=True)]
        logs = self.model.joint_logs(features)
        shares = logs.copy()
        return np.asarray(logs - normalise_logs(shares)[:, np.newaxis])

    def network(self) -> Network:
        """The model as a possibilistic network."""
        if isinstance(self.model, NetworkModel):
            return self.model.network
        return to_network(self.model, self.columns, self.target)  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True, eq=False)
class LabelledRows:
    """Raw columns by name, the candidates of every row, and weights."""

    names: tuple[str, ...]
    columns: tuple[NDArray[Any], ...]
    candidates: Bools
    weights: Floats
    target: Variable

    def take_rows(self, rows: Ints) -> LabelledRows:
        """Some of the rows."""
        columns = tuple(column[rows] for column in self.columns)
        return replace(self, columns=columns, candidates=self.candidates[rows], weights=self.weights[rows])

    def learn_columns(self, options: ModelOptions) -> tuple[FeatureColumn, ...]:
        """What every column holds."""
        weights = None if (self.weights == 1.0).all() else self.weights
        errors = options.errors or (0.0,) * len(self.columns)
        shares = self.candidates / self.candidates.sum(axis=1, keepdims=True) if options.way == "mdl" else None
        return tuple(
            learn_column(name, column, way=options.way, bins=options.bins, error=error, shares=shares, weights=weights)
            for name, column, error in zip(self.names, self.columns, errors, strict=True)
        )


def learn_model(rows: LabelledRows, options: ModelOptions) -> LearnedModel:
    """The model of some options, learned from rows."""
    columns = rows.learn_columns(options)
    features = [own.code_cells(column) for own, column in zip(columns, rows.columns, strict=True)]
    if isinstance(options.structure, Dag) or options.structure == "blanket" or options.learner == "likelihood":
        return LearnedModel(columns, _learn_network(rows, columns, features, options), rows.target)
    ((_, model),) = _fit_structures(rows, features, [options])
    return LearnedModel(columns, model, rows.target)


def _fit_structures(
    rows: LabelledRows, features: Sequence[FeatureCells], several: Sequence[ModelOptions]
) -> Iterator[tuple[ModelOptions, AnyModel]]:
    """Naive and tree-augmented models of several options, on the same cells."""
    naive = FeatureRows(features, join_features(features))
    fitted: dict[float, Any] = {}
    tree: FeatureRows | None = None  # the shares of the first options that ask for one serve all: it hardly differs
    for options in several:
        smoothing = options.smoothing
        shared: dict[str, Any] = {"weights": rows.weights, "smoothing": smoothing, "max_steps": options.max_steps}
        if smoothing not in fitted:
            fitted[smoothing] = fit_class_model(naive, rows.candidates, naive.tree, **shared)
        model = fitted[smoothing]
        if options.structure == "tan" and len(features) > 1:
            if tree is None:
                tree = FeatureRows(features, grow_class_tree(features, _share_rows(model.joint_logs(naive), rows)))
            model = fit_class_model(tree, rows.candidates, tree.tree, **shared)
        yield options, model


def _share_rows(logs: Floats, rows: LabelledRows) -> Floats:
    """Probabilities of the candidates of every row, times its weight."""
    shares = np.where(rows.candidates, logs, -np.inf)
    normalise_logs(shares)
    return shares * rows.weights[:, np.newaxis]


def _learn_network(
    rows: LabelledRows, columns: Sequence[FeatureColumn], features: Sequence[FeatureCells], options: ModelOptions
) -> NetworkModel:
    """A network of a given structure, of one that is learned, or with tables by counting."""
    variables = [column.variable() for column in columns]
    target, labels = candidate_column(rows.target, rows.candidates)
    cells = dict(zip(variables, features, strict=True)) | {target: labels}
    whole = bool((rows.weights == 1.0).all())
    data = to_dataset(cells, None if whole else rows.weights)
    dag = _choose_dag(data, rows, features, options, [v.name for v in variables])
    chosen = data.select(dag.nodes)
    if options.learner == "likelihood":
        network = fit(dag, chosen, prior="marginal", pseudo=max(options.smoothing, 1e-9))
    else:
        network = fit_coarsened(dag, chosen, prior="marginal", pseudo=max(options.smoothing, 1e-9))
    return NetworkModel(network, target.name, {f: v for f, v in enumerate(variables) if v.name in dag.nodes})


def _choose_dag(
    data: Any, rows: LabelledRows, features: Sequence[FeatureCells], options: ModelOptions, names: Sequence[str]
) -> Dag:
    target = rows.target.name
    if isinstance(options.structure, Dag):
        odd = [node for node in options.structure.nodes if node not in {*names, target}]
        if odd or target not in options.structure.nodes:
            finding = f"the node {odd[0]!r}" if odd else f"no node {target!r}"
            raise InputError(
                f"PossibilisticClassifier: the structure has {finding}; expected columns of X ({listing(names)}) and the "
                f"class, {target!r}"
            )
        return options.structure
    if options.structure == "blanket":
        from possnet.structure import learn_structure

        return keep_blanket(learn_structure(data).dag, target)
    parents: dict[str, tuple[str, ...]] = {target: (), **dict.fromkeys(names, (target,))}
    if options.structure == "tan" and len(names) > 1:
        ((_, model),) = _fit_structures(rows, features, [replace(options, structure="naive", learner="em")])
        shares = _share_rows(model.joint_logs(features), rows)
        tree = grow_class_tree(features, shares)
        parents |= {names[f]: (target, names[above]) for f, above in tree.items() if above >= 0}
    return Dag(parents)


def keep_blanket(dag: Dag, target: str) -> Dag:
    """The structure over a variable's Markov blanket: its parents, its children, and their other parents.

    >>> blanket = keep_blanket(Dag({"a": (), "y": ("a",), "b": ("y", "c"), "c": (), "d": ("a",)}), "y")
    >>> sorted(blanket.nodes), sorted(blanket.edges)
    (['a', 'b', 'c', 'y'], [('a', 'y'), ('c', 'b'), ('y', 'b')])
    """
    children = dag.children(target)
    blanket = {target, *dag.parents(target), *children, *(p for child in children for p in dag.parents(child))}
    return Dag(
        {
            node: tuple(p for p in dag.parents(node) if p in blanket) if node == target or node in children else ()
            for node in dag.nodes
            if node in blanket
        }
    )


def split_folds(rows: LabelledRows, folds: int, rng: np.random.Generator) -> list[Ints]:
    """Row numbers of random folds; rows of equal features are in one fold.

    Several answers about one thing would otherwise be held out beside their like; and a row of weight 2 is the same as two.
    """
    distinct, numbers = np.unique(_hash_rows(rows), return_inverse=True)
    parts = max(min(folds, len(distinct)), 2)
    fold_of = np.empty(len(distinct), dtype=np.int64)
    fold_of[rng.permutation(len(distinct))] = np.arange(len(distinct)) % parts
    return [np.flatnonzero(fold_of[numbers] == k) for k in range(parts)]


def _hash_rows(rows: LabelledRows) -> NDArray[np.uint64]:
    """A number for every row, the same for rows of equal features."""
    mixed = np.zeros(len(rows.candidates), dtype=np.uint64)
    for column in rows.columns:
        if column.dtype.kind in "iufb":
            own = (column.astype(np.float64) + 0.0).view(np.uint64)
        else:
            texts = [
                repr(sorted(cell, key=str) if isinstance(cell, (set, frozenset)) else cell) for cell in column.tolist()
            ]
            places = {text: number for number, text in enumerate(sorted(set(texts)))}
            own = np.array([places[text] for text in texts], dtype=np.uint64)
        mixed = (mixed ^ (own + (own >> np.uint64(31)))) * np.uint64(0x9E3779B97F4A7C15)
        mixed ^= mixed >> np.uint64(29)
    return mixed


def choose_options(
    rows: LabelledRows, usual: ModelOptions, grid: Sequence[ModelOptions], rng: np.random.Generator
) -> tuple[ModelOptions, dict[str, float]]:
    """The options whose predictions are candidates of held-out rows most often, and the shares of all."""
    if len(grid) < 2 or rows.weights.sum() < _FEWEST:
        return usual, {}
    rows = _sample_rows(rows, rng)
    hits = {options: np.zeros(len(rows.candidates)) for options in grid}
    logs = dict.fromkeys(grid, 0.0)
    for held_out in split_folds(rows, _FOLDS, rng):
        training = rows.take_rows(np.setdiff1d(np.arange(len(rows.candidates)), held_out))
        test = rows.take_rows(held_out)
        for (bins, way), several in _group_bins(grid).items():
            del bins, way
            columns = training.learn_columns(several[0])
            features, new = (
                [own.code_cells(column) for own, column in zip(columns, part.columns, strict=True)]
                for part in (training, test)
            )
            quick = {replace(options, max_steps=_STEPS): options for options in several}
            for quick_options, model in _fit_structures(training, features, list(quick)):
                options = quick[quick_options]
                shares = model.joint_logs(new)
                normalise_logs(shares)
                hits[options][held_out] = test.candidates[np.arange(len(held_out)), shares.argmax(axis=1)]
                logs[options] += float(test.weights @ np.log(np.maximum((shares * test.candidates).sum(axis=1), 1e-12)))
    total = float(rows.weights.sum())
    right = {options: float(rows.weights @ inside) / total for options, inside in hits.items()}
    best = max(grid, key=lambda options: (round(right[options], 9), logs[options]))
    usual = usual if usual in hits else best
    gains = hits[best] - hits[usual]
    error = np.sqrt(float(rows.weights @ (gains - (right[best] - right[usual])) ** 2)) / total
    best = best if right[best] - right[usual] > _ERRORS * error else usual
    return best, {options.describe(): share for options, share in right.items()}


def _group_bins(grid: Sequence[ModelOptions]) -> dict[tuple[int, str], list[ModelOptions]]:
    groups: dict[tuple[int, str], list[ModelOptions]] = {}
    for options in grid:
        groups.setdefault((options.bins, options.way), []).append(options)
    return groups


def _sample_rows(rows: LabelledRows, rng: np.random.Generator) -> LabelledRows:
    n_rows, n_classes = rows.candidates.shape
    width = 5 * max(len(rows.columns), 1)
    most = int(min(_MOST_ROWS, max(_MOST_WORK / (width * n_classes * 100.0), 500)))
    if n_rows <= most:
        return rows
    return rows.take_rows(np.sort(rng.choice(n_rows, most, replace=False)))


def list_grid(
    rows: LabelledRows, usual: ModelOptions, *, structure: bool, bins: bool, smoothing: bool
) -> list[ModelOptions]:
    """The options that are compared: what is left to choose, in all combinations."""
    numeric = any(isinstance(own, NumberColumn) for own in rows.learn_columns(usual))
    grid = []
    for own in ("naive", "tan") if structure and len(rows.columns) > 1 else ("naive",):
        for number in _BINS[own] if bins and numeric else (usual.bins,):
            for rows_more in _SMOOTHINGS[own] if smoothing else (usual.smoothing,):
                grid.append(replace(usual, structure=own, bins=number, smoothing=rows_more))  # noqa: PERF401
    return grid

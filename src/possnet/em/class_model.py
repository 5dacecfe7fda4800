"""A class and its features: naive and tree-augmented Bayesian models, learned by EM from sets of candidate classes.

The class y of a row is hidden among its candidates, and its cells are those of features that depend on the class, and in a
tree on one other feature (Friedman, Geiger and Goldszmidt 1997). Under coarsening at random the likelihood of a row is

    P(row)  =  sum over y in candidates of  P(y) P(cells | y),

and EM shares every row among its candidates in proportion to P(y | cells), counts, and starts again; the first shares are
equal. With one candidate a row, counting is all there is. Unseen combinations get imagined rows: every context has
``smoothing`` rows more, distributed as in the next smaller context (for a tree, as given the class alone; for the class
alone, as in all rows). States that are narrow bins of a number share their rows with their neighbours
(`FeatureCells.blur`), which makes the steps those of EMS (Silverman, Jones, Wilson and Nychka 1990).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from possnet.em.feature_rows import FeatureCells, FeatureRows
from possnet.kernels.log_sums import normalise_logs

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from possnet.aliases import Bools, Codes, Floats, Ints, Progress

_STEPS: Final = 100
_TOLERANCE: Final = 1e-3  # nats a row that a step must gain
_SMALLEST: Final = 1e-300


@dataclass(frozen=True, slots=True, eq=False)
class ClassModel:
    """Probabilities of the classes, and of every feature given the class and its parent.

    ``tables`` maps a feature to an array (classes, states of its parent or 1, states); ``tree`` maps it to its parent,
    or -1.

    >>> features = [FeatureCells.from_states(np.array([0, 0, 1, 1]), 2)]
    >>> candidates = np.array([[True, False], [True, True], [False, True], [True, True]])
    >>> model = fit_class_model(features, candidates, {0: -1}, smoothing=0.0, tolerance=0.0)
    >>> model.probabilities(features).round(1).tolist()
    [[0.9, 0.1], [0.9, 0.1], [0.1, 0.9], [0.1, 0.9]]
    """

    prior: Floats
    tables: Mapping[int, Floats]
    tree: Mapping[int, int]
    steps: int = 0
    log_likelihood: float = 0.0

    def joint_logs(self, features: Sequence[FeatureCells] | FeatureRows) -> Floats:
        """Log P(class) + log P(cells | class), (rows, classes)."""
        rows = features if isinstance(features, FeatureRows) else FeatureRows(features, self.tree)
        with np.errstate(divide="ignore"):
            prior = np.log(self.prior)
        return np.asarray(prior + rows.log_likelihoods(self.tables)) if self.tree else np.tile(prior, (rows.n_rows, 1))

    def probabilities(self, features: Sequence[FeatureCells] | FeatureRows) -> Floats:
        """P(class | cells), (rows, classes)."""
        logs = self.joint_logs(features)
        normalise_logs(logs)
        return logs


def fit_class_model(
    features: Sequence[FeatureCells] | FeatureRows,
    candidates: Bools,
    tree: Mapping[int, int],
    *,
    weights: Floats | None = None,
    smoothing: float = 1.0,
    tolerance: float = _TOLERANCE,
    max_steps: int = _STEPS,
    shares: Floats | None = None,
    progress: Progress | None = None,
) -> ClassModel:
    """Learn the tables of a structure around a class whose state is one of some candidates in every row.

    Parameters
    ----------
    features, candidates
        The cells of every feature, and the candidates of every row, (rows, classes); at least one each.
    tree
        Feature -> its parent beside the class, or -1; features that it lacks are left out.
    weights
        Of the rows.
    smoothing
        Imagined rows in every context.
    tolerance, max_steps
        EM stops when a step gains fewer nats a row, or after so many.
    shares
        Where EM starts: the shares of the candidates in every row; equal ones by default.
    """
    rows = features if isinstance(features, FeatureRows) else FeatureRows(features, tree)
    fitting = _Fitting(rows, candidates, np.ones(len(candidates)) if weights is None else weights, smoothing)
    return fitting.run(tolerance, max_steps, shares, progress)


class _Fitting:
    """Rows whose class is known are counted once; the others are shared at every step."""

    def __init__(self, rows: FeatureRows, candidates: Bools, weights: Floats, smoothing: float) -> None:
        self._smoothing, self._n_classes = smoothing, candidates.shape[1]
        single = candidates.sum(axis=1) == 1
        known, self.hidden = np.flatnonzero(single), np.flatnonzero(~single)
        self._known = rows if not len(self.hidden) else rows.take_rows(known)
        self._labels: Codes = candidates[known].argmax(axis=1)
        self._known_weights = weights[known]
        self._rows = rows if not len(known) else rows.take_rows(self.hidden)
        self._candidates, self._weights = candidates[self.hidden], weights[self.hidden]
        self._tree = rows.tree
        self._total = float(weights.sum())
        self._counted: dict[int, Floats] | None = None
        self._marginals = self._fit_marginals(rows, weights)
        self._flat = FlatTables(rows, self._marginals) if rows.tree and rows.is_flat and len(self.hidden) else None
        self._flat_counts: Floats | None = None

    def _fit_marginals(self, rows: FeatureRows, weights: Floats) -> dict[int, Floats]:
        """The law of every feature in all rows, by its cells alone, with one imagined row of equal shares."""
        laws = {}
        for f in rows.tree:
            cells = rows.features[f]
            counts = np.bincount(cells.codes, weights, minlength=len(cells.sets))
            size = cells.n_states
            known, several = counts[:size], [c for c in range(size, len(cells.sets)) if not cells.sets[c].all()]
            law = (known + 1.0 / size) / (known.sum() + 1.0)
            for _ in range(20 if several else 0):
                total = known + 1.0 / size
                for code in several:
                    inside = law * cells.sets[code]
                    total = total + counts[code] * inside / inside.sum()
                law = total / total.sum()
            laws[f] = law
        return laws

    def run(self, tolerance: float, max_steps: int, shares: Floats | None, progress: Progress | None) -> ClassModel:
        """EM from equal shares, or from given ones."""
        if not len(self.hidden):
            prior, tables = self._estimate(np.zeros((0, self._n_classes)), None)
            return ClassModel(prior, self._unfold(tables), self._tree)
        equal = self._candidates / self._candidates.sum(axis=1, keepdims=True)
        own = equal if shares is None else shares[self.hidden]
        prior, tables = self._estimate(own * self._weights[:, np.newaxis], None)
        value, last, steps = -np.inf, -np.inf, 0
        for steps in range(1, max_steps + 1):
            logs = self._rows.log_likelihoods(tables) if self._flat is None else self._flat.weigh(self._rows, tables)
            logs += np.log(np.maximum(prior, _SMALLEST))
            logs[~self._candidates] = -np.inf
            value = float(self._weights @ normalise_logs(logs))
            logs *= self._weights[:, np.newaxis]
            prior, tables = self._estimate(logs, tables)
            if progress is not None:
                progress(steps, max_steps)
            if value - last < tolerance * self._total:
                break
            last = value
        return ClassModel(prior, self._unfold(tables), self._tree, steps, value)

    def _estimate(self, shares: Floats, tables: Any) -> tuple[Floats, Any]:
        """The M-step: probabilities from counts of known rows, expected counts of the others, and imagined rows."""
        of_class = np.bincount(self._labels, self._known_weights, minlength=self._n_classes) + shares.sum(axis=0)
        prior = of_class + self._smoothing / self._n_classes
        total = prior.sum()
        prior = prior / total if total > 0.0 else np.full(len(prior), 1.0 / len(prior))
        counts = self._count_known(tables)
        if self._flat is not None:
            flat = self._flat.join_tables(counts) if self._flat_counts is None else self._flat_counts
            self._flat_counts = flat
            return prior, self._flat.smooth_counts(flat + self._rows.flat_counts(shares), self._smoothing)
        if len(shares):
            hidden = self._rows.expected_counts(shares, tables)
            counts = {f: known + hidden[f] for f, known in counts.items()}
        features = self._known.features
        return prior, {
            f: smooth_table(blur_counts(own, features[f].blur), self._marginals[f], self._smoothing)
            for f, own in counts.items()
        }

    def _unfold(self, tables: Any) -> dict[int, Floats]:
        """Tables by feature."""
        by_feature: dict[int, Floats] = tables if self._flat is None else self._flat.split_tables(tables)
        return by_feature

    def _count_known(self, tables: Mapping[int, Floats] | None) -> dict[int, Floats]:
        if self._counted is not None:
            return self._counted
        if self._known.is_precise:
            self._counted = self._known.count_labels(self._labels, self._n_classes, self._known_weights)
            return self._counted
        shares = np.zeros((len(self._labels), self._n_classes))
        shares[np.arange(len(shares)), self._labels] = self._known_weights
        return self._known.expected_counts(shares, tables)


class FlatTables:
    """The tables of all families side by side, (classes, entries), so that a step of EM is a few calls.

    Entries of a family are in the order of its contexts, then of its states.
    """

    def __init__(self, rows: FeatureRows, marginals: Mapping[int, Floats]) -> None:
        self._shapes = {
            f: (rows.features[above].n_states if above >= 0 else 1, rows.features[f].n_states)
            for f, above in rows.tree.items()
        }
        shapes = list(self._shapes.values())
        self._sizes = np.repeat([size for _, size in shapes], [contexts for contexts, _ in shapes])
        self._starts: Ints = np.cumsum(self._sizes) - self._sizes
        self._state_sizes = np.array([size for _, size in shapes], dtype=np.int64)
        self._state_starts: Ints = np.cumsum(self._state_sizes) - self._state_sizes
        parts = [
            start + np.tile(np.arange(size), contexts)
            for start, (contexts, size) in zip(self._state_starts, shapes, strict=True)
        ]
        self._state_of = np.concatenate(parts)  # the place of an entry in the table of its smaller context
        self._order = np.argsort(self._state_of, kind="stable")
        places = np.arange(int(self._state_sizes.sum()))
        self._order_starts = np.searchsorted(self._state_of[self._order], places)
        self._is_tree = np.repeat([contexts > 1 for contexts, _ in shapes], [c * size for c, size in shapes])
        self._marginal = np.concatenate([marginals[f] for f in self._shapes])
        blurs = np.repeat([rows.features[f].blur for f in self._shapes], [c * size for c, size in shapes])
        self._blur = blurs if blurs.any() else None
        places = np.arange(len(self._state_of))
        first = np.repeat(self._starts, self._sizes)
        self._left = np.maximum(places - 1, first)
        self._right = np.minimum(places + 1, first + np.repeat(self._sizes, self._sizes) - 1)

    def join_tables(self, tables: Mapping[int, Floats]) -> Floats:
        """Tables by feature, side by side."""
        return np.concatenate([tables[f].reshape(len(tables[f]), -1) for f in self._shapes], axis=1)

    def split_tables(self, flat: Floats) -> dict[int, Floats]:
        """Tables by feature, (classes, contexts, states)."""
        ends = np.cumsum([contexts * size for contexts, size in self._shapes.values()])[:-1]
        parts = zip(self._shapes.items(), np.split(flat, ends, axis=1), strict=True)
        return {f: part.reshape(len(flat), *shape) for (f, shape), part in parts}

    def weigh(self, rows: FeatureRows, flat: Floats) -> Floats:
        """Logarithms of P(cells | class), (rows, classes)."""
        return rows.flat_likelihoods(np.log(np.maximum(flat, _SMALLEST)))

    def smooth_counts(self, counts: Floats, smoothing: float) -> Floats:
        """As `smooth_table`, for all families at once."""
        in_trees = self._is_tree.any()
        if self._blur is not None:
            beside = counts[:, self._left] + counts[:, self._right]
            counts = counts * (1.0 - self._blur) + beside * (0.5 * self._blur)
        above = np.add.reduceat(counts[:, self._order], self._order_starts, axis=1) if in_trees else counts
        marginal = np.broadcast_to(self._marginal, above.shape)
        given_class = _share_segments(above + smoothing * marginal, self._state_starts, self._state_sizes, marginal)
        if not in_trees:
            return given_class
        smaller = given_class[:, self._state_of]
        smoothed = _share_segments(counts + smoothing * smaller, self._starts, self._sizes, smaller)
        return np.where(self._is_tree, smoothed, smaller)


def _share_segments(counts: Floats, starts: Ints, sizes: Ints, otherwise: Floats) -> Floats:
    """Every segment of the rows divided by its sum; what it is otherwise where that is 0."""
    totals = np.repeat(np.add.reduceat(counts, starts, axis=1), sizes, axis=1)
    shared: Floats = np.divide(counts, totals, out=otherwise.copy(), where=totals > 0.0)
    return shared


def blur_counts(counts: Floats, blur: float) -> Floats:
    """Counts of ordered states (last axis), of which a share goes to the two neighbours; at an end, half of it stays.

    >>> blur_counts(np.array([[4.0, 0.0, 0.0]]), 0.5).tolist()
    [[3.0, 1.0, 0.0]]
    """
    if not blur:
        return counts
    left = np.concatenate([counts[..., :1], counts[..., :-1]], axis=-1)
    right = np.concatenate([counts[..., 1:], counts[..., -1:]], axis=-1)
    return np.asarray(counts * (1.0 - blur) + (left + right) * (0.5 * blur))


def smooth_table(counts: Floats, marginal: Floats, smoothing: float) -> Floats:
    """Probabilities (classes, parent's states or 1, states) with imagined rows distributed as in the smaller context.

    >>> smooth_table(np.array([[[3.0, 0.0]], [[0.0, 0.0]]]), np.array([0.5, 0.5]), 1.0).round(3).tolist()
    [[[0.875, 0.125]], [[0.5, 0.5]]]
    """
    above = counts.sum(axis=1, keepdims=True)
    given_class = _share_rows(above + smoothing * marginal, marginal)
    if counts.shape[1] == 1:
        return given_class
    return _share_rows(counts + smoothing * given_class, given_class)


def _share_rows(counts: Floats, otherwise: Floats) -> Floats:
    total = counts.sum(axis=-1, keepdims=True)
    shared: Floats = np.divide(counts, total, out=np.broadcast_to(otherwise, counts.shape).copy(), where=total > 0.0)
    return shared


def join_features(features: Sequence[FeatureCells], chosen: Sequence[int] | None = None) -> dict[int, int]:
    """The naive structure: the class alone above every feature, or above some.

    >>> join_features([FeatureCells.from_states(np.array([0, 1]), 2)] * 2)
    {0: -1, 1: -1}
    """
    return dict.fromkeys(range(len(features)) if chosen is None else chosen, -1)

"""A scikit-learn classifier that learns from ambiguous labels, and gives valid degrees of possibility.

The model is a Bayesian one of the class and its features (`possnet.em.ClassModel`), naive or tree-augmented, learned by EM
under coarsening at random; `network_` is the same as a possibilistic network. The log-probabilities of its classes are the
scores that conformal calibration turns into degrees (`possnet.calibration`): a class of degree a or less is the truth in at
most a of the rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from possnet.calibration import (
    AMBIGUOUS,
    Calibration,
    compute_p_values,
    cut_sets,
    raise_tops,
    rank_candidates,
)
from possnet.classifier.candidate_labels import read_labels
from possnet.classifier.feature_columns import BINNING_WAYS, split_columns
from possnet.classifier.model_choice import (
    LabelledRows,
    ModelOptions,
    choose_options,
    learn_model,
    list_grid,
    split_folds,
)
from possnet.doors import check_arguments
from possnet.errors import InputError, listing, require_known, require_number, require_whole, warn_user
from possnet.graph import Dag
from possnet.transforms import to_possibility, to_probability
from possnet.variables import Variable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from possnet.aliases import Bools, Floats
    from possnet.calibration import ScoreRanks
    from possnet.classifier.model_choice import LearnedModel
    from possnet.explanation import AnswerExplanation

_OWNER: Final = "PossibilisticClassifier"
_STRUCTURES: Final = ("auto", "naive", "tan", "blanket")
_TIE: Final = 1e-9  # share of the probability in the decision function, which breaks ties of degrees


class PossibilisticClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Classifier for ambiguous labels, missing and set-valued features; its degrees of possibility are calibrated.

    Parameters
    ----------
    classes : sequence, default=None
        The classes, in the order of the columns of a multi-hot ``y``; by default those that occur, sorted.
    structure : {"auto", "naive", "tan", "blanket"} or Dag, default="auto"
        ``naive``: the class as the only parent of every feature. ``tan``: one feature more as a parent, by the heaviest
        tree of mutual information given the hidden class. ``auto``: the one of these two, with bins and smoothing,
        whose predictions are candidates of held-out rows most often. ``blanket``: a learned structure, cut down to the
        Markov blanket of the class. Or any `possnet.Dag` over columns of X and ``target``.
    learner : {"em", "likelihood"}, default="em"
        EM under coarsening at random, or counting (Proposition 1), where every candidate counts in full.
    bins : int or "auto", default="auto"
        Bins of a column of numbers, 8 if ``structure`` is not chosen.
    binning : {"quantile", "width", "mdl"}, default="quantile"
        How edges are found; ``mdl`` tells the classes apart, and finds how many bins pay.
    error : float or sequence of float, default=None
        Known error of the numbers, one or one for each column: a number near an edge belongs to the bins on both sides.
    smoothing : float or "auto", default="auto"
        Imagined rows in every context, 1 if ``structure`` is not chosen.
    calibration : {"cross", "split", None}, default="cross"
        ``split``: a share of the rows is kept for calibration, and not learned from; degrees are then valid under
        exchangeability. ``cross``: every row is scored by a model of the other folds; nothing is lost, and degrees are
        valid approximately. None: no calibration; degrees come from the model's probabilities by the optimal
        transformation.
    folds : int, default=5
        Folds of ``cross``; for ``split`` one part of so many is kept.
    ambiguous : {"expected", "worst", "best"}, default="expected"
        What counts in calibration rows with several candidates; see `possnet.calibrate`.
    per_class : bool, default=False
        Calibrate every class by itself (Mondrian).
    alpha : float, default=0.1
        Level of `predict_set`.
    probability : {"em", "pignistic"}, default="em"
        What `predict_proba` returns: the probabilities of the model, or the pignistic ones of the degrees.
    target : str, default="class"
        The name of the class in ``network_`` and in a given ``structure``.
    random_state : int, RandomState instance or None, default=0
        Draws folds.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes.
    network_ : possnet.Network
        The model as a possibilistic network.
    structure_ : possnet.Dag
        Its structure.
    calibration_ : possnet.Calibration or None
        The scores of the calibration rows.
    choice_ : str
        The structure, bins and smoothing that were used, in words.
    held_out_ : dict
        If they were chosen: how often predictions were candidates of held-out rows, for each choice.
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, if X had some.

    Examples
    --------
    >>> from possnet.classifier import PossibilisticClassifier
    >>> X = [[1.0, "red"], [1.2, "red"], [3.0, "blue"], [3.1, None], [1.1, "red"], [2.9, "blue"]] * 5
    >>> y = [{"apple"}, {"apple", "plum"}, {"plum"}, {"plum"}, {"apple", "plum"}, {"plum"}] * 5
    >>> model = PossibilisticClassifier().fit(X, y)
    >>> model.predict([[1.0, "red"], [3.0, "green"]]).tolist()
    ['apple', 'plum']
    >>> model.predict_set([[1.0, "red"]], alpha=0.1).tolist(), model.classes_.tolist()
    ([[True, False]], ['apple', 'plum'])
    """

    def __init__(
        self,
        classes: Sequence[Any] | None = None,
        *,
        structure: str | Dag = "auto",
        learner: str = "em",
        bins: int | str = "auto",
        binning: str = "quantile",
        error: float | Sequence[float] | None = None,
        smoothing: float | str = "auto",
        calibration: str | None = "cross",
        folds: int = 5,
        ambiguous: str = "expected",
        per_class: bool = False,
        alpha: float = 0.1,
        probability: str = "em",
        target: str = "class",
        random_state: Any = 0,
    ) -> None:
        self.classes = classes
        self.structure = structure
        self.learner = learner
        self.bins = bins
        self.binning = binning
        self.error = error
        self.smoothing = smoothing
        self.calibration = calibration
        self.folds = folds
        self.ambiguous = ambiguous
        self.per_class = per_class
        self.alpha = alpha
        self.probability = probability
        self.target = target
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> PossibilisticClassifier:
        """Learn from rows and their labels.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            Numbers, states, sets of states; None and NaN are missing.
        y : array-like of shape (n_samples,) or (n_samples, n_classes)
            Labels; or sets of candidates; or a boolean matrix of candidates, whose columns follow ``classes``.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.

        Returns
        -------
        self : PossibilisticClassifier
            Fitted estimator.
        """
        self._check_options()
        columns = self._read_columns(X, reset=True)
        self.classes_, candidates = read_labels(y, self.classes)
        if len(candidates) != len(columns[0]):
            raise InputError(f"{_OWNER}: X has {len(columns[0])} rows and y {len(candidates)}; expected as many")
        weights = _check_sample_weight(sample_weight, np.zeros((len(candidates), 1)), dtype=np.float64)
        if not (weights > 0.0).any() or (weights < 0.0).any():
            raise InputError(
                f"{_OWNER}: sample_weight has no positive number, or a negative one; expected weights from 0 on"
            )
        used = np.flatnonzero(weights > 0.0)
        target = Variable(self.target, tuple(_name_states(self.classes_)))
        rows = LabelledRows(self._column_names(), tuple(columns), candidates, weights, target)
        rows = rows if len(used) == len(weights) else rows.take_rows(used)
        state = check_random_state(self.random_state)
        rng = np.random.default_rng(state.randint(np.iinfo(np.int32).max))
        self._fit_rows(rows, rng)
        return self

    def _fit_rows(self, rows: LabelledRows, rng: np.random.Generator) -> None:
        parts = split_folds(rows, self.folds, rng) if self.calibration is not None else []
        kept = parts[0] if self.calibration == "split" and len(rows.candidates) > 1 else np.zeros(0, dtype=np.int64)
        training = rows.take_rows(np.setdiff1d(np.arange(len(rows.candidates)), kept)) if len(kept) else rows
        options = self._usual_options(len(rows.columns))
        self.held_out_: dict[str, float] = {}
        if self.structure == "auto":
            auto = {
                "structure": True,
                "bins": self.bins == "auto" and options.way != "mdl",
                "smoothing": self.smoothing == "auto",
            }
            options, self.held_out_ = choose_options(training, options, list_grid(training, options, **auto), rng)
        self.choice_ = options.describe()
        self._model: LearnedModel = learn_model(training, options)
        ranks: tuple[ScoreRanks, ...] = ()
        if self.calibration == "split":
            ranks = (self._rank_rows(self._model, rows.take_rows(kept)),)
        elif self.calibration == "cross" and len(rows.candidates) > 1:
            ranks = (self._rank_folds(rows, parts, options),)
        seen = "kept for calibration" if self.calibration == "split" else f"left out, fold by fold ({len(parts)} folds)"
        self.calibration_: Calibration | None = self._make_calibration(rows.target, ranks, seen) if ranks else None

    def _make_calibration(self, target: Variable, ranks: tuple[ScoreRanks, ...], seen: str) -> Calibration:
        ambiguous: Any = self.ambiguous
        return Calibration(target, ranks, by="probability", ambiguous=ambiguous, seen=seen, alpha=self.alpha)

    def _rank_folds(self, rows: LabelledRows, parts: Sequence[NDArray[Any]], options: ModelOptions) -> ScoreRanks:
        """Scores of every row by the model of the other folds."""
        scores = np.zeros(rows.candidates.shape)
        for held_out in parts:
            model = learn_model(rows.take_rows(np.setdiff1d(np.arange(len(scores)), held_out)), options)
            scores[held_out] = model.log_probabilities([column[held_out] for column in rows.columns])
        return self._rank_scores(scores, rows)

    def _rank_rows(self, model: LearnedModel, rows: LabelledRows) -> ScoreRanks:
        return self._rank_scores(model.log_probabilities(rows.columns), rows)

    def _rank_scores(self, scores: Floats, rows: LabelledRows) -> ScoreRanks:
        return rank_candidates(
            scores,
            rows.candidates,
            shares=np.exp(scores),
            weights=rows.weights,
            ambiguous=self.ambiguous,  # type: ignore[arg-type]
            per_class=self.per_class,
        )

    def calibrate(self, X: Any, y: Any, sample_weight: Any = None) -> PossibilisticClassifier:
        """Calibrate anew on rows that `fit` has not seen, such as a few whose labels were checked; the model stays.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,) or (n_samples, n_classes)
            Their labels or candidates, as in `fit`.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.

        Returns
        -------
        self : PossibilisticClassifier
            The estimator with another ``calibration_``.
        """
        check_is_fitted(self, "classes_")
        columns = self._read_columns(X, reset=False)
        _, candidates = read_labels(y, self.classes_.tolist())
        weights = _check_sample_weight(sample_weight, np.zeros((len(candidates), 1)), dtype=np.float64)
        target = self._model.target
        rows = LabelledRows(self._column_names(), tuple(columns), candidates, weights, target)
        ranks = (self._rank_rows(self._model, rows),)
        self.calibration_ = self._make_calibration(target, ranks, "kept for calibration")
        return self

    @property
    def network_(self) -> Any:
        """The model as a possibilistic network."""
        check_is_fitted(self, "classes_")
        return self._model.network()

    @property
    def structure_(self) -> Dag:
        """The structure of the model."""
        return self.network_.dag  # type: ignore[no-any-return]

    def predict(self, X: Any) -> NDArray[Any]:
        """The most possible class of every row; of several, the most probable.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            Classes.
        """
        possibility, probability = self._weigh(X)
        decided = possibility + _TIE * probability
        best = decided.argmax(axis=1)
        open_rows = (decided == decided[np.arange(len(best)), best][:, np.newaxis]).sum(axis=1) > 1
        if open_rows.any():
            warn_user(
                f"{_OWNER}: in {int(open_rows.sum())} of {len(best)} rows several classes are equally possible and equally "
                "probable; the first of them is predicted. predict_set shows them all"
            )
        return np.asarray(self.classes_[best])

    def predict_possibility(self, X: Any) -> Floats:
        """Degrees of the classes, (n_samples, n_classes), the largest of every row 1.

        If they are calibrated, the true class has a degree of a or less in at most a of the rows.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        degrees : ndarray of shape (n_samples, n_classes)
            Degrees, columns as ``classes_``.
        """
        return self._weigh(X)[0]

    def predict_necessity(self, X: Any) -> Floats:
        """How certain every class is: 1 - the largest degree of another class, (n_samples, n_classes).

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        necessity : ndarray of shape (n_samples, n_classes)
            Necessities, columns as ``classes_``.
        """
        degrees = self._weigh(X)[0]
        order = np.sort(degrees, axis=1)
        others = np.where(degrees == order[:, -1:], order[:, -2:-1], order[:, -1:])
        return np.asarray(1.0 - others)

    def predict_p_values(self, X: Any, rng: int | None = None) -> Floats:
        """The conformal p-values behind the degrees; where the largest is small, the row fits no class well.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            Rows.
        rng : int, default=None
            A seed, to draw ties apart: the p-value of the truth is then uniform, and cuts hold it in exactly 1 - alpha.

        Returns
        -------
        p_values : ndarray of shape (n_samples, n_classes)
            The p-values, columns as ``classes_``.
        """
        logs = self._log_probabilities(X)
        if self.calibration_ is None:
            raise InputError(
                f"{_OWNER}: it is not calibrated, and has no p-values; expected calibration='cross' or 'split'"
            )
        generator = None if rng is None else np.random.default_rng(rng)
        return compute_p_values(self.calibration_.ranks, [logs], generator)

    def predict_set(self, X: Any, alpha: float | None = None) -> Bools:
        """The classes of a degree above alpha; if calibrated, they hold the truth in 1 - alpha of the rows or more.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            Rows.
        alpha : float, default=None
            Level between 0 and 1; that of the constructor by default.

        Returns
        -------
        sets : ndarray of bool, shape (n_samples, n_classes)
            Which classes are in the set of every row; columns as ``classes_``.
        """
        level = check_level(self.alpha if alpha is None else alpha)
        return cut_sets(self._weigh(X)[0], level)

    def predict_proba(self, X: Any) -> Floats:
        """Probabilities of the classes: the model's, or with ``probability="pignistic"`` those of the degrees.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            Probabilities, columns as ``classes_``.
        """
        possibility, probability = self._weigh(X)
        return to_probability(possibility) if self.probability == "pignistic" else probability

    def decision_function(self, X: Any) -> Floats:
        """Degrees of the classes, ties broken by a billionth of their probability; see `decision_to_sets`.

        With two classes it is one number a row, the degree of the second minus that of the first: the larger of them is
        1, so that both can be read from it.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        decision : ndarray of shape (n_samples, n_classes) or (n_samples,)
            Degrees.
        """
        possibility, probability = self._weigh(X)
        decided = possibility + _TIE * probability
        return np.asarray(decided[:, 1] - decided[:, 0]) if len(self.classes_) == 2 else decided

    def explain(self, row: Any, label: Any = None) -> AnswerExplanation:
        """Why a class is as possible as it is in a row, by the degrees of ``network_``; see `possnet.explain`.

        These are the degrees of the network itself, before calibration.

        Parameters
        ----------
        row : array-like of shape (n_features,)
            One row of X.
        label : object, default=None
            The class; by default the one that is most possible in the network.

        Returns
        -------
        explanation : AnswerExplanation
            Stories, what each finding does, and the smallest change; prints itself.
        """
        from possnet.explanation import explain

        check_is_fitted(self, "classes_")
        columns = self._read_columns(_as_one_row(row), reset=False)
        network = self.network_
        evidence = {}
        for own, column in zip(self._model.columns, columns, strict=True):
            cells = own.code_cells(column)
            inside = cells.sets[cells.codes[0]]
            if own.name in network.dag.nodes and not inside.all():
                states = network.variable(own.name).states
                evidence[own.name] = {states[k] for k in np.flatnonzero(inside)}
        return explain(network, self.target, evidence, None if label is None else str(label))

    def _weigh(self, X: Any) -> tuple[Floats, Floats]:
        """Degrees and probabilities of the classes, (rows, classes)."""
        logs = self._log_probabilities(X)
        probability = np.exp(logs)
        if self.calibration_ is None:
            return to_possibility(probability, method="optimal"), probability
        return raise_tops(compute_p_values(self.calibration_.ranks, [logs])), probability

    def _log_probabilities(self, X: Any) -> Floats:
        check_is_fitted(self, "classes_")
        return self._model.log_probabilities(self._read_columns(X, reset=False))

    def _read_columns(self, X: Any, *, reset: bool) -> list[NDArray[Any]]:
        """The columns of X, checked against those of `fit`."""
        if hasattr(X, "columns") or hasattr(X, "__dataframe__"):
            validate_data(self, X, reset=reset, skip_check_array=True)
            if X.shape[0] < 1 or X.shape[1] < 1:
                raise InputError(
                    f"{_OWNER}: X of shape {tuple(X.shape)}, 0 sample(s) or 0 feature(s) while a minimum of 1 is required"
                )
            return split_columns(X)
        checked = validate_data(self, _keep_objects(X), reset=reset, dtype=None, ensure_all_finite=False)
        return split_columns(checked)

    def _column_names(self) -> tuple[str, ...]:
        names = getattr(self, "feature_names_in_", None)
        listed = [f"x{k}" for k in range(self.n_features_in_)] if names is None else [str(name) for name in names]
        if self.target in listed:
            raise InputError(
                f"{_OWNER}: a column of X is called {self.target!r}, as the class; expected another target="
            )
        return tuple(listed)

    def _usual_options(self, n_columns: int) -> ModelOptions:
        errors: tuple[float, ...] = ()
        if self.error is not None:
            given = [self.error] * n_columns if np.isscalar(self.error) else list(self.error)  # type: ignore[arg-type]
            if len(given) != n_columns:
                raise InputError(
                    f"{_OWNER}: {len(given)} errors for {n_columns} columns; expected one, or one for each"
                )
            errors = tuple(require_number(e, f"{_OWNER}: error", "a number from 0 on", 0.0) for e in given)
        usual = ModelOptions()
        return ModelOptions(
            "naive" if self.structure == "auto" else self.structure,
            usual.bins if self.bins == "auto" else require_whole(self.bins, 2, f"{_OWNER}: bins"),
            self.binning,  # type: ignore[arg-type]
            usual.smoothing if self.smoothing == "auto" else float(self.smoothing),
            self.learner,
            errors,
        )

    def _check_options(self) -> None:
        if not isinstance(self.structure, Dag):
            require_known(self.structure, _STRUCTURES, f"{_OWNER}: structure")
        require_known(self.learner, ("em", "likelihood"), f"{_OWNER}: learner")
        require_known(self.binning, BINNING_WAYS, f"{_OWNER}: binning")
        require_known(self.ambiguous, AMBIGUOUS, f"{_OWNER}: ambiguous")
        require_known(self.probability, ("em", "pignistic"), f"{_OWNER}: probability")
        if self.calibration is not None:
            require_known(self.calibration, ("cross", "split"), f"{_OWNER}: calibration")
        require_whole(self.folds, 2, f"{_OWNER}: folds")
        check_level(self.alpha)
        if self.smoothing != "auto":
            require_number(self.smoothing, f"{_OWNER}: smoothing", "a number from 0 on, or 'auto'", 0.0)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags

    def _repr_html_inner(self) -> str:
        """The diagram of scikit-learn, and once fitted the network."""
        diagram = super()._repr_html_inner()
        if not hasattr(self, "classes_") or self.n_features_in_ > 30:
            return str(diagram)
        return f"{diagram}{self.network_._repr_html_()}"


def check_level(alpha: object) -> float:
    """A level between 0 and 1.

    >>> check_level(2)
    Traceback (most recent call last):
        ...
    possnet.errors.InputError: PossibilisticClassifier: alpha 2; expected a number between 0 and 1, such as 0.1
    """
    low, high = float(np.nextafter(0.0, 1.0)), float(np.nextafter(1.0, 0.0))
    return require_number(alpha, f"{_OWNER}: alpha", "a number between 0 and 1, such as 0.1", low, high)


@check_arguments
def decision_to_sets(decision: Floats, alpha: float = 0.1) -> Bools:
    """The sets of `PossibilisticClassifier.predict_set` from its decision function, wherever that came through.

    Pipelines, searches and `cross_val_predict` of scikit-learn hand on a decision function, and no other method.

    >>> decision_to_sets(np.array([[1.0, 0.3, 0.05]]), 0.1).tolist(), decision_to_sets(np.array([-0.95]), 0.1).tolist()
    ([[True, True, False]], [[True, False]])
    """
    level = check_level(alpha)
    degrees = np.stack([1.0 - decision, 1.0 + decision], axis=1) if decision.ndim == 1 else decision
    return np.asarray(np.minimum(degrees, 1.0) > level + 2.0 * _TIE)


def _as_one_row(row: Any) -> NDArray[Any]:
    """One row as a matrix of objects."""
    listed = list(row)
    matrix = np.empty((1, len(listed)), dtype=object)
    matrix[0, :] = listed
    return matrix


def _name_states(classes: NDArray[Any]) -> list[str]:
    names = [str(label) for label in classes.tolist()]
    if len(set(names)) < len(names):
        raise InputError(f"{_OWNER}: classes {listing(names)} read the same; expected classes that differ as texts")
    return names


def _keep_objects(X: Any) -> Any:
    """Lists of mixed values as an array of objects, so that numbers beside texts stay numbers."""
    if isinstance(X, (list, tuple)) and X and isinstance(X[0], (list, tuple)) and len({len(row) for row in X}) == 1:
        kinds = {type(value) for row in X for value in row}
        if not kinds <= {int, float, bool, np.float64, np.int64}:
            array = np.empty((len(X), len(X[0])), dtype=object)
            for number, row in enumerate(X):
                for k, value in enumerate(row):
                    array[number, k] = value
            return array
    return X

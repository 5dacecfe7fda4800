"""A calibration: what turns raw degrees of one variable into valid ones."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from possnet.calibration.score_ranks import ScoreRanks, compute_p_values, cut_sets, raise_tops
from possnet.completion import Completion, complete
from possnet.doors import check_arguments, require_floats
from possnet.errors import InputError, count_noun, require_number, warn_user
from possnet.inference import LOWEST_SCORE, score_rows
from possnet.seeds import seed_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from possnet.aliases import Bools, Floats
    from possnet.calibration.candidate_scores import Ambiguous
    from possnet.dataset import Dataset
    from possnet.inference import ScoredBy
    from possnet.network import Network
    from possnet.variables import Variable


@dataclass(frozen=True, slots=True, eq=False)
class Calibration:
    """Scores of calibration rows, which turn raw degrees of a variable into valid ones. Made by `possnet.calibrate`.

    ``target`` is the variable; ``ranks`` are the scores of the calibration rows, and ``scorers`` the networks that gave
    them: one, or one for each fold. ``network`` completes the other variables. ``by`` says whether degrees or
    probabilities are ranked, ``ambiguous`` what became of rows with several candidates, and ``seen`` which rows were
    used. ``alpha`` is the level that `sets` uses by default.

    >>> import possnet as pn
    >>> clinic = pn.load_example("clinic")
    >>> rows = pn.sample(clinic, 400, process="precise", rng=1)
    >>> calibration = pn.calibrate(clinic, rows, target="flu")
    >>> calibration
    Calibration(flu: 400 rows that the network was not learned from, scores by possibility)
    >>> four = Calibration(clinic.variable("flu"), (ScoreRanks.from_scores(np.log([0.9, 0.6, 0.6, 0.2])),))
    >>> four.degrees([[0.7, 0.3], [0.5, 0.1]])
    array([[1. , 0.4], [1. , 0.2]])
    """

    target: Variable
    ranks: tuple[ScoreRanks, ...]
    scorers: tuple[Network, ...] = ()
    network: Network | None = None
    by: ScoredBy = "possibility"
    ambiguous: Ambiguous = "expected"
    seen: str = ""
    alpha: float | None = None

    @property
    def rows(self) -> float:
        """How many calibration rows there are; the sum of their weights."""
        return sum(ranks.rows for ranks in self.ranks)

    @property
    def per_class(self) -> bool:
        """Whether every state is compared with calibration rows of its own (Mondrian)."""
        return self.ranks[0].states is not None

    @check_arguments
    def p_values(self, raw: ArrayLike, *, logs: bool = False, rng: np.random.Generator | int | None = None) -> Floats:
        """The p-value of every state, (rows, states): valid, and subnormal where no state fits well.

        Parameters
        ----------
        raw
            Degrees (or probabilities, if these were ranked) of the states of every row, (rows, states), as `Inference`
            computes them; for a calibration in folds (folds, rows, states). NaN, an impossible row, counts as 0.
        logs
            Whether these are logarithms, which tell very small degrees apart; see `possnet.inference.score_rows`.
        rng
            Draws ties apart, so that P(p <= a) = a exactly.

        Examples
        --------
        >>> import possnet as pn
        >>> ranks = ScoreRanks.from_scores(np.log([0.9, 0.6, 0.6, 0.2]))
        >>> four = Calibration(pn.Variable("flu", ("yes", "no")), (ranks,))
        >>> four.p_values([[0.7, 0.3], [0.5, 0.1]])
        array([[0.8, 0.4], [0.4, 0.2]])
        """
        scores = self._read_scores(raw, logs=logs)
        generator = np.random.default_rng(seed_of(rng)) if isinstance(rng, int) else rng
        p_values = compute_p_values(self.ranks, [np.atleast_2d(part) for part in scores], generator)
        return p_values[0] if scores[0].ndim == 1 else p_values

    @check_arguments
    def degrees(self, raw: ArrayLike, *, logs: bool = False, rng: np.random.Generator | int | None = None) -> Floats:
        """Valid degrees, (rows, states): the p-values, the largest of every row raised to 1. See `p_values`.

        >>> import possnet as pn
        >>> ranks = ScoreRanks.from_scores(np.log([0.9, 0.6, 0.6, 0.2]))
        >>> four = Calibration(pn.Variable("flu", ("yes", "no")), (ranks,))
        >>> four.degrees([[0.7, 0.3], [0.5, 0.1]])
        array([[1. , 0.4], [1. , 0.2]])
        """
        return raise_tops(self.p_values(raw, logs=logs, rng=rng))

    @check_arguments
    def conflicts(self, raw: ArrayLike, *, logs: bool = False) -> Floats:
        """How badly every row fits: 1 - its largest p-value. See `p_values`.

        >>> import possnet as pn
        >>> ranks = ScoreRanks.from_scores(np.log([0.9, 0.6, 0.6, 0.2]))
        >>> four = Calibration(pn.Variable("flu", ("yes", "no")), (ranks,))
        >>> four.conflicts([[0.7, 0.3], [0.5, 0.1]]).round(9)
        array([0.2, 0.6])
        """
        lacking: Floats = 1.0 - np.atleast_2d(self.p_values(raw, logs=logs)).max(axis=-1)
        return lacking

    @check_arguments
    def sets(self, raw: ArrayLike, alpha: float | None = None, *, logs: bool = False) -> Bools:
        """The sets {x : pi(x) > alpha}, (rows, states), which hold the truth with a probability of 1 - alpha or more.

        >>> import possnet as pn
        >>> ranks = ScoreRanks.from_scores(np.log([0.9, 0.6, 0.6, 0.2]))
        >>> four = Calibration(pn.Variable("flu", ("yes", "no")), (ranks,))
        >>> four.sets([[0.7, 0.3], [0.5, 0.1]], alpha=0.2).tolist()
        [[True, True], [True, False]]
        """
        level = self.alpha if alpha is None else alpha
        if level is None:
            raise InputError("sets: no alpha; expected a number between 0 and 1, such as 0.1")
        check_alpha(level, "sets", self.rows)
        return cut_sets(self.degrees(raw, logs=logs), level)

    @check_arguments
    def score(self, data: Dataset) -> tuple[Floats, ...]:
        """Raw scores of the states of the target in every row, as logarithms, by the network of every fold.

        >>> import possnet as pn
        >>> clinic = pn.load_example("clinic")
        >>> calibration = pn.calibrate(clinic, pn.sample(clinic, 400, process="precise", rng=1), target="flu")
        >>> new = pn.Dataset.from_rows([clinic.variable("cough")], [("dry",)])
        >>> (scores,) = calibration.score(new)
        >>> bool(np.allclose(np.exp(scores), pn.Inference(clinic).query_many("flu", new)))
        True
        """
        if not self.scorers:
            raise InputError("calibration: it has no network of its own; expected one that possnet.calibrate made")
        own = {v.name for v in self.scorers[0].variables}
        shown = data.select([v.name for v in data.variables if v.name in own and v.name != self.target.name])
        return tuple(score_rows(network, self.target.name, shown, by=self.by) for network in self.scorers)

    @check_arguments
    def complete(self, data: Dataset, *, hide: bool = False) -> Completion:
        """The completion of rows, with valid degrees for the target: P(degree of the truth <= a) <= a.

        The target is predicted in every row where it is not given; where the data give a set, the states in it compete, and
        the largest degree of every row is raised to 1. Other variables keep the degrees of the network.

        Parameters
        ----------
        hide
            Whether given cells of the target are hidden.

        Examples
        --------
        >>> import possnet as pn
        >>> clinic = pn.load_example("clinic")
        >>> calibration = pn.calibrate(clinic, pn.sample(clinic, 400, process="precise", rng=1), target="flu")
        >>> calibration.complete(pn.Dataset.from_rows([clinic.variable("cough")], [("dry",)]))
        Completion(1 row, 1 of 1 ambiguous cells resolved (mean necessity ...))
        """
        if self.network is None:
            raise InputError("calibration: it has no network of its own; expected one that possnet.calibrate made")
        name = self.target.name
        completion = complete(self.network, data, targets=(name,), hide=hide)
        cells = completion.degrees[name]
        column = completion.data.column(name)
        inside = column.cell_sets[column.codes[cells.rows]]
        p_values = compute_p_values(self.ranks, [scores[cells.rows] for scores in self.score(completion.data)])
        table = np.where(inside, raise_tops(np.where(inside, p_values, -1.0)), 0.0)
        calibrated = cells._replace(numbers=np.arange(len(cells.rows)), table=table, cells=column.codes[cells.rows])
        for array in calibrated:
            array.flags.writeable = False
        return replace(completion, degrees={**completion.degrees, name: calibrated})

    def _read_scores(self, raw: ArrayLike, *, logs: bool) -> list[Floats]:
        """Raw degrees as logarithms, for every fold."""
        values = np.array(require_floats(raw, f"calibration of {self.target.name!r}: raw degrees"))
        parts = [values] if len(self.ranks) == 1 and values.ndim < 3 else list(values)
        size = len(self.target)
        if len(parts) != len(self.ranks) or any(part.ndim not in (1, 2) or part.shape[-1] != size for part in parts):
            folds = f"{len(self.ranks)} folds, " if len(self.ranks) > 1 else ""
            raise InputError(
                f"calibration of {self.target.name!r}: raw degrees of shape {values.shape}; "
                f"expected ({folds}rows, {size} states)"
            )
        if not logs:
            if not ((values >= 0.0) & (values <= 1.0 + 1e-9) | np.isnan(values)).all():
                raise InputError(
                    "calibration: raw degrees outside [0, 1]; expected degrees, or logs=True with logarithms"
                )
            with np.errstate(divide="ignore"):
                parts = [np.log(np.minimum(part, 1.0)) for part in parts]
        return [np.maximum(np.nan_to_num(part, nan=LOWEST_SCORE), LOWEST_SCORE) for part in parts]

    def __repr__(self) -> str:
        own = ", each state by itself" if self.per_class else ""
        seen = f"{count_noun(self.rows, 'row')} {self.seen}".strip()
        return f"Calibration({self.target.name}: {seen}, scores by {self.by}{own})"


def check_alpha(alpha: object, owner: str, rows: float) -> float:
    """A level between 0 and 1; a warning if there are too few calibration rows for it.

    >>> check_alpha(1.5, "sets", 100)
    Traceback (most recent call last):
        ...
    possnet.errors.InputError: sets: alpha 1.5; expected a number between 0 and 1, such as 0.1
    """
    expected = "a number between 0 and 1, such as 0.1"
    level = require_number(
        alpha, f"{owner}: alpha", expected, float(np.nextafter(0.0, 1.0)), float(np.nextafter(1.0, 0.0))
    )
    if (rows + 1.0) * level < 1.0:
        warn_user(
            f"{owner}: {count_noun(rows, 'calibration row')} cannot rule out anything at alpha {level:g}; "
            f"expected {int(np.ceil(1.0 / level)) - 1:,} or more"
        )
    return level


def describe_rows(folds: Sequence[object] | None) -> str:
    """Which rows were used, in words."""
    if folds is None:
        return "that the network was not learned from"
    return f"left out of learning, fold by fold ({len(folds)} folds)"

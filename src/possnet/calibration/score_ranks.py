r"""The p-values of conformal prediction, as degrees of possibility.

Rows that a model has not seen are kept for calibration, and the score of the true state of each is computed: the larger,
the better the model foresaw it. For a new row the degree of a candidate x with the score s(x) is

    pi(x)  =  (1 + number of calibration rows with a score <= s(x)) / (1 + number of calibration rows).

If calibration rows and the new one are *exchangeable* (any order of them is as likely as any other), the rank of the
true state's score among them is uniform, so that P(pi(truth) <= a) <= a for every a: the cut {x : pi(x) > a} holds the
truth with a probability of 1 - a or more, whatever the model, and however wrong it is [VGS]. Such a distribution is the
contour of a valid consonant plausibility, and a necessity N(A) = 1 - max of pi outside A is a claim of the same kind
[CM]. Equal scores count as if the calibration row had the lower one, which keeps this; drawing them apart at random
makes it exact.

The largest p-value of a row may be less than 1: no state fits as well as the states of other rows did. What lacks is the
*conflict* of the row with the calibration rows. Raising the largest to 1 normalises the distribution and keeps it valid.

In folds (cross-conformal prediction [V]) every row is a calibration row once, by a model that was learned from the
others; the counts of the folds are added. This is no longer exactly valid: P(pi(truth) <= a) is below 2a in theory, and
close to a in practice.

[VGS] V. Vovk, A. Gammerman, G. Shafer: Algorithmic Learning in a Random World. Springer 2005.
[V] V. Vovk: Cross-conformal predictors. Annals of Mathematics and Artificial Intelligence 74, 2015.
[CM] L. Cella, R. Martin: Validity, consonant plausibility measures, and conformal prediction. International Journal of
Approximate Reasoning 141, 2022.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from possnet.aliases import Bools, Floats, Ints

_TIE: Final = 1e-9  # scores that differ by less differ by rounding alone


@dataclass(frozen=True, slots=True, eq=False)
class ScoreRanks:
    """Scores of the true states of calibration rows, ascending, and their weights.

    ``states`` has the number of the state behind each score if states are calibrated each by itself (*Mondrian*), or is
    None. A row of an ambiguous truth may stand for several scores that share its weight. ``rows`` is the sum of weights of
    the calibration rows.

    >>> ranks = ScoreRanks.from_scores(np.array([-0.1, -2.0, -0.5]))
    >>> ranks.count_up_to(np.array([[-1.0, -0.5, 0.0]]))
    array([[1., 2., 3.]])
    """

    scores: Floats
    weights: Floats
    rows: float
    states: Ints | None = None

    @classmethod
    def from_scores(cls, scores: Floats, weights: Floats | None = None, states: Ints | None = None) -> ScoreRanks:
        """Scores in any order; each has the weight 1 if none are given."""
        own = np.ones(len(scores)) if weights is None else weights
        used = np.flatnonzero(own > 0.0)
        order = used[np.argsort(scores[used], kind="stable")]
        sorted_states = None if states is None else states[order].astype(np.int64)
        return cls(scores[order].astype(np.float64), own[order].astype(np.float64), float(own.sum()), sorted_states)

    def count_up_to(self, scores: Floats, *, below: bool = False) -> Floats:
        """Weight of the calibration rows whose score is no larger, (rows, states); or smaller, with ``below``."""
        if self.states is None:
            return _count(self.scores, self.weights, scores, below=below)
        counts = np.zeros(scores.shape)
        for state in range(scores.shape[-1]):
            own = self.states == state
            counts[..., state] = _count(self.scores[own], self.weights[own], scores[..., state], below=below)
        return counts

    def totals(self, n_states: int) -> Floats:
        """Weight of the calibration rows behind every state: of all rows, or of its own."""
        if self.states is None:
            return np.full(n_states, self.weights.sum())
        return np.bincount(self.states, self.weights, minlength=n_states)[:n_states].astype(np.float64)


def _count(known: Floats, weights: Floats, scores: Floats, *, below: bool) -> Floats:
    sums = np.concatenate([[0.0], np.cumsum(weights)])
    places = np.searchsorted(known, scores - _TIE, "left") if below else np.searchsorted(known, scores + _TIE, "right")
    counts: Floats = sums[places]
    return counts


def compute_p_values(
    ranks: Sequence[ScoreRanks], scores: Sequence[Floats], rng: np.random.Generator | None = None
) -> Floats:
    """The p-value of every candidate, (rows, states), from its scores by the model of every fold.

    With a generator, ties are drawn apart: the new row's rank among calibration rows of its own score is random, and
    P(p <= a) is exactly a under exchangeability.

    >>> ranks = ScoreRanks.from_scores(np.array([-0.1, -2.0, -0.5]))
    >>> compute_p_values([ranks], [np.array([[-1.0, -0.5, -3.0]])])
    array([[0.5 , 0.75, 0.25]])
    """
    n_states = scores[0].shape[-1]
    totals = sum((own.totals(n_states) for own in ranks), np.zeros(n_states))
    upper = sum((own.count_up_to(new) for own, new in zip(ranks, scores, strict=True)), np.zeros(scores[0].shape))
    if rng is None:
        exact: Floats = (1.0 + upper) / (1.0 + totals)
        return exact
    lower = sum(
        (own.count_up_to(new, below=True) for own, new in zip(ranks, scores, strict=True)), np.zeros(scores[0].shape)
    )
    share = rng.random((*scores[0].shape[:-1], 1))  # one for all candidates of a row
    drawn: Floats = (lower + share * (1.0 + upper - lower)) / (1.0 + totals)
    return drawn


def raise_tops(p_values: Floats) -> Floats:
    """The distribution with its largest degrees raised to 1, which keeps it valid.

    >>> raise_tops(np.array([[0.4, 0.1], [0.2, 0.2]]))
    array([[1. , 0.1], [1. , 1. ]])
    """
    return np.where(p_values >= p_values.max(axis=-1, keepdims=True), 1.0, p_values)


def cut_sets(degrees: Floats, alpha: float) -> Bools:
    """The sets {x : pi(x) > alpha}, which hold the truth with a probability of 1 - alpha or more.

    >>> cut_sets(np.array([[1.0, 0.1, 0.05]]), 0.1).tolist()
    [[True, False, False]]
    """
    return np.asarray(degrees > alpha * (1.0 + 1e-12))

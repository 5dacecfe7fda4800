"""Calibration rows whose truth is a set of candidates: which of their scores count.

- ``worst``: the lowest score of the candidates. It is no higher than that of the truth, if this is among them, so that
  degrees stay valid; but they become large, and say little.
- ``expected``: the scores of all candidates, each with the probability that it is the truth, by the model itself. As
  valid as these probabilities are right: approximately.
- ``best``: the highest score. It is no lower than that of the truth, so that cuts hold it too rarely; for comparisons only.

A row whose cell is unknown, or the whole domain, says nothing and is left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, TypeAlias

import numpy as np

from possnet.calibration.score_ranks import ScoreRanks
from possnet.errors import InputError, require_known

if TYPE_CHECKING:
    from possnet.aliases import Bools, Floats

Ambiguous: TypeAlias = Literal["expected", "worst", "best"]
AMBIGUOUS: Final[tuple[Ambiguous, ...]] = ("expected", "worst", "best")


def rank_candidates(
    scores: Floats,
    candidates: Bools,
    *,
    shares: Floats | None = None,
    weights: Floats | None = None,
    ambiguous: Ambiguous = "expected",
    per_class: bool = False,
) -> ScoreRanks:
    """The scores that calibration rows stand for.

    Parameters
    ----------
    scores, candidates
        The score of every state, and which states may be the truth, (rows, states).
    shares
        Probabilities of the states, for ``expected``; only their ratios among the candidates of a row matter. Equal
        without.
    weights
        Of the rows.
    per_class
        Keep the states of the scores, so that each state is compared with calibration rows of its own.

    Examples
    --------
    >>> scores = np.log(np.array([[0.7, 0.2, 0.1], [0.5, 0.3, 0.2], [0.6, 0.2, 0.2]]))
    >>> candidates = np.array([[True, False, False], [True, True, False], [True, True, True]])
    >>> for ambiguous in AMBIGUOUS:
    ...     ranks = rank_candidates(scores, candidates, shares=np.exp(scores), ambiguous=ambiguous)
    ...     print(ambiguous, ranks.rows, np.exp(ranks.scores).round(3).tolist(), ranks.weights.round(3).tolist())
    expected 2.0 [0.3, 0.5, 0.7] [0.375, 0.625, 1.0]
    worst 2.0 [0.3, 0.7] [1.0, 1.0]
    best 2.0 [0.5, 0.7] [1.0, 1.0]
    """
    require_known(ambiguous, AMBIGUOUS, "calibrate: ambiguous")
    told = candidates.any(axis=1) & ~candidates.all(axis=1)
    own = np.where(candidates, 1.0 if shares is None else np.maximum(shares, 1e-300), 0.0)[told]
    scores, candidates = scores[told], candidates[told]
    if ambiguous != "expected":
        if per_class and (candidates.sum(axis=1) > 1).any():
            raise InputError(
                f"calibrate: per_class=True with ambiguous={ambiguous!r}, and nobody knows the class of an ambiguous row; "
                "expected ambiguous='expected' with it"
            )
        bound = np.where(candidates, scores, np.inf if ambiguous == "worst" else -np.inf)
        chosen = bound.argmin(axis=1) if ambiguous == "worst" else bound.argmax(axis=1)
        own = np.zeros(candidates.shape)
        own[np.arange(len(chosen)), chosen] = 1.0
    else:
        own = own / own.sum(axis=1, keepdims=True)
    own = own * (1.0 if weights is None else weights[told][:, np.newaxis])
    row, state = np.nonzero(own > 0.0)
    return ScoreRanks.from_scores(scores[row, state], own[row, state], state if per_class else None)

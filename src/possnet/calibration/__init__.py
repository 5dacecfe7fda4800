"""Calibrated possibility: raw degrees turned into valid ones, by the p-values of conformal prediction.

A distribution is *valid* if P(pi(truth) <= a) <= a for every a; see `possnet.calibration.score_ranks`.
"""

from possnet.calibration.calibrate_rows import calibrate
from possnet.calibration.calibrated_network import Calibration
from possnet.calibration.candidate_scores import AMBIGUOUS, Ambiguous, rank_candidates
from possnet.calibration.score_ranks import ScoreRanks, compute_p_values, cut_sets, raise_tops

__all__ = [
    "AMBIGUOUS",
    "Ambiguous",
    "Calibration",
    "ScoreRanks",
    "calibrate",
    "compute_p_values",
    "cut_sets",
    "raise_tops",
    "rank_candidates",
]

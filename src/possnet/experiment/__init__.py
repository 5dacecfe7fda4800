"""Experiments: draw imprecise rows from a network, learn it back, compare; over a grid, resumable, on any executor."""

from possnet.experiment.experiment_folder import read_experiment
from possnet.experiment.run_experiment import DEFAULT_NETWORKS, evaluate
from possnet.experiment.trial import Trial, TrialTask, repeat_learning
from possnet.experiment.trial_grid import Grid
from possnet.experiment.trial_results import Experiment, Results, Summary

__all__ = [
    "DEFAULT_NETWORKS",
    "Experiment",
    "Grid",
    "Results",
    "Summary",
    "Trial",
    "TrialTask",
    "evaluate",
    "read_experiment",
    "repeat_learning",
]

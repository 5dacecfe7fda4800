"""Experiments: draw imprecise rows from a network, learn it back, compare; over a grid, resumable, on any executor."""

from possnet.experiment.folder import Experiment, read_experiment
from possnet.experiment.grid import LEARNERS, PROCESSES, Cell
from possnet.experiment.results import Results, Summary
from possnet.experiment.run import DEFAULT_NETWORKS, evaluate

__all__ = [
    "DEFAULT_NETWORKS",
    "LEARNERS",
    "PROCESSES",
    "Cell",
    "Experiment",
    "Results",
    "Summary",
    "evaluate",
    "read_experiment",
]

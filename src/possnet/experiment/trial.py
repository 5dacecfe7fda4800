"""Running one trial: draw rows, learn, compare. Runs in a worker."""

from __future__ import annotations

import time
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from possnet.errors import TooLarge
from possnet.experiment.trial_grid import learner_of
from possnet.io import decode_network
from possnet.metrics import compare
from possnet.sampling import sample, sampling_limit

if TYPE_CHECKING:
    from possnet.aliases import Floats
    from possnet.experiment.trial_grid import Trial
    from possnet.network import Network

_LIMIT_BYTES = 1 << 28
_CONTEXTS = 4_000


class TrialTask(NamedTuple):
    """A trial, its network as JSON, and the experiment's seed."""

    trial: Trial
    network: str
    seed: int


class Outcome(NamedTuple):
    """What came of a trial: metric -> (value, ignorance, limit or None), or the error; and the seconds it took.

    ``contexts`` has the mean absolute difference of every variable in every context, in table order; None where it is not
    defined. Of networks with very many contexts it has one number a variable, the mean.
    """

    measures: dict[str, tuple[float, float, float | None]]
    error: str | None
    seconds: dict[str, float]
    contexts: dict[str, list[float | None]]


def run_trial(task: TrialTask) -> Outcome:
    """Draw, learn and compare; an error of the learner is the trial's outcome, not the experiment's."""
    trial, network, seed = task
    seconds = {}
    try:
        truth = _network(network)
        how = sampling_options(trial.process)
        begin = time.perf_counter()
        drawn = trial.seed(seed, network)
        data = sample(truth, trial.rows, imprecision=trial.imprecision, rng=drawn, **how)
        seconds["sample"] = time.perf_counter() - begin
        begin = time.perf_counter()
        learned = learner_of(trial.learner)(truth.dag, data, trial.imprecision, truth.conjunction)
        seconds["learn"] = time.perf_counter() - begin
        begin = time.perf_counter()
        counted = trial.learner in {"likelihood", "histogram", "capped"}
        limit = _limit(network, trial.process, trial.imprecision) if counted else None
        found = compare(truth, learned, limit=limit, rng=np.random.default_rng(drawn))
        seconds["compare"] = time.perf_counter() - begin
    except Exception as error:  # noqa: BLE001 - whatever a learner does, the other trials go on
        return failed(error, seconds)
    measures = {name: (m.value, m.vacuous, m.limit) for name, m in found.items()}
    return Outcome(measures, None, seconds, _listed(found.contexts))


def failed(error: BaseException, seconds: dict[str, float] | None = None) -> Outcome:
    """What came of a trial that ended with an error.

    >>> failed(ValueError("no rows")).error
    'ValueError: no rows'
    """
    return Outcome({}, f"{type(error).__name__}: {error}", seconds or {}, {})


def _listed(contexts: dict[str, Floats]) -> dict[str, list[float | None]]:
    """Errors as plain numbers of five digits."""
    if sum(errors.size for errors in contexts.values()) > _CONTEXTS:
        contexts = {name: np.array([np.nanmean(errors)]) for name, errors in contexts.items()}
    return {
        name: [None if np.isnan(e) else float(f"{e:.5g}") for e in np.ravel(errors).tolist()]
        for name, errors in contexts.items()
    }


def sampling_options(process: str) -> dict[str, Any]:
    """How `possnet.sample` is told a process of the grid.

    >>> sampling_options("alpha-cut-text"), sampling_options("traced")
    ({'process': 'alpha-cut', 'law': 'text'}, {'process': 'traced'})
    """
    for ending, option in (("-text", {"law": "text"}), ("-cuts", {"parents": "cut"})):
        if process.endswith(ending):
            return {"process": process.removesuffix(ending), **option}
    return {"process": process}


@lru_cache(maxsize=8)
def _network(text: str) -> Network:
    return decode_network(text.encode(), "network")


@lru_cache(maxsize=64)
def _limit(text: str, process: str, imprecision: float) -> Network | None:
    """What counting converges to, where that can be computed."""
    try:
        return sampling_limit(_network(text), imprecision=imprecision, limit=_LIMIT_BYTES, **sampling_options(process))
    except TooLarge:
        return None

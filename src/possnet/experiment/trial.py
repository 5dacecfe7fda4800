"""One trial: draw rows, learn, compare. Runs in a worker."""

from __future__ import annotations

import hashlib
import json
import time
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from possnet.io import decode_network
from possnet.learners import network_of, resolve_learner
from possnet.metrics import bounds_of, compare
from possnet.sampling import sample

if TYPE_CHECKING:
    from collections.abc import Callable

    from possnet.aliases import Floats
    from possnet.learners import Fitted
    from possnet.network import Network

_CONTEXTS = 4_000


@dataclass(frozen=True, slots=True)
class Trial:
    """Draw rows from a network by a process, learn, compare."""

    network: str
    process: str
    imprecision: float
    rows: int
    learner: str
    repeat: int

    @property
    def setting(self) -> tuple[str, str, float, int, str]:
        """What its repeats have in common."""
        return self.network, self.process, self.imprecision, self.rows, self.learner

    @property
    def key(self) -> str:
        """Short text that names the trial in a file name."""
        return hashlib.sha256(json.dumps(asdict(self), sort_keys=True).encode()).hexdigest()[:20]

    def derive_seed(self, experiment: int, network: str) -> int:
        """Seed of the rows, given the network as JSON: the same for every learner, and for more or fewer rows."""
        text = json.dumps([experiment, network, self.process, self.imprecision, self.repeat])
        return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "little")


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

    metrics: dict[str, tuple[float, float, float | None]]
    error: str | None
    seconds: dict[str, float]
    contexts: dict[str, list[float | None]]


def run_trial(task: TrialTask) -> Outcome:
    """Draw, learn and compare; an error of the learner is the trial's outcome, not the experiment's."""
    trial, text, seed = task
    seconds = {}
    try:
        truth, learner = _decode(text), resolve_learner(trial.learner)
        begin = time.perf_counter()
        row_seed = trial.derive_seed(seed, text)
        data = sample(truth, trial.rows, imprecision=trial.imprecision, process=trial.process, rng=row_seed)
        seconds["sample"] = time.perf_counter() - begin
        begin = time.perf_counter()
        result = learner.learn_result(truth.dag, data, trial.imprecision, truth.conjunction, trial.process)
        seconds["learn"] = time.perf_counter() - begin
        begin = time.perf_counter()
        limit = learner.limit and _compute_limit(learner.limit, text, trial.process, trial.imprecision)
        generator = np.random.default_rng(row_seed)
        comparison = compare(truth, network_of(result), limit=limit, bounds=bounds_of(result), rng=generator)
        seconds["compare"] = time.perf_counter() - begin
    except Exception as error:  # noqa: BLE001 - whatever a learner does, the other trials go on
        return describe_failure(error, seconds)
    metrics = {name: (m.value, m.vacuous, m.limit) for name, m in comparison.items()}
    return Outcome(metrics, None, seconds, _list_contexts(comparison.contexts))


def repeat_learning(task: TrialTask) -> Network | Fitted:
    """What the learner of a trial gave, learned again from the same rows.

    >>> import possnet as pn
    >>> results = pn.evaluate(["asia"], rows=50, imprecision=1, process="alpha-cut", learners="cut", repeats=1, rng=1)
    >>> trial, grid = results.trials[0], results.grid
    >>> again = repeat_learning(TrialTask(trial, grid.texts["asia"], grid.seed))
    >>> pn.compare(grid.networks["asia"], again.network)["affinity"].value == results.summary("affinity")[0].mean
    True
    """
    trial, text, seed = task
    truth, row_seed = _decode(text), trial.derive_seed(seed, text)
    data = sample(truth, trial.rows, imprecision=trial.imprecision, process=trial.process, rng=row_seed)
    learner = resolve_learner(trial.learner)
    return learner.learn_result(truth.dag, data, trial.imprecision, truth.conjunction, trial.process)


def describe_failure(error: BaseException, seconds: dict[str, float] | None = None) -> Outcome:
    """What came of a trial that ended with an error.

    >>> describe_failure(ValueError("no rows")).error
    'ValueError: no rows'
    """
    return Outcome({}, f"{type(error).__name__}: {error}", seconds or {}, {})


def _list_contexts(contexts: dict[str, Floats]) -> dict[str, list[float | None]]:
    """Errors as plain numbers of five digits."""
    if sum(errors.size for errors in contexts.values()) > _CONTEXTS:
        contexts = {name: np.array([np.nanmean(errors)]) for name, errors in contexts.items()}
    return {
        name: [None if np.isnan(e) else float(f"{e:.5g}") for e in np.ravel(errors).tolist()]
        for name, errors in contexts.items()
    }


@lru_cache(maxsize=8)
def _decode(text: str) -> Network:
    """The network, decoded once in a process."""
    return decode_network(text.encode(), "network")


@lru_cache(maxsize=64)
def _compute_limit(
    compute: Callable[[Network, str, float], Network | None], text: str, process: str, imprecision: float
) -> Network | None:
    """What a learner converges to, computed once in a process."""
    return compute(_decode(text), process, imprecision)

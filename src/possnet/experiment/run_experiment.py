"""Run an experiment: draw rows from networks, learn the networks back, and compare."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from concurrent.futures import BrokenExecutor
from contextlib import closing, nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from possnet.doors import check_arguments, checks_itself
from possnet.errors import InputError, describe_value, listing, require_several, require_whole, warn_user
from possnet.executors import WorkerPool, completed
from possnet.experiment.experiment_folder import hold_folder, load_outcomes
from possnet.experiment.trial import Outcome, TrialTask, describe_failure, run_trial
from possnet.experiment.trial_grid import Grid
from possnet.experiment.trial_results import Results
from possnet.io import load_example
from possnet.metrics import METRICS
from possnet.network import Network
from possnet.seeds import seed_of

if TYPE_CHECKING:
    from collections.abc import Generator
    from concurrent.futures import Executor
    from pathlib import Path

    import numpy as np

    from possnet.aliases import Progress
    from possnet.experiment.experiment_folder import ExperimentFolder
    from possnet.experiment.trial import Trial

DEFAULT_NETWORKS: Final = ("clinic", "pump")
_ALONE: Final = 4


@check_arguments
@checks_itself("networks", "executor", "process", "learn", "learners")
def evaluate(
    networks: Mapping[str, Network] | Iterable[str | Network] | Network | str = DEFAULT_NETWORKS,
    *,
    rows: int | Iterable[int] = (100, 1_000, 10_000),
    imprecision: float | Iterable[float] = (0.5, 1.0),
    process: str | Iterable[str] = ("alpha-cut", "traced"),
    learners: str | Iterable[str] | None = None,
    learn: str | Iterable[str] = "given",
    repeats: int = 5,
    rng: np.random.Generator | int | None = 1,
    out: str | Path | None = None,
    workers: int | WorkerPool | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> Results:
    """Draw rows from networks, learn them back, compare; for every combination of the options, several times over.

    Parameters
    ----------
    networks
        Networks, names of bundled ones, or a mapping from names.
    process
        Names of `possnet.sampling.PROCESSES`: ``alpha-cut``, ``precise``, ``traced``; with ``-text`` the paper's law of
        thinning, with ``-cuts`` children see their parents' whole cuts (see `possnet.sample`).
    learners
        Names of `possnet.learners.LEARNERS`, or ``learner@method:measure`` (see ``learn``); by default ``likelihood``,
        ``em`` and, for alpha-cut rows, ``cut``. A learner that is for the rows of some processes is run on those alone.
    learn
        Where the structure comes from: ``given`` is the true one; ``greedy:random-set-bic`` and the like learn it from the
        rows too (a method and a measure of `possnet.learn_structure`), and the learner is then called
        ``likelihood@greedy:random-set-bic``. Several are compared.
    rng
        Seed of every row and every fit: the same seed gives the same results, with any number of workers.
    out
        A folder. Every finished trial is kept there, so that a run that was killed goes on where it was when it is started
        again with the same options; ``results.csv``, ``results.parquet`` and ``timings.json`` are written at the end.
        `possnet.write_report` makes a page of the results.
    workers, executor
        How many processes share the work (by default one for each core), a `possnet.executors.WorkerPool` whose processes
        other calls use as well, or any ``concurrent.futures`` executor.
    progress
        Called with the trials done and the trials in all.

    Examples
    --------
    >>> import possnet as pn
    >>> evaluate(["asia"], rows=[100, 400], imprecision=1, process="traced", repeats=1, rng=1)
    Results(4 trials, 0 failed)
    """
    grid = Grid.from_options(
        _name_networks(networks), process, imprecision, rows, learners, repeats, seed_of(rng), learn
    )
    if isinstance(workers, int):
        require_whole(workers, 1, "evaluate: workers")
    if executor is not None and not hasattr(executor, "submit"):
        raise InputError(f"evaluate: executor {describe_value(executor)}; expected one of concurrent.futures")
    if out is None:
        return _run_grid(grid, None, workers, executor, progress)
    with hold_folder(out, grid) as folder:
        return _run_grid(grid, folder, workers, executor, progress)


def _run_grid(
    grid: Grid,
    folder: ExperimentFolder | None,
    workers: int | WorkerPool | None,
    executor: Executor | None,
    progress: Progress | None,
) -> Results:
    """Run the trials that are not in the folder yet, keep them there, and write the results."""
    trials = grid.list_trials()
    outcomes = {} if folder is None else load_outcomes(folder.path, trials)
    if folder is not None:
        _warn_of_unmeasured(folder, outcomes)
    tasks = [TrialTask(t, grid.texts[t.network], grid.seed) for t in trials if t not in outcomes]
    if progress is not None:
        progress(len(outcomes), len(trials))
    with closing(_run_tasks(grid, tasks, workers, executor)) as running:
        for number, result in running:
            trial = tasks[number].trial
            outcomes[trial] = describe_failure(result) if isinstance(result, BaseException) else result
            if folder is not None and not isinstance(result, BrokenExecutor):  # these were not tried: the next run does
                folder.save_outcome(trial, outcomes[trial])
            if progress is not None:
                progress(len(outcomes), len(trials))
    results = Results(tuple(trials), tuple(outcomes[trial] for trial in trials), grid)
    if folder is None:
        return results
    return replace(results, folder=folder.path, versions=folder.write_results(results, ran=bool(tasks)))


def _warn_of_unmeasured(folder: ExperimentFolder, outcomes: Mapping[Trial, Outcome]) -> None:
    """Warn of registered metrics that no kept trial has: trials keep numbers, and no networks to measure again."""
    kept = [outcome.metrics for outcome in outcomes.values() if outcome.error is None]
    own = [name for name, metric in METRICS.items() if not metric.is_bundled]
    lacking = [repr(name) for name in own if kept and not any(name in measured for measured in kept)]
    if lacking:
        trials = "the trial" if len(kept) == 1 else f"the {len(kept)} trials"
        warn_user(
            f"{folder.path}: {trials} kept there {'was' if len(kept) == 1 else 'were'} measured without "
            f"{listing(lacking)}; expected an experiment that is run with it. Give a new folder: same seed, same rows"
        )


def _run_tasks(
    grid: Grid, tasks: list[TrialTask], given: int | WorkerPool | None, executor: Executor | None
) -> Generator[tuple[int, Outcome | BaseException]]:
    """Outcomes as they come; in this process if there are few trials, one worker, or entries registered at run time."""
    if executor is not None:
        yield from completed(run_trial, tasks, lambda _: executor, keep=True)
        return
    pool = given if isinstance(given, WorkerPool) else WorkerPool(given)
    if pool.count == 1 or len(tasks) <= _ALONE or not grid.suits_workers:
        yield from ((number, run_trial(task)) for number, task in enumerate(tasks))
        return
    with nullcontext() if pool is given else pool:
        yield from completed(run_trial, tasks, pool)


def _name_networks(networks: object) -> dict[str, Network]:
    if isinstance(networks, Mapping):
        return dict(networks)
    if not isinstance(networks, str | Network | Iterable):
        raise InputError(f"evaluate: networks {describe_value(networks)}; expected networks, or names of bundled ones")
    listed = [networks] if isinstance(networks, str | Network) else require_several(networks, "evaluate: networks")
    named: dict[str, Network] = {}
    for number, given in enumerate(listed, start=1):
        network = load_example(given) if isinstance(given, str) else given
        if not isinstance(network, Network):
            raise InputError(
                f"evaluate: {describe_value(given)} is not a network; expected networks, or names of bundled ones"
            )
        name = given if isinstance(given, str) else network.name or f"network {number}"
        if name in named:
            raise InputError(
                f"evaluate: two networks are called {name!r}; expected distinct names, or a mapping from names"
            )
        named[name] = network
    return named

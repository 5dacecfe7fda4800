"""The folder of an experiment: what is asked, every finished trial, and what comes out.

``experiment.json`` says what is asked; ``trials/`` has a file for every finished trial,
written beside and renamed, so that a run that is killed at any moment goes on where it was.
``results.csv`` and ``results.parquet`` are made of the trials alone: the same whatever interrupted the run, and however
many workers there were. ``networks.json`` keeps the networks, so that `read_experiment` finds everything in the folder;
``timings.json`` what ran, and how long.
"""

from __future__ import annotations

import csv
import io
import json
import platform
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from possnet.errors import InputError
from possnet.experiment.trial import Outcome
from possnet.experiment.trial_grid import Grid
from possnet.experiment.trial_results import Experiment, Results
from possnet.io import (
    decode_network,
    file_error,
    parse_object,
    read_bytes,
    require_format,
    write_result_table,
    write_text,
)

if TYPE_CHECKING:
    from possnet.experiment.trial import Trial

COLUMNS: dict[str, type] = {
    "network": str,
    "process": str,
    "imprecision": float,
    "rows": int,
    "learner": str,
    "repeat": int,
    "metric": str,
    "value": float,
    "vacuous": float,
    "limit": float,
    "error": str,
}


def read_experiment(folder: str | Path) -> Experiment:
    """A finished experiment, from the folder that `possnet.evaluate` wrote.

    >>> import possnet as pn, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = pn.evaluate(["asia"], rows=50, imprecision=1, learners="likelihood", repeats=1, rng=1, out=folder)
    ...     read_experiment(folder).results
    Results(2 trials, 0 failed)
    """
    path = Path(folder)
    asked = path / "experiment.json"
    if not asked.is_file():
        raise InputError(f"{path}: no experiment there; expected a folder that possnet evaluate --out wrote")
    description = parse_object(read_bytes(asked), str(asked), "an experiment of possnet")
    require_format(description, str(asked), "possnet-experiment", 1)
    kept = path / "networks.json"
    documents = parse_object(read_bytes(kept), str(kept), "the networks of the experiment")
    try:
        networks = {
            name: decode_network(json.dumps(document).encode(), f"{kept}, {name!r}")
            for name, document in documents.items()
        }
        asked_for = ("processes", "imprecision", "rows", "learners", "repeats", "seed")
        grid = Grid.from_options(networks, *(description[name] for name in asked_for))
    except InputError as error:
        raise InputError(
            f"{asked}: {error}. Learners and processes of your own are read only where they are registered"
        ) from None
    except (AttributeError, KeyError, TypeError) as error:
        raise InputError(
            f"{asked}: {error} is missing or of the wrong kind; expected an experiment of possnet"
        ) from None
    trials = grid.list_trials()
    outcomes = load_outcomes(path, trials)
    lacking = len(trials) - len(outcomes)
    if lacking:
        raise InputError(
            f"{path}: {lacking} of {len(trials)} runs are not finished; expected all. Run possnet evaluate again with the "
            "same options to go on"
        )
    results = Results(tuple(trials), tuple(outcomes[trial] for trial in trials))
    return Experiment(grid, results, _read_versions(path / "timings.json"), path)


def _read_versions(file: Path) -> dict[str, str]:
    try:
        return {str(k): str(v) for k, v in json.loads(file.read_text(encoding="utf-8"))["versions"].items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}


def list_versions() -> dict[str, str]:
    """Versions of what an experiment's numbers depend on.

    >>> sorted(list_versions())
    ['Python', 'numpy', 'possnet', 'pyarrow']
    """
    return {"Python": platform.python_version(), **{name: version(name) for name in ("possnet", "numpy", "pyarrow")}}


def load_outcomes(folder: Path, trials: list[Trial]) -> dict[Trial, Outcome]:
    """What came of the finished trials; a file damaged from outside counts as not finished."""
    outcomes = {}
    names = {file.stem for file in (folder / "trials").glob("*.json")}
    for trial in (trial for trial in trials if trial.key in names):
        try:
            document = json.loads((folder / "trials" / f"{trial.key}.json").read_text(encoding="utf-8"))
            metrics = {name: tuple(measured) for name, measured in document["metrics"].items()}
            outcomes[trial] = Outcome(metrics, document["error"], document["seconds"], document["contexts"])
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            continue
    return outcomes


class ExperimentFolder:
    """Where an experiment is kept."""

    def __init__(self, path: str | Path, grid: Grid) -> None:
        given: object = path
        if not isinstance(given, str | Path):
            raise InputError(f"evaluate: out {path!r}; expected the name of a folder")
        self.path = Path(path)
        try:
            self._open_folder(grid)
        except OSError as error:
            raise file_error(self.path, error) from None

    def _open_folder(self, grid: Grid) -> None:
        description = grid.describe()
        asked = self.path / "experiment.json"
        for folder in (self.path, self.path / "trials"):
            if folder.is_dir():
                for begun in folder.glob(".*.part"):  # of a run that was killed while it wrote
                    begun.unlink(missing_ok=True)
        if asked.exists():
            try:
                known = json.loads(asked.read_text(encoding="utf-8"))
            except ValueError:
                known = None
            if known != description:
                raise InputError(
                    f"{self.path} holds another experiment; expected an empty folder, or the same options to go on with it"
                )
        elif self.path.exists() and (not self.path.is_dir() or any(self.path.iterdir())):
            raise InputError(f"{self.path} is not empty and holds no experiment; expected a new or an empty folder")
        else:
            self.path.mkdir(parents=True, exist_ok=True)
            write_text(asked, json.dumps(description, indent=2, ensure_ascii=False) + "\n")
        if not (self.path / "networks.json").exists():
            documents = {name: json.loads(text) for name, text in grid.texts.items()}
            write_text(self.path / "networks.json", json.dumps(documents, ensure_ascii=False) + "\n")
        (self.path / "trials").mkdir(exist_ok=True)

    def save_outcome(self, trial: Trial, outcome: Outcome) -> None:
        """Keep what came of a trial, whole or not at all."""
        document = {"trial": asdict(trial), **outcome._asdict()}
        write_text(self.path / "trials" / f"{trial.key}.json", json.dumps(document, ensure_ascii=False) + "\n")

    def write_results(self, results: Results, *, ran: bool) -> dict[str, str]:
        """Write ``results.csv``, ``results.parquet`` and, if anything ``ran`` now, ``timings.json``; gives the versions."""
        listed = list(zip(results.trials, results.outcomes, strict=True))
        rows = [row for trial, outcome in listed for row in _list_rows(trial, outcome)]
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(COLUMNS)
        writer.writerows(["" if value is None else value for value in row] for row in rows)
        write_text(self.path / "results.csv", text.getvalue())
        write_result_table(COLUMNS, rows, self.path / "results.parquet")
        if not ran and (self.path / "timings.json").exists():
            return _read_versions(self.path / "timings.json")  # those that made the numbers
        seconds = [{**asdict(trial), "seconds": outcome.seconds} for trial, outcome in listed]
        timings = {"versions": list_versions(), "trials": seconds}
        write_text(self.path / "timings.json", json.dumps(timings, indent=1, ensure_ascii=False) + "\n")
        return list_versions()


def _list_rows(trial: Trial, outcome: Outcome) -> list[tuple[Any, ...]]:
    """Tidy rows of a trial: one for every metric, or one that holds the error."""
    head = (*trial.setting, trial.repeat)
    if outcome.error is not None:
        return [(*head, None, None, None, None, outcome.error)]
    return [(*head, metric, *measured, None) for metric, measured in outcome.metrics.items()]

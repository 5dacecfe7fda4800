"""The folder of an experiment: what is asked, every finished trial, and what comes out.

``experiment.json`` says what is asked; ``trials/`` has a file for every finished trial,
written beside and renamed, so that a run that is killed at any moment goes on where it was. Both carry checksums: a damaged
trial is run again, and a damaged ``experiment.json`` is an error before anything is written.
``results.csv`` and ``results.parquet`` are made of the trials alone: the same whatever interrupted the run, and however
many workers there were. ``networks.json`` keeps the networks, so that `read_experiment` finds everything in the folder;
``timings.json`` what ran, and how long.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import platform
from contextlib import contextmanager
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from possnet.errors import InputError, count_noun, listing, warn_user
from possnet.experiment.trial import Outcome
from possnet.experiment.trial_grid import Grid
from possnet.experiment.trial_results import Experiment, Results
from possnet.io import (
    LOCK,
    decode_network,
    encode_network,
    file_error,
    lock_folder,
    make_folder,
    parse_object,
    read_bytes,
    remove_file,
    require_format,
    seal_json,
    sync_folder,
    write_result_table,
    write_text,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from possnet.experiment.trial import Trial
    from possnet.network import Network

_OWN_ENTRIES = ". Learners and processes of your own are read only where they are registered"
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
    try:
        is_there = asked.is_file()
    except OSError as error:  # a name that is too long, or a folder that may not be looked into
        raise file_error(path, error) from None
    if not is_there:
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
        _require_networks(networks, description["networks"], kept)
        asked_for = ("processes", "imprecision", "rows", "learners", "repeats", "seed")
        grid = Grid.from_options(networks, *(description[name] for name in asked_for))
    except InputError as error:
        known = "" if "only where it is registered" in str(error) else _OWN_ENTRIES
        raise InputError(f"{asked}: {error}{known}") from None
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


def _require_networks(networks: dict[str, Network], hashes: dict[str, str], file: Path) -> None:
    """Refuse networks that are not those of the experiment."""
    if {name: hashlib.sha256(encode_network(n).encode()).hexdigest() for name, n in networks.items()} != hashes:
        raise InputError(f"{file} holds other networks; it is damaged, or of another experiment")


def _read_versions(file: Path) -> dict[str, str]:
    """Versions that made the numbers; none where there is no such file, and none with a warning where it is damaged."""
    if not file.exists():
        return {}
    content = read_bytes(file)
    try:
        return {str(k): str(v) for k, v in parse_object(content, str(file), "versions")["versions"].items()}
    except (InputError, KeyError, TypeError, AttributeError):
        warn_user(
            f"{file}: damaged, so that nothing says which versions made the numbers; the numbers are not concerned"
        )
        return {}


def list_versions() -> dict[str, str]:
    """Versions of what an experiment's numbers depend on.

    >>> sorted(list_versions())
    ['Python', 'numpy', 'possnet', 'pyarrow']
    """
    return {"Python": platform.python_version(), **{name: version(name) for name in ("possnet", "numpy", "pyarrow")}}


def load_outcomes(folder: Path, trials: list[Trial]) -> dict[Trial, Outcome]:
    """What came of the finished trials; a damaged file counts as not finished, and that is told."""
    outcomes, damaged = {}, []
    names = {file.stem for file in (folder / "trials").glob("*.json")}
    for trial in (trial for trial in trials if trial.key in names):
        file = folder / "trials" / f"{trial.key}.json"
        try:
            outcomes[trial] = _decode_outcome(read_bytes(file), file, trial)
        except InputError:
            damaged.append(file.name)
    if damaged:
        warn_user(
            f"{folder}: {count_noun(len(damaged), 'trial')} of {len(names)} cannot be read, as the file is damaged "
            f"({listing(damaged[:3])}{', ...' if len(damaged) > 3 else ''}); possnet evaluate runs such trials again"
        )
    return outcomes


def _decode_outcome(content: bytes, file: Path, trial: Trial) -> Outcome:
    """What came of a trial; an `InputError` if the file is damaged, or is that of another trial."""
    import msgspec

    document = parse_object(content, str(file), "what came of a trial")
    if document.pop("trial", None) != asdict(trial):
        raise InputError(f"{file}: of another trial")
    try:
        # the words of possnet's own values: another kind, or another name, is damage
        if set(document) != set(Outcome._fields):
            raise InputError(f"{file}: {listing(sorted(document))}; expected {listing(Outcome._fields)}")
        return msgspec.convert(tuple(document[name] for name in Outcome._fields), Outcome)
    except msgspec.ValidationError as error:
        raise InputError(f"{file}: {error}") from None


@contextmanager
def hold_folder(path: str | Path, grid: Grid) -> Iterator[ExperimentFolder]:
    """The folder of an experiment, new or begun, kept to this process; checked before anything is written."""
    folder = ExperimentFolder(path, grid)
    folder.require_same_grid()
    make_folder(folder.path)
    with lock_folder(folder.path):
        folder.prepare()
        yield folder


class ExperimentFolder:
    """Where an experiment is kept."""

    def __init__(self, path: str | Path, grid: Grid) -> None:
        given: object = path
        if not isinstance(given, str | Path):
            raise InputError(f"evaluate: out {path!r}; expected the name of a folder")
        self.path = Path(path)
        self._grid = grid

    def require_same_grid(self) -> bool:
        """Refuse a folder that holds anything but this experiment; gives whether it holds it already."""
        asked = self.path / "experiment.json"
        try:
            names = {file.name for file in self.path.iterdir()}  # in one look: another process may be about to write
        except FileNotFoundError:
            return False
        except NotADirectoryError:
            raise InputError(f"{self.path}: not a folder; expected a new or an empty folder") from None
        except (OSError, ValueError) as error:
            raise file_error(self.path, error) from None
        if asked.name not in names:
            if any(map(_is_foreign, names)):
                raise InputError(f"{self.path} is not empty and holds no experiment; expected a new or an empty folder")
            return False
        try:
            known = parse_object(read_bytes(asked), str(asked), "an experiment of possnet")
        except InputError as error:
            raise InputError(
                f"{error}. Nothing was written; delete the folder, or put a copy of the file there"
            ) from None
        if known != json.loads(json.dumps(self._grid.describe())):
            raise InputError(
                f"{self.path} holds another experiment; expected an empty folder, or the same options to go on with it"
            )
        return True

    def prepare(self) -> None:
        """Write what is asked, as far as it is not there; remove what a killed run left behind."""
        begun = self.require_same_grid()  # again, now that nobody else writes here
        for folder in (self.path, self.path / "trials"):
            if folder.is_dir():
                for part in folder.glob(".*.part"):
                    remove_file(part)
        if not begun:
            asked = json.dumps(self._grid.describe(), indent=2, ensure_ascii=False)
            write_text(self.path / "experiment.json", seal_json(asked))
        documents = {name: json.loads(text) for name, text in self._grid.texts.items()}
        networks = json.dumps(documents, ensure_ascii=False) + "\n"
        file = self.path / "networks.json"
        if not file.exists() or read_bytes(file) != networks.encode():
            write_text(file, networks)
        make_folder(self.path / "trials")

    def save_outcome(self, trial: Trial, outcome: Outcome) -> None:
        """Keep what came of a trial, whole or not at all; after a power failure it may have to be run again."""
        document = {"trial": asdict(trial), **outcome._asdict()}
        text = seal_json(json.dumps(document, ensure_ascii=False))
        write_text(self.path / "trials" / f"{trial.key}.json", text, durable=False)

    def write_results(self, results: Results, *, ran: bool) -> dict[str, str]:
        """Write ``results.csv``, ``results.parquet`` and, if anything ``ran`` now, ``timings.json``; gives the versions."""
        sync_folder(self.path / "trials")  # once for all trials, before what is made of them
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


def _is_foreign(name: str) -> bool:
    """Whether a file in a folder is not what a run leaves there that was killed in its first instant.

    >>> _is_foreign("thesis.tex"), _is_foreign(LOCK)
    (True, False)
    """
    return not (name == LOCK or (name.startswith(".") and name.endswith(".part")))


def _list_rows(trial: Trial, outcome: Outcome) -> list[tuple[Any, ...]]:
    """Tidy rows of a trial: one for every metric, or one that holds the error."""
    head = (*trial.setting, trial.repeat)
    if outcome.error is not None:
        return [(*head, None, None, None, None, outcome.error)]
    return [(*head, metric, *measured, None) for metric, measured in outcome.metrics.items()]

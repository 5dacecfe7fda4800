"""The folder of an experiment: damage is noticed before anything is written, and one process writes into it at a time."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import possnet as pn
from possnet.errors import PossnetWarning
from possnet.experiment import read_experiment
from possnet.io import lock_folder

HOW: dict[str, Any] = {
    "rows": 20,
    "imprecision": 1,
    "process": "alpha-cut",
    "learners": "likelihood",
    "repeats": 2,
    "rng": 1,
    "workers": 1,
}


def content(folder: Path) -> dict[str, bytes]:
    """Every file of a folder but those with seconds inside."""
    files = (file for file in folder.rglob("*") if file.is_file())
    return {
        str(file.relative_to(folder)): file.read_bytes()
        for file in files
        if file.name != "timings.json" and file.parent.name != "trials"
    }


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("experiment") / "run"
    pn.evaluate(["asia"], **HOW, out=folder)
    return folder


def copied(finished: Path, folder: Path) -> Path:
    for file in finished.rglob("*"):
        if file.is_file():
            target = folder / file.relative_to(finished)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(file.read_bytes())
    return folder


def change_trial(text: str) -> dict[str, str]:
    """Damaged texts of a trial: cut, of other kinds, of other numbers, of another trial."""
    document = json.loads(text)
    value = document["metrics"]["affinity"][0]
    del document["checksum"]
    return {
        "cut": text[: len(text) // 2],
        "empty": "",
        "digit": text.replace(repr(value), repr(value / 2), 1),
        "kind": json.dumps({**document, "metrics": {"affinity": "high"}}),
        "list": json.dumps({**document, "metrics": [1, 2]}),
        "short": json.dumps({**document, "metrics": {"affinity": [1.0]}}),
        "missing": json.dumps({name: document[name] for name in document if name != "contexts"}),
        "renamed": text.replace('"checksum"', '"chacksum"'),
        "other": json.dumps({**document, "trial": {**document["trial"], "repeat": 7}}),
        "none": "null",
    }


@pytest.mark.parametrize(
    "damage", ["cut", "empty", "digit", "kind", "list", "short", "missing", "renamed", "other", "none"]
)
def test_a_damaged_trial_is_run_again_and_said(damage: str, finished: Path, tmp_path: Path) -> None:
    folder = copied(finished, tmp_path / "run")
    file = min((folder / "trials").iterdir())
    file.write_text(change_trial(file.read_text(encoding="utf-8"))[damage], encoding="utf-8")
    with pytest.raises(pn.InputError, match="1 of 2 runs are not finished"), pytest.warns(PossnetWarning):
        read_experiment(folder)
    with pytest.warns(PossnetWarning, match=rf"1 trial of 2 cannot be read.*{file.name}.*runs such trials again"):
        pn.evaluate(["asia"], **HOW, out=folder)
    assert content(folder) == content(finished)
    assert read_experiment(folder).results.failed == []


@pytest.mark.parametrize("damage", [lambda text: text[:40], lambda _: "", lambda text: text.replace("20", "30")])
def test_a_damaged_description_is_a_sentence_and_nothing_is_written(
    damage: Any, finished: Path, tmp_path: Path
) -> None:
    folder = copied(finished, tmp_path / "run")
    (folder / "experiment.json").write_text(
        damage((folder / "experiment.json").read_text(encoding="utf-8")), encoding="utf-8"
    )
    before = {file: (file.stat().st_mtime_ns, file.read_bytes()) for file in folder.rglob("*") if file.is_file()}
    with pytest.raises(pn.InputError, match=r"experiment.json.*Nothing was written") as caught:
        pn.evaluate(["asia"], **HOW, out=folder)
    assert "\n" not in str(caught.value)
    with pytest.raises(pn.InputError, match="experiment.json"):
        read_experiment(folder)
    assert {
        file: (file.stat().st_mtime_ns, file.read_bytes()) for file in folder.rglob("*") if file.is_file()
    } == before


def test_damaged_networks_are_refused_by_readers_and_mended_by_the_next_run(finished: Path, tmp_path: Path) -> None:
    folder = copied(finished, tmp_path / "run")
    kept = folder / "networks.json"
    kept.write_text(kept.read_text(encoding="utf-8").replace("0.1", "0.2", 1), encoding="utf-8")
    with pytest.raises(pn.InputError, match=r"networks.json holds other networks; it is damaged"):
        read_experiment(folder)
    pn.evaluate(["asia"], **HOW, out=folder)
    assert content(folder) == content(finished)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"versions": 3}', '{"trials": []}'])
def test_damaged_versions_are_said_and_cost_no_number(text: str, finished: Path, tmp_path: Path) -> None:
    folder = copied(finished, tmp_path / "run")
    (folder / "timings.json").write_text(text, encoding="utf-8")
    with pytest.warns(PossnetWarning, match=r"timings.json: damaged, so that nothing says which versions"):
        experiment = read_experiment(folder)
    assert experiment.versions == {}
    assert experiment.results == read_experiment(finished).results


def test_versions_that_cannot_be_read_are_not_left_out_in_silence(finished: Path, tmp_path: Path) -> None:
    """A report without them would be another one than that of the run before, and nobody would know why."""
    folder = copied(finished, tmp_path / "run")
    (folder / "timings.json").unlink()
    assert read_experiment(folder).versions == {}  # a file that was thrown away is nobody's fault
    (folder / "timings.json").mkdir()
    with pytest.raises(pn.InputError, match=r"timings.json: a folder; expected a file"):
        read_experiment(folder)


def test_a_folder_that_is_being_written_says_by_whom_and_since_when(finished: Path, tmp_path: Path) -> None:
    folder = copied(finished, tmp_path / "run")
    with (
        lock_folder(folder),
        pytest.raises(pn.InputError) as caught,
    ):
        pn.evaluate(["asia"], **HOW, out=folder)
    told = rf"run is being written by process {os.getpid()} on \S+ since \d{{4}}-\d\d-\d\d \d\d:\d\d UTC, for \d+ s; expected"
    assert re.search(told, str(caught.value))
    assert content(folder) == content(finished)


def test_the_lock_of_a_killed_process_locks_nobody_out(finished: Path, tmp_path: Path) -> None:
    folder = copied(finished, tmp_path / "run")
    script = f"import os; from possnet.io import lock_folder; held = lock_folder({str(folder)!r}); held.__enter__(); os._exit(9)"
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 9
    assert (folder / ".possnet.lock").exists()
    pn.evaluate(["asia"], **HOW, out=folder)
    assert content(folder) == content(finished)


def test_of_runs_started_together_one_works_and_the_others_are_told(finished: Path, tmp_path: Path) -> None:
    """Threads of one process meet at the lock as processes do; each either finishes or is told."""
    folder = tmp_path / "together"

    def attempt(_: int) -> str:
        try:
            pn.evaluate(["asia"], **HOW, out=folder)
        except pn.InputError as error:
            return str(error)
        return "done"

    with ThreadPoolExecutor(4) as pool:
        outcomes = list(pool.map(attempt, range(4)))
    assert "done" in outcomes
    assert all("is being written by" in text for text in outcomes if text != "done")
    assert content(folder) == content(finished)


def test_a_full_disk_while_a_figure_is_written_is_one_sentence(
    finished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = copied(finished, tmp_path / "run")
    script = (
        "import errno, os\nfrom possnet.__main__ import run\nwrite = os.write\n"
        "def fail(handle, content):\n"
        "    if b'%PDF' in bytes(content[:8]):\n        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))\n"
        "    return write(handle, content)\n"
        "os.write = fail\nrun()"
    )
    monkeypatch.setenv("PYTHONPATH", "")
    done = subprocess.run(
        [sys.executable, "-c", script, "report", str(folder)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert re.fullmatch(r"Error: \S+\.pdf: no space left on device; [^\n]+\n", done.stderr)
    assert not list(folder.rglob("*.part"))
    assert not (folder / "report.html").exists()

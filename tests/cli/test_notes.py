"""What possnet warns of while a command runs: a note on standard error, and in every document for machines."""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import pytest

import possnet as pn
from possnet.errors import warn_user
from tests.commands import run

ROWS = "fever,rash,ward\nmild,?,a\nnone,spots,b\n"


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    file = tmp_path / "rows.csv"
    file.write_text(ROWS, encoding="utf-8")
    return file


def test_a_warning_of_the_library_is_one_note_however_often_it_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = pn.Inference(pn.load_example("asia"))

    def warning_inference(_: pn.Network, **__: object) -> pn.Inference:
        warn_user("the network is old")
        warn_user("the network is old")
        warnings.warn("an array was copied", RuntimeWarning, stacklevel=1)
        return engine

    monkeypatch.setattr(pn, "Inference", warning_inference)
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        shown = run("query", "asia", "smoke")
        document = json.loads(run("query", "asia", "smoke", "--json").stdout)
    assert shown.returncode == 0
    assert shown.stderr == "Note: the network is old\n"
    assert document["notes"] == ["the network is old"]


def test_columns_left_out_are_noted_for_people_and_machines(rows: Path, tmp_path: Path) -> None:
    told = "columns that the network lacks were left out: ward; name those to keep with --keep"
    shown = run("complete", "clinic", rows, "--out", tmp_path / "out.csv", "--json")
    assert json.loads(shown.stdout)["notes"] == [told]
    assert shown.stderr.splitlines()[1:] == [f"Note: {told}"]


def test_contexts_that_em_cannot_tell_apart_are_noted(tmp_path: Path) -> None:
    clinic = pn.load_example("clinic")
    pn.write_data(pn.sample(clinic, 40, process="traced", rng=1), tmp_path / "rows.csv")
    shown = run("fit", tmp_path / "rows.csv", "--structure", "clinic", "--method", "em", "--out", tmp_path / "n.json")
    first, written, *notes = shown.stderr.splitlines()
    assert "steps, converged; log-likelihood" in first
    assert written.startswith("Wrote ")
    assert notes
    assert all(note.startswith("Note: contexts ") for note in notes)


@pytest.mark.usefixtures("no_report")
def test_every_document_has_its_notes(rows: Path, tmp_path: Path) -> None:
    few = ["--rows", "20", "--imprecision", "1", "--process", "traced", "--repeats", "1", "--workers", "1"]
    for words in (
        ["info", "asia"],
        ["info", rows],
        ["query", "asia", "smoke"],
        ["learn", rows, "--method", "mwst", "--require", "fever->rash"],
        ["complete", "clinic", rows, "--keep", "ward", "--out", tmp_path / "out.csv"],
        ["compare", "asia", "asia"],
        ["evaluate", "asia", *few],
    ):
        assert json.loads(run(*words, "--json").stdout)["notes"] == [], words


def test_an_error_stands_alone(rows: Path, tmp_path: Path) -> None:
    shown = run("complete", "clinic", rows, "--as", "narrowed", "--threshold", "7", "--out", tmp_path / "out.csv")
    assert shown.returncode == 1
    assert shown.stderr.startswith("Error: ")
    assert len(shown.stderr.splitlines()) == 1

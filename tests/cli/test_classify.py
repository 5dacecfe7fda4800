"""``possnet classify`` and ``possnet complete --calibrate``."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np

import possnet as pn
from tests.commands import run


def write_table(path: Path, rows: int, seed: int, *, ambiguous: bool) -> np.ndarray:
    """Numbers, a colour and a label that may be a set; returns the true labels."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(2, size=rows)
    numbers = rng.normal(size=rows) + 2 * truth
    colours = np.where(rng.random(rows) < 0.8, np.where(truth, "red", "blue"), "?")
    names = np.array(["ash", "birch"])
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["size", "colour", "label"])
        for k in range(rows):
            label = "ash|birch" if ambiguous and k % 3 == 0 else names[truth[k]]
            writer.writerow([f"{numbers[k]:.3f}", colours[k], label])
    return names[truth]


def test_classes_are_predicted_with_sets_and_held_out_figures(tmp_path: Path) -> None:
    write_table(tmp_path / "train.csv", 150, 1, ambiguous=True)
    truth = write_table(tmp_path / "test.csv", 60, 2, ambiguous=False)
    out = tmp_path / "predictions.csv"
    arguments = [
        "classify",
        str(tmp_path / "train.csv"),
        str(tmp_path / "test.csv"),
        "--target",
        "label",
        "--structure",
        "naive",
    ]
    page = run(*[*arguments, "--out", str(out)]).stdout
    assert "Held out (5 folds of TRAIN): the predicted class is a candidate in" in page
    assert "TEST itself: the predicted class is right in" in page
    lines = list(csv.DictReader(out.read_text(encoding="utf-8").splitlines()))
    assert len(lines) == 60
    assert np.mean([line["label"] == name for line, name in zip(lines, truth, strict=True)]) > 0.8
    held = [name in line["set"].split("|") for line, name in zip(lines, truth, strict=True)]
    assert np.mean(held) > 0.8
    document = json.loads(run(*[*arguments, "--out", str(out), "--json", "--folds", "2"]).stdout)
    assert document["held_out"]["rows"] == 150
    assert document["test"]["rows"] == 60
    assert document["classes"] == ["ash", "birch"]


def test_wrong_columns_are_told(tmp_path: Path) -> None:
    write_table(tmp_path / "train.csv", 30, 1, ambiguous=True)
    table = str(tmp_path / "train.csv")
    for arguments, message in (
        (["--target", "lable"], "--target lable: no such column"),
        (["--target", "label", "--without", "shape"], "--without shape: no such column"),
        (["--target", "label", "--alpha", "2"], "alpha 2"),
        (["--target", "label", "--without", "size", "--without", "colour"], "expected at least one"),
    ):
        result = run("classify", table, table, *arguments, "--out", tmp_path / "p.csv")
        assert result.returncode == 1
        assert message in result.stderr, result.stderr


def test_completed_degrees_are_calibrated(tmp_path: Path) -> None:
    clinic = pn.load_example("clinic")
    for name, seed in (("learn", 1), ("keep", 2), ("new", 3)):
        pn.write_data(pn.sample(clinic, 150 + seed, process="precise", rng=seed), tmp_path / f"{name}.csv")
    learned = pn.fit(clinic.dag, pn.read_data(tmp_path / "learn.csv", variables=clinic))
    pn.write_network(learned, tmp_path / "learned.json")
    arguments = ["complete", str(tmp_path / "learned.json"), str(tmp_path / "new.csv"), "--target", "flu", "--hide"]
    out = ["--as", "long", "--out", str(tmp_path / "long.csv")]
    page = run(*[*arguments, "--calibrate", str(tmp_path / "keep.csv"), *out]).stdout
    assert "flu: degrees calibrated on Calibration(flu: 152 rows that the network was not learned from" in page
    keep, new = (pn.read_data(tmp_path / f"{name}.csv", variables=clinic) for name in ("keep", "new"))
    calibration = pn.calibrate(learned, keep, "flu")
    expected = calibration.complete(new, hide=True).long_form()
    lines = list(csv.DictReader((tmp_path / "long.csv").read_text(encoding="utf-8").splitlines()))
    assert np.allclose([float(line["possibility"]) for line in lines], expected["possibility"], atol=1e-6)
    pn.write_calibration(calibration, tmp_path / "flu.json")
    again = run(*[*arguments, "--calibrate", str(tmp_path / "flu.json"), *out]).stdout
    assert "degrees calibrated" in again
    seen = run(*[*arguments, "--calibrate", str(tmp_path / "learn.csv"), *out]).stderr
    assert "expected others, or --seen" in seen
    assert "degrees calibrated" in run(*[*arguments, "--calibrate", str(tmp_path / "learn.csv"), "--seen", *out]).stdout

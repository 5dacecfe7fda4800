"""Calibrating networks and recipes: which rows are refused, what a completion gets, and files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import possnet as pn
from tests.refused import refused


@pytest.fixture(scope="module")
def clinic() -> pn.Network:
    return pn.load_example("clinic")


def draw(network: pn.Network, rows: int, seed: int) -> pn.Dataset:
    return pn.sample(network, rows, process="precise", rng=seed)


def test_rows_that_the_network_has_seen_are_refused(clinic: pn.Network) -> None:
    rows = draw(clinic, 200, 1)
    learned = pn.fit(clinic.dag, rows)
    refused("probably the same rows, which flatter it", pn.calibrate, learned, rows, "flu")
    refused("probably the same rows", pn.calibrate, learned, rows[np.arange(200)[::-1]], "flu")
    assert pn.calibrate(learned, rows, "flu", seen=True).rows == 200
    assert pn.calibrate(learned, draw(clinic, 200, 2), "flu").rows == 200  # as many, but others
    assert pn.calibrate(learned, draw(clinic, 100, 2), "flu").rows == 100


def test_what_cannot_be_calibrated_is_refused(clinic: pn.Network) -> None:
    rows = draw(clinic, 50, 1)
    refused("no column 'flue' in the data.*did you mean 'flu'", pn.calibrate, clinic, rows, "flue")
    refused("by 'probabilty'; expected possibility, probability", pn.calibrate, clinic, rows, "flu", by="probabilty")
    refused("ambiguous 'bset'", pn.calibrate, clinic, rows, "flu", ambiguous="bset")
    refused("alpha 1.5", pn.calibrate, clinic, rows, "flu", alpha=1.5)
    refused("a int; expected a network, a Recipe", pn.calibrate, 3, rows, "flu")
    refused("the recipe gave a str", pn.calibrate, lambda _: "x", rows, "flu")
    refused("50 rows for 40 folds", pn.calibrate, pn.Recipe(dag=clinic.dag), rows, "flu", folds=40)
    unknown = pn.Dataset.from_rows([clinic.variable("flu"), clinic.variable("cough")], [(None, "dry")] * 5)
    refused("no row says anything of 'flu'", pn.calibrate, clinic, unknown, "flu")
    calibration = pn.calibrate(clinic, rows, "flu")
    refused("raw degrees of shape", calibration.degrees, [[1.0, 0.5, 0.2]])
    refused("outside \\[0, 1\\]", calibration.degrees, [[2.0, 0.5]])
    refused("no alpha", calibration.sets, [[1.0, 0.5]])
    with pytest.warns(pn.PossnetWarning, match="cannot rule out anything at alpha 0.001; expected 999 or more"):
        pn.calibrate(clinic, rows, "flu", alpha=0.001)


def test_a_completion_has_calibrated_degrees_inside_its_cells(clinic: pn.Network) -> None:
    calibration = pn.calibrate(clinic, draw(clinic, 300, 1), "fever")
    fever, cough = clinic.variable("fever"), clinic.variable("cough")
    data = pn.Dataset.from_rows([fever, cough], [({"mild", "high"}, "dry"), (None, "productive"), ("none", "dry")])
    completion = calibration.complete(data)
    first = completion.of(0, "fever")
    assert first["none"] == 0.0
    assert max(first["mild"], first["high"]) == 1.0
    (scores,) = calibration.score(data)
    assert completion.of(1, "fever").degrees == pytest.approx(calibration.degrees(scores[1], logs=True))
    assert completion.resolved().row(2)["fever"] == {"none"}


def test_recipes_are_learned_inside_folds(clinic: pn.Network) -> None:
    rows = draw(clinic, 200, 1)
    calibration = pn.calibrate(pn.Recipe(dag=clinic.dag), rows, "flu", folds=4)
    assert len(calibration.scorers) == 4
    assert calibration.rows == 200
    assert "fold by fold (4 folds)" in repr(calibration)
    new = draw(clinic, 500, 2)
    table = calibration.complete(new, hide=True).degrees["flu"]
    truth = np.array([new.variable("flu").states.index(next(iter(new.row(k)["flu"]))) for k in table.rows])
    missed = (table.table[table.numbers, truth] <= 0.1).mean()
    assert missed < 0.1 + 4 * np.sqrt(0.1 * 0.9 / 200)


@pytest.mark.parametrize("per_class", [False, True])
@pytest.mark.parametrize("folds", [False, True])
def test_files_keep_everything(clinic: pn.Network, tmp_path: Path, *, per_class: bool, folds: bool) -> None:
    rows = draw(clinic, 100, 1)
    subject = pn.Recipe(dag=clinic.dag) if folds else clinic
    calibration = pn.calibrate(subject, rows, "flu", per_class=per_class, alpha=0.1, by="probability")
    file = tmp_path / "flu.json"
    pn.write_calibration(calibration, file)
    again = pn.read_calibration(file)
    assert repr(again) == repr(calibration)
    assert again.alpha == 0.1
    new = draw(clinic, 40, 2)
    expected, found = (c.complete(new, hide=True).degrees["flu"] for c in (calibration, again))
    assert found.table == pytest.approx(expected.table)


def test_damaged_files_are_refused(clinic: pn.Network, tmp_path: Path) -> None:
    file = tmp_path / "flu.json"
    pn.write_calibration(pn.calibrate(clinic, draw(clinic, 20, 1), "flu"), file)
    sealed = file.read_text(encoding="utf-8")
    text = sealed[: sealed.index(', "checksum"')] + "}"  # otherwise any change is refused by that alone
    for broken, message in (
        (sealed.replace('"weights": [1.0', '"weights": [2.0'), "does not have its checksum"),
        (text[:-20], "ends too early"),
        (text.replace("possnet-calibration", "possnet-network"), "Is this a calibration of possnet"),
        (text.replace('"by": "possibility"', '"by": "magic"'), "by 'magic'"),
        (text.replace('"weights": [1.0', '"weights": [-1.0'), "the file is damaged"),
        (
            text.replace(
                '"states": ["yes", "no"], "ordered": false}', '"states": ["yes", "maybe"], "ordered": false}', 1
            ),
            "other states",
        ),
    ):
        file.write_text(broken, encoding="utf-8")
        refused(message, pn.read_calibration, file)

"""Learners that are for the rows of some processes: run on those alone, by default where they suit."""

from __future__ import annotations

import csv
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import possnet as pn
from possnet.io import encode_network
from possnet.learners import LEARNERS
from tests.commands import run

ONE: dict[str, Any] = {"rows": 200, "imprecision": 0.5, "repeats": 1, "rng": 1, "workers": 1}


def test_the_default_learners_are_those_that_suit_the_rows() -> None:
    def tried(**how: Any) -> set[tuple[str, str, float]]:
        return {
            (t.process, t.learner, t.imprecision) for t in pn.evaluate(["asia"], **(ONE | {"rows": 20} | how)).trials
        }

    assert tried(process="traced") == {("traced", "likelihood", 0.5), ("traced", "em", 0.5)}
    both = tried(process=["alpha-cut", "precise"], imprecision=[0.0, 1.0])
    assert {setting for setting in both if setting[1] == "cut"} == {("alpha-cut", "cut", 1.0)}
    assert {setting[1] for setting in both} == {"likelihood", "em", "cut"}


def test_a_learner_without_any_rows_that_suit_it_is_refused_before_anything_is_drawn(tmp_path: Path) -> None:
    for how in ({"process": "traced"}, {"process": "alpha-cut", "imprecision": 0}):
        with pytest.raises(pn.InputError, match=r"learner 'cut' is not for .*; expected one of its processes"):
            pn.evaluate(["asia"], learners=["em", "cut"], out=tmp_path / "run", **(ONE | how))
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("process", "options"),
    [("alpha-cut", {}), ("alpha-cut-text", {"law": "text"}), ("alpha-cut-cuts", {"parents": "cut"})],
)
def test_the_cut_likelihood_is_told_how_the_rows_were_drawn(process: str, options: dict[str, Any]) -> None:
    clinic = pn.load_example("clinic")
    found = pn.evaluate({"clinic": clinic}, learners="cut", process=process, **ONE)
    (trial,) = found.trials
    seed = trial.derive_seed(1, encode_network(clinic))
    data = pn.sample(clinic, 200, imprecision=0.5, process=process, rng=seed)
    expected = pn.fit_cut(clinic.dag, data, imprecision=0.5, **options)
    assert found.summary("child_affinity")[0].mean == pn.compare(clinic, expected.network)["child_affinity"].value
    learned = LEARNERS["cut"].learn_result(clinic.dag, data, 0.5, pn.PRODUCT, process)
    assert isinstance(learned, pn.CutResult)
    assert all(np.array_equal(learned.lower[name], expected.lower[name]) for name in expected.lower)


def test_the_command_prints_limits_and_what_is_identified() -> None:
    few = ["--rows", "500", "--imprecision", "1", "--repeats", "1", "--workers", "1"]
    shown = run("evaluate", "clinic", *few, "--learner", "likelihood,em,cut", "--process", "alpha-cut")
    assert (shown.returncode, shown.stderr) == (0, "")
    head, numbers = next(
        (line.split(), below.split())
        for line, below in pairwise(shown.stdout.splitlines())
        if line.startswith("  counting")
    )
    assert " ".join(head) == "counting EM cut likelihood ignorance limit of counting limit of cut likelihood"
    assert numbers[-1] == "0.900"
    assert "% of the degrees exactly (identified; their mean error: 0." in shown.stdout
    assert "Learnable by the cut likelihood 0." in shown.stdout
    covered = run(
        "evaluate", "clinic", *few, "--learner", "cut,em", "--metric", "bound_coverage", "--process", "alpha-cut"
    )
    assert "coverage of the bounds" in covered.stdout
    assert float(covered.stdout.split("cut likelihood  ignorance\n")[1].split()[0]) >= 0.9
    refused = run("evaluate", "clinic", *few, "--learner", "cut", "--process", "traced")
    assert refused.returncode == 1
    assert "learner 'cut' is not for traced" in refused.stderr


def test_metrics_of_bounds_are_in_the_results(tmp_path: Path) -> None:
    results = pn.evaluate(["clinic"], learners=["em", "cut"], process="alpha-cut", out=tmp_path / "run", **ONE)
    with (tmp_path / "run" / "results.csv").open(newline="", encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    for metric in ("bound_coverage", "identified_share", "identified_error"):
        (line,) = [line for line in lines if line["metric"] == metric]
        assert line["learner"] == "cut"
        assert float(line["value"]) == pytest.approx(results.summary(metric)[0].mean)

"""Metrics and learners of one's own in an experiment, its folder and its report."""

from __future__ import annotations

import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import possnet as pn
from possnet.experiment import read_experiment
from possnet.learners import LEARNERS, Learner
from possnet.metrics import METRICS, ComparedNetwork, Metric
from possnet.report.html_page import build_page
from possnet.structure import MEASURES, DecomposableScore, StructureScore
from tests.commands import run
from tests.paths import ROOT


def largest_table(compared: ComparedNetwork) -> float:
    """A number that is easy to tell from others: 100 + the states of the largest table."""
    return 100.0 + max(table.size for table in compared.tables.values())


def register(name: str = "largest_table") -> Metric:
    return METRICS.register(Metric(name, "states of the largest table", "100 and its entries", largest_table))


@pytest.fixture
def own() -> Iterator[Metric]:
    yield register()
    METRICS.unregister("largest_table")


def small(folder: Path, **options: Any) -> pn.Results:
    how: dict[str, Any] = {"rows": 40, "imprecision": 1, "process": "traced", "learners": "likelihood", "repeats": 1}
    return pn.evaluate(["asia"], **(how | options), rng=1, workers=1, out=folder)


def test_a_metric_of_ones_own_is_a_column_of_the_report(tmp_path: Path, own: Metric) -> None:
    page = build_page(small(tmp_path / "run").experiment, [])
    assert f">{own.label}</button>" in page
    assert f"{own.label}: {own.description}" in page
    assert ">108.000</td>" in page  # the table of dysp: two parents and itself, two states each
    METRICS.unregister(own.name)
    try:  # read where nobody has registered it
        assert f">{own.name}</button>" in build_page(read_experiment(tmp_path / "run"), [])
    finally:
        METRICS.register(own)


def test_a_report_without_metrics_of_ones_own_has_the_usual_columns(tmp_path: Path) -> None:
    page = build_page(small(tmp_path / "run").experiment, [])
    heads = page.split("<thead>")[1].split("</thead>")[0]
    assert heads.count("<th") == 5 + 4 + 2 * 2  # settings; metrics, two of them with ignorance and limit


def test_a_folder_that_was_measured_without_a_metric_says_so(tmp_path: Path) -> None:
    first = small(tmp_path / "run", rows=[40, 60])
    before = (tmp_path / "run" / "results.csv").read_bytes()
    with warnings.catch_warnings():
        warnings.simplefilter("error", pn.PossnetWarning)
        assert small(tmp_path / "run", rows=[40, 60]) == first
    register()
    try:
        with pytest.warns(pn.PossnetWarning, match="the 2 trials kept there were measured without 'largest_table'"):
            again = small(tmp_path / "run", rows=[40, 60])
        assert again.summary("largest_table") == []
        assert (tmp_path / "run" / "results.csv").read_bytes() == before
        with warnings.catch_warnings():
            warnings.simplefilter("error", pn.PossnetWarning)
            assert small(tmp_path / "new", rows=[40, 60]).summary("largest_table")
            assert small(tmp_path / "new", rows=[40, 60]).summary("largest_table")
    finally:
        METRICS.unregister("largest_table")


def test_the_report_says_that_its_command_needs_the_learner_of_ones_own(tmp_path: Path) -> None:
    LEARNERS.register(Learner("cautious", "cautious counting", lambda dag, data, **_: pn.fit(dag, data)))
    try:
        experiment = small(tmp_path / "run", learners=["likelihood", "cautious"]).experiment
        page = build_page(experiment, [])
    finally:
        LEARNERS.unregister("cautious")
    again = page.split(">Do it again</h2>")[1]
    assert "<code>cautious</code>: registered by another program" in again
    assert "<code>likelihood</code>" not in again
    assert "possnet.cli.main()" in again
    told = run("evaluate", "asia", "--learner", "likelihood,cautious").stderr
    assert "learner 'cautious'; expected" in told
    assert told.count("of your own") == 1
    assert "A learner of your own is known only where it is registered" in told
    reread = run("report", tmp_path / "run").stderr
    assert reread.count("of your own") == 1
    assert "registered by another" not in build_page(small(tmp_path / "usual").experiment, [])


def test_a_score_of_ones_own_is_not_sent_to_workers(tmp_path: Path) -> None:
    MEASURES.register(StructureScore("own", "own", lambda problem: DecomposableScore(problem.rows, price=2.0)))
    how: dict[str, Any] = {"rows": [40, 60, 80], "imprecision": 0, "process": "precise", "learners": "likelihood"}
    try:
        learned = pn.evaluate(
            ["asia"], **how, repeats=2, rng=1, learn=["given", "greedy:own"], workers=2, out=tmp_path / "run"
        )
        page = pn.write_report(learned.experiment, workers=2).read_text(encoding="utf-8")
    finally:
        MEASURES.unregister("own")
    assert learned.failed == []
    assert "<code>own</code>: registered by another program" in page.split(">Do it again</h2>")[1]


def test_a_script_that_registers_and_calls_the_command_line_has_a_metric_and_a_learner(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "howto" / "own-learner.md").read_text(encoding="utf-8")
    script = page.split(":caption: mine.py\n\n")[1].split("```")[0]
    (tmp_path / "mine.py").write_text(script, encoding="utf-8")
    words = ["evaluate", "asia", "--rows", "40", "--imprecision", "1", "--process", "traced", "--repeats", "1"]
    words += ["--learner", "likelihood,cautious", "--metric", "same_core"]
    done = subprocess.run(
        [sys.executable, "mine.py", *words], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert "contexts with the true core" in done.stdout
    assert "cautious counting" in done.stdout

"""Metrics and learners of one's own in an experiment, its folder and its report."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import possnet as pn
from possnet.experiment import read_experiment
from possnet.metrics import METRICS, ComparedNetwork, Metric
from possnet.report.html_page import build_page


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

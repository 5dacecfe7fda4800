"""Metrics and learners of one's own in an experiment, its folder and its report."""

from __future__ import annotations

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

"""The registry of metrics: what its entries promise, and one that is registered from outside."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given

import possnet as pn
from possnet.metrics import METRICS, ComparedNetwork, DegreeBounds, Metric
from tests import strategies


def count_wrong_peaks(compared: ComparedNetwork) -> float:
    """Rows whose most possible states are not all the true ones."""
    differ = compared.compare_rows(lambda true, other: np.asarray(((true == 1.0) != (other == 1.0)).any(axis=-1)))
    return float(sum(rows.sum() for rows in differ.values()))


@pytest.fixture
def wrong_peaks() -> Iterator[Metric]:
    yield METRICS.register(
        Metric("wrong_peaks", "wrong peaks", "rows with other most possible states", count_wrong_peaks)
    )
    METRICS.unregister("wrong_peaks")


def test_a_metric_from_outside_is_compared_summarised_and_shown(wrong_peaks: Metric) -> None:
    asia = pn.load_example("asia")
    comparison = pn.compare(asia, asia, limit=asia)
    assert comparison[wrong_peaks.name] == (0.0, comparison["wrong_peaks"].vacuous, 0.0)
    assert comparison["wrong_peaks"].vacuous > 0
    assert wrong_peaks.description in comparison._repr_html_()
    results = pn.evaluate(["asia"], rows=[20, 50, 90], imprecision=1, learners="likelihood", repeats=2, rng=1)
    assert results.failed == []
    assert {s.metric for s in results.summary("wrong_peaks")} == {"wrong_peaks"}
    assert results.sentences("wrong_peaks")


@given(strategies.networks(max_variables=3))
def test_equal_networks_have_the_best_value_of_every_metric(net: pn.Network) -> None:
    tables = {v.name: net.table(v.name) for v in net.variables}
    exact = DegreeBounds(
        tables,
        tables,
        {name: np.ones(table.shape, dtype=np.bool_) for name, table in tables.items()},
        {name: np.zeros(table.shape) for name, table in tables.items()},
    )
    comparison = pn.compare(net, net, limit=net, bounds=exact)
    for name, metric in METRICS.items():
        if name != "contexts_left_out":
            assert comparison[name].value == pytest.approx(float(metric.higher_is_better), abs=1e-12), name


def test_labels_and_descriptions_differ() -> None:
    assert len({metric.label for metric in METRICS.values()}) == len(METRICS)
    assert {metric.subject for metric in METRICS.values()} == {"tables", "children", "joint", "structure"}


def metric_of(compute: Any) -> Metric:
    return Metric("mine", "mine", "of mine", compute)


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ({"a": 1}, r"\{'a': 1\}"),
        (np.array([0.5, 1.0]), "array"),
        ("0.5", "'0.5'"),
        (float("nan"), "nan"),
        (np.float64("inf"), "inf"),
        (1 + 2j, "1"),
    ],
)
def test_a_metric_that_gives_no_number_is_named(value: Any, found: str, tmp_path: Path) -> None:
    METRICS.register(metric_of(lambda _: value))
    try:
        asia = pn.load_example("asia")
        with pytest.raises(pn.InputError, match=f"metric 'mine' gave .*{found}.*; expected a number, or None"):
            pn.compare(asia, asia)
        results = pn.evaluate(
            ["asia"], rows=20, imprecision=1, process="traced", learners="likelihood", repeats=1, out=tmp_path / "run"
        )
        ((_, error),) = results.failed
        assert "metric 'mine' gave" in error
    finally:
        METRICS.unregister("mine")


@pytest.mark.parametrize("value", [3, True, np.float32(0.5), np.int64(2), np.array(0.25)])
def test_a_number_of_any_kind_is_kept_as_a_float_and_read_again(value: Any, tmp_path: Path) -> None:
    METRICS.register(metric_of(lambda _: value))
    how: dict[str, Any] = {"rows": 20, "imprecision": 1, "process": "traced", "learners": "likelihood", "repeats": 1}
    try:
        results = pn.evaluate(["asia"], **how, out=tmp_path / "run")
        (summary,) = results.summary("mine")
        assert (type(summary.mean), summary.mean) == (float, float(value))
        assert pn.evaluate(["asia"], **how, out=tmp_path / "run") == results  # no trial is damaged
    finally:
        METRICS.unregister("mine")


def test_a_metric_that_fails_is_named_and_one_that_is_not_defined_is_left_out() -> None:
    asia = pn.load_example("asia")
    METRICS.register(metric_of(lambda _: 1 / 0))
    try:
        with pytest.raises(pn.InputError, match="metric 'mine' failed with ZeroDivisionError: division by zero"):
            pn.compare(asia, asia)
        METRICS.unregister("mine")
        METRICS.register(metric_of(lambda _: None))
        assert "mine" not in pn.compare(asia, asia)
    finally:
        METRICS.unregister("mine")


def test_what_a_metric_compares_is_one_of_four_words() -> None:
    with pytest.raises(pn.InputError, match="metric 'mine': subject 'child'; expected .*did you mean 'children'"):
        Metric("mine", "mine", "", lambda _: 0.0, subject="child")  # type: ignore[arg-type]

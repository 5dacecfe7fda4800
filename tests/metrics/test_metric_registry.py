"""The registry of metrics: what its entries promise, and one that is registered from outside."""

from __future__ import annotations

from collections.abc import Iterator

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

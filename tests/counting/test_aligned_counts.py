"""Counts of rows in another order of states, variables and parents add up, fit and score as if it were one order."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

import possnet as pn
from tests import strategies
from tests.dataset.test_aligned_rows import shuffle_columns


def shuffle_dag(dag: pn.Dag, rng: np.random.Generator) -> pn.Dag:
    nodes = [dag.nodes[k] for k in rng.permutation(len(dag.nodes))]
    return pn.Dag({n: [dag.parents(n)[k] for k in rng.permutation(len(dag.parents(n)))] for n in nodes})


@given(strategies.counted(weighted=False), strategies.seeds)
def test_counts_in_any_order_add_up_and_fit_alike(case: tuple[pn.Dag, pn.Dataset], seed: int) -> None:
    (dag, data), rng = case, np.random.default_rng(seed)
    other_dag, shuffled = shuffle_dag(dag, rng), shuffle_columns(data, rng)
    counts, others = pn.count(dag, data, focal=True), pn.count(other_dag, shuffled, focal=True)
    assert counts + others == counts + counts
    assert (others + counts).rows == 2 * counts.rows
    assert pn.fit(other_dag, counts) == pn.fit(other_dag, pn.count(other_dag, data))
    net = pn.fit(dag, data)
    assert pn.log_likelihood(net, others) == pytest.approx(pn.log_likelihood(net, counts), nan_ok=True)
    sets = pn.fit_random_sets(dag, data)
    assert pn.random_set_log_likelihood(sets, others) == pytest.approx(pn.random_set_log_likelihood(sets, counts))


def test_real_differences_between_counts_are_named() -> None:
    data = pn.Dataset.from_table({"a": ["x", "y"], "b": ["u", "v"]})
    other = pn.Dataset.from_table({"a": ["x", "z"], "b": ["u", "v"]})
    dag, turned = pn.Dag({"a": (), "b": ("a",)}), pn.Dag({"a": ("b",), "b": ()})
    counts = pn.count(dag, data)
    with pytest.raises(pn.InputError, match="'a' is y only in the first, 'a' is z only in the second"):
        counts + pn.count(dag, other)
    with pytest.raises(pn.InputError, match=r"another structure: 'a' has the parents \(\) and \(b\), 'b' has"):
        counts + pn.count(turned, data)
    with pytest.raises(pn.InputError, match="'b' only in the counts"):
        pn.fit(pn.Dag({"a": ()}), counts)


def test_em_goes_on_from_a_result_in_another_order() -> None:
    clinic = pn.load_example("clinic")
    data = pn.sample(clinic, 200, process="traced", imprecision=0.5, rng=1)
    dag = clinic.dag
    earlier = pn.fit_em(dag, data)
    rng = np.random.default_rng(2)
    again = pn.fit_em(shuffle_dag(dag, rng), shuffle_columns(data, rng), options=pn.EmOptions(start=earlier))
    same = pn.fit_em(dag, data, options=pn.EmOptions(start=earlier))
    assert again.log_likelihood[0] == pytest.approx(same.log_likelihood[0])
    assert again.steps == same.steps

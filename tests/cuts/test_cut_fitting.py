"""Learning from alpha-cut rows: bounds, errors, weights, streams, missing cells, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import possnet as pn
from possnet.cuts import count_cells, count_family
from tests import oracles, strategies

X, Y = pn.Variable("x", ("x1", "x2")), pn.Variable("y", ("y1", "y2"))
PAIR = pn.Dag({"x": (), "y": ("x",)})


def pair(root: list[float], child: list[list[float]], conjunction: pn.Conjunction = pn.PRODUCT) -> pn.Network:
    return pn.Network((X, Y), PAIR, {"x": root, "y": child}, conjunction=conjunction)


def same_result(one: pn.CutResult, other: pn.CutResult) -> bool:
    parts = ("lower", "upper", "identified", "error", "support")
    return one.log_likelihood == pytest.approx(other.log_likelihood) and all(
        np.allclose(getattr(one, part)[name], getattr(other, part)[name]) for part in parts for name in one.lower
    )


@settings(max_examples=40, deadline=None)
@given(strategies.counted())
def test_cells_of_families_are_counted(drawn: tuple[pn.Dag, pn.Dataset]) -> None:
    dag, data = drawn
    for name, family in count_cells(dag, data, "test").items():
        names = (*dag.parents(name), name)
        kept: dict[tuple[frozenset[str], ...], int] = {}
        for r, (row, weight) in enumerate(oracles.weighted_rows(data)):
            if weight and not any(data.missing(n)[r] for n in names):
                key = tuple(row[n] for n in names)
                kept[key] = kept.get(key, 0) + weight
        sets = [*family.parent_cells, family.child_cells]
        scope = [data.variable(n) for n in names]
        found = {}
        for (combination, cell), count in zip(family.pairs, family.counts, strict=True):
            numbers = (*family.combinations[combination], cell)
            found[tuple(
                frozenset(s for s, there in zip(v.states, own[k], strict=True) if there)
                for v, own, k in zip(scope, sets, numbers, strict=True)
            )] = int(count)  # fmt: skip
        assert found == kept
        assert family.left_out == data.total - sum(kept.values())
        assert family.rows.sum() == sum(kept.values())
        single = count_family(data, name, dag.parents(name))
        assert np.array_equal(single.counts, family.counts)


@pytest.mark.parametrize("conjunction", [pn.PRODUCT, pn.MIN])
@pytest.mark.parametrize("theta", [1.0, 0.5])
def test_identified_tables_are_recovered(conjunction: pn.Conjunction, theta: float) -> None:
    """(1, .5) with (1, .2), (1, .8) by product is a point; by min .8 above .5 can be anything from .5 on."""
    net = pair([1, 0.5], [[1, 0.2], [1, 0.8]], conjunction)
    data = pn.sample(net, 200_000, imprecision=theta, rng=1)
    result = pn.fit_cut(net.dag, data, imprecision=theta, conjunction=conjunction)
    exact = pn.identify_degrees(net, imprecision=theta)
    for name, upper in exact.upper.items():
        assert result.upper[name] == pytest.approx(upper, abs=0.02)
        assert result.lower[name] == pytest.approx(exact.lower[name], abs=0.02)
        assert np.array_equal(result.identified[name], exact.identified[name])
    assert result.network.conjunction is conjunction
    assert result.imprecision == theta
    assert result.imprecision_identified is None


@pytest.mark.parametrize(("name", "theta", "least"), [
    ("pump", 1.0, 0.875), ("pump", 0.5, 0.865), ("clinic", 1.0, 0.88), ("asia", 0.5, 0.85),
])  # fmt: skip
def test_the_bundled_networks_beat_ignorance_and_counting(name: str, theta: float, least: float) -> None:
    net = pn.load_example(name)
    data = pn.sample(net, 100_000, imprecision=theta, rng=1)
    measured = pn.compare(net, pn.fit_cut(net.dag, data, imprecision=theta).network)["child_affinity"]
    counted = pn.compare(net, pn.fit(net.dag, data))["child_affinity"]
    assert measured.value >= least
    assert measured.value > measured.vacuous > counted.value


@settings(max_examples=12, deadline=None)
@given(strategies.seeds, st.sampled_from([1.0, 0.5]), strategies.conjunctions)
def test_the_truth_lies_within_the_bounds_up_to_their_errors(
    seed: int, theta: float, conjunction: pn.Conjunction
) -> None:
    """Five errors of the bounds here, for every degree; three for all but few in benchmarks/cut_quality.py."""
    net = pn.random_network(5, max_parents=2, states=(2, 3), rng=seed, conjunction=conjunction)
    result = pn.fit_cut(
        net.dag, pn.sample(net, 5_000, imprecision=theta, rng=seed), imprecision=theta, conjunction=conjunction
    )
    for variable in net.variables:
        truth, error = net.table(variable.name), 5.0 * result.error[variable.name] + 1e-9
        assert (truth >= result.lower[variable.name] - error).mean() > 0.97
        assert (truth <= result.upper[variable.name] + error).mean() > 0.97
        assert (result.lower[variable.name] <= result.upper[variable.name]).all()
        assert (result.network.table(variable.name).max(axis=-1) == 1.0).all()


@settings(max_examples=15, deadline=None)
@given(strategies.seeds, st.sampled_from(["observed", "cut"]), st.sampled_from(["independent", "text"]))
def test_a_weighted_row_counts_as_often_as_its_weight(seed: int, parents: Any, law: Any) -> None:
    rng = np.random.default_rng(seed)
    net = pn.random_network(4, max_parents=2, states=(2, 3), rng=seed)
    data = pn.sample(net, 60, imprecision=0.6, rng=seed)
    weights = rng.integers(0, 4, len(data))
    weights[0] = 1
    repeated = data[np.repeat(np.arange(len(data)), weights)]
    options = {"imprecision": 0.9, "parents": parents, "law": law}
    one = pn.fit_cut(net.dag, data.with_weights(weights), **options)
    assert same_result(one, pn.fit_cut(net.dag, repeated, **options))


def test_a_stream_is_read_once_and_gives_the_same() -> None:
    clinic = pn.load_example("clinic")
    stream = pn.sample_batches(clinic, 5_000, rng=1, batch=97, imprecision=0.5)
    whole = pn.Dataset.concatenate(stream)
    seen: list[int] = []

    class Once:
        variables, rows, weighted = stream.variables, stream.rows, False

        def __iter__(self) -> Any:
            seen.append(1)
            return iter(stream)

    result = pn.fit_cut(clinic.dag, Once(), imprecision=0.5)
    assert same_result(result, pn.fit_cut(clinic.dag, whole, imprecision=0.5))
    assert seen == [1]


def test_unknown_cells_are_left_out_of_their_families() -> None:
    net = pair([1, 0.5], [[1, 0.2], [1, 0.8]])
    data = pn.sample(net, 100_000, rng=1)
    lost = np.random.default_rng(1).random(len(data)) < 0.3
    columns = {v.name: data.to_arrow().column(v.name).to_pylist() for v in net.variables}
    columns["x"] = [None if gap else cell for cell, gap in zip(columns["x"], lost, strict=True)]
    gaps = pn.Dataset.from_table(columns, variables=net.variables)
    result = pn.fit_cut(net.dag, gaps)
    assert result.left_out == {"x": int(lost.sum()), "y": int(lost.sum())}
    assert "rows with unknown cells left out of 2 families" in repr(result)
    assert result.upper["y"] == pytest.approx(net.table("y"), abs=0.02)
    complete = pn.fit_cut(net.dag, data[~lost])
    assert same_result(result, complete)


def test_contexts_that_no_row_shows_are_not_known() -> None:
    net = pair([1, 0], [[1, 0.2], [0.3, 1]])
    result = pn.fit_cut(net.dag, pn.sample(net, 1_000, rng=1))
    assert result.lower["y"][1].tolist() == [0, 0]
    assert result.upper["y"][1].tolist() == [1, 1] == result.network.table("y")[1].tolist()
    assert not result.identified["y"][1].any()
    assert result.support["y"].tolist() == [1_000, 0]


def test_a_variable_that_is_never_observed_is_not_known() -> None:
    data = pn.Dataset.from_rows((X, Y), [(None, "y1"), (None, {"y1", "y2"})])
    result = pn.fit_cut(PAIR, data)
    assert result.upper["x"].tolist() == [1, 1]
    assert result.lower["y"].max() == 0.0


def test_the_middle_of_the_bounds_peaks_at_1() -> None:
    pump = pn.load_example("pump")
    data = pn.sample(pump, 10_000, rng=1)
    result = pn.fit_cut(pump.dag, data, point="middle")
    for name, lower in result.lower.items():
        middle = (lower + result.upper[name]) / 2
        assert result.network.table(name) == pytest.approx(middle / middle.max(axis=-1, keepdims=True))
    assert pn.compare(pump, result.network)["child_affinity"].value > 0.89
    assert result.network.bounds is None  # it may lie outside of them


def test_the_greatest_network_carries_its_bounds_to_files_and_queries(tmp_path: Path) -> None:
    pump = pn.load_example("pump")
    result = pn.fit_cut(pump.dag, pn.sample(pump, 10_000, rng=1))
    pn.write_network(result.network, tmp_path / "pump.json")
    bounds = pn.read_network(tmp_path / "pump.json").bounds
    assert bounds is not None
    for name, lower in result.lower.items():
        assert np.array_equal(bounds.lower[name], lower)
        assert np.array_equal(bounds.upper[name], result.upper[name])
    target = pump.variables[-1].name
    root = pump.variables[0].name
    evidence = {target: pump.variables[-1].states[-1]}
    own = pn.Inference(result.network).bounds(root, evidence)
    assert (own.lower < own.upper).any()
    assert own == pn.Inference(result.network, lower=result.lower, upper=result.upper).bounds(root, evidence)


def test_an_imprecision_of_every_variable() -> None:
    net = pair([1, 0.5], [[1, 0.2], [1, 0.8]])
    thetas = {"x": 0.5, "y": 0.8}
    result = pn.fit_cut(net.dag, pn.sample(net, 200_000, imprecision=thetas, rng=1), imprecision=thetas)
    assert result.imprecision == thetas
    assert result.upper["y"] == pytest.approx(net.table("y"), abs=0.02)


ROWS = [("x1", "y1"), ({"x1", "x2"}, "y1"), ("x1", "y2")]


@pytest.mark.parametrize(("rows", "options", "message"), [
    ([], {}, "no rows with a known cell"),
    (ROWS, {}, r"no state of 'y' lies in every cell \(row 1 has \{y1\}, row 3 has \{y2\}\).*traced.*fit_em"),
    (ROWS[:2], {"imprecision": 0.0}, "imprecision of 'x' 0.0; expected a number above 0 and at most 1"),
    (ROWS[:2], {"imprecision": {"x": 1.0}}, "no imprecision for y"),
    (ROWS[:2] * 50, {"imprecision": 0.1}, "'x2' lies in 50 % of its cells; expected a larger imprecision"),
    (ROWS[:2] * 50, {"imprecision": 0.1, "law": "text"}, "law 'text'"),
    (ROWS[:2], {"imprecision": 1.5, "law": "text"}, "expected a number above 0 and at most 1"),
    (ROWS[:2], {"parents": "cells"}, "parents 'cells'"),
    (ROWS[:2], {"law": "texts"}, "did you mean 'text'"),
    (ROWS[:2], {"point": "upper"}, "point 'upper'"),
    (ROWS[:2], {"pseudo": -1.0}, "pseudo -1"),
    (ROWS[:2], {"wrong": 0.7}, "wrong 0.7"),
])  # fmt: skip
def test_bad_input_is_refused(rows: list[Any], options: dict[str, Any], message: str) -> None:
    with pytest.raises(pn.InputError, match=message):
        pn.fit_cut(PAIR, pn.Dataset.from_rows((X, Y), rows), **options)


def test_rows_that_clash_only_together_are_named() -> None:
    z = pn.Variable("z", ("a", "b", "c"))
    data = pn.Dataset.from_rows((z,), [({"a", "b"},), ({"b", "c"},), ({"a", "c"},)])
    with pytest.raises(pn.InputError, match=r"row 2 has \{b, c\}, row 3 has \{a, c\}"):
        pn.fit_cut(pn.Dag({"z": ()}), data)


def test_a_few_wrong_rows_are_left_out_on_request() -> None:
    net = pair([1, 0.5], [[1, 0.2], [1, 0.8]])
    data = pn.Dataset.concatenate([pn.sample(net, 50_000, rng=1), pn.Dataset.from_rows((X, Y), [("x2", "y2")] * 100)])
    with pytest.raises(pn.InputError, match="row 50001"):
        pn.fit_cut(net.dag, data)
    result = pn.fit_cut(net.dag, data, wrong=0.01)
    assert result.wrong == {"x": 100, "y": 100}
    assert "100 rows with a state of the core missing left out of 2 families" in repr(result)
    assert result.upper["y"] == pytest.approx(net.table("y"), abs=0.03)


def test_too_many_combinations_are_refused_with_their_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("possnet.limits.memory.memory_limit", lambda: 1 << 24)
    states = tuple(str(k) for k in range(12))
    names = [f"p{k}" for k in range(6)]
    scope = [pn.Variable(name, states) for name in (*names, "c")]
    dag = pn.Dag({**dict.fromkeys(names, ()), "c": names})
    data = pn.Dataset.from_rows(scope, [tuple(frozenset({"0", str(k)}) for _ in scope) for k in range(12)])
    with pytest.raises(pn.TooLarge, match="combinations of the parents' cells over"):
        pn.fit_cut(dag, data)


def test_progress_is_told() -> None:
    asia = pn.load_example("asia")
    calls: list[tuple[int, int]] = []
    pn.fit_cut(asia.dag, pn.sample(asia, 500, rng=1), progress=lambda done, total: calls.append((done, total)))
    assert calls[-1] == (500, 500)
    assert calls == sorted(calls)

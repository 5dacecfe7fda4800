"""Priors of EM: imagined rows, smaller contexts, and classes that nobody saw."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

import possnet as pn
from tests import oracles, strategies
from tests.em.test_coarsened_fitting import hide_cells

_FEATURES = 40


def draw_classes(seed: int) -> tuple[pn.Dag, pn.Dataset, pn.Dataset, list[str]]:
    """A class of four states, one of which no row has, and forty features that follow it; rows, new rows, their truth."""
    rng = np.random.default_rng(seed)
    label = pn.Variable("label", ("a", "b", "c", "unseen"))
    features = [pn.Variable(f"f{k}", ("0", "1", "2")) for k in range(_FEATURES)]
    laws = rng.dirichlet(np.full(3, 0.7), size=(3, _FEATURES))
    truth = rng.integers(0, 3, 240)
    drawn = [[str(rng.choice(3, p=laws[state, k])) for k in range(_FEATURES)] for state in truth]
    scope = (label, *features)
    seen = [(label.states[s], *row) for s, row in zip(truth[:120], drawn[:120], strict=True)]
    new = [(None, *row) for row in drawn[120:]]
    dag = pn.Dag({"label": (), **{v.name: ("label",) for v in features}})
    return (
        dag,
        pn.Dataset.from_rows(scope, seen),
        pn.Dataset.from_rows(scope, new),
        [label.states[s] for s in truth[120:]],
    )


def share_right(net: pn.Network, data: pn.Dataset, truth: list[str]) -> float:
    degrees = np.nan_to_num(pn.Inference(net).query_many("label", data))
    best = [net.variable("label").states[k] for k in degrees.argmax(axis=1)]
    return float(np.mean([x == y for x, y in zip(best, truth, strict=True)]))


@pytest.mark.parametrize("learner", ["fit", "fit_em", "fit_coarsened"])
def test_a_class_that_nobody_saw_is_never_elected_with_a_marginal_prior(learner: str) -> None:
    dag, data, new, truth = draw_classes(1)
    for how in ({"pseudo": 1}, {"prior": "marginal"}, {"prior": "marginal", "pseudo": 0.1}):
        result = getattr(pn, learner)(dag, data, **how)
        net = result if isinstance(result, pn.Network) else result.network
        degrees = pn.Inference(net).query_many("label", new)
        assert np.isfinite(degrees).all()
        assert (degrees[:, 3] < degrees.max(axis=1)).all()
        assert share_right(net, new, truth) >= 0.95


def test_with_ignorance_a_class_that_nobody_saw_wins_everywhere() -> None:
    dag, data, new, truth = draw_classes(1)
    assert share_right(pn.fit_em(dag, data, prior="ignorance", pseudo=1).network, new, truth) < 0.1


@pytest.mark.parametrize("pseudo", [0.5, 2.0])
@pytest.mark.parametrize("learner", ["fit_em", "fit_coarsened"])
def test_on_precise_rows_it_is_the_prior_of_counting(learner: str, pseudo: float) -> None:
    clinic = pn.load_example("clinic")
    data = pn.sample(clinic, 60, process="precise", rng=4)
    counted = pn.fit(clinic.dag, data, prior="marginal", pseudo=pseudo)
    result = getattr(pn, learner)(clinic.dag, data, prior="marginal", pseudo=pseudo)
    net = result if isinstance(result, pn.Network) else result.network
    assert counted.backed_off is not None
    assert counted.support is not None
    assert net.support is not None
    assert net.backed_off is not None
    assert any(flags.any() for flags in counted.backed_off.values())
    for v in clinic.variables:
        assert net.table(v.name) == pytest.approx(counted.table(v.name), abs=1e-6)
        assert net.support[v.name] == pytest.approx(counted.support[v.name], abs=1e-6)
        assert net.backed_off[v.name].tolist() == counted.backed_off[v.name].tolist()
        if isinstance(result, pn.EmResult):
            assert (result.backed_off[v.name] == (counted.support[v.name] == 0)).all()


@given(strategies.seeds, st.sampled_from(["marginal", "ignorance"]), st.sampled_from([0.3, 2.0]))
def test_its_tables_are_a_fixed_point_of_em_with_imagined_rows(seed: int, prior: Any, pseudo: float) -> None:
    dag = pn.Dag({"a": (), "b": ("a",), "c": ("b",)})
    scope = [pn.Variable(n, (f"{n}0", f"{n}1")) for n in "abc"]
    rng = np.random.default_rng(seed)
    truth = pn.Dataset.from_rows(scope, [tuple(str(rng.choice(v.states)) for v in scope) for _ in range(30)])
    data = hide_cells(truth, 0.3, seed, sets=True)
    learned = pn.fit_coarsened(dag, data, tolerance=1e-9, prior=prior, pseudo=pseudo)
    point: oracles.Tables = {}
    imagined = {}
    for v in scope:
        rows = learned.table(v.name).reshape(-1, len(v))
        shares = rows / rows.sum(axis=1, keepdims=True)
        every = enumerate(oracles.contexts(dag, data, v.name))
        point[v.name] = {a: dict(zip(v.states, shares[k].tolist(), strict=True)) for k, a in every}
        alone = pn.fit_coarsened(pn.Dag({v.name: ()}), data, tolerance=1e-9).table(v.name)
        law = alone / alone.sum() if prior == "marginal" else np.full(2, 0.5)
        imagined[v.name] = dict(zip(v.states, (pseudo * law).tolist(), strict=True))
    _, expected = oracles.coarsened_counts(dag, point, data)
    for name, table in expected.items():
        for context, row in table.items():
            smoothed = {x: n + imagined[name][x] for x, n in row.items()}
            shares_by_hand = [n / sum(smoothed.values()) for n in smoothed.values()]
            assert list(point[name][context].values()) == pytest.approx(shares_by_hand, abs=2e-3)


def test_masses_with_a_prior_are_a_fixed_point_by_enumeration() -> None:
    dag = pn.Dag({"a": (), "b": ("a",)})
    scope = (pn.Variable("a", ("0", "1", "2")), pn.Variable("b", ("0", "1")))
    rows = [("0", "0")] * 5 + [({"0", "1"}, "1")] * 3 + [("1", {"0", "1"})] * 4 + [("1", "1")] * 2
    data = pn.Dataset.from_rows(scope, rows)
    found = pn.fit_em(dag, data, tolerance=1e-9, prior="marginal", pseudo=2)
    masses: dict[str, Any] = {}
    for name, (cells, table) in found.masses.items():
        every = enumerate(oracles.contexts(dag, data, name))
        flat = table.reshape(-1, len(cells))
        masses[name] = {a: dict(zip(cells, flat[k].tolist(), strict=True)) for k, a in every}
    _, counts = oracles.em_step(dag, masses, [({**data.row(k)}, 1) for k in range(len(data))])
    shares = {
        cell: sum(row["b"] == cell for row in map(data.row, range(len(data)))) / len(data)
        for cell in masses["b"][("0",)]
    }
    for context in (("0",), ("1",)):
        smoothed = {cell: n + 2 * shares[cell] for cell, n in counts["b"][context].items()}
        by_hand = [n / sum(smoothed.values()) for n in smoothed.values()]
        assert list(masses["b"][context].values()) == pytest.approx(by_hand, abs=1e-3)
    # nobody has a = 2: it takes all rows of b, and the imagined ones beside them change no share
    assert found.backed_off["b"].tolist() == [False, False, True]
    assert list(masses["b"][("2",)].values()) == pytest.approx(list(shares.values()), abs=1e-3)
    assert found.support["b"][2] == 0
    assert "1 contexts backed off" in repr(found)


def test_a_marginal_prior_without_imagined_rows_only_fills_contexts_that_nobody_saw() -> None:
    """Nobody has a = 2, where b has the shares of all rows; elsewhere the masses are those without a prior."""
    dag = pn.Dag({"a": (), "b": ("a",)})
    scope = (pn.Variable("a", ("0", "1", "2")), pn.Variable("b", ("0", "1")))
    data = pn.Dataset.from_rows(scope, [("0", "0")] * 5 + [("1", "0")] + [("1", "1")] * 2)
    found = pn.fit_em(dag, data, tolerance=1e-9, prior="marginal", pseudo=0)
    cells, table = found.masses["b"]
    assert cells == (frozenset({"0"}), frozenset({"1"}))
    assert table == pytest.approx(np.array([[1, 0], [1 / 3, 2 / 3], [6 / 8, 2 / 8]]), abs=1e-6)


def test_a_stream_and_confounded_contexts_with_a_prior() -> None:
    scope = (pn.Variable("x", ("1", "2")), pn.Variable("y", ("1", "2")))
    data = pn.Dataset.from_rows(scope, [({"1", "2"}, "1")] * 50 + [({"1", "2"}, "2")] * 30)
    dag = pn.Dag({"x": (), "y": ("x",)})
    found = pn.fit_em(dag, data, prior="marginal", pseudo=1)
    assert found.confounded["y"].all()
    assert found.network.table("y") == pytest.approx(np.array([[1.0, 0.6]] * 2), abs=0.02)  # what EM ended with
    clinic = pn.load_example("clinic")
    rows, stream = pn.sample(clinic, 50, rng=1), pn.sample_batches(clinic, 50, rng=1, batch=50)
    for learner in (pn.fit_em, pn.fit_coarsened):
        results = [learner(clinic.dag, given, prior="marginal") for given in (rows, stream)]
        first, second = (r if isinstance(r, pn.Network) else r.network for r in results)
        assert first == second

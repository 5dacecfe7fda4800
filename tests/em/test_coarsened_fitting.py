"""Tables of rows that are coarsened at random."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

import possnet as pn
from tests import oracles, strategies


def hide_cells(data: pn.Dataset, share: float, seed: int, *, sets: bool) -> pn.Dataset:
    """Precise rows, a share of whose cells become unknown, or get other states beside their own."""
    rng = np.random.default_rng(seed)

    def cell(variable: pn.Variable, state: frozenset[str]) -> set[str] | frozenset[str] | None:
        if rng.random() >= share:
            return state
        return state | {x for x in variable.states if rng.random() < 0.5} if sets else None

    rows = [tuple(cell(v, data.row(k)[v.name]) for v in data.variables) for k in range(len(data))]
    return pn.Dataset.from_rows(data.variables, rows)


def test_on_precise_rows_it_is_counting() -> None:
    net = pn.load_example("clinic")
    data = pn.sample(net, 500, process="precise", rng=1)
    learned, counted = pn.fit_coarsened(net.dag, data), pn.fit(net.dag, data)
    for v in net.variables:
        assert learned.table(v.name) == pytest.approx(counted.table(v.name), abs=1e-9)
    assert learned.support is not None
    assert float(learned.support["fever"].sum()) == pytest.approx(500)


def test_with_unknown_cells_among_single_states_it_is_em_for_missing_cells() -> None:
    net = pn.load_example("asia")
    data = hide_cells(pn.sample(net, 800, process="precise", rng=2), 0.15, 2, sets=False)
    learned = pn.fit_coarsened(net.dag, data, tolerance=1e-6)
    by_em = pn.fit_em(net.dag, data, tolerance=1e-6)
    for v in net.variables:
        shown = ~(by_em.unvisited[v.name] | by_em.confounded[v.name])
        assert learned.table(v.name)[shown] == pytest.approx(by_em.network.table(v.name)[shown], abs=0.02)


@given(strategies.seeds)
def test_its_tables_are_a_fixed_point_of_em_by_enumeration(seed: int) -> None:
    dag = pn.Dag({"a": (), "b": ("a",), "c": ("b",)})
    scope = [pn.Variable(n, (f"{n}0", f"{n}1")) for n in "abc"]
    rng = np.random.default_rng(seed)
    truth = pn.Dataset.from_rows(scope, [tuple(str(rng.choice(v.states)) for v in scope) for _ in range(30)])
    data = hide_cells(truth, 0.3, seed, sets=True)
    learned = pn.fit_coarsened(dag, data, tolerance=1e-9)
    point: oracles.Tables = {}
    for v in scope:
        rows = learned.table(v.name).reshape(-1, len(v))
        shares = rows / rows.sum(axis=1, keepdims=True)
        point[v.name] = {
            a: dict(zip(v.states, shares[k].tolist(), strict=True))
            for k, a in enumerate(oracles.contexts(dag, data, v.name))
        }
    _, following = oracles.coarsened_step(dag, point, data)
    for name, table in following.items():
        for context, row in table.items():
            assert list(row.values()) == pytest.approx(list(point[name][context].values()), abs=1e-3)


def test_it_recovers_what_lies_behind_lists_of_candidates() -> None:
    net = pn.load_example("pump")
    truth = pn.sample(net, 4000, process="precise", rng=3)
    data = hide_cells(truth, 0.5, 3, sets=True)
    complete, learned = pn.fit(net.dag, truth), pn.fit_coarsened(net.dag, data)
    counted, by_em = pn.fit(net.dag, data), pn.fit_em(net.dag, data).network

    def error(other: pn.Network) -> float:
        return float(np.mean([np.abs(complete.table(v.name) - other.table(v.name)).mean() for v in net.variables]))

    assert error(learned) < 0.5 * min(error(counted), error(by_em))


def test_a_stream_gives_the_same_and_contexts_without_rows_stay_ignorant() -> None:
    scope = [pn.Variable("a", ("x", "y", "z")), pn.Variable("b", ("u", "v"))]
    data = pn.Dataset.from_rows(scope, [("x", "u"), ({"x", "y"}, "v"), ("y", None)] * 5)
    dag = pn.Dag({"a": (), "b": ("a",)})
    learned = pn.fit_coarsened(dag, data, conjunction=pn.MIN, name="mine")
    assert learned.table("b")[2].tolist() == [1.0, 1.0]
    assert (learned.conjunction, learned.name) == (pn.MIN, "mine")
    weighted = data.distinct()
    assert pn.fit_coarsened(dag, weighted).table("b") == pytest.approx(learned.table("b"))
    with pytest.raises(pn.InputError, match="fit_coarsened: tolerance"):
        pn.fit_coarsened(dag, data, tolerance=-1.0)

"""EM over the hidden trace: the E-step against enumeration, monotone climbs, recovery, and Bayesian-network EM."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from itertools import product
from math import log
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings, strategies as st

import possnet as pn
from possnet.em import EmAlgorithm, EmRows, HeldPosteriors, HiddenStateModel, run_squarem
from possnet.em.em_rows import code_em_rows
from possnet.em.identifiability import find_identified_contexts
from possnet.em.squarem import estimate_remaining_gain
from possnet.kernels import bitmaps
from tests import oracles, strategies
from tests.paths import FIXTURES

FIXTURE = json.loads((FIXTURES / "missing.json").read_text(encoding="utf-8"))


@st.composite
def small_data(draw: st.DrawFn) -> tuple[pn.Dag, pn.Dataset]:
    """A DAG and rows with precise, set-valued and unknown cells, small enough to enumerate what is hidden."""
    count = draw(st.integers(1, 4))
    scope = [draw(strategies.variables(name=f"v{k}", max_states=3 if count < 4 else 2)) for k in range(count)]
    parents = {
        v.name: draw(st.lists(st.sampled_from([u.name for u in scope[:k]]), unique=True)) if k else []
        for k, v in enumerate(scope)
    }
    rows = draw(st.lists(st.tuples(*(strategies.cells(v) for v in scope)), min_size=1, max_size=5))
    weights = draw(st.lists(st.integers(1, 9), min_size=len(rows), max_size=len(rows)))
    return pn.Dag(parents), pn.Dataset.from_rows(scope, rows, weights=weights if draw(st.booleans()) else None)


def as_masses(dag: pn.Dag, data: pn.Dataset, rows: EmRows, point: dict[str, Any]) -> oracles.Masses:
    found: oracles.Masses = {}
    for name in dag.nodes:
        contexts = product(*(data.variable(p).states for p in dag.parents(name)))
        cells = [data.variable(name).states_in(mask) for mask in rows.masks[name]]
        found[name] = {
            context: dict(zip(cells, row.tolist(), strict=True))
            for context, row in zip(contexts, point[name], strict=True)
        }
    return found


def rows_of(data: pn.Dataset, unknown: str) -> list[tuple[dict[str, Any], int]]:
    missing = {v.name: data.missing(v.name) for v in data.variables}
    weights = [1] * len(data) if data.weights is None else data.weights.tolist()
    return [
        ({n: None if unknown == "missing" and missing[n][r] else cell for n, cell in data.row(r).items()}, weights[r])
        for r in range(len(data))
    ]


@given(small_data(), st.sampled_from(["missing", "focal"]), strategies.seeds)
def test_the_e_step_is_that_of_enumeration(given_data: tuple[pn.Dag, pn.Dataset], unknown: Any, seed: int) -> None:
    dag, data = given_data
    rows = code_em_rows(dag, data, unknown)
    algorithm = EmAlgorithm(HiddenStateModel(dag, rows), rows)
    point = algorithm.random_masses(np.random.default_rng(seed))
    value, counts = algorithm.expected_counts(point)
    score, expected_counts = oracles.em_step(dag, as_masses(dag, data, rows, point), rows_of(data, unknown))
    assert value == pytest.approx(score, abs=1e-9)
    for name in dag.nodes:
        truth = [list(found.values()) for found in expected_counts[name].values()]
        assert counts[name] == pytest.approx(np.array(truth), abs=1e-9)


@given(small_data(), st.sampled_from(["missing", "focal"]), st.booleans(), st.sampled_from([0.0, 0.7]))
def test_the_likelihood_never_falls(
    given_data: tuple[pn.Dag, pn.Dataset], unknown: Any, accelerate: bool, pseudo: float
) -> None:
    dag, data = given_data
    found = pn.fit_em(
        dag, data, unknown=unknown, pseudo=pseudo, options=pn.EmOptions(accelerate=accelerate, max_steps=60)
    )
    for before, after in zip(found.log_likelihood, found.log_likelihood[1:], strict=False):
        assert after >= before - 1e-9 * max(abs(after), 1.0)
    rows = code_em_rows(dag, data, unknown)
    if pseudo == 0.0:  # the last log-likelihood is that of the masses that are returned
        masses = {n: m.table.reshape(-1, len(m.cells)) for n, m in found.masses.items()}
        algorithm = EmAlgorithm(HiddenStateModel(dag, rows), rows)
        assert algorithm.expected_counts(masses)[0] == pytest.approx(found.log_likelihood[-1], rel=1e-9, abs=1e-9)
    assert found.network.is_normalised
    for name in dag.nodes:
        assert found.masses[name].table.sum(axis=-1) == pytest.approx(1.0)


def worked_example() -> tuple[pn.Dag, pn.Dataset]:
    x, y = pn.Variable("x", ("1", "2")), pn.Variable("y", ("1", "2"))
    one, two, both = {"1"}, {"2"}, {"1", "2"}
    rows = [(one, one)] * 4 + [(both, two)] * 2 + [(both, both)] * 2 + [(two, two)] * 2
    return pn.Dag({"x": (), "y": ("x",)}), pn.Dataset.from_rows((x, y), rows)


def test_published_steps() -> None:
    dag, data = worked_example()
    first = pn.fit_em(dag, data, tolerance=0, options=pn.EmOptions(max_steps=2, accelerate=False))
    assert first.log_likelihood == pytest.approx((-21.972246, -17.443975), abs=1e-6)
    assert first.masses["y"].cells == (frozenset("1"), frozenset("2"), frozenset("12"))
    assert first.masses["y"].table == pytest.approx(np.array([[2 / 3, 1 / 6, 1 / 6], [0, 3 / 4, 1 / 4]]))
    assert (first.steps, first.stopped) == (2, "max_steps")
    for accelerate in (False, True):
        last = pn.fit_em(dag, data, tolerance=1e-9, options=pn.EmOptions(accelerate=accelerate))
        assert last.log_likelihood[-1] == pytest.approx(-16.939520, abs=1e-6)
        assert last.masses["y"].table == pytest.approx(np.array([[0.8, 0, 0.2], [0, 0.8, 0.2]]), abs=1e-4)
        assert last.network.table("y") == pytest.approx(np.array([[1, 0.2], [0.2, 1]]), abs=1e-4)
        assert last.stopped == "converged"
        assert last.consonant["y"].tolist() == [True, True]
        assert last.mass_function("y", {"x": "2"}).masses[frozenset("2")] == pytest.approx(0.8, abs=1e-4)


@given(strategies.networks(max_variables=4), strategies.seeds)
def test_on_precise_rows_it_is_counting(net: pn.Network, seed: int) -> None:
    data = pn.sample(net, 200, process="precise", rng=seed)
    found, counted = pn.fit_em(net.dag, data), pn.fit(net.dag, data)
    assert found.network.is_close(counted, tolerance=1e-9)
    assert found.steps <= 4
    for name, support in found.support.items():
        assert counted.support is not None
        assert support == pytest.approx(counted.support[name])
        assert np.array_equal(found.unvisited[name], counted.support[name] == 0)
        assert not found.confounded[name].any()


@pytest.mark.parametrize("case", FIXTURE["cases"], ids=lambda case: str(case["name"]))
def test_with_missing_cells_it_is_bayesian_network_em(case: dict[str, Any]) -> None:
    """A peer of our own making: plain BN EM over full joint configurations, recorded by benchmarks/fixtures.py."""
    variables = [pn.Variable(n, tuple(s)) for n, s in case["variables"].items()]
    dag = pn.Dag(case["parents"])
    data = pn.Dataset.from_rows(variables, case["rows"])
    found = pn.fit_em(dag, data, tolerance=1e-9, options=pn.EmOptions(max_steps=3000))
    assert found.log_likelihood[-1] == pytest.approx(case["log_likelihood"], abs=1e-5)
    for name, table in case["tables"].items():
        cells, masses = found.masses[name]
        order = [cells.index(frozenset({s})) for s in case["variables"][name]]
        assert masses[..., order] == pytest.approx(np.array(table), abs=2e-3)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_it_recovers_what_counting_cannot(seed: int) -> None:
    net = pn.random_network(5, max_parents=2, states=(2, 3), rng=seed)
    errors = []
    for rows in (2_000, 200_000):
        data = pn.sample(net, rows, process="traced", rng=seed)
        found = pn.fit_em(net.dag, data).network
        errors.append(max(np.abs(found.table(v.name) - net.table(v.name)).mean() for v in net.variables))
    counted = pn.sampling_limit(net, process="traced")
    bias = max(np.abs(counted.table(v.name) - net.table(v.name)).mean() for v in net.variables)
    assert errors[1] < 0.03
    assert errors[1] < 0.5 * bias


def test_a_known_imprecision_is_divided_out() -> None:
    x, y = pn.Variable("x", ("1", "2")), pn.Variable("y", ("1", "2"))
    net = pn.Network((x, y), pn.Dag({"x": (), "y": ("x",)}), {"x": [1, 0.5], "y": [[1, 0.4], [0.6, 1]]})
    data = pn.sample(net, 400_000, imprecision=0.5, process="traced", rng=1)
    raw = pn.fit_em(net.dag, data).network
    assert raw.table("y") == pytest.approx(np.array([[1, 0.2], [0.3, 1]]), abs=0.02)
    for theta in (0.5, {"x": 0.5, "y": 0.5}):
        mended = pn.fit_em(net.dag, data, imprecision=theta).network
        assert mended.table("x") == pytest.approx(np.array([1, 0.5]), abs=0.01)
        assert mended.table("y") == pytest.approx(np.array([[1, 0.4], [0.6, 1]]), abs=0.04)


def test_a_missing_cell_read_as_focal_biases() -> None:
    """A chain of precise rows of which 30 % of the parents are missing: P(y=2 | x=1) = .1, so the degree is 1/9."""
    rng = np.random.default_rng(1)
    x = rng.random(100_000) < 0.3
    y = np.where(x, rng.random(100_000) < 0.8, rng.random(100_000) < 0.1)
    gone = rng.random(100_000) < 0.3
    rows = [(None if g else "12"[a], "12"[b]) for a, b, g in zip(x.astype(int), y.astype(int), gone, strict=True)]
    scope = (pn.Variable("x", ("1", "2")), pn.Variable("y", ("1", "2")))
    data, dag = pn.Dataset.from_rows(scope, rows), pn.Dag({"x": (), "y": ("x",)})
    right = pn.fit_em(dag, data, tolerance=1e-3).network.table("y")[0, 1]
    wrong = pn.fit_em(dag, data, unknown="focal", tolerance=1e-3)
    assert right == pytest.approx(1 / 9, abs=0.01)
    assert wrong.log_likelihood[-1] != pytest.approx(pn.fit_em(dag, data, tolerance=1e-3).log_likelihood[-1], abs=1)
    # read as a set, a missing parent tells a state of its own kind: the degree of x = 2 is no longer that of the data
    assert pn.fit_em(dag, data).network.table("x")[1] == pytest.approx(3 / 7, abs=0.01)
    assert wrong.network.table("x")[1] > 0.55


def test_rows_batches_and_workers_change_nothing_beyond_rounding() -> None:
    net = pn.load_example("clinic")
    data = pn.sample(net, 3000, imprecision=0.7, process="traced", rng=3)
    turned = data[np.random.default_rng(1).permutation(3000)]
    stream = pn.sample_batches(net, 3000, imprecision=0.7, process="traced", rng=3, batch=100)
    whole = pn.fit_em(net.dag, data, options=pn.EmOptions(max_steps=40))
    others = [
        pn.fit_em(net.dag, turned, options=pn.EmOptions(max_steps=40)),
        pn.fit_em(net.dag, stream, options=pn.EmOptions(max_steps=40)),
    ]
    with ThreadPoolExecutor(2) as pool:
        others.append(pn.fit_em(net.dag, data, executor=pool, options=pn.EmOptions(max_steps=40)))
    for other in others:
        assert other.log_likelihood == pytest.approx(whole.log_likelihood, rel=1e-9)
        assert other.network.is_close(whole.network, tolerance=1e-6)


def test_an_e_step_can_be_shared_by_processes() -> None:
    dag, data = worked_example()
    rows = code_em_rows(dag, data, "missing")
    model = HiddenStateModel(dag, rows)
    masses = EmAlgorithm(model, rows).equal_masses()
    value, counts = EmAlgorithm(model, rows).expected_counts(masses)
    with ProcessPoolExecutor(1) as pool:
        shared = HeldPosteriors(model, rows, pool)
        shared_value, shared_counts = EmAlgorithm(model, rows, posteriors=shared).expected_counts(masses)
    assert shared_value == value
    for name in dag.nodes:
        assert np.array_equal(shared_counts[name], counts[name])


@given(small_data())
def test_weights_are_repeated_rows(given_data: tuple[pn.Dag, pn.Dataset]) -> None:
    dag, data = given_data
    rows = [
        [None if data.missing(v.name)[r] else data.row(r)[v.name] for v in data.variables] for r in range(len(data))
    ]
    weights = list(range(1, len(data) + 1))
    plain = pn.Dataset.from_rows(data.variables, rows, weights=weights)
    unweighted = pn.Dataset.from_rows(
        data.variables, [row for row, w in zip(rows, weights, strict=True) for _ in range(w)]
    )
    a, b = (
        pn.fit_em(dag, plain, options=pn.EmOptions(max_steps=20)),
        pn.fit_em(dag, unweighted, options=pn.EmOptions(max_steps=20)),
    )
    assert a.log_likelihood == pytest.approx(b.log_likelihood)


def test_it_goes_on_from_an_earlier_result_and_from_several_starts() -> None:
    net = pn.random_network(4, max_parents=2, states=(2, 3), rng=5)
    data = pn.sample(net, 3000, process="traced", rng=5)
    early = pn.fit_em(net.dag, data, options=pn.EmOptions(max_steps=6))
    later = pn.fit_em(net.dag, data, options=pn.EmOptions(start=early))
    assert later.log_likelihood[0] >= early.log_likelihood[-1] - 0.5
    assert later.log_likelihood[-1] >= early.log_likelihood[-1]
    several = pn.fit_em(net.dag, data, options=pn.EmOptions(starts=4, rng=1))
    assert several.log_likelihood[-1] >= pn.fit_em(net.dag, data).log_likelihood[-1] - 1e-9
    assert several.log_likelihood == pn.fit_em(net.dag, data, options=pn.EmOptions(starts=4, rng=1)).log_likelihood
    grown = pn.Dataset.concatenate([data, pn.sample(net, 3000, process="traced", rng=6)])
    assert pn.fit_em(net.dag, grown, options=pn.EmOptions(start=later)).stopped == "converged"
    with pytest.raises(pn.InputError, match="earlier result"):
        pn.fit_em(net.dag, data, options=pn.EmOptions(start=pn.fit_em(*worked_example())))


def test_states_that_always_come_together_start_off_the_saddle() -> None:
    """A parent whose cells are always the whole domain: its states are exchangeable, so equal masses would never move."""
    x, y = pn.Variable("x", ("1", "2")), pn.Variable("y", ("1", "2"))
    z = pn.Variable("z", ("1", "2"))
    dag = pn.Dag({"x": (), "y": ("x",), "z": ("x",)})
    rows = [({"1", "2"}, "1", "1")] * 40 + [({"1", "2"}, "2", "2")] * 40 + [({"1", "2"}, "1", "2")] * 5
    found = pn.fit_em(dag, pn.Dataset.from_rows((x, y, z), rows), tolerance=1e-3)
    flat = 45 * log(45 / 85) + 40 * log(40 / 85) + 40 * log(40 / 85) + 45 * log(45 / 85)
    assert found.log_likelihood[-1] > flat + 20
    assert found.confounded["y"].all()
    assert (found.network.table("y") == 1).all()
    assert not (
        pn.fit_em(dag, pn.Dataset.from_rows((x, y, z), rows), options=pn.EmOptions(pooled=True)).network.table("y") == 1
    ).all()


def test_contexts_that_the_data_cannot_tell_stay_ignorant() -> None:
    x, y = pn.Variable("x", ("1", "2", "3", "4")), pn.Variable("y", ("1", "2"))
    dag = pn.Dag({"x": (), "y": ("x",)})
    rows = [("1", "1")] * 9 + [({"2", "3"}, "2")] * 9
    found = pn.fit_em(dag, pn.Dataset.from_rows((x, y), rows))
    assert found.unvisited["y"].tolist() == [False, False, False, True]
    assert found.confounded["y"].tolist() == [False, True, True, False]
    assert found.network.table("y").tolist() == [[1, 0], [1, 1], [1, 1], [1, 1]]
    pooled = pn.fit_em(dag, pn.Dataset.from_rows((x, y), rows), options=pn.EmOptions(pooled=True)).network.table("y")
    assert pooled.tolist() == [[1, 0], [0, 1], [0, 1], [1, 1]]


@given(st.lists(st.tuples(st.integers(1, 7), st.integers(1, 3)), min_size=1, max_size=7))
def test_identified_contexts_are_those_in_the_row_space(masks: list[tuple[int, int]]) -> None:
    cells = [
        np.array([[m >> k & 1 for k in range(3)] for m in range(1, 8)], dtype=bool),
        np.array([[m >> k & 1 for k in range(2)] for m in range(1, 4)], dtype=bool),
    ]
    rows = np.unique(np.array([(a - 1, b - 1) for a, b in masks], dtype=np.int32), axis=0)
    visited, known = find_identified_contexts(rows, cells, (3, 2))
    matrix = np.array([np.outer(cells[0][a], cells[1][b]).reshape(-1) / (cells[0][a].sum() * cells[1][b].sum()) for a, b in rows])  # fmt: skip
    assert np.array_equal(visited, matrix.any(axis=0))
    rank = np.linalg.matrix_rank(matrix)
    for context in range(6):
        unit = np.eye(6)[context]
        inside = np.linalg.matrix_rank(np.vstack([matrix, unit])) == rank
        assert known[context] == inside


def test_pseudo_counts_are_rows_of_ignorance() -> None:
    x = pn.Variable("x", ("1", "2"))
    data = pn.Dataset.from_rows((x,), [("1",)] * 3 + [("2",)])
    dag = pn.Dag({"x": ()})
    by_counting = pn.fit(dag, data, prior="ignorance", pseudo=2).table("x")
    assert pn.fit_em(dag, data, prior="ignorance", pseudo=2).network.table("x") == pytest.approx(by_counting)


def test_a_variable_that_is_never_seen_is_a_hidden_class() -> None:
    a, b, h = pn.Variable("a", ("1", "2")), pn.Variable("b", ("1", "2")), pn.Variable("h", ("1", "2"))
    rows = [(None, "1", "1")] * 30 + [(None, "2", "2")] * 30 + [(None, "1", "2")] * 4
    dag = pn.Dag({"h": (), "a": ("h",), "b": ("h",)})
    found = pn.fit_em(dag, pn.Dataset.from_rows((h, a, b), rows), tolerance=1e-3)
    alone = 34 * log(34 / 64) + 30 * log(30 / 64) + 30 * log(30 / 64) + 34 * log(34 / 64)
    assert found.log_likelihood[-1] > alone + 20


def test_a_plain_climb_stops_by_aitken_and_a_fall_is_an_error() -> None:
    assert estimate_remaining_gain(1.0, 0.0) == 0.0
    assert estimate_remaining_gain(4.0, 2.0) == pytest.approx(4.0)
    seen = iter([-10.0, -9.0, -11.0])

    def falling(point: dict[str, Any]) -> tuple[float, dict[str, Any]]:
        return next(seen), point

    with pytest.raises(pn.PossnetError, match="fell from -9.0 to -11.0"):
        run_squarem({"x": np.ones((1, 1))}, falling, tolerance=2.0, max_steps=10, accelerate=False)


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"tolerance": -1}, "tolerance -1; expected a number >= 0"),
        ({"max_steps": 0}, "max_steps 0; expected a whole number from 1"),
        ({"starts": 1.5}, "starts 1.5"),
        ({"unknown": "mising"}, "did you mean 'missing'"),
        ({"pseudo": "some"}, "pseudo 'some'"),
        ({"tolerance": 10**400}, "expected a number"),
        ({"imprecision": 0}, "imprecision of 'x' 0; expected a number above 0"),
        ({"imprecision": {"x": 0.5}}, "no imprecision for y"),
        ({"imprecision": {"z": 0.5}}, "imprecision for 'z', which is not a variable"),
        ({"conjunction": "min"}, "expected possnet.PRODUCT"),
        ({"rng": -1}, "rng -1"),
        ({"rng": "x"}, "rng 'x'"),
        ({"start": 3}, "start 3; expected an earlier result"),
        ({"limit": "1GB"}, "limit '1GB'"),
        ({"pseudo": 5e-324}, "from 1e-9 on"),
    ],
)
def test_wrong_options_are_told(how: dict[str, Any], message: str) -> None:
    chosen = {key: how[key] for key in how if key in pn.EmOptions.__slots__}
    keywords = {key: how[key] for key in how if key not in chosen}
    with pytest.raises(pn.InputError, match=message):
        pn.fit_em(*worked_example(), **keywords, options=pn.EmOptions(**chosen))


def test_what_is_too_large_is_refused_before_anything_is_made() -> None:
    wide = [pn.Variable(f"v{k}", tuple("abcdefghij")) for k in range(12)]
    data = pn.Dataset.from_rows(wide, [["a"] * 12, [None] * 12])
    dag = pn.Dag({**{f"v{k}": () for k in range(11)}, "v11": tuple(f"v{k}" for k in range(11))})
    with pytest.raises(pn.TooLarge, match="masses of 'v11'"):
        pn.fit_em(dag, data)
    with pytest.raises(pn.InputError, match="names 'z', which the data lacks"):
        pn.fit_em(pn.Dag({"z": ()}), data)
    with pytest.raises(pn.InputError, match="expected x"):
        pn.fit_em(*worked_example()).mass_function("y")


@settings(max_examples=20)
@given(small_data())
def test_no_rows_know_nothing(given_data: tuple[pn.Dag, pn.Dataset]) -> None:
    dag, data = given_data
    assume(len(data.variables) > 0)
    found = pn.fit_em(dag, data[:0])
    assert all((found.network.table(name) == 1).all() for name in dag.nodes)


def test_a_parent_of_hundreds_of_children_does_not_underflow() -> None:
    rng = np.random.default_rng(1)
    scope = [pn.Variable("p", ("1", "2"))] + [
        pn.Variable(f"c{k}", tuple(f"s{s}" for s in range(60))) for k in range(250)
    ]
    words = {}
    for variable in scope:
        codes = rng.integers(0, len(variable), 80)
        words[variable.name] = bitmaps.encode_cells(codes, np.eye(len(variable), dtype=bool))
    words["p"] = words["p"] | bitmaps.pack(rng.random(80) < 0.3)
    dag = pn.Dag({"p": (), **{f"c{k}": ("p",) for k in range(250)}})
    found = pn.fit_em(dag, pn.Dataset.unchecked(scope, words, 80), options=pn.EmOptions(max_steps=30))
    assert all(np.isfinite(found.log_likelihood))
    assert found.log_likelihood[-1] > found.log_likelihood[0]
    assert found.support["c0"].sum() == pytest.approx(80)


def test_a_limit_is_kept_by_drawing_fewer_rows_at_a_time() -> None:
    import tracemalloc

    wide = [pn.Variable(f"v{k}", tuple("abcdefgh")) for k in range(5)]
    child = pn.Variable("c", ("x", "y"))
    rng = np.random.default_rng(2)
    rows = [
        [None if rng.random() < 0.5 else str(rng.choice(list("abcdefgh"))) for _ in wide] + ["x"] for _ in range(60)
    ]
    dag = pn.Dag({**{v.name: () for v in wide}, "c": tuple(v.name for v in wide)})
    data = pn.Dataset.from_rows([*wide, child], rows)
    tracemalloc.start()
    pn.fit_em(dag, data, options=pn.EmOptions(max_steps=2))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 120 << 20  # sixty rows of 32,768 cells at once would be several times that


def test_confounded_contexts_stay_ignorant_with_pseudo_counts_too() -> None:
    x, y = pn.Variable("x", ("1", "2")), pn.Variable("y", ("1", "2"))
    data = pn.Dataset.from_rows((x, y), [({"1", "2"}, "1")] * 50 + [({"1", "2"}, "2")] * 30)
    found = pn.fit_em(pn.Dag({"x": (), "y": ("x",)}), data, prior="ignorance", pseudo=0.001)
    assert found.confounded["y"].all()
    assert (found.network.table("y") == 1).all()


def test_a_run_repeats_to_the_last_digit_whatever_the_hash_of_names() -> None:
    code = """if True:
        import possnet as pn
        net = pn.random_network(30, max_parents=2, states=(2, 3), rng=4)
        print(pn.fit_em(net.dag, pn.sample(net, 300, process="traced", rng=1), options=pn.EmOptions(max_steps=3)).log_likelihood)
    """
    told = {
        subprocess.run(
            [sys.executable, "-c", code],
            env=os.environ | {"PYTHONHASHSEED": seed},
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(told) == 1


def test_progress_tells_the_steps() -> None:
    told: list[tuple[int, int]] = []
    found = pn.fit_em(
        *worked_example(), progress=lambda done, most: told.append((done, most)), options=pn.EmOptions(max_steps=50)
    )
    assert told == [(k + 1, 50) for k in range(found.steps)]


def test_a_file_is_learned_as_a_stream() -> None:
    net = pn.load_example("asia")
    data = pn.sample(net, 2000, imprecision=0.5, process="traced", rng=2)
    with tempfile.TemporaryDirectory() as folder:
        pn.write_data(data, Path(folder) / "rows.parquet")
        found = pn.fit_em(net.dag, pn.scan_data(Path(folder) / "rows.parquet"))
    assert found.network.is_close(pn.fit_em(net.dag, data).network, tolerance=1e-9)


@pytest.mark.parametrize("piece", [1, 7, 64])
def test_rows_in_pieces_give_the_distinct_rows_of_all(piece: int, monkeypatch: pytest.MonkeyPatch) -> None:
    net = pn.load_example("clinic")
    data = pn.sample(net, 300, process="traced", rng=3)
    parts = [["fever", "rash"], list(net.dag.nodes), ["flu"]]
    whole = code_em_rows(net.dag, data, "missing").group_rows(parts)
    monkeypatch.setattr("possnet.em.em_rows._PIECE", piece)
    for (rows, weights), (expected_rows, expected_weights) in zip(
        code_em_rows(net.dag, data, "missing").group_rows(parts), whole, strict=True
    ):
        assert weights.sum() == len(data)
        assert np.array_equal(rows, expected_rows)
        assert np.array_equal(weights, expected_weights)

"""Coarsening at random: EM and draws against enumeration of the hidden states."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, strategies as st

import possnet as pn
from possnet.em import CoarsenedNetwork, coarsening, merge_overlapping
from possnet.em.coarsened_components import find_components
from tests import oracles, strategies

SHAPES = [
    {"a": (), "b": (), "c": ()},
    {"a": (), "b": ("a",), "c": ("b",)},
    {"a": (), "b": ("a",), "c": ("a",)},
    {"a": (), "b": (), "c": ("a", "b")},
    {"a": (), "b": ("a",), "c": ("a", "b")},
]


def random_rows(rng: np.random.Generator, rows: int, precise: int) -> pn.Dataset:
    """Rows of three variables with random sets; the first ``precise`` columns have single states."""
    scope = [pn.Variable(n, tuple(f"{n}{k}" for k in range(2 + j % 2))) for j, n in enumerate("abc")]

    def cell(j: int) -> set[str] | None:
        states = scope[j].states
        if j < precise:
            return {str(rng.choice(states))}
        return None if rng.random() < 0.2 else {str(x) for x in rng.choice(states, size=1 + rng.integers(len(states)))}

    weights = rng.integers(1, 4, size=rows)
    return pn.Dataset.from_rows(scope, [tuple(cell(j) for j in range(3)) for _ in range(rows)], weights=weights)


def model_of(dag: pn.Dag, data: pn.Dataset, *, by_cells: bool = False) -> CoarsenedNetwork:
    """The model, with imprecise columns hidden in all rows, or only imprecise cells."""
    names = [v.name for v in data.variables]
    columns = [data.column(n).fill_unknown() for n in names]
    parents = [tuple(names.index(p) for p in dag.parents(n)) for n in names]
    weights = np.ones(len(data), dtype=np.int64) if data.weights is None else data.weights
    with pytest.MonkeyPatch.context() as patch:
        if by_cells:
            patch.setattr(coarsening, "_FAST", -1.0)
            patch.setattr(coarsening, "_SECONDS_A_COMPONENT", 0.0)
        return CoarsenedNetwork(parents, [c.cell_sets for c in columns], [c.codes for c in columns], weights)


def random_point(rng: np.random.Generator, dag: pn.Dag, data: pn.Dataset) -> oracles.Tables:
    """Random positive probabilities."""
    tables: oracles.Tables = {}
    for v in data.variables:
        contexts = oracles.contexts(dag, data, v.name)
        tables[v.name] = {a: dict(zip(v.states, rng.dirichlet(np.ones(len(v))), strict=True)) for a in contexts}
    return tables


def as_arrays(point: oracles.Tables, data: pn.Dataset) -> dict[str, np.ndarray]:
    return {
        str(k): np.array([[row[x] for x in v.states] for row in point[v.name].values()])
        for k, v in enumerate(data.variables)
    }


@given(strategies.seeds, st.sampled_from(SHAPES), st.integers(0, 3), st.booleans())
def test_a_step_of_em_is_that_of_enumeration(
    seed: int,
    shape: dict[str, tuple[str, ...]],
    precise: int,
    by_cells: bool,
) -> None:
    rng = np.random.default_rng(seed)
    dag, data = pn.Dag(shape), random_rows(rng, 12, precise)
    point = random_point(rng, dag, data)
    value, following = model_of(dag, data, by_cells=by_cells).take_step(as_arrays(point, data))
    expected_value, expected = oracles.coarsened_step(dag, point, data)
    assert value == pytest.approx(expected_value, rel=1e-9)
    for name, table in as_arrays(expected, data).items():
        assert following[name] == pytest.approx(table, rel=1e-9, abs=1e-12)


@given(strategies.seeds, st.sampled_from(SHAPES), st.integers(0, 2), st.booleans())
def test_drawn_states_lie_in_their_cells(
    seed: int,
    shape: dict[str, tuple[str, ...]],
    precise: int,
    by_cells: bool,
) -> None:
    rng = np.random.default_rng(seed)
    dag, data = pn.Dag(shape), random_rows(rng, 12, precise)
    rows = rng.integers(len(data), size=50)
    model = model_of(dag, data, by_cells=by_cells)
    drawn = model.draw_states(as_arrays(random_point(rng, dag, data), data), rows, rng)
    for k, v in enumerate(data.variables):
        column = data.column(v.name).fill_unknown()
        assert (k in drawn) == bool((column.cell_sizes > 1).any())
        if k in drawn:
            assert column.cell_sets[column.codes[rows], drawn[k]].all()


@pytest.mark.parametrize("by_cells", [False, True])
@pytest.mark.parametrize("shape", SHAPES)
def test_states_are_drawn_from_their_joint_posterior(shape: dict[str, tuple[str, ...]], by_cells: bool) -> None:
    rng = np.random.default_rng(1)
    dag, number = pn.Dag(shape), 40_000
    scope = [pn.Variable(n, tuple(f"{n}{k}" for k in range(3))) for n in "abc"]
    data = pn.Dataset.from_rows(scope, [(None, {"b0", "b2"}, {"c1", "c2"}), ({"a0", "a1"}, None, "c1")])
    point = random_point(rng, dag, data)
    model = model_of(dag, data, by_cells=by_cells)
    drawn = model.draw_states(as_arrays(point, data), np.repeat([0, 1], number), rng)
    for r in range(2):
        row = data.row(r)
        worlds = list(product(*(sorted(row[n]) for n in "abc")))
        joint = np.array(
            [
                np.prod([point[n][tuple(w["abc".index(p)] for p in dag.parents(n))][w[j]] for j, n in enumerate("abc")])
                for w in worlds
            ]
        )
        states = np.stack([drawn[k][r * number : (r + 1) * number] for k in range(3)], axis=1)
        for world, probability in zip(worlds, joint / joint.sum(), strict=True):
            share = (states == [scope[j].states.index(x) for j, x in enumerate(world)]).all(axis=1).mean()
            assert abs(share - probability) < 5 * np.sqrt(probability / number) + 1e-9


def test_on_precise_rows_em_is_counting() -> None:
    dag = pn.Dag({"a": (), "b": ("a",), "c": ("a", "b")})
    data = random_rows(np.random.default_rng(2), 40, 3)
    model = model_of(dag, data)
    run = model.fit(model.equal_tables())
    counts = pn.count(dag, data)
    for k, v in enumerate(data.variables):
        table = counts[v.name].reshape(-1, len(v)).astype(float)
        seen = table.sum(axis=1) > 0
        assert run.masses[str(k)][seen] == pytest.approx(
            (table / np.maximum(table.sum(axis=1, keepdims=True), 1))[seen]
        )


def test_what_is_too_wide_is_refused() -> None:
    scope = [pn.Variable(f"v{k}", tuple(str(x) for x in range(20))) for k in range(9)]
    data = pn.Dataset.from_rows(scope, [(None,) * 9, ("1",) * 9])
    dag = pn.Dag({f"v{k}": tuple(f"v{p}" for p in range(k)) if k == 8 else () for k in range(9)})
    with pytest.raises(pn.TooLarge):
        model_of(dag, data)


@given(strategies.seeds)
def test_components_are_the_hidden_variables_that_meet_in_families(seed: int) -> None:
    rng = np.random.default_rng(seed)
    size, rows = 7, 9
    members = [
        (*sorted(rng.choice(k, size=min(k, int(rng.integers(3))), replace=False).tolist()), k) for k in range(size)
    ]
    hidden = rng.random((size, rows)) < 0.6
    learned = sorted(
        (row, variables) for variables, chosen in find_components(hidden, members) for row in chosen.tolist()
    )
    expected = []
    for row in range(rows):
        groups = merge_overlapping([{v for v in family if hidden[v, row]} for family in members])
        expected += [(row, tuple(sorted(group))) for group in groups]
    assert learned == sorted(expected)

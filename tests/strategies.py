"""Random values for the property tests."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

import possnet as pn

names = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=6)
levels = st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.7, 1.0])  # few, so that ties and zeros are common
degrees = st.one_of(levels, st.floats(0.0, 1.0))
conjunctions = st.sampled_from([pn.PRODUCT, pn.MIN])
seeds = st.integers(0, 2**32 - 1)


@st.composite
def variables(draw: st.DrawFn, *, name: str | None = None, max_states: int = 6) -> pn.Variable:
    states = draw(st.lists(names, min_size=1, max_size=max_states, unique=True))
    return pn.Variable(draw(names) if name is None else name, tuple(states), ordered=draw(st.booleans()))


@st.composite
def possibilities(draw: st.DrawFn, *, max_states: int = 6, normalised: bool = True) -> pn.Possibility:
    """Distributions of one variable."""
    variable = draw(variables(max_states=max_states))
    values = draw(st.lists(degrees, min_size=len(variable), max_size=len(variable)))
    if normalised:
        values[draw(st.integers(0, len(values) - 1))] = 1.0
    return pn.Possibility(variable, values)


@st.composite
def joint_possibilities(draw: st.DrawFn) -> pn.Possibility:
    """Normalised distributions of two or three variables."""
    count = draw(st.integers(2, 3))
    scope = [draw(variables(name=f"v{k}", max_states=3)) for k in range(count)]
    shape = tuple(len(v) for v in scope)
    size = int(np.prod(shape))
    values = np.array(draw(st.lists(levels, min_size=size, max_size=size)))
    values[draw(st.integers(0, size - 1))] = 1.0
    return pn.Possibility(scope, values.reshape(shape))


@st.composite
def events(draw: st.DrawFn, variable: pn.Variable) -> frozenset[str]:
    return frozenset(draw(st.sets(st.sampled_from(variable.states))))


@st.composite
def probabilities(draw: st.DrawFn, *, max_states: int = 7) -> list[float]:
    """Unnormalised weights, with ties and zeros, at least one positive."""
    weights = st.one_of(st.sampled_from([0.0, 1.0, 2.0, 5.0]), st.floats(1e-6, 1e3))
    drawn = draw(st.lists(weights, min_size=1, max_size=max_states))
    drawn[draw(st.integers(0, len(drawn) - 1))] = draw(st.floats(1e-3, 1e3))
    return drawn


@st.composite
def masses(draw: st.DrawFn) -> pn.MassFunction:
    variable = draw(variables(max_states=5))
    focal = draw(
        st.lists(st.integers(1, 2 ** len(variable) - 1), min_size=1, max_size=6, unique=True),
    )
    weights = draw(st.lists(st.integers(1, 20), min_size=len(focal), max_size=len(focal)))
    return pn.MassFunction(
        variable,
        {variable.states_in(a): w / sum(weights) for a, w in zip(focal, weights, strict=True)},
    )


@st.composite
def dags(draw: st.DrawFn, *, max_nodes: int = 5) -> pn.Dag:
    count = draw(st.integers(1, max_nodes))
    order = draw(st.permutations([f"n{k}" for k in range(count)]))
    parents = {
        node: draw(st.lists(st.sampled_from(order[:k]), unique=True)) if k else [] for k, node in enumerate(order)
    }
    listed = draw(st.permutations(list(parents)))
    return pn.Dag({node: parents[node] for node in listed})


@st.composite
def networks(draw: st.DrawFn, *, max_variables: int = 5, max_states: int = 3) -> pn.Network:
    return pn.random_network(
        draw(st.integers(1, max_variables)),
        max_parents=draw(st.integers(0, 3)),
        states=(draw(st.integers(1, 2)), max_states),
        zeros=draw(st.sampled_from([0.0, 0.3])),
        ties=draw(st.sampled_from([0.0, 0.3])),
        conjunction=draw(conjunctions),
        rng=draw(seeds),
    )


@st.composite
def cells(draw: st.DrawFn, variable: pn.Variable) -> str | frozenset[str] | None:
    """A state, a set of states (perhaps all), or unknown."""
    kind = draw(st.sampled_from("ssmmau"))
    if kind == "s":
        return draw(st.sampled_from(variable.states))
    if kind == "m":
        return frozenset(draw(st.sets(st.sampled_from(variable.states), min_size=1)))
    return frozenset(variable.states) if kind == "a" else None


@st.composite
def datasets(draw: st.DrawFn, *, min_rows: int = 0, max_rows: int = 70, weighted: bool | None = None) -> pn.Dataset:
    """Data sets with odd names, sets, unknown cells, sometimes weights."""
    count = draw(st.integers(1, 3))
    listed = draw(st.lists(names, min_size=count, max_size=count, unique=True))
    scope = [draw(variables(name=name, max_states=4)) for name in listed]
    rows = draw(st.lists(st.tuples(*(cells(v) for v in scope)), min_size=min_rows, max_size=5))
    rows = rows * draw(st.integers(1, max(max_rows // max(len(rows), 1), 1)))
    has_weights = draw(st.booleans()) if weighted is None else weighted
    weights = draw(st.lists(st.integers(0, 2**40), min_size=len(rows), max_size=len(rows))) if has_weights else None
    return pn.Dataset.from_rows(scope, rows, weights=weights)


@st.composite
def counted(draw: st.DrawFn, *, weighted: bool | None = None) -> tuple[pn.Dag, pn.Dataset]:
    """A DAG over some of the columns of a data set: sets, unknown cells, precise columns, sometimes weights."""
    scope = [draw(variables(name=f"v{k}", max_states=4)) for k in range(draw(st.integers(1, 4)))]
    precise = [draw(st.booleans()) for _ in scope]
    cell = [st.sampled_from(v.states) if p else cells(v) for v, p in zip(scope, precise, strict=True)]
    rows = draw(st.lists(st.tuples(*cell), max_size=8))
    rows = rows * draw(st.integers(1, 12))
    has_weights = draw(st.booleans()) if weighted is None else weighted
    weights = draw(st.lists(st.integers(0, 2**50), min_size=len(rows), max_size=len(rows))) if has_weights else None
    data = pn.Dataset.from_rows(scope, rows, weights=weights)
    named = draw(st.lists(st.sampled_from([v.name for v in scope]), min_size=1, unique=True))
    parents = {n: draw(st.lists(st.sampled_from(named[:k]), unique=True)) if k else [] for k, n in enumerate(named)}
    return pn.Dag(parents), data


@st.composite
def graded_cells(draw: st.DrawFn, variable: pn.Variable) -> dict[str, float]:
    """Degrees of some states, one of them 1."""
    values = draw(st.lists(levels, min_size=len(variable), max_size=len(variable)))
    values[draw(st.integers(0, len(values) - 1))] = 1.0
    return dict(zip(variable.states, values, strict=True))


@st.composite
def graded_rows(draw: st.DrawFn, scope: list[pn.Variable], *, weighted: bool | None = None) -> pn.Dataset:
    """Rows whose cells are states, sets, degrees or unknown, with no weights, whole ones, or fractional ones."""
    rows = draw(st.lists(st.tuples(*(st.one_of(cells(v), graded_cells(v)) for v in scope)), max_size=8))
    rows = rows * draw(st.integers(1, 4))
    numbers = st.one_of(st.integers(0, 9), st.sampled_from([0.5, 0.25, 1.5, 3.0]))
    has_weights = draw(st.booleans()) if weighted is None else weighted
    weights = draw(st.lists(numbers, min_size=len(rows), max_size=len(rows))) if has_weights else None
    return pn.Dataset.from_rows(scope, rows, weights=weights)


@st.composite
def graded_datasets(draw: st.DrawFn, *, weighted: bool | None = None) -> pn.Dataset:
    """Data sets of one to three columns with degrees in some cells."""
    scope = [draw(variables(name=f"v{k}", max_states=4)) for k in range(draw(st.integers(1, 3)))]
    return draw(graded_rows(scope, weighted=weighted))


@st.composite
def graded_counted(draw: st.DrawFn) -> tuple[pn.Dag, pn.Dataset]:
    """A DAG over some of the columns of a data set with degrees in some cells."""
    scope = [draw(variables(name=f"v{k}", max_states=3)) for k in range(draw(st.integers(1, 4)))]
    named = draw(st.lists(st.sampled_from([v.name for v in scope]), min_size=1, unique=True))
    parents = {n: draw(st.lists(st.sampled_from(named[:k]), unique=True)) if k else [] for k, n in enumerate(named)}
    return pn.Dag(parents), draw(graded_rows(scope))

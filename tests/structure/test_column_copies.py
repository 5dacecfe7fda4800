"""Columns that are copies of others: found, set aside, and leaves of a structure that is still the best."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

import possnet as pn
from possnet.structure.column_copies import find_copies
from possnet.structure.search_graph import CompiledConstraints
from tests import oracles, strategies
from tests.structure.cases import family_score, free, score_of


def add_copy(data: pn.Dataset, name: str, place: int) -> pn.Dataset:
    """The rows with another column, whose states are those of a column by other names."""
    columns = {v.name: [next(iter(data.row(k)[v.name])) for k in range(len(data))] for v in data.variables}
    domains = {v.name: v for v in data.variables}
    items = list(columns.items())
    items.insert(place, ("copy", [state[::-1] + "'" for state in columns[name]]))
    domains["copy"] = pn.Variable("copy", tuple(state[::-1] + "'" for state in reversed(domains[name].states)))
    return pn.Dataset.from_rows([domains[key] for key, _ in items], list(zip(*(c for _, c in items), strict=True)))


@given(strategies.seeds, st.integers(0, 3), st.integers(0, 4))
def test_a_copy_is_found_beside_the_column_that_it_copies_and_no_other(seed: int, original: int, place: int) -> None:
    net = pn.random_network(4, max_parents=2, states=(2, 3), rng=seed)
    data = add_copy(pn.sample(net, 300, process="precise", rng=seed), net.variables[original].name, place)
    names = [v.name for v in data.variables]
    score = family_score(data, "bic")
    rows = [tuple(data.row(k)[n] for n in names) for k in range(len(data))]
    for copy, first in find_copies(score, free(5, 4)).items():
        assert first < copy
        assert len({row[copy] for row in rows}) == len({(row[first], row[copy]) for row in rows}) > 1
    pair = sorted([names.index("copy"), names.index(net.variables[original].name)])
    if score.score_family(pair[1], (pair[0],)) > score.score_family(pair[1], ()):
        assert find_copies(score, free(5, 4))[pair[1]] in {pair[0], *range(pair[0])}


@pytest.mark.parametrize("name", ["bic", "bdeu"])
def test_the_best_of_all_structures_is_found_beside_a_copy(name: str) -> None:
    missed = 0
    for seed in range(15):
        net = pn.random_network(3, max_parents=2, states=(2, 3), rng=seed)
        data = add_copy(pn.sample(net, 500, process="precise", rng=seed), net.variables[seed % 3].name, seed % 4)
        score = family_score(data, name)
        top = max(score_of(score, dag) for dag in oracles.all_dags([v.name for v in data.variables]))
        missed += pn.learn_structure(data, "boss", measure=name).score < top - 1e-6
    assert missed == 0


def test_a_copy_with_constraints_of_its_own_is_searched_like_any_column() -> None:
    data = add_copy(pn.sample(pn.load_example("asia"), 400, process="precise", rng=1), "smoke", 0)
    score, size = family_score(data, "bic"), len(data.variables)
    names = [v.name for v in data.variables]
    assert find_copies(score, free(size, 3)) == {names.index("smoke"): 0}
    for change in ("forbidden", "required", "no parents", "below"):
        limits = free(size, 0 if change == "no parents" else 3)
        allowed, required = limits.allowed.copy(), limits.required.copy()
        if change == "forbidden":
            allowed[0, names.index("lung")] = False
        if change == "below":
            allowed[0, names.index("smoke")] = False
        if change == "required":
            required[names.index("smoke"), names.index("lung")] = True
        assert find_copies(score, CompiledConstraints(required, allowed, limits.max_parents)) == {}
    known = pn.Constraints(required=[("copy", "bronc")], forbidden=[("smoke", "bronc")])
    learned = pn.learn_structure(data, "boss", measure="bic", constraints=known)
    assert ("copy", "bronc") in learned.dag.edges
    assert ("smoke", "bronc") not in learned.dag.edges


def test_imprecise_and_constant_columns_are_no_copies() -> None:
    table = {"a": ["x", {"x", "y"}] * 50, "b": ["x", {"x", "y"}] * 50, "c": ["u"] * 100, "d": ["v"] * 100}
    score = family_score(pn.Dataset.from_table(table), "mdl")
    assert find_copies(score, free(4, 3)) == {}
    assert np.isfinite(pn.learn_structure(pn.Dataset.from_table(table), "boss", measure="mdl").score)


@given(strategies.seeds, st.sampled_from(["bic", "bdeu"]))
def test_where_no_two_columns_score_alike_without_parents_none_is_a_copy(seed: int, measure: str) -> None:
    """So that few variables need not be compared."""
    rng = np.random.default_rng(seed)
    columns = {f"x{k}": rng.integers(0, 3, 12).astype(str).tolist() for k in range(3)}
    if seed % 2:
        columns["copy"] = [{"0": "b", "1": "a", "2": "c"}[state] for state in columns["x1"]]
    score = family_score(pn.Dataset.from_table(columns), measure)
    table = score.tabulate_families(1 << 18)
    assert table is not None
    copies = find_copies(score, free(len(columns), 3))
    assert table.has_alike() or not copies
    assert not seed % 2 or table.has_alike()

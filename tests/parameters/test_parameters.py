"""Parameter learning: every estimator against its definition, and Proposition 1 as a law."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from math import inf, log
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, strategies as st

import possnet as pn
from possnet.parameters import capped_maximum, histogram, proposition_1, undo_thinning
from tests import oracles, strategies

numbers = st.lists(st.integers(0, 30), min_size=1, max_size=6)


def score(counts: list[int], degrees: Any) -> float:
    """Sum of N log pi, straight from (9)."""
    found = 0.0
    for n, degree in zip(counts, degrees, strict=True):
        if n:
            found += n * log(degree) if degree > 0 else -inf
    return found


def points(size: int, total: float, rng: np.random.Generator, cap: float) -> list[Any]:
    """Degrees that add up to a total, none above the cap."""
    found = []
    for _ in range(60):
        point = rng.dirichlet(np.full(size, rng.choice([0.3, 1.0, 5.0]))) * total
        for _ in range(40):  # push what is above the cap to the others
            over = point > cap
            if not over.any():
                break
            spare = (point[over] - cap).sum()
            point[over] = cap
            room = cap - point
            if room.sum() <= 0:
                break
            point = point + room / room.sum() * min(spare, room.sum())
        found.append(point)
    return found


@pytest.mark.equation(10)
@given(numbers, st.floats(0.1, 6.0), strategies.seeds)
def test_proposition_1_is_the_best_point_with_its_sum(counts: list[int], total: float, seed: int) -> None:
    assume(sum(counts) > 0)
    best = proposition_1(counts, total)
    assert best.sum() == pytest.approx(total)
    for point in points(len(counts), total, np.random.default_rng(seed), inf):
        assert score(counts, point) <= score(counts, best) + 1e-9


@pytest.mark.equation(10)
@given(numbers, st.floats(0.05, 1.0), strategies.seeds)
def test_the_capped_maximum_is_the_best_point_of_degrees(counts: list[int], share: float, seed: int) -> None:
    assume(sum(counts) > 0)
    total = share * len(counts)
    best = capped_maximum(counts, total)
    assert best.sum() == pytest.approx(total)
    assert (best <= 1.0).all()
    for point in points(len(counts), total, np.random.default_rng(seed), 1.0):
        assert score(counts, point) <= score(counts, best) + 1e-9
    empty = [d for d, n in zip(best.tolist(), counts, strict=True) if not n]
    assert len({round(d, 12) for d in empty}) <= 1


@given(numbers, st.lists(st.floats(0.1, 3.0), min_size=6, max_size=6), strategies.seeds)
def test_a_total_for_every_state_is_the_best_point_under_its_constraint(
    counts: list[int], totals: list[float], seed: int
) -> None:
    assume(sum(counts) > 0)
    scale = np.array(totals[: len(counts)])
    best = proposition_1(counts, scale)
    assert (best / scale).sum() == pytest.approx(1.0)
    for point in points(len(counts), 1.0, np.random.default_rng(seed), inf):
        assert score(counts, point * scale) <= score(counts, best) + 1e-9


def test_published_values() -> None:
    assert proposition_1([10, 4, 1], 2.5) == pytest.approx([5 / 3, 2 / 3, 1 / 6])
    assert capped_maximum([10, 4, 1], 2.5) == pytest.approx([1, 1, 0.5])
    assert proposition_1([10, 4, 1], [1, 0.8, 0.5]) == pytest.approx([0.6667, 0.2133, 0.0333], abs=5e-5)


def per_context(dag: pn.Dag, data: pn.Dataset, name: str, rule: Callable[[int, list[int]], list[float]]) -> Any:
    """The table that a rule gives, context by context; all 1 where no row is."""
    variable = data.variable(name)
    sizes = [len(data.variable(p)) for p in dag.parents(name)]
    table = np.ones((*sizes, len(variable)))
    for place, (total, by_state) in zip(np.ndindex(*sizes), oracles.counts(dag, data, name).values(), strict=True):
        if total:
            table[place] = rule(total, list(by_state.values()))
    return table


@given(strategies.counted())
def test_likelihood_divides_by_the_largest_count(given_data: tuple[pn.Dag, pn.Dataset]) -> None:
    dag, data = given_data
    net = pn.fit(dag, data)
    assert net.is_normalised
    for name in dag.nodes:
        expected = per_context(dag, data, name, lambda _, n: [k / max(n) for k in n])
        assert net.table(name) == pytest.approx(expected)
        assert net.support is not None
        totals = [total for total, _ in oracles.counts(dag, data, name).values()]
        assert net.support[name].reshape(-1).tolist() == totals


@pytest.mark.equation(5)
@given(strategies.counted())
def test_histogram_is_the_share_of_rows(given_data: tuple[pn.Dag, pn.Dataset]) -> None:
    dag, data = given_data
    raw, divided = pn.fit(dag, data, method="histogram"), pn.fit(dag, data, method="histogram", normalise=True)
    for name in dag.nodes:
        assert raw.table(name) == pytest.approx(per_context(dag, data, name, lambda t, n: [k / t for k in n]))
        assert divided.table(name) == pytest.approx(pn.fit(dag, data).table(name))


@pytest.mark.equation(5)
@given(st.lists(st.integers(0, 30), min_size=2, max_size=5), st.integers(1, 60))
def test_histogram_is_likelihood_with_the_mean_size_of_the_cells(counts: list[int], rows: int) -> None:
    assume(sum(counts) > 0)
    total = sum(counts) / rows
    assert histogram(counts, rows) == pytest.approx(proposition_1(counts, total))


@given(strategies.counted(), st.floats(0.05, 1.0))
def test_the_total_cancels_after_normalising(given_data: tuple[pn.Dag, pn.Dataset], share: float) -> None:
    dag, data = given_data
    plain = pn.fit(dag, data)
    by_variable = {name: share * len(data.variable(name)) for name in dag.nodes}
    for total in (share, "data", by_variable):
        assert pn.fit(dag, data, total=total).is_close(plain, tolerance=1e-12)


@given(strategies.counted(), st.floats(0.05, 1.0))
def test_totals_are_kept_when_nothing_is_divided(given_data: tuple[pn.Dag, pn.Dataset], share: float) -> None:
    dag, data = given_data
    capped = pn.fit(dag, data, method="capped", total={n: share * len(data.variable(n)) for n in dag.nodes})
    for name in dag.nodes:
        total = share * len(data.variable(name))
        expected = per_context(dag, data, name, lambda _, n, s=total: capped_maximum(n, s).tolist())  # type: ignore[misc]
        assert capped.table(name) == pytest.approx(expected)
    raw = pn.fit(dag, data, total=share, normalise=False)
    for name in dag.nodes:
        assert raw.table(name) == pytest.approx(
            per_context(dag, data, name, lambda _, n: [share * k / sum(n) for k in n])
        )


@given(strategies.counted(), st.sampled_from(["optimal", "symmetric", "ratio"]))
def test_transform_shares_every_row_among_what_it_contains(
    given_data: tuple[pn.Dag, pn.Dataset], transform: Any
) -> None:
    dag, data = given_data
    net = pn.fit(dag, data, method="transform", transform=transform)
    for name in dag.nodes:
        shares: dict[tuple[str, ...], dict[str, float]] = {}
        above = dag.parents(name)
        for cells, number in oracles.focal_counts(dag, data, name).items():
            size = np.prod([len(cell) for cell in cells])
            for *states, state in product(*cells):
                found = shares.setdefault(tuple(states), dict.fromkeys(data.variable(name).states, 0.0))
                found[state] += number / size
        for place in np.ndindex(*net.table(name).shape[:-1]):
            context = tuple(data.variable(p).states[k] for p, k in zip(above, place, strict=True))
            expected = (
                pn.to_possibility(list(shares[context].values()), method=transform)
                if context in shares
                else np.ones(len(data.variable(name)))
            )
            assert net.table(name)[place] == pytest.approx(expected, abs=1e-9)


@given(strategies.counted(), st.floats(0.1, 5.0))
def test_pseudo_counts_are_rows_of_ignorance(given_data: tuple[pn.Dag, pn.Dataset], pseudo: float) -> None:
    dag, data = given_data
    net = pn.fit(dag, data, prior="ignorance", pseudo=pseudo)
    raw = pn.fit(dag, data, method="histogram", prior="ignorance", pseudo=pseudo)
    for name in dag.nodes:
        assert net.table(name) == pytest.approx(
            per_context(dag, data, name, lambda _, n: [(k + pseudo) / (max(n) + pseudo) for k in n])
        )
        assert raw.table(name) == pytest.approx(
            per_context(dag, data, name, lambda t, n: [(k + pseudo) / (t + pseudo) for k in n])
        )


@given(strategies.counted(), st.floats(0.1, 1.0))
def test_a_known_imprecision_is_divided_out_before_normalising(
    given_data: tuple[pn.Dag, pn.Dataset], theta: float
) -> None:
    dag, data = given_data
    net = pn.fit(dag, data, imprecision=theta)

    def rule(total: int, n: list[int]) -> list[float]:
        raw = [min(1.0, k / total / theta) for k in n]
        return [d / max(raw) for d in raw]

    for name in dag.nodes:
        assert net.table(name) == pytest.approx(per_context(dag, data, name, rule))
    by_variable = pn.fit(dag, data, method="histogram", imprecision=dict.fromkeys(dag.nodes, theta))
    assert by_variable.is_close(net, tolerance=1e-12)


def test_the_correction_recovers_a_thinned_root() -> None:
    z = pn.Variable("z", tuple("abc"))
    net = pn.Network((z,), pn.Dag({"z": ()}), {"z": [1, 0.6, 0.3]})
    limit = pn.sampling_limit(net, imprecision=0.5).table("z")
    assert undo_thinning(limit, 0.5) == pytest.approx([1, 0.6, 0.3])
    learned = pn.fit(net.dag, pn.sample(net, 200_000, imprecision=0.5, rng=1), imprecision=0.5).table("z")
    assert np.abs(learned - [1, 0.6, 0.3]).max() < 5 * (0.3 * 0.7 / 200_000) ** 0.5 / 0.5


@pytest.mark.parametrize("conjunction", [pn.PRODUCT, pn.MIN])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_learned_from_samples_roots_reach_the_truth_and_children_their_limit(
    conjunction: pn.Conjunction, seed: int
) -> None:
    """Within 5.5 standard errors: a false alarm in about 1 of 2,500,000 degrees."""
    net = pn.random_network(6, max_parents=2, states=(2, 4), conjunction=conjunction, rng=seed)
    limit = pn.sampling_limit(net)
    found = pn.simulated_limit(net, 400_000, rng=seed)
    learned = pn.fit(net.dag, pn.sample(net, 400_000, rng=seed), conjunction=conjunction)
    assert found.network.is_close(learned, tolerance=1e-12)
    for variable in net.variables:
        name = variable.name
        if not net.dag.parents(name):
            assert limit.table(name) == pytest.approx(net.table(name))
        errors = found.standard_errors[name]
        assert found.network.support is not None
        seen = found.network.support[name] >= 100
        gap = np.abs(found.network.table(name) - limit.table(name))[seen]
        assert (gap <= 5.5 * errors[seen] + 1e-3).all()
    assert f"{found.rows:,} drawn rows; standard errors up to" in found.network.description
    assert 0 < found.largest_error < 0.1


def test_a_limit_that_is_too_large_is_simulated_if_asked() -> None:
    net = pn.load_example("clinic")
    with pytest.raises(pn.TooLarge):
        pn.sampling_limit(net, imprecision=0.5, limit=1000)
    found = pn.sampling_limit(net, imprecision=0.5, limit=1000, simulate=20_000, rng=3)
    assert "20,000 drawn rows" in found.description
    assert np.abs(found.table("contact") - pn.sampling_limit(net, imprecision=0.5).table("contact")).max() < 0.02
    with pytest.raises(pn.InputError, match="from 100 on"):
        pn.simulated_limit(net, 10)


def test_new_rows_are_learned_by_adding_counts() -> None:
    net = pn.load_example("clinic")
    data = pn.sample(net, 3000, imprecision=0.5, rng=2)
    counts = pn.count(net.dag, data[:1000])
    assert pn.fit(net.dag, counts + pn.count(net.dag, data[1000:])) == pn.fit(net.dag, data)
    assert pn.fit(net.dag, pn.sample_batches(net, 3000, imprecision=0.5, rng=2)) == pn.fit(net.dag, data)


@given(strategies.counted())
def test_random_sets_are_the_shares_of_equal_cells(given_data: tuple[pn.Dag, pn.Dataset]) -> None:
    dag, data = given_data
    model = pn.fit_random_sets(dag, data)
    for name in dag.nodes:
        expected = oracles.focal_counts(dag, data, name)
        sums: dict[Any, int] = {}
        for cells, n in expected.items():
            sums[cells[:-1]] = sums.get(cells[:-1], 0) + n
        assert model.support(name) == sums
        assert {
            (*context, cell): mass for context, m in model.masses(name).items() for cell, mass in m.masses.items()
        } == pytest.approx({cells: n / sums[cells[:-1]] for cells, n in expected.items()})


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"method": "likelyhood"}, "did you mean 'likelihood'"),
        ({"total": 2.5}, "total 2.5; expected a number above 0 and at most the number of states, 2"),
        ({"total": "rows"}, "expected a number, 'data', or a mapping"),
        ({"total": {"a": 1.0}}, "no total for b"),
        ({"total": {"a": 1.0, "c": 1}}, "total for 'c', which is not a variable"),
        ({"total": {"a": [1.0], "b": 1.0}}, "total of 'a' has 1 numbers; expected one for each of 2 states"),
        ({"total": {"a": {"x": 1.0}, "b": 1.0}}, "total of 'a' lacks y"),
        ({"total": {"a": {"z": 1.0}, "b": 1.0}}, "'z' is not a state of 'a'"),
        ({"total": {"a": [1, -1], "b": 1.0}}, "total of 'a' -1; expected a number above 0"),
        ({"total": {"a": [1, 1], "b": 1.0}, "method": "capped"}, "a total for every state"),
        ({"total": 2, "normalise": False}, "Use method='capped'"),
        ({"total": 1, "method": "histogram"}, "expected method 'likelihood' or 'capped'"),
        ({"imprecision": 0.5, "method": "transform"}, "imprecision corrects method"),
        ({"imprecision": 0.0}, "imprecision of 'a' 0.0; expected a number above 0 and at most 1$"),
        ({"transform": "opt"}, "transform 'opt'"),
        ({"pseudo": -1}, "pseudo -1; expected a number >= 0"),
        ({"pseudo": 10**400}, "pseudo an int of 1329 bits; expected a number"),
        ({"conjunction": "min"}, "expected possnet.PRODUCT"),
    ],
)
def test_wrong_options_are_told(how: dict[str, Any], message: str) -> None:
    data = pn.Dataset.from_table({"a": ["x", "y", "y"], "b": ["u", "v", "v"]})
    with pytest.raises(pn.InputError, match=message.replace("(", "\\(")):
        pn.fit(pn.Dag({"a": (), "b": ("a",)}), data, **how)


@given(strategies.counted(weighted=False))
def test_the_total_of_the_data_is_the_mean_size_of_the_cells(given_data: tuple[pn.Dag, pn.Dataset]) -> None:
    dag, data = given_data
    assume(len(data) > 0)
    by_hand = {name: data.mean_cell_size(name) for name in dag.nodes}
    told = pn.fit(dag, data, method="capped", total="data")
    assert told.is_close(pn.fit(dag, data, method="capped", total=by_hand), tolerance=1e-12)


def test_a_pseudo_row_of_transform_holds_every_state() -> None:
    a = pn.Variable("a", ("x", "y"))
    dag = pn.Dag({"a": ()})
    rows = [("x",), ("x",)]
    data = pn.Dataset.from_rows((a,), rows)
    imagined = pn.fit(dag, data, method="transform", transform="ratio", prior="ignorance", pseudo=1)
    real = pn.fit(dag, pn.Dataset.from_rows((a,), [*rows, (None,)]), method="transform", transform="ratio")
    assert imagined.table("a") == pytest.approx(real.table("a"))


def test_a_corrected_imprecision_can_be_left_as_it_stands() -> None:
    data = pn.Dataset.from_table({"a": ["x", "x", {"x", "y"}, "z"]})
    raw = pn.fit(pn.Dag({"a": ()}), data, imprecision=0.9, normalise=False)
    assert raw.table("a") == pytest.approx([0.75 / 0.9, 0.25 / 0.9, 0.25 / 0.9])


def test_stated_standard_errors_are_the_spread_of_repeated_simulations() -> None:
    net = pn.random_network(3, max_parents=1, states=(2, 3), rng=4)
    runs = [pn.simulated_limit(net, 5000, rng=seed) for seed in range(60)]
    for variable in net.variables:
        tables = np.array([run.network.table(variable.name) for run in runs])
        stated = np.mean([run.standard_errors[variable.name] for run in runs], axis=0)
        spread = tables.std(axis=0, ddof=1)
        moving = stated > 1e-3
        assert np.abs(spread[moving] / stated[moving] - 1).max() < 0.45  # 60 runs tell a spread within about 10 %


def test_a_total_for_every_state_does_not_cancel() -> None:
    data = pn.Dataset.from_table({"a": ["x"] * 10 + ["y"] * 4 + ["z"]})
    net = pn.fit(pn.Dag({"a": ()}), data, total={"a": {"x": 1, "y": 0.8, "z": 0.5}})
    assert net.table("a") == pytest.approx([1, 0.32, 0.05])
    raw = pn.fit(pn.Dag({"a": ()}), data, total={"a": [1, 0.8, 0.5]}, normalise=False)
    assert raw.table("a") == pytest.approx([0.6667, 0.2133, 0.0333], abs=5e-5)


def test_what_cannot_be_learned_is_refused() -> None:
    data = pn.Dataset.from_table({"a": ["x"], "b": ["u"]})
    counts = pn.count(pn.Dag({"a": ()}), data)
    with pytest.raises(pn.InputError, match="another structure"):
        pn.fit(pn.Dag({"b": ()}), counts)
    with pytest.raises(pn.InputError, match="another structure"):
        pn.fit_random_sets(pn.Dag({"b": ()}), counts)
    with pytest.raises(pn.InputError, match="focal=True"):
        pn.fit(pn.Dag({"a": ()}), counts, method="transform")
    with pytest.raises(pn.InputError, match="the structure names 'c'"):
        pn.fit(pn.Dag({"c": ()}), data)
    with pytest.raises(pn.InputError, match="at most 2"):
        capped_maximum([1, 2], 3)
    with pytest.raises(pn.InputError, match="cannot be corrected"):
        undo_thinning([1.0], 0.0)
    wide = pn.Dataset.from_rows([pn.Variable(f"v{k}", tuple("abcdefgh")) for k in range(16)], [["a"] * 16])
    dag = pn.Dag({**{f"v{k}": () for k in range(15)}, "v15": tuple(f"v{k}" for k in range(15))})
    with pytest.raises(pn.TooLarge, match="the table of 'v15'"):
        pn.fit(dag, wide)
    model = pn.fit_random_sets(pn.Dag({"a": ()}), data)
    with pytest.raises(pn.InputError, match="no variable 'b'"):
        model.masses("b")
    both = pn.fit_random_sets(pn.Dag({"a": (), "b": ("a",)}), pn.Dataset.from_table({"a": ["x", "y"], "b": ["u", "v"]}))
    with pytest.raises(pn.InputError, match="expected cells of a"):
        both.mass_function("b")
    with pytest.raises(pn.InputError, match="no row has a=x|y"):
        both.mass_function("b", {"a": {"x", "y"}})


def test_equal_shares_tie_whatever_the_order_of_their_sums() -> None:
    x = pn.Variable("x", ("1", "2", "3", "4"))
    cells = [
        "3",
        "234",
        "1234",
        "3",
        "3",
        "1",
        "2",
        "1234",
        "1",
        "1234",
        "4",
        "23",
        "13",
        "1234",
        "3",
        "14",
        "124",
        "1234",
        "4",
        "2",
    ]
    table = pn.fit(
        pn.Dag({"x": ()}), pn.Dataset.from_rows((x,), [(set(cell),) for cell in cells]), method="transform"
    ).table("x")
    assert table[1] == table[3]
    np.testing.assert_allclose(table[1], 2 * 4.4166666666666667 / 20)


def test_degrees_that_are_not_divided_may_be_exactly_1_and_add_up_to_the_total() -> None:
    data = pn.Dataset.from_table({"fever": ["mild", "mild", "high", "none"]})
    dag = pn.Dag({"fever": ()})
    degrees = pn.fit(dag, data, total=2, normalise=False).table("fever")
    assert sorted(degrees) == [0.5, 0.5, 1.0]  # N_k / N * S
    assert pn.fit(dag, data, normalise=False).table("fever").sum() == 1.0  # S is 1 unless it is given


def test_cells_of_parents_that_no_row_has_are_named() -> None:
    data = pn.Dataset.from_table({"a": ["x", "y"], "c": ["p", "q"], "b": ["u", "v"]})
    sets = pn.fit_random_sets(pn.Dag({"a": (), "c": (), "b": ("a", "c")}), data)
    with pytest.raises(pn.InputError, match="no row has a=x, c=q; see masses"):
        sets.mass_function("b", {"a": "x", "c": "q"})

"""Sampling: every process against its law, enumerated branch by branch."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise, product
from math import log, sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import possnet as pn
from possnet.sampling.block_sampler import CompiledSampler
from possnet.sampling.categorical import Categorical
from possnet.sampling.cell_laws import Outcomes
from possnet.sampling.random_bits import BLOCK, RandomBits
from possnet.sampling.sampling_spec import SamplingSpec
from tests import oracles, strategies

FALSE_ALARM = (
    1e-7  # probability that one sound comparison fails; every seed is fixed, so a failure is a fault and stays one
)

thetas = st.sampled_from([0.0, 0.3, 0.5, 1.0])
OPTIONS: list[dict[str, Any]] = [
    {"process": "alpha-cut"},
    {"process": "alpha-cut", "law": "text"},
    {"process": "alpha-cut", "parents": "cut"},
    {"process": "alpha-cut", "law": "text", "parents": "cut"},
    {"process": "precise"},
    {"process": "traced"},
    {"process": "traced", "law": "text"},
    {"process": "traced", "parents": "cut"},
]
options: st.SearchStrategy[dict[str, Any]] = st.sampled_from(OPTIONS)


def small_networks() -> st.SearchStrategy[pn.Network]:
    return strategies.networks(max_variables=4, max_states=3)


def example() -> pn.Network:
    """The two-node network of the documentation."""
    x, y = pn.Variable("x", ("1", "2")), pn.Variable("y", ("1", "2"))
    return pn.Network((x, y), pn.Dag({"x": (), "y": ("x",)}), {"x": [1, 0.5], "y": [[1, 0.2], [0.1, 1]]})


def rows_of(data: pn.Dataset) -> Counter[oracles.Row]:
    found: Counter[oracles.Row] = Counter()
    distinct = data.distinct()
    assert distinct.weights is not None
    for number, weight in enumerate(distinct.weights.tolist()):
        found[tuple(distinct.row(number).items())] += weight
    return found


def require_law(found: Counter[oracles.Row], law: dict[oracles.Row, float]) -> None:
    """Chi-square of counts against a law; P(X >= k + 2 sqrt(kx) + 2x) <= exp(-x) (Laurent and Massart 2000)."""
    total = found.total()
    assert not found.keys() - {row for row, probability in law.items() if probability > 0}
    large = {row: probability for row, probability in law.items() if probability * total >= 25}
    statistic = sum(
        (found[row] - total * probability) ** 2 / (total * probability) for row, probability in large.items()
    )
    cells = len(large) - 1
    rest = total * (1 - sum(large.values()))
    if rest >= 25:
        seen = total - sum(found[row] for row in large)
        statistic += (seen - rest) ** 2 / rest
        cells += 1
    x = -log(FALSE_ALARM)
    assert statistic <= cells + 2 * sqrt(max(cells, 1) * x) + 2 * x + 5  # 5: counts are not quite normal


def draw(net: pn.Network, rows: int, *, theta: Any, seed: int, direct: bool = False, **kwargs: Any) -> pn.Dataset:
    """Rows as `sample` draws them, or with every family drawn state by state."""
    if not direct:
        drawn: pn.Dataset = pn.sample(net, rows, imprecision=theta, rng=seed, **kwargs)
        return drawn
    spec = SamplingSpec.from_options(net, imprecision=theta, **kwargs)
    words, _ = CompiledSampler(spec, seed, entries=0).draw_block(0, rows)
    return pn.Dataset.unchecked(net.variables, words, rows)


@pytest.mark.equation(6)
@given(small_networks(), options, st.data())
def test_the_law_of_a_cell_is_the_enumerated_one(net: pn.Network, how: dict[str, Any], data: st.DataObject) -> None:
    theta = {v.name: data.draw(thetas) for v in net.variables}
    rows = oracles.law_of_rows(net, theta, **how)
    child = data.draw(st.sampled_from([v.name for v in net.variables]))
    above = net.dag.parents(child)
    row = dict(data.draw(st.sampled_from(sorted(rows, key=str))))
    cells = {p: row[p] for p in above}
    listed = [(dict(r), probability) for r, probability in rows.items()]
    matching = [(r[child], probability) for r, probability in listed if all(r[p] == cell for p, cell in cells.items())]
    total = sum(probability for _, probability in matching)
    expected: dict[frozenset[str], float] = {}
    for cell, probability in matching:
        expected[cell] = expected.get(cell, 0.0) + probability / total
    law = pn.sampling_law(net, child, cells, imprecision=theta, **how)
    assert law.masses.keys() == {cell for cell, probability in expected.items() if probability > 1e-300}
    for cell, mass in law.masses.items():
        assert mass == pytest.approx(expected[cell], abs=1e-12)


@pytest.mark.equation(6)
@given(small_networks(), st.data())
def test_a_child_is_cut_from_the_joint_possibility_of_its_family(net: pn.Network, data: st.DataObject) -> None:
    child = data.draw(st.sampled_from([v.name for v in net.variables]))
    rows = oracles.law_of_rows(net, {v.name: 1.0 for v in net.variables}, "alpha-cut")
    row = dict(data.draw(st.sampled_from(sorted(rows, key=str))))
    cells = {p: row[p] for p in net.dag.parents(child)}
    contour = pn.sampling_law(net, child, cells).contour()
    for state, degree in oracles.equation_6(net, child, cells).items():
        assert contour[state] == pytest.approx(degree, abs=1e-12)
    assert contour.is_normalised


@settings(max_examples=60)
@given(small_networks(), options, st.booleans(), strategies.seeds, st.data())
def test_rows_follow_their_law(
    net: pn.Network, how: dict[str, Any], direct: bool, seed: int, data: st.DataObject
) -> None:
    theta = {v.name: data.draw(thetas) for v in net.variables}
    law = oracles.law_of_rows(net, theta, **how)
    require_law(rows_of(draw(net, 20_000, theta=theta, seed=seed, direct=direct, **how)), law)


@settings(max_examples=30)
@given(small_networks(), st.booleans(), strategies.seeds, st.data())
def test_rows_given_evidence_follow_their_law(net: pn.Network, direct: bool, seed: int, data: st.DataObject) -> None:
    known = {
        v.name: frozenset(data.draw(st.sets(st.sampled_from(v.states), min_size=1)))
        for v in net.variables
        if data.draw(st.booleans())
    }
    theta = dict.fromkeys((v.name for v in net.variables), 0.5)
    agreeing = [c for c in oracles.configurations(net) if all(c[v] in cell for v, cell in known.items())]
    if max(oracles.chain_rule(net, c) for c in agreeing) == 0:
        with pytest.raises(pn.ImpossibleEvidence):
            pn.sample(net, 10, evidence=known, rng=1)
        return
    law = oracles.law_of_rows(net, theta, "alpha-cut", evidence=known)
    require_law(rows_of(draw(net, 10_000, theta=theta, seed=seed, direct=direct, evidence=known)), law)


@given(small_networks(), options, st.data())
def test_the_limit_of_counting_is_the_enumerated_one(net: pn.Network, how: dict[str, Any], data: st.DataObject) -> None:
    theta = {v.name: data.draw(thetas) for v in net.variables}
    rows = oracles.law_of_rows(net, theta, **how)
    limit = pn.sampling_limit(net, imprecision=theta, **how)
    assert limit.is_normalised
    for variable in net.variables:
        expected = oracles.counting_limit(net, rows, variable.name)
        table = limit.table(variable.name).reshape(-1, len(variable))
        for learned, shares in zip(table, expected.values(), strict=True):
            assert learned == pytest.approx(np.ones(len(variable)) if shares is None else shares, abs=1e-9)


@pytest.mark.parametrize(
    ("how", "root", "child"),
    [
        ({}, [1, 0.5], [[1, 0.35], [1, 0.5]]),
        ({"imprecision": 0.5}, [1, 0.25], [[1, 0.1375], [1, 0.25]]),
        ({"imprecision": 0.5, "parents": "cut"}, [1, 0.25], [[1, 0.175], [1, 0.25]]),
        ({"process": "precise"}, [1, 1 / 3], [[1, 1 / 9], [1 / 19, 1]]),
        ({"process": "traced"}, [1, 0.5], [[1, 16 / 31], [11 / 12, 1]]),
        ({"process": "traced", "imprecision": 0.5}, [1, 0.25], [[1, 0.241135], [0.954545, 1]]),
    ],
)
def test_published_limits(how: dict[str, Any], root: list[float], child: list[list[float]]) -> None:
    limit = pn.sampling_limit(example(), **how)
    assert limit.table("x") == pytest.approx(np.array(root), abs=1e-6)
    assert limit.table("y") == pytest.approx(np.array(child), abs=1e-6)


def test_published_traced_rows() -> None:
    one, two, both = frozenset("1"), frozenset("2"), frozenset("12")
    expected = {(one, one): 0.4, (one, both): 0.1, (both, one): 0.2, (both, both): 0.075, (both, two): 0.225}
    law = oracles.law_of_rows(example(), {"x": 1.0, "y": 1.0}, "traced")
    assert {tuple(cell for _, cell in row): pytest.approx(c) for row, c in law.items()} == expected
    require_law(rows_of(pn.sample(example(), 100_000, process="traced", rng=5)), law)


def test_published_thinning_of_a_root() -> None:
    net = pn.Network((pn.Variable("z", tuple("abc")),), pn.Dag({"z": ()}), {"z": [1, 0.6, 0.3]})
    assert pn.sampling_limit(net, imprecision=0.5).table("z") == pytest.approx(np.array([1, 0.3, 0.15]))
    assert pn.sampling_limit(net, imprecision=0.5, law="text").table("z") == pytest.approx(np.array([1, 0.33, 0.18]))


@given(strategies.possibilities())
def test_the_law_of_a_whole_cut_is_the_consonant_mass_function(pi: pn.Possibility) -> None:
    net = pn.Network(pi.variables, pn.Dag({pi.variables[0].name: ()}), {pi.variables[0].name: pi.degrees})
    assert pn.sampling_law(net, pi.variables[0].name).is_close(pn.MassFunction.from_possibility(pi), tolerance=1e-12)


@given(strategies.possibilities(), st.sampled_from([0.0, 0.2, 0.7, 1.0]))
def test_the_text_law_adds_up_to_one(pi: pn.Possibility, theta: float) -> None:
    net = pn.Network(pi.variables, pn.Dag({pi.variables[0].name: ()}), {pi.variables[0].name: pi.degrees})
    law = pn.sampling_law(net, pi.variables[0].name, imprecision=theta, law="text")
    assert sum(law.masses.values()) == pytest.approx(1.0)


@given(strategies.possibilities(), strategies.seeds)
def test_guyonnet_keeps_a_state_as_often_as_it_is_possible(pi: pn.Possibility, seed: int) -> None:
    data = pn.guyonnet(pi, 4096, rng=seed)
    counts = np.bitwise_count(data.bitmaps(pi.variables[0].name)).sum(axis=1)
    allowed = sqrt(-log(FALSE_ALARM / 2) / 2 * 4096)  # Hoeffding
    assert (np.abs(counts - 4096 * pi.degrees) <= allowed).all()
    assert (counts[pi.degrees == 1.0] == 4096).all()
    assert (counts[pi.degrees == 0.0] == 0).all()


@given(strategies.possibilities(), strategies.seeds)
def test_chanas_draws_from_the_pignistic_probability(pi: pn.Possibility, seed: int) -> None:
    data = pn.chanas(pi, 4096, rng=seed)
    assert data.imprecise_share() == 0.0
    counts = np.bitwise_count(data.bitmaps(pi.variables[0].name)).sum(axis=1)
    allowed = sqrt(-log(FALSE_ALARM / 2) / 2 * 4096)
    assert (np.abs(counts - 4096 * pn.to_probability(pi.degrees)) <= allowed).all()


@given(small_networks(), thetas, st.sampled_from(OPTIONS[:4]), strategies.seeds)
def test_every_row_of_alpha_cuts_contains_a_configuration_of_degree_1(
    net: pn.Network, theta: float, how: dict[str, Any], seed: int
) -> None:
    best = [c for c in oracles.configurations(net) if oracles.chain_rule(net, c) == 1.0]
    for row in rows_of(pn.sample(net, 300, imprecision=theta, rng=seed, **how)):
        assert any(all(c[name] in cell for name, cell in row) for c in best)


@given(small_networks(), strategies.seeds)
def test_at_imprecision_0_a_cut_shows_its_most_possible_states_alone(net: pn.Network, seed: int) -> None:
    marginals = pn.Inference(net).marginals()
    data = pn.sample(net, 200, imprecision=0.0, rng=seed)
    assert set(rows_of(data)) == {tuple((v.name, marginals[v.name].core) for v in net.variables)}


@given(small_networks())
def test_precise_rows_recover_the_tables_through_the_symmetric_transformation(net: pn.Network) -> None:
    for variable in net.variables:
        sizes = [net.variable(p).states for p in net.dag.parents(variable.name)]
        for states in product(*sizes):
            cells = dict(zip(net.dag.parents(variable.name), states, strict=True))
            law = pn.sampling_law(net, variable.name, cells, process="precise")
            probabilities = [law.masses.get(frozenset({s}), 0.0) for s in variable.states]
            back = pn.to_possibility(probabilities, method="symmetric")
            expected = list(oracles.conditional(net, variable.name, cells).values())
            assert back == pytest.approx(np.array(expected), abs=1e-9)


@settings(max_examples=40)
@given(small_networks(), thetas, strategies.seeds)
def test_traced_cells_contain_their_trace_and_follow_it(net: pn.Network, theta: float, seed: int) -> None:
    data, trace = pn.sample(net, 5000, imprecision=theta, process="traced", rng=seed, trace=True)
    for name in (v.name for v in net.variables):
        hidden = trace.bitmaps(name)
        assert (hidden & ~data.bitmaps(name) == 0).all()
        assert trace.imprecise_share(name) == 0.0
    child = net.variables[-1].name
    for states in product(*(net.variable(p).states for p in net.dag.parents(child))):
        inside = np.ones(5000, dtype=bool)
        for parent, state in zip(net.dag.parents(child), states, strict=True):
            column = trace.column(parent)
            inside &= np.array([cell == (state,) for cell in column.cells])[column.codes]
        if inside.sum() < 30:
            continue
        degrees = oracles.conditional(net, child, dict(zip(net.dag.parents(child), states, strict=True)))
        law: dict[oracles.Row, float] = {}
        core = frozenset(s for s, d in degrees.items() if d == 1.0)
        for cut, probability in oracles.cuts(degrees).items():
            for cell, share in oracles.thinned(cut, core, theta, "independent").items():
                key = ((child, cell),)
                law[key] = law.get(key, 0.0) + probability * share
        require_law(rows_of(data[inside].select([child])), law)


@settings(max_examples=12)
@given(small_networks(), options, thetas, strategies.seeds, st.integers(500, 90_000))
def test_rows_do_not_depend_on_batches_starts_or_how_many_are_drawn(
    net: pn.Network, how: dict[str, Any], theta: float, seed: int, batch: int
) -> None:
    whole = pn.sample(net, 140_000, imprecision=theta, rng=seed, **how)
    stream = pn.sample_batches(net, 140_000, imprecision=theta, rng=seed, batch=batch, **how)
    parts = list(stream)
    assert {len(part) for part in parts[:-1]} <= {batch}
    assert pn.Dataset.concatenate(parts) == whole
    assert pn.sample(net, 70_000, imprecision=theta, rng=seed, start=batch // 2, **how) == whole[batch // 2 : batch // 2 + 70_000]  # fmt: skip


@settings(max_examples=20)
@given(small_networks(), options, strategies.seeds, st.integers(1, 20_000))
def test_a_shorter_block_drawn_state_by_state_is_a_prefix(
    net: pn.Network, how: dict[str, Any], seed: int, rows: int
) -> None:
    long = draw(net, 20_000, theta=0.4, seed=seed, direct=True, **how)
    assert draw(net, rows, theta=0.4, seed=seed, direct=True, **how) == long[:rows]


def test_the_order_of_variables_and_a_generator_do_not_matter() -> None:
    net = pn.load_example("asia")
    turned = pn.Network(net.variables[::-1], net.dag, {v.name: net.table(v.name) for v in net.variables})
    names = [v.name for v in net.variables]
    assert pn.sample(turned, 500, rng=3).select(names) == pn.sample(net, 500, rng=3)
    seeds = [np.random.default_rng(4), np.random.default_rng(4)]
    assert pn.sample(net, 50, rng=seeds[0]) == pn.sample(net, 50, rng=seeds[1])
    assert pn.sample(net, 50, rng=seeds[0]) != pn.sample(net, 50, rng=np.random.default_rng(4))


def test_a_variable_of_100_states_is_drawn_by_thresholds_and_thinning() -> None:
    rng = np.random.default_rng(2)
    x, y = (pn.Variable(name, tuple(f"s{k}" for k in range(100))) for name in "xy")
    root, table = rng.random(100), rng.random((100, 100))
    root[17] = 1.0
    table[np.arange(100), rng.integers(0, 100, 100)] = 1.0
    net = pn.Network((x, y), pn.Dag({"x": (), "y": ("x",)}), {"x": root, "y": table})
    data = pn.sample(net, 40_000, imprecision=0.5, rng=1)
    allowed = sqrt(-log(FALSE_ALARM / 2) / 2 * 40_000)
    counts = np.bitwise_count(data.bitmaps("x")).sum(axis=1)
    assert (np.abs(counts - 40_000 * np.where(root == 1.0, 1.0, root / 2)) <= allowed).all()
    for number in range(0, 40_000, 8000):  # (6), row by row, for rows that show a child's whole cut at imprecision 1
        cells = pn.sample(net, 40_000, rng=1).row(number)
        inside = [x.index(s) for s in cells["x"]]
        degrees = (root[inside, np.newaxis] * table[inside]).max(axis=0)
        members = [y.index(s) for s in cells["y"]]
        others = np.setdiff1d(np.arange(100), members)
        assert degrees[members].min() >= degrees[others].max(initial=0.0)
    traced = pn.sample(net, 40_000, imprecision=0.5, process="traced", rng=1)
    counts = np.bitwise_count(traced.bitmaps("x")).sum(axis=1)
    assert (np.abs(counts - 40_000 * np.where(root == 1.0, 1.0, root / 2)) <= allowed).all()
    with pytest.raises(pn.TooLarge, match="simulate=ROWS"):
        pn.sampling_limit(net, imprecision=0.5)
    assert pn.sampling_limit(net, process="precise").table("x").shape == (100,)


@given(st.lists(st.lists(st.integers(0, 40), min_size=1, max_size=9), min_size=1, max_size=40), strategies.seeds)
def test_a_categorical_law_draws_what_its_probabilities_say(weights: list[list[int]], seed: int) -> None:
    """Every context's outcome is the one whose share of the unit interval holds the row's number."""
    rows = [[w for w in row if w] or [1] for row in weights]
    starts = np.cumsum([0, *map(len, rows)])
    probabilities = np.concatenate([np.array(row) / sum(row) for row in rows])
    size = max(map(len, rows))
    sets = np.ones((size, 1), dtype=bool)
    ids = np.concatenate([np.arange(len(row)) for row in rows])
    outcomes = Outcomes(sets, np.arange(size), sets, starts, ids, probabilities)
    contexts = np.random.default_rng(seed).integers(0, len(rows), 3000, dtype=np.int32)
    found = Categorical(outcomes).draw_outcomes(contexts, RandomBits(seed, 0, 0), 3000, BLOCK)
    if size <= 8:  # each outcome a cell and a signal of its own: looked up by the slot, and by the outcome
        own = Outcomes(np.eye(size, dtype=bool), np.arange(size)[::-1].copy(), sets, starts, ids, probabilities)
        cells, signals = Categorical(own).draw_cells(contexts, RandomBits(seed, 0, 0), 3000, BLOCK)
        assert (cells == 1 << found).all()
        assert (signals == size - 1 - found).all()
    octets = RandomBits(seed, 0, 0).draw_bytes(BLOCK)[:3000]
    bounds = [np.cumsum([0.0, *probabilities[first:last]]).tolist() for first, last in pairwise(starts)]
    for context, octet, outcome in zip(contexts.tolist(), octets.tolist(), found.tolist(), strict=True):
        assert bounds[context][outcome] <= (octet + 1) / 256 + 1e-12
        assert bounds[context][outcome + 1] >= octet / 256 - 1e-12


def test_many_contexts_share_fewer_slots_and_are_drawn_exactly() -> None:
    """Five thousand contexts of three outcomes: 32 slots each, most of them divided."""
    rng = np.random.default_rng(3)
    probabilities = rng.dirichlet(np.ones(3), size=5000)
    sets = np.ones((3, 1), dtype=bool)
    outcomes = Outcomes(
        sets, np.arange(3), sets, np.arange(0, 15_001, 3), np.tile(np.arange(3), 5000), probabilities.reshape(-1)
    )
    drawer = Categorical(outcomes)
    chosen = np.array([7, 4999], dtype=np.int32)
    for context in chosen:
        found = [
            drawer.draw_outcomes(
                np.full(BLOCK, context, dtype=np.int32), RandomBits(1, int(context), block), BLOCK, BLOCK
            )
            for block in range(4)
        ]
        shares = np.bincount(np.concatenate(found), minlength=3) / (4 * BLOCK)
        assert np.abs(shares - probabilities[context]).max() <= sqrt(-log(FALSE_ALARM / 6) / 2 / (4 * BLOCK))


def test_coins_fall_as_often_as_they_should() -> None:
    for probability in (0.0, 0.001, 0.25, 1 / 3, 0.999, 1.0):
        heads = RandomBits(1, 2, 3).draw_events(probability, 1 << 20).sum()
        assert abs(int(heads) - probability * (1 << 20)) <= sqrt(-log(FALSE_ALARM / 2) / 2 * (1 << 20))
        if probability in (0.0, 1.0):
            assert heads == probability * (1 << 20)


def test_progress_tells_rows_drawn_and_rows_in_all() -> None:
    told: list[tuple[int, int]] = []
    pn.sample(example(), 140_000, rng=1, progress=lambda done, total: told.append((done, total)))
    assert told == [(65_536, 140_000), (131_072, 140_000), (140_000, 140_000)]


def test_no_rows_is_an_empty_data_set() -> None:
    assert len(pn.sample(example(), 0, rng=1)) == 0
    cells, hidden = pn.sample(example(), 0, process="traced", trace=True, rng=1)
    assert len(cells) == len(hidden) == 0
    assert list(pn.sample_batches(example(), 0, rng=1)) == []


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"rows": -1}, "rows -1; expected a whole number"),
        ({"rows": 1.5}, "rows 1.5"),
        ({"imprecision": 1.5}, "imprecision 1.5; expected a number from 0"),
        ({"imprecision": {"x": 0.5}}, "no imprecision for y"),
        ({"imprecision": {"x": 0.5, "yy": 1}}, "'yy', which is not a variable"),
        ({"imprecision": {"x": 0.5, "y": "high"}}, "imprecision of 'y' 'high'"),
        ({"process": "alphacut"}, "did you mean 'alpha-cut'"),
        ({"law": "paper"}, "law 'paper'; expected independent, text"),
        ({"parents": "cuts"}, "did you mean 'cut'"),
        ({"process": "traced", "evidence": {"x": "1"}}, "expected process 'alpha-cut'"),
        ({"trace": True}, "expected process 'traced'"),
        ({"rng": -3}, "rng -3; expected a whole number"),
        ({"rng": "seed"}, "rng 'seed'"),
        ({"start": -1}, "start -1"),
        ({"rows": np.int32(2**31 - 1), "process": "tracd"}, "did you mean 'traced'"),
    ],
)
def test_wrong_options_are_told(how: dict[str, Any], message: str) -> None:
    with pytest.raises(pn.InputError, match=message):
        pn.sample(example(), **{"rows": 10, "rng": 1, **how})


def test_what_cannot_be_drawn_is_refused() -> None:
    rash = pn.Variable("rash", ("yes", "no"))
    flat = pn.Network.subnormal((rash,), pn.Dag({"rash": ()}), {"rash": [0.5, 0.2]})
    with pytest.raises(pn.InputError, match="normalise_tables"):
        pn.sample(flat, 10)
    with pytest.raises(pn.InputError, match="normalised distribution of one variable"):
        pn.guyonnet(pn.Possibility(rash, [0.5, 0.2]), 10)
    for rows in (10**15, np.int64(10**15)):
        with pytest.raises(pn.TooLarge, match="sample_batches"):
            pn.sample(example(), rows, rng=1)  # type: ignore[arg-type]
    for wrong in ("asia", example().dag):
        with pytest.raises(pn.InputError, match="expected a possnet.Network"):
            pn.sample(wrong, 10)  # type: ignore[call-overload]
    with pytest.raises(pn.InputError, match="expected a possnet.Possibility"):
        pn.guyonnet([1, 0.5], 10)  # type: ignore[arg-type]
    with pytest.raises(pn.InputError, match="3 as the cell of 'x'"):
        pn.sampling_law(example(), "y", {"x": 3})  # type: ignore[dict-item]
    for how in ({"limit": "1GB"}, {"simulate": -5}, {"simulate": 2.5}):
        with pytest.raises(pn.InputError, match="expected a whole number"):
            pn.sampling_limit(example(), **how)
    with pytest.raises(pn.InputError, match="expected a whole number"):
        pn.simulated_limit(example(), "many")  # type: ignore[arg-type]
    with pytest.raises(pn.ImpossibleEvidence):
        pn.sampling_law(example(), "y", {"x": "2"})
    with pytest.raises(pn.ImpossibleEvidence, match="no row has these cells"):
        pn.sampling_law(example(), "y", {"x": "2"}, process="traced")
    misspelt: dict[str, Any] = {"imprecison": 0.5}
    with pytest.raises(pn.InputError, match="option 'imprecison'; .*; did you mean 'imprecision'"):
        pn.sampling_limit(example(), **misspelt)
    with pytest.raises(pn.InputError, match="not a parent of 'y'"):
        pn.sampling_law(example(), "y", {"z": "2"})
    with pytest.raises(pn.InputError, match="no cell for parent 'x'"):
        pn.sampling_law(example(), "y")
    with pytest.raises(pn.InputError, match="an empty cell"):
        pn.sampling_law(example(), "y", {"x": set()})
    with pytest.raises(pn.InputError, match="draws single states"):
        pn.sampling_law(example(), "y", {"x": {"1", "2"}}, process="precise")


def test_a_stream_of_rows_goes_straight_to_a_file(tmp_path: Path) -> None:
    stream = pn.sample_batches(pn.load_example("clinic"), 150_000, imprecision=0.5, rng=4)
    assert (stream.rows, stream.weighted) == (150_000, False)
    for name in ("rows.parquet", "rows.csv"):
        pn.write_data(stream, tmp_path / name)
        found = pn.read_data(tmp_path / name, pn.load_example("clinic"))
        assert found == pn.sample(pn.load_example("clinic"), 150_000, imprecision=0.5, rng=4)


def test_drawing_a_stream_takes_constant_memory() -> None:
    import tracemalloc

    peaks = []
    for rows in (BLOCK, 8 * BLOCK):
        tracemalloc.start()
        for _ in pn.sample_batches(pn.load_example("asia"), rows, imprecision=0.5, rng=4):
            pass
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] <= 1.5 * peaks[0]

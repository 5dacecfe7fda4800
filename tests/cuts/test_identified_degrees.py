"""What endless alpha-cut rows tell: the theorems against exact laws of rows, by enumeration."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import possnet as pn
from tests import oracles, strategies

LEVELS = (0.0, 0.25, 0.5, 1.0)
SHAPES = {
    "pair": {"a": (), "b": ("a",)},
    "chain": {"a": (), "b": ("a",), "c": ("b",)},
    "fork": {"a": (), "b": ("a",), "c": ("a",)},
    "collider": {"a": (), "b": (), "c": ("a", "b")},
}


@st.composite
def polytrees(draw: st.DrawFn) -> pn.Network:
    """Networks whose parents have no common ancestors, with ties and zeros, of both conjunctions."""
    parents = SHAPES[draw(st.sampled_from(sorted(SHAPES)))]
    most = 3 if len(parents) == 2 else 2
    sizes = {name: draw(st.integers(2, most)) for name in parents}
    variables = [pn.Variable(name, tuple(f"{name}{k}" for k in range(size))) for name, size in sizes.items()]
    rng = np.random.default_rng(draw(strategies.seeds))
    levels = draw(st.sampled_from([LEVELS, tuple(rng.random(6)), (0.1, 0.5, 0.9, 1.0)]))
    tables = {}
    for name, above in parents.items():
        shape = (*(sizes[p] for p in above), sizes[name])
        table = rng.choice(levels, shape)
        np.put_along_axis(table, rng.integers(0, shape[-1], (*shape[:-1], 1)), 1.0, axis=-1)
        tables[name] = table
    return pn.Network(variables, pn.Dag(parents), tables, conjunction=draw(strategies.conjunctions))


def same_law(one: pn.Network, other: pn.Network, theta: float, parents: str = "observed") -> bool:
    """Whether the rows of two networks have the same law, by enumeration."""
    left, right = (
        oracles.law_of_rows(net, dict.fromkeys(net.dag.nodes, theta), "alpha-cut", parents=parents)
        for net in (one, other)
    )
    return all(abs(left.get(row, 0.0) - right.get(row, 0.0)) < 1e-9 for row in {*left, *right})


@settings(max_examples=120, deadline=None)
@given(polytrees(), st.sampled_from([1.0, 0.6]), st.sampled_from(["observed", "cut"]))
def test_the_truth_lies_inside_and_the_least_specific_network_has_the_same_law(
    net: pn.Network, theta: float, parents: str
) -> None:
    result = pn.identify_degrees(net, imprecision=theta, parents=parents)  # type: ignore[arg-type]
    for name, lower in result.lower.items():
        assert (lower <= net.table(name) + 1e-9).all()
        assert (net.table(name) <= result.upper[name] + 1e-9).all()
        assert (result.identified[name] == (result.upper[name] - lower < 1e-9)).all()
        assert (result.network.table(name) == result.upper[name]).all()
    assert result.network.is_normalised
    assert same_law(net, result.network, theta, parents)


@settings(max_examples=60, deadline=None)
@given(polytrees(), st.sampled_from([1.0, 0.6]))
def test_every_free_degree_can_go_to_its_lower_end_without_changing_the_law(net: pn.Network, theta: float) -> None:
    """T3, the other half of the bounds: with all others at their upper ends, so that every row still peaks at 1."""
    result = pn.identify_degrees(net, imprecision=theta)
    for name, free in result.identified.items():
        for entry in np.argwhere(~free):
            table = result.upper[name].copy()
            table[tuple(entry)] = result.lower[name][tuple(entry)]
            assert same_law(net, result.network.with_table(name, table), theta)


@settings(max_examples=8, deadline=None)
@given(strategies.seeds, strategies.conjunctions, st.sampled_from([1.0, 0.5]))
def test_no_table_of_the_same_law_leaves_the_bounds(seed: int, conjunction: pn.Conjunction, theta: float) -> None:
    """Every pair of tables over a few levels: those with the law of the rows agree on each identified degree."""
    rng = np.random.default_rng(seed)
    x, y = pn.Variable("x", ("1", "2")), pn.Variable("y", ("1", "2", "3"))
    dag = pn.Dag({"x": (), "y": ("x",)})
    rows = [row for row in product(LEVELS, repeat=3) if max(row) == 1.0]
    pairs = [np.array(pair) for pair in product(rows, repeat=2)]
    root = np.array([(1.0, rng.choice(LEVELS)), (rng.choice(LEVELS), 1.0)][rng.integers(2)])

    def build(table: np.ndarray) -> pn.Network:
        return pn.Network((x, y), dag, {"x": root, "y": table}, conjunction=conjunction)

    def degrees_cut(table: np.ndarray) -> np.ndarray:
        """g_A of the cells of x that occur."""
        joint = conjunction.combine(table, root[:, np.newaxis])
        core = joint[root == 1.0].max(axis=0)
        return np.stack([core, joint.max(axis=0)]) if (root > 0.0).all() else core[np.newaxis]

    truth = pairs[rng.integers(len(pairs))]
    alike = [table for table in pairs if np.allclose(degrees_cut(table), degrees_cut(truth), atol=1e-9)]
    result = pn.identify_degrees(build(truth), imprecision=theta)
    assert all(same_law(build(truth), build(table), theta) for table in alike[:3])
    for table in alike:
        assert (result.lower["y"] - 1e-9 <= table).all()
        assert (table <= result.upper["y"] + 1e-9).all()
    spread = np.ptp(np.array(alike), axis=0)
    assert (spread[result.identified["y"]] < 1e-9).all()


@settings(max_examples=80, deadline=None)
@given(strategies.networks(max_variables=5), st.sampled_from([1.0, 0.5]))
def test_with_dependent_parents_the_bounds_hold(net: pn.Network, theta: float) -> None:
    result = pn.identify_degrees(net, imprecision=theta)
    marginals = pn.Inference(net).families()
    for name, lower in result.lower.items():
        possible = marginals[name].degrees.max(axis=-1) > 0.0
        assert (lower[possible] <= net.table(name)[possible] + 1e-9).all()
        assert (net.table(name) <= result.upper[name] + 1e-9)[possible].all()
        assert (result.upper[name].max(axis=-1) == 1.0).all()


@settings(max_examples=40, deadline=None)
@given(polytrees(), st.sampled_from([0.3, 0.6, 1.0]), st.sampled_from(["independent", "text"]))
def test_a_state_off_the_core_is_kept_with_probability_theta_times_its_degree(
    net: pn.Network, theta: float, law: str
) -> None:
    """T1: the law of a cell given its parents' cells gives the degrees back, by either law of thinning."""
    from possnet.sampling import family_laws

    for name, family in family_laws(net, imprecision=theta).items():
        above = net.dag.parents(name)
        for numbers, degrees in zip(family.combinations, family.degrees, strict=True):
            cells = [sets[number] for sets, number in zip(family.parent_cells, numbers, strict=True)]
            told = {
                p: {s for s, there in zip(net.variable(p).states, cell, strict=True) if there}
                for p, cell in zip(above, cells, strict=True)
            }
            contour = pn.sampling_law(net, name, told, imprecision=theta, law=law).contour().degrees  # type: ignore[arg-type]
            core = degrees >= 1.0 - 1e-9
            assert np.allclose(contour[core], 1.0)
            if law == "independent":
                assert np.allclose(contour[~core], theta * degrees[~core])
            else:
                shares = np.append(-np.sort(-contour[~core]), 0.0)
                j = np.arange(1, len(shares))
                keeps = (2 * theta - theta**j) / (1 + theta - theta**j)
                steps = -np.diff(shares) / keeps
                assert np.allclose(np.cumsum(steps[::-1])[::-1], -np.sort(-degrees[~core]))


@pytest.mark.parametrize(("name", "theta", "affinity"), [
    ("pump", 1.0, 0.887), ("pump", 0.5, 0.888), ("clinic", 1.0, 0.900), ("clinic", 0.5, 0.900),
    ("asia", 1.0, 0.865), ("asia", 0.5, 0.865),
])  # fmt: skip
def test_limits_of_the_bundled_networks(name: str, theta: float, affinity: float) -> None:
    """As a prototype of its own computed them; ignorance has .772, .798 and .777."""
    net = pn.load_example(name)
    result = pn.identify_degrees(net, imprecision=theta)
    assert pn.compare(net, result.network)["child_affinity"].value == pytest.approx(affinity, abs=0.001)


@pytest.mark.parametrize(("name", "share"), [("pump", 0.42), ("clinic", 0.55), ("asia", 0.34), ("survey", 0.0)])
def test_identified_shares_of_the_bundled_networks(name: str, share: float) -> None:
    assert pn.identify_degrees(pn.load_example(name)).share == pytest.approx(share, abs=0.005)


@pytest.mark.parametrize("parents", ["observed", "cut"])
def test_hidden_cuts_tell_as_much_as_whole_cells(parents: str) -> None:
    pump = pn.load_example("pump")
    whole = pn.identify_degrees(pump, imprecision=1.0)
    other = pn.identify_degrees(pump, imprecision=0.3, parents=parents)  # type: ignore[arg-type]
    assert (other.share == whole.share) == (parents == "cut")


def test_bad_input_is_refused() -> None:
    asia = pn.load_example("asia")
    for options, message in (
        ({"imprecision": 0.0}, "expected a number above 0 and at most 1"),
        ({"imprecision": {"asia": 1.0}}, "no imprecision for"),
        ({"parents": "cuts"}, "parents 'cuts'"),
        ({"limit": 0}, "limit 0"),
    ):
        with pytest.raises(pn.InputError, match=message):
            pn.identify_degrees(asia, **options)
    with pytest.raises(pn.InputError, match="expected a possnet.Network"):
        pn.identify_degrees("asia")  # type: ignore[arg-type]
    with pytest.raises(pn.TooLarge):
        pn.identify_degrees(asia, limit=64)

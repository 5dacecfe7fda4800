"""Bounds of answers against networks drawn within the bounds, and against every way to complete the lower tables."""

from __future__ import annotations

import itertools
import pickle
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from numpy.typing import NDArray

import possnet as pn
from tests.inference.brute_force import conditioned, joint_table, observations, with_evidence
from tests.strategies import networks

Floats = NDArray[np.float64]
Tables = dict[str, Floats]
CLOSE = 1e-12


@pytest.fixture(autouse=True)
def no_numpy_warning() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def draw_bounds(net: pn.Network, rng: np.random.Generator) -> pn.Network:
    """The network with random bounds: many points, rows that are wholly unknown, lower rows all 0, upper degrees of 1."""
    lower, upper = {}, {}
    for variable in net.variables:
        table = net.table(variable.name)
        kind = rng.integers(0, 4, table.shape)
        kind = np.where(rng.random(table.shape[:-1])[..., np.newaxis] < 0.25, 4, kind)  # whole rows
        low = table * rng.choice([0.0, 0.5, 0.9], table.shape)
        high = table + (1.0 - table) * rng.choice([0.3, 1.0], table.shape)
        lower[variable.name] = np.select([kind == 0, kind == 4], [table, 0.0], low)
        upper[variable.name] = np.select([kind <= 1, kind == 4], [table, 1.0], high)
    return net.with_bounds(lower, upper)


def draw_inside(net: pn.Network, rng: np.random.Generator) -> pn.Network:
    """A network within the bounds of another: entries at the ends or between them, one candidate of every row at 1."""
    assert net.bounds is not None
    tables = {}
    for name, low in net.bounds.lower.items():
        high = net.bounds.upper[name]
        table = low + (high - low) * rng.choice([0.0, 0.0, 0.5, 1.0], low.shape)
        lead = np.where(high == 1.0, rng.random(high.shape), -1.0)
        tables[name] = np.where(lead == lead.max(axis=-1, keepdims=True), 1.0, np.minimum(table, high))
    return pn.Network(net.variables, net.dag, tables, conjunction=net.conjunction)


def answer_of(net: pn.Network, evidence: dict[str, Any], names: list[str]) -> tuple[float, Floats]:
    """Π(e), and the possibility of some variables (in the network's order) given e, from the joint table."""
    joint = with_evidence(net, joint_table(net), evidence)
    table = joint.max(axis=tuple(k for k, v in enumerate(net.variables) if v.name not in names))
    return float(joint.max()), conditioned(net, table) if evidence and table.max() > 0.0 else table


@st.composite
def bounded_questions(draw: st.DrawFn) -> tuple[pn.Network, dict[str, Any], np.random.Generator]:
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    net = draw_bounds(draw(networks(max_variables=5)), rng)
    chosen = draw(st.lists(st.sampled_from(net.variables), unique=True, max_size=3))
    return net, {v.name: draw(observations(v)) for v in chosen}, rng


@given(bounded_questions(), st.data())
def test_every_network_within_the_bounds_has_its_answer_within_the_bounds(
    question: tuple[pn.Network, dict[str, Any], np.random.Generator], data: st.DataObject
) -> None:
    net, evidence, rng = question
    engine = pn.Inference(net)
    inside = [net, *(draw_inside(net, rng) for _ in range(4))]
    low, high = engine.evidence_bounds(evidence)
    names = [v.name for v in net.variables]
    drawn = data.draw(st.lists(st.sampled_from(names), min_size=1, max_size=2, unique=True))
    pair = [name for name in names if name in drawn]
    if high == 0.0:
        for ask in (lambda: engine.bounds(pair, evidence), lambda: engine.marginal_bounds(evidence)):
            with pytest.raises(pn.ImpossibleEvidence, match="in every network within the bounds"):
                ask()
        assert all(answer_of(other, evidence, pair)[0] == 0.0 for other in inside)
        return
    bounds = {name: (own, [name]) for name, own in engine.marginal_bounds(evidence).items()}
    bounds["pair"] = engine.bounds(pair, evidence), pair
    for other in inside:
        for own, scope in bounds.values():
            degree, answer = answer_of(other, evidence, scope)
            assert low - CLOSE <= degree <= high + CLOSE
            assert (own.lower >= 0.0).all()
            assert own.upper.max() == 1.0
            if degree > 0.0:
                assert (own.lower - CLOSE <= answer).all()
                assert (answer <= own.upper + CLOSE).all()
                if scope is pair:
                    check_events(own, answer, rng)


def check_events(bounds: pn.PossibilityBounds, answer: Floats, rng: np.random.Generator) -> None:
    """Possibility and necessity of an event, and of every state, within their bounds."""
    pi = pn.Possibility.unchecked(bounds.variables, np.where(answer >= 1.0 - CLOSE, 1.0, answer))
    cells = list(itertools.product(*(v.states for v in bounds.variables)))
    event: Any = [cell for cell in cells if rng.random() < 0.5]
    if len(bounds.variables) == 1:
        event = {cell[0] for cell in event}
    low, high = bounds.possibility(event)
    assert low - CLOSE <= pi.possibility(event) <= high + CLOSE
    low, high = bounds.necessity(event)
    assert low - CLOSE <= pi.necessity(event) <= high + CLOSE
    lower, upper = bounds.necessities()
    for place, cell in zip(np.ndindex(answer.shape), cells, strict=True):
        single: Any = [cell] if len(cell) > 1 else cell[0]
        assert lower[place] - CLOSE <= pi.necessity(single) <= upper[place] + CLOSE
        assert (lower[place], upper[place]) == pytest.approx(bounds.necessity(single), abs=CLOSE)


def complete_lower(net: pn.Network) -> Iterator[pn.Network]:
    """Every completion of the lower tables: in every row one state of upper degree 1 is raised to 1."""
    assert net.bounds is not None
    lower, upper = net.bounds
    rows = [(name, place) for name, table in lower.items() for place in np.ndindex(table.shape[:-1])]
    choices = [np.flatnonzero(upper[name][place] == 1.0).tolist() for name, place in rows]
    if np.prod([float(len(choice)) for choice in choices]) > 150:
        return
    for chosen in itertools.product(*choices):
        tables = {name: table.copy() for name, table in lower.items()}
        for (name, place), state in zip(rows, chosen, strict=True):
            tables[name][(*place, state)] = 1.0
        yield pn.Network(net.variables, net.dag, tables, conjunction=net.conjunction)


@given(bounded_questions())
def test_the_unconditional_lower_end_is_attained_where_it_says_so_and_never_above_the_least(
    question: tuple[pn.Network, dict[str, Any], np.random.Generator],
) -> None:
    """The least possibility is that of a completion of the lower tables: raising no more than one state a row is least."""
    net, evidence, _ = question
    completed = list(complete_lower(net))
    engine = pn.Inference(net)
    if completed:
        joints = [with_evidence(other, joint_table(other), evidence) for other in completed]
        assert engine.evidence_bounds(evidence)[0] <= min(joint.max() for joint in joints) + CLOSE
        for name, bounds in engine.marginal_bounds().items():
            least = np.min([answer_of(other, {}, [name])[1] for other in completed], axis=0)
            assert (bounds.lower <= least + CLOSE).all()
            if bounds.attained:
                assert bounds.lower == pytest.approx(least, abs=CLOSE)


@given(networks(max_variables=5), st.integers(0, 2**32 - 1))
def test_in_forests_both_ends_are_attained_and_the_lower_one_lies_above_that_of_the_lower_tables(
    net: pn.Network, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    parents = {name: net.dag.parents(name)[:1] for name in net.dag.nodes}
    tables = {}
    for name, above in parents.items():
        first: tuple[Any, ...] = (slice(None), *[0] * (len(net.dag.parents(name)) - 1)) if above else ()
        tables[name] = net.table(name)[first]
    forest = draw_bounds(pn.Network(net.variables, pn.Dag(parents), tables, conjunction=net.conjunction), rng)
    assert forest.bounds is not None
    upper = pn.Network(forest.variables, forest.dag, forest.bounds.upper, conjunction=forest.conjunction)
    plain = pn.Network.subnormal(forest.variables, forest.dag, forest.bounds.lower, conjunction=forest.conjunction)
    completed = list(complete_lower(forest))
    for name, bounds in pn.Inference(forest).marginal_bounds().items():
        assert bounds.attained
        assert bounds.upper == pytest.approx(answer_of(upper, {}, [name])[1], abs=CLOSE)
        assert (bounds.lower >= answer_of(plain, {}, [name])[1] - CLOSE).all()
        if completed:
            least = np.min([answer_of(other, {}, [name])[1] for other in completed], axis=0)
            assert bounds.lower == pytest.approx(least, abs=CLOSE)


def chain(conjunction: pn.Conjunction = pn.PRODUCT, *, unknown: bool = False) -> pn.Network:
    """fever -> rash -> itch, where nothing is known of the rash of a feverless patient, nor of itch if ``unknown``."""
    fever, rash = pn.Variable("fever", ("none", "high")), pn.Variable("rash", ("no", "yes"))
    itch = pn.Variable("itch", ("no", "yes"))
    dag = pn.Dag({"fever": (), "rash": ("fever",), "itch": ("rash",)})
    tables: Any = {"fever": [1, 0.4], "rash": [[1, 1], [0.2, 1]], "itch": [[1, 0.3], [0.6, 1]]}
    lower: Any = {
        "fever": [1, 0.4],
        "rash": [[0, 0], [0.2, 1]],
        "itch": [[0, 0], [0, 0]] if unknown else tables["itch"],
    }
    upper: Any = tables | ({"itch": [[1, 1], [1, 1]]} if unknown else {})
    net = pn.Network((fever, rash, itch), dag, tables, conjunction=conjunction)
    return net.with_bounds(lower, upper)


def test_a_barren_variable_does_not_lower_the_lower_end() -> None:
    """Below the fever nothing is asked or known: its degrees are what its own table says, not 0 times that."""
    for unknown in (False, True):
        bounds = pn.Inference(chain(unknown=unknown)).bounds("fever")
        assert bounds.lower.tolist() == bounds.upper.tolist() == [1.0, 0.4]
    assert pn.Inference(chain(unknown=True)).evidence_bounds({"rash": "yes"}) == (0.4, 1.0)


def test_a_row_that_is_all_0_below_still_has_a_state_of_degree_1() -> None:
    """itch: of an unknown row of rash one state is 1, so itch=yes is at least the smaller of .3 and 1, and .4 by fever."""
    bounds = pn.Inference(chain()).bounds("itch")
    assert bounds["yes"] == (0.4, 1.0)  # .4 * 1 * 1 by way of fever=high
    assert bounds["no"] == (0.6, 1.0)  # the smaller of 1 * 1 and 1 * .6
    assert bounds.attained


def test_conditional_bounds_of_a_chain_by_hand() -> None:
    """Joint degrees of (fever, rash=yes): none [0, 1], high .4, in both conjunctions."""
    product = pn.Inference(chain()).bounds("fever", {"rash": "yes"})
    assert product["none"] == (0.0, 1.0)
    assert product["high"] == (0.4, 1.0)
    least = pn.Inference(chain(pn.MIN)).bounds("fever", {"rash": "yes"})
    assert least["none"] == (0.0, 1.0)
    assert least["high"] == (0.4, 1.0)
    assert not product.attained
    assert product.possibility({"none", "high"}) == (1.0, 1.0)
    assert product.necessity({"high"}) == (0.0, 1.0)
    assert product.possibility(set()) == (0.0, 0.0)


def test_states_that_may_tie_have_an_upper_degree_of_1_under_the_minimum() -> None:
    """Joint degrees with rash=yes: none .4, high [.1, .4]. So none is always the largest, and high may be as large."""
    fever, rash = pn.Variable("fever", ("none", "high")), pn.Variable("rash", ("no", "yes"))
    tables: Any = {"fever": [1, 1], "rash": [[1, 0.4], [1, 0.4]]}
    net = pn.Network((fever, rash), pn.Dag({"fever": (), "rash": ("fever",)}), tables, conjunction=pn.MIN)
    engine = pn.Inference(net, lower=tables | {"rash": [[1, 0.4], [1, 0.1]]}, upper=tables)
    bounds = engine.bounds("fever", {"rash": "yes"})
    assert bounds["none"] == (1.0, 1.0)
    assert bounds["high"] == (0.1, 1.0)


def collider(lower_a: list[float], lower_b: list[float]) -> pn.PossibilityBounds:
    """e with two parents of which only lower degrees are known; its own table is known."""
    scope = tuple(pn.Variable(name, ("0", "1")) for name in "abe")
    tables: Any = {"a": [1, 1], "b": [1, 1], "e": [[[0.3, 1], [1, 1]], [[0.6, 1], [0, 1]]]}
    net = pn.Network(scope, pn.Dag({"a": (), "b": (), "e": ("a", "b")}), tables)
    return pn.Inference(net, lower=tables | {"a": lower_a, "b": lower_b}, upper=tables).bounds("e")


def test_the_lower_end_of_a_collider_is_an_outer_bound() -> None:
    """Completions of a and b give Π(e=0) of .8, 1, .6 and .5, by hand; a row of b that knew of a would do with .4."""
    bounds = collider([0.5, 0.5], [0.5, 0.8])
    assert bounds["0"] == (0.4, 1.0)
    assert not bounds.attained


def test_a_parent_whose_lower_row_peaks_is_eliminated_first_and_costs_nothing() -> None:
    """With a = (1, .5) known, b = (1, .8) or (.5, 1) makes Π(e=0) .8 or 1: the least is .8."""
    bounds = collider([1.0, 0.5], [0.5, 0.8])
    assert bounds["0"] == (0.8, 1.0)
    assert bounds.attained


def test_evidence_that_may_be_impossible_has_bounds_and_one_that_is_has_none() -> None:
    fever, rash = pn.Variable("fever", ("none", "high")), pn.Variable("rash", ("no", "yes"))
    dag = pn.Dag({"fever": (), "rash": ("fever",)})
    tables: Any = {"fever": [1, 0], "rash": [[1, 0.5], [1, 1]]}
    net = pn.Network((fever, rash), dag, tables)
    lower: Any = {"fever": [1, 0], "rash": [[1, 0], [0, 0]]}
    engine = pn.Inference(net, lower=lower, upper=tables)
    assert engine.evidence_bounds({"rash": "yes"}) == (0.0, 0.5)
    bounds = engine.bounds("fever", {"rash": "yes"})
    assert bounds.lower.tolist() == bounds.upper.tolist() == [1.0, 0.0]  # where it is possible, there is no fever
    assert bounds.attained
    assert engine.evidence_bounds({"fever": "high"}) == (0.0, 0.0)
    with pytest.raises(pn.ImpossibleEvidence, match=r"fever=high.*in every network within the bounds"):
        engine.bounds("rash", {"fever": "high"})


def test_what_lies_apart_from_the_target_does_not_widen_its_bounds() -> None:
    """Given fever=none, what is unknown of another cause of nothing that is asked cancels."""
    names = ("fever", "rash", "cough")
    scope = tuple(pn.Variable(name, ("no", "yes")) for name in names)
    dag = pn.Dag({"fever": (), "rash": ("fever",), "cough": ("fever",)})
    row = [[1, 0.5], [1, 0.5]]
    tables: Any = {"fever": [1, 0.5], "rash": row, "cough": row}
    net = pn.Network(scope, dag, tables)
    lower: Any = {"fever": [1, 0.5], "rash": row, "cough": [[1, 0], [1, 0]]}
    engine = pn.Inference(net, lower=lower, upper=tables | {"cough": [[1, 1], [1, 1]]})
    assert engine.bounds("rash", {"fever": "no", "cough": "yes"}).lower.tolist() == [1.0, 0.5]


def test_bounds_that_are_points_give_the_answers_of_the_network() -> None:
    for name in ("asia", "clinic"):
        net = pn.load_example(name)
        tables = {v.name: net.table(v.name) for v in net.variables}
        engine = pn.Inference(net, lower=tables, upper=tables)
        evidence = {net.variables[-1].name: net.variables[-1].states[0]}
        for known in ({}, evidence):
            for target, pi in engine.marginals(known).items():
                bounds = engine.bounds(target, known)
                assert bounds.attained
                assert bounds.lower == pytest.approx(pi.degrees, abs=CLOSE)
                assert bounds.upper == pytest.approx(pi.degrees, abs=CLOSE)


@pytest.mark.parametrize("name", ["asia", "clinic", "pump"])
def test_what_alpha_cut_rows_tell_bounds_the_answers_of_the_network_that_drew_them(name: str) -> None:
    net = pn.load_example(name)
    told = pn.identify_degrees(net)
    engine = pn.Inference(told.network, lower=told.lower, upper=told.upper)
    leaf = net.variables[-1]
    wide = 0
    for evidence in ({}, {leaf.name: leaf.states[0]}):
        for target, bounds in engine.marginal_bounds(evidence).items():
            _, answer = answer_of(net, evidence, [target])
            assert (bounds.lower - 1e-9 <= answer).all()
            assert (answer <= bounds.upper + 1e-9).all()
            wide += int((bounds.upper - bounds.lower > 1e-3).sum())
    assert wide > 0


def test_products_that_would_underflow_keep_their_bounds() -> None:
    """A chain of 900 variables whose degrees fall to 10^-900; bounds are ten times apart at its end alone."""
    scope = [pn.Variable(f"v{k:03}", ("a", "b")) for k in range(900)]
    dag = pn.Dag({v.name: (scope[k - 1].name,) if k else () for k, v in enumerate(scope)})
    tables: Any = {v.name: [[1, 0.1], [0.1, 0.1]] if k else [1, 0.1] for k, v in enumerate(scope)}
    tables = {n: np.array(t) for n, t in tables.items()}
    for table in tables.values():
        table[table.max(axis=-1) < 1.0, 0] = 1.0
    last = scope[-1].name
    net = pn.Network(scope, dag, tables)
    upper = tables | {last: np.array([[1.0, 1.0], [1.0, 1.0]])}
    engine = pn.Inference(net, lower=tables, upper=upper)
    evidence = {v.name: "b" for v in scope[:-1]}
    assert engine.evidence_bounds(evidence) == (0.0, 0.0)  # below the smallest float
    assert engine.bounds(last, evidence)["b"] == pytest.approx((0.1, 1.0), abs=1e-9)


def test_a_small_budget_falls_back_to_the_lower_tables() -> None:
    """The outer bound of the lower tables alone holds too, and is not called attained."""
    rng = np.random.default_rng(4)
    net = draw_bounds(pn.random_network(8, max_parents=3, states=(2, 3), rng=3), rng)
    wide, narrow = pn.Inference(net), pn.Inference(net)
    narrow._bounded._budget = 8  # no message fits
    below = 0
    for name, bounds in narrow.marginal_bounds().items():
        tighter = wide.bounds(name)
        assert (bounds.lower <= tighter.lower + CLOSE).all()
        assert bounds.upper.tolist() == tighter.upper.tolist()
        below += int((bounds.lower < tighter.lower - CLOSE).sum())
    assert below > 0
    barren = pn.Inference(chain(unknown=True))
    barren._bounded._budget = 8
    assert barren.bounds("fever").lower.tolist() == [1.0, 0.4]  # what lies below it is left out all the same


def test_bounds_are_refused_in_one_sentence_where_there_are_none_or_only_one() -> None:
    net = pn.load_example("asia")
    tables = {v.name: net.table(v.name) for v in net.variables}
    with pytest.raises(pn.InputError, match="the network carries none; expected lower and upper tables"):
        pn.Inference(net).bounds("lung")
    with pytest.raises(pn.InputError, match=r"lower tables alone; expected both lower= and upper="):
        pn.Inference(net, lower=tables)
    with pytest.raises(pn.InputError, match="no variable 'lnug'"):
        pn.Inference(net, lower=tables, upper=tables).bounds("lnug")
    with pytest.raises(pn.InputError, match=r"bounds: names 3; expected text or several texts"):
        pn.Inference(net, lower=tables, upper=tables).bounds(3)  # type: ignore[arg-type]


def test_bounds_print_themselves_and_can_be_compared() -> None:
    engine = pn.Inference(chain())
    bounds = engine.bounds("itch")
    assert repr(bounds) == "PossibilityBounds(itch: no [0.6, 1], yes [0.4, 1])"
    assert repr(engine.bounds(["fever", "rash"])) == (
        "PossibilityBounds(fever, rash: none/no [0, 1], none/yes [0, 1], high/no 0.08, high/yes 0.4)"
    )
    assert bounds == engine.bounds("itch")
    assert hash(bounds) == hash(engine.bounds("itch"))
    assert bounds != engine.bounds("fever")
    assert bounds != "itch"
    assert "<svg" in bounds._repr_html_()
    assert pickle.loads(pickle.dumps(bounds)) == bounds  # noqa: S301


@pytest.mark.parametrize("conjunction", [pn.PRODUCT, pn.MIN], ids=["product", "min"])
@pytest.mark.parametrize("seed", range(3))
def test_tables_whose_contexts_are_all_0_are_answered_without_a_warning(seed: int, conjunction: pn.Conjunction) -> None:
    rng = np.random.default_rng(seed)
    net = pn.random_network(5, max_parents=3, states=(2, 3), zeros=0.3, conjunction=conjunction, rng=seed)
    tables = {v.name: net.table(v.name).copy() for v in net.variables}
    for table in tables.values():
        if table.ndim > 1:
            table[rng.random(table.shape[:-1]) < 0.3] = 0.0
    low = pn.Network.subnormal(net.variables, net.dag, tables, conjunction=conjunction)
    data = pn.sample(net, 30, imprecision=0.5, rng=seed)
    engine, joint = pn.Inference(low), joint_table(low)
    marginals, answers = engine.marginals_many(data), engine.query_many(net.variables[0].name, data)
    for k in range(len(data)):
        evidence = {n: set(cell) for n, cell in data.row(k).items()}
        table = with_evidence(low, joint, evidence)
        for axis, v in enumerate(net.variables):
            own = table.max(axis=tuple(a for a in range(joint.ndim) if a != axis))
            expected = conditioned(low, own) if own.max() > 0.0 else np.full(len(v), np.nan)
            assert marginals[v.name][k] == pytest.approx(expected, abs=CLOSE, nan_ok=True)
        if table.max() > 0.0:
            assert engine.possibility_of(evidence) == pytest.approx(table.max(), abs=CLOSE)
            assert engine.most_possible(evidence).possibility == pytest.approx(table.max(), abs=CLOSE)
            assert engine.query(net.variables[0].name, evidence).degrees == pytest.approx(
                marginals[net.variables[0].name][k], abs=CLOSE
            )
    assert answers.shape == (len(data), len(net.variables[0]))

"""Inference against brute force, against independent solvers, and its laws."""

from __future__ import annotations

import json
from typing import Any
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, strategies as st
from numpy.typing import NDArray

import possnet as pn
from possnet.inference import (
    MAX_MIN,
    MAX_PRODUCT,
    MAX_SUM,
    SUM_PRODUCT,
    JunctionTree,
    Semiring,
    batched,
    engine as engine_module,
    make_plan,
    message_passing,
    row_components,
)
from tests.gold import gold_files
from tests.paths import FIXTURES
from tests.strategies import levels, networks

SOLVERS = json.loads((FIXTURES / "solvers.json").read_text())


def joint_table(net: pn.Network) -> NDArray[np.float64]:
    """The whole joint distribution, one axis a variable: the chain rule, spelled out."""
    names = [v.name for v in net.variables]
    joint = np.ones([len(v) for v in net.variables])
    for variable in net.variables:
        scope = [names.index(n) for n in (*net.dag.parents(variable.name), variable.name)]
        order = sorted(range(len(scope)), key=scope.__getitem__)
        shape = [len(v) if k in scope else 1 for k, v in enumerate(net.variables)]
        table = net.table(variable.name).transpose(order).reshape(shape)
        joint = joint * table if net.conjunction is pn.PRODUCT else np.minimum(joint, table)
    return joint


def with_evidence(net: pn.Network, joint: NDArray[np.float64], evidence: dict[str, Any]) -> NDArray[np.float64]:
    for axis, variable in enumerate(net.variables):
        if variable.name in evidence:
            observation = evidence[variable.name]
            if isinstance(observation, str):
                observation = {observation: 1.0}
            elif not isinstance(observation, dict):
                observation = dict.fromkeys(observation, 1.0)
            degrees = np.array([observation.get(state, 0.0) for state in variable.states])
            shape = [-1 if k == axis else 1 for k in range(joint.ndim)]
            joint = net.conjunction.combine(joint, degrees.reshape(shape))
    return joint


def conditioned(net: pn.Network, table: NDArray[np.float64]) -> NDArray[np.float64]:
    top = table.max()
    return table / top if net.conjunction is pn.PRODUCT else np.where(table == top, 1.0, table)


@st.composite
def observations(draw: st.DrawFn, variable: pn.Variable) -> Any:
    kind = draw(st.sampled_from("hsv"))
    if kind == "h":
        return draw(st.sampled_from(variable.states))
    chosen = sorted(draw(st.sets(st.sampled_from(variable.states), min_size=1)))
    return set(chosen) if kind == "s" else {state: draw(levels) for state in chosen}


@st.composite
def questions(draw: st.DrawFn) -> tuple[pn.Network, dict[str, Any]]:
    net = draw(networks(max_variables=6))
    if draw(st.integers(0, 4)) == 0:  # subnormal: some tables scaled down
        tables = {v.name: net.table(v.name) * draw(st.sampled_from([1.0, 0.5])) for v in net.variables}
        net = pn.Network.subnormal(net.variables, net.dag, tables, conjunction=net.conjunction)
    chosen = draw(st.lists(st.sampled_from(net.variables), unique=True, max_size=3))
    return net, {v.name: draw(observations(v)) for v in chosen}


@given(questions(), st.data())
def test_every_question_has_the_answer_of_brute_force(
    question: tuple[pn.Network, dict[str, Any]], data: st.DataObject
) -> None:
    net, evidence = question
    joint = with_evidence(net, joint_table(net), evidence)
    engine = pn.Inference(net)
    assert engine.possibility_of(evidence) == pytest.approx(joint.max(), abs=1e-12)
    names = [v.name for v in net.variables]
    target = data.draw(st.lists(st.sampled_from(names), min_size=1, max_size=3, unique=True))
    if joint.max() == 0.0:
        for ask in (
            lambda: engine.query(target, evidence),
            lambda: engine.marginals(evidence),
            lambda: engine.most_possible(evidence),
        ):
            with pytest.raises(pn.ImpossibleEvidence, match="has possibility 0 in this network"):
                ask()
        return
    for name, pi in engine.marginals(evidence).items():
        table = joint.max(axis=tuple(k for k, n in enumerate(names) if n != name))
        expected = conditioned(net, table) if evidence else table
        assert pi.degrees == pytest.approx(expected, abs=1e-12)
        assert pi.variables == (net.variable(name),)
    assert engine.possibility_of(evidence) == pytest.approx(joint.max(), abs=1e-12)  # of the tree of the marginals
    table = joint.max(axis=tuple(k for k, n in enumerate(names) if n not in target))
    kept = [n for n in names if n in target]
    table = table.transpose([kept.index(n) for n in target])
    pi = engine.query(target, evidence)
    assert [v.name for v in pi.variables] == target
    assert pi.degrees == pytest.approx(conditioned(net, table) if evidence else table, abs=1e-12)


@given(questions())
def test_large_tables_are_reduced_step_by_step_to_the_same_answers(question: tuple[pn.Network, dict[str, Any]]) -> None:
    """What is done to large tables, done to small ones, against brute force."""
    net, evidence = question
    joint = with_evidence(net, joint_table(net), evidence)
    if joint.max() == 0.0:
        return
    names = [v.name for v in net.variables]
    with mock.patch("possnet.inference.message_passing._SMALL", 0):
        engine = pn.Inference(net)
        for name, pi in engine.marginals(evidence).items():
            table = joint.max(axis=tuple(k for k, n in enumerate(names) if n != name))
            assert pi.degrees == pytest.approx(conditioned(net, table) if evidence else table, abs=1e-12)
        for pi in engine.families(evidence).values():
            scope = [v.name for v in pi.variables]
            table = joint.max(axis=tuple(k for k, n in enumerate(names) if n not in scope))
            table = table.transpose([[n for n in names if n in scope].index(n) for n in scope])
            assert pi.degrees == pytest.approx(conditioned(net, table) if evidence else table, abs=1e-12)
        assert engine.most_possible(evidence).ties == (joint >= joint.max() * (1 - 1e-12)).sum()


@pytest.mark.parametrize("conjunction", [pn.PRODUCT, pn.MIN], ids=["product", "min"])
@pytest.mark.parametrize("seed", range(4))
def test_marginals_of_wide_networks_agree_with_single_queries(seed: int, conjunction: pn.Conjunction) -> None:
    net = pn.random_network(24, max_parents=4, states=(2, 5), zeros=0.2, ties=0.1, conjunction=conjunction, rng=seed)
    engine = pn.Inference(net)
    assert max(np.prod(clique.shape) for clique in engine.plan.cliques) > 1000
    best = engine.most_possible().configuration
    observed = [v.name for v in net.variables][3::7]
    for evidence in ({}, {name: best[name] for name in observed}):
        for name, pi in engine.marginals(evidence).items():
            assert pi.is_close(engine.query(name, evidence), tolerance=1e-12)


@given(questions(), st.integers(1, 8))
def test_the_best_configurations_are_those_of_brute_force(question: tuple[pn.Network, dict[str, Any]], k: int) -> None:
    net, evidence = question
    joint = with_evidence(net, joint_table(net), evidence)
    if joint.max() == 0.0:
        return
    engine = pn.Inference(net)
    values = np.sort(joint, axis=None)[::-1]
    best = engine.most_possible(evidence)
    place = tuple(v.index(best.configuration[v.name]) for v in net.variables)
    assert best.possibility == pytest.approx(joint.max())
    assert joint[place] == pytest.approx(joint.max())
    assert best.ties == (joint >= joint.max() * (1 - 1e-12)).sum()
    found = engine.most_possible_k(k, evidence)
    expected = [value for value in values[:k] if value > 0.0]
    assert [e.possibility for e in found] == pytest.approx(expected)
    assert len({tuple(e.configuration.items()) for e in found}) == len(found)
    for explanation in found:
        place = tuple(v.index(explanation.configuration[v.name]) for v in net.variables)
        assert joint[place] == pytest.approx(explanation.possibility)


@pytest.mark.parametrize("semiring", [MAX_PRODUCT, MAX_MIN, SUM_PRODUCT, MAX_SUM], ids=lambda a: a.name)
@given(net=networks(max_variables=6), data=st.data())
def test_the_junction_tree_is_right_for_every_semiring_as_evidence_changes(
    semiring: Semiring, net: pn.Network, data: st.DataObject
) -> None:
    names = [v.name for v in net.variables]
    scopes = [tuple(names.index(n) for n in (*net.dag.parents(name), name)) for name in names]
    with np.errstate(divide="ignore", invalid="ignore"):
        tables = [np.log(net.table(n)) if semiring is MAX_SUM else net.table(n) for n in names]
        tree = JunctionTree(make_plan([len(v) for v in net.variables], scopes), scopes, tables, semiring)
        for _ in range(3):
            observed = data.draw(st.sets(st.integers(0, len(names) - 1), max_size=2))
            evidence = {
                v: np.array(
                    data.draw(
                        st.lists(
                            st.sampled_from([semiring.zero, semiring.one]),
                            min_size=len(net.variables[v]),
                            max_size=len(net.variables[v]),
                        )
                    )
                )
                for v in observed
            }
            joint = np.full([len(v) for v in net.variables], semiring.one)
            factors = [*zip(scopes, tables, strict=True), *(((v,), degrees) for v, degrees in evidence.items())]
            for scope, table in factors:
                order = sorted(range(len(scope)), key=scope.__getitem__)
                shape = [len(v) if k in scope else 1 for k, v in enumerate(net.variables)]
                joint = semiring.combine(joint, table.transpose(order).reshape(shape))
            tree.set_evidence(evidence)
            assert tree.collect() == pytest.approx(float(semiring.project.reduce(joint, axis=None)), abs=1e-12)
            if semiring.project.reduce(joint, axis=None) == semiring.zero:
                continue
            for k, found in enumerate(tree.distribute()):
                expected = semiring.project.reduce(joint, axis=tuple(j for j in range(joint.ndim) if j != k))
                assert found.reshape(-1) == pytest.approx(expected, abs=1e-12)


@st.composite
def evidence_cells(draw: st.DrawFn, variable: pn.Variable) -> Any:
    """A precise cell as often as a set or an unknown one."""
    kind = draw(st.sampled_from(["precise", "precise", "set", "unknown"]))
    if kind == "unknown":
        return None
    states = st.sampled_from(variable.states)
    return {draw(states)} if kind == "precise" else draw(st.sets(states, min_size=1))


@given(questions(), st.sampled_from(["tree", "components", "cheapest"]), st.data())
def test_rows_of_a_data_set_are_answered_as_one_by_one(
    question: tuple[pn.Network, dict[str, Any]], way: str, data: st.DataObject
) -> None:
    net, _ = question
    engine = pn.Inference(net)
    columns = data.draw(st.lists(st.sampled_from(net.variables), max_size=6, unique=True))
    cells = st.tuples(*(evidence_cells(v) for v in columns))
    rows = data.draw(st.lists(cells, max_size=12)) if columns else []
    table = pn.Dataset.from_rows(columns or net.variables[:1], rows)
    target = data.draw(st.sampled_from(net.variables)).name
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(message_passing, "_PIECE_BYTES", data.draw(st.sampled_from([8, 100, 1 << 20])))
        patch.setattr(message_passing, "_DENSE", data.draw(st.sampled_from([0, 16, 1 << 15])))
        patch.setattr(batched, "_ROWS", data.draw(st.sampled_from([1, 3, 1 << 15])))
        patch.setattr(row_components, "_MOST_ROWS", data.draw(st.sampled_from([1, 3, 1 << 15])))
        patch.setattr(row_components, "_FEW_ROWS", data.draw(st.sampled_from([0, 2, 1000])))
        patch.setattr(row_components, "_SAMPLE", data.draw(st.sampled_from([1, 1000])))
        if way != "cheapest":
            patch.setattr(engine_module, "_PLANNING_SECONDS", 0.0 if way == "tree" else np.inf)
            patch.setattr(batched, "_SECONDS_AN_ENTRY", 0.0)
            patch.setattr(row_components, "_SECONDS_A_GROUP", 1.0)
        found = engine.query_many(target, table)
        every = engine.marginals_many(table)
    assert found.shape == (len(rows), len(net.variable(target)))
    for row, degrees in zip(rows, found, strict=True):
        evidence = {v.name: cell for v, cell in zip(columns, row, strict=True) if cell is not None and v.name != target}
        try:
            expected = engine.query(target, evidence)
        except pn.ImpossibleEvidence:
            assert np.isnan(degrees).all()
        else:
            normal = expected if evidence else expected.normalise(net.conjunction)
            assert degrees == pytest.approx(normal.degrees, abs=1e-12)
    for number, row in enumerate(rows):
        evidence = {v.name: cell for v, cell in zip(columns, row, strict=True) if cell is not None}
        try:
            answers = engine.marginals(evidence)
        except pn.ImpossibleEvidence:
            assert all(np.isnan(table[number]).all() for table in every.values())
        else:
            for name, answer in answers.items():
                normal = answer if evidence else answer.normalise(net.conjunction)
                assert every[name][number] == pytest.approx(normal.degrees, abs=1e-12)


@given(networks(max_variables=6).filter(lambda net: net.conjunction is pn.MIN), st.data())
def test_min_based_answers_agree_with_their_alpha_cuts(net: pn.Network, data: st.DataObject) -> None:
    """Cutting every table at a level and asking what is possible at all gives the cut of the answer."""
    target = data.draw(st.sampled_from(net.variables)).name
    marginal = pn.Inference(net).query(target)
    for level in sorted({d for v in net.variables for d in net.table(v.name).reshape(-1) if d > 0})[:6]:
        crisp = pn.Network(
            net.variables,
            net.dag,
            {v.name: (net.table(v.name) >= level) * 1.0 for v in net.variables},
            conjunction=pn.MIN,
        )
        assert pn.Inference(crisp).query(target).core == marginal.cut(level)


def diamond(conjunction: pn.Conjunction) -> pn.Network:
    """Section 9's example: A -> B, A -> C, (B, C) -> D; tables listed column-major, parents ascending, then the variable."""
    two = ("1", "2")
    a, b, c, d = (pn.Variable(name, two) for name in "ABCD")

    def table(values: list[float], parents: int) -> NDArray[np.float64]:
        return np.array(values).reshape([2] * (parents + 1), order="F")

    return pn.Network(
        (a, b, c, d),
        pn.Dag({"A": (), "B": ("A",), "C": ("A",), "D": ("B", "C")}),
        {
            "A": [1, 0.9],
            "B": table([1, 0, 0.4, 1], 1),
            "C": table([0.3, 1, 1, 0.2], 1),
            "D": table([1, 1, 1, 1, 1, 0.8, 0, 1], 2),
        },
        conjunction=conjunction,
    )


def test_the_worked_example_of_the_product() -> None:
    engine = pn.Inference(diamond(pn.PRODUCT))
    evidence = {"D": "2"}
    assert engine.possibility_of(evidence) == pytest.approx(0.72)
    for name, raw in {"A": (0.4, 0.72), "B": (0.3, 0.72), "C": (0.72, 0.4)}.items():
        assert engine.query(name, evidence).degrees == pytest.approx(np.array(raw) / 0.72)
        assert engine.marginals(evidence)[name].degrees == pytest.approx(np.array(raw) / 0.72)


def test_the_worked_example_of_the_minimum() -> None:
    engine = pn.Inference(diamond(pn.MIN))
    evidence = {"D": "2"}
    assert engine.possibility_of(evidence) == pytest.approx(0.8)
    for name, degrees in {"A": (0.4, 1), "B": (0.3, 1), "C": (1, 0.4)}.items():
        assert engine.query(name, evidence).degrees == pytest.approx(degrees)
    assert engine.necessity("B", {"2"}, evidence) == pytest.approx(0.7)


def test_a_chain_of_two_thousand_does_not_underflow() -> None:
    count = 2000
    two = ("a", "b")
    scope = [pn.Variable(f"x{k}", two) for k in range(count)]
    tables: dict[str, Any] = {"x0": [1, 0.1]} | {f"x{k}": [[1, 0.1], [0.2, 1]] for k in range(1, count)}
    net = pn.Network(scope, pn.Dag({f"x{k}": (f"x{k - 1}",) if k else () for k in range(count)}), tables)
    engine = pn.Inference(net)
    alternating = {f"x{k}": two[k % 2] for k in range(1, count)}
    degrees = engine.query("x0", alternating)
    assert degrees.degrees == pytest.approx([1.0, 1.0])  # .1 against .1 * 1
    assert engine.marginals(alternating)["x0"].degrees == pytest.approx([1.0, 1.0])
    best = engine.most_possible(alternating)
    assert best.ties == 2
    assert best.possibility == 0.0  # smaller than any float, and found all the same
    assert engine.marginals()["x1999"].degrees == pytest.approx([1.0, 0.1])
    many = engine.query_many("x0", pn.Dataset.from_rows(scope[1:], [tuple(alternating.values())]))
    assert many[0] == pytest.approx([1.0, 1.0])


def test_evidence_that_only_a_vanishing_product_allows() -> None:
    """The one possible configuration has a degree below the smallest float; it is still the one."""
    count = 400
    scope = [pn.Variable(f"x{k}", ("a", "b")) for k in range(count)]
    tables: dict[str, Any] = {"x0": [1, 1e-3]} | {f"x{k}": [[1, 0], [1, 1e-3]] for k in range(1, count)}
    net = pn.Network(scope, pn.Dag({f"x{k}": (f"x{k - 1}",) if k else () for k in range(count)}), tables)
    engine = pn.Inference(net)
    assert engine.query("x0", {f"x{count - 1}": "b"}).degrees.tolist() == [0.0, 1.0]
    assert engine.marginals({f"x{count - 1}": "b"})["x7"].degrees.tolist() == [0.0, 1.0]


def test_a_vanishing_degree_is_not_none() -> None:
    net = pn.Network(
        [pn.Variable("a", ("x", "y")), pn.Variable("b", ("x", "y"))],
        pn.Dag({"a": (), "b": ("a",)}),
        {"a": [1, 1], "b": [[0, 1], [1, 0]]},
    )
    degrees = pn.Inference(net).query("b", {"a": {"x": 1.0, "y": 1e-20}}).degrees
    assert degrees == pytest.approx([1e-20, 1.0], rel=1e-9, abs=0)


def test_ties_without_number_are_counted_exactly() -> None:
    count = 1100
    scope = [pn.Variable(f"x{k}", ("a", "b")) for k in range(count)]
    free = pn.Network(scope, pn.Dag({v.name: () for v in scope}), {v.name: [1, 1] for v in scope})
    assert pn.Inference(free).most_possible().ties == 2**count
    chain = pn.Dag({f"x{k}": (f"x{k - 1}",) if k else () for k in range(count)})
    tables: dict[str, Any] = {"x0": [1, 1]} | {f"x{k}": [[1, 1], [1, 0.5]] for k in range(1, count)}
    fibonacci = [1, 2]
    while len(fibonacci) < count + 2:
        fibonacci.append(fibonacci[-1] + fibonacci[-2])
    assert pn.Inference(pn.Network(scope, chain, tables)).most_possible().ties == fibonacci[count]


def test_ties_survive_logarithms() -> None:
    """The same four hundred degrees in two orders make the same product, and so a tie."""
    rng = np.random.default_rng(3)
    degrees = 10.0 ** rng.uniform(-9, -2, 400)
    shuffled = rng.permutation(degrees)
    root = pn.Variable("r", ("a", "b"))
    leaves = [pn.Variable(f"x{k}", ("s", "t")) for k in range(400)]
    tables: dict[str, Any] = {"r": [1, 1]}
    tables |= {v.name: [[degrees[k], 1], [shuffled[k], 1]] for k, v in enumerate(leaves)}
    dag = pn.Dag({"r": ()} | {v.name: ("r",) for v in leaves})
    engine = pn.Inference(pn.Network([root, *leaves], dag, tables))
    evidence = {v.name: "s" for v in leaves}
    assert engine.most_possible(evidence).ties == 2
    assert engine.query("r", evidence).degrees.tolist() == [1.0, 1.0]
    assert engine.marginals(evidence)["r"].degrees.tolist() == [1.0, 1.0]


def test_degrees_below_the_smallest_float_are_told_apart() -> None:
    scope = [pn.Variable(f"x{k}", ("a", "b")) for k in range(400)]
    tables = {v.name: [0.1, 0.01] for v in scope}
    engine = pn.Inference(pn.Network.subnormal(scope, pn.Dag({v.name: () for v in scope}), tables))
    assert [(e.possibility, e.ties) for e in engine.most_possible_k(3)] == [(0.0, 1), (0.0, 2), (0.0, 2)]


def test_rows_are_answered_within_the_limit() -> None:
    wide = pn.Variable("y", tuple(f"s{k}" for k in range(500)))
    names = ["x", "t", "e0", "e1"]
    scope = [wide, *(pn.Variable(name, tuple(f"s{k}" for k in range(8))) for name in names)]
    rng = np.random.default_rng(1)
    dag = pn.Dag({"y": (), "x": ("y",), "t": ("y",), "e0": ("x",), "e1": ("x",)})
    tables = {
        v.name: rng.random([*(len(scope[0]) if p == "y" else 8 for p in dag.parents(v.name)), len(v)]) for v in scope
    }
    net = pn.Network(scope, dag, pn.normalise_tables(tables))
    codes = {name: rng.integers(0, 8, 3000) for name in ("e0", "e1")}
    data = pn.Dataset.from_rows(
        [net.variable("e0"), net.variable("e1")], [(f"s{a}", f"s{b}") for a, b in zip(*codes.values(), strict=True)]
    )
    free = pn.Inference(net).query_many("t", data)
    tight = pn.Inference(net, limit=1_000_000).query_many("t", data)
    assert np.array_equal(free, tight)


def test_an_unconditioned_answer_keeps_what_lies_apart() -> None:
    a, b = pn.Variable("a", ("x", "y")), pn.Variable("b", ("x", "y"))
    net = pn.Network.subnormal((a, b), pn.Dag({"a": (), "b": ()}), {"a": [0.5, 0.2], "b": [0.5, 0.1]})
    engine = pn.Inference(net)
    assert engine.query("a").degrees == pytest.approx([0.25, 0.1])
    assert engine.marginals()["a"].degrees == pytest.approx([0.25, 0.1])


def test_only_what_the_evidence_touches_is_computed_again() -> None:
    net = pn.random_network(40, max_parents=2, rng=3)
    kept = pn.Inference(net)
    rng = np.random.default_rng(1)
    for _ in range(10):
        chosen = rng.choice([v.name for v in net.variables], 3, replace=False)
        evidence = {str(n): str(rng.choice(net.variable(str(n)).states)) for n in chosen}
        fresh = pn.Inference(net).marginals(evidence)
        for name, pi in kept.marginals(evidence).items():
            assert pi.is_close(fresh[name], tolerance=1e-12)


def test_tables_that_the_evidence_does_not_touch_are_kept() -> None:
    net = pn.random_network(40, max_parents=2, rng=3)
    names = [v.name for v in net.variables]
    scopes = [tuple(names.index(n) for n in (*net.dag.parents(name), name)) for name in names]
    tree = JunctionTree(
        make_plan([len(v) for v in net.variables], scopes), scopes, [net.table(n) for n in names], MAX_PRODUCT
    )
    tree.collect()
    before = [tree.table(k) for k in range(len(tree.plan.cliques))]
    tree.set_evidence({0: np.eye(len(net.variables[0]))[0]})
    tree.collect()
    path, node = set(), tree.plan.home[0]
    while node >= 0:
        path.add(node)
        node = tree.plan.cliques[node].parent
    assert 0 < len(path) < len(before) / 2
    assert {k for k, table in enumerate(before) if tree.table(k) is not table} == path


@given(questions())
def test_families_are_joint_distributions(question: tuple[pn.Network, dict[str, Any]]) -> None:
    net, evidence = question
    joint = with_evidence(net, joint_table(net), evidence)
    if joint.max() == 0.0:
        return
    families = pn.Inference(net).families(evidence)
    names = [v.name for v in net.variables]
    assert list(families) == names
    for name, pi in families.items():
        scope = [*net.dag.parents(name), name]
        table = joint.max(axis=tuple(k for k, n in enumerate(names) if n not in scope))
        kept = [n for n in names if n in scope]
        table = table.transpose([kept.index(n) for n in scope])
        assert [v.name for v in pi.variables] == scope
        assert pi.degrees == pytest.approx(conditioned(net, table) if evidence else table, abs=1e-12)


@pytest.mark.slow
@pytest.mark.needs("gold")
@pytest.mark.parametrize("row", range(len(SOLVERS)), ids=lambda k: f"{SOLVERS[k]['network']}-{k % 3}")
def test_answers_agree_with_independent_solvers(row: int) -> None:
    """toulbar2 for the most possible degree, elimination with pyAgrum's tensors for marginals; recorded by `make fixtures`."""
    recorded = SOLVERS[row]
    name, evidence = recorded["network"], recorded["evidence"]
    bundled = {"asia", "clinic", "pump"}
    path = next((p for p in gold_files() if p.name == f"{name}.bif.gz"), None)
    net = pn.load_example(name) if name in bundled else pn.read_network(path or "")
    engine = pn.Inference(net)
    degree = engine.possibility_of(evidence)
    if recorded["toulbar2"] is not None:
        assert degree == pytest.approx(recorded["toulbar2"], rel=1e-8)
    for target, degrees in recorded["marginals"].items():
        assert max(degrees) == pytest.approx(degree, rel=1e-9)
        if degree > 0.0:
            expected = np.array(degrees) / max(degrees)
            assert engine.query(target, evidence).degrees == pytest.approx(expected, rel=1e-9, abs=1e-300)
        else:
            with pytest.raises(pn.ImpossibleEvidence):
                engine.query(target, evidence)


@pytest.mark.slow
@pytest.mark.needs("gold")
@pytest.mark.parametrize("name", ["alarm", "pathfinder", "diabetes", "water", "munin", "link"])
def test_marginals_of_gold_standard_networks_agree_with_the_solvers(name: str) -> None:
    net = pn.read_network(next(p for p in gold_files() if p.name == f"{name}.bif.gz"))
    engine = pn.Inference(net)
    assert all(pi.is_normalised for pi in engine.marginals().values())
    for recorded in (row for row in SOLVERS if row["network"] == name):
        if recorded["toulbar2"] == 0.0:  # pyAgrum's maximum of zeros is the smallest float, so it cannot tell
            with pytest.raises(pn.ImpossibleEvidence):
                engine.marginals(recorded["evidence"])
            continue
        found = engine.marginals(recorded["evidence"])
        for target, degrees in recorded["marginals"].items():
            assert found[target].degrees == pytest.approx(np.array(degrees) / max(degrees), rel=1e-9, abs=1e-300)


def test_a_network_too_wide_is_refused_with_its_size_before_anything_is_allocated() -> None:
    parents = [f"p{k}" for k in range(30)]
    scope = [pn.Variable(name, ("a", "b")) for name in [*parents, *(f"c{j}{k}" for j in range(30) for k in range(j))]]
    dag = pn.Dag(
        dict.fromkeys(parents, ()) | {f"c{j}{k}": (parents[j], parents[k]) for j in range(30) for k in range(j)}
    )
    tables = {v.name: np.ones((2,) * (len(dag.parents(v.name)) + 1)) for v in scope}
    engine = pn.Inference(pn.Network(scope, dag, tables), limit=1 << 30)
    with pytest.raises(
        pn.TooLarge,
        match=r"inference needs .* GiB; the limit is 1 GiB. The widest clique has [0-9,]+ cells .*would help",
    ):
        engine.marginals()
    assert engine.query("p0").is_vacuous  # everything else is barren


def test_the_plan_can_be_printed() -> None:
    engine = pn.Inference(pn.load_example("asia"))
    text = engine.plan.describe([v.name for v in engine.network.variables])
    assert text.startswith("8 variables in 6 cliques, 40 cells in all")
    assert "either" in text


@pytest.mark.parametrize(
    ("evidence", "message"),
    [
        ({"fevr": "high"}, r"evidence: no variable 'fevr' \(.*\); did you mean 'fever'"),
        ({"fever": "hihg"}, "'hihg' is not a state of 'fever' .*did you mean 'high'"),
        ({"fever": ["mild", "high"]}, r"evidence on 'fever': a list .*expected a state, a set such as"),
        ({"fever": ("mild",)}, "evidence on 'fever': a tuple"),
        ({"fever": set()}, "evidence on 'fever': nothing in it"),
        ({"fever": {}}, "evidence on 'fever': nothing in it"),
        ({"fever": {"mild": 1.5}}, "evidence on 'fever': degree of 'mild' 1.5; expected a number from 0 to 1"),
        ({"fever": {"mild": float("nan")}}, "degree of 'mild' nan"),
        ({"fever": {"mild": "x"}}, "degree of 'mild' 'x'; expected a number from 0 to 1"),
        ({"fever": {"mild": 10**400}}, "expected a number from 0 to 1"),
        ({"fever": {"mild": None}}, "degree of 'mild' None"),
        ({"fever": {"mild": np.array([1.0])}}, "degree of 'mild' array"),
        ([("fever", "high")], "expected a mapping such as"),
    ],
)
def test_bad_evidence_is_refused_with_a_sentence(evidence: Any, message: str) -> None:
    engine = pn.Inference(pn.load_example("clinic"))
    for ask in (
        lambda: engine.query("rash", evidence),
        lambda: engine.marginals(evidence),
        lambda: engine.most_possible(evidence),
    ):
        with pytest.raises(pn.InputError, match=message):
            ask()


def test_impossible_evidence_says_so() -> None:
    engine = pn.Inference(pn.load_example("asia"))
    with pytest.raises(pn.ImpossibleEvidence, match=r"the evidence \(lung=yes, either=no\) has possibility 0"):
        engine.query("smoke", {"lung": "yes", "either": "no"})
    with pytest.raises(pn.ImpossibleEvidence, match=r"lung=\{yes: 0\}"):
        engine.query("smoke", {"lung": {"yes": 0.0}})
    with pytest.raises(pn.ImpossibleEvidence, match="either=no, asia=no|yes"):
        engine.query("asia", {"lung": "yes", "either": "no", "asia": {"yes", "no"}})


def test_bad_questions_are_refused_with_a_sentence() -> None:
    engine = pn.Inference(pn.load_example("asia"))
    with pytest.raises(pn.InputError, match="no variable 'lugn' .*did you mean 'lung'"):
        engine.query("lugn")
    with pytest.raises(pn.InputError, match="expected one or more distinct names"):
        engine.query(["lung", "lung"])
    with pytest.raises(pn.InputError, match="k 0; expected a whole number from 1 on"):
        engine.most_possible_k(0)
    wrong: Any
    for wrong in (3, None, [["lung"]], {"lung"}):
        with pytest.raises(pn.InputError):
            engine.query(wrong)
    for wrong in ("a", 2.5):
        with pytest.raises(pn.InputError, match="expected a whole number from 1 on"):
            engine.most_possible_k(wrong)
    odd = pn.Dataset.from_table({"weather": ["rain"]})
    with pytest.raises(pn.InputError, match=r"column 'weather' \(rain\) and the network has no such variable"):
        engine.query_many("lung", odd)
    with pytest.raises(pn.InputError, match=r"column 'smoke' \(no\) and the network has states yes, no"):
        engine.query_many("lung", pn.Dataset.from_table({"smoke": ["no"]}))

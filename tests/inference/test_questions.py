"""Single questions on what their evidence leaves open: against the joint distribution, in every way and every semiring."""

from __future__ import annotations

import pickle
from concurrent.futures import ThreadPoolExecutor
from itertools import permutations, product
from typing import Any
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, strategies as st
from numpy.typing import NDArray

import possnet as pn
from possnet.inference import elimination_programs, questions
from possnet.inference.conditioning import Budget
from possnet.inference.elimination_programs import write_program
from possnet.inference.evidence import read_evidence, read_findings
from possnet.inference.factor_graph import FactorGraph, to_semiring
from possnet.inference.questions import Questions
from possnet.inference.semirings import LOG_SUM, MAX_MIN, MAX_PRODUCT, MAX_SUM, SUM_PRODUCT, Semiring
from tests.inference.brute_force import joint_table, observations, with_evidence
from tests.strategies import levels, networks

WAYS = ["programs", "trees", "in turn"]
SEMIRINGS = [MAX_PRODUCT, MAX_MIN, SUM_PRODUCT, MAX_SUM, LOG_SUM]


def force(way: str) -> Any:
    """Have components answered in one way."""
    if way == "programs":
        return mock.patch.object(questions, "_MOST_VARIABLES", 1000)
    if way == "trees":
        return mock.patch.object(questions, "_MOST_VARIABLES", 0)
    return mock.patch.object(questions._ComponentProgram, "fits_limit", return_value=False)


@st.composite
def sparse_networks(draw: st.DrawFn) -> pn.Network:
    """Networks, many of whose degrees are 0."""
    net = draw(networks(max_variables=6))
    if draw(st.booleans()):
        return net
    tables = {}
    for variable in net.variables:
        table = net.table(variable.name).copy()
        table[table < draw(levels)] = 0.0
        tables[variable.name] = table
    return pn.Network(net.variables, net.dag, tables, conjunction=net.conjunction)


@st.composite
def asked(draw: st.DrawFn) -> tuple[pn.Network, list[str], dict[str, Any]]:
    """A network, targets, and evidence on any number of variables, targets too."""
    net = draw(sparse_networks())
    observed = draw(st.lists(st.sampled_from(net.variables), unique=True))
    evidence = {v.name: draw(st.sampled_from(v.states) | observations(v)) for v in observed}
    names = [v.name for v in net.variables]
    return net, draw(st.lists(st.sampled_from(names), min_size=1, max_size=3, unique=True)), evidence


def copied(value: Any) -> Any:
    """A copy, as another process would get it."""
    return pickle.loads(pickle.dumps(value))  # noqa: S301 - what this test pickled itself


def table_over(net: pn.Network, joint: NDArray[np.float64], targets: list[str], reduce: Any) -> NDArray[np.float64]:
    """The joint table reduced to some variables, in their order."""
    names = [v.name for v in net.variables]
    table = reduce(joint, tuple(k for k, name in enumerate(names) if name not in targets))
    kept = [name for name in names if name in targets]
    turned: NDArray[np.float64] = table.transpose([kept.index(name) for name in targets])
    return turned


@pytest.mark.parametrize("way", WAYS)
@given(question=asked())
def test_a_question_has_the_answer_of_the_joint_table(
    question: tuple[pn.Network, list[str], dict[str, Any]], way: str
) -> None:
    net, targets, evidence = question
    joint = with_evidence(net, joint_table(net), evidence)
    expected = table_over(net, joint, targets, lambda table, axes: table.max(axis=axes))
    with force(way):
        engine = pn.Inference(net)
        if expected.max() == 0.0:
            for _ in range(2):  # the second by programs that are there already
                with pytest.raises(pn.ImpossibleEvidence):
                    engine.query(targets, evidence)
            return
        top = expected.max()
        if evidence:
            expected = expected / top if net.conjunction is pn.PRODUCT else np.where(expected == top, 1.0, expected)
        for _ in range(2):
            assert engine.query(targets, evidence).degrees == pytest.approx(expected, abs=1e-12)
        assert engine.possibility_of(evidence) == pytest.approx(top, abs=1e-12)


@pytest.mark.parametrize("logarithms", [False, True])
@pytest.mark.parametrize("way", WAYS)
@given(question=asked())
def test_as_probabilities_a_question_has_the_answer_of_sums(
    question: tuple[pn.Network, list[str], dict[str, Any]], way: str, logarithms: bool
) -> None:
    given_net, targets, evidence = question
    net = pn.Network(given_net.variables, given_net.dag, {v.name: given_net.table(v.name) for v in given_net.variables})
    graph = FactorGraph(net, probabilities=True)
    shares = dict(zip(graph.names, graph.tables, strict=True))
    joint = joint_table(pn.Network.subnormal(net.variables, net.dag, shares))
    joint = with_evidence(net, joint, evidence)
    expected = table_over(net, joint, targets, lambda table, axes: table.sum(axis=axes))
    semiring = LOG_SUM if logarithms else SUM_PRODUCT
    findings = read_findings(evidence, net.variables, graph.numbers)
    with force(way):
        value, table = Questions(graph).answer([graph.numbers[t] for t in targets], findings, semiring, Budget())
    if expected.max() == 0.0:
        assert value == semiring.zero
        return
    assert table is not None
    found = np.exp(table - table.max()) if logarithms else table / table.max()
    assert found == pytest.approx(expected / expected.max(), abs=1e-12)


@given(networks(max_variables=6), st.data())
def test_logarithms_give_the_same_answers(net: pn.Network, data: st.DataObject) -> None:
    net = pn.Network(net.variables, net.dag, {v.name: net.table(v.name) for v in net.variables})
    evidence = {v.name: data.draw(observations(v)) for v in net.variables[1:3]}
    joint = with_evidence(net, joint_table(net), evidence)
    with mock.patch("possnet.inference.factor_graph._LOWEST_LOG", 1.0):
        target = net.variables[0].name
        engine = pn.Inference(net)
        if joint.max() == 0.0:
            with pytest.raises(pn.ImpossibleEvidence):
                engine.query(target, evidence)
            return
        expected = table_over(net, joint, [target], lambda table, axes: table.max(axis=axes))
        expected = expected / expected.max() if evidence else expected
        assert engine.query(target, evidence).degrees == pytest.approx(expected, abs=1e-12)


@st.composite
def parts(draw: st.DrawFn) -> tuple[dict[int, int], list[tuple[int, ...]], list[int]]:
    """Sizes of some variables, scopes of parts that hold them all, and targets in some order."""
    numbers = sorted(draw(st.sets(st.integers(0, 60), min_size=1, max_size=6)))
    sizes = {v: draw(st.integers(1, 3)) for v in numbers}
    scopes = draw(st.lists(st.sets(st.sampled_from(numbers)).map(lambda s: tuple(sorted(s))), max_size=6))
    scopes += [(v,) for v in numbers if not any(v in scope for scope in scopes)]
    targets = draw(st.lists(st.sampled_from(numbers), unique=True, max_size=3))
    return sizes, scopes, targets


@pytest.mark.parametrize("semiring", SEMIRINGS, ids=lambda semiring: semiring.name)
@given(given_parts=parts(), seed=st.integers(0, 1000))
def test_a_program_combines_and_projects(
    given_parts: tuple[dict[int, int], list[tuple[int, ...]], list[int]], seed: int, semiring: Semiring
) -> None:
    sizes, scopes, targets = given_parts
    rng = np.random.default_rng(seed)
    tables = [to_semiring(rng.choice([0.0, 0.25, 0.5, 1.0], [sizes[v] for v in scope]), semiring) for scope in scopes]
    program = write_program(scopes, sizes, targets, 1 << 20)
    assert program is not None
    found = program.run(tables, semiring)
    expected = np.full([sizes[target] for target in targets], semiring.zero)
    for states in product(*[range(size) for size in sizes.values()]):
        place = dict(zip(sizes, states, strict=True))
        value = semiring.one
        for scope, table in zip(scopes, tables, strict=True):
            value = semiring.combine(value, table[tuple(place[v] for v in scope)])
        where = tuple(place[target] for target in targets)
        expected[where] = semiring.project(expected[where], value)
    assert found.shape == expected.shape
    assert np.allclose(found, expected, atol=1e-12)
    assert write_program(scopes, sizes, targets, program.entries) is not None
    assert write_program(scopes, sizes, targets, program.entries - 1) is None


def test_a_program_serves_all_questions_that_leave_the_same_open() -> None:
    net = pn.load_example("clinic")
    graph = FactorGraph(net)
    asked_questions = Questions(graph)
    target = [graph.numbers["measles"]]
    with mock.patch.object(questions, "write_program", side_effect=elimination_programs.write_program) as written:
        for rash, fever in product(("none", "spots"), ("none", "mild", "high")):
            findings = read_findings({"rash": rash, "fever": fever}, net.variables, graph.numbers)
            asked_questions.answer(target, findings, MAX_PRODUCT, Budget())
        first = written.call_count
        findings = read_findings({"rash": "spots", "fever": {"mild", "high"}}, net.variables, graph.numbers)
        asked_questions.answer(target, findings, MAX_PRODUCT, Budget())
        assert (first, written.call_count) == (1, 2)


def test_programs_are_not_kept_without_end() -> None:
    net = pn.load_example("asia")
    with mock.patch.object(questions, "_KEPT_VARIABLES", 12):
        engine = pn.Inference(net)
        answers = {}
        for names in permutations(engine.network.dag.nodes, 2):
            answers[names] = engine.query(list(names)).degrees
            assert sum(key[0].variables.bit_count() for key in engine._questions._programs) <= 16
        for names, degrees in answers.items():
            assert degrees == pytest.approx(engine.query(list(names[::-1])).degrees.T, abs=1e-15)


def test_what_lies_apart_is_only_looked_at_for_whether_it_is_possible() -> None:
    """Chains a1 -> a2 -> a3 and b1 -> b2 -> b3; a question about one, and evidence that the other can, or cannot, explain."""
    chain: dict[str, tuple[str, ...]] = {}
    tables: dict[str, Any] = {}
    for letter in "ab":
        chain |= {f"{letter}1": (), f"{letter}2": (f"{letter}1",), f"{letter}3": (f"{letter}2",)}
        equal = [[1.0, 0.0], [0.0, 1.0]]
        tables |= {f"{letter}1": [1.0, 0.5], f"{letter}2": equal, f"{letter}3": equal}
    net = pn.Network([pn.Variable(name, ("yes", "no")) for name in chain], pn.Dag(chain), tables)
    engine = pn.Inference(net)
    runs: list[Any] = []
    for b3, expected_runs in (("yes", 1), ("no", 2)):  # "yes" agrees with the most possible configuration
        findings = read_findings({"a3": "no", "b3": b3}, net.variables, engine._graph.numbers)
        runs.clear()
        _, table = engine._questions.answer([0], findings, MAX_PRODUCT, Budget(), runs)
        assert len(runs) == expected_runs
        assert table is not None
        assert table.tolist() == [0.0, 0.5]
    with pytest.raises(pn.ImpossibleEvidence):
        engine.query("a1", {"a3": "no", "b1": "yes", "b3": "no"})
    with pytest.raises(pn.ImpossibleEvidence):
        engine.query("a1", {"a3": "no", "b1": "yes", "b2": "no"})


def test_tables_too_long_to_copy_are_looked_up_one_by_one() -> None:
    net = pn.load_example("asia")
    evidence = {"xray": "yes", "smoke": "yes"}
    expected = pn.Inference(net).query("lung", evidence).degrees
    with mock.patch.object(questions, "_COPIED", 0):
        again = pn.Inference(copied(net))
        assert again.query("lung", evidence).degrees.tolist() == expected.tolist()
        with pytest.raises(pn.ImpossibleEvidence):
            again.query("smoke", {"tub": "yes", "either": "no"})


def test_a_pickled_engine_answers_without_its_programs() -> None:
    engine = pn.Inference(pn.load_example("asia"))
    expected = engine.query("lung", {"xray": "yes"}).degrees.tolist()
    again = copied(engine)
    assert len(pickle.dumps(again)) < 20_000
    assert again.query("lung", {"xray": "yes"}).degrees.tolist() == expected


def test_rows_have_the_same_bits_whatever_was_asked_before() -> None:
    """Which way is taken does not depend on the programs that are there."""
    net = pn.load_example("clinic")
    data = pn.sample(net, 40, imprecision=0.5, rng=1)
    fresh = copied(net)
    first = pn.Inference(fresh).query_many("measles", data[:12])
    engine = pn.Inference(fresh)
    for row in range(12):
        engine.query("measles", {name: set(cell) for name, cell in data.row(row).items() if name != "measles"})
    assert pn.Inference(fresh).query_many("measles", data[:12]).tolist() == first.tolist()


def test_engines_of_one_network_in_several_threads_agree() -> None:
    net = pn.load_example("clinic")
    names = [v.name for v in net.variables]
    cases = [(target, {v.name: v.states[k % len(v)]}) for target in names for k, v in enumerate(net.variables)]
    expected = [pn.Inference(net).query(*case).degrees.tolist() for case in cases]
    with mock.patch.object(questions, "_KEPT_VARIABLES", 8), ThreadPoolExecutor(4) as pool:
        found = pool.map(lambda case: pn.Inference(net).query(*case).degrees.tolist(), cases * 5)
        assert list(found) == expected * 5


@given(networks(max_variables=5), st.data())
def test_findings_say_what_evidence_says(net: pn.Network, data: st.DataObject) -> None:
    chosen = data.draw(st.lists(st.sampled_from(net.variables), unique=True))
    evidence = {v.name: data.draw(observations(v)) for v in chosen}
    numbers = {v.name: k for k, v in enumerate(net.variables)}
    findings = read_findings(evidence, net.variables, numbers)
    known = read_evidence(evidence, net.variables)
    assert not findings.states.keys() & findings.degrees.keys()
    again = findings.as_degrees([len(v) for v in net.variables])
    assert {v: degrees.tolist() for v, degrees in again.items()} == {
        v: degrees.tolist() for v, degrees in known.items()
    }

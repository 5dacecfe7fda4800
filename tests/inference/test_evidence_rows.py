"""Rows of evidence against single questions, whichever way they are answered."""

from __future__ import annotations

import threading
from typing import Any
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, strategies as st

import possnet as pn
from possnet.inference import (
    batched,
    code_columns,
    pruning,
    row_components,
    row_loop,
    row_passes,
    row_queries,
    row_schedule,
    shared_columns,
    slice_passes,
    sliced_rows,
)
from possnet.inference.elimination_steps import run_steps, schedule_elimination
from possnet.inference.semirings import MAX_MIN, MAX_PRODUCT, MAX_SUM, SUM_PRODUCT, Semiring
from tests.inference.brute_force import questions
from tests.inference.row_ways import ROW_WAYS, force
from tests.inference.test_conditioning import grid


@st.composite
def evidence_cells(draw: st.DrawFn, variable: pn.Variable) -> Any:
    """A precise cell as often as a set or an unknown one."""
    kind = draw(st.sampled_from(["precise", "precise", "set", "unknown"]))
    if kind == "unknown":
        return None
    states = st.sampled_from(variable.states)
    return {draw(states)} if kind == "precise" else draw(st.sets(states, min_size=1))


def share_always(patch: pytest.MonkeyPatch, data: st.DataObject) -> None:
    """Have slices compute once what rows share, whatever it spares."""
    patch.setattr(slice_passes, "_LARGE", 0)
    patch.setattr(slice_passes, "_LONG_AXIS", 1)
    patch.setattr(shared_columns, "_WORTH_SHARING", np.inf)
    patch.setattr(shared_columns, "_ALONE", data.draw(st.sampled_from([0, 1 << 11])))
    patch.setattr(shared_columns, "_PIECE", data.draw(st.sampled_from([1, 1 << 19])))


@given(questions(), st.sampled_from(ROW_WAYS), st.data())
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
        patch.setattr(row_passes, "_PIECE_BYTES", data.draw(st.sampled_from([8, 100, 1 << 20])))
        patch.setattr(row_passes, "_SMALL", data.draw(st.sampled_from([0, 1 << 8])))
        patch.setattr(row_passes, "_WIDTH", data.draw(st.sampled_from([1, 3, 32])))
        patch.setattr(row_schedule, "_DENSE", data.draw(st.sampled_from([0, 16, 1 << 15])))
        patch.setattr(row_queries, "_BATCH_BYTES", data.draw(st.sampled_from([8, 1 << 28])))  # 8: no message fits
        patch.setattr(batched, "_ROWS", data.draw(st.sampled_from([1, 3, 1 << 15])))
        patch.setattr(row_components, "_MOST_ROWS", data.draw(st.sampled_from([1, 3, 1 << 15])))
        patch.setattr(row_components, "_FEW_ROWS", data.draw(st.sampled_from([0, 2, 1000])))
        patch.setattr(row_components, "_SAMPLE", data.draw(st.sampled_from([1, 1000])))
        tiny, few = data.draw(st.sampled_from([(0, 0), (200, 4), (1 << 16, 1 << 5)]))  # with trees, mixed, without
        patch.setattr(row_components, "_TINY", tiny)
        patch.setattr(row_components, "_VERY_FEW", few)
        patch.setattr(sliced_rows, "_ROWS", data.draw(st.sampled_from([1, 3, 1 << 15])))
        patch.setattr(slice_passes, "_FEW_PATTERNS", data.draw(st.sampled_from([0, 1, 16])))
        patch.setattr(slice_passes, "_FEWER", data.draw(st.sampled_from([0, 2])))  # 0: patterns are always merged
        patch.setattr(slice_passes, "_SMALL", data.draw(st.sampled_from([0, 1 << 14])))
        patch.setattr(code_columns, "_KEY_LIMIT", data.draw(st.sampled_from([8, 1 << 62])))
        if data.draw(st.booleans()):
            share_always(patch, data)
        force(way, patch)
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


def mixed_rows(net: pn.Network, rows: int, seed: int, shares: tuple[float, float, float]) -> pn.Dataset:
    """Rows whose cells are precise, sets, or unknown with the given shares; possible ones where the network has no zeros."""
    rng = np.random.default_rng(seed)
    table = []
    for _ in range(rows):
        row: list[Any] = []
        for variable in net.variables:
            kind = rng.choice(3, p=shares)
            states = rng.permutation(variable.states)
            row.append([{str(states[0])}, {str(s) for s in states[:2]}, None][kind])
        table.append(row)
    return pn.Dataset.from_rows(net.variables, table)


@pytest.mark.parametrize("conjunction", [pn.PRODUCT, pn.MIN], ids=["product", "min"])
@pytest.mark.parametrize("shares", [(0.9, 0.05, 0.05), (0.5, 0.2, 0.3), (1.0, 0.0, 0.0)])
@pytest.mark.parametrize("zeros", [0.0, 0.1])
@pytest.mark.parametrize("way", ["slices", "components"])
def test_rows_of_many_variables_have_the_answers_of_single_questions(
    conjunction: pn.Conjunction, shares: tuple[float, float, float], zeros: float, way: str
) -> None:
    """More variables than a word has bits; with zeros most rows are impossible."""
    net = pn.random_network(70, max_parents=2, states=(2, 3), zeros=zeros, conjunction=conjunction, rng=4)
    engine = pn.Inference(net)
    data = mixed_rows(net, 12, 1, shares)
    with pytest.MonkeyPatch.context() as patch:
        force(way, patch)
        answers = {name: engine.query_many(name, data) for name in ("x05", "x33", "x70")}
        every = engine.marginals_many(data)
    for r in range(len(data)):
        cells = {n: set(cell) for n, cell in data.row(r).items() if not data.missing(n)[r]}
        for name, degrees in answers.items():
            try:
                expected = engine.query(name, {n: cell for n, cell in cells.items() if n != name})
            except pn.ImpossibleEvidence:
                assert np.isnan(degrees[r]).all()
            else:
                assert degrees[r] == pytest.approx(expected.degrees, abs=1e-12)
            try:
                own = engine.query(name, cells)
            except pn.ImpossibleEvidence:
                assert np.isnan(every[name][r]).all()
            else:
                assert every[name][r] == pytest.approx(own.degrees, abs=1e-12)


@pytest.mark.parametrize("conjunction", [pn.PRODUCT, pn.MIN], ids=["product", "min"])
def test_with_its_markov_blanket_observed_a_variable_answers_to_its_families_alone(conjunction: pn.Conjunction) -> None:
    net = pn.random_network(9, max_parents=3, states=(2, 3), conjunction=conjunction, rng=2)
    rows = mixed_rows(net, 30, 5, (1.0, 0.0, 0.0))
    engine = pn.Inference(net)
    for target in net.variables:
        answers = engine.query_many(target.name, rows)
        for r, degrees in enumerate(answers):
            row = {name: next(iter(cell)) for name, cell in rows.row(r).items()}
            expected = np.array([net.joint(row | {target.name: state}) for state in target.states])
            top = expected.max()
            normal = expected / top if conjunction is pn.PRODUCT else np.where(expected == top, 1.0, expected)
            assert degrees == pytest.approx(normal, abs=1e-12)


def test_rows_of_a_long_chain_are_answered_without_recursion() -> None:
    count = 1500
    scope = [pn.Variable(f"x{k}", ("a", "b")) for k in range(count)]
    tables: dict[str, Any] = {"x0": [1, 0.9]} | {f"x{k}": [[1, 0.9], [0.8, 1]] for k in range(1, count)}
    net = pn.Network(scope, pn.Dag({f"x{k}": (f"x{k - 1}",) if k else () for k in range(count)}), tables)
    data = pn.Dataset.from_rows([scope[0], scope[-1]], [("a", "b"), ("b", None)])
    engine = pn.Inference(net)
    every = engine.marginals_many(data)
    for name in ("x0", "x700", "x1499"):
        expected = [engine.query(name, {"x0": "a", "x1499": "b"}), engine.query(name, {"x0": "b"})]
        assert every[name] == pytest.approx(np.array([pi.degrees for pi in expected]), abs=1e-9)


@pytest.mark.parametrize("way", ["tree", "slices", "components"])
def test_where_not_even_the_messages_of_one_row_fit_rows_are_run_one_at_a_time(
    way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    net = pn.load_example("asia")
    rows = pn.sample(net, 9, imprecision=0.5, process="traced", rng=4)
    expected = pn.Inference(net).marginals_many(rows)
    monkeypatch.setattr(row_queries, "_BATCH_BYTES", 8)
    force(way, monkeypatch)
    for name, degrees in pn.Inference(net).marginals_many(rows).items():
        assert degrees == pytest.approx(expected[name])


@pytest.mark.parametrize("way", ["tree", "slices", "components", "loop", "calibrations"])
def test_rows_are_answered_in_the_way_that_a_test_asks_for(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    net = pn.load_example("asia")
    rows = pn.sample(net, 9, imprecision=0.5, process="traced", rng=4)
    others = {
        "tree": batched.RowInference,
        "slices": sliced_rows.SlicedInference,
        "components": row_components.ComponentInference,
        "loop": row_loop.CellLoop,
    }
    del others["loop" if way == "calibrations" else way]

    def refuse(*_: Any) -> None:
        pytest.fail("another way")

    for other in others.values():
        monkeypatch.setattr(other, "run_blocks", refuse)
    if way != "loop":
        monkeypatch.setattr(
            row_loop.LoopInference if way != "calibrations" else row_loop.CellLoop, "run_blocks", refuse
        )
    if way != "calibrations":
        monkeypatch.setattr(row_loop.CellLoop, "run_trees", refuse)
    force(way, monkeypatch)
    assert pn.Inference(net).query_many("lung", rows).shape == (9, 2)
    assert set(pn.Inference(net).marginals_many(rows)) == {v.name for v in net.variables}


def count_cells_looped(net: pn.Network, data: pn.Dataset, monkeypatch: pytest.MonkeyPatch) -> tuple[int, int]:
    """How many rows are completed by a loop of queries, and by a loop of calibrations."""
    rows = {"run_blocks": 0, "run_trees": 0}

    def noting(name: str) -> Any:
        run = getattr(row_loop.CellLoop, name)

        def note(loop: row_loop.CellLoop) -> Any:
            rows[name] += loop._rows
            return run(loop)

        return note

    with monkeypatch.context() as patch:
        for name in rows:
            patch.setattr(row_loop.CellLoop, name, noting(name))
        pn.complete(net, data)
    return rows["run_blocks"], rows["run_trees"]


def test_few_rows_are_completed_in_a_loop_and_many_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """By queries where few cells are unknown, by calibrations where many are."""
    net = pn.random_network(30, max_parents=2, states=(2, 3), rng=1)
    known = pn.sample(net, 200, process="precise", rng=2)
    (v, w), others = net.variables[:2], net.variables[2:]
    hidden = pn.Dataset.from_rows([v, w], [(None, None)] * 200)
    few = known.with_columns([hidden.column(v.name), hidden.column(w.name)])
    many = few.with_columns([pn.Dataset.from_rows([u], [(None,)] * 200).column(u.name) for u in others[3:]])
    assert count_cells_looped(net, few[:1], monkeypatch) == (1, 0)
    assert count_cells_looped(net, many[:1], monkeypatch) == (0, 1)
    assert count_cells_looped(net, many, monkeypatch) == (0, 0)
    together = pn.complete(net, many)
    for row in range(3):
        alone = pn.complete(net, many[row : row + 1])
        for u in (v, w, *others[3:]):
            assert alone.of(0, u.name).degrees == pytest.approx(together.of(row, u.name).degrees, abs=1e-12)


def count_looped(data: pn.Dataset, monkeypatch: pytest.MonkeyPatch) -> int:
    """How many rows are asked one by one about the first variable of ten."""
    net, rows = pn.random_network(10, max_parents=3, states=(2, 3), rng=1), [0]
    run_blocks = row_loop.LoopInference.run_blocks

    def note(loop: row_loop.LoopInference) -> Any:
        rows.append(loop.distinct)
        return run_blocks(loop)

    with monkeypatch.context() as patch:
        patch.setattr(row_loop.LoopInference, "run_blocks", note)
        pn.Inference(net).query_many(net.variables[0].name, data)
    return sum(rows)


def test_few_rows_are_asked_one_by_one_and_many_together(monkeypatch: pytest.MonkeyPatch) -> None:
    net = pn.random_network(10, max_parents=3, states=(2, 3), rng=1)
    rows = mixed_rows(net, 500, 1, (0.7, 0.1, 0.2))
    assert count_looped(rows[:2], monkeypatch) == 2
    assert count_looped(rows, monkeypatch) == 0


def test_rows_that_say_nothing_are_asked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    net = pn.random_network(10, max_parents=3, states=(2, 3), rng=1)
    rows = pn.Dataset.from_rows(net.variables, [(None,) * 10] * 500)
    assert count_looped(rows, monkeypatch) == 1


def test_a_row_whose_tree_does_not_fit_may_take_as_long_as_a_query(monkeypatch: pytest.MonkeyPatch) -> None:
    net = grid(7)
    row = pn.Dataset.from_rows([net.variable("g6_6")], [("yes",)])
    force("loop", monkeypatch)
    expected = pn.Inference(net).query_many("g3_3", row)
    assert pn.Inference(net, limit=1 << 14).query_many("g3_3", row) == pytest.approx(expected)
    with pytest.raises(pn.TooLarge):
        pn.Inference(net, limit=1 << 14, max_seconds=0.0).query_many("g3_3", row)


def test_rows_whose_questions_do_not_fit_are_not_priced_by_fixing_variables_in_turn(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A question may take ten seconds so; a cell of many may not."""
    net = grid(7)
    names = [v.name for v in net.variables]
    cells = [["yes" if (7 * k + r) % 11 == 0 else None for k in range(len(names))] for r in range(6)]
    rows = pn.Dataset.from_rows(net.variables, cells)
    tight = pn.Inference(net, limit=1 << 12)
    monkeypatch.setattr(pruning, "require_cutset", mock.Mock(side_effect=AssertionError("variables are fixed in turn")))
    with pytest.raises(AssertionError, match="in turn"):  # as a single question is answered
        tight.query("g6_6")
    with pytest.raises(pn.TooLarge):
        tight.marginals_many(rows)
    with pytest.raises(pn.TooLarge):
        tight.query_many("g3_3", rows)


def test_beliefs_of_many_rows_are_computed_in_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    net = pn.load_example("asia")
    rows = pn.sample(net, 200, imprecision=0.5, process="traced", rng=4)
    expected = pn.Inference(net).marginals_many(rows)
    threads: set[str] = set()
    believe = slice_passes.SlicePasses._believe_piece

    def note(*given: Any) -> Any:
        threads.add(threading.current_thread().name)
        return believe(*given)

    monkeypatch.setattr(slice_passes.SlicePasses, "_believe_piece", note)
    force("slices in threads", monkeypatch)
    for name, degrees in pn.Inference(net).marginals_many(rows).items():
        assert degrees == pytest.approx(expected[name])
    assert any(name.startswith("possnet") for name in threads)


def test_a_step_of_an_elimination_that_combines_nothing_has_one_entry() -> None:
    """Nothing holds the second axis: the memory of the widest step is asked for, and that of nothing is no division by zero."""
    steps = schedule_elimination([(2, 1, 3)], 2)
    assert [step.rest for step in steps] == [[0], [], [2, 1]]
    assert [step.shape for step in steps] == [(2, 1, 3), (1, 1, 1), (1, 1, 3)]


@pytest.mark.parametrize("semiring", [MAX_PRODUCT, MAX_MIN, SUM_PRODUCT, MAX_SUM], ids=lambda a: a.name)
@given(st.data())
def test_axes_leave_one_by_one_as_all_at_once(semiring: Semiring, data: st.DataObject) -> None:
    shape = data.draw(st.lists(st.integers(1, 3), min_size=1, max_size=5).map(tuple))
    eliminated = data.draw(st.integers(0, len(shape)))
    rows = data.draw(st.integers(1, 3))
    rng = np.random.default_rng(data.draw(st.integers(0, 9)))
    parts = []
    for _ in range(data.draw(st.integers(1, 7))):
        inside = [size if data.draw(st.booleans()) else 1 for size in shape]
        parts.append(rng.random((*inside, data.draw(st.sampled_from([1, rows])))))
    whole = np.full((*shape, rows), semiring.one)
    for part in parts:
        whole = semiring.combine(whole, part)
    expected = semiring.project.reduce(whole, axis=tuple(range(eliminated)), keepdims=True)
    steps = schedule_elimination([part.shape[:-1] for part in parts], eliminated)
    buffer = np.empty(data.draw(st.sampled_from([0, 1 << 12])))
    found = run_steps(steps, parts, shape, semiring, buffer)
    assert np.broadcast_to(found, expected.shape) == pytest.approx(expected, abs=1e-12)

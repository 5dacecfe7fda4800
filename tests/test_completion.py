"""Filling ambiguous cells: against slow definitions, in batches, and where nothing can be told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import possnet as pn
from tests.oracles import completed_cell
from tests.strategies import cells, networks


@st.composite
def ambiguous_tables(draw: st.DrawFn, net: pn.Network) -> pn.Dataset:
    """Rows over some of a network's variables, in any order: states, sets, unknown cells; equal rows, weights."""
    scope = draw(st.permutations(net.variables))[: draw(st.integers(1, len(net.variables)))]
    rows = draw(st.lists(st.tuples(*(cells(v) for v in scope)), max_size=6)) * draw(st.integers(1, 3))
    weights = list(range(len(rows))) if draw(st.booleans()) else None
    return pn.Dataset.from_rows(scope, rows, weights=weights)


def row_evidence(data: pn.Dataset, row: int) -> dict[str, frozenset[str]]:
    return data.row(row)


@given(networks(), st.data())
def test_every_marginal_of_every_row_is_the_answer_to_a_single_question(net: pn.Network, draw: st.DataObject) -> None:
    data = draw.draw(ambiguous_tables(net))
    engine = pn.Inference(net)
    found = engine.marginals_many(data)
    for row in range(len(data)):
        try:
            expected = engine.marginals(dict(row_evidence(data, row)))
        except pn.ImpossibleEvidence:
            assert all(np.isnan(found[v.name][row]).all() for v in net.variables)
        else:
            for v in net.variables:
                assert found[v.name][row] == pytest.approx(expected[v.name].degrees, abs=1e-12)


@given(networks(max_variables=4), st.data())
def test_completion_is_its_definition_by_enumeration(net: pn.Network, draw: st.DataObject) -> None:
    """Degrees, most possible states, ties, impossible rows: cell by cell from the joint distribution."""
    data = draw.draw(ambiguous_tables(net))
    found = pn.complete(net, data)
    resolved, narrowed = found.resolved(), found.narrowed(0.3)
    assert (resolved.variables, len(resolved), resolved.weights is None) == (
        data.variables,
        len(data),
        data.weights is None,
    )
    impossible = set()
    for row in range(len(data)):
        before = data.row(row)
        for v in data.variables:
            expected = completed_cell(net, before, v.name)
            after, some = resolved.row(row)[v.name], narrowed.row(row)[v.name]
            if expected is None:
                impossible.add(row)
                assert after == some == before[v.name]
            elif len(before[v.name]) > 1:
                degrees = found.of(row, v.name)
                assert {s: degrees[s] for s in v.states} == pytest.approx(expected, abs=1e-12)
                assert after == {s for s in v.states if expected[s] > 1 - 1e-9}
                assert some == {s for s in v.states if degrees[s] >= 0.3}
                kept_unknown = data.missing(v.name)[row] and after == before[v.name]
                assert resolved.missing(v.name)[row] == kept_unknown
            else:
                assert after == some == before[v.name]
    assert set(found.impossible.tolist()) == impossible


@given(networks(max_variables=4), st.data())
def test_the_long_form_says_what_the_degrees_say(net: pn.Network, draw: st.DataObject) -> None:
    data = draw.draw(ambiguous_tables(net))
    found = pn.complete(net, data)
    lines = found.long()
    assert lines["row"].tolist() == sorted(lines["row"].tolist())
    told = set()
    for row, name, state, degree, necessity, best, tied in zip(*(c.tolist() for c in lines.values()), strict=True):
        pi = found.of(row, name)
        told.add((row, name, state))
        assert degree == pi[state]
        assert necessity == pytest.approx(pi.necessity({state}))
        assert best == (state in pi.core)
        assert tied == (len(pi.core) > 1)
    ambiguous = {
        (row, v.name, state)
        for row in set(range(len(data))) - set(found.impossible.tolist())
        for v in data.variables
        if len(data.row(row)[v.name]) > 1 or data.missing(v.name)[row]
        for state in data.row(row)[v.name]
    }
    assert told == ambiguous
    assert found.to_arrow().to_pydict() == {name: column.tolist() for name, column in lines.items()}


@given(networks(max_variables=4), st.data(), st.sampled_from([0.2, 0.5, 1.0]))
def test_the_summary_counts_the_cells(net: pn.Network, draw: st.DataObject, threshold: float) -> None:
    data = draw.draw(ambiguous_tables(net))
    found = pn.complete(net, data)
    summary, after = found.summary(threshold), found.narrowed(threshold)
    assert (summary.rows, summary.impossible) == (len(data), len(found.impossible))
    for v in data.variables:
        tally = summary.variables[v.name]
        sizes = [(len(data.row(r)[v.name]), len(after.row(r)[v.name])) for r in range(len(data))]
        open_cells = [r for r in range(len(data)) if sizes[r][0] > 1 or data.missing(v.name)[r]]
        fine = [sizes[r] for r in open_cells if r not in found.impossible]
        assert tally.ambiguous == len(open_cells)
        assert tally.stuck == len(open_cells) - len(fine)
        assert tally.resolved == sum(now == 1 for _, now in fine)
        assert tally.narrowed == sum(1 < now < was for was, now in fine)
        assert tally.unchanged == sum(now == was > 1 for was, now in fine)
        assert tally.tied == sum(len(found.of(r, v.name).core) > 1 for r in open_cells if r not in found.impossible)
    assert summary.cells.ambiguous == sum(t.ambiguous for t in summary.variables.values())


@pytest.mark.parametrize("batch", [1, 7, 64, 1000])
def test_a_stream_gives_what_the_whole_gives(batch: int, tmp_path: Path) -> None:
    net = pn.load_example("clinic")
    whole = pn.sample(net, 300, imprecision=1.0, rng=3)
    found = pn.complete(net, whole)
    stream = pn.complete(net, pn.sample_batches(net, 300, imprecision=1.0, rng=3, batch=batch))
    seen: list[pn.CompletionSummary] = []
    pn.write_data(stream.narrowed(0.4, watch=lambda part: seen.append(part.summary(0.4))), tmp_path / "n.parquet")
    assert pn.read_data(tmp_path / "n.parquet") == found.narrowed(0.4)
    total = sum(seen, pn.CompletionSummary())
    assert total.cells.certainty == pytest.approx(found.summary(0.4).cells.certainty)
    assert total.cells.resolved == found.summary(0.4).cells.resolved
    lines = [part.long() for part in stream]
    expected = found.long()
    for name, column in expected.items():
        assert np.array_equal(np.concatenate([part[name] for part in lines]), column)


def test_impossible_rows_of_a_stream_are_numbered_through() -> None:
    a, b = pn.Variable("a", ("x", "y")), pn.Variable("b", ("x", "y"))
    tables: dict[str, Any] = {"a": [1, 1], "b": [[1, 0], [0.5, 1]]}
    net = pn.Network((a, b), pn.Dag({"a": (), "b": ("a",)}), tables)
    data = pn.Dataset.from_rows((a, b), [("x", "y"), ("x", None), (None, "y"), ("x", "y"), ("y", "y")])

    class Halves:
        variables, rows, weighted = data.variables, None, False

        def __iter__(self) -> Any:
            return iter([data[:2], data[2:]])

    calls: list[tuple[int, int]] = []
    found = pn.complete(net, Halves(), progress=lambda done, total: calls.append((done, total)))
    summaries = [part.summary() for part in found]
    assert sum(summaries, pn.CompletionSummary()).first_impossible == (0, 3)
    assert calls[-1] == (5, 0)
    whole = pn.complete(net, data)
    assert whole.impossible.tolist() == [0, 3]
    assert repr(whole) == "Completion(5 rows, 2 of 2 ambiguous cells resolved, 2 impossible rows)"
    assert whole.resolved()[[0, 3]] == data[[0, 3]]
    with pytest.raises(pn.InputError, match="row 0 is impossible in this network"):
        whole.of(0, "a")
    with pytest.raises(pn.InputError, match="row 1 is precise there; expected a row whose cell of 'a' was ambiguous"):
        whole.of(1, "a")


def test_a_precise_row_is_impossible_even_if_what_forbids_it_has_no_column() -> None:
    """a and c never agree, because b copies a and c contradicts b; b is not in the data."""
    scope = [pn.Variable(name, ("x", "y")) for name in "abc"]
    tables: dict[str, Any] = {"a": [1, 1], "b": [[1, 0], [0, 1]], "c": [[0, 1], [1, 0]]}
    for conjunction in (pn.PRODUCT, pn.MIN):
        net = pn.Network(scope, pn.Dag({"a": (), "b": ("a",), "c": ("b",)}), tables, conjunction=conjunction)
        data = pn.Dataset.from_rows((scope[2], scope[0]), [("x", "x"), ("x", "y")])
        assert pn.complete(net, data).impossible.tolist() == [0]


def test_what_is_impossible_in_one_part_makes_the_whole_row_impossible() -> None:
    scope = [pn.Variable(name, ("x", "y")) for name in "ab"]
    for conjunction in (pn.PRODUCT, pn.MIN):
        net = pn.Network(scope, pn.Dag({"a": (), "b": ()}), {"a": [1, 0], "b": [1, 0.5]}, conjunction=conjunction)
        found = pn.complete(net, pn.Dataset.from_rows(scope, [("y", None), (None, None)]))
        assert found.impossible.tolist() == [0]
        assert found.of(1, "b")["y"] == 0.5


def test_columns_that_the_network_lacks_are_carried_along() -> None:
    asia = pn.load_example("asia")
    patient = pn.Variable("patient", ("p1", "p2"))
    data = pn.Dataset.from_rows(
        [patient, asia.variable("bronc"), asia.variable("dysp")], [("p1", None, "yes"), (None, "no", "no")]
    )
    found = pn.complete(asia, data).resolved()
    assert found.row(0) == {"patient": {"p1"}, "bronc": {"yes"}, "dysp": {"yes"}}
    assert found.missing("patient").tolist() == [False, True]


def test_products_beyond_the_smallest_float_are_completed() -> None:
    count = 700
    scope = [pn.Variable(f"x{k}", ("a", "b")) for k in range(count)]
    chain = pn.Dag({f"x{k}": (f"x{k - 1}",) if k else () for k in range(count)})
    tables: dict[str, Any] = {"x0": [1, 1]} | {f"x{k}": [[0.1, 1], [1, 0.1]] for k in range(1, count)}
    net = pn.Network(scope, chain, tables)
    found = pn.complete(net, pn.Dataset.from_rows(scope, [tuple("a" if k % 50 else None for k in range(count))]))
    assert len(found.impossible) == 0
    assert found.of(0, "x50").degrees.tolist() == pytest.approx([0.01, 1.0])
    assert found.of(0, "x0").degrees.tolist() == pytest.approx([0.1, 1.0])


def test_small_memory_gives_the_same_answer() -> None:
    net = pn.random_network(12, max_parents=3, states=(2, 4), rng=5)
    data = pn.sample(net, 400, imprecision=0.7, rng=1)
    free, tight = pn.complete(net, data), pn.complete(net, data, limit=60_000)
    for name, (rows, degrees) in free.found.items():
        assert np.array_equal(rows, tight.found[name][0])
        assert degrees == pytest.approx(tight.found[name][1], abs=1e-12)
    with pytest.raises(pn.TooLarge, match="inference needs"):
        pn.complete(net, data, limit=1000)


def test_an_empty_table_is_complete() -> None:
    asia = pn.load_example("asia")
    calls: list[tuple[int, int]] = []
    found = pn.complete(asia, pn.Dataset.from_rows(asia.variables, []), progress=lambda *now: calls.append(now))
    assert repr(found) == "Completion(0 rows, 0 of 0 ambiguous cells resolved)"
    assert len(found.resolved()) == len(found.long()["row"]) == 0
    assert calls == [(0, 0)]
    assert found.summary().cells.mean_necessity is None


def test_completion_is_a_value_that_cannot_be_changed_by_accident() -> None:
    asia = pn.load_example("asia")
    found = pn.complete(asia, pn.Dataset.from_rows([asia.variable("dysp")], [(None,)]))
    with pytest.raises(AttributeError):
        found.impossible = np.zeros(0, dtype=np.int64)  # type: ignore[misc]
    with pytest.raises(ValueError, match="read-only"):
        found.found["dysp"][1][0, 0] = 0.0


@pytest.mark.parametrize("threshold", [0.0, -1.0, 1.5, float("nan"), "high"])
def test_a_threshold_is_a_degree_above_zero(threshold: Any) -> None:
    asia = pn.load_example("asia")
    found = pn.complete(asia, pn.Dataset.from_rows([asia.variable("dysp")], [(None,)]))
    with pytest.raises(pn.InputError, match="expected a degree above 0, up to 1"):
        found.narrowed(threshold)


def test_data_that_do_not_fit_the_network_are_told_apart() -> None:
    asia = pn.load_example("asia")
    with pytest.raises(pn.InputError, match="no column of the data \\(weather\\) is a variable of the network"):
        pn.complete(asia, pn.Dataset.from_table({"weather": ["rain"]}))
    with pytest.raises(pn.InputError, match="column 'smoke' has states no and the network yes, no"):
        pn.complete(asia, pn.Dataset.from_table({"smoke": ["no"]}))
    with pytest.raises(pn.InputError, match="complete: 'rows.csv' holds no rows"):
        pn.complete(asia, "rows.csv")  # type: ignore[call-overload]
    with pytest.raises(pn.InputError, match="'dypsnoea' .*|no variable 'dypsnoea'"):
        pn.complete(asia, pn.Dataset.from_rows([asia.variable("dysp")], [(None,)])).of(0, "dypsnoea")

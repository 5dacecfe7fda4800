"""Filling ambiguous cells: against slow definitions, in batches, and where nothing can be told."""

from __future__ import annotations

import csv
import json
import os
import pty
import re
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow.parquet as pq
import pytest
from hypothesis import given, strategies as st

import possnet as pn
from possnet.io import write_long_form
from tests.commands import COMMAND, run, run_real
from tests.oracles import completed_cell
from tests.strategies import cells, networks


@st.composite
def ambiguous_tables(draw: st.DrawFn, net: pn.Network) -> pn.Dataset:
    """Rows over some of a network's variables, in any order: states, sets, unknown cells; equal rows, weights."""
    scope = draw(st.permutations(net.variables))[: draw(st.integers(1, len(net.variables)))]
    rows = draw(st.lists(st.tuples(*(cells(v) for v in scope)), max_size=6)) * draw(st.integers(1, 3))
    weights = list(range(len(rows))) if draw(st.booleans()) else None
    return pn.Dataset.from_rows(scope, rows, weights=weights)


@pytest.mark.parametrize("conjunction", [pn.PRODUCT, pn.MIN])
def test_rows_that_share_their_evidence_get_the_answers_of_rows_alone(conjunction: pn.Conjunction) -> None:
    """Two thousand rows share messages everywhere in the tree; forty of them are asked again, one by one."""
    net = pn.random_network(15, max_parents=3, states=(2, 3), zeros=0.1, ties=0.2, conjunction=conjunction, rng=4)
    data = pn.sample(net, 2000, imprecision=0.6, process="traced", rng=2)
    found = pn.complete(net, data)
    engine = pn.Inference(net)
    for row in range(0, 2000, 50):
        expected = engine.marginals(dict(data.row(row)))
        for v in net.variables:
            if len(data.row(row)[v.name]) > 1:
                assert found.of(row, v.name).degrees == pytest.approx(expected[v.name].degrees, abs=1e-12)


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
    lines = found.long_form()
    assert lines["row"].tolist() == sorted(lines["row"].tolist())
    told = set()
    for row, name, state, degree, necessity, best, tied, lost in zip(
        *(c.tolist() for c in lines.values()), strict=True
    ):
        told.add((row, name, state))
        assert lost == (row in found.impossible)
        if lost:
            assert (degree, necessity, best, tied) == (0.0, 0.0, False, False)
            continue
        pi = found.of(row, name)
        assert degree == pi[state]
        assert necessity == pytest.approx(pi.necessity({state}))
        assert best == (state in pi.core)
        assert tied == (len(pi.core) > 1)
    ambiguous = {
        (row, v.name, state)
        for row in range(len(data))
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
    assert (summary.rows, summary.n_impossible) == (len(data), len(found.impossible))
    for v in data.variables:
        tally = summary.variables[v.name]
        sizes = [(len(data.row(r)[v.name]), len(after.row(r)[v.name])) for r in range(len(data))]
        open_cells = [r for r in range(len(data)) if sizes[r][0] > 1 or data.missing(v.name)[r]]
        fine = [sizes[r] for r in open_cells if r not in found.impossible]
        assert tally.ambiguous == len(open_cells)
        assert tally.in_impossible_rows == len(open_cells) - len(fine)
        assert tally.resolved == sum(now == 1 for _, now in fine)
        assert tally.narrowed == sum(1 < now < was for was, now in fine)
        assert tally.unchanged == sum(now == was > 1 for was, now in fine)
        assert tally.tied == sum(len(found.of(r, v.name).core) > 1 for r in open_cells if r not in found.impossible)
    assert summary.cells.ambiguous == sum(t.ambiguous for t in summary.variables.values())


@pytest.mark.parametrize("batch", [1, 7, 64, 1000])
def test_a_stream_gives_what_the_whole_gives(batch: int, tmp_path: Path) -> None:
    net = pn.load_example("clinic")
    whole = pn.sample(net, 130, imprecision=1.0, rng=3)
    found = pn.complete(net, whole)
    stream = pn.complete(net, pn.sample_batches(net, 130, imprecision=1.0, rng=3, batch=batch))
    seen: list[pn.CompletionSummary] = []
    pn.write_data(stream.narrowed(0.4, watch=lambda part: seen.append(part.summary(0.4))), tmp_path / "n.parquet")
    assert pn.read_data(tmp_path / "n.parquet") == found.narrowed(0.4)
    total = sum(seen, pn.CompletionSummary())
    assert total.cells.certainty == pytest.approx(found.summary(0.4).cells.certainty)
    assert total.cells.resolved == found.summary(0.4).cells.resolved
    lines = [part.long_form() for part in stream]
    expected = found.long_form()
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
    assert sum(summaries, pn.CompletionSummary()).impossible_rows == (0, 3)
    assert calls[-1] == (5, 0)
    whole = pn.complete(net, data)
    assert whole.impossible.tolist() == [0, 3]
    assert repr(whole) == "Completion(5 rows, 2 of 2 ambiguous cells resolved (mean necessity 1), 2 impossible rows)"
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
    with pytest.raises(pn.InputError, match=r"of: 'patient' has no ambiguous cell \(bronc, dysp\)"):
        pn.complete(asia, data).of(0, "patient")


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
    for name, degrees in free.degrees.items():
        assert np.array_equal(degrees.rows, tight.degrees[name].rows)
        assert np.array_equal(degrees.numbers, tight.degrees[name].numbers)
        assert degrees.table == pytest.approx(tight.degrees[name].table, abs=1e-12)
    with pytest.raises(pn.TooLarge, match="inference needs"):
        pn.complete(net, data, limit=1000)


def test_a_large_batch_is_completed_in_parts_and_a_large_table_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    net = pn.load_example("clinic")
    data = pn.sample(net, 300, imprecision=1.0, rng=3)
    whole = pn.complete(net, data)
    monkeypatch.setattr("possnet.completion.complete_rows._BATCH_BYTES", 8 * 100 * sum(len(v) for v in net.variables))
    parts = list(pn.complete(net, pn.sample_batches(net, 300, imprecision=1.0, rng=3, batch=300)))
    assert [(part.first_row, len(part.data)) for part in parts] == [(0, 100), (100, 100), (200, 100)]
    assert pn.Dataset.concatenate(part.resolved() for part in parts) == whole.resolved()
    monkeypatch.setattr("possnet.completion.complete_rows._BATCH_BYTES", 1)
    with pytest.raises(pn.TooLarge, match=r"completing 300 rows needs .*complete a stream instead"):
        pn.complete(net, data, limit=5000)


def test_an_empty_table_is_complete() -> None:
    asia = pn.load_example("asia")
    calls: list[tuple[int, int]] = []
    found = pn.complete(asia, pn.Dataset.from_rows(asia.variables, []), progress=lambda *now: calls.append(now))
    assert repr(found) == (
        "Completion(0 rows, 0 of 0 ambiguous cells resolved; nothing to complete: there are no rows)"
    )
    assert len(found.resolved()) == len(found.long_form()["row"]) == 0
    assert calls == [(0, 0)]
    assert found.summary().cells.mean_necessity is None


def test_completion_is_a_value_that_cannot_be_changed_by_accident() -> None:
    asia = pn.load_example("asia")
    found = pn.complete(asia, pn.Dataset.from_rows([asia.variable("dysp")], [(None,)]))
    with pytest.raises(AttributeError):
        found.impossible = np.zeros(0, dtype=np.int64)  # type: ignore[misc]
    with pytest.raises(ValueError, match="read-only"):
        found.degrees["dysp"].table[0, 0] = 0.0


@pytest.mark.parametrize("threshold", [0.0, -1.0, 1.5, float("nan"), "high"])
def test_a_threshold_is_a_degree_above_zero(threshold: Any) -> None:
    asia = pn.load_example("asia")
    found = pn.complete(asia, pn.Dataset.from_rows([asia.variable("dysp")], [(None,)]))
    with pytest.raises(pn.InputError, match="expected a (degree above 0, up to 1|number)"):
        found.narrowed(threshold)


def test_data_that_do_not_fit_the_network_are_told_apart() -> None:
    asia = pn.load_example("asia")
    with pytest.raises(pn.InputError, match="no column of the data \\(weather\\) is a variable of the network"):
        pn.complete(asia, pn.Dataset.from_table({"weather": ["rain"]}))
    with pytest.raises(pn.InputError, match="complete, row 2, column 'smoke': 'nope' is not a state"):
        pn.complete(asia, pn.Dataset.from_table({"smoke": ["no", "nope"]}))
    with pytest.raises(pn.InputError, match="complete: 'rows.csv' holds no rows"):
        pn.complete(asia, "rows.csv")  # type: ignore[call-overload]
    with pytest.raises(pn.InputError, match="'dypsnoea' .*|no variable 'dypsnoea'"):
        pn.complete(asia, pn.Dataset.from_rows([asia.variable("dysp")], [(None,)])).of(0, "dypsnoea")


def test_the_long_form_goes_to_a_file_batch_by_batch(tmp_path: Path) -> None:
    net = pn.load_example("clinic")
    found = pn.complete(net, pn.sample(net, 300, imprecision=1.0, rng=3))
    stream = pn.complete(net, pn.sample_batches(net, 300, imprecision=1.0, rng=3, batch=64))
    write_long_form(found, tmp_path / "whole.csv")
    write_long_form(stream, tmp_path / "parts.csv")
    assert (tmp_path / "whole.csv").read_bytes() == (tmp_path / "parts.csv").read_bytes()
    write_long_form(stream, tmp_path / "parts.parquet")
    lines, expected = pl.read_parquet(tmp_path / "parts.parquet"), found.long_form()
    assert lines["row"].to_list() == (expected["row"] + 1).tolist()  # files number their rows from 1
    assert lines["possibility"].to_list() == expected["possibility"].tolist()
    assert pl.DataFrame(found)["state"].to_list() == expected["state"].tolist()
    with pytest.raises(pn.InputError, match="unknown suffix '.txt'; expected .csv or .parquet"):
        write_long_form(found, tmp_path / "a.txt")


PATIENTS = "ward,contact,measles,fever,rash\nA,yes,?,mild|high,widespread\nB,no,no,none,none\nA,?,yes|no,!none,spots\n"


@pytest.fixture
def patients(tmp_path: Path) -> Path:
    path = tmp_path / "patients.csv"
    path.write_text(PATIENTS, encoding="utf-8")
    return path


def test_the_command_writes_the_resolved_table_and_says_what_it_did(patients: Path) -> None:
    out = patients.parent / "out.csv"
    done = run_real("complete", "clinic", patients, "--out", out)
    assert done.returncode == 0, done.stderr
    assert out.read_text(encoding="utf-8") == (
        "contact,measles,fever,rash\nyes,yes,high,widespread\nno,no,none,none\nno,no,mild,spots\n"
    )
    assert done.stdout.startswith(f"{patients}: 3 rows, 5 ambiguous cells; 5 (100 %) resolved to one state, ")
    engine = pn.Inference(pn.load_example("clinic"))
    first = engine.necessity("measles", {"yes"}, {"contact": "yes", "fever": {"mild", "high"}, "rash": "widespread"})
    third = engine.necessity("measles", {"no"}, {"fever": {"mild", "high"}, "rash": "spots"})
    sure = sum(necessity >= 0.5 for necessity in (first, third))
    row = next(line.split() for line in done.stdout.splitlines() if line.startswith("  measles"))
    assert row[1:4] == ["2", "2", str(sure)]  # ambiguous, resolved, sure
    assert sorted(done.stderr.splitlines()) == [
        "Note: columns that the network lacks were left out: ward; name those to keep with --keep",
        f"Wrote {out}: 3 rows, ambiguous cells resolved to their most possible states",
    ]


def test_the_command_keeps_columns_that_the_network_lacks(patients: Path) -> None:
    out = patients.parent / "out.csv"
    done = run("complete", "clinic", patients, "--keep", "ward", "--as", "narrowed", "--threshold", "0.5", "--out", out)
    assert (done.returncode, done.stderr) == (0, f"Wrote {out}: 3 rows, ambiguous cells narrowed\n")
    first = out.read_text(encoding="utf-8").splitlines()[:2]
    assert first == ["ward,contact,measles,fever,rash", "A,yes,yes,mild|high,widespread"]
    wrong = run("complete", "clinic", patients, "--keep", "wrad", "--out", out)
    assert wrong.returncode == 1
    assert "--keep wrad: no such column" in wrong.stderr
    assert "did you mean 'ward'?" in wrong.stderr
    twice = run("complete", "clinic", patients, "--keep", "fever", "--out", out)
    assert twice.stderr.endswith(
        "--keep fever: a variable of the network, which is kept anyway; expected another column\n"
    )


def test_the_command_writes_degrees_in_the_long_form(patients: Path) -> None:
    out = patients.parent / "long.parquet"
    done = run("complete", "clinic", patients, "--as", "long", "--out", out, "--json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert (told["rows"], told["ambiguous"]) == (3, 5)
    assert told["variables"]["measles"]["resolved"] == 2
    assert told["impossible_rows"] == []
    lines = pl.read_parquet(out)
    assert lines.columns == [
        "row",
        "variable",
        "state",
        "possibility",
        "necessity",
        "most_possible",
        "tied",
        "impossible",
    ]
    assert lines["row"].unique().sort().to_list() == [1, 3]


def test_the_command_reports_impossible_rows_and_leaves_them(tmp_path: Path) -> None:
    a, b = pn.Variable("a", ("x", "y")), pn.Variable("b", ("x", "y"))
    tables: dict[str, Any] = {"a": [1, 1], "b": [[1, 0], [0.5, 1]]}
    pn.write_network(pn.Network((a, b), pn.Dag({"a": (), "b": ("a",)}), tables), tmp_path / "net.json")
    (tmp_path / "rows.csv").write_text("a,b\nx,y\n?,?\nx|y,y\n" + "x,y\n" * 20, encoding="utf-8")
    done = run("complete", tmp_path / "net.json", tmp_path / "rows.csv", "--out", tmp_path / "out.csv")
    assert (
        "Note: 21 rows are impossible in this network, left as given: 1, 4, 5, 6, 7, 8, 9, 10, 11, 12, ... (all of them with --json)\n"
        in done.stderr
    )
    total = next(line.split() for line in done.stdout.splitlines() if line.startswith("  all"))
    head = next(line.split() for line in done.stdout.splitlines() if line.startswith("  variable"))
    assert (head[-1], total[-1]) == ("tied", "2")
    assert (tmp_path / "out.csv").read_text(encoding="utf-8").splitlines()[1:4] == ["x,y", "?,?", "y,y"]


def test_the_command_bins_measurements_on_the_way(tmp_path: Path) -> None:
    (tmp_path / "wards.csv").write_text("fever,off,rash\n36.9,.1,none\n38.4,.2,?\n>39,,spots\n", encoding="utf-8")
    measure = "fever: edges=37.5,38.5 error=off"
    done = run("complete", "clinic", tmp_path / "wards.csv", "--bin", measure, "--out", tmp_path / "out.csv")
    assert (done.returncode, done.stderr.count("\n"), done.stderr.startswith("Wrote ")) == (0, 1, True)
    assert (tmp_path / "out.csv").read_text(encoding="utf-8") == "fever,rash\nnone,none\nmild,none\nhigh,spots\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--out", "out.txt"], "--out out.txt: unknown suffix '.txt'; expected .csv or .parquet"),
        (["--out", "nowhere/out.csv"], "the folder does not exist"),
        (["--threshold", ".5"], "--threshold 0.5 is for --as narrowed"),
        (["--as", "narrowed", "--threshold", "0"], "threshold 0.0; expected a degree above 0"),
        (["--bin", "fever: egdes=3"], "did you mean 'edges'?"),
        (["--bin", "fever: edges=3,a"], "edges=3,a; expected numbers or dates, with commas between them"),
        (["--bin", "fever: edges=3 edges=4"], "'edges' appears twice"),
        (["--bin", "fever: edges=3 ends=half"], "ends=half; expected open or closed"),
        (["--bin", "fever: edges=3 error=-1"], "error -1.0; expected a number from 0 on"),
        (["--bin", "fever: edges=1,2", "--bin", "fever: edges=1"], "'fever' is given twice"),
        (["--bin", "fever: edges=1"], "and the variable has 3 states (none, mild, high)"),
    ],
)
def test_a_wrong_command_says_what_was_meant_and_writes_nothing(
    patients: Path, arguments: list[str], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(patients.parent)
    target = [] if "--out" in arguments else ["--out", "out.csv"]
    done = run("complete", "clinic", patients, *arguments, *target)
    assert done.returncode == 1
    assert message in done.stderr
    assert os.listdir(patients.parent) == ["patients.csv"]  # noqa: PTH208


def test_a_file_without_the_networks_columns_is_refused(patients: Path) -> None:
    done = run("complete", "asia", patients, "--out", patients.parent / "out.csv")
    assert done.returncode == 1
    assert "no column (ward, contact, measles, fever, rash) is a variable of the network (asia, tub" in done.stderr


def test_the_command_draws_progress_on_a_terminal(tmp_path: Path) -> None:
    pn.write_data(pn.sample(pn.load_example("clinic"), 2000, imprecision=1, rng=1), tmp_path / "a.parquet")
    master, slave = pty.openpty()
    command = [str(COMMAND), "complete", "clinic", str(tmp_path / "a.parquet"), "--out", str(tmp_path / "b.csv")]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=slave)
    stdout, _ = process.communicate(timeout=60)
    os.close(slave)
    drawn = os.read(master, 65536)
    os.close(master)
    assert process.returncode == 0
    assert b"2,000 rows" in stdout
    assert b"2,000 of 2,000 rows" in re.sub(rb"\x1b\[[0-9;?]*[a-zA-Z]", b"", drawn)


def test_weights_go_through_the_command(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("bronc,dysp,n\n?,yes,3\nyes,?,2\n", encoding="utf-8")
    done = run("complete", "asia", tmp_path / "a.csv", "--weights", "n", "--out", tmp_path / "b.csv")
    assert (done.returncode, done.stderr.count("\n"), done.stderr.startswith("Wrote ")) == (0, 1, True)
    assert (tmp_path / "b.csv").read_text(encoding="utf-8") == "bronc,dysp,n\nyes,yes,3\nyes,yes,2\n"


def test_kept_columns_are_copied_value_by_value(tmp_path: Path) -> None:
    notes = ["b|a", "!urgent", "", " x ", "C:\\temp", 'say "hi", now', "é"]
    table = tmp_path / "kept.csv"
    with table.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["note", "fever", "id", "rash"])
        writer.writerows([note, "high|mild", number, "?"] for number, note in enumerate(notes))
    for suffix in (".csv", ".parquet"):
        out = tmp_path / f"out{suffix}"
        done = run("complete", "clinic", table, "--keep", "note", "--keep", "id", "--out", out)
        assert done.returncode == 0, done.stderr
        if suffix == ".csv":
            with out.open(newline="", encoding="utf-8") as file:
                found = list(csv.DictReader(file))
            assert list(found[0]) == ["note", "fever", "id", "rash"]
            assert [row["note"] for row in found] == notes
        else:
            columns = pq.read_table(out).to_pydict()
            assert columns["note"] == notes
            assert [str(number) for number in columns["id"]] == [str(k) for k in range(len(notes))]
    wrong = run("complete", "clinic", table, "--keep", "note", "--as", "long", "--out", tmp_path / "l.csv")
    assert "--keep note is for whole rows" in wrong.stderr


def test_identifiers_can_be_kept_however_many_there_are(tmp_path: Path) -> None:
    table = tmp_path / "many.csv"
    table.write_text("id,fever\n" + "".join(f"p{k},?\n" for k in range(30_000)), encoding="utf-8")
    assert run("complete", "clinic", table, "--keep", "id", "--out", tmp_path / "out.csv").returncode == 0
    assert (tmp_path / "out.csv").read_text(encoding="utf-8").splitlines()[-1].startswith("p29999,")


def test_a_degree_at_the_threshold_stays_however_it_is_rounded() -> None:
    a, b = pn.Variable("a", ("x", "y")), pn.Variable("b", ("u", "v"))
    tables: dict[str, Any] = {"a": [1, 0.3], "b": [[1, 0.4], [1, 1]]}
    net = pn.Network((a, b), pn.Dag({"a": (), "b": ("a",)}), tables)
    data = pn.Dataset.from_rows((a, b), [(None, "v")])
    assert pn.complete(net, data).of(0, "a")["y"] == pytest.approx(0.75)
    assert pn.complete(net, data).narrowed(0.75).row(0)["a"] == {"x", "y"}


def test_every_impossible_row_is_told(tmp_path: Path) -> None:
    table = tmp_path / "rows.csv"
    table.write_text("tub,lung,either,smoke\n" + "yes,no,no,?\n" * 25 + "no,no,no,?\n", encoding="utf-8")
    found = json.loads(run("complete", "asia", table, "--out", tmp_path / "out.csv", "--json").stdout)
    assert found["impossible_rows"] == list(range(1, 26))
    assert run("complete", "asia", table, "--as", "long", "--out", tmp_path / "long.parquet").returncode == 0
    lines = pq.read_table(tmp_path / "long.parquet").to_pylist()
    lost = [line for line in lines if line["impossible"]]
    assert {line["row"] for line in lost} == set(range(1, 26))
    assert {line["possibility"] for line in lost} == {0.0}
    assert [line["state"] for line in lines if not line["impossible"]] == ["yes", "no"]

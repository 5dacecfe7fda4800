"""Targets of a completion: whole columns that are missing, given cells that are hidden, and what was not asked for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

import possnet as pn
from tests.commands import run
from tests.completion.test_completion import ambiguous_tables
from tests.strategies import networks


def predict_row(engine: pn.Inference, data: pn.Dataset, row: int, name: str) -> pn.Possibility | None:
    """Π(x | the other cells of the row) by one query, or None if these are impossible."""
    cells = data.row(row)
    evidence = {other: states for other, states in cells.items() if other != name and not data.missing(other)[row]}
    try:
        degrees = engine.query(name, evidence)
    except pn.ImpossibleEvidence:
        return None
    return degrees.normalise(engine.network.conjunction)  # without evidence a query is not conditioned


@given(networks(max_variables=4), st.data())
def test_a_hidden_target_is_what_the_other_cells_of_its_row_say(net: pn.Network, draw: st.DataObject) -> None:
    data = draw.draw(ambiguous_tables(net))
    target = draw.draw(st.sampled_from(net.variables)).name
    found = pn.complete(net, data, targets=(target,), hide=True)
    assert found.data.missing(target).all()
    engine = pn.Inference(net)
    for row in range(len(data)):
        expected = predict_row(engine, data, row, target)
        assert (expected is None) == (row in found.impossible)
        if expected is not None:
            assert found.of(row, target).degrees == pytest.approx(expected.degrees, abs=1e-9)


@given(networks(max_variables=4), st.data())
def test_a_target_without_a_column_is_a_column_of_unknown_cells(net: pn.Network, draw: st.DataObject) -> None:
    data = draw.draw(ambiguous_tables(net))
    targets = draw.draw(st.lists(st.sampled_from([v.name for v in net.variables]), unique=True))
    new = [net.variable(name) for name in targets if name not in {v.name for v in data.variables}]
    rows = [[*data.row(r).values()] for r in range(len(data))]
    for r, cells in enumerate(rows):
        for k, v in enumerate(data.variables):
            if data.missing(v.name)[r]:
                cells[k] = None  # type: ignore[call-overload]
    widened = pn.Dataset.from_rows(
        [*data.variables, *new], [[*cells, *[None] * len(new)] for cells in rows], data.weights
    )
    found = pn.complete(net, data, targets=targets)
    assert found.data == widened
    assert found.resolved() == pn.complete(net, widened).resolved()
    assert set(found.lacking) == {v.name for v in net.variables} - {v.name for v in widened.variables}


@pytest.mark.parametrize("hide", [False, True])
def test_targets_of_a_stream_are_those_of_the_whole(hide: bool) -> None:
    clinic = pn.load_example("clinic")
    stream = pn.sample_batches(clinic, 130, imprecision=0.7, rng=3, batch=40)
    targets = ("measles", "flu")

    class Narrow:
        variables, rows, weighted = stream.variables[1:], 130, False

        def __iter__(self):  # type: ignore[no-untyped-def]
            return (batch.select([v.name for v in self.variables]) for batch in stream)

    whole = pn.Dataset.concatenate(Narrow())
    found = pn.complete(clinic, whole, targets=targets, hide=hide)
    parts = list(pn.complete(clinic, Narrow(), targets=targets, hide=hide))
    assert pn.Dataset.concatenate(part.resolved() for part in parts) == found.resolved()
    assert sum((part.summary() for part in parts), pn.CompletionSummary()).cells.sure == found.summary().cells.sure


def test_sure_cells_are_those_whose_next_state_is_at_most_half_as_possible() -> None:
    a, b = pn.Variable("a", ("x", "y")), pn.Variable("b", ("u", "v", "w"))
    tables: dict[str, Any] = {"a": [1, 1], "b": [[1, 0.5, 0.2], [1, 0.51, 0]]}
    net = pn.Network((a, b), pn.Dag({"a": (), "b": ("a",)}), tables)
    data = pn.Dataset.from_rows((a, b), [("x", None), ("y", None), ("y", None), ("y", {"u", "w"})])
    tally = pn.complete(net, data).summary().variables["b"]
    assert (tally.resolved, tally.sure) == (4, 2)
    assert tally.certainty == pytest.approx(0.5 + 2 * 0.49 + 1)


def test_wrong_targets_are_refused_in_a_sentence() -> None:
    asia = pn.load_example("asia")
    data = pn.Dataset.from_rows([asia.variable("dysp")], [("yes",)])
    with pytest.raises(pn.InputError, match="target 'bronk' is no variable of the network .*did you mean 'bronc'"):
        pn.complete(asia, data, targets=("bronk",))
    with pytest.raises(pn.InputError, match=r"targets 'bronc'; expected several texts.*, such as \('bronc',\)"):
        pn.complete(asia, data, targets="bronc")
    with pytest.raises(pn.InputError, match="hide=True hides the cells of targets, and there are none"):
        pn.complete(asia, data, hide=True)


def test_a_completion_of_which_nothing_was_asked_says_so() -> None:
    asia = pn.load_example("asia")
    data = pn.Dataset.from_rows([v for v in asia.variables if v.name != "lung"], [("yes",) * 7])
    found = pn.complete(asia, data)
    assert "nothing to complete: every cell is a single state; " in repr(found)
    assert found.lacking == found.summary().lacking == ("lung",)
    assert "ask for them with targets=lung" in found._repr_html_()
    assert pn.complete(asia, data, targets=("lung",)).summary().describe_unasked() == ""


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    path = tmp_path / "rows.csv"
    path.write_text("smoke,dysp\nyes,no\nno,yes\n", encoding="utf-8")
    return path


def test_the_command_says_that_nothing_was_asked(rows: Path) -> None:
    done = run("complete", "asia", rows, "--out", rows.parent / "out.csv")
    assert done.stdout == (
        f"{rows}: 2 rows, 0 ambiguous cells; nothing to complete: every cell is a single state; columns that the network "
        "has and the data lack: asia, tub, lung, bronc, either, xray; ask for them with --target "
        "asia,tub,lung,bronc,either,xray\n"
    )
    told = json.loads(run("complete", "asia", rows, "--out", rows.parent / "out.csv", "--json").stdout)
    assert told["lacking"] == ["asia", "tub", "lung", "bronc", "either", "xray"]
    assert told["unasked"].startswith("nothing to complete: ")


def test_the_command_adds_a_missing_target_and_predicts_it(rows: Path) -> None:
    out = rows.parent / "out.csv"
    done = run("complete", "asia", rows, "--target", "bronc", "--out", out)
    assert done.returncode == 0, done.stderr
    engine = pn.Inference(pn.load_example("asia"))
    best = [engine.query("bronc", {"smoke": a, "dysp": b}).core for a, b in (("yes", "no"), ("no", "yes"))]
    assert out.read_text(encoding="utf-8") == f"smoke,dysp,bronc\nyes,no,{min(best[0])}\nno,yes,{min(best[1])}\n"
    assert "2 rows, 2 ambiguous cells; 2 (100 %) resolved to one state" in done.stdout
    assert "ask for them with --target asia,tub,lung,either,xray." in done.stdout


def test_the_command_keeps_what_is_given_of_a_target_unless_it_is_hidden(rows: Path) -> None:
    out = rows.parent / "out.csv"
    done = run("complete", "asia", rows, "--target", "dysp,bronc", "--out", out)
    assert out.read_text(encoding="utf-8").splitlines()[0] == "smoke,dysp,bronc"
    assert "  dysp: given in 2 of 2 rows and kept; --hide predicts it there too." in done.stdout
    assert "bronc: given" not in done.stdout
    hidden = run("complete", "asia", rows, "--target", "dysp", "--target", "bronc", "--hide", "--out", out, "--json")
    told = json.loads(hidden.stdout)
    assert (told["targets"], told["hide"], told["variables"]["dysp"]["ambiguous"]) == (["dysp", "bronc"], True, 2)
    assert "own cells hidden" in run("complete", "asia", rows, "--target", "dysp", "--hide", "--out", out).stdout
    wrong = run("complete", "asia", rows, "--target", "bronk", "--out", out)
    assert (wrong.returncode, "did you mean 'bronc'?" in wrong.stderr) == (1, True)
    assert run("complete", "asia", rows, "--hide", "--out", out).returncode == 1


def test_long_degrees_of_a_missing_target_stand_in_the_file(rows: Path) -> None:
    out = rows.parent / "long.csv"
    assert run("complete", "asia", rows, "--target", "bronc", "--as", "long", "--out", out).returncode == 0
    lines = out.read_text(encoding="utf-8").splitlines()[1:]
    degrees = pn.Inference(pn.load_example("asia")).query("bronc", {"smoke": "yes", "dysp": "no"})
    assert [float(line.split(",")[3]) for line in lines[:2]] == pytest.approx(np.asarray(degrees.degrees).tolist())

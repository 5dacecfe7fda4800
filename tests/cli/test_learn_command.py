"""The command ``possnet learn`` against the library."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

import possnet as pn
from tests.commands import run
from tests.structure.cases import NAMES, SHAPES, random_tables


def test_the_command_learns_what_the_library_learns(tmp_path: Path) -> None:
    data = pn.sample(pn.load_example("asia"), 2000, process="precise", rng=1)
    rows, out = tmp_path / "rows.parquet", tmp_path / "learned.json"
    pn.write_data(data, rows)
    shown = run("learn", rows, "--out", out)
    found = pn.learn_structure(data)
    assert shown.returncode == 0, shown.stderr
    assert shown.stdout.startswith(
        f"{len(found.edges)} edges of 8 variables, learned from 2,000 rows ({found.method} by "
    )
    assert shown.stderr.splitlines()[0] == (
        f"Wrote {out}: a network of 8 variables and {len(found.edges)} edges, tables by counting"
    )
    for edge in found.edges:
        assert f"  {edge.parent} {'-' if edge.reversible else '->'} {edge.child} " in shown.stdout
    learned = pn.read_network(out)
    assert learned.dag == found.dag
    np.testing.assert_allclose(learned.table("dysp"), pn.fit(found.dag, data).table("dysp"))
    pair = pn.learn_structure(
        data,
        "mwst",
        constraints=pn.Constraints(required=[("xray", "asia")], max_parents=1),
        search=pn.Search(threshold=1e9),
    )
    assert "1 edge of 8 nodes" in str(pair)
    assert "8 variables, 1 edge," in repr(pair)
    required = run("learn", rows, "--method", "mwst", "--require", "xray->asia", "--json").stdout
    assert "Infinity" not in required
    assert "NaN" not in required
    document = json.loads(run("learn", rows, "--method", "k2", "--order", ",".join(data.row(0)), "--json", "--bootstrap", 3).stdout)  # fmt: skip
    assert document["order"] == list(data.row(0))
    assert {(e["parent"], e["child"]) for e in document["edges"]} == set(
        pn.learn_structure(data, "k2", search=pn.Search(order=list(data.row(0)))).dag.edges
    )
    assert all(0 <= e["confidence"] <= 1 for e in document["edges"])


def test_a_network_learned_from_a_file_of_text_is_compared_with_the_one_that_drew_it(tmp_path: Path) -> None:
    """A CSV file has no order of states: those that are read from it are sorted, unlike the network's own."""
    rows, found = tmp_path / "p.csv", tmp_path / "found.json"
    assert run("sample", "clinic", "--rows", 500, "--seed", 1, "--process", "precise", "--out", rows).returncode == 0
    assert run("learn", rows, "--out", found).returncode == 0
    clinic, learned = pn.load_example("clinic"), pn.read_network(found)
    assert {v.name: v.states for v in learned.variables} != {v.name: v.states for v in clinic.variables}
    shown = run("compare", "clinic", found, "--json")
    assert shown.returncode == 0, shown.stderr
    same_order = pn.fit(learned.dag, pn.read_data(rows, variables=clinic))
    expected = pn.compare(clinic, same_order)
    assert json.loads(shown.stdout)["mean_error"]["value"] == expected["mean_error"].value
    assert run("score", found, rows, "--json").returncode == 0
    other = run("compare", "clinic", "asia")
    assert other.returncode == 1
    assert "'asia', 'tub', 'smoke', 'lung', ... (8 in all) only in the learned network" in other.stderr


def test_the_command_fits_tables_by_em_for_traced_bic_and_keeps_constraints(tmp_path: Path) -> None:
    net = random_tables(pn.Dag.from_edges(SHAPES["chain"], nodes=NAMES), 2, 2)
    data = pn.sample(net, 3000, process="traced", rng=1)
    rows, out = tmp_path / "rows.csv", tmp_path / "learned.json"
    pn.write_data(data, rows)
    done = run("learn", rows, "--measure", "traced-bic", "--conjunction", "min", "--require", "c -> a", "--out", out)
    assert done.returncode == 0, done.stderr
    learned = pn.read_network(out)
    assert ("c", "a") in learned.dag.edges
    assert learned.conjunction is pn.MIN
    expected = pn.fit_em(learned.dag, pn.read_data(rows), conjunction=pn.MIN).network
    np.testing.assert_allclose(learned.table("a"), expected.table("a"), atol=1e-6)
    tiers = json.loads(run("learn", rows, "--tier", "c", "--tier", "a,b", "--forbid", "c->b", "--json").stdout)
    assert not {("a", "c"), ("b", "c"), ("c", "b")} & {(e["parent"], e["child"]) for e in tiers["edges"]}


def test_mistakes_of_the_command_get_one_line(tmp_path: Path) -> None:
    rows = tmp_path / "rows.csv"
    pn.write_data(pn.sample(pn.load_example("asia"), 20, rng=1), rows)
    for arguments, message in (
        (("--method", "gredy"), "method 'gredy'"),
        (("--method", "greedy", "--measure", "chi2"), "no price that would keep it from adding edges"),
        (("--require", "smoke"), "expected parent->child"),
        (
            ("--forbid", "smok->lung"),
            "--forbid 'smok->lung' names 'smok', which the data lacks (asia, tub, smoke, lung, bronc, either, xray, dysp); did you mean 'smoke'?",
        ),
        (("--out", "learned.csv"), "unknown suffix '.csv'; expected .json"),
        (("--tier", "asia,nowhere"), "tier names 'nowhere'"),
    ):
        shown = run("learn", rows, *arguments)
        assert shown.returncode == 1, arguments
        assert shown.stderr.startswith("Error: ")
        assert message in shown.stderr
        assert shown.stdout == ""
    assert run("learn", tmp_path / "nowhere.csv").returncode == 1
    assert run("learn", rows, "--max-parents", "-1").returncode == 2


def test_the_command_explains_edges_that_are_there_and_that_are_not(tmp_path: Path) -> None:
    data = pn.sample(pn.load_example("clinic"), 2000, process="traced", rng=1)
    rows = tmp_path / "rows.parquet"
    pn.write_data(data, rows)
    question = ("--explain", "measles->fever", "--explain", "fever->rash")
    learned = pn.learn_structure(data)
    reasons = [pn.explain_edge(learned, data, *edge) for edge in (("measles", "fever"), ("fever", "rash"))]
    shown = run("learn", rows, *question)
    assert shown.returncode == 0, shown.stderr
    assert all(reason.words in shown.stdout for reason in reasons)
    for mass in (mass for reason in reasons for masses in reason.law.masses for mass in masses[:4]):
        assert f"{mass:.2f}" in shown.stdout
    document = json.loads(run("learn", rows, *question, "--json").stdout)
    assert [reason["words"] for reason in document["explanations"]] == [reason.words for reason in reasons]
    refused = run("learn", rows, "--explain", "measles->fevr")
    assert refused.returncode == 1
    assert "--explain 'measles->fevr' names 'fevr', which the data lacks" in refused.stderr


def test_a_search_that_is_out_of_time_gives_the_best_so_far(tmp_path: Path) -> None:
    data = pn.sample(pn.load_example("clinic"), 500, process="traced", rng=1)
    rows, out = tmp_path / "rows.parquet", tmp_path / "learned.json"
    pn.write_data(data, rows)
    late = ("learn", rows, "--measure", "traced-bic", "--max-seconds", 0)
    document = json.loads(run(*late, "--out", out, "--json").stdout)
    assert document["stopped"] == "max_seconds"
    assert {(e["parent"], e["child"]) for e in document["edges"]} == set(pn.read_network(out).dag.edges)
    assert "stopped by --max-seconds" in run(*late).stdout


def test_ctrl_c_writes_the_best_structure_so_far(tmp_path: Path) -> None:
    rows, out = tmp_path / "rows.parquet", tmp_path / "learned.json"
    pn.write_data(pn.sample(pn.random_network(25, states=3, rng=1), 30_000, process="traced", rng=1), rows)
    command = [sys.executable, "-m", "possnet", "learn", str(rows), "--measure", "traced-bic", "--out", str(out)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as learning:
        _wait_for_work(learning.pid, 3.0)
        learning.send_signal(signal.SIGINT)
        shown, notes = learning.communicate(timeout=60)
    assert learning.returncode == 130, notes
    assert "stopped by Ctrl-C: the best structure so far" in shown
    assert "Stopped: this is the best structure so far." in notes
    assert len(pn.read_network(out).dag.nodes) == 25


def _wait_for_work(pid: int, seconds: float) -> None:
    """Wait until a process has had that much processor time, so that it searches however busy the machine is."""
    accounts = Path(f"/proc/{pid}/stat")
    if not accounts.exists():
        time.sleep(seconds + 1.0)
        return
    ticks = os.sysconf("SC_CLK_TCK")
    while sum(map(int, accounts.read_text(encoding="utf-8").rpartition(")")[2].split()[11:13])) < seconds * ticks:
        time.sleep(0.05)

"""The commands that explain and ask."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import possnet as pn
from tests.commands import run

FEVER = ("--given", "fever=high")


def test_query_why_tells_both_stories() -> None:
    plain = run("query", "clinic", "measles", *FEVER, "--given", "rash=spots")
    told = run("query", "clinic", "measles", *FEVER, "--given", "rash=spots", "--why", "--state", "yes")
    assert told.returncode == 0, told.stderr
    assert told.stdout.startswith(plain.stdout.rstrip("\n"))
    record = {"fever": {"high"}, "rash": {"spots"}}
    why = pn.explain(pn.load_example("clinic"), "measles", record, "yes")
    assert told.stdout.endswith(f"{why}\n")
    document = json.loads(run("query", "clinic", "measles", *FEVER, "--why", "--json").stdout)
    assert document["why"]["state"] == "no"
    assert document["why"]["story"]["measles"] == "no"
    assert set(document["states"]) == {"yes", "no"}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("clinic", "measles", "--given", "measles=yes", "--why"), "the target 'measles' is in the evidence"),
        (("clinic", "measels", "--why"), "no variable 'measels'"),
        (("clinic", "measles", "--why", "--state", "maybe"), "'measles' has no state 'maybe'"),
        (("clinic", "measles", "--state", "yes"), "expected --why with it"),
        (
            ("asia", "smoke", "--given", "either=no", "--given", "lung=yes", "--why"),
            "lung=yes contradict each other; expected possible evidence. Drop",
        ),
    ],
)
def test_query_why_refuses_in_one_sentence(words: tuple[str, ...], message: str) -> None:
    refused = run("query", *words)
    assert (refused.returncode, refused.stdout) == (1, "")
    assert message in refused.stderr
    assert refused.stderr.count("\n") == 1


def test_ask_puts_the_best_question_until_a_state_is_certain() -> None:
    clinic = pn.load_example("clinic")
    first = pn.next_questions(clinic, "measles", {"fever": "high"})[0]
    assert first.name == "rash"
    second = pn.next_questions(clinic, "measles", {"fever": "high", "rash": "spots"})[0]
    talk = run("ask", "clinic", "measles", *FEVER, "--until", "0.95", given=b"2\nno|yes\nstop\n")
    assert talk.returncode == 0, talk.stderr
    assert "1. rash? (settles " in talk.stderr
    assert f"2. {second.name}? (settles " in talk.stderr
    assert "  3 widespread" in talk.stderr
    assert talk.stdout.startswith("Stopped.\n")
    settled = run("ask", "clinic", "measles", *FEVER, "--until", "0.95", given=b"none\n")
    certain = pn.Inference(clinic).query("measles", {"fever": "high", "rash": "none"}).necessity({"no"})
    assert certain >= 0.95
    assert settled.stdout.startswith(f"measles=no is certain to {certain:.3f}.\n")
    at_once = run("ask", "clinic", "measles", *FEVER, "--until", "0.5")
    assert "?" not in at_once.stderr


def test_ask_takes_what_people_type() -> None:
    answers = b"widespred\n9\nwidespread\n"  # a misprint, no such number, a state
    talk = run("ask", "clinic", "measles", *FEVER, "--until", "0.95", "--json", given=answers + b"?\n\nquit\n")
    assert "did you mean 'widespread'?" in talk.stderr
    assert "'9'" in talk.stderr
    document = json.loads(talk.stdout)
    assert document["asked"] == [{"variable": "rash", "answer": "widespread"}]
    assert document["settled"] == "Stopped"
    assert document["given"] == ["fever=high", "rash=widespread"]
    numbers = json.loads(run("ask", "clinic", "measles", *FEVER, "--until", "1", "--json", given=b"3\n").stdout)
    assert numbers["asked"][0] == {"variable": "rash", "answer": "widespread"}
    everything = run("ask", "clinic", "measles", "--until", "1", given=b"?\n" * 20)
    assert everything.stdout.startswith("No further question is expected to settle measles.")


def test_ask_refuses_what_cannot_be(tmp_path: Path) -> None:
    t, q = pn.Variable("t", ("a", "b")), pn.Variable("q", ("x", "y", "z"))
    tables: dict[str, Any] = {"t": [1.0, 1.0], "q": [[1.0, 0.1, 0.0], [0.1, 1.0, 0.0]]}
    pn.write_network(pn.Network((t, q), pn.Dag({"t": (), "q": ("t",)}), tables), tmp_path / "net.json")
    talk = run("ask", tmp_path / "net.json", "t", given=b"z\nx\n")
    assert "3 z  (impossible by what is known)" in talk.stderr
    assert "q=z contradicts what is known; expected another answer, or ?" in talk.stderr
    assert talk.stdout.startswith("t=a is certain to 0.900.")
    wrong = run("ask", "clinic", "measles", "--given", "measles=yes")
    assert (wrong.returncode, wrong.stderr.count("\n")) == (1, 1)
    assert "the target 'measles' is in the evidence" in wrong.stderr
    costly = run("ask", "clinic", "measles", "--cost", "rash")
    assert "--cost 'rash'; expected VARIABLE=NUMBER" in costly.stderr
    dear = run("ask", "clinic", "measles", *FEVER, "--until", "1", "--cost", "rash=1000", given=b"stop\n")
    assert "1. vaccinated?" in dear.stderr


def test_info_shows_gates(tmp_path: Path) -> None:
    asia = pn.load_example("asia")
    net = asia.with_table("either", pn.nearest_gate(asia, "either").gate)
    pn.write_network(net, tmp_path / "gated.json")
    assert (
        "gate           either = lung OR tub; inhibition lung 0, tub 0" in run("info", tmp_path / "gated.json").stdout
    )
    document = json.loads(run("info", tmp_path / "gated.json", "--json").stdout)
    assert document["gates"]["either"]["kind"] == "or"

"""The explorer answers and edits as the library does, and says in one sentence what is wrong."""

from __future__ import annotations

import json
import socket
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import possnet as pn
from possnet.explorer import explore
from possnet.explorer.evidence_answers import answer_evidence
from possnet.explorer.request_types import AnswerRequest, TableRequest
from possnet.explorer.session import Session
from possnet.explorer.table_pages import read_table_page
from possnet.inference.tree_layout import layout_of_structure
from tests.serving import Server, serving


def same(marginals: Any, expected: dict[str, pn.Possibility]) -> bool:
    """Whether marginals as the server tells them are those of the library."""
    return marginals.keys() == expected.keys() and all(
        np.array_equal(marginals[name]["possibility"], pi.degrees)
        and marginals[name]["necessity"] == [pi.necessity({state}) for state in pi.variables[0].states]
        for name, pi in expected.items()
    )


EVIDENCE: list[dict[str, list[str]]] = [
    {},
    {"fever": ["mild"]},
    {"fever": ["mild", "high"], "rash": ["spots"]},
    {"cough": ["dry", "none", "productive"], "season": ["summer"]},
]


@pytest.mark.parametrize("evidence", EVIDENCE)
def test_answers_are_those_of_the_library(clinic: Server, evidence: dict[str, list[str]]) -> None:
    engine = pn.Inference(pn.load_example("clinic"))
    known = {name: set(states) for name, states in evidence.items()}
    answer = clinic.ask("/api/answer", {"evidence": evidence, "before": True, "explain": True}).document
    assert same(answer["marginals"], engine.marginals(known or None))
    assert same(answer["before"], engine.marginals())
    assert answer["degree"] == engine.possibility_of(known)
    best = engine.most_possible(known or None)
    assert answer["best"] == {"configuration": best.configuration, "possibility": best.possibility, "ties": best.ties}


def test_questions_preview_what_every_answer_would_make_of_a_target(clinic: Server) -> None:
    ranked = clinic.ask("/api/questions", {"target": "measles", "evidence": {"fever": ["high"]}}).document
    expected = pn.next_questions(pn.load_example("clinic"), "measles", {"fever": {"high"}})
    assert [question["names"] for question in ranked["questions"]] == [[q.name] for q in expected]
    engine = pn.Inference(pn.load_example("clinic"))
    for question in ranked["questions"]:
        for answer in question["answers"]:
            known = {"fever": {"high"}, question["names"][0]: {answer["answer"]}}
            assert answer["target"] == pytest.approx(engine.query("measles", known).degrees.tolist())
    wrong = clinic.ask("/api/questions", {"target": "fever", "evidence": {"fever": ["high"]}})
    assert wrong.status == 422
    assert "the target 'fever' is in the evidence" in wrong.document["error"]


def test_a_click_plans_no_junction_tree_but_the_first(monkeypatch: pytest.MonkeyPatch) -> None:
    session = Session.from_network(pn.load_example("clinic"))
    answer_evidence(session, AnswerRequest({}, before=True))

    def refuse(*_: Any, **__: Any) -> None:
        raise AssertionError("planned again")

    monkeypatch.setattr("possnet.inference.tree_layout.make_plan", refuse)
    layout_of_structure.cache_clear()
    for evidence in EVIDENCE:
        answer_evidence(session, AnswerRequest(evidence, explain=True))


def test_the_network_is_told_with_a_place_for_every_card(clinic: Server) -> None:
    net = pn.load_example("clinic")
    for shape in ("wide", "tall"):
        page = clinic.ask(f"/api/network?shape={shape}").document
        assert (page["name"], page["conjunction"], page["edited"]) == ("clinic", "product", [])
        assert [(v["name"], tuple(v["states"])) for v in page["variables"]] == [
            (v.name, v.states) for v in net.variables
        ]
        assert {(edge["from"], edge["to"]) for edge in page["geometry"]["edges"]} == set(net.dag.edges)
        boxes = [(c["x"], c["y"], c["x"] + c["width"], c["y"] + c["height"]) for c in page["geometry"]["cards"]]
        apart = [
            a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1] for a in boxes for b in boxes if a is not b
        ]
        assert all(apart)


def test_edits_are_those_of_the_library_and_can_be_undone(tmp_path: Path) -> None:
    asia = pn.load_example("asia")
    with serving("asia") as server:

        def now() -> pn.Network:
            reply = server.ask("/api/download")
            assert 'filename="asia.json"' in reply.headers["content-disposition"]
            (tmp_path / "now.json").write_bytes(reply.body)
            return pn.read_network(tmp_path / "now.json")

        rows = {"0": [1, 0.7], "3": [0.25, 1]}
        summary = server.ask("/api/edit", {"variable": "dysp", "rows": rows, "revision": 0}).document
        table = asia.table("dysp").reshape(4, 2).copy()
        table[[0, 3]] = [[1, 0.7], [0.25, 1]]
        first = asia.with_table("dysp", table.reshape(2, 2, 2))
        assert (summary["edited"], summary["touched"], summary["undo"], summary["redo"]) == (
            ["dysp"],
            ["dysp"],
            "edit the table of dysp",
            None,
        )
        assert now() == first
        given = {"xray": ["yes"]}
        answer = server.ask("/api/answer", {"evidence": given}).document
        assert same(answer["marginals"], pn.Inference(first).marginals({"xray": {"yes"}}))
        assert answer["revision"] == 1
        late = server.ask("/api/edit", {"variable": "dysp", "rows": rows, "revision": 0})
        assert (late.status, now() == first) == (409, True)
        server.ask("/api/edit", {"variable": "smoke", "rows": {"0": [0.5, 1]}, "revision": 1})
        second = first.with_table("smoke", [0.5, 1])
        assert now() == second
        for step, variable, expected in (
            ("undo", None, first),
            ("undo", None, asia),
            ("redo", None, first),
            ("redo", None, second),
            ("reset", "dysp", asia.with_table("smoke", [0.5, 1])),
            ("reset", None, asia),
            ("undo", None, asia.with_table("smoke", [0.5, 1])),
        ):
            revision = server.ask("/api/network").document["revision"]
            body = {"step": step} if step != "reset" else {"variable": variable}
            path = "/api/reset" if step == "reset" else "/api/history"
            assert server.ask(path, {**body, "revision": revision}).status == 200
            assert now() == expected
    assert asia == pn.load_example("asia")


@pytest.mark.parametrize(
    ("path", "body", "finding"),
    [
        ("answer", {"evidence": {"fevre": ["mild"]}}, "no variable 'fevre'"),
        ("answer", {"evidence": {"fever": ["mlid"]}}, "did you mean 'mild'"),
        ("answer", {"evidence": {"fever": []}}, "expected at least one state"),
        ("answer", {"evidence": {"fever": "mild"}}, "evidence[...]: expected array, got str"),
        ("answer", {"evidence": {}, "more": 1}, "unknown field more"),
        ("answer", [], "expected object, got array"),
        ("table", {"variable": "fever", "start": 4}, "expected 0 to 3"),
        ("table", {"variable": "fever", "start": -1}, "expected 0 to 3"),
        ("edit", {"variable": "fever", "rows": {"0": [0.5, 0.2, 0]}, "revision": 0}, "peaks at 0.5; expected 1"),
        ("edit", {"variable": "fever", "rows": {"0": [1, 1.2, 0]}, "revision": 0}, "1.2"),
        ("edit", {"variable": "fever", "rows": {"0": [1, -0.1, 0]}, "revision": 0}, "-0.1"),
        ("edit", {"variable": "fever", "rows": {"0": [1, 0]}, "revision": 0}, "2 degrees in context 0; expected 3"),
        ("edit", {"variable": "fever", "rows": {"9": [1, 0, 0]}, "revision": 0}, "no context number 9"),
        ("edit", {"variable": "fever", "rows": {}, "revision": 0}, "expected at least one"),
        ("normalise", {"variable": "fever", "rows": [[0, 0, 0]]}, "zero everywhere"),
        ("normalise", {"variable": "fever", "rows": [[1]]}, "expected 3 degrees in each"),
        ("history", {"step": "undo", "revision": 0}, "no change is left to undo"),
        ("history", {"step": "redo", "revision": 0}, "no change is left to redo"),
        ("history", {"step": "jump", "revision": 0}, "invalid enum value 'jump'"),
    ],
)
def test_a_wrong_request_gets_one_sentence(clinic: Server, path: str, body: Any, finding: str) -> None:
    reply = clinic.ask(f"/api/{path}", body)
    assert reply.status == 422
    assert finding in reply.document["error"]
    assert "Traceback" not in reply.document["error"]
    assert "\n" not in reply.document["error"]
    assert clinic.ask("/api/network").document["revision"] == 0


def test_impossible_evidence_is_told_as_such() -> None:
    with serving("asia") as server:
        reply = server.ask("/api/answer", {"evidence": {"either": ["no"], "lung": ["yes"]}})
    assert (reply.status, reply.document["kind"]) == (422, "impossible")
    assert "has possibility 0" in reply.document["error"]


def test_normalising_is_that_of_the_network(clinic: Server) -> None:
    rows = [[0.5, 0.2, 0.1], [0.3, 0.6, 0]]
    normalised = clinic.ask("/api/normalise", {"variable": "fever", "rows": rows}).document["rows"]
    assert np.array_equal(normalised, pn.normalise_tables({"fever": rows})["fever"])


def test_a_question_that_would_not_fit_is_refused_with_its_size(tmp_path: Path) -> None:
    roots = [pn.Variable(f"r{k}", tuple(map(str, range(12)))) for k in range(16)]
    pairs = [(a, b) for a in range(16) for b in range(a)]
    leaves = [pn.Variable(f"l{a}-{b}", ("yes", "no")) for a, b in pairs]
    above = {f"l{a}-{b}": (f"r{a}", f"r{b}") for a, b in pairs}
    tables: dict[str, Any] = {v.name: np.ones((12, 12, 2)) for v in leaves} | {v.name: np.ones(12) for v in roots}
    net = pn.Network((*roots, *leaves), pn.Dag({**{v.name: () for v in roots}, **above}), tables)
    pn.write_network(net, tmp_path / "wide.json")
    with serving(tmp_path / "wide.json") as server:
        reply = server.ask("/api/answer", {"evidence": {}})
        assert (reply.status, reply.document["kind"]) == (422, "too-large")
        assert "the limit is" in reply.document["error"]
        assert server.ask("/api/table", {"variable": "l1-0"}).document["contexts"] == 144
    many = pn.Variable("x", tuple(map(str, range(20_001))))
    with pytest.raises(pn.TooLarge, match="20,001 states in all"):
        explore(pn.Network((many,), pn.Dag({"x": ()}), {"x": np.ones(20_001)}))


def test_tables_come_in_pages_of_a_few_hundred_degrees() -> None:
    a, b = pn.Variable("a", tuple(map(str, range(300)))), pn.Variable("b", tuple(map(str, range(7))))
    c = pn.Variable("c", tuple(map(str, range(1500))))
    dag = pn.Dag({"a": (), "b": ("a",), "c": ("b",)})
    rng = np.random.default_rng(1)
    raw = {"a": rng.random(300), "b": rng.random((300, 7)), "c": rng.random((7, 1500))}
    session = Session.from_network(pn.Network((a, b, c), dag, pn.normalise_tables(raw)))
    seen, start = [], 0
    while start < 300:
        page = read_table_page(session, TableRequest("b", start))
        assert sum(len(row["degrees"]) for row in page["rows"]) <= 500
        seen += [row["degrees"] for row in page["rows"]]
        assert page["rows"][0]["context"] == [str(start)]
        start += len(page["rows"])
    assert np.array_equal(seen, session.network.table("b"))
    wide = read_table_page(session, TableRequest("c", 3))
    assert (len(wide["rows"]), len(wide["rows"][0]["degrees"]), wide["whole"]) == (1, 500, False)


def test_a_learned_network_keeps_its_support_until_it_is_edited(tmp_path: Path) -> None:
    asia = pn.load_example("asia")
    net = pn.fit(asia.dag, pn.sample(asia, 50, rng=1))
    pn.write_network(net, tmp_path / "learned.json")
    with serving(tmp_path / "learned.json") as server:
        rows = server.ask("/api/table", {"variable": "dysp"}).document["rows"]
        support = net.support
        assert support is not None
        assert [row["support"] for row in rows] == support["dysp"].reshape(-1).tolist()
        reply = server.ask("/api/download")
        assert reply.body == (tmp_path / "learned.json").read_bytes()
        assert 'filename="network.json"' in reply.headers["content-disposition"]


@settings(max_examples=100)
@given(st.text(max_size=12), st.lists(st.text(max_size=6), max_size=3), st.sampled_from(["answer", "table", "edit"]))
def test_any_names_and_states_are_answered(clinic: Server, name: str, states: list[str], path: str) -> None:
    bodies = {
        "answer": {"evidence": {name: states}},
        "table": {"variable": name},
        "edit": {"variable": name, "rows": {"0": [1]}, "revision": 0},
    }
    reply = clinic.ask(f"/api/{path}", bodies[path])
    assert reply.status == 422
    assert reply.document["error"]


def test_two_clients_at_once_get_their_own_answers(clinic: Server) -> None:
    engine = pn.Inference(pn.load_example("clinic"))
    wrong: list[object] = []

    def client(evidence: dict[str, list[str]]) -> None:
        expected = engine_answers[json.dumps(evidence)]
        for _ in range(15):
            reply = clinic.ask("/api/answer", {"evidence": evidence})
            if not same(reply.document.get("marginals", {}), expected):
                wrong.append(reply)

    engine_answers = {json.dumps(e): engine.marginals({n: set(s) for n, s in e.items()} or None) for e in EVIDENCE}
    threads = [threading.Thread(target=client, args=(evidence,)) for evidence in EVIDENCE]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_clients_that_hang_or_leave_keep_nobody_waiting(clinic: Server) -> None:
    host = f"Host: 127.0.0.1:{clinic.port}\r\n"
    half = (
        f"POST /api/answer HTTP/1.1\r\n{host}Content-Type: application/json\r\nContent-Length: 400\r\n\r\n{{".encode()
    )
    lines = [socket.create_connection(("127.0.0.1", clinic.port)) for _ in range(12)]
    for line, content in zip(lines, [b"", b"GET / HT", half] * 4, strict=True):
        line.sendall(content)
    for _ in range(5):
        clinic.raw(f"GET /api/network HTTP/1.1\r\n{host}\r\n".encode(), close=True)
    assert same(
        clinic.ask("/api/answer", {"evidence": {}}).document["marginals"],
        pn.Inference(pn.load_example("clinic")).marginals(),
    )
    for line in lines:
        line.close()

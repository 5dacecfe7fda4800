"""Why, what matters, contradictions, what if and comparisons: the server answers what the library says, in one sentence if not."""

from __future__ import annotations

from typing import Any

import pytest

import possnet as pn
from possnet.errors import ImpossibleEvidence, InputError
from possnet.explorer import insight_answers as answers, insight_requests as types
from possnet.explorer.evidence_answers import answer_evidence, rank_questions
from possnet.explorer.network_comparison import choose_other, compare_networks, pair_contexts
from possnet.explorer.request_types import AnswerRequest, QuestionsRequest
from possnet.explorer.session import Session
from possnet.io import encode_network
from tests.serving import Server, serving

CLINIC, ASIA = pn.load_example("clinic"), pn.load_example("asia")
SESSION = Session.from_network(CLINIC)
FEVER: dict[str, list[str]] = {"fever": ["mild", "high"], "rash": ["spots"]}
SETS = {name: set(states) for name, states in FEVER.items()}


def test_a_degree_is_explained_as_the_library_explains_it_after_what_was_done_too() -> None:
    for do in ({}, {"vaccinated": "yes"}):
        network = CLINIC.do(do)
        why = answers.explain_answer(SESSION, types.WhyRequest("measles", FEVER, "yes", do))
        assert {name: why[name] for name in why if name not in {"words", "revision"}} == pn.explain(
            network, "measles", SETS, "yes"
        ).to_dict()
        ranked = answers.rank_influences(SESSION, types.WhyRequest("measles", FEVER, "yes", do))
        curves = pn.sensitivity(network, "measles", "yes", SETS)
        shown = [entry for entry in curves[:12] if entry.swing > 0 and entry.variable not in do]
        assert [(e["label"], e["low"], e["high"]) for e in ranked["entries"]] == [
            (e.label, e.low, e.high) for e in shown
        ]
        shares = pn.contributions(network, "measles", SETS, "yes")
        assert [(f["name"], f["possibility"]) for f in ranked["findings"]] == [(s.name, s.possibility) for s in shares]
        asked = rank_questions(SESSION, QuestionsRequest("measles", {"fever": ["high"]}, do))
        expected = pn.next_questions(network, "measles", {"fever": {"high"}})
        assert [q["names"] for q in asked["questions"]] == [[q.name] for q in expected]


def test_answers_after_what_was_done_are_those_of_the_cut_network() -> None:
    answer = answer_evidence(SESSION, AnswerRequest({"fever": ["high"]}, before=True, do={"flu": "yes"}))
    for name, pi in pn.Inference(CLINIC.do({"flu": "yes"})).marginals({"fever": "high"}).items():
        assert answer["marginals"][name]["possibility"] == pi.degrees.tolist()
    for name, pi in pn.Inference(CLINIC).marginals().items():
        assert answer["before"][name]["possibility"] == pi.degrees.tolist()
    for evidence, do, words in (
        ({"flu": ["no"]}, {"flu": "yes"}, "'flu' is set and has evidence on it; expected one of the two"),
        ({}, {"flue": "yes"}, "did you mean 'flu'"),
        ({}, {"flu": "perhaps"}, "perhaps"),
    ):
        with pytest.raises(InputError, match=words):
            answer_evidence(SESSION, AnswerRequest(evidence, do=do))


def test_a_contradiction_is_minimal_and_every_way_out_leads_out() -> None:
    session = Session.from_network(ASIA)
    evidence = {"either": ["no"], "lung": ["yes"], "smoke": ["no"]}
    with pytest.raises(ImpossibleEvidence):
        answer_evidence(session, AnswerRequest(evidence))
    found = answers.find_conflicts(session, types.ConflictRequest(evidence))
    assert found["sets"] == [["either", "lung"]]
    assert found["repairs"]
    for repair in found["repairs"]:
        dropped = {name: states for name, states in evidence.items() if name not in repair["drop"]}
        wider = {
            name: [*states, repair["widen"][name]] if name in repair["widen"] else states
            for name, states in evidence.items()
        }
        for way in (dropped, wider):
            assert answer_evidence(session, AnswerRequest(way))["degree"] == pytest.approx(repair["possibility"])


def test_scenarios_stand_side_by_side() -> None:
    seen, done = types.Situation(evidence={"flu": ["yes"]}), types.Situation(do={"flu": "yes"})
    answer = answers.compare_scenarios(SESSION, types.ScenariosRequest(seen, done))
    expected = pn.scenarios(CLINIC, {"A": {"flu": {"yes"}}, "B": pn.Scenario(do={"flu": "yes"})})
    assert answer["differences"] == expected.differences()
    assert answer["marginals"]["season"] == [pi.degrees.tolist() for pi in expected.of("season").values()]
    with pytest.raises(InputError, match="evidence on 'flu' is empty"):
        answers.compare_scenarios(SESSION, types.ScenariosRequest(types.Situation(evidence={"flu": []}), done))


def test_edits_are_compared_with_the_original_the_step_before_an_example_and_a_file() -> None:
    session = Session.from_network(ASIA)
    with pytest.raises(InputError, match="nothing was changed yet"):
        choose_other(session, None, types.CompareRequest("before"))
    once = session.with_edit(ASIA.with_table("smoke", [1, 0.5]))
    twice = once.with_edit(once.network.with_table("asia", [0.7, 1]))
    assert choose_other(twice, None, types.CompareRequest("original")) is ASIA
    assert choose_other(twice, None, types.CompareRequest("before")) is once.network
    assert choose_other(twice, CLINIC, types.CompareRequest("file")) is CLINIC
    assert choose_other(twice, None, types.CompareRequest("example", "clinic")) == CLINIC
    with pytest.raises(InputError, match="no second file"):
        choose_other(twice, None, types.CompareRequest("file"))
    with pytest.raises(InputError, match="did you mean 'clinic'"):
        choose_other(twice, None, types.CompareRequest("example", "clinc"))
    page = compare_networks(twice, ASIA)
    assert [table["name"] for table in page["tables"][:2]] == ["asia", "smoke"]
    measured = pn.compare(ASIA, twice.network)
    assert {m["name"]: m["value"] for m in page["metrics"]} == {
        m["name"]: measured[m["name"]].value for m in page["metrics"]
    }
    assert {change for _, _, change in page["edges"]} == {"same"}
    pair = pair_contexts(twice, ASIA, types.PairRequest("original", "smoke"))
    assert pair["rows"] == [{"number": 0, "context": [], "other": [1.0, 1.0], "here": [1.0, 0.5]}]
    other = compare_networks(Session.from_network(CLINIC), ASIA)
    assert other["removed"] == tuple(v.name for v in ASIA.variables)
    assert other["metrics"] == []
    assert other["reason"].startswith("compare: ")
    with pytest.raises(InputError, match="a network has no variables"):
        compare_networks(Session.without_network(), ASIA)


BAD: list[tuple[str, Any, str]] = [
    ("why", {"target": "flue", "evidence": {}}, "did you mean 'flu'"),
    ("why", {"target": "flu", "evidence": {}, "state": "maybe"}, "maybe"),
    ("why", {"target": "flu", "evidence": {"flu": ["yes"]}}, "in the evidence"),
    ("influences", {"target": "<img src=x onerror=alert(1)>", "evidence": {}}, "<img"),
    ("conflicts", {"evidence": {"flu": ["nix"]}}, "nix"),
    ("scenarios", {"a": {}}, "b"),
    ("compare", {"other": "nobody"}, "nobody"),
    ("compare-table", {"other": "original", "variable": "flue"}, "flue"),
]


@pytest.mark.parametrize(("path", "body", "words"), BAD)
def test_bad_questions_are_refused_in_one_sentence(clinic: Server, path: str, body: Any, words: str) -> None:
    reply = clinic.ask(f"/api/{path}", body)
    assert reply.status == 422
    assert words in reply.document["error"]
    assert "Traceback" not in reply.document["error"]


def test_a_second_network_is_opened_under_limits_and_compared() -> None:
    with serving("clinic") as server:
        octets = {"Content_Type": "application/octet-stream"}
        edited = encode_network(CLINIC.with_table("contact", [0.9, 1])).encode()
        reply = server.ask("/api/compare-file?name=..%2F%3Cb%3Eother.json", edited, **octets)
        assert (reply.status, reply.document["variables"]) == (200, len(CLINIC.variables))
        page = server.ask("/api/compare", {"other": "file"}).document
        assert page["tables"][0]["name"] == "contact"
        assert page["tables"][0]["largest"] == pytest.approx(0.7)
        for name, content in (("a.json", b"{"), ("a.bif", b"\xff" * 99), ("a.exe", b"MZ"), ("", b""), ("a.json", b"")):
            bad = server.ask(f"/api/compare-file?name={name}", content, **octets)
            assert bad.status == 422
            assert "possnet-explore" not in bad.document["error"]
        assert server.ask("/api/compare", {"other": "file"}).document["tables"][0]["name"] == "contact"  # as before
        huge = server.ask("/api/compare-file?name=a.json", b"", Content_Length=str(100_000_000), **octets)
        assert huge.status == 413

"""Building over the wire: every change is a step with undo, cards keep their places, and nothing is half done."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import possnet as pn
from possnet.explorer import build_requests as types
from possnet.explorer.building import (
    add_card,
    change_edge,
    change_title,
    change_variable,
    fill_table,
    move_cards,
    remove_cards,
)
from possnet.explorer.card_layout import place_cards
from possnet.explorer.evidence_answers import find_unreached
from possnet.explorer.network_page import describe_network
from possnet.explorer.request_types import HistoryRequest
from possnet.explorer.session import Session, step_history, summarise_session

ASIA, CLINIC = pn.load_example("asia"), pn.load_example("clinic")


def places(session: Session) -> dict[str, tuple[float, float]]:
    cards = place_cards(session.network, session.step.arrangement)["cards"]
    return {v.name: (card["x"], card["y"]) for v, card in zip(session.network.variables, cards, strict=True)}


def test_a_network_is_built_from_nothing() -> None:
    session = Session.without_network()
    assert describe_network(session)["started"] is False
    for name, states in (("flu", ["yes", "no"]), ("fever", ["none", "mild", "high"])):
        session = add_card(session, types.AddRequest(session.revision, name, states))
    session = change_edge(session, types.EdgeRequest(session.revision, "flu", "fever"))
    assert session.network.table("fever").tolist() == [[1, 1, 1]] * 2
    assert session.network.dag.edges == (("flu", "fever"),)
    assert len(set(places(session).values())) == 2
    assert describe_network(session)["started"] is True
    assert summarise_session(session)["edited"] == []  # nothing was there that could be edited
    titles = [step.title for step in session.steps]
    assert titles == ["", "add flu", "add fever", "draw the edge from flu to fever"]


STEPS = st.lists(st.tuples(st.sampled_from("avedmgt"), st.integers(0, 99), st.integers(0, 99)), min_size=1, max_size=12)


def take_step(session: Session, kind: str, first: int, second: int) -> Session:
    """One change of a session, or none where it cannot be."""
    names = session.network.dag.nodes
    revision = session.revision
    if kind == "a" or not names:
        return add_card(session, types.AddRequest(revision, place=(float(first), float(second))))
    one, two = names[first % len(names)], names[second % len(names)]
    if kind == "v":
        old = session.network.variable(one).states
        kept = [types.StateRow(state, state) for state in old[: 1 + second % len(old)]]
        return change_variable(
            session, types.VariableRequest(revision, one, f"{one}*", [*kept, types.StateRow("new*")][:5])
        )
    if kind == "d":
        return remove_cards(session, types.RemoveRequest(revision, [one]))
    if kind == "m":
        return move_cards(session, types.MoveRequest(revision, {one: (float(second), 7.0)}))
    if kind == "t":
        return change_title(session, types.TitleRequest(revision, f"n{first}", "", "min" if second % 2 else "product"))
    if kind == "g":
        return fill_table(session, types.GateRequest(revision, one, "ignorance"))
    joined = one in session.network.dag.parents(two)
    return change_edge(session, types.EdgeRequest(revision, one, two, remove=joined))


@settings(max_examples=40)
@given(STEPS)
def test_any_steps_give_sound_networks_and_are_undone_one_by_one(steps: list[tuple[str, int, int]]) -> None:
    session = Session.from_network(CLINIC)
    seen = [(session.network, places(session))]
    for kind, first, second in steps:
        before = places(session)
        try:
            session = take_step(session, kind, first, second)
        except pn.InputError:
            continue
        seen.append((session.network, places(session)))
        if kind in "ed":  # whatever is built, no other card moves
            assert all(before[name] == place for name, place in places(session).items())
        tables = {v.name: session.network.table(v.name) for v in session.network.variables}
        if tables:
            pn.Network(session.network.variables, session.network.dag, tables, conjunction=session.network.conjunction)
    for network, where in reversed(seen[:-1]):
        session = step_history(session, HistoryRequest("undo", session.revision))
        assert session.network is network
        assert places(session) == where
    for network, where in seen[1:]:
        session = step_history(session, HistoryRequest("redo", session.revision))
        assert (session.network, places(session)) == (network, where)


def test_a_moved_card_keeps_its_place_until_it_is_tidied_up() -> None:
    session = Session.from_network(ASIA)
    laid_out, engine = places(session), session.engine
    moved = move_cards(session, types.MoveRequest(0, {"smoke": (500.0, -40.0)}))
    assert places(moved) == laid_out | {"smoke": (500.0, -40.0)}
    assert moved.engine is engine  # and nothing is planned again
    lines = {(e["from"], e["to"]): e["points"] for e in place_cards(ASIA, moved.step.arrangement)["edges"]}
    assert lines["smoke", "lung"] == []
    assert len(lines["asia", "tub"]) >= 2
    assert places(move_cards(moved, types.MoveRequest(1, None))) == laid_out
    assert moved.frame == moved.revision == 1


def test_a_new_card_covers_no_other() -> None:
    session = Session.from_network(ASIA)
    for _ in range(6):
        session = add_card(session, types.AddRequest(session.revision, place=(10.0, 10.0)))
    cards = place_cards(session.network, session.step.arrangement)["cards"]
    boxes = [(c["x"], c["y"], c["x"] + c["width"], c["y"] + c["height"]) for c in cards]
    assert all(a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1] for a in boxes for b in boxes if a is not b)


@pytest.mark.parametrize("kind", ["or", "and", "max", "min"])
def test_gates_fill_tables_as_the_library_does(kind: Any) -> None:
    parents = [ASIA.variable(name) for name in ASIA.dag.parents("either")]
    numbers = {p.name: 0.1 * (k + 1) for k, p in enumerate(parents)}
    filled = fill_table(Session.from_network(ASIA), types.GateRequest(0, "either", kind, numbers, 0.05))
    key = {"or": "inhibition", "and": "substitution"}.get(kind, "effects")
    gate = getattr(pn, f"gate_{kind}")(ASIA.variable("either"), parents, **{key: numbers}, leak=0.05)
    assert filled.network.gates["either"] == gate
    assert np.array_equal(filled.network.table("either"), gate.table)
    assert describe_network(filled)["variables"][5]["gate"] == gate.describe()


def test_what_the_evidence_cannot_reach_does_not_change() -> None:
    for net in (ASIA, CLINIC):
        engine = pn.Inference(net)
        before = engine.marginals()
        for variable in net.variables:
            apart = find_unreached(net, [variable.name])
            assert set(apart) == {
                v.name for v in net.variables if v is not variable and net.dag.d_separated(v.name, variable.name)
            }
            for state in variable.states:
                now = engine.marginals({variable.name: state})
                assert all(now[name].degrees.tolist() == pytest.approx(before[name].degrees.tolist()) for name in apart)


@pytest.mark.parametrize(
    ("path", "body", "finding"),
    [
        ("build/edge", {"parent": "dysp", "child": "smoke"}, "would close a cycle, smoke -> bronc -> dysp -> smoke"),
        ("build/edge", {"parent": "dysp", "child": "nobody"}, "no variable 'nobody'"),
        ("build/edge", {"parent": "asia", "child": "dysp", "remove": True}, "there is none"),
        ("build/add", {"name": "smoke"}, "there is a variable 'smoke' already"),
        ("build/add", {"states": ["a", "a"]}, "appears twice"),
        ("build/add", {"place": [1e9, 0]}, "place"),
        ("build/add", {"name": "x" * 2000}, "name"),
        ("build/add", {"states": ["s"] * 3, "more": 1}, "unknown field more"),
        ("build/remove", {"names": []}, "at least one"),
        ("build/remove", {"names": ["nobody"]}, "no variable 'nobody'"),
        ("build/move", {"places": {"nobody": [0, 0]}}, "no variable 'nobody'"),
        ("build/move", {"places": {"smoke": [0]}}, "places"),
        ("build/gate", {"variable": "either", "kind": "or", "numbers": {"smoke": 0.1}}, "expected one for each parent"),
        ("build/gate", {"variable": "either", "kind": "or", "numbers": {"tub": 7}}, "7"),
        ("build/gate", {"variable": "asia", "kind": "or"}, "parent"),
        ("build/gate", {"variable": "either", "kind": "xor"}, "xor"),
        ("build/variable", {"variable": "smoke", "name": " ", "states": [{"name": "a"}]}, "name"),
        ("build/variable", {"variable": "smoke", "name": "s", "states": []}, "no states"),
        ("build/variable", {"variable": "smoke", "name": "s", "states": [{"name": "a", "was": "b"}]}, "not a state"),
        ("build/title", {"name": "a", "description": "", "conjunction": "sum"}, "sum"),
        ("open", {"kind": "example", "name": "asai"}, "did you mean 'asia'"),
        ("open", {"kind": "file", "name": "../secret.json"}, "not below the folder"),
        ("save", {"name": "../out.json"}, "not below the folder"),
        ("save", {}, "no file yet"),
        ("save", {"name": "out.bif"}, "a BIF file holds probabilities"),
        ("save", {"name": "out.wcnf"}, "expected .json"),
    ],
)
def test_what_cannot_be_built_is_refused_with_one_sentence(asia: Any, path: str, body: Any, finding: str) -> None:
    reply = asia.ask(f"/api/{path}", {"revision": 0, **body})
    assert reply.status == 422
    assert finding in reply.document["error"]
    assert "\n" not in reply.document["error"]
    assert asia.ask("/api/network").document["revision"] == 0
    assert asia.ask(f"/api/{path}", {**body, "revision": 99}).status in {409, 422}


@pytest.fixture(scope="module")
def asia(tmp_path_factory: pytest.TempPathFactory) -> Any:
    from tests.serving import serving

    folder: Path = tmp_path_factory.mktemp("folder")
    with serving("asia", folder=folder) as server:
        yield server

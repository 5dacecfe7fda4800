"""The explorer's server: right answers, on this machine only, to its own page only, whatever else comes in."""

from __future__ import annotations

import asyncio
import json
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import possnet as pn
from possnet.explorer import explore, request_guard, serve, uvicorn_server
from possnet.explorer.app import build_application
from possnet.explorer.session import Session, read_table_page
from tests.commands import readme_commands, run
from tests.serving import Server, serving

SAFE = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:"
FILES = ["/", "/style.css", "/panel.css", "/colours.css", "/app.js", "/graph.js", "/editor.js", "/view.js"]


def same(found: Any, expected: dict[str, pn.Possibility]) -> bool:
    """Whether marginals as the server tells them are those of the library."""
    return found.keys() == expected.keys() and all(
        np.array_equal(found[name]["possibility"], pi.degrees)
        and found[name]["necessity"] == [pi.necessity({state}) for state in pi.variables[0].states]
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
    found = clinic.ask("/api/answer", {"evidence": evidence, "before": True, "explain": True}).document
    assert same(found["marginals"], engine.marginals(known or None))
    assert same(found["before"], engine.marginals())
    assert found["degree"] == engine.possibility_of(known)
    best = engine.most_possible(known or None)
    assert found["best"] == {"configuration": best.configuration, "possibility": best.possibility, "ties": best.ties}


def test_the_network_is_told_with_a_place_for_every_card(clinic: Server) -> None:
    net = pn.load_example("clinic")
    for shape in ("wide", "tall"):
        found = clinic.ask(f"/api/network?shape={shape}").document
        assert (found["name"], found["conjunction"], found["edited"]) == ("clinic", "product", [])
        assert [(v["name"], tuple(v["states"])) for v in found["variables"]] == [
            (v.name, v.states) for v in net.variables
        ]
        assert {(edge["from"], edge["to"]) for edge in found["geometry"]["edges"]} == set(net.dag.edges)
        boxes = [(c["x"], c["y"], c["x"] + c["width"], c["y"] + c["height"]) for c in found["geometry"]["cards"]]
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
        told = server.ask("/api/edit", {"variable": "dysp", "rows": rows, "revision": 0}).document
        table = asia.table("dysp").reshape(4, 2).copy()
        table[[0, 3]] = [[1, 0.7], [0.25, 1]]
        first = asia.with_table("dysp", table.reshape(2, 2, 2))
        assert (told["edited"], told["touched"], told["undo"], told["redo"]) == (["dysp"], ["dysp"], True, False)
        assert now() == first
        given = {"xray": ["yes"]}
        found = server.ask("/api/answer", {"evidence": given}).document
        assert same(found["marginals"], pn.Inference(first).marginals({"xray": {"yes"}}))
        assert found["revision"] == 1
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
            assert server.ask("/api/history", {"step": step, "variable": variable, "revision": revision}).status == 200
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
        ("history", {"step": "undo", "revision": 0}, "no edit is left to undo"),
        ("history", {"step": "redo", "revision": 0}, "no edit is left to redo"),
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
    found = clinic.ask("/api/normalise", {"variable": "fever", "rows": rows}).document["rows"]
    assert np.array_equal(found, pn.normalise_tables({"fever": rows})["fever"])


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
    model = Session.of(pn.Network((a, b, c), dag, pn.normalise_tables(raw)))
    seen, start = [], 0
    while start < 300:
        page = read_table_page(model, "b", start)
        assert sum(len(row["degrees"]) for row in page["rows"]) <= 500
        seen += [row["degrees"] for row in page["rows"]]
        assert page["rows"][0]["context"] == [str(start)]
        start += len(page["rows"])
    assert np.array_equal(seen, model.network.table("b"))
    wide = read_table_page(model, "c", 3)
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


@pytest.mark.parametrize("path", [*FILES, "/api/network", "/api/download", "/nothing"])
def test_every_reply_is_guarded(clinic: Server, path: str) -> None:
    reply = clinic.ask(path)
    assert reply.status == (404 if path == "/nothing" else 200)
    assert reply.headers["content-security-policy"].startswith(SAFE)
    assert "frame-ancestors 'none'" in reply.headers["content-security-policy"]
    assert reply.headers["x-content-type-options"] == "nosniff"
    assert reply.headers["referrer-policy"] == "no-referrer"
    assert reply.headers["cache-control"] == "no-store"
    assert not reply.headers.keys() & {"set-cookie", "server", "access-control-allow-origin"}


@pytest.mark.parametrize(
    ("method", "path", "headers", "status"),
    [
        ("GET", "/", {"Host": "evil.example"}, 403),
        ("GET", "/", {"Host": "127.0.0.1"}, 403),
        ("GET", "/", {"Host": "127.0.0.1:1"}, 403),
        ("GET", "/", {"Host": "127.0.0.1.evil.example:{port}"}, 403),
        ("GET", "/", {"Host": "[::1]:{port}"}, 403),
        ("GET", "/", {"Host": ""}, 403),
        ("GET", "/", {"Host": "LOCALHOST:{port}"}, 200),
        ("GET", "/", {"Sec-Fetch-Site": "cross-site"}, 200),
        ("GET", "/app.js", {"Sec-Fetch-Site": "cross-site"}, 403),
        ("GET", "/app.js", {"Sec-Fetch-Site": "same-site"}, 403),
        ("GET", "/api/download", {"Sec-Fetch-Site": "cross-site"}, 403),
        ("GET", "/api/download", {"Sec-Fetch-Site": "none"}, 200),
        ("GET", "/api/network", {"Origin": "http://evil.example"}, 403),
        ("POST", "/api/answer", {"Origin": "http://127.0.0.1:{port}"}, 200),
        ("POST", "/api/answer", {"Origin": "http://localhost:{port}", "Sec-Fetch-Site": "same-origin"}, 200),
        ("POST", "/api/answer", {"Origin": "http://evil.example"}, 403),
        ("POST", "/api/answer", {"Origin": "https://127.0.0.1:{port}"}, 403),
        ("POST", "/api/answer", {"Origin": "http://127.0.0.1:1"}, 403),
        ("POST", "/api/answer", {"Origin": "null"}, 403),
        ("POST", "/api/answer", {"Sec-Fetch-Site": "cross-site"}, 403),
        ("POST", "/api/answer", {"Sec-Fetch-Site": "none"}, 403),
        ("POST", "/api/answer", {"Content-Type": "text/plain"}, 415),
        ("POST", "/api/answer", {"Content-Type": "application/x-www-form-urlencoded"}, 415),
        ("POST", "/api/answer", {"Content-Type": "application/json; charset=utf-8"}, 200),
        ("OPTIONS", "/api/answer", {"Origin": "http://evil.example"}, 403),
        ("OPTIONS", "/api/answer", {}, 405),
        ("PUT", "/api/answer", {}, 405),
        ("DELETE", "/", {}, 405),
        ("POST", "/", {}, 405),
        ("POST", "/app.js", {}, 405),
        ("GET", "/api/answer", {}, 405),
        ("TRACE", "/", {}, 405),
    ],
)
def test_only_its_own_page_may_ask(
    clinic: Server, method: str, path: str, headers: dict[str, str], status: int
) -> None:
    body = b'{"evidence": {}}' if method == "POST" else None
    told = {name.replace("-", "_"): value.format(port=clinic.port) for name, value in headers.items()}
    reply = clinic.ask(path, body, method=method, **told)
    assert reply.status == status
    assert status == 200 or set(reply.document) == {"error"}
    assert status != 405 or "allow" in reply.headers


@pytest.mark.parametrize(
    "path",
    [
        "/../serve.py",
        "/page/app.js",
        "/%2e%2e/serve.py",
        "/..%2fserve.py",
        "/%2e%2e%2f%2e%2e%2f%2e%2e%2f%2e%2e%2fetc/passwd",
        "//etc/passwd",
        "/app.js/",
        "/app.js%00.html",
        "/app.js%0d%0aX-Injected:%201",
        "/index.html",
        "/App.js",
        "/api",
        "/api/",
        "/api/answer/",
        "/.git/config",
        "/%ff%fe",
        "/\\..\\serve.py",
    ],
)
def test_only_its_own_files_are_served(clinic: Server, path: str) -> None:
    head = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{clinic.port}\r\nConnection: close\r\n\r\n"
    reply = clinic.raw(head.encode())
    assert reply.startswith((b"HTTP/1.1 404 ", b"HTTP/1.1 400 ")), reply[:200]
    assert b"root:" not in reply
    assert b"X-Injected" not in reply.partition(b"\r\n\r\n")[0]


def test_sizes_are_bounded(clinic: Server) -> None:
    host = f"Host: 127.0.0.1:{clinic.port}\r\nContent-Type: application/json\r\n"
    for length in ((1 << 20) + 1, 10**12):
        told = clinic.raw(f"POST /api/answer HTTP/1.1\r\n{host}Content-Length: {length}\r\n\r\n".encode())
        assert told.startswith(b"HTTP/1.1 413 ")
    assert clinic.ask("/api/answer", b" " * ((1 << 20) - 16) + b'{"evidence": {}}').status == 200
    chunk = b"8000\r\n" + b" " * 0x8000 + b"\r\n"
    head = f"POST /api/answer HTTP/1.1\r\n{host}Transfer-Encoding: chunked\r\n\r\n".encode()
    assert b" 413 " in clinic.raw(head + 32 * chunk + b"1\r\n \r\n")[:20]
    assert b" 400 " in clinic.raw(head + chunk + b"0\r\n\r\n")[:20]  # no JSON, but not too long
    assert clinic.ask("/?" + "x" * 3000).status == 414
    for lines in (b"X-Long: " + b"x" * 20_000 + b"\r\n\r\n", b"X-Many: 1\r\n" * 9000):
        told = clinic.raw(b"GET / HTTP/1.1\r\n" + lines)
        assert told[:12] in {b"HTTP/1.1 400", b"HTTP/1.1 431", b""}  # or closed at once
    assert clinic.ask("/").status == 200


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"\xff\xfe",
        b'{"evidence": {"\xff": []}}',
        b"[" * 200_000,
        b'{"evidence":' * 50_000,
        b'{"evidence": {"fever": ["mild"]}} x',
        b'{"evidence": NaN}',
        b"\x00" * 100,
    ],
)
def test_broken_json_is_said_to_be_broken(clinic: Server, body: bytes) -> None:
    reply = clinic.ask("/api/answer", body)
    assert reply.status in {400, 422}
    assert reply.document["error"].startswith("request: ")


_HEADS = st.sampled_from(
    [b"GET / HTTP/1.1\r\n", b"POST /api/answer HTTP/1.1\r\n", b"POST /api/edit HTTP/1.1\r\n", b"GET", b"\x16\x03\x01"]
)
_LINES = st.sampled_from(
    [
        b"Host: 127.0.0.1:%d\r\n",
        b"Content-Type: application/json\r\n",
        b"Content-Length: 40\r\n",
        b"Content-Length: -1\r\n",
        b"Transfer-Encoding: chunked\r\n",
        b"Upgrade: websocket\r\nConnection: Upgrade\r\n",
        b"Expect: 100-continue\r\n",
        b": nothing\r\n",
        b"\r\n",
        b'{"evidence": {"fever": ["mild"]}}',
        b"5\r\nhello\r\n0\r\n\r\n",
    ]
)


@settings(max_examples=60)
@given(st.lists(st.one_of(_HEADS, _LINES, st.binary(max_size=60)), max_size=8), st.booleans())
def test_garbage_is_survived(clinic: Server, parts: list[bytes], close: bool) -> None:
    content = b"".join(parts).replace(b"%d", str(clinic.port).encode())
    reply = clinic.raw(content, close=close, timeout=0.5)
    assert b"Traceback" not in reply
    assert clinic.ask("/api/network").document["revision"] == 0


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
            found = clinic.ask("/api/answer", {"evidence": evidence})
            if not same(found.document.get("marginals", {}), expected):
                wrong.append(found)

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


@pytest.mark.skipif(sys.platform != "linux", reason="reads Linux's table of sockets")
def test_only_the_loopback_address_is_bound(clinic: Server) -> None:
    wanted = f":{clinic.port:04X}"
    bound = [
        line.split()[1]
        for table in ("/proc/net/tcp", "/proc/net/tcp6")
        if Path(table).exists()
        for line in Path(table).read_text().splitlines()[1:]
        if line.split()[1].endswith(wanted) and line.split()[3] == "0A"
    ]
    assert bound == [f"0100007F{wanted}"]


@pytest.mark.parametrize(
    ("number", "code", "last"),
    [(signal.SIGINT, 130, "Stopped.\n"), (signal.SIGTERM, 143, ""), (signal.SIGHUP, 129, "")],
)
def test_the_readmes_command_runs_until_a_signal_ends_it_quietly(
    tmp_path: Path, number: int, code: int, last: str
) -> None:
    if signal.getsignal(number) == signal.SIG_IGN:
        pytest.skip("this shell ignores the signal, and so does the command")
    ((_, _, net),) = [words for words in readme_commands() if words[1] == "explore"]
    opener = tmp_path / "opener"
    opener.write_text(f'#!/bin/sh\necho "$1" >> {tmp_path}/opened\n')
    opener.chmod(0o755)
    with serving(net, "--port", "0", BROWSER=f"{opener} %s") as server:
        assert server.ask("/api/network").status == 200
        while not (tmp_path / "opened").exists():
            time.sleep(0.01)
        with socket.create_connection(("127.0.0.1", server.port)) as line:
            line.sendall(b"GET / HTTP/1.1\r\n")
            server.process.send_signal(number)
            out, told = server.process.communicate(timeout=20)
    assert server.process.returncode == code
    assert out == ""
    assert told == f"Open this address in a browser on this machine; Ctrl-C ends it.\n{last}"
    assert (tmp_path / "opened").read_text() == f"http://127.0.0.1:{server.port}/\n"


def test_a_port_in_use_is_told_and_the_default_gives_way(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        shown = run("explore", "clinic", "--port", str(port), "--no-browser")
        assert shown.returncode == 1
        assert (
            shown.stderr == f"Error: port {port} is in use; expected a free one. Leave the port out, and one is found\n"
        )
        monkeypatch.setattr(serve, "PORT", port)
        told: list[str] = []

        def enough(address: str) -> None:
            told.append(address)
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            explore(pn.load_example("clinic"), open_browser=False, announce=enough)
    assert told
    assert not told[0].endswith(f":{port}/")
    assert run("explore", "clinic", "--port", "99999").returncode == 2


def test_without_the_extra_one_line_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    shown = run("explore", "clinic", "--no-browser")
    assert shown.returncode == 1
    assert len(shown.stderr.splitlines()) == 1
    assert "pip install 'possnet[web]'" in shown.stderr


def called(app: Any, path: str, host: str) -> tuple[int, Any]:
    """The reply of an application to a GET, without a server."""
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> Any:
        return {"type": "http.request", "body": b"", "more_body": False}

    head = [(b"host", host.encode())]
    scope = {
        "type": "http",
        "method": "GET",
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "headers": head,
    }
    asyncio.run(app(scope, receive, send))
    return sent[0]["status"], json.loads(sent[1]["body"])


def test_a_mistake_of_ours_is_one_line_and_no_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(_: object) -> None:
        raise KeyError("oh\nno")

    guarded = build_application(pn.load_example("clinic"), 80)
    assert called(guarded, "/api/network", "localhost")[1]["name"] == "clinic"
    monkeypatch.setattr("possnet.explorer.app.summary", broken)
    status, document = called(guarded, "/api/network", "127.0.0.1:80")
    assert (status, document["error"][:22]) == (500, "possnet made a mistake")
    assert capsys.readouterr().err == "explore: '/api/network': KeyError: 'oh\\nno'\n"
    guarded.inside = 32
    assert called(guarded, "/api/network", "127.0.0.1:80")[0] == 503


def test_half_a_request_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[Any] = []
    startup = uvicorn_server._QuietServer.startup

    async def starting(self: Any, sockets: Any = None) -> None:
        started.append(self)
        await startup(self, sockets)

    monkeypatch.setattr(uvicorn_server._QuietServer, "startup", starting)
    monkeypatch.setattr(uvicorn_server, "_PATIENCE", 0.05)
    monkeypatch.setattr(request_guard, "_PATIENCE", 0.05)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        thread = threading.Thread(target=uvicorn_server.serve, args=(pn.load_example("clinic"), listener))
        thread.start()
        head = f"POST /api/answer HTTP/1.1\r\nHost: localhost:{port}\r\nContent-Type: application/json\r\n"
        for content, reply in (
            (b"", b""),
            (b"GET /", b""),
            (f"{head}Content-Length: 9\r\n\r\n{{".encode(), b"HTTP/1.1 408"),
        ):
            with socket.create_connection(("127.0.0.1", port), timeout=20) as line:
                line.sendall(content)
                assert line.recv(12) == reply
        started[0].should_exit = True
        thread.join()


def test_help_does_not_load_the_server() -> None:
    script = "import sys, possnet.cli, possnet.explorer; print({'starlette', 'uvicorn', 'numpy', 'msgspec'} & set(sys.modules))"
    shown = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert shown.stdout == "set()\n"

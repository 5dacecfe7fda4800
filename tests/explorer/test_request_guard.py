"""The explorer's server answers its own page only, on this machine only, whatever else comes in."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st
from starlette.datastructures import Headers

import possnet as pn
from possnet.explorer.access_token import AccessToken
from possnet.explorer.app import build_application
from possnet.explorer.session import Session
from tests.serving import Server

SAFE = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:"
FILES = [
    "/",
    "/style.css",
    "/panel.css",
    "/colours.css",
    "/app.js",
    "/marks.css",
    "/graph.js",
    "/editor.js",
    "/view.js",
]


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


@pytest.mark.parametrize("path", [*FILES, "/api/network", "/api/download", "/api/answer", "/nothing", "/api/edit"])
@pytest.mark.parametrize(
    "head",
    [
        {},
        {"Cookie": "possnet-{port}="},
        {"Cookie": "possnet-{port}={wrong}"},
        {"Cookie": "possnet={token}; possnet-1={token}; token={token}"},
        {"Cookie": "x" * 4000},
        {"Authorization": "token {token}"},
        {"Referer": "http://127.0.0.1:{port}/?token={token}"},
    ],
)
def test_without_the_token_there_is_nothing_to_see(clinic: Server, path: str, head: dict[str, str]) -> None:
    wrong = clinic.token[:-1] + ("0" if clinic.token[-1] != "0" else "1")
    sent = {name: text.format(port=clinic.port, token=clinic.token, wrong=wrong) for name, text in head.items()}
    for method in ("GET", "POST", "HEAD", "OPTIONS"):
        reply = clinic.ask(path, b"{}" if method == "POST" else None, method=method, **{"Cookie": ""} | sent)
        assert reply.status == 403
        assert "set-cookie" not in reply.headers
        assert method == "HEAD" or reply.document["error"].startswith("request: no token; open the whole address")
    assert clinic.ask(f"{path}?token={wrong}", Cookie="").status == 403
    assert (
        path == "/" or clinic.ask(f"{path}?token={clinic.token}", Cookie="").status == 403
    )  # only the page is opened so


def test_the_printed_address_opens_the_page_and_leaves_a_cookie(clinic: Server) -> None:
    assert len(bytes.fromhex(clinic.token)) == 32
    reply = clinic.ask(f"/?token={clinic.token}", Cookie="")
    assert reply.status == 200
    assert reply.headers["set-cookie"] == f"{clinic.cookie}; HttpOnly; SameSite=Strict; Path=/"
    assert clinic.ask("/", Cookie=reply.headers["set-cookie"].partition(";")[0]).status == 200
    assert clinic.ask("/", Cookie=f"other=1; {clinic.cookie}").status == 200


def test_no_two_explorers_share_a_token() -> None:
    tokens = [AccessToken(8642).text for _ in range(100)]
    assert len(set(tokens)) == 100


def test_tokens_are_compared_in_constant_time(monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[tuple[bytes, bytes]] = []

    def compare(first: bytes, second: bytes) -> bool:
        compared.append((first, second))
        return False

    monkeypatch.setattr("possnet.explorer.access_token.secrets.compare_digest", compare)
    token = AccessToken(8642)
    assert not token.is_in_query(f"token={token.text}".encode())
    assert not token.is_in_cookies(Headers({"cookie": f"possnet-8642={token.text}"}))
    assert compared == [(token.text.encode(), token.text.encode())] * 2


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
    sent = {name.replace("-", "_"): value.format(port=clinic.port) for name, value in headers.items()}
    reply = clinic.ask(path, body, method=method, **sent)
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
    host = f"Host: 127.0.0.1:{clinic.port}\r\nCookie: {clinic.cookie}\r\n"
    head = f"GET {path} HTTP/1.1\r\n{host}Connection: close\r\n\r\n"
    reply = clinic.raw(head.encode())
    assert reply.startswith((b"HTTP/1.1 404 ", b"HTTP/1.1 400 ")), reply[:200]
    assert b"root:" not in reply
    assert b"X-Injected" not in reply.partition(b"\r\n\r\n")[0]


def test_sizes_are_bounded(clinic: Server) -> None:
    host = f"Host: 127.0.0.1:{clinic.port}\r\nCookie: {clinic.cookie}\r\nContent-Type: application/json\r\n"
    for length in ((1 << 20) + 1, 10**12):
        reply = clinic.raw(f"POST /api/answer HTTP/1.1\r\n{host}Content-Length: {length}\r\n\r\n".encode())
        assert reply.startswith(b"HTTP/1.1 413 ")
    assert clinic.ask("/api/answer", b" " * ((1 << 20) - 16) + b'{"evidence": {}}').status == 200
    chunk = b"8000\r\n" + b" " * 0x8000 + b"\r\n"
    head = f"POST /api/answer HTTP/1.1\r\n{host}Transfer-Encoding: chunked\r\n\r\n".encode()
    assert b" 413 " in clinic.raw(head + 32 * chunk + b"1\r\n \r\n")[:20]
    assert b" 400 " in clinic.raw(head + chunk + b"0\r\n\r\n")[:20]  # no JSON, but not too long
    assert clinic.ask("/?" + "x" * 3000).status == 414
    for lines in (b"X-Long: " + b"x" * 20_000 + b"\r\n\r\n", b"X-Many: 1\r\n" * 9000):
        reply = clinic.raw(b"GET / HTTP/1.1\r\n" + lines)
        assert reply[:12] in {b"HTTP/1.1 400", b"HTTP/1.1 431", b""}  # or closed at once
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
        b"Cookie: %c\r\n",
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
    content = b"".join(parts).replace(b"%d", str(clinic.port).encode()).replace(b"%c", clinic.cookie.encode())
    reply = clinic.raw(content, close=close, timeout=0.5)
    assert b"Traceback" not in reply
    assert clinic.ask("/api/network").document["revision"] == 0


@pytest.mark.skipif(sys.platform != "linux", reason="reads Linux's table of sockets")
def test_only_the_loopback_address_is_bound(clinic: Server) -> None:
    wanted = f":{clinic.port:04X}"
    bound = [
        line.split()[1]
        for table in ("/proc/net/tcp", "/proc/net/tcp6")
        if Path(table).exists()
        for line in Path(table).read_text(encoding="utf-8").splitlines()[1:]
        if line.split()[1].endswith(wanted) and line.split()[3] == "0A"
    ]
    assert bound == [f"0100007F{wanted}"]


def called(app: Any, path: str, host: str) -> tuple[int, Any]:
    """The reply of an application to a GET, without a server."""
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> Any:
        return {"type": "http.request", "body": b"", "more_body": False}

    head = [(b"host", host.encode()), (b"cookie", f"{app.token.cookie}={app.token.text}".encode())]
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

    guarded = build_application(Session.from_network(pn.load_example("clinic")), 80, Path())
    assert called(guarded, "/api/network", "localhost")[1]["name"] == "clinic"
    monkeypatch.setattr("possnet.explorer.network_page.summarise_session", broken)
    status, document = called(guarded, "/api/network", "127.0.0.1:80")
    assert (status, document["error"][:22]) == (500, "possnet made a mistake")
    assert capsys.readouterr().err == "explore: '/api/network': KeyError: 'oh\\nno'\n"
    guarded.inside = 32
    assert called(guarded, "/api/network", "127.0.0.1:80")[0] == 503

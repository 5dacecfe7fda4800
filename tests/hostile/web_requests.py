"""Requests to the explorer, written as text: a line of method and address, headers, an empty line, and a body.

The application is called as uvicorn calls it, without a socket. Every request is answered once, by something else than an
error of the server; nothing is printed.
"""

from __future__ import annotations

import asyncio
import io
import json
from collections.abc import Sequence
from contextlib import redirect_stderr
from functools import cache
from random import Random
from typing import Any, get_args, get_origin, get_type_hints

import possnet as pn
from possnet.explorer.app import TABLES, build_application
from possnet.explorer.routes import Exchange
from possnet.explorer.session import Session
from tests.hostile.mutators import change_tree, mutate_text
from tests.hostile.readers import Reader, workplace

_PORT = 8642
_RENEWED = 500  # requests that one application answers
_WORDS = (
    b"GET", b"POST", b"HEAD", b"PUT", b"/api/answer", b"/api/", b"/", b"/../x", b"//", b"%2e%2e", b"%00", b"Host: evil", b"Origin: null",
    b"Sec-Fetch-Site: cross-site", b"Content-Length: 5", b"Content-Type: text/plain", b"Cookie: a=b", b"{}", b"null", b'"fever"', b'"high"', b"\n\n",
)  # fmt: skip


class _Application:
    """The explorer of the bundled clinic, and how many requests it has answered."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self.renew()

    def renew(self) -> None:
        folder = workplace() / "explored"
        folder.mkdir(exist_ok=True)
        self.guard = build_application(Session.from_network(pn.load_example("clinic")), _PORT, folder)
        self.answered = 0


@cache
def _application() -> _Application:
    return _Application()


def _example_value(kind: Any, name: str) -> Any:
    """A value of the type of a field, such as a page might send."""
    origin, inside = get_origin(kind), get_args(kind)
    if origin in {list, tuple}:
        return [_example_value(inside[0], name)] if inside else []
    if origin is dict:
        key = "fever" if inside[0] is str else 0
        return {key: ["high"] if name == "evidence" else _example_value(inside[1], name)}
    if inside:  # a union, or words to choose from
        return inside[0] if isinstance(inside[0], str) else _example_value(inside[0], name)
    texts = {"variable": "fever", "target": "flu", "text": "high", "name": "fever"}
    return {str: texts.get(name, "fever"), int: 0, float: 1.0, bool: False}.get(kind)


def write_request(address: str, body: bytes | None = None) -> bytes:
    """A request as the page sends it; TOKEN stands for the token of the application."""
    head = f"{'GET' if body is None else 'POST'} {address}\nHost: 127.0.0.1:{_PORT}\nCookie: possnet-{_PORT}=TOKEN\n"
    return head.encode() + b"Content-Type: application/json\n\n" + (body or b"")


def seed_requests() -> list[bytes]:
    """The page, its files, and a request to every route."""
    seeds = [write_request("/?token=TOKEN"), write_request("/colours.css"), write_request("/api/nothing")]
    for route in (route for table in TABLES for route in table):
        if isinstance(route, Exchange):
            seeds.append(write_request(f"/api/{route.name}", None if route.method == "GET" else b"{}"))
            continue
        hints = get_type_hints(route.kind)
        message = {name: _example_value(kind, name) for name, kind in hints.items()}
        seeds.append(write_request(f"/api/{route.name}", json.dumps(message).encode()))
    return seeds


def mutate_request(content: bytes, others: Sequence[bytes], words: Sequence[bytes], rng: Random) -> bytes:
    """The body changed as a tree of JSON, or the text of the request."""
    head, gap, body = content.partition(b"\n\n")
    if body and rng.random() < 0.7:
        try:
            tree = change_tree(json.loads(body), rng)
            return head + gap + json.dumps(tree).encode(errors="surrogatepass")
        except (ValueError, RecursionError, OverflowError):
            pass
    return mutate_text(content, others, words, rng)


def _parse_request(content: bytes) -> tuple[dict[str, Any], bytes]:
    """What uvicorn would make of a request: it decodes the path, and lets no control characters into headers."""
    from urllib.parse import unquote_to_bytes

    head, _, body = content.partition(b"\n\n")
    first, *lines = head.split(b"\n")
    method, _, address = first.partition(b" ")
    path, _, query = address.strip().partition(b"?")
    raw_path = path if path.startswith(b"/") else b"/" + path
    pairs = [line.partition(b":") for line in lines if b":" in line]
    headers = [(name.strip().lower(), value.strip(b" \r\0")) for name, _, value in pairs]
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": method.decode("latin-1").upper() or "GET",
        "scheme": "http",
        "path": unquote_to_bytes(raw_path).decode(errors="replace"),
        "raw_path": raw_path,
        "query_string": query,
        "root_path": "",
        "headers": headers,
        "client": ("127.0.0.1", 50_000),
        "server": ("127.0.0.1", _PORT),
    }
    return scope, body


async def _ask(guard: Any, scope: dict[str, Any], body: bytes) -> list[dict[str, Any]]:
    sent: list[dict[str, Any]] = []
    parts: list[dict[str, Any]] = [
        {"type": "http.request", "body": body, "more_body": False},
        {"type": "http.disconnect"},
    ]

    async def receive() -> dict[str, Any]:
        if len(parts) > 1:
            return parts.pop(0)
        await asyncio.sleep(3600)  # the client stays
        return parts[0]

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    await guard(scope, receive, send)
    return sent


def check_request(content: bytes, thorough: bool) -> bool:
    """Answer a request; an error of the server is a failure. Now and then the application must still answer the page."""
    application = _application()
    if application.answered >= _RENEWED:
        application.renew()
    application.answered += 1
    token = application.guard.token.text.encode()
    scope, body = _parse_request(content.replace(b"TOKEN", token))
    printed = io.StringIO()
    with redirect_stderr(printed):
        sent = application.loop.run_until_complete(_ask(application.guard, scope, body))
    assert not printed.getvalue(), f"printed: {printed.getvalue()[:200]}"
    starts = [message for message in sent if message["type"] == "http.response.start"]
    assert len(starts) == 1, f"{len(starts)} replies"
    status = starts[0]["status"]
    assert status < 500, f"status {status}: {sent[1].get('body', b'')[:200]!r}"
    if thorough:
        scope, body = _parse_request(write_request("/?token=TOKEN").replace(b"TOKEN", token))
        again = application.loop.run_until_complete(_ask(application.guard, scope, body))
        assert again[0]["status"] == 200, "the page is not answered any more"
    return bool(status < 400)


HTTP = Reader("http", "requests to the explorer", seed_requests, _WORDS, check_request, mutate_request, 2_000)

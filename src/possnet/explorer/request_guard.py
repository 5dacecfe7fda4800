"""Who may ask, and how much: every request passes here first.

A page on the web must not reach a server on this machine. A name that is made to point here (DNS rebinding) shows in
``Host``; a form, a script or a picture on another site shows in ``Origin`` or ``Sec-Fetch-Site``. Only the page itself may
be opened from anywhere, by a link. What comes in is bounded: the head by uvicorn and here, the body here, both in time.
"""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING, Final

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from possnet.errors import ImpossibleEvidence, PossnetError, TooLarge
from possnet.explorer.request_types import RefusedRequest, encode_json

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.types import ASGIApp, Receive, Scope, Send

MOST_BODY: Final = 1 << 20
_MOST_HEAD: Final = 1 << 14
_MOST_PATH: Final = 2000
_MOST_AT_ONCE: Final = 32
_PATIENCE: Final = 10.0
_KINDS: Final[Mapping[type, str]] = {ImpossibleEvidence: "impossible", TooLarge: "too-large"}
HEADERS: Final[Mapping[str, str]] = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}


class RequestGuard:
    """An application that only its own page may ask, on this machine, a few requests at a time."""

    def __init__(self, app: ASGIApp, port: int) -> None:
        self.app = app
        self.hosts = {f"{name}:{port}" for name in ("127.0.0.1", "localhost")}
        if port == 80:
            self.hosts |= {"127.0.0.1", "localhost"}
        self.inside = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, whatever happens."""
        if scope["type"] != "http":
            return
        self.inside += 1
        try:
            self._check_request(scope)
            await self.app(scope, receive, send)
        except RefusedRequest as error:
            await error_response(error)(scope, receive, send)
        except Exception as error:  # noqa: BLE001 - answered already; here it is one line on the terminal
            print(f"explore: {scope['path']!r}: {type(error).__name__}: {error}"[:300], file=sys.stderr)  # noqa: T201
        finally:
            self.inside -= 1

    def _check_request(self, scope: Scope) -> None:
        """Refuse what no page of ours would send."""
        head = scope["headers"]
        if sum(len(name) + len(value) for name, value in head) > _MOST_HEAD:
            raise RefusedRequest(431, f"request: more than {_MOST_HEAD} bytes of headers")
        if len(scope["raw_path"]) + len(scope["query_string"]) > _MOST_PATH:
            raise RefusedRequest(414, f"request: an address of more than {_MOST_PATH} bytes")
        given = {name.decode("latin-1"): value.decode("latin-1") for name, value in head}
        host = given.get("host", "")
        if host.lower() not in self.hosts:
            raise RefusedRequest(403, f"request: Host {host[:80]!r}; expected {' or '.join(sorted(self.hosts))}")
        if scope["method"] == "GET" and scope["path"] == "/":
            return
        origin, site = given.get("origin"), given.get("sec-fetch-site", "same-origin")
        if origin is not None and origin.lower() not in {f"http://{name}" for name in self.hosts}:
            raise RefusedRequest(403, f"request: Origin {origin[:80]!r}; expected the explorer's own page")
        if site not in {"same-origin", "none"} or (site == "none" and scope["method"] != "GET"):
            raise RefusedRequest(403, f"request: from a page that is {site[:20]}; expected the explorer's own page")
        if self.inside > _MOST_AT_ONCE:
            raise RefusedRequest(
                503, f"request: {_MOST_AT_ONCE} others are being answered; try again", {"Retry-After": "1"}
            )


async def read_body(request: Request) -> bytes:
    """The body of a JSON request, within a size and a time."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise RefusedRequest(415, f"request: content type {kind[:80]!r}; expected 'application/json'")
    told = request.headers.get("content-length", "0")
    if told.isdigit() and int(told) > MOST_BODY:
        raise RefusedRequest(413, f"request: {told[:20]} bytes; expected at most {MOST_BODY}", {"Connection": "close"})
    body = bytearray()
    try:
        async with asyncio.timeout(_PATIENCE):
            async for part in request.stream():
                body += part
                if len(body) > MOST_BODY:
                    raise RefusedRequest(413, f"request: more than {MOST_BODY} bytes", {"Connection": "close"})
    except TimeoutError:
        raise RefusedRequest(408, f"request: not whole after {_PATIENCE:g} seconds", {"Connection": "close"}) from None
    return bytes(body)


def error_response(error: Exception) -> Response:
    """What the page gets for an error: a status, and one sentence."""
    headers, document = dict(HEADERS), {"error": "possnet made a mistake in answering this; the network is as before"}
    status = 500
    if isinstance(error, PossnetError):
        status, document = 422, {"error": str(error), "kind": _KINDS.get(type(error), "input")}
    elif isinstance(error, RefusedRequest):
        status, document = error.status, {"error": str(error)}
        headers |= error.headers
    elif isinstance(error, HTTPException):
        status, document = error.status_code, {"error": f"request: {error.detail.lower()}"}
        headers |= error.headers or {}
    elif isinstance(error, ClientDisconnect):
        status = 400  # nobody reads it
    return Response(encode_json(document), status, headers, "application/json")

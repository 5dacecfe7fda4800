"""Who may ask, and how much: every request passes here first, and every reply leaves here.

Another account on this machine must not reach a network that is not its own: the page is opened with a token, and
everything else needs the cookie that the page was answered with (`possnet.explorer.access_token`).

A page on the web must not reach a server on this machine. A name that is made to point here (DNS rebinding) shows in
``Host``; a form, a script or a picture on another site shows in ``Origin`` or ``Sec-Fetch-Site``. Only the page itself may
be opened from anywhere, by a link that holds the token. What comes in is bounded: the head by uvicorn and here, the
body here, both in time.

Starlette's ``TrustedHostMiddleware`` does not look at the port of ``Host``, and nothing in it bounds a body.
"""

from __future__ import annotations

import asyncio
import json
import sys
from typing import TYPE_CHECKING, Any, Final, TypeVar

import msgspec
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from possnet.errors import ImpossibleEvidence, InputError, PossnetError, TooLarge
from possnet.io import explain_mismatch

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from possnet.explorer.access_token import AccessToken

Struct = TypeVar("Struct", bound=msgspec.Struct)
_MOST_BODY: Final = 1 << 20
_MOST_HEAD: Final = 1 << 14
_MOST_PATH: Final = 2000
_MOST_AT_ONCE: Final = 32
_PATIENCE: Final = 10.0
_CLOSE: Final = {"Connection": "close"}
_ERROR_KINDS: Final[Mapping[type, str]] = {ImpossibleEvidence: "impossible", TooLarge: "too-large"}
_HEADERS: Final = {
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

    def __init__(self, app: ASGIApp, port: int, token: AccessToken, close: Callable[[], None] | None = None) -> None:
        self.app = app
        self.token = token
        self.close = close or (lambda: None)
        self.hosts = {f"{name}:{port}" for name in ("127.0.0.1", "localhost")}
        if port == 80:
            self.hosts |= {"127.0.0.1", "localhost"}
        self.inside = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, whatever happens."""
        if scope["type"] != "http":
            return

        opened = False

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(_HEADERS)
                if opened:
                    MutableHeaders(scope=message)["Set-Cookie"] = self.token.header
            await send(message)

        self.inside += 1
        try:
            opened = self._check_request(scope)
            await self.app(scope, receive, send_guarded)
        except HTTPException as error:
            await error_response(error)(scope, receive, send_guarded)
        except Exception as error:  # noqa: BLE001 - answered already; here it is one line on the terminal
            print(f"explore: {scope['path']!r}: {type(error).__name__}: {error}"[:300], file=sys.stderr)  # noqa: T201
        finally:
            self.inside -= 1

    def _check_request(self, scope: Scope) -> bool:
        """Refuse what no page of ours would send; whether the page is opened with the token."""
        if sum(len(name) + len(value) for name, value in scope["headers"]) > _MOST_HEAD:
            raise HTTPException(431, f"more than {_MOST_HEAD} bytes of headers")
        if len(scope["raw_path"]) + len(scope["query_string"]) > _MOST_PATH:
            raise HTTPException(414, f"an address of more than {_MOST_PATH} bytes")
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if host.lower() not in self.hosts:
            raise HTTPException(403, f"Host {host[:80]!r}; expected {' or '.join(sorted(self.hosts))}")
        if scope["method"] in {"GET", "HEAD"} and scope["path"] == "/":
            opened = self.token.is_in_query(scope["query_string"])
            self._require_token(opened or self.token.is_in_cookies(headers))
            return opened
        self._require_token(self.token.is_in_cookies(headers))
        origin, site = headers.get("origin"), headers.get("sec-fetch-site", "same-origin")
        if origin is not None and origin.lower() not in {f"http://{name}" for name in self.hosts}:
            raise HTTPException(403, f"Origin {origin[:80]!r}; expected the explorer's own page")
        if site not in {"same-origin", "none"} or (site == "none" and scope["method"] != "GET"):
            raise HTTPException(403, f"from a page that is {site[:20]}; expected the explorer's own page")
        if self.inside > _MOST_AT_ONCE:
            raise HTTPException(503, f"{_MOST_AT_ONCE} others are being answered; try again", {"Retry-After": "1"})
        return False

    @staticmethod
    def _require_token(present: bool) -> None:  # noqa: FBT001
        if not present:
            raise HTTPException(403, "no token; open the whole address that possnet explore printed")


async def read_message(request: Request, kind: type[Struct]) -> Struct:
    """The body of a JSON request, within a size and a time, checked against its type."""
    content_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if content_type != "application/json":
        raise HTTPException(415, f"content type {content_type[:80]!r}; expected 'application/json'")
    body = bytearray()
    await receive_body(request, body.extend, most=_MOST_BODY, patience=_PATIENCE)
    return decode_message(bytes(body), kind)


async def receive_body(
    request: Request, keep: Callable[[bytes], object], *, most: int, patience: float = _PATIENCE
) -> None:
    """Hand the parts of a request's body to ``keep`` as they come, within a size in bytes and a time in seconds."""
    length = request.headers.get("content-length", "0")
    if length.isdigit() and int(length) > most:
        raise HTTPException(413, f"{length[:20]} bytes; expected at most {most}", _CLOSE)
    received = 0
    try:
        async with asyncio.timeout(patience):
            async for part in request.stream():
                received += len(part)
                if received > most:
                    raise HTTPException(413, f"more than {most} bytes", _CLOSE)
                keep(part)
    except TimeoutError:
        raise HTTPException(408, f"not whole after {patience:g} seconds", _CLOSE) from None


def decode_message(body: bytes, kind: type[Struct]) -> Struct:
    """A message of its bytes.

    >>> from possnet.explorer.request_types import TableRequest
    >>> decode_message(b'{"variable": "fever"}', TableRequest).variable
    'fever'
    """
    try:
        return msgspec.json.decode(body, type=kind)
    except msgspec.ValidationError as error:
        raise InputError(f"request: {explain_mismatch(str(error))}") from None
    except msgspec.DecodeError as error:
        reason = str(error)
        raise HTTPException(400, f"{reason[:1].lower()}{reason[1:]}; expected JSON") from None
    except UnicodeDecodeError:
        raise HTTPException(400, "not UTF-8 text; expected JSON") from None
    except RecursionError:
        raise HTTPException(400, "nested too deeply; expected flat JSON") from None


def json_response(document: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """A reply in JSON, in plain ASCII, so that no name can break it."""
    text = json.dumps(document, allow_nan=False, separators=(",", ":"))
    return Response(text.encode("ascii"), status, headers, "application/json")


def error_response(error: Exception) -> Response:
    """The reply to a request that failed: a status, and one sentence."""
    if isinstance(error, PossnetError):
        kind = getattr(error, "kind", _ERROR_KINDS.get(type(error), "input"))
        return json_response({"error": str(error), "kind": kind}, 422)
    if isinstance(error, HTTPException):
        return json_response({"error": f"request: {error.detail}"}, error.status_code, error.headers)
    status = 400 if isinstance(error, ClientDisconnect) else 500  # nobody reads the former
    return json_response({"error": "possnet made a mistake in answering this; the network is as before"}, status)

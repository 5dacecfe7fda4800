"""The paths of the explorer: its own files, the network, answers, and edits."""

from __future__ import annotations

import asyncio
import re
import threading
from concurrent.futures import Future
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.routing import Route

from possnet.drawing import COLOURS, css_colours
from possnet.errors import PossnetError
from possnet.explorer import request_types as types, session as sessions
from possnet.explorer.card_layout import Shape, compute_card_layout
from possnet.explorer.request_guard import RequestGuard, error_response, json_response, read_message
from possnet.io import encode_network

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.requests import Request

    from possnet.explorer.session import Session
    from possnet.network import Network

Value = TypeVar("Value")
_PAGE: Final = Path(__file__).parent / "page"
_CONTENT_TYPES: Final = {".html": "text/html", ".css": "text/css", ".js": "text/javascript"}


def build_application(network: Network, port: int) -> RequestGuard:
    """The ASGI application that explores a network, behind its guard."""
    explorer = Explorer(network)
    replies: dict[str, Callable[[Request], Any]] = {
        "answer": explorer.send_answer,
        "questions": explorer.send_questions,
        "table": partial(explorer.look_up, types.TableRequest, sessions.read_table_page),
        "normalise": partial(explorer.look_up, types.NormaliseRequest, sessions.normalise_rows),
        "reading": partial(explorer.look_up, types.ReadingRequest, sessions.read_number),
        "edit": partial(explorer.change_session, types.EditRequest, sessions.edit_table),
        "history": partial(explorer.change_session, types.HistoryRequest, sessions.step_history),
    }
    routes = [
        *(Route(path, partial(_send_file, *file)) for path, file in _read_files().items()),
        Route("/api/network", explorer.send_network),
        Route("/api/download", explorer.send_download),
        *(Route(f"/api/{name}", reply, methods=["POST"]) for name, reply in replies.items()),
    ]
    errors = dict.fromkeys((PossnetError, HTTPException, ClientDisconnect, Exception), _send_error)
    app = Starlette(routes=routes, exception_handlers=cast("Any", errors))
    app.router.redirect_slashes = False
    return RequestGuard(app, port)


async def _send_error(_: Request, error: Exception) -> Response:
    return error_response(error)


def _read_files() -> dict[str, tuple[bytes, str]]:
    """Path -> content and type of every file that is served: those of the page, and the colours of all drawings."""
    light, dark = css_colours(COLOURS)
    colours = f":root{{color-scheme:light dark;{light}}}@media (prefers-color-scheme:dark){{:root{{{dark}}}}}"
    files = {"/colours.css": (colours.encode(), "text/css")}
    for file in _PAGE.iterdir():
        if file.suffix in _CONTENT_TYPES:
            path = "/" if file.name == "index.html" else f"/{file.name}"
            files[path] = (file.read_bytes(), _CONTENT_TYPES[file.suffix])
    return files


async def _send_file(content: bytes, content_type: str, _: Request) -> Response:
    return Response(content, media_type=f"{content_type}; charset=utf-8")


class Explorer:
    """What the paths do; ``session`` is replaced as a whole, and only here."""

    def __init__(self, network: Network) -> None:
        self.session = sessions.Session.from_network(network)
        self.layouts: dict[Shape, dict[str, Any]] = {}
        self.lock = asyncio.Lock()

    async def send_network(self, request: Request) -> Response:
        """Names, states and edges, and where to draw them."""
        shape: Shape = "tall" if request.query_params.get("shape") == "tall" else "wide"
        session = self.session
        network = session.network
        if shape not in self.layouts:
            self.layouts[shape] = await self._run_exclusively(request, partial(compute_card_layout, network, shape))
        variables = [
            {
                "name": v.name,
                "states": v.states,
                "ordered": v.ordered,
                "bins": None if v.bins is None else {"text": v.bins.describe(), "unit": v.bins.unit},
                "parents": network.dag.parents(v.name),
                "children": network.dag.children(v.name),
            }
            for v in network.variables
        ]
        return json_response(
            {
                "name": network.name,
                "description": network.description,
                "conjunction": network.conjunction.name,
                "bounded": network.bounds is not None,
                "variables": variables,
                "geometry": self.layouts[shape],
                **sessions.summarise_session(session),
            }
        )

    async def send_download(self, request: Request) -> Response:
        """The network as it is now, as a file."""
        network = self.session.network
        text = await self._run_exclusively(request, partial(encode_network, network))
        name = re.sub(r"[^A-Za-z0-9_-]+", "-", network.name).strip("-")[:60] or "network"
        return Response(text, 200, {"Content-Disposition": f'attachment; filename="{name}.json"'}, "application/json")

    async def send_answer(self, request: Request) -> Response:
        """Marginals given evidence: the only reply that takes long."""
        message = await read_message(request, types.AnswerRequest)
        work = partial(sessions.answer_evidence, self.session, message)
        return json_response(await self._run_exclusively(request, work))

    async def send_questions(self, request: Request) -> Response:
        """What asking each unknown variable would settle, with every answer's outcome: previews for the pointer."""
        message = await read_message(request, types.QuestionsRequest)
        work = partial(sessions.rank_questions, self.session, message)
        return json_response(await self._run_exclusively(request, work))

    async def look_up(self, kind: Any, read: Callable[[Session, Any], dict[str, Any]], request: Request) -> Response:
        """What a function of `possnet.explorer.session` reads from the session for a message, at once."""
        return json_response(read(self.session, await read_message(request, kind)))

    async def change_session(self, kind: Any, change: Callable[[Session, Any], Session], request: Request) -> Response:
        """Replace the session by its successor; status 409 if another window has replaced it meanwhile."""
        message = await read_message(request, kind)
        old = self.session
        if message.revision == old.revision:
            new = await self._run_exclusively(request, partial(change, old, message))
            if self.session is old:
                self.session = new
                return json_response(sessions.summarise_session(new))
        raise HTTPException(409, "the network was edited in another window meanwhile; look at it again first")

    async def _run_exclusively(self, request: Request, work: Callable[[], Value]) -> Value:
        """The result of some work, done in a thread; one at a time, and not at all for a client that has gone."""
        async with self.lock:
            if await request.is_disconnected():
                raise HTTPException(408, "client disconnected before its turn")
            return await _run_in_thread(work)


async def _run_in_thread(work: Callable[[], Value]) -> Value:
    """The result of some work in a daemon thread, which does not keep the command from ending as a pool's would."""
    done: Future[Value] = Future()
    done.set_running_or_notify_cancel()  # so that nobody cancels what is being done

    def run() -> None:
        try:
            done.set_result(work())
        except BaseException as error:  # noqa: BLE001 - raised again where it is awaited
            done.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    return await asyncio.wrap_future(done)

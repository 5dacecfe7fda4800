"""The paths of the explorer: its own files, the network, answers, and edits."""

from __future__ import annotations

import asyncio
import re
import threading
from concurrent.futures import Future
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.routing import Route

from possnet.drawing import COLOURS, css_colours
from possnet.errors import PossnetError
from possnet.explorer.card_layout import Shape, compute_card_layout
from possnet.explorer.request_guard import HEADERS, RequestGuard, error_response, read_body
from possnet.explorer.request_types import (
    AnswerRequest,
    EditRequest,
    HistoryRequest,
    NormaliseRequest,
    RefusedRequest,
    TableRequest,
    decode_request,
    encode_json,
)
from possnet.explorer.session import Session, answer, edit_table, normalise_rows, read_table_page, step_history, summary
from possnet.io import encode_network

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.requests import Request

    from possnet.network import Network

Value = TypeVar("Value")
_PAGE: Final = Path(__file__).parent / "page"
_KINDS: Final = {".html": "text/html", ".css": "text/css", ".js": "text/javascript"}


def build_application(network: Network, port: int) -> RequestGuard:
    """The whole application for a network, guarded."""
    explorer = Explorer(network)
    routes = [Route(f"/{name if name != 'index.html' else ''}", explorer.file) for name in explorer.files]
    routes += [
        Route("/api/network", explorer.network),
        Route("/api/download", explorer.download),
        Route("/api/answer", explorer.answer, methods=["POST"]),
        Route("/api/table", explorer.table, methods=["POST"]),
        Route("/api/normalise", explorer.normalise, methods=["POST"]),
        Route("/api/edit", explorer.edit, methods=["POST"]),
        Route("/api/history", explorer.history, methods=["POST"]),
    ]
    errors = dict.fromkeys((RefusedRequest, PossnetError, HTTPException, ClientDisconnect, Exception), _answer_error)
    app = Starlette(routes=routes, exception_handlers=cast("Any", errors))
    app.router.redirect_slashes = False
    return RequestGuard(app, port)


async def _answer_error(_: Request, error: Exception) -> Response:
    return error_response(error)


def _read_files() -> dict[str, bytes]:
    """Every file that is served, by name: those of the page, and the colours of all drawings."""
    light, dark = css_colours(COLOURS)
    colours = f":root{{color-scheme:light dark;{light}}}@media (prefers-color-scheme:dark){{:root{{{dark}}}}}"
    page = {file.name: file.read_bytes() for file in _PAGE.iterdir() if file.suffix in _KINDS}
    return page | {"colours.css": colours.encode()}


class Explorer:
    """What the paths do; ``model`` is replaced as a whole, and only here."""

    def __init__(self, network: Network) -> None:
        self.model = Session.of(network)
        self.files = _read_files()
        self.places: dict[Shape, dict[str, Any]] = {}
        self.turn = asyncio.Lock()

    async def file(self, request: Request) -> Response:
        """One of the explorer's own files; the routes name all there are."""
        name = request.scope["path"][1:] or "index.html"
        kind = _KINDS[Path(name).suffix]
        return Response(self.files[name], 200, HEADERS, f"{kind}; charset=utf-8")

    async def network(self, request: Request) -> Response:
        """Names, states and edges, and where to draw them."""
        shape: Shape = "tall" if request.query_params.get("shape") == "tall" else "wide"
        model = self.model
        if shape not in self.places:
            self.places[shape] = await self._run_exclusively(request, lambda: compute_card_layout(model.network, shape))
        variables = [
            {
                "name": v.name,
                "states": v.states,
                "ordered": v.ordered,
                "parents": model.network.dag.parents(v.name),
                "children": model.network.dag.children(v.name),
            }
            for v in model.network.variables
        ]
        return _json_response(
            {
                "name": model.network.name,
                "description": model.network.description,
                "conjunction": model.network.conjunction.name,
                "variables": variables,
                "geometry": self.places[shape],
                **summary(model),
            }
        )

    async def answer(self, request: Request) -> Response:
        """Marginals given evidence."""
        asked = decode_request(await read_body(request), AnswerRequest)
        model = self.model
        return _json_response(
            await self._run_exclusively(
                request, lambda: answer(model, asked.evidence, before=asked.before, explain=asked.explain)
            )
        )

    async def table(self, request: Request) -> Response:
        """Some contexts of a table."""
        asked = decode_request(await read_body(request), TableRequest)
        return _json_response(read_table_page(self.model, asked.variable, asked.start))

    async def normalise(self, request: Request) -> Response:
        """Rows with their peaks at 1, to look at before they are applied."""
        asked = decode_request(await read_body(request), NormaliseRequest)
        return _json_response({"rows": normalise_rows(self.model, asked.variable, asked.rows)})

    async def edit(self, request: Request) -> Response:
        """Another table."""
        asked = decode_request(await read_body(request), EditRequest)
        return await self._replace_session(
            request, asked.revision, lambda model: edit_table(model, asked.variable, asked.rows)
        )

    async def history(self, request: Request) -> Response:
        """One edit back or forward, or all of them."""
        asked = decode_request(await read_body(request), HistoryRequest)
        return await self._replace_session(
            request, asked.revision, lambda model: step_history(model, asked.step, asked.variable)
        )

    async def download(self, request: Request) -> Response:
        """The network as it is now, as a file."""
        network = self.model.network
        text = await self._run_exclusively(request, lambda: encode_network(network))
        name = re.sub(r"[^A-Za-z0-9_-]+", "-", network.name).strip("-")[:60] or "network"
        headers = {**HEADERS, "Content-Disposition": f'attachment; filename="{name}.json"'}
        return Response(text.encode(), 200, headers, "application/json")

    async def _replace_session(self, request: Request, revision: int, change: Callable[[Session], Session]) -> Response:
        """Swap the model for its successor, if nobody else was quicker."""
        old = self.model
        new = await self._run_exclusively(request, lambda: change(old)) if old.revision == revision else None
        if new is None or self.model is not old:
            raise RefusedRequest(
                409, "edit: the network was edited in another window meanwhile; look at it again first"
            )
        self.model = new
        return _json_response(summary(new))

    async def _run_exclusively(self, request: Request, work: Callable[[], Value]) -> Value:
        """The result of some work, done in a thread; one at a time, and not at all for a client that has gone."""
        async with self.turn:
            if await request.is_disconnected():
                raise RefusedRequest(408, "request: gone before its turn")
            return await _run_in_thread(work)


async def _run_in_thread(work: Callable[[], Value]) -> Value:
    """The result of some work in a thread that does not keep the command from ending."""
    done: Future[Value] = Future()
    done.set_running_or_notify_cancel()  # so that nobody cancels what is being done

    def run() -> None:
        try:
            done.set_result(work())
        except BaseException as error:  # noqa: BLE001 - raised again where it is awaited
            done.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    return await asyncio.wrap_future(done)


def _json_response(document: Any) -> Response:
    return Response(encode_json(document), 200, HEADERS, "application/json")

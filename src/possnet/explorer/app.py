"""The paths of the explorer: its own files, the network, and the tables of routes."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.routing import Route as Path_

from possnet.drawing import COLOURS, css_colours
from possnet.errors import PossnetError
from possnet.explorer import building, core_routes, data_routes, file_routes, insight_routes
from possnet.explorer.access_token import AccessToken
from possnet.explorer.explorer_state import Explorer
from possnet.explorer.request_guard import RequestGuard, error_response
from possnet.explorer.routes import Change, Exchange, LookUp

if TYPE_CHECKING:
    from starlette.requests import Request

    from possnet.explorer.routes import Route
    from possnet.explorer.session import Session

TABLES: Final[tuple[tuple[Route, ...], ...]] = (
    core_routes.ROUTES,
    file_routes.ROUTES,
    insight_routes.ROUTES,
    data_routes.ROUTES,
    building.ROUTES,
)
"""The tables of routes; a module with routes of its own is listed here."""
_PAGE: Final = Path(__file__).parent / "page"
_CONTENT_TYPES: Final = {".html": "text/html", ".css": "text/css", ".js": "text/javascript"}


def build_application(session: Session, port: int, folder: Path, token: AccessToken | None = None) -> RequestGuard:
    """The ASGI application that explores a session, behind its guard; files are read and written below a folder."""
    explorer = Explorer(session, folder)
    routes = [
        *(Path_(path, partial(_send_file, *file)) for path, file in _read_files().items()),
        *(_serve_route(explorer, route) for table in TABLES for route in table),
    ]
    errors = dict.fromkeys((PossnetError, HTTPException, ClientDisconnect, Exception), _send_error)
    app = Starlette(routes=routes, exception_handlers=cast("Any", errors))
    app.router.redirect_slashes = False
    return RequestGuard(app, port, token or AccessToken(port), explorer.close)


async def _send_error(_: Request, error: Exception) -> Response:
    return error_response(error)


def _read_files() -> dict[str, tuple[bytes, str]]:
    """Path -> content and type of every file that is served: those of the page, and the colours of all drawings."""
    light, dark = css_colours(COLOURS)
    colours = (
        f":root{{color-scheme:light dark;{light}}}@media (prefers-color-scheme:dark){{:root{{{dark}}}}}"
        f"@media print{{:root{{color-scheme:light;{light}}}}}"
    )
    files = {"/colours.css": (colours.encode(), "text/css")}
    for file in sorted(_PAGE.rglob("*")):
        if file.suffix in _CONTENT_TYPES:
            path = "/" if file.name == "index.html" else f"/{file.relative_to(_PAGE).as_posix()}"
            files[path] = (file.read_bytes(), _CONTENT_TYPES[file.suffix])
    return files


async def _send_file(content: bytes, content_type: str, _: Request) -> Response:
    return Response(content, media_type=f"{content_type}; charset=utf-8")


def _serve_route(explorer: Explorer, route: Route) -> Path_:
    """The path of a route."""
    if isinstance(route, Exchange):
        return Path_(f"/api/{route.name}", partial(route.reply, explorer), methods=[route.method])
    if isinstance(route, Change):
        reply = partial(explorer.change_session, route.kind, route.change)
    elif isinstance(route, LookUp):
        reply = partial(explorer.look_up, route.kind, route.answer)
    else:
        reply = partial(explorer.send_answer, route.kind, route.answer)
    return Path_(f"/api/{route.name}", reply, methods=["POST"])

"""The routes of files: the network as the page draws it, and as a file."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING, Final

from starlette.responses import Response

from possnet.explorer.network_page import describe_network
from possnet.explorer.request_guard import json_response
from possnet.explorer.routes import Exchange
from possnet.io import encode_network

if TYPE_CHECKING:
    from starlette.requests import Request

    from possnet.explorer.card_layout import Shape
    from possnet.explorer.explorer_state import Explorer
    from possnet.explorer.routes import Route


async def send_network(explorer: Explorer, request: Request) -> Response:
    """Names, states and edges, and where to draw them."""
    shape: Shape = "tall" if request.query_params.get("shape") == "tall" else "wide"
    return json_response(await explorer.run_exclusively(request, partial(describe_network, explorer.session, shape)))


async def send_download(explorer: Explorer, request: Request) -> Response:
    """The network as it is now, as a file."""
    network = explorer.session.network
    text = await explorer.run_exclusively(request, partial(encode_network, network))
    return Response(
        text, 200, {"Content-Disposition": f'attachment; filename="{file_name(network.name)}.json"'}, "application/json"
    )


def file_name(name: str) -> str:
    """The name of a network as that of a file, without its suffix.

    >>> file_name("../Chest <clinic>"), file_name("")
    ('Chest-clinic', 'network')
    """
    return re.sub(r"[^A-Za-z0-9_-]+", "-", name).strip("-")[:60] or "network"


ROUTES: Final[tuple[Route, ...]] = (Exchange("network", send_network), Exchange("download", send_download))

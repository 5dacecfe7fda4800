"""The routes of files: what can be opened, uploads, saving, and the network as a file, a picture or a page."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from starlette.exceptions import HTTPException
from starlette.responses import Response

from possnet.errors import InputError
from possnet.explorer import build_requests as types
from possnet.explorer.network_page import describe_network
from possnet.explorer.request_guard import json_response, read_message, receive_body
from possnet.explorer.routes import Exchange
from possnet.explorer.session import empty_network, require_page_size
from possnet.explorer.workspace import describe_folder, find_existing, save_session
from possnet.io import (
    DATA_FORMATS,
    NETWORK_FORMATS,
    choose_format,
    encode_network,
    example_names,
    known_suffixes,
    load_example,
    read_network,
    temporary_folder,
)

if TYPE_CHECKING:
    from starlette.requests import Request

    from possnet.explorer.card_layout import Shape
    from possnet.explorer.explorer_state import Explorer
    from possnet.explorer.routes import Route
    from possnet.explorer.session import Session
    from possnet.network import Network

_MOST_UPLOAD: Final = 32 << 20
_UPLOAD_PATIENCE: Final = 60.0


async def send_network(explorer: Explorer, request: Request) -> Response:
    """Names, states and edges, and where to draw them."""
    shapes: dict[str | None, Shape] = {"tall": "tall", "narrow": "narrow"}
    shape = shapes.get(request.query_params.get("shape"), "wide")
    page = await explorer.run_exclusively(request, partial(describe_network, explorer.session, shape))
    return json_response({**page, **explorer.describe_saving()})


async def send_download(explorer: Explorer, request: Request) -> Response:
    """The network as it is now, as a file."""
    network = explorer.session.network
    if not network.variables:
        raise InputError("download: the network has no variables yet; expected at least one")
    text = await explorer.run_exclusively(request, partial(encode_network, network))
    head = {"Content-Disposition": f'attachment; filename="{file_name(network.name)}.json"'}
    return Response(text, 200, head, "application/json")


def file_name(name: str) -> str:
    """The name of a network as that of a file, without its suffix.

    >>> file_name("../Chest <clinic>"), file_name("")
    ('Chest-clinic', 'network')
    """
    return re.sub(r"[^A-Za-z0-9_-]+", "-", name).strip("-")[:60] or "network"


async def send_start(explorer: Explorer, request: Request) -> Response:
    """What can be opened: bundled networks, files of the folder, and which files can be dropped."""
    del request
    examples = [
        {"name": name, "description": net.description, "variables": len(net.variables)}
        for name, net in ((name, load_example(name)) for name in example_names())
    ]
    suffixes = {"network": known_suffixes(NETWORK_FORMATS), "data": known_suffixes(DATA_FORMATS)}
    offer = {"examples": examples, "suffixes": suffixes, "largest": _MOST_UPLOAD}
    return json_response({**offer, **describe_folder(explorer.folder)})


async def open_network(explorer: Explorer, request: Request) -> Response:
    """Open an example, a file of the folder or an empty canvas in place of the network."""
    message = await read_message(request, types.OpenRequest)
    return await explorer.replace_session(request, message.revision, partial(_open_named, explorer.folder, message))


def _open_named(folder: Path, message: types.OpenRequest, session: Session) -> Session:
    if message.kind == "empty":
        return session.with_opened(empty_network(message.name.strip()), "begin an empty network")
    if message.kind == "example":
        return session.with_opened(load_example(message.name), f"open {message.name}")
    path = find_existing(folder, message.name)
    return session.with_opened(_read_bounded(path), f"open {message.name}", path)


def _read_bounded(path: Path, name: str = "") -> Network:
    """The network of a file that a page can hold; errors speak of its name, not of its folder."""
    shown = name or path.name
    size = path.stat().st_size
    if size > _MOST_UPLOAD:
        raise InputError(f"{shown}: {size:,} bytes; a page opens files of at most {_MOST_UPLOAD:,}")
    try:
        network = read_network(path)
    except InputError as error:
        raise type(error)(str(error).replace(str(path), shown)) from None
    require_page_size(network)
    return network


async def receive_upload(explorer: Explorer, request: Request) -> Response:
    """Open a network that the page has sent as a file."""
    name = request.query_params.get("name", "")
    given = request.query_params.get("revision", "")
    if not given.isdigit():
        raise HTTPException(400, f"revision {given[:20]!r}; expected a number")
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/octet-stream":
        raise HTTPException(415, "another content type; expected 'application/octet-stream'")
    safe = _safe_name(name)
    choose_format(safe, NETWORK_FORMATS)
    with temporary_folder() as folder:
        path = Path(folder) / safe
        with path.open("wb") as out:
            await receive_body(request, out.write, most=_MOST_UPLOAD, patience=_UPLOAD_PATIENCE)
        return await explorer.replace_session(request, int(given), partial(_open_upload, path))


def _safe_name(name: str) -> str:
    """The last part of a file's name, without what a file system could take for more than a name."""
    last = re.split(r"[/\\]", name)[-1].replace("\0", "")
    return re.sub(r"[^\w. ()+-]", "-", last)[-120:].lstrip(".") or "network"


def _open_upload(path: Path, session: Session) -> Session:
    return session.with_opened(_read_bounded(path), f"open {path.name}")


async def save_network(explorer: Explorer, request: Request) -> Response:
    """Save the network below the folder."""
    message = await read_message(request, types.SaveRequest)

    def save(session: Session) -> Session:
        return save_session(session, explorer.folder, message.name, overwrite=message.overwrite)

    return await explorer.replace_session(request, message.revision, save)


async def set_autosave(explorer: Explorer, request: Request) -> Response:
    """Say whether every change is written beside the file."""
    message = await read_message(request, types.AutosaveRequest)
    explorer.autosave = message.on
    await explorer.run_exclusively(request, partial(explorer.keep_autosave, explorer.session))
    return json_response(explorer.describe_saving())


ROUTES: Final[tuple[Route, ...]] = (
    Exchange("network", send_network),
    Exchange("download", send_download),
    Exchange("start", send_start),
    Exchange("open", open_network, "POST"),
    Exchange("upload", receive_upload, "POST"),
    Exchange("save", save_network, "POST"),
    Exchange("autosave", set_autosave, "POST"),
)

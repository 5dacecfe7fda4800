"""The routes of tables: upload, columns, rows, and the jobs that read, learn and check."""

from __future__ import annotations

import shutil
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import msgspec

from possnet.errors import InputError
from possnet.explorer import data_requests as types
from possnet.explorer.request_guard import json_response, read_message, receive_body
from possnet.explorer.routes import Exchange
from possnet.explorer.row_evidence import list_rows, read_row
from possnet.explorer.uploaded_table import DataDesk
from possnet.explorer.workspace import find_existing
from possnet.io import encode_network

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from possnet.explorer.explorer_state import Explorer
    from possnet.explorer.routes import Route
    from possnet.explorer.session import Session

MOST_UPLOAD: Final = 64 << 20
_PATIENCE: Final = 120.0


def desk_of(explorer: Explorer) -> DataDesk:
    """The desk of an explorer, which goes with it."""
    if "data" not in explorer.shelf:
        explorer.shelf["data"] = DataDesk()
        explorer.endings.append(explorer.shelf["data"].close)
    desk = explorer.shelf["data"]
    assert isinstance(desk, DataDesk)  # noqa: S101 - for the type checker
    return desk


def _frame_of(session: Session) -> str | None:
    return encode_network(session.network) if session.network.variables else None


async def upload_table(explorer: Explorer, request: Request) -> Response:
    """Take the bytes of a table, and begin to read it."""
    desk, name = desk_of(explorer), request.query_params.get("name", "")
    path = desk.prepare_upload(name)
    try:
        with path.open("wb") as file:
            await receive_body(request, file.write, most=MOST_UPLOAD, patience=_PATIENCE)
    except BaseException:
        path.unlink(missing_ok=True)
        path.parent.rmdir()
        raise
    desk.open_upload(name, path)
    return json_response(desk.describe())


async def open_table(explorer: Explorer, request: Request) -> Response:
    """Begin to read a table that lies below the folder."""
    message = await read_message(request, types.OpenTableRequest)
    desk, path = desk_of(explorer), find_existing(explorer.folder, message.path)
    size = path.stat().st_size
    if size > MOST_UPLOAD:
        raise InputError(f"{path.name}: {size:,} bytes; a page opens tables of at most {MOST_UPLOAD:,}")
    copy = desk.prepare_upload(path.name)
    await explorer.run_exclusively(request, partial(shutil.copyfile, path, copy))
    desk.open_upload(path.name, copy)
    return json_response(desk.describe())


async def read_again(explorer: Explorer, request: Request) -> Response:
    """Read the table with other columns or bins."""
    message = await read_message(request, types.ReadRequest)
    desk = desk_of(explorer)
    desk.read_again(msgspec.to_builtins(message))
    return json_response(desk.describe())


async def start_learning(explorer: Explorer, request: Request) -> Response:
    """Begin to learn a network from the table."""
    message = await read_message(request, types.LearnRequest)
    desk, session = desk_of(explorer), explorer.session
    options = {**msgspec.to_builtins(message), "frame": _frame_of(session), "name": _name_learned(session, desk)}
    desk.start_on_rows("learn", options, message.seconds)
    return json_response(desk.describe())


def _name_learned(session: Session, desk: DataDesk) -> str:
    return session.network.name or (desk.name or "learned").rsplit(".", 1)[0]


async def start_check(explorer: Explorer, request: Request) -> Response:
    """Begin to check degrees on the rows of the table."""
    message = await read_message(request, types.CheckRequest)
    desk = desk_of(explorer)
    options = {**msgspec.to_builtins(message), "frame": _frame_of(explorer.session)}
    desk.start_on_rows("check", options, message.seconds)
    return json_response(desk.describe())


async def send_desk(explorer: Explorer, _: Request) -> Response:
    """The table, and how far the job is."""
    return json_response(desk_of(explorer).describe())


async def stop_job(explorer: Explorer, request: Request) -> Response:
    """Stop the job that runs."""
    await read_message(request, types.NothingRequest)
    desk = desk_of(explorer)
    desk.stop_job()
    return json_response(desk.describe())


async def close_table(explorer: Explorer, request: Request) -> Response:
    """Forget the table."""
    await read_message(request, types.NothingRequest)
    desk = desk_of(explorer)
    desk.close_table()
    return json_response(desk.describe())


async def adopt_network(explorer: Explorer, request: Request) -> Response:
    """Put the learned network on the page, as a step that can be undone."""
    message = await read_message(request, types.AdoptRequest)
    desk = desk_of(explorer)

    def change(session: Session) -> Session:
        network = desk.take_network(message.job)
        return session.with_opened(network, f"learn from {desk.name}", session.step.file)

    return await explorer.replace_session(request, message.revision, change)


async def send_rows(explorer: Explorer, request: Request) -> Response:
    """Some rows of the table."""
    message = await read_message(request, types.RowsRequest)
    desk = desk_of(explorer)

    def work() -> dict[str, Any]:
        return list_rows(desk.data, message.start, message.count)

    return json_response(await explorer.run_exclusively(request, work))


async def send_row(explorer: Explorer, request: Request) -> Response:
    """One row, as evidence for the network on the page."""
    message = await read_message(request, types.RowRequest)
    desk, network = desk_of(explorer), explorer.session.network

    def work() -> dict[str, Any]:
        return read_row(network, desk.data, message.number)

    return json_response(await explorer.run_exclusively(request, work))


_post = partial(Exchange, method="POST")
ROUTES: Final[tuple[Route, ...]] = (
    Exchange("table-job", send_desk),
    _post("table-upload", upload_table),
    _post("table-open", open_table),
    _post("table-read", read_again),
    _post("table-learn", start_learning),
    _post("table-check", start_check),
    _post("table-stop", stop_job),
    _post("table-close", close_table),
    _post("table-adopt", adopt_network),
    _post("table-rows", send_rows),
    _post("table-row", send_row),
)

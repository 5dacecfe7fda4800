"""The routes of explanations, what-ifs and comparisons."""

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from possnet.errors import TooLarge
from possnet.explorer import insight_answers as answers, insight_requests as types
from possnet.explorer.network_comparison import choose_other, compare_networks, pair_contexts
from possnet.explorer.request_guard import json_response, read_message, receive_body
from possnet.explorer.routes import Exchange, Inquiry
from possnet.explorer.uploaded_table import safe_name
from possnet.io import NETWORK_FORMATS, choose_format, example_names, read_network

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from possnet.explorer.explorer_state import Explorer
    from possnet.explorer.routes import Route
    from possnet.network import Network

_MOST_NETWORK: Final = 64 << 20
_MOST_STATES: Final = 20_000
_PATIENCE: Final = 60.0
_SECOND: Final = "second network"


async def open_second(explorer: Explorer, request: Request) -> Response:
    """Keep a network of a file, to compare with."""
    name = request.query_params.get("name", "")
    choose_format(name, NETWORK_FORMATS)
    with tempfile.TemporaryDirectory(prefix="possnet-explore-") as folder:
        path = Path(folder) / safe_name(name)
        with path.open("wb") as file:
            await receive_body(request, file.write, most=_MOST_NETWORK, patience=_PATIENCE)
        network = await explorer.run_exclusively(request, partial(_read_second, path, folder))
    explorer.shelf[_SECOND] = network
    return json_response({"name": network.name or name, "file": name, "variables": len(network.variables)})


def _read_second(path: Path, folder: str) -> Network:
    """The network of an uploaded file; errors name the file, not where it lies."""
    try:
        network = read_network(path)
    except Exception as error:
        error.args = tuple(str(part).replace(f"{folder}/", "") for part in error.args)
        raise
    states = sum(len(variable) for variable in network.variables)
    if states > _MOST_STATES:
        raise TooLarge(f"{path.name}: {states:,} states in all; a page holds at most {_MOST_STATES:,}")
    return network


async def send_comparison(explorer: Explorer, request: Request) -> Response:
    """What differs between the network on the page and another."""
    message = await read_message(request, types.CompareRequest)
    session, second = explorer.session, explorer.shelf.get(_SECOND)

    def work() -> dict[str, Any]:
        return compare_networks(session, choose_other(session, second, message))

    document = await explorer.run_exclusively(request, work)
    return json_response({**document, "examples": example_names()})


async def send_pair(explorer: Explorer, request: Request) -> Response:
    """A variable's two tables side by side."""
    message = await read_message(request, types.PairRequest)
    session, second = explorer.session, explorer.shelf.get(_SECOND)

    def work() -> dict[str, Any]:
        return pair_contexts(session, choose_other(session, second, message), message)

    return json_response(await explorer.run_exclusively(request, work))


ROUTES: Final[tuple[Route, ...]] = (
    Inquiry("why", types.WhyRequest, answers.explain_answer),
    Inquiry("influences", types.WhyRequest, answers.rank_influences),
    Inquiry("conflicts", types.ConflictRequest, answers.find_conflicts),
    Inquiry("scenarios", types.ScenariosRequest, answers.compare_scenarios),
    Exchange("compare-file", open_second, "POST"),
    Exchange("compare", send_comparison, "POST"),
    Exchange("compare-table", send_pair, "POST"),
)

"""What a route is: a name under ``/api/``, the type of its message, and the function that answers it.

A module with routes has a table ``ROUTES``, and `possnet.explorer.app` lists the tables. Nothing else is needed: messages
are bounded, decoded and checked, errors become one sentence, and changes are checked against the revision.

>>> from possnet.explorer.request_types import TableRequest
>>> from possnet.explorer.table_pages import read_table_page
>>> LookUp("table", TableRequest, read_table_page).name
'table'
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from starlette.requests import Request
    from starlette.responses import Response

    from possnet.explorer.explorer_state import Explorer
    from possnet.explorer.session import Session


@dataclass(frozen=True, slots=True)
class LookUp:
    """A question that is answered at once, such as a page of a table: (session, message) -> a document."""

    name: str
    kind: type[Any]
    answer: Callable[[Session, Any], dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Inquiry:
    """A question that may take its time, in a thread, one at a time: (session, message) -> a document."""

    name: str
    kind: type[Any]
    answer: Callable[[Session, Any], dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Change:
    """A change of the network: (session, message) -> the next session. The message has the ``revision`` it is about."""

    name: str
    kind: type[Any]
    change: Callable[[Session, Any], Session]


@dataclass(frozen=True, slots=True)
class Exchange:
    """Anything else, such as an upload or a download: (explorer, request) -> a response."""

    name: str
    reply: Callable[[Explorer, Request], Awaitable[Response]]
    method: str = "GET"


Route: TypeAlias = LookUp | Inquiry | Change | Exchange

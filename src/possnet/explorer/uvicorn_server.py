"""uvicorn without its log, and with less patience: half a request is not waited for."""

from __future__ import annotations

import asyncio
import logging
import signal
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from possnet.explorer.app import build_application

if TYPE_CHECKING:
    from collections.abc import Iterator
    from socket import socket

    from uvicorn.protocols.http.h11_impl import RequestResponseCycle

    from possnet.network import Network

_PATIENCE: Final = 10.0
_MOST_CONNECTIONS: Final = 64


class _ImpatientProtocol(H11Protocol):
    """A connection that is closed when the head of a request takes too long."""

    waiting: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait."""
        super().connection_made(transport)
        self._start_timer()

    def data_received(self, data: bytes) -> None:
        """Read on; a request that has begun is bounded where its body is read."""
        super().data_received(data)
        busy = self._is_busy()
        if busy and self.waiting is not None:
            self.waiting.cancel()
            self.waiting = None
        elif not busy and self.waiting is None:
            self._start_timer()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no longer."""
        if self.waiting is not None:
            self.waiting.cancel()
        super().connection_lost(exc)

    def _start_timer(self) -> None:
        self.waiting = self.loop.call_later(_PATIENCE, self._close_idle)

    def _close_idle(self) -> None:
        self.waiting = None
        if not self._is_busy():
            self.transport.close()

    def _is_busy(self) -> bool:
        cycle: RequestResponseCycle | None = self.cycle  # none before the first request
        return cycle is not None and not cycle.response_complete


class _QuietServer(uvicorn.Server):
    """A server whose loop keeps to itself what went wrong with a connection that is gone."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """A closed terminal ends the server as an interrupt does; whoever handled the signal before handles it then."""
        number: int | None = getattr(signal, "SIGHUP", None)
        before = None if number is None else signal.getsignal(number)
        with super().capture_signals():
            if number is None or not callable(before) or threading.current_thread() is not threading.main_thread():
                yield
                return
            signal.signal(number, self.handle_exit)
            try:
                yield
            finally:
                signal.signal(number, before)

    async def startup(self, sockets: list[socket] | None = None) -> None:
        """Begin to answer."""
        asyncio.get_running_loop().set_exception_handler(_ignore_error)
        await super().startup(sockets)


def _ignore_error(_: asyncio.AbstractEventLoop, __: dict[str, Any]) -> None:
    """Connections break; requests answer for themselves."""


def serve(network: Network, listener: socket) -> None:
    """Answer requests on a listening socket until a signal ends it."""
    logging.getLogger("uvicorn").addHandler(logging.NullHandler())
    config = uvicorn.Config(
        build_application(network, listener.getsockname()[1]),
        http=_ImpatientProtocol,
        ws="none",
        lifespan="off",
        interface="asgi3",
        log_config=None,
        log_level=logging.CRITICAL,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        h11_max_incomplete_event_size=1 << 14,
        limit_concurrency=_MOST_CONNECTIONS,
        timeout_keep_alive=15,
        timeout_graceful_shutdown=1,
    )
    _QuietServer(config).run(sockets=[listener])

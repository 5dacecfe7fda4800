"""uvicorn without its log, and with a time limit for the head of a request, which uvicorn itself does not have."""

from __future__ import annotations

import asyncio
import logging
import signal
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator
    from socket import socket

    from uvicorn.protocols.http.h11_impl import RequestResponseCycle

    from possnet.explorer.request_guard import RequestGuard

_PATIENCE: Final = 10.0
_MOST_CONNECTIONS: Final = 64


class _ImpatientProtocol(H11Protocol):
    """A connection that is closed when the head of a request takes too long."""

    timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the timer with the connection."""
        super().connection_made(transport)
        self._start_timer()

    def data_received(self, data: bytes) -> None:
        """Stop the timer once the head is whole; the body is bounded where it is read."""
        super().data_received(data)
        if self._is_busy():
            self._stop_timer()
        elif self.timer is None:
            self._start_timer()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the timer with the connection."""
        self._stop_timer()
        super().connection_lost(exc)

    def _start_timer(self) -> None:
        self.timer = self.loop.call_later(_PATIENCE, self._close_idle)

    def _stop_timer(self) -> None:
        if self.timer is not None:
            self.timer.cancel()
            self.timer = None

    def _close_idle(self) -> None:
        self.timer = None
        if not self._is_busy():
            self.transport.close()

    def _is_busy(self) -> bool:
        cycle: RequestResponseCycle | None = self.cycle  # none before the first request
        return cycle is not None and not cycle.response_complete


class _QuietServer(uvicorn.Server):
    """A server that prints nothing, and ends on a closed terminal too."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """End the server on a closed terminal as on an interrupt; whoever handled the signal before handles it then."""
        number: int | None = getattr(signal, "SIGHUP", None)
        handler = None if number is None else signal.getsignal(number)
        with super().capture_signals():
            if number is None or not callable(handler) or threading.current_thread() is not threading.main_thread():
                yield
                return
            signal.signal(number, self.handle_exit)
            try:
                yield
            finally:
                signal.signal(number, handler)

    async def startup(self, sockets: list[socket] | None = None) -> None:
        """Start serving, with a loop that does not print what went wrong with a connection that is gone."""
        asyncio.get_running_loop().set_exception_handler(lambda _loop, _context: None)
        await super().startup(sockets)


def serve_application(application: RequestGuard, listener: socket) -> None:
    """Answer requests on a listening socket until a signal ends it."""
    logging.getLogger("uvicorn").addHandler(logging.NullHandler())
    config = uvicorn.Config(
        application,
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
    try:
        _QuietServer(config).run(sockets=[listener])
    finally:
        application.close()

"""`explore`: a socket on this machine, and the page that is served there until it is interrupted."""

from __future__ import annotations

import errno
import socket
import threading
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final

from possnet.errors import InputError, TooLarge

if TYPE_CHECKING:
    from collections.abc import Callable

    from possnet.network import Network

PORT: Final = 8642
_MOST_STATES: Final = 20_000


def explore(
    network: Network,
    *,
    port: int | None = None,
    open_browser: bool = True,
    announce: Callable[[str], None] | None = None,
) -> None:
    """Serve a page on which a network is explored, until it is interrupted. Needs ``possnet[web]``.

    Only this machine can reach it, and nothing is written to disk.

    Parameters
    ----------
    port
        The port to use; 0 for any free one. By default 8642 if it is free, or else any free one.
    open_browser
        Whether to open the page in the default browser.
    announce
        What to call with the page's address once it can be opened; by default it is printed.

    >>> import possnet as pn
    >>> explore(pn.load_example("clinic"), port=70_000)
    Traceback (most recent call last):
        ...
    possnet.errors.InputError: port 70000; expected 0 (any free one) to 65535
    """
    if find_spec("starlette") is None or find_spec("uvicorn") is None:
        raise InputError("explore: starlette and uvicorn are not installed; expected both: pip install 'possnet[web]'")
    states = sum(len(variable) for variable in network.variables)
    if states > _MOST_STATES:
        raise TooLarge(
            f"explore: {states:,} states in all; a page holds at most {_MOST_STATES:,}; explore a part of the network"
        )
    with _open_listener(port) as listener:
        from possnet.explorer.uvicorn_server import serve_network

        address = f"http://127.0.0.1:{listener.getsockname()[1]}/"
        if announce is None:
            print(address, flush=True)  # noqa: T201
        else:
            announce(address)
        if open_browser:
            import webbrowser

            threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()
        serve_network(network, listener)


def _open_listener(port: int | None) -> socket.socket:
    """Open a socket on the loopback address."""
    if port is not None and not 0 <= port <= 65535:
        raise InputError(f"port {port}; expected 0 (any free one) to 65535")
    try:
        return socket.create_server(("127.0.0.1", PORT if port is None else port))
    except OSError as error:
        if port is None:
            return socket.create_server(("127.0.0.1", 0))
        reasons = {errno.EADDRINUSE: "is in use", errno.EACCES: "needs other rights"}
        reason = reasons.get(error.errno or 0, "cannot be used")
        raise InputError(f"port {port} {reason}; expected a free one. Leave the port out, and one is found") from None

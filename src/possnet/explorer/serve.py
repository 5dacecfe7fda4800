"""`explore`: a socket on this machine, and the page that is served there until it is interrupted."""

from __future__ import annotations

import errno
import socket
import threading
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final

from possnet.doors import check_arguments
from possnet.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable

    from possnet.network import Network

PORT: Final = 8642


@check_arguments
def explore(
    network: Network | None = None,
    *,
    file: str | Path | None = None,
    folder: str | Path = ".",
    port: int | None = None,
    open_browser: bool = True,
    announce: Callable[[str], None] | None = None,
) -> None:
    """Serve a page on which a network is explored and built, until it is interrupted. Needs ``possnet[web]``.

    Only this machine can reach it, and only those who have the address with its token. Nothing is written to disk unless
    someone saves the network on the page.

    Parameters
    ----------
    network
        The network to begin with; without one the page offers what could be opened, and an empty canvas.
    file
        The file that the network comes from, to which it can be saved.
    folder
        The folder below which the page opens and saves files.
    port
        The port to use; 0 for any free one. By default 8642 if it is free, or else any free one.
    open_browser
        Whether to open the page in the default browser.
    announce
        What to call with the page's address once it can be opened; by default it is printed.

    Examples
    --------
    >>> import possnet as pn
    >>> explore(pn.load_example("clinic"), port=70_000)
    Traceback (most recent call last):
        ...
    possnet.errors.InputError: port 70000; expected 0 (any free one) to 65535
    """
    if find_spec("starlette") is None or find_spec("uvicorn") is None:
        raise InputError("explore: starlette and uvicorn are not installed; expected both: pip install 'possnet[web]'")
    from possnet.explorer.session import Session, require_page_size

    session = Session.without_network()
    if network is not None:
        require_page_size(network)
        session = Session.from_network(network, None if file is None else Path(file).resolve())
    with _open_listener(port) as listener:
        from possnet.explorer.app import build_application
        from possnet.explorer.uvicorn_server import serve_application

        application = build_application(session, listener.getsockname()[1], Path(folder).resolve())
        address = application.token.address
        if announce is None:
            print(address, flush=True)  # noqa: T201
        else:
            announce(address)
        if open_browser:
            import webbrowser

            threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()
        serve_application(application, listener)


def _open_listener(port: int | None) -> socket.socket:
    """Open a socket on the loopback address."""
    if port is not None and not 0 <= port <= 65535:
        raise InputError(f"port {port}; expected 0 (any free one) to 65535")
    try:
        return _listen(PORT if port is None else port)
    except OSError as error:
        if port is None:
            return _listen(0)
        reasons = {errno.EADDRINUSE: "is in use", errno.EACCES: "needs other rights"}
        reason = reasons.get(error.errno or 0, "cannot be used")
        raise InputError(f"port {port} {reason}; expected a free one. Leave the port out, and one is found") from None


def _listen(port: int) -> socket.socket:
    """A listening socket whose connections send at once: asyncio asks for that only of sockets that name their protocol.

    Otherwise the body of a reply waits for the acknowledgement of its head, which takes 40 ms.
    """
    listener = socket.create_server(("127.0.0.1", port))
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener

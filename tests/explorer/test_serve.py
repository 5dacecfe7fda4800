"""The explorer's server begins and ends quietly, on a free port, and waits for nobody."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

import possnet as pn
from possnet.explorer import explore, request_guard, serve, uvicorn_server
from possnet.explorer.app import build_application
from possnet.explorer.session import Session
from tests.commands import readme_commands, run
from tests.serving import serving


@pytest.mark.parametrize(
    ("number", "code", "last"),
    [(signal.SIGINT, 130, "Stopped.\n"), (signal.SIGTERM, 143, ""), (signal.SIGHUP, 129, "")],
)
def test_the_readmes_command_runs_until_a_signal_ends_it_quietly(
    tmp_path: Path, number: int, code: int, last: str
) -> None:
    if signal.getsignal(number) == signal.SIG_IGN:
        pytest.skip("this shell ignores the signal, and so does the command")
    ((_, _, net),) = [words for words in readme_commands() if words[1] == "explore"]
    opener = tmp_path / "opener"
    opener.write_text(f'#!/bin/sh\necho "$1" >> {tmp_path}/opened\n', encoding="utf-8")
    opener.chmod(0o755)
    with serving(net, "--port", "0", BROWSER=f"{opener} %s") as server:
        assert server.ask("/api/network").status == 200
        while not (tmp_path / "opened").exists():
            time.sleep(0.01)
        with socket.create_connection(("127.0.0.1", server.port)) as line:
            line.sendall(b"GET / HTTP/1.1\r\n")
            server.process.send_signal(number)
            out, err = server.process.communicate(timeout=20)
    assert server.process.returncode == code
    assert out == ""
    assert err == f"Open this address in a browser on this machine; Ctrl-C ends it.\n{last}"
    assert (tmp_path / "opened").read_text(encoding="utf-8") == f"{server.address}\n"


def test_a_port_in_use_is_told_and_the_default_gives_way(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        shown = run("explore", "clinic", "--port", str(port), "--no-browser")
        assert shown.returncode == 1
        assert (
            shown.stderr == f"Error: port {port} is in use; expected a free one. Leave the port out, and one is found\n"
        )
        monkeypatch.setattr(serve, "PORT", port)
        addresses: list[str] = []

        def enough(address: str) -> None:
            addresses.append(address)
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            explore(pn.load_example("clinic"), open_browser=False, announce=enough)
    assert addresses
    assert f":{port}/" not in addresses[0]
    assert run("explore", "clinic", "--port", "99999").returncode == 2


def test_without_the_extra_one_line_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    shown = run("explore", "clinic", "--no-browser")
    assert shown.returncode == 1
    assert len(shown.stderr.splitlines()) == 1
    assert "pip install 'possnet[web]'" in shown.stderr


def test_half_a_request_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[Any] = []
    startup = uvicorn_server._QuietServer.startup

    async def starting(self: Any, sockets: Any = None) -> None:
        started.append(self)
        await startup(self, sockets)

    monkeypatch.setattr(uvicorn_server._QuietServer, "startup", starting)
    monkeypatch.setattr(uvicorn_server, "_PATIENCE", 0.05)
    monkeypatch.setattr(request_guard, "_PATIENCE", 0.05)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        guarded = build_application(Session.from_network(pn.load_example("clinic")), port, Path())
        thread = threading.Thread(target=uvicorn_server.serve_application, args=(guarded, listener))
        thread.start()
        head = f"POST /api/answer HTTP/1.1\r\nHost: localhost:{port}\r\nContent-Type: application/json\r\n"
        head += f"Cookie: {guarded.token.cookie}={guarded.token.text}\r\n"
        for content, reply in (
            (b"", b""),
            (b"GET /", b""),
            (f"{head}Content-Length: 9\r\n\r\n{{".encode(), b"HTTP/1.1 408"),
        ):
            with socket.create_connection(("127.0.0.1", port), timeout=20) as line:
                line.sendall(content)
                assert line.recv(12) == reply
        started[0].should_exit = True
        thread.join()


def test_help_does_not_load_the_server() -> None:
    script = "import sys, possnet.cli, possnet.explorer; print({'starlette', 'uvicorn', 'numpy', 'msgspec'} & set(sys.modules))"
    shown = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert shown.stdout == "set()\n"


def test_replies_are_sent_at_once() -> None:
    """A connection that waits for acknowledgements adds 40 ms to every click."""
    with (
        serve._open_listener(0) as listener,
        socket.create_connection(listener.getsockname()),
        listener.accept()[0] as accepted,
    ):
        assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) != 0


def test_every_module_of_the_page_is_short() -> None:
    page = Path(serve.__file__).parent / "page"
    lines = {file.name: len(file.read_text("utf-8").splitlines()) for file in page.rglob("*.js")}
    assert len(lines) > 30
    assert {name: number for name, number in lines.items() if number >= 250} == {}

"""The explorer's server as the command starts it, and questions to it."""

from __future__ import annotations

import http.client
import json
import os
import re
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

from tests.commands import COMMAND


class Reply(NamedTuple):
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def document(self) -> Any:
        return json.loads(self.body)


class Server(NamedTuple):
    process: subprocess.Popen[str]
    port: int
    token: str

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.port}/"

    @property
    def address(self) -> str:
        """The address as it was printed."""
        return f"{self.origin}?token={self.token}"

    @property
    def cookie(self) -> str:
        return f"possnet-{self.port}={self.token}"

    def ask(self, path: str, body: Any = None, *, method: str | None = None, **headers: str) -> Reply:
        """One request with the cookie of the page; a body is sent as JSON unless it is bytes."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        sent = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        head = {"Cookie": self.cookie} | ({"Content-Type": "application/json"} if sent is not None else {})
        head |= {name.replace("_", "-"): value for name, value in headers.items()}
        try:
            connection.request(method or ("GET" if sent is None else "POST"), path, sent, head)
            reply = connection.getresponse()
            return Reply(reply.status, {k.lower(): v for k, v in reply.getheaders()}, reply.read())
        finally:
            connection.close()

    def raw(self, content: bytes, *, close: bool = False, timeout: float = 5) -> bytes:
        """The reply to some bytes; with ``close`` nobody waits for it."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=timeout) as line:
            with suppress(OSError):
                line.sendall(content)
                if close:
                    return b""
                line.shutdown(socket.SHUT_WR)
            found = b""
            with suppress(OSError):
                while part := line.recv(65536):
                    found += part
            return found


@contextmanager
def serving(net: str | Path | None, *options: str, folder: Path | None = None, **environment: str) -> Iterator[Server]:
    """The command itself, in a folder, ended by its own process id."""
    given = [] if net is None else [str(net)]
    words = [str(COMMAND), "explore", *given, "--port", "0", *(options or ("--no-browser",))]
    pipe = subprocess.PIPE
    process = subprocess.Popen(
        words, stdout=pipe, stderr=pipe, text=True, cwd=folder, env={**os.environ, **environment}
    )
    try:
        assert process.stdout is not None
        address = process.stdout.readline()
        found = re.fullmatch(r"http://127\.0\.0\.1:(\d+)/\?token=([0-9a-f]{64})\n", address)
        assert found, address
        yield Server(process, int(found[1]), found[2])
    finally:
        if process.poll() is None:
            process.terminate()
            process.wait(timeout=20)
        for stream in (process.stdout, process.stderr):
            if stream is not None:
                stream.close()

"""The secret of an explorer: 32 random bytes in the address that is printed, then a cookie.

Every account on a machine can reach its loopback address, so that a port alone keeps nobody out. The token is asked for
once, at ``/``; the reply has it as a cookie that scripts cannot read and that no other site's page sends along. Cookies do
not tell ports apart, so its name does. Texts are compared in constant time.
"""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING
from urllib.parse import parse_qs

if TYPE_CHECKING:
    from starlette.datastructures import Headers


class AccessToken:
    """A token and the name of its cookie.

    >>> token = AccessToken(8642)
    >>> len(bytes.fromhex(token.text)), token.cookie, token.address == f"http://127.0.0.1:8642/?token={token.text}"
    (32, 'possnet-8642', True)
    """

    def __init__(self, port: int) -> None:
        self.text = secrets.token_hex(32)
        self.cookie = f"possnet-{port}"
        self.address = f"http://127.0.0.1:{port}/?token={self.text}"
        self.header = f"{self.cookie}={self.text}; HttpOnly; SameSite=Strict; Path=/"

    def is_in_query(self, query: bytes) -> bool:
        """Whether a query string holds the token.

        >>> token = AccessToken(8642)
        >>> token.is_in_query(f"token={token.text}".encode()), token.is_in_query(b"token=guess"), token.is_in_query(b"")
        (True, False, False)
        """
        given = parse_qs(query.decode("latin-1"), max_num_fields=20).get("token", [""])
        return self._is_equal(given[0])

    def is_in_cookies(self, headers: Headers) -> bool:
        """Whether a request's cookies hold the token."""
        given = [
            value
            for line in headers.getlist("cookie")
            for name, _, value in (part.strip().partition("=") for part in line.split(";"))
            if name == self.cookie
        ]
        return any(map(self._is_equal, given[:4]))

    def _is_equal(self, text: str) -> bool:
        return secrets.compare_digest(text.encode("utf-8", "replace"), self.text.encode())

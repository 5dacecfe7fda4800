"""What was computed and may be asked for again, as far as it fits: the oldest makes room."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

V = TypeVar("V")


class Kept(Generic[V]):
    """Values by key, up to a sum of sizes; the last one put in stays whatever its size.

    >>> kept = Kept(3, len)
    >>> kept.made("a", lambda: "xx"), kept.made("a", lambda: "other"), kept.put("b", "y"), kept.put("c", "z")
    ('xx', 'xx', 'y', 'z')
    >>> kept.get("a"), kept.get("b")
    (None, 'y')
    """

    def __init__(self, most: int, size: Callable[[V], int]) -> None:
        self._most, self._size = most, size
        self._values: dict[Hashable, V] = {}
        self._sum = 0

    def get(self, key: Hashable) -> V | None:
        """The value, if it is still there."""
        return self._values.get(key)

    def made(self, key: Hashable, make: Callable[[], V]) -> V:
        """The value, made again if it is not there."""
        found = self._values.get(key)
        return self.put(key, make()) if found is None else found

    def put(self, key: Hashable, value: V) -> V:
        """Keep a value, and hand it back."""
        if key in self._values:
            self._sum -= self._size(self._values.pop(key))
        self._sum += self._size(value)
        while self._values and self._sum > self._most:
            self._sum -= self._size(self._values.pop(next(iter(self._values))))
        self._values[key] = value
        return value

"""A cache bounded by the sum of its values' sizes: the oldest values make room."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

V = TypeVar("V")


class SizedCache(Generic[V]):
    """Values by key, up to ``capacity`` in the sum of their sizes; the last value is kept even if it is larger.

    >>> cache = SizedCache(3, len)
    >>> cache.get_or_compute("a", lambda: "xx"), cache.get_or_compute("a", lambda: "other")
    ('xx', 'xx')
    >>> cache.put("b", "y"), cache.put("c", "z"), cache.get("a"), cache.get("b")
    ('y', 'z', None, 'y')
    """

    def __init__(self, capacity: int, size_of: Callable[[V], int]) -> None:
        self._capacity, self._size_of = capacity, size_of
        self._values: dict[Hashable, V] = {}
        self._used = 0

    def get(self, key: Hashable) -> V | None:
        """The value, if it is still there."""
        return self._values.get(key)

    def get_or_compute(self, key: Hashable, compute: Callable[[], V]) -> V:
        """The value, computed and kept if it is not there."""
        value = self._values.get(key)
        return self.put(key, compute()) if value is None else value

    def put(self, key: Hashable, value: V) -> V:
        """Keep a value, and return it."""
        if key in self._values:
            self._used -= self._size_of(self._values.pop(key))
        self._used += self._size_of(value)
        while self._values and self._used > self._capacity:
            self._used -= self._size_of(self._values.pop(next(iter(self._values))))
        self._values[key] = value
        return value

"""Registries: one table of named entries for each kind of thing that can be added to possnet.

Learners, metrics, processes, structure scores and file formats are each listed in one registry, in the room that they
belong to. An entry is a frozen dataclass that carries its name, its label for people, and what it needs and can do; the
command line's choices, the report's words, `possnet.evaluate` and the documentation read the registry instead of names
of their own. Adding one is one call of `Registry.register`, in one file (see ``docs/contributing.md``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Generic, Protocol, TypeVar

from possnet.doors import check_arguments, checks_itself
from possnet.errors import InputError, describe_value, require_known

__all__ = ["Registered", "Registry", "is_bundled"]


class Registered(Protocol):
    """What every entry of a registry has."""

    @property
    def name(self) -> str:
        """The name that functions, files and the command line take."""
        ...

    @property
    def label(self) -> str:
        """The name for people: in reports, plots and tables."""
        ...


Entry = TypeVar("Entry", bound=Registered)


class Registry(Mapping[str, Entry], Generic[Entry]):
    """A mapping from names to entries, in the order in which they were registered.

    Parameters
    ----------
    kind
        What an entry is, for error messages: "learner", "metric".

    Examples
    --------
    >>> from typing import NamedTuple
    >>> class Metric(NamedTuple):
    ...     name: str
    ...     label: str
    >>> metrics = Registry[Metric]("metric")
    >>> metrics.register(Metric("affinity", "information affinity"))
    Metric(name='affinity', label='information affinity')
    >>> list(metrics), metrics.require("affinity", "compare").label
    (['affinity'], 'information affinity')
    >>> metrics.require("afinity", "compare")
    Traceback (most recent call last):
        ...
    possnet.errors.InputError: compare: metric 'afinity'; expected affinity; did you mean 'affinity'?
    """

    @check_arguments
    def __init__(self, kind: str) -> None:
        self.kind = kind
        self._entries: dict[str, Entry] = {}

    @check_arguments
    def register(self, entry: Entry) -> Entry:
        """Add an entry under its name, and return it; a name that is taken is an `InputError`."""
        name: object = getattr(entry, "name", None)
        if not isinstance(name, str):
            raise InputError(
                f"{self.kind} {describe_value(entry)} has no name; expected an entry with a name and a label"
            )
        if name in self._entries:
            raise InputError(f"{self.kind} {entry.name!r} is registered already; expected a name of its own")
        self._entries[entry.name] = entry
        return entry

    @check_arguments
    def unregister(self, name: str) -> None:
        """Take an entry out again: what a test does with the one that it added."""
        self.require(name, "unregister")
        del self._entries[name]

    @check_arguments
    @checks_itself("name")
    def require(self, name: str, owner: str) -> Entry:
        """The entry of a name; an `InputError` that lists the known names, and the nearest, for any other."""
        require_known(name, self._entries, f"{owner}: {self.kind}")
        return self._entries[name]

    def __getitem__(self, name: str) -> Entry:
        return self._entries[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def __repr__(self) -> str:
        return f"Registry({self.kind}: {', '.join(self._entries)})"


def is_bundled(function: object) -> bool:
    """Whether what an entry computes with is possnet's own, rather than registered by another program; None is.

    >>> from possnet.learners import LEARNERS
    >>> is_bundled(LEARNERS["histogram"].fit), is_bundled(print)
    (True, False)
    """
    module = str(getattr(getattr(function, "func", function), "__module__", ""))
    return function is None or module.startswith("possnet.")

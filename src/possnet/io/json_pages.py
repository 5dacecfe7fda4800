"""JSON documents as types; loaded when the first one is read, so that `import possnet` stays light."""

from __future__ import annotations

from typing import Any

import msgspec


class Node(msgspec.Struct, forbid_unknown_fields=True):
    """A variable and its table."""

    name: str
    states: list[str]
    parents: list[str]
    degrees: list[Any]
    ordered: bool = False
    support: list[Any] | float | None = None


class NetworkPage(msgspec.Struct, forbid_unknown_fields=True):
    """A network as JSON."""

    format: str
    version: int
    variables: list[Node]
    conjunction: str
    name: str = ""
    description: str = ""
    subnormal: bool = False


class Cells(msgspec.Struct, forbid_unknown_fields=True):
    """Combinations of cells as hexadecimal masks, and how often each occurs."""

    cells: list[str]
    counts: list[int]


class Family(msgspec.Struct, forbid_unknown_fields=True):
    """A variable and its counts."""

    name: str
    states: list[str]
    ordered: bool
    parents: list[str]
    cell_sizes: int
    contexts: list[list[int]]
    counts: list[list[int]]
    totals: list[int]
    focal: Cells | None = None


class CountsPage(msgspec.Struct, forbid_unknown_fields=True):
    """Counts as JSON."""

    format: str
    version: int
    rows: int
    variables: list[Family]

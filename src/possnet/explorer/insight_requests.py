"""What questions about an answer may hold: why, what matters, what to ask next, what if, and what differs."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

import msgspec

Evidence: TypeAlias = dict[str, list[str]]
Known: TypeAlias = Literal["original", "before", "file", "example"]


class WhyRequest(msgspec.Struct, forbid_unknown_fields=True):
    """A state of a variable (the most possible one, without a name), what is seen, and what is done."""

    target: str
    evidence: Evidence
    state: str | None = None
    do: dict[str, str] = {}


class ConflictRequest(msgspec.Struct, forbid_unknown_fields=True):
    """Evidence that may contradict itself, and what is done."""

    evidence: Evidence
    do: dict[str, str] = {}


class Situation(msgspec.Struct, forbid_unknown_fields=True):
    """What is seen, and what is done."""

    evidence: Evidence = {}
    do: dict[str, str] = {}


class ScenariosRequest(msgspec.Struct, forbid_unknown_fields=True):
    """Two situations whose marginals stand side by side."""

    a: Situation
    b: Situation


class CompareRequest(msgspec.Struct, forbid_unknown_fields=True):
    """The network on the page beside another: the original, the one before the last step, a file or an example."""

    other: Known
    example: str = ""


class PairRequest(msgspec.Struct, forbid_unknown_fields=True):
    """Some contexts of a variable's two tables, those that differ most first, from a place in that order on."""

    other: Known
    variable: str
    example: str = ""
    start: Annotated[int, msgspec.Meta(ge=0)] = 0

"""What a request may hold, as types that msgspec checks."""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

HistoryStep: TypeAlias = Literal["undo", "redo"]


class AnswerRequest(msgspec.Struct, forbid_unknown_fields=True):
    """Evidence, what is done, and whether the marginals without both and the most possible configuration are wanted too."""

    evidence: dict[str, list[str]]
    before: bool = False
    explain: bool = False
    do: dict[str, str] = {}


class QuestionsRequest(msgspec.Struct, forbid_unknown_fields=True):
    """The variable that is to be settled, and what is seen and done, for what asking each unknown variable would bring."""

    target: str
    evidence: dict[str, list[str]]
    do: dict[str, str] = {}


class TableRequest(msgspec.Struct, forbid_unknown_fields=True):
    """A page of a variable's table, from a context on."""

    variable: str
    start: int = 0


class ReadingRequest(msgspec.Struct, forbid_unknown_fields=True):
    """A number, an interval or another reading of a variable that has bins, as someone types it."""

    variable: str
    text: str


class NormaliseRequest(msgspec.Struct, forbid_unknown_fields=True):
    """Rows of a variable's table that do not peak at 1."""

    variable: str
    rows: list[list[float]]


class EditRequest(msgspec.Struct, forbid_unknown_fields=True):
    """Other degrees for some contexts (by number) of a variable's table, as it was at a revision."""

    variable: str
    rows: dict[int, list[float]]
    revision: int


class ResetRequest(msgspec.Struct, forbid_unknown_fields=True):
    """The original table of a variable (of all, without a name), at a revision."""

    revision: int
    variable: str | None = None


class HistoryRequest(msgspec.Struct, forbid_unknown_fields=True):
    """One step back or forward, at a revision."""

    step: HistoryStep
    revision: int

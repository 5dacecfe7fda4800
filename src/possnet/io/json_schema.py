"""JSON documents as types; loaded when the first one is read, so that `import possnet` stays light."""

from __future__ import annotations

from typing import Any

import msgspec


class BinsJson(msgspec.Struct, forbid_unknown_fields=True):
    """Where the numbers behind the states of a variable were cut."""

    edges: list[float]
    open_ended: bool = True
    unit: str = ""


class CellsJson(msgspec.Struct, forbid_unknown_fields=True):
    """How the cells that a variable was made from were written."""

    reading: str = "auto"
    separator: str | None = None
    unknown_words: list[str] = []
    escape: str = "\\"


class GateJson(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    """The numbers that a table is made of."""

    kind: str
    inhibition: dict[str, float] | float | None = None
    substitution: dict[str, float] | float | None = None
    effects: dict[str, list[list[float]] | float] | float | None = None
    leak: list[float] | float | None = None
    thresholds: dict[str, str] | None = None
    active: str | None = None


class VariableJson(msgspec.Struct, forbid_unknown_fields=True):
    """A variable and its table."""

    name: str
    states: list[str]
    parents: list[str]
    degrees: list[Any] | None = None
    gate: GateJson | None = None
    ordered: bool = False
    bins: BinsJson | None = None
    cells: CellsJson | None = None
    lower: list[Any] | None = None
    upper: list[Any] | None = None
    support: list[Any] | float | None = None


class NetworkJson(msgspec.Struct, forbid_unknown_fields=True):
    """A network as JSON."""

    format: str
    version: int
    variables: list[VariableJson]
    conjunction: str
    name: str = ""
    description: str = ""
    subnormal: bool = False
    transform: str = ""


class ScoresJson(msgspec.Struct, forbid_unknown_fields=True):
    """Scores of calibration rows, ascending, their weights, and the numbers of their states if these are told apart."""

    scores: list[float]
    weights: list[float]
    states: list[int] | None = None


class TargetJson(msgspec.Struct, forbid_unknown_fields=True):
    """A variable without a table."""

    name: str
    states: list[str]
    ordered: bool = False
    bins: BinsJson | None = None


class CalibrationJson(msgspec.Struct, forbid_unknown_fields=True):
    """A calibration as JSON; networks are documents of their own."""

    format: str
    version: int
    target: TargetJson
    by: str
    ambiguous: str
    seen: str
    folds: list[ScoresJson]
    scorers: list[dict[str, Any]]
    network: dict[str, Any] | None = None
    alpha: float | None = None


class FocalJson(msgspec.Struct, forbid_unknown_fields=True):
    """Combinations of cells as hexadecimal masks, and how often each occurs."""

    cells: list[str]
    counts: list[int | float]


class FamilyCountsJson(msgspec.Struct, forbid_unknown_fields=True):
    """A variable and its counts."""

    name: str
    states: list[str]
    ordered: bool
    parents: list[str]
    cell_sizes: int | float
    contexts: list[list[int]]
    counts: list[list[int | float]]
    totals: list[int | float]
    bins: BinsJson | None = None
    focal: FocalJson | None = None


class CountsJson(msgspec.Struct, forbid_unknown_fields=True):
    """Counts as JSON."""

    format: str
    version: int
    rows: int | float
    variables: list[FamilyCountsJson]

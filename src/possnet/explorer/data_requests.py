"""What requests about tables and jobs may hold, as types that msgspec checks."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

import msgspec

Seconds: TypeAlias = Annotated[float, msgspec.Meta(ge=1, le=3600)]


class BinsRequest(msgspec.Struct, forbid_unknown_fields=True):
    """How a column of numbers becomes bins: edges, or a way to compute them; and the error of a reading."""

    edges: list[float] | Literal["quantile", "width"] = "quantile"
    bins: Annotated[int, msgspec.Meta(ge=2, le=50)] | None = None
    error: Annotated[float, msgspec.Meta(ge=0)] = 0.0


class OpenTableRequest(msgspec.Struct, forbid_unknown_fields=True):
    """Open a table that lies below the folder of the explorer."""

    path: str


class ReadRequest(msgspec.Struct, forbid_unknown_fields=True):
    """Read the uploaded table again: these columns, these bins (other columns hold states), these words for unknown."""

    columns: list[str]
    bins: dict[str, BinsRequest]
    unknown_words: Annotated[list[str], msgspec.Meta(max_length=50)] = []


class LearnRequest(msgspec.Struct, forbid_unknown_fields=True):
    """Learn a network from the table: its structure too, or the tables of the structure on the page (``keep``)."""

    keep: bool = False
    method: str = "auto"
    measure: str | None = None
    learner: str | None = None
    seconds: Seconds = 300.0


class CheckRequest(msgspec.Struct, forbid_unknown_fields=True):
    """Check the network on the page on the rows of the table, or (``folds``) what is learned from parts of them."""

    folds: Annotated[int, msgspec.Meta(ge=0, le=20)] = 0
    keep: bool = False
    method: str = "auto"
    measure: str | None = None
    learner: str | None = None
    seconds: Seconds = 300.0


class RowsRequest(msgspec.Struct, forbid_unknown_fields=True):
    """Some rows of the table, from a number on."""

    start: int = 0
    count: Annotated[int, msgspec.Meta(ge=1, le=200)] = 20


class RowRequest(msgspec.Struct, forbid_unknown_fields=True):
    """One row of the table, as evidence for the network on the page."""

    number: int


class AdoptRequest(msgspec.Struct, forbid_unknown_fields=True):
    """Put the network that a job learned in the place of the one on the page, as it was at a revision."""

    job: int
    revision: int


class NothingRequest(msgspec.Struct, forbid_unknown_fields=True):
    """A request that says nothing more."""

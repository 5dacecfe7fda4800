"""What requests that build a network may hold, as types that msgspec checks."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

import msgspec

from possnet.explorer.card_layout import Shape  # noqa: TC001 - msgspec reads it

Name: TypeAlias = Annotated[str, msgspec.Meta(max_length=1000)]
Coordinate: TypeAlias = Annotated[float, msgspec.Meta(ge=-1e7, le=1e7)]
GateChoice: TypeAlias = Literal["or", "and", "max", "min", "ignorance"]


class AddRequest(msgspec.Struct, forbid_unknown_fields=True):
    """A new variable, at a place or at a free one; without a name or states it gets some."""

    revision: int
    name: Name = ""
    states: list[Name] = []
    ordered: bool = False
    place: tuple[Coordinate, Coordinate] | None = None
    shape: Shape = "wide"


class StateRow(msgspec.Struct, forbid_unknown_fields=True):
    """A state, and the one that it was; None if it is new."""

    name: Name
    was: str | None = None


class VariableRequest(msgspec.Struct, forbid_unknown_fields=True):
    """Another name or other states of a variable."""

    revision: int
    variable: str
    name: Name
    states: list[StateRow]
    ordered: bool = False
    shape: Shape = "wide"


class EdgeRequest(msgspec.Struct, forbid_unknown_fields=True):
    """An edge to draw or to delete."""

    revision: int
    parent: str
    child: str
    remove: bool = False
    shape: Shape = "wide"


class RemoveRequest(msgspec.Struct, forbid_unknown_fields=True):
    """Variables to delete."""

    revision: int
    names: list[str]
    shape: Shape = "wide"


class MoveRequest(msgspec.Struct, forbid_unknown_fields=True):
    """Cards at other places, by their left upper corners; None leaves all places to the layout again."""

    revision: int
    places: dict[str, tuple[Coordinate, Coordinate]] | None
    shape: Shape = "wide"


class GateRequest(msgspec.Struct, forbid_unknown_fields=True):
    """A table made by a gate from a number for each parent, or a table of ones."""

    revision: int
    variable: str
    kind: GateChoice
    numbers: dict[str, float] = {}
    leak: float = 0.0


class TitleRequest(msgspec.Struct, forbid_unknown_fields=True):
    """Another name, description or conjunction of the network."""

    revision: int
    name: Name
    description: Annotated[str, msgspec.Meta(max_length=10_000)]
    conjunction: Literal["product", "min"]


class OpenRequest(msgspec.Struct, forbid_unknown_fields=True):
    """A bundled example, a file below the folder, or an empty canvas."""

    revision: int
    kind: Literal["example", "file", "empty"]
    name: Name = ""


class SaveRequest(msgspec.Struct, forbid_unknown_fields=True):
    """Save the network below the folder, under a name or where it came from."""

    revision: int
    name: Name | None = None
    overwrite: bool = False


class AutosaveRequest(msgspec.Struct, forbid_unknown_fields=True):
    """Whether every change is written beside the file."""

    on: bool

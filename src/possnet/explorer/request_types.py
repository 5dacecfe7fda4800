"""What a request may hold, and how it is answered: JSON in, JSON out, one sentence for every error."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from possnet.errors import InputError
from possnet.explorer.session import Step  # noqa: TC001 - msgspec reads it
from possnet.io import explain_mismatch

if TYPE_CHECKING:
    from collections.abc import Mapping

Kind = TypeVar("Kind")


class RefusedRequest(Exception):
    """A request that is answered with a status and a sentence, before any work."""

    def __init__(self, status: int, sentence: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(sentence)
        self.status = status
        self.headers = dict(headers or {})


class AnswerRequest(msgspec.Struct, forbid_unknown_fields=True):
    """Evidence, and whether the marginals without it and the most possible configuration are wanted too."""

    evidence: dict[str, list[str]]
    before: bool = False
    explain: bool = False


class TableRequest(msgspec.Struct, forbid_unknown_fields=True):
    """Some contexts of a variable's table."""

    variable: str
    start: int = 0


class EditRequest(msgspec.Struct, forbid_unknown_fields=True):
    """Other degrees for some contexts (by number) of a variable's table, as it was at a revision."""

    variable: str
    rows: dict[int, list[float]]
    revision: int


class NormaliseRequest(msgspec.Struct, forbid_unknown_fields=True):
    """Rows of a variable's table that do not peak at 1."""

    variable: str
    rows: list[list[float]]


class HistoryRequest(msgspec.Struct, forbid_unknown_fields=True):
    """A step through the edits."""

    step: Step
    revision: int
    variable: str | None = None


def decode_request(body: bytes, kind: type[Kind]) -> Kind:
    """A request of its bytes.

    >>> decode_request(b'{"variable": "fever"}', TableRequest).variable
    'fever'
    """
    try:
        return msgspec.json.decode(body, type=kind)
    except msgspec.ValidationError as error:
        raise InputError(f"request: {explain_mismatch(str(error))}") from None
    except msgspec.DecodeError as error:
        told = str(error)
        raise RefusedRequest(400, f"request: {told[:1].lower()}{told[1:]}; expected JSON") from None
    except UnicodeDecodeError:
        raise RefusedRequest(400, "request: not UTF-8 text; expected JSON") from None
    except RecursionError:
        raise RefusedRequest(400, "request: nested too deeply; expected flat JSON") from None


def encode_json(document: Any) -> bytes:
    """JSON in plain ASCII, so that no name can break it."""
    return json.dumps(document, allow_nan=False, separators=(",", ":")).encode("ascii")

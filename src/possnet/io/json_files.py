"""JSON files: syntax errors with their place, and documents that say what they are."""

from __future__ import annotations

from typing import Any, TypeVar

from possnet.errors import InputError
from possnet.io.file_access import locate_offset

Document = TypeVar("Document")

_DESCRIPTIONS = {
    "possnet-counts": "a file of counts",
    "possnet-experiment": "an experiment",
    "possnet-network": "a network",
}


def parse_object(content: bytes, owner: str, expected: str) -> dict[str, Any]:
    """The JSON object in some bytes; ``owner`` and what was ``expected`` are named in errors."""
    import msgspec

    if not content.strip():
        raise InputError(f"{owner}: the file is empty; expected {expected}")
    try:
        document = msgspec.json.decode(content)
    except msgspec.DecodeError as error:
        message = str(error)
        if "truncated" in message:
            where = locate_offset(content, len(content))
            raise InputError(f"{owner}, {where}: the file ends too early; expected the rest of the JSON") from None
        finding, _, place = message.rpartition(" (byte ")
        where = locate_offset(content, int(place.rstrip(")"))) if place.rstrip(")").isdigit() else "line 1, column 1"
        raise InputError(
            f"{owner}, {where}: {(finding or message).removeprefix('JSON is malformed: ')}; expected JSON"
        ) from None
    except RecursionError:
        raise InputError(f"{owner}: nested too deeply; expected {expected}") from None
    except UnicodeDecodeError:
        where = locate_offset(content, len(content) - len(_undecodable(content)))
        raise InputError(f"{owner}, {where}: not UTF-8 text; expected {expected}") from None
    if not isinstance(document, dict):
        raise InputError(
            f"{owner}: holds one {type(document).__name__}; expected an object with 'format' and 'variables'"
        )
    return document


def _undecodable(content: bytes) -> bytes:
    """The content from its first byte that is not UTF-8."""
    try:
        content.decode()
    except UnicodeDecodeError as error:
        return content[error.start :]
    return b""


def require_format(document: dict[str, Any], owner: str, name: str, number: int) -> None:
    """Raise an `InputError` unless the object says that it is of a format and a version."""
    if document.get("format") != name:
        found = f"format {document['format']!r}" if "format" in document else "no format"
        raise InputError(f'{owner}: {found}; expected "format": "{name}". Is this {_DESCRIPTIONS[name]} of possnet?')
    version = document.get("version")
    if version != number or isinstance(version, bool):
        remedy = "update possnet" if isinstance(version, int) and version > number else "check the file"
        raise InputError(f"{owner}: version {version!r} of {name}; this possnet reads version {number}; {remedy}")


def convert_document(document: dict[str, Any], page: type[Document], owner: str, remedy: str) -> Document:
    """The object as a value of a type; an `InputError` says what does not fit it, and ends with a remedy."""
    import msgspec

    try:
        return msgspec.convert(document, page)
    except msgspec.ValidationError as error:
        raise InputError(f"{owner}: {explain_mismatch(str(error))}; {remedy}") from None


def explain_mismatch(message: str) -> str:
    """Turn "Expected `str`, got `int` - at `$.variables[0].name`" into "variables[0].name: expected str, got int"."""
    finding, _, place = message.replace("`", "").partition(" - at ")
    where = place.removeprefix("$").removeprefix(".")
    return f"{where + ': ' if where else ''}{finding[:1].lower()}{finding[1:]}"

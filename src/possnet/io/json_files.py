"""JSON files: syntax errors with their place, documents that say what they are, and checksums of those that nobody edits.

Counts, calibrations and the files of experiments end with a member ``checksum``: the SHA-256 of all bytes before its name.
It is verified wherever it stands, so that a changed digit is an error and not another number. Networks, which people write
and edit, have none; nor does a file need one that somebody else wrote.
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any, TypeVar

from possnet.errors import InputError
from possnet.io.file_access import locate_offset, prefix_errors
from possnet.variables import Bins, Variable

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from possnet.io.json_schema import FamilyCountsJson, TargetJson, VariableJson

Document = TypeVar("Document")

_CHECKSUM = "checksum"

_DESCRIPTIONS = {
    "possnet-calibration": "a calibration",
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
    if isinstance(document.get(_CHECKSUM), str):  # an object of this name may be a network of an experiment
        _verify_checksum(content, document.pop(_CHECKSUM), owner)
    return document


def seal_json(text: str) -> str:
    r"""The text of a JSON object with the checksum of its bytes as a last member, which `parse_object` verifies.

    >>> seal_json('{"rows": 3}\n')[:32]
    '{"rows": 3, "checksum": "sha256:'
    >>> parse_object(seal_json('{"rows": 3}').encode(), "a.json", "counts")
    {'rows': 3}
    >>> parse_object(seal_json('{"rows": 3}').replace("3", "7", 1).encode(), "a.json", "counts")
    Traceback (most recent call last):
        ...
    possnet.errors.InputError: a.json: its content does not have its checksum; the file is damaged, ...
    """
    body = text.rstrip()
    if not (body.startswith("{") and body.endswith("}")):
        raise InputError(f"{body[:40]!r} is no JSON object; only objects carry a checksum")
    last = body[:-1].rstrip()
    space = body[len(last) : -1] or " "
    head = f"{last}{'' if last == '{' else ','}{space if space == ' ' else space + '  '}"
    head = "{" if head == "{ " else head
    return f'{head}"{_CHECKSUM}": "{_compute_checksum(head.encode())}"{"" if space == " " else space}}}\n'


def _compute_checksum(content: bytes) -> str:
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


def _verify_checksum(content: bytes, checksum: str, owner: str) -> None:
    if _compute_checksum(content[: content.rfind(f'"{_CHECKSUM}"'.encode())]) != checksum:
        raise InputError(
            f"{owner}: its content does not have its checksum; the file is damaged, or was changed by hand: then delete "
            f"the member {_CHECKSUM!r}"
        )


def _undecodable(content: bytes) -> bytes:
    """The content from its first byte that is not UTF-8."""
    try:
        content.decode()
    except UnicodeDecodeError as error:
        return content[error.start :]
    return b""


def require_format(document: dict[str, Any], owner: str, name: str, newest: int) -> None:
    """Raise an `InputError` unless the object says that it is of a format and of a version from 1 to the newest."""
    if document.get("format") != name:
        finding = f"format {document['format']!r}" if "format" in document else "no format"
        raise InputError(f'{owner}: {finding}; expected "format": "{name}". Is this {_DESCRIPTIONS[name]} of possnet?')
    version = document.get("version")
    if type(version) is not int or not 1 <= version <= newest:
        remedy = "update possnet" if type(version) is int and version > newest else "check the file"
        known = f"version {newest}" if newest == 1 else f"versions 1 to {newest}"
        raise InputError(f"{owner}: version {version!r} of {name}; this possnet reads {known}; {remedy}")


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


def restore_variables(entries: Iterable[VariableJson | FamilyCountsJson | TargetJson]) -> tuple[Variable, ...]:
    """Variables of a document; two of the same name are an `InputError`."""
    variables = tuple(
        Variable(entry.name, tuple(entry.states), ordered=entry.ordered, bins=_restore_bins(entry)) for entry in entries
    )
    if len({variable.name for variable in variables}) < len(variables):
        raise InputError("two variables have the same name; expected distinct names")
    return variables


def _restore_bins(entry: VariableJson | FamilyCountsJson | TargetJson) -> Bins | None:
    if entry.bins is None:
        return None
    with prefix_errors(f"bins of {entry.name!r}"):
        return Bins(tuple(entry.bins.edges), open_ended=entry.bins.open_ended, unit=entry.bins.unit)


def choose_version(variables: Iterable[Variable]) -> int:
    """The version of a document of variables: 2 if any has bins, otherwise 1, which older readers know.

    >>> choose_version([Variable("rash", ("yes", "no"))])
    1
    """
    return 2 if any(variable.bins is not None for variable in variables) else 1


def describe_bins(variable: Variable) -> dict[str, Any]:
    """The field ``bins`` of a variable in JSON; nothing if it has none.

    >>> describe_bins(Variable("temp", ("low", "high"), ordered=True, bins=Bins((37.5,), unit="°C")))
    {'bins': {'edges': [37.5], 'open_ended': True, 'unit': '°C'}}
    """
    bins = variable.bins
    if bins is None:
        return {}
    return {"bins": {"edges": list(bins.edges), "open_ended": bins.open_ended, "unit": bins.unit}}


def encode_variables(
    variables: Iterable[Variable],
    format_name: str,
    number: int,
    fields: Mapping[str, object],
    *,
    indent: int | None = None,
) -> str:
    """Variables as the text of a JSON object that says its format and version, with other fields beside them."""
    listed = [{"name": v.name, "states": v.states, "ordered": v.ordered, **describe_bins(v)} for v in variables]
    document = {"format": format_name, "version": number, **fields, "variables": listed}
    return json.dumps(document, ensure_ascii=False, indent=indent)


def decode_variables(content: bytes, name: str, *numbers: int) -> tuple[dict[str, Any], list[Variable]]:
    """The JSON object that `encode_variables` wrote, and its variables; anything else is an `InputError`."""
    try:
        document = json.loads(content)
        if document["format"] != name or document["version"] not in numbers:
            message = f"{document['format']} {document['version']}; this possnet reads {name} {numbers[-1]}"
            raise InputError(message)
        variables = [
            Variable(
                v["name"], tuple(v["states"]), ordered=v["ordered"], bins=Bins(**v["bins"]) if v.get("bins") else None
            )
            for v in document["variables"]
        ]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise InputError(str(error)) from None
    return document, variables

"""Networks from XMLBIF files.

``VARIABLE`` elements hold ``OUTCOME`` elements; ``DEFINITION`` elements hold ``FOR``, ``GIVEN`` and ``TABLE``. In a
``TABLE`` the variable itself varies fastest and the first ``GIVEN`` slowest, as in the format's own example. Entity
declarations are refused: no network needs them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from math import prod
from typing import TYPE_CHECKING, NoReturn
from xml.parsers import expat

import numpy as np

from possnet.errors import InputError
from possnet.io.file_access import file_stem
from possnet.io.formats import NetworkFormat
from possnet.io.probability_tables import NetworkDraft

if TYPE_CHECKING:
    from pathlib import Path

    from possnet.network import Network
    from possnet.transforms import Transform

_TEXT = {"NAME", "OUTCOME", "VALUE", "FOR", "GIVEN", "TABLE"}


@dataclass
class _Element:
    """A VARIABLE or DEFINITION element: its line, and its texts by tag."""

    kind: str
    line: int
    texts: dict[str, list[str]] = field(default_factory=dict)


def decode_xmlbif(content: bytes, path: str | Path, transform: Transform = "optimal") -> Network:
    """Network of the bytes of an XMLBIF file; its path is named in errors, and names a network that has no name."""
    owner = str(path)
    if not content.strip():
        raise InputError(f"{owner}: the file is empty; expected an XMLBIF file")
    elements, title = _parse_elements(content, owner)
    draft = NetworkDraft(owner, "DEFINITION")
    for element in elements:
        if element.kind == "VARIABLE":
            states = element.texts.get("OUTCOME") or element.texts.get("VALUE") or ()
            draft.declare_variable("".join(element.texts.get("NAME", [])), states, partial(_fail, owner, element))
    if not draft.variables:
        raise InputError(f"{owner}: no VARIABLE element; expected an XMLBIF file")
    for element in elements:
        if element.kind == "DEFINITION":
            _read_definition(draft, element)
    return draft.build_network(transform, title or file_stem(path))


def _parse_elements(content: bytes, owner: str) -> tuple[list[_Element], str]:
    """Elements of the file and the name of the network."""
    elements: list[_Element] = []
    path: list[str] = []
    texts: list[str] = []
    titles: list[str] = []
    parser = expat.ParserCreate()

    def start(tag: str, _: object) -> None:
        path.append(tag.upper())
        texts.clear()
        if path[-1] in {"VARIABLE", "DEFINITION"}:
            elements.append(_Element(path[-1], parser.CurrentLineNumber))

    def end(_: str) -> None:
        tag = path.pop()
        if tag in _TEXT and path and path[-1] in {"VARIABLE", "DEFINITION"}:
            elements[-1].texts.setdefault(tag, []).append("".join(texts).strip())
        elif tag == "NAME" and path and path[-1] == "NETWORK":
            titles.append("".join(texts).strip())
        texts.clear()

    def entity(*_: object) -> NoReturn:
        raise InputError(f"{owner}, line {parser.CurrentLineNumber}: an entity is declared; expected plain XMLBIF")

    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = texts.append
    parser.EntityDeclHandler = entity
    try:
        parser.Parse(content, True)  # noqa: FBT003
    except expat.ExpatError as error:
        where = f"line {error.lineno}, column {error.offset + 1}"
        raise InputError(f"{owner}, {where}: {expat.ErrorString(error.code)}; expected an XMLBIF file") from None
    except (ValueError, LookupError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{owner}: {error}; expected an XMLBIF file") from None
    return elements, "".join(titles[:1])


def _read_definition(draft: NetworkDraft, element: _Element) -> None:
    """One table."""
    fail = partial(_fail, draft.owner, element)
    names = element.texts.get("FOR", [])
    if len(names) != 1:
        fail(f"a DEFINITION for {len(names)} variables; expected one FOR")
    child, given = names[0], tuple(element.texts.get("GIVEN", []))
    shape = draft.table_shape(child, given, fail)
    words = " ".join(element.texts.get("TABLE", [])).replace(",", " ").split()
    try:
        values = np.array(words, dtype=np.float64)
    except ValueError:
        fail(f"the table of {child!r} holds something else than numbers; expected probabilities")
    if len(values) != prod(shape) or not np.isfinite(values).all():
        fail(f"the table of {child!r} has {len(values)} numbers; expected {prod(shape)} finite ones")
    draft.parents[child], draft.tables[child] = given, values.reshape(shape)


def _fail(owner: str, element: _Element, sentence: str) -> NoReturn:
    raise InputError(f"{owner}, line {element.line}: {sentence}")


FORMAT = NetworkFormat(
    name="xmlbif",
    label="XMLBIF",
    suffixes=(".xmlbif", ".xml"),
    sniff=lambda head: head.startswith((b"<?xml", b"<BIF")),
    decode=decode_xmlbif,
    probabilities=True,
)

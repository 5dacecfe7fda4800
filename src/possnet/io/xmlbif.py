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
from possnet.io.probability_tables import NetworkDraft

if TYPE_CHECKING:
    from possnet.network import Network
    from possnet.transforms import Transform

_TEXT = {"NAME", "OUTCOME", "VALUE", "FOR", "GIVEN", "TABLE"}


@dataclass
class _Element:
    """A VARIABLE or DEFINITION element: its line, and its texts by tag."""

    kind: str
    line: int
    texts: dict[str, list[str]] = field(default_factory=dict)


def decode_xmlbif(content: bytes, owner: str, transform: Transform = "optimal", *, name: str = "") -> Network:
    """Network of the bytes of an XMLBIF file; ``owner`` is named in errors."""
    if not content.strip():
        raise InputError(f"{owner}: the file is empty; expected an XMLBIF file")
    blocks, title = _parse(content, owner)
    draft = NetworkDraft(owner, "DEFINITION")
    for block in blocks:
        if block.kind == "VARIABLE":
            states = block.texts.get("OUTCOME") or block.texts.get("VALUE") or ()
            draft.declare("".join(block.texts.get("NAME", [])), states, partial(_fail, owner, block))
    if not draft.variables:
        raise InputError(f"{owner}: no VARIABLE element; expected an XMLBIF file")
    for block in blocks:
        if block.kind == "DEFINITION":
            _define(draft, block)
    return draft.network(transform, title or name)


def _parse(content: bytes, owner: str) -> tuple[list[_Element], str]:
    """Blocks of the file and the name of the network."""
    blocks: list[_Element] = []
    path: list[str] = []
    texts: list[str] = []
    titles: list[str] = []
    parser = expat.ParserCreate()

    def start(tag: str, _: object) -> None:
        path.append(tag.upper())
        texts.clear()
        if path[-1] in {"VARIABLE", "DEFINITION"}:
            blocks.append(_Element(path[-1], parser.CurrentLineNumber))

    def end(_: str) -> None:
        tag = path.pop()
        if tag in _TEXT and path and path[-1] in {"VARIABLE", "DEFINITION"}:
            blocks[-1].texts.setdefault(tag, []).append("".join(texts).strip())
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
    return blocks, "".join(titles[:1])


def _define(draft: NetworkDraft, block: _Element) -> None:
    """One table."""
    fail = partial(_fail, draft.owner, block)
    names = block.texts.get("FOR", [])
    if len(names) != 1:
        fail(f"a DEFINITION for {len(names)} variables; expected one FOR")
    child, given = names[0], tuple(block.texts.get("GIVEN", []))
    shape = draft.shape(child, given, fail)
    words = " ".join(block.texts.get("TABLE", [])).replace(",", " ").split()
    try:
        values = np.array(words, dtype=np.float64)
    except ValueError:
        fail(f"the table of {child!r} holds something else than numbers; expected probabilities")
    if len(values) != prod(shape) or not np.isfinite(values).all():
        fail(f"the table of {child!r} has {len(values)} numbers; expected {prod(shape)} finite ones")
    draft.parents[child], draft.tables[child] = given, values.reshape(shape)


def _fail(owner: str, block: _Element, sentence: str) -> NoReturn:
    raise InputError(f"{owner}, line {block.line}: {sentence}")

"""Networks from XMLBIF files.

``VARIABLE`` elements hold ``OUTCOME`` elements; ``DEFINITION`` elements hold ``FOR``, ``GIVEN`` and ``TABLE``. In a
``TABLE`` the variable itself varies fastest and the first ``GIVEN`` slowest, as in the format's own example. Entity
declarations are refused: no network needs them.
"""

from __future__ import annotations

from functools import partial
from math import prod
from typing import TYPE_CHECKING, NoReturn
from xml.etree.ElementTree import Element, TreeBuilder
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

_LINE = "line of the file"


def decode_xmlbif(content: bytes, path: str | Path, transform: Transform = "optimal") -> Network:
    """Network of the bytes of an XMLBIF file; its path is named in errors, and names a network that has no name."""
    owner = str(path)
    if not content.strip():
        raise InputError(f"{owner}: the file is empty; expected an XMLBIF file")
    root = _parse_tree(content, owner)
    draft = NetworkDraft(owner, "DEFINITION")
    for element in root.iter("VARIABLE"):
        states = _texts_of(element, "OUTCOME") or _texts_of(element, "VALUE")
        draft.declare_variable("".join(_texts_of(element, "NAME")), states, partial(_fail, owner, element))
    if not draft.variables:
        raise InputError(f"{owner}: no VARIABLE element; expected an XMLBIF file")
    for element in root.iter("DEFINITION"):
        _read_definition(draft, element)
    titles = [title for network in root.iter("NETWORK") for title in _texts_of(network, "NAME")]
    return draft.build_network(transform, "".join(titles[:1]) or file_stem(path))


def _parse_tree(content: bytes, owner: str) -> Element:
    """The elements of the file, their tags in capitals, each with its line in the file."""
    builder, parser = TreeBuilder(), expat.ParserCreate()

    def refuse_entity(*_: object) -> NoReturn:
        raise InputError(f"{owner}, line {parser.CurrentLineNumber}: an entity is declared; expected plain XMLBIF")

    parser.StartElementHandler = lambda tag, _: builder.start(tag.upper(), {_LINE: str(parser.CurrentLineNumber)})
    parser.EndElementHandler = lambda tag: builder.end(tag.upper())
    parser.CharacterDataHandler = builder.data
    parser.EntityDeclHandler = refuse_entity
    try:
        parser.Parse(content, True)  # noqa: FBT003
    except expat.ExpatError as error:
        where = f"line {error.lineno}, column {error.offset + 1}"
        raise InputError(f"{owner}, {where}: {expat.ErrorString(error.code)}; expected an XMLBIF file") from None
    except (ValueError, LookupError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{owner}: {error}; expected an XMLBIF file") from None
    return builder.close()


def _texts_of(element: Element, tag: str) -> list[str]:
    """The texts of the children with a tag."""
    return ["".join(child.itertext()).strip() for child in element.findall(tag)]


def _read_definition(draft: NetworkDraft, element: Element) -> None:
    """Read a DEFINITION element: the child, its parents, and its table."""
    fail = partial(_fail, draft.owner, element)
    names = _texts_of(element, "FOR")
    if len(names) != 1:
        fail(f"a DEFINITION for {len(names)} variables; expected one FOR")
    child, given = names[0], tuple(_texts_of(element, "GIVEN"))
    shape = draft.table_shape(child, given, fail)
    words = " ".join(_texts_of(element, "TABLE")).replace(",", " ").split()
    try:
        values = np.array(words, dtype=np.float64)
    except ValueError:
        fail(f"the table of {child!r} holds something else than numbers; expected probabilities")
    if len(values) != prod(shape) or not np.isfinite(values).all():
        fail(f"the table of {child!r} has {len(values)} numbers; expected {prod(shape)} finite ones")
    draft.parents[child], draft.tables[child] = given, values.reshape(shape)


def _fail(owner: str, element: Element, sentence: str) -> NoReturn:
    raise InputError(f"{owner}, line {element.get(_LINE)}: {sentence}")


FORMAT = NetworkFormat(
    name="xmlbif",
    label="XMLBIF",
    suffixes=(".xmlbif", ".xml"),
    sniff=lambda head: head.startswith((b"<?xml", b"<BIF")),
    decode=decode_xmlbif,
)

"""The elements of an XML file, read without entities, without anything outside the file, and to a bounded depth."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NoReturn
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

from possnet.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable

LINE = "line of the file"
_DEEPEST = 64  # levels; the formats of networks need six
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")


def parse_xml(content: bytes, owner: str, expected: str, rename: Callable[[str], str] = str) -> Element:
    """The root of a file, whose elements have their attributes and, as ``LINE``, their line in the file.

    ``rename`` is applied to tags. Declared entities, nesting beyond 64 levels and broken XML are an `InputError`.

    >>> root = parse_xml(b"<a><b c='1'/></a>", "a.xml", "XML")
    >>> root[0].tag, root[0].get("c"), root[0].get(LINE)
    ('b', '1', '1')
    """
    builder, parser, depth = TreeBuilder(), expat.ParserCreate(), 0

    def fail(sentence: str) -> NoReturn:
        raise InputError(f"{owner}, line {parser.CurrentLineNumber}: {sentence}; expected {expected}")

    def start_element(tag: str, attributes: dict[str, str]) -> None:
        nonlocal depth
        depth += 1
        if depth > _DEEPEST:
            fail(f"elements nested deeper than {_DEEPEST} levels")
        builder.start(rename(tag), {**attributes, LINE: str(parser.CurrentLineNumber)})

    def end_element(tag: str) -> None:
        nonlocal depth
        depth -= 1
        builder.end(rename(tag))

    def refuse_entity(*_: object) -> NoReturn:
        fail("an entity is declared")

    parser.StartElementHandler = start_element
    parser.EndElementHandler = end_element
    parser.CharacterDataHandler = builder.data
    parser.EntityDeclHandler = refuse_entity
    try:
        parser.Parse(content, True)  # noqa: FBT003
    except expat.ExpatError as error:
        where = f"line {error.lineno}, column {error.offset + 1}"
        raise InputError(f"{owner}, {where}: {expat.ErrorString(error.code)}; expected {expected}") from None
    except (ValueError, LookupError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{owner}: {error}; expected {expected}") from None
    return builder.close()


def texts_of(element: Element, tag: str) -> list[str]:
    """The texts of the children with a tag."""
    return ["".join(child.itertext()).strip() for child in element.findall(tag)]


def fail_at(owner: str, element: Element, sentence: str) -> NoReturn:
    """Raise an `InputError` with the line of an element."""
    raise InputError(f"{owner}, line {element.get(LINE)}: {sentence}")


def escape_xml(text: str) -> str:
    """The text as XML has it, also between double quotes.

    >>> escape_xml('<5 & "old"')
    '&lt;5 &amp; &quot;old&quot;'
    """
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")


def require_xml_text(text: str, owner: str) -> str:
    """The text as XML has it; an `InputError` if it has characters that no XML file may hold, or outer blanks."""
    if _FORBIDDEN.search(text) or text != text.strip():
        raise InputError(f"{owner}: the name {text!r} has control characters or outer blanks; rename it, or write JSON")
    return escape_xml(text)

r"""Lists in brackets: ``{a, b}``, ``[a, b]``, JSON's ``["a", "b"]`` and Python's ``['a', 'b']``.

Members stand between commas, or between the separators of the column. A member in quotes is any text, with the escapes of
JSON; a bare one may be a range, and is read like any other part of a cell.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from possnet.cells.escaped_text import strip_blanks

if TYPE_CHECKING:
    from collections.abc import Sequence

PARTNERS = {"[": "]", "{": "}"}
_QUOTED = r"\"((?:[^\"\\]|\\.)*)\"|'((?:[^'\\]|\\.)*)'"
_ESCAPED = re.compile(
    r"\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|U(00(?:0[0-9a-fA-F]|10)[0-9a-fA-F]{4})|(.))", re.DOTALL
)
_CONTROLS = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}


class ListMember(NamedTuple):
    """A member of a list: its text, and whether it stood in quotes."""

    text: str
    quoted: bool


def split_list(text: str, separators: Sequence[str], escape: str) -> list[ListMember] | None:
    r"""Members of a text in brackets, none for an empty list; None if the text is no list.

    >>> split_list('["a, b", "c\\u00e9"]', ("|",), "\\")
    [ListMember(text='a, b', quoted=True), ListMember(text='cé', quoted=True)]
    >>> [member.text for member in split_list("{a, b|c}", ("|",), "\\") or ()], split_list("{a}|{b}", ("|",), "\\")
    (['a', 'b', 'c'], None)
    """
    if len(text) < 2 or PARTNERS.get(text[0]) != text[-1]:
        return None
    inner, members, place = text[1:-1], [], 0
    if not inner.strip():
        return []
    member, between = _member_patterns(tuple(separators), escape)
    while True:
        match = member.match(inner, place)
        if match is None:
            return None
        quoted = match["bare"] is None
        content = (match[1] if match[1] is not None else match[2]) if quoted else strip_blanks(match["bare"], escape)
        members.append(ListMember(_decode_quoted(content) if quoted else content, quoted))
        place = match.end()
        if place == len(inner):
            # bare ones as in [20,30)..(40,50] are no members
            return members if is_balanced(inner) or any(m.quoted for m in members) else None
        comma = between.match(inner, place)
        if comma is None:
            return None
        place = comma.end()


@lru_cache(maxsize=64)
def _member_patterns(separators: tuple[str, ...], escape: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """A member, up to what follows it; and what stands between two members."""
    signs = sorted({",", *(sign for sign in separators if sign.strip())}, key=len, reverse=True)
    between = "|".join(map(re.escape, signs))
    escaped = f"{re.escape(escape)}.|" if escape else ""
    bare = rf"(?P<bare>(?:{escaped}(?!{between})[^\[\]{{}}])*)"
    member = re.compile(rf"\s*(?:{_QUOTED})\s*(?={between}|\Z)|{bare}(?={between}|\Z)", re.DOTALL)
    return member, re.compile(between)


def is_balanced(text: str) -> bool:
    """Whether every bracket has its partner, round and square ones alike, as in ``[20,30)``.

    >>> is_balanced("[20,30)|(30,40]"), is_balanced("[a, b"), is_balanced(":)")
    (True, False, False)
    """
    depth = 0
    for sign in text:
        depth += (sign in "([{") - (sign in ")]}")
        if depth < 0:
            return False
    return depth == 0


def split_outside(text: str, between: re.Pattern[str]) -> list[str]:
    """Pieces of a text between signs that stand outside of brackets, without blanks around them.

    >>> split_outside("Cuba, Guam (East, West), Iran", re.compile(","))
    ['Cuba', 'Guam (East, West)', 'Iran']
    >>> split_outside("a), b", re.compile(","))
    ['a)', 'b']
    """
    pieces = between.split(text)
    if len(pieces) > 1 and any(sign in text for sign in "([{") and is_balanced(text):
        pieces, start = [], 0
        for match in between.finditer(text):
            if is_balanced(text[start : match.start()]):
                pieces.append(text[start : match.start()])
                start = match.end()
        pieces.append(text[start:])
    return [piece.strip() for piece in pieces]


def _decode_quoted(text: str) -> str:
    r"""The text that a quoted one stands for.

    >>> _decode_quoted(r"a\"b\n\ud83d\ude00"), _decode_quoted(r"\U0001f600")
    ('a"b\n😀', '😀')
    """
    if "\\" not in text:
        return text

    def decode_escape(match: re.Match[str]) -> str:
        number = match[1] or match[2] or match[3]
        return chr(int(number, 16)) if number else _CONTROLS.get(match[4], match[4])

    decoded = _ESCAPED.sub(decode_escape, text)
    # JSON writes characters beyond the first 65,536 as two surrogates
    return decoded.encode("utf-16", "surrogatepass").decode("utf-16", "replace")

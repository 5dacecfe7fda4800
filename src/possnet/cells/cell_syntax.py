r"""The text of a set-valued cell: one grammar for files, tables of other libraries, and the command line.

===========================  ============================================================================
``a``                        one state
``a|b``, ``a;b``             a set; another separator is an option, of one character or several
``{a, b}``, ``[a, b]``       a set; members in quotes, as in JSON or Python, may hold anything
``!a``, ``!a|b``             every state but these
``b..d``                     the states from b to d of an ordered variable
empty, ``?``, ``*``          unknown; and the words for unknown that are an option
``a,b``                      a set if ``a`` and ``b`` are known to be states; a state otherwise
``[20,30]``                  a set if both are known to be states; a state where nothing is known of them
``a:1|b:.4``                 degrees, if the states are known to be ``a`` and ``b``, or an option says so
===========================  ============================================================================

Blanks around states do not count. The escape character (``\``) takes the special meaning from the next character, so that
any name can be written: ``\?`` is the state named ``?``. Before an ordinary character it is an ordinary character.

Reading has two steps, because the domain may have to be inferred first: `CellSyntax.parse` splits a text into a
`ParsedCell`, and `ParsedCell.resolve_states` turns that into states of a known domain.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

from possnet.cells.bracketed_lists import PARTNERS, ListMember, is_balanced, split_list, split_outside
from possnet.cells.escaped_text import EscapedText, escape_text, strip_blanks
from possnet.cells.parsed_cell import CellPart, ParsedCell
from possnet.cells.written_degrees import write_degree
from possnet.errors import InputError, describe_value, require_known, require_several

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from possnet.arrow import Cell

CellReading: TypeAlias = Literal["auto", "plain", "sets", "range", "degrees"]
"""How the cells of a column are read.

``auto``: by the grammar, and what is ambiguous by the domain; ``plain``: a text is a state; ``sets``: commas separate too,
and brackets are always lists; ``range``: two parts are the ends of a range; ``degrees``: parts may be a state and its
degree, ``high:1|mild:.4``, even where the states are not known beforehand.
"""
_UNKNOWN = ("?", "*")
_USUAL_SEPARATORS = ("|", ";")
_LONGEST_SEPARATOR = 100
_NEVER_SEPARATE = "!?*{}[]\"'"
# the two ends around the first .. with something on both sides
_RANGE = re.compile(r"(.*?\S)\s*\.\.\s*(\S.*)", re.DOTALL)
_COMMA = re.compile(",")
_FIRST = re.compile(r"\A.", re.DOTALL)
_NUMBER = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?")
WHOLE_NUMBER = re.compile(r"0|-?[1-9]\d*")


@dataclass(frozen=True, slots=True)
class CellSyntax:
    r"""How the cells of a column are written.

    Attributes
    ----------
    separator
        What stands between states; ``|`` and ``;`` if none is given.
    escape
        The escape character; none if empty.
    reading
        ``auto``, ``plain``, ``sets``, ``range`` or ``degrees``; see `CellReading`.
    unknown_words
        Texts that mean unknown, besides ``?``, ``*`` and nothing.

    Examples
    --------
    >>> import possnet as pn
    >>> fever = pn.Variable("fever", ("none", "mild", "high"), ordered=True)
    >>> syntax = CellSyntax()
    >>> [syntax.parse(text).resolve_states(fever)[0] for text in ("mild|high", "!none", "none..mild", "?")]
    [('mild', 'high'), ('mild', 'high'), ('none', 'mild'), None]
    >>> [syntax.parse(text).resolve_states(fever)[0] for text in ("{none, high}", '["none", "high"]', "none,high")]
    [('none', 'high'), ('none', 'high'), ('none', 'high')]
    >>> CellSyntax(reading="range").parse("none,high").resolve_states(fever)[0]
    ('none', 'mild', 'high')
    >>> syntax.write(("a|b", "?"))
    'a\\|b|?'
    """

    separator: str | None = None
    escape: str = "\\"
    reading: CellReading = "auto"
    unknown_words: tuple[str, ...] = ()
    separators: tuple[str, ...] = field(init=False, repr=False, compare=False)
    _special: re.Pattern[str] = field(init=False, repr=False, compare=False)
    _between: re.Pattern[str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        require_known(self.reading, get_args(CellReading), "cells")
        _check_separator(self.separator)
        _check_escape(self.escape, self.separator)
        object.__setattr__(self, "unknown_words", check_words(self.unknown_words))
        commas = (",",) if self.reading in {"sets", "range"} else ()
        given = _USUAL_SEPARATORS if self.separator is None else (self.separator,)
        # a separator that was given is the only one, but the ends of ranges stand at commas all the same
        separators = given if self.reading == "sets" and self.separator is not None else (*given, *commas)
        object.__setattr__(self, "separators", separators)
        signs = "|".join(re.escape(sign) for sign in sorted(separators, key=len, reverse=True))
        commas_too = r"|," if self.separator is None else ""
        object.__setattr__(
            self, "_special", re.compile(rf"{signs}|\.\.|{re.escape(self.escape) or '!'}|[\[\]{{}}!]{commas_too}")
        )
        blank = self.separator is not None and not self.separator.strip()
        object.__setattr__(self, "_between", re.compile(f"(?:{signs})+" if blank else signs))

    def parse(self, text: str) -> ParsedCell:
        """Split the text of a cell, without knowing the domain."""
        parsed = self._parse_text(text)
        return replace(parsed, asks_degrees=True, doubt="") if self.reading == "degrees" else parsed

    def _parse_text(self, text: str) -> ParsedCell:
        bare = strip_blanks(text, self.escape)
        plain = self.reading == "plain"
        if not bare or bare in self.unknown_words or (bare in _UNKNOWN and not plain):
            return ParsedCell(text, unknown=True)
        if plain:
            return ParsedCell(text, (CellPart(text),))
        if not self._special.search(bare):
            return ParsedCell(text, (CellPart(bare),))
        all_but = bare[0] == "!"
        body = bare[1:].lstrip() if all_but else bare
        members = split_list(body, self.separators, self.escape)
        if self.reading == "range":
            return self._parse_range(text, body, members, all_but=all_but)
        if members is not None:
            return self._parse_list(text, body, members, all_but=all_but)
        return self._parse_parts(text, body, all_but=all_but)

    def spell_reading(self, text: str) -> str:
        """The text of a reading: two ends of a range with ``..`` between them, anything else as it stands.

        >>> CellSyntax(reading="range").spell_reading("49,50"), CellSyntax().spell_reading("49,50")
        ('49..50', '49,50')
        """
        parts = self.parse(text).parts if self.reading == "range" else ()
        return "..".join(parts[0].ends) if len(parts) == 1 and parts[0].ends else text

    def _parse_list(self, text: str, body: str, members: list[ListMember], *, all_but: bool) -> ParsedCell:
        if not members:
            return ParsedCell(
                text, finding=f"{body} is an empty set; expected a state in it, or ? where nothing is known"
            )
        if any(not member.text for member in members):
            return ParsedCell(text, finding=f"{body} has an empty place; expected a state there")
        parts = tuple(CellPart(m.text) if m.quoted else self._read_part(m.text) for m in members)
        doubtful = self.reading == "auto" and body[0] == "[" and _is_interval(members)
        return ParsedCell(text, parts, all_but=all_but, doubt="interval" if doubtful else "", is_list=not doubtful)

    def _parse_parts(self, text: str, body: str, *, all_but: bool) -> ParsedCell:
        written = self._hide_escaped(body)
        pieces = split_outside(written.plain, self._between)
        if not all(pieces):
            sign = next((s for s in self.separators if s in written.plain), self.separators[0])
            return ParsedCell(text, finding=f"an empty place beside {sign!r}; expected a state there")
        parts = tuple(_part_of(written, piece) for piece in pieces)
        ends = written.plain[0] in PARTNERS or written.plain[-1] in PARTNERS.values()
        unclosed = ends and not is_balanced(written.plain)
        if unclosed and self.reading == "sets":
            finding = f"{body!r} has a bracket without its partner; expected a list such as [a, b]"
            return ParsedCell(text, finding=finding)
        commas: list[str] = []
        if self.separator is None and len(parts) == 1 and "," in written.plain:
            commas = split_outside(written.plain, _COMMA)
        comma_parts = tuple(_part_of(written, piece) for piece in commas) if all(commas) else ()
        return ParsedCell(text, parts, all_but=all_but, doubt="unclosed" if unclosed else "", comma_parts=comma_parts)

    def _parse_range(self, text: str, body: str, members: list[ListMember] | None, *, all_but: bool) -> ParsedCell:
        """A cell of two ends, or of one state."""
        if members is None:
            written = self._hide_escaped(body)
            pieces = [written.show(piece) for piece in split_outside(written.plain, self._between)]
            if len(pieces) == 1 and (ends := _RANGE.fullmatch(written.plain)):
                pieces = [written.show(ends[1]), written.show(ends[2])]
        else:
            pieces = [member.text for member in members]
        if not 1 <= len(pieces) <= 2 or not all(pieces):
            return ParsedCell(text, finding=f"{body!r} is no range; expected a state, or its first and its last one")
        if len(pieces) == 1:
            return ParsedCell(text, (CellPart(pieces[0]),), all_but=all_but)
        first, last = pieces
        if all(WHOLE_NUMBER.fullmatch(end) for end in pieces) and int(first) > int(last):
            return ParsedCell(text, finding=f"the range {body!r} runs backwards; expected {last} before {first}")
        return ParsedCell(text, (CellPart(body, (first, last)),), all_but=all_but)

    def _read_part(self, text: str) -> CellPart:
        written = self._hide_escaped(text)
        return _part_of(written, written.plain)

    def _hide_escaped(self, text: str) -> EscapedText:
        return EscapedText(text, self.escape, "".join(sign[0] for sign in self.separators))

    def write(self, cell: Cell, states: Sequence[str] | None = None) -> str:
        """Text of a cell; the inverse of reading it.

        With the states of the domain a state such as ``5..10`` is written as it stands, unless ``5`` and ``10`` are
        states as well, which it could be taken for a range of. A text that happens to be the name of another state gets
        its last state twice, which makes it the same set, and no name.
        """
        known = set(states or ())
        if cell is None:
            return next((sign for sign in _UNKNOWN if sign not in known), "")
        separator = self.separators[0]
        texts = [self._write_state(state, states) for state in cell]
        if PARTNERS.get(texts[0][0]) == texts[-1][-1]:  # the whole would be taken for a list
            texts = [self._write_state(state, states, brackets=True) for state in cell]
        if texts[0][0] == "!" or (len(texts) == 1 and texts[0] in _UNKNOWN):
            texts[0] = escape_text(texts[0], _FIRST, self.escape)
        text = separator.join(texts)
        while text.strip() in self.unknown_words or (text.strip() in known and (text.strip(),) != cell):
            text = f"{text}{separator}{texts[-1]}"
        return text

    def write_degrees(self, degrees: Mapping[str, float], states: Sequence[str]) -> str:
        """Text of a cell with degrees; the inverse of reading it where the states are known.

        >>> CellSyntax().write_degrees({"high": 1.0, "mild": 0.4}, ("none", "mild", "high"))
        'high:1|mild:0.4'
        """
        known = set(states)
        texts = [write_degree(s, self._write_state(s, states, brackets=True), d, known) for s, d in degrees.items()]
        if texts[0][0] == "!":
            texts[0] = escape_text(texts[0], _FIRST, self.escape)
        text = self.separators[0].join(texts)
        while text.strip() in known or text.strip() in self.unknown_words:
            text = f"{text}{self.separators[0]}{texts[-1]}"
        return text

    def _write_state(self, state: str, states: Sequence[str] | None, *, brackets: bool = False) -> str:
        """A state with its separators, escapes, blanks at the ends, odd brackets and all dots but the first escaped."""
        signs = [re.escape(sign[0]) + (f"(?={re.escape(sign[1:])})" if sign[1:] else "") for sign in self.separators]
        # the end of a state and a separator after it must not make another separator
        signs += [rf"{re.escape(sign[:k])}\Z" for sign in self.separators for k in range(1, len(sign))]
        signs += [re.escape(self.escape)] if self.escape else []
        signs += [r"[()\[\]{}]"] if brackets or not is_balanced(state) else []
        signs += [r"(?<=\.)\."] if _has_unsafe_dots(state, states) else []
        return escape_text(state, re.compile("|".join([r"\A\s", r"\s\Z", *signs])), self.escape)


def _part_of(written: EscapedText, piece: str) -> CellPart:
    ends = _RANGE.fullmatch(piece)
    return CellPart(written.show(piece), (written.show(ends[1]), written.show(ends[2])) if ends else None)


def _is_interval(members: list[ListMember]) -> bool:
    """Whether a list may be an interval: two bare numbers, the larger one last."""
    if len(members) != 2 or any(m.quoted or not _NUMBER.fullmatch(m.text) for m in members):
        return False
    return float(members[0].text) < float(members[1].text)


def _has_unsafe_dots(state: str, states: Sequence[str] | None) -> bool:
    """Whether a state may be taken for a range: of other states, if these are known."""
    ends = _RANGE.fullmatch(state)
    return ends is not None and (states is None or set(ends.groups()) <= set(states))


def _check_separator(separator: object) -> None:
    if separator is None:
        return
    if not isinstance(separator, str) or not 0 < len(separator) <= _LONGEST_SEPARATOR:
        shown = describe_value(separator)
        raise InputError(f"separator {shown}; expected a text such as '|' or ', ', or a text for each column")
    wrong = [sign for sign in separator if sign in _NEVER_SEPARATE]
    if wrong or separator.strip() in {".", ".."} or "\n" in separator or "\r" in separator:
        raise InputError(
            f"separator {separator!r}; expected one without ! ? * brackets, quotes and line breaks, and no dots"
        )


def _check_escape(escape: object, separator: str | None) -> None:
    if (
        not isinstance(escape, str)
        or len(escape) > 1
        or (escape and escape in f"{_NEVER_SEPARATE}. \t\r\n,|;{separator or ''}")
    ):
        raise InputError(f"escape {escape!r}; expected one character of its own, or nothing")


def check_words(words: object) -> tuple[str, ...]:
    """Words for unknown, without blanks around them; an `InputError` for anything but texts.

    >>> check_words(["NA", " ND "])
    ('NA', 'ND')
    """
    example = "texts, for example ('NA', 'ND')"
    try:
        listed = require_several(words, "unknown_words")
    except InputError:
        raise InputError(f"unknown_words {describe_value(words)}; expected several {example}") from None
    for word in listed:
        if not isinstance(word, str):
            raise InputError(f"unknown_words: {describe_value(word)} among them; expected {example}")
    return tuple(word.strip() for word in listed)

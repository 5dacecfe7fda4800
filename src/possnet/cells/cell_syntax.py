r"""The text of a set-valued cell.

``a`` one state; ``a|b`` a set; empty, ``?`` or ``*`` unknown; ``!a`` or ``!a|b`` every state but these; ``b..d`` the
states from b to d of an ordered variable. Blanks around states do not count. The escape character (``\``) takes its special
meaning from the next character, so that any name can be written: ``\?`` is the state named ``?``.

Reading has two steps, because the domain may have to be inferred first: `CellSyntax.parse` splits a text into a
`ParsedCell`, and `ParsedCell.resolve_states` turns that into states of a known domain.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from possnet.arrow import describe_misfit
from possnet.errors import InputError, listing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from possnet.arrow import Cell, Finding
    from possnet.variables import Variable

_UNKNOWN = ("?", "*")
# the two ends around the first .. with something on both sides
_RANGE = re.compile(r"(.*?\S)\s*\.\.\s*(\S.*)", re.DOTALL)
_PRIVATE = 0xF0000
_HIDDEN = "[\U000f0000-\U0010ffff]"


class CellPart(NamedTuple):
    """A part of a cell: the text of a state, and the two ends if it may mean a range of states."""

    text: str
    ends: tuple[str, str] | None = None

    def resolve_states(self, variable: Variable) -> tuple[set[str], Finding]:
        """States of the part in the domain, and what is wrong with it (or nothing)."""
        if self.text in variable:
            return {self.text}, ""
        if self.ends is None:
            return set(), partial(describe_misfit, (self.text,), variable)
        for end in self.ends:
            if end not in variable:
                return set(), partial(describe_misfit, (end,), variable)
        if not variable.ordered:
            finding = (
                f"{self.text!r} is a range, but the states of {variable.name!r} have no order; list them, or order them"
            )
            return set(), finding
        first, last = self.ends
        low, high = variable.index(first), variable.index(last)
        if low > high:
            return set(), f"the range {self.text!r} runs backwards; expected {last}..{first}"
        return set(variable.states[low : high + 1]), ""


@dataclass(frozen=True, slots=True)
class ParsedCell:
    """A cell as written: unknown, a set of parts, or everything but those; or a finding if it cannot be read."""

    parts: tuple[CellPart, ...] = ()
    unknown: bool = False
    all_but: bool = False
    finding: str = ""

    def named_states(self) -> set[str]:
        """States that the text names, for a domain made from data; ends of ranges are not among them."""
        return {part.text for part in self.parts if part.ends is None}

    def possible_ranges(self) -> set[tuple[str, str, str]]:
        """Ranges that the text may mean: their ends, and the text."""
        return {(*part.ends, part.text) for part in self.parts if part.ends is not None}

    def resolve_states(self, variable: Variable) -> tuple[Cell, Finding]:
        """States of the cell in the domain, in order, and what is wrong with it (or nothing)."""
        if self.unknown or self.finding:
            return (None if self.unknown else ()), self.finding
        if len(self.parts) == 1 and not self.all_but and self.parts[0].text in variable:
            return (self.parts[0].text,), ""
        named: set[str] = set()
        for part in self.parts:
            states, finding = part.resolve_states(variable)
            if finding:
                return (), finding
            named |= states
        kept = tuple(s for s in variable.states if (s in named) != self.all_but)
        return kept, "" if kept else f"leaves no state of {listing(variable.states)}; expected at least one"


@dataclass(frozen=True, slots=True)
class CellSyntax:
    r"""How cells are written: the separator between states, the escape character (empty: none), and what parts fields.

    >>> import possnet as pn
    >>> fever = pn.Variable("fever", ("none", "mild", "high"), ordered=True)
    >>> syntax = CellSyntax()
    >>> [syntax.parse(text).resolve_states(fever)[0] for text in ("mild|high", "!none", "none..mild", "?")]
    [('mild', 'high'), ('mild', 'high'), ('none', 'mild'), None]
    >>> syntax.write(("a|b", "?"))
    'a\\|b|?'
    """

    separator: str = "|"
    escape: str = "\\"
    delimiter: str = ","

    def __post_init__(self) -> None:
        if len(self.separator) != 1 or self.separator in "!?*. \t\r\n":
            raise InputError(f"separator {self.separator!r}; expected one character other than ! ? * . and blanks")
        if len(self.escape) > 1 or self.escape == self.separator or (self.escape and self.escape in "!?*. \t\r\n"):
            raise InputError(f"escape {self.escape!r}; expected one character of its own, or nothing")
        special = {self.separator, self.escape, '"', "!", "?", "*", "."}
        plain = " " <= self.delimiter <= "~" or self.delimiter == "\t"
        if len(self.delimiter) != 1 or self.delimiter in special or not plain:
            raise InputError(
                f"delimiter {self.delimiter!r}; expected one plain character other than the separator, the escape "
                "and ! ? * ."
            )

    def parse(self, text: str) -> ParsedCell:
        """Split the text of a cell, without knowing the domain."""
        if self.escape not in text or not self.escape:
            bare = text.strip()
            if not bare or bare in _UNKNOWN:
                return ParsedCell(unknown=True)
            if self.separator not in bare and bare[0] != "!" and ".." not in bare:
                return ParsedCell((CellPart(bare),))
        escaped: list[str] = []  # while a text is split, letters of a private range stand for these characters

        def hide_character(match: re.Match[str]) -> str:
            escaped.append(match[0][-1])
            return chr(_PRIVATE + len(escaped) - 1)

        def show_characters(text: str) -> str:
            return re.sub(_HIDDEN, lambda match: escaped[ord(match[0]) - _PRIVATE], text)

        hidden = f"{re.escape(self.escape)}.|{_HIDDEN}" if self.escape else _HIDDEN
        plain = re.sub(hidden, hide_character, text, flags=re.DOTALL).strip()
        if plain in {"", *_UNKNOWN}:
            return ParsedCell(unknown=True)
        parts = []
        for piece in map(str.strip, plain.removeprefix("!").split(self.separator)):
            if not piece:
                return ParsedCell(finding=f"an empty place beside {self.separator!r}; expected a state there")
            ends = _RANGE.fullmatch(piece)
            whole = show_characters(piece)
            parts.append(CellPart(whole, (show_characters(ends[1]), show_characters(ends[2])) if ends else None))
        return ParsedCell(tuple(parts), all_but=plain.startswith("!"))

    def write(self, cell: Cell, states: Sequence[str] | None = None) -> str:
        """Text of a cell; the inverse of reading it.

        With the states of the domain a state such as ``5..10`` is written as it stands, unless ``5`` and ``10`` are
        states as well, which it could be taken for a range of.
        """
        if cell is None:
            return "?"
        texts = [state if self._is_bare(state, states) else self._write_state(state) for state in cell]
        if texts[0].startswith("!") or (len(texts) == 1 and texts[0] in _UNKNOWN):
            texts[0] = self._escape_character(texts[0][0], cell) + texts[0][1:]
        return self.separator.join(texts)

    def _is_bare(self, state: str, states: Sequence[str] | None) -> bool:
        """Whether nothing in a state is special but dots that no other states stand beside."""
        if states is None or ".." not in state or state != state.strip():
            return False
        if self.separator in state or (self.escape and self.escape in state):
            return False
        ends = _RANGE.fullmatch(state)
        return ends is None or not set(ends.groups()) <= set(states)

    def _write_state(self, state: str) -> str:
        """A state with separators, escapes, blanks at its ends and all but the first of several dots escaped."""
        special = rf"[{re.escape(self.separator + self.escape)}]|\A\s|\s\Z|(?<=\.)\."
        return re.sub(special, lambda match: self._escape_character(match[0], (state,)), state)

    def _escape_character(self, character: str, cell: tuple[str, ...]) -> str:
        if not self.escape:
            raise InputError(
                f"state {'|'.join(cell)!r} holds {character!r}, special in a cell; expected an escape character"
            )
        return self.escape + character

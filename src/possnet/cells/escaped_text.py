r"""Texts in which an escape character takes the special meaning from the next one."""

from __future__ import annotations

import re
import sys

from possnet.errors import InputError

_PRIVATE = 0xF0000
_HIDDEN = re.compile("[\U000f0000-\U0010ffff]")


class EscapedText:
    r"""A text whose escaped characters are hidden while it is split: ``plain`` holds letters of a private range for them.

    ``special`` are letters and digits that can be escaped too, as a separator may begin with one.

    >>> written = EscapedText(r"a\|b|c", "\\")
    >>> [written.show(part) for part in written.plain.split("|")]
    ['a|b', 'c']
    """

    __slots__ = ("_escaped", "plain")

    def __init__(self, text: str, escape: str, special: str = "") -> None:
        self._escaped: dict[str, int] = {}
        # nothing happens before an ordinary letter: C:\\temp stays as it is
        letters = f"|[{re.escape(special)}]" if special else ""
        pattern = f"{re.escape(escape)}(?:\\W{letters})|{_HIDDEN.pattern}" if escape else _HIDDEN.pattern
        self.plain = re.sub(pattern, self._hide_character, text, flags=re.DOTALL).strip()

    def _hide_character(self, match: re.Match[str]) -> str:
        code = self._escaped.setdefault(match[0][-1], _PRIVATE + len(self._escaped))
        if code > sys.maxunicode:
            raise InputError(
                f"a cell of more than {len(self._escaped) - 1:,} different escaped characters; expected states"
            )
        return chr(code)

    def show(self, text: str) -> str:
        """A part of the plain text with its escaped characters shown."""
        if not self._escaped:
            return text
        characters = list(self._escaped)
        return _HIDDEN.sub(lambda match: characters[ord(match[0]) - _PRIVATE], text)


def strip_blanks(text: str, escape: str) -> str:
    r"""A text without the blanks at its ends, but for one at the end that is escaped.

    >>> strip_blanks(" a\\  ", "\\"), strip_blanks(" a  ", "\\")
    ('a\\ ', 'a')
    """
    kept = len(text.rstrip())
    if escape and kept < len(text) and text[:kept].endswith(escape):
        kept += 1
    return text[:kept].lstrip()


def escape_text(text: str, special: re.Pattern[str], escape: str) -> str:
    r"""A text with the escape character before everything special.

    >>> escape_text("a|b", re.compile(r"\|"), "~")
    'a~|b'
    """

    def escape_character(match: re.Match[str]) -> str:
        if not escape:
            raise InputError(f"state {text!r} holds {match[0]!r}, special in a cell; expected an escape character")
        return escape + match[0]

    return special.sub(escape_character, text)

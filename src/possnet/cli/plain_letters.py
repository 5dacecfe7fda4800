"""Letters for streams that lack some of ours: bars and signs have plain twins, other letters are shown as their escapes.

Where the locale is not UTF-8, and on Windows, what is written to a file or a pipe is encoded in the letters of the locale.
"""

from __future__ import annotations

import codecs
import sys
from io import TextIOWrapper
from typing import Final

HANDLER: Final = "possnet.plain"
_PLAIN: Final = str.maketrans(
    {
        "█": "#",
        "▒": "+",
        "░": ".",
        "≥": ">=",
        "≤": "<=",
        "±": "+-",
        "–": "-",
        "…": "...",
        "°": " degrees ",
        "π": "pi",
        "Π": "Pi",
    }
)


def spare_letters() -> None:
    """From now on standard output and error take every text, whatever letters their encoding has."""
    codecs.register_error(HANDLER, replace_letters)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors=HANDLER)


def replace_letters(error: UnicodeError) -> tuple[str, int]:
    r"""Plain letters for those that an encoding lacks, as an error handler of `codecs`.

    >>> codecs.register_error(HANDLER, replace_letters)
    >>> "1 ██▒ N ≥ 0.9, 熱".encode("latin-1", HANDLER)
    b'1 ##+ N >= 0.9, \\u71b1'
    """
    if not isinstance(error, UnicodeEncodeError):
        raise error
    missing = error.object[error.start : error.end].translate(_PLAIN)
    return missing.encode("ascii", "backslashreplace").decode(), error.end

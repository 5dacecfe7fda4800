"""How wide a text is, without a font at hand, and texts cut short."""

from __future__ import annotations

import unicodedata
from functools import cache
from typing import Final

_WIDTHS: Final = {**dict.fromkeys("mwMW@%", 0.92), **dict.fromkeys("fijlrtI.,:;|!'()[] ", 0.34)}


def measure_text(text: str, size: float = 11.0) -> float:
    """About how wide a text is in a sans-serif font.

    >>> measure_text("mill") < measure_text("MMMM"), measure_text("ab") < measure_text("熱病")
    (True, True)
    """
    return size * sum(map(_letter_width, text))


@cache
def _letter_width(letter: str) -> float:
    if unicodedata.east_asian_width(letter) in {"W", "F"}:
        return 1.0
    return _WIDTHS.get(letter, 0.7 if letter.isupper() else 0.56)


def clip_text(text: str, most: int = 24) -> str:
    """Cut a text short.

    >>> clip_text("temperature", 6)
    'tempe…'
    """
    return text if len(text) <= most else text[: most - 1] + "…"

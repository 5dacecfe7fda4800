"""Contexts in a few characters: where there is no room, names of parents are cut before states, which tell rows apart."""

from __future__ import annotations

from typing import TYPE_CHECKING

from possnet.drawing import clip_text

if TYPE_CHECKING:
    from collections.abc import Sequence


def label_contexts(
    parents: Sequence[str], contexts: Sequence[Sequence[str]], most: int, sign: str = " = "
) -> list[str]:
    """Contexts as texts of at most so many characters: names of parents give way to their states, in all texts alike.

    >>> label_contexts(["bearing", "cavitation"], [["worn", "heavy"]], 40)
    ['bearing = worn, cavitation = heavy']
    >>> label_contexts(["bearing", "cavitation"], [["worn", "heavy"], ["worn", "none"]], 28)
    ['bear… = worn, cavi… = heavy', 'bear… = worn, cavi… = none']
    >>> label_contexts(["bearing", "cavitation"], [["worn", "heavy"]], 20)
    ['worn, heavy']
    """
    longest = max(map(len, parents), default=0)
    for length in range(longest, 3, -1):
        names = [clip_text(name, length) for name in parents]
        texts = [", ".join(f"{n}{sign}{s}" for n, s in zip(names, states, strict=True)) for states in contexts]
        if max(map(len, texts), default=0) <= most:
            return texts
    return [clip_text(", ".join(states), most) for states in contexts]

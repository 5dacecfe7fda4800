"""How ambiguous cells were read, told once for all columns that write them alike."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from possnet.errors import listing

if TYPE_CHECKING:
    from collections.abc import Mapping


class ReadingNote(NamedTuple):
    """A text of a column, how it is read as a sentence, and the word of ``cells=`` that reads it otherwise, if any."""

    text: str
    sentence: str
    word: str = ""


def describe_notes(notes: Mapping[str, ReadingNote]) -> list[str]:
    """A sentence for all columns whose texts the same word reads otherwise; ranges, which change most, come first.

    >>> note = ReadingNote("3,9", "'3,9' is read as the set of 3, 9, which are states", "range")
    >>> describe_notes({"age": note})
    ["column 'age': '3,9' is read as the set of 3, 9, which are states; cells={'age': 'range'} (--cells 'age=range') reads
     it otherwise"]
    >>> describe_notes({"age": note, "dose": note})
    ["2 columns: texts such as '3,9' are read as sets of states, not as ranges; cells={'age': 'range', 'dose': 'range'}
     (--cells 'age=range,dose=range') reads them otherwise"]
    """
    sentences = [f"column {name!r}: {note.sentence}" for name, note in notes.items() if not note.word]
    for word in sorted({note.word for note in notes.values() if note.word}, key=lambda word: (word != "range", word)):
        alike = {name: note for name, note in notes.items() if note.word == word}
        option = name_options("cells", dict.fromkeys(alike, word))
        if len(alike) == 1:
            ((name, note),) = alike.items()
            sentences.append(f"column {name!r}: {note.sentence}; {option} reads it otherwise")
            continue
        examples = listing([repr(text) for text in dict.fromkeys(note.text for note in alike.values())][:3])
        others = ", not as ranges" if word == "range" else ""
        sentences.append(
            f"{len(alike)} columns: texts such as {examples} are read as sets of states{others}; {option} reads them "
            "otherwise"
        )
    return sentences


def name_options(option: str, words: Mapping[str, str]) -> str:
    """An option for some columns, as it is given in Python and on the command line.

    >>> name_options("cells", {"age": "range"})
    "cells={'age': 'range'} (--cells 'age=range')"
    """
    return f"{option}={dict(words)!r} (--{option} '{','.join(f'{name}={word}' for name, word in words.items())}')"

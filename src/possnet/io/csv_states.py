"""Small CSV files whose fields are names of states that are known before they are read.

Fields are compared, as words of eight bytes, with the names of the states of the variables (see `possnet.kernels.fields`).
No text is decoded and no parser started, which would take longer than the fields of a small file. A file with any other
field, or lines that are not regular, is left to the reader that explains what it finds.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from possnet.io.csv_codes import split_lines
from possnet.kernels.fields import WORD_BYTES, FieldBuffers, find_fields, make_slots, read_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from possnet.aliases import Ints
    from possnet.kernels.fields import TextSlots
    from possnet.variables import Variable

_UNKNOWN: Final = 255  # the code of a field that is no state of its variable
_MOST_TEXTS: Final = 1_000  # of all variables: of more, two would surely share a slot
_KEPT: Final = 16  # domains
_LINE_FEED: Final = 10
_BLOCK: Final = 1 << 16  # bytes whose words stay in the cache

_BUFFERS: Final[list[FieldBuffers]] = []  # of one thread, a megabyte; new pages take longer than what is written there


class _StateTexts(NamedTuple):
    """The names of the states of some variables, numbered, and which state of each variable a number is.

    ``first`` is for each variable where its numbers begin in ``states``.
    """

    slots: TextSlots
    states: NDArray[np.uint8]
    first: Ints
    longest: int


def code_states(
    lines: memoryview, header: Sequence[str], delimiter: str, variables: Sequence[Variable], longest: int
) -> NDArray[np.uint8] | None:
    r"""The state of each field (variables, lines); None if any is no state, longer than ``longest`` bytes, or irregular.

    >>> from possnet.variables import Variable
    >>> rash = Variable("rash", ("yes", "no"))
    >>> code_states(memoryview(b"mild,no\nhigh,yes\nmild,no"), ["fever", "rash"], ",", [rash], 100)
    array([[1, 0, 1]], dtype=uint8)
    >>> code_states(memoryview(b"mild,no\nhigh,maybe\n"), ["fever", "rash"], ",", [rash], 100)
    """
    known = _know_states(tuple(variable.states for variable in variables))
    if known is None or known.longest > longest or not len(lines):
        return None
    columns = [header.index(variable.name) for variable in variables]
    chosen = None if columns == list(range(len(header))) else columns
    try:
        buffers = _BUFFERS.pop()
    except IndexError:  # another thread has them
        buffers = FieldBuffers()
    blocks = []
    for block in split_lines(lines, _BLOCK):
        states = _code_block(block, len(header), ord(delimiter), chosen, known, buffers)
        if states is None:
            break
        blocks.append(states)
    _BUFFERS[:] = [buffers]
    return None if states is None else np.ascontiguousarray(np.concatenate(blocks).T)


def _code_block(
    lines: memoryview,
    width: int,
    delimiter: int,
    columns: list[int] | None,
    known: _StateTexts,
    buffers: FieldBuffers,
) -> NDArray[np.uint8] | None:
    """The state of each field (lines, columns) of lines of ``width`` fields, of which some columns may be chosen."""
    size = len(lines) + (lines[-1] != _LINE_FEED)
    text = buffers.take("text", size + WORD_BYTES, np.uint8)
    text[: len(lines)] = lines
    text[len(lines) : size] = _LINE_FEED
    text[size:] = 0
    places = find_fields(text[:size], delimiter, width, buffers)
    if places is None or not text[:size].min():
        return None
    starts, lengths = places
    if columns is not None:
        starts, lengths = starts[:, columns], lengths[:, columns]
    if lengths.max() > known.longest:
        return None
    words = read_words(text, starts.reshape(-1), lengths.reshape(-1), buffers)
    numbers = known.slots.find_numbers(words, buffers).reshape(lengths.shape)
    numbers += known.first
    states = known.states.take(numbers)
    return None if states.max() == _UNKNOWN else states


@lru_cache(maxsize=_KEPT)
def _know_states(domains: tuple[tuple[str, ...], ...]) -> _StateTexts | None:
    """What is needed to look up the states of some domains; None if they have too many, or an empty name."""
    numbers = {text: number for number, text in enumerate(dict.fromkeys(s for states in domains for s in states), 1)}
    if not 0 < len(numbers) <= _MOST_TEXTS or max(map(len, domains)) >= _UNKNOWN:
        return None
    texts = [text.encode(errors="surrogatepass") for text in numbers]
    slots = make_slots(texts, quickly=True) if all(text and 0 not in text for text in texts) else None
    if slots is None:
        return None
    states = np.full((len(domains), len(numbers) + 1), _UNKNOWN, dtype=np.uint8)
    for row, domain in zip(states, domains, strict=True):
        row[[numbers[text] for text in domain]] = np.arange(len(domain))
    first = np.arange(len(domains)) * states.shape[1]
    return _StateTexts(slots, states.ravel(), first, max(map(len, texts)))

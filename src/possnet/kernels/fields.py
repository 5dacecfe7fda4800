"""Fields of delimited text: where they begin, and which of some known texts each of them is.

A text is an array of bytes, lines of as many fields each. The bytes of a field are words of eight: one word of a field of
less than eight bytes, the rest of which is zero, and for a longer one a further word for every eight bytes. Two fields
without zero bytes are equal if and only if their words are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
from numpy.lib.stride_tricks import as_strided

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import DTypeLike, NDArray

    from possnet.aliases import Bools, Ints, Words

WORD_BYTES: Final = 8
_LITTLE: Final = np.dtype("<u8")  # the first byte of a word is its lowest
_LINE_FEED: Final = 10
_RETURN: Final = 13
_MASKS: Final = np.array([(1 << 8 * k) - 1 for k in range(WORD_BYTES + 1)], dtype=np.uint64)  # the first k bytes
_NO_TEXT: Final = np.uint64(0xFFFFFFFFFFFFFF00)  # begins with a zero byte and goes on, as no field does
_MIXER: Final = np.uint64(0x9E3779B97F4A7C15)  # 2^64 over the golden ratio: an odd number without a pattern
_LEAST_BITS, _MOST_BITS = 8, 16  # of a slot's number
_TRIES: Final = 30


class FieldBuffers:
    """Memory that is used again for every block of lines: new pages cost more than what is written there.

    It is not for two threads at once; every buffer has a name, and holds what was last asked for by that name.
    """

    def __init__(self) -> None:
        self._pieces: dict[str, NDArray[np.uint8]] = {}

    def take(self, name: str, size: int, dtype: DTypeLike) -> NDArray[Any]:
        """A buffer of a size and type; its contents are unknown."""
        octets = size * np.dtype(dtype).itemsize
        piece = self._pieces.get(name)
        if piece is None or len(piece) < octets:
            piece = self._pieces[name] = np.empty(octets + octets // 4, dtype=np.uint8)
        return piece[:octets].view(dtype)


class FieldPlaces(NamedTuple):
    """Where the fields of a text begin, and their lengths in bytes; a row for every line."""

    starts: Ints
    lengths: Ints


class FieldWords(NamedTuple):
    """First words of fields, and for every further word the fields that have it."""

    first: Words
    further: list[tuple[Ints, Words]]


def find_fields(
    text: NDArray[np.uint8], delimiter: int, width: int, buffers: FieldBuffers | None = None
) -> FieldPlaces | None:
    r"""The fields of lines of ``width`` fields each, the last of which is ended; None if a line has more or fewer.

    A return before every line feed belongs to the end of the line; one anywhere else gives None, as some take it for the
    end of a line too.

    >>> places = find_fields(np.frombuffer(b"no,37\nyes,\n", dtype=np.uint8), ord(","), 2)
    >>> places.starts.tolist(), places.lengths.tolist()
    ([[0, 3], [6, 10]], [[2, 2], [3, 0]])
    >>> find_fields(np.frombuffer(b"no,37\nyes\n", dtype=np.uint8), ord(","), 2)
    """
    buffers = buffers or FieldBuffers()
    is_line_end: Bools = np.equal(text, _LINE_FEED, out=buffers.take("line ends", len(text), np.bool_))
    n_lines = np.count_nonzero(is_line_end)
    is_end: Bools = np.equal(text, delimiter, out=buffers.take("ends", len(text), np.bool_))
    is_end |= is_line_end
    ends = is_end.nonzero()[0]
    rows, rest = divmod(len(ends), width)
    if rest or not rows or rows != n_lines or not is_line_end.take(ends[width - 1 :: width]).all():
        return None
    starts = buffers.take("starts", len(ends), np.int64)
    starts[0] = 0
    np.add(ends[:-1], 1, out=starts[1:])
    lengths = np.subtract(ends, starts, out=ends).reshape(rows, width)
    starts = starts.reshape(rows, width)
    is_return = np.equal(text, _RETURN, out=is_end)
    if is_return.any():
        lengths[:, -1] -= 1
        if (
            lengths[:, -1].min() < 0
            or np.count_nonzero(is_return) != rows
            or not is_return.take(starts[:, -1] + lengths[:, -1]).all()
        ):
            return None
    return FieldPlaces(starts, lengths)


def read_words(text: NDArray[np.uint8], starts: Ints, lengths: Ints, buffers: FieldBuffers | None = None) -> FieldWords:
    r"""The words of some fields of a text, each of which has eight more bytes behind it.

    >>> text = np.frombuffer(b"no,maybe not,........", dtype=np.uint8)
    >>> words = read_words(text, np.array([0, 3]), np.array([2, 9]))
    >>> [int(word).to_bytes(8, "little") for word in words.first]
    [b'no\x00\x00\x00\x00\x00\x00', b'maybe no']
    >>> words.further
    [(array([1]), array([116], dtype=uint64))]
    """
    buffers = buffers or FieldBuffers()
    windows = buffers.take("windows", len(text) - WORD_BYTES + 1, np.uint64)
    whole = text[: len(text) // WORD_BYTES * WORD_BYTES].view(_LITTLE)
    windows[:] = as_strided(whole, shape=(len(windows),), strides=(1,))
    first = windows.take(starts, out=buffers.take("words", len(starts), np.uint64), mode="clip")
    first &= _MASKS.take(lengths, out=buffers.take("masks", len(starts), np.uint64), mode="clip")
    further, begin = [], WORD_BYTES
    fields = np.flatnonzero(lengths >= WORD_BYTES)
    while len(fields):
        rest = lengths[fields] - begin
        further.append((fields, windows.take(starts[fields] + begin, mode="clip") & _MASKS.take(rest, mode="clip")))
        begin += WORD_BYTES
        fields = fields[rest >= WORD_BYTES]
    return FieldWords(first, further)


class TextSlots(NamedTuple):
    """The slots of some texts: the upper bits of its words' product with the multiplier.

    No two texts share a slot. ``keys`` are the words of every text, in a row for the first words, one for the second ones,
    and so on; number 0 is no text.
    """

    multiplier: np.uint64
    shift: np.uint64
    slots: Ints
    keys: Words

    def find_numbers(self, words: FieldWords, buffers: FieldBuffers | None = None) -> Ints:
        """The number of every field's text, 0 where it is none of these."""
        buffers = buffers or FieldBuffers()
        size = len(words.first)
        slots = _choose_slots(words, self.multiplier, self.shift, buffers.take("product", size, np.uint64))
        numbers: Ints = self.slots.take(slots, out=buffers.take("numbers", size, np.int64), mode="clip")
        keys = self.keys[0].take(numbers, out=buffers.take("masks", size, np.uint64), mode="clip")
        differs = np.not_equal(keys, words.first, out=buffers.take("differs", size, np.bool_))
        for word, (fields, further) in enumerate(words.further, start=1):
            if word < len(self.keys):
                differs[fields] |= self.keys[word].take(numbers[fields]) != further
            else:
                differs[fields] = True
        if differs.any():
            numbers[differs] = 0
        return numbers


def hash_fields(words: FieldWords, multiplier: np.uint64 = _MIXER, out: Words | None = None) -> Words:
    """One number for all words of a field, the same for the same words; fields that differ rarely share it."""
    hashes: Words = np.multiply(words.first, multiplier, out=out)
    for word, (fields, further) in enumerate(words.further, start=1):
        hashes[fields] += further * multiplier * np.uint64(2 * word + 1)
    return hashes


def _choose_slots(words: FieldWords, multiplier: np.uint64, shift: np.uint64, out: Words) -> Ints:
    hashes = hash_fields(words, multiplier, out)
    hashes >>= shift
    return hashes.view(np.int64)


def make_slots(texts: Sequence[bytes], *, quickly: bool = False) -> TextSlots | None:
    """Slots for some texts without zero bytes; None if they are too many to have one each.

    As few as that takes, for they are read where the cache ends; or so many that one of the first multipliers will do.

    >>> slots = make_slots([b"yes", b"no", b"maybe, but not now"])
    >>> text = np.frombuffer(b"no,maybe, but not now,maybe, but never........", dtype=np.uint8)
    >>> slots.find_numbers(read_words(text, np.array([0, 3, 22]), np.array([2, 18, 16])))
    array([2, 3, 0])
    """
    content = np.frombuffer(b"".join(texts) + bytes(WORD_BYTES), dtype=np.uint8)
    lengths = np.array([len(text) for text in texts], dtype=np.int64)
    words = read_words(content, np.cumsum(lengths) - lengths, lengths)
    keys = np.zeros((len(words.further) + 1, len(texts) + 1), dtype=np.uint64)
    keys[0, 0] = _NO_TEXT
    keys[0, 1:] = words.first
    for row, (fields, further) in zip(keys[1:], words.further, strict=True):
        row[fields + 1] = further
    rng = np.random.default_rng(0)  # any odd multipliers will do
    least = 2 * len(texts).bit_length() - 4  # with fewer slots than that two texts share one nearly always
    least += 4 if quickly else 0
    for bits in range(min(max(_LEAST_BITS, least), _MOST_BITS), _MOST_BITS + 1):
        shift = np.uint64(64 - bits)
        for multiplier in rng.integers(1 << 63, size=_TRIES, dtype=np.uint64) * np.uint64(2) + np.uint64(1):
            slots = np.zeros(1 << bits, dtype=np.int64)
            chosen = _choose_slots(words, multiplier, shift, np.empty(len(texts), dtype=np.uint64))
            slots[chosen] = np.arange(1, len(texts) + 1)
            if np.count_nonzero(slots) == len(texts):
                return TextSlots(multiplier, shift, slots, keys)
    return None

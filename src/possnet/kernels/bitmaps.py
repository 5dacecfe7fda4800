"""Packed bitmaps: one bit a row, 64 rows a word.

A set-valued column of S states and n rows is an array of shape (S, words): bit r of row k is set when the cell of row r
contains state k. Bits beyond the last row are zero, so that population counts are exact. Counting the rows that contain
a configuration is an AND and a population count, 64 rows at a time.

The same column can be written as codes: a list of distinct cells, and for every row the number of its cell.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from possnet.kernels.grouping import group_rows

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from possnet.aliases import Bools, Codes, Ints, Words


WORD: Final = np.dtype("<u8")
_BYTES: Final = np.arange(256, dtype=np.uint8)[:, np.newaxis]
_BITS: Final = np.unpackbits(_BYTES, axis=1, bitorder="little").view(WORD)[:, 0]  # the bits of a byte, one in each byte
_SPREAD: Final = _BITS << np.arange(8, dtype=WORD)[:, np.newaxis]  # and at each of eight places in it


def _count_words(rows: int) -> int:
    return -(-rows // 64)


def pack(bits: NDArray[np.uint8] | Bools) -> Words:
    """Bitmaps of 0/1 (or zero/non-zero) values along the last axis.

    >>> pack(np.array([1, 0, 1, 1], dtype=np.uint8))
    array([13], dtype=uint64)
    """
    rows = bits.shape[-1]
    packed = np.zeros((*bits.shape[:-1], _count_words(rows) * 8), dtype=np.uint8)
    packed[..., : -(-rows // 8)] = np.packbits(bits, axis=-1, bitorder="little")
    return packed.view(WORD)


def unpack(bitmaps: Words, rows: int) -> Bools:
    """Booleans of bitmaps, along the last axis.

    >>> unpack(np.array([13], dtype=np.uint64), 4)
    array([ True, False,  True,  True])
    """
    as_bytes = np.ascontiguousarray(bitmaps).view(np.uint8)
    return np.unpackbits(as_bytes, axis=-1, count=rows, bitorder="little").view(np.bool_)


def ones(rows: int) -> Words:
    """Bitmap with the bit of every row set.

    >>> ones(3)
    array([7], dtype=uint64)
    """
    full = np.full(_count_words(rows), np.uint64(2**64 - 1), dtype=WORD)
    if rows % 64:
        full[-1] = np.uint64((1 << rows % 64) - 1)
    return full


def zeros(rows: int) -> Words:
    """Bitmap with no bit set.

    >>> zeros(3)
    array([0], dtype=uint64)
    """
    return np.zeros(_count_words(rows), dtype=WORD)


def count_bits(bitmaps: Words) -> Ints:
    """Number of set bits along the last axis.

    >>> count_bits(np.array([[13], [1]], dtype=np.uint64))
    array([3, 1])
    """
    return add_up(np.bitwise_count(bitmaps))


def add_up(ones: NDArray[np.uint8]) -> Ints:
    """Sums of bytes up to 64 along the last axis; numpy adds in 32 or 16 bits two and four times as fast as in 64.

    >>> add_up(np.array([[1, 2], [3, 64]], dtype=np.uint8))
    array([ 3, 67])
    """
    size = ones.shape[-1]
    sum_type = np.uint16 if size < 1 << 10 else np.uint32 if size < 1 << 26 else np.int64
    return np.asarray(np.add.reduce(ones, axis=-1, dtype=sum_type)).astype(np.int64)


def mark_imprecise(bitmaps: Words) -> Words:
    """Rows whose bit is set in at least two of the bitmaps: cells of two states or more.

    >>> mark_imprecise(np.array([[3], [6]], dtype=np.uint64))
    array([2], dtype=uint64)
    """
    seen = np.zeros(bitmaps.shape[1], dtype=WORD)
    repeated = np.zeros_like(seen)
    for bitmap in bitmaps:
        repeated |= seen & bitmap
        seen |= bitmap
    return repeated


def encode_cells(codes: Codes, cells: Bools) -> Words:
    """Bitmaps (states, words) of codes (rows) into cells (distinct cells, states).

    Eight states at a time: one look-up gives a byte a row, and each bit of that byte becomes a bitmap.

    >>> encode_cells(np.array([0, 1, 1]), np.array([[True, False], [True, True]]))
    array([[7], [6]], dtype=uint64)
    """
    octets = np.packbits(cells, axis=1, bitorder="little")
    return spread_octets((np.take(octet, codes, mode="clip") for octet in octets.T), cells.shape[1], len(codes))


def encode_codes(codes: Codes, size: int) -> Words:
    """Bitmaps (size, words) of the rows that have each code: `encode_cells` into cells of one state each, however many.

    >>> encode_codes(np.array([0, 1, 1, 3]), 4)
    array([[1], [6], [0], [8]], dtype=uint64)
    """
    length = 8 * _count_words(len(codes))
    octets = np.zeros(size * length, dtype=np.uint8)
    rows = np.arange(len(codes))
    np.add.at(octets, codes.astype(np.int64) * length + (rows >> 3), np.left_shift(1, rows & 7).astype(np.uint8))
    return octets.view(WORD).reshape(size, length // 8)


def encode_masks(masks: NDArray[np.unsignedinteger], states: int) -> Words:
    """Bitmaps (states, words) of masks: unsigned integers (rows), or their bytes (rows, bytes), low bits first.

    >>> encode_masks(np.array([1, 3, 3], dtype=np.uint8), 2)
    array([[7], [6]], dtype=uint64)
    """
    octets = masks.view(np.uint8).reshape(len(masks), masks[:1].nbytes or 1)
    return spread_octets((np.ascontiguousarray(octet) for octet in octets.T), states, len(masks))


def spread_octets(octets: Iterable[NDArray[np.uint8]], states: int, rows: int) -> Words:
    """Bitmaps of the bits of octets (rows), eight states each."""
    bitmaps = np.empty((states, _count_words(rows)), dtype=WORD)
    bitmaps[:, -1:] = 0
    as_bytes, filled = bitmaps.view(np.uint8), -(-rows // 8)
    for start, octet in zip(range(0, states, 8), octets, strict=False):
        for state in range(start, min(start + 8, states)):
            as_bytes[state, :filled] = np.packbits(octet & np.uint8(1 << state % 8), bitorder="little")
    return bitmaps


def decode_cells(bitmaps: Words, rows: int) -> tuple[Codes, NDArray[np.uint8]]:
    """Codes (rows) and distinct cells of bitmaps; the inverse of `encode_cells`.

    The cells are masks (cells, bytes), low bits first, in the order of the integers that they are.

    >>> decode_cells(np.array([[7], [6]], dtype=np.uint64), 3)
    (array([0, 1, 1], dtype=uint8), array([[1], [3]], dtype=uint8))
    """
    masks = decode_masks(bitmaps, rows)
    if masks.shape[1] == 1:  # a byte a row: twice as fast as numbers of eight bytes
        octets = np.flatnonzero(np.bincount(masks[:, 0], minlength=256)).astype(np.uint8)
        numbers = np.zeros(256, dtype=np.uint8)
        numbers[octets] = np.arange(len(octets))
        return np.take(numbers, masks[:, 0]), octets[:, np.newaxis]
    codes, octets = distinct_rows(masks[:, ::-1])  # the highest byte decides the order
    return codes, octets[:, ::-1]


def decode_states(bitmaps: Words, rows: int) -> NDArray[np.unsignedinteger]:
    """State number of every row of a column whose cells are single states: its binary digits, then put together.

    The whole domain reads as the largest number of these digits.

    >>> decode_states(np.array([[1], [2], [4]], dtype=np.uint64), 3)
    array([0, 1, 2], dtype=uint8)
    """
    states = len(bitmaps)
    codes = np.zeros(rows, dtype=np.min_scalar_type(max(states - 1, 0)))
    for bit in range((states - 1).bit_length()):
        holders = [k for k in range(states) if k >> bit & 1]
        plane = bitmaps[holders[0]] if len(holders) == 1 else np.bitwise_or.reduce(bitmaps[holders], axis=0)
        digit = unpack(plane, rows).view(np.uint8).astype(codes.dtype, copy=False)
        codes |= digit << codes.dtype.type(bit)
    return codes


def unpack_sets(octets: NDArray[np.uint8], states: int) -> Bools:
    """Sets of states (cells, states) of masks (cells, bytes), low bits first.

    >>> unpack_sets(np.array([[5], [2]], dtype=np.uint8), 3)
    array([[ True, False,  True], [False,  True, False]])
    """
    return np.unpackbits(octets, axis=1, count=states, bitorder="little").view(np.bool_)


def decode_masks(bitmaps: Words, rows: int, width: int | None = None) -> NDArray[np.uint8]:
    """Masks (rows, bytes), low bits first, of bitmaps (states, words); the inverse of `encode_masks`.

    >>> decode_masks(np.array([[7], [6]], dtype=np.uint64), 3)
    array([[1], [3], [3]], dtype=uint8)
    """
    # eight rows at a time: a byte of a bitmap looks up a word with one of its bits in each byte
    octets = np.zeros((width or -(-len(bitmaps) // 8), 8 * _count_words(rows)), dtype=WORD)
    spread = np.empty(octets.shape[1], dtype=WORD)
    for state, bitmap in enumerate(bitmaps):
        place, bit = divmod(state, 8)
        looked_up = spread if bit else octets[place]
        np.take(_SPREAD[bit], np.ascontiguousarray(bitmap).view(np.uint8), out=looked_up, mode="clip")
        if bit:
            octets[place] |= spread
    return octets.view(np.uint8)[:, :rows].T


def distinct_rows(octets: NDArray[np.uint8]) -> tuple[Ints, NDArray[np.uint8]]:
    """Codes (rows) and distinct rows of bytes.

    >>> distinct_rows(np.array([[1], [3], [1]], dtype=np.uint8))
    (array([0, 1, 0]), array([[1], [3]], dtype=uint8))
    """
    groups = group_rows(list(octets.T), [256] * octets.shape[1], len(octets))
    return groups.inverse, groups.combinations.astype(np.uint8)


def mask_of(inside: Bools) -> int:
    """A set of states, one truth value each, as an integer of any size: bit k is state k.

    >>> mask_of(np.array([True, False, True]))
    5
    """
    return int.from_bytes(np.packbits(inside, bitorder="little").tobytes(), "little")


def sets_of(masks: Sequence[int], states: int) -> Bools:
    """Sets of states (masks, states) of such integers; the inverse of `mask_of`.

    >>> sets_of([5, 2], 3)
    array([[ True, False,  True], [False,  True, False]])
    """
    width = -(-states // 8)
    octets = np.frombuffer(b"".join(mask.to_bytes(width, "little") for mask in masks), dtype=np.uint8)
    return unpack_sets(octets.reshape(len(masks), width), states)


def cross_columns(columns: Sequence[Words], everything: Words) -> Words:
    """Bitmaps of all configurations of a few columns among the rows of ``everything``, the last one fastest.

    >>> column = np.array([[1], [2]], dtype=np.uint64)
    >>> cross_columns([column, column], np.array([3], dtype=np.uint64)).ravel()
    array([1, 0, 0, 2], dtype=uint64)
    """
    crossed = everything[np.newaxis]
    for words in columns:
        crossed = (crossed[:, np.newaxis] & words).reshape(-1, len(everything))
    return crossed


def slice_rows(bitmaps: Words, start: int, stop: int) -> Words:
    """Bitmaps of the rows from ``start`` up to ``stop``.

    >>> slice_rows(np.array([0b10110], dtype=np.uint64), 1, 4)
    array([3], dtype=uint64)
    """
    rows = max(stop - start, 0)
    first, shift = divmod(start, 64)
    part = bitmaps[..., first : first + _count_words(rows)]
    if shift:
        part = part >> np.uint64(shift)
        carried = bitmaps[..., first + 1 : first + 1 + _count_words(rows)] << np.uint64(64 - shift)
        part[..., : carried.shape[-1]] |= carried
    else:
        part = part.copy()
    if rows % 64:
        part[..., -1] &= np.uint64((1 << rows % 64) - 1)
    return part


def take_rows(bitmaps: Words, rows: int, wanted: Ints) -> Words:
    """Bitmaps of chosen rows, in the order chosen.

    >>> take_rows(np.array([0b10110], dtype=np.uint64), 5, np.array([4, 0, 1]))
    array([5], dtype=uint64)
    """
    chosen = np.empty((*bitmaps.shape[:-1], _count_words(len(wanted))), dtype=WORD)
    for position in np.ndindex(bitmaps.shape[:-1]):
        chosen[position] = pack(np.take(unpack(bitmaps[position], rows), wanted))
    return chosen


def concatenate(parts: Sequence[tuple[Words, int]]) -> Words:
    """Bitmaps of several parts (bitmaps, rows), one after the other.

    >>> concatenate([(np.array([5], dtype=np.uint64), 3), (np.array([1], dtype=np.uint64), 2)])
    array([13], dtype=uint64)
    """
    shape = parts[0][0].shape[:-1]
    joined = np.zeros((*shape, _count_words(sum(rows for _, rows in parts))), dtype=WORD)
    offset = 0
    for bitmaps, rows in parts:
        first, shift = divmod(offset, 64)
        size = bitmaps.shape[-1]
        joined[..., first : first + size] |= bitmaps << np.uint64(shift)
        if shift:
            spill = joined[..., first + 1 : first + 1 + size]
            spill |= (bitmaps >> np.uint64(64 - shift))[..., : spill.shape[-1]]
        offset += rows
    return joined

"""Columns of CSV files whose texts repeat, read as codes without a look at any text twice.

Fields are looked for in the bytes of many lines at once and compared, as words of eight bytes, with the texts that occurred
before (see `possnet.kernels.fields`): a multiplication takes every known text to a slot of its own. Only a text that is new
is decoded. Columns of many texts, such as numbers, are left to Arrow, and so are lines that are not as regular as that.
"""

from __future__ import annotations

import threading
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from possnet.arrow import array_of_numbers, array_of_texts
from possnet.kernels.fields import (
    WORD_BYTES,
    FieldBuffers,
    FieldPlaces,
    find_fields,
    hash_fields,
    make_slots,
    read_words,
)
from possnet.threads import in_order

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from possnet.aliases import Ints, Words
    from possnet.kernels.fields import FieldWords, TextSlots

_BLOCK: Final = 1 << 19  # bytes whose words stay in the cache
_PART: Final = 1 << 22  # bytes that are worth a thread's while
_NEAR: Final = 1 << 12  # bytes in which a line end is likely
_LONGEST: Final = 128  # bytes of a field
_MOST: Final = 255  # distinct texts of a column
_UNKNOWN: Final = 255  # the code of a text that the column has not had yet
_LINE_FEED: Final = 10
_AT_ONCE: Final = 1 << 12  # fields that are looked at for new texts
_MOST_TEXTS: Final = 1_000  # of all columns: of more, two would surely share a slot


class _Irregular(Exception):
    """Lines that are not as regular as they must be, or a column with too many texts."""


class CodedFields:
    r"""Some columns of lines, as codes into the texts that each of them has had so far.

    >>> reader = CodedFields(["fever", "rash"], ["rash"], ",")
    >>> reader.read_table(memoryview(b"mild,no\nhigh,yes\nmild,no"), lambda names: None).to_pydict()
    {'rash': ['no', 'yes', 'no']}
    >>> reader.read_table(memoryview(b"mild,no\nhigh\n"), lambda names: None)
    """

    def __init__(self, header: Sequence[str], names: Sequence[str], delimiter: str) -> None:
        place = {name: number for number, name in enumerate(header)}
        self._width, self._delimiter = len(header), ord(delimiter)
        self._names = list(names)
        self._columns = [place[name] for name in names]
        self._texts: list[list[str]] = [[] for _ in names]  # of every column
        self._numbers: dict[bytes, int] = {}
        self._lock = threading.Lock()
        self._buffers: list[FieldBuffers] = []  # those that no thread has in use
        self._slots: TextSlots | None = None
        self._codes = np.full((len(names), 1), _UNKNOWN, dtype=np.uint8)
        self._wide: set[int] = set()  # columns of too many texts
        self._is_useful = bool(names)

    def read_table(self, lines: memoryview, read_others: Callable[[list[str]], Any]) -> Any | None:
        """An Arrow table of dictionaries, one chunk each; None if the lines are not regular, or too many texts occur.

        ``read_others`` reads some columns of the same lines, those of many texts.
        """
        while self._is_useful:
            wide = len(self._wide)
            try:
                return self._read_columns(lines, read_others)
            except _Irregular:
                if len(self._wide) == wide:  # not for the sake of a column that can be left to others
                    return None
        return None

    def _read_columns(self, lines: memoryview, read_others: Callable[[list[str]], Any]) -> Any:
        import pyarrow as pa

        chosen = [k for k in range(len(self._names)) if k not in self._wide]
        parts = list(in_order(partial(self._code_lines, chosen=chosen), list(split_lines(lines, _PART)), 2))
        arrays = {}
        if self._wide:
            names = [self._names[k] for k in sorted(self._wide)]
            arrays = dict(zip(names, read_others(names).columns, strict=True))
        blocks = [block for part in parts for block in part]
        codes = blocks[0] if len(blocks) == 1 else np.concatenate(blocks, axis=1)
        for column, k in zip(codes, chosen, strict=True):
            arrays[self._names[k]] = _encode_dictionary(column, self._texts[k])
        return pa.table({name: arrays[name] for name in self._names})

    def _code_lines(self, lines: memoryview, chosen: list[int]) -> list[NDArray[np.uint8]]:
        """Codes (columns, lines) of some columns, block by block."""
        try:
            buffers = self._buffers.pop()
        except IndexError:  # another thread may have taken the last ones just now
            buffers = FieldBuffers()
        try:
            return [self._code_block(block, chosen, buffers) for block in split_lines(lines, _BLOCK)]
        finally:
            self._buffers.append(buffers)

    def _code_block(self, lines: memoryview, chosen: list[int], buffers: FieldBuffers) -> NDArray[np.uint8]:
        size = len(lines) + (lines[-1] != _LINE_FEED)
        text = buffers.take("text", size + WORD_BYTES, np.uint8)
        text[: len(lines)] = lines
        text[len(lines) : size] = _LINE_FEED
        text[size:] = 0
        places = find_fields(text[:size], self._delimiter, self._width, buffers)
        if places is None or not text[:size].min():
            raise _Irregular
        starts, lengths = places
        columns = [self._columns[k] for k in chosen]
        if columns != list(range(self._width)):
            starts, lengths = starts[:, columns], lengths[:, columns]
        if lengths.max(initial=0) > _LONGEST:
            raise _Irregular
        fields = FieldPlaces(starts.reshape(-1), lengths.reshape(-1))
        words = read_words(text, *fields, buffers)
        codes = self._find_codes(words, chosen, buffers)
        while (unknown := np.flatnonzero(codes == _UNKNOWN)).size:
            some = unknown[:_AT_ONCE]  # further ones may be known by then
            self._learn_texts(text, fields, some, hash_fields(words)[some], chosen)
            codes = self._find_codes(words, chosen, buffers)
        return np.ascontiguousarray(codes.reshape(-1, len(chosen)).T)

    def _find_codes(self, words: FieldWords, chosen: list[int], buffers: FieldBuffers) -> NDArray[np.uint8]:
        """The code of every field, as far as it is known."""
        with self._lock:
            slots, codes = self._slots, self._codes[chosen]
        if slots is None:
            return np.full(len(words.first), _UNKNOWN, dtype=np.uint8)
        numbers = slots.find_numbers(words, buffers).reshape(-1, len(chosen))
        numbers += np.arange(len(chosen)) * codes.shape[1]
        known: NDArray[np.uint8] = codes.take(numbers.reshape(-1), mode="clip")
        return known

    def _learn_texts(
        self, text: NDArray[np.uint8], fields: FieldPlaces, unknown: Ints, hashes: Words, chosen: list[int]
    ) -> None:
        """Give codes to texts that their columns have not had yet, one for every column and hash."""
        columns = unknown % len(chosen)
        order = np.lexsort((hashes, columns))
        is_first = np.ones(len(order), dtype=np.bool_)
        is_first[1:] = (np.diff(hashes[order]) != 0) | (np.diff(columns[order]) != 0)
        with self._lock:
            for place in order[is_first].tolist():
                start, length = fields.starts[unknown[place]], fields.lengths[unknown[place]]
                self._add_text(chosen[columns[place]], text[start : start + length].tobytes())
            slots = make_slots(list(self._numbers)) if len(self._numbers) <= _MOST_TEXTS else None
            if slots is None:
                self._is_useful = False
                raise _Irregular
            codes = np.full((len(self._names), len(self._numbers) + 1), _UNKNOWN, dtype=np.uint8)
            for row, texts in zip(codes, self._texts, strict=True):
                row[[self._numbers[value.encode()] for value in texts]] = np.arange(len(texts))
            self._slots, self._codes = slots, codes

    def _add_text(self, column: int, value: bytes) -> None:
        """Note a text of a column, which is wide if it has too many."""
        texts = self._texts[column]
        try:
            decoded = value.decode()
        except UnicodeDecodeError:
            raise _Irregular from None
        if decoded in texts:
            return  # another thread came upon it meanwhile
        if len(texts) < _MOST and column not in self._wide:
            texts.append(decoded)
            self._numbers.setdefault(value, len(self._numbers) + 1)
            return
        self._wide.add(column)
        self._is_useful = 2 * len(self._wide) <= len(self._names)
        self._texts[column] = []
        left = dict.fromkeys(text.encode() for texts in self._texts for text in texts)
        self._numbers = {text: number for number, text in enumerate(left, start=1)}
        raise _Irregular


def split_lines(lines: memoryview, most: int) -> Iterator[memoryview]:
    r"""Whole lines of so many bytes at the most; what is left where a line is longer.

    >>> [bytes(block) for block in split_lines(memoryview(b"no\nno\nyes\nno"), 7)]
    [b'no\nno\n', b'yes\nno']
    """
    begin = 0
    while begin < len(lines):
        end = begin + most
        if end < len(lines):
            for near in (max(begin, end - _NEAR), begin):
                last = bytes(lines[near:end]).rfind(b"\n")
                if last >= 0:
                    break
            end = near + last + 1 if last >= 0 else len(lines)
        yield lines[begin:end]
        begin = end


def _encode_dictionary(codes: NDArray[np.uint8], texts: Sequence[str]) -> Any:
    """An Arrow array of codes and those texts that occur."""
    import pyarrow as pa

    occurs = np.bincount(codes[:4096], minlength=len(texts)) > 0
    for k in np.flatnonzero(~occurs).tolist():
        occurs[k] = (codes == k).any()
    if not occurs.all():
        numbers = (np.cumsum(occurs) - 1).astype(np.uint8)
        codes = numbers.take(codes)
        texts = [value for value, has_rows in zip(texts, occurs.tolist(), strict=True) if has_rows]
    return pa.DictionaryArray.from_arrays(array_of_numbers(codes), array_of_texts(texts))

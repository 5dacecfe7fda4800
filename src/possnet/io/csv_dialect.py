"""How a CSV file is written: what parts its fields, what quotes them, and how its characters are encoded.

All three are found by looking at the beginning of the file, unless they are given. A file without a byte order mark is
UTF-8 as far as it can be; one that is not is Windows-1252, or Latin-1 if it holds bytes that Windows-1252 has no use for.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from possnet.errors import InputError
from possnet.limits import current_limit, refuse_above

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path
    from typing import BinaryIO

_HEAD = 1 << 16  # bytes that are looked at
_CHUNK = 1 << 20
_DELIMITERS = (",", ";", "\t")
_MARKS = {codecs.BOM_UTF8: "utf-8", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
_CONTROLS = re.compile(rb"[\x00-\x08\x0e-\x1f]")
_UNUSED = re.compile(rb"[\x81\x8d\x8f\x90\x9d]")


@dataclass(frozen=True, slots=True)
class CsvDialect:
    """What stands between fields, what quotes them (nothing if empty), and the encoding.

    >>> CsvDialect(delimiter="ab")
    Traceback (most recent call last):
        ...
    possnet.errors.InputError: delimiter 'ab'; expected one plain character other than the quote, or auto
    """

    delimiter: str = ","
    quote: str = '"'
    encoding: str = "utf-8"

    def __post_init__(self) -> None:
        for what, sign, other in (("delimiter", self.delimiter, self.quote), ("quote", self.quote, self.delimiter)):
            plain = len(sign) == 1 and (" " <= sign <= "~" or sign == "\t")
            if not (plain or (what == "quote" and sign == "")) or sign == other:
                raise InputError(
                    f"{what} {sign!r}; expected one plain character other than the {_OTHERS[what]}, or auto"
                )
        try:
            codecs.lookup(self.encoding)
        except (LookupError, TypeError):
            raise InputError(f"encoding {self.encoding!r}; expected one such as utf-8 or cp1252, or auto") from None

    @property
    def is_utf8(self) -> bool:
        """Whether the file needs no recoding."""
        return codecs.lookup(self.encoding).name in {"utf-8", "utf-8-sig", "ascii"}

    def read_fields(self, lines: Iterable[str]) -> Iterator[list[str]]:
        """Rows of fields of lines."""
        if not self.quote:
            return csv.reader(lines, delimiter=self.delimiter, quoting=csv.QUOTE_NONE)
        return csv.reader(lines, delimiter=self.delimiter, quotechar=self.quote)

    def open_text(self, path: Path) -> io.TextIOWrapper:
        """The file as text; bytes that are no UTF-8 become lone surrogates."""
        encoding, errors = ("utf-8-sig", "surrogateescape") if self.is_utf8 else (self.encoding, "strict")
        return path.open(encoding=encoding, errors=errors, newline="")

    def open_bytes(self, path: Path) -> BinaryIO:
        """The file as UTF-8 bytes, whatever its encoding."""
        return path.open("rb") if self.is_utf8 else io.BufferedReader(_RecodedFile(path, self.encoding), _CHUNK)


_OTHERS = {"delimiter": "quote", "quote": "delimiter"}


def bound_lines(lines: io.TextIOBase, owner: str) -> Iterator[str]:
    """The lines of a text, none longer than the limit: a file without line breaks is not read as one."""
    most = current_limit("line")
    while line := lines.readline(most + 1):
        if len(line) > most:
            refuse_above("line", len(line), owner, at_least=True)
        yield line


class _RecodedFile(io.RawIOBase):
    """A file of another encoding, as UTF-8 bytes."""

    def __init__(self, path: Path, encoding: str) -> None:
        self._lines = path.open(encoding=encoding, newline="")
        self._waiting = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: object) -> int:
        """Fill a buffer, as far as it goes."""
        target = memoryview(buffer).cast("B")  # type: ignore[arg-type]
        if not self._waiting:
            self._waiting = self._lines.read(_CHUNK).encode()
        size = min(len(target), len(self._waiting))
        target[:size], self._waiting = self._waiting[:size], self._waiting[size:]
        return size

    def close(self) -> None:
        self._lines.close()
        super().close()


def check_signs(delimiter: str = "auto", quote: str = "auto") -> None:
    """Raise an `InputError` unless the delimiter and the quote that are given can be such, and go together.

    >>> check_signs(quote=",")
    Traceback (most recent call last):
        ...
    possnet.errors.InputError: delimiter ','; expected one plain character other than the quote, or auto
    """
    CsvDialect(*(default if sign == "auto" else sign for sign, default in ((delimiter, ","), (quote, '"'))))


def read_head(path: Path) -> bytes:
    """The first bytes of a file, by which its dialect is detected: all of a small one."""
    with path.open("rb") as content:
        return content.read(_HEAD)


def detect_dialect(
    path: Path, delimiter: str = "auto", quote: str = "auto", encoding: str = "auto", *, head: bytes | None = None
) -> CsvDialect:
    r"""The dialect of a file, by its first bytes (``head`` if they are known); what is given is not looked for.

    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "a.csv"
    ...     _ = path.write_bytes("fièvre;'éruption; peau'\nélevée;oui\n".encode("cp1252"))
    ...     detect_dialect(path)
    CsvDialect(delimiter=';', quote="'", encoding='cp1252')
    """
    if head is None:
        check_signs(delimiter, quote)
        head = read_head(path)
    if encoding == "auto":
        encoding = next((name for mark, name in _MARKS.items() if head.startswith(mark)), "utf-8")
        if encoding == "utf-8":
            encoding = encoding if _is_utf8_start(head) else fallback_encoding(path)
    checked = CsvDialect(encoding=encoding)
    text = codecs.getincrementaldecoder(checked.encoding)("replace").decode(head).removeprefix("\ufeff")
    if quote == "auto":
        quote = _guess_quote(text) if delimiter != "'" else '"'
    if delimiter == "auto":
        delimiter = _guess_delimiter(text, quote)
    return CsvDialect(delimiter, quote, encoding)


def _is_utf8_start(head: bytes) -> bool:
    """Whether the first bytes of a file are UTF-8; if there are more, the last character may be cut."""
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head, final=len(head) < _HEAD)
    except UnicodeDecodeError:
        return False
    return True


def is_utf8_file(path: Path) -> bool:
    """Whether a whole file is UTF-8; plain ASCII is told at the speed of memory."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        with path.open("rb") as content:
            while chunk := content.read(_CHUNK):
                if decoder.getstate()[0] or not chunk.isascii():
                    decoder.decode(chunk)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


def fallback_encoding(path: Path) -> str:
    """The encoding of a file that is not UTF-8; an `InputError` if it has control characters, as no text has."""
    encoding = "cp1252"
    with path.open("rb") as content:
        while chunk := content.read(_CHUNK):
            if _CONTROLS.search(chunk):
                raise InputError(f"{path}: not UTF-8 text, and no text at all; expected a CSV file, saved as UTF-8")
            encoding = "latin-1" if _UNUSED.search(chunk) else encoding
    return encoding


def _guess_quote(text: str) -> str:
    """A single quote, if fields that begin with one end with one, and those with double ones do not; else a double one."""
    lines = text.rpartition("\n")[0] or text  # the last one may be cut
    return "'" if _encloses_fields("'", lines) and not _encloses_fields('"', lines) else '"'


def _encloses_fields(quote: str, lines: str) -> bool:
    """Whether some fields begin with a quote, and each of them ends with one."""
    if quote not in lines:
        return False
    # an apostrophe at the start of a line is likelier than a field of several lines in single quotes
    inside = '[^"]' if quote == '"' else "[^'\\r\\n]"
    closed = rf"(?:^|[,;\t]){quote}(?:{inside}|{quote}{quote})*{quote}(?=[,;\t]|\r?$)"
    rest, enclosed = re.subn(closed, "", lines, flags=re.MULTILINE)
    return enclosed > 0 and not re.search(rf"(?:^|[,;\t]){quote}", rest, re.MULTILINE)


def _guess_delimiter(text: str, quote: str) -> str:
    """The sign that parts the first line, and the next ones into as many fields."""
    lines = text if len(text) < _HEAD // 4 else text.rpartition("\n")[0] or text
    best, best_score = ",", (0.0, 0)
    signs = [sign for sign in _DELIMITERS if sign in lines]
    for sign in signs if signs != [best] else ():
        try:
            rows = [row for row in CsvDialect(sign, quote).read_fields(io.StringIO(lines, newline="")) if row]
        except csv.Error:
            continue
        width = len(rows[0]) if rows else 0
        alike = sum(len(row) == width for row in rows)
        score = (alike / max(len(rows), 1), width)
        # a sign that stands in the first line alone belongs to a name
        if width > 1 and (alike > 1 or len(rows) == 1) and score > best_score:
            best, best_score = sign, score
    return best

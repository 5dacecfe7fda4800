"""Checksums of all that is in a Parquet file, and the bytes of such files, checked while they are read.

Parquet's own checksums cover the data of pages; a bit of a page's header or of the footer, which say how these data are
read, can flip in silence. So possnet puts a seal between the last page and the footer, where other readers do not look: the
CRC-32 of every column chunk, that of the footer up to the end of the file, and that of the seal itself. A program that
rewrites the file leaves the seal out, and the file is then as good as any other.

`ParquetBytes` reads a file for Arrow and verifies each column chunk as it is read: what was verified is what is decoded. A
file that is cut short, replaced or written to meanwhile is an error too, whether it has a seal or not.
"""

from __future__ import annotations

import io
import os
import struct
import threading
import zlib
from typing import TYPE_CHECKING, Any, NamedTuple

from possnet.errors import InputError
from possnet.io.data_source import changed_file

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import BinaryIO

_MAGIC = b"\x93possnet seal 1\n"
_NUMBERS = struct.Struct("<III")  # column chunks, CRC-32 of the footer, CRC-32 of the seal up to here
_TAIL = 8  # length of the footer, and PAR1
_SEARCHED = 1 << 16  # bytes at the end in which a seal is looked for that is not where it should be


class FileIdentity(NamedTuple):
    """What tells a file from another, and from itself after somebody wrote to it; ``age`` is None for a copy elsewhere."""

    size: int
    footer: int
    age: int | None

    def without_age(self) -> FileIdentity:
        """The same for copies of the file."""
        return self._replace(age=None)


_MOVING = threading.Lock()


def _read_at(handle: int, length: int, start: int) -> bytes:
    """Bytes of an open file from a place on; its own position stays."""
    if hasattr(os, "pread"):
        return os.pread(handle, length, start)
    with _MOVING:  # Windows has no pread; threads that read one file take turns there
        before = os.lseek(handle, 0, os.SEEK_CUR)
        os.lseek(handle, start, os.SEEK_SET)
        content = os.read(handle, length)
        os.lseek(handle, before, os.SEEK_SET)
        return content


class ParquetBytes(io.RawIOBase):
    """The bytes of a Parquet file; those of a column chunk are verified when they are first read.

    ``identity`` is that of the file when it was opened before: another one is refused.
    """

    def __init__(self, path: Path, owner: str, identity: FileIdentity | None = None) -> None:
        super().__init__()
        self._owner, self._place, self._chunks = owner, 0, dict[int, tuple[int, int]]()
        self._handle = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
        try:
            status = os.fstat(self._handle)
            self._size, self._age = status.st_size, status.st_mtime_ns
            footer = self._read_footer()
            self._checksums = self._read_checksums(footer)
            self.identity = FileIdentity(self._size, zlib.crc32(footer), self._age)
            self._require_identity(identity)
        except BaseException:
            self.close()
            raise

    @property
    def is_sealed(self) -> bool:
        """Whether the file has checksums of all that is in it."""
        return self._checksums is not None

    def expect_chunks(self, metadata: Any) -> None:
        """Verify column chunks from now on; ``metadata`` is what Arrow makes of the footer, which is verified already."""
        if self._checksums is None:
            return
        ranges = list(_list_chunks(metadata))
        if len(ranges) != len(self._checksums):
            raise self._damage(f"checksums of {len(self._checksums)} column chunks, and {len(ranges)} chunks")
        self._chunks = {start: (size, crc) for (start, size), crc in zip(ranges, self._checksums, strict=True)}

    def readable(self) -> bool:
        """True."""
        return True

    def seekable(self) -> bool:
        """True."""
        return True

    def tell(self) -> int:
        """The place of the next byte."""
        return self._place

    def seek(self, offset: int, whence: int = os.SEEK_SET, /) -> int:
        """Go to a place."""
        self._place = offset + {os.SEEK_SET: 0, os.SEEK_CUR: self._place, os.SEEK_END: self._size}[whence]
        return self._place

    def read(self, size: int | None = -1, /) -> bytes:
        """The next bytes, verified if they are of a column chunk."""
        start, left = self._place, self._size - self._place
        length = max(left if size is None or size < 0 else min(size, left), 0)
        content = self._read_range(start, length)
        if start in self._chunks and self._chunks[start][0] == length:
            self._verify_chunk(start, content)
        elif self._chunks:  # Arrow reads whole chunks; should it ever do otherwise, they are verified all the same
            for first, (extent, _) in list(self._chunks.items()):
                if first < start + length and start < first + extent:
                    self._verify_chunk(first, self._read_range(first, extent))
        self._place += length
        return content

    def close(self) -> None:
        """Close the file."""
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1
        super().close()

    def _verify_chunk(self, start: int, content: bytes) -> None:
        if zlib.crc32(content) != self._chunks[start][1]:
            raise self._damage(f"the {len(content)} bytes from {start} on are not those that were written")

    def _read_range(self, start: int, length: int) -> bytes:
        content = _read_at(self._handle, length, start)
        while 0 < len(content) < length and (
            more := _read_at(self._handle, length - len(content), start + len(content))
        ):
            content += more  # a read gives at most 2 GB
        self._require_unchanged()
        return content

    def _require_unchanged(self) -> None:
        status = os.fstat(self._handle)
        if (status.st_size, status.st_mtime_ns) != (self._size, self._age):
            raise changed_file(self._owner)

    def _require_identity(self, identity: FileIdentity | None) -> None:
        if identity is not None and identity not in {self.identity, self.identity.without_age()}:
            raise changed_file(self._owner)

    def _damage(self, finding: str) -> InputError:
        return InputError(f"{self._owner}: {finding}; the file is damaged")

    def _read_footer(self) -> bytes:
        """The footer with its length and its mark; nothing if there is none."""
        tail = self._read_range(max(self._size - _TAIL, 0), _TAIL)
        length = int.from_bytes(tail[:4], "little") + _TAIL
        if length > self._size or not tail.endswith(b"PAR1"):
            return b""  # no Parquet file, or cut short, as Arrow will say
        return self._read_range(self._size - length, length)

    def _read_checksums(self, footer: bytes) -> tuple[int, ...] | None:
        """Checksums of the column chunks, if the file has a seal; an `InputError` if the footer is not the sealed one."""
        end = self._size - len(footer) - len(_MAGIC)  # of the checksums
        if not footer or end < 0 or self._read_range(end, len(_MAGIC)) != _MAGIC:
            if footer and _MAGIC in self._read_range(max(self._size - _SEARCHED, 0), _SEARCHED):
                raise self._damage("its footer does not begin after its checksums")
            return None
        count, crc, own = _NUMBERS.unpack(self._read_range(end - _NUMBERS.size, _NUMBERS.size))
        start = end - _NUMBERS.size - 4 * count
        content = self._read_range(start, 4 * count + _NUMBERS.size - 4) if start >= 0 else b""
        if zlib.crc32(content) != own or zlib.crc32(footer) != crc:
            raise self._damage("its footer is not the one that was written")
        return struct.unpack_from(f"<{count}I", content)


def _list_chunks(metadata: Any) -> Iterator[tuple[int, int]]:
    """Start and length of every column chunk, in the order of row groups and columns."""
    for group in range(metadata.num_row_groups):
        for column in range(metadata.num_columns):
            chunk = metadata.row_group(group).column(column)
            start = chunk.data_page_offset
            if chunk.has_dictionary_page:
                start = min(start, chunk.dictionary_page_offset)
            yield start, chunk.total_compressed_size


class SealingFile:
    """A Parquet file on its way to ``out``, whose footer is held back until the checksums before it are known.

    >>> import pyarrow as pa, pyarrow.parquet as pq, tempfile
    >>> from pathlib import Path
    >>> table = pa.table({"a": ["x", "y"]})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "a.parquet"
    ...     with path.open("wb+") as out:
    ...         sealed = SealingFile(out)
    ...         with pq.ParquetWriter(sealed, table.schema) as writer:
    ...             writer.write_table(table)
    ...             sealed.hold_back()
    ...         sealed.write_seal()
    ...     ParquetBytes(path, "a.parquet").is_sealed, pq.read_table(path).to_pylist()
    (True, [{'a': 'x'}, {'a': 'y'}])
    """

    closed = False

    def __init__(self, out: BinaryIO) -> None:
        self._out, self._held = out, list[bytes]()
        self._holds = False

    def write(self, content: Any) -> int:
        """Write bytes, or hold them back."""
        if not self._holds:
            return self._out.write(content)
        self._held.append(bytes(content))
        return len(self._held[-1])

    def flush(self) -> None:
        """Write what is in the buffer."""
        self._out.flush()

    def close(self) -> None:
        """Leave the file open: the seal is still to be written."""

    def hold_back(self) -> None:
        """Hold back what follows: the footer."""
        self._holds = True

    def write_seal(self) -> None:
        """Write the checksums of what was written, then the footer."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        footer = b"".join(self._held)
        self._out.flush()
        metadata = pq.read_metadata(pa.BufferReader(b"PAR1" + footer))
        handle = self._out.fileno()
        checksums = [zlib.crc32(_read_at(handle, length, start)) for start, length in _list_chunks(metadata)]
        content = struct.pack(f"<{len(checksums)}I", *checksums)
        content += struct.pack("<II", len(checksums), zlib.crc32(footer))
        self._out.write(content + struct.pack("<I", zlib.crc32(content)) + _MAGIC + footer)

"""Parts of the files of a stream: row groups of Parquet files, or whole files, that other processes read on their own."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from possnet.errors import InputError
from possnet.io.file_access import file_error

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from possnet.dataset import Batches
    from possnet.io.data_source import Block, DataSource


@dataclass(frozen=True, slots=True)
class StreamPart:
    """A part of the files of a stream, which another process can read on its own.

    Attributes
    ----------
    stream
        Its rows.
    path, size, modified
        The file, its bytes, and when it was modified (nanoseconds).
    blocks
        First row group, and the one after the last; None for a whole file.
    largest
        Bytes of its largest row group before compression, which is in memory at once; of a file that has none, its size.
    reading
        How its cells are read, as a text: parts that are read alike have the same.
    """

    stream: Batches
    path: str
    size: int
    modified: int
    blocks: tuple[int, int] | None
    largest: int
    reading: str

    def __str__(self) -> str:
        if self.blocks is None:
            return self.path
        first, stop = self.blocks
        return f"{self.path}, row group{'' if stop == first + 1 else 's'} {first + 1}" + f" to {stop}" * (
            stop > first + 1
        )

    def require_unchanged(self) -> None:
        """Raise an `InputError` if the file is not the one that was listed."""
        with _naming_file(Path(self.path)):
            stamp = Path(self.path).stat()
        if (stamp.st_size, stamp.st_mtime_ns) != (self.size, self.modified):
            raise InputError(f"{self.path}: the file was changed while it was being read; start again")


@contextmanager
def _naming_file(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise file_error(path, error) from None


def _join_blocks(blocks: Sequence[Block], rows: int, size: int) -> Iterator[tuple[int, int]]:
    """First block, and the one after the last, of parts of at most so many rows and bytes; a larger block is one part."""
    first, held_rows, held_size = 0, 0, 0
    for number, block in enumerate(blocks):
        if number > first and (held_rows + (block.rows or 0) > rows or held_size + block.size > size):
            yield first, number
            first, held_rows, held_size = number, 0, 0
        held_rows += block.rows or 0
        held_size += block.size
    yield first, len(blocks)


def split_sources(
    sources: Sequence[DataSource], rows: int, size: int, to_stream: Callable[[DataSource], Batches]
) -> list[StreamPart]:
    """Parts of files of at most so many rows and bytes; ``to_stream`` makes a stream of a file or some of its blocks."""
    parts = []
    for source in sources:
        with _naming_file(source.path):
            stamp, blocks = source.path.stat(), source.list_blocks()
        for first, stop in _join_blocks(blocks, rows, size):
            stream = to_stream(source.take_blocks(first, stop))
            span = (first, stop) if len(blocks) > 1 else None
            largest = max((block.size for block in blocks[first:stop]), default=0)
            place = (str(source.path), stamp.st_size, stamp.st_mtime_ns, span)
            parts.append(StreamPart(stream, *place, largest, source.describe_reading()))
    return parts

"""Files as parts that fit a worker, and a loop over the results of their tasks."""

from __future__ import annotations

from concurrent.futures import FIRST_COMPLETED, wait
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final, TypeVar

from possnet.errors import InputError, TooLarge
from possnet.io import DataStream, scan_data
from possnet.limits import readable_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
    from concurrent.futures import Future
    from pathlib import Path

    from possnet.aliases import Progress
    from possnet.dataset import Batches, Dataset
    from possnet.io import StreamPart
    from possnet.scaleout.cluster_executor import ClusterExecutor, WorkerInfo
    from possnet.variables import Variable

T = TypeVar("T")
_EXPANSION: Final = 4  # bytes in memory for a byte of a row group before compression: decoded, packed, counted
_PART_ROWS: Final = 1 << 20
MOST_TASKS: Final = 4096  # for the scheduler, which spends about a millisecond on each
_READ_AT_ONCE: Final = 1 << 26  # bytes of a file without row groups that are in memory at a time


def open_stream(files: object, variables: object | None, options: dict[str, Any]) -> DataStream:
    """The stream of a pattern, a file, a list of these, or a stream of files itself."""
    if isinstance(files, DataStream):
        if variables is not None or options:
            raise InputError("scaleout: a stream with variables or options of reading; give these to scan_data(...)")
        return files
    paths: Any = files
    return scan_data(paths, variables, **options)


def list_parts(stream: DataStream, workers: Sequence[WorkerInfo]) -> list[StreamPart]:
    """Parts of a stream, sized to the memory of the smallest worker's thread; `TooLarge` if a row group does not fit."""
    shares = [worker.memory // worker.threads for worker in workers if worker.memory]
    share = min(shares, default=1 << 40)
    parts = stream.split_parts(rows=_PART_ROWS, size=max(share // (2 * _EXPANSION), 1))
    for part in parts:
        needed = _EXPANSION * (part.largest if part.blocks else min(part.largest, _READ_AT_ONCE))
        if needed > share:
            raise TooLarge(
                f"{part} needs about {readable_bytes(needed)} at once; a worker's thread has {readable_bytes(share)}. "
                "Write smaller row groups, or give workers more memory"
            )
    return parts


def group_parts(parts: Sequence[T], groups: int) -> list[list[T]]:
    """Consecutive parts in so many groups of about equal size, none empty.

    >>> group_parts([1, 2, 3, 4, 5], 2), group_parts([1], 3)
    ([[1, 2], [3, 4, 5]], [[1]])
    """
    count = max(min(groups, len(parts)), 1)
    ends = [len(parts) * k // count for k in range(count + 1)]
    return [list(parts[first:stop]) for first, stop in pairwise(ends)]


def chunk_parts(parts: Sequence[T]) -> list[list[T]]:
    """Parts in as many tasks as a scheduler likes: one each, or several where there are very many."""
    return group_parts(parts, min(len(parts), MOST_TASKS))


def run_parts(
    executor: ClusterExecutor,
    work: Callable[..., T],
    tasks: Sequence[tuple[str, tuple[Any, ...]]],
    *,
    progress: Progress | None = None,
) -> Generator[tuple[int, T]]:
    """Number and result of every task (a name and arguments), as they end; the first error ends them all."""
    waiting: dict[Future[T], int] = {}
    window, following, done = 0, 0, 0
    try:
        while following < len(tasks) or waiting:
            if len(waiting) <= window // 2 and following < len(tasks):
                window = 4 * executor._max_workers
            while following < len(tasks) and len(waiting) < max(window, 1):
                name, arguments = tasks[following]
                waiting[executor.submit_named(name, work, *arguments)] = following
                following += 1
            for future in wait(waiting, return_when=FIRST_COMPLETED).done:
                yield waiting.pop(future), future.result()
                done += 1
                if progress is not None:
                    progress(done, len(tasks))
    finally:
        for future in waiting:
            future.cancel()


def name_parts(parts: Iterable[StreamPart]) -> str:
    """What messages call the parts of a task."""
    names = [str(part) for part in parts]
    return names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more"


@dataclass(frozen=True, slots=True)
class JoinedParts:
    """The rows of several parts, one after the other, as `possnet.dataset.Batches` describes them."""

    parts: tuple[StreamPart, ...]
    rows: int | None = None

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The variables, the same in every part."""
        return self.parts[0].stream.variables

    @property
    def weighted(self) -> bool:
        """Whether rows may have weights."""
        return any(part.stream.weighted for part in self.parts)

    def __iter__(self) -> Iterator[Dataset]:
        for part in self.parts:
            part.require_unchanged()
            yield from part.stream


def join_parts(parts: Iterable[StreamPart]) -> Batches:
    """The rows of several parts as one stream."""
    return JoinedParts(tuple(parts))


def require_folder(folder: str | Path | None, owner: str) -> Path | None:
    """The folder, made if need be; None stays None."""
    from pathlib import Path

    if folder is None:
        return None
    given: object = folder
    if not isinstance(given, str | Path) or not str(given):
        raise InputError(f"{owner} {folder!r}; expected the name of a folder")
    path = Path(folder)
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{owner} {path}: {(error.strerror or str(error)).lower()}; expected a folder") from None
    return path

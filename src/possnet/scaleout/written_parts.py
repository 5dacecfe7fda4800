"""Rows that workers write: drawn, completed or queried, one Parquet file for every part.

A part's file is named after its number and a digest of what it holds, written beside and renamed: what is there is whole,
and a run that was killed writes only what is missing. The files in the order of their names are the rows of one machine.
With a ledger the digest of every file is kept there, and a file that changed since is written again.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from possnet.completion import complete as complete_rows
from possnet.errors import InputError, require_whole
from possnet.inference import Inference
from possnet.io import encode_network, replace_file, write_data, write_result_table
from possnet.network import Network
from possnet.sampling import sample_batches
from possnet.scaleout.cluster_executor import ClusterExecutor, Patience
from possnet.scaleout.ledger import part_key
from possnet.scaleout.parts import list_parts, open_stream, require_folder, run_parts
from possnet.seeds import seed_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from possnet.aliases import Progress
    from possnet.io import StreamPart

_PART_ROWS: Final = 1 << 20


def sample(
    network: Network,
    rows: int,
    *,
    out: str | Path,
    client: Any,
    ledger: str | Path | None = None,
    rng: Any = None,
    part_rows: int = _PART_ROWS,
    patience: Patience | None = None,
    progress: Progress | None = None,
    **options: Any,
) -> list[Path]:
    """Draw rows into Parquet files of a folder: the rows of `possnet.sample` with the same seed and options.

    Parameters
    ----------
    out
        A folder that every worker can write; files of another sample there are refused.
    ledger
        Another such folder: it keeps the digests of the files, and those that are not as they were written are made again.
    part_rows
        Rows of a file.

    Returns
    -------
    list of Path
        The files, in the order of their rows.

    Examples
    --------
    >>> import tempfile
    >>> import possnet as pn
    >>> from distributed import Client
    >>> clinic = pn.load_example("clinic")
    >>> with tempfile.TemporaryDirectory() as folder, Client(processes=False, dashboard_address=":0") as client:
    ...     files = sample(clinic, 200, out=f"{folder}/drawn", client=client, process="traced", rng=1)
    ...     drawn = pn.read_data(files[0], variables=clinic)
    >>> drawn == pn.sample(clinic, 200, process="traced", rng=1)
    True
    """
    _require_network(network, "sample")
    rows, part_rows = require_whole(rows, 0, "sample: rows"), require_whole(part_rows, 1, "sample: part_rows")
    seed = seed_of(rng)
    sample_batches(network, 0, rng=seed, **options)  # the options are checked here, not on a worker
    text = encode_network(network)
    about = _digest("sample", text, str(seed), str(part_rows), repr(sorted(options.items())))
    tasks = [
        (f"rows {first:,} on", (network, first, min(part_rows, rows - first), seed, options))
        for first in range(0, max(rows, 1), part_rows)
    ]
    run = _Run(out, client, ledger, patience, progress)
    return _write_parts(draw_part, tasks, [f"{about}{k}" for k in range(len(tasks))], run)


def draw_part(file: str, network: Network, first: int, rows: int, seed: int, options: dict[str, Any]) -> None:
    """On a worker: draw some rows into a file."""
    write_data(sample_batches(network, rows, rng=seed, start=first, batch=1 << 18, **options), file)


def complete(
    network: Network,
    files: object,
    *,
    out: str | Path,
    client: Any,
    ledger: str | Path | None = None,
    threshold: float = 1.0,
    patience: Patience | None = None,
    progress: Progress | None = None,
    scan: dict[str, Any] | None = None,
    **options: Any,
) -> list[Path]:
    """Complete the rows of files into Parquet files of a folder, as `possnet.complete` does on one machine.

    Parameters
    ----------
    threshold
        Ambiguous cells are cut down to the states of at least this degree; 1 leaves the most possible ones.
    options
        Those of `possnet.complete`; ``scan`` has those of `possnet.scan_data`.

    Examples
    --------
    >>> import tempfile
    >>> import possnet as pn
    >>> from distributed import Client
    >>> clinic = pn.load_example("clinic")
    >>> data = pn.sample(clinic, 200, process="traced", rng=1)
    >>> with tempfile.TemporaryDirectory() as folder, Client(processes=False, dashboard_address=":0") as client:
    ...     pn.write_data(data, f"{folder}/rows.parquet")
    ...     files = complete(clinic, f"{folder}/*.parquet", out=f"{folder}/complete", client=client)
    ...     completed = pn.read_data(files[0], variables=clinic)
    >>> completed == pn.complete(clinic, data).resolved()
    True
    """
    _require_network(network, "complete")
    settings = (network, threshold, options)
    return _map_files(files, complete_part, settings, scan or {}, _Run(out, client, ledger, patience, progress))


def complete_part(file: str, part: StreamPart, network: Network, threshold: float, options: dict[str, Any]) -> None:
    """On a worker: complete the rows of a part into a file."""
    part.require_unchanged()
    write_data(complete_rows(network, part.stream, **options).narrowed(threshold), file)


def query_many(
    network: Network,
    target: str,
    files: object,
    *,
    out: str | Path,
    client: Any,
    ledger: str | Path | None = None,
    patience: Patience | None = None,
    progress: Progress | None = None,
    scan: dict[str, Any] | None = None,
) -> list[Path]:
    """Degrees of a target given each row of files, in Parquet files with one column for every state.

    They are those of `possnet.Inference.query_many`; null where the row is impossible.

    >>> import pyarrow.parquet as pq
    >>> import tempfile
    >>> import possnet as pn
    >>> from distributed import Client
    >>> clinic = pn.load_example("clinic")
    >>> data = pn.sample(clinic, 200, process="traced", rng=1)
    >>> with tempfile.TemporaryDirectory() as folder, Client(processes=False, dashboard_address=":0") as client:
    ...     pn.write_data(data, f"{folder}/rows.parquet")
    ...     files = query_many(clinic, "measles", f"{folder}/*.parquet", out=f"{folder}/answers", client=client)
    ...     print(pq.read_schema(files[0]).names)
    ['yes', 'no']
    """
    _require_network(network, "query_many")
    network.variable(target)
    run = _Run(out, client, ledger, patience, progress)
    return _map_files(files, query_part, (network, target), scan or {}, run)


def query_part(file: str, part: StreamPart, network: Network, target: str) -> None:
    """On a worker: the degrees of a target for the rows of a part, into a file."""
    part.require_unchanged()
    engine = Inference(network)
    rows = [row for batch in part.stream for row in engine.query_many(target, batch).tolist()]
    columns: dict[str, type] = dict.fromkeys(network.variable(target).states, float)
    listed = [tuple(None if degree != degree else degree for degree in row) for row in rows]  # noqa: PLR0124 - NaN
    write_result_table(columns, listed, Path(file))


class _Run(NamedTuple):
    """Where files go, and who makes them."""

    out: str | Path
    client: Any
    ledger: str | Path | None
    patience: Patience | None
    progress: Progress | None


def _map_files(
    files: object, work: Callable[..., None], settings: tuple[Any, ...], reading: dict[str, Any], run: _Run
) -> list[Path]:
    stream = open_stream(files, None, reading)
    parts = list_parts(stream, ClusterExecutor(run.client, run.patience).list_workers())
    network, *others = settings
    text = encode_network(network)
    about = _digest(work.__name__, text, repr(others))
    keys = [part_key(part, about) for part in parts]
    tasks = [(str(part), (part, *settings)) for part in parts]
    return _write_parts(work, tasks, keys, run)


def _write_parts(
    work: Callable[..., None], tasks: Sequence[tuple[str, tuple[Any, ...]]], keys: Sequence[str], run: _Run
) -> list[Path]:
    """Run the tasks whose files are not there yet, or, with a ledger, not as they were written; the files of all."""
    folder = require_folder(run.out, "scaleout: out")
    assert folder is not None  # noqa: S101 - a folder was given
    ledger = require_folder(run.ledger, "scaleout: ledger")
    digests = [_digest(key)[:16] for key in keys]
    files = [folder.absolute() / f"part-{k:06d}-{digest}.parquet" for k, digest in enumerate(digests)]
    strangers = sorted({file.name for file in folder.glob("part-*.parquet")} - {file.name for file in files})
    if strangers:
        raise InputError(
            f"{folder}: holds {strangers[0]}, which is of other work; expected an empty folder, or the same work"
        )
    entries = [None if ledger is None else str(ledger.absolute() / f"file-{digest}.txt") for digest in digests]
    lacking = [k for k, file in enumerate(files) if ledger is not None or not file.exists()]
    executor = ClusterExecutor(run.client, run.patience)
    chosen = [(tasks[k][0], (work, str(files[k]), entries[k], *tasks[k][1])) for k in lacking]
    try:
        for done, _ in enumerate(run_parts(executor, write_once, chosen), start=1):
            if run.progress is not None:
                run.progress(len(files) - len(lacking) + done, len(files))
    finally:
        executor.shutdown(cancel_futures=True)
    return files


def write_once(work: Callable[..., None], file: str, entry: str | None, *arguments: Any) -> None:
    """On a worker: write a file, unless it is as an entry of the ledger says; then write the entry."""
    if entry is None:
        work(file, *arguments)
        return
    kept, written = Path(entry), Path(file)
    if written.exists() and kept.exists() and kept.read_text(encoding="ascii") == _digest_file(written):
        return
    work(file, *arguments)
    with replace_file(kept) as out:
        out.write(_digest_file(written).encode())


def _digest_file(file: Path) -> str:
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def _digest(*texts: str) -> str:
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()


def _require_network(network: object, owner: str) -> None:
    if not isinstance(network, Network):
        raise InputError(f"scaleout.{owner}: {network!r} is not a network; expected one")

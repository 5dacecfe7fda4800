"""Counting on a cluster, and what follows from counts: tables and scores."""

from __future__ import annotations

from functools import reduce
from operator import add
from pathlib import Path
from typing import TYPE_CHECKING, Any

from possnet import likelihood, parameters
from possnet.counting import Counts, count as count_rows
from possnet.errors import InputError
from possnet.graph import Dag, require_structure
from possnet.network import Network
from possnet.parameters import RandomSets
from possnet.scaleout.cluster_executor import ClusterExecutor, Patience
from possnet.scaleout.ledger import Ledger, describe_structure, part_key
from possnet.scaleout.parts import chunk_parts, list_parts, name_parts, open_stream, require_folder, run_parts

if TYPE_CHECKING:
    from possnet.aliases import Progress
    from possnet.io import StreamPart


def count(
    dag: Dag,
    files: object,
    *,
    client: Any,
    ledger: str | Path | None = None,
    focal: bool = False,
    variables: object | None = None,
    patience: Patience | None = None,
    progress: Progress | None = None,
    **options: Any,
) -> Counts:
    """Counts of files on a cluster, equal to those of `possnet.count` on one machine.

    Whole numbers add up exactly in any order; where rows have fractional weights or cells degrees, parts are added in the
    order of the files, so that the sums do not depend on who counted what.

    Parameters
    ----------
    files
        A pattern, a file, a list of these, or a stream of `possnet.scan_data`; every worker must be able to read them, and
        without ``variables`` and declared domains the client reads them once to find the states.
    client
        A ``distributed.Client``.
    ledger
        A folder that every worker can write: the counts of every part are kept there, so that a run that was killed goes on
        where it was, and further files cost only themselves.
    focal
        Count combinations of cells too, as in `possnet.count`.
    variables, options
        As in `possnet.scan_data`.
    patience
        Bounds of every wait: `Patience`.
    progress
        Called with the number of tasks done and of all tasks.

    Examples
    --------
    >>> import tempfile
    >>> import possnet as pn
    >>> from distributed import Client
    >>> clinic = pn.load_example("clinic")
    >>> data = pn.sample(clinic, 200, process="traced", rng=1)
    >>> with tempfile.TemporaryDirectory() as folder, Client(processes=False, dashboard_address=":0") as client:
    ...     pn.write_data(data, f"{folder}/rows.parquet")
    ...     counts = count(clinic.dag, f"{folder}/*.parquet", client=client, variables=clinic)
    >>> counts == pn.count(clinic.dag, data)
    True
    """
    require_structure(dag, "scaleout.count")
    folder = require_folder(ledger, "scaleout.count: ledger")
    executor = ClusterExecutor(client, patience)
    try:
        stream = open_stream(files, variables, options)
        chunks = chunk_parts(list_parts(stream, executor.list_workers()))
        place = None if folder is None else str(folder.absolute())
        tasks = [(name_parts(chunk), (dag, chunk, focal, place)) for chunk in chunks]
        counts: list[Counts | None] = [None] * len(tasks)
        total: Counts | None = None
        merged = 0
        for number, part in run_parts(executor, count_chunk, tasks, progress=progress):
            counts[number] = part
            while merged < len(tasks) and (following := counts[merged]) is not None:  # in order, for sums of floats
                total = following if total is None else total + following
                counts[merged], merged = None, merged + 1
    finally:
        executor.shutdown(cancel_futures=True)
    assert total is not None  # noqa: S101 - there is at least one file, hence one part
    return total


def count_chunk(dag: Dag, parts: list[StreamPart], focal: bool, folder: str | None) -> Counts:  # noqa: FBT001
    """On a worker: the counts of some parts, those in the ledger read from there and the others kept there."""
    ledger = None if folder is None else Ledger(Path(folder))
    return reduce(add, (_count_part(dag, part, focal, ledger) for part in parts))


def _count_part(dag: Dag, part: StreamPart, focal: bool, ledger: Ledger | None) -> Counts:  # noqa: FBT001
    key = part_key(part, "counts", describe_structure(dag), focal)
    known = None if ledger is None else ledger.find_entry(key)
    if known is not None:
        return known
    part.require_unchanged()
    counts = count_rows(dag, part.stream, focal=focal)
    part.require_unchanged()
    if ledger is not None:
        ledger.add_entry(key, counts)
    return counts


def fit(
    dag: Dag,
    files: object,
    method: str = "likelihood",
    *,
    client: Any,
    ledger: str | Path | None = None,
    variables: object | None = None,
    patience: Patience | None = None,
    progress: Progress | None = None,
    scan: dict[str, Any] | None = None,
    **options: Any,
) -> Network:
    """The network that `possnet.fit` learns from the rows of files, counted on a cluster.

    ``options`` are those of `possnet.fit`, ``scan`` those of `possnet.scan_data`; the others are of `count`.

    >>> import tempfile
    >>> import possnet as pn
    >>> from distributed import Client
    >>> clinic = pn.load_example("clinic")
    >>> data = pn.sample(clinic, 200, process="traced", rng=1)
    >>> with tempfile.TemporaryDirectory() as folder, Client(processes=False, dashboard_address=":0") as client:
    ...     pn.write_data(data, f"{folder}/rows.parquet")
    ...     learned = fit(clinic.dag, f"{folder}/*.parquet", client=client, variables=clinic)
    >>> learned.is_close(pn.fit(clinic.dag, data))
    True
    """
    counts = count(
        dag,
        files,
        client=client,
        ledger=ledger,
        focal=method == "transform",
        variables=variables,
        patience=patience,
        progress=progress,
        **(scan or {}),
    )
    named: Any = method
    return parameters.fit(dag, counts, method=named, **options)


def log_likelihood(network: Network, files: object, *, client: Any, **options: Any) -> float:
    """Score piLL of a network, equation (9), on the rows of files; options are those of `count`.

    >>> import tempfile
    >>> import possnet as pn
    >>> from distributed import Client
    >>> clinic = pn.load_example("clinic")
    >>> data = pn.sample(clinic, 200, process="traced", rng=1)
    >>> with tempfile.TemporaryDirectory() as folder, Client(processes=False, dashboard_address=":0") as client:
    ...     pn.write_data(data, f"{folder}/rows.parquet")
    ...     score = log_likelihood(clinic, f"{folder}/*.parquet", client=client, variables=clinic)
    >>> score == pn.log_likelihood(clinic, data)
    True
    """
    given: object = network
    if not isinstance(given, Network):
        raise InputError(f"scaleout.log_likelihood: {network!r} is not a network; expected one")
    counts = count(network.dag, files, client=client, **(_domain_of(network.variables, files) | options))
    return likelihood.log_likelihood(network, counts)


def random_set_log_likelihood(model: Dag | RandomSets, files: object, *, client: Any, **options: Any) -> float:
    """Log-likelihood mLL, equation (8), on the rows of files; options are those of `count`.

    >>> import tempfile
    >>> import possnet as pn
    >>> from distributed import Client
    >>> clinic = pn.load_example("clinic")
    >>> data = pn.sample(clinic, 200, process="traced", rng=1)
    >>> with tempfile.TemporaryDirectory() as folder, Client(processes=False, dashboard_address=":0") as client:
    ...     pn.write_data(data, f"{folder}/rows.parquet")
    ...     score = random_set_log_likelihood(clinic.dag, f"{folder}/*.parquet", client=client, variables=clinic)
    >>> score == pn.random_set_log_likelihood(clinic.dag, data)
    True
    """
    given: object = model
    if not isinstance(given, Dag | RandomSets):
        raise InputError(f"scaleout.random_set_log_likelihood: {model!r}; expected a possnet.Dag or random sets")
    dag = model if isinstance(model, Dag) else model.dag
    domain = {} if isinstance(model, Dag) else _domain_of(model.variables, files)
    counts = count(dag, files, client=client, focal=True, **{**domain, **options})
    return likelihood.random_set_log_likelihood(model, counts)


def _domain_of(variables: object, files: object) -> dict[str, Any]:
    """The variables of a model as those of the files, unless a stream has its own."""
    from possnet.io import DataStream

    return {} if isinstance(files, DataStream) else {"variables": variables}

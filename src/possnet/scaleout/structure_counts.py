"""Learning a structure on a cluster: each pass of counts is shared by the workers, a few round trips for every move."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from possnet.scaleout.cluster_executor import ClusterExecutor, Patience
from possnet.scaleout.em_groups import add_counts, count_cells_of, list_in_order
from possnet.scaleout.kept_arrays import read_arrays, write_arrays
from possnet.scaleout.ledger import part_key
from possnet.scaleout.parts import (
    group_parts,
    join_parts,
    list_parts,
    name_parts,
    open_stream,
    require_folder,
    run_parts,
)
from possnet.structure import CountedTable, FamilyTables, RowSummary, StreamedTables, learn_from_tables

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from possnet.aliases import Progress
    from possnet.io import StreamPart
    from possnet.structure import FamilyQuery, LearnedStructure


def learn_structure(
    files: object,
    method: str = "greedy",
    *,
    client: Any,
    ledger: str | Path | None = None,
    measure: str = "random-set-bic",
    variables: object | None = None,
    patience: Patience | None = None,
    progress: Progress | None = None,
    scan: dict[str, Any] | None = None,
    **options: Any,
) -> LearnedStructure:
    """The structure that `possnet.learn_structure` learns by hill climbing (or a tree), from files on a cluster.

    Workers count all families that a move needs at once, so that a search takes a pass over the files for every move.
    ``options`` are ``conjunction``, ``constraints``, ``search`` and ``rng`` of `possnet.learn_structure`. In the folder
    ``ledger`` the tables of every pass are kept, so that a search that was killed goes on at its last pass.

    >>> import tempfile
    >>> import possnet as pn
    >>> from distributed import Client
    >>> clinic = pn.load_example("clinic")
    >>> data = pn.sample(clinic, 200, process="traced", rng=1)
    >>> with tempfile.TemporaryDirectory() as folder, Client(processes=False, dashboard_address=":0") as client:
    ...     pn.write_data(data, f"{folder}/rows.parquet")
    ...     learned = learn_structure(f"{folder}/*.parquet", client=client, variables=clinic)
    >>> learned.dag == pn.learn_structure(data, "greedy", measure="random-set-bic").dag
    True
    """
    folder = require_folder(ledger, "scaleout.learn_structure: ledger")
    executor = ClusterExecutor(client, patience)
    try:
        stream = open_stream(files, variables, scan or {})
        workers = executor.list_workers()
        parts = list_parts(stream, workers)
        kept = None if folder is None else KeptPasses(folder, parts)
        groups = group_parts(parts, 2 * sum(worker.threads for worker in workers))
        tasks: list[tuple[str, tuple[Any, ...]]] = [(name_parts(group), (group,)) for group in groups]
        n_rows, counts = add_counts(list_in_order(run_parts(executor, count_cells_of, tasks), len(tasks)))
        summary = RowSummary(stream.variables, n_rows, counts, weighted=not isinstance(n_rows, int))

        def count_families(queries: Sequence[FamilyQuery]) -> list[CountedTable]:
            known = None if kept is None else kept.find_pass(queries)
            if known is not None:
                return known
            asked = [(name, (*arguments, summary, list(queries))) for name, arguments in tasks]
            counted = list_in_order(run_parts(executor, count_queries, asked), len(asked))
            merged = FamilyTables(summary, queries).merge_parts(counted)
            if kept is not None:
                kept.add_pass(queries, merged)
            return merged

        tables = StreamedTables(summary, count_families)
        return learn_from_tables(tables, method, measure=measure, progress=progress, **options)
    finally:
        executor.shutdown(cancel_futures=True)


class KeptPasses:
    """The tables of finished passes over some parts, in a ledger; files are named after parts and families."""

    def __init__(self, folder: Path, parts: Sequence[StreamPart]) -> None:
        self._folder = folder
        self._parts = hashlib.sha256("".join(part_key(part, "families") for part in parts).encode()).hexdigest()

    def find_pass(self, queries: Sequence[FamilyQuery]) -> list[CountedTable] | None:
        """The tables of families, or None if they are not there whole."""
        arrays = read_arrays(self._place(queries))
        if arrays is None or len(arrays) != 2 * len(queries):
            return None
        return [CountedTable(*pair) for pair in zip(arrays[::2], arrays[1::2], strict=True)]

    def add_pass(self, queries: Sequence[FamilyQuery], tables: Sequence[CountedTable]) -> None:
        """Keep the tables of families."""
        write_arrays(self._place(queries), [array for table in tables for array in table])

    def _place(self, queries: Sequence[FamilyQuery]) -> Path:
        asked = repr([tuple(query) for query in queries])
        return self._folder / f"pass-{hashlib.sha256((self._parts + asked).encode()).hexdigest()[:32]}.npz"


def count_queries(parts: list[StreamPart], summary: RowSummary, queries: list[FamilyQuery]) -> list[CountedTable]:
    """On a worker: the tables of all queries for some parts."""
    tables = FamilyTables(summary, queries)
    for batch in join_parts(parts):
        tables.count_batch(batch)
    return tables.list_tables()

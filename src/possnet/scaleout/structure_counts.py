"""Learning a structure on a cluster: each pass of counts is shared by the workers, a few round trips for every move."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from possnet.scaleout.cluster_executor import ClusterExecutor, Patience
from possnet.scaleout.em_groups import add_counts, count_cells_of, list_in_order
from possnet.scaleout.parts import group_parts, join_parts, list_parts, name_parts, open_stream, run_parts
from possnet.structure import FamilyTables, RowSummary, StreamedTables, learn_from_tables

if TYPE_CHECKING:
    from collections.abc import Sequence

    from possnet.aliases import Progress
    from possnet.io import StreamPart
    from possnet.structure import CountedTable, FamilyQuery, LearnedStructure


def learn_structure(
    files: object,
    method: str = "greedy",
    *,
    client: Any,
    measure: str = "random-set-bic",
    variables: object | None = None,
    patience: Patience | None = None,
    progress: Progress | None = None,
    scan: dict[str, Any] | None = None,
    **options: Any,
) -> LearnedStructure:
    """The structure that `possnet.learn_structure` learns by hill climbing (or a tree), from files on a cluster.

    Workers count all families that a move needs at once, so that a search takes a pass over the files for every move.
    ``options`` are ``conjunction``, ``constraints``, ``search`` and ``rng`` of `possnet.learn_structure`.
    """
    executor = ClusterExecutor(client, patience)
    try:
        stream = open_stream(files, variables, scan or {})
        workers = executor.list_workers()
        groups = group_parts(list_parts(stream, workers), 2 * sum(worker.threads for worker in workers))
        tasks: list[tuple[str, tuple[Any, ...]]] = [(name_parts(group), (group,)) for group in groups]
        n_rows, counts = add_counts(list_in_order(run_parts(executor, count_cells_of, tasks), len(tasks)))
        summary = RowSummary(stream.variables, n_rows, counts, weighted=not isinstance(n_rows, int))

        def count_families(queries: Sequence[FamilyQuery]) -> list[CountedTable]:
            asked = [(name, (*arguments, summary, list(queries))) for name, arguments in tasks]
            parts = list_in_order(run_parts(executor, count_queries, asked), len(asked))
            return FamilyTables(summary, queries).merge_parts(parts)

        tables = StreamedTables(summary, count_families)
        return learn_from_tables(tables, method, measure=measure, progress=progress, **options)
    finally:
        executor.shutdown(cancel_futures=True)


def count_queries(parts: list[StreamPart], summary: RowSummary, queries: list[FamilyQuery]) -> list[CountedTable]:
    """On a worker: the tables of all queries for some parts."""
    tables = FamilyTables(summary, queries)
    for batch in join_parts(parts):
        tables.count_batch(batch)
    return tables.list_tables()

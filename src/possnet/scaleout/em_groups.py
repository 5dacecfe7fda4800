"""EM on a cluster: rows stay with their workers, masses go out, and sums of posteriors come back.

Parts are put into as many groups as there are workers' threads when it begins. A group keeps its distinct rows in the
process of its worker; each E-step sends the masses to every group, and adds the groups' sums in their order. If a worker is
lost, its group is read again elsewhere, whole: the sums are the same, and so is the order in which they are added.
"""

from __future__ import annotations

from collections import OrderedDict
from concurrent.futures import FIRST_COMPLETED, wait
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final
from uuid import uuid4

from possnet.counting import nodes_in
from possnet.dataset import cut_batches
from possnet.em import (
    EmAlgorithm,
    EmSettings,
    HeldPosteriors,
    HiddenStateModel,
    count_em_cells,
    group_em_rows,
    join_em_rows,
    merge_em_rows,
    number_cells,
    run_em,
)
from possnet.errors import TooLarge
from possnet.limits import readable_bytes
from possnet.scaleout.cluster_executor import ClusterExecutor, Patience
from possnet.scaleout.em_checkpoint import EmCheckpoint
from possnet.scaleout.parts import (
    group_parts,
    join_parts,
    list_parts,
    name_parts,
    open_stream,
    require_folder,
    run_parts,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from concurrent.futures import Future
    from pathlib import Path

    from possnet.aliases import Floats, Progress
    from possnet.em import CellCounts, DistinctRows, EmResult, EmRows
    from possnet.graph import Dag
    from possnet.io import DataStream, StreamPart
    from possnet.scaleout.cluster_executor import WorkerInfo
    from possnet.variables import Variable

Masses = dict[str, "Floats"]
_HELD_GROUPS: Final = 64  # of all jobs in one process; the least recently used goes first
_ROW_BYTES: Final = 24  # of a distinct row and column: its number, its place in the schedule, its part of a table


def fit_em(
    dag: Dag,
    files: object,
    *,
    client: Any,
    ledger: str | Path | None = None,
    variables: object | None = None,
    patience: Patience | None = None,
    progress: Progress | None = None,
    scan: dict[str, Any] | None = None,
    **options: Any,
) -> EmResult:
    """The result of `possnet.fit_em` on the rows of files, up to rounding, with the E-steps shared by a cluster.

    ``options`` are those of `possnet.fit_em` (tolerance, unknown, prior, pseudo, imprecision, conjunction, options),
    ``scan`` those of `possnet.scan_data`; the others are of `possnet.scaleout.count`. With a ``ledger`` the masses of
    the last step are kept there, so that a run whose client was killed goes on from them.

    >>> import tempfile
    >>> import possnet as pn
    >>> from distributed import Client
    >>> clinic = pn.load_example("clinic")
    >>> data = pn.sample(clinic, 200, process="traced", rng=1)
    >>> with tempfile.TemporaryDirectory() as folder, Client(processes=False, dashboard_address=":0") as client:
    ...     pn.write_data(data, f"{folder}/rows.parquet")
    ...     learned = fit_em(clinic.dag, f"{folder}/*.parquet", client=client, variables=clinic)
    >>> bool(abs(learned.network.table("fever") - pn.fit_em(clinic.dag, data).network.table("fever")).max() < 1e-6)
    True
    """
    settings = EmSettings.from_options(**options)
    folder = require_folder(ledger, "scaleout.fit_em: ledger")
    executor = ClusterExecutor(client, patience)
    try:
        stream = open_stream(files, variables, scan or {})
        domain = nodes_in(dag, stream, "fit_em")
        workers = executor.list_workers()
        parts = list_parts(stream, workers)
        _refuse_rows(stream, len(domain), workers)
        groups = ClusterGroups(executor, parts, dag, domain, settings, workers)
        posteriors = EmCheckpoint(groups, folder, parts, dag, settings) if folder is not None else groups
        algorithm = EmAlgorithm(groups.model, groups.rows, prior=settings.prior, posteriors=posteriors)
        if isinstance(posteriors, EmCheckpoint):
            algorithm = posteriors.resume_from(algorithm)
        return run_em(algorithm, settings, progress)
    finally:
        executor.shutdown(cancel_futures=True)


def _refuse_rows(stream: DataStream, columns: int, workers: Sequence[WorkerInfo]) -> None:
    """Raise `TooLarge` if the rows, were they all distinct, would not fit the workers."""
    memory = [worker.memory for worker in workers]
    needed = _ROW_BYTES * columns * (stream.rows or 0)
    if all(memory) and needed > sum(memory):
        raise TooLarge(
            f"scaleout.fit_em: {stream.rows:,} rows may need {readable_bytes(needed)} if all are distinct; the workers "
            f"have {readable_bytes(sum(memory))}. Give them more memory, or learn from fewer rows"
        )


@dataclass(frozen=True)
class GroupOrder:
    """All that a worker needs to make a group of rows: the parts, the structure, and the numbers of the cells."""

    job: str
    number: int
    parts: list[StreamPart]
    dag: Dag
    settings: EmSettings
    counts: CellCounts
    n_rows: int | float

    @property
    def key(self) -> tuple[str, int]:
        """The name under which a worker holds the group."""
        return self.job, self.number


class ClusterGroups:
    """The rows of an EM run, in groups held by workers: sums of posteriors, as `possnet.em.PosteriorSums` has them."""

    def __init__(
        self,
        executor: ClusterExecutor,
        parts: list[StreamPart],
        dag: Dag,
        domain: dict[str, Variable],
        settings: EmSettings,
        workers: Sequence[WorkerInfo],
    ) -> None:
        self.executor, self._job = executor, uuid4().hex
        groups = group_parts(parts, sum(worker.threads for worker in workers))
        seats = [worker.address for worker in workers for _ in range(worker.threads)]
        tasks = [(name_parts(group), (dag, group, settings.unknown)) for group in groups]
        n_rows, counts = add_counts(list_in_order(run_parts(executor, count_group, tasks), len(tasks)))
        self.masks = number_cells(domain, counts, whole_domains=settings.whole_domains)
        self._orders = [
            GroupOrder(self._job, number, group, dag, settings, counts, n_rows) for number, group in enumerate(groups)
        ]
        self._seats = [seats[number % len(seats)] for number in range(len(groups))]
        self.rows = join_em_rows(domain, n_rows, counts, self.masks, self._group_rows)
        self.model = HiddenStateModel(dag, self.rows, settings.options.limit)
        self.sent = self.received = 0  # bytes of masses and of sums, in the last E-step

    def _group_rows(self, columns: Sequence[Sequence[str]]) -> list[DistinctRows]:
        tasks = [(name_parts(order.parts), (order, columns)) for order in self._orders]
        groups = list_in_order(run_parts(self.executor, group_rows_of, tasks), len(tasks))
        return merge_em_rows(groups, columns, self.masks)

    def sum_posteriors(self, masses: Masses) -> tuple[float, Masses]:
        """Log-likelihood and sums of posteriors of all groups, added in the order of the groups."""
        answers: list[tuple[float, Masses] | None] = [None] * len(self._orders)
        waiting = {self._ask_group(number, masses, full=False): number for number in range(len(self._orders))}
        try:
            while waiting:
                for future in wait(waiting, return_when=FIRST_COMPLETED).done:
                    number, answer = waiting.pop(future), future.result()
                    if answer is None:  # not held there: a first step, or another worker than before
                        waiting[self._ask_group(number, masses, full=True)] = number
                    else:
                        answers[number] = answer
        finally:
            for future in waiting:
                future.cancel()
        value = 0.0
        sums: Masses = {}
        self.sent = len(answers) * sum(table.nbytes for table in masses.values())
        self.received = 0
        for answer in answers:
            assert answer is not None  # noqa: S101 - all groups have answered
            value += answer[0]
            for name, table in answer[1].items():
                self.received += table.nbytes
                sums[name] = sums[name] + table if name in sums else table
        return value, sums

    def _ask_group(self, number: int, masses: Masses, *, full: bool) -> Future[tuple[float, Masses] | None]:
        order = self._orders[number]
        name = f"E-step of {name_parts(order.parts)}"
        return self.executor.submit_named(
            name, sum_group, order.key, masses, order if full else None, worker=self._seats[number]
        )


def list_in_order(results: Iterator[tuple[int, Any]], count: int) -> list[Any]:
    """Results by their numbers."""
    ordered: list[Any] = [None] * count
    for number, result in results:
        ordered[number] = result
    return ordered


def add_counts(counted: list[tuple[int | float, CellCounts]]) -> tuple[int | float, CellCounts]:
    """Rows, and rows with each cell, of several parts together."""
    n_rows: int | float = 0
    total: CellCounts = {}
    for rows, counts in counted:
        n_rows += rows
        for name, by_mask in counts.items():
            known = total.setdefault(name, {})
            for mask, number in by_mask.items():
                known[mask] = known.get(mask, 0) + number
    return n_rows, total


def count_group(dag: Dag, parts: list[StreamPart], unknown: Any) -> tuple[int | float, CellCounts]:
    """On a worker: rows of a group, and rows with each cell of every variable."""
    data = cut_batches(join_parts(parts))
    return count_em_cells(nodes_in(dag, data, "fit_em"), data, unknown)


def count_cells_of(parts: list[StreamPart]) -> tuple[int | float, CellCounts]:
    """On a worker: rows of some parts, and rows with each cell; unknown cells are the whole domain."""
    data = cut_batches(join_parts(parts))
    return count_em_cells({variable.name: variable for variable in data.variables}, data, "focal")


def group_rows_of(order: GroupOrder, columns: Sequence[Sequence[str]]) -> list[DistinctRows]:
    """On a worker: the distinct rows of a group over lists of columns."""
    return _code_rows(order).group_rows(columns)


def sum_group(key: tuple[str, int], masses: Masses, order: GroupOrder | None) -> tuple[float, Masses] | None:
    """On a worker: the sums of a group's posteriors, or None if its rows are not here and nothing says how to read them."""
    posteriors = _HELD.get(key)
    if posteriors is None:
        if order is None:
            return None
        rows = _code_rows(order)
        posteriors = HeldPosteriors(HiddenStateModel(order.dag, rows, order.settings.options.limit), rows)
        while len(_HELD) >= _HELD_GROUPS:
            _HELD.popitem(last=False)
        _HELD[key] = posteriors
    for other in [held for held in _HELD if held[0] != key[0]]:  # of a job that has ended, or soon reads again
        del _HELD[other]
    _HELD.move_to_end(key)
    return posteriors.sum_posteriors(masses)


_HELD: OrderedDict[tuple[str, int], HeldPosteriors] = OrderedDict()


def _code_rows(order: GroupOrder) -> EmRows:
    data = cut_batches(join_parts(order.parts))
    variables = nodes_in(order.dag, data, "fit_em")
    masks = number_cells(variables, order.counts, whole_domains=order.settings.whole_domains)
    unknown = order.settings.unknown
    return join_em_rows(
        variables, order.n_rows, order.counts, masks, lambda columns: group_em_rows(data, columns, masks, unknown)
    )

"""Completing rows: the ambiguous ones, each distinct one once, a block at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, overload

import numpy as np

from possnet.completion.asked_targets import add_targets
from possnet.completion.completion import CellDegrees, Completion, check_threshold
from possnet.dataset import Dataset, align_rows, group_rows, require_rows
from possnet.doors import check_arguments, checks_itself
from possnet.errors import InputError, listing, warn_user
from possnet.inference import RowQueries, read_tables
from possnet.limits import refuse_over

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from possnet.aliases import Bools, Progress
    from possnet.dataset import Batches, CodedColumn
    from possnet.inference import Reading
    from possnet.network import Network
    from possnet.variables import Variable


_BATCH_ROWS = 1 << 16
_BATCH_BYTES = 1 << 26  # of degrees, if every cell of a part is unknown


@overload
def complete(
    network: Network,
    data: Dataset,
    *,
    targets: Sequence[str] = (),
    hide: bool = False,
    reading: Reading = "auto",
    limit: int | None = None,
    progress: Progress | None = None,
) -> Completion: ...
@overload
def complete(
    network: Network,
    data: Batches,
    *,
    targets: Sequence[str] = (),
    hide: bool = False,
    reading: Reading = "auto",
    limit: int | None = None,
    progress: Progress | None = None,
) -> CompletionStream: ...
@check_arguments
@checks_itself("data")
def complete(
    network: Network,
    data: Dataset | Batches,
    *,
    targets: Sequence[str] = (),
    hide: bool = False,
    reading: Reading = "auto",
    limit: int | None = None,
    progress: Progress | None = None,
) -> Completion | CompletionStream:
    """Infer the ambiguous and unknown cells of every row: Π(x | row) for every state x of such a cell.

    Π(x | row) is the possibility of x given all cells of the row, its own included, conditioned by the network's
    conjunction ((1) or (2) of [HLB]); columns that the network lacks are carried along untouched, and variables without
    a column count as unknown. States are matched by name, and a column that lacks some of them gets the network's.
    Precise rows cost next to nothing, equal rows are computed once, and all cells of a row come from one pass up and one
    down the junction tree. A row of possibility 0 is reported and left as it is.

    Equation
    --------
    Π(x | row) = Π(x, row) / Π(row) (product)

    Parameters
    ----------
    data
        A data set, for a `Completion`; or a stream of them, for a `CompletionStream`, which holds a batch at a time.
    targets
        Variables to predict in every row besides. A target without a column gets one, last, of unknown cells; where the
        data give its state, that stands, and where they give a set, the states in it compete.
    hide
        Whether the targets' own cells are hidden: every one is predicted from the columns that are no targets.
    reading
        ``possibility``: degrees by the network's conjunction, as above. ``probability``: tables are read as probabilities,
        each context divided by its sum, and a degree is the posterior probability of x given the row, divided by the
        largest. ``auto``: the latter for a product-based network whose tables were learned as probabilities
        (`Network.transform` is ``ratio``): maxima over what is not known, of degrees that peak in every context, mislead
        where sums do not (``docs/real-tables.md``).
    limit
        Bytes that inference may take, as for `Inference`.
    progress
        Called with the rows done and the rows in all (0 if unknown).

    Examples
    --------
    >>> import possnet as pn
    >>> clinic = pn.load_example("clinic")
    >>> scope = [clinic.variable(name) for name in ("season", "flu", "fever", "cough")]
    >>> data = pn.Dataset.from_rows(scope, [("winter", None, {"mild", "high"}, "productive")])
    >>> completion = complete(clinic, data)
    >>> completion.of(0, "flu"), completion.of(0, "fever")
    (Possibility(flu: yes 1, no 0.1125), Possibility(fever: none 0, mild 1, high 0.8))
    >>> completion.resolved().row(0)["fever"]
    frozenset({'mild'})
    >>> complete(clinic, data.select(["season", "fever", "cough"]), targets=("flu",)).of(0, "flu")
    Possibility(flu: yes 1, no 0.1125)
    """
    require_rows(data, "complete")
    engine = read_tables(network, reading, limit, "complete")
    _own_columns(network, data.variables)
    if hide and not targets:
        raise InputError("complete: hide=True hides the cells of targets, and there are none; expected targets=(...)")
    shown = [v for v in network.variables if not hide or v.name not in targets]
    data = align_rows(data, shown, "complete")
    data = add_targets(network, data, targets, hide=hide)
    if isinstance(data, Dataset):
        _refuse_if_large(network, data, limit)
        completion = _complete_batch(engine, data, 0, len(data), progress)
        _warn_of_isolated(network, [name for name, cells in completion.ambiguous.items() if cells])
        return completion
    return CompletionStream(engine, data, progress)


class CompletionStream:
    """The completion of a stream, part by part, as often as it is iterated; only one part is in memory.

    A part is a batch of the stream, or some rows of a large one.

    >>> import possnet as pn
    >>> asia = pn.load_example("asia")
    >>> stream = pn.sample_batches(asia, 500, imprecision=1, rng=1, batch=200)
    >>> [len(part.data) for part in pn.complete(asia, stream)]
    [200, 200, 100]
    """

    __slots__ = ("_engine", "_progress", "_stream")

    @check_arguments
    def __init__(self, engine: RowQueries, stream: Batches, progress: Progress | None = None) -> None:
        self._engine, self._stream, self._progress = engine, stream, progress

    def __iter__(self) -> Iterator[Completion]:
        first_row, total = 0, self._stream.rows or 0
        states = sum(len(variable) for variable in self._stream.variables)
        most = max(min(_BATCH_BYTES // (8 * states), _BATCH_ROWS), 1)
        asked: set[str] = set()
        for batch in self._stream:
            for start in range(0, max(len(batch), 1), most):
                part = batch[start : start + most]
                completion = _complete_batch(self._engine, part, first_row + start, total, self._progress)
                new = [name for name, cells in completion.ambiguous.items() if cells and name not in asked]
                _warn_of_isolated(self._engine.network, new)
                asked.update(new)
                yield completion
            first_row += len(batch)

    @check_arguments
    def resolved(self, *, watch: Callable[[Completion], None] | None = None) -> Batches:
        """Stream of the rows with every ambiguous cell cut down to its most possible states; see `Completion.resolved`.

        >>> import possnet as pn, tempfile
        >>> from pathlib import Path
        >>> asia = pn.load_example("asia")
        >>> stream = pn.sample_batches(asia, 500, imprecision=1, rng=1, batch=200)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     pn.write_data(pn.complete(asia, stream).resolved(), Path(folder) / "resolved.parquet")
        ...     len(pn.read_data(Path(folder) / "resolved.parquet"))
        500
        """
        return self.narrowed(1.0, watch=watch)

    @check_arguments
    def narrowed(self, threshold: float = 0.5, *, watch: Callable[[Completion], None] | None = None) -> Batches:
        """Stream of the rows with every ambiguous cell cut down to {x : Π(x | row) >= threshold}.

        Parameters
        ----------
        watch
            Called with the completion of every batch on its way, to add up summaries without a second pass.

        Examples
        --------
        >>> import possnet as pn
        >>> asia = pn.load_example("asia")
        >>> completion = pn.complete(asia, pn.sample_batches(asia, 500, imprecision=1, rng=1, batch=200))
        >>> seen = []
        >>> [len(batch) for batch in completion.narrowed(0.2, watch=seen.append)], len(seen)
        ([200, 200, 100], 3)
        """
        check_threshold(threshold)
        stream = self._stream
        return _NarrowedBatches(stream.variables, stream.rows, stream.weighted, self, threshold, watch)


@dataclass(frozen=True, slots=True)
class _NarrowedBatches:
    """Batches of narrowed rows, as `possnet.dataset.Batches` describes them."""

    variables: tuple[Variable, ...]
    rows: int | None
    weighted: bool
    completion: CompletionStream
    threshold: float
    watch: Callable[[Completion], None] | None

    def __iter__(self) -> Iterator[Dataset]:
        for part in self.completion:
            if self.watch is not None:
                self.watch(part)
            yield part.narrowed(self.threshold)


def _own_columns(network: Network, variables: tuple[Variable, ...]) -> list[str]:
    """Columns that the network knows; at least one."""
    known = [variable.name for variable in network.variables]
    own = [variable.name for variable in variables if variable.name in known]
    if not own:
        raise InputError(
            f"complete: no column of the data ({listing(v.name for v in variables)}) is a variable of the network "
            f"({listing(known)}); expected at least one"
        )
    return own


def _warn_of_isolated(network: Network, names: Iterable[str]) -> None:
    """Warn of variables to complete that have no edges, where the network has other variables."""
    dag = network.dag
    alone = [name for name in names if not dag.parents(name) and not dag.children(name)]
    if alone and len(dag.nodes) > 1:
        warn_user(
            f"complete: no edges at {listing(alone)}: the rest of a row says nothing about such a cell, which gets its "
            "most possible state whatever the row"
        )


def _refuse_if_large(network: Network, data: Dataset, limit: int | None) -> None:
    """Raise `TooLarge` if the degrees of all ambiguous cells would not fit in memory."""
    columns = [data.column(name) for name in _own_columns(network, data.variables)]
    needed = sum(8 * int(column.is_ambiguous.sum()) * len(column.variable) for column in columns)
    if needed > _BATCH_BYTES:
        remedy = "complete a stream instead, which holds a part at a time: scan_data(...)"
        refuse_over(2 * needed, f"completing {len(data):,} rows", remedy, limit=limit)


def _complete_batch(
    engine: RowQueries, data: Dataset, first_row: int, total: int, progress: Progress | None
) -> Completion:
    """One batch: its ambiguous rows, each distinct one once."""
    evidence = data.select(_own_columns(engine.network, data.variables))
    columns = {v.name: evidence.column(v.name) for v in evidence.variables}
    ambiguous = np.logical_or.reduce([column.is_ambiguous for column in columns.values()])
    possible, unclear = _check_precise_rows(engine.network, columns, ~ambiguous)
    asked = np.flatnonzero(ambiguous | unclear)
    groups = group_rows([c.codes[asked] for c in columns.values()], [len(c) for c in columns.values()], len(asked))
    distinct = asked[groups.first]
    wanted = {name: column.is_ambiguous[distinct] for name, column in columns.items()}
    tables = {name: [np.zeros((0, len(column.variable)))] for name, column in columns.items()}
    group_possible = np.ones(len(groups), dtype=np.bool_)
    for start, stop, marginals, block_possible in engine.marginal_blocks(evidence, wanted, distinct):
        group_possible[start:stop] = block_possible
        for name, table in marginals.items():
            tables[name].append(table)
        if progress is not None:
            progress(first_row + len(data) * stop // len(groups), total)
    if progress is not None and not len(groups):
        progress(first_row + len(data), total)
    possible[asked] = group_possible[groups.inverse]
    group_of_row = np.zeros(len(data), dtype=np.int64)
    group_of_row[asked] = groups.inverse
    degrees = {}
    nowhere = np.zeros(0, dtype=np.int64)
    n_ambiguous = {name: int(np.count_nonzero(column.is_ambiguous)) for name, column in columns.items()}
    for name, column in columns.items():
        if not n_ambiguous[name]:
            degrees[name] = CellDegrees(nowhere, nowhere, tables[name][0], column.codes[:0])
            continue
        rows, kept = np.flatnonzero(column.is_ambiguous & possible), wanted[name] & group_possible
        numbers = (np.cumsum(kept) - 1)[group_of_row[rows]]
        table = np.concatenate(tables[name])[group_possible[wanted[name]]]
        degrees[name] = CellDegrees(rows, numbers, table, column.codes[distinct[kept]])
        for array in degrees[name]:
            array.flags.writeable = False
    lacking = tuple(v.name for v in engine.network.variables if v.name not in columns)
    return Completion(data, degrees, np.flatnonzero(~possible), n_ambiguous, first_row, lacking)


def _list_tables_with_zeros(network: Network) -> list[str]:
    return [v.name for v in network.variables if not network.table(v.name).all()]


def _check_precise_rows(network: Network, columns: Mapping[str, CodedColumn], precise: Bools) -> tuple[Bools, Bools]:
    """Which rows are possible as far as a look-up of precise cells tells, and for which precise rows it cannot tell.

    Without a degree of 0 nothing is impossible. With all variables in the data a precise row is impossible if one of its
    degrees is 0; where a variable has no column, inference has to tell.
    """
    possible, none = np.ones(len(precise), dtype=np.bool_), np.zeros(len(precise), dtype=np.bool_)
    with_zeros = network.derive(_list_tables_with_zeros)
    if not with_zeros or not precise.any():
        return possible, none
    if len(columns) < len(network.variables):
        return possible, precise
    for name in with_zeros:
        family = [columns[member] for member in (*network.dag.parents(name), name)]
        states = tuple(np.take(column.first_states, column.codes) for column in family)
        possible &= ~precise | (network.table(name)[states] > 0.0)
    return possible, none

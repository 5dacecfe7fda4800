"""Completing rows: the ambiguous ones, each distinct one once, a block at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, overload

import numpy as np

from possnet.completion.completion import Completion, check_threshold
from possnet.dataset import Dataset, require_rows
from possnet.errors import InputError, listing
from possnet.inference import Inference
from possnet.kernels import bitmaps
from possnet.limits import refuse_over

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from possnet.aliases import Bools, Floats, Ints, Progress
    from possnet.dataset import Batches
    from possnet.network import Network
    from possnet.variables import Variable


_BATCH_ROWS = 1 << 16
_BATCH_BYTES = 1 << 26  # of degrees, if every cell of a part is unknown


@overload
def complete(
    network: Network, data: Dataset, *, limit: int | None = None, progress: Progress | None = None
) -> Completion: ...
@overload
def complete(
    network: Network, data: Batches, *, limit: int | None = None, progress: Progress | None = None
) -> CompletionStream: ...
def complete(
    network: Network, data: Dataset | Batches, *, limit: int | None = None, progress: Progress | None = None
) -> Completion | CompletionStream:
    """What the rest of a row says about its ambiguous and unknown cells: Π(x | row) for every state x of such a cell.

    Π(x | row) is the possibility of x given all cells of the row, its own included, conditioned by the network's
    conjunction ((1) or (2) of [HLB]); columns that the network lacks are carried along untouched, and variables without
    a column count as unknown. Precise rows cost next to nothing, equal rows are computed once, and all cells of a row
    come from one pass up and one down the junction tree. A row of possibility 0 is reported and left as it is.

    Parameters
    ----------
    data
        A data set, for a `Completion`; or a stream of them, for a `CompletionStream`, which holds a batch at a time.
    limit
        Bytes that inference may take, as for `Inference`.
    progress
        Called with the rows done and the rows in all (0 if unknown).

    >>> import possnet as pn
    >>> clinic = pn.load_example("clinic")
    >>> scope = [clinic.variable(name) for name in ("season", "flu", "fever", "cough")]
    >>> data = pn.Dataset.from_rows(scope, [("winter", None, {"mild", "high"}, "productive")])
    >>> found = complete(clinic, data)
    >>> found.of(0, "flu"), found.of(0, "fever")
    (Possibility(flu: yes 1, no 0.1125), Possibility(fever: none 0, mild 1, high 0.8))
    >>> found.resolved().row(0)["fever"]
    frozenset({'mild'})
    """
    require_rows(data, "complete")
    engine = Inference(network, limit=limit)
    _own_columns(network, data.variables)
    if isinstance(data, Dataset):
        _refuse_if_large(network, data, limit)
        return _completed(engine, data, 0, len(data), progress)
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

    def __init__(self, engine: Inference, stream: Batches, progress: Progress | None = None) -> None:
        self._engine, self._stream, self._progress = engine, stream, progress

    def __iter__(self) -> Iterator[Completion]:
        first_row, total = 0, self._stream.rows or 0
        states = sum(len(variable) for variable in self._stream.variables)
        most = max(min(_BATCH_BYTES // (8 * states), _BATCH_ROWS), 1)
        for batch in self._stream:
            for start in range(0, max(len(batch), 1), most):
                part = batch[start : start + most]
                yield _completed(self._engine, part, first_row + start, total, self._progress)
            first_row += len(batch)

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

    def narrowed(self, threshold: float = 0.5, *, watch: Callable[[Completion], None] | None = None) -> Batches:
        """Stream of the rows with every ambiguous cell cut down to {x : Π(x | row) >= threshold}.

        Parameters
        ----------
        watch
            Called with the completion of every batch on its way, to add up summaries without a second pass.

        >>> import possnet as pn
        >>> asia = pn.load_example("asia")
        >>> found = pn.complete(asia, pn.sample_batches(asia, 500, imprecision=1, rng=1, batch=200))
        >>> seen = []
        >>> [len(batch) for batch in found.narrowed(0.2, watch=seen.append)], len(seen)
        ([200, 200, 100], 3)
        """
        check_threshold(threshold)
        return _Narrowed(self, self._stream, threshold, watch)


class _Narrowed:
    """Batches of narrowed rows."""

    __slots__ = ("_found", "_stream", "_threshold", "_watch")

    def __init__(
        self,
        found: CompletionStream,
        stream: Batches,
        threshold: float,
        watch: Callable[[Completion], None] | None,
    ) -> None:
        self._found, self._stream, self._threshold, self._watch = found, stream, threshold, watch

    @property
    def variables(self) -> tuple[Variable, ...]:
        return self._stream.variables

    @property
    def rows(self) -> int | None:
        return self._stream.rows

    @property
    def weighted(self) -> bool:
        return self._stream.weighted

    def __iter__(self) -> Iterator[Dataset]:
        for part in self._found:
            if self._watch is not None:
                self._watch(part)
            yield part.narrowed(self._threshold)


def _own_columns(network: Network, variables: tuple[Variable, ...]) -> list[str]:
    """Columns that the network knows; their states must be the network's."""
    known = {variable.name: variable for variable in network.variables}
    own = [variable for variable in variables if variable.name in known]
    for variable in own:
        states = known[variable.name].states
        if variable.states != states:
            raise InputError(
                f"complete: column {variable.name!r} has states {listing(variable.states)} and the network "
                f"{listing(states)}; expected the same. Read the data with variables=network"
            )
    if not own:
        raise InputError(
            f"complete: no column of the data ({listing(v.name for v in variables)}) is a variable of the network "
            f"({listing(known)}); expected at least one"
        )
    return [variable.name for variable in own]


def _refuse_if_large(network: Network, data: Dataset, limit: int | None) -> None:
    """Raise `TooLarge` if the degrees of all ambiguous cells would not fit in memory."""
    needed = 0
    for name in _own_columns(network, data.variables):
        ambiguous = data.imprecise_share(name) if data.weights is None else 1.0
        needed += int(8 * ambiguous * len(data)) * len(data.variable(name))
    if needed > _BATCH_BYTES:
        remedy = "complete a stream instead, which holds a part at a time: scan_data(...)"
        refuse_over(2 * needed, f"completing {len(data):,} rows", remedy, limit=limit)


def _completed(engine: Inference, data: Dataset, first_row: int, total: int, progress: Progress | None) -> Completion:
    """One batch: its ambiguous rows, each distinct one once."""
    names = _own_columns(engine.network, data.variables)
    evidence = data.select(names)
    rows = len(data)
    masks = {n: bitmaps.unpack(bitmaps.mark_imprecise(data.bitmaps(n)), rows) | data.missing(n) for n in names}
    asked = np.logical_or.reduce(list(masks.values()))
    possible, untold = _precise_rows(engine.network, evidence, ~asked)
    run = np.flatnonzero(asked | untold)
    picked = evidence[run]
    groups = picked.group_rows()
    first, numbers = groups.first, groups.inverse
    wanted = {name: mask[run[first]] for name, mask in masks.items()}
    degrees: dict[str, list[Floats]] = {name: [] for name in names}
    alive = np.ones(len(first), dtype=np.bool_)
    for start, stop, found, fine in engine.marginal_blocks(picked[first], wanted):
        alive[start:stop] = fine
        for name, table in found.items():
            degrees[name].append(table)
        if progress is not None:
            progress(first_row + rows * stop // len(first), total)
    if progress is not None and not len(first):
        progress(first_row + rows, total)
    possible[run] = alive[numbers]
    number_of = np.zeros(rows, dtype=np.int64)
    number_of[run] = numbers
    cells = {}
    for name in names:
        place = np.cumsum(wanted[name]) - 1
        where = np.flatnonzero(masks[name] & possible)
        tables = degrees[name] or [np.zeros((0, len(data.variable(name))))]
        cells[name] = where, np.concatenate(tables)[place[number_of[where]]]
        for array in cells[name]:
            array.flags.writeable = False
    ambiguous = {name: int(mask.sum()) for name, mask in masks.items()}
    return Completion(data, cells, np.flatnonzero(~possible), ambiguous, first_row)


def _precise_rows(network: Network, data: Dataset, precise: Bools) -> tuple[Bools, Bools]:
    """Which rows are possible as far as precise cells tell by look-up, and which precise ones cannot be told that way.

    Without a degree of 0 nothing is impossible. With all variables in the data a precise row is impossible if one of its
    degrees is 0; where a variable has no column, inference has to tell.
    """
    possible = np.ones(len(data), dtype=np.bool_)
    names = {variable.name for variable in data.variables}
    zeros = [v.name for v in network.variables if not network.table(v.name).all()]
    if not zeros:
        return possible, np.zeros(len(data), dtype=np.bool_)
    if len(names) < len(network.variables):
        return possible, precise
    rows = np.flatnonzero(precise)
    states: dict[str, Ints] = {}
    for name in zeros:
        family = (*network.dag.parents(name), name)
        for member in family:
            if member not in states:
                inside = bitmaps.unpack(data.bitmaps(member), len(data))[:, rows]
                states[member] = np.argmax(inside, axis=0)
        possible[rows] &= network.table(name)[tuple(states[member] for member in family)] > 0.0
    return possible, np.zeros(len(data), dtype=np.bool_)

"""Marginals given rows of evidence: by one junction tree for all, slices of it, components of what is left open, or a loop.

`RowQueries` answers for `possnet.Inference`, by maxima; `PosteriorQueries` reads the tables as probabilities and answers by
sums: a degree is a posterior probability divided by the largest.
"""

from __future__ import annotations

from contextlib import suppress
from math import inf
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

import numpy as np

from possnet.dataset import align_rows
from possnet.errors import InputError, TooLarge, among, describe_value
from possnet.inference.batched import RowInference, condition_rows
from possnet.inference.conditioning import MAX_SECONDS, Budget
from possnet.inference.factor_graph import FactorGraph
from possnet.inference.row_components import ComponentInference
from possnet.inference.row_loop import CellLoop, LoopInference
from possnet.inference.slice_layout import tree_of_structure
from possnet.inference.sliced_rows import SlicedInference
from possnet.possibility import PRODUCT

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from possnet.aliases import Bools, Floats, Ints
    from possnet.dataset import CodedColumn, Dataset
    from possnet.inference.batched import RowBlock
    from possnet.inference.semirings import Semiring
    from possnet.network import Network

    _Trees: TypeAlias = tuple[RowInference, SlicedInference | None]

Reading: TypeAlias = Literal["auto", "possibility", "probability"]

_BATCH_BYTES = 1 << 28  # that the messages of a block of rows may take
_MANY_VARIABLES = 200  # of which a plan is not made before components are estimated to take longer
_PLANNING_SECONDS = 1e-4  # a variable
_WORTH_A_TRY = 3.0  # times the least that slices take
_WORTH_SLICING = 4.0  # times that, which a loop takes: to find all slices is itself a part of the work
# What no way of answering rows together takes less than: for all, and for each variable that they observe.
_SECONDS_TOGETHER, _SECONDS_A_VARIABLE = 1e-4, 2e-5
_SECONDS_BOTH_WAYS = 1e-4  # a variable, with all marginals
_SECONDS_A_ROW = 5e-5  # that no loop takes less than
_LOOPED = 4  # different rows that are not worth an estimate of their time
_QUICK_SECONDS = 3e-3  # rows that a tree answers in less are not worth an estimate


class RowQueries:
    """Queries given rows of evidence.

    Parameters
    ----------
    limit
        Bytes that inference may take; by default half of the free memory.
    max_seconds
        Time that a single row may take where its tree does not fit, and variables are fixed in turn.
    """

    def __init__(self, graph: FactorGraph, limit: int | None = None, max_seconds: float = MAX_SECONDS) -> None:
        self.network = graph.network
        self._graph, self._limit = graph, limit
        self._of_a_row = Budget(limit, max_seconds)
        self._budget = min(limit or _BATCH_BYTES, _BATCH_BYTES)
        self._components: dict[str, ComponentInference] = {}
        self._trees: dict[tuple[frozenset[int], frozenset[int], int | None, str], _Trees | None] = {}

    def query_many(self, target: str, data: Dataset) -> Floats:
        """Degrees of a variable given every row, (rows, states); see `possnet.Inference.query_many`."""
        number = self._graph.find_number(target)
        data = self._align_rows(data, "query_many", target)
        columns = {self._graph.numbers[v.name]: data.column(v.name) for v in data.variables if v.name != target}
        answers = np.empty((len(data), self._graph.sizes[number]))
        wanted = {number: np.ones(len(data), dtype=np.bool_)}
        for block, tables, _ in self._run_rows(columns, len(data), wanted, number):
            answers[block] = tables[number]
        return answers

    def marginals_many(self, data: Dataset) -> dict[str, Floats]:
        """Degrees of every variable given every row; see `possnet.Inference.marginals_many`."""
        wanted = {v.name: np.ones(len(data), dtype=np.bool_) for v in self.network.variables}
        marginals = {v.name: np.empty((len(data), len(v))) for v in self.network.variables}
        for start, stop, tables, _ in self.marginal_blocks(data, wanted):
            for name, table in tables.items():
                marginals[name][start:stop] = table
        return marginals

    def marginal_blocks(
        self, data: Dataset, wanted: Mapping[str, Bools], rows: Ints | None = None
    ) -> Iterator[tuple[int, int, dict[str, Floats], Bools]]:
        """Marginals, a block of rows at a time; see `possnet.Inference.marginal_blocks`."""
        data = self._align_rows(data, "marginal_blocks")
        columns = {self._graph.numbers[v.name]: data.column(v.name) for v in data.variables}
        count = len(data) if rows is None else len(rows)
        if rows is not None and (rows.ndim != 1 or (count and not 0 <= rows.min() <= rows.max() < len(data))):
            raise InputError(f"marginal_blocks: rows {describe_value(rows)}; expected numbers of the {len(data)} rows")
        for name, mask in wanted.items():
            if mask.shape != (count,):
                raise InputError(f"marginal_blocks: a mask of shape {mask.shape} for {name!r}; expected {count} rows")
        if rows is not None and not (count == len(data) and (rows[1:] > rows[:-1]).all()):
            columns = {number: column.take_rows(rows) for number, column in columns.items()}
        numbers = {self._graph.find_number(name): mask for name, mask in wanted.items()}
        for block, degrees, possible in self._run_rows(columns, count, numbers):
            yield block.start, block.stop, {self._graph.names[v]: table for v, table in degrees.items()}, possible

    def _run_rows(
        self, columns: Mapping[int, CodedColumn], rows: int, wanted: Mapping[int, Bools], target: int | None = None
    ) -> Iterator[tuple[slice, dict[int, Floats], Bools]]:
        """Blocks of rows, degrees of the wanted variables conditioned on each row, and which rows are possible."""
        n = len(self._graph.sizes)
        columns = {v: column for v, column in columns.items() if not column.is_blank}
        semiring = self._graph.choose_semiring(_least_grades(columns))
        for block, tables, total in self._run_blocks(columns, rows, wanted, target, semiring):
            yield (
                block,
                {
                    v: condition_rows(table, total[wanted[v][block]], semiring, n) if len(table) else table
                    for v, table in tables.items()
                },
                total > semiring.zero,
            )

    def _run_blocks(
        self,
        columns: Mapping[int, CodedColumn],
        rows: int,
        wanted: Mapping[int, Bools],
        target: int | None,
        semiring: Semiring,
    ) -> Iterator[RowBlock]:
        """Blocks of rows, values of the wanted variables together with each row, and the value of the row itself.

        Rows are answered by one junction tree for all, by slices of its tables, or one after the other, whichever is
        estimated to be fastest. If the tree does not fit in memory, or takes longer to plan than all variables take to
        answer, each is answered by the components of what it does not observe.
        """
        if not rows:
            return
        if target is not None:
            yield from self._run_target(columns, rows, target, semiring)
            return
        n = len(self._graph.sizes)
        least = _SECONDS_TOGETHER + _SECONDS_BOTH_WAYS * n
        loop = None
        if rows * _SECONDS_A_ROW < least:
            loop = CellLoop(self._graph, columns, rows, wanted, semiring, self._of_a_row)
            queries = loop.seconds if loop.least_seconds < least else inf
            by_trees = loop.seconds_by_trees if n <= _MANY_VARIABLES else inf
            if min(queries, by_trees) < least:
                blocks: list[RowBlock] = []
                with suppress(TooLarge):  # then the other ways are tried
                    blocks += loop.run_blocks() if queries < by_trees else loop.run_trees()
                if blocks:
                    yield from blocks
                    return
        components = self._find_components(semiring)
        if n > _MANY_VARIABLES and components.estimate_seconds(columns, rows, wanted) < _PLANNING_SECONDS * n:
            yield from components.run_blocks(columns, rows, wanted)
            return
        if loop is not None and n > _MANY_VARIABLES and loop.seconds_by_trees < least:
            yield from loop.run_trees()
            return
        trees = self._trees_for_rows(wanted, columns, target, semiring)
        if trees is None:
            yield from components.run_blocks(columns, rows, wanted)
            return
        yield from _run_trees(*trees, columns, rows, wanted)

    def _run_target(
        self, columns: Mapping[int, CodedColumn], rows: int, target: int, semiring: Semiring
    ) -> Iterator[RowBlock]:
        """The blocks of one target, by a loop of queries where that is estimated to be fastest, as it is for few rows."""
        loop = LoopInference(self._graph, columns, rows, target, semiring, self._of_a_row)
        least = _SECONDS_TOGETHER + _SECONDS_A_VARIABLE * len(columns)
        if loop.distinct <= _LOOPED or (loop.least_seconds < least and loop.rough_seconds < least):
            yield from loop.run_blocks()
            return
        wanted = {target: np.ones(rows, dtype=np.bool_)}
        trees = self._trees_for_rows(wanted, columns, target, semiring)
        if trees is None:
            yield from self._find_components(semiring).run_blocks(columns, rows, wanted)
            return
        yield from _run_trees(*trees, columns, rows, wanted, loop)

    def _find_components(self, semiring: Semiring) -> ComponentInference:
        if semiring.name not in self._components:
            self._components[semiring.name] = ComponentInference(self._graph, semiring, self._limit, self._budget)
        return self._components[semiring.name]

    def _trees_for_rows(
        self, wanted: Iterable[int], observed: Iterable[int], target: int | None, semiring: Semiring
    ) -> _Trees | None:
        """The tree of the factors that matter for some variables under evidence on others; None if too large."""
        graph = self._graph
        key = frozenset(wanted), frozenset(observed), target, semiring.name
        if key not in self._trees:  # one is kept: batches of a stream have the same columns
            relevant = set(graph.relevant_factors(key[0] | key[1]))
            dropped = sum(1 << v for v in range(len(graph.sizes)) if v not in relevant)
            slices = tree_of_structure(graph.sizes, graph.scopes, dropped, target)
            trees = None
            if slices.plan.fits_limit(self._limit):
                tree = RowInference(
                    slices.plan, graph.scopes, graph.tables_in(semiring), semiring, target, self._budget
                )
                one_state = min(graph.sizes) == 1  # then the bits of a clique's variables might outgrow a word
                trees = tree, None if one_state else SlicedInference(slices, graph, semiring, self._budget)
            self._trees = {key: trees}
        return self._trees[key]

    def _align_rows(self, data: Dataset, owner: str, ignored: str = "") -> Dataset:
        """The rows over the network's variables, an ignored column left as it is; columns that it lacks are refused."""
        for variable in data.variables:
            if variable.name not in self._graph.numbers:
                raise InputError(
                    f"{owner}: column {variable.name!r}, and the network has no such variable; expected columns of the "
                    f"network's own variables{among(variable.name, self._graph.names)}"
                )
        return align_rows(data, [v for v in self.network.variables if v.name != ignored], owner)


class PosteriorQueries(RowQueries):
    """Queries given rows of evidence, by the network's tables as probabilities: P(x | row) / max over x' of P(x' | row).

    Every context of a table is divided by its sum, which undoes the transform ``ratio`` (`possnet.Network.transform`);
    cells that are sets are disjunctions, and so the states of other cells are summed over, as coarsening at random has it.

    >>> import possnet as pn
    >>> x, y = pn.Variable("x", ("1", "2", "3")), pn.Variable("y", ("1", "2"))
    >>> tables = {"x": [1, 0.9, 0.9], "y": [[1, 0.2], [0.2, 1], [0.2, 1]]}
    >>> net = pn.Network((x, y), pn.Dag({"x": (), "y": ("x",)}), tables)
    >>> data = pn.Dataset.from_rows((x,), [({"1", "2"},), (None,)])
    >>> PosteriorQueries(net).query_many("y", data).round(3).tolist()
    [[1.0, 0.932], [0.68, 1.0]]
    >>> pn.Inference(net).query_many("y", data).tolist()
    [[1.0, 0.9], [1.0, 0.9]]
    """

    def __init__(self, network: Network, limit: int | None = None) -> None:
        super().__init__(network.derive(_read_probabilities), limit)


def _read_probabilities(network: Network) -> FactorGraph:
    return FactorGraph(network, probabilities=True)


def read_tables(network: Network, reading: Reading, limit: int | None, owner: str) -> RowQueries:
    """Queries by the reading of a network's tables: ``auto`` is ``probability`` where its transform is ``ratio``.

    That is so for product-based networks alone: whoever chose the minimum reads degrees as an order.

    >>> import possnet as pn
    >>> asia = pn.load_example("asia")
    >>> type(read_tables(asia, "auto", None, "complete")).__name__
    'RowQueries'
    >>> type(read_tables(asia.with_transform("ratio"), "auto", None, "complete")).__name__
    'PosteriorQueries'
    """
    if reading not in get_args(Reading):
        raise InputError(f"{owner}: reading {reading!r}; expected 'auto', 'possibility' or 'probability'")
    if reading == "auto" and network.transform and network.conjunction.name == PRODUCT.name:
        reading = "probability"
    if reading == "probability":
        if not network.is_normalised:
            raise InputError(
                f"{owner}: reading 'probability' of a subnormal network; expected tables whose rows peak at 1"
            )
        return PosteriorQueries(network, limit)
    return RowQueries(network.derive(FactorGraph), limit)


def _run_trees(
    tree: RowInference,
    sliced: SlicedInference | None,
    columns: Mapping[int, CodedColumn],
    rows: int,
    wanted: Mapping[int, Bools],
    loop: LoopInference | None = None,
) -> Iterator[RowBlock]:
    """The blocks of rows by a junction tree, by slices of it, or by a loop; what takes longer to estimate is tried last."""
    most = tree.bound_seconds(rows)
    alone = inf
    if loop is not None and loop.least_seconds < most and loop.rough_seconds < _WORTH_A_TRY * most:
        alone = loop.seconds
    if loop is not None and alone < tree.least_seconds(rows):
        yield from loop.run_blocks()
        return
    worth = inf if sliced is None else _WORTH_A_TRY * sliced.least_seconds(rows)
    if most > min(max(worth, _QUICK_SECONDS), alone):
        seconds = tree.estimate_seconds(columns, rows)
        if sliced is not None and seconds > worth and alone > _WORTH_SLICING * worth:
            first = sliced.schedule(columns, rows, wanted)
            if first.seconds < min(seconds, alone):
                yield from sliced.run_blocks(columns, rows, wanted, first)
                return
        if loop is not None and alone < seconds:
            yield from loop.run_blocks()
            return
    yield from tree.run_blocks(columns, rows, wanted)


def _least_grades(columns: Mapping[int, CodedColumn]) -> dict[int, Floats]:
    """The smallest degree above 0 of the graded cells of every column that has some."""
    grades = {v: column.grades for v, column in columns.items() if column.grades is not None}
    return {v: np.array([table[table > 0.0].min()]) for v, table in grades.items()}

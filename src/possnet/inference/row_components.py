"""Marginals given rows of evidence, by message passing over the components of what a row does not observe precisely.

Given the precise cells of a row, its other variables fall into *components*: two variables meet if a family holds both. A
family restricted to its observed states is a factor over a component, or a number if all of it is observed, and variables
below which nothing is observed are left out (barren nodes: their rows peak at 1). So if the Markov blanket of a variable is
observed, its possibility is the product (or minimum) of its families alone. Rows that share a component are computed
together, by the passes of `possnet.inference.message_passing` over its small junction tree. Components are found for all
rows at once, as sets of variables and families in the bits of words, which grow until nothing changes.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log2, prod
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from possnet.inference.factor_graph import to_semiring
from possnet.inference.junction_tree import JunctionTree
from possnet.inference.message_passing import CliqueLayout, Potential, order_axes
from possnet.inference.observed_rows import RowObserver
from possnet.inference.plan import make_plan
from possnet.inference.pruning import read_targets
from possnet.inference.row_passes import RowPasses
from possnet.inference.row_schedule import RowSchedule
from possnet.kernels.grouping import group_rows

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from possnet.aliases import Bools, Floats, Ints, Words
    from possnet.dataset import CodedColumn
    from possnet.inference.batched import RowBlock
    from possnet.inference.factor_graph import FactorGraph
    from possnet.inference.observed_rows import ObservedRows
    from possnet.inference.plan import Plan
    from possnet.inference.semirings import Semiring

    _RowResult: TypeAlias = tuple[Ints, Floats, dict[int, Floats]]

_SAMPLE = 64  # rows from which the number of components is estimated
_MOST_ROWS = 1 << 15  # of a block
_FEW_ROWS = 3  # below, a tree for each row is faster than the passes for rows together
# Measured on one machine; compared with the estimate of `RowInference`.
_TINY = 1 << 16  # products of a table of all variables of a component that take less time than planning a tree
_VERY_FEW = 1 << 5  # entries of a table that need no tree, however many rows there are
_SECONDS_A_GROUP = 3e-4
_SECONDS_A_VARIABLE = 7e-5
_SECONDS_A_TINY_ONE = 5e-5
_SECONDS_A_FACTOR = 1.5e-5
_ALL_BITS = np.uint64(2**64 - 1)


@dataclass(frozen=True, slots=True)
class RowComponent:
    """Variables that are not observed precisely and meet in families, the families that hold them, and rows like this."""

    variables: tuple[int, ...]
    families: tuple[int, ...]
    rows: Ints


@dataclass(frozen=True, slots=True)
class _ComponentJob:
    """A component planned: the scopes of its factors (families, then evidence), its wanted variables, and the evidence.

    Variables have the numbers of their places in the component.
    """

    component: RowComponent
    plan: Plan
    scopes: list[tuple[int, ...]]
    place: dict[int, int]
    wanted: list[int]
    evidence: list[int]
    vectors: list[Floats]


class ComponentInference:
    """Inference for rows of evidence, component by component.

    Parameters
    ----------
    limit, budget
        Bytes that the tables of a component and the messages of a block of rows may take.
    """

    def __init__(self, graph: FactorGraph, semiring: Semiring, limit: int | None, budget: int) -> None:
        self.semiring, self._graph, self._limit, self._budget = semiring, graph, limit, budget
        self._sizes, self._scopes, self._tables = graph.sizes, graph.scopes, graph.tables_in(self.semiring)
        self._observer = RowObserver(graph, semiring)
        self._words = -(-len(self._sizes) // 64)
        self._most_rows = max(min(budget // (64 * len(self._sizes) * self._words), _MOST_ROWS), 1)

    def run_blocks(
        self, columns: Mapping[int, CodedColumn], rows: int, wanted: Mapping[int, Bools]
    ) -> Iterator[RowBlock]:
        """Blocks of rows, the tables (wanted rows of the block, states) of every wanted variable, the value of every row.

        The value is 0 for impossible evidence, and exact for the minimum.
        """
        for start in range(0, rows, self._most_rows):
            block = slice(start, min(start + self._most_rows, rows))
            observed = self._observer.observe(columns, np.arange(start, block.stop), wanted)
            total = self._observer.combine_precise(observed)
            tables = {v: np.full((len(total), self._sizes[v]), self.semiring.zero) for v in wanted}
            for v, table in tables.items():
                (precise,) = np.nonzero(~observed.is_open[v])
                table[precise, observed.states[v, precise]] = self.semiring.one
            with np.errstate(divide="ignore", invalid="ignore"):
                for component in self._find_components(observed):
                    self._run_component(component, columns, observed, tables, total)
            yield block, {v: table[observed.wanted[v]] for v, table in tables.items()}, total

    def estimate_seconds(self, columns: Mapping[int, CodedColumn], rows: int, wanted: Mapping[int, Bools]) -> float:
        """Time that the rows would take, from the components of a few of them and how fast their number grows."""
        if not rows:
            return 0.0
        sample = np.linspace(0, rows - 1, min(rows, _SAMPLE, max(self._most_rows // 4, 8))).astype(np.int64)
        components = self._find_components(self._observer.observe(columns, sample, wanted))
        of_half = sum(bool((c.rows % 2 == 0).any()) for c in components)
        seconds = sum(self._estimate_component(component, columns) for component in components)
        growth = log2(max(len(components), 1) / max(of_half, 1))  # Heaps' law: a power of the number of rows
        return float(seconds * (rows / len(sample)) ** growth + 1e-7 * rows * len(self._sizes))

    def _estimate_component(self, component: RowComponent, columns: Mapping[int, CodedColumn]) -> float:
        evidence = sum(v in columns for v in component.variables)
        if self._is_tiny(component, evidence):
            return _SECONDS_A_TINY_ONE + (len(component.families) + evidence) * _SECONDS_A_FACTOR
        return _SECONDS_A_GROUP + len(component.variables) * _SECONDS_A_VARIABLE

    def _spread_bits(self, observed: ObservedRows) -> Words:
        """For every variable and row the bits of its component: first those of variables, then those of families."""
        words = self._words
        is_open = np.where(observed.is_open, _ALL_BITS, np.uint64(0))
        is_kept = np.where(observed.is_kept, _ALL_BITS, np.uint64(0))
        spread = np.zeros((len(self._sizes), 2 * words, is_open.shape[1]), dtype=np.uint64)
        for k, scope in enumerate(self._scopes):
            bit = np.uint64(1 << k % 64)
            spread[k, k // 64] = is_open[k] & bit
            for v in scope:
                spread[v, words + k // 64] |= is_open[v] & is_kept[k] & bit
        linking = [k for k in self._graph.order if (observed.is_open[list(self._scopes[k])].sum(axis=0) > 1).any()]
        grown = True
        while grown:
            grown = False
            for k in linking:
                scope = self._scopes[k]
                union = spread[scope[0]].copy()
                for v in scope[1:]:
                    union |= spread[v]
                union &= is_kept[k]
                for v in scope:
                    larger = union & is_open[v]
                    larger |= spread[v]
                    grown = grown or not np.array_equal(larger, spread[v])
                    spread[v] = larger
            linking.reverse()  # forth and back, so that the ends of a chain meet in two sweeps
        return spread

    def _find_components(self, observed: ObservedRows) -> list[RowComponent]:
        """The components of some rows that matter: those of wanted variables, and those that bound the possibility."""
        spread, words = self._spread_bits(observed), self._words
        counts = np.zeros((words, 1), dtype=np.uint64)
        wanted = np.zeros((words, spread.shape[2]), dtype=np.uint64)
        for k in range(len(self._sizes)):
            bit = np.uint64(1 << k % 64)
            if self._observer.bounds[k]:
                counts[k // 64] |= bit
            if k in observed.wanted:
                wanted[k // 64] |= np.where(observed.wanted[k], bit, np.uint64(0))
        components = []
        for v, bits in enumerate(spread):
            # A component is listed at the first of its variables.
            is_first = observed.is_open[v] & ((bits[v // 64] & np.uint64((1 << v % 64) - 1)) == 0)
            is_first &= ~bits[: v // 64].any(axis=0)
            is_first &= (bits[:words] & wanted).any(axis=0) | (bits[words:] & counts).any(axis=0)
            (rows,) = np.nonzero(is_first)
            if len(rows):
                coded = [np.unique(word, return_inverse=True) for word in bits[:, rows]]
                groups = group_rows([codes for _, codes in coded], [len(distinct) for distinct, _ in coded], len(rows))
                ends = np.cumsum(groups.counts())[:-1]
                for members in np.split(rows[np.argsort(groups.inverse, kind="stable")], ends):
                    of_first = bits[:, members[0]]
                    parts = _list_bits(of_first[:words]), _list_bits(of_first[words:])
                    components.append(RowComponent(*parts, members))
        return components

    def _run_component(
        self,
        component: RowComponent,
        columns: Mapping[int, CodedColumn],
        observed: ObservedRows,
        tables: Mapping[int, Floats],
        total: Floats,
    ) -> None:
        """Combine a component's value with the rows' and fill in the tables of its wanted variables."""
        place = {v: k for k, v in enumerate(component.variables)}
        wanted = [v for v in component.variables if v in tables and observed.wanted[v][component.rows].any()]
        evidence = [v for v in component.variables if v in columns]
        if self._is_tiny(component, len(evidence)):
            value, joint = self._combine_directly(component, place, evidence, columns, observed)
            rows, last = component.rows, len(place)
            total[rows] = self.semiring.combine(total[rows], value)
            for v in wanted:
                others = tuple(k for k in range(last) if k != place[v])
                tables[v][rows] = (self.semiring.project.reduce(joint, axis=others) if others else joint).T
            return
        scopes = [tuple([place[v] for v in self._scopes[f] if v in place]) for f in component.families]
        scopes += [(place[v],) for v in evidence]
        sizes = [self._sizes[v] for v in component.variables]
        plan = make_plan(sizes, scopes, last=1 << place[wanted[0]] if len(wanted) == 1 else 0)
        plan.refuse_if_large([self._graph.names[v] for v in component.variables], self._limit)
        vectors = [to_semiring(np.ascontiguousarray(columns[v].degrees.T), self.semiring) for v in evidence]
        job = _ComponentJob(component, plan, scopes, place, [place[v] for v in wanted], evidence, vectors)
        run = self._run_row_by_row if len(component.rows) < _FEW_ROWS else self._run_rows_together
        for rows, value, marginals in run(job, observed):
            total[rows] = self.semiring.combine(total[rows], value)
            for k, table in marginals.items():
                tables[component.variables[k]][rows] = table

    def _is_tiny(self, component: RowComponent, n_evidence: int) -> bool:
        """Whether a table of all its variables takes less time than a tree is planned in."""
        entries = prod([self._sizes[v] for v in component.variables])
        factors = len(component.families) + n_evidence
        return entries * (len(component.rows) * factors + 1) <= _TINY or entries <= _VERY_FEW

    def _combine_directly(
        self,
        component: RowComponent,
        place: Mapping[int, int],
        evidence: list[int],
        columns: Mapping[int, CodedColumn],
        observed: ObservedRows,
    ) -> tuple[Floats, Floats]:
        """The value of every row, and the table of a component's variables, rows along the last axis."""
        rows, sizes = component.rows, [self._sizes[v] for v in component.variables]
        states = observed.states[:, rows]
        parts = []
        for family in component.families:
            scope = self._scopes[family]
            inside = sorted((axis for axis, v in enumerate(scope) if v in place), key=lambda axis: place[scope[axis]])
            outside = [axis for axis, v in enumerate(scope) if v not in place]
            codes = self._code_observed(family, place, states)
            table = self._tables[family].transpose(*inside, *outside)
            shape = [1] * len(sizes)
            for axis in inside:
                shape[place[scope[axis]]] = self._sizes[scope[axis]]
            flat = table.reshape(prod(shape), -1)
            parts.append(np.take(flat, codes, axis=1, mode="clip").reshape(*shape, len(rows)))
        for v in evidence:
            degrees = to_semiring(columns[v].degrees[observed.codes[v][rows]].T, self.semiring)
            parts.append(degrees.reshape(*(1,) * place[v], sizes[place[v]], *(1,) * (len(sizes) - place[v] - 1), -1))
        parts.sort(key=lambda part: part.size)
        joint = parts[0]
        for part in parts[1:]:
            joint = self.semiring.combine(joint, part)
        joint = np.broadcast_to(joint, (*sizes, len(rows)))
        value: Floats = self.semiring.project.reduce(joint, axis=tuple(range(len(sizes))))
        return value, joint

    def _run_rows_together(self, job: _ComponentJob, observed: ObservedRows) -> Iterator[_RowResult]:
        """Some rows at a time, the value of each and the marginals (rows, states) of the wanted variables."""
        plan, semiring, families = job.plan, self.semiring, job.component.families
        layouts = [CliqueLayout(plan, clique) for clique in plan.cliques]
        potentials = [Potential([], layout, semiring) for layout in layouts]
        values = [*(self._slice_family(f, job) for f in families), *job.vectors]
        n_codes = [table.shape[1] for table in values]
        most = max(self._budget // (16 * sum(layout.separator for layout in layouts)), 1)
        for start in range(0, len(job.component.rows), most):
            rows = job.component.rows[start : start + most]
            codes = [self._code_observed(f, job.place, observed.states[:, rows]) for f in families]
            codes += [observed.codes[v][rows] for v in job.evidence]
            schedule = RowSchedule(plan, layouts, job.scopes, codes, n_codes, len(rows))
            passes = RowPasses(schedule, potentials, values, semiring)
            if len(job.wanted) == 1:
                table = passes.collect(job.wanted[0])
                yield rows, semiring.project.reduce(table, axis=1), {job.wanted[0]: table}
            else:
                value, every = passes.collect()[:, 0], np.arange(len(rows))
                yield rows, value, passes.read_marginals(dict.fromkeys(job.wanted, every)) if job.wanted else {}

    def _run_row_by_row(self, job: _ComponentJob, observed: ObservedRows) -> Iterator[_RowResult]:
        """The same by a tree for each row, which is twice as fast where there are only one or two."""
        plan, semiring = job.plan, self.semiring
        for row in job.component.rows:
            factors = []
            for family in job.component.families:
                states = observed.states[:, row]
                where = tuple([slice(None) if v in job.place else states[v] for v in self._scopes[family]])
                factors.append(self._tables[family][where])
            factors += [vector[:, observed.codes[v][row]] for v, vector in zip(job.evidence, job.vectors, strict=True)]
            tree = JunctionTree(plan, job.scopes, factors, semiring)
            value = np.array([tree.collect(keep=len(job.wanted) > 1)])
            marginals = {}
            if len(job.wanted) == 1:
                marginals = {job.wanted[0]: read_targets(tree, job.wanted, semiring.one)[np.newaxis]}
            elif job.wanted:
                every = tree.distribute()
                marginals = {v: every[v].reshape(1, -1) for v in job.wanted}
            yield np.array([row]), value, marginals

    def _slice_family(self, family: int, job: _ComponentJob) -> Floats:
        """A family's table as (cells of the component's variables in elimination order, configurations of the others)."""
        scope = self._scopes[family]
        inside = [axis for axis, v in enumerate(scope) if v in job.place]
        outside = [axis for axis, v in enumerate(scope) if v not in job.place]
        table = self._tables[family].transpose(*inside, *outside)
        table = order_axes(job.plan, [job.place[scope[axis]] for axis in inside], table)
        return table.reshape(prod(table.shape[: len(inside)]), -1)

    def _code_observed(self, family: int, place: Mapping[int, int], states: NDArray[np.int64]) -> Ints:
        """Every row's configuration of the observed variables of a family."""
        codes = np.zeros(states.shape[1], dtype=np.int64)
        for v in self._scopes[family]:
            if v not in place:
                codes = codes * self._sizes[v] + states[v]
        return codes


def _list_bits(words: Words) -> tuple[int, ...]:
    """Numbers of the bits that are set.

    >>> _list_bits(np.array([5, 1], dtype=np.uint64))
    (0, 2, 64)
    """
    return tuple(64 * k + bit for k, word in enumerate(words.tolist()) for bit in range(64) if word >> bit & 1)

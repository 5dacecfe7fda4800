"""A single question about a few targets, by what its evidence leaves open, component by component.

Variables whose state is known fall out of all tables. What is left of the network falls into components, and only that of
the targets has a bearing on their conditional degrees. The others matter if they make the evidence impossible: one
configuration of them that is possible shows that they do not, and it costs one look at every table. Components are small
even in large networks where much is observed; each is answered by a program of elimination, which is kept for the next
question that leaves the same open. For a large component a junction tree is planned in its place; where that does not fit
in memory, variables of all that is left are fixed in turn (see `possnet.inference.pruning`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from math import prod
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from possnet.errors import TooLarge
from possnet.graph import iterate_bits
from possnet.inference.elimination_programs import EliminationProgram, write_program
from possnet.inference.evidence import Findings
from possnet.inference.factor_graph import to_semiring
from possnet.inference.junction_tree import JunctionTree
from possnet.inference.plan import Plan, make_plan
from possnet.inference.pruning import query_pruned, read_targets
from possnet.inference.semirings import MAX_MIN
from possnet.limits import memory_limit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from possnet.aliases import Floats, Ints
    from possnet.inference.conditioning import Budget
    from possnet.inference.factor_graph import FactorGraph
    from possnet.inference.semirings import Semiring

    _ProgramKey: TypeAlias = tuple["Component", tuple[int, ...], tuple[tuple[int, int], ...]]
    """A component, the targets, and how many states are left of those of its variables of which degrees are known."""

_KEPT_VARIABLES = 1 << 14  # of all programs that are kept
_MOST_VARIABLES = 256  # of a component; above, a plan is worth its time
_MOST_ENTRIES = 1 << 20  # of a program's tables, in all
_SMALL_BYTES = 1 << 22
_COPIED = 1 << 22  # entries of tables that are copied to be at hand
_ALL = slice(None)


class Component(NamedTuple):
    """Variables that a question leaves open and that factors connect, and these factors, each as bits."""

    variables: int
    factors: int


class ComponentRun(NamedTuple):
    """What the run of a component's program takes, and what the program is for."""

    key: _ProgramKey
    parts: int
    entries: int
    planned: bool  # as a junction tree

    @property
    def variables(self) -> int:
        """How many variables the component has."""
        return self.key[0].variables.bit_count()


class Questions:
    """Questions about some of the variables of a network, each answered on what its evidence leaves open.

    >>> import possnet as pn
    >>> from possnet.inference.conditioning import Budget
    >>> from possnet.inference.evidence import Findings
    >>> from possnet.inference.factor_graph import FactorGraph
    >>> from possnet.inference.semirings import MAX_PRODUCT
    >>> graph = FactorGraph(pn.load_example("asia"))
    >>> findings = Findings({graph.numbers["xray"]: 0, graph.numbers["smoke"]: 0}, {})
    >>> Questions(graph).answer([graph.numbers["lung"]], findings, MAX_PRODUCT, Budget())[1].round(4)
    array([0.1 , 0.05])
    """

    def __init__(self, graph: FactorGraph) -> None:
        self._graph = graph
        self._lookups: dict[str, FamilyLookup] = {}
        self._programs: dict[_ProgramKey, _ComponentProgram] = {}
        self._n_kept = 0

    def answer(
        self,
        targets: list[int],
        findings: Findings,
        semiring: Semiring,
        budget: Budget,
        runs: list[ComponentRun] | None = None,
    ) -> tuple[float, Floats | None]:
        """The value of the evidence and the table over the targets (unnormalised, in their order; None without targets).

        Where a product is conditioned on evidence, what has no bearing on the targets is left out of both; the value is
        that of the semiring's zero if the evidence is impossible. What is run is added to ``runs``, if that is given; then
        a question that does not fit in memory is refused at once (`TooLarge`), and no variables are fixed in turn.
        """
        question = _open_question(self._graph, targets, findings, semiring, runs)
        if question is None:
            return semiring.zero, None
        if question.conditional:
            table = self._answer_conditional(question, budget.limit)
        else:
            table = self._answer_whole(question, budget.limit)
        if table is None and runs is not None:
            raise TooLarge("a question does not fit in memory; more evidence would help, or a higher limit=")
        if table is None:
            return query_pruned(self._graph, targets, findings.as_degrees(self._graph.sizes), semiring, budget)
        value = float(semiring.project.reduce(table.reshape(-1)))
        return value, table if targets else None

    def _answer_conditional(self, question: _OpenQuestion, limit: int | None) -> Floats | None:
        """The table over the targets but for what has no bearing on it; all zero if the evidence is impossible."""
        semiring = question.semiring
        relevant = self._relevant(question)
        open_variables = self._open(question) & relevant
        lookup = self.lookup(semiring)
        own = self.find_component(sum([1 << target for target in question.targets]), open_variables, relevant)
        table = self._run_component(question, lookup, own, limit)
        if table is None or not lookup.has_zeros:
            return table
        apart = relevant & ~own.factors
        for factor in np.flatnonzero(lookup.entries_at(question) == semiring.zero).tolist():
            if not apart >> factor & 1:
                continue
            start = self.scopes[factor] & open_variables
            if not start:
                return np.full_like(table, semiring.zero)
            other = self.find_component(start, open_variables, relevant)
            apart &= ~other.factors
            value = self._run_component(question, lookup, other, limit, of_targets=False)
            if value is None:
                return None
            if value == semiring.zero:
                return np.full_like(table, semiring.zero)
        return table

    def _answer_whole(self, question: _OpenQuestion, limit: int | None) -> Floats | None:
        """The table over the targets together with all that is relevant."""
        semiring = question.semiring
        relevant = self._relevant(question)
        open_variables = self._open(question) & relevant
        lookup = self.lookup(semiring)
        table = np.array(semiring.one)
        entries = lookup.entries_at(question) if question.findings.states else None
        waiting = relevant
        start = sum([1 << target for target in question.targets])
        of_targets = bool(start)
        while waiting:
            if not start:
                factor = (waiting & -waiting).bit_length() - 1
                start = self.scopes[factor] & open_variables
                if not start:
                    assert entries is not None  # noqa: S101 - a factor that is wholly known
                    table = semiring.combine(table, entries[factor])
                    waiting ^= 1 << factor
                    continue
            component = self.find_component(start, open_variables, relevant)
            part = self._run_component(question, lookup, component, limit, of_targets=of_targets)
            if part is None:
                return None
            table = semiring.combine(table, part)
            waiting &= ~component.factors
            start, of_targets = 0, False
        return table

    def _relevant(self, question: _OpenQuestion) -> int:
        relevant = self.always_relevant
        ancestors = self.ancestors
        for v in (*question.targets, *question.findings.states, *question.findings.degrees):
            relevant |= ancestors[v]
        return relevant

    def _open(self, question: _OpenQuestion) -> int:
        known = 0
        for v in question.findings.states:
            known |= 1 << v
        return (1 << len(self._graph.sizes)) - 1 & ~known

    def _run_component(
        self,
        question: _OpenQuestion,
        lookup: FamilyLookup,
        component: Component,
        limit: int | None,
        *,
        of_targets: bool = True,
    ) -> Floats | None:
        """The table over the targets, or the value of a component that holds none; None if its program is too large."""
        targets = question.targets if of_targets else ()
        soft = [v for v in question.findings.degrees if component.variables >> v & 1]
        key = component, targets, tuple([(v, len(question.findings.degrees[v])) for v in soft])
        program = self._programs.get(key)
        if program is None:
            program = self._write_component(component, targets, question, soft)
            self._n_kept += component.variables.bit_count()
            if self._n_kept > _KEPT_VARIABLES:
                self._programs, self._n_kept = {}, component.variables.bit_count()
            self._programs[key] = program
        if not program.fits_limit(limit):
            return None
        if question.runs is not None:
            planned = isinstance(program.way, Plan)
            question.runs.append(ComponentRun(key, len(program.scopes), program.way.entries, planned))
        parts = [*program.cut_tables(lookup.tables, question), *[question.findings.degrees[v] for v in soft]]
        return program.run(parts, question.semiring)

    def _write_component(
        self, component: Component, targets: tuple[int, ...], question: _OpenQuestion, soft: Sequence[int]
    ) -> _ComponentProgram:
        all_sizes = self._graph.sizes
        sizes = {v: all_sizes[v] for v in iterate_bits(component.variables)}
        sizes |= {v: len(question.findings.degrees[v]) for v in soft}
        families, scopes, left = [], [], question.left
        for factor in iterate_bits(component.factors):
            scope = self._ordered_scopes[factor]
            inside = tuple([v for v in scope if v in sizes])
            known = None if len(inside) == len(scope) else tuple([-1 if v in sizes else v for v in scope])
            excluded = tuple([(axis, v) for axis, v in enumerate(scope) if v in left]) if left else ()
            families.append((factor, known, excluded))
            scopes.append(inside)
        scopes += [(v,) for v in soft]
        way: EliminationProgram | Plan | None = None
        if len(sizes) <= _MOST_VARIABLES:
            way = write_program(scopes, sizes, targets, _MOST_ENTRIES)
        if way is None:
            last = sum([1 << target for target in targets])
            own_sizes = [sizes.get(v, size) for v, size in enumerate(all_sizes)]
            absent = (1 << len(own_sizes)) - 1 & ~component.variables
            way = make_plan(own_sizes, scopes, dropped=absent, last=last, together=targets)
        return _ComponentProgram(way, targets, scopes, families)

    def find_component(self, start: int, open_variables: int, relevant: int) -> Component:
        """What factors connect with some open variables, all as bits."""
        holding, scopes = self.holding, self.scopes
        variables, factors, frontier = 0, 0, start
        while frontier:
            variables |= frontier
            reached = 0
            while frontier:
                lowest = frontier & -frontier
                reached |= holding[lowest.bit_length() - 1]
                frontier ^= lowest
            reached &= relevant & ~factors
            factors |= reached
            while reached:
                lowest = reached & -reached
                frontier |= scopes[lowest.bit_length() - 1]
                reached ^= lowest
            frontier &= open_variables & ~variables
        return Component(variables, factors)

    @cached_property
    def _ordered_scopes(self) -> list[list[int]]:
        """The variables of every factor in the order of their numbers."""
        return [sorted(scope) for scope in self._graph.scopes]

    @cached_property
    def scopes(self) -> list[int]:
        """The variables of every factor, as bits."""
        return [sum(1 << v for v in scope) for scope in self._graph.scopes]

    @cached_property
    def holding(self) -> list[int]:
        """The factors that hold a variable, as bits."""
        holding = [0] * len(self._graph.sizes)
        for factor, scope in enumerate(self._graph.scopes):
            for v in scope:
                holding[v] |= 1 << factor
        return holding

    @cached_property
    def ancestors(self) -> list[int]:
        """Every variable with its ancestors, as bits."""
        ancestors = [0] * len(self._graph.sizes)
        for v in self._graph.order:
            ancestors[v] = 1 << v
            for parent in self._graph.scopes[v][:-1]:
                ancestors[v] |= ancestors[parent]
        return ancestors

    @cached_property
    def always_relevant(self) -> int:
        """Families with rows that do not peak at 1 and their ancestors, as bits: they always matter."""
        relevant = 0
        for v, peaks in enumerate(self._graph.has_peaks):
            if not peaks:
                relevant |= self.ancestors[v]
        return relevant

    def lookup(self, semiring: Semiring) -> FamilyLookup:
        """The tables as values of a semiring."""
        if semiring.name not in self._lookups:
            self._lookups[semiring.name] = FamilyLookup(self._graph, semiring)
        return self._lookups[semiring.name]


class FamilyLookup:
    """The tables of all families, axes in the order of the variables' numbers, and one entry of each at a time."""

    def __init__(self, graph: FactorGraph, semiring: Semiring) -> None:
        self._graph = graph
        self.tables: list[Floats] = []
        for scope, table in zip(graph.scopes, graph.tables_in(semiring), strict=True):
            if any(before > after for before, after in pairwise(scope)):
                turned = table.transpose(sorted(range(len(scope)), key=scope.__getitem__))
                self.tables.append(np.ascontiguousarray(turned) if turned.size <= _COPIED else turned)
            else:
                self.tables.append(table)
        parts = self.tables if self._flat is None else [self._flat]
        self.has_zeros = any(bool((part == semiring.zero).any()) for part in parts)

    @cached_property
    def _flat(self) -> Floats | None:
        """All tables in a line; None where that would be long."""
        if sum([table.size for table in self.tables]) > _COPIED:
            return None
        return np.concatenate([table.reshape(-1) for table in self.tables])

    @cached_property
    def _places(self) -> tuple[Ints, Ints, Ints]:
        """Where every table starts in the line, its variables, and how far their states are apart (families, widest)."""
        widest = max(table.ndim for table in self.tables)
        members, strides = (np.zeros((len(self.tables), widest), dtype=np.int64) for _ in range(2))
        for factor, (scope, table) in enumerate(zip(self._graph.scopes, self.tables, strict=True)):
            members[factor, : len(scope)] = sorted(scope)
            strides[factor, : len(scope)] = [prod(table.shape[axis + 1 :]) for axis in range(table.ndim)]
        starts = np.cumsum([0, *[table.size for table in self.tables[:-1]]])
        return starts, members, strides

    @cached_property
    def _guess(self) -> Ints:
        """A configuration that is possible: of every variable the most possible state, given those of its parents."""
        states = np.zeros(len(self._graph.sizes), dtype=np.int64)
        for v in self._graph.order:
            parents = self._graph.scopes[v][:-1]
            states[v] = self._graph.tables[v][tuple(states[list(parents)])].argmax()
        return states

    def entries_at(self, question: _OpenQuestion) -> Floats:
        """The entry of every family at one configuration that agrees with what is known, if there is one."""
        states = self._guess.copy()
        known = question.findings.states
        if known:
            states[np.fromiter(known, np.int64, len(known))] = np.fromiter(known.values(), np.int64, len(known))
        for v, possible in question.left.items():
            if states[v] not in possible:
                states[v] = possible[question.findings.degrees[v].argmax()]
        if self._flat is None:
            scopes = self._graph.scopes
            return np.array([table[tuple(states[sorted(s)])] for s, table in zip(scopes, self.tables, strict=True)])
        starts, members, strides = self._places
        entries: Floats = self._flat[starts + np.einsum("fm,fm->f", states[members], strides)]
        return entries


class _OpenQuestion(NamedTuple):
    """What is asked: ``findings`` has no state of a target, and degrees of states that are left alone (``left``)."""

    targets: tuple[int, ...]
    findings: Findings
    left: dict[int, Ints]
    semiring: Semiring
    conditional: bool
    runs: list[ComponentRun] | None


def _open_question(
    graph: FactorGraph,
    targets: Sequence[int],
    findings: Findings,
    semiring: Semiring,
    runs: list[ComponentRun] | None,
) -> _OpenQuestion | None:
    """A question with all states left out that are excluded; None if nothing is left of some variable."""
    states, degrees = findings
    conditional = semiring is not MAX_MIN and bool(targets) and bool(states or degrees)
    if not degrees and states.keys().isdisjoint(targets):
        return _OpenQuestion(tuple(targets), findings, {}, semiring, conditional, runs)
    given = dict(degrees)
    for target in states.keys() & set(targets):
        given[target] = np.zeros(graph.sizes[target])
        given[target][states[target]] = 1.0
    states = {v: state for v, state in states.items() if v not in targets}
    left: dict[int, Ints] = {}
    for v, own in given.items():
        possible = np.flatnonzero(own)
        if not len(possible):
            return None
        if v not in targets and len(possible) < len(own):
            left[v] = possible
        given[v] = to_semiring(own[possible] if v in left else own, semiring)
    return _OpenQuestion(tuple(targets), Findings(states, given), left, semiring, conditional, runs)


@dataclass(frozen=True, slots=True)
class _ComponentProgram:
    """A program or a junction tree for a component, and how its parts are cut out of the tables.

    Attributes
    ----------
    scopes
        What every part is about: families, then soft findings.
    families
        Factors; their axes, each by its variable if that is known, else -1 (None: none is); and the axes, with their
        variables, of which states are excluded.
    """

    way: EliminationProgram | Plan
    targets: tuple[int, ...]
    scopes: list[tuple[int, ...]]
    families: list[tuple[int, tuple[int, ...] | None, tuple[tuple[int, int], ...]]]

    def fits_limit(self, limit: int | None) -> bool:
        """Whether its tables fit in memory."""
        if isinstance(self.way, Plan):
            return self.way.fits_lean(limit, collect=True)
        needed = 16 * self.way.entries
        if limit is None:
            return needed < _SMALL_BYTES or needed <= memory_limit()
        return needed <= limit

    def cut_tables(self, tables: Sequence[Floats], question: _OpenQuestion) -> list[Floats]:
        """The tables, cut to what is left open."""
        states, left, parts = question.findings.states, question.left, []
        for factor, known, excluded in self.families:
            table = tables[factor]
            for axis, v in excluded:
                table = table.take(left[v], axis=axis)
            if known is not None:
                table = table[tuple([_ALL if v < 0 else states[v] for v in known])]
            parts.append(table)
        return parts

    def run(self, parts: list[Floats], semiring: Semiring) -> Floats:
        """The combination of all parts, over the targets."""
        if not isinstance(self.way, Plan):
            return self.way.run(parts, semiring)
        tree = JunctionTree(self.way, self.scopes, parts, semiring)
        with np.errstate(divide="ignore", invalid="ignore"):
            value = tree.collect(keep=False)
            return read_targets(tree, [*self.targets], semiring.one) if self.targets else np.array(value)

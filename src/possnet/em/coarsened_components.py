"""Hidden states of coarsened rows that depend on each other: families as factors, and components of hidden variables.

A family is a factor over its hidden members; which entries of its table a row chooses depends on the states of its known
members, and on its own cell if that is hidden. Hidden variables that meet in a family belong to one component. The rows of
a component are computed together, by the passes of `possnet.em.e_step` over its junction tree.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

import numpy as np

from possnet.dataset import group_rows
from possnet.em.e_step import ComponentRows, run_e_step, split_rows
from possnet.em.hidden_states import HiddenComponent, HiddenFactor
from possnet.inference import SUM_PRODUCT, Potential, RowPasses, make_plan
from possnet.limits import refuse_over

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from possnet.aliases import Bools, Codes, Floats, Ints, Weights
    from possnet.em.squarem import Masses
    from possnet.inference import Plan


class CoarsenedFamily:
    """A family in some rows: which entries of its table each of them chooses.

    Parameters
    ----------
    members
        Its parents and then the child, as numbers of columns.
    hidden
        Columns whose states are hidden in these rows; the cells of others are precise.
    cells, codes
        For every column its distinct cells (cells, states), and for every member the number of every row's cell.
    """

    def __init__(
        self, members: tuple[int, ...], hidden: Collection[int], cells: Sequence[Bools], codes: Sequence[Codes]
    ) -> None:
        child = members[-1]
        self.shape = tuple(cells[k].shape[1] for k in members)
        unknown = [place for place, k in enumerate(members) if k in hidden]
        known = [place for place in range(len(members)) if place not in unknown]
        self.scope = tuple(members[place] for place in unknown)
        self._axes = (*unknown, *known)
        states = [cells[members[place]].argmax(axis=1)[codes[place]] for place in known]
        sizes = [self.shape[place] for place in known]
        own = [codes[-1]] if child in self.scope else []
        groups = group_rows([*states, *own], [*sizes, *(len(cells[child]) for _ in own)], len(codes[-1]))
        self.codes, chosen = groups.inverse, groups.combinations
        self.n_codes, self.entries = len(chosen), prod(self.shape[place] for place in unknown)
        refuse_over(
            32 * self.entries * self.n_codes,
            f"EM over {self.entries:,} hidden configurations of a family and {self.n_codes:,} distinct cells",
            "set max_parents, or use fewer states",
        )
        self._columns = np.zeros(self.n_codes, dtype=np.int64)
        for column, size in zip(chosen.T, sizes, strict=False):
            self._columns = self._columns * size + column
        self._order = np.argsort(self._columns, kind="stable")
        self._columns_used, self._starts = np.unique(self._columns[self._order], return_index=True)
        self._width = prod(sizes)
        self._inside: Floats | None = None
        if own:
            inside = cells[child][chosen[:, -1]].T.astype(np.float64)  # (states of the child, codes)
            self._inside = np.tile(inside, (self.entries // len(inside), 1))

    def factor_table(self, probabilities: Floats) -> Floats:
        """Entries of the table by hidden configuration and code of a row; 0 where a state lies outside its cell."""
        table = probabilities.reshape(self.shape).transpose(self._axes).reshape(self.entries, self._width)
        chosen: Floats = table[:, self._columns]
        return chosen if self._inside is None else chosen * self._inside

    def expected_counts(self, sums: Floats) -> Floats:
        """Expected number of rows by context and state, from the sums of the posterior by configuration and code."""
        flat = np.zeros((self._width, self.entries))
        flat[self._columns_used] = np.add.reduceat(sums.T[self._order], self._starts, axis=0)
        table = flat.T.reshape([self.shape[axis] for axis in self._axes])
        return table.transpose(np.argsort(self._axes)).reshape(-1, self.shape[-1])


class CoarsenedComponent:
    """Hidden variables that meet in families, in the rows where these and no others of their families are hidden.

    Parameters
    ----------
    hidden, rows
        The hidden columns, ascending, and the numbers of the rows, ascending.
    members
        For every column its family: parents and then itself.
    """

    def __init__(
        self, hidden: tuple[int, ...], rows: Ints, members: Sequence[tuple[int, ...]], sizes: Sequence[int]
    ) -> None:
        self.hidden, self.rows = hidden, rows
        place = {v: k for k, v in enumerate(hidden)}
        self._members = [family for family in members if any(v in place for v in family)]
        self._sizes = tuple(sizes[v] for v in hidden)
        self._scopes = [tuple(place[v] for v in family if v in place) for family in self._members]
        self.plan: Plan = make_plan(self._sizes, self._scopes)

    def group_rows(self, cells: Sequence[Bools], codes: Sequence[Codes], weights: Weights) -> None:
        """Group the rows that choose the same entries of all tables; before the first step."""
        self.plan.refuse_if_large([f"column {v}" for v in self.hidden])
        self.families = {
            family[-1]: CoarsenedFamily(family, self.hidden, cells, [codes[k][self.rows] for k in family])
            for family in self._members
        }
        names = tuple(str(k) for k in self.families)
        factors = tuple(HiddenFactor(name, scope, name) for name, scope in zip(names, self._scopes, strict=True))
        self._component = HiddenComponent(self._sizes, factors, self.plan, names)
        n_codes = {str(k): family.n_codes for k, family in self.families.items()}
        groups = group_rows([family.codes for family in self.families.values()], list(n_codes.values()), len(self.rows))
        self.numbers = groups.inverse
        counts = groups.counts(weights[self.rows])
        self._parts = split_rows(self._component, groups.combinations, counts, n_codes)

    def run_e_step(self, tables: Masses) -> tuple[float, dict[int, Floats]]:
        """Log-likelihood of the rows, and the expected counts of the families."""
        ordered, value = self._order_tables(tables), 0.0
        sums = [np.zeros(table.shape) for table in ordered]
        for part in self._parts:
            log_likelihood, entries = run_e_step(part, ordered)
            value += log_likelihood
            sums = [total if entry is None else total + entry for total, entry in zip(sums, entries, strict=True)]
        return value, {
            k: family.expected_counts(self._component.to_scope_order(number, sums[number]))
            for number, (k, family) in enumerate(self.families.items())
        }

    def draw_states(self, tables: Masses, numbers: Ints, rng: np.random.Generator) -> Ints:
        """Hidden states (hidden columns, rows) of some rows, given by their numbers among the distinct ones."""
        states = np.zeros((len(self.hidden), len(numbers)), dtype=np.int64)
        ordered, order, begun = self._order_tables(tables), np.argsort(numbers, kind="stable"), 0
        for part in self._parts:
            ended = begun + len(part.weights)
            first, last = np.searchsorted(numbers[order], [begun, ended])
            chosen = order[first:last]
            states[:, chosen] = _draw_part(part, ordered, numbers[chosen] - begun, rng)
            begun = ended
        return states

    def _order_tables(self, tables: Masses) -> list[Floats]:
        return [
            self._component.to_elimination_order(number, family.factor_table(tables[str(k)]))
            for number, (k, family) in enumerate(self.families.items())
        ]


def find_components(hidden: Bools, members: Sequence[tuple[int, ...]]) -> Iterator[tuple[tuple[int, ...], Ints]]:
    """Components of hidden variables, and the rows that have each; ``hidden`` is (columns, rows).

    >>> hidden = np.array([[True, True], [True, False], [True, True]])
    >>> [(variables, rows.tolist()) for variables, rows in find_components(hidden, [(0,), (0, 1), (1, 2)])]
    [((0,), [1]), ((0, 1, 2), [0]), ((2,), [1])]
    """
    size = len(hidden)
    labels = np.where(hidden, np.arange(size, dtype=np.int32)[:, np.newaxis], size)  # the first variable of a component
    linking = [list(family) for family in members if (hidden[list(family)].sum(axis=0) > 1).any()]
    changed = True
    while changed:
        changed = False
        for family in linking:
            first = labels[family].min(axis=0)
            joined = np.where(hidden[family], first, size)
            if not np.array_equal(joined, labels[family]):
                labels[family], changed = joined, True
        linking.reverse()  # forth and back, so that the ends of a chain meet in two sweeps
    for variable in range(size):
        (rows,) = np.nonzero(labels[variable] == variable)
        if not len(rows):
            continue
        patterns = np.packbits(labels[:, rows] == variable, axis=0).T
        distinct, inverse = np.unique(patterns, axis=0, return_inverse=True)
        ends = np.cumsum(np.bincount(inverse.ravel(), minlength=len(distinct)))[:-1]
        for pattern, group in zip(distinct, np.split(np.argsort(inverse.ravel(), kind="stable"), ends), strict=True):
            yield tuple(np.flatnonzero(np.unpackbits(pattern, count=size)).tolist()), rows[group]


def _draw_part(part: ComponentRows, tables: list[Floats], rows: Ints, rng: np.random.Generator) -> Ints:
    """Hidden states of some rows of a part, shape (hidden variables, rows): the cliques from the roots down.

    Given what a clique shares with the one above, which is drawn by then, the rest of it has the law of its belief.
    """
    schedule = part.schedule
    plan = schedule.plan
    potentials = [Potential([], layout, SUM_PRODUCT) for layout in schedule.layouts]
    passes = RowPasses(schedule, potentials, tables, SUM_PRODUCT)
    states = np.zeros((len(plan.sizes), len(rows)), dtype=np.int64)

    def read(number: int, chosen: slice, belief: Floats) -> None:
        clique = plan.cliques[number]
        keys = schedule.belief_combinations(number)[0].keys[rows]
        (drawing,) = np.nonzero((keys >= chosen.start) & (keys < chosen.stop))
        if not len(drawing):
            return
        shared = np.zeros(len(drawing), dtype=np.int64)
        for v in clique.separator:
            shared = shared * plan.sizes[v] + states[v, drawing]
        residual = clique.shape[: clique.residual]
        table = belief.reshape(prod(residual), -1, chosen.stop - chosen.start)
        masses = np.cumsum(table[:, shared, keys[drawing] - chosen.start], axis=0)
        drawn = (masses <= rng.random(len(drawing)) * masses[-1]).sum(axis=0)
        values = np.unravel_index(np.minimum(drawn, len(masses) - 1), residual)
        for v, value in zip(clique.variables, values, strict=False):
            states[v, drawing] = value

    with np.errstate(divide="ignore", invalid="ignore"):
        passes.collect()
        passes.distribute(range(len(plan.cliques)), read)
    return states

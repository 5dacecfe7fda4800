"""Bayesian networks behind imprecise rows under coarsening at random: likelihood, EM, and draws of the hidden states.

A row d has a hidden state w_i in every cell d_i; an unknown cell is the whole domain. If the cell tells no more than that
the state lies in it (*coarsening at random*; Heitjan and Rubin 1991), the law of the cells given the states is a constant
factor of the likelihood, and what is left is its *face value*

    P(d) = sum over w in d of  prod_i theta_i(w_i | w_parents(i)).

Only columns with imprecise cells are hidden. A family is a factor over its hidden members; its row is chosen by the states
of its precise members, and by its own cell. Hidden variables that meet in families belong to one component, whose distinct
rows are computed together (`possnet.em.e_step`).
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from possnet.dataset import group_rows
from possnet.em.e_step import ComponentRows, run_e_step, split_rows
from possnet.em.hidden_states import HiddenComponent, HiddenFactor, merge_overlapping
from possnet.em.m_step import run_m_step
from possnet.em.squarem import run_squarem
from possnet.errors import TooLarge
from possnet.inference import SUM_PRODUCT, RowPasses, make_plan
from possnet.kernels.grouping import sum_weights
from possnet.limits import refuse_over

if TYPE_CHECKING:
    from collections.abc import Sequence

    from possnet.aliases import Bools, Codes, Floats, Ints, Progress
    from possnet.em.squarem import EmRun, Masses

_MOST_WORK: Final = 1 << 34  # entries of clique tables times distinct rows: about half a minute for an E-step


class CoarsenedFamily:
    """A family of a coarsened network: which entries of its table a row chooses.

    Parameters
    ----------
    members
        Its parents and then the child, as numbers of columns.
    cells, codes
        For every column its distinct cells (cells, states), and the number of every row's cell.
    """

    def __init__(self, members: tuple[int, ...], cells: Sequence[Bools], codes: Sequence[Codes]) -> None:
        child = members[-1]
        self.shape = tuple(cells[k].shape[1] for k in members)
        hidden = [place for place, k in enumerate(members) if is_imprecise(cells[k])]
        known = [place for place in range(len(members)) if place not in hidden]
        self.scope = tuple(members[place] for place in hidden)
        self._axes = (*hidden, *known)
        states = [cells[members[place]].argmax(axis=1)[codes[members[place]]] for place in known]
        sizes = [self.shape[place] for place in known]
        own = [codes[child]] if child in self.scope else []
        groups = group_rows([*states, *own], [*sizes, *(len(cells[child]) for _ in own)], len(codes[child]))
        self.codes, chosen = groups.inverse, groups.combinations
        self.n_codes, self.entries = len(chosen), prod(self.shape[place] for place in hidden)
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


class _CoarsenedComponent(NamedTuple):
    """Hidden columns that meet in families: their factors, distinct rows in parts, and every row's number among these."""

    component: HiddenComponent
    hidden: list[int]
    parts: list[ComponentRows]
    numbers: Ints


class CoarsenedNetwork:
    """The coarsened rows of a structure: their likelihood for any tables, EM, and draws of the hidden states.

    Tables are (contexts, states), parents ascending, under the names of the columns: their numbers as text.

    >>> cells = np.array([[True, False], [False, True], [True, True]])
    >>> codes = [np.array([0, 1, 2]), np.array([0, 1, 0])]
    >>> model = CoarsenedNetwork([(), (0,)], [cells, cells], codes, np.array([4, 2, 2]))
    >>> run = model.fit(model.equal_tables())
    >>> {name: table.round(3).tolist() for name, table in run.masses.items()}, round(run.log_likelihood[-1], 3)
    ({'0': [[0.75, 0.25]], '1': [[1.0, 0.0], [0.0, 1.0]]}, -4.499)
    """

    def __init__(
        self, parents: Sequence[tuple[int, ...]], cells: Sequence[Bools], codes: Sequence[Codes], weights: Ints
    ) -> None:
        self.families = [CoarsenedFamily((*above, k), cells, codes) for k, above in enumerate(parents)]
        self._weights = weights
        self._sizes = [table.shape[1] for table in cells]
        self._known: Masses = {}
        for k, family in enumerate(self.families):
            if not family.scope:
                counts = sum_weights(family.codes, weights, family.n_codes).astype(np.float64)
                self._known[str(k)] = family.expected_counts(counts[np.newaxis])
        scopes = [set(family.scope) for family in self.families]
        groups = merge_overlapping(scopes)
        self._components = [self._build_component(sorted(group)) for group in groups]

    def _build_component(self, hidden: list[int]) -> _CoarsenedComponent:
        """Hidden variables that meet in families, with the distinct rows of these families."""
        place = {v: k for k, v in enumerate(hidden)}
        members = [k for k, family in enumerate(self.families) if family.scope and family.scope[0] in place]
        families = [self.families[k] for k in members]
        sizes = tuple(self._sizes[v] for v in hidden)
        factors = tuple(
            HiddenFactor(str(k), tuple(place[v] for v in family.scope), str(k))
            for k, family in zip(members, families, strict=True)
        )
        plan = make_plan(sizes, [factor.scope for factor in factors])
        plan.refuse_if_large([str(v) for v in hidden])
        component = HiddenComponent(sizes, factors, plan, tuple(str(k) for k in members))
        n_codes = {str(k): family.n_codes for k, family in zip(members, families, strict=True)}
        groups = group_rows([family.codes for family in families], list(n_codes.values()), len(self._weights))
        if plan.entries * len(groups) > _MOST_WORK:
            raise TooLarge(
                f"EM over {len(hidden)} imprecise columns needs {plan.entries * len(groups):.1g} table entries a step; set "
                "max_parents, or use fewer rows or states"
            )
        parts = split_rows(component, groups.combinations, groups.counts(self._weights), n_codes)
        return _CoarsenedComponent(component, hidden, parts, groups.inverse)

    def equal_tables(self) -> Masses:
        """Equal probabilities."""
        return {
            str(k): np.full((prod(family.shape[:-1]), family.shape[-1]), 1.0 / family.shape[-1])
            for k, family in enumerate(self.families)
        }

    def fit(
        self, start: Masses, *, tolerance: float = 0.1, max_steps: int = 1000, progress: Progress | None = None
    ) -> EmRun:
        """EM from a starting point."""
        return run_squarem(start, self.take_step, tolerance=tolerance, max_steps=max_steps, progress=progress)

    def take_step(self, tables: Masses) -> tuple[float, Masses]:
        """One EM step: the log-likelihood at a point, and the next point."""
        value, counts = self.expected_counts(tables)
        return value, run_m_step(counts, tables)

    def expected_counts(self, tables: Masses) -> tuple[float, Masses]:
        """The E-step: the log-likelihood at a point, and the expected number of rows by context and state."""
        value, counts = 0.0, {name: self._known.get(name, table) for name, table in tables.items()}
        for name, known in self._known.items():
            value += float((known * np.log(np.where(known > 0.0, tables[name], 1.0))).sum())
        for component, _, parts, _ in self._components:
            ordered = self._order_tables(component, tables)
            sums = [np.zeros(table.shape) for table in ordered]
            for part in parts:
                log_likelihood, entries = run_e_step(part, ordered)
                value += log_likelihood
                sums = [total if entry is None else total + entry for total, entry in zip(sums, entries, strict=True)]
            for number, factor in enumerate(component.factors):
                family = self.families[int(factor.column)]
                counts[factor.column] = family.expected_counts(component.to_scope_order(number, sums[number]))
        return value, counts

    def _order_tables(self, component: HiddenComponent, tables: Masses) -> list[Floats]:
        return [
            component.to_elimination_order(k, self.families[int(factor.column)].factor_table(tables[factor.column]))
            for k, factor in enumerate(component.factors)
        ]

    def draw_states(self, tables: Masses, rows: Ints, rng: np.random.Generator) -> dict[int, Ints]:
        """Hidden states of some rows (repeated as one likes), drawn from their joint posterior; column -> states."""
        drawn: dict[int, Ints] = {}
        for component, hidden, parts, inverse in self._components:
            states = np.zeros((len(hidden), len(rows)), dtype=np.int64)
            ordered = self._order_tables(component, tables)
            wanted = inverse[rows]
            order = np.argsort(wanted, kind="stable")
            begun = 0
            for part in parts:
                count = len(part.weights)
                first, last = np.searchsorted(wanted[order], [begun, begun + count])
                chosen = order[first:last]
                states[:, chosen] = _draw_part(part, ordered, wanted[chosen] - begun, rng)
                begun += count
            drawn |= dict(zip(hidden, states, strict=True))
        return drawn


def _draw_part(part: ComponentRows, tables: list[Floats], rows: Ints, rng: np.random.Generator) -> Ints:
    """Hidden states of some rows of a part, shape (hidden variables, rows): the cliques from the roots down.

    Given what a clique shares with the one above, which is drawn by then, the rest of it has the law of its belief.
    """
    schedule = part.schedule
    plan = schedule.plan
    passes = RowPasses(schedule, [np.ones((layout.entries, 1)) for layout in schedule.layouts], tables, SUM_PRODUCT)
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


def is_imprecise(cells: Bools) -> bool:
    """Whether a column has cells of several states."""
    return bool((cells.sum(axis=1) != 1).any())

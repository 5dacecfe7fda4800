"""Bayesian networks behind imprecise rows under coarsening at random: likelihood, EM, and draws of the hidden states.

A row d has a hidden state w_i in every cell d_i; an unknown cell is the whole domain. If the cell tells no more than that
the state lies in it (*coarsening at random*; Heitjan and Rubin 1991), the law of the cells given the states is a constant
factor of the likelihood, and what is left is its *face value*

    P(d) = sum over w in d of  prod_i theta_i(w_i | w_parents(i)).

Two ways lead there. Columns with imprecise cells are hidden in all rows, which are then computed together. Or only
imprecise cells are hidden, and rows are computed by the components that these form (`possnet.em.coarsened_components`):
many small ones instead of a junction tree that may be wide. Whichever is faster is done.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Final

import numpy as np

from possnet.em.coarsened_components import CoarsenedComponent, CoarsenedFamily, find_components
from possnet.em.m_step import run_m_step
from possnet.em.squarem import run_squarem
from possnet.errors import TooLarge
from possnet.kernels.grouping import sum_weights

if TYPE_CHECKING:
    from collections.abc import Sequence

    from possnet.aliases import Bools, Codes, Floats, Ints, Progress, Weights
    from possnet.em.squarem import EmRun, Masses

# Seconds of an E-step, measured on one machine.
_SECONDS_A_COMPONENT: Final = 1.5e-3
_SECONDS_AN_ENTRY: Final = 1e-8  # of a clique table, a row
_FAST: Final = 0.5  # below, no other way is looked for
_SLOW: Final = 60.0  # above, it is refused


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
        self, parents: Sequence[tuple[int, ...]], cells: Sequence[Bools], codes: Sequence[Codes], weights: Weights
    ) -> None:
        self._members = [(*above, k) for k, above in enumerate(parents)]
        self._cells, self._codes, self._weights = cells, codes, weights
        self._sizes = [sets.shape[1] for sets in cells]
        hidden = np.stack([(sets.sum(axis=1) != 1)[own] for sets, own in zip(cells, codes, strict=True)])
        self.columns = np.flatnonzero(hidden.any(axis=1)).tolist()
        self._components = self._choose_components(hidden)
        for component in self._components:
            component.group_rows(cells, codes, weights)
        self._known = [self._count_known(family) for family in self._members]

    def _choose_components(self, hidden: Bools) -> list[CoarsenedComponent]:
        """Components of imprecise columns, or of imprecise cells, whichever are faster; ``hidden`` is made to match."""

        def list_components(chosen: Bools) -> list[CoarsenedComponent]:
            found = find_components(chosen, self._members)
            return [CoarsenedComponent(*component, self._members, self._sizes) for component in found]

        whole = np.repeat(hidden.any(axis=1), hidden.shape[1]).reshape(hidden.shape)
        components = list_components(whole[:, :1])
        every = np.arange(hidden.shape[1])
        for component in components:
            component.rows = every
        self._hidden = whole
        seconds = _estimate_seconds(components)
        if seconds > _FAST:
            smaller = list_components(hidden)
            if _estimate_seconds(smaller) < seconds:
                components, seconds, self._hidden = smaller, _estimate_seconds(smaller), hidden
        if seconds > _SLOW:
            raise TooLarge(
                f"EM over {len(self.columns)} imprecise columns would take {seconds:.0f} s a step; set max_parents, or use "
                "fewer rows or states"
            )
        return components

    def _count_known(self, members: tuple[int, ...]) -> Floats:
        """Rows by context and state, where a family has no hidden member."""
        (rows,) = np.nonzero(~self._hidden[list(members)].any(axis=0))
        family = CoarsenedFamily(members, (), self._cells, [self._codes[k][rows] for k in members])
        if not len(rows):
            return np.zeros((prod(family.shape[:-1]), family.shape[-1]))
        counts = sum_weights(family.codes, self._weights[rows], family.n_codes).astype(np.float64)
        return family.expected_counts(counts[np.newaxis])

    def equal_tables(self) -> Masses:
        """Equal probabilities."""
        return {
            str(members[-1]): np.full(known.shape, 1.0 / known.shape[1])
            for members, known in zip(self._members, self._known, strict=True)
        }

    def fit(
        self,
        start: Masses,
        *,
        imagined: Masses | None = None,
        tolerance: float = 0.1,
        max_steps: int = 1000,
        progress: Progress | None = None,
    ) -> EmRun:
        """EM from a starting point; ``imagined`` rows with each state are added in every context of a column."""
        return run_squarem(
            start,
            lambda tables: self.take_step(tables, imagined),
            tolerance=tolerance,
            max_steps=max_steps,
            progress=progress,
        )

    def take_step(self, tables: Masses, imagined: Masses | None = None) -> tuple[float, Masses]:
        """One EM step: the (penalised) log-likelihood at a point, and the next point."""
        value, counts = self.expected_counts(tables)
        for name, rows in (imagined or {}).items():
            counts[name] = counts[name] + rows
            value += float((rows * np.log(np.where(rows > 0.0, tables[name], 1.0))).sum())
        return value, run_m_step(counts, tables)

    def fit_marginals(self) -> Masses:
        """The most likely probabilities of every column's states, by its cells alone."""
        marginals = {}
        for k, (cells, codes) in enumerate(zip(self._cells, self._codes, strict=True)):
            counts = sum_weights(codes, self._weights, len(cells))
            if (cells.sum(axis=1) == 1).all():
                marginals[str(k)] = counts @ cells / max(int(counts.sum()), 1)
                continue
            column = CoarsenedNetwork([()], [cells], [np.arange(len(cells))], counts)
            marginals[str(k)] = column.fit(column.equal_tables()).masses["0"][0]
        return marginals

    def expected_counts(self, tables: Masses) -> tuple[float, Masses]:
        """The E-step: the log-likelihood at a point, and the expected number of rows by context and state."""
        value, counts = 0.0, [known.copy() for known in self._known]
        for k, known in enumerate(self._known):
            value += float((known * np.log(np.where(known > 0.0, tables[str(k)], 1.0))).sum())
        for component in self._components:
            log_likelihood, expected = component.run_e_step(tables)
            value += log_likelihood
            for k, family_counts in expected.items():
                counts[k] += family_counts
        return value, {str(k): family_counts for k, family_counts in enumerate(counts)}

    def draw_states(self, tables: Masses, rows: Ints, rng: np.random.Generator) -> dict[int, Ints]:
        """States of the imprecise columns in some rows (repeated as one likes), drawn from their joint posterior."""
        drawn = {k: self._cells[k].argmax(axis=1)[self._codes[k][rows]] for k in self.columns}
        order = np.argsort(rows, kind="stable")
        sorted_rows = rows[order]
        for component in self._components:
            first, last = (np.searchsorted(sorted_rows, component.rows, side) for side in ("left", "right"))
            repeats = last - first
            within = np.arange(int(repeats.sum())) - np.repeat(np.cumsum(repeats) - repeats, repeats)
            places = order[np.repeat(first, repeats) + within]
            states = component.draw_states(tables, np.repeat(component.numbers, repeats), rng)
            for k, column in zip(component.hidden, states, strict=True):
                drawn[k][places] = column
        return drawn


def _estimate_seconds(components: Sequence[CoarsenedComponent]) -> float:
    entries = sum(component.plan.entries * len(component.rows) for component in components)
    return _SECONDS_A_COMPONENT * len(components) + _SECONDS_AN_ENTRY * entries

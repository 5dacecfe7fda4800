"""Families under cavity posteriors: what a family gains by other parents while everything else stays as it is.

The *cavity* of a family is the posterior of its parents' hidden states given all cells but the child's own: the posterior
given all cells divided by m(d_c | s), normalised row by row. With all other masses fixed, the log-likelihood is a constant
plus sum over rows of ln sum_s q(s) m(d_c | s), for any parents whose joint cavity is q: its maximum over m (a small EM)
minus its current value is what a change of parents gains at least; EM over all masses can only add to it.
"""

from __future__ import annotations

from itertools import product
from math import prod
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from possnet.dataset import group_rows
from possnet.em import run_m_step, run_squarem
from possnet.structure.traced_score import LEAST_MASS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from possnet.aliases import Floats, Ints
    from possnet.structure.traced_score import Family, TracedScore

_TOLERANCE: Final = 0.3  # nats
_MOST_STEPS: Final = 60
_TINY: Final = 1e-300


class RowPosteriors(NamedTuple):
    """Posteriors of a hidden state: the number of every row's combination of cells, and a table (combinations, states)."""

    numbers: NDArray[np.int32]
    table: Floats


class CavityFamily:
    """A child, its parents, and the cavity posteriors of their hidden states and of other variables' given these.

    Everything is computed for the combinations of cells that occur in the columns of the component, not for every row.

    Parameters
    ----------
    component
        The families that share hidden states with this one, itself included; empty if it has no parents.
    """

    def __init__(self, score: TracedScore, family: Family, component: frozenset[Family]) -> None:
        self.child, self.parents = family
        self._score = score
        self.n_cells = score.observed_cells(self.child)
        columns = score.component_columns(component) if component else (self.child,)
        self._numbers, combinations = score.tables.group_cells(columns)
        self._cells = combinations[:, columns.index(self.child)].astype(np.intp)
        self._weights = score.tables.cell_counts(columns).astype(np.float64)
        self._weights[self._cells >= self.n_cells] = 0.0  # the child's cell is missing
        self._given: dict[int, list[Floats]] = {}  # variable -> for every context its posterior (combinations, states)
        if self.parents:
            self.masses = np.maximum(score.fit_component(component).masses[family], LEAST_MASS)
            self._cavity = self._find_cavity(component)
        else:
            counts = np.bincount(self._cells, self._weights, minlength=self.n_cells)[: self.n_cells]
            self.masses = (counts / max(counts.sum(), 1.0))[np.newaxis]
            self._cavity = np.ones((len(self._cells), 1))
        known = self._weights > 0.0
        likelihoods = np.einsum("es,se->e", self._cavity[known], self.masses[:, self._cells[known]])
        self.log_likelihood = float(self._weights[known] @ np.log(np.maximum(likelihoods, _TINY)))

    def _find_cavity(self, component: frozenset[Family]) -> Floats:
        """q(s) for every configuration s of the parents (combinations, configurations)."""
        score = self._score
        shape = [score.states[p] for p in self.parents]
        logs = np.empty((len(self._cells), prod(shape)))
        for context, states in enumerate(product(*map(range, shape))):
            clamped = dict(zip(self.parents, states, strict=True))
            logs[:, context], posteriors = score.hidden_posteriors(component, clamped)
            for variable, posterior in posteriors.items():
                if variable not in self.parents:
                    self._given.setdefault(variable, []).append(posterior)
        logs -= np.log(np.maximum(self.masses[:, np.minimum(self._cells, self.n_cells - 1)].T, _TINY))
        logs -= logs.max(axis=1, keepdims=True)
        cavity = np.exp(logs)
        cavity /= cavity.sum(axis=1, keepdims=True)
        return cavity

    @property
    def size(self) -> int:
        """Numbers in its posteriors."""
        return self._cavity.size + sum(len(given) * given[0].size for given in self._given.values())

    def covers(self, variable: int) -> bool:
        """Whether a variable's hidden state is in the component."""
        return variable in self._given

    def gain_by_parents(self, parents: tuple[int, ...], outside: RowPosteriors | None) -> tuple[float, Floats]:
        """What the log-likelihood gains at least by these parents, and the masses m(A | s) there (configurations, cells).

        At most one parent is new; ``outside`` has its posteriors if its hidden state is not in the component.
        """
        states = self._score.states
        if not self._weights.any():
            return 0.0, np.full((prod(states[p] for p in parents), self.n_cells), 1.0 / self.n_cells)
        cavity, cells, weights = self._cavity, self._cells, self._weights
        new = [p for p in parents if p not in self.parents]
        given: list[Floats] = []
        if new and outside is not None:
            sizes = [len(self._cells), len(outside.table)]
            groups = group_rows([self._numbers, outside.numbers], sizes, len(self._numbers))
            inside, beyond = groups.combinations.T
            cavity, cells = cavity[inside], cells[inside]
            weights = np.where(weights[inside] > 0.0, groups.counts(self._score.rows.weights), 0.0)
            given = [outside.table[beyond]] * cavity.shape[1]
        elif new:
            given = self._given[new[0]]
        axes = [*self.parents, *new]
        shape = [states[p] for p in axes]
        joint = np.stack(given, axis=1) * cavity[:, :, np.newaxis] if new else cavity
        joint = joint.reshape(len(cells), *shape)
        start = self.masses.reshape(*shape[: len(self.parents)], self.n_cells)
        if new:
            start = np.repeat(start[..., np.newaxis, :], states[new[0]], axis=-2)
        dropped = [k for k, p in enumerate(axes) if p not in parents]
        if dropped:
            shares = np.tensordot(weights, joint, axes=1)
            start = (start * shares[..., np.newaxis]).sum(axis=tuple(dropped))
            start /= np.maximum(start.sum(axis=-1, keepdims=True), _TINY)
            joint = joint.sum(axis=tuple(k + 1 for k in dropped))
        kept = [p for p in axes if p in parents]
        order = [kept.index(p) for p in parents]
        width = prod(states[p] for p in parents)  # which no rows would leave open
        joint = joint.transpose(0, *(k + 1 for k in order)).reshape(len(cells), width)
        start = start.transpose(*order, len(order)).reshape(joint.shape[1], self.n_cells)
        return self._fit_masses(joint, cells, weights, start)

    def _fit_masses(self, cavity: Floats, cells: Ints, weights: Floats, start: Floats) -> tuple[float, Floats]:
        """The largest sum of w ln sum_s q(s) m(A | s) by EM, minus its current value, and the masses m."""
        mixed = start + 1e-3 / self.n_cells
        mixed /= mixed.sum(axis=1, keepdims=True)
        known = np.flatnonzero(weights)
        known = known[np.argsort(cells[known], kind="stable")]
        cells, weights, by_state = cells[known], weights[known], np.ascontiguousarray(cavity[known].T)
        present, starts = np.unique(cells, return_index=True)

        def step(point: dict[str, Floats]) -> tuple[float, dict[str, Floats]]:
            masses = point["m"]
            likelihoods = np.maximum(np.einsum("se,se->e", by_state, masses[:, cells]), _TINY)
            expected = np.zeros_like(masses)
            expected[:, present] = masses[:, present] * np.add.reduceat(
                by_state * (weights / likelihoods), starts, axis=1
            )
            return float(weights @ np.log(likelihoods)), run_m_step({"m": expected}, point)

        run = run_squarem({"m": mixed}, step, tolerance=_TOLERANCE, max_steps=_MOST_STEPS)
        return run.log_likelihood[-1] - self.log_likelihood, run.masses["m"]


def find_nearest(scopes: Iterable[set[int]], around: set[int], most: int) -> set[int]:
    """Hidden variables that are nearest to some others, these included, at most so many; neighbours share a scope.

    >>> sorted(find_nearest([{0, 1}, {1, 2}, {2, 3}], {0}, 3))
    [0, 1, 2]
    """
    joint = [scope for scope in scopes if len(scope) > 1]
    inside, ring = set(around), set(around)
    while ring and len(inside) < most:
        ring = set().union(*(scope for scope in joint if scope & ring)) - inside
        inside.update(sorted(ring)[: most - len(inside)])
    return inside
